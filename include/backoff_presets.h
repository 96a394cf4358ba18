/*
 * libbackoff: presets, and the laws beside the eight kinds. The laws link only where a function of this header is called.
 *
 *     struct backoff_policy policy = BACKOFF_PRESET_GRPC;      // an initialiser; then change its fields as you like
 *     status = backoff_retry_fail_any(&retry, &policy, now_ns, hint_ns, &delay_ns);
 *
 * A client that connects as gRPC does counts each delay from the start of the attempt on, not from its end:
 *
 *     status = backoff_retry_fail_since(&retry, &policy, attempt_ns, now_ns, 0, &delay_ns);
 *
 * backoff_retry_fail of backoff.h takes the eight kinds by structure, with times, limits and hints, and so the presets of
 * 802.3, SIP, AWS, Kubernetes, TCP and curl. Everything else is for the functions of this header: other kinds, multiplier,
 * priority, another jitter, an exact or immediate first delay.
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
 * The first delay has no jitter; with FIRST_AT_ONCE that is the delay after the second failure. Kinds that count slots have
 * no delay before jitter: they refuse it.
 */
#define BACKOFF_FLAG_FIRST_EXACT 2

/** How many laws a `struct backoff_prepared` has. */
#define BACKOFF_PREPARED_LAWS 40

/**
 * The kinds that are none of `enum backoff_kind`: numbers for the `kind` of a `struct backoff_policy`.
 * backoff_retry_fail_any takes them. n as there. All but STEPS count slots: they have their own spread, and take no jitter.
 */
enum backoff_law {
    /**
     * base * (ceiling / base)^((n-1) / intervals[0]), then the ceiling; a ceiling below the base is none. As systemd has it:
     * base_ns is RestartSec, ceiling_ns RestartMaxDelaySec, intervals[0] RestartSteps. Without ceiling or steps always the
     * base. systemd.service(5). intervals_count is not asked for.
     */
    BACKOFF_LAW_STEPS = 7,
    /**
     * Heuristic RCP: r slots, r uniform in 0 <= r < intervals[n-1], the last one from then on. Lam, Kleinrock 1975.
     * intervals_count has no default: 0 is refused. An interval of 0 counts as 1, which is no delay.
     */
    BACKOFF_LAW_RCP = 9,
    /**
     * The same, with the intervals as multipliers of the interval before; the first one of 1. A product that passes
     * 2^64 - 1 slots is that many. After a multiplier of 0 there is no delay any more.
     */
    BACKOFF_LAW_RCP_MULTIPLIERS = 10,
    /** Slotted ALOHA: r slots, r uniform in 0 <= r < intervals[0]; 0: 2. intervals_count is not asked for. */
    BACKOFF_LAW_ALOHA_UNIFORM = 11,
    /**
     * Slotted ALOHA: r slots, r geometric with p = 2 / (intervals[0] + 1); 0: 2. Lam 1974. intervals_count is not asked
     * for. With 1, p is 1 and r is 0. Else r has no upper end: the bounds say how many slots fit below the cap or
     * 2^64 ns, though more than 50 * intervals[0] of them will not be seen. A cap does not move this law but cuts it:
     * what is left keeps its proportions.
     */
    BACKOFF_LAW_ALOHA_GEOMETRIC = 12,
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
    /**
     * DHCPv6: at first in base * [1 - f, 1 + f], f = jitter_amount percent, 0: 10; then in [2 - f, 2 + f] times the delay
     * before. What passes the ceiling is drawn again in ceiling * [1 - f, 1 + f]. d is not used. RFC 8415, 15.
     */
    BACKOFF_JITTER_DHCPV6 = 11,
    /** The same, and the first delay is longer than the base. RFC 8415, 18.2.1. */
    BACKOFF_JITTER_DHCPV6_SOLICIT = 12,
    /**
     * Polly, version 2: base / 1.4 * (f(t(n)) - f(t(n-1))), f(t) = 2^t * tanh(2 * sqrt(t)), t(n) = n - 1 + u, u uniform in
     * [0, 1); f(t(0)) is 0. The base is the median of the first delay, about. A cap cuts a delay. Where other jitters take
     * the previous delay, this one takes the sum of all previous delays. d is not used.
     */
    BACKOFF_JITTER_POLLY = 13,
    /** min(cap, uniform in d * [1 - f, 1 + f]), f = jitter_amount percent; 0: 50. PROPORTIONAL keeps its spread at the cap. */
    BACKOFF_JITTER_PROPORTIONAL_CLAMPED = 14,
    /** Uniform in [d - jitter_amount, d + jitter_amount] ms, to the nanosecond; 0: 1000. No delay is negative. */
    BACKOFF_JITTER_AROUND = 15,
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
    /** How many of the laws count: no more than there are delays. */
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
     * number of its chances, `cap_ns` the longest delay; each of the laws has a slot as its step and a chance as its top, and
     * the first two have as their first one the highest octets of seven chances, and the last word of the eighth octet.
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
 * each octet of `word` makes a binary digit, so that the order of the words says nothing. Nor for DHCPV6, where what passes
 * the ceiling takes another word.
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
 * It takes every kind, jitter, multiplier, priority and flag. For a policy that backoff_retry_fail takes, both
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
 * that backoff_retry_fail takes. It gives the same delays, bit for bit. (Of jitters that are neither uniform nor
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

/*
 * Presets: initialisers of a struct backoff_policy, with the source of each, its version, and when the two were compared.
 * They are text of this header, and no part of the library. n counts the failures from 1. ffi-tests/presets.c has the
 * delays that the sources publish.
 */

/* A preset that counts milliseconds; 0: the default. The multiplier is in millionths. */
#define BACKOFF_PRESET_OF(kind, base_ms, ceiling_ms, cap_ms, elapsed_ms, attempts, multiplier, jitter, amount, flags, hint_ms) \
    { sizeof(struct backoff_policy), kind, (base_ms) * UINT64_C(1000000), 0, 0, (ceiling_ms) * UINT64_C(1000000), \
      (cap_ms) * UINT64_C(1000000), (elapsed_ms) * UINT64_C(1000000), attempts, 0, 0, jitter, amount, 0, 0, 0, 0, \
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, multiplier, flags, (hint_ms) * UINT64_C(1000000) }

/* One whose delay after failure n is uniform in 0 <= r < the n-th of four intervals, in slots. */
#define BACKOFF_PRESET_OF_SLOTS(slot_ns, attempts, first, second, third, last) \
    { sizeof(struct backoff_policy), BACKOFF_LAW_RCP, 0, 0, slot_ns, 0, 0, 0, attempts, 0, 0, 0, 0, 0, 0, 4, 0, \
      { first, second, third, last, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0, 0, 0 }

/** r slots of 51.2 us, r uniform in 0 <= r < 2^min(n,10); the 16th failure is the last. IEEE 802.3-2022, 4.2.3.2.5. */
#define BACKOFF_PRESET_IEEE8023 BACKOFF_PRESET_OF(BACKOFF_KIND_SLOT_EXPONENTIAL, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0)

/**
 * Unslotted CSMA-CA: [0, 2^BE - 1] units of 320 us, BE = 3, 4, 5, 5, 5; the sixth is the last. IEEE 802.15.4-2020, 6.2.5.1;
 * the numbers as makers of radios have them, 2026-11-22. Its first delay comes before the first attempt: call at once.
 */
#define BACKOFF_PRESET_IEEE802154 BACKOFF_PRESET_OF_SLOTS(320000, 6, 8, 16, 32, 32)

/**
 * 0.5, 1, 2, 4, 4 ... s, until 32 s have passed. RFC 3261 (June 2002), 17.1.2.2 and table 4, 2026-11-22. base_ns is T1,
 * ceiling_ns T2, elapsed_limit_ns 64 * T1: change all three together.
 *
 * Each firing of the timer is a failure: backoff_retry_init when the request is first sent, backoff_retry_fail at once for
 * the first delay, then at each firing, after the request was sent again. ELAPSED_LIMIT says that the timer does not fire
 * again: at 31.5 s. The transaction ends later, when timer F (for an INVITE timer B) fires, 64 * T1 after the start.
 */
#define BACKOFF_PRESET_SIP_TIMER_E BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 500, 4000, 0, 32000, 0, 0, 0, 0, 0, 0)

/** 0.5, 1, 2, 4, 8, 16 s, until 32 s have passed. RFC 3261, 17.1.1.2. Driven as timer E; T2 is not for it. */
#define BACKOFF_PRESET_SIP_TIMER_A BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 500, 0, 0, 32000, 0, 0, 0, 0, 0, 0)

/**
 * 0.5 s * 1.5^(n-1), at most 60 s, times [0.5, 1.5], for 15 minutes. google-http-java-client, ExponentialBackOff.java,
 * 2026-11-22.
 */
#define BACKOFF_PRESET_GOOGLE_HTTP \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 500, 60000, 0, 900000, 0, 1500000, BACKOFF_JITTER_PROPORTIONAL, 50, 0, 0)

/** 2^(n-1) s + [0, 1000] ms, five times: the 6th failure is the last. Google Drive SDK, samples of 2013, 2026-11-22. */
#define BACKOFF_PRESET_GOOGLE_DRIVE \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 1000, 0, 0, 0, 6, 0, BACKOFF_JITTER_ADDED, 1000, 0, 0)

/** [0, 1) * 100 ms * 4^n. Amazon SimpleDB Developer Guide, API Error Retries, 2026-11-22. */
#define BACKOFF_PRESET_AMAZON_SIMPLEDB \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 400, 0, 0, 0, 0, 4000000, BACKOFF_JITTER_BELOW, 0, 0, 0)

/**
 * 1 s, then 1.6^(n-1) s, at most 120 s, times [0.8, 1.2]; the first delay without jitter. gRPC, connection-backoff.md at
 * 27598d5f, 2026-11-22. There a delay counts from the start of the attempt: backoff_retry_fail_since.
 */
#define BACKOFF_PRESET_GRPC \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 1000, 120000, 0, 0, 0, 1600000, BACKOFF_JITTER_PROPORTIONAL, 20, \
                      BACKOFF_FLAG_FIRST_EXACT, 0)

/**
 * gRPC's retryPolicy: min(initialBackoff * backoffMultiplier^(n-1), maxBackoff) times [0.8, 1.2]. gRPC proposal A6 as of
 * dc9fd4fe (2024), Exponential Backoff, 2026-11-28. The fields have no default there; these are those of its example: 0.1 s
 * (base_ns), 1 s (ceiling_ns), 2 (multiplier_millionths), maxAttempts 4 (attempt_limit). A pushback is exact there, and
 * begins anew: wait it out, and call backoff_retry_reset.
 */
#define BACKOFF_PRESET_GRPC_RETRY \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 100, 1000, 0, 0, 4, 2000000, BACKOFF_JITTER_PROPORTIONAL, 20, 0, 0)

/**
 * AWS SDKs, standard mode of November 2026: [0, 50 ms * 2^(n-1)], at most 20 s; the third failure is the last. A hint is
 * x-amz-retry-after: see BACKOFF_FLAG_HINT_ABOVE_DRAW. aws-sdk-cpp, StandardRetryStrategy, 2026-11-22.
 */
#define BACKOFF_PRESET_AWS_STANDARD \
    BACKOFF_PRESET_OF(BACKOFF_KIND_FULL_JITTER, 50, 20000, 0, 0, 3, 0, 0, 0, BACKOFF_FLAG_HINT_ABOVE_DRAW, 5000)

/** The same after a throttling error: from 1,000 ms on. For DynamoDB set attempt_limit to 4. */
#define BACKOFF_PRESET_AWS_THROTTLING \
    BACKOFF_PRESET_OF(BACKOFF_KIND_FULL_JITTER, 1000, 20000, 0, 0, 3, 0, 0, 0, BACKOFF_FLAG_HINT_ABOVE_DRAW, 5000)

/** The same for DynamoDB: from 25 ms on; the fourth failure is the last. */
#define BACKOFF_PRESET_AWS_DYNAMODB \
    BACKOFF_PRESET_OF(BACKOFF_KIND_FULL_JITTER, 25, 20000, 0, 0, 4, 0, 0, 0, BACKOFF_FLAG_HINT_ABOVE_DRAW, 5000)

/**
 * AWS SDKs for Python, .NET and C++, standard mode before: [0, 1 s * 2^(n-1)], at most 20 s; the third failure is the last.
 * (C++ draws whole milliseconds.) Those for Java and JavaScript: base_ns 100 ms, after a throttling error 500 ms. botocore,
 * ExponentialBackoff, 2026-11-22.
 */
#define BACKOFF_PRESET_AWS_STANDARD_BEFORE BACKOFF_PRESET_OF(BACKOFF_KIND_FULL_JITTER, 1000, 20000, 0, 0, 3, 0, 0, 0, 0, 0)

/** The controllers' work queues of Kubernetes: 5 ms * 2^(n-1), at most 1,000 s. client-go, 2026-11-22. */
#define BACKOFF_PRESET_KUBERNETES_QUEUE BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 5, 1000000, 0, 0, 0, 0, 0, 0, 0, 0)

/** CrashLoopBackOff of Kubernetes: 10 s * 2^(n-1), at most 300 s; after ten minutes of running anew. kubelet, 2026-11-22. */
#define BACKOFF_PRESET_KUBERNETES_CRASH_LOOP \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 10000, 300000, 0, 0, 0, 0, 0, 0, 0, 0)

/** TCP's retransmission timer: 1 s * 2^(n-1), at most 60 s; base_ns is RTO. RFC 6298 (June 2011), 2.1, 2.5, 5.5, 2026-11-28. */
#define BACKOFF_PRESET_TCP_RTO BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 1000, 60000, 0, 0, 0, 0, 0, 0, 0, 0)

/**
 * The point t of Trickle in its interval I: t in [I/2, I), I = 8 ms * 2^(n-1), at most 2^20 times 8 ms. RFC 6206 (March
 * 2011), 4.2; Imin and the doublings are those of RFC 6550 (March 2012), 17, 2026-11-22. I is longest_ns + 1 of
 * backoff_policy_bounds for the same failure: transmit at t if fewer than k messages were consistent, and call again when I
 * ends. An inconsistent message: backoff_retry_reset.
 */
#define BACKOFF_PRESET_TRICKLE \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 8, 8388608, 0, 0, 0, 0, BACKOFF_JITTER_UPPER_HALF, 0, 0, 0)

/**
 * CoAP: t, 2t, 4t, 8t, 16t with t in [2, 3] s; the sixth is the last. RFC 7252 (June 2014), 4.2 and 4.8, 2026-11-22; base_ns
 * is ACK_TIMEOUT, jitter_amount in percent is ACK_RANDOM_FACTOR less 1. Driven as SIP_TIMER_E, with a call at once.
 */
#define BACKOFF_PRESET_COAP BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 2000, 0, 0, 0, 6, 0, BACKOFF_JITTER_INITIAL, 50, 0, 0)

/**
 * DHCPv4: 4, 8, 16, 32, 64, 64 ... s, each with [-1, 1] s; without end. RFC 2131 (March 1997), 4.1, 2026-11-28. Driven as
 * SIP_TIMER_E, with a call at once.
 */
#define BACKOFF_PRESET_DHCPV4 BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 4000, 64000, 0, 0, 0, 0, BACKOFF_JITTER_AROUND, 1000, 0, 0)

/**
 * DHCPv6, Solicit: at first in [1 s + 1 ns, 1.1 s], then 2 + [-0.1, 0.1] times the delay before; what passes 3,600 s is
 * drawn again in 3,600 s * [0.9, 1.1]. RFC 8415 (November 2018), 15, 7.6 and 18.2.1, 2026-11-22. base_ns is IRT, ceiling_ns
 * MRT, elapsed_limit_ns MRD, attempt_limit MRC + 1, jitter_amount in percent RAND. Driven as SIP_TIMER_E, with a call at
 * once.
 */
#define BACKOFF_PRESET_DHCPV6_SOLICIT \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 1000, 3600000, 0, 0, 0, 0, BACKOFF_JITTER_DHCPV6_SOLICIT, 10, 0, 0)

/**
 * The same for the other messages: at first in [0.9 s, 1.1 s], and without MRT. In seconds RFC 8415 has: Request IRT 1, MRT
 * 30, MRC 10; Confirm 1, MRT 4, MRD 10; Renew and Rebind 10, MRT 600; Information-request 1, MRT 3600; Release and Decline
 * 1, MRC 4; Reconfigure 2, MRC 8.
 */
#define BACKOFF_PRESET_DHCPV6 BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 1000, 0, 0, 0, 0, 0, BACKOFF_JITTER_DHCPV6, 10, 0, 0)

/** Polly's decorrelated jitter, version 2; base_ns is medianFirstRetryDelay. Polly, RetryHelper at 07124acf, 2026-11-22. */
#define BACKOFF_PRESET_POLLY BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 0, 0, 0, 0, 0, 0, BACKOFF_JITTER_POLLY, 0, 0, 0)

/**
 * Envoy: 0 to 24 ms, 0 to 74, 0 to 174, then 0 to 249, in whole milliseconds; one retry. Its documentation, router_filter.rst
 * at f475937e, 2026-11-28: [0, (2^n - 1) * 25 ms), at most ten times 25 ms. Its code of that time has [0, 2^(n-1) * 25 ms):
 * BACKOFF_KIND_FULL_JITTER with base_ns 25 ms and ceiling_ns 250 ms.
 */
#define BACKOFF_PRESET_ENVOY BACKOFF_PRESET_OF_SLOTS(1000000, 2, 25, 75, 175, 250)

/**
 * curl --retry: 1 s * 2^(n-1), at most 10 minutes. curl, docs/cmdline-opts/retry.md at 71cd23a1, 2026-11-28. For --retry N
 * set attempt_limit to N + 1, for --retry-max-time elapsed_limit_ns. It takes Retry-After as it is.
 */
#define BACKOFF_PRESET_CURL BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 1000, 600000, 0, 0, 0, 0, 0, 0, 0, 0)

/**
 * The exporters of the OpenTelemetry Collector, OTLP among them: 5 s * 1.5^(n-1), at most 30 s, times [0.5, 1.5], for 5
 * minutes. opentelemetry-collector, configretry at 7ae46626, 2026-11-28. (The specification of OTLP has no numbers.)
 */
#define BACKOFF_PRESET_OTLP \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 5000, 30000, 0, 300000, 0, 1500000, BACKOFF_JITTER_PROPORTIONAL, 50, 0, 0)

/**
 * Kafka clients: min(1 s, 100 ms * 2^(n-1) * [0.8, 1.2]). KIP-580, Public Interfaces (Kafka 3.7), 2026-11-28; base_ns is
 * retry.backoff.ms, cap_ns retry.backoff.max.ms. Its class ExponentialBackoff has ceiling_ns at 1 s too.
 */
#define BACKOFF_PRESET_KAFKA \
    BACKOFF_PRESET_OF(BACKOFF_KIND_EXPONENTIAL, 100, 0, 1000, 0, 0, 0, BACKOFF_JITTER_PROPORTIONAL_CLAMPED, 20, 0, 0)

#ifdef __cplusplus
}
#endif

/**
 * backoff_prepared_fail without the call: the same delays, states and statuses. It draws in place where the law is uniform,
 * and nothing was said of a hint or of how long the operation may last; else, and without integers of 128 bits, it calls
 * the library. Contract and safety are those of backoff_prepared_fail.
 */
BACKOFF_CHECKED
static inline backoff_status backoff_prepared_fail_inline(struct backoff_retry *retry,
                                                          const struct backoff_prepared *prepared,
                                                          uint64_t now_ns, uint64_t hint_ns, uint64_t *delay_ns)
{
#ifdef __SIZEOF_INT128__
    if (retry && prepared && delay_ns && retry->mark == UINT32_C(0x6261636B) && prepared->mark == UINT32_C(0x72656164) &&
        retry->failures < prepared->count && prepared->elapsed_limit_ns == UINT64_MAX && !hint_ns) {
        const struct backoff_prepared_law *law = &prepared->laws[retry->failures];
        uint64_t counter = retry->generator + UINT64_C(0x9E3779B97F4A7C15), word = counter;
        __extension__ unsigned __int128 product;
        word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
        product = word ^ (word >> 31);
        product *= law->top + 1;
        if ((uint64_t)product > law->top) { /* no word that would favour some delays, and not a range of 2^64 */
            retry->generator = counter;
            retry->failures++;
            retry->previous_ns = law->first_ns + law->step_ns * (uint64_t)(product >> 64);
            *delay_ns = retry->previous_ns;
            return BACKOFF_STATUS_OK;
        }
    }
#endif
    return backoff_prepared_fail(retry, prepared, now_ns, hint_ns, delay_ns);
}

BACKOFF_ASSERT(sizeof(struct backoff_prepared) == 1192 && offsetof(struct backoff_prepared, laws) == 56)
BACKOFF_ASSERT(sizeof(struct backoff_bounds) == 16 && sizeof(struct backoff_moments) == 16)

#endif /* BACKOFF_PRESETS_H */
