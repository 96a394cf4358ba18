//! Budgets for retries as large clients have them: tokens that threads share, a window with a floor, a share of what is
//! under way.
//!
//! None of them may read a clock, draw, or wait. [`Budget`](crate::Budget) is the plain bucket, for one thread.

use core::sync::atomic::{AtomicU32, Ordering};

/// Thousandths of a token.
const TOKEN: u32 = 1000;

/// Tokens that any number of threads take and give back at the same time; nobody waits.
///
/// [`QuotaLimits`] and [`ThrottleLimits`] say what they are for. Up to 4,294,967 tokens.
#[derive(Debug)]
#[repr(transparent)]
pub struct Tokens {
    thousandths: AtomicU32,
}

impl Tokens {
    /// So many thousandths of a token.
    pub const fn holding(thousandths: u32) -> Tokens {
        Tokens { thousandths: AtomicU32::new(thousandths) }
    }

    /// What it holds, in thousandths of a token.
    pub fn thousandths(&self) -> u32 {
        self.thousandths.load(Ordering::Relaxed)
    }

    /// Takes so much, or nothing if there is less; says whether it has.
    fn take(&self, thousandths: u32) -> bool {
        self.change(|held| held.checked_sub(thousandths)).is_some()
    }

    /// Gives so much back, up to what it may hold.
    fn give(&self, thousandths: u32, most: u32) {
        self.change(|held| Some(held.saturating_add(thousandths).min(most)));
    }

    /// Takes so much, or what there is; gives what is left.
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

    /// A request has succeeded whose last retry has cost so much; 0: at its first attempt.
    pub fn succeed(&self, tokens: &Tokens, cost: u32) {
        let given = if cost == 0 { self.reward } else { cost };
        tokens.give(given.saturating_mul(TOKEN), self.capacity.saturating_mul(TOKEN));
    }
}

/// The retry throttling of gRPC: each failure takes a token, each success gives a part of one, and at half of them or
/// below nobody retries.
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
    /// Retry after so many milliseconds, in place of the policy's delay.
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

/// How many retries a [`Window`] lets through.
///
/// Source: `RetryBudget` of Finagle, and `TpsBudget` of tower after it, which have these numbers by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowLimits {
    /// How long a request counts, in nanoseconds; at least 10.
    pub window_ns: u64,
    /// How many retries for each 100 requests.
    pub percent: u32,
    /// How many besides for each second of the window: the floor of who sends little, or has just begun.
    pub least_per_second: u32,
}

impl WindowLimits {
    /// 10 s, 20 %, and 10 a second.
    pub const FINAGLE: WindowLimits = WindowLimits { window_ns: 10_000_000_000, percent: 20, least_per_second: 10 };

    /// How long a tenth of the window is.
    const fn slice_ns(&self) -> u64 {
        if self.window_ns < SLICES as u64 { 1 } else { self.window_ns / SLICES as u64 }
    }

    /// The floor, in hundredths of a retry.
    const fn floor(&self) -> i64 {
        let hundredths = (self.window_ns / 10_000_000).saturating_mul(self.least_per_second as u64);
        if hundredths > i64::MAX as u64 { i64::MAX } else { hundredths as i64 }
    }
}

/// In how many slices a window is divided, of which the oldest is forgotten at a time.
const SLICES: usize = 10;

/// A budget that forgets: retries in proportion to the requests of the last while, and some in any case.
///
/// Plain data for one thread. What a slice has is what its requests gave less what its retries took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    /// The number of the slice that was used last.
    pub slice: u64,
    /// In hundredths of a retry.
    pub slices: [i32; SLICES],
}

impl Window {
    /// No request yet.
    pub const fn new() -> Window {
        Window { slice: 0, slices: [0; SLICES] }
    }

    /// Counts a request at `now_ns`, of any clock; a time before the last one counts as that one.
    pub fn deposit(&mut self, limits: &WindowLimits, now_ns: u64) {
        let percent = i32::try_from(limits.percent).unwrap_or(i32::MAX);
        let slice = self.at(limits, now_ns);
        *slice = slice.saturating_add(percent);
    }

    /// Takes a retry at `now_ns`, if the window holds one; says whether it has.
    pub fn withdraw(&mut self, limits: &WindowLimits, now_ns: u64) -> bool {
        _ = self.at(limits, now_ns);
        // Ten slices of 32 bits and a floor of 50 do not pass 64.
        let held: i64 = self.slices.iter().map(|slice| i64::from(*slice)).sum();
        if held.saturating_add(limits.floor()) < 100 {
            return false;
        }
        let slice = self.at(limits, now_ns);
        *slice = slice.saturating_sub(100);
        true
    }

    /// The slice of that time; what has left the window since is forgotten.
    fn at(&mut self, limits: &WindowLimits, now_ns: u64) -> &mut i32 {
        let slice = now_ns.checked_div(limits.slice_ns()).unwrap_or(0).max(self.slice);
        let passed = slice - self.slice;
        for (number, held) in self.slices.iter_mut().enumerate() {
            // How many slices ago that place was last used, seen from the new one.
            let age = (slice % SLICES as u64 + SLICES as u64 - number as u64) % SLICES as u64;
            if age < passed {
                *held = 0;
            }
        }
        self.slice = slice;
        &mut self.slices[(slice % SLICES as u64) as usize]
    }
}

/// Whether another retry may be made where so many requests and retries are under way: as long as retries are fewer than
/// that share of the requests, pending ones included, and in any case fewer than `least`.
///
/// Source: `RetryBudget` of Envoy's circuit breakers, which has 20 % and 3 by default.
pub const fn share_allows(active_requests: u64, active_retries: u64, percent: u32, least: u32) -> bool {
    let share = match active_requests.checked_mul(percent as u64) {
        Some(product) => product / 100,
        None => (active_requests / 100).saturating_mul(percent as u64),
    };
    active_retries < share || active_retries < least as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

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

    /// Finagle's numbers: 100 retries without any request, 20 more for 100 requests; both come back as time passes.
    #[test]
    fn a_window_has_a_floor_and_a_share_and_forgets() {
        let (limits, mut window) = (WindowLimits::FINAGLE, Window::new());
        let spend = |window: &mut Window, now| (0..1000).filter(|_| window.withdraw(&limits, now)).count();
        assert_eq!(spend(&mut window, 0), 100);
        (0..100).for_each(|_| window.deposit(&limits, 0));
        assert_eq!(spend(&mut window, 9 * SECOND), 20);
        assert_eq!(spend(&mut window, 10 * SECOND - 1), 0);
        assert_eq!(spend(&mut window, 10 * SECOND), 80, "the slice of time 0 is forgotten, that of 9 s is not");
        assert_eq!(spend(&mut window, 5 * SECOND), 0, "a clock that went back");
        assert_eq!(spend(&mut window, 1 << 60), 100);
        assert_eq!(spend(&mut window, u64::MAX), 100);
    }

    /// tower has these numbers in its tests: what was deposited a window ago is gone.
    #[test]
    fn a_window_does_as_that_of_tower() {
        let limits = WindowLimits { window_ns: SECOND, percent: 50, least_per_second: 0 };
        let mut window = Window::new();
        (0..2).for_each(|_| window.deposit(&limits, 0));
        assert!(window.withdraw(&limits, 901_000_000) && !window.withdraw(&limits, 901_000_000));
        window.deposit(&limits, 3 * SECOND);
        window.deposit(&limits, 4 * SECOND);
        assert!(!window.withdraw(&limits, 4 * SECOND));
    }

    /// Envoy: 20 % of the active requests, but 3 in any case.
    #[test]
    fn a_share_of_what_is_under_way() {
        for (requests, retries, allowed) in
            [(0, 2, true), (0, 3, false), (15, 3, false), (100, 19, true), (100, 20, false), (u64::MAX, 1 << 60, true)]
        {
            assert_eq!(share_allows(requests, retries, 20, 3), allowed, "{requests} {retries}");
        }
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
