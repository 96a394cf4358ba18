//! A run beside others: it goes on piece by piece, and is measured as a run of its own is.

use super::{BATCHES, Measured, RunError, before, begun, part, spans};
use crate::run::observer::Observer;
use crate::run::simulator::Simulator;
use crate::scenario::plan::Plan;
use medium::{BitInstant, Frame, StationId};

/// One bus of several, up to some instant.
#[derive(Debug)]
pub struct Piecewise<'a, O> {
    plan: &'a Plan,
    simulator: Simulator,
    /// Who observes it.
    pub observer: O,
    measured: Measured,
    warmup: u64,
    duration: u64,
    now: u64,
    /// Ends of the warm-up and of batches that have passed.
    passed: u64,
}

impl<'a, O: Observer> Piecewise<'a, O> {
    /// `plan`, which ends with its duration, at instant 0.
    ///
    /// # Errors
    /// As [`run`](super::run).
    pub fn new(plan: &'a Plan, mut observer: O) -> Result<Piecewise<'a, O>, RunError<O::Error>> {
        let (warmup, duration) = spans(plan);
        let simulator = begun(plan, plan.medium.seed, &mut observer)?;
        let mut measured = Measured::nothing(BitInstant::ZERO, plan.medium.rate);
        measured.tails = Some(Vec::new());
        Ok(Piecewise { plan, simulator, observer, measured, warmup, duration, now: 0, passed: 0 })
    }

    /// The end of warm-up and duration.
    pub fn end(&self) -> BitInstant {
        BitInstant::new(self.warmup + self.duration)
    }

    /// A bridge offers `frame` at `at`, which has not been run.
    pub fn offer(&mut self, at: BitInstant, station: StationId, frame: Frame) {
        self.simulator.offer(at, station, frame);
    }

    /// Runs everything before `to`, which is no later than the end.
    ///
    /// # Errors
    /// What the observer could not keep.
    pub fn run_until(&mut self, to: BitInstant) -> Result<(), RunError<O::Error>> {
        while self.passed <= BATCHES {
            let next = self.warmup + part(self.duration, self.passed, BATCHES);
            self.advance(next.min(to.get()))?;
            if next > to.get() {
                break;
            }
            self.pass()?;
        }
        Ok(())
    }

    fn advance(&mut self, to: u64) -> Result<(), RunError<O::Error>> {
        if to > self.now {
            self.simulator.run_until(BitInstant::new(to), &mut self.observer).map_err(RunError::Observer)?;
            self.now = to;
        }
        Ok(())
    }

    /// The warm-up ends now, or a batch.
    fn pass(&mut self) -> Result<(), RunError<O::Error>> {
        let (now, begin) = (BitInstant::new(self.now), BitInstant::new(self.warmup));
        self.measured.end = now;
        if self.passed > 0 {
            self.measured.end_batch(&mut self.simulator, now.since(begin), true);
        } else {
            self.simulator.begin_measurement(begin);
            if self.warmup > 0 {
                self.observer.restart(before(begin), begin).map_err(RunError::Observer)?;
            }
        }
        self.passed += 1;
        Ok(())
    }

    /// What was measured up to where it got, and the observer.
    ///
    /// # Errors
    /// What the observer could not keep.
    pub fn finish(mut self) -> Result<(Measured, O), RunError<O::Error>> {
        let (now, begin) = (BitInstant::new(self.now), BitInstant::new(self.warmup));
        let is_at_a_boundary = self.measured.end == now;
        self.measured.end = now;
        if self.passed == 0 {
            // Nothing was measured, so what the warm-up counted is forgotten.
            self.simulator.begin_measurement(now);
        } else if !is_at_a_boundary {
            self.measured.end_batch(&mut self.simulator, now.since(begin), false);
        }
        self.measured.delays.add(self.simulator.delays());
        self.measured.close(self.plan, &mut self.simulator);
        self.observer.end(self.measured.observed_end()).map_err(RunError::Observer)?;
        Ok((self.measured, self.observer))
    }
}
