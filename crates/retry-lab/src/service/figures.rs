//! What a run comes to: counts, figures with their intervals, classes, oscillation, and whether the service recovered.

use super::{Counts, Observe, Run, Service, TooMany};
use crate::{Named, RunError};
use serde::Serialize;
use sim::figures::histogram::{Histogram, Packed};
use sim::figures::intervals::{half_width_of_batched_quantile, half_width_of_batches};
use sim::figures::metrics;

/// Stretches of the measured time, from which intervals come.
const BATCHES: u64 = 32;
/// The span of one number in a load over time, in nanoseconds: 1 s.
pub(crate) const BUCKET: u64 = 1_000_000_000;
/// Seconds of which the goodput says whether the service has recovered.
const WINDOW: usize = 10;
/// The part of the goodput before the dip that counts as recovered.
const RECOVERED: f64 = 0.8;
/// Delays are exact to 1 part in 128.
type DelayHistogram = Histogram<8>;

type PackedDelays = Packed<8>;

/// What one policy came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The policy, as it was written.
    pub policy: String,
    /// What a sweep varied, as KEY=VALUE; empty without a sweep.
    pub varied: String,
    /// All that was counted, the warm-up included.
    #[serde(flatten)]
    pub counts: Counts,
    /// Operations that had no end at the end of the run.
    pub pending_at_end: u64,
    /// Requests that waited or were in service then.
    pub in_service_at_end: u64,
    /// From the end of the warm-up on.
    pub measured: Figures,
    /// Half-widths of the 95 % intervals of these, from batch means; none of a run with dips, which is not steady.
    pub ci95: Option<Figures>,
    /// Jain's index of the operations that succeeded, over the clients: 1 if all have the same.
    pub fairness: f64,
    /// By class, all others last; empty without classes.
    pub classes: Vec<ClassFigures>,
    /// Waves in the load, if there are any.
    pub oscillation: Option<Oscillation>,
    /// What became of the service after the last dip; none without dips.
    pub verdict: Option<Verdict>,
    /// Requests in each second.
    pub requests_over_time: Vec<u64>,
    /// Operations that succeeded in each second.
    pub served_over_time: Vec<u64>,
}

/// Figures of a stretch. As half-widths, those without one are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Figures {
    /// Operations a second that succeeded.
    pub goodput_per_s: Option<f64>,
    /// Requests a second that the service saw.
    pub load_per_s: Option<f64>,
    /// Requests for each operation that began.
    pub amplification: Option<f64>,
    /// Operations that succeeded, as a part of those that ended.
    pub success_fraction: Option<f64>,
    /// Mean time from the begin of an operation until it succeeded.
    pub mean_delay_s: Option<f64>,
    /// The time within which half of them did.
    pub p50_delay_s: Option<f64>,
    /// The time within which 99 of 100 did.
    pub p99_delay_s: Option<f64>,
}

/// One class of clients, over the whole run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassFigures {
    /// Its name; `others` for the rest.
    pub class: String,
    /// Its clients.
    pub clients: u64,
    /// Its requests.
    pub requests: u64,
    /// Operations of it that succeeded.
    pub served: u64,
    /// These as a part of all that succeeded.
    pub share_of_served: f64,
    /// Operations of it that failed.
    pub gave_up: u64,
    /// The time within which 99 of 100 succeeded.
    pub p99_delay_s: Option<f64>,
}

/// Waves in the load, from the autocorrelation of the requests in each second: at the period it is high again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Oscillation {
    /// The lag of the first peak behind the first zero, in seconds.
    pub period_s: f64,
    /// √2 times the standard deviation, as a part of the mean: the amplitude of a sine with that deviation.
    pub amplitude: f64,
}

/// What became of the service after a dip.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// Goodput came back: in each window of 10 s from then on it is at least 80 % of what it was before.
    Recovered {
        /// How long after the dip.
        after_s: f64,
    },
    /// Goodput did not come back, and the load is above the capacity.
    Metastable {
        /// Goodput of the last 10 s, as a part of that before the dip.
        goodput_fraction: f64,
    },
    /// Goodput did not come back, and the load is below the capacity: clients still wait.
    Waiting {
        /// Goodput of the last 10 s, as a part of that before the dip.
        goodput_fraction: f64,
    },
}

/// Looks at a run, a stretch at a time.
struct Watch {
    delays: DelayHistogram,
    sum: f64,
    of_classes: Vec<DelayHistogram>,
    of_clients: Vec<u32>,
    requests_over_time: Vec<u64>,
    served_over_time: Vec<u64>,
}

/// What a stretch had.
#[derive(Clone, Copy, Default)]
struct Stretch {
    counts: Counts,
    sum: f64,
    seconds: f64,
}

pub(crate) fn count(over_time: &mut Vec<u64>, now: u64) {
    let bucket = (now / BUCKET) as usize;
    if over_time.len() <= bucket {
        over_time.resize(bucket + 1, 0);
    }
    over_time[bucket] += 1;
}

impl Observe for Watch {
    fn requested(&mut self, now: u64) {
        count(&mut self.requests_over_time, now);
    }

    fn served(&mut self, now: u64, class: usize, client: u32, delay: u64) {
        count(&mut self.served_over_time, now);
        self.delays.record(delay);
        self.sum += delay as f64;
        self.of_clients[client as usize] += 1;
        if let Some(delays) = self.of_classes.get_mut(class) {
            delays.record(delay);
        }
    }
}

impl Stretch {
    fn of(before: &Counts, after: &Counts, sum: f64, ns: u64) -> Stretch {
        let counts = Counts {
            operations: after.operations - before.operations,
            requests: after.requests - before.requests,
            served: after.served - before.served,
            gave_up_attempts: after.gave_up() - before.gave_up(),
            ..Counts::default()
        };
        Stretch { counts, sum, seconds: seconds(ns) }
    }

    fn figures(&self, delays: &PackedDelays) -> Figures {
        let Stretch { counts, sum, seconds: time } = *self;
        let part = |one: u64, of: u64| (of > 0).then(|| one as f64 / of as f64);
        let [p50, p99] = delays.quantiles([0.5, 0.99], u64::MAX);
        Figures {
            goodput_per_s: Some(counts.served as f64 / time),
            load_per_s: Some(counts.requests as f64 / time),
            amplification: part(counts.requests, counts.operations),
            success_fraction: part(counts.served, counts.served + counts.gave_up()),
            mean_delay_s: (counts.served > 0).then(|| sum / counts.served as f64 / 1e9),
            p50_delay_s: p50.map(seconds),
            p99_delay_s: p99.map(seconds),
        }
    }
}

impl Figures {
    /// The half-widths of figures, from those of the batches and their delays.
    fn half_widths(batches: &[Figures], delays: &[PackedDelays]) -> Figures {
        let half =
            |of: fn(&Figures) -> Option<f64>| half_width_of_batches(&batches.iter().filter_map(of).collect::<Vec<_>>());
        let quantile = |part| half_width_of_batched_quantile(delays, part).map(|ns| ns / 1e9);
        Figures {
            goodput_per_s: half(|it| it.goodput_per_s),
            load_per_s: half(|it| it.load_per_s),
            amplification: half(|it| it.amplification),
            success_fraction: half(|it| it.success_fraction),
            mean_delay_s: half(|it| it.mean_delay_s),
            p50_delay_s: quantile(0.5),
            p99_delay_s: quantile(0.99),
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The sum over all classes.
fn sum(counts: &[Counts]) -> Counts {
    let of = |field: fn(&Counts) -> u64| counts.iter().map(field).sum::<u64>();
    Counts {
        operations: of(|it| it.operations),
        requests: of(|it| it.requests),
        refused_out: of(|it| it.refused_out),
        refused_full: of(|it| it.refused_full),
        refused_quota: of(|it| it.refused_quota),
        repeated: of(|it| it.repeated),
        unheard: of(|it| it.unheard),
        timed_out: of(|it| it.timed_out),
        served: of(|it| it.served),
        gave_up_attempts: of(|it| it.gave_up_attempts),
        gave_up_elapsed: of(|it| it.gave_up_elapsed),
        gave_up_budget: of(|it| it.gave_up_budget),
        gave_up_breaker: of(|it| it.gave_up_breaker),
        gave_up_answer: of(|it| it.gave_up_answer),
    }
}

impl Service {
    /// Runs it with one policy.
    ///
    /// # Errors
    /// More requests than a run may make.
    pub fn run(&self, named: &Named) -> Result<Outcome, RunError> {
        let mut run = Run::new(self, named);
        let classes = if self.classes.is_empty() { 0 } else { self.classes.len() + 1 };
        let mut watch = Watch {
            delays: DelayHistogram::default(),
            sum: 0.0,
            of_classes: vec![DelayHistogram::default(); classes],
            of_clients: vec![0; self.clients as usize],
            requests_over_time: Vec::new(),
            served_over_time: Vec::new(),
        };
        let too_many = |_: TooMany| RunError::too_many(named, self.most_requests);
        run.until(self.warm_up, &mut watch).map_err(too_many)?;
        let before = sum(&run.counts);
        let mut last = before;
        (watch.delays, watch.sum) = (DelayHistogram::default(), 0.0);
        watch.of_clients.fill(0);
        let (mut all, mut all_sum) = (DelayHistogram::default(), 0.0);
        let (mut batches, mut of_batches) = (Vec::new(), Vec::new());
        let measured = self.duration - self.warm_up;
        for batch in 1..=BATCHES {
            let (begin, end) = (measured / BATCHES * (batch - 1), measured / BATCHES * batch);
            let end = if batch == BATCHES { measured } else { end };
            run.until(self.warm_up + end, &mut watch).map_err(too_many)?;
            let now = sum(&run.counts);
            let delays = watch.delays.move_to(&mut all, u64::MAX);
            batches.push(Stretch::of(&last, &now, watch.sum, end - begin).figures(&delays));
            of_batches.push(delays);
            all_sum += watch.sum;
            (last, watch.sum) = (now, 0.0);
        }
        let stretch = Stretch::of(&before, &last, all_sum, measured);
        let figures = stretch.figures(&Packed::from(&all));
        let ci95 = self.dips.is_empty().then(|| Figures::half_widths(&batches, &of_batches));
        Ok(self.outcome(named, &run, watch, figures, ci95))
    }

    fn outcome(&self, named: &Named, run: &Run, watch: Watch, measured: Figures, ci95: Option<Figures>) -> Outcome {
        let counts = sum(&run.counts);
        let (pending, in_service) = (run.pending(), run.in_service());
        // Each operation is in one state, and so is each request: our own mistake alone can change that.
        assert_eq!(counts.operations, counts.served + counts.gave_up() + pending, "operations are conserved");
        let ended = counts.refused() + counts.served + counts.unheard;
        assert_eq!(counts.requests, ended + in_service, "requests are conserved");
        let (mut requests, mut served) = (watch.requests_over_time, watch.served_over_time);
        let buckets = self.duration.div_ceil(BUCKET) as usize;
        for series in [&mut requests, &mut served] {
            series.resize(buckets.max(series.len()), 0);
        }
        let steady_from = self.dips.iter().map(super::Dip::end).max().unwrap_or(self.warm_up);
        let whole = (self.duration / BUCKET) as usize;
        let from = (steady_from.div_ceil(BUCKET) as usize).min(whole);
        Outcome {
            policy: named.name.clone(),
            varied: String::new(),
            counts,
            pending_at_end: pending,
            in_service_at_end: in_service,
            measured,
            ci95,
            fairness: jain(&watch.of_clients),
            classes: self.class_figures(run, &watch.of_classes),
            oscillation: Oscillation::of(&requests[from..whole]),
            verdict: self.verdict(&requests[..whole], &served[..whole]),
            requests_over_time: requests,
            served_over_time: served,
        }
    }

    fn class_figures(&self, run: &Run, delays: &[DelayHistogram]) -> Vec<ClassFigures> {
        let served: u64 = run.counts.iter().map(|counts| counts.served).sum();
        let figures = |(class, ((name, _), delays)): (usize, ((&str, u32), &DelayHistogram))| {
            let (counts, [p99]) = (&run.counts[class], delays.quantiles([0.99], u64::MAX));
            ClassFigures {
                class: name.to_owned(),
                clients: run.clients_of(class),
                requests: counts.requests,
                served: counts.served,
                share_of_served: counts.served as f64 / served.max(1) as f64,
                gave_up: counts.gave_up(),
                p99_delay_s: p99.map(seconds),
            }
        };
        self.class_shares().zip(delays).enumerate().map(figures).collect()
    }

    /// What became of it after the last dip.
    pub(super) fn verdict(&self, requests: &[u64], served: &[u64]) -> Option<Verdict> {
        let first = self.dips.iter().map(|dip| dip.start).min()?;
        let end = self.dips.iter().map(super::Dip::end).max()?;
        let mean = |series: &[u64]| series.iter().sum::<u64>() as f64 / series.len().max(1) as f64;
        let before = served.get(self.warm_up.div_ceil(BUCKET) as usize..(first / BUCKET) as usize).unwrap_or(&[]);
        let after = served.get(end.div_ceil(BUCKET) as usize..).filter(|after| !after.is_empty())?;
        let before = if before.is_empty() { self.expected_per_s() } else { mean(before) };
        let window = WINDOW.min(after.len());
        let good = |window: &[u64]| mean(window) >= RECOVERED * before;
        let goodput_fraction = mean(&after[after.len() - window..]) / before;
        let windows = after.windows(window);
        let bad = windows.enumerate().rev().find(|(_, window)| !good(window)).map(|(second, _)| second);
        Some(match bad {
            None => Verdict::Recovered { after_s: 0.0 },
            Some(second) if second + window < after.len() => Verdict::Recovered { after_s: (second + 1) as f64 },
            Some(_) if mean(&requests[requests.len() - window..]) > self.capacity => {
                Verdict::Metastable { goodput_fraction }
            }
            Some(_) => Verdict::Waiting { goodput_fraction },
        })
    }

    /// Operations that would begin each second if all were served at once.
    fn expected_per_s(&self) -> f64 {
        match self.crowd {
            super::Crowd::Open { load } => load.min(self.capacity),
            super::Crowd::Closed { think } => {
                let cycle = think as f64 + self.service_ns() as f64;
                (f64::from(self.clients) * 1e9 / cycle).min(self.capacity)
            }
            super::Crowd::Once { .. } => self.capacity,
        }
    }
}

/// Jain's index of clients, each of which wants something; 1 if none was served.
fn jain(served: &[u32]) -> f64 {
    metrics::jain(served.iter().map(|&served| (u64::from(served), 1))).unwrap_or(1.0)
}

impl Oscillation {
    /// The fewest seconds in which waves are looked for.
    const FEWEST: usize = 30;
    /// The least correlation at the period that is no chance.
    const LEAST: f64 = 0.3;

    fn of(requests: &[u64]) -> Option<Oscillation> {
        let n = requests.len();
        if n < Oscillation::FEWEST {
            return None;
        }
        let mean = requests.iter().sum::<u64>() as f64 / n as f64;
        let off: Vec<f64> = requests.iter().map(|&requests| requests as f64 - mean).collect();
        let covariance = |lag: usize| off.iter().zip(&off[lag..]).map(|(one, other)| one * other).sum::<f64>();
        let variance = covariance(0);
        if variance == 0.0 {
            return None;
        }
        let correlation: Vec<f64> = (0..=n / 3).map(|lag| covariance(lag) / variance).collect();
        let zero = correlation.iter().position(|&it| it <= 0.0)?;
        let peak = (zero.max(1)..correlation.len() - 1).find(|&lag| {
            correlation[lag] >= Oscillation::LEAST
                && correlation[lag] >= correlation[lag - 1]
                && correlation[lag] >= correlation[lag + 1]
        })?;
        let amplitude = (2.0 * variance / n as f64).sqrt() / mean;
        Some(Oscillation { period_s: peak as f64, amplitude })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_have_their_period_and_amplitude() {
        let wave = |second: usize| (1000.0 + 400.0 * (second as f64 * std::f64::consts::TAU / 20.0).sin()) as u64;
        let waves: Vec<u64> = (0..200).map(wave).collect();
        let oscillation = Oscillation::of(&waves).expect("waves");
        assert_eq!(oscillation.period_s, 20.0);
        assert!((oscillation.amplitude - 0.4).abs() < 0.01, "{oscillation:?}");
        assert_eq!(Oscillation::of(&vec![7; 100]), None);
        let mut generator = backoff::Generator::new(1);
        let noise: Vec<u64> = (0..300).map(|_| 1000 + generator.next_u64() % 60).collect();
        assert_eq!(Oscillation::of(&noise), None, "chance is no wave");
    }

    #[test]
    fn jain_is_one_for_equals_and_one_nth_for_a_monopoly() {
        assert_eq!(jain(&[5, 5, 5, 5]), 1.0);
        assert_eq!(jain(&[9, 0, 0, 0]), 0.25);
    }
}
