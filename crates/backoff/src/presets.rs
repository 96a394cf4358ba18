//! Policies of protocols and of large clients, each with its source. They are constants: what no program names is in none.
//!
//! `docs/backoff/policies.md` says which sources were read, and when.

use core::time::Duration;

use crate::policy::{DEFAULT_BASE, DEFAULT_SLOT, Jitter, Policy};

impl Policy {
    /// Truncated binary exponential backoff: r slots of 51.2 µs, r uniform in 0 ≤ r < 2^min(n,10); 16 attempts.
    ///
    /// Source: IEEE 802.3, 4.2.3.2.5. [`Backoff`](crate::Backoff) gives the same draws in slots.
    pub const IEEE_802_3: Policy = Policy::slot_exponential(DEFAULT_SLOT, 2, 10).with_attempt_limit(16);

    /// SIP timer E or G, for retransmitted non-INVITE requests and responses: 0.5, 1, 2, 4, 4 … s, ended after 32 s.
    ///
    /// T1 · 2^(n−1), no longer than T2, until 64 · T1 have passed; T1 = 500 ms, T2 = 4 s. Source: RFC 3261, 17.1.2.2,
    /// 17.2.1 and table 4. Other timers: [`with_base`](Self::with_base), [`with_ceiling`](Self::with_ceiling),
    /// [`with_elapsed_limit`](Self::with_elapsed_limit).
    pub const SIP_TIMER_E: Policy = Policy::SIP_TIMER_A.with_ceiling(Duration::from_secs(4));

    /// SIP timer A, for retransmitted INVITE requests: 0.5, 1, 2, 4, 8, 16 s, ended after 32 s.
    ///
    /// T1 · 2^(n−1), without a ceiling, until 64 · T1 have passed (timer B). Source: RFC 3261, 17.1.1.2.
    pub const SIP_TIMER_A: Policy =
        Policy::exponential(Duration::from_millis(500)).with_elapsed_limit(Duration::from_secs(32));

    /// The Google HTTP client: 0.5 s · 1.5^(n−1), no longer than 60 s, times [0.5, 1.5]; ended after 15 minutes.
    ///
    /// Source: `ExponentialBackOff` of google-http-java-client. Its max_interval is before jitter, so a delay may last
    /// 90 s, as there; [`with_cap`](Self::with_cap) bounds the delay itself.
    pub const GOOGLE_HTTP: Policy = Policy::exponential(Duration::from_millis(500))
        .with_multiplier_percent(150)
        .with_ceiling(Duration::from_secs(60))
        .with_jitter(Jitter::Proportional { percent: 50 })
        .with_elapsed_limit(Duration::from_secs(15 * 60));

    /// The Google Drive SDK: 2^(n−1) s + [0, 1000] ms, five times; the sixth failure is the last.
    ///
    /// Source: its guide to errors, 2013, whose samples sleep for `(2 ** n) + random.randint(0, 1000) / 1000` seconds, n
    /// there from 0 to 4. The guide's prose has the exponent without a unit, and is sometimes read as milliseconds.
    pub const GOOGLE_DRIVE: Policy = Policy::exponential(Duration::from_secs(1))
        .with_jitter(Jitter::AddedMillis { most: 1000 })
        .with_attempt_limit(6);

    /// Amazon SimpleDB: [0, 1) · 100 ms · 4^n: below 400 ms, 1.6 s, 6.4 s …
    ///
    /// Source: AWS article 1394, "Amazon SimpleDB".
    pub const AMAZON_SIMPLEDB: Policy =
        Policy::exponential(Duration::from_millis(400)).with_multiplier_percent(400).with_jitter(Jitter::Below);

    /// Polling for the end of an operation: 100 ms · 2^(n−1), no jitter. Its users set a cap.
    ///
    /// Source: the AWS guide to exponential backoff, whose retry count starts from 0: the first wait is 100 ms.
    pub const POLLING: Policy = Policy::exponential(DEFAULT_BASE);

    /// AWS SDKs, standard mode of November 2026: [0, 50 ms · 2^(n−1)], at most 20 s; the third failure is the last.
    ///
    /// A hint is `x-amz-retry-after`, clamped to [t, t + 5 s] where t is the drawn delay. Source: aws-sdk-cpp,
    /// `StandardRetryStrategy` with new retries.
    pub const AWS_STANDARD: Policy = Policy::aws_2026(50, 3);

    /// The same after a throttling error: from 1,000 ms on.
    pub const AWS_THROTTLING: Policy = Policy::aws_2026(1000, 3);

    /// The same for DynamoDB: from 25 ms on; the fourth failure is the last.
    pub const AWS_DYNAMODB: Policy = Policy::aws_2026(25, 4);

    /// The same for DynamoDB after a throttling error: from 1,000 ms on; the fourth failure is the last.
    pub const AWS_DYNAMODB_THROTTLING: Policy = Policy::aws_2026(1000, 4);

    /// AWS SDK for Java, standard mode before: [0, 100 ms · 2^(n−1)], at most 20 s; the third failure is the last.
    ///
    /// Source: `SDK_DEFAULT_BASE_DELAY` and `SDK_DEFAULT_MAX_BACKOFF_IN_MILLISECONDS` of the SDK of version 1, with full
    /// jitter. The SDK for JavaScript has the same base and limit.
    pub const AWS_JAVA_BEFORE: Policy = Policy::aws(100, 3);

    /// The same after a throttling error: from 500 ms on. Java and JavaScript.
    pub const AWS_JAVA_THROTTLING_BEFORE: Policy = Policy::aws(500, 3);

    /// AWS SDKs for Python, .NET and C++, standard mode before: [0, 1 s · 2^(n−1)], at most 20 s; the third failure is the
    /// last.
    ///
    /// Source: `ExponentialBackoff` of botocore, `CalculateRetryDelay` of aws-sdk-net, `StandardRetryStrategy` of
    /// aws-sdk-cpp. The last one draws whole milliseconds below 1,000 · 2^(n−1). The SDKs for Java and JavaScript begin with 100 ms: [`AWS_JAVA_BEFORE`](Self::AWS_JAVA_BEFORE).
    pub const AWS_STANDARD_BEFORE: Policy = Policy::aws(1000, 3);

    /// The work queues of Kubernetes controllers: 5 ms · 2^(n−1), at most 1,000 s.
    ///
    /// Source: `ItemExponentialFailureRateLimiter` of client-go, with the numbers of its default controller rate limiter.
    pub const KUBERNETES_QUEUE: Policy =
        Policy::exponential(Duration::from_millis(5)).with_ceiling(Duration::from_secs(1000));

    /// A container that ends again and again in Kubernetes (CrashLoopBackOff): 10 s · 2^(n−1), at most 300 s. One that ran
    /// for ten minutes starts anew.
    pub const KUBERNETES_CRASH_LOOP: Policy =
        Policy::exponential(Duration::from_secs(10)).with_ceiling(Duration::from_secs(300));

    /// TCP's retransmission timer: 1 s · 2^(n−1), at most 60 s. Source: RFC 6298, 2.1, 2.4, 2.5 and 5.5.
    pub const TCP_RTO: Policy = Policy::exponential(Duration::from_secs(1)).with_ceiling(Duration::from_secs(60));

    /// The point t of Trickle in its interval I: t in [I/2, I), I = 8 ms · 2^(n−1), at most 2^20 · 8 ms. Source: RFC 6206,
    /// 4.2; the numbers are those of RFC 6550, 17.
    ///
    /// The interval is [`Law::longest_ns`](crate::Law::longest_ns) + 1: transmit at t if fewer than k messages were consistent, and count the next
    /// failure when I ends. An inconsistent message begins a new [`Retry`](crate::Retry).
    pub const TRICKLE: Policy = Policy::exponential(Duration::from_millis(8))
        .with_ceiling(Duration::from_millis(8 << 20))
        .with_jitter(Jitter::UpperHalf);

    /// Unslotted CSMA-CA: [0, 2^BE − 1] units of 320 µs, BE = 3, 4, 5, 5, 5; the sixth is the last.
    ///
    /// Source: IEEE 802.15.4, 6.2.5.1. The first delay comes before the first attempt: ask for it at once.
    pub const IEEE_802_15_4: Policy = Policy::rcp(Duration::from_micros(320), [8, 16, 32]).with_attempt_limit(6);

    /// gRPC's `retryPolicy` with the numbers of its example: 0.1 s · 2^(n−1), at most 1 s, times [0.8, 1.2]; the fourth failure
    /// is the last.
    ///
    /// Source: gRPC proposal A6 as of dc9fd4fe, 2024. A pushback is exact there, and begins anew.
    pub const GRPC_RETRY: Policy = Policy::exponential(Duration::from_millis(100))
        .with_ceiling(Duration::from_secs(1))
        .with_jitter(Jitter::Proportional { percent: 20 })
        .with_attempt_limit(4);

    /// Envoy: 0 to 24 ms, 0 to 74, 0 to 174, then 0 to 249, in whole milliseconds; one retry.
    ///
    /// Source: its documentation, router_filter.rst at f475937e. Its code of that time has [0, 2^(n−1) · 25 ms), at most
    /// 250 ms.
    pub const ENVOY: Policy = Policy::rcp(Duration::from_millis(1), [25, 75, 175, 250]).with_attempt_limit(2);

    /// `curl --retry`: 1 s · 2^(n−1), at most 10 minutes. `--retry N` is an attempt limit of N + 1.
    ///
    /// Source: docs/cmdline-opts/retry.md of curl at 71cd23a1. It takes Retry-After as it is.
    pub const CURL: Policy = Policy::exponential(Duration::from_secs(1)).with_ceiling(Duration::from_secs(600));

    /// The exporters of the OpenTelemetry Collector, OTLP among them: 5 s · 1.5^(n−1), at most 30 s, times [0.5, 1.5]; ended
    /// after 5 minutes.
    ///
    /// Source: configretry of opentelemetry-collector at 7ae46626. The specification of OTLP has no numbers.
    pub const OTLP: Policy = Policy::exponential(Duration::from_secs(5))
        .with_multiplier_percent(150)
        .with_ceiling(Duration::from_secs(30))
        .with_jitter(Jitter::Proportional { percent: 50 })
        .with_elapsed_limit(Duration::from_secs(300));

    /// Kafka clients: min(1 s, 100 ms · 2^(n−1) · [0.8, 1.2]).
    ///
    /// Source: KIP-580, as of Kafka 3.7; the base is retry.backoff.ms, the cap retry.backoff.max.ms.
    pub const KAFKA: Policy = Policy::exponential(Duration::from_millis(100))
        .with_cap(Duration::from_secs(1))
        .with_jitter(Jitter::ProportionalClamped { percent: 20 });

    /// DHCPv4: 4, 8, 16, 32, 64, 64 … s, each with [−1, 1] s. Source: RFC 2131, 4.1.
    ///
    /// A client asks for a delay as soon as it has sent its message.
    pub const DHCPV4: Policy = Policy::exponential(Duration::from_secs(4))
        .with_ceiling(Duration::from_secs(64))
        .with_jitter(Jitter::AroundMillis { most: 1000 });

    /// DHCPv6, Solicit: 1 s, then twice the delay before, each times [0.9, 1.1] of what is added; at most 3,600 s · [0.9,
    /// 1.1]. The first delay is longer than 1 s.
    ///
    /// Source: RFC 8415 (and RFC 9915, which replaces it), 15 and 7.6. A client asks for a delay as soon as it has sent
    /// its message. base is IRT, the ceiling MRT, the elapsed limit MRD, and the attempt limit MRC + 1: the client
    /// sends no more messages than that.
    pub const DHCPV6_SOLICIT: Policy = Policy::dhcpv6(1, 3600, true);
    /// DHCPv6, Request: 1 s, at most 30 s, ten transmissions. RFC 8415, 18.2.2.
    pub const DHCPV6_REQUEST: Policy = Policy::dhcpv6(1, 30, false).with_attempt_limit(11);
    /// DHCPv6, Confirm: 1 s, at most 4 s, for 10 s. RFC 8415, 18.2.3.
    pub const DHCPV6_CONFIRM: Policy = Policy::dhcpv6(1, 4, false).with_elapsed_limit(Duration::from_secs(10));
    /// DHCPv6, Renew and Rebind: 10 s, at most 600 s. RFC 8415, 18.2.4 and 18.2.5; MRD is the time that the leases have left.
    pub const DHCPV6_RENEW: Policy = Policy::dhcpv6(10, 600, false);
    /// DHCPv6, Information-request: 1 s, at most 3,600 s. RFC 8415, 18.2.6.
    pub const DHCPV6_INFORMATION: Policy = Policy::dhcpv6(1, 3600, false);
    /// DHCPv6, Release and Decline: 1 s, without a ceiling, four transmissions. RFC 8415, 18.2.7 and 18.2.8.
    pub const DHCPV6_RELEASE: Policy = Policy::dhcpv6(1, 0, false).with_attempt_limit(5);
    /// DHCPv6, Reconfigure, which a server sends: 2 s, without a ceiling, eight transmissions. RFC 8415, 18.3.11.
    pub const DHCPV6_RECONFIGURE: Policy = Policy::dhcpv6(2, 0, false).with_attempt_limit(9);

    /// IRT and MRT in seconds; no MRT: 0.
    const fn dhcpv6(first_s: u64, most_s: u64, first_above: bool) -> Policy {
        let policy = Policy::exponential(Duration::from_secs(first_s)).with_ceiling(Duration::from_secs(most_s));
        policy.with_jitter(Jitter::Dhcpv6 { percent: 10, first_above })
    }

    /// The same with the limit of November 2026 for a hint.
    const fn aws_2026(base_ms: u64, attempts: u64) -> Policy {
        Policy::aws(base_ms, attempts).with_hint_above_draw(Duration::from_secs(5))
    }

    /// Full jitter from `base_ms` milliseconds on, at most 20 s; failure number `attempts` is the last.
    const fn aws(base_ms: u64, attempts: u64) -> Policy {
        Policy::full_jitter(Duration::from_millis(base_ms), Duration::from_secs(20)).with_attempt_limit(attempts)
    }
}
