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

@ITEMS@

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
