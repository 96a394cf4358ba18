//! Kinds, jitters and flags beside the eight kinds: the enumerations of `backoff_presets.h`.

/// The kinds that are none of `enum backoff_kind`: numbers for the `kind` of a `struct backoff_policy`.
/// backoff_retry_fail_any takes them. n as there. All but STEPS count slots: they have their own spread, and take no jitter.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum OtherKind {
    /// base * (ceiling / base)^((n-1) / intervals[0]), then the ceiling; a ceiling below the base is none. As systemd has it:
    /// base_ns is RestartSec, ceiling_ns RestartMaxDelaySec, intervals[0] RestartSteps. Without ceiling or steps always the
    /// base. systemd.service(5). intervals_count is not asked for.
    Steps = 7,
    /// Heuristic RCP: r slots, r uniform in 0 <= r < intervals[n-1], the last one from then on. Lam, Kleinrock 1975.
    /// intervals_count has no default: 0 is refused. An interval of 0 counts as 1, which is no delay.
    Rcp = 9,
    /// The same, with the intervals as multipliers of the interval before; the first one of 1. A product that passes
    /// 2^64 - 1 slots is that many. After a multiplier of 0 there is no delay any more.
    RcpMultipliers = 10,
    /// Slotted ALOHA: r slots, r uniform in 0 <= r < intervals[0]; 0: 2. intervals_count is not asked for.
    AlohaUniform = 11,
    /// Slotted ALOHA: r slots, r geometric with p = 2 / (intervals[0] + 1); 0: 2. Lam 1974. intervals_count is not asked
    /// for. With 1, p is 1 and r is 0. Else r has no upper end: the bounds say how many slots fit below the cap or
    /// 2^64 ns, though more than 50 * intervals[0] of them will not be seen. A cap does not move this law but cuts it:
    /// what is left keeps its proportions.
    AlohaGeometric = 12,
}

/// The policy's first retry comes at once: no delay after the first failure, and the growth begins with the second. For
/// every kind.
pub const BACKOFF_FLAG_FIRST_AT_ONCE: u32 = 1;
/// The first delay has no jitter; with FIRST_AT_ONCE that is the delay after the second failure. Kinds that count slots have
/// no delay before jitter: they refuse it.
pub const BACKOFF_FLAG_FIRST_EXACT: u32 = 2;
/// How the delay before jitter, d, is spread. Kinds that count slots refuse it.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum Jitter {
    /// As the kind has it.
    Own = 0,
    /// d itself.
    None = 1,
    /// Uniform in [0, d].
    Full = 2,
    /// Uniform in [0, d - 1 ns].
    Below = 3,
    /// Uniform in [d/2, d].
    Equal = 4,
    /// Uniform in d * [1 - f, 1 + f], f = jitter_amount percent; 0: 50. More than 100 counts as 100: no delay is negative.
    Proportional = 5,
    /// d + [0, jitter_amount] ms, in whole milliseconds; 0: 1000.
    Added = 6,
    /// Uniform in [base, 3 * the delay before]. d is not used.
    Decorrelated = 7,
    /// Uniform in [d/2, d - 1 ns].
    UpperHalf = 8,
    /// The first delay uniform in d * [1, 1 + f], f = jitter_amount percent, 0: 50; from then on the delay before times
    /// the multiplier.
    Initial = 9,
    /// min(cap, uniform in [base, 3 * the delay before]), as AWS has it: every draw above the cap becomes the cap, so that it
    /// comes with the chance (3 * previous - cap) / (3 * previous - base). DECORRELATED has the range end at the cap instead
    /// and begin at cap - (3 * previous - base), or at 0: no delay has more chance than another. d is not used.
    DecorrelatedClamped = 10,
    /// DHCPv6: at first in base * [1 - f, 1 + f], f = jitter_amount percent, 0: 10; then in [2 - f, 2 + f] times the delay
    /// before. What passes the ceiling is drawn again in ceiling * [1 - f, 1 + f]. d is not used. RFC 8415, 15.
    Dhcpv6 = 11,
    /// The same, and the first delay is longer than the base. RFC 8415, 18.2.1.
    Dhcpv6Solicit = 12,
    /// Polly, version 2: base / 1.4 * (f(t(n)) - f(t(n-1))), f(t) = 2^t * tanh(2 * sqrt(t)), t(n) = n - 1 + u, u uniform in
    /// [0, 1); f(t(0)) is 0. The base is the median of the first delay, about. A cap cuts a delay. Where other jitters take
    /// the previous delay, this one takes the sum of all previous delays. d is not used.
    Polly = 13,
    /// min(cap, uniform in d * [1 - f, 1 + f]), f = jitter_amount percent; 0: 50. PROPORTIONAL keeps its spread at the cap.
    ProportionalClamped = 14,
    /// Uniform in [d - jitter_amount, d + jitter_amount] ms, to the nanosecond; 0: 1000. No delay is negative.
    Around = 15,
}

impl OtherKind {
    /// In the order of their numbers.
    pub(crate) const ALL: [OtherKind; 5] = [
        OtherKind::Steps,
        OtherKind::Rcp,
        OtherKind::RcpMultipliers,
        OtherKind::AlohaUniform,
        OtherKind::AlohaGeometric,
    ];
}

impl Jitter {
    /// How many there are.
    pub(crate) const COUNT: usize = Jitter::Around as usize + 1;
}
