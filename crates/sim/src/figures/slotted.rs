//! The figures of a medium without collision detection, in slots or frame times: throughput, offered traffic, backlog, delay (Kleinrock and Lam 1975).
//!
//! A fold of the engine's events. A frame is *backlogged* from the end of its first unsuccessful slot to the end of its
//! last one, as the medium's senders know it.

use crate::figures::intervals::half_width;
use crate::figures::results::{HalfWidth, Intervals};
use crate::words::configuration::slot;
use medium::{BitInstant, BitTimes, Config, Event, FrameId, Kind};
use serde::{Deserialize, Serialize};

/// The figures of a slotted medium.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SlottedResults {
    /// S: frames that got through, a slot.
    pub throughput: f64,
    /// G: attempts, and with CSMA frames that found the line busy and gave way, a slot.
    pub offered_traffic: f64,
    /// Mean number of backlogged frames.
    pub backlog: f64,
    /// Mean time from a frame's arrival to its last bit, in slots; none if no frame got through.
    pub delay: Option<f64>,
}

/// How a figure is had from the results of a slotted medium.
pub type SlottedFigure = fn(&SlottedResults) -> Option<f64>;

/// The figures under their names.
pub const SLOTTED: &[(&str, SlottedFigure)] = &[
    ("throughput", |slotted| Some(slotted.throughput)),
    ("offered_traffic", |slotted| Some(slotted.offered_traffic)),
    ("backlog", |slotted| Some(slotted.backlog)),
    ("delay", |slotted| slotted.delay),
];

/// The sums over a stretch of time from which the figures follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SlotSums {
    slot: u64,
    measured: u64,
    frames: u64,
    attempts: u64,
    /// Bit times from arrival to last bit, of all frames that got through.
    delay: u128,
    /// Backlogged frames, summed over bit times.
    backlog: u128,
}

/// Counts what happens on a slotted medium.
#[derive(Clone, Debug)]
pub struct Slots {
    sums: SlotSums,
    /// Since when the sums count, and up to when the backlog has been summed.
    from: BitInstant,
    at: BitInstant,
    backlogged: u64,
    /// Who has just found the line busy: if it gives way, that is no attempt in vain.
    deferred: Option<(BitInstant, FrameId)>,
}

impl Slots {
    /// Those of a medium made from `config`; nothing if it has no slots.
    pub fn of(config: &Config) -> Option<Slots> {
        slot(&config.method).map(Slots::new)
    }

    /// Slots of this length, nothing counted yet.
    pub fn new(slot: BitTimes) -> Slots {
        let sums = SlotSums { slot: slot.get(), ..SlotSums::default() };
        Slots { sums, from: BitInstant::ZERO, at: BitInstant::ZERO, backlogged: 0, deferred: None }
    }

    /// Takes one more event in.
    #[inline]
    pub fn record(&mut self, event: &Event) {
        match event.kind {
            Kind::Attempt { .. } => self.sums.attempts += 1,
            Kind::Defer { .. } => self.deferred = Some((event.at, event.frame)),
            // It gives way to another sender: that counts as offered, but nothing was sent.
            Kind::Backoff { .. } if self.deferred.take() == Some((event.at, event.frame)) => self.sums.attempts += 1,
            Kind::Backoff { attempt: 1, .. } => {
                self.pass(event.at);
                self.backlogged += 1;
            }
            Kind::Transmitted { attempts, mac_delay, .. } => {
                self.sums.frames += 1;
                self.sums.delay += u128::from(mac_delay.get());
                self.leave(event.at, attempts);
            }
            // The last collision draws no backoff any more, so a frame with one attempt was never backlogged.
            Kind::Discarded { attempts, .. } => self.leave(event.at, attempts),
            Kind::Offered { .. } | Kind::QueueDrop | Kind::Collision { .. } => {}
            Kind::JamEnd { .. } | Kind::Backoff { .. } | Kind::Delivered { .. } => {}
            Kind::Fragment { .. } | Kind::Damaged { .. } | Kind::TooLong { .. } => {}
            Kind::Beacon { .. } | Kind::Commit { .. } | Kind::PlcaStatus { .. } => {}
        }
    }

    /// Takes the sums up to `at`, and begins new ones there.
    pub fn take(&mut self, at: BitInstant) -> SlotSums {
        self.pass(at);
        let sums = SlotSums { measured: at.since(self.from).get(), ..self.sums };
        self.from = at;
        self.sums = SlotSums { slot: sums.slot, ..SlotSums::default() };
        sums
    }

    fn leave(&mut self, at: BitInstant, attempts: u32) {
        if attempts > 1 {
            self.pass(at);
            self.backlogged -= 1;
        }
    }

    fn pass(&mut self, at: BitInstant) {
        self.sums.backlog += u128::from(self.backlogged) * u128::from(at.since(self.at).get());
        self.at = at;
    }
}

impl SlotSums {
    /// The sums of this stretch and another one.
    pub fn and(self, other: SlotSums) -> SlotSums {
        SlotSums {
            slot: self.slot.max(other.slot),
            measured: self.measured + other.measured,
            frames: self.frames + other.frames,
            attempts: self.attempts + other.attempts,
            delay: self.delay + other.delay,
            backlog: self.backlog + other.backlog,
        }
    }

    /// Works out the figures.
    pub fn results(&self) -> SlottedResults {
        let slots = self.measured as f64 / self.slot as f64;
        let a_slot = |count: u64| if self.measured == 0 { 0.0 } else { count as f64 / slots };
        let delay = self.delay as f64 / self.slot as f64 / self.frames as f64;
        SlottedResults {
            throughput: a_slot(self.frames),
            offered_traffic: a_slot(self.attempts),
            backlog: if self.measured == 0 { 0.0 } else { self.backlog as f64 / self.measured as f64 },
            delay: (self.frames > 0).then_some(delay),
        }
    }
}

/// Adds the half-widths of the figures to `intervals`, from the sums of its samples.
///
/// Batches of one run that lie next to each other depend on each other; so the widest of the half-widths from all of them,
/// from pairs and from groups of four serves. Runs are independent.
pub fn add_half_widths(intervals: &mut Intervals, samples: &[SlotSums], independent: bool) {
    let groups: &[usize] = if independent { &[1] } else { &[1, 2, 4] };
    for (name, figure) in SLOTTED {
        let half = |size: &usize| {
            let sums =
                samples.chunks_exact(*size).map(|group| group.iter().copied().fold(SlotSums::default(), SlotSums::and));
            let told: Vec<f64> = sums.filter_map(|sums| figure(&sums.results())).collect();
            half_width(told.iter().copied())
        };
        if let Some(half) = groups.iter().filter_map(half).reduce(f64::max) {
            intervals.half_widths.insert((*name).to_owned(), HalfWidth::Number(half));
        }
    }
}
