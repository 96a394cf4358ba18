//! The policies: how long to wait after the n-th failure. Each is a value, made by a `const` function and changed by
//! `const` builders; each gives, for every n, the law of the delay.
//!
//! A policy must never know a clock, a generator, or how many attempts have been made: [`Retry`](crate::Retry) does.
//!
//! One file above 500 lines because it is one chapter: how policies are made, changed and read.

use core::time::Duration;

use crate::course::{Course, Decorrelated, Doubling, Spread};
use crate::growth::Growth;
use crate::law::{Law, Uniform, fitting};
use crate::redrawn::{Redrawn, share_of};
use crate::smooth::Smooth;

/// The base of a policy that is given none, or 0: 100 ms.
pub const DEFAULT_BASE: Duration = Duration::from_millis(100);
/// The slot of a policy that is given none, or 0: slotTime at 10 Mb/s, 512 bit times of 100 ns.
pub const DEFAULT_SLOT: Duration = Duration::from_nanos(51_200);
/// How many entries the table of [`Policy::rcp`] may have.
pub const RCP_ENTRIES: usize = 16;

/// How long to wait before the next attempt, n failures so far, n counted from 1.
///
/// ```
/// use core::time::Duration;
/// use backoff::Policy;
///
/// const POLICY: Policy = Policy::full_jitter(Duration::from_millis(100), Duration::from_secs(20)).with_attempt_limit(8);
///
/// let law = POLICY.law(3).expect("the 8th failure is the last");
/// assert_eq!(law.longest_ns(), 400_000_000);
/// assert_eq!(law.mean_ns(), 200_000_000.0);
/// ```
///
/// Every function is total: a delay above `u64` nanoseconds, 584 years, is 584 years. A base, a slot, a ceiling, a cap,
/// a limit or a percentage of 0 would mean a storm of attempts or none, so 0 means the default, as in C.
///
/// From the growth to the delay: growth, then ceiling, then priority, then jitter, then cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    shape: Shape,
    around: Around,
    attempt_limit: u64,
    elapsed_limit: u64,
    hint: Hint,
}

/// What a server's hint does to a delay. In nanoseconds; a limit of `u64::MAX` is none.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hint {
    /// How much of a hint counts.
    pub limit: u64,
    /// Whether the limit counts from the drawn delay, and the delay is the hint itself.
    pub above_draw: bool,
}

impl Hint {
    /// Any hint moves the whole range of delays up.
    pub const ANY: Hint = Hint { limit: u64::MAX, above_draw: false };

    /// The delay where `drawn` comes from a range that begins at `shortest`, and the server asks for `hint`. 0 asks for
    /// nothing.
    #[inline]
    pub const fn delay(&self, drawn: u64, shortest: u64, hint: u64) -> u64 {
        if self.above_draw {
            return floor_at(at_most(hint, drawn.saturating_add(self.limit)), drawn);
        }
        drawn.saturating_add(at_most(hint, self.limit).saturating_sub(shortest))
    }
}

/// What is done to every growth: the ceiling, the priority in percent, and at the end the cap. In nanoseconds; `u64::MAX`
/// is none. The C face, whose policies are other structs, takes its laws from here as [`Policy`] does.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Around {
    /// The longest delay before jitter.
    pub ceiling: u64,
    /// The longest delay.
    pub cap: u64,
    /// What the delay before jitter is multiplied by, in percent.
    pub priority: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Shape {
    Timed { growth: Growth, jitter: Jitter },
    Slotted { choice: Choice, slot: u64 },
}

impl Shape {
    /// What it grows from; 0 where slots are counted.
    #[inline]
    const fn base(&self) -> u64 {
        match *self {
            Shape::Timed { growth, .. } => growth.base(),
            Shape::Slotted { .. } => 0,
        }
    }
}

/// From how many slots the delay is chosen: K of them, 0 to K − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Choice {
    /// K = base^min(n, limit).
    Exponential { base: u32, limit: u32 },
    /// K = table[n − 1], and the last entry from then on.
    Table { table: [u64; RCP_ENTRIES], last: u8 },
    /// Geometric, with the mean of a uniform choice from K slots.
    Geometric { slots: u32 },
}

impl Choice {
    /// K after failure number `failures`, which is at least 1.
    #[inline]
    const fn slots(&self, failures: u64) -> u64 {
        match *self {
            Choice::Exponential { base, limit } => exponential_slots(base, limit, failures),
            Choice::Table { ref table, last } => table[at_most(failures - 1, last as u64) as usize & (RCP_ENTRIES - 1)],
            Choice::Geometric { slots } => slots as u64,
        }
    }

    /// Whether K is the same after every later failure.
    #[inline]
    const fn stays(&self, failures: u64) -> bool {
        match *self {
            Choice::Exponential { limit, .. } => failures >= at_most(limit as u64, 64),
            Choice::Table { last, .. } => failures > last as u64,
            Choice::Geometric { .. } => true,
        }
    }
}

/// How a delay d is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Jitter {
    /// Not at all: every client that failed together tries again together.
    None,
    /// Uniform in [0, d].
    Full,
    /// Uniform in [0, d), in whole nanoseconds: [0, d − 1 ns].
    Below,
    /// Uniform in [d/2, d].
    Equal,
    /// Uniform in d · [1 − f, 1 + f], f in percent. More than 100 percent counts as 100: no delay is negative.
    Proportional {
        /// f.
        percent: u32,
    },
    /// d + [0, most], in whole milliseconds.
    AddedMillis {
        /// The largest addition, in milliseconds.
        most: u32,
    },
    /// Uniform in [base, 3 · the delay before]; at first the delay before is the base. d is not used.
    Decorrelated,
    /// Uniform in [d/2, d), in whole nanoseconds: [d/2, d − 1 ns].
    UpperHalf,
    /// Uniform in d · [1, 1 + f], f in percent.
    Above {
        /// f.
        percent: u32,
    },
    /// Uniform in [base, 3 · the delay before], as decorrelated jitter; but what would pass the cap becomes the cap.
    DecorrelatedClamped,
    /// Uniform in [base · (1 − f), base · (1 + f)] at first, and then in [(2 − f) · p, (2 + f) · p], p being the delay before
    /// and f in percent. What passes the ceiling c is drawn again, uniform in [c · (1 − f), c · (1 + f)]. d is not used.
    Dhcpv6 {
        /// f; more than 100 counts as 100.
        percent: u32,
        /// Whether the first delay is longer than the base: then it is from [base + 1 ns, base · (1 + f)].
        first_above: bool,
    },
    /// Polly's decorrelated jitter, version 2: see [`Policy::polly`]. d is not used.
    Polly,
    /// Uniform in d · [1 − f, 1 + f], f in percent, as proportional jitter; but what would pass the cap becomes the cap.
    ProportionalClamped {
        /// f; more than 100 counts as 100.
        percent: u32,
    },
    /// d + [−most, most], in nanoseconds; no delay is negative.
    AroundMillis {
        /// The largest distance from d, in milliseconds.
        most: u32,
    },
}

impl Policy {
    /// base · 2^(n−1), no jitter.
    #[inline]
    pub const fn exponential(base: Duration) -> Policy {
        Policy::timed(Growth::exponential(or_default(nanos(base), nanos(DEFAULT_BASE)), 200))
    }

    /// Exponential with full jitter: uniform in [0, min(ceiling, base · 2^(n−1))].
    ///
    /// Source: AWS Architecture Blog, "Exponential Backoff and Jitter", 2015, which calls the ceiling cap.
    #[inline]
    pub const fn full_jitter(base: Duration, ceiling: Duration) -> Policy {
        Policy::exponential(base).with_ceiling(ceiling).with_jitter(Jitter::Full)
    }

    /// Exponential with equal jitter: d/2 + [0, d/2] with d = min(ceiling, base · 2^(n−1)). Source: as full jitter.
    #[inline]
    pub const fn equal_jitter(base: Duration, ceiling: Duration) -> Policy {
        Policy::exponential(base).with_ceiling(ceiling).with_jitter(Jitter::Equal)
    }

    /// Decorrelated jitter: uniform in [base, 3 · the delay before], the range moved down where it would pass the cap.
    ///
    /// Source: as full jitter. There the draw is cut at the cap, so that most delays become the cap itself; here the
    /// range ends at the cap and keeps its spread.
    #[inline]
    pub const fn decorrelated_jitter(base: Duration, cap: Duration) -> Policy {
        Policy::exponential(base).with_cap(cap).with_jitter(Jitter::Decorrelated)
    }

    /// AWS's own decorrelated jitter: min(cap, uniform in [base, 3 · the delay before]). So the cap comes often.
    ///
    /// Source: as full jitter, and `ExpoBackoffDecorr` of aws-arch-backoff-simulator, where the delay before is the base at
    /// first. [`decorrelated_jitter`](Self::decorrelated_jitter) keeps its spread at the cap.
    #[inline]
    pub const fn decorrelated_jitter_clamped(base: Duration, cap: Duration) -> Policy {
        Policy::exponential(base).with_cap(cap).with_jitter(Jitter::DecorrelatedClamped)
    }

    /// Polly's exponential backoff with jitter (`DecorrelatedJitterBackoffV2`), whose medians are about `median_first` times
    /// 1, 2, 4 …
    ///
    /// With f(t) = 2^t · tanh(2 · √t) and t(n) = n − 1 + u(n), u uniform in [0, 1), the n-th delay is median_first/1.4 ·
    /// (f(t(n)) − f(t(n−1))), the first one median_first/1.4 · f(t(1)). A cap cuts a delay, and later ones do not know it.
    ///
    /// Source: `RetryHelper` of Polly.Core at 07124acf, from Polly.Contrib.WaitAndRetry; there in floating point and ticks
    /// of 100 ns, here in integers and nanoseconds. What is called the delay before elsewhere is how long the delays before
    /// have lasted together here: [`Law::draw_and_remember_ns`].
    #[inline]
    pub const fn polly(median_first: Duration) -> Policy {
        Policy::exponential(median_first).with_jitter(Jitter::Polly)
    }

    /// Always `delay`.
    #[inline]
    pub const fn constant(delay: Duration) -> Policy {
        Policy::linear(delay, Duration::ZERO)
    }

    /// base, base + increment, base + 2 · increment …; with an increment of 0 it is constant.
    #[inline]
    pub const fn linear(base: Duration, increment: Duration) -> Policy {
        let base = or_default(nanos(base), nanos(DEFAULT_BASE));
        Policy::timed(Growth::Linear { base, increment: nanos(increment) })
    }

    /// base · F(n): base times 1, 1, 2, 3, 5, 8 …
    #[inline]
    pub const fn fibonacci(base: Duration) -> Policy {
        Policy::timed(Growth::Fibonacci { base: or_default(nanos(base), nanos(DEFAULT_BASE)) })
    }

    /// A service that systemd starts again: RestartSec, then in RestartSteps steps of equal ratio to RestartMaxDelaySec.
    ///
    /// `first` · (`last`/`first`)^((n−1)/`steps`), and `last` from then on; 0 steps or no `last` above it: always `first`.
    /// Source: systemd.service(5) and `service_restart_usec_next` of systemd, which rounds down to microseconds. By default
    /// systemd has 100 ms and no steps.
    #[inline]
    pub const fn systemd_restart(first: Duration, steps: u32, last: Duration) -> Policy {
        let base = or_default(nanos(first), nanos(DEFAULT_BASE));
        Policy::timed(Growth::Steps { base, last: or_default(nanos(last), u64::MAX), steps })
    }

    /// Generalised exponential backoff in slots: r slots, r uniform in 0 ≤ r < base^min(n, limit).
    ///
    /// A base of 0 or 1 would never wait: it counts as 2. A limit of 0 counts as 10.
    #[inline]
    pub const fn slot_exponential(slot: Duration, base: u32, limit: u32) -> Policy {
        let base = if base < 2 { 2 } else { base };
        Policy::slotted(Choice::Exponential { base, limit: if limit == 0 { 10 } else { limit } }, slot)
    }

    /// Heuristic RCP: r slots, r uniform in 0 ≤ r < K(n); K(1), K(2) … as given, the last one from then on.
    ///
    /// Source: Lam and Kleinrock, "Packet-Switching in a Multi-Access Broadcast Channel: Dynamic Control Procedures",
    /// 1975, whose example is 10, 100, 200. An entry of 0 counts as 1, which is no delay. Between 1 and 16 entries; the compiler
    /// refuses others.
    pub const fn rcp<const N: usize>(slot: Duration, intervals: [u32; N]) -> Policy {
        const { assert!(N >= 1 && N <= RCP_ENTRIES, "between 1 and 16 entries") };
        match Policy::rcp_of(slot, &intervals) {
            Some(policy) => policy,
            None => Policy::IEEE_802_3, // not reached: N has just been checked
        }
    }

    /// [`rcp`](Self::rcp) of as many intervals as there are at run time; `None` unless they are between 1 and 16.
    pub const fn rcp_of(slot: Duration, intervals: &[u32]) -> Option<Policy> {
        if intervals.is_empty() || intervals.len() > RCP_ENTRIES {
            return None;
        }
        let mut table = [1; RCP_ENTRIES];
        let mut entry = 0;
        while entry < intervals.len() && entry < RCP_ENTRIES {
            table[entry] = if intervals[entry] == 0 { 1 } else { intervals[entry] as u64 };
            entry += 1;
        }
        Some(Policy::slotted(Choice::Table { table, last: (intervals.len() - 1) as u8 }, slot))
    }

    /// The same with K(n) = K(n−1) · multiplier(n), K(0) = 1; after the last multiplier K stays. Lam's example: 10, 10, 2.
    ///
    /// A product that passes 2^64 − 1 slots is that many. After a multiplier of 0 there is no delay.
    pub const fn rcp_multipliers<const N: usize>(slot: Duration, multipliers: [u32; N]) -> Policy {
        const { assert!(N >= 1 && N <= RCP_ENTRIES, "between 1 and 16 entries") };
        match Policy::rcp_multipliers_of(slot, &multipliers) {
            Some(policy) => policy,
            None => Policy::IEEE_802_3, // not reached: N has just been checked
        }
    }

    /// [`rcp_multipliers`](Self::rcp_multipliers) of as many as there are at run time; `None` unless they are between 1
    /// and 16.
    pub const fn rcp_multipliers_of(slot: Duration, multipliers: &[u32]) -> Option<Policy> {
        if multipliers.is_empty() || multipliers.len() > RCP_ENTRIES {
            return None;
        }
        let (mut table, mut product) = ([1; RCP_ENTRIES], 1_u64);
        let mut entry = 0;
        while entry < multipliers.len() && entry < RCP_ENTRIES {
            product = product.saturating_mul(multipliers[entry] as u64);
            table[entry] = floor_at(product, 1);
            entry += 1;
        }
        Some(Policy::slotted(Choice::Table { table, last: (multipliers.len() - 1) as u8 }, slot))
    }

    /// Slotted ALOHA with a fixed interval: r slots, r uniform in 0 ≤ r < K. K = 0 counts as 2.
    ///
    /// Source: Abramson 1970, Kleinrock and Lam 1972. The packet goes out in one of the next K slots; so the mean
    /// interval, its own slot included, is (K + 1)/2.
    #[inline]
    pub const fn aloha_uniform(slot: Duration, intervals: u32) -> Policy {
        Policy::rcp(slot, [if intervals == 0 { 2 } else { intervals }])
    }

    /// Slotted ALOHA with geometric delays: in each slot the packet goes out with the chance p = 2/(K + 1).
    ///
    /// P(r) = p · (1 − p)^r. The mean is that of the uniform choice from K slots. Source: Lam's dissertation, 1974,
    /// chapter 5. K = 0 counts as 2.
    #[inline]
    pub const fn aloha_geometric(slot: Duration, intervals: u32) -> Policy {
        Policy::slotted(Choice::Geometric { slots: if intervals == 0 { 2 } else { intervals } }, slot)
    }

    #[inline]
    const fn timed(growth: Growth) -> Policy {
        Policy::of(Shape::Timed { growth, jitter: Jitter::None })
    }

    #[inline]
    const fn slotted(choice: Choice, slot: Duration) -> Policy {
        Policy::of(Shape::Slotted { choice, slot: or_default(nanos(slot), nanos(DEFAULT_SLOT)) })
    }

    #[inline]
    const fn of(shape: Shape) -> Policy {
        Policy { shape, around: Around::NONE, attempt_limit: u64::MAX, elapsed_limit: u64::MAX, hint: Hint::ANY }
    }
}

/// The builders. What does not apply to a policy (the jitter of a slotted one) leaves it as it is.
impl Policy {
    /// The same from another base; 0: 100 ms.
    #[inline]
    pub const fn with_base(self, base: Duration) -> Policy {
        let base = or_default(nanos(base), nanos(DEFAULT_BASE));
        match self.shape {
            Shape::Timed { growth, jitter } => {
                Policy { shape: Shape::Timed { growth: growth.with_base(base), jitter }, ..self }
            }
            Shape::Slotted { .. } => self,
        }
    }

    /// The same with another slot; 0: 51.2 µs.
    #[inline]
    pub const fn with_slot(self, slot: Duration) -> Policy {
        match self.shape {
            Shape::Slotted { choice, .. } => {
                let slot = or_default(nanos(slot), nanos(DEFAULT_SLOT));
                Policy { shape: Shape::Slotted { choice, slot }, ..self }
            }
            Shape::Timed { .. } => self,
        }
    }

    /// The same, multiplied by this much from failure to failure; 0: 200. Below 100 it counts as 100, which is constant.
    ///
    /// Makes every growth exponential.
    #[inline]
    pub const fn with_multiplier_percent(self, percent: u32) -> Policy {
        match self.shape {
            Shape::Timed { growth, jitter } => {
                let growth = Growth::exponential(growth.base(), if percent == 0 { 200 } else { percent });
                Policy { shape: Shape::Timed { growth, jitter }, ..self }
            }
            Shape::Slotted { .. } => self,
        }
    }

    /// The same with another jitter.
    #[inline]
    pub const fn with_jitter(self, jitter: Jitter) -> Policy {
        match self.shape {
            Shape::Timed { growth, .. } => Policy { shape: Shape::Timed { growth, jitter }, ..self },
            Shape::Slotted { .. } => self,
        }
    }

    /// The same with the delay *before jitter* no longer than this; 0: none.
    ///
    /// Where delays count slots it bounds the longest delay, though not to less than one slot. A geometric law is cut
    /// there: what remains keeps its proportions.
    #[inline]
    pub const fn with_ceiling(self, ceiling: Duration) -> Policy {
        Policy { around: Around { ceiling: or_default(nanos(ceiling), u64::MAX), ..self.around }, ..self }
    }

    /// The same with no delay longer than this, jitter included; 0: none.
    ///
    /// A range that would pass the cap is moved down until it ends there, its width kept where it does not reach
    /// below 0. So the jitter is never lost at the cap. Delays in slots stay whole slots as long as one slot fits. The
    /// lower end comes down with the upper one, below the base if need be; [`with_ceiling`](Self::with_ceiling) keeps it.
    #[inline]
    pub const fn with_cap(self, cap: Duration) -> Policy {
        Policy { around: Around { cap: or_default(nanos(cap), u64::MAX), ..self.around }, ..self }
    }

    /// The same with this failure, counted from 1, as the last: there is no delay after it. 0: no limit.
    #[inline]
    pub const fn with_attempt_limit(self, attempt_limit: u64) -> Policy {
        Policy { attempt_limit: or_default(attempt_limit, u64::MAX), ..self }
    }

    /// The same given up where a delay would end later than this after the start; 0: never.
    #[inline]
    pub const fn with_elapsed_limit(self, elapsed_limit: Duration) -> Policy {
        Policy { elapsed_limit: or_default(nanos(elapsed_limit), u64::MAX), ..self }
    }

    /// The same with at most this much of a server's hint; 0: any. A hint above it counts as this.
    #[inline]
    pub const fn with_hint_limit(self, limit: Duration) -> Policy {
        Policy { hint: Hint { limit: or_default(nanos(limit), u64::MAX), above_draw: false }, ..self }
    }

    /// The same with a server's hint as the delay itself, but no less than the drawn delay t, and no more than t and
    /// this; 0: any. The AWS SDKs read `x-amz-retry-after` so, with 5 s.
    #[inline]
    pub const fn with_hint_above_draw(self, most: Duration) -> Policy {
        Policy { hint: Hint { limit: or_default(nanos(most), u64::MAX), above_draw: true }, ..self }
    }

    /// The same with the delay before jitter multiplied by this: below 100 for emergency traffic. 0: 100.
    ///
    /// What waited at all still waits: at least 1 ns, or a choice from 2 slots.
    #[inline]
    pub const fn with_priority_percent(self, percent: u32) -> Policy {
        Policy { around: Around { priority: if percent == 0 { 100 } else { percent }, ..self.around }, ..self }
    }

    /// The delay where `drawn` comes from a range that begins at `shortest`, and the server asks for `hint`.
    #[inline(always)]
    pub(crate) const fn hinted(&self, drawn: u64, shortest: u64, hint: u64) -> u64 {
        if hint == 0 { drawn } else { self.hint.delay(drawn, shortest, hint) }
    }

    /// The failure that is the last; `None`: there is none.
    #[inline]
    pub const fn attempt_limit(&self) -> Option<u64> {
        if self.attempt_limit == u64::MAX { None } else { Some(self.attempt_limit) }
    }

    /// How long after the start a delay may end, in nanoseconds; `None`: for ever.
    #[inline]
    pub const fn elapsed_limit_ns(&self) -> Option<u64> {
        if self.elapsed_limit == u64::MAX { None } else { Some(self.elapsed_limit) }
    }

    /// Whether failure number `failures` is the last.
    #[inline]
    pub const fn gives_up_after(&self, failures: u64) -> bool {
        failures >= self.attempt_limit && self.attempt_limit != u64::MAX
    }

    /// The law of the delay after failure number `failures`; `None` if that failure is the last.
    ///
    /// 0 failures: no delay. For decorrelated jitter the delay before is taken to be the base.
    #[inline(always)]
    pub const fn law(&self, failures: u64) -> Option<Law> {
        self.law_after(failures, self.first_previous_ns())
    }

    /// The law of the delay after failure number `failures`, given the delay before: decorrelated jitter asks for it.
    #[inline(always)]
    pub const fn law_after(&self, failures: u64, previous_ns: u64) -> Option<Law> {
        match self.law_and_whether_it_stays(failures, previous_ns) {
            Some((law, _)) => Some(law),
            None => None,
        }
    }

    /// The same, and whether every later failure up to the attempt limit has that law too.
    #[inline(always)]
    pub(crate) const fn law_and_whether_it_stays(&self, failures: u64, previous_ns: u64) -> Option<(Law, bool)> {
        if self.is_chained() {
            return match self.chained_law(failures, previous_ns) {
                Some(law) => Some((law, false)),
                None => None,
            };
        }
        self.unchained_law(failures, previous_ns)
    }

    /// Whether a delay follows from the one before by a law that is neither uniform nor geometric.
    #[inline(always)]
    pub(crate) const fn is_chained(&self) -> bool {
        match self.shape {
            Shape::Timed { jitter, .. } => {
                use Jitter::{DecorrelatedClamped, Dhcpv6, Polly, ProportionalClamped};
                matches!(jitter, DecorrelatedClamped | Dhcpv6 { .. } | Polly | ProportionalClamped { .. })
            }
            Shape::Slotted { .. } => false,
        }
    }

    /// That law. Apart, so that the others stay in registers.
    #[cold]
    #[inline(never)]
    pub(crate) const fn chained_law(&self, failures: u64, previous_ns: u64) -> Option<Law> {
        if failures == 0 {
            return Some(Law::always(0));
        }
        if self.gives_up_after(failures) {
            return None;
        }
        let base = self.shape.base();
        let law = match self.shape {
            Shape::Timed { jitter: Jitter::Dhcpv6 { percent, first_above }, .. } => {
                let first = if failures == 1 { Some(first_above) } else { None };
                self.around.dhcpv6(base, previous_ns, percent, first)
            }
            Shape::Timed { jitter: Jitter::Polly, .. } => self.around.polly(base, failures, previous_ns),
            Shape::Timed { growth, jitter: Jitter::ProportionalClamped { percent } } => {
                let jitter = Jitter::Proportional { percent };
                self.around.clamped(self.around.timed(growth.after(failures), jitter, base, previous_ns))
            }
            Shape::Timed { .. } | Shape::Slotted { .. } => {
                self.around.clamped(self.around.timed(0, Jitter::Decorrelated, base, previous_ns))
            }
        };
        Some(law.capped(self.around.cap))
    }

    /// The law of a policy that is not chained, and whether every later failure up to the attempt limit has it too.
    // A policy that is a constant leaves little of it: a shift and a draw.
    #[inline(always)]
    pub(crate) const fn unchained_law(&self, failures: u64, previous_ns: u64) -> Option<(Law, bool)> {
        // One comparison for both ends: 0 failures, less 1, are more than any limit. And no limit has no end.
        if failures.wrapping_sub(1) >= self.attempt_limit.wrapping_sub(1) {
            if failures == 0 {
                return Some((Law::always(0), false));
            }
            if self.attempt_limit != u64::MAX {
                return None;
            }
        }
        let (law, stays) = match self.shape {
            Shape::Timed { growth, jitter } => {
                let grown = growth.after(failures);
                let stays = grown >= self.around.ceiling || growth.is_constant();
                let law = self.around.timed(grown, jitter, growth.base(), previous_ns);
                (Law::uniform(law), stays && !matches!(jitter, Jitter::Decorrelated))
            }
            Shape::Slotted { ref choice, slot } => (self.slotted_law(choice, slot, failures), choice.stays(failures)),
        };
        Some((law.plainly_capped(self.around.cap), stays))
    }

    #[inline(never)]
    const fn slotted_law(&self, choice: &Choice, slot: u64, failures: u64) -> Law {
        let slots = choice.slots(failures);
        match choice {
            Choice::Exponential { .. } => Law::uniform(self.around.slotted(slots, slot, true)),
            Choice::Table { .. } => Law::uniform(self.around.slotted(slots, slot, false)),
            Choice::Geometric { slots } => self.around.geometric(*slots, slot),
        }
    }

    /// What counts as the delay before the first one: the base.
    #[inline]
    pub(crate) const fn first_previous_ns(&self) -> u64 {
        match self.shape {
            Shape::Timed { jitter: Jitter::Polly, .. } => 0,
            Shape::Timed { .. } | Shape::Slotted { .. } => self.shape.base(),
        }
    }

    /// How the laws after the first failure follow from each other.
    #[inline]
    pub(crate) const fn course(&self) -> Course {
        match self.shape {
            _ if self.around.priority != 100 => Course::Growing,
            Shape::Timed { growth, jitter: Jitter::Decorrelated } => {
                let first = at_most(growth.base(), self.around.ceiling);
                Course::Decorrelated(Decorrelated::new(first, self.around.ceiling, self.around.cap))
            }
            Shape::Timed { growth: Growth::Doubling { base, shift: 1 }, jitter } => {
                let Some((spread, ceiling)) = self.spread(jitter) else { return Course::Growing };
                Course::Doubling(Doubling { delay: at_most(base, ceiling), ceiling, step: 1, spread })
            }
            Shape::Slotted { choice: Choice::Exponential { base: 2, limit }, slot }
                if limit < 64
                    && self.around.ceiling == u64::MAX
                    && fitting(self.around.cap, slot, (1 << limit) - 1) == (1 << limit) - 1 =>
            {
                Course::Doubling(Doubling { delay: 2, ceiling: 1 << limit, step: slot, spread: Spread::BELOW })
            }
            _ => Course::Growing,
        }
    }

    /// How many of the delay that doubles are drawn, and its ceiling: a cap is one too where the range begins at 0.
    #[inline]
    const fn spread(&self, jitter: Jitter) -> Option<(Spread, u64)> {
        match jitter {
            Jitter::Full => Some((Spread::FULL, at_most(self.around.ceiling, self.around.cap))),
            Jitter::Below => Some((Spread::BELOW, at_most(self.around.ceiling, self.around.cap.saturating_add(1)))),
            Jitter::Equal if self.around.ceiling <= self.around.cap => Some((Spread::EQUAL, self.around.ceiling)),
            _ => None,
        }
    }
}

impl Around {
    /// Nothing but the growth.
    pub const NONE: Around = Around { ceiling: u64::MAX, cap: u64::MAX, priority: 100 };

    /// The law of a delay that has grown to `grown`, not capped yet; decorrelated jitter asks for the base and the delay
    /// before instead.
    #[inline(always)]
    pub const fn timed(&self, grown: u64, jitter: Jitter, base: u64, previous: u64) -> Uniform {
        if matches!(jitter, Jitter::Decorrelated) {
            let first = at_most(self.prioritised(base), self.ceiling);
            let last = at_most(self.prioritised(previous.saturating_mul(3)), self.ceiling);
            return Uniform::between(first, floor_at(last, first));
        }
        let delay = self.prioritised(at_most(grown, self.ceiling));
        match jitter {
            // Those that are not uniform have functions of their own.
            Jitter::None | Jitter::Decorrelated => Uniform::always(delay),
            Jitter::DecorrelatedClamped | Jitter::Dhcpv6 { .. } | Jitter::Polly => Uniform::always(delay),
            Jitter::ProportionalClamped { .. } => Uniform::always(delay),
            Jitter::Full => Uniform::between(0, delay),
            Jitter::Below => Uniform::between(0, delay.saturating_sub(1)),
            Jitter::Equal => Uniform::between(delay / 2, delay),
            Jitter::Proportional { percent } => {
                let width = percent_of(delay, at_most(percent as u64, 100) as u32);
                Uniform::between(delay - width, delay.saturating_add(width))
            }
            Jitter::AddedMillis { most } => Uniform::steps(delay, 1_000_000, most as u64),
            Jitter::AroundMillis { most } => {
                let width = most as u64 * 1_000_000;
                Uniform::between(delay.saturating_sub(width), delay.saturating_add(width))
            }
            Jitter::UpperHalf => Uniform::between(delay / 2, delay.saturating_sub(1)),
            Jitter::Above { percent } => Uniform::between(delay, delay.saturating_add(percent_of(delay, percent))),
        }
    }

    /// The law of that choice, of which what passes the cap becomes the cap.
    #[inline(never)]
    pub const fn clamped(&self, choice: Uniform) -> Law {
        Law::redrawn(Redrawn::of(choice.first, choice.longest_ns(), self.cap, 0))
    }

    /// The law of DHCPv6; `first` says of the first delay whether it is longer than the base.
    #[inline(never)]
    pub const fn dhcpv6(&self, base: u64, previous: u64, percent: u32, first: Option<bool>) -> Law {
        let (prior, doubled) = match first {
            Some(_) => (self.prioritised(base), self.prioritised(base)),
            None => (previous, previous.saturating_mul(2)),
        };
        let width = share_of(prior, percent);
        let longer = matches!(first, Some(true)) && width > 0;
        let shortest = if longer { doubled.saturating_add(1) } else { doubled.saturating_sub(width) };
        Law::redrawn(Redrawn::of(shortest, doubled.saturating_add(width), self.ceiling, percent).capped(self.cap))
    }

    /// The law of Polly's jitter, the delays before having lasted `waited` together.
    #[inline(never)]
    pub const fn polly(&self, base: u64, failures: u64, waited: u64) -> Law {
        let failures = at_most(failures, u32::MAX as u64) as u32;
        Law::smooth(Smooth { failures, base: self.prioritised(base), waited, cap: self.cap })
    }

    /// The law of a uniform choice from `slots` slots, not capped yet. `unbounded`: the number of slots does not fit in
    /// a word; then each slot is a delay, unless ceiling or priority reduce their number.
    #[inline]
    pub const fn slotted(&self, slots: u64, slot: u64, unbounded: bool) -> Uniform {
        let chosen = self.chosen(slots);
        let ceiling = ceiling_in_slots(self.ceiling, slot);
        // 2^64 slots do not fit a word; where nothing makes them fewer, every word is a delay.
        if unbounded && slots == u64::MAX && self.priority == 100 && ceiling == u64::MAX {
            return Uniform::steps(0, slot, u64::MAX);
        }
        Uniform::steps(0, slot, at_most(chosen, ceiling).saturating_sub(1))
    }

    /// The geometric law with the mean of a uniform choice from `slots` slots, not capped yet.
    #[inline]
    pub const fn geometric(&self, slots: u32, slot: u64) -> Law {
        let chosen = at_most(self.chosen(slots as u64), u32::MAX as u64) as u32;
        Law::geometric(slot, chosen).cut(ceiling_in_slots(self.ceiling, slot).saturating_sub(1))
    }

    /// K of this priority; what was a choice stays one.
    #[inline]
    const fn chosen(&self, slots: u64) -> u64 {
        if slots > 1 { floor_at(self.prioritised(slots), 2) } else { slots }
    }

    /// The delay of this priority; what is not 0 does not become 0.
    #[inline]
    const fn prioritised(&self, delay: u64) -> u64 {
        if self.priority == 100 || delay == 0 { delay } else { floor_at(percent_of(delay, self.priority), 1) }
    }
}

/// base^min(n, limit), the number of slots of a generalised exponential choice; 2^64 and more are `u64::MAX`.
#[doc(hidden)]
#[inline]
pub const fn exponential_slots(base: u32, limit: u32, failures: u64) -> u64 {
    // The range of 802.3 that a word can hold ends at 2^64: then every word is a delay.
    let exponent = at_most(at_most(failures, limit as u64), 64) as u32;
    match 1_u64.checked_shl(exponent) {
        Some(slots) if base == 2 => slots,
        _ => (base as u64).saturating_pow(exponent),
    }
}

/// The largest K whose longest delay is no longer than the ceiling; a choice from 2 slots at least.
const fn ceiling_in_slots(ceiling: u64, slot: u64) -> u64 {
    if ceiling == u64::MAX {
        return u64::MAX;
    }
    match ceiling.checked_div(slot) {
        Some(slots) => floor_at(slots.saturating_add(1), 2),
        None => u64::MAX,
    }
}

/// The nanoseconds of a span; what passes 584 years is that long.
#[inline]
pub(crate) const fn nanos(span: Duration) -> u64 {
    let nanos = span.as_nanos();
    if nanos > u64::MAX as u128 { u64::MAX } else { nanos as u64 }
}

#[inline]
const fn percent_of(value: u64, percent: u32) -> u64 {
    match value.checked_mul(percent as u64) {
        Some(product) => product / 100,
        None => percent_of_much(value, percent),
    }
}

/// The same where the product passes 64 bits.
#[cold]
#[inline(never)]
const fn percent_of_much(value: u64, percent: u32) -> u64 {
    let part = value as u128 * percent as u128 / 100;
    if part > u64::MAX as u128 { u64::MAX } else { part as u64 }
}

#[inline]
const fn or_default(value: u64, default: u64) -> u64 {
    if value == 0 { default } else { value }
}

#[inline]
const fn at_most(value: u64, limit: u64) -> u64 {
    if value < limit { value } else { limit }
}

#[inline]
const fn floor_at(value: u64, limit: u64) -> u64 {
    if value > limit { value } else { limit }
}
