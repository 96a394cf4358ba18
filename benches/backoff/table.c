/*
 * What libbackoff costs from C, through the shared library: for each row the fastest sample and the 10th percentile, in
 * nanoseconds for one operation. A sample is 4,096 operations, short enough to be let alone on a busy machine.
 * table.sh builds and runs it, beside the Rust rows of table.rs. Output: name, fastest, 10th percentile, by tabs.
 *
 * `table serve` is for c.rs, by which criterion measures the same: it reads
 * lines of a row's name and a number of rounds, and answers each with the
 * nanoseconds that this number of rounds of 4,096 operations took.
 */

#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A status that is not looked at costs nothing, and is none of what is measured. */
#pragma GCC diagnostic ignored "-Wunused-result"

#include "backoff_limits.h"
#include "backoff_presets.h"
#include "backoff_schedule.h"

#define OPERATIONS 4096
#define STATES 256

static struct backoff states[STATES];
static uint64_t sink, delays[1024];
static int samples = 4000;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_size(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

/* What happens after each sample, and is not measured; NULL: nothing. */
static void (*between)(void);

/* Of each sample `turned` says how many operations it had; NULL: 4,096. */
static void measure_turns(const char *name, void (*run)(void), const size_t *turned, int count)
{
    double *times = malloc(sizeof *times * (size_t)count);
    int i;
    if (!times)
        exit(1);
    run();
    for (i = 0; i < count; i++) {
        double start = now_ns();
        run();
        times[i] = (now_ns() - start) / (turned ? (double)*turned : OPERATIONS);
        if (between)
            between();
    }
    qsort(times, (size_t)count, sizeof times[0], by_size);
    printf("%s\t%.2f\t%.2f\n", name, times[0], times[count / 10]);
    fflush(stdout);
    free(times);
}

static void measure_many(const char *name, void (*run)(void), int count)
{
    measure_turns(name, run, NULL, count);
}

static void measure(const char *name, void (*run)(void))
{
    measure_many(name, run, samples);
}

static void empty_call(void)
{
    uint64_t sum = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++)
        sum += backoff_version();
    sink += sum;
}

static uint64_t counter = 1;

static uint64_t generator_word(void)
{
    uint64_t z = (counter += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void generator(void)
{
    uint64_t sum = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++)
        sum += generator_word();
    sink += sum;
}

static void collide(void)
{
    uint64_t slots = 0, sum = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
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
    for (i = 0; i < OPERATIONS; i++) {
        if (backoff_collide_inline(&states[0], &slots) != BACKOFF_STATUS_OK)
            states[0].attempts = 0;
        sum += slots;
    }
    sink += sum;
}

static void draws(void)
{
    int i;
    for (i = 0; i < OPERATIONS; i += 1024)
        backoff_draws(&states[1], 1024, delays);
    sink += delays[7];
}

static void collide_each(void)
{
    int i;
    for (i = 0; i < OPERATIONS; i += STATES)
        backoff_collide_each(states, STATES, delays);
    sink += delays[7];
}

static struct backoff_policy policy;
static struct backoff_prepared prepared;
static struct backoff_retry retry;

/* Operations of eight failures, as most are: the policy grows all the while. */
static void retry_fail(void)
{
    uint64_t delay = 0, sum = 0;
    int i, n;
    for (i = 0; i < OPERATIONS; i += 8) {
        retry.failures = 0;
        for (n = 0; n < 8; n++) {
            backoff_retry_fail(&retry, &policy, 0, 0, &delay);
            sum += delay;
        }
    }
    sink += sum;
}

/* The same of a policy that is not of the eight kinds. */
static void retry_fail_any(void)
{
    uint64_t delay = 0, sum = 0;
    int i, n;
    for (i = 0; i < OPERATIONS; i += 8) {
        retry.failures = 0;
        for (n = 0; n < 8; n++) {
            backoff_retry_fail_any(&retry, &policy, 0, 0, &delay);
            sum += delay;
        }
    }
    sink += sum;
}

/* The same from a prepared policy: it is read once, as a Rust program reads its policy. */
static void prepared_fail(void)
{
    uint64_t delay = 0, sum = 0;
    int i, n;
    for (i = 0; i < OPERATIONS; i += 8) {
        retry.failures = 0;
        for (n = 0; n < 8; n++) {
            backoff_prepared_fail(&retry, &prepared, 0, 0, &delay);
            sum += delay;
        }
    }
    sink += sum;
}

static void prepared_fail_inline(void)
{
    uint64_t delay = 0, sum = 0;
    int i, n;
    for (i = 0; i < OPERATIONS; i += 8) {
        retry.failures = 0;
        for (n = 0; n < 8; n++) {
            backoff_prepared_fail_inline(&retry, &prepared, 0, 0, &delay);
            sum += delay;
        }
    }
    sink += sum;
}

static void prepared_draw(void)
{
    uint64_t delay = 0, sum = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        backoff_prepared_draw(&prepared, (uint64_t)(i & 7) + 1, 0, (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15), &delay);
        sum += delay;
    }
    sink += sum;
}

static void policy_draw(void)
{
    uint64_t delay = 0, sum = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        backoff_policy_draw(&policy, (uint64_t)(i & 7) + 1, 0, (uint64_t)i * UINT64_C(0x9E3779B97F4A7C15), &delay);
        sum += delay;
    }
    sink += sum;
}

static struct backoff_rate rate;

static void rate_act(void)
{
    static struct backoff_rate_config config = BACKOFF_RATE_CONFIG_INIT;
    static uint64_t now;
    uint64_t wait = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        backoff_rate_act(&rate, &config, now, &wait);
        now += 500000;
        sink += wait;
    }
}

/* What the work alone takes: the same draws in C, without checks, in functions that are not inlined as a library's are not. */
struct ideal {
    uint64_t attempts, counter;
};

static struct ideal ideals[STATES];

static inline uint64_t ideal_word(struct ideal *state)
{
    uint64_t z = (state->counter += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static inline int ideal_decide(struct ideal *state, uint64_t *slots)
{
    uint64_t n = ++state->attempts;
    if (n >= 16)
        return 1;
    *slots = ideal_word(state) >> (64 - (n < 10 ? n : 10));
    return 0;
}

static __attribute__((noinline)) int ideal_collide(struct ideal *state, uint64_t *slots)
{
    return ideal_decide(state, slots);
}

static __attribute__((noinline)) void ideal_each(struct ideal *states, size_t count, uint64_t *slots)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (ideal_decide(&states[i], &slots[i]))
            states[i].attempts = 0;
}

/* Full jitter of 100 ms, doubled up to 20 s. */
static __attribute__((noinline)) uint64_t ideal_retry(struct ideal *state)
{
    uint64_t n = state->attempts++, delay = n < 8 ? UINT64_C(100000000) << n : UINT64_C(20000000000);
    return (uint64_t)((__extension__ (unsigned __int128)ideal_word(state) * (delay + 1)) >> 64);
}

/* By a logarithm in floating point, which is not exact: p = 2 / 17. */
static __attribute__((noinline)) uint64_t ideal_geometric(struct ideal *state)
{
    double u = ((double)(ideal_word(state) >> 11) + 0.5) * 0x1p-53;
    return (uint64_t)(log(u) * (1 / -0.12516314295400605));
}

static void ideal_collides(void)
{
    uint64_t slots = 0, sum = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        if (ideal_collide(&ideals[0], &slots))
            ideals[0].attempts = 0;
        sum += slots;
    }
    sink += sum;
}

static void ideal_eachs(void)
{
    int i;
    for (i = 0; i < OPERATIONS; i += STATES)
        ideal_each(ideals, STATES, delays);
    sink += delays[7];
}

static void ideal_retries(void)
{
    uint64_t sum = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        ideals[0].attempts = i % 8;
        sum += ideal_retry(&ideals[0]);
    }
    sink += sum;
}

static void ideal_geometrics(void)
{
    uint64_t sum = 0;
    int i;
    for (i = 0; i < OPERATIONS; i++)
        sum += ideal_geometric(&ideals[0]);
    sink += sum;
}

static void policies(void)
{
#define OF_KIND(kind) BACKOFF_PRESET_OF(kind, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    static const struct {
        const char *name;
        struct backoff_policy policy;
    } kinds[] = {
        {"full jitter", OF_KIND(BACKOFF_KIND_FULL_JITTER)},
        {"equal jitter", OF_KIND(BACKOFF_KIND_EQUAL_JITTER)},
        {"decorrelated jitter", OF_KIND(BACKOFF_KIND_DECORRELATED_JITTER)},
        {"exponential", OF_KIND(BACKOFF_KIND_EXPONENTIAL)},
        {"constant", OF_KIND(BACKOFF_KIND_CONSTANT)},
        {"linear", OF_KIND(BACKOFF_KIND_LINEAR)},
        {"Fibonacci", OF_KIND(BACKOFF_KIND_FIBONACCI)},
        {"802.3", BACKOFF_PRESET_IEEE8023},
        {"slot exponential", OF_KIND(BACKOFF_KIND_SLOT_EXPONENTIAL)},
        {"RCP", OF_KIND(BACKOFF_LAW_RCP)},
        {"RCP multipliers", OF_KIND(BACKOFF_LAW_RCP_MULTIPLIERS)},
        {"ALOHA uniform", OF_KIND(BACKOFF_LAW_ALOHA_UNIFORM)},
        {"ALOHA geometric", OF_KIND(BACKOFF_LAW_ALOHA_GEOMETRIC)},
        {"SIP timer E", BACKOFF_PRESET_SIP_TIMER_E},
        {"Google HTTP", BACKOFF_PRESET_GOOGLE_HTTP},
        {"Google Drive", BACKOFF_PRESET_GOOGLE_DRIVE},
        {"SimpleDB", BACKOFF_PRESET_AMAZON_SIMPLEDB},
    };
#undef OF_KIND
    size_t i;
    char name[64];
    for (i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint64_t delay;
        int takes_any;
        policy = kinds[i].policy;
        if (policy.kind == BACKOFF_LAW_ALOHA_UNIFORM || policy.kind == BACKOFF_LAW_ALOHA_GEOMETRIC) {
            policy.intervals[0] = policy.kind == BACKOFF_LAW_ALOHA_GEOMETRIC ? 16 : 10;
        } else if (policy.kind == BACKOFF_LAW_RCP || policy.kind == BACKOFF_LAW_RCP_MULTIPLIERS) {
            policy.intervals[0] = 10;
            policy.intervals[1] = 100;
            policy.intervals[2] = 200;
            policy.intervals_count = 3;
        }
        policy.attempt_limit = UINT64_MAX;
        if (policy.kind == BACKOFF_KIND_FULL_JITTER)
            policy.cap_ns = UINT64_C(20000000000);
        backoff_retry_init(&retry, 1, 1, 0);
        if (backoff_policy_prepare(&policy, &prepared) != BACKOFF_STATUS_OK) {
            fprintf(stderr, "%s: the policy is refused\n", kinds[i].name);
            exit(1);
        }
        snprintf(name, sizeof name, "retry, %s", kinds[i].name);
        measure(name, prepared_fail);
        snprintf(name, sizeof name, "policy read at each call: retry, %s", kinds[i].name);
        takes_any = backoff_retry_fail(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_NEEDS_ANY;
        backoff_retry_init(&retry, 1, 1, 0);
        measure(name, takes_any ? retry_fail_any : retry_fail);
        if (i == 0) {
            measure("policy draw, full jitter", prepared_draw);
            measure("policy read at each call: policy draw, full jitter", policy_draw);
        }
    }
}

#include "table_schedule.h"

static const struct {
    const char *name;
    void (*run)(void);
} served[] = {
    {"empty_call", empty_call},       {"collide", collide},
    {"collide_inline", collide_inline}, {"draws", draws},
    {"collide_each", collide_each},   {"retry_fail", retry_fail},
    {"prepared_fail", prepared_fail}, {"prepared_fail_inline", prepared_fail_inline}, {"policy_draw", policy_draw},
    {"prepared_draw", prepared_draw}, {"rate_act", rate_act},
    {"schedule", schedule_turn},
    {"ideal_collide", ideal_collides}, {"ideal_each", ideal_eachs},
    {"ideal_retry", ideal_retries},
};

static int serve(void)
{
    struct backoff_policy fresh = BACKOFF_POLICY_INIT;
    char name[32];
    unsigned long rounds, round;
    policy = fresh;
    policy.cap_ns = UINT64_C(20000000000);
    backoff_retry_init(&retry, 1, 1, 0);
    backoff_policy_prepare(&policy, &prepared);
    fill_schedule(100000, 20);
    while (scanf("%31s %lu", name, &rounds) == 2) {
        size_t i = 0;
        double start;
        while (i < sizeof served / sizeof served[0] && strcmp(served[i].name, name) != 0)
            i++;
        if (i == sizeof served / sizeof served[0])
            return 1;
        start = now_ns();
        for (round = 0; round < rounds; round++)
            served[i].run();
        printf("%.0f\n", now_ns() - start);
        fflush(stdout);
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    uint64_t i, slots;
    if (argc > 1 && strcmp(argv[1], "serve") != 0)
        samples = atoi(argv[1]);
    for (i = 0; i < STATES; i++)
        backoff_init(&states[i], &config, 1, i);
    for (i = 0; i < 10; i++)
        backoff_collide(&states[1], &slots);
    backoff_rate_init(&rate);
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        return serve();
    measure("yardstick: empty call", empty_call);
    measure("yardstick: generator", generator);
    measure("collide", collide);
    measure("collide inline", collide_inline);
    measure("draws of 1,024", draws);
    measure("collide each of 256", collide_each);
    measure("ideal: collide", ideal_collides);
    measure("ideal: collide each of 256", ideal_eachs);
    measure("ideal: retry, full jitter", ideal_retries);
    measure("ideal: retry, ALOHA geometric", ideal_geometrics);
    policies();
    measure("rate", rate_act);
    schedules();
    return sink == 0;
}
