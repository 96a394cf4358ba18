//! How narrow intervals may be at most: Student's t of 32, 16 and 8 batches of the measured time (docs/results.md).
//!
//! The results widen them where rare events would make them too narrow, so this is a bound from below.

use crate::arithmetic::{ratio, utilization};
use medium::{Cause, Event, MacKind, Part};
use std::ops::Range;

const BATCHES: u64 = 32;
/// How many neighbours are taken together, and Student's t at 97.5 % for one batch less than that leaves.
const GROUPS: [(usize, f64); 3] = [(1, 2.0395), (2, 2.1314), (4, 2.3646)];
/// Those numbers are rounded, and batches may differ by a bit time.
const ROUNDING: f64 = 0.999;

/// What happened in one batch.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bits: u64,
    frames: u64,
    access_delay: u64,
    mac_delay: u64,
    attempts: u64,
    discarded: u64,
    finished: u64,
}

/// The batches of a run.
#[derive(Debug)]
pub struct Spread {
    measured: Range<u64>,
    batches: Vec<Batch>,
}

impl Spread {
    /// Those of a run that is measured in these bit times.
    pub fn new(measured: Range<u64>) -> Spread {
        Spread { measured, batches: vec![Batch::default(); BATCHES as usize] }
    }

    /// When a batch begins, after the measurement did.
    fn begin(&self, batch: u64) -> u64 {
        let span = u128::from(self.measured.end - self.measured.start);
        (span * u128::from(batch) / u128::from(BATCHES)) as u64
    }

    /// The batch of an event that is in the measurement.
    fn batch(&mut self, event: &Event) -> &mut Batch {
        let passed = event.at.get() - self.measured.start;
        let number = (1..BATCHES).take_while(|batch| self.begin(*batch) <= passed).count();
        &mut self.batches[number]
    }

    /// Takes one more event.
    pub fn take(&mut self, event: &Event) {
        if !self.measured.contains(&event.at.get()) {
            return;
        }
        match event.kind.part() {
            Part::Mac(MacKind::Attempt { .. }) => self.batch(event).attempts += 1,
            Part::Mac(MacKind::Transmitted { size, access_delay, mac_delay, .. }) => {
                let batch = self.batch(event);
                batch.frames += 1;
                batch.finished += 1;
                batch.bits += u64::from(size.get()) * 8;
                batch.access_delay += access_delay.get();
                batch.mac_delay += mac_delay.get();
            }
            Part::Mac(MacKind::Discarded { cause: Cause::ExcessiveCollisions, .. }) => {
                let batch = self.batch(event);
                batch.discarded += 1;
                batch.finished += 1;
            }
            Part::Mac(MacKind::Discarded { cause: Cause::LateCollision, .. }) => self.batch(event).finished += 1,
            _ => {}
        }
    }

    /// The least half-width of the figure with this path under `ci95`; `None` if it is not known.
    pub fn least(&self, path: &str) -> Option<f64> {
        let length = (self.measured.end - self.measured.start) as f64 / BATCHES as f64;
        let part = |part: u64, whole: u64| ratio(part as f64, whole as f64);
        let value = |batch: &Batch| match path {
            "attempts_per_frame" => part(batch.attempts, batch.finished),
            "discard_fraction" => part(batch.discarded, batch.finished),
            "access_delay/mean_bt" => part(batch.access_delay, batch.frames),
            "mac_delay/mean_bt" => part(batch.mac_delay, batch.frames),
            _ => utilization(path, batch.bits, batch.frames, length),
        };
        // A batch with nothing to take a mean of would leave fewer, and Student's t is of that many.
        let values = self.batches.iter().map(value).collect::<Option<Vec<f64>>>()?;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let half = |(size, student): (usize, f64)| {
            let groups: Vec<f64> = values.chunks_exact(size).map(mean).collect();
            let (middle, count) = (mean(&groups), groups.len() as f64);
            let squares: f64 = groups.iter().map(|group| (group - middle).powi(2)).sum();
            student * (squares / (count - 1.0) / count).sqrt()
        };
        Some(GROUPS.into_iter().map(half).fold(0.0, f64::max) * ROUNDING)
    }
}
