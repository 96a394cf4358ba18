//! The bus as one would see it: what each station does, and every signal on its way. A fold of events and inputs.
//!
//! It decides nothing: where a signal is at an instant follows from the event that began it and from the distances.

use crate::figures::cycle::Bus;

use crate::scene::{Layout, Signals, Station, Stations};
use medium::{
    BitInstant, BitTimes, Config, Deed, Event, Fault, HostKind, Input, MacKind, Method, Part, Place, PlcaKind,
    StationId,
};
use std::collections::VecDeque;
use std::sync::Arc;

/// Signals that are kept for those who look back, besides those that may still be somewhere.
const KEPT: usize = 96;
/// Events that are kept for those who want to read them.
const RECENT: usize = 48;
/// Bit times of one step of the course of utilization.
pub const STEP: u64 = 8192;
/// Steps that are kept.
const STEPS: usize = 128;
/// Attempts that are counted one by one; more count as the last.
pub const ATTEMPTS: usize = 16;

/// A note about a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// It happened on the medium.
    Event(Event),
    /// It was done to the medium; never an offered frame, of which an event tells.
    Input {
        /// When.
        at: BitInstant,
        /// What.
        input: Input,
    },
    /// Nothing has happened up to then.
    Passed {
        /// When.
        at: BitInstant,
    },
    /// This number of notes is missing here: the sender did not wait for the receiver.
    Missed {
        /// How many.
        count: u64,
    },
}

impl Note {
    /// When it was; nothing of what is missing.
    pub fn at(&self) -> Option<BitInstant> {
        match self {
            Note::Event(event) => Some(event.at),
            Note::Input { at, .. } | Note::Passed { at } => Some(*at),
            Note::Missed { .. } => None,
        }
    }
}

/// On a bus with PLCA: its cycle, by the last events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The coordinator began a cycle.
    Beacon(StationId),
    /// A node took the turn of that id.
    Of(StationId, u32),
}

/// What is counted of a station, and what was done to it.
#[derive(Clone, Debug, Default)]
pub struct StationView {
    /// Frames that were transmitted.
    pub transmitted: u64,
    /// Attempts that collided.
    pub collisions: u64,
    /// Frames that will never be sent.
    pub discarded: u64,
    /// From the head of the queue to the first bit, at most.
    pub longest_wait: BitTimes,
    /// What is wrong with it.
    pub fault: Option<Fault>,
    /// It was taken off the medium.
    pub detached: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct View {
    config: Arc<Config>,
    /// The instant up to which notes have come.
    pub now: BitInstant,
    /// In order of station number.
    pub stations: Vec<StationView>,
    /// What each station does.
    doings: Stations,
    /// Those that are long over are forgotten.
    pub signals: Signals,
    /// Where the cable is cut.
    pub cut: Option<Place>,
    /// Who used the last turn, with PLCA.
    pub turn: Option<Turn>,
    /// The last events, the newest last.
    pub recent: VecDeque<Event>,
    /// Frames that were transmitted, by their attempts: at index 0 those that took one.
    pub attempts: [u64; ATTEMPTS],
    /// Overlaps on the medium.
    pub episodes: u64,
    /// Frames that were transmitted.
    pub frames: u64,
    /// Their bits, from destination address to FCS.
    pub bits: u64,
    /// Octets of the longest of them.
    longest_frame: u32,
    /// plca_status fell at a station, its PLCA was set, or noise was at its place: waits may be above the bound.
    off_bound: bool,
    /// Notes that are missing.
    pub missed: u64,
    /// How many stations are there or were; behind them are seats.
    pub there: usize,
    /// The names of those that joined.
    pub joined: Vec<String>,
    /// Bits of frames that were transmitted in each step of [`STEP`] bit times, the newest last.
    course: VecDeque<u32>,
    /// The number of the newest step.
    step: u64,
    begin: BitInstant,
}

impl View {
    /// A medium without any note so far.
    pub fn new(config: Arc<Config>) -> View {
        let station =
            |number| StationView { detached: config.is_seat(StationId::new(number)), ..StationView::default() };
        let stations: Vec<StationView> = (0..config.topology.stations() as u16).map(station).collect();
        let there = stations.len() - config.seats;
        View {
            signals: Signals::new(config.clone(), KEPT),
            doings: Stations::new(stations.len()),
            config,
            now: BitInstant::ZERO,
            stations,
            cut: None,
            turn: None,
            recent: VecDeque::new(),
            attempts: [0; ATTEMPTS],
            episodes: 0,
            frames: 0,
            bits: 0,
            longest_frame: 0,
            off_bound: false,
            missed: 0,
            there,
            joined: Vec::new(),
            course: VecDeque::new(),
            step: 0,
            begin: BitInstant::ZERO,
        }
    }

    /// The view of a medium on which this number of stations are at first.
    #[must_use]
    pub fn with(mut self, stations: usize) -> View {
        self.there = self.there.max(stations);
        self
    }

    /// Where its stations are in a picture; seats are in none.
    pub fn layout(&self) -> Layout {
        let mut layout = Layout::new(&self.config);
        layout.order.retain(|station| station.index() < self.there);
        layout
    }

    /// What the medium was made from.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The bound of each station's wait for its turn, in bit times, with frames as long as the longest yet; none without
    /// PLCA, and where it is not right or was not all the time.
    pub fn wait_bound(&self) -> Option<u64> {
        let Method::Plca(plca) = &self.config.method else { return None };
        let settings: Vec<_> = plca.nodes.iter().map(|node| node.settings).collect();
        let bus = Bus::of(&self.config, &settings, self.longest_frame.into()).filter(|_| !self.off_bound)?;
        Some(bus.access_delay_bound())
    }

    /// What a station does.
    pub fn station(&self, station: StationId) -> &Station {
        self.doings.get(station)
    }

    /// The notes begin at `at`.
    pub fn begin_at(&mut self, at: BitInstant) {
        (self.begin, self.now) = (at, at);
        self.step = at.get() / STEP;
    }

    /// The part of the rate that transmitted frames took in each step, the newest last.
    pub fn course(&self) -> impl DoubleEndedIterator<Item = f64> + ExactSizeIterator {
        self.course.iter().map(|&bits| f64::from(bits) / STEP as f64)
    }

    /// The part of the rate that transmitted frames have taken since the first note.
    pub fn utilization(&self) -> Option<f64> {
        let told = self.now.since(self.begin).get();
        (told > 0 && self.missed == 0).then(|| self.bits as f64 / told as f64)
    }

    /// Nothing happens until `at`.
    pub fn pass(&mut self, at: BitInstant) {
        self.now = self.now.max(at);
    }

    /// Takes one note.
    pub fn take(&mut self, note: &Note) {
        match note {
            Note::Event(event) => self.event(event),
            Note::Input { at, input } => self.input(*at, *input),
            Note::Passed { at } => self.pass(*at),
            Note::Missed { count } => self.miss(*count),
        }
    }

    fn input(&mut self, at: BitInstant, input: Input) {
        self.pass(at);
        self.signals.input(at, &input);
        match input {
            Input::Deed(Deed::Plug { .. } | Deed::Unplug { .. } | Deed::Add { .. } | Deed::Remove { .. }) => {
                let plugs = input.plugs().into_iter();
                plugs.for_each(|(station, attached)| self.stations[station.index()].detached = !attached);
                if let Input::Deed(Deed::Add { station, who }) = input
                    && station.index() >= self.there
                {
                    self.there = station.index() + 1;
                    self.joined.push(who.name().to_owned());
                }
            }
            Input::Deed(Deed::Fault { station, fault }) => {
                self.stations[station.index()].fault = fault;
                self.off_bound |= fault.is_some_and(Fault::is_of_receiver);
            }
            Input::Deed(Deed::Cut(cut)) => self.cut = cut,
            Input::Offer { .. } | Input::Deed(_) => {}
        }
    }

    /// What a station does is unknown until something is heard of it.
    fn miss(&mut self, count: u64) {
        self.missed += count;
        self.signals.forget();
        self.doings.forget();
    }

    fn event(&mut self, event: &Event) {
        self.pass(event.at);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(*event);
        self.follow(event);
    }

    fn follow(&mut self, event: &Event) {
        let Event { at, frame, kind, .. } = *event;
        self.signals.event(event);
        self.doings.event(event, &self.config);
        let station = &mut self.stations[frame.station.index()];
        match kind.part() {
            Part::Host(HostKind::QueueDrop) | Part::Mac(MacKind::Discarded { .. }) => station.discarded += 1,
            Part::Mac(MacKind::Collision { episode, .. }) if episode > 0 => {
                station.collisions += 1;
                self.episodes = self.episodes.max(episode);
            }
            Part::Mac(MacKind::Transmitted { size, attempts, access_delay, .. }) => {
                station.transmitted += 1;
                station.longest_wait = station.longest_wait.max(access_delay);
                self.longest_frame = self.longest_frame.max(size.get());
                self.count(at, u64::from(size.get()) * 8, attempts);
            }
            Part::Plca(PlcaKind::Beacon { .. }) => self.turn = Some(Turn::Beacon(event.station)),
            Part::Plca(PlcaKind::PlcaStatus { ok: false }) => self.off_bound = true,
            Part::Plca(PlcaKind::Commit { id }) => self.turn = Some(Turn::Of(event.station, id)),
            Part::Host(_) | Part::Mac(_) | Part::Receiver(_) | Part::Wireless(_) | Part::Plca(_) => {}
        }
    }

    fn count(&mut self, at: BitInstant, bits: u64, attempts: u32) {
        self.frames += 1;
        self.bits += bits;
        self.attempts[(attempts.max(1) as usize - 1).min(ATTEMPTS - 1)] += 1;
        let step = at.get() / STEP;
        if self.course.is_empty() {
            self.course.push_back(0);
            self.step = step;
        }
        for _ in 0..step.saturating_sub(self.step).min(STEPS as u64) {
            self.course.push_back(0);
        }
        while self.course.len() > STEPS {
            self.course.pop_front();
        }
        self.step = self.step.max(step);
        self.course.back_mut().into_iter().for_each(|last| *last += bits as u32);
    }

    /// The event in a sentence. `names` are the stations', in order of number; it must be among the last ones.
    pub fn sentence(&self, event: &Event, names: &[String]) -> String {
        self.signals.sentence(event, names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Doing, Part};
    use medium::{BitRate, BitTimes, Carried, FrameId, Kind, Method, Plca, Topology};

    fn event(at: u64, station: u16, kind: Kind) -> Note {
        let station = StationId::new(station);
        Note::Event(Event { at: BitInstant::new(at), station, frame: FrameId { station, serial: 1 }, kind })
    }

    /// Two stations 20 BT apart begin in the same bit time, and meet.
    #[test]
    fn a_collision_is_where_and_when_it_is_noticed() {
        let config = Config::new(BitRate::MBIT_10, Topology::star(2, 20), 1);
        let mut view = View::new(Arc::new(config));
        let attempt = Kind::Attempt { attempt: 1, excessive_deferral: false, burst: false };
        let collision = Kind::Collision { attempt: 1, late: false, episode: 1 };
        for (at, station, kind) in [(100, 0, attempt), (104, 1, attempt), (120, 1, collision), (124, 0, collision)] {
            view.take(&event(at, station, kind));
        }
        assert_eq!(view.station(StationId::new(0)).doing, Doing::Jamming);
        assert_eq!((view.episodes, view.now), (1, BitInstant::new(124)));
        let first = view.signals.iter().next().expect("two");
        let parts = [99, 100, 163, 164].map(|at| first.part(BitInstant::new(at)));
        assert_eq!(parts, [None, Some(Part::Preamble), Some(Part::Preamble), Some(Part::Jam)]);
        let names = ["a", "b"].map(str::to_owned);
        let told =
            view.sentence(view.recent.back().expect("four events"), &names).replace(crate::words::sentences::TIED, " ");
        assert!(told.contains("24 BT (2.4 us) after its own first bit a notices b#1, which began 4 BT"), "{told}");
        view.take(&Note::Missed { count: 7 });
        assert_eq!(
            (view.station(StationId::new(1)).doing, view.signals.iter().count(), view.missed),
            (Doing::Unknown, 0, 7)
        );
    }

    /// A MAC that PLCA tells to wait has sent nothing, and its collision is none.
    #[test]
    fn what_waits_for_its_turn_is_not_on_the_medium() {
        let method = Method::Plca(Plca::right(3));
        let config = Config { method, ..Config::new(BitRate::MBIT_10, Topology::star(3, 0), 1) };
        let mut view = View::new(Arc::new(config));
        let attempt = |attempt| Kind::Attempt { attempt, excessive_deferral: false, burst: false };
        view.take(&event(20, 0, Kind::Beacon { empty: 0, length: BitTimes::ZERO }));
        assert_eq!(view.turn, Some(Turn::Beacon(StationId::new(0))));
        view.take(&event(40, 2, Kind::PlcaStatus { ok: true }));
        view.take(&event(50, 2, attempt(1)));
        view.take(&event(74, 2, Kind::Collision { attempt: 1, late: false, episode: 0 }));
        assert_eq!(
            (view.station(StationId::new(2)).doing, view.stations[2].collisions, view.episodes),
            (Doing::ToldToWait, 0, 0)
        );
        let frames = |view: &View| view.signals.iter().filter(|one| one.what == Carried::Frame).count();
        assert_eq!(frames(&view), 0, "the frame was held back");
        view.take(&event(84, 2, Kind::Commit { id: 2 }));
        view.take(&event(104, 2, attempt(2)));
        assert_eq!(
            (view.turn, view.station(StationId::new(2)).doing),
            (Some(Turn::Of(StationId::new(2), 2)), Doing::Sending)
        );
        assert_eq!(frames(&view), 1);
    }

    /// A node that was taken off keeps its turn until its MAC ends, and no longer, whatever events are missing.
    #[test]
    fn missing_events_do_not_put_a_node_back() {
        let method = Method::Plca(Plca::right(3));
        let config = Config { method, ..Config::new(BitRate::MBIT_10, Topology::star(3, 0), 1) };
        let attempt = Kind::Attempt { attempt: 1, excessive_deferral: false, burst: false };
        let (zero, size) = (BitTimes::ZERO, medium::Octets::new(64));
        let sent = Kind::Transmitted {
            size,
            attempts: 1,
            deferred: false,
            access_delay: zero,
            mac_delay: zero,
            extension: zero,
            no_carrier: false,
        };
        let ends = |detached_first: bool| {
            let mut view = View::new(Arc::new(config.clone()));
            let off = Note::Input {
                at: BitInstant::new(10),
                input: Input::Deed(Deed::Unplug { station: StationId::new(2) }),
            };
            let missed = Note::Missed { count: 3 };
            let notes = if detached_first { [off, missed] } else { [missed, off] };
            notes.iter().for_each(|note| view.take(note));
            view.take(&event(20, 2, Kind::PlcaStatus { ok: true }));
            view.take(&event(50, 2, attempt));
            view.take(&event(84, 2, Kind::Commit { id: 2 }));
            view.take(&event(698, 2, sent));
            view.signals.iter().map(|one| (one.what, one.begin, one.end)).collect::<Vec<_>>()
        };
        assert_eq!(ends(true), ends(false));
    }

    /// A frame that met another one may get a logical collision later: that one has no other party.
    #[test]
    fn a_logical_collision_is_told_as_one_whatever_came_before() {
        let mut view = View::new(Arc::new(Config::new(BitRate::MBIT_10, Topology::star(3, 0), 1)));
        let attempt = |attempt| Kind::Attempt { attempt, excessive_deferral: false, burst: false };
        let names: Vec<String> = (1..=3).map(|number| format!("st{number}")).collect();
        for (t, kind) in [
            (30, attempt(1)),
            (54, Kind::Collision { attempt: 1, late: false, episode: 1 }),
            (126, Kind::JamEnd { attempt: 1 }),
            (700, attempt(2)),
            (724, Kind::Collision { attempt: 2, late: false, episode: 0 }),
        ] {
            view.take(&event(t, 2, kind));
        }
        let told = view.sentence(view.recent.back().unwrap(), &names);
        assert!(told.starts_with("Told to wait for its turn"), "{told}");
    }
}
