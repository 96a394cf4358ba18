//! The simulation: clients that begin operations, ask, wait and ask again, and a service that works on one request after
//! the other. Its time is in nanoseconds.
//!
//! The end of a request is known when the service accepts it, so ends are a queue, and whether its client hears the answer
//! is known too. Only what clients do later is in the calendar. At one instant the service's ends come first, then the
//! clients' steps in the order in which they were decided, then operations that begin in an open loop.

use super::calendar::{Calendar, Step};
use super::capacity::Capacity;
use super::limits::{Breaker, Budget, Quota};
use super::{Crowd, Service};
use crate::Named;
use backoff::{Generator, GiveUp, Policy, Rate, Retry};
use serde::Serialize;
use sim::traffic::exponential;
use std::collections::VecDeque;
use std::time::Duration;

/// How long after its request a client knows that it was refused, in nanoseconds: 1 ms.
pub const ROUND_TRIP: u64 = 1_000_000;
/// The answer to a request above the quota: Too Many Requests (RFC 6585, 4).
const TOO_MANY_REQUESTS: u16 = 429;

/// What is counted, for each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Operations that began.
    pub operations: u64,
    /// Requests that reached the service.
    pub requests: u64,
    /// Of these, refused because the service was out.
    pub refused_out: u64,
    /// Of these, refused because too many waited.
    pub refused_full: u64,
    /// Of these, refused because their client was above its quota.
    pub refused_quota: u64,
    /// Of these, accepted although another request of the operation had been accepted: work that is done twice, or an
    /// answer from the store of known keys.
    pub repeated: u64,
    /// Requests whose work was done and whose answer no client heard.
    pub unheard: u64,
    /// Requests whose client waited for too long.
    pub timed_out: u64,
    /// Operations that succeeded.
    pub served: u64,
    /// Operations that failed at the attempt limit.
    pub gave_up_attempts: u64,
    /// Operations that failed at the elapsed limit.
    pub gave_up_elapsed: u64,
    /// Operations that failed because the budget had no retry.
    pub gave_up_budget: u64,
    /// Operations that failed because the breaker was open.
    pub gave_up_breaker: u64,
    /// Operations that failed because their policy does not retry the answer.
    pub gave_up_answer: u64,
}

impl Counts {
    /// Operations that failed.
    pub fn gave_up(&self) -> u64 {
        self.gave_up_attempts + self.gave_up_elapsed + self.gave_up_budget + self.gave_up_breaker + self.gave_up_answer
    }

    /// Requests that were refused.
    pub fn refused(&self) -> u64 {
        self.refused_out + self.refused_full + self.refused_quota
    }
}

/// What looks at a run.
pub(crate) trait Observe {
    /// A request reaches the service.
    fn requested(&mut self, now: u64);
    /// An operation succeeds that took `delay`.
    fn served(&mut self, now: u64, class: usize, client: u32, delay: u64);
}

/// Why a run was broken off: it has made more requests than it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// Rules of the clients of a class.
struct Rules {
    policy: Policy,
    /// Whether an answer is tried again: the refusal, and that above the quota.
    retries_refusal: bool,
    retries_quota: bool,
    /// It keeps to budget, rate, breaker and Retry-After.
    is_honest: bool,
}

/// Something that a client wants done.
struct Operation {
    retry: Retry,
    client: u32,
    /// What its last retry cost.
    cost: u32,
    is_active: bool,
    /// A request of it has been accepted.
    is_accepted: bool,
}

/// A request in the service.
struct Accepted {
    /// When its work ends.
    done: u64,
    operation: u32,
    /// That of its client; the operation may be over by then, and its place taken by another.
    class: u16,
    is_heard: bool,
}

struct Client {
    generator: Generator,
    class: u32,
}

/// A run in progress.
pub(crate) struct Run<'a> {
    service: &'a Service,
    /// By class; the last is that of all others.
    rules: Vec<Rules>,
    pub(crate) counts: Vec<Counts>,
    clients: Vec<Client>,
    rates: Vec<Rate>,
    budgets: Vec<Budget>,
    breakers: Vec<Breaker>,
    quotas: Vec<Quota>,
    operations: Vec<Operation>,
    free: Vec<u32>,
    calendar: Calendar,
    /// When the next operation of an open loop begins.
    arrival: u64,
    arrivals: Generator,
    line: VecDeque<Accepted>,
    /// When the last request in the line is done.
    last_done: u64,
    capacity: Capacity,
    /// Draws work, and answers that are lost.
    works: Generator,
    requests: u64,
}

/// Why a request has failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    Refused,
    AboveQuota,
    TimedOut,
}

impl<'a> Run<'a> {
    /// A run before its first instant, with one policy for all clients of no class of their own.
    pub fn new(service: &'a Service, named: &Named) -> Run<'a> {
        let rules = |named: &Named, policy, is_honest| Rules {
            policy,
            retries_refusal: service.refusal.is_none_or(|code| named.retries(code)),
            retries_quota: named.retries(TOO_MANY_REQUESTS),
            is_honest,
        };
        let of_class = service.classes.iter().map(|class| match &class.policy {
            Some(own) => rules(own, own.policy.with_priority_percent(class.priority), false),
            None => rules(named, named.policy.with_priority_percent(class.priority), true),
        });
        let rules: Vec<Rules> = of_class.chain([rules(named, named.policy, true)]).collect();
        let client = |number: u32| Client {
            generator: Generator::operation(service.seed, number.into()),
            class: service.class_of(number) as u32,
        };
        let each = |is_there: bool| if is_there { service.clients as usize } else { 0 };
        let mut run = Run {
            service,
            counts: vec![Counts::default(); rules.len()],
            rules,
            clients: (0..service.clients).map(client).collect(),
            rates: vec![Rate::new(); each(service.rate.is_some())],
            budgets: service.budget.iter().flat_map(|it| (0..service.clients).map(|_| Budget::new(it))).collect(),
            breakers: vec![Breaker::default(); each(service.breaker.is_some())],
            quotas: vec![Quota::default(); each(service.quota.is_some())],
            operations: Vec::new(),
            free: Vec::new(),
            calendar: Calendar::until(service.duration),
            arrival: u64::MAX,
            arrivals: Generator::stream(service.seed, 0),
            line: VecDeque::new(),
            last_done: 0,
            capacity: Capacity::new(service.dips.clone()),
            works: Generator::stream(service.seed, 1),
            requests: 0,
        };
        run.start();
        run
    }

    fn start(&mut self) {
        let think = match self.service.crowd {
            Crowd::Open { .. } => return self.set_arrival(0),
            Crowd::Closed { .. } => None,
            Crowd::Once { spread } => Some(spread),
        };
        for number in 0..self.service.clients {
            self.operations.push(Operation::of(number));
            let at = match think {
                Some(spread) => {
                    let word = self.clients[number as usize].generator.next_u64();
                    ((u128::from(word) * u128::from(spread)) >> 64) as u64
                }
                None => self.thinks(0, number),
            };
            self.calendar.enter(at, number, Step::Begin);
        }
    }

    /// When a client of a closed loop begins its next operation.
    fn thinks(&mut self, now: u64, client: u32) -> u64 {
        let Crowd::Closed { think } = self.service.crowd else { return u64::MAX };
        now.saturating_add(span(think as f64 * exponential(&mut self.clients[client as usize].generator)))
    }

    fn set_arrival(&mut self, now: u64) {
        if let Crowd::Open { load } = self.service.crowd {
            self.arrival = now.saturating_add(span(1e9 / load * exponential(&mut self.arrivals)));
        }
    }

    /// Runs all instants up to `limit`, and that one.
    pub fn until(&mut self, limit: u64, observer: &mut impl Observe) -> Result<(), TooMany> {
        loop {
            let done = self.line.front().map_or(u64::MAX, |accepted| accepted.done);
            let soonest = done.min(self.arrival).min(limit);
            match self.calendar.next_by(soonest) {
                Some(at) if at < done => self.steps(at, observer),
                _ if done <= limit && done <= self.arrival => self.is_done(observer),
                _ if self.arrival <= limit => self.arrives(observer),
                _ => return Ok(()),
            }
            if self.requests > self.service.most_requests {
                return Err(TooMany);
            }
        }
    }

    fn steps(&mut self, now: u64, observer: &mut impl Observe) {
        match self.calendar.take() {
            Some((operation, Step::Begin)) => self.begins(now, operation, observer),
            Some((operation, Step::Ask)) => self.asks(now, operation, observer),
            Some((operation, Step::TimesOut)) => self.times_out(now, operation),
            None => {}
        }
    }

    /// An operation of an open loop begins, of a client drawn at random.
    fn arrives(&mut self, observer: &mut impl Observe) {
        let now = self.arrival;
        self.set_arrival(now);
        let word = self.arrivals.next_u64();
        let client = ((u128::from(word) * u128::from(self.service.clients)) >> 64) as u32;
        let operation = self.free.pop().unwrap_or_else(|| {
            self.operations.push(Operation::of(client));
            self.operations.len() as u32 - 1
        });
        self.operations[operation as usize].client = client;
        self.begins(now, operation, observer);
    }

    fn begins(&mut self, now: u64, number: u32, observer: &mut impl Observe) {
        let client = self.operations[number as usize].client;
        let retry = Retry::starting_at(Duration::from_nanos(now));
        self.operations[number as usize] = Operation { retry, is_active: true, ..Operation::of(client) };
        let class = self.clients[client as usize].class as usize;
        self.counts[class].operations += 1;
        if let Some(limits) = &self.service.budget {
            self.budgets[client as usize].begin(limits, now);
        }
        self.asks(now, number, observer);
    }

    fn asks(&mut self, now: u64, number: u32, observer: &mut impl Observe) {
        let service = self.service;
        let client = self.operations[number as usize].client as usize;
        let class = self.clients[client].class as usize;
        if self.rules[class].is_honest {
            if let Some(limits) = &service.rate {
                let wait = self.rates[client].act_ns(limits, now);
                if wait > 0 {
                    return self.calendar.enter(now.saturating_add(wait), number, Step::Ask);
                }
            }
            if service.breaker.is_some() && !self.breakers[client].admits(now) {
                self.counts[class].gave_up_breaker += 1;
                if service.budget.is_some() {
                    // A retry that was allowed is not made.
                    self.budgets[client].sent();
                    self.budgets[client].is_over(self.operations[number as usize].retry.failures() > 0);
                }
                return self.ends(now, number);
            }
        }
        self.requests += 1;
        self.counts[class].requests += 1;
        observer.requested(now);
        if service.budget.is_some() {
            self.budgets[client].sent();
        }
        let counts = &mut self.counts[class];
        if self.capacity.is_out(now) {
            counts.refused_out += 1;
        } else if service.quota.is_some_and(|interval| !self.quotas[client].takes(interval, now)) {
            counts.refused_quota += 1;
            return self.fails(now + ROUND_TRIP, number, Failure::AboveQuota);
        } else if self.line.len() as u64 > u64::from(service.queue) {
            counts.refused_full += 1;
        } else {
            return self.is_accepted(now, number, class);
        }
        self.fails(now + ROUND_TRIP, number, Failure::Refused);
    }

    fn is_accepted(&mut self, now: u64, number: u32, class: usize) {
        let service = self.service;
        let is_repeated = std::mem::replace(&mut self.operations[number as usize].is_accepted, true);
        self.counts[class].repeated += u64::from(is_repeated);
        let whole = service.service_ns();
        let work = match service.keys {
            Some(cost) if is_repeated => (whole as f64 * cost).round() as u64,
            _ if service.exponential => span(whole as f64 * exponential(&mut self.works)).max(1),
            _ => whole,
        };
        let done = self.capacity.finish(self.last_done.max(now), work);
        self.last_done = done;
        let is_lost =
            service.lost > 0.0 && ((self.works.next_u64() >> 11) as f64) < service.lost * (1_u64 << 53) as f64;
        let deadline = now.saturating_add(service.timeout.unwrap_or(u64::MAX));
        let is_heard = done <= deadline && !is_lost;
        self.line.push_back(Accepted { done, operation: number, class: class as u16, is_heard });
        if !is_heard {
            self.calendar.enter(deadline, number, Step::TimesOut);
        }
    }

    /// The work of the first request in the line is done.
    fn is_done(&mut self, observer: &mut impl Observe) {
        let Some(Accepted { done: now, operation: number, class, is_heard }) = self.line.pop_front() else { return };
        let class = usize::from(class);
        if !is_heard {
            self.counts[class].unheard += 1;
            return;
        }
        let operation = &self.operations[number as usize];
        let (client, retry, cost) = (operation.client as usize, operation.retry, operation.cost);
        self.counts[class].served += 1;
        observer.served(now, class, client as u32, retry.elapsed_ns(now));
        if let Some(limits) = &self.service.budget {
            self.budgets[client].is_over(retry.failures() > 0);
            self.budgets[client].succeeds(limits, cost);
        }
        if let Some(limits) = &self.service.breaker {
            self.breakers[client].succeeds(limits, now);
        }
        self.ends(now, number);
    }

    fn times_out(&mut self, now: u64, number: u32) {
        let class = self.clients[self.operations[number as usize].client as usize].class as usize;
        self.counts[class].timed_out += 1;
        self.fails(now, number, Failure::TimedOut);
    }

    /// A client learns at `now` that a request has failed.
    fn fails(&mut self, now: u64, number: u32, failure: Failure) {
        let service = self.service;
        let operation = &mut self.operations[number as usize];
        let client = operation.client as usize;
        let who = &mut self.clients[client];
        let (rules, counts) = (&self.rules[who.class as usize], &mut self.counts[who.class as usize]);
        let was_retry = operation.retry.failures() > 0;
        if let Some(limits) = &service.rate {
            self.rates[client].adverse_event(limits, Duration::from_nanos(now));
        }
        if let Some(limits) = &service.breaker {
            self.breakers[client].fails(limits, now);
        }
        if service.budget.is_some() {
            self.budgets[client].is_over(was_retry);
        }
        let (is_retried, hint) = match failure {
            Failure::Refused => (rules.retries_refusal, service.retry_after),
            Failure::AboveQuota => (rules.retries_quota, service.retry_after),
            Failure::TimedOut => (true, 0),
        };
        let hint = if rules.is_honest { hint } else { 0 };
        let delay = operation.retry.fail_ns(&rules.policy, now, hint, &mut who.generator);
        let is_wanted = is_retried && delay.is_ok();
        let cost = match &service.budget {
            Some(limits) if rules.is_honest => {
                self.budgets[client].fails(limits, now, failure == Failure::AboveQuota, is_wanted)
            }
            _ => Some(0),
        };
        let gave_up = match (delay, cost) {
            _ if !is_retried => &mut counts.gave_up_answer,
            (Ok(delay), Some(cost)) => {
                operation.cost = cost;
                return self.calendar.enter(now.saturating_add(delay), number, Step::Ask);
            }
            (Ok(_), None) => &mut counts.gave_up_budget,
            (Err(GiveUp::AttemptLimit), _) => &mut counts.gave_up_attempts,
            (Err(_), _) => &mut counts.gave_up_elapsed,
        };
        *gave_up += 1;
        self.ends(now, number);
    }

    /// The operation is over, and its client thinks of the next one.
    fn ends(&mut self, now: u64, number: u32) {
        self.operations[number as usize].is_active = false;
        match self.service.crowd {
            Crowd::Open { .. } => self.free.push(number),
            Crowd::Once { .. } => {}
            Crowd::Closed { .. } => {
                let at = self.thinks(now, self.operations[number as usize].client);
                self.calendar.enter(at, number, Step::Begin);
            }
        }
    }

    /// Clients of a class.
    pub fn clients_of(&self, class: usize) -> u64 {
        self.clients.iter().filter(|client| client.class as usize == class).count() as u64
    }

    /// Requests in the service.
    pub fn in_service(&self) -> u64 {
        self.line.len() as u64
    }

    /// Operations that have no end yet.
    pub fn pending(&self) -> u64 {
        self.operations.iter().filter(|operation| operation.is_active).count() as u64
    }
}

impl Operation {
    fn of(client: u32) -> Operation {
        Operation { retry: Retry::resume(0, 0, 0), client, cost: 0, is_active: false, is_accepted: false }
    }
}

/// Whole nanoseconds.
fn span(ns: f64) -> u64 {
    ns.round() as u64
}
