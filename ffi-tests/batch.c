/* Batch calls and the inline path give what single calls give, to the last bit. */

#include <string.h>

#include "backoff_presets.h"
#include "check.h"

#define STATIONS 67

static struct backoff station_of(uint32_t attempt_limit, uint32_t backoff_limit, uint64_t stream)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    struct backoff station;
    config.attempt_limit = attempt_limit;
    config.backoff_limit = backoff_limit;
    CHECK(backoff_init(&station, &config, 802, stream) == BACKOFF_STATUS_OK);
    return station;
}

/* Every attempt, every exponent, 100 frames each; the states stay the same too. */
static void inline_equals_library(void)
{
    static const uint32_t limits[] = {1, 2, 10, 31, 32, 33, 63, 64, 65, UINT32_MAX};
    size_t limit;
    for (limit = 0; limit < sizeof limits / sizeof limits[0]; limit++) {
        struct backoff called = station_of(80, limits[limit], limit), inlined = called;
        int n;
        for (n = 0; n < 8000; n++) {
            uint64_t one = 1, other = 1;
            backoff_status status = backoff_collide(&called, &one);
            CHECK(backoff_collide_inline(&inlined, &other) == status);
            CHECK(one == other);
            CHECK(memcmp(&called, &inlined, sizeof called) == 0);
            if (status == BACKOFF_STATUS_DISCARDED) {
                CHECK(backoff_reset(&called) == BACKOFF_STATUS_OK);
                CHECK(backoff_reset(&inlined) == BACKOFF_STATUS_OK);
            }
        }
    }
}

static void inline_refuses_what_the_library_refuses(void)
{
    struct backoff station = station_of(0, 0, 1), zeroed;
    uint64_t slots = 7;
    int octet;
    memset(&zeroed, 0, sizeof zeroed);
    CHECK(backoff_collide_inline(NULL, &slots) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_collide_inline(&station, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_collide_inline(&zeroed, &slots) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(slots == 7);
    for (octet = 1; octet <= 0xFF; octet++) {
        struct backoff called, inlined;
        memset(&called, octet, sizeof called);
        inlined = called;
        CHECK(backoff_collide_inline(&inlined, &slots) == backoff_collide(&called, &slots));
        CHECK(memcmp(&called, &inlined, sizeof called) == 0);
    }
}

/* n states, in every stage between the first collision and after the discard. */
static void n_states_equal_n_single_calls(void)
{
    struct backoff each[STATIONS], single[STATIONS];
    uint64_t slots[STATIONS];
    int i, round;
    for (i = 0; i < STATIONS; i++)
        single[i] = each[i] = station_of((uint32_t)(i % 20 + 1), (uint32_t)i, (uint64_t)i);
    for (round = 0; round < 20; round++) {
        CHECK(backoff_collide_each(each, STATIONS, slots) == BACKOFF_STATUS_OK);
        for (i = 0; i < STATIONS; i++) {
            uint64_t alone = BACKOFF_DISCARDED;
            CHECK(backoff_collide(&single[i], &alone) <= BACKOFF_STATUS_DISCARDED);
            CHECK(slots[i] == alone);
        }
        CHECK(memcmp(each, single, sizeof each) == 0);
    }
    memset(&each[STATIONS - 1], 0, sizeof each[0]);
    memset(&single[STATIONS - 1], 0, sizeof each[0]);
    CHECK(backoff_collide_each(each, STATIONS, slots) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(memcmp(each, single, sizeof each) == 0);
    CHECK(backoff_collide_each(NULL, 1, slots) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_collide_each(each, 1, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_collide_each(each, 0, slots) == BACKOFF_STATUS_OK);
}

/* n draws of one state: those of a station that is set back to the same attempt each time. */
static void n_draws_equal_n_single_calls(void)
{
    uint64_t slots[STATIONS];
    uint32_t attempts;
    size_t count;
    for (attempts = 0; attempts <= 70; attempts++)
        for (count = 0; count <= STATIONS; count += attempts % 7 + 1) {
            struct backoff many = station_of(UINT32_MAX, 70, attempts), single;
            size_t i;
            uint64_t slot;
            for (i = 0; i < attempts; i++)
                CHECK(backoff_collide(&many, &slot) == BACKOFF_STATUS_OK);
            single = many;
            memset(slots, 0x55, sizeof slots);
            CHECK(backoff_draws(&many, count, slots) == BACKOFF_STATUS_OK);
            for (i = 0; i < count; i++) {
                single.attempts = attempts == 0 ? 0 : attempts - 1;
                CHECK(backoff_collide(&single, &slot) == BACKOFF_STATUS_OK);
                CHECK(slots[i] == (attempts == 0 ? 0 : slot));
            }
            for (; i < STATIONS; i++)
                CHECK(slots[i] == UINT64_C(0x5555555555555555));
            single.attempts = attempts;
            CHECK(memcmp(&many, &single, sizeof many) == 0);
        }
    CHECK(backoff_draws(NULL, 1, slots) == BACKOFF_STATUS_NULL_POINTER);
}

static void n_draws_of_a_policy_equal_an_operation_s(void)
{
    struct backoff_policy policy = BACKOFF_PRESET_GOOGLE_HTTP;
    struct backoff_retry retry;
    uint64_t delays[STATIONS], generator, alone;
    int i;
    CHECK(backoff_retry_init(&retry, 5, 6, 0) == BACKOFF_STATUS_OK);
    generator = retry.generator;
    CHECK(backoff_policy_draws(&policy, 3, 0, &generator, STATIONS, delays) == BACKOFF_STATUS_OK);
    for (i = 0; i < STATIONS; i++) {
        retry.failures = 2;
        CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &alone) == BACKOFF_STATUS_OK);
        CHECK(delays[i] == alone);
    }
    CHECK(generator == retry.generator);
    CHECK(backoff_policy_draws(&policy, 3, 0, NULL, 1, delays) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_policy_draws(&policy, 3, 0, &generator, 1, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(generator == retry.generator);
}

int main(void)
{
    inline_equals_library();
    inline_refuses_what_the_library_refuses();
    n_states_equal_n_single_calls();
    n_draws_equal_n_single_calls();
    n_draws_of_a_policy_equal_an_operation_s();
    return failures != 0;
}
