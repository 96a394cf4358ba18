/* A prepared policy gives what the policy gives, for every kind and jitter, bit for bit; and what is refused. */

#include <string.h>

#include "backoff_presets.h"
#include "check.h"

static uint64_t counter = 11;

static uint64_t word(void)
{
    uint64_t z = (counter += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* 0 as often as not, and numbers of every size. */
static uint64_t some(void)
{
    uint64_t random = word();
    return random & 1 ? 0 : word() >> (random >> 58);
}

static struct backoff_policy some_policy(void)
{
    struct backoff_policy policy = BACKOFF_POLICY_INIT;
    int i;
    policy.kind = (uint32_t)(word() % 31);
    policy.jitter = (uint32_t)(some() % 10);
    policy.base_ns = some();
    policy.increment_ns = some();
    policy.slot_ns = some();
    policy.ceiling_ns = some();
    policy.cap_ns = some();
    policy.elapsed_limit_ns = some();
    policy.attempt_limit = some();
    policy.multiplier_percent = (uint32_t)(some() % 1000);
    policy.priority_percent = (uint32_t)(some() % 300);
    policy.jitter_amount = (uint32_t)some();
    policy.slot_base = (uint32_t)some();
    policy.slot_limit = (uint32_t)(some() % 70);
    policy.intervals_count = (uint32_t)(word() % 18);
    for (i = 0; i < 16; i++)
        policy.intervals[i] = (uint32_t)some();
    policy.flags = (uint32_t)(some() % 4);
    return policy;
}

static void every_policy_gives_the_same_delays_prepared(void)
{
    static struct backoff_prepared prepared;
    struct backoff_retry one, other, third;
    int run, step;
    for (run = 0; run < 20000; run++) {
        struct backoff_policy policy = some_policy();
        backoff_status status = backoff_policy_prepare(&policy, &prepared);
        uint64_t delay = 7, expected = 7, in_place;
        if (status != BACKOFF_STATUS_OK) {
            CHECK(backoff_policy_draw(&policy, 1, 0, 0, &delay) == status);
            continue;
        }
        CHECK(backoff_retry_init(&one, 3, (uint64_t)run, 5) == BACKOFF_STATUS_OK);
        if (run % 4 == 0)
            one.failures = (uint32_t)some();
        third = other = one;
        for (step = 0; step < 60; step++) {
            uint64_t now = some(), hint = some(), random = word(), previous = some(), number = (uint64_t)step;
            if (run % 2 == 0)
                now = hint = 0;
            status = backoff_retry_fail_any(&one, &policy, now, hint, &expected);
            in_place = delay;
            CHECK(backoff_prepared_fail(&other, &prepared, now, hint, &delay) == status);
            CHECK(delay == expected && memcmp(&one, &other, sizeof one) == 0);
            CHECK(backoff_prepared_fail_inline(&third, &prepared, now, hint, &in_place) == status);
            CHECK(in_place == expected && memcmp(&one, &third, sizeof one) == 0);
            status = backoff_policy_draw(&policy, number, previous, random, &expected);
            CHECK(backoff_prepared_draw(&prepared, number, previous, random, &delay) == status);
            CHECK(delay == expected);
        }
    }
}

static void null_and_zeroed_memory_are_refused(void)
{
    static struct backoff_prepared prepared, zeroed;
    struct backoff_policy policy = BACKOFF_POLICY_INIT;
    struct backoff_retry retry, none;
    uint64_t delay = 7;
    memset(&none, 0, sizeof none);
    CHECK(backoff_retry_init(&retry, 1, 2, 3) == BACKOFF_STATUS_OK);
    CHECK(backoff_policy_prepare(NULL, &prepared) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_policy_prepare(&policy, NULL) == BACKOFF_STATUS_NULL_POINTER);
    policy.size = 1;
    CHECK(backoff_policy_prepare(&policy, &prepared) == BACKOFF_STATUS_CONFIG_SIZE);
    policy.size = sizeof policy;
    policy.reserved = 1;
    CHECK(backoff_policy_prepare(&policy, &prepared) == BACKOFF_STATUS_CONFIG_VALUE);
    policy.reserved = 0;
    CHECK(backoff_prepared_fail(&retry, &prepared, 3, 0, &delay) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_policy_prepare(&policy, &prepared) == BACKOFF_STATUS_OK);
    CHECK(backoff_prepared_fail(NULL, &prepared, 3, 0, &delay) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_prepared_fail(&retry, NULL, 3, 0, &delay) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_prepared_fail(&retry, &prepared, 3, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_prepared_fail(&none, &prepared, 3, 0, &delay) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_prepared_fail(&retry, &zeroed, 3, 0, &delay) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_prepared_fail_inline(NULL, &prepared, 3, 0, &delay) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_prepared_fail_inline(&retry, NULL, 3, 0, &delay) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_prepared_fail_inline(&retry, &prepared, 3, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_prepared_fail_inline(&none, &prepared, 3, 0, &delay) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_prepared_fail_inline(&retry, &zeroed, 3, 0, &delay) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_prepared_draw(NULL, 1, 0, 0, &delay) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_prepared_draw(&prepared, 1, 0, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_prepared_draw(&zeroed, 1, 0, 0, &delay) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(delay == 7 && retry.failures == 0);
}

int main(void)
{
    every_policy_gives_the_same_delays_prepared();
    null_and_zeroed_memory_are_refused();
    return failures != 0;
}
