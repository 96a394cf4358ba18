/*
 * libbackoff: when to try again. The truncated binary exponential backoff of IEEE 802.3, and every other policy.
 *
 *     #include <backoff.h>
 *
 * A station on a shared medium counts slots. A complete program, in which five attempts of one frame collide:
 *
 *     #include <inttypes.h>
 *     #include <stdio.h>
 *     #include <sys/random.h>
 *     #include <backoff.h>
 *
 *     int main(void)
 *     {
 *         struct backoff_config config = BACKOFF_CONFIG_INIT;   // all defaults: 16 attempts, 2^10 slots
 *         struct backoff station;
 *         int collisions = 5;
 *         uint64_t slots, seed;
 *
 *         if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)   // one seed for all: all wait equally long
 *             return 1;
 *         if (backoff_init(&station, &config, seed, 0) != BACKOFF_STATUS_OK)
 *             return 1;
 *         while (collisions-- > 0) {                            // while the attempt collides
 *             if (backoff_collide(&station, &slots) == BACKOFF_STATUS_DISCARDED) {
 *                 printf("discarded\n");                      // that was attempt number 16
 *                 break;
 *             }
 *             printf("wait %" PRIu64 " slots\n", slots);      // times slotTime, from the end of the jam;
 *         }                                                     // then defer, then attempt again
 *         backoff_reset(&station);                              // the next frame
 *         return 0;
 *     }
 *
 * A client of a service counts nanoseconds. A complete program, in which the server is down for 3 seconds:
 *
 *     #include <inttypes.h>
 *     #include <stdio.h>
 *     #include <sys/random.h>
 *     #include <backoff.h>
 *
 *     int main(void)
 *     {
 *         struct backoff_policy policy = BACKOFF_POLICY_INIT;   // exponential, full jitter, from 100 ms on
 *         struct backoff_retry retry;
 *         uint64_t now_ns = 0, hint_ns = 0, delay_ns, seed;     // any clock; what Retry-After said, 0: nothing
 *         backoff_status status;
 *
 *         policy.cap_ns = UINT64_C(2000000000);                 // no delay above 2 s
 *         policy.attempt_limit = 50;                            // the 50th failure is the last
 *         policy.hint_limit_ns = UINT64_C(60000000000);         // a server may ask for 60 s, and not for a year
 *         if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)   // or one seed, and a stream for each device
 *             return 1;
 *         backoff_retry_init(&retry, seed, 0, now_ns);
 *         while (now_ns < UINT64_C(3000000000)) {               // while the request fails
 *             status = backoff_retry_fail(&retry, &policy, now_ns, hint_ns, &delay_ns);
 *             if (status != BACKOFF_STATUS_OK) {                // a limit: the status says which
 *                 printf("given up: %s\n", backoff_status_text(status));
 *                 return 1;
 *             }
 *             printf("failed at %" PRIu64 " ns, again in %" PRIu64 " ns\n", now_ns, delay_ns);
 *             now_ns += delay_ns;                               // sleep for delay_ns, then read the clock
 *         }
 *         printf("served at %" PRIu64 " ns\n", now_ns);
 *         return 0;
 *     }
 *
 * A client that connects as gRPC does (connection-backoff.md: 1 s, times 1.6, at most 120 s, 20 % up or down; the first
 * delay without jitter, and each delay from the start of the attempt on, not from its end):
 *
 *         policy.kind = BACKOFF_KIND_GRPC;
 *         status = backoff_retry_fail_since(&retry, &policy, attempt_ns, now_ns, 0, &delay_ns);
 *
 * State lies in your memory, plain, copyable, nothing to free: 32 octets for a station, an operation or a rate, 16 for
 * a budget, 8 for tokens, 56 for a window, 1,192 for a prepared policy. A schedule of n values takes 144 n or 176 n and a
 * wheel of 25 KiB to 1 MiB; a compact one 32 n and 200, and from 33 values on at most 40 n and 8,000. No function
 * allocates, locks, waits, calls the system or uses floating point (except backoff_policy_moments), nor keeps state of
 * its own (except what the processor can do, found at the first batch, and how many schedules have been begun); so all
 * may be called from an interrupt handler that saves the vector registers. Where it does not, as in a kernel, there are two ways on x86-64. The library that `cargo build --release -p ethbus-backoff-c --target
 * x86_64-unknown-none` makes, libbackoff.a, uses no vector register at all. Of every other build only those functions may
 * be called that leave these registers alone: backoff_collide, backoff_collide_word, backoff_collide_each,
 * backoff_attempts, backoff_reset, backoff_retry_init, _fail, _failures and _reset, backoff_policy_bounds and _draw,
 * backoff_prepared_*, backoff_budget_*, backoff_quota_*, backoff_throttle_*, backoff_share_allows, backoff_version, _version_text and backoff_status_text.
 *
 * Two threads may use two states at the same time, never one (except a struct backoff_tokens, which threads share); for each function the section "Safety" says which
 * pointers must be valid and who must not use them meanwhile.
 *
 * Functions that can be refused return a status. A result goes through the last pointer (backoff_policy_draws moves its
 * generator as well, and backoff_schedule_expire fills its values), and only with BACKOFF_STATUS_OK. NULL is refused,
 * also where a count of 0 follows; only the ticket of backoff_schedule_insert may be NULL. What is not answered with OK
 * changes nothing, except that a state counts the failure with DISCARDED, ATTEMPT_LIMIT and ELAPSED_LIMIT.
 *
 * Every time, count, word and percentage is accepted: nothing overflows; what would pass 2^64 - 1 is that. A kind or a
 * jitter that is none, a flag that is none and a reserved field that is not 0 are refused, whether or not the kind looks
 * at them; so are a multiplier_percent above 429,496, FIRST_EXACT of a kind that counts slots, and for RCP an
 * intervals_count outside of 1 to 16. What else does not apply to the kind is not looked at.
 *
 * The library recognizes a state by a mark that its init function wrote; this finds zeroed memory, not every mistake.
 *
 * Two states of one kind with one seed and one stream draw the same words. A station and an operation do not:
 * backoff_init(.., seed, 7) and backoff_retry_init(.., seed, 7, ..) are independent.
 *
 * A configuration begins with its size, and 0 in a field means its default. Later versions add fields at the end. So
 * the library takes a smaller struct of an earlier header, whose missing fields are 0; and a larger one of a later
 * header, as long as what it does not know there is 0.
 *
 * Link with -lbackoff, or with what `pkg-config --cflags --libs backoff` prints. The header is C99, C11 and C++17.
 */

#ifndef BACKOFF_H
#define BACKOFF_H

/* This file is generated from the source of the library: change it there. */

#include <stddef.h>
#include <stdint.h>

/* Calls of the library go straight to the address that the loader has found, without a jump in between. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define BACKOFF_DIRECT __attribute__((noplt))
#endif
#endif
#ifndef BACKOFF_DIRECT
#define BACKOFF_DIRECT
#endif

/**
 * The version of this header; `backoff_version()` is the one of the library that was found at run time.
 */
#define BACKOFF_VERSION_MAJOR 0

/**
 * Grows with additions that old programs do not notice.
 */
#define BACKOFF_VERSION_MINOR 1

/**
 * Grows with corrections.
 */
#define BACKOFF_VERSION_PATCH 0

/**
 * How many entries `intervals` of a `struct backoff_policy` has.
 */
#define BACKOFF_INTERVALS 16

/**
 * The policy's first retry comes at once: no delay after the first failure, and the growth begins with the second. For
 * every kind.
 */
#define BACKOFF_FLAG_FIRST_AT_ONCE 1

/**
 * The delay after the first failure has no jitter. It concerns that delay alone: with FIRST_AT_ONCE it changes nothing,
 * because there is no delay (the exact first delay that GRPC has by itself then comes second). Kinds that count slots have no delay before jitter: they refuse it.
 */
#define BACKOFF_FLAG_FIRST_EXACT 2

/**
 * A server's hint is the delay itself, but no less than the drawn delay t, and no more than t + hint_limit_ns, as the AWS
 * SDKs read x-amz-retry-after (with 5 s). Without it a hint moves the whole range up, and hint_limit_ns bounds the hint.
 */
#define BACKOFF_FLAG_HINT_ABOVE_DRAW 4

/**
 * How many laws a `struct backoff_prepared` has.
 */
#define BACKOFF_PREPARED_LAWS 40

/**
 * The pushback_ms of backoff_throttle_fail where the server said nothing.
 */
#define BACKOFF_NO_PUSHBACK INT64_MIN

/**
 * What `backoff_collide_each` writes for a frame that is discarded.
 */
#define BACKOFF_DISCARDED 18446744073709551615ull

/**
 * What a call came to. A result is written only with `BACKOFF_STATUS_OK`.
 */
enum backoff_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done.
     */
    BACKOFF_STATUS_OK = 0,
    /**
     * The collision of attempt number `attempt_limit`: the frame is discarded. An answer, not a fault.
     */
    BACKOFF_STATUS_DISCARDED = 1,
    /**
     * A pointer is NULL. Nothing changed.
     */
    BACKOFF_STATUS_NULL_POINTER = 2,
    /**
     * `size` of the configuration is smaller than it was in any version, or larger than this library knows it with
     * something that is not 0 in the part it does not know, or above 4096. Nothing changed.
     */
    BACKOFF_STATUS_CONFIG_SIZE = 3,
    /**
     * The state is zeroed memory, or other memory without the mark of its `_init` function. Not every such mistake is
     * found: a `struct backoff` has no mark but its attempt_limit, which is not 0. Nothing changed.
     */
    BACKOFF_STATUS_NOT_INITIALISED = 4,
    /**
     * A field of the configuration has a value that means nothing: a kind or a jitter that is none, an intervals_count
     * that does not fit, a reserved field that is not 0. Nothing changed.
     */
    BACKOFF_STATUS_CONFIG_VALUE = 5,
    /**
     * The failure was the last that the policy allows; it is counted. An answer, not a fault.
     */
    BACKOFF_STATUS_ATTEMPT_LIMIT = 6,
    /**
     * The delay would end after the elapsed limit of the policy. The failure is counted, and the generator has moved.
     * An answer, not a fault.
     */
    BACKOFF_STATUS_ELAPSED_LIMIT = 7,
    /**
     * The budget holds no retry. An answer, not a fault.
     */
    BACKOFF_STATUS_BUDGET_EMPTY = 8,
    /**
     * The schedule has no room for another value. Nothing changed.
     */
    BACKOFF_STATUS_SCHEDULE_FULL = 9,
    /**
     * Nothing is pending there. An answer, not a fault.
     */
    BACKOFF_STATUS_NOT_PENDING = 10,
    /**
     * The memory is too small, or not aligned to 8 octets. Nothing changed.
     */
    BACKOFF_STATUS_MEMORY = 11,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum backoff_status backoff_status;
#else
typedef uint32_t backoff_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The kinds of policy. n counts the failures so far, from 1; d is the delay before jitter.
 *
 * What is said here holds without cap, ceiling and priority; a cap may move a range below its lower end, see cap_ns.
 * `jitter` changes all kinds except those that count slots, 7 to 12 and 28, which have
 * their own spread and ignore it.
 */
enum backoff_kind
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Uniform in [0, d], d = base * 2^(n-1), at most the ceiling. AWS Architecture Blog, 2015.
     */
    BACKOFF_KIND_FULL_JITTER = 0,
    /**
     * Uniform in [d/2, d]. AWS Architecture Blog, 2015.
     */
    BACKOFF_KIND_EQUAL_JITTER = 1,
    /**
     * Uniform in [base, 3 * the delay before], first in [base, 3 * base]. AWS Architecture Blog, 2015; for its cap see
     * cap_ns. With BACKOFF_JITTER_NONE it is EXPONENTIAL.
     */
    BACKOFF_KIND_DECORRELATED_JITTER = 2,
    /**
     * d itself, d = base * (multiplier_percent / 100)^(n-1).
     */
    BACKOFF_KIND_EXPONENTIAL = 3,
    /**
     * Always the base.
     */
    BACKOFF_KIND_CONSTANT = 4,
    /**
     * base + (n - 1) * increment.
     */
    BACKOFF_KIND_LINEAR = 5,
    /**
     * base * 1, 1, 2, 3, 5, 8 ...
     */
    BACKOFF_KIND_FIBONACCI = 6,
    /**
     * r slots, r uniform in 0 <= r < 2^min(n,10); the 16th failure is the last. IEEE 802.3, 4.2.3.2.5.
     */
    BACKOFF_KIND_IEEE8023 = 7,
    /**
     * r slots, r uniform in 0 <= r < slot_base^min(n, slot_limit); by default 2^min(n,10), without an attempt limit.
     */
    BACKOFF_KIND_SLOT_EXPONENTIAL = 8,
    /**
     * Heuristic RCP: r slots, r uniform in 0 <= r < intervals[n-1], the last one from then on. Lam, Kleinrock 1975.
     * intervals_count has no default: 0 is refused. An interval of 0 counts as 1, which is no delay.
     */
    BACKOFF_KIND_RCP = 9,
    /**
     * The same, with the intervals as multipliers of the interval before; the first one of 1. A product that passes
     * 2^64 - 1 slots is that many. After a multiplier of 0 there is no delay any more.
     */
    BACKOFF_KIND_RCP_MULTIPLIERS = 10,
    /**
     * Slotted ALOHA: r slots, r uniform in 0 <= r < intervals[0]; 0: 2. intervals_count is not asked for.
     */
    BACKOFF_KIND_ALOHA_UNIFORM = 11,
    /**
     * Slotted ALOHA: r slots, r geometric with p = 2 / (intervals[0] + 1); 0: 2. Lam 1974. intervals_count is not asked
     * for. With 1, p is 1 and r is 0. Else r has no upper end: the bounds say how many slots fit below the cap or
     * 2^64 ns, though more than 50 * intervals[0] of them will not be seen. A cap does not move this law but cuts it:
     * what is left keeps its proportions.
     */
    BACKOFF_KIND_ALOHA_GEOMETRIC = 12,
    /**
     * 0.5, 1, 2, 4, 4 ... s, until 64 * base have passed. RFC 3261, 17.1.2.2; base_ns is T1, ceiling_ns T2.
     *
     * Each firing of the timer is a failure: backoff_retry_init when the request is first sent, backoff_retry_fail at
     * once for the first delay, then at each firing, after the request was sent again. ELAPSED_LIMIT says that the
     * timer does not fire again: with the defaults at 31.5 s. The transaction ends later, when timer F (for an INVITE
     * timer B) fires: in start + 64 * T1 - now, start being the time given to backoff_retry_init.
     */
    BACKOFF_KIND_SIP_TIMER_E = 13,
    /**
     * 0.5, 1, 2, 4, 8, 16 s, until 64 * base have passed. RFC 3261, 17.1.1.2. Driven as timer E. It has no ceiling of
     * its own, as T2 is not for it; but a ceiling_ns that is not 0 applies.
     */
    BACKOFF_KIND_SIP_TIMER_A = 14,
    /**
     * 0.5 s * 1.5^(n-1), at most 60 s, times [0.5, 1.5], for 15 minutes. google-http-java-client.
     */
    BACKOFF_KIND_GOOGLE_HTTP = 15,
    /**
     * 2^(n-1) s + [0, 1000] ms, five times: the 6th failure is the last. Google Drive SDK, samples of 2013.
     */
    BACKOFF_KIND_GOOGLE_DRIVE = 16,
    /**
     * [0, 1) * 100 ms * 4^n. Amazon SimpleDB.
     */
    BACKOFF_KIND_AMAZON_SIMPLEDB = 17,
    /**
     * 100 ms * 2^(n-1), no jitter; set a cap. AWS guide to polling.
     */
    BACKOFF_KIND_POLLING = 18,
    /**
     * 1 s, then 1.6^(n-1) s, at most 120 s, times [0.8, 1.2]; the first delay without jitter. gRPC, connection-backoff.md.
     * There a delay counts from the start of the attempt: backoff_retry_fail_since.
     */
    BACKOFF_KIND_GRPC = 19,
    /**
     * AWS SDKs, standard mode of November 2026: [0, 50 ms * 2^(n-1)], at most 20 s; the third failure is the last. A hint
     * is x-amz-retry-after: see BACKOFF_FLAG_HINT_ABOVE_DRAW, which it has with 5 s.
     */
    BACKOFF_KIND_AWS_STANDARD = 20,
    /**
     * The same after a throttling error: from 1,000 ms on. For DynamoDB set attempt_limit to 4.
     */
    BACKOFF_KIND_AWS_THROTTLING = 21,
    /**
     * The same for DynamoDB: from 25 ms on; the fourth failure is the last.
     */
    BACKOFF_KIND_AWS_DYNAMODB = 22,
    /**
     * AWS SDKs for Python, .NET and C++, standard mode before: [0, 1 s * 2^(n-1)], at most 20 s; the third failure is the
     * last. (C++ draws whole milliseconds.) Those for Java and JavaScript: base_ns 100 ms, after a throttling error 500 ms.
     */
    BACKOFF_KIND_AWS_STANDARD_BEFORE = 23,
    /**
     * Kubernetes, ItemExponentialFailureRateLimiter of the controllers' work queues: 5 ms * 2^(n-1), at most 1,000 s.
     */
    BACKOFF_KIND_KUBERNETES_QUEUE = 24,
    /**
     * Kubernetes, CrashLoopBackOff: 10 s * 2^(n-1), at most 300 s. A container that ran for ten minutes starts anew.
     */
    BACKOFF_KIND_KUBERNETES_CRASH_LOOP = 25,
    /**
     * TCP's retransmission timer: 1 s * 2^(n-1), at most 60 s. RFC 6298, 2.1, 2.4, 2.5 and 5.5; base_ns is RTO.
     */
    BACKOFF_KIND_TCP_RTO = 26,
    /**
     * The point t of Trickle in its interval I: t in [I/2, I), I = 8 ms * 2^(n-1), at most 2^20 times 8 ms. RFC 6206, 4.2;
     * Imin and the doublings are those of RFC 6550, 17. I is longest_ns + 1 of backoff_policy_bounds for the same failure:
     * transmit at t if fewer than k messages were consistent, and call backoff_retry_fail again when I ends. An
     * inconsistent message: backoff_retry_reset. ffi-tests/policies.c has the loop.
     */
    BACKOFF_KIND_TRICKLE = 27,
    /**
     * Unslotted CSMA-CA: [0, 2^BE - 1] units of 320 us, BE = 3, 4, 5, 5, 5; the sixth is the last. IEEE 802.15.4, 6.2.5.1.
     * Its first delay comes before the first attempt: driven as SIP_TIMER_E, with a call at once.
     */
    BACKOFF_KIND_IEEE802154 = 28,
    /**
     * CoAP: t, 2t, 4t, 8t, 16t with t in [2, 3] s; the sixth is the last. RFC 7252, 4.2 and 4.8; base_ns is ACK_TIMEOUT,
     * jitter_amount in percent is ACK_RANDOM_FACTOR less 1. Driven as SIP_TIMER_E, with a call at once.
     */
    BACKOFF_KIND_COAP = 29,
    /**
     * base * (ceiling / base)^((n-1) / steps), then the ceiling; a ceiling below the base is none. base_ns is RestartSec, ceiling_ns RestartMaxDelaySec,
     * intervals[0] RestartSteps. Without ceiling or steps always the base, as systemd has it by default. systemd.service(5).
     * intervals_count is not asked for.
     */
    BACKOFF_KIND_SYSTEMD = 30,
    /**
     * DHCPv6, Solicit: at first in [1 s + 1 ns, 1.1 s], then 2 + [-0.1, 0.1] times the delay before; what passes 3,600 s is
     * drawn again in 3,600 s * [0.9, 1.1]. RFC 8415, 15, 7.6 and 18.2.1. base_ns is IRT, ceiling_ns MRT, elapsed_limit_ns MRD,
     * attempt_limit MRC + 1, jitter_amount in percent RAND. Driven as SIP_TIMER_E, with a call at once.
     */
    BACKOFF_KIND_DHCPV6_SOLICIT = 31,
    /**
     * The same for the other messages: at first in [0.9 s, 1.1 s], and without MRT. In seconds RFC 8415 has: Request IRT 1,
     * MRT 30, MRC 10; Confirm 1, MRT 4, MRD 10; Renew and Rebind 10, MRT 600; Information-request 1, MRT 3600; Release and
     * Decline 1, MRC 4; Reconfigure 2, MRC 8.
     */
    BACKOFF_KIND_DHCPV6 = 32,
    /**
     * Polly's decorrelated jitter, version 2: base / 1.4 * (f(t(n)) - f(t(n-1))), f(t) = 2^t * tanh(2 * sqrt(t)), t(n)
     * = n - 1 + u, u uniform in [0, 1); f(t(0)) is 0. The base is the median of the first delay, about. A cap cuts a
     * delay. Where other kinds take the previous delay, this one takes the sum of all previous delays.
     */
    BACKOFF_KIND_POLLY = 33,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum backoff_kind backoff_kind;
#else
typedef uint32_t backoff_kind;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * How the delay before jitter, d, is spread. Kinds that count slots ignore it.
 */
enum backoff_jitter
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * As the kind has it.
     */
    BACKOFF_JITTER_OWN = 0,
    /**
     * d itself.
     */
    BACKOFF_JITTER_NONE = 1,
    /**
     * Uniform in [0, d].
     */
    BACKOFF_JITTER_FULL = 2,
    /**
     * Uniform in [0, d - 1 ns].
     */
    BACKOFF_JITTER_BELOW = 3,
    /**
     * Uniform in [d/2, d].
     */
    BACKOFF_JITTER_EQUAL = 4,
    /**
     * Uniform in d * [1 - f, 1 + f], f = jitter_amount percent; 0: 50. More than 100 counts as 100: no delay is negative.
     */
    BACKOFF_JITTER_PROPORTIONAL = 5,
    /**
     * d + [0, jitter_amount] ms, in whole milliseconds; 0: 1000.
     */
    BACKOFF_JITTER_ADDED = 6,
    /**
     * Uniform in [base, 3 * the delay before]. d is not used.
     */
    BACKOFF_JITTER_DECORRELATED = 7,
    /**
     * Uniform in [d/2, d - 1 ns].
     */
    BACKOFF_JITTER_UPPER_HALF = 8,
    /**
     * The first delay uniform in d * [1, 1 + f], f = jitter_amount percent, 0: 50; from then on the delay before times
     * the multiplier.
     */
    BACKOFF_JITTER_INITIAL = 9,
    /**
     * min(cap, uniform in [base, 3 * the delay before]), as AWS has it: so the cap comes often. d is not used.
     */
    BACKOFF_JITTER_DECORRELATED_CLAMPED = 10,
    /**
     * As the kind DHCPV6 has it, jitter_amount percent; 0: 10. d is not used.
     */
    BACKOFF_JITTER_DHCPV6 = 11,
    /**
     * As the kind DHCPV6_SOLICIT has it. d is not used.
     */
    BACKOFF_JITTER_DHCPV6_SOLICIT = 12,
    /**
     * As the kind POLLY has it. d is not used.
     */
    BACKOFF_JITTER_POLLY = 13,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum backoff_jitter backoff_jitter;
#else
typedef uint32_t backoff_jitter;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * Who attempts in which slot: values that are pending, by slot. It lies at the start of the memory that
 * backoff_schedule_init was given; copy or move the whole of that memory, there are no pointers in it. The schedule in
 * the copy is at its start: `(struct backoff_schedule *)copy`, aligned to 8 octets as the first memory was.
 */
struct backoff_schedule;

/**
 * One station's backoff: the frame in hand and the generator of all its frames. Plain data in the caller's memory.
 *
 * Copy it with `=` or `memcpy`, write it to a file, throw it away: there is nothing to free. A copy draws the same
 * delays again. The fields are the library's: read them with a debugger, write them through the functions.
 */
struct backoff {
    /**
     * The counter of the built-in generator, splitmix64.
     */
    uint64_t generator;
    /**
     * How many attempts of this frame have collided.
     */
    uint32_t attempts;
    /**
     * As configured; 0 only in zeroed memory, which is refused.
     */
    uint32_t attempt_limit;
    /**
     * As configured.
     */
    uint32_t backoff_limit;
    /**
     * 0; room for later versions.
     */
    uint32_t reserved[3];
};

/**
 * The configuration for `backoff_init`. A field that is 0 means the default, the value of IEEE 802.3.
 *
 * `struct backoff_config config = BACKOFF_CONFIG_INIT;` sets the size and takes every default. Fields of later
 * versions come at the end, so that `size` tells them apart: a smaller struct of an earlier version is accepted, with
 * 0 for its missing fields; a larger one is accepted if the fields that this library does not know are 0.
 */
struct backoff_config {
    /**
     * `sizeof(struct backoff_config)`; the one field without a default.
     */
    uint32_t size;
    /**
     * The attempt, the first included, whose collision discards the frame; 0: 16.
     */
    uint32_t attempt_limit;
    /**
     * The collision from which on the range no longer doubles; 0: 10. From 64 on the range is all of `uint64_t`.
     */
    uint32_t backoff_limit;
};

/**
 * How long to wait after the n-th failure. A field that is 0 means the default of the kind; times are in nanoseconds.
 *
 * `struct backoff_policy policy = BACKOFF_POLICY_INIT;` is exponential with full jitter from 100 ms on, without end.
 * From the growth to the delay: growth, ceiling, priority, jitter, cap. Any number is accepted: what passes 2^64 ns,
 * 584 years, is that long. What does not apply to the kind is not looked at, except that `kind` and `jitter` must be of
 * their enumeration and `reserved` 0. Many states may share one policy.
 */
struct backoff_policy {
    /**
     * `sizeof(struct backoff_policy)`; the one field without a default.
     */
    uint32_t size;
    /**
     * One of `enum backoff_kind`.
     */
    uint32_t kind;
    /**
     * The first delay before jitter; T1 of SIP. 0: 100 ms, or what the kind says.
     */
    uint64_t base_ns;
    /**
     * What LINEAR adds; 0: the base.
     */
    uint64_t increment_ns;
    /**
     * The slot; 0: 51200 ns, slotTime at 10 Mb/s.
     */
    uint64_t slot_ns;
    /**
     * The longest delay before jitter; T2 of SIP. 0: none, or what the kind says. This is what AWS calls cap in full and
     * equal jitter, and gRPC max backoff: jitter then spreads around it or below it as it does before. In DECORRELATED it
     * bounds 3 * the delay before, and the base. In kinds that count slots it bounds the longest delay, though not to
     * less than a slot; the law of ALOHA_GEOMETRIC is cut there, and what is left keeps its proportions.
     */
    uint64_t ceiling_ns;
    /**
     * The longest delay, jitter included; 0: none. A server's hint alone passes it.
     *
     * A range [lo, hi] that would pass it is moved down until it ends there. It keeps its width as far as it can: lo
     * falls as much as hi does, down to 0 if need be, and so below the base and below what the kind says. With d at
     * twice the cap or above EQUAL is thus FULL, from 0 to the cap, and later failures may have a smaller mean than
     * earlier ones. Where that is not wanted, use ceiling_ns.
     *
     * AWS's decorrelated jitter is min(cap, uniform in [base, 3 * the delay before]): every draw above the cap becomes
     * the cap, so that it comes with the chance (3 * previous - cap) / (3 * previous - base). Here the range
     * [base, 3 * previous] ends at the cap instead and begins at cap - (3 * previous - base), or at 0: no delay has more
     * chance than another, and delays below the base come. With ceiling_ns it is uniform in [base, min(ceiling,
     * 3 * previous)], never below the base.
     */
    uint64_t cap_ns;
    /**
     * How long after the start, by the clock of the caller, the last delay may end; 0: for ever, or what the kind says;
     * UINT64_MAX: for ever.
     */
    uint64_t elapsed_limit_ns;
    /**
     * The failure that is the last; 0: none, or what the kind says; UINT64_MAX: none.
     */
    uint64_t attempt_limit;
    /**
     * From failure to failure d grows to this much of itself; 0: 200, or what the kind says. Below 100: 100. Above 429,496
     * it is refused.
     */
    uint32_t multiplier_percent;
    /**
     * d is multiplied by this; below 100 for emergency traffic. 0: 100.
     */
    uint32_t priority_percent;
    /**
     * One of `enum backoff_jitter`.
     */
    uint32_t jitter;
    /**
     * What the jitter says, also where it is the kind's own: the percentage of GOOGLE_HTTP, the milliseconds of
     * GOOGLE_DRIVE.
     */
    uint32_t jitter_amount;
    /**
     * The base of SLOT_EXPONENTIAL; 0 and 1: 2.
     */
    uint32_t slot_base;
    /**
     * From this failure on SLOT_EXPONENTIAL no longer grows; 0: 10.
     */
    uint32_t slot_limit;
    /**
     * How many of `intervals` count, for RCP and RCP_MULTIPLIERS: between 1 and 16; 0 is refused there. Others do not
     * ask for it.
     */
    uint32_t intervals_count;
    /**
     * 0; room for later versions, and refused if it is not 0.
     */
    uint32_t reserved;
    /**
     * The K of RCP and ALOHA (of which ALOHA uses the first), or the multipliers.
     */
    uint32_t intervals[BACKOFF_INTERVALS];
    /**
     * In place of multiplier_percent, in millionths; 0: multiplier_percent. Below 1,000,000: 1,000,000.
     */
    uint32_t multiplier_millionths;
    /**
     * BACKOFF_FLAG_...; others are refused.
     */
    uint32_t flags;
    /**
     * How much of a server's hint counts; 0: all of it, or what the kind says. With BACKOFF_FLAG_HINT_ABOVE_DRAW it counts
     * from the drawn delay.
     */
    uint64_t hint_limit_ns;
};

/**
 * The smallest and the largest delay that may come, cap included, a hint not.
 */
struct backoff_bounds {
    /**
     * The smallest.
     */
    uint64_t shortest_ns;
    /**
     * The largest.
     */
    uint64_t longest_ns;
};

/**
 * Mean and variance of a delay.
 */
struct backoff_moments {
    /**
     * The mean, in nanoseconds.
     */
    double mean_ns;
    /**
     * The variance, in nanoseconds squared.
     */
    double variance_ns2;
};

/**
 * One operation that is tried until it succeeds, and its generator. Plain data in the caller's memory, as
 * `struct backoff` is.
 */
struct backoff_retry {
    /**
     * The counter of the built-in generator, splitmix64.
     */
    uint64_t generator;
    /**
     * The last delay that the policy drew, without what a hint added; 0 before the first. Of POLLY the sum of all.
     */
    uint64_t previous_ns;
    /**
     * When the first attempt was made.
     */
    uint64_t start_ns;
    /**
     * How many attempts have failed; it stops at UINT32_MAX.
     */
    uint32_t failures;
    /**
     * Tells a state from memory that is none.
     */
    uint32_t mark;
};

/**
 * The law of one delay: first_ns + r * step_ns, r uniform in 0 <= r <= top.
 */
struct backoff_prepared_law {
    /**
     * The shortest delay.
     */
    uint64_t first_ns;
    /**
     * The distance of two delays.
     */
    uint64_t step_ns;
    /**
     * How many distances the longest delay is from the shortest.
     */
    uint64_t top;
};

/**
 * A policy as backoff_policy_prepare has read it, so that no decision reads it again. Plain data in the caller's memory;
 * many states may share one. The fields are the library's.
 */
struct backoff_prepared {
    /**
     * Tells it from memory that is none.
     */
    uint32_t mark;
    /**
     * How many of the laws count.
     */
    uint32_t count;
    /**
     * Not 0: later failures have the last law.
     */
    uint32_t stays;
    /**
     * 0; room for later versions.
     */
    uint32_t reserved;
    /**
     * The failure that is the last; UINT64_MAX: none.
     */
    uint64_t attempt_limit;
    /**
     * How long after the start the last delay may end; UINT64_MAX: for ever.
     */
    uint64_t elapsed_limit_ns;
    /**
     * Of decorrelated jitter the base and the ceiling of its range, and its cap; else 0.
     */
    uint64_t base_ns;
    uint64_t ceiling_ns;
    uint64_t cap_ns;
    /**
     * The laws after the failures from the first on.
     */
    struct backoff_prepared_law laws[BACKOFF_PREPARED_LAWS];
    /**
     * What was read.
     */
    struct backoff_policy policy;
};

/**
 * A rate that falls at once and recovers slowly. Plain data in the caller's memory, as `struct backoff` is.
 */
struct backoff_rate {
    /**
     * From when the cooling-off period counts.
     */
    uint64_t since_ns;
    /**
     * The last action, plus 1; 0: none yet.
     */
    uint64_t last_ns;
    /**
     * 0 is the full rate.
     */
    uint32_t level;
    /**
     * How often the cooling-off period has been doubled.
     */
    uint32_t doublings;
    /**
     * Whether a level has been recovered since the last adverse event.
     */
    uint32_t recovering;
    /**
     * Tells a state from memory that is none.
     */
    uint32_t mark;
};

/**
 * How a rate falls and recovers: f = 1 / (interval * base^level). A field that is 0 means its default.
 */
struct backoff_rate_config {
    /**
     * `sizeof(struct backoff_rate_config)`; the one field without a default.
     */
    uint32_t size;
    /**
     * By how much an adverse event divides the rate; 0 and 1: 2.
     */
    uint32_t base;
    /**
     * The largest level; 0: 10.
     */
    uint32_t level_limit;
    /**
     * 0; room for later versions, and refused if it is not 0.
     */
    uint32_t reserved;
    /**
     * The time between two actions at the full rate; 0: 1 ms.
     */
    uint64_t interval_ns;
    /**
     * The time without adverse events after which the rate recovers by one level; 0: 1 s.
     */
    uint64_t cooling_off_ns;
    /**
     * The cooling-off period doubles up to here when the rate recovered too early; 0: 64 s. At or below cooling_off_ns
     * the period is always cooling_off_ns.
     */
    uint64_t cooling_off_limit_ns;
};

/**
 * How many retries a client may make in all. Plain data in the caller's memory, as `struct backoff` is.
 */
struct backoff_budget {
    /**
     * What it holds, in hundredths of a retry.
     */
    uint64_t hundredths;
    /**
     * 0; room for later versions.
     */
    uint32_t reserved;
    /**
     * Tells a state from memory that is none.
     */
    uint32_t mark;
};

/**
 * What a budget of retries holds and gains. A field that is 0 means its default.
 */
struct backoff_budget_config {
    /**
     * `sizeof(struct backoff_budget_config)`; the one field without a default.
     */
    uint32_t size;
    /**
     * The most retries at once; 0: 10.
     */
    uint32_t capacity;
    /**
     * What each first attempt adds, in percent of a retry; 0: 10.
     */
    uint32_t deposit_percent;
};

/**
 * Tokens for retries, of a quota or a throttle: the functions of one refuse the tokens of the other. Any number of threads
 * may use them at the same time, and no call waits. A processor without atomic compare-and-swap (ARMv6-M) has none of
 * the functions for tokens.
 */
struct backoff_tokens {
    /**
     * What they are, in thousandths of one.
     */
    uint32_t thousandths;
    /**
     * Tells the tokens of a quota, those of a throttle and other memory apart.
     */
    uint32_t mark;
};

/**
 * The retry quota of the AWS SDKs (retry behaviour, standard mode, November 2026). A field that is 0 means its default.
 * Up to 4,294,967 tokens.
 */
struct backoff_quota_config {
    /**
     * `sizeof(struct backoff_quota_config)`; the one field without a default.
     */
    uint32_t size;
    /**
     * How many tokens there are; 0: 500.
     */
    uint32_t capacity;
    /**
     * What a retry costs; 0: 14.
     */
    uint32_t cost;
    /**
     * What a retry after a throttling error costs; 0: 5.
     */
    uint32_t throttling_cost;
    /**
     * What a request gives that succeeds without a retry; 0: 1.
     */
    uint32_t reward;
};

/**
 * The retry throttling of gRPC (proposal A6). A field that is 0 means its default.
 */
struct backoff_throttle_config {
    /**
     * `sizeof(struct backoff_throttle_config)`; the one field without a default.
     */
    uint32_t size;
    /**
     * maxTokens; 0: 10.
     */
    uint32_t max_tokens;
    /**
     * tokenRatio in thousandths; 0: 100.
     */
    uint32_t ratio_thousandths;
};

/**
 * A budget that forgets what is older than its window. Plain data in the caller's memory, for one thread at a time.
 */
struct backoff_window {
    /**
     * The tenth of the window that was used last.
     */
    uint64_t slice;
    /**
     * What each tenth has, in hundredths of a retry.
     */
    int32_t slices[10];
    /**
     * 0; room for later versions.
     */
    uint32_t reserved;
    /**
     * Tells it from memory that is none.
     */
    uint32_t mark;
};

/**
 * How many retries a window lets through; Finagle's RetryBudget, tower's TpsBudget. A field that is 0 means its default.
 */
struct backoff_window_config {
    /**
     * `sizeof(struct backoff_window_config)`; the one field without a default.
     */
    uint32_t size;
    /**
     * How many retries for each 100 requests; 0: 20.
     */
    uint32_t percent;
    /**
     * How many besides for each second of the window; 0: 10; UINT32_MAX: none.
     */
    uint32_t least_per_second;
    /**
     * 0; room for later versions, and refused if it is not 0.
     */
    uint32_t reserved;
    /**
     * How long a request counts; 0: 10 s.
     */
    uint64_t window_ns;
};

/**
 * Names a pending value, so that it can be cancelled. Plain data.
 */
struct backoff_ticket {
    /**
     * The slot.
     */
    uint64_t slot;
    /**
     * Tells it from others in the slot.
     */
    uint32_t serial;
    /**
     * Where it lies.
     */
    uint32_t node;
};

/**
 * A value that has expired, and the slot it was pending in.
 */
struct backoff_due {
    /**
     * The slot.
     */
    uint64_t slot;
    /**
     * What backoff_schedule_insert was given.
     */
    uint64_t value;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library as a number: major * 65536 + minor * 256 + patch.
 *
 * Any thread may call it at any time.
 */
uint32_t backoff_version(void) BACKOFF_DIRECT;

/**
 * The version of the library as text, such as "0.1.0".
 *
 * Any thread may call it at any time; the text is constant and lives as long as the library.
 */
const char *backoff_version_text(void) BACKOFF_DIRECT;

/**
 * What a status means, as a line of English; "unknown status" for a number that is none. Never NULL.
 *
 * Any thread may call it at any time; the text is constant and lives as long as the library.
 *
 * @param status  what another function returned
 */
const char *backoff_status_text(uint32_t status)
BACKOFF_DIRECT;

/**
 * Makes a state: no attempt has collided, and the built-in generator is at its start.
 *
 * The same `seed` and `stream` give the same delays on every machine. Give all stations of a run one seed and each
 * its own stream; 1, 2, 3 ... will do, because both numbers are mixed before use. An operation that
 * backoff_retry_init made with the same two numbers draws other words.
 *
 * @param backoff  receives the state; what was there before does not matter
 * @param config   the limits; may be reused or thrown away after the call
 * @param seed     the run
 * @param stream   the station or device within the run
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_CONFIG_SIZE, and nothing is written
 *
 * # Safety
 * `backoff` is NULL, or valid for writes and used by no other thread during the call; `config` is NULL, or valid
 * for reads of as many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_init(struct backoff *backoff,
                            const struct backoff_config *config,
                            uint64_t seed,
                            uint64_t stream)
BACKOFF_DIRECT;

/**
 * Counts an attempt that collided, and draws the delay before the next one from the built-in generator.
 *
 * After the n-th collision of a frame the delay is uniform over 0 ... 2^k - 1 slots, k = min(n, backoff_limit, 64).
 * It begins at the end of the jam. The generator takes one step at every call that is answered with
 * BACKOFF_STATUS_OK or BACKOFF_STATUS_DISCARDED.
 *
 * @param backoff  the station's backoff
 * @param slots    receives the delay, in slots
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_DISCARDED if this was attempt number attempt_limit, and at every further
 *         collision until backoff_reset; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `backoff` and `slots` are each NULL, or valid, apart from each other, and used by no other thread during the call.
 */
backoff_status backoff_collide(struct backoff *backoff,
                               uint64_t *slots)
BACKOFF_DIRECT;

/**
 * The same with a random word of the caller: the delay is the k high bits of `word`. The generator does not step.
 *
 * If all 64 bits of the word are random, every delay is equally likely. 0 gives no delay, UINT64_MAX the longest.
 *
 * @param backoff  the station's backoff
 * @param word     64 random bits; of fewer than 64, put them into the high ones
 * @param slots    receives the delay, in slots
 *
 * @return as backoff_collide
 *
 * # Safety
 * `backoff` and `slots` are each NULL, or valid, apart from each other, and used by no other thread during the call.
 */
backoff_status backoff_collide_word(struct backoff *backoff,
                                    uint64_t word,
                                    uint64_t *slots)
BACKOFF_DIRECT;

/**
 * Gives the number of attempts of this frame that have collided; at most attempt_limit.
 *
 * @param backoff   the station's backoff
 * @param attempts  receives the number
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `backoff` is NULL, or valid and written by no other thread during the call; `attempts` is NULL, or valid for
 * writes, apart from `backoff`, and used by no other thread during the call.
 */
backoff_status backoff_attempts(const struct backoff *backoff,
                                uint32_t *attempts)
BACKOFF_DIRECT;

/**
 * Makes the state ready for another frame: no attempt has collided. Call it when a frame got through or was discarded.
 * The generator continues from its present state.
 *
 * @param backoff  the station's backoff
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `backoff` is NULL, or valid and used by no other thread during the call.
 */
backoff_status backoff_reset(struct backoff *backoff)
BACKOFF_DIRECT;

/**
 * Gives the bounds of the delay after failure number `failures`. 0 failures: no delay.
 *
 * @param policy       the policy
 * @param failures     which failure, counted from 1
 * @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
 * @param bounds       receives the smallest and the largest delay
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT if that failure is the last; else
 *         BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_CONFIG_SIZE or BACKOFF_STATUS_CONFIG_VALUE
 *
 * # Safety
 * `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
 * the call; `bounds` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_policy_bounds(const struct backoff_policy *policy,
                                     uint64_t failures,
                                     uint64_t previous_ns,
                                     struct backoff_bounds *bounds)
BACKOFF_DIRECT;

/**
 * Gives the mean and the variance of the delay after failure number `failures`, from their closed forms.
 *
 * The one function that uses floating point.
 *
 * @param policy       the policy
 * @param failures     which failure, counted from 1
 * @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
 * @param moments      receives mean and variance
 *
 * @return as backoff_policy_bounds
 *
 * # Safety
 * `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
 * the call; `moments` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_policy_moments(const struct backoff_policy *policy,
                                      uint64_t failures,
                                      uint64_t previous_ns,
                                      struct backoff_moments *moments)
BACKOFF_DIRECT;

/**
 * Draws the delay after failure number `failures` with a random word of the caller. It keeps no state at all.
 *
 * 0 gives the shortest delay, UINT64_MAX the longest, and a larger word never a shorter one. Not so for ALOHA_GEOMETRIC:
 * each binary digit takes a word of its own, mixed from `word`, so that the order of the words says nothing. Nor for DHCPV6,
 * where what passes the ceiling takes another word.
 *
 * Of all words some delays have one more than others, where their number does not divide 2^64; the functions that have a
 * generator draw again instead, and are exact.
 *
 * A retry whose last delay was 0 (a cap made it so) does not begin again as `previous_ns` = 0 does here: its next
 * decorrelated delay is the base itself, or the cap if that is less.
 *
 * @param policy       the policy
 * @param failures     which failure, counted from 1
 * @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
 * @param word         64 random bits
 * @param delay_ns     receives the delay
 *
 * @return as backoff_policy_bounds
 *
 * # Safety
 * `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
 * the call; `delay_ns` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_policy_draw(const struct backoff_policy *policy,
                                   uint64_t failures,
                                   uint64_t previous_ns,
                                   uint64_t word,
                                   uint64_t *delay_ns)
BACKOFF_DIRECT;

/**
 * Makes the state of an operation whose first attempt is made now: nothing has failed yet.
 *
 * The same `seed` and `stream` give the same delays on every machine; see backoff_init. In a fleet the seed should be
 * random, or each device have a stream of its own: otherwise all of them wait equally long. A station that backoff_init
 * made with the same two numbers draws other words.
 *
 * @param retry   receives the state; what was there before does not matter
 * @param seed    the run
 * @param stream  the device or the operation within the run
 * @param now_ns  the time, of any clock that does not go back
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER
 *
 * # Safety
 * `retry` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_retry_init(struct backoff_retry *retry,
                                  uint64_t seed,
                                  uint64_t stream,
                                  uint64_t now_ns)
BACKOFF_DIRECT;

/**
 * Counts a failure, and draws the delay before the next attempt.
 *
 * A time before the start counts as the start; a time before the last call but after the start is taken as it is.
 *
 * A hint above the lower end lo of the range [lo, hi], as the cap left it, moves the whole range up: the delay lies in
 * [hint, hint + hi - lo]. So a hint below the cap may lead past it too, and clients with the same hint do not return
 * together. A hint at lo or below changes nothing. The policy's hint_limit_ns bounds what a server may ask for, which
 * has no other limit but elapsed_limit_ns.
 *
 * The generator steps with BACKOFF_STATUS_OK and BACKOFF_STATUS_ELAPSED_LIMIT, and the failure counts with these and
 * BACKOFF_STATUS_ATTEMPT_LIMIT. The attempt limit stays met; after the elapsed limit a shorter hint might do.
 *
 * For decorrelated jitter the delay before is what the policy drew, without the hint. If that was 0, which
 * takes a cap, the next one is the base itself, or the cap if that is less.
 *
 * @param retry     the operation
 * @param policy    the policy; it may be another one at every call
 * @param now_ns    the time, of the clock given to backoff_retry_init
 * @param hint_ns   what the server asked for (Retry-After); 0: nothing
 * @param delay_ns  receives the delay from now on
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT or BACKOFF_STATUS_ELAPSED_LIMIT: give up; else
 *         BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED, BACKOFF_STATUS_CONFIG_SIZE or
 *         BACKOFF_STATUS_CONFIG_VALUE, and nothing changes
 *
 * # Safety
 * `retry` and `delay_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
 */
backoff_status backoff_retry_fail(struct backoff_retry *retry,
                                  const struct backoff_policy *policy,
                                  uint64_t now_ns,
                                  uint64_t hint_ns,
                                  uint64_t *delay_ns)
BACKOFF_DIRECT;

/**
 * The same with a delay that counts from the start of the attempt that has failed, and not from now on.
 *
 * `delay_ns` receives what is left of it now: 0 where the attempt has lasted longer. The elapsed limit is applied to the
 * whole delay from the start of the attempt.
 *
 * @param retry       the operation
 * @param policy      the policy; it may be another one at every call
 * @param attempt_ns  when the attempt that has failed was begun, by the clock of `now_ns`; a later time counts as now
 * @param now_ns      the time, of the clock given to backoff_retry_init
 * @param hint_ns     what the server asked for from now on (Retry-After); 0: nothing
 * @param delay_ns    receives the delay from now on
 *
 * @return as backoff_retry_fail
 *
 * # Safety
 * As that of backoff_retry_fail.
 */
backoff_status backoff_retry_fail_since(struct backoff_retry *retry,
                                        const struct backoff_policy *policy,
                                        uint64_t attempt_ns,
                                        uint64_t now_ns,
                                        uint64_t hint_ns,
                                        uint64_t *delay_ns)
BACKOFF_DIRECT;

/**
 * Gives the number of failures that have been counted; it stops at UINT32_MAX.
 *
 * @param retry     the operation
 * @param failures  receives the number
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `retry` is NULL, or valid and written by no other thread during the call; `failures` is NULL, or valid for writes,
 * apart from `retry`, and used by no other thread during the call.
 */
backoff_status backoff_retry_failures(const struct backoff_retry *retry,
                                      uint32_t *failures)
BACKOFF_DIRECT;

/**
 * Makes the state ready for another operation, whose first attempt is made now. The generator goes on.
 *
 * @param retry   the operation that succeeded or was given up
 * @param now_ns  the time
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `retry` is NULL, or valid and used by no other thread during the call.
 */
backoff_status backoff_retry_reset(struct backoff_retry *retry,
                                   uint64_t now_ns)
BACKOFF_DIRECT;

/**
 * Reads a policy once, for backoff_prepared_fail and backoff_prepared_draw, which take little more than half of the time
 * that backoff_retry_fail takes. It gives the same delays, bit for bit. (Of kinds whose delays are neither uniform nor
 * decorrelated, such as ALOHA_GEOMETRIC, DHCPV6 and POLLY, they ask the policy each time.)
 *
 * @param policy    the policy; it may change or go afterwards
 * @param prepared  receives what was read
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_CONFIG_SIZE or
 *         BACKOFF_STATUS_CONFIG_VALUE, and nothing is written
 *
 * # Safety
 * `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
 * the call; `prepared` is NULL, or valid for writes, apart from `policy`, and used by no other thread.
 */
backoff_status backoff_policy_prepare(const struct backoff_policy *policy,
                                      struct backoff_prepared *prepared)
BACKOFF_DIRECT;

/**
 * Counts a failure, and draws the delay before the next attempt; as backoff_retry_fail, from a prepared policy.
 *
 * @param retry     the operation
 * @param prepared  the policy, as backoff_policy_prepare has read it; it may be another one at every call
 * @param now_ns    the time, of the clock given to backoff_retry_init
 * @param hint_ns   what the server asked for (Retry-After); 0: nothing
 * @param delay_ns  receives the delay from now on
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT or BACKOFF_STATUS_ELAPSED_LIMIT: give up; else
 *         BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED, and nothing changes
 *
 * # Safety
 * `retry` and `delay_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `prepared` is NULL, or valid and written by no other thread during the call.
 */
backoff_status backoff_prepared_fail(struct backoff_retry *retry,
                                     const struct backoff_prepared *prepared,
                                     uint64_t now_ns,
                                     uint64_t hint_ns,
                                     uint64_t *delay_ns)
BACKOFF_DIRECT;

/**
 * Draws the delay after failure number `failures` with a random word of the caller; as backoff_policy_draw, from a prepared
 * policy.
 *
 * @param prepared     the policy, as backoff_policy_prepare has read it
 * @param failures     which failure, counted from 1
 * @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
 * @param word         64 random bits
 * @param delay_ns     receives the delay
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT if that failure is the last; else
 *         BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `prepared` is NULL, or valid and written by no other thread during the call; `delay_ns` is NULL, or valid for writes
 * and used by no other thread during the call.
 */
backoff_status backoff_prepared_draw(const struct backoff_prepared *prepared,
                                     uint64_t failures,
                                     uint64_t previous_ns,
                                     uint64_t word,
                                     uint64_t *delay_ns)
BACKOFF_DIRECT;

/**
 * Makes a rate: the full one, and no action yet.
 *
 * @param rate  receives the state; what was there before does not matter
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER
 *
 * # Safety
 * `rate` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_rate_init(struct backoff_rate *rate) BACKOFF_DIRECT;

/**
 * Takes an adverse event (a 429, a full queue): the rate falls by one level at once.
 *
 * After each cooling-off period without one it recovers by one level. An event while it recovers shows that the
 * recovery was too early: the cooling-off period doubles, up to its limit. Once the full rate is reached again, the
 * period is the first one again. A time before the last event counts as that one: nothing recovers while a clock that
 * went back catches up.
 *
 * @param rate    the rate
 * @param config  how it falls and recovers
 * @param now_ns  the time, of any clock that does not go back
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED,
 *         BACKOFF_STATUS_CONFIG_SIZE or BACKOFF_STATUS_CONFIG_VALUE, and nothing changes
 *
 * # Safety
 * `rate` is NULL, or valid and used by no other thread during the call; `config` is NULL, or valid for reads of as
 * many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_rate_adverse(struct backoff_rate *rate,
                                    const struct backoff_rate_config *config,
                                    uint64_t now_ns)
BACKOFF_DIRECT;

/**
 * Counts an action now if the rate allows one; else says how long to wait, and counts nothing.
 *
 * A time before the last action counts as that one: so where the clock went back the wait is no longer than the interval
 * of the level.
 *
 * @param rate     the rate
 * @param config   how it falls and recovers
 * @param now_ns   the time, of any clock that does not go back
 * @param wait_ns  receives 0: act now; or how long to wait before asking again
 *
 * @return as backoff_rate_adverse
 *
 * # Safety
 * `rate` and `wait_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
 */
backoff_status backoff_rate_act(struct backoff_rate *rate,
                                const struct backoff_rate_config *config,
                                uint64_t now_ns,
                                uint64_t *wait_ns)
BACKOFF_DIRECT;

/**
 * Gives the level now: 0 is the full rate, each level one division by the base.
 *
 * @param rate    the rate; what has recovered by now is noted in it
 * @param config  how it falls and recovers
 * @param now_ns  the time, of any clock that does not go back
 * @param level   receives the level
 *
 * @return as backoff_rate_adverse
 *
 * # Safety
 * `rate` and `level` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
 */
backoff_status backoff_rate_level(struct backoff_rate *rate,
                                  const struct backoff_rate_config *config,
                                  uint64_t now_ns,
                                  uint32_t *level)
BACKOFF_DIRECT;

/**
 * Gives the cooling-off period in force now: that of the configuration, doubled for each recovery that came too early.
 *
 * @param rate       the rate; what has recovered by now is noted in it
 * @param config     how it falls and recovers
 * @param now_ns     the time, of any clock that does not go back
 * @param period_ns  receives the period
 *
 * @return as backoff_rate_adverse
 *
 * # Safety
 * `rate` and `period_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
 */
backoff_status backoff_rate_cooling_off(struct backoff_rate *rate,
                                        const struct backoff_rate_config *config,
                                        uint64_t now_ns,
                                        uint64_t *period_ns)
BACKOFF_DIRECT;

/**
 * Makes a budget: full.
 *
 * @param budget  receives the state; what was there before does not matter
 * @param config  what it holds and gains
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_CONFIG_SIZE, and nothing is written
 *
 * # Safety
 * `budget` is NULL, or valid for writes and used by no other thread during the call; `config` is NULL, or valid for
 * reads of as many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_budget_init(struct backoff_budget *budget,
                                   const struct backoff_budget_config *config)
BACKOFF_DIRECT;

/**
 * Counts a first attempt, which adds its share to the budget.
 *
 * @param budget  the budget
 * @param config  what it holds and gains
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED or
 *         BACKOFF_STATUS_CONFIG_SIZE, and nothing changes
 *
 * # Safety
 * `budget` is NULL, or valid and used by no other thread during the call; `config` is NULL, or valid for reads of as
 * many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_budget_deposit(struct backoff_budget *budget,
                                      const struct backoff_budget_config *config)
BACKOFF_DIRECT;

/**
 * Takes one retry out of the budget, if it holds one.
 *
 * @param budget  the budget
 * @param config  what it holds and gains
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not, and nothing was taken; else as
 *         backoff_budget_deposit
 *
 * # Safety
 * `budget` is NULL, or valid and used by no other thread during the call; `config` is NULL, or valid for reads of as
 * many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_budget_withdraw(struct backoff_budget *budget,
                                       const struct backoff_budget_config *config)
BACKOFF_DIRECT;

/**
 * Gives what the budget holds, in hundredths of a retry: from 100 on backoff_budget_withdraw takes one.
 *
 * @param budget      the budget
 * @param hundredths  receives what it holds
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `budget` is NULL, or valid and written by no other thread during the call; `hundredths` is NULL, or valid for
 * writes, apart from `budget`, and used by no other thread during the call.
 */
backoff_status backoff_budget_hundredths(const struct backoff_budget *budget,
                                         uint64_t *hundredths)
BACKOFF_DIRECT;

/**
 * Makes the tokens of a quota: all of them.
 *
 * @param tokens  receives them, before other threads use them; what was there before does not matter
 * @param config  how many there are
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_CONFIG_SIZE, and nothing is written
 *
 * # Safety
 * `tokens` is NULL, or valid for writes and used by no other thread during the call; `config` is NULL, or valid for
 * reads of as many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_quota_init(struct backoff_tokens *tokens,
                                  const struct backoff_quota_config *config)
BACKOFF_DIRECT;

/**
 * Takes the cost of a retry by the class of its error, if there are enough tokens.
 *
 * The order of a failed attempt: the quota first, then backoff_retry_fail. Where that answers ATTEMPT_LIMIT or
 * ELAPSED_LIMIT, no retry follows, and backoff_quota_succeed with `cost` gives back what was taken for it. A request that
 * fails for good after a retry gives nothing back.
 *
 * @param tokens     the tokens
 * @param config     what a retry costs
 * @param throttled  not 0: the error was one of throttling
 * @param cost       receives what was taken, for backoff_quota_succeed
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not, and nothing was taken; else
 *         BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED or BACKOFF_STATUS_CONFIG_SIZE
 *
 * # Safety
 * `tokens` is NULL, or valid, and changed by functions of this library alone, in any number of threads; `config` is NULL,
 * or valid for reads of as many octets as its `size` says and written by no other thread during the call; `cost` is NULL,
 * or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_quota_take(struct backoff_tokens *tokens,
                                  const struct backoff_quota_config *config,
                                  uint32_t throttled,
                                  uint32_t *cost)
BACKOFF_DIRECT;

/**
 * A request has succeeded: gives back what its last retry has cost, or the reward of one that needed none. A retry that
 * was paid for and is not made gives back its cost in the same way.
 *
 * @param tokens  the tokens
 * @param config  how many there may be
 * @param cost    what backoff_quota_take gave last for this request; 0: it succeeded at its first attempt
 *
 * @return as backoff_quota_take, without BACKOFF_STATUS_BUDGET_EMPTY
 *
 * # Safety
 * As that of backoff_quota_take.
 */
backoff_status backoff_quota_succeed(struct backoff_tokens *tokens,
                                     const struct backoff_quota_config *config,
                                     uint32_t cost)
BACKOFF_DIRECT;

/**
 * Makes the tokens of a throttle: all of them.
 *
 * @param tokens  receives them, before other threads use them; what was there before does not matter
 * @param config  how many there are
 *
 * @return as backoff_quota_init
 *
 * # Safety
 * As that of backoff_quota_init.
 */
backoff_status backoff_throttle_init(struct backoff_tokens *tokens,
                                     const struct backoff_throttle_config *config)
BACKOFF_DIRECT;

/**
 * Counts a failed attempt, which takes a token; says whether it may be tried again: with more than half of them left.
 *
 * @param tokens       the tokens
 * @param config       how many there may be
 * @param pushback_ms  what the server said (grpc-retry-pushback-ms); a negative number, or what is none: do not retry;
 *                     BACKOFF_NO_PUSHBACK: nothing. Where it is 0 or more, it takes the place of the policy's delay
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not; else as backoff_quota_take
 *
 * # Safety
 * As that of backoff_quota_take.
 */
backoff_status backoff_throttle_fail(struct backoff_tokens *tokens,
                                     const struct backoff_throttle_config *config,
                                     int64_t pushback_ms)
BACKOFF_DIRECT;

/**
 * Counts an attempt that has succeeded, which gives a part of a token.
 *
 * @param tokens  the tokens
 * @param config  how many there may be
 *
 * @return as backoff_quota_succeed
 *
 * # Safety
 * As that of backoff_quota_take.
 */
backoff_status backoff_throttle_succeed(struct backoff_tokens *tokens,
                                        const struct backoff_throttle_config *config)
BACKOFF_DIRECT;

/**
 * Makes a window: no request yet.
 *
 * @param window  receives the state; what was there before does not matter
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER
 *
 * # Safety
 * `window` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_window_init(struct backoff_window *window) BACKOFF_DIRECT;

/**
 * Counts a request, which adds its share to the window.
 *
 * @param window  the window
 * @param config  what it lets through
 * @param now_ns  the time, of any clock that does not go back; a time before the last one counts as that one
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED,
 *         BACKOFF_STATUS_CONFIG_SIZE or BACKOFF_STATUS_CONFIG_VALUE, and nothing changes
 *
 * # Safety
 * `window` is NULL, or valid and used by no other thread during the call; `config` is NULL, or valid for reads of as
 * many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_window_deposit(struct backoff_window *window,
                                      const struct backoff_window_config *config,
                                      uint64_t now_ns)
BACKOFF_DIRECT;

/**
 * Takes a retry, if the window holds one.
 *
 * @param window  the window
 * @param config  what it lets through
 * @param now_ns  the time, as for backoff_window_deposit
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not, and nothing was taken; else as
 *         backoff_window_deposit
 *
 * # Safety
 * As that of backoff_window_deposit.
 */
backoff_status backoff_window_withdraw(struct backoff_window *window,
                                       const struct backoff_window_config *config,
                                       uint64_t now_ns)
BACKOFF_DIRECT;

/**
 * Whether another retry is allowed with these numbers of active requests and retries, as in Envoy's retry budget. It
 * is allowed while retries are fewer than a share of the requests, and always while they are fewer than `least`. The
 * function keeps no state.
 *
 * Any thread may call it at any time.
 *
 * @param active_requests  how many requests are under way, pending ones included
 * @param active_retries   how many of them are retries
 * @param percent          the share; 0: 20
 * @param least            how many retries may be under way in any case; 0: 3
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not
 */
backoff_status backoff_share_allows(uint64_t active_requests,
                                    uint64_t active_retries,
                                    uint32_t percent,
                                    uint32_t least)
BACKOFF_DIRECT;

/**
 * Counts a collision for each of `count` stations, and draws the delay of each from its own generator.
 *
 * The same as backoff_collide for one after the other. If one of them has not been initialised, nothing changes.
 *
 * @param stations  `count` states in a row
 * @param count     how many; 0 is accepted, with pointers that are not NULL
 * @param slots     receives `count` delays, in slots; BACKOFF_DISCARDED where the frame is discarded (a delay of that
 *                  size needs a backoff_limit of 64)
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `stations` and `slots` are each NULL, or valid for `count` entries, apart from each other, and used by no other
 * thread during the call.
 */
backoff_status backoff_collide_each(struct backoff *stations,
                                    size_t count,
                                    uint64_t *slots)
BACKOFF_DIRECT;

/**
 * Draws `count` delays of the collision that the station has counted last, from its generator; counts nothing.
 *
 * The delays are those of `count` stations which have met as many collisions. With AVX2, found at run time, four are
 * drawn at once; the delays are the same without.
 *
 * @param station  the station
 * @param count    how many; 0 is accepted, with pointers that are not NULL
 * @param slots    receives `count` delays, in slots: before the first collision all 0; after the discard such as the
 *                 collision that discarded would have drawn
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `station` is NULL, or valid, and `slots` is NULL, or valid for `count` entries; they are apart from each other, and
 * used by no other thread during the call.
 */
backoff_status backoff_draws(struct backoff *station,
                             size_t count,
                             uint64_t *slots)
BACKOFF_DIRECT;

/**
 * Draws `count` delays of one policy after failure number `failures`, from a generator of the caller.
 *
 * @param policy       the policy
 * @param failures     which failure, counted from 1
 * @param previous_ns  the delay before, which decorrelated jitter asks for, without a hint; 0: the base
 * @param generator    a number that the call moves on: any start will do, the same start gives the same delays
 * @param count        how many; 0 is accepted, with pointers that are not NULL
 * @param delays_ns    receives `count` delays
 *
 * @return as backoff_policy_bounds
 *
 * # Safety
 * `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread during
 * the call; `generator` is NULL, or valid, and `delays_ns` is NULL, or valid for `count` entries; they are apart from
 * each other, and used by no other thread during the call.
 */
backoff_status backoff_policy_draws(const struct backoff_policy *policy,
                                    uint64_t failures,
                                    uint64_t previous_ns,
                                    uint64_t *generator,
                                    size_t count,
                                    uint64_t *delays_ns)
BACKOFF_DIRECT;

/**
 * The octets that a schedule for `capacity` pending values needs: 144 for each value, from 65 values on 32 more, and for
 * the wheel from 25 KiB (up to 16 values) to 1 MiB (from 513 values on). backoff_schedule_compact_octets asks for a quarter
 * of that, where no call needs a bound.
 *
 * SIZE_MAX if that does not fit, or if `capacity` is above 2^27. Any thread may call it at any time.
 *
 * @param capacity  how many values may be pending at the same time
 */
size_t backoff_schedule_octets(uint32_t capacity)
BACKOFF_DIRECT;

/**
 * Makes an empty schedule in the caller's memory, for as many values as fit.
 *
 * It writes the head and the wheel, at most 1 MiB; what lies behind is written when it is used.
 *
 * @param memory    the memory, aligned to 8 octets; the schedule lives in it
 * @param octets    its size, from backoff_schedule_octets
 * @param now       the first slot that can expire
 * @param schedule  receives the schedule, for the other functions
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_MEMORY, and nothing is written
 *
 * # Safety
 * `memory` is NULL, or valid for `octets` octets and used by no other thread during the call; `schedule` is NULL, or
 * valid for writes, apart from `memory`, and used by no other thread during the call.
 */
backoff_status backoff_schedule_init(void *memory,
                                     size_t octets,
                                     uint64_t now,
                                     struct backoff_schedule **schedule)
BACKOFF_DIRECT;

/**
 * Makes a value pending in a slot; in the present slot (see backoff_schedule_now), where that one has passed.
 *
 * @param schedule  the schedule
 * @param slot      the slot
 * @param value     what the caller knows it by: a number, an index, a pointer
 * @param ticket    receives what backoff_schedule_cancel asks for; NULL: it will not be cancelled
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_SCHEDULE_FULL; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `ticket` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_schedule_insert(struct backoff_schedule *schedule,
                                       uint64_t slot,
                                       uint64_t value,
                                       struct backoff_ticket *ticket)
BACKOFF_DIRECT;

/**
 * Takes a pending value back. A ticket is good until its value has expired or been cancelled. After that it is refused, and
 * so is a ticket of an earlier schedule in the same memory: a serial number of 31 bits tells them apart.
 *
 * @param schedule  the schedule
 * @param ticket    which value
 * @param value     receives the value
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `ticket` is NULL, or valid for reads; `value` is NULL, or valid for writes; no other thread uses them.
 */
backoff_status backoff_schedule_cancel(struct backoff_schedule *schedule,
                                       const struct backoff_ticket *ticket,
                                       uint64_t *value)
BACKOFF_DIRECT;

/**
 * Moves a pending value to another slot, behind the values that are there; as backoff_schedule_cancel and
 * backoff_schedule_insert, but it needs no room.
 *
 * @param schedule  the schedule
 * @param ticket    which value; receives its new ticket
 * @param slot      the new slot; the present one, where that one has passed
 *
 * @return as backoff_schedule_cancel; with a status that is not OK nothing changes
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `ticket` is NULL, or valid, and used by no other thread during the call.
 */
backoff_status backoff_schedule_reschedule(struct backoff_schedule *schedule,
                                           struct backoff_ticket *ticket,
                                           uint64_t slot)
BACKOFF_DIRECT;

/**
 * Gives the first slot in which a value is pending.
 *
 * It looks through at most 16 values for each level above the wheel (but see backoff_schedule_expire on what is cancelled).
 *
 * @param schedule  the schedule
 * @param slot      receives the slot
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING if nothing is; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `slot` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_schedule_next(struct backoff_schedule *schedule,
                                     uint64_t *slot)
BACKOFF_DIRECT;

/**
 * Takes the values of all slots up to `limit`, by slot, and within a slot in the order of their insertion.
 *
 * For one slot in one go, let `limit` be that slot. Now is then the slot of the last value, or `limit` if no more are
 * pending up to there; it never goes back. If `count` is `room`, there may be more: call again. With a room of 0, which
 * is accepted with pointers that are not NULL, nothing is taken and now stays.
 *
 * A call takes a time in proportion to the values that it gives, independent of the number and the slots of pending
 * values. For each value that it gives, it moves at most 14 others, or 14 if it gives none. Where it comes to slots
 * before which no value was pending, it moves 16 for each level above the wheel. There are at most 5 levels where
 * there is room for 513 values, and at most 12 in any schedule. Over many calls each value is moved once for each 11
 * bits of its distance. If more values are close together than these moves can sort in time, the others wait in a
 * heap, and each takes as many steps as their number has pairs of bits. (A program that cancels most of a crowd just
 * before another crowd may leave calls too few to sort that one: then one call moves what is left of it.)
 *
 * @param schedule  the schedule
 * @param limit     the last slot
 * @param room      how many values may be written
 * @param due       receives up to `room` values, each with its slot
 * @param count     receives how many
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid; `due` is NULL, or valid
 * for writes of `room` entries; `count` is NULL, or valid for writes; they are apart from each other, and no other
 * thread uses them during the call.
 */
backoff_status backoff_schedule_expire(struct backoff_schedule *schedule,
                                       uint64_t limit,
                                       size_t room,
                                       struct backoff_due *due,
                                       size_t *count)
BACKOFF_DIRECT;

/**
 * Takes the values of the next slot that has any, in the order of their insertion: backoff_schedule_next and
 * backoff_schedule_expire in one call.
 *
 * Now is then that slot. If `count` is `room`, the slot may have more: call again with a limit of that slot, which every
 * entry of `due` has. Nothing pending up to `limit`: NOT_PENDING, and now is `limit`. A room of 0 takes nothing.
 *
 * @param schedule  the schedule
 * @param limit     the last slot; UINT64_MAX: any
 * @param room      how many values may be written
 * @param due       receives up to `room` values, all of one slot
 * @param count     receives how many
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING, and nothing is written; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * As that of backoff_schedule_expire.
 */
backoff_status backoff_schedule_expire_next(struct backoff_schedule *schedule,
                                            uint64_t limit,
                                            size_t room,
                                            struct backoff_due *due,
                                            size_t *count)
BACKOFF_DIRECT;

/**
 * Gives now: the first slot that can still expire. What is inserted before it counts as in it.
 *
 * @param schedule  the schedule
 * @param slot      receives the slot
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `slot` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_schedule_now(struct backoff_schedule *schedule,
                                    uint64_t *slot)
BACKOFF_DIRECT;

/**
 * Gives the number of values that are pending.
 *
 * @param schedule  the schedule
 * @param count     receives the number
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `count` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_schedule_pending(struct backoff_schedule *schedule,
                                        uint32_t *count)
BACKOFF_DIRECT;

/**
 * The octets that a compact schedule for `capacity` pending values needs: 32 for each value and 200 up to 32 values, and at
 * most 40 for each value and 8,000 in any case.
 *
 * SIZE_MAX if that does not fit, or if `capacity` is above 2^27. Any thread may call it at any time.
 *
 * @param capacity  how many values may be pending at the same time
 */
size_t backoff_schedule_compact_octets(uint32_t capacity)
BACKOFF_DIRECT;

/**
 * Makes an empty compact schedule in the caller's memory, for as many values as fit. All other functions take it as they
 * take what backoff_schedule_init makes, and give the same values in the same order.
 *
 * It has a quarter of the memory. Its calls have no bound: backoff_schedule_next, backoff_schedule_expire and
 * backoff_schedule_expire_next may go through all values of 2^10 to 2^12 slots, or of 64 to 2,048 times as many where
 * these are far away. With room for 32 values or fewer it is a sorted list, which backoff_schedule_insert goes through.
 *
 * @param memory    the memory, aligned to 8 octets; the schedule lives in it
 * @param octets    its size, from backoff_schedule_compact_octets
 * @param now       the first slot that can expire
 * @param schedule  receives the schedule, for the other functions
 *
 * @return as backoff_schedule_init
 *
 * # Safety
 * As that of backoff_schedule_init.
 */
backoff_status backoff_schedule_init_compact(void *memory,
                                             size_t octets,
                                             uint64_t now,
                                             struct backoff_schedule **schedule)
BACKOFF_DIRECT;

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/** A `struct backoff_config` with every default. */
#define BACKOFF_CONFIG_INIT { sizeof(struct backoff_config), 0, 0 }

/** A `struct backoff_policy` with every default: exponential with full jitter, from 100 ms on, without end. */
#define BACKOFF_POLICY_INIT \
    { sizeof(struct backoff_policy), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0, 0, 0 }

/** A `struct backoff_rate_config` with every default. */
#define BACKOFF_RATE_CONFIG_INIT { sizeof(struct backoff_rate_config), 0, 0, 0, 0, 0, 0 }

/** A `struct backoff_budget_config` with every default. */
#define BACKOFF_BUDGET_CONFIG_INIT { sizeof(struct backoff_budget_config), 0, 0 }

/** A `struct backoff_quota_config` with every default. */
#define BACKOFF_QUOTA_CONFIG_INIT { sizeof(struct backoff_quota_config), 0, 0, 0, 0 }

/** A `struct backoff_throttle_config` with every default. */
#define BACKOFF_THROTTLE_CONFIG_INIT { sizeof(struct backoff_throttle_config), 0, 0 }

/** A `struct backoff_window_config` with every default. */
#define BACKOFF_WINDOW_CONFIG_INIT { sizeof(struct backoff_window_config), 0, 0, 0, 0 }

/**
 * backoff_collide without the call: the same delays, the same states, the same statuses, for the price of a few
 * instructions at the place of use. Contract and safety are those of backoff_collide.
 */
static inline backoff_status backoff_collide_inline(struct backoff *station, uint64_t *slots)
{
    uint64_t word;
    uint32_t exponent;
    if (!station || !slots)
        return BACKOFF_STATUS_NULL_POINTER;
    if (!station->attempt_limit)
        return BACKOFF_STATUS_NOT_INITIALISED;
    word = station->generator + UINT64_C(0x9E3779B97F4A7C15);
    station->generator = word;
    if (station->attempts >= station->attempt_limit - 1) {
        station->attempts = station->attempt_limit;
        return BACKOFF_STATUS_DISCARDED;
    }
    exponent = ++station->attempts;
    if (exponent > station->backoff_limit)
        exponent = station->backoff_limit;
    word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    if (exponent - 1 >= 31)  /* the last step of the generator changes the 33 low bits only */
        word ^= word >> 31;
    if (exponent < 64)
        word = exponent ? word >> (64 - exponent) : 0;
    *slots = word;
    return BACKOFF_STATUS_OK;
}

/* The layout is part of the ABI. C99 has no assertion of this kind; there the library alone asserts it. */
#if defined(__cplusplus)
#define BACKOFF_ASSERT(holds) static_assert(holds, #holds)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define BACKOFF_ASSERT(holds) _Static_assert(holds, #holds)
#endif
#ifdef BACKOFF_ASSERT
BACKOFF_ASSERT(sizeof(backoff_status) == 4);
BACKOFF_ASSERT(sizeof(struct backoff_config) == 12);
BACKOFF_ASSERT(offsetof(struct backoff_config, size) == 0);
BACKOFF_ASSERT(offsetof(struct backoff_config, attempt_limit) == 4);
BACKOFF_ASSERT(offsetof(struct backoff_config, backoff_limit) == 8);
BACKOFF_ASSERT(sizeof(struct backoff) == 32);
BACKOFF_ASSERT(offsetof(struct backoff, generator) == 0);
BACKOFF_ASSERT(offsetof(struct backoff, attempts) == 8);
BACKOFF_ASSERT(offsetof(struct backoff, attempt_limit) == 12);
BACKOFF_ASSERT(offsetof(struct backoff, backoff_limit) == 16);
BACKOFF_ASSERT(offsetof(struct backoff, reserved) == 20);
BACKOFF_ASSERT(sizeof(struct backoff_policy) == 176);
BACKOFF_ASSERT(offsetof(struct backoff_policy, base_ns) == 8);
BACKOFF_ASSERT(offsetof(struct backoff_policy, attempt_limit) == 56);
BACKOFF_ASSERT(offsetof(struct backoff_policy, multiplier_percent) == 64);
BACKOFF_ASSERT(offsetof(struct backoff_policy, intervals) == 96);
BACKOFF_ASSERT(sizeof(struct backoff_prepared) == 1192);
BACKOFF_ASSERT(offsetof(struct backoff_prepared, laws) == 56);
BACKOFF_ASSERT(sizeof(struct backoff_retry) == 32);
BACKOFF_ASSERT(offsetof(struct backoff_retry, previous_ns) == 8);
BACKOFF_ASSERT(offsetof(struct backoff_retry, start_ns) == 16);
BACKOFF_ASSERT(offsetof(struct backoff_retry, failures) == 24);
BACKOFF_ASSERT(sizeof(struct backoff_bounds) == 16);
BACKOFF_ASSERT(sizeof(struct backoff_moments) == 16);
BACKOFF_ASSERT(sizeof(struct backoff_rate_config) == 40);
BACKOFF_ASSERT(sizeof(struct backoff_rate) == 32);
BACKOFF_ASSERT(offsetof(struct backoff_rate, level) == 16);
BACKOFF_ASSERT(sizeof(struct backoff_budget_config) == 12);
BACKOFF_ASSERT(sizeof(struct backoff_budget) == 16);
BACKOFF_ASSERT(sizeof(struct backoff_tokens) == 8);
BACKOFF_ASSERT(sizeof(struct backoff_quota_config) == 20);
BACKOFF_ASSERT(sizeof(struct backoff_throttle_config) == 12);
BACKOFF_ASSERT(sizeof(struct backoff_window_config) == 24);
BACKOFF_ASSERT(sizeof(struct backoff_window) == 56);
BACKOFF_ASSERT(sizeof(struct backoff_ticket) == 16);
BACKOFF_ASSERT(sizeof(struct backoff_due) == 16);
#undef BACKOFF_ASSERT
#endif
#undef BACKOFF_DIRECT

#endif /* BACKOFF_H */
