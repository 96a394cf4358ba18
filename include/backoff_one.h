/*
 * backoff_one.h: when to try again, in one file of C99, for programs that have no Rust compiler or no room for
 * libbackoff.
 *
 *     #include "backoff_one.h"
 *
 *     struct backoff_one_policy policy = {0};                  // all defaults: full jitter from 100 ms on, without end
 *     struct backoff_one request;
 *     uint64_t delay_ns;
 *     policy.cap_ns = UINT64_C(20000000000);                   // no delay above 20 s
 *     policy.attempt_limit = 8;                                // the 8th failure is the last
 *     backoff_one_init(&request, seed, device, now_ns);        // seed: from the system; a constant makes a herd
 *     while (request_fails() && backoff_one_fail(&request, &policy, now_ns, 0, &delay_ns) == BACKOFF_ONE_OK)
 *         sleep_for(delay_ns);
 *
 * The same seed and stream give the same delays as libbackoff, bit for bit: backoff_one_fail those of
 * backoff_retry_fail with the kinds FULL_JITTER, EQUAL_JITTER, DECORRELATED_JITTER and EXPONENTIAL, and
 * backoff_one_collide those of backoff_collide. ffi-tests/one.c holds that. The file needs <stdint.h> and <stddef.h>
 * alone. It calls nothing, allocates nothing and keeps no state of its own: state is plain data of 32 or 16 octets in
 * your memory. Two threads may use two states at the same time, never one.
 *
 * A field of a policy that is 0 means its default. Any number is accepted; what would pass 2^64 - 1 ns is that.
 *
 * Copyright of the libbackoff authors; MIT OR Apache-2.0.
 */

#ifndef BACKOFF_ONE_H
#define BACKOFF_ONE_H

#include <stddef.h>
#include <stdint.h>

#define BACKOFF_ONE_VERSION 0x000200

#if defined(__GNUC__)
#define BACKOFF_ONE_USE_RESULT __attribute__((warn_unused_result))
#else
#define BACKOFF_ONE_USE_RESULT
#endif

/* What a call came to. A result is written only with OK. */
enum backoff_one_status {
    BACKOFF_ONE_OK = 0,
    BACKOFF_ONE_ATTEMPT_LIMIT, /* the last failure that the policy allows, or the collision that discards the frame */
    BACKOFF_ONE_ELAPSED_LIMIT, /* the delay would end after the elapsed limit */
    BACKOFF_ONE_INVALID        /* NULL, a jitter that is none, or a state that no init function made; nothing changed */
};

/* How the delay d = base * 2^(n-1) after failure n is spread; d is at most the ceiling. */
enum backoff_one_jitter {
    BACKOFF_ONE_FULL = 0,     /* uniform in [0, d] */
    BACKOFF_ONE_EQUAL,        /* uniform in [d/2, d] */
    BACKOFF_ONE_DECORRELATED, /* uniform in [base, 3 * the delay before], which is at most the ceiling */
    BACKOFF_ONE_EXACT         /* d itself */
};

/* How long to wait after each failure. Times in nanoseconds; many operations may share one policy. */
struct backoff_one_policy {
    uint64_t base_ns;          /* the first delay before jitter; 0: 100 ms */
    uint64_t ceiling_ns;       /* the longest delay before jitter; 0: none */
    uint64_t cap_ns;           /* the longest delay; a range that would pass it is moved down to end there; 0: none */
    uint64_t elapsed_limit_ns; /* how long after the start the last delay may end; 0: for ever */
    uint64_t hint_limit_ns;    /* how much of a server's hint counts; 0: all of it */
    uint32_t attempt_limit;    /* the failure that is the last; 0: none */
    uint32_t jitter;           /* one of enum backoff_one_jitter */
};

/* One operation that is tried until it succeeds. */
struct backoff_one {
    uint64_t generator;   /* the counter of splitmix64 */
    uint64_t previous_ns; /* the last delay that the policy drew */
    uint64_t start_ns;    /* when the first attempt was made */
    uint32_t failures;    /* how many attempts have failed; it stops at UINT32_MAX */
    uint32_t mark;        /* tells a state from other memory */
};

/* One frame on a shared medium (IEEE 802.3, 4.2.3.2.5). */
struct backoff_one_station {
    uint64_t generator; /* the counter of splitmix64 */
    uint32_t attempts;  /* how many attempts of this frame have collided */
    uint32_t mark;      /* tells a state from other memory */
};

#define BACKOFF_ONE_MARK UINT32_C(0x6F6E6521)
#define BACKOFF_ONE_GAMMA UINT64_C(0x9E3779B97F4A7C15)

/* splitmix64: every bit of z over the whole word. */
static inline uint64_t backoff_one_mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline uint64_t backoff_one_word(uint64_t *generator)
{
    *generator += BACKOFF_ONE_GAMMA;
    return backoff_one_mix(*generator);
}

/* The high and the low half of a product; without a type of 128 bits, which C99 has not. */
static inline uint64_t backoff_one_product(uint64_t a, uint64_t b, uint64_t *low)
{
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    *low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* Uniform in [0, top], without bias: a word that would favour some values is drawn again (Lemire, 2019). */
static inline uint64_t backoff_one_uniform(uint64_t top, uint64_t *generator)
{
    uint64_t word = backoff_one_word(generator), range = top + 1, low, high, excess;
    if (range == 0)
        return word;
    high = backoff_one_product(word, range, &low);
    if (low < range) {
        excess = (UINT64_C(0) - range) % range;
        while (low < excess)
            high = backoff_one_product(backoff_one_word(generator), range, &low);
    }
    return high;
}

static inline uint64_t backoff_one_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A sum that stops at 2^64 - 1. */
static inline uint64_t backoff_one_sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* A field of 0 is its default. */
static inline uint64_t backoff_one_or(uint64_t field, uint64_t other)
{
    return field != 0 ? field : other;
}

/* base * 2^steps, or 2^64 - 1 where that is more. */
static inline uint64_t backoff_one_doubled(uint64_t base, uint64_t steps)
{
    return steps > 63 || base > (UINT64_MAX >> steps) ? UINT64_MAX : base << steps;
}

/* The smallest and the largest delay after failure number `failures`, counted from 1, given the delay before. */
static inline void backoff_one_range(const struct backoff_one_policy *policy, uint64_t failures, uint64_t previous_ns,
    uint64_t *first, uint64_t *last)
{
    uint64_t base = backoff_one_or(policy->base_ns, UINT64_C(100000000)), over;
    uint64_t ceiling = backoff_one_or(policy->ceiling_ns, UINT64_MAX);
    uint64_t cap = backoff_one_or(policy->cap_ns, UINT64_MAX);
    *last = backoff_one_min(backoff_one_doubled(base, failures - 1), ceiling);
    *first = *last;
    if (policy->jitter == BACKOFF_ONE_FULL)
        *first = 0;
    if (policy->jitter == BACKOFF_ONE_EQUAL)
        *first = *last / 2;
    if (policy->jitter == BACKOFF_ONE_DECORRELATED) {
        *first = backoff_one_min(base, ceiling);
        *last = backoff_one_min(previous_ns > UINT64_MAX / 3 ? UINT64_MAX : 3 * previous_ns, ceiling);
        if (*last < *first)
            *last = *first;
    }
    if (*last > cap) {
        over = *last - cap;
        *first = *first > over ? *first - over : 0;
        *last = cap;
    }
}

/*
 * Makes the state of an operation whose first attempt is made now.
 *
 * Give each device a stream of its own, or a seed from the system (getrandom, arc4random_buf, a TRNG): devices with
 * the same two numbers wait equally long.
 */
static inline void backoff_one_init(struct backoff_one *operation, uint64_t seed, uint64_t stream, uint64_t now_ns)
{
    if (operation == NULL)
        return;
    operation->generator =
        backoff_one_mix(backoff_one_mix(seed + 2 * BACKOFF_ONE_GAMMA) + (stream + 1) * BACKOFF_ONE_GAMMA);
    operation->previous_ns = 0;
    operation->start_ns = now_ns;
    operation->failures = 0;
    operation->mark = BACKOFF_ONE_MARK;
}

/* Makes the state ready for another operation; the generator goes on. */
static inline void backoff_one_reset(struct backoff_one *operation, uint64_t now_ns)
{
    if (operation == NULL)
        return;
    operation->previous_ns = 0;
    operation->start_ns = now_ns;
    operation->failures = 0;
}

/*
 * Counts a failure, and draws the delay before the next attempt.
 *
 * A hint (Retry-After) above the lower end of the range moves the whole range up, past the cap if need be; 0 is none.
 * `now_ns` is of the clock that backoff_one_init was told; a time before the start counts as the start. What answers
 * with a limit has counted the failure.
 */
static inline enum backoff_one_status backoff_one_fail(struct backoff_one *operation,
    const struct backoff_one_policy *policy, uint64_t now_ns, uint64_t hint_ns, uint64_t *delay_ns) BACKOFF_ONE_USE_RESULT;

static inline enum backoff_one_status backoff_one_fail(struct backoff_one *operation,
    const struct backoff_one_policy *policy, uint64_t now_ns, uint64_t hint_ns, uint64_t *delay_ns)
{
    uint64_t failures, first, last, delay, elapsed;
    if (operation == NULL || policy == NULL || delay_ns == NULL)
        return BACKOFF_ONE_INVALID;
    if (operation->mark != BACKOFF_ONE_MARK || policy->jitter > BACKOFF_ONE_EXACT)
        return BACKOFF_ONE_INVALID;
    if (operation->failures == 0)
        operation->previous_ns = backoff_one_or(policy->base_ns, UINT64_C(100000000));
    if (operation->failures < UINT32_MAX)
        operation->failures++;
    failures = operation->failures;
    if (policy->attempt_limit != 0 && failures >= policy->attempt_limit)
        return BACKOFF_ONE_ATTEMPT_LIMIT;
    backoff_one_range(policy, failures, operation->previous_ns, &first, &last);
    delay = first + backoff_one_uniform(last - first, &operation->generator);
    operation->previous_ns = delay;
    hint_ns = backoff_one_min(hint_ns, backoff_one_or(policy->hint_limit_ns, UINT64_MAX));
    delay = backoff_one_sum(delay, hint_ns > first ? hint_ns - first : 0);
    elapsed = now_ns > operation->start_ns ? now_ns - operation->start_ns : 0;
    if (policy->elapsed_limit_ns != 0 && backoff_one_sum(elapsed, delay) > policy->elapsed_limit_ns)
        return BACKOFF_ONE_ELAPSED_LIMIT;
    *delay_ns = delay;
    return BACKOFF_ONE_OK;
}

/* Makes the state of a station: no attempt of its first frame has collided. Each station needs a stream of its own. */
static inline void backoff_one_station_init(struct backoff_one_station *station, uint64_t seed, uint64_t stream)
{
    if (station == NULL)
        return;
    station->generator = backoff_one_mix(backoff_one_mix(seed + BACKOFF_ONE_GAMMA) + (stream + 1) * BACKOFF_ONE_GAMMA);
    station->attempts = 0;
    station->mark = BACKOFF_ONE_MARK;
}

/* Makes ready for another frame. */
static inline void backoff_one_station_reset(struct backoff_one_station *station)
{
    if (station != NULL)
        station->attempts = 0;
}

/*
 * Counts a collision, and draws how many slots to wait: r uniform in 0 <= r < 2^min(n,10). The 16th collision discards
 * the frame, and takes a word of the generator too.
 */
static inline enum backoff_one_status backoff_one_collide(
    struct backoff_one_station *station, uint64_t *slots) BACKOFF_ONE_USE_RESULT;

static inline enum backoff_one_status backoff_one_collide(struct backoff_one_station *station, uint64_t *slots)
{
    uint64_t word;
    if (station == NULL || slots == NULL || station->mark != BACKOFF_ONE_MARK)
        return BACKOFF_ONE_INVALID;
    word = backoff_one_word(&station->generator);
    if (station->attempts >= 15) {
        station->attempts = 16;
        return BACKOFF_ONE_ATTEMPT_LIMIT;
    }
    station->attempts++;
    *slots = word >> (64 - (station->attempts < 10 ? station->attempts : 10));
    return BACKOFF_ONE_OK;
}

#endif
