//! A service to which many clients come back at once: the service of `service`, out until `outage`, and a closed loop in which
//! each client has one operation.
//!
//! Each client asks for the first time when it notices, asks again as its policy says, and is done when it is served or gives
//! up. The service serves `capacity` requests a second, one after the other, lets `queue` of them wait, and refuses the others. A
//! client waits for its answer as long as it takes.

mod report;
#[cfg(test)]
mod tests;

pub use report::{ClassReport, Comparison, Report};

use super::service::{BudgetLimits, Class, Crowd, Dip, Observe, Run, Service, TooMany, count};
use super::{Named, RunError, service};
use backoff::{BudgetLimits as BucketLimits, RateLimits};

/// Requests after which a run is broken off.
pub const MOST_REQUESTS: u64 = 50_000_000;

/// What happens to whom.
#[derive(Clone, Debug)]
pub struct Herd {
    /// How many clients.
    pub clients: u32,
    /// How long the service is out; all spans are in nanoseconds.
    pub outage: u64,
    /// Requests that the service serves in a second.
    pub capacity: f64,
    /// Requests that wait while another is served; one more is refused.
    pub queue: u32,
    /// The clients ask first at a random time within this span; 0: all at once.
    pub spread: u64,
    /// What a refusal asks clients to wait; 0: nothing.
    pub retry_after: u64,
    /// How many retries a client may make.
    pub budget: Option<BucketLimits>,
    /// How often a client may ask at all.
    pub rate: Option<RateLimits>,
    /// Classes of clients that differ from the others.
    pub classes: Vec<Class>,
    /// How long the run lasts, in nanoseconds.
    pub duration: u64,
    /// Seed of every random draw.
    pub seed: u64,
}

/// What is kept of a run.
#[derive(Default)]
struct Watch {
    /// By class: how long served clients waited.
    waits: Vec<Vec<u64>>,
    /// When clients were served.
    ends: Vec<u64>,
    requests_over_time: Vec<u64>,
    served_over_time: Vec<u64>,
}

impl Observe for Watch {
    fn requested(&mut self, now: u64) {
        count(&mut self.requests_over_time, now);
    }

    fn served(&mut self, now: u64, class: usize, _: u32, delay: u64) {
        self.waits[class].push(delay);
        self.ends.push(now);
        count(&mut self.served_over_time, now);
    }
}

impl Herd {
    /// Runs it with one policy.
    ///
    /// # Errors
    /// Options that make no service or no clients; more than [`MOST_REQUESTS`] requests.
    pub fn run(&self, named: &Named) -> Result<Report, RunError> {
        self.check()?;
        let service = self.service();
        let mut run = Run::new(&service, named);
        let mut watch = Watch { waits: vec![Vec::new(); self.classes.len() + 1], ..Watch::default() };
        let too_many = |_: TooMany| RunError::too_many(named, MOST_REQUESTS);
        run.until(self.duration, &mut watch).map_err(too_many)?;
        Ok(Report::of(self, named, &run, watch))
    }

    fn service(&self) -> Service {
        Service {
            crowd: Crowd::Once { spread: self.spread },
            clients: self.clients,
            timeout: None,
            lost: 0.0,
            keys: None,
            retry_after: self.retry_after,
            refusal: None,
            quota: None,
            rate: self.rate,
            budget: self.budget.map(BudgetLimits::Bucket),
            breaker: None,
            classes: self.classes.clone(),
            capacity: self.capacity,
            queue: self.queue,
            exponential: false,
            dips: vec![Dip { start: 0, length: self.outage, left: 0.0 }],
            duration: self.duration,
            warm_up: 0,
            seed: self.seed,
            most_requests: MOST_REQUESTS,
        }
    }

    fn check(&self) -> Result<(), RunError> {
        if !(1..=1_000_000).contains(&self.clients) {
            return Err(RunError::new("--clients", "the number of clients is between 1 and 1000000"));
        }
        if !(self.capacity >= 1e-3 && self.capacity <= 1e9) {
            return Err(RunError::new("--capacity", "the service serves between 0.001 and 1e9 requests a second"));
        }
        if self.duration <= self.outage {
            return Err(RunError::new(
                "--duration",
                "it ends before the outage does: write a time longer than the outage",
            ));
        }
        match service::too_large(&self.classes) {
            Some(what) => Err(RunError::new("--class", what)),
            None => Ok(()),
        }
    }
}
