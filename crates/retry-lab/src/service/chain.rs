//! The mean of the system as a recursion over steps of time: a chain without chance, whose state is the backlog of the service
//! and, for each number of failures, the requests that are still to come.
//!
//! docs/retry.md has the equations. It is exact where the system is large; what tips a service is predicted from it.

use super::capacity::Capacity;
use super::figures::BUCKET;
use super::{BudgetLimits, Crowd, Service, Verdict};
use crate::Named;
use backoff::Budget;

/// Steps of a time-out.
const STEPS: u64 = 100;
/// Requests of one operation with a number of their own; later ones count as the last.
const REQUESTS: usize = 24;
/// Delays by which the law of a delay is replaced, each as likely as the others.
const QUANTILES: u64 = 32;
/// The most steps of a run.
const MOST_STEPS: u64 = 100_000;

/// What the recursion gives.
#[derive(Clone, Debug, Default)]
pub struct Mean {
    /// Requests in each second.
    pub requests_over_time: Vec<f64>,
    /// Operations that succeed in each second.
    pub served_over_time: Vec<f64>,
}

/// The recursion in progress. Numbers of requests and operations are means, and so no whole numbers.
struct Chain {
    /// The length of a step in nanoseconds.
    step: u64,
    /// By number of the request, then by step: requests that arrive, and failures that their clients learn of.
    asks: Vec<Vec<f64>>,
    fails: Vec<Vec<f64>>,
    /// Operations that succeed, and those that end, by step.
    served: Vec<f64>,
    ends: Vec<f64>,
    /// After that failure: the delays in steps; none if it is the last.
    delays: Vec<Option<Vec<usize>>>,
    /// Whether clients try again that were refused.
    retries_refusal: bool,
    /// Retries in the buckets of all clients together.
    budget: f64,
}

impl Service {
    /// Why the recursion does not describe it with this policy, if so.
    fn why_no_chain(&self, named: &Named) -> Option<&'static str> {
        let policy = &named.policy;
        let depends = |failures| policy.law_after(failures, 1_000_000_000) != policy.law_after(failures, 7_000_000_000);
        match () {
            () if self.timeout.is_none() => Some("it needs a time-out"),
            () if matches!(self.crowd, Crowd::Once { .. }) => Some("each client has one operation"),
            () if self.keys.is_some() => Some("it knows no idempotency keys"),
            () if self.quota.is_some() || self.rate.is_some() => Some("it knows no quotas and rates of clients"),
            () if self.breaker.is_some() => Some("it knows no breakers"),
            () if !self.classes.is_empty() => Some("it knows one class"),
            () if !matches!(self.budget, None | Some(BudgetLimits::Bucket(_))) => {
                Some("of budgets it knows the bucket")
            }
            () if depends(2) => Some("the policy's delay depends on the one before"),
            () if policy.elapsed_limit_ns().is_some_and(|limit| limit < self.duration) => {
                Some("the policy has an elapsed limit")
            }
            () => None,
        }
    }

    /// The mean of its loads over time.
    ///
    /// # Errors
    /// Why the recursion does not describe it.
    pub fn mean(&self, named: &Named) -> Result<Mean, &'static str> {
        if let Some(why) = self.why_no_chain(named) {
            return Err(why);
        }
        let timeout = self.timeout.unwrap_or(1);
        let step = (timeout / STEPS).max(self.duration / MOST_STEPS).max(1);
        let mut chain = Chain::new(self, named, step);
        let (mut capacity, mut backlog, mut idle) = (Capacity::new(self.dips.clone()), 0.0, f64::from(self.clients));
        for now in 0..chain.served.len() {
            let at = now as u64 * step;
            let begins = match self.crowd {
                Crowd::Open { load } => load * step as f64 / 1e9,
                Crowd::Closed { think } => {
                    idle += chain.ends[now];
                    idle * -(-(step as f64) / think.max(1) as f64).exp_m1()
                }
                Crowd::Once { .. } => 0.0,
            };
            idle -= begins;
            chain.tries_again(self, now, begins);
            chain.asks[0][now] += begins;
            let arrived: f64 = chain.asks.iter().map(|asks| asks[now]).sum();
            // What the service gets done in this step at its speed of now.
            let (whole, is_out) = (self.service_ns(), capacity.is_out(at));
            let slowness = (capacity.finish(at, 1_000_000) - at) as f64 / 1e6;
            let done = if is_out { 0.0 } else { step as f64 / whole as f64 / slowness };
            let room = f64::from(self.queue) + 1.0 - backlog + done;
            let refused = if is_out { 1.0 } else { (1.0 - room.max(0.0) / arrived).clamp(0.0, 1.0) };
            let wait = capacity.finish(at, (backlog * whole as f64) as u64 + whole) - at;
            let heard = if wait <= timeout { (1.0 - refused) * (1.0 - self.lost) } else { 0.0 };
            chain.settle(now, refused, heard, (wait / step) as usize, (timeout / step) as usize);
            backlog = (backlog + arrived * (1.0 - refused) - done).max(0.0);
        }
        Ok(chain.over_time())
    }

    /// What becomes of it after the last dip, on average.
    pub(super) fn predicted(&self, named: &Named) -> Result<Option<Verdict>, &'static str> {
        let mean = self.mean(named)?;
        let whole = |series: &[f64]| series.iter().map(|number| number.round() as u64).collect::<Vec<u64>>();
        let seconds = (self.duration / BUCKET) as usize;
        let (requests, served) = (whole(&mean.requests_over_time), whole(&mean.served_over_time));
        Ok(self.verdict(&requests[..seconds.min(requests.len())], &served[..seconds.min(served.len())]))
    }
}

impl Chain {
    fn new(service: &Service, named: &Named, step: u64) -> Chain {
        let steps = service.duration.div_ceil(step) as usize;
        let delays: Vec<Option<Vec<usize>>> = (1..=REQUESTS as u64)
            .map(|failures| {
                let law = named.policy.law(failures)?;
                let word = |number: u64| u64::MAX / QUANTILES * number + u64::MAX / QUANTILES / 2;
                Some((0..QUANTILES).map(|number| (law.at_ns(word(number)) / step) as usize).collect())
            })
            .collect();
        let of_requests = || vec![vec![0.0; steps]; REQUESTS];
        let budget = service.budget.map_or(0.0, |limits| bucket(&limits).0 * f64::from(service.clients));
        let (served, ends) = (vec![0.0; steps], vec![0.0; steps]);
        let retries_refusal = service.refusal.is_none_or(|code| named.retries(code));
        Chain { step, asks: of_requests(), fails: of_requests(), served, ends, delays, retries_refusal, budget }
    }

    /// Clients learn of failures, and those that may try again do so after their delays.
    fn tries_again(&mut self, service: &Service, now: usize, begins: f64) {
        let wanted: f64 =
            self.fails.iter().zip(&self.delays).filter(|(_, delays)| delays.is_some()).map(|(it, _)| it[now]).sum();
        let mut allowed = 1.0;
        if let Some(limits) = service.budget {
            let (capacity, deposit) = bucket(&limits);
            self.budget = (self.budget + begins * deposit).min(capacity * f64::from(service.clients));
            allowed = if wanted > 0.0 { (self.budget / wanted).min(1.0) } else { 1.0 };
            self.budget -= allowed * wanted;
        }
        for number in 0..REQUESTS {
            let failed = self.fails[number][now];
            let Some(delays) = self.delays[number].as_ref().filter(|_| failed > 0.0) else {
                self.ends[now] += failed;
                continue;
            };
            self.ends[now] += failed * (1.0 - allowed);
            let next = &mut self.asks[(number + 1).min(REQUESTS - 1)];
            for delay in delays {
                if let Some(asks) = next.get_mut(now + delay) {
                    *asks += failed * allowed / QUANTILES as f64;
                }
            }
        }
    }

    /// What becomes of the requests of this step: refused at once, heard after `wait`, or timed out.
    fn settle(&mut self, now: usize, refused: f64, heard: f64, wait: usize, timeout: usize) {
        for (asks, fails) in self.asks.iter().zip(&mut self.fails) {
            let asked = asks[now];
            let add = |series: &mut Vec<f64>, at: usize, part: f64| {
                if let Some(place) = series.get_mut(at) {
                    *place += asked * part;
                }
            };
            // A failure that is known in this step is looked at in the next.
            add(if self.retries_refusal { &mut *fails } else { &mut self.ends }, now + 1, refused);
            add(fails, now + timeout.max(1), 1.0 - refused - heard);
            add(&mut self.served, now + wait, heard);
            add(&mut self.ends, now + wait.max(1), heard);
        }
    }

    fn over_time(&self) -> Mean {
        let mut mean = Mean::default();
        let mut add = |of: fn(&mut Mean) -> &mut Vec<f64>, step: usize, value: f64| {
            let (series, second) = (of(&mut mean), (step as u64 * self.step / BUCKET) as usize);
            series.resize(series.len().max(second + 1), 0.0);
            series[second] += value;
        };
        for step in 0..self.served.len() {
            add(|it| &mut it.requests_over_time, step, self.asks.iter().map(|asks| asks[step]).sum());
            add(|it| &mut it.served_over_time, step, self.served[step]);
        }
        mean
    }
}

/// What a bucket holds, and gains with each operation.
fn bucket(limits: &BudgetLimits) -> (f64, f64) {
    let BudgetLimits::Bucket(limits) = limits else { return (0.0, 0.0) };
    let (full, mut empty) = (Budget::full(limits), Budget::holding(limits, 0));
    empty.deposit(limits);
    (full.hundredths() as f64 / 100.0, empty.hundredths() as f64 / 100.0)
}
