//! Named policies, jitters and flags beside the eight kinds: the enumerations of `backoff_presets.h`.

/// Named policies, and the laws that are none of `enum backoff_kind`: numbers for the `kind` of a `struct backoff_policy`.
/// backoff_retry_fail_any takes them. n and d as there. IEEE8023, RCP, ALOHA and IEEE802154 count slots: they have their own
/// spread, and take no jitter.
#[repr(C)]
#[derive(Clone, Copy)]
pub enum Named {
    /// r slots, r uniform in 0 <= r < 2^min(n,10); the 16th failure is the last. IEEE 802.3, 4.2.3.2.5.
    Ieee8023 = 7,
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
    /// 0.5, 1, 2, 4, 4 ... s, until 64 * base have passed. RFC 3261, 17.1.2.2; base_ns is T1, ceiling_ns T2.
    ///
    /// Each firing of the timer is a failure: backoff_retry_init when the request is first sent, backoff_retry_fail at
    /// once for the first delay, then at each firing, after the request was sent again. ELAPSED_LIMIT says that the
    /// timer does not fire again: with the defaults at 31.5 s. The transaction ends later, when timer F (for an INVITE
    /// timer B) fires: in start + 64 * T1 - now, start being the time given to backoff_retry_init.
    SipTimerE = 13,
    /// 0.5, 1, 2, 4, 8, 16 s, until 64 * base have passed. RFC 3261, 17.1.1.2. Driven as timer E. It has no ceiling of
    /// its own, as T2 is not for it; but a ceiling_ns that is not 0 applies.
    SipTimerA = 14,
    /// 0.5 s * 1.5^(n-1), at most 60 s, times [0.5, 1.5], for 15 minutes. google-http-java-client.
    GoogleHttp = 15,
    /// 2^(n-1) s + [0, 1000] ms, five times: the 6th failure is the last. Google Drive SDK, samples of 2013.
    GoogleDrive = 16,
    /// [0, 1) * 100 ms * 4^n. Amazon SimpleDB.
    AmazonSimpledb = 17,
    /// 100 ms * 2^(n-1), no jitter; set a cap. AWS guide to polling.
    Polling = 18,
    /// 1 s, then 1.6^(n-1) s, at most 120 s, times [0.8, 1.2]; the first delay without jitter. gRPC, connection-backoff.md.
    /// There a delay counts from the start of the attempt: backoff_retry_fail_since.
    Grpc = 19,
    /// AWS SDKs, standard mode of November 2026: [0, 50 ms * 2^(n-1)], at most 20 s; the third failure is the last. A hint
    /// is x-amz-retry-after: see BACKOFF_FLAG_HINT_ABOVE_DRAW, which it has with 5 s.
    AwsStandard = 20,
    /// The same after a throttling error: from 1,000 ms on. For DynamoDB set attempt_limit to 4.
    AwsThrottling = 21,
    /// The same for DynamoDB: from 25 ms on; the fourth failure is the last.
    AwsDynamodb = 22,
    /// AWS SDKs for Python, .NET and C++, standard mode before: [0, 1 s * 2^(n-1)], at most 20 s; the third failure is the
    /// last. (C++ draws whole milliseconds.) Those for Java and JavaScript: base_ns 100 ms, after a throttling error 500 ms.
    AwsStandardBefore = 23,
    /// Kubernetes, ItemExponentialFailureRateLimiter of the controllers' work queues: 5 ms * 2^(n-1), at most 1,000 s.
    KubernetesQueue = 24,
    /// Kubernetes, CrashLoopBackOff: 10 s * 2^(n-1), at most 300 s. A container that ran for ten minutes starts anew.
    KubernetesCrashLoop = 25,
    /// TCP's retransmission timer: 1 s * 2^(n-1), at most 60 s. RFC 6298, 2.1, 2.4, 2.5 and 5.5; base_ns is RTO.
    TcpRto = 26,
    /// The point t of Trickle in its interval I: t in [I/2, I), I = 8 ms * 2^(n-1), at most 2^20 times 8 ms. RFC 6206, 4.2;
    /// Imin and the doublings are those of RFC 6550, 17. I is longest_ns + 1 of backoff_policy_bounds for the same failure:
    /// transmit at t if fewer than k messages were consistent, and call backoff_retry_fail again when I ends. An
    /// inconsistent message: backoff_retry_reset. ffi-tests/policies.c has the loop.
    Trickle = 27,
    /// Unslotted CSMA-CA: [0, 2^BE - 1] units of 320 us, BE = 3, 4, 5, 5, 5; the sixth is the last. IEEE 802.15.4, 6.2.5.1.
    /// Its first delay comes before the first attempt: driven as SIP_TIMER_E, with a call at once.
    Ieee802154 = 28,
    /// CoAP: t, 2t, 4t, 8t, 16t with t in [2, 3] s; the sixth is the last. RFC 7252, 4.2 and 4.8; base_ns is ACK_TIMEOUT,
    /// jitter_amount in percent is ACK_RANDOM_FACTOR less 1. Driven as SIP_TIMER_E, with a call at once.
    Coap = 29,
    /// base * (ceiling / base)^((n-1) / steps), then the ceiling; a ceiling below the base is none. base_ns is RestartSec, ceiling_ns RestartMaxDelaySec,
    /// intervals[0] RestartSteps. Without ceiling or steps always the base, as systemd has it by default. systemd.service(5).
    /// intervals_count is not asked for.
    Systemd = 30,
    /// DHCPv6, Solicit: at first in [1 s + 1 ns, 1.1 s], then 2 + [-0.1, 0.1] times the delay before; what passes 3,600 s is
    /// drawn again in 3,600 s * [0.9, 1.1]. RFC 8415, 15, 7.6 and 18.2.1. base_ns is IRT, ceiling_ns MRT, elapsed_limit_ns MRD,
    /// attempt_limit MRC + 1, jitter_amount in percent RAND. Driven as SIP_TIMER_E, with a call at once.
    Dhcpv6Solicit = 31,
    /// The same for the other messages: at first in [0.9 s, 1.1 s], and without MRT. In seconds RFC 8415 has: Request IRT 1,
    /// MRT 30, MRC 10; Confirm 1, MRT 4, MRD 10; Renew and Rebind 10, MRT 600; Information-request 1, MRT 3600; Release and
    /// Decline 1, MRC 4; Reconfigure 2, MRC 8.
    Dhcpv6 = 32,
    /// Polly's decorrelated jitter, version 2: base / 1.4 * (f(t(n)) - f(t(n-1))), f(t) = 2^t * tanh(2 * sqrt(t)), t(n)
    /// = n - 1 + u, u uniform in [0, 1); f(t(0)) is 0. The base is the median of the first delay, about. A cap cuts a
    /// delay. Where other kinds take the previous delay, this one takes the sum of all previous delays.
    Polly = 33,
}

/// The policy's first retry comes at once: no delay after the first failure, and the growth begins with the second. For
/// every kind.
pub const BACKOFF_FLAG_FIRST_AT_ONCE: u32 = 1;
/// The delay after the first failure has no jitter. It concerns that delay alone: with FIRST_AT_ONCE it changes nothing,
/// because there is no delay (the exact first delay that GRPC has by itself then comes second). Kinds that count slots have
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
    /// As the kind DHCPV6 has it, jitter_amount percent; 0: 10. d is not used.
    Dhcpv6 = 11,
    /// As the kind DHCPV6_SOLICIT has it. d is not used.
    Dhcpv6Solicit = 12,
    /// As the kind POLLY has it. d is not used.
    Polly = 13,
}

impl Named {
    /// The named policies in the order of their numbers.
    pub(crate) const ALL: [Named; 26] = [
        Named::Ieee8023,
        Named::Rcp,
        Named::RcpMultipliers,
        Named::AlohaUniform,
        Named::AlohaGeometric,
        Named::SipTimerE,
        Named::SipTimerA,
        Named::GoogleHttp,
        Named::GoogleDrive,
        Named::AmazonSimpledb,
        Named::Polling,
        Named::Grpc,
        Named::AwsStandard,
        Named::AwsThrottling,
        Named::AwsDynamodb,
        Named::AwsStandardBefore,
        Named::KubernetesQueue,
        Named::KubernetesCrashLoop,
        Named::TcpRto,
        Named::Trickle,
        Named::Ieee802154,
        Named::Coap,
        Named::Systemd,
        Named::Dhcpv6Solicit,
        Named::Dhcpv6,
        Named::Polly,
    ];
}

impl Jitter {
    /// How many there are.
    pub(crate) const COUNT: usize = Jitter::Polly as usize + 1;
}
