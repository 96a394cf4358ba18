//! The thread of sources whose frames are due at instants of their own.

use super::{Driver, Number, OfferError, Offered, Offering};
use crate::driver::Label;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use link::clock::{monotonic_nanos, raise_priority};
use medium::{BitInstant, BitRate, Frame, StationId};
use sim::traffic::Source;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::thread::JoinHandle;
use std::time::Duration;

/// The shortest sleep: several frames go out together rather than wake up for each.
const SHORTEST_SLEEP: u64 = 500_000;
/// The same where each frame is to go out at its instant: the thread must not take a processor for itself.
const SHORTEST_SLEEP_OF_TABLE: u64 = 20_000;
/// The longest sleep, so that a request to stop need not wait.
const LONGEST_SLEEP: u64 = 20_000_000;
/// Frames in one call of the kernel, so that one station does not keep the others waiting.
const BATCH: usize = 64;
/// A request to the thread of paced sources.
#[derive(Debug)]
pub(super) enum Ask {
    /// This station offers nothing from now on.
    Silence(StationId),
    /// A station offers what this source has.
    Offer(Driver, Box<Source>),
}

/// Sources whose frames are due at instants of their own, each with the driver of its station.
#[derive(Debug)]
pub(super) struct Paced {
    /// Those of stations that have left, or offer something else now, are gone.
    drivers: Vec<Option<Driver>>,
    /// Each with the number of its driver.
    sources: Vec<(usize, Source)>,
    offering: Offering,
    /// Of a table of messages, how many frames each source has had.
    numbers: Vec<u64>,
    /// The next frames, by instant in bit times: the source's number, and its frame.
    due: BinaryHeap<Reverse<(BitInstant, usize)>>,
    next: Vec<Option<Frame>>,
    /// Bits in a second of real time.
    rate: BitRate,
    /// What drivers that are gone have done.
    before: Offered,
}

impl Paced {
    pub fn new(drivers: Vec<Driver>, sources: Vec<(usize, Source)>, offering: Offering, rate: BitRate) -> Paced {
        let (next, numbers) = (vec![None; sources.len()], vec![0; sources.len()]);
        let drivers = drivers.into_iter().map(Some).collect();
        let (due, before) = (BinaryHeap::new(), Offered::default());
        let mut paced = Paced { drivers, sources, offering, numbers, due, next, rate, before };
        (0..paced.sources.len()).for_each(|source| paced.expect(source));
        paced
    }

    fn expect(&mut self, source: usize) {
        if let Some((at, frame)) = self.sources[source].1.next_arrival() {
            self.next[source] = Some(frame);
            self.due.push(Reverse((at, source)));
        }
    }

    fn take(&mut self, ask: Ask) {
        let (station, new) = match ask {
            Ask::Silence(station) => (station, None),
            Ask::Offer(driver, source) => (driver.station, Some((driver, source))),
        };
        let Paced { drivers, sources, due, .. } = self;
        due.retain(|Reverse((_, source))| sources[*source].1.station() != station);
        for driver in drivers.iter_mut() {
            let gone = driver.take_if(|driver| driver.station == station);
            self.before = gone.iter().fold(self.before, |sum, driver| sum.and(driver.offered));
        }
        if let Some((driver, source)) = new {
            self.sources.push((self.drivers.len(), *source));
            self.drivers.push(Some(driver));
            self.next.push(None);
            self.numbers.push(0);
            self.expect(self.sources.len() - 1);
        }
    }

    fn offer(&mut self, driver: usize, frames: &[(Frame, Number)]) {
        self.drivers[driver].iter_mut().for_each(|driver| driver.offer_numbered(frames));
    }

    /// Offers the frames that are due `elapsed` nanoseconds after the beginning; returns when, after the beginning, the
    /// next one is due.
    fn offer_due(&mut self, elapsed: u64) -> Option<u64> {
        let mut batch: Vec<(Frame, Number)> = Vec::new();
        let mut driver = 0;
        while let Some(&Reverse((at, source))) = self.due.peek() {
            let due = at.since(BitInstant::ZERO).at(self.rate).as_nanos() as u64;
            let own = self.sources[source].0;
            if !batch.is_empty() && (own != driver || batch.len() == BATCH || due > elapsed) {
                self.offer(driver, &batch);
                batch.clear();
            }
            if due > elapsed {
                return Some(due);
            }
            self.due.pop();
            driver = own;
            let number = self.number(source, batch.len() as u64);
            batch.extend(self.next[source].take().map(|frame| (frame, number)));
            self.expect(source);
        }
        if !batch.is_empty() {
            self.offer(driver, &batch);
        }
        None
    }

    /// The label of the next frame of `source`, before which its driver has `waiting` others to send.
    fn number(&mut self, source: usize, waiting: u64) -> Number {
        if self.offering != Offering::Scenario {
            self.numbers[source] += 1;
            return (Label::of_source(source as u32), self.numbers[source] - 1);
        }
        let driver =
            self.drivers[self.sources[source].0].as_ref().expect("the source of a driver that is gone is not due");
        driver.number(waiting)
    }

    /// Offers frames until the other end of the channel is gone.
    fn run(mut self, begin: u64, asked: &Receiver<Ask>) -> Offered {
        let shortest = match self.offering {
            Offering::Scenario => SHORTEST_SLEEP,
            Offering::Table { ahead } => {
                if ahead {
                    raise_priority();
                }
                SHORTEST_SLEEP_OF_TABLE
            }
        };
        loop {
            let elapsed = monotonic_nanos().saturating_sub(begin);
            let due = self.offer_due(elapsed).unwrap_or(u64::MAX);
            let elapsed = monotonic_nanos().saturating_sub(begin);
            let sleep = due.saturating_sub(elapsed).clamp(shortest, LONGEST_SLEEP);
            match asked.recv_timeout(Duration::from_nanos(sleep)) {
                Ok(ask) => self.take(ask),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.drivers.iter().flatten().fold(self.before, |sum, driver| sum.and(driver.offered))
    }
}

/// The thread of paced sources.
#[derive(Debug)]
pub(super) struct Pacer {
    pub ask: Sender<Ask>,
    pub thread: JoinHandle<Offered>,
}

impl Pacer {
    pub fn start(paced: Paced, begin: u64) -> Result<Pacer, OfferError> {
        let (ask, asked) = unbounded();
        let run = move || paced.run(begin, &asked);
        let thread = std::thread::Builder::new().name("traffic".to_owned()).spawn(run).map_err(OfferError::Thread)?;
        Ok(Pacer { ask, thread })
    }
}
