/* The single file against the library: the same delays, bit for bit, for any policy that both have; and what it refuses. */

#include <string.h>

#include "backoff.h"
#include "backoff_one.h"
#include "check.h"

#define POLICIES 20000

static uint64_t generator = 1;

/* Numbers of any size: small ones, large ones, and 0. */
static uint64_t number(void)
{
    uint64_t word = backoff_one_word(&generator);
    return word & 3 ? backoff_one_word(&generator) >> (word >> 58) : 0;
}

/* The kind of the library that has that jitter. */
static uint32_t kind_of(uint32_t jitter)
{
    static const uint32_t kinds[] = {BACKOFF_KIND_FULL_JITTER, BACKOFF_KIND_EQUAL_JITTER,
        BACKOFF_KIND_DECORRELATED_JITTER, BACKOFF_KIND_EXPONENTIAL};
    return kinds[jitter];
}

static void the_delays_are_those_of_the_library(void)
{
    int n, i;
    for (n = 0; n < POLICIES; n++) {
        struct backoff_policy policy = BACKOFF_POLICY_INIT;
        struct backoff_one_policy one;
        struct backoff_retry retry;
        struct backoff_one operation;
        uint64_t seed = number(), stream = number(), now = number();
        memset(&one, 0, sizeof one);
        one.base_ns = policy.base_ns = number();
        one.ceiling_ns = policy.ceiling_ns = number();
        one.cap_ns = policy.cap_ns = number();
        one.elapsed_limit_ns = policy.elapsed_limit_ns = number();
        one.hint_limit_ns = policy.hint_limit_ns = number();
        one.attempt_limit = (uint32_t)(number() & 15);
        policy.attempt_limit = one.attempt_limit;
        one.jitter = (uint32_t)(number() & 3);
        policy.kind = kind_of(one.jitter);
        backoff_one_init(&operation, seed, stream, now);
        CHECK(backoff_retry_init(&retry, seed, stream, now) == BACKOFF_STATUS_OK);
        for (i = 0; i < 12; i++) {
            uint64_t hint = number(), later = number(), found = 7, expected = 7;
            backoff_status status = backoff_retry_fail(&retry, &policy, later, hint, &expected);
            enum backoff_one_status other = backoff_one_fail(&operation, &one, later, hint, &found);
            CHECK(found == expected);
            CHECK((other == BACKOFF_ONE_OK) == (status == BACKOFF_STATUS_OK));
            CHECK((other == BACKOFF_ONE_ATTEMPT_LIMIT) == (status == BACKOFF_STATUS_ATTEMPT_LIMIT));
            CHECK((other == BACKOFF_ONE_ELAPSED_LIMIT) == (status == BACKOFF_STATUS_ELAPSED_LIMIT));
            CHECK(operation.failures == retry.failures && operation.generator == retry.generator);
        }
    }
}

static void the_slots_are_those_of_the_library(void)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    struct backoff_one_station one;
    struct backoff station;
    uint64_t stream, found = 0, expected = 0;
    int i;
    for (stream = 0; stream < 1000; stream++) {
        backoff_one_station_init(&one, 42, stream);
        CHECK(backoff_init(&station, &config, 42, stream) == BACKOFF_STATUS_OK);
        for (i = 1; i <= 20; i++) {
            backoff_status status = backoff_collide(&station, &expected);
            enum backoff_one_status other = backoff_one_collide(&one, &found);
            CHECK((status == BACKOFF_STATUS_OK) == (other == BACKOFF_ONE_OK) && (other == BACKOFF_ONE_OK) == (i < 16));
            CHECK(found == expected && one.generator == station.generator && one.attempts == station.attempts);
        }
        backoff_one_station_reset(&one);
        CHECK(backoff_one_collide(&one, &found) == BACKOFF_ONE_OK && found <= 1);
    }
}

static void null_other_memory_and_no_jitter_are_refused(void)
{
    struct backoff_one_policy policy;
    struct backoff_one operation, before;
    struct backoff_one_station station;
    uint64_t delay = 7;
    memset(&policy, 0, sizeof policy);
    memset(&operation, 0, sizeof operation);
    memset(&station, 0, sizeof station);
    before = operation;
    CHECK(backoff_one_fail(&operation, &policy, 0, 0, &delay) == BACKOFF_ONE_INVALID);
    CHECK(memcmp(&before, &operation, sizeof before) == 0);
    CHECK(backoff_one_collide(&station, &delay) == BACKOFF_ONE_INVALID && station.attempts == 0);
    backoff_one_init(&operation, 1, 2, 3);
    before = operation;
    CHECK(backoff_one_fail(NULL, &policy, 0, 0, &delay) == BACKOFF_ONE_INVALID);
    CHECK(backoff_one_fail(&operation, NULL, 0, 0, &delay) == BACKOFF_ONE_INVALID);
    CHECK(backoff_one_fail(&operation, &policy, 0, 0, NULL) == BACKOFF_ONE_INVALID);
    CHECK(backoff_one_collide(NULL, &delay) == BACKOFF_ONE_INVALID);
    policy.jitter = BACKOFF_ONE_EXACT + 1;
    CHECK(backoff_one_fail(&operation, &policy, 0, 0, &delay) == BACKOFF_ONE_INVALID);
    CHECK(memcmp(&before, &operation, sizeof before) == 0 && delay == 7);
    backoff_one_init(NULL, 1, 2, 3);
    backoff_one_reset(NULL, 0);
    backoff_one_station_init(NULL, 1, 2);
    backoff_one_station_reset(NULL);
}

int main(void)
{
    the_delays_are_those_of_the_library();
    the_slots_are_those_of_the_library();
    null_other_memory_and_no_jitter_are_refused();
    return failures != 0;
}
