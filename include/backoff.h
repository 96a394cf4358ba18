/*
 * libbackoff: when to try again. The backoff of IEEE 802.3, and the delays of a client that retries.
 *
 *     #include <backoff.h>             stations, operations that are retried, the eight kinds of delay
 *     #include <backoff_presets.h>     presets (SIP, gRPC, AWS, curl, Kafka ...), other kinds, bounds, prepared policies
 *     #include <backoff_limits.h>      rates that fall and recover, quotas, throttles, retry windows
 *     #include <backoff_schedule.h>    a timer wheel
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
 *                 printf("discarded\n");                        // that was attempt number 16
 *                 break;
 *             }
 *             printf("wait %" PRIu64 " slots\n", slots);        // times slotTime, from the end of the jam;
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
 * State lies in the caller's memory, plain, copyable, nothing to free: 32 octets for a station, 40 for an operation.
 * No function allocates, locks, waits or calls the system, and only backoff_policy_moments uses floating point. So all
 * functions may be called from an interrupt handler that saves the vector registers. In a handler that does not, call
 * those that leave them alone on x86-64: backoff_collide*, backoff_attempts, backoff_reset, backoff_retry_*,
 * backoff_policy_bounds and _draw, backoff_prepared_*, backoff_quota_*, backoff_throttle_*, backoff_share_allows,
 * backoff_version*, backoff_status_text; or take libbackoff.a of `cargo build --target x86_64-unknown-none`.
 *
 * Two threads may use two states at the same time, never one, except a struct backoff_tokens, which threads share. The
 * section "Safety" of each function says which pointers must be valid, and who must not use them meanwhile.
 *
 * Functions that can be refused return a status. A result goes through the last pointer, and only with
 * BACKOFF_STATUS_OK. NULL is refused, also where a count of 0 follows; only the ticket of backoff_schedule_insert may be
 * NULL. A call that is not answered with OK changes nothing, except that DISCARDED, ATTEMPT_LIMIT and ELAPSED_LIMIT count.
 *
 * Every time, count and word is accepted: nothing overflows; what would pass 2^64 - 1 is that. The library recognizes a
 * state by a mark that its init function wrote; this finds zeroed memory, not every mistake.
 *
 * A configuration begins with its size, and 0 in a field means its default. Later versions add fields at the end. So the
 * library takes a smaller struct of an earlier header, and a larger one of a later header whose further fields are 0.
 *
 * Link with -lbackoff, or with what `pkg-config --cflags --libs backoff` prints. The headers are C99, C11 and C++17.
 */

#ifndef BACKOFF_H
#define BACKOFF_H

/* Made from the source of the library and from headers/backoff.h there: change it there. */

#include <stddef.h>
#include <stdint.h>

/* Calls go straight to the address that the loader has found; and some answers have to be looked at. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define BACKOFF_DIRECT __attribute__((noplt))
#endif
#if __has_attribute(warn_unused_result)
#define BACKOFF_CHECKED __attribute__((warn_unused_result))
#endif
#endif
#ifndef BACKOFF_DIRECT
#define BACKOFF_DIRECT
#endif
#ifndef BACKOFF_CHECKED
#define BACKOFF_CHECKED
#endif

/* The layout is part of the ABI. C99 has no assertion of this kind; there the library alone asserts it. */
#if defined(__cplusplus)
#define BACKOFF_ASSERT(holds) static_assert(holds, #holds);
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define BACKOFF_ASSERT(holds) _Static_assert(holds, #holds);
#else
#define BACKOFF_ASSERT(holds)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** The version of this header; `backoff_version()` is the one of the library that was found at run time. */
#define BACKOFF_VERSION_MAJOR 1

/** Grows with additions that old programs do not notice. */
#define BACKOFF_VERSION_MINOR 0

/** Grows with corrections. */
#define BACKOFF_VERSION_PATCH 0

/** The binary interface: the soname is libbackoff.so.1, whatever the version. */
#define BACKOFF_ABI 1

/** How many entries `intervals` of a `struct backoff_policy` has. */
#define BACKOFF_INTERVALS 16

/**
 * A server's hint is the delay itself, but no less than the drawn delay t, and no more than t + hint_limit_ns, as the AWS
 * SDKs read x-amz-retry-after (with 5 s). Without it a hint moves the whole range up, and hint_limit_ns bounds the hint.
 */
#define BACKOFF_FLAG_HINT_ABOVE_DRAW 4

/** Fields that the policy does not use are ignored, and not refused with BACKOFF_STATUS_FIELD_UNUSED. */
#define BACKOFF_FLAG_IGNORE_UNUSED 8

/** What `backoff_collide_each` writes for a frame that is discarded. */
#define BACKOFF_DISCARDED 18446744073709551615ull

/** What a call came to. A result is written only with `BACKOFF_STATUS_OK`. */
enum backoff_status {
    /** Done. */
    BACKOFF_STATUS_OK = 0,
    /** The collision of attempt number `attempt_limit`: the frame is discarded. An answer, not a fault. */
    BACKOFF_STATUS_DISCARDED = 1,
    /** A pointer is NULL. Nothing changed. */
    BACKOFF_STATUS_NULL_POINTER = 2,
    /** `size` of the configuration is that of no version, or a field that this library does not know is not 0. */
    BACKOFF_STATUS_CONFIG_SIZE = 3,
    /** The state is zeroed memory, or memory without the mark of its `_init` function. Nothing changed. */
    BACKOFF_STATUS_NOT_INITIALISED = 4,
    /** A field has a value that means nothing: no kind, jitter or flag, or a reserved field not 0. Nothing changed. */
    BACKOFF_STATUS_CONFIG_VALUE = 5,
    /** The failure was the last that the policy allows; it is counted. An answer, not a fault. */
    BACKOFF_STATUS_ATTEMPT_LIMIT = 6,
    /** The delay would end after the elapsed limit; the failure is counted, the generator has moved. An answer, not a fault. */
    BACKOFF_STATUS_ELAPSED_LIMIT = 7,
    /** The budget holds no retry. An answer, not a fault. */
    BACKOFF_STATUS_BUDGET_EMPTY = 8,
    /** The schedule has no room for another value. Nothing changed. */
    BACKOFF_STATUS_SCHEDULE_FULL = 9,
    /** Nothing is pending there. An answer, not a fault. */
    BACKOFF_STATUS_NOT_PENDING = 10,
    /** The memory is too small, or not aligned to 8 octets. Nothing changed. */
    BACKOFF_STATUS_MEMORY = 11,
    /** A field of the policy is set that the policy does not use. Nothing changed. BACKOFF_FLAG_IGNORE_UNUSED permits it. */
    BACKOFF_STATUS_FIELD_UNUSED = 12,
    /** backoff_retry_fail does not take this policy; backoff_retry_fail_any of backoff_presets.h does. Nothing changed. */
    BACKOFF_STATUS_NEEDS_ANY = 13,
};
typedef enum backoff_status backoff_status;

/**
 * The eight kinds by structure; `backoff_presets.h` has five more, and presets. n counts the failures so far, from 1; d is the
 * delay before jitter. The formulas hold without cap and ceiling: a cap may move a range below its lower end.
 */
enum backoff_kind {
    /** Uniform in [0, d], d = base * 2^(n-1), at most the ceiling. AWS Architecture Blog, 2015. */
    BACKOFF_KIND_FULL_JITTER = 0,
    /** Uniform in [d/2, d]. AWS Architecture Blog, 2015. */
    BACKOFF_KIND_EQUAL_JITTER = 1,
    /** Uniform in [base, 3 * the delay before], first in [base, 3 * base]. AWS Architecture Blog, 2015; but see cap_ns. */
    BACKOFF_KIND_DECORRELATED_JITTER = 2,
    /** d itself, d = base * 2^(n-1); backoff_retry_fail_any also takes another multiplier. */
    BACKOFF_KIND_EXPONENTIAL = 3,
    /** Always the base. */
    BACKOFF_KIND_CONSTANT = 4,
    /** base + (n - 1) * increment. */
    BACKOFF_KIND_LINEAR = 5,
    /** base * 1, 1, 2, 3, 5, 8 ... */
    BACKOFF_KIND_FIBONACCI = 6,
    /** r slots, r uniform in 0 <= r < 2^min(n, slot_limit); backoff_retry_fail_any also takes another slot_base. */
    BACKOFF_KIND_SLOT_EXPONENTIAL = 8,
};

/**
 * One station's backoff: the frame in hand and the generator of all its frames. Plain data in the caller's memory.
 *
 * Copy it with `=` or `memcpy`, write it to a file, throw it away: there is nothing to free. A copy draws the same
 * delays again. The fields are the library's: read them with a debugger, write them through the functions.
 */
struct backoff {
    /** The counter of the built-in generator, splitmix64. */
    uint64_t generator;
    /** How many attempts of this frame have collided. */
    uint32_t attempts;
    /** As configured; 0 only in zeroed memory, which is refused. */
    uint32_t attempt_limit;
    /** As configured. */
    uint32_t backoff_limit;
    /** 0; room for later versions. */
    uint32_t reserved[3];
};

/**
 * The configuration for `backoff_init`. A field that is 0 means the default, the value of IEEE 802.3.
 *
 * `struct backoff_config config = BACKOFF_CONFIG_INIT;` sets the size and takes every default.
 */
struct backoff_config {
    /** `sizeof(struct backoff_config)`; the one field without a default. */
    uint32_t size;
    /** The attempt, the first included, whose collision discards the frame; 0: 16. */
    uint32_t attempt_limit;
    /** The collision from which on the range no longer doubles; 0: 10. From 64 on the range is all of `uint64_t`. */
    uint32_t backoff_limit;
};

/**
 * How long to wait after the n-th failure. A field that is 0 means the default of the kind; times are in nanoseconds.
 *
 * `struct backoff_policy policy = BACKOFF_POLICY_INIT;` is exponential with full jitter from 100 ms on, without end.
 * From the growth to the delay: growth, ceiling, priority, jitter, cap. What passes 2^64 ns, 584 years, is that long. A
 * field that the kind does not use is refused. Many states may share one policy.
 */
struct backoff_policy {
    /** `sizeof(struct backoff_policy)`; the one field without a default. */
    uint32_t size;
    /** One of `enum backoff_kind`, or of `enum backoff_law`. */
    uint32_t kind;
    /** The first delay before jitter; T1 of SIP. 0: 100 ms. */
    uint64_t base_ns;
    /** What LINEAR adds; 0: the base. */
    uint64_t increment_ns;
    /** The slot; 0: 51200 ns, slotTime at 10 Mb/s. */
    uint64_t slot_ns;
    /**
     * The longest delay before jitter, which AWS calls cap and gRPC max backoff; 0: none. In
     * DECORRELATED it bounds 3 * the delay before, and the base; of slots the longest delay, though not below one slot.
     */
    uint64_t ceiling_ns;
    /**
     * The longest delay, jitter included; 0: none. A server's hint alone passes it.
     *
     * A range [lo, hi] that would pass it is moved down until it ends there. It keeps its width as far as it can: lo
     * falls as much as hi does, down to 0 if need be, and so below the base. With d at twice the cap or above EQUAL is
     * thus FULL, from 0 to the cap. Where that is not wanted, use ceiling_ns. AWS's decorrelated jitter is another law:
     * BACKOFF_JITTER_DECORRELATED_CLAMPED.
     */
    uint64_t cap_ns;
    /** How long after the start the last delay may end; 0 and UINT64_MAX: for ever. */
    uint64_t elapsed_limit_ns;
    /** The failure that is the last; 0 and UINT64_MAX: none. */
    uint64_t attempt_limit;
    /** From failure to failure d grows to this much of itself; 0: 200. Below 100: 100; above 429,496: refused. */
    uint32_t multiplier_percent;
    /** d is multiplied by this; below 100 for emergency traffic. 0: 100. */
    uint32_t priority_percent;
    /** One of `enum backoff_jitter`. */
    uint32_t jitter;
    /** The percentage or the milliseconds of the jitter. */
    uint32_t jitter_amount;
    /** The base of SLOT_EXPONENTIAL; 0 and 1: 2. */
    uint32_t slot_base;
    /** From this failure on SLOT_EXPONENTIAL no longer grows; 0: 10. */
    uint32_t slot_limit;
    /** How many of `intervals` count: between 1 and 16 for RCP and RCP_MULTIPLIERS, else 0 or, of one interval, 1. */
    uint32_t intervals_count;
    /** 0; room for later versions, and refused if it is not 0. */
    uint32_t reserved;
    /** The K of RCP and ALOHA (of which ALOHA uses the first), or the multipliers. */
    uint32_t intervals[BACKOFF_INTERVALS];
    /** In place of multiplier_percent, in millionths; 0: multiplier_percent. Below 1,000,000: 1,000,000. */
    uint32_t multiplier_millionths;
    /** BACKOFF_FLAG_...; others are refused. */
    uint32_t flags;
    /** How much of a server's hint counts; 0: all of it. See BACKOFF_FLAG_HINT_ABOVE_DRAW. */
    uint64_t hint_limit_ns;
};

/** One operation that is tried until it succeeds, and its generator. Plain data, as `struct backoff` is. */
struct backoff_retry {
    /** The counter of the built-in generator, splitmix64. */
    uint64_t generator;
    /** The last delay that the policy drew, without what a hint added; 0 before the first. Of jitter POLLY the sum of all. */
    uint64_t previous_ns;
    /** When the first attempt was made. */
    uint64_t start_ns;
    /** How many attempts have failed; it stops at UINT32_MAX. */
    uint32_t failures;
    /** Tells a state from memory that is none. */
    uint32_t mark;
    /** 0; room for later versions. */
    uint64_t reserved;
};

/**
 * The version of the library as a number: major * 65536 + minor * 256 + patch.
 *
 * Any thread may call it at any time.
 */
uint32_t backoff_version(void) BACKOFF_DIRECT;

/**
 * The version of the library as text, such as "1.0.0".
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
const char *backoff_status_text(uint32_t status) BACKOFF_DIRECT;

/**
 * Makes a state: no attempt has collided, and the built-in generator is at its start.
 *
 * The same `seed` and `stream` give the same delays on every machine. Give all stations of a run one seed and each
 * its own stream; 1, 2, 3 ... will do, because both numbers are mixed before use.
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
BACKOFF_CHECKED
backoff_status backoff_init(struct backoff *backoff, const struct backoff_config *config,
                            uint64_t seed, uint64_t stream) BACKOFF_DIRECT;

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
BACKOFF_CHECKED
backoff_status backoff_collide(struct backoff *backoff, uint64_t *slots) BACKOFF_DIRECT;

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
BACKOFF_CHECKED
backoff_status backoff_collide_word(struct backoff *backoff, uint64_t word,
                                    uint64_t *slots) BACKOFF_DIRECT;

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
backoff_status backoff_attempts(const struct backoff *backoff, uint32_t *attempts) BACKOFF_DIRECT;

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
backoff_status backoff_reset(struct backoff *backoff) BACKOFF_DIRECT;

/**
 * Makes the state of an operation whose first attempt is made now: nothing has failed yet.
 *
 * The same `seed` and `stream` give the same delays on every machine; see backoff_init. In a fleet the seed should be
 * random, or each device have a stream of its own: otherwise all of them wait equally long.
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
backoff_status backoff_retry_init(struct backoff_retry *retry, uint64_t seed, uint64_t stream,
                                  uint64_t now_ns) BACKOFF_DIRECT;

/**
 * Counts a failure, and draws the delay before the next attempt.
 *
 * It takes the kinds of `enum backoff_kind` with times, limits, slots and hints. A program that calls this function alone
 * links 2 KB; what else a policy can say is for backoff_retry_fail_any of backoff_presets.h. A time before the start
 * counts as the start; a time before the last call but after the start is taken as it is.
 *
 * A hint above the lower end lo of the range [lo, hi], as the cap left it, moves the whole range up: the delay lies in
 * [hint, hint + hi - lo]. So a hint may lead past the cap, and clients with the same hint do not return together. A hint
 * at lo or below changes nothing.
 *
 * The generator steps with BACKOFF_STATUS_OK and BACKOFF_STATUS_ELAPSED_LIMIT, and the failure counts with these and
 * BACKOFF_STATUS_ATTEMPT_LIMIT. The attempt limit stays met; after the elapsed limit a shorter hint might do. For
 * decorrelated jitter the delay before is what the policy drew, without the hint. If a cap made that 0, the next one is
 * the base itself, or the cap if that is less.
 *
 * @param retry     the operation
 * @param policy    the policy; it may be another one at every call
 * @param now_ns    the time, of the clock given to backoff_retry_init
 * @param hint_ns   what the server asked for (Retry-After); 0: nothing
 * @param delay_ns  receives the delay from now on
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_ATTEMPT_LIMIT or BACKOFF_STATUS_ELAPSED_LIMIT: give up; else NULL_POINTER,
 *         NOT_INITIALISED, CONFIG_SIZE, CONFIG_VALUE, FIELD_UNUSED or NEEDS_ANY, and nothing changes
 *
 * # Safety
 * `retry` and `delay_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `policy` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
 */
BACKOFF_CHECKED
backoff_status backoff_retry_fail(struct backoff_retry *retry, const struct backoff_policy *policy,
                                  uint64_t now_ns, uint64_t hint_ns,
                                  uint64_t *delay_ns) BACKOFF_DIRECT;

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
                                      uint32_t *failures) BACKOFF_DIRECT;

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
backoff_status backoff_retry_reset(struct backoff_retry *retry, uint64_t now_ns) BACKOFF_DIRECT;

/**
 * backoff_collide for `count` stations, one after the other. If one of them has not been initialised, nothing changes.
 *
 * @param stations  `count` states in a row
 * @param count     how many; 0 is accepted, with pointers that are not NULL
 * @param slots     receives `count` delays, in slots; BACKOFF_DISCARDED where the frame is discarded
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `stations` and `slots` are each NULL, or valid for `count` entries, apart from each other, and used by no other
 * thread during the call.
 */
backoff_status backoff_collide_each(struct backoff *stations, size_t count,
                                    uint64_t *slots) BACKOFF_DIRECT;

/**
 * Draws `count` delays of the collision that the station has counted last, from its generator; counts nothing.
 *
 * The delays are those of `count` stations which have met as many collisions, with AVX2 or without.
 *
 * @param station  the station
 * @param count    how many; 0 is accepted, with pointers that are not NULL
 * @param slots    receives `count` delays, in slots: before the first collision all 0
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `station` is NULL, or valid, and `slots` is NULL, or valid for `count` entries; they are apart from each other, and
 * used by no other thread during the call.
 */
backoff_status backoff_draws(struct backoff *station, size_t count, uint64_t *slots) BACKOFF_DIRECT;

#ifdef __cplusplus
}
#endif

/** A `struct backoff_config` with every default. */
#define BACKOFF_CONFIG_INIT { sizeof(struct backoff_config), 0, 0 }

/** A `struct backoff_policy` with every default: exponential with full jitter, from 100 ms on, without end. */
#define BACKOFF_POLICY_INIT \
    { sizeof(struct backoff_policy), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 0, 0, 0 }

/**
 * backoff_collide without the call: the same delays, the same states, the same statuses, for the price of a few
 * instructions at the place of use. Contract and safety are those of backoff_collide.
 */
BACKOFF_CHECKED
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

BACKOFF_ASSERT(sizeof(struct backoff_config) == 12)
BACKOFF_ASSERT(sizeof(struct backoff) == 32 && offsetof(struct backoff, attempts) == 8)
BACKOFF_ASSERT(offsetof(struct backoff, attempt_limit) == 12 && offsetof(struct backoff, backoff_limit) == 16)
BACKOFF_ASSERT(sizeof(struct backoff_policy) == 176 && offsetof(struct backoff_policy, base_ns) == 8)
BACKOFF_ASSERT(offsetof(struct backoff_policy, attempt_limit) == 56)
BACKOFF_ASSERT(offsetof(struct backoff_policy, intervals) == 96 && offsetof(struct backoff_policy, hint_limit_ns) == 168)
BACKOFF_ASSERT(sizeof(struct backoff_retry) == 40 && offsetof(struct backoff_retry, previous_ns) == 8)
BACKOFF_ASSERT(offsetof(struct backoff_retry, start_ns) == 16 && offsetof(struct backoff_retry, failures) == 24)

#endif /* BACKOFF_H */
