//! The stations' hosts in virtual time: which frame comes next, and what a host does when the medium is done with one.
//!
//! This is the whole of what the run's loop asks; it never looks at a source. What is handed over at one instant comes in
//! order of station, then of the station's sources as written; answers, frames of windows and segments come after these, in
//! the order in which they became due.

mod agenda;
mod end;
mod messages;
mod stacks;
mod tcp;
mod windows;

use self::agenda::{Agenda, Due};
use self::stacks::Stacks;
use self::windows::Windows;
use crate::figures::stacks::StackSums;
use crate::figures::tcp::TcpSums;
use crate::traffic::Source;
use crate::words::interface::Address;
use medium::{BitInstant, BitTimes, Config, Event, Frame, FrameId, Kind, StationId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::sync::Arc;

/// What the stations' hosts have offered and will offer.
#[derive(Debug)]
pub struct Hosts {
    /// In order of station.
    sources: Vec<Source>,
    /// The next arrival of each source that has one.
    arrivals: BinaryHeap<Reverse<Arrival>>,
    waiting: Vec<Option<Frame>>,
    stations: Vec<Host>,
    /// Whose frame it is: those of saturated sources of stations that have others too.
    saturated: HashMap<FrameId, usize>,
    /// What follows from what the medium did.
    agenda: Agenda,
    windows: Windows,
    /// Of stations whose sources have stacks.
    stacks: Option<Box<Stacks>>,
    /// The octets of the frame that was taken last, if a stack made it.
    octets: Option<Arc<[u8]>>,
    /// A source or a stack waits for frames with which the medium is done: a saturated one beside others, for instance.
    follows_finished: bool,
    /// A window or a stack waits for frames that arrive.
    follows_arrivals: bool,
    /// Some source pauses before its station's next frame.
    pauses: bool,
}

/// When a source's next frame arrives, and below it the source's index, which is in order of station: one number, since a
/// heap of thousands compares much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Arrival(u128);

impl Arrival {
    fn new(at: BitInstant, source: usize) -> Arrival {
        Arrival(u128::from(at.get()) << 64 | source as u128)
    }

    #[inline]
    fn at(self) -> BitInstant {
        BitInstant::new((self.0 >> 64) as u64)
    }

    #[inline]
    fn source(self) -> usize {
        self.0 as usize
    }
}

/// One station's host.
#[derive(Debug, Default)]
struct Host {
    /// Frames that it has offered.
    offered: u64,
    /// Its only source, if that is a saturated one.
    saturated_alone: Option<usize>,
    /// Saturated sources that have no frame in the transmit queue.
    without_frame: VecDeque<usize>,
    /// Its station is off the medium: sources that offer whenever the medium is done with a frame wait until it is back.
    unplugged: bool,
    /// How many times the medium has asked such a source meanwhile.
    held: usize,
}

impl Hosts {
    /// Hosts of the stations of `config` that have offered nothing yet; `sources` and `addresses` are in order of station. What
    /// stations offer [changes](Hosts::change) only if `changing` says so.
    pub fn new(config: &Config, addresses: &[Address], mut sources: Vec<Source>, changing: bool) -> Hosts {
        assert!(sources.is_sorted_by_key(Source::station), "sources are in order of station");
        let mut hosts: Vec<Host> = (0..config.topology.stations()).map(|_| Host::default()).collect();
        let (mut windows, mut agenda) = (Windows::default(), Agenda::default());
        let windowed = sources.iter_mut().enumerate();
        let windowed = windowed.filter_map(|(index, source)| windows.begin(index, source, &mut agenda)).count() > 0;
        let stacks = Stacks::of(&sources, config, addresses, &mut agenda).map(Box::new);
        let (mut index, mut follows_finished) = (0, stacks.is_some());
        for own in sources.chunk_by(|one, other| one.station() == other.station()) {
            // Where hosts answer, a saturated station may have frames that are not its source's.
            let is_alone = own.len() == 1 && !windows.have_answers() && stacks.is_none() && !changing;
            if own[0].offers_when_idle() && is_alone {
                hosts[own[0].station().index()].saturated_alone = Some(index);
            }
            follows_finished |= !is_alone && own.iter().any(Source::offers_when_idle);
            index += own.len();
        }
        let waiting = vec![None; sources.len()];
        let arrivals = BinaryHeap::with_capacity(sources.len());
        let mut hosts = Hosts {
            sources,
            arrivals,
            waiting,
            stations: hosts,
            saturated: HashMap::new(),
            agenda,
            windows,
            follows_finished,
            follows_arrivals: windowed || stacks.is_some(),
            stacks,
            octets: None,
            pauses: false,
        };
        (0..hosts.sources.len()).for_each(|index| hosts.begin(index));
        hosts
    }

    /// Expects the first frame of a source, unless that has a window.
    fn begin(&mut self, index: usize) {
        if let Some(pause) = self.sources[index].pause() {
            self.pauses |= !self.sources[index].is_saturated();
            let first = self.sources[index].next_frame();
            self.wait_until(self.sources[index].begin() + pause, index, first);
        } else {
            self.expect_arrival(index);
        }
    }

    /// A station offers what `source` has, and nothing else. Frames that it has handed over stay where they are.
    pub fn change(&mut self, mut source: Source) {
        let station = source.station();
        let first = self.sources.partition_point(|own| own.station() < station);
        let own = first..self.sources.partition_point(|own| own.station() <= station);
        assert!(!own.is_empty(), "every station has a source, if only a silent one");
        self.arrivals.retain(|Reverse(arrival)| !own.contains(&arrival.source()));
        self.saturated.retain(|_, index| !own.contains(index));
        self.windows.close(&own);
        self.agenda.forget_requests(&own);
        let host = &mut self.stations[station.index()];
        host.without_frame.clear();
        host.held = 0;
        for index in own {
            self.waiting[index] = None;
            self.sources[index] = Source::silent(station);
        }
        self.follows_finished |= source.offers_when_idle();
        self.follows_arrivals |= self.windows.begin(first, &mut source, &mut self.agenda).is_some();
        self.sources[first] = source;
        self.begin(first);
    }

    /// When a host does something next: no frame is handed over before.
    pub fn next_at(&self) -> Option<BitInstant> {
        let arrival = self.arrivals.peek().map(|Reverse(arrival)| arrival.at());
        let Some((due, _)) = self.agenda.next() else { return arrival };
        Some(arrival.map_or(due, |arrival| arrival.min(due)))
    }

    /// Takes what is next: when a frame is handed over, by whose host, and the frame. Nothing if a host only found that no
    /// answer is missing.
    pub fn take_next(&mut self) -> Option<(BitInstant, StationId, Frame)> {
        if let Some(due) = self.agenda.next() {
            let first = self.arrivals.peek().map(|Reverse(arrival)| (arrival.at(), self.station_of(*arrival)));
            if first.is_none_or(|arrival| due < arrival) {
                return self.take_due();
            }
        }
        let Reverse(arrival) = self.arrivals.pop()?;
        let (at, index) = (arrival.at(), arrival.source());
        let station = self.sources[index].station();
        let frame = self.waiting[index].take().expect("a frame waits for every arrival");
        let id = self.name(station);
        if !self.sources[index].offers_when_idle() {
            self.expect_arrival(index);
        } else if self.stations[station.index()].saturated_alone.is_none() {
            self.saturated.insert(id, index);
        }
        Some((at, station, frame))
    }

    /// The octets of the frame that was taken last; nothing of those that are a length and a destination.
    #[inline]
    pub fn take_octets(&mut self) -> Option<Arc<[u8]>> {
        self.octets.take()
    }

    /// Sums of what each station's stacks have said since they were restarted, by the stations that began to talk; nothing if
    /// there are no stacks.
    pub fn stacks(&self) -> Option<&[StackSums]> {
        self.stacks.as_ref().map(|stacks| stacks.sums())
    }

    /// Those of all TCP connections together; nothing if there are none.
    pub fn all_tcp(&self) -> Option<TcpSums> {
        self.stacks.as_ref()?.all_tcp()
    }

    /// Counts from zero.
    pub fn restart(&mut self) {
        self.stacks.as_mut().into_iter().for_each(|stacks| stacks.restart());
    }

    /// What a host hands over at the very instant at which the medium is done with a frame of its, transmitted or discarded: a
    /// saturated source has another one, and one of a slotted medium may have one then or later.
    #[inline]
    pub fn next_frame(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        let host = &mut self.stations[station.index()];
        if host.unplugged {
            host.held += 1;
            return None;
        }
        let alone = host.saturated_alone;
        let index = alone.or_else(|| host.without_frame.pop_front())?;
        let pause = self.sources[index].pause()?;
        let frame = self.sources[index].next_frame();
        if pause > BitTimes::ZERO {
            self.wait_until(at + pause, index, frame);
            return None;
        }
        let id = self.name(station);
        if alone.is_none() {
            self.saturated.insert(id, index);
        }
        Some(frame)
    }

    /// The station is taken off the medium. What arrives by itself is still handed over, and discarded there.
    pub fn unplug(&mut self, station: StationId) {
        self.stations[station.index()].unplugged = true;
    }

    /// The station is put back at `at`: sources that have waited for it continue.
    pub fn plug(&mut self, at: BitInstant, station: StationId) {
        let host = &mut self.stations[station.index()];
        host.unplugged = false;
        for _ in 0..std::mem::take(&mut host.held) {
            let host = &mut self.stations[station.index()];
            let Some(index) = host.saturated_alone.or_else(|| host.without_frame.pop_front()) else { return };
            let Some(pause) = self.sources[index].pause() else { continue };
            let frame = self.sources[index].next_frame();
            self.wait_until(at + pause, index, frame);
        }
    }

    /// Whether some host pauses before it hands over a frame: then [`Hosts::next_frame`] can set what comes next.
    pub fn pause(&self) -> bool {
        self.pauses
    }

    /// Learns the fate of frames. Returns whether a host now acts before `limit`, which it did not before.
    #[inline(always)]
    pub fn learn(&mut self, event: &Event, limit: BitInstant) -> bool {
        if matches!(event.kind, Kind::Transmitted { .. } | Kind::Discarded { .. } | Kind::QueueDrop) {
            return self.follows_finished && self.done_with(event.at, event.frame, limit);
        } else if matches!(event.kind, Kind::Delivered { .. }) && self.follows_arrivals {
            return self.delivered(*event, limit);
        }
        false
    }

    /// The medium is done with a frame: its source, if that is a saturated one beside others, may offer another.
    #[cold]
    #[inline(never)]
    fn done_with(&mut self, at: BitInstant, frame: FrameId, limit: BitInstant) -> bool {
        let done = self.saturated.remove(&frame);
        self.stations[frame.station.index()].without_frame.extend(done);
        let Some(stacks) = &mut self.stacks else { return false };
        stacks.finished(at, frame, &mut self.agenda);
        self.acts_before(limit)
    }

    // By value: an event that no window and no stack follows is then never put together.
    #[inline(never)]
    fn delivered(&mut self, event: Event, limit: BitInstant) -> bool {
        if let Some(stacks) = &mut self.stacks {
            stacks.arrived(event.at, event.station, event.frame, &mut self.agenda);
        }
        self.windows.delivered(&event, &mut self.sources, &mut self.agenda);
        self.acts_before(limit)
    }

    fn acts_before(&self, limit: BitInstant) -> bool {
        self.agenda.next().is_some_and(|(at, _)| at < limit)
    }

    fn take_due(&mut self) -> Option<(BitInstant, StationId, Frame)> {
        let (at, station, due) = self.agenda.take_next()?;
        let frame = match due {
            Due::Request { index } => Some(self.request(at, station, index)),
            Due::Lost { request } => {
                let index = self.windows.give_up(request)?;
                Some(self.request(at, station, index))
            }
            Due::Reply { request, frame } => {
                let id = FrameId { station, serial: self.stations[station.index()].offered + 1 };
                self.windows.answers(request, id).then(|| {
                    self.name(station);
                    frame
                })
            }
            Due::Stack { end } => {
                self.stacks.as_mut()?.act(at, end, &mut self.agenda);
                None
            }
            Due::Segment => {
                let id = self.name(station);
                let (frame, octets) = self.stacks.as_mut()?.segment(id);
                self.octets = Some(octets);
                Some(frame)
            }
        };
        Some((at, station, frame?))
    }

    fn request(&mut self, at: BitInstant, station: StationId, index: usize) -> Frame {
        let id = self.name(station);
        let source = &mut self.sources[index];
        let frame = source.next_frame();
        self.windows.request(at, id, index, source, &mut self.agenda);
        frame
    }

    /// The name that the medium gives the next frame of a station.
    fn name(&mut self, station: StationId) -> FrameId {
        let host = &mut self.stations[station.index()];
        host.offered += 1;
        FrameId { station, serial: host.offered }
    }

    fn wait_until(&mut self, at: BitInstant, index: usize, frame: Frame) {
        self.waiting[index] = Some(frame);
        self.arrivals.push(Reverse(Arrival::new(at, index)));
    }

    fn station_of(&self, arrival: Arrival) -> StationId {
        self.sources[arrival.source()].station()
    }

    fn expect_arrival(&mut self, index: usize) {
        if let Some((at, frame)) = self.sources[index].next_arrival() {
            self.wait_until(at, index, frame);
        }
    }
}
