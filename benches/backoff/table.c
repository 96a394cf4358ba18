/*
 * What libbackoff costs from C, through the shared library, beside its yardsticks in C: rows of 4,096 operations or some more.
 *
 * `table` is for ratios.rs and c.rs: it reads lines of a row's name and a number of rounds, and answers each with the
 * nanoseconds that these took and with the number of operations that they had. `table count` runs the rows of
 * instructions.sh once each, in the function `measured`, and prints the name and the number of operations of each.
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

/* A geometric delay of slotted ALOHA, of a policy that is read at each call, and of a prepared one. */
static struct backoff_policy geometric_policy;
static struct backoff_prepared geometric_prepared;

static void geometric_any(void)
{
    uint64_t delay = 0, sum = 0;
    int i, n;
    for (i = 0; i < OPERATIONS; i += 8) {
        retry.failures = 0;
        for (n = 0; n < 8; n++) {
            backoff_retry_fail_any(&retry, &geometric_policy, 0, 0, &delay);
            sum += delay;
        }
    }
    sink += sum;
}

static void geometric(void)
{
    uint64_t delay = 0, sum = 0;
    int i, n;
    for (i = 0; i < OPERATIONS; i += 8) {
        retry.failures = 0;
        for (n = 0; n < 8; n++) {
            backoff_prepared_fail(&retry, &geometric_prepared, 0, 0, &delay);
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

/* How many operations a round has had. */
static size_t turned_values;

/* One round of a row; gives how many operations it had. */
static __attribute__((noinline)) size_t measured(void (*run)(void))
{
    turned_values = OPERATIONS;
    run();
    return turned_values;
}

#include "table_schedule.h"

static const struct {
    const char *name;
    void (*run)(void);
} decisions[] = {
    {"empty_call", empty_call},
    {"generator", generator},
    {"collide", collide},
    {"collide_inline", collide_inline},
    {"draws", draws},
    {"collide_each", collide_each},
    {"retry_fail", retry_fail},
    {"prepared_fail", prepared_fail},
    {"prepared_fail_inline", prepared_fail_inline},
    {"policy_draw", policy_draw},
    {"prepared_draw", prepared_draw},
    {"geometric_any", geometric_any},
    {"geometric", geometric},
    {"rate_act", rate_act},
    {"ideal_collide", ideal_collides},
    {"ideal_each", ideal_eachs},
    {"ideal_retry", ideal_retries},
    {"ideal_geometric", ideal_geometrics},
};

static void prepare(void)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    struct backoff_policy fresh = BACKOFF_POLICY_INIT;
    uint64_t i, slots;
    for (i = 0; i < STATES; i++)
        backoff_init(&states[i], &config, 1, i);
    for (i = 0; i < 10; i++)
        backoff_collide(&states[1], &slots);
    backoff_rate_init(&rate);
    backoff_retry_init(&retry, 1, 1, 0);
    policy = geometric_policy = fresh;
    policy.cap_ns = UINT64_C(20000000000);
    geometric_policy.kind = BACKOFF_LAW_ALOHA_GEOMETRIC;
    geometric_policy.intervals[0] = 16;
    if (backoff_policy_prepare(&policy, &prepared) != BACKOFF_STATUS_OK ||
        backoff_policy_prepare(&geometric_policy, &geometric_prepared) != BACKOFF_STATUS_OK)
        exit(1);
}

/* The row of that name, ready to run; NULL: there is none. */
static void (*row(const char *name))(void)
{
    size_t i;
    for (i = 0; i < sizeof decisions / sizeof decisions[0]; i++)
        if (strcmp(decisions[i].name, name) == 0)
            return decisions[i].run;
    return schedule_row(name);
}

static int count(void)
{
    static const char *const names[] = {
        "collide", "retry_fail", "prepared_fail", "prepared_fail_inline", "geometric", "pair_10_1000", "pair_10_100000",
        "pair_20_1000", "pair_20_100000", "cancel_10_1000", "cancel_20_1000",
    };
    size_t i;
    for (i = 0; i < sizeof names / sizeof names[0]; i++)
        printf("%s %zu\n", names[i], measured(row(names[i])));
    return 0;
}

int main(int argc, char **argv)
{
    char name[32];
    unsigned long rounds, round;
    prepare();
    if (argc > 1 && strcmp(argv[1], "count") == 0)
        return count();
    while (scanf("%31s %lu", name, &rounds) == 2) {
        void (*run)(void) = row(name);
        size_t operations = 0;
        double start = now_ns();
        if (!run)
            return 1;
        for (round = 0; round < rounds; round++)
            operations += measured(run);
        printf("%.0f %zu\n", now_ns() - start, operations);
        fflush(stdout);
    }
    return sink == 0;
}
