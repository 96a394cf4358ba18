//! A service to which many clients come back at once: a discrete-event simulation of its own.
//!
//! The service is out until `outage`. Each client asks for the first time when it notices, asks again as its policy says, and is
//! done when it is served or gives up. Then the service serves `capacity` requests a second, one after the other, lets
//! `queue` of them wait, and refuses the others. A client knows of a refusal after [`ROUND_TRIP`].
//!
//! Ties follow the order in which things were decided. The same seed gives the same run on every machine.

mod report;
#[cfg(test)]
mod tests;

pub use report::{ClassReport, Comparison, Report};

use super::Named;
use backoff::{Budget, BudgetLimits, Generator, GiveUp, Policy, Rate, RateLimits, Retry};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// How long after its request a client knows that it was refused, in nanoseconds: 1 ms.
pub const ROUND_TRIP: u64 = 1_000_000;
/// Requests after which a run is broken off: a policy that hardly waits would never end.
pub const MOST_REQUESTS: u64 = 50_000_000;
/// The span of one number in a load over time, in nanoseconds: 1 s.
const BUCKET: u64 = 1_000_000_000;

/// Some of the clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// How many of 100 clients.
    pub percent: u32,
    /// What its delays before jitter are multiplied by, in percent: below 100 for emergency calls.
    pub priority: u32,
}

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
    pub budget: Option<BudgetLimits>,
    /// How often a client may ask at all.
    pub rate: Option<RateLimits>,
    /// The clients that are not as the others.
    pub classes: Vec<Class>,
    /// How long is looked at.
    pub duration: u64,
    /// Seed of every random draw.
    pub seed: u64,
}

/// Why a herd cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{option}: {what}")]
pub struct HerdError {
    option: &'static str,
    what: String,
}

impl HerdError {
    pub(crate) fn new(option: &'static str, what: impl Into<String>) -> HerdError {
        HerdError { option, what: what.into() }
    }
}

/// What is decided to happen to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Ask,
    IsServed,
}

struct Client {
    class: usize,
    retry: Retry,
    started: bool,
    generator: Generator,
    rate: Rate,
    budget: Option<Budget>,
}

/// Where a client's operation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    requests: u64,
    refused_out: u64,
    refused_full: u64,
    served: u64,
    gave_up_attempts: u64,
    gave_up_elapsed: u64,
    gave_up_budget: u64,
}

/// A run in progress.
struct Run<'a> {
    herd: &'a Herd,
    /// By class; the last is everybody else's.
    policies: Vec<Policy>,
    clients: Vec<Client>,
    events: BinaryHeap<Reverse<(u64, u64, u32, Step)>>,
    decided: u64,
    /// When each request in the service is done, the one being served first.
    busy: VecDeque<u64>,
    counts: Vec<Counts>,
    /// By class: how long served clients waited, and when they were served.
    waits: Vec<Vec<u64>>,
    ends: Vec<u64>,
    requests_over_time: Vec<u64>,
    served_over_time: Vec<u64>,
    end: u64,
}

impl Herd {
    /// Runs it with one policy.
    ///
    /// # Errors
    /// Options that make no service or no clients; more than [`MOST_REQUESTS`] requests.
    pub fn run(&self, named: &Named) -> Result<Report, HerdError> {
        self.check()?;
        let mut run = Run::new(self, named.policy);
        run.start();
        while let Some(Reverse((now, _, client, step))) = run.events.pop() {
            if now > self.duration {
                break;
            }
            run.end = now;
            match step {
                Step::Ask => run.ask(now, client),
                Step::IsServed => run.is_served(now, client),
            }
            if run.counts.iter().map(|counts| counts.requests).sum::<u64>() > MOST_REQUESTS {
                let what = format!("{} makes more than {MOST_REQUESTS} requests: it hardly waits", named.name);
                return Err(HerdError::new("POLICY", what));
            }
        }
        Ok(Report::of(named, run))
    }

    fn check(&self) -> Result<(), HerdError> {
        if !(1..=1_000_000).contains(&self.clients) {
            return Err(HerdError::new("--clients", "the number of clients is between 1 and 1000000"));
        }
        if !(self.capacity >= 1e-3 && self.capacity <= 1e9) {
            return Err(HerdError::new("--capacity", "the service serves between 0.001 and 1e9 requests a second"));
        }
        if self.duration <= self.outage {
            return Err(HerdError::new(
                "--duration",
                "it ends before the outage does: write a time longer than the outage",
            ));
        }
        let percent: u64 = self.classes.iter().map(|class| u64::from(class.percent)).sum();
        if percent > 100 {
            let what = format!("the classes' shares are {percent} % in all: write shares that sum to at most 100");
            return Err(HerdError::new("--class", what));
        }
        Ok(())
    }

    /// The class of a client, spread evenly over the clients' numbers.
    fn class_of(&self, number: u32) -> usize {
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

    fn service_ns(&self) -> u64 {
        (1e9 / self.capacity).round().max(1.0) as u64
    }
}

impl<'a> Run<'a> {
    fn new(herd: &'a Herd, policy: Policy) -> Run<'a> {
        let changed = herd.classes.iter().map(|class| policy.with_priority_percent(class.priority));
        let policies: Vec<Policy> = changed.chain([policy]).collect();
        let classes = policies.len();
        let client = |number: u32| Client {
            class: herd.class_of(number),
            retry: Retry::resume(0, 0, 0),
            started: false,
            generator: Generator::operation(herd.seed, number.into()),
            rate: Rate::new(),
            budget: herd.budget.as_ref().map(Budget::full),
        };
        Run {
            herd,
            policies,
            clients: (0..herd.clients).map(client).collect(),
            events: BinaryHeap::new(),
            decided: 0,
            busy: VecDeque::new(),
            counts: vec![Counts::default(); classes],
            waits: vec![Vec::new(); classes],
            ends: Vec::new(),
            requests_over_time: Vec::new(),
            served_over_time: Vec::new(),
            end: 0,
        }
    }

    /// Everybody notices.
    fn start(&mut self) {
        for number in 0..self.herd.clients {
            let word = self.clients[number as usize].generator.next_u64();
            let at = ((u128::from(word) * u128::from(self.herd.spread)) >> 64) as u64;
            self.decide(at, number, Step::Ask);
        }
    }

    fn decide(&mut self, at: u64, client: u32, step: Step) {
        self.decided += 1;
        self.events.push(Reverse((at, self.decided, client, step)));
    }

    fn ask(&mut self, now: u64, number: u32) {
        let herd = self.herd;
        let client = &mut self.clients[number as usize];
        if !client.started {
            client.started = true;
            client.retry = Retry::starting_at(Duration::from_nanos(now));
        }
        if let Some(limits) = &herd.rate {
            let wait = client.rate.act_ns(limits, now);
            if wait > 0 {
                return self.decide(now.saturating_add(wait), number, Step::Ask);
            }
        }
        let class = client.class;
        self.counts[class].requests += 1;
        count(&mut self.requests_over_time, now);
        if now < herd.outage {
            self.counts[class].refused_out += 1;
            return self.is_refused(now, number);
        }
        while self.busy.front().is_some_and(|&done| done <= now) {
            self.busy.pop_front();
        }
        if self.busy.len() as u64 > u64::from(herd.queue) {
            self.counts[class].refused_full += 1;
            return self.is_refused(now, number);
        }
        let done = self.busy.back().map_or(now, |&done| done.max(now)) + herd.service_ns();
        self.busy.push_back(done);
        self.decide(done, number, Step::IsServed);
    }

    fn is_served(&mut self, now: u64, number: u32) {
        let client = &self.clients[number as usize];
        self.counts[client.class].served += 1;
        self.waits[client.class].push(client.retry.elapsed_ns(now));
        self.ends.push(now);
        count(&mut self.served_over_time, now);
    }

    fn is_refused(&mut self, now: u64, number: u32) {
        let herd = self.herd;
        let known = now + ROUND_TRIP;
        let client = &mut self.clients[number as usize];
        let counts = &mut self.counts[client.class];
        if let Some(limits) = &herd.rate {
            client.rate.adverse_event(limits, Duration::from_nanos(known));
        }
        let policy = &self.policies[client.class];
        let delay = match client.retry.fail_ns(policy, known, herd.retry_after, &mut client.generator) {
            Ok(delay) => delay,
            Err(GiveUp::AttemptLimit) => {
                counts.gave_up_attempts += 1;
                return;
            }
            Err(_) => {
                counts.gave_up_elapsed += 1;
                return;
            }
        };
        if let (Some(budget), Some(limits)) = (&mut client.budget, &herd.budget)
            && !budget.withdraw(limits)
        {
            counts.gave_up_budget += 1;
            return;
        }
        self.decide(known.saturating_add(delay), number, Step::Ask);
    }
}

fn count(over_time: &mut Vec<u64>, now: u64) {
    let bucket = (now / BUCKET) as usize;
    if over_time.len() <= bucket {
        over_time.resize(bucket + 1, 0);
    }
    over_time[bucket] += 1;
}
