//! A run beside others: it goes on piece by piece, and is measured as a run of its own is.

use super::{BATCHES, Measured, RunError, before, begun, doublings, part, spans};
use crate::run::observer::Observer;
use crate::run::simulator::Simulator;
use crate::scenario::plan::Plan;
use medium::{BitInstant, Frame, StationId};

/// How often the measured time of `plan` doubles from the first look at what is known to the end.
pub fn doublings_of(plan: &Plan) -> u32 {
    doublings(plan, spans(plan).1)
}

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
    /// Ends of the warm-up and of batches, in order. At each look half of the batches come anew, twice as long.
    ends: Vec<u64>,
    /// How many of them have passed.
    passed: usize,
    /// How many of them pass before all buses look at what is known, or end.
    look: usize,
}

impl<'a, O: Observer> Piecewise<'a, O> {
    /// `plan` at instant 0, which ends with its duration.
    ///
    /// # Errors
    /// As [`run`](super::run).
    pub fn new(plan: &'a Plan, mut observer: O) -> Result<Piecewise<'a, O>, RunError<O::Error>> {
        let (warmup, duration) = spans(plan);
        let simulator = begun(plan, plan.medium.seed, &mut observer)?;
        let mut measured = Measured::nothing(BitInstant::ZERO, plan.medium.rate);
        measured.batched = (plan.run.replications == 1).then(Vec::new);
        let ends: Vec<u64> = (0..=BATCHES).map(|batch| warmup + part(duration, batch, BATCHES)).collect();
        let look = ends.len();
        Ok(Piecewise { plan, simulator, observer, measured, warmup, duration, now: 0, ends, passed: 0, look })
    }

    /// It waits at each of `looks` at what is known, each of which comes when the measured time has doubled since the last
    /// one; the one at the end is not among them.
    #[must_use]
    pub fn with_looks(mut self, looks: &[u64]) -> Self {
        let later =
            (1..=looks.len()).flat_map(|doubled| (BATCHES / 2 + 1..=BATCHES).map(move |batch| batch << doubled));
        let end = |batch| self.warmup + part(self.duration, batch, BATCHES << looks.len());
        self.ends = (0..=BATCHES).chain(later).map(end).collect();
        let ends = self.ends[BATCHES as usize..].iter_mut().step_by(BATCHES as usize / 2);
        ends.zip(looks).for_each(|(end, look)| *end = *look);
        self.measured.joinable = Some(Vec::new());
        self
    }

    /// Some frame got through that was measured.
    pub fn has_sent(&self) -> bool {
        self.measured.sums.frames() > 0
    }

    /// Whether, at a look, the metric that the plan names is known well enough.
    pub fn is_enough(&self) -> bool {
        self.measured.is_enough(self.plan)
    }

    /// More is to be known at a look: it may go on to the next one.
    pub fn go_on(&mut self) {
        self.measured.join_batches();
        self.look += BATCHES as usize / 2;
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
        while self.passed < self.look {
            let next = self.ends[self.passed];
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
        if self.passed == self.look {
            self.measured.joinable = None;
        }
        self.measured.delays.add(self.simulator.delays());
        self.measured.close(self.plan, &mut self.simulator);
        self.observer.end(self.measured.observed_end()).map_err(RunError::Observer)?;
        Ok((self.measured, self.observer))
    }
}
