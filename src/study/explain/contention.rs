//! The life of one frame where nobody detects collisions: ALOHA, slotted ALOHA, CSMA and CSMA/CA.
//!
//! `air` has the signals and where they are; `words` tells each step, `met` what met an attempt, `wireless` what only CSMA/CA has; `wait` sums up
//! what a station heard while it counted down; `drawn` draws attempts on an axis of bit times, and has them for the diagram.

mod air;
mod drawn;
mod met;
mod wait;
mod wireless;
mod words;

use super::emulated::{self, Emulated};
use super::follow::{Follows, follow};
use super::{Each, ExplainError, Wanted, offered};
use air::{Air, Signal};
use medium::{BitInstant, BitTimes, Config, Destination, Event, Fault, FrameId, Input, Kind, Population, StationId};
use sim::files::event_log::{EventLogReader, Header};
use sim::words::sentences::frame_name;
use std::io::BufRead;
use wait::Wait;

pub use drawn::story;
pub use words::{data, tell};

/// What happened.
#[derive(Clone, Debug)]
enum What {
    Event(Event),
    /// To the medium, or to a station that has to do with the frame.
    Input(Input),
    /// The station was done with this frame, which was before it.
    After(FrameId),
}

/// One step, and what it took place among.
#[derive(Clone, Debug)]
struct Step {
    at: BitInstant,
    what: What,
    /// Frames of its own station before it, as it was offered.
    behind: u64,
    /// Signals of others that are at its station's place, or on their way there.
    around: Vec<Signal>,
    /// Before an attempt of CSMA/CA: what the station heard since it began to count.
    wait: Option<Wait>,
    /// Before an attempt of CSMA: since when the place was silent, and the frame could have gone out.
    free: BitInstant,
}

impl Step {
    fn kind(&self) -> Option<&Kind> {
        match &self.what {
            What::Event(event) => Some(&event.kind),
            What::Input(_) | What::After(_) => None,
        }
    }
}

/// An attempt: what was sent about the frame, and what met it where.
#[derive(Clone, Debug)]
struct Try {
    attempt: u32,
    parts: Vec<Signal>,
    /// Each with the place at which it met which part.
    others: Vec<Other>,
}

#[derive(Clone, Debug)]
struct Other {
    signal: Signal,
    place: StationId,
    part: usize,
    /// Its sender learnt that it was lost.
    lost: bool,
}

/// The life of one frame.
#[derive(Debug)]
pub struct Life {
    frame: FrameId,
    names: Vec<String>,
    air: Air,
    destination: Option<Destination>,
    steps: Vec<Step>,
    tries: Vec<Try>,
    emulated: Emulated,
    end: Option<BitInstant>,
    read_to: BitInstant,
    cut_short: Option<String>,
}

/// Whether a log's method is one of these.
pub fn is_of(header: &Header) -> bool {
    !header.config().detects_collisions()
}

/// Reads a log up to the frame's end, or its own.
///
/// # Errors
/// A damaged log, no such frame, or more than one.
pub fn find<R: BufRead>(log: &mut EventLogReader<R>, wanted: Wanted) -> Result<Life, ExplainError> {
    let names = log.header().stations.clone();
    let mut scene = Scene::new(log.header().config());
    let (mut events, cut_short) = follow(log, wanted, &mut scene)?;
    let Scene { air, mut told, stations, now, .. } = scene;
    let there = |station: StationId| {
        let Host { first, offered: last, .. } = stations[station.index()];
        offered(&names, station, first, last)
    };
    match (told.len(), wanted) {
        (1, _) => {
            let Told { frame, destination, steps, tries, end, .. } = told.remove(0);
            if matches!(wanted, Wanted::Frame(_)) && end.is_some() && cut_short.is_none() {
                emulated::read_on(log, &mut events, frame, now);
            }
            let emulated = Emulated::of(frame, (steps.first().map(|step| step.at), end), &events);
            Ok(Life { frame, names, air, destination, steps, tries, emulated, end, read_to: now, cut_short })
        }
        (0, Wanted::Frame(frame)) => {
            Err(ExplainError::Absent { frame: frame_name(&names, frame), there: there(frame.station) })
        }
        (0, Wanted::Serial(serial)) => {
            let most = (0..).map(StationId::new).zip(&stations).max_by_key(|(_, station)| station.offered);
            let there = most.map_or(String::new(), |(most, _)| there(most));
            Err(ExplainError::Absent { frame: serial.to_string(), there })
        }
        (_, Wanted::Frame(FrameId { serial, .. }) | Wanted::Serial(serial)) => {
            told.sort_by_key(|one| one.frame);
            let frames = told.iter().map(|one| frame_name(&names, one.frame)).collect();
            Err(ExplainError::Ambiguous { serial, frames })
        }
    }
}

/// What a station has done so far.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    /// The first frame that the log has of it, and the last.
    first: Option<u64>,
    offered: u64,
    done: u64,
    /// Which frame left its queue last, and when.
    left: Option<(FrameId, BitInstant)>,
}

/// A frame that is asked for, as far as it was read.
#[derive(Debug)]
struct Told {
    frame: FrameId,
    destination: Option<Destination>,
    steps: Vec<Step>,
    tries: Vec<Try>,
    end: Option<BitInstant>,
    /// What its station hears of others while it counts down, and when silence was there last.
    wait: Wait,
    busy_until: BitInstant,
    /// From when to when signals are there that begin later than it was looked.
    coming: Vec<(BitInstant, BitInstant)>,
    /// When its frame can go out by itself.
    ready: BitInstant,
}

/// One pass over the log.
struct Scene {
    air: Air,
    stations: Vec<Host>,
    told: Vec<Told>,
    now: BitInstant,
    /// How long after a frame's end its receivers may still hear it.
    echo: BitTimes,
}

impl Scene {
    fn new(config: Config) -> Scene {
        let stations = vec![Host::default(); config.topology.stations()];
        let echo = config.topology.round_trip();
        Scene { air: Air::new(config), stations, told: Vec::new(), now: BitInstant::ZERO, echo }
    }
}

impl Follows for Scene {
    fn input(&mut self, at: BitInstant, input: Input) {
        self.now = at;
        if let Input::SetFault { station, fault } = input {
            self.air.set_deaf(station, fault == Some(Fault::Deaf));
        }
        let whose = match input {
            Input::Attach { station } | Input::Detach { station } | Input::SetFault { station, .. } => Some(station),
            Input::SetCut { cut } => {
                let beyond = |cut| self.air.config.topology.beyond(cut).ok().map(Each::from);
                let far = cut.and_then(beyond);
                self.air.cut(far);
                None
            }
            Input::Offer { .. } | Input::SetPlca { .. } => return,
        };
        for told in self.told.iter_mut().filter(|told| told.end.is_none()) {
            let concerns =
                |station| station == told.frame.station || told.destination == Some(Destination::Station(station));
            if whose.is_none_or(concerns) {
                told.push(at, What::Input(input), Vec::new());
            }
        }
    }

    fn event(&mut self, event: &Event, wanted: Wanted, destination: Option<Destination>) {
        let Event { at, frame, kind, .. } = *event;
        self.now = at;
        if frame.serial > 0 && wanted.is(frame) && !self.told.iter().any(|told| told.frame == frame) {
            let offered = matches!(kind, Kind::Offered { .. });
            let coming = self.air.signals().filter_map(|one| self.air.heard(one, frame.station)).collect();
            self.told.push(Told {
                frame,
                destination: destination.filter(|_| offered),
                steps: Vec::new(),
                tries: Vec::new(),
                end: None,
                wait: Wait::default(),
                busy_until: BitInstant::ZERO,
                coming,
                ready: at,
            });
        }
        let signal = self.air.event(event, destination);
        for told in self.told.iter_mut().filter(|told| told.end.is_none_or(|end| at <= end + self.echo)) {
            if told.frame == frame {
                told.own(event, &self.air, self.stations[frame.station.index()]);
            }
            signal.iter().for_each(|signal| told.signal(signal, &self.air));
            if let Kind::Collision { attempt, .. } = kind {
                let others = told.tries.iter_mut().rev().take(2).flat_map(|one| &mut one.others);
                let is = |other: &&mut Other| (other.signal.frame, other.signal.attempt) == (frame, attempt);
                others.filter(is).for_each(|other| other.lost = true);
            }
        }
        let host = &mut self.stations[frame.station.index()];
        match kind {
            Kind::Offered { .. } => {
                host.first.get_or_insert(frame.serial);
                host.offered = frame.serial;
            }
            Kind::QueueDrop => host.done += 1,
            Kind::Transmitted { .. } | Kind::Discarded { .. } => {
                host.done += 1;
                host.left = Some((frame, at));
            }
            Kind::Defer { .. } | Kind::Attempt { .. } | Kind::Collision { .. } | Kind::JamEnd { .. } => {}
            Kind::Backoff { .. } | Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } => {}
            Kind::TooLong { .. } | Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } => {}
            Kind::Ack | Kind::Duplicate { .. } => {}
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => {}
        }
    }

    fn goes_on(&self) -> bool {
        self.told.iter().any(|one| one.end.is_none())
    }

    fn is_over(&self) -> bool {
        self.told.iter().any(|one| one.end.is_some_and(|end| self.now > end + self.echo))
    }
}

impl Told {
    /// What has begun at its station's place before `at` keeps that busy.
    fn look(&mut self, at: BitInstant) {
        for (_, end) in self.coming.extract_if(.., |(begin, _)| *begin < at) {
            self.busy_until = self.busy_until.max(end);
        }
    }

    fn push(&mut self, at: BitInstant, what: What, around: Vec<Signal>) {
        self.look(at);
        let free = self.ready.max(self.busy_until);
        self.steps.push(Step { at, what, behind: 0, around, wait: None, free });
    }

    /// Something happened to the frame; `host` is its station as it was before.
    fn own(&mut self, event: &Event, air: &Air, host: Host) {
        let Event { at, frame, kind, .. } = *event;
        let station = frame.station;
        let waited_behind = matches!(self.steps.last(), Some(Step { behind: 1.., .. }));
        if let (true, Some((before, since))) = (waited_behind, host.left) {
            self.ready = since;
            self.push(since, What::After(before), Vec::new());
        }
        let here = |one: &&Signal| {
            let there = air.heard(one, station);
            one.frame != frame && there.is_some_and(|(_, end)| end >= at)
        };
        let around = match kind {
            Kind::Defer { .. } | Kind::Attempt { .. } => air.signals().filter(here).cloned().collect(),
            _ => Vec::new(),
        };
        self.push(at, What::Event(*event), around);
        let step = self.steps.last_mut().expect("just pushed");
        match kind {
            Kind::Offered { .. } if air.config.population() == Population::Stations => {
                step.behind = host.offered.saturating_sub(host.done + host.first.map_or(0, |it| it - 1));
            }
            Kind::Offered { .. } => {}
            Kind::Attempt { attempt, .. } => {
                step.wait = Some(std::mem::take(&mut self.wait).until(at));
                self.tries.push(Try { attempt, parts: Vec::new(), others: Vec::new() });
            }
            Kind::Backoff { slots, .. } => {
                self.ready = at + air.config.backoff_slot() * slots;
                let others = air.signals().filter(|one| one.frame != frame && one.source != station);
                self.wait = Wait::new(at, slots, others.cloned());
            }
            Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop => self.end = Some(at),
            Kind::Defer { .. } | Kind::Collision { .. } | Kind::JamEnd { .. } => {}
            Kind::Delivered { .. } | Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {}
            Kind::Rts { .. } | Kind::Cts { .. } | Kind::Data { .. } | Kind::Ack | Kind::Duplicate { .. } => {}
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => {}
        }
    }

    /// A signal begins: a part of the frame's own attempt, or one that may meet it.
    fn signal(&mut self, signal: &Signal, air: &Air) {
        let own = self.frame;
        if signal.source != own.station || signal.frame != own {
            self.wait.hear(signal);
            self.coming.extend(air.heard(signal, own.station));
            self.look(signal.begin);
        }
        let Some(last) = self.tries.last_mut() else { return };
        let meets = |part: usize, one: &Signal, other: &Signal| {
            air.meet(one, other).map(|place| Other { signal: other.clone(), place, part, lost: false })
        };
        if signal.frame == own {
            let part = last.parts.len();
            let others = air.signals().filter(|other| other.frame != own);
            last.others.extend(others.filter_map(|other| meets(part, signal, other)));
            last.parts.push(signal.clone());
        } else {
            let met = last.parts.iter().enumerate().filter_map(|(part, one)| meets(part, one, signal));
            last.others.extend(met);
        }
    }
}
