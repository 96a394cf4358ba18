//! A service and its clients as a steady system: a discrete-event simulation of its own.
//!
//! Clients begin operations in an open or a closed loop, and ask again as their policies, budgets, rates and breakers say. The
//! service works on one request after the other, lets some wait, refuses the rest, and is slower or out for a while.
//! `ethbus retry herd` is the closed loop in which each client has one operation.

mod calendar;
mod capacity;
mod chain;
mod config;
mod engine;
mod figures;
pub mod keys;
mod limits;
mod report;
#[cfg(test)]
mod tests;
mod tip;

pub use capacity::Dip;
pub use chain::Mean;
pub use config::Settings;
pub(crate) use engine::{Counts, Observe, Run, TooMany};
pub(crate) use figures::{BUCKET, count};
pub use figures::{Outcome, Verdict};
pub use limits::{BreakerLimits, BudgetLimits, Trip};
pub use report::Comparison;
pub use tip::{Tip, Tips};

use super::Named;
use backoff::RateLimits;

/// When operations begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crowd {
    /// At random times, whatever becomes of the others: this number a second.
    Open {
        /// How many a second.
        load: f64,
    },
    /// Each client has one at a time, and thinks in between.
    Closed {
        /// For how long on average, in nanoseconds; the times are exponential.
        think: u64,
    },
    /// Each client has one operation, which begins at a random time within a span.
    Once {
        /// The span in nanoseconds; 0: all at once.
        spread: u64,
    },
}

/// Some of the clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// How many of 100 clients.
    pub percent: u32,
    /// What its delays before jitter are multiplied by, in percent: below 100 for emergency calls.
    pub priority: u32,
    /// The policy of clients that cheat.
    pub policy: Option<Named>,
}

/// What clients and service do. Spans are in nanoseconds.
#[derive(Clone, Debug)]
pub struct Service {
    /// When operations begin.
    pub crowd: Crowd,
    /// How many clients.
    pub clients: u32,
    /// How long a client waits for an answer.
    pub timeout: Option<u64>,
    /// The part of the answers that get lost.
    pub lost: f64,
    /// The part of a request's work that an answer to a known key costs; none: there are no keys.
    pub keys: Option<f64>,
    /// What a refusal asks clients to wait; 0: nothing.
    pub retry_after: u64,
    /// The status code of a refusal; none: every policy tries again.
    pub refusal: Option<u16>,
    /// The span in which a client may make one request, by the service's quota.
    pub quota: Option<u64>,
    /// How often a client may ask at all.
    pub rate: Option<RateLimits>,
    /// What bounds the retries of a client.
    pub budget: Option<BudgetLimits>,
    /// When a client stops asking.
    pub breaker: Option<BreakerLimits>,
    /// The clients that are not as the others.
    pub classes: Vec<Class>,
    /// Requests that the service serves in a second.
    pub capacity: f64,
    /// Requests that wait while another is served; one more is refused.
    pub queue: u32,
    /// Whether the work of a request is exponential; else it is constant.
    pub exponential: bool,
    /// When the service is slower or out.
    pub dips: Vec<Dip>,
    /// How long the run lasts.
    pub duration: u64,
    /// From when on is measured.
    pub warm_up: u64,
    /// Seed of every random draw.
    pub seed: u64,
    /// Requests after which a run is broken off: a policy that hardly waits would never end.
    pub most_requests: u64,
}

impl Service {
    /// The class of a client, spread evenly over the clients' numbers.
    pub(super) fn class_of(&self, number: u32) -> usize {
        // Golden-ratio steps: 100 neighbours fall into every class nearly in proportion.
        let place = (f64::from(number) * 0.618_033_988_749_894_8).fract() * 100.0;
        let mut above = 0.0;
        for (class, share) in self.classes.iter().enumerate() {
            above += f64::from(share.percent);
            if place < above {
                return class;
            }
        }
        self.classes.len()
    }

    /// How long the service works on a request, on average.
    pub(super) fn service_ns(&self) -> u64 {
        (1e9 / self.capacity).round().max(1.0) as u64
    }

    /// Names and percents of the classes, that of all others last.
    pub(super) fn class_shares(&self) -> impl Iterator<Item = (&str, u32)> {
        let others = 100_u32.saturating_sub(self.classes.iter().map(|class| class.percent).sum::<u32>());
        self.classes.iter().map(|class| (class.name.as_str(), class.percent)).chain([("others", others)])
    }
}

impl Class {
    /// Reads `NAME:PERCENT:PRIORITY`, or `NAME:PERCENT:PRIORITY:POLICY`.
    ///
    /// # Errors
    /// Another form, numbers out of range, or a text that is no policy.
    pub fn parse(text: &str) -> Result<Class, String> {
        let parts: Vec<&str> = text.splitn(4, ':').collect();
        let number = |text: &str, most: u32| text.parse().ok().filter(|number| (1..=most).contains(number));
        if let [name, percent, priority, ref own @ ..] = parts[..]
            && !name.is_empty()
            && let (Some(percent), Some(priority)) = (number(percent, 100), number(priority, 10_000))
        {
            let policy = own.first().map(|text| Named::parse(text)).transpose().map_err(|wrong| wrong.to_string())?;
            return Ok(Class { name: name.to_owned(), percent, priority, policy });
        }
        Err(format!(
            "`{text}`: a class has a name, 1 to 100 percent of the clients and a priority from 1 to 10000, like `emergency:5:25`"
        ))
    }
}

/// What is wrong with the percents of the classes.
pub(super) fn too_large(classes: &[Class]) -> Option<String> {
    let percent: u64 = classes.iter().map(|class| u64::from(class.percent)).sum();
    let what = || format!("the classes' shares are {percent} % in all: write shares that sum to at most 100");
    (percent > 100).then(what)
}
