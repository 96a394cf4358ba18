//! What holds a client back: budgets of retries, a circuit breaker, and the service's quota.

use backoff::{
    Budget as Bucket, BudgetLimits as BucketLimits, Pushback, QuotaLimits, ThrottleLimits, Tokens, Window,
    WindowLimits, share_allows,
};

/// How a client's retries are bounded: each budget of libbackoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetLimits {
    /// Retries in a bucket, and a part of one for each operation.
    Bucket(BucketLimits),
    /// Finagle's: a part of the requests in a window, and some a second.
    Window(WindowLimits),
    /// Envoy's: a part of the requests under way in percent, and some.
    Share {
        /// Retries for each 100 requests.
        percent: u32,
        /// Retries in any case.
        least: u32,
    },
    /// The quota of the AWS SDKs.
    Quota(QuotaLimits),
    /// gRPC's throttling.
    Throttle(ThrottleLimits),
}

/// The state of a client's budget.
#[derive(Debug)]
pub(super) enum Budget {
    Bucket(Bucket),
    Window(Box<Window>),
    /// Requests without an answer yet; of these, and of those that wait, the retries.
    Share {
        requests: u32,
        retries: u32,
    },
    Tokens(Tokens),
}

impl Budget {
    /// Before the first request.
    pub fn new(limits: &BudgetLimits) -> Budget {
        match limits {
            BudgetLimits::Bucket(limits) => Budget::Bucket(Bucket::full(limits)),
            BudgetLimits::Window(_) => Budget::Window(Box::default()),
            BudgetLimits::Share { .. } => Budget::Share { requests: 0, retries: 0 },
            BudgetLimits::Quota(limits) => Budget::Tokens(limits.full()),
            BudgetLimits::Throttle(limits) => Budget::Tokens(limits.full()),
        }
    }

    /// An operation begins.
    pub fn begin(&mut self, limits: &BudgetLimits, now: u64) {
        match (self, limits) {
            (Budget::Bucket(bucket), BudgetLimits::Bucket(limits)) => bucket.deposit(limits),
            (Budget::Window(window), BudgetLimits::Window(limits)) => window.deposit(limits, now),
            _ => {}
        }
    }

    /// A request leaves.
    pub fn sent(&mut self) {
        if let Budget::Share { requests, .. } = self {
            *requests += 1;
        }
    }

    /// A request has its answer, or its client waits for none any more.
    pub fn is_over(&mut self, was_retry: bool) {
        if let Budget::Share { requests, retries } = self {
            *requests = requests.saturating_sub(1);
            *retries = retries.saturating_sub(u32::from(was_retry));
        }
    }

    /// An operation succeeds, whose last retry has cost this number of tokens.
    pub fn succeeds(&mut self, limits: &BudgetLimits, cost: u32) {
        match (self, limits) {
            (Budget::Tokens(tokens), BudgetLimits::Quota(limits)) => limits.succeed(tokens, cost),
            (Budget::Tokens(tokens), BudgetLimits::Throttle(limits)) => limits.succeed(tokens),
            _ => {}
        }
    }

    /// A request has failed that its policy tries again, if `wanted`: what the retry costs, or none if there is no retry.
    pub fn fails(&mut self, limits: &BudgetLimits, now: u64, is_throttled: bool, wanted: bool) -> Option<u32> {
        let allowed = match (self, limits) {
            // gRPC counts each failure, whether or not a policy would go on.
            (Budget::Tokens(tokens), BudgetLimits::Throttle(limits)) => limits.fail(tokens, Pushback::Absent),
            _ if !wanted => false,
            (Budget::Bucket(bucket), BudgetLimits::Bucket(limits)) => bucket.withdraw(limits),
            (Budget::Window(window), BudgetLimits::Window(limits)) => window.withdraw(limits, now),
            (Budget::Tokens(tokens), BudgetLimits::Quota(limits)) => return limits.take(tokens, is_throttled),
            (Budget::Share { requests, retries }, BudgetLimits::Share { percent, least }) => {
                let allows = share_allows((*requests).into(), (*retries).into(), *percent, *least);
                *retries += u32::from(allows);
                allows
            }
            _ => true,
        };
        (allowed && wanted).then_some(0)
    }
}

/// When a client stops asking: a circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BreakerLimits {
    /// What opens it.
    pub trip: Trip,
    /// How long it stays open before it lets one request through as a probe, in nanoseconds.
    pub open: u64,
}

/// What opens a breaker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Trip {
    /// Failures in a row.
    InARow(u32),
    /// A part of the answers within a window of this number of nanoseconds, of `FEWEST` answers at least.
    Share {
        /// The part.
        part: f64,
        /// The window.
        window: u64,
    },
}

/// The fewest answers in a window of which a part opens a breaker.
pub const FEWEST: u32 = 10;

/// The state of a client's breaker.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Breaker {
    /// Open until then; 0: closed.
    until: u64,
    /// A probe is under way.
    is_probing: bool,
    failures: u32,
    answers: u32,
    /// When the window began in which both are counted.
    since: u64,
}

impl Breaker {
    /// Whether a request may leave at `now`; the first one after the open time is the probe.
    pub fn admits(&mut self, now: u64) -> bool {
        if self.until == 0 {
            return true;
        }
        if now < self.until || self.is_probing {
            return false;
        }
        self.is_probing = true;
        true
    }

    /// A request that it let through has succeeded.
    pub fn succeeds(&mut self, limits: &BreakerLimits, now: u64) {
        match limits.trip {
            _ if self.until > 0 => *self = Breaker { since: now, ..Breaker::default() },
            Trip::InARow(_) => self.failures = 0,
            Trip::Share { window, .. } => self.counts(window, now, 0),
        }
    }

    /// A request that it let through has failed.
    pub fn fails(&mut self, limits: &BreakerLimits, now: u64) {
        let trips = match limits.trip {
            // Requests that left before it opened say nothing new.
            _ if self.until > 0 => self.is_probing,
            Trip::InARow(most) => {
                self.failures += 1;
                self.failures >= most
            }
            Trip::Share { part, window } => {
                self.counts(window, now, 1);
                self.answers >= FEWEST && f64::from(self.failures) >= part * f64::from(self.answers)
            }
        };
        if trips {
            *self = Breaker { until: now.saturating_add(limits.open).max(1), ..Breaker::default() };
        }
    }

    fn counts(&mut self, window: u64, now: u64, failures: u32) {
        if now.saturating_sub(self.since) >= window {
            (self.since, self.failures, self.answers) = (now, 0, 0);
        }
        self.failures += failures;
        self.answers += 1;
    }
}

/// How many requests a client may make before the service refuses them: a rate, and those of a second at once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Quota {
    /// When a client that goes on at its rate would make the next request, in nanoseconds.
    next: u64,
}

impl Quota {
    /// Counts a request at `now`, one each `interval` nanoseconds, or says that it is one too many.
    pub fn takes(&mut self, interval: u64, now: u64) -> bool {
        const BURST: u64 = 1_000_000_000;
        if self.next > now.saturating_add(BURST.saturating_sub(interval)) {
            return false;
        }
        self.next = self.next.max(now).saturating_add(interval);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_breaker_opens_probes_and_closes() {
        let limits = BreakerLimits { trip: Trip::InARow(3), open: SECOND };
        let mut breaker = Breaker::default();
        (0..2).for_each(|_| breaker.fails(&limits, 1));
        breaker.succeeds(&limits, 2);
        (0..2).for_each(|_| breaker.fails(&limits, 3));
        assert!(breaker.admits(3));
        breaker.fails(&limits, 4);
        assert!(!breaker.admits(SECOND) && breaker.admits(4 + SECOND), "open, then a probe");
        assert!(!breaker.admits(5 + SECOND), "one probe at a time");
        breaker.fails(&limits, 2 * SECOND);
        assert!(!breaker.admits(3 * SECOND - 1) && breaker.admits(3 * SECOND));
        breaker.succeeds(&limits, 3 * SECOND);
        assert!(breaker.admits(3 * SECOND) && breaker.admits(3 * SECOND));
    }

    #[test]
    fn a_part_of_a_window_opens_a_breaker() {
        let limits = BreakerLimits { trip: Trip::Share { part: 0.5, window: 10 * SECOND }, open: SECOND };
        let mut breaker = Breaker::default();
        (0..5).for_each(|_| breaker.succeeds(&limits, 1));
        (0..4).for_each(|_| breaker.fails(&limits, 1));
        assert!(breaker.admits(1), "nine answers are too few");
        breaker.fails(&limits, 2);
        assert!(!breaker.admits(2));
    }

    /// 10 a second: ten at once, then one each 100 ms.
    #[test]
    fn a_quota_lets_a_second_of_requests_through_at_once() {
        let mut quota = Quota::default();
        assert_eq!((0..50).filter(|_| quota.takes(SECOND / 10, 0)).count(), 10);
        assert_eq!((1..=50).filter(|step| quota.takes(SECOND / 10, step * SECOND / 50)).count(), 10);
        let mut rare = Quota::default();
        assert!(
            rare.takes(10 * SECOND, 0) && !rare.takes(10 * SECOND, 9 * SECOND) && rare.takes(10 * SECOND, 10 * SECOND)
        );
    }

    /// Envoy counts a retry from when it is allowed until its answer.
    #[test]
    fn a_share_counts_retries_under_way() {
        let limits = BudgetLimits::Share { percent: 20, least: 1 };
        let mut budget = Budget::new(&limits);
        (0..10).for_each(|_| budget.sent());
        budget.is_over(false);
        assert_eq!(budget.fails(&limits, 0, false, true), Some(0));
        assert_eq!(budget.fails(&limits, 0, false, true), None, "20 % of 9 are 1");
        budget.sent();
        budget.is_over(true);
        assert_eq!(budget.fails(&limits, 0, false, true), Some(0));
    }
}
