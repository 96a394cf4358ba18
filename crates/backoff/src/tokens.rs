//! Tokens for retries that threads share, as AWS and gRPC have them.
//!
//! They must never read a clock, draw, or wait. A processor without atomic compare-and-swap, such as ARMv6-M, has none
//! of this; [`Budget`](crate::Budget) and [`Window`](crate::Window) are for one thread, and on every target.

use core::sync::atomic::{AtomicU32, Ordering};

/// Thousandths of a token.
const TOKEN: u32 = 1000;

/// Tokens that any number of threads take and give back at the same time; no thread waits.
///
/// [`QuotaLimits`] and [`ThrottleLimits`] say what they are for. Up to 4,294,967 tokens.
#[derive(Debug)]
#[repr(transparent)]
pub struct Tokens {
    thousandths: AtomicU32,
}

impl Tokens {
    /// Tokens of this number of thousandths.
    pub const fn holding(thousandths: u32) -> Tokens {
        Tokens { thousandths: AtomicU32::new(thousandths) }
    }

    /// What it holds, in thousandths of a token.
    pub fn thousandths(&self) -> u32 {
        self.thousandths.load(Ordering::Relaxed)
    }

    /// Takes this number, or none if there are fewer; says whether it has.
    fn take(&self, thousandths: u32) -> bool {
        self.change(|held| held.checked_sub(thousandths)).is_some()
    }

    /// Gives this number back, up to the most that it may hold.
    fn give(&self, thousandths: u32, most: u32) {
        self.change(|held| Some(held.saturating_add(thousandths).min(most)));
    }

    /// Takes this number, or all if there are fewer; returns the rest.
    fn lose(&self, thousandths: u32) -> u32 {
        self.change(|held| Some(held.saturating_sub(thousandths))).unwrap_or_default()
    }

    /// Changes what it holds, again where another thread came between; gives what it holds then.
    fn change(&self, change: impl Fn(u32) -> Option<u32>) -> Option<u32> {
        let mut held = self.thousandths();
        loop {
            let changed = change(held)?;
            let exchanged = self.thousandths.compare_exchange_weak(held, changed, Ordering::Relaxed, Ordering::Relaxed);
            match exchanged {
                Ok(_) => return Some(changed),
                Err(found) => held = found,
            }
        }
    }
}

/// The retry quota of the AWS SDKs: a retry costs tokens by the class of its error, and success gives them back.
///
/// Source: AWS SDKs and Tools Reference Guide, retry behaviour, standard mode, with the costs of November 2026: of 500
/// tokens 14 for a retry, 5 after a throttling error. What succeeds gives back what its last retry has cost; what succeeds
/// at once, one token.
///
/// ```
/// use backoff::QuotaLimits;
///
/// const LIMITS: QuotaLimits = QuotaLimits::AWS;
/// let tokens = LIMITS.full(); // one for all requests to a service, shared by all threads
/// let cost = LIMITS.take(&tokens, false).expect("full at first");
/// assert_eq!((cost, tokens.thousandths()), (14, 486_000));
/// LIMITS.succeed(&tokens, cost);
/// assert_eq!(tokens.thousandths(), 500_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct QuotaLimits {
    /// How many tokens there are.
    pub capacity: u32,
    /// What a retry costs.
    pub cost: u32,
    /// What a retry after a throttling error costs.
    pub throttling_cost: u32,
    /// What a request gives that succeeds without a retry.
    pub reward: u32,
}

impl QuotaLimits {
    /// Of November 2026.
    pub const AWS: QuotaLimits = QuotaLimits { capacity: 500, cost: 14, throttling_cost: 5, reward: 1 };
    /// Before; there a retry after a time-out cost 10.
    pub const AWS_BEFORE: QuotaLimits = QuotaLimits { capacity: 500, cost: 5, throttling_cost: 5, reward: 1 };

    /// All tokens.
    pub const fn full(&self) -> Tokens {
        Tokens::holding(self.capacity.saturating_mul(TOKEN))
    }

    /// Takes what a retry costs, and gives that; `None` if there is less: do not retry.
    pub fn take(&self, tokens: &Tokens, throttled: bool) -> Option<u32> {
        let cost = if throttled { self.throttling_cost } else { self.cost };
        if tokens.take(cost.saturating_mul(TOKEN)) { Some(cost) } else { None }
    }

    /// A request has succeeded whose last retry has cost this number; 0: at its first attempt.
    pub fn succeed(&self, tokens: &Tokens, cost: u32) {
        let given = if cost == 0 { self.reward } else { cost };
        tokens.give(given.saturating_mul(TOKEN), self.capacity.saturating_mul(TOKEN));
    }
}

/// The retry throttling of gRPC: each failure takes a token, each success gives a part of one, and at half of the
/// tokens or below no client retries.
///
/// Source: gRPC, proposal A6 and `RetryThrottlingPolicy` of its service configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThrottleLimits {
    /// maxTokens: how many there are at first and at most.
    pub max_tokens: u32,
    /// tokenRatio in thousandths: what a success gives.
    pub ratio_thousandths: u32,
}

/// What a server says of retries beside an error: `grpc-retry-pushback-ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pushback {
    /// Nothing: the policy decides.
    Absent,
    /// Retry after this number of milliseconds, in place of the policy's delay.
    Milliseconds(u64),
    /// Do not retry: a negative number, or what is none.
    Never,
}

impl ThrottleLimits {
    /// 10 tokens, and a tenth of one for each success, as in the proposal.
    pub const GRPC: ThrottleLimits = ThrottleLimits { max_tokens: 10, ratio_thousandths: 100 };

    /// All tokens.
    pub const fn full(&self) -> Tokens {
        Tokens::holding(self.max_tokens.saturating_mul(TOKEN))
    }

    /// Counts a failed attempt, and says whether it may be tried again.
    pub fn fail(&self, tokens: &Tokens, pushback: Pushback) -> bool {
        let left = tokens.lose(TOKEN);
        left > self.max_tokens.saturating_mul(TOKEN) / 2 && pushback != Pushback::Never
    }

    /// Counts an attempt that has succeeded.
    pub fn succeed(&self, tokens: &Tokens) {
        tokens.give(self.ratio_thousandths, self.max_tokens.saturating_mul(TOKEN));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AWS SDKs and Tools Reference Guide: 500 tokens last for 35 retries of 14, or 100 of 5.
    #[test]
    fn the_quota_of_aws_costs_by_class_and_is_refunded() {
        for (throttled, retries) in [(false, 35), (true, 100)] {
            let (limits, tokens) = (QuotaLimits::AWS, QuotaLimits::AWS.full());
            let costs: std::vec::Vec<u32> = std::iter::from_fn(|| limits.take(&tokens, throttled)).collect();
            assert_eq!(costs.len(), retries);
            limits.succeed(&tokens, costs[0]);
            assert_eq!(limits.take(&tokens, throttled), Some(costs[0]), "the refund pays for one more");
            (0..1000).for_each(|_| limits.succeed(&tokens, 0));
            assert_eq!(tokens.thousandths(), 500_000, "no more than there are");
        }
    }

    /// Proposal A6: at maxTokens / 2 or below there are no retries; successes bring them back.
    #[test]
    fn grpc_throttles_at_half_of_its_tokens() {
        let (limits, tokens) = (ThrottleLimits::GRPC, ThrottleLimits::GRPC.full());
        let failures: [bool; 6] = std::array::from_fn(|_| limits.fail(&tokens, Pushback::Absent));
        assert_eq!(failures, [true, true, true, true, false, false]);
        (0..30).for_each(|_| limits.succeed(&tokens));
        assert_eq!(tokens.thousandths(), 7000);
        assert!(limits.fail(&tokens, Pushback::Milliseconds(5)) && !limits.fail(&tokens, Pushback::Never));
        (0..20).for_each(|_| _ = limits.fail(&tokens, Pushback::Absent));
        assert_eq!(tokens.thousandths(), 0);
    }

    /// Eight threads take and give; nothing is lost or made.
    #[test]
    fn threads_share_tokens() {
        let limits = QuotaLimits { capacity: 10, cost: 1, throttling_cost: 1, reward: 0 };
        let tokens = limits.full();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        if let Some(cost) = limits.take(&tokens, false) {
                            limits.succeed(&tokens, cost);
                        }
                    }
                });
            }
        });
        assert_eq!(tokens.thousandths(), 10_000);
    }
}
