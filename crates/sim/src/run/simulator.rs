//! The medium in virtual time: sources instead of ports, and a loop that jumps to the next instant at which something is
//! due instead of one that sleeps. The engine is the same.

use crate::figures::metrics::{Delays, Sums};
use crate::figures::results::{Snapshot, Start};
use crate::traffic::Source;
use medium::{BitInstant, BitTimes, Config, ConfigError, Event, Frame, Host, Input, Medium, StationId};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What sees a run go by: the event log, the record.
pub trait Watch {
    /// Why it cannot go on.
    type Error;

    /// An input is about to be given to the medium.
    ///
    /// # Errors
    /// What was to be kept could not be kept.
    fn input(&mut self, at: BitInstant, input: &Input) -> Result<(), Self::Error>;

    /// Everything before `at` has been run; counting begins.
    ///
    /// # Errors
    /// What was to be kept could not be kept.
    fn measure(&mut self, at: BitInstant) -> Result<(), Self::Error>;

    /// A fact of the medium.
    ///
    /// # Errors
    /// What was to be kept could not be kept.
    fn event(&mut self, event: &Event) -> Result<(), Self::Error>;
}

/// Nobody watches.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl Watch for Unwatched {
    type Error = std::convert::Infallible;

    fn input(&mut self, _: BitInstant, _: &Input) -> Result<(), Self::Error> {
        Ok(())
    }

    fn measure(&mut self, _: BitInstant) -> Result<(), Self::Error> {
        Ok(())
    }

    fn event(&mut self, _: &Event) -> Result<(), Self::Error> {
        Ok(())
    }
}

/// Somebody watches, or nobody.
impl<W: Watch> Watch for Option<W> {
    type Error = W::Error;

    fn input(&mut self, at: BitInstant, input: &Input) -> Result<(), W::Error> {
        self.as_mut().map_or(Ok(()), |watch| watch.input(at, input))
    }

    fn measure(&mut self, at: BitInstant) -> Result<(), W::Error> {
        self.as_mut().map_or(Ok(()), |watch| watch.measure(at))
    }

    fn event(&mut self, event: &Event) -> Result<(), W::Error> {
        self.as_mut().map_or(Ok(()), |watch| watch.event(event))
    }
}

/// A medium, what is offered to it, and what has been measured.
#[derive(Debug)]
pub struct Simulator {
    medium: Medium,
    sources: Vec<Source>,
    /// The next arrival of each station that has one.
    arrivals: BinaryHeap<Reverse<(BitInstant, StationId)>>,
    waiting: Vec<Option<Frame>>,
    /// Inputs that are no frames, in order of time.
    changes: VecDeque<(BitInstant, Input)>,
    start: Start,
    delays: Delays,
}

impl Simulator {
    /// A medium at instant 0, with a source for each station.
    ///
    /// # Errors
    /// A configuration that makes no medium.
    pub fn new(config: Config, sources: Vec<Source>) -> Result<Simulator, ConfigError> {
        let stations = config.topology.stations();
        assert_eq!(stations, sources.len(), "each station has a source");
        let mut simulator = Simulator {
            medium: Medium::new(Config { keep_events: false, keep_outputs: false, ..config })?,
            sources,
            arrivals: BinaryHeap::with_capacity(stations),
            waiting: vec![None; stations],
            changes: VecDeque::new(),
            start: Start { at: BitInstant::ZERO, queued: vec![0; stations] },
            delays: Delays::default(),
        };
        for index in 0..stations {
            let station = StationId::new(index as u16);
            if simulator.sources[index].is_saturated() {
                let first = simulator.sources[index].next_frame();
                simulator.wait_until(BitInstant::ZERO, station, first);
            } else {
                simulator.expect_arrival(station);
            }
        }
        Ok(simulator)
    }

    /// The medium.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// Delays since the measurement began or they were last taken.
    pub fn take_delays(&mut self) -> Delays {
        std::mem::take(&mut self.delays)
    }

    /// Gives the medium an input that is no frame, at instant 0 and before anything else.
    ///
    /// # Errors
    /// What `watch` could not keep.
    pub fn begin_with<W: Watch>(&mut self, input: Input, watch: &mut W) -> Result<(), W::Error> {
        self.give(BitInstant::ZERO, input, watch)
    }

    /// Has the medium given an input that is no frame at `at`, before the arrivals of that instant.
    ///
    /// # Panics
    /// If `at` is before that of the last one: the caller's mistake.
    pub fn expect_change(&mut self, at: BitInstant, input: Input) {
        assert!(self.changes.back().is_none_or(|(last, _)| *last <= at), "changes come in order of time");
        self.changes.push_back((at, input));
    }

    /// Runs everything before `end`.
    ///
    /// # Errors
    /// What `watch` could not keep.
    pub fn run_until<W: Watch>(&mut self, end: BitInstant, watch: &mut W) -> Result<(), W::Error> {
        loop {
            let arrival = self.arrivals.peek().map(|Reverse((at, _))| *at).filter(|&at| at < end);
            let first = arrival.unwrap_or(end);
            if let Some((at, input)) = self.changes.pop_front_if(|(at, _)| *at < end && *at <= first) {
                self.give(at, input, watch)?;
            } else if arrival.is_some() {
                self.offer_next(watch)?;
            } else {
                return self.with_hosts(watch, |medium, hosts| medium.run_until(end, hosts));
            }
        }
    }

    /// Counts from zero from `at` on, up to which the medium has been run.
    pub fn begin_measurement(&mut self, at: BitInstant) {
        self.medium.restart_tally();
        self.delays.restart();
        self.start = Start::take(&self.medium, at);
    }

    /// What was measured up to `at`.
    pub fn snapshot(&self, at: BitInstant) -> Snapshot {
        Snapshot::take(&self.medium, &self.start, at, &self.delays, None)
    }

    /// The sums so far, after `measured` bit times.
    pub fn sums(&self, measured: BitTimes) -> Sums {
        Sums::of(self.medium.tally(), measured.get())
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

    fn offer_next<W: Watch>(&mut self, watch: &mut W) -> Result<(), W::Error> {
        let Some(Reverse((at, station))) = self.arrivals.pop() else { return Ok(()) };
        let frame = self.waiting[station.index()].take().expect("a frame waits for every arrival");
        if !self.sources[station.index()].is_saturated() {
            self.expect_arrival(station);
        }
        self.give(at, Input::Offer { station, frame }, watch)
    }

    fn give<W: Watch>(&mut self, at: BitInstant, input: Input, watch: &mut W) -> Result<(), W::Error> {
        watch.input(at, &input)?;
        self.with_hosts(watch, |medium, hosts| medium.give(at, input, hosts))
    }

    /// Has the medium do something while the stations' hosts are there.
    fn with_hosts<W: Watch>(
        &mut self,
        watch: &mut W,
        act: impl FnOnce(&mut Medium, &mut Hosts<'_, W>),
    ) -> Result<(), W::Error> {
        let mut hosts = Hosts { sources: &mut self.sources, delays: &mut self.delays, watch, failed: None };
        act(&mut self.medium, &mut hosts);
        hosts.failed.map_or(Ok(()), Err)
    }
}

/// The stations' hosts: a saturated one's next frame is ready at the instant at which its last one ends or is discarded.
struct Hosts<'a, W: Watch> {
    sources: &'a mut [Source],
    delays: &'a mut Delays,
    watch: &'a mut W,
    /// What could not be kept, and ends the run.
    failed: Option<W::Error>,
}

impl<W: Watch> Host for Hosts<'_, W> {
    const FEEDS: bool = true;

    #[inline]
    fn event(&mut self, event: &Event) {
        self.delays.record(event);
        if self.failed.is_none() {
            self.failed = self.watch.event(event).err();
        }
    }

    #[inline]
    fn next_frame(&mut self, at: BitInstant, station: StationId) -> Option<Frame> {
        let source = &mut self.sources[station.index()];
        if !source.is_saturated() || self.failed.is_some() {
            return None;
        }
        let frame = source.next_frame();
        self.failed = self.watch.input(at, &Input::Offer { station, frame }).err();
        Some(frame)
    }

    #[inline]
    fn stops(&self) -> bool {
        self.failed.is_some()
    }
}
