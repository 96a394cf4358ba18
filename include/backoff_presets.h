/*
 * libbackoff: named policies and the other laws. They link only where a function of this header is called.
 *
 *     struct backoff_policy policy = BACKOFF_POLICY_INIT;
 *     policy.kind = BACKOFF_PRESET_GRPC;                       // the fields of the policy change what the preset says
 *     status = backoff_retry_fail_any(&retry, &policy, now_ns, hint_ns, &delay_ns);
 *
 * A client that connects as gRPC does counts each delay from the start of the attempt on, not from its end:
 *
 *     status = backoff_retry_fail_since(&retry, &policy, attempt_ns, now_ns, 0, &delay_ns);
 *
 * backoff_retry_fail of backoff.h takes the eight kinds by structure, with times, limits and hints. Everything else is for
 * the functions of this header: presets, multiplier, priority, another jitter, an exact or immediate first delay.
 */

#ifndef BACKOFF_PRESETS_H
#define BACKOFF_PRESETS_H

/* Made from the source of the library and from headers/backoff_presets.h there: change it there. */

#include "backoff.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The policy's first retry comes at once: no delay after the first failure, and the growth begins with the second. For
 * every kind.
 */
#define BACKOFF_FLAG_FIRST_AT_ONCE 1

/**
 * The delay after the first failure has no jitter. It concerns that delay alone: with FIRST_AT_ONCE it changes nothing,
 * because there is no delay (the exact first delay that GRPC has by itself then comes second). Kinds that count slots have
 * no delay before jitter: they refuse it.
 */
#define BACKOFF_FLAG_FIRST_EXACT 2

/** How many laws a `struct backoff_prepared` has. */
#define BACKOFF_PREPARED_LAWS 40

/**
 * Named policies, and the laws that are none of `enum backoff_kind`: numbers for the `kind` of a `struct backoff_policy`.
 * backoff_retry_fail_any takes them. n and d as there. IEEE8023, RCP, ALOHA and IEEE802154 count slots: they have their own
 * spread, and take no jitter.
 */
enum backoff_preset {
    /** r slots, r uniform in 0 <= r < 2^min(n,10); the 16th failure is the last. IEEE 802.3, 4.2.3.2.5. */
    BACKOFF_PRESET_IEEE8023 = 7,
    /**
     * Heuristic RCP: r slots, r uniform in 0 <= r < intervals[n-1], the last one from then on. Lam, Kleinrock 1975.
     * intervals_count has no default: 0 is refused. An interval of 0 counts as 1, which is no delay.
     */
    BACKOFF_PRESET_RCP = 9,
    /**
     * The same, with the intervals as multipliers of the interval before; the first one of 1. A product that passes
     * 2^64 - 1 slots is that many. After a multiplier of 0 there is no delay any more.
     */
    BACKOFF_PRESET_RCP_MULTIPLIERS = 10,
    /** Slotted ALOHA: r slots, r uniform in 0 <= r < intervals[0]; 0: 2. intervals_count is not asked for. */
    BACKOFF_PRESET_ALOHA_UNIFORM = 11,
    /**
     * Slotted ALOHA: r slots, r geometric with p = 2 / (intervals[0] + 1); 0: 2. Lam 1974. intervals_count is not asked
     * for. With 1, p is 1 and r is 0. Else r has no upper end: the bounds say how many slots fit below the cap or
     * 2^64 ns, though more than 50 * intervals[0] of them will not be seen. A cap does not move this law but cuts it:
     * what is left keeps its proportions.
     */
    BACKOFF_PRESET_ALOHA_GEOMETRIC = 12,
    /**
     * 0.5, 1, 2, 4, 4 ... s, until 64 * base have passed. RFC 3261, 17.1.2.2; base_ns is T1, ceiling_ns T2.
     *
     * Each firing of the timer is a failure: backoff_retry_init when the request is first sent, backoff_retry_fail at
     * once for the first delay, then at each firing, after the request was sent again. ELAPSED_LIMIT says that the
     * timer does not fire again: with the defaults at 31.5 s. The transaction ends later, when timer F (for an INVITE
     * timer B) fires: in start + 64 * T1 - now, start being the time given to backoff_retry_init.
     */
    BACKOFF_PRESET_SIP_TIMER_E = 13,
    /**
     * 0.5, 1, 2, 4, 8, 16 s, until 64 * base have passed. RFC 3261, 17.1.1.2. Driven as timer E. It has no ceiling of
     * its own, as T2 is not for it; but a ceiling_ns that is not 0 applies.
     */
    BACKOFF_PRESET_SIP_TIMER_A = 14,
    /** 0.5 s * 1.5^(n-1), at most 60 s, times [0.5, 1.5], for 15 minutes. google-http-java-client. */
    BACKOFF_PRESET_GOOGLE_HTTP = 15,
    /** 2^(n-1) s + [0, 1000] ms, five times: the 6th failure is the last. Google Drive SDK, samples of 2013. */
    BACKOFF_PRESET_GOOGLE_DRIVE = 16,
    /** [0, 1) * 100 ms * 4^n. Amazon SimpleDB. */
    BACKOFF_PRESET_AMAZON_SIMPLEDB = 17,
    /** 100 ms * 2^(n-1), no jitter; set a cap. AWS guide to polling. */
    BACKOFF_PRESET_POLLING = 18,
    /**
     * 1 s, then 1.6^(n-1) s, at most 120 s, times [0.8, 1.2]; the first delay without jitter. gRPC, connection-backoff.md.
     * There a delay counts from the start of the attempt: backoff_retry_fail_since.
     */
    BACKOFF_PRESET_GRPC = 19,
    /**
     * AWS SDKs, standard mode of November 2026: [0, 50 ms * 2^(n-1)], at most 20 s; the third failure is the last. A hint
     * is x-amz-retry-after: see BACKOFF_FLAG_HINT_ABOVE_DRAW, which it has with 5 s.
     */
    BACKOFF_PRESET_AWS_STANDARD = 20,
    /** The same after a throttling error: from 1,000 ms on. For DynamoDB set attempt_limit to 4. */
    BACKOFF_PRESET_AWS_THROTTLING = 21,
    /** The same for DynamoDB: from 25 ms on; the fourth failure is the last. */
    BACKOFF_PRESET_AWS_DYNAMODB = 22,
    /**
     * AWS SDKs for Python, .NET and C++, standard mode before: [0, 1 s * 2^(n-1)], at most 20 s; the third failure is the
     * last. (C++ draws whole milliseconds.) Those for Java and JavaScript: base_ns 100 ms, after a throttling error 500 ms.
     */
    BACKOFF_PRESET_AWS_STANDARD_BEFORE = 23,
    /** Kubernetes, ItemExponentialFailureRateLimiter of the controllers' work queues: 5 ms * 2^(n-1), at most 1,000 s. */
    BACKOFF_PRESET_KUBERNETES_QUEUE = 24,
    /** Kubernetes, CrashLoopBackOff: 10 s * 2^(n-1), at most 300 s. A container that ran for ten minutes starts anew. */
    BACKOFF_PRESET_KUBERNETES_CRASH_LOOP = 25,
    /** TCP's retransmission timer: 1 s * 2^(n-1), at most 60 s. RFC 6298, 2.1, 2.4, 2.5 and 5.5; base_ns is RTO. */
    BACKOFF_PRESET_TCP_RTO = 26,
    /**
     * The point t of Trickle in its interval I: t in [I/2, I), I = 8 ms * 2^(n-1), at most 2^20 times 8 ms. RFC 6206, 4.2;
     * Imin and the doublings are those of RFC 6550, 17. I is longest_ns + 1 of backoff_policy_bounds for the same failure:
     * transmit at t if fewer than k messages were consistent, and call backoff_retry_fail again when I ends. An
     * inconsistent message: backoff_retry_reset. ffi-tests/policies.c has the loop.
     */
    BACKOFF_PRESET_TRICKLE = 27,
    /**
     * Unslotted CSMA-CA: [0, 2^BE - 1] units of 320 us, BE = 3, 4, 5, 5, 5; the sixth is the last. IEEE 802.15.4, 6.2.5.1.
     * Its first delay comes before the first attempt: driven as SIP_TIMER_E, with a call at once.
     */
    BACKOFF_PRESET_IEEE802154 = 28,
    /**
     * CoAP: t, 2t, 4t, 8t, 16t with t in [2, 3] s; the sixth is the last. RFC 7252, 4.2 and 4.8; base_ns is ACK_TIMEOUT,
     * jitter_amount in percent is ACK_RANDOM_FACTOR less 1. Driven as SIP_TIMER_E, with a call at once.
     */
    BACKOFF_PRESET_COAP = 29,
    /**
     * base * (ceiling / base)^((n-1) / steps), then the ceiling; a ceiling below the base is none. base_ns is RestartSec, ceiling_ns RestartMaxDelaySec,
     * intervals[0] RestartSteps. Without ceiling or steps always the base, as systemd has it by default. systemd.service(5).
     * intervals_count is not asked for.
     */
    BACKOFF_PRESET_SYSTEMD = 30,
    /**
     * DHCPv6, Solicit: at first in [1 s + 1 ns, 1.1 s], then 2 + [-0.1, 0.1] times the delay before; what passes 3,600 s is
     * drawn again in 3,600 s * [0.9, 1.1]. RFC 8415, 15, 7.6 and 18.2.1. base_ns is IRT, ceiling_ns MRT, elapsed_limit_ns MRD,
     * attempt_limit MRC + 1, jitter_amount in percent RAND. Driven as SIP_TIMER_E, with a call at once.
     */
    BACKOFF_PRESET_DHCPV6_SOLICIT = 31,
    /**
     * The same for the other messages: at first in [0.9 s, 1.1 s], and without MRT. In seconds RFC 8415 has: Request IRT 1,
     * MRT 30, MRC 10; Confirm 1, MRT 4, MRD 10; Renew and Rebind 10, MRT 600; Information-request 1, MRT 3600; Release and
     * Decline 1, MRC 4; Reconfigure 2, MRC 8.
     */
    BACKOFF_PRESET_DHCPV6 = 32,
    /**
     * Polly's decorrelated jitter, version 2: base / 1.4 * (f(t(n)) - f(t(n-1))), f(t) = 2^t * tanh(2 * sqrt(t)), t(n)
     * = n - 1 + u, u uniform in [0, 1); f(t(0)) is 0. The base is the median of the first delay, about. A cap cuts a
     * delay. Where other kinds take the previous delay, this one takes the sum of all previous delays.
     */
    BACKOFF_PRESET_POLLY = 33,
};

/** How the delay before jitter, d, is spread. Kinds that count slots refuse it. */
enum backoff_jitter {
    /** As the kind has it. */
    BACKOFF_JITTER_OWN = 0,
    /** d itself. */
    BACKOFF_JITTER_NONE = 1,
    /** Uniform in [0, d]. */
    BACKOFF_JITTER_FULL = 2,
    /** Uniform in [0, d - 1 ns]. */
    BACKOFF_JITTER_BELOW = 3,
    /** Uniform in [d/2, d]. */
    BACKOFF_JITTER_EQUAL = 4,
    /** Uniform in d * [1 - f, 1 + f], f = jitter_amount percent; 0: 50. More than 100 counts as 100: no delay is negative. */
    BACKOFF_JITTER_PROPORTIONAL = 5,
    /** d + [0, jitter_amount] ms, in whole milliseconds; 0: 1000. */
    BACKOFF_JITTER_ADDED = 6,
    /** Uniform in [base, 3 * the delay before]. d is not used. */
    BACKOFF_JITTER_DECORRELATED = 7,
    /** Uniform in [d/2, d - 1 ns]. */
    BACKOFF_JITTER_UPPER_HALF = 8,
    /**
     * The first delay uniform in d * [1, 1 + f], f = jitter_amount percent, 0: 50; from then on the delay before times
     * the multiplier.
     */
    BACKOFF_JITTER_INITIAL = 9,
    /**
     * min(cap, uniform in [base, 3 * the delay before]), as AWS has it: every draw above the cap becomes the cap, so that it
     * comes with the chance (3 * previous - cap) / (3 * previous - base). DECORRELATED has the range end at the cap instead
     * and begin at cap - (3 * previous - base), or at 0: no delay has more chance than another. d is not used.
     */
    BACKOFF_JITTER_DECORRELATED_CLAMPED = 10,
    /** As the kind DHCPV6 has it, jitter_amount percent; 0: 10. d is not used. */
    BACKOFF_JITTER_DHCPV6 = 11,
    /** As the kind DHCPV6_SOLICIT has it. d is not used. */
    BACKOFF_JITTER_DHCPV6_SOLICIT = 12,
    /** As the kind POLLY has it. d is not used. */
    BACKOFF_JITTER_POLLY = 13,
};

/** The smallest and the largest delay that may come, cap included, a hint not. */
struct backoff_bounds {
    /** The smallest. */
    uint64_t shortest_ns;
    /** The largest. */
    uint64_t longest_ns;
};

/** Mean and variance of a delay. */
struct backoff_moments {
    /** The mean, in nanoseconds. */
    double mean_ns;
    /** The variance, in nanoseconds squared. */
    double variance_ns2;
};

/** The law of one delay: first_ns + r * step_ns, r uniform in 0 <= r <= top. */
struct backoff_prepared_law {
    /** The shortest delay. */
    uint64_t first_ns;
    /** The distance of two delays. */
    uint64_t step_ns;
    /** How many distances the longest delay is from the shortest. */
    uint64_t top;
};

/**
 * A policy as backoff_policy_prepare has read it, so that no decision reads it again. Plain data in the caller's memory;
 * many states may share one. The fields are the library's.
 */
struct backoff_prepared {
    /** Tells it from memory that is none. */
    uint32_t mark;
    /** How many of the laws count. */
    uint32_t count;
    /** Not 0: later failures have the last law. */
    uint32_t stays;
    /** 0; room for later versions. */
    uint32_t reserved;
    /** The failure that is the last; UINT64_MAX: none. */
    uint64_t attempt_limit;
    /** How long after the start the last delay may end; UINT64_MAX: for ever. */
    uint64_t elapsed_limit_ns;
    /**
     * Of decorrelated jitter the base and the ceiling of its range, and its cap; else 0. Of a geometric law `base_ns` is the
     * number of its binary digits, and each of the laws has a slot as its step, the longest delay as its first one, and as
     * its top the largest word that makes a digit a 1.
     */
    uint64_t base_ns;
    uint64_t ceiling_ns;
    uint64_t cap_ns;
    /** The laws after the failures from the first on. */
    struct backoff_prepared_law laws[BACKOFF_PREPARED_LAWS];
    /** What was read. */
    struct backoff_policy policy;
};

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
BACKOFF_CHECKED
backoff_status backoff_policy_bounds(const struct backoff_policy *policy, uint64_t failures,
                                     uint64_t previous_ns,
                                     struct backoff_bounds *bounds) BACKOFF_DIRECT;

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
BACKOFF_CHECKED
backoff_status backoff_policy_moments(const struct backoff_policy *policy, uint64_t failures,
                                      uint64_t previous_ns,
                                      struct backoff_moments *moments) BACKOFF_DIRECT;

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
BACKOFF_CHECKED
backoff_status backoff_policy_draw(const struct backoff_policy *policy, uint64_t failures,
                                   uint64_t previous_ns, uint64_t word,
                                   uint64_t *delay_ns) BACKOFF_DIRECT;

/**
 * Counts a failure, and draws the delay before the next attempt: backoff_retry_fail for every policy.
 *
 * It takes named policies, every jitter, multiplier, priority and flag. For a policy that backoff_retry_fail takes, both
 * give the same delays. A program that calls this function links all laws: 14 KB of code in place of 3.
 *
 * @param retry     the operation
 * @param policy    the policy; it may be another one at every call
 * @param now_ns    the time, of the clock given to backoff_retry_init
 * @param hint_ns   what the server asked for (Retry-After); 0: nothing
 * @param delay_ns  receives the delay from now on
 *
 * @return as backoff_retry_fail, but never BACKOFF_STATUS_NEEDS_ANY
 *
 * # Safety
 * As that of backoff_retry_fail.
 */
BACKOFF_CHECKED
backoff_status backoff_retry_fail_any(struct backoff_retry *retry,
                                      const struct backoff_policy *policy, uint64_t now_ns,
                                      uint64_t hint_ns, uint64_t *delay_ns) BACKOFF_DIRECT;

/**
 * The same as backoff_retry_fail_any, with a delay that counts from the start of the attempt that has failed.
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
 * @return as backoff_retry_fail_any
 *
 * # Safety
 * As that of backoff_retry_fail.
 */
BACKOFF_CHECKED
backoff_status backoff_retry_fail_since(struct backoff_retry *retry,
                                        const struct backoff_policy *policy, uint64_t attempt_ns,
                                        uint64_t now_ns, uint64_t hint_ns,
                                        uint64_t *delay_ns) BACKOFF_DIRECT;

/**
 * Reads a policy once, for backoff_prepared_fail and backoff_prepared_draw, which take little more than half of the time
 * that backoff_retry_fail takes. It gives the same delays, bit for bit. (Of kinds whose delays are neither uniform nor
 * decorrelated, such as DHCPV6 and POLLY, they ask the policy each time.)
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
BACKOFF_CHECKED
backoff_status backoff_policy_prepare(const struct backoff_policy *policy,
                                      struct backoff_prepared *prepared) BACKOFF_DIRECT;

/**
 * Counts a failure, and draws the delay before the next attempt; as backoff_retry_fail_any, from a prepared policy.
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
BACKOFF_CHECKED
backoff_status backoff_prepared_fail(struct backoff_retry *retry,
                                     const struct backoff_prepared *prepared, uint64_t now_ns,
                                     uint64_t hint_ns, uint64_t *delay_ns) BACKOFF_DIRECT;

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
BACKOFF_CHECKED
backoff_status backoff_prepared_draw(const struct backoff_prepared *prepared, uint64_t failures,
                                     uint64_t previous_ns, uint64_t word,
                                     uint64_t *delay_ns) BACKOFF_DIRECT;

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
BACKOFF_CHECKED
backoff_status backoff_policy_draws(const struct backoff_policy *policy, uint64_t failures,
                                    uint64_t previous_ns, uint64_t *generator, size_t count,
                                    uint64_t *delays_ns) BACKOFF_DIRECT;

#ifdef __cplusplus
}
#endif

BACKOFF_ASSERT(sizeof(struct backoff_prepared) == 1192 && offsetof(struct backoff_prepared, laws) == 56)
BACKOFF_ASSERT(sizeof(struct backoff_bounds) == 16 && sizeof(struct backoff_moments) == 16)

#endif /* BACKOFF_PRESETS_H */
