//! How often to act at all: a rate that falls at once and recovers slowly, and a budget for retries.
//!
//! Neither may read a clock, nor draw: both answers are exact functions of their inputs and the instants of these.

use core::time::Duration;

use crate::policy::nanos;

/// How a [`Rate`] falls and recovers. The allowed rate is f = 1 / (interval · b^c), c being the level.
///
/// A value of 0 means its default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateLimits {
    interval: u64,
    base: u32,
    level_limit: u32,
    cooling_off: u64,
    cooling_off_limit: u64,
}

impl RateLimits {
    /// One action in each `interval` at the full rate; 0: 1 ms. By default b = 2, at most 10 levels, and 1 s of
    /// cooling off, which doubles up to 64 s.
    pub const fn new(interval: Duration) -> RateLimits {
        let interval = or_default(nanos(interval), 1_000_000);
        RateLimits { interval, base: 2, level_limit: 10, cooling_off: 1_000_000_000, cooling_off_limit: 64_000_000_000 }
    }

    /// The same from nanoseconds, in this order: interval, cooling-off period, its limit.
    #[doc(hidden)]
    pub const fn of_ns([interval, cooling_off, limit]: [u64; 3]) -> RateLimits {
        RateLimits {
            interval: or_default(interval, 1_000_000),
            cooling_off: or_default(cooling_off, 1_000_000_000),
            cooling_off_limit: or_default(limit, 64_000_000_000),
            ..RateLimits::new(Duration::ZERO)
        }
    }

    /// The same with another b, by which one adverse event divides the rate: at least 2.
    pub const fn with_base(self, base: u32) -> RateLimits {
        RateLimits { base: if base < 2 { 2 } else { base }, ..self }
    }

    /// The same with another largest c; 0: 10.
    pub const fn with_level_limit(self, level_limit: u32) -> RateLimits {
        RateLimits { level_limit: if level_limit == 0 { 10 } else { level_limit }, ..self }
    }

    /// The same with another cooling-off period, the time without adverse events after which c falls by one; 0: 1 s.
    pub const fn with_cooling_off(self, period: Duration) -> RateLimits {
        RateLimits { cooling_off: or_default(nanos(period), 1_000_000_000), ..self }
    }

    /// The same with the cooling-off period doubling no further than this; 0: 64 s. At or below the period itself:
    /// it does not back off.
    pub const fn with_cooling_off_limit(self, limit: Duration) -> RateLimits {
        RateLimits { cooling_off_limit: or_default(nanos(limit), 64_000_000_000), ..self }
    }

    /// The time between two actions at that level: interval · b^c.
    #[inline]
    pub const fn interval_ns(&self, level: u32) -> u64 {
        let level = if level < self.level_limit { level } else { self.level_limit };
        self.interval.saturating_mul((self.base as u64).saturating_pow(level))
    }

    /// The cooling-off period after it was doubled that often.
    const fn cooling_off_ns(&self, doublings: u32) -> u64 {
        let period = self.cooling_off.saturating_mul(2_u64.saturating_pow(doublings));
        let limit = if self.cooling_off_limit < self.cooling_off { self.cooling_off } else { self.cooling_off_limit };
        if period < limit { period } else { limit }
    }
}

/// A rate that falls at once on an adverse event, and recovers one level after each cooling-off period without one.
///
/// An adverse event is whatever says "too often": a 429, a full queue, a collision. An event that comes while the rate
/// is recovering shows that the recovery was too early: it doubles the cooling-off period. At the full rate the
/// period is the first one again.
///
/// ```
/// use core::time::Duration;
/// use backoff::{Rate, RateLimits};
///
/// const LIMITS: RateLimits = RateLimits::new(Duration::from_millis(10));
/// let mut rate = Rate::new();
/// assert_eq!(rate.act(&LIMITS, Duration::ZERO), Ok(()));
/// rate.adverse_event(&LIMITS, Duration::ZERO);
/// assert_eq!(rate.act(&LIMITS, Duration::from_millis(5)), Err(Duration::from_millis(15)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rate {
    level: u32,
    doublings: u32,
    /// The instant from which the cooling-off period counts.
    since: u64,
    /// The last action, plus 1; 0: none yet.
    last: u64,
    /// Levels have been recovered since the last adverse event.
    recovering: bool,
}

impl Rate {
    /// The full rate, and no action yet.
    pub const fn new() -> Rate {
        Rate { level: 0, doublings: 0, since: 0, last: 0, recovering: false }
    }

    /// A rate from its [`parts`](Self::parts). Larger levels than the limits allow count as the largest.
    pub const fn from_parts(parts: RateParts) -> Rate {
        let RateParts { level, doublings, since_ns, last_ns, recovering } = parts;
        Rate { level, doublings, since: since_ns, last: last_ns, recovering }
    }

    /// What it is made of, to be written down.
    pub const fn parts(&self) -> RateParts {
        let Rate { level, doublings, since, last, recovering } = *self;
        RateParts { level, doublings, since_ns: since, last_ns: last, recovering }
    }

    /// Takes an adverse event at `now`: the rate is divided by b at once.
    ///
    /// An instant before the last one counts as that one.
    pub const fn adverse_event(&mut self, limits: &RateLimits, now: Duration) {
        let now = nanos(now);
        self.recover(limits, now);
        if self.recovering && limits.cooling_off_ns(self.doublings) < limits.cooling_off_limit {
            self.doublings = self.doublings.saturating_add(1);
        }
        self.recovering = false;
        self.level = if self.level < limits.level_limit { self.level + 1 } else { limits.level_limit };
        if now > self.since {
            self.since = now;
        }
    }

    /// Counts an action at `now` if the rate allows one.
    ///
    /// # Errors
    /// How long to wait until it does; nothing is counted. An instant before the last action counts as that one.
    pub const fn act(&mut self, limits: &RateLimits, now: Duration) -> Result<(), Duration> {
        match self.act_ns(limits, nanos(now)) {
            0 => Ok(()),
            wait => Err(Duration::from_nanos(wait)),
        }
    }

    /// [`act`](Self::act) in nanoseconds: 0 if the action is counted, else how long to wait.
    pub const fn act_ns(&mut self, limits: &RateLimits, now: u64) -> u64 {
        self.recover(limits, now);
        if let Some(last) = self.last.checked_sub(1) {
            let next = last.saturating_add(limits.interval_ns(self.level));
            let now = if now < last { last } else { now };
            if now < next {
                return next - now;
            }
        }
        let now = now.saturating_add(1);
        if now > self.last {
            self.last = now;
        }
        0
    }

    /// c at `now`: 0 is the full rate.
    pub const fn level(&mut self, limits: &RateLimits, now: Duration) -> u32 {
        self.recover(limits, nanos(now));
        self.level
    }

    /// The time between two actions at `now`.
    pub const fn interval(&mut self, limits: &RateLimits, now: Duration) -> Duration {
        Duration::from_nanos(limits.interval_ns(self.level(limits, now)))
    }

    /// The cooling-off period in force at `now`: the first one, doubled for each recovery that came too early.
    pub const fn cooling_off(&mut self, limits: &RateLimits, now: Duration) -> Duration {
        Duration::from_nanos(self.cooling_off_ns(limits, nanos(now)))
    }

    /// [`cooling_off`](Self::cooling_off) in nanoseconds.
    pub const fn cooling_off_ns(&mut self, limits: &RateLimits, now: u64) -> u64 {
        self.recover(limits, now);
        limits.cooling_off_ns(self.doublings)
    }

    /// One level less for each cooling-off period that has passed since the last event or level.
    const fn recover(&mut self, limits: &RateLimits, now: u64) {
        if self.level > limits.level_limit {
            self.level = limits.level_limit;
        }
        let period = limits.cooling_off_ns(self.doublings);
        let periods = match now.saturating_sub(self.since).checked_div(period) {
            Some(periods) => periods,
            None => 0,
        };
        if self.level == 0 || periods == 0 {
            return;
        }
        if periods >= self.level as u64 {
            // The full rate: a later event begins anew.
            *self = Rate { last: self.last, since: now, ..Rate::new() };
            return;
        }
        self.level -= periods as u32;
        self.since += periods * period;
        self.recovering = true;
    }
}

/// What a [`Rate`] is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RateParts {
    /// c.
    pub level: u32,
    /// How often the cooling-off period has been doubled.
    pub doublings: u32,
    /// From when the cooling-off period counts.
    pub since_ns: u64,
    /// The last action, plus 1; 0: none.
    pub last_ns: u64,
    /// Whether a level has been recovered since the last adverse event.
    pub recovering: bool,
}

/// How many retries a client may make in all: a bucket of them, full at first.
///
/// Each first attempt puts a share of a retry into it, each retry takes a whole one out. So however long the server
/// is down, retries add no more than that share to the load. What the bucket holds is counted in hundredths.
///
/// ```
/// use backoff::{Budget, BudgetLimits};
///
/// const LIMITS: BudgetLimits = BudgetLimits::new(2).with_deposit_percent(50);
/// let mut budget = Budget::full(&LIMITS);
/// assert!(budget.withdraw(&LIMITS) && budget.withdraw(&LIMITS) && !budget.withdraw(&LIMITS));
/// budget.deposit(&LIMITS);
/// budget.deposit(&LIMITS);
/// assert!(budget.withdraw(&LIMITS));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    hundredths: u64,
}

/// What a [`Budget`] holds and gains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BudgetLimits {
    capacity: u32,
    deposit: u32,
}

impl BudgetLimits {
    /// At most `capacity` retries at once; 0: 10. Each first attempt adds a tenth of a retry.
    pub const fn new(capacity: u32) -> BudgetLimits {
        BudgetLimits { capacity: if capacity == 0 { 10 } else { capacity }, deposit: 10 }
    }

    /// The same with another share, in percent of a retry for each first attempt; 0: 10.
    pub const fn with_deposit_percent(self, percent: u32) -> BudgetLimits {
        BudgetLimits { deposit: if percent == 0 { 10 } else { percent }, ..self }
    }

    const fn most(&self) -> u64 {
        self.capacity as u64 * 100
    }
}

impl Budget {
    /// A full bucket.
    pub const fn full(limits: &BudgetLimits) -> Budget {
        Budget { hundredths: limits.most() }
    }

    /// A bucket that holds this number of hundredths of a retry, at most its capacity.
    pub const fn holding(limits: &BudgetLimits, hundredths: u64) -> Budget {
        let most = limits.most();
        Budget { hundredths: if hundredths < most { hundredths } else { most } }
    }

    /// What it holds, in hundredths of a retry.
    pub const fn hundredths(&self) -> u64 {
        self.hundredths
    }

    /// Counts a first attempt.
    pub const fn deposit(&mut self, limits: &BudgetLimits) {
        *self = Budget::holding(limits, self.hundredths.saturating_add(limits.deposit as u64));
    }

    /// Takes a retry out; `false`, and nothing taken, if there is none.
    pub const fn withdraw(&mut self, limits: &BudgetLimits) -> bool {
        *self = Budget::holding(limits, self.hundredths);
        match self.hundredths.checked_sub(100) {
            Some(left) => {
                self.hundredths = left;
                true
            }
            None => false,
        }
    }
}

const fn or_default(value: u64, default: u64) -> u64 {
    if value == 0 { default } else { value }
}
