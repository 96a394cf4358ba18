/* What a decision costs from C, in nanoseconds: median of 11 runs, with the empty call of the same library beside it. */

#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "backoff.h"

#define DECISIONS 4000000
#define RUNS 11
#define STATES 256

static struct backoff states[STATES];
static uint64_t sink, delays[1024];

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void empty_call(void)
{
    uint64_t sum = 0;
    int i;
    for (i = 0; i < DECISIONS; i++)
        sum += backoff_version();
    sink += sum;
}

/* The empty call with as many arguments, and all checks: attempts has collide's pointers. */
static void checked_call(void)
{
    uint32_t attempts = 0;
    uint64_t sum = 0;
    int i;
    for (i = 0; i < DECISIONS; i++) {
        backoff_attempts(&states[0], &attempts);
        sum += attempts;
    }
    sink += sum;
}

static void collide(void)
{
    uint64_t slots = 0, sum = 0;
    int i;
    for (i = 0; i < DECISIONS; i++) {
        if (backoff_collide(&states[0], &slots) != BACKOFF_STATUS_OK)
            backoff_reset(&states[0]);
        sum += slots;
    }
    sink += sum;
}

static void collide_inline(void)
{
    uint64_t slots = 0, sum = 0;
    int i;
    for (i = 0; i < DECISIONS; i++) {
        if (backoff_collide_inline(&states[0], &slots) != BACKOFF_STATUS_OK)
            states[0].attempts = 0;
        sum += slots;
    }
    sink += sum;
}

static void draws(void)
{
    int i;
    for (i = 0; i < DECISIONS; i += 1024)
        backoff_draws(&states[1], 1024, delays);
    sink += delays[7];
}

static void collide_each(void)
{
    int i;
    for (i = 0; i < DECISIONS; i += STATES)
        backoff_collide_each(states, STATES, delays);
    sink += delays[7];
}

static void retry_fail(void)
{
    static struct backoff_policy policy = BACKOFF_POLICY_INIT;
    struct backoff_retry retry;
    uint64_t delay = 0, sum = 0;
    int i;
    backoff_retry_init(&retry, 1, 1, 0);
    policy.cap_ns = UINT64_C(20000000000);
    for (i = 0; i < DECISIONS; i++) {
        backoff_retry_fail(&retry, &policy, 0, 0, &delay);
        sum += delay;
    }
    sink += sum;
}

/* What is written by hand: base << attempt, rand() modulo it, and a reset at the limit. */
static void rand_loop(void)
{
    uint64_t sum = 0;
    int i, attempt = 0;
    for (i = 0; i < DECISIONS; i++) {
        if (++attempt == 16)
            attempt = 1;
        sum += (uint64_t)rand() % (UINT64_C(1) << (attempt < 10 ? attempt : 10));
    }
    sink += sum;
}

static int by_size(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static void measure(const char *name, void (*run)(void))
{
    double times[RUNS];
    int i;
    run();
    for (i = 0; i < RUNS; i++) {
        double start = now_ns();
        run();
        times[i] = (now_ns() - start) / DECISIONS;
    }
    qsort(times, RUNS, sizeof times[0], by_size);
    printf("%-34s %6.2f ns (fastest %.2f)\n", name, times[RUNS / 2], times[0]);
}

int main(void)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    uint64_t i, slots;
    for (i = 0; i < STATES; i++)
        backoff_init(&states[i], &config, 1, i);
    for (i = 0; i < 10; i++)
        backoff_collide(&states[1], &slots);
    measure("empty call", empty_call);
    measure("call with checks and out-pointer", checked_call);
    measure("backoff_collide", collide);
    measure("backoff_collide_inline", collide_inline);
    measure("backoff_draws, each of 1024", draws);
    measure("backoff_collide_each, each of 256", collide_each);
    measure("backoff_retry_fail, full jitter", retry_fail);
    measure("rand() % (1 << attempt) by hand", rand_loop);
    return sink == 0;
}
