//! The stations' hosts in virtual time: which frame comes next, and what a host does when the medium is done with one.
//!
//! This is the whole of what the run's loop asks; it never looks at a source. What is handed over at one instant comes in
//! order of station, then of the station's sources as written; answers and frames of windows come after these, in the order
//! in which they became due.

mod windows;

use self::windows::{Due, Windows};
use crate::traffic::Source;
use medium::{BitInstant, BitTimes, Event, Frame, FrameId, Kind, StationId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

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
    windows: Windows,
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
    /// Hosts of `stations` stations that have offered nothing yet; `sources` are in order of station. What stations offer
    /// [changes](Hosts::change) only if `changing` says so.
    pub fn new(stations: usize, mut sources: Vec<Source>, changing: bool) -> Hosts {
        assert!(sources.is_sorted_by_key(Source::station), "sources are in order of station");
        let mut hosts: Vec<Host> = (0..stations).map(|_| Host::default()).collect();
        let mut windows = Windows::default();
        sources.iter_mut().enumerate().for_each(|(index, source)| windows.begin(index, source));
        let mut index = 0;
        for own in sources.chunk_by(|one, other| one.station() == other.station()) {
            // Where hosts answer, a saturated station may have frames that are not its source's.
            if let [source] = own
                && source.offers_when_idle()
                && !windows.have_answers()
                && !changing
            {
                hosts[source.station().index()].saturated_alone = Some(index);
            }
            index += own.len();
        }
        let waiting = vec![None; sources.len()];
        let arrivals = BinaryHeap::with_capacity(sources.len());
        let mut hosts =
            Hosts { sources, arrivals, waiting, stations: hosts, saturated: HashMap::new(), windows, pauses: false };
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
        let host = &mut self.stations[station.index()];
        host.without_frame.clear();
        host.held = 0;
        for index in own {
            self.waiting[index] = None;
            self.sources[index] = Source::silent(station);
        }
        self.windows.begin(first, &mut source);
        self.sources[first] = source;
        self.begin(first);
    }

    /// When a host does something next: no frame is handed over before.
    pub fn next_at(&self) -> Option<BitInstant> {
        let arrival = self.arrivals.peek().map(|Reverse(arrival)| arrival.at());
        let Some((window, _)) = self.windows.next() else { return arrival };
        Some(arrival.map_or(window, |arrival| arrival.min(window)))
    }

    /// Takes what is next: when a frame is handed over, by whose host, and the frame. Nothing if a host only found that no
    /// answer is missing.
    pub fn take_next(&mut self) -> Option<(BitInstant, StationId, Frame)> {
        if let Some(window) = self.windows.next() {
            let first = self.arrivals.peek().map(|Reverse(arrival)| (arrival.at(), self.station_of(*arrival)));
            if first.is_none_or(|arrival| window < arrival) {
                return self.take_from_window();
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
            if !self.saturated.is_empty() {
                self.done_with(event.frame);
            }
        } else if matches!(event.kind, Kind::Delivered { .. }) && !self.windows.is_idle() {
            return self.delivered(event, limit);
        }
        false
    }

    /// The medium is done with a frame: its source, if that is a saturated one beside others, may offer another.
    fn done_with(&mut self, frame: FrameId) {
        let done = self.saturated.remove(&frame);
        self.stations[frame.station.index()].without_frame.extend(done);
    }

    fn delivered(&mut self, event: &Event, limit: BitInstant) -> bool {
        self.windows.delivered(event, &mut self.sources);
        self.windows.next().is_some_and(|(at, _)| at < limit)
    }

    fn take_from_window(&mut self) -> Option<(BitInstant, StationId, Frame)> {
        let (at, station, due) = self.windows.take_next()?;
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
        };
        Some((at, station, frame?))
    }

    fn request(&mut self, at: BitInstant, station: StationId, index: usize) -> Frame {
        let id = self.name(station);
        let source = &mut self.sources[index];
        let frame = source.next_frame();
        self.windows.request(at, id, index, source);
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
