//! The medium as the kernels' wire: frames become inputs, events become deliveries and room in the stations' queues.

use device::{InFlight, octets};
use kernel::Wire;
use medium::{BitInstant, BitRate, BitTimes, Config, ConfigError, Event, Host, Input, Kind, Medium, StationId};
use sim::figures::metrics::Delays;
use sim::run::observer::Observer;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

const SECOND: u128 = 1_000_000_000;

/// What a station's card is to do, and when, in nanoseconds.
#[derive(Debug)]
pub enum Due {
    /// A frame arrives.
    Receive { station: usize, octets: Arc<[u8]> },
    /// The medium is done with a frame.
    Done { station: usize, head: u16 },
}

/// A frame that the medium has.
#[derive(Debug)]
struct Underway {
    octets: Arc<[u8]>,
    head: u16,
}

/// The medium between kernels.
pub struct Bus<O: Observer> {
    medium: Medium,
    taker: Taker<O>,
    /// Stations by address.
    stations: HashMap<[u8; 6], StationId>,
    /// Inputs that are no frames, in order of time.
    changes: VecDeque<(BitInstant, Input)>,
    interrupted: fn() -> bool,
}

/// What becomes of the medium's events.
struct Taker<O: Observer> {
    observer: O,
    delays: Delays,
    rate: BitRate,
    underway: InFlight<Underway>,
    due: VecDeque<(u64, Due)>,
    failed: Option<O::Error>,
}

impl<O: Observer> Bus<O> {
    /// A silent medium at instant 0.
    ///
    /// # Errors
    /// A configuration that makes no medium.
    pub fn new(
        config: &Config,
        macs: impl IntoIterator<Item = [u8; 6]>,
        changes: VecDeque<(BitInstant, Input)>,
        observer: O,
        interrupted: fn() -> bool,
    ) -> Result<Bus<O>, ConfigError> {
        let taker = Taker {
            observer,
            delays: Delays::default(),
            rate: config.rate,
            underway: InFlight::new(config),
            due: VecDeque::new(),
            failed: None,
        };
        let medium = Medium::new(Config { keep_events: false, keep_outputs: false, ..config.clone() })?;
        let stations = macs.into_iter().zip((0..).map(StationId::new)).collect();
        Ok(Bus { medium, taker, stations, changes, interrupted })
    }

    /// The medium.
    pub fn medium(&self) -> &Medium {
        &self.medium
    }

    /// The delays so far.
    pub fn delays(&self) -> &Delays {
        &self.taker.delays
    }

    /// The observer; or what it could not keep.
    ///
    /// # Errors
    /// What it could not keep.
    pub fn check(&mut self) -> Result<&mut O, O::Error> {
        self.taker.failed.take().map_or(Ok(&mut self.taker.observer), Err)
    }

    /// Runs everything up to `now`, in nanoseconds; all kernels wait.
    pub fn run_to(&mut self, now: u64) {
        let at = self.bit_before(now);
        while let Some((_, input)) = self.changes.pop_front_if(|(change, _)| *change <= at) {
            self.give(at, input, None);
        }
        if self.is_busy() || self.medium.now() < at {
            self.advance(at + BitTimes::new(1));
        }
    }

    /// Runs everything before `end`.
    pub fn advance(&mut self, end: BitInstant) {
        if end > self.medium.now() {
            self.medium.run_until(end, &mut self.taker);
        }
        self.taker.underway.passed(self.medium.now());
    }

    /// The next thing for a card up to `now`.
    pub fn take_due(&mut self, now: u64) -> Option<Due> {
        self.taker.due.pop_front_if(|(at, _)| *at <= now).map(|(_, due)| due)
    }

    /// The instant in bit times at which the run ends at `now`.
    pub fn end_at(&self, now: u64) -> BitInstant {
        (self.bit_before(now) + BitTimes::new(1)).max(self.medium.now())
    }

    fn give(&mut self, at: BitInstant, input: Input, octets: Option<&Arc<[u8]>>) {
        let at = at.max(self.medium.now());
        self.advance(at);
        if self.taker.failed.is_none() {
            self.taker.failed = self.taker.observer.input(at, &input, octets).err();
        }
        self.medium.give(at, input, &mut self.taker);
    }

    fn is_busy(&self) -> bool {
        !self.taker.underway.is_empty()
    }

    /// The last bit instant up to `now`.
    fn bit_before(&self, now: u64) -> BitInstant {
        BitInstant::ZERO + BitTimes::within(Duration::from_nanos(now), self.taker.rate)
    }
}

impl<O: Observer> Wire for Bus<O> {
    fn room(&self, station: usize) -> usize {
        let queued = self.medium.queued(StationId::new(station as u16));
        self.medium.config().queue_limit.saturating_sub(queued)
    }

    fn frame(&mut self, station: usize, now: u64, octets: Vec<u8>, head: u16) {
        let station = StationId::new(station as u16);
        let frame = octets::frame(station, &octets, |address| self.stations.get(address).copied());
        let rate = u128::from(self.taker.rate.get());
        // The first bit instant that is not before the kernel's.
        let at = BitInstant::new((u128::from(now) * rate).div_ceil(SECOND) as u64).max(self.medium.now());
        let octets: Arc<[u8]> = octets.into();
        self.advance(at);
        let id = self.medium.next_frame_id(station);
        self.taker.underway.insert(id, Underway { octets: octets.clone(), head });
        self.give(at, Input::Offer { station, frame }, Some(&octets));
    }

    fn next(&self) -> Option<u64> {
        let due = self.taker.due.front().map(|(at, _)| *at);
        let timeout = self.medium.next_timeout().filter(|_| self.is_busy());
        let change = self.changes.front().map(|(at, _)| *at);
        timeout.into_iter().chain(change).map(|at| nanos(at, self.taker.rate)).chain(due).min()
    }

    fn is_interrupted(&self) -> bool {
        (self.interrupted)()
    }
}

/// A bit instant in nanoseconds, rounded up.
fn nanos(at: BitInstant, rate: BitRate) -> u64 {
    at.since(BitInstant::ZERO).at(rate).as_nanos() as u64
}

impl<O: Observer> Host for Taker<O> {
    fn event(&mut self, event: &Event) {
        self.delays.record(event);
        if self.failed.is_none() {
            self.failed = self.observer.event(event).err();
        }
        let due = if let Kind::Delivered { .. } = event.kind {
            let frame = self.underway.get(event.frame);
            frame.map(|frame| Due::Receive { station: event.station.index(), octets: frame.octets.clone() })
        } else {
            let done = self.underway.event(event);
            done.map(|frame| Due::Done { station: event.station.index(), head: frame.head })
        };
        self.due.extend(due.map(|due| (nanos(event.at, self.rate), due)));
    }
}
