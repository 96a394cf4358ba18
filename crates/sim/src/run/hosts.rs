//! The stations' hosts in virtual time: which frame comes next, and what a host does when the medium is done with one.
//!
//! This is the whole of what the run's loop asks; it never looks at a source.

use crate::traffic::Source;
use medium::{BitInstant, Frame, StationId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What the stations' hosts have offered and will offer.
#[derive(Debug)]
pub struct Hosts {
    sources: Vec<Source>,
    /// The next arrival of each station that has one.
    arrivals: BinaryHeap<Reverse<(BitInstant, StationId)>>,
    waiting: Vec<Option<Frame>>,
}

impl Hosts {
    /// Hosts that have offered nothing yet, with a source for each station.
    pub fn new(stations: usize, sources: Vec<Source>) -> Hosts {
        assert_eq!(stations, sources.len(), "each station has a source");
        let arrivals = BinaryHeap::with_capacity(stations);
        let mut hosts = Hosts { sources, arrivals, waiting: vec![None; stations] };
        for index in 0..stations {
            let station = StationId::new(index as u16);
            if hosts.sources[index].is_saturated() {
                let first = hosts.sources[index].next_frame();
                hosts.wait_until(BitInstant::ZERO, station, first);
            } else {
                hosts.expect_arrival(station);
            }
        }
        hosts
    }

    /// When a host hands over a frame next.
    pub fn next_at(&self) -> Option<BitInstant> {
        self.arrivals.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes the next frame: when it is handed over, by whose host, and what it is. At one instant in order of station.
    pub fn take_next(&mut self) -> Option<(BitInstant, StationId, Frame)> {
        let Reverse((at, station)) = self.arrivals.pop()?;
        let frame = self.waiting[station.index()].take().expect("a frame waits for every arrival");
        if !self.sources[station.index()].is_saturated() {
            self.expect_arrival(station);
        }
        Some((at, station, frame))
    }

    /// What a host hands over at the very instant at which the medium is done with its last frame, transmitted or discarded:
    /// a saturated one always has another.
    #[inline]
    pub fn next_frame(&mut self, station: StationId) -> Option<Frame> {
        let source = &mut self.sources[station.index()];
        source.is_saturated().then(|| source.next_frame())
    }

    fn wait_until(&mut self, at: BitInstant, station: StationId, frame: Frame) {
        self.waiting[station.index()] = Some(frame);
        self.arrivals.push(Reverse((at, station)));
    }

    fn expect_arrival(&mut self, station: StationId) {
        if let Some((at, frame)) = self.sources[station.index()].next_arrival() {
            self.wait_until(at, station, frame);
        }
    }
}
