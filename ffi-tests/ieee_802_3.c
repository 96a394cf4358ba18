/* The 802.3 backoff as a C program sees it: the values of the standard, and the rules of the header. */

#include <string.h>

#include "backoff.h"
#include "check.h"

/* A value that no delay of the standard has, to see whether a result was written. */
#define UNTOUCHED UINT64_C(0x5555555555555555)

/* 2^min(n,10) - 1 after collisions n = 1 to 15 (802.3, 4.2.3.2.5); the 16th discards. */
static const uint64_t longest[15] = {1, 3, 7, 15, 31, 63, 127, 255, 511, 1023, 1023, 1023, 1023, 1023, 1023};

/* Two frames of seed 1, stream 1; crates/backoff/tests/ieee_802_3.rs holds the same table for the Rust library. */
static const uint64_t seeded[2][15] = {
    {1, 1, 3, 8, 14, 14, 22, 86, 257, 1009, 68, 324, 212, 585, 570},
    {1, 2, 5, 12, 22, 5, 63, 155, 35, 203, 534, 379, 739, 785, 438},
};

static struct backoff with_limits(uint32_t attempt_limit, uint32_t backoff_limit)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    struct backoff station;
    config.attempt_limit = attempt_limit;
    config.backoff_limit = backoff_limit;
    memset(&station, 0xFF, sizeof station);
    CHECK(backoff_init(&station, &config, 1, 1) == BACKOFF_STATUS_OK);
    return station;
}

static void the_version_is_the_header_s(void)
{
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", BACKOFF_VERSION_MAJOR, BACKOFF_VERSION_MINOR, BACKOFF_VERSION_PATCH);
    CHECK(strcmp(backoff_version_text(), text) == 0);
    CHECK(backoff_version() ==
          BACKOFF_VERSION_MAJOR * 65536 + BACKOFF_VERSION_MINOR * 256 + BACKOFF_VERSION_PATCH);
}

static void the_layout_is_the_documented_one(void)
{
    CHECK(sizeof(backoff_status) == 4);
    CHECK(sizeof(struct backoff_config) == 12);
    CHECK(sizeof(struct backoff) == 32);
    CHECK(offsetof(struct backoff, generator) == 0);
    CHECK(offsetof(struct backoff, attempts) == 8);
    CHECK(offsetof(struct backoff, attempt_limit) == 12);
    CHECK(offsetof(struct backoff, backoff_limit) == 16);
    CHECK(offsetof(struct backoff, reserved) == 20);
}

static void the_largest_word_gives_the_longest_delays(void)
{
    struct backoff station = with_limits(0, 0);
    uint64_t slots, sum = 0;
    uint32_t attempts;
    int n;
    for (n = 1; n <= 15; n++) {
        slots = UNTOUCHED;
        CHECK(backoff_collide_word(&station, UINT64_MAX, &slots) == BACKOFF_STATUS_OK);
        CHECK(slots == longest[n - 1]);
        CHECK(backoff_attempts(&station, &attempts) == BACKOFF_STATUS_OK);
        CHECK(attempts == (uint32_t)n);
        sum += slots;
    }
    CHECK(sum == 7151);
}

static void the_sixteenth_collision_discards_until_the_reset(void)
{
    struct backoff station = with_limits(0, 0);
    uint64_t slots;
    uint32_t attempts;
    int n;
    for (n = 1; n <= 15; n++) {
        CHECK(backoff_collide_word(&station, 0, &slots) == BACKOFF_STATUS_OK);
        CHECK(slots == 0);
    }
    slots = UNTOUCHED;
    for (n = 16; n <= 40; n++) {
        CHECK(backoff_collide_word(&station, 0, &slots) == BACKOFF_STATUS_DISCARDED);
        CHECK(backoff_collide(&station, &slots) == BACKOFF_STATUS_DISCARDED);
        CHECK(backoff_attempts(&station, &attempts) == BACKOFF_STATUS_OK);
        CHECK(attempts == 16);
    }
    CHECK(slots == UNTOUCHED);
    CHECK(backoff_reset(&station) == BACKOFF_STATUS_OK);
    CHECK(backoff_attempts(&station, &attempts) == BACKOFF_STATUS_OK);
    CHECK(attempts == 0);
    CHECK(backoff_collide_word(&station, UINT64_MAX, &slots) == BACKOFF_STATUS_OK);
    CHECK(slots == 1);
}

static void the_seeded_delays_are_those_of_the_rust_library(void)
{
    struct backoff station = with_limits(0, 0), copy = station;
    uint64_t slots, copied;
    int frame, n;
    for (frame = 0; frame < 2; frame++) {
        for (n = 1; n <= 15; n++) {
            CHECK(backoff_collide(&station, &slots) == BACKOFF_STATUS_OK);
            CHECK(slots == seeded[frame][n - 1]);
            CHECK(backoff_collide(&copy, &copied) == BACKOFF_STATUS_OK);
            CHECK(copied == slots);
        }
        CHECK(backoff_collide(&station, &slots) == BACKOFF_STATUS_DISCARDED);
        CHECK(backoff_collide(&copy, &copied) == BACKOFF_STATUS_DISCARDED);
        CHECK(backoff_reset(&station) == BACKOFF_STATUS_OK);
        CHECK(backoff_reset(&copy) == BACKOFF_STATUS_OK);
        CHECK(memcmp(&station, &copy, sizeof station) == 0);
    }
}

static void the_caller_s_word_leaves_the_generator_where_it_stands(void)
{
    struct backoff station = with_limits(0, 0);
    uint64_t slots;
    CHECK(backoff_collide_word(&station, 0, &slots) == BACKOFF_STATUS_OK);
    CHECK(backoff_reset(&station) == BACKOFF_STATUS_OK);
    CHECK(backoff_collide(&station, &slots) == BACKOFF_STATUS_OK);
    CHECK(slots == seeded[0][0]);
}

static void every_limit_is_accepted(void)
{
    struct backoff once = with_limits(1, 0), far = with_limits(UINT32_MAX, UINT32_MAX), zero = with_limits(3, 0);
    uint64_t slots = UNTOUCHED;
    int n;
    CHECK(backoff_collide_word(&once, 0, &slots) == BACKOFF_STATUS_DISCARDED);
    CHECK(slots == UNTOUCHED);
    for (n = 1; n <= 200; n++) {
        CHECK(backoff_collide_word(&far, UINT64_MAX, &slots) == BACKOFF_STATUS_OK);
        CHECK(slots == (n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX));
    }
    CHECK(zero.attempt_limit == 3 && zero.backoff_limit == 10);
}

static void null_is_refused_and_nothing_changes(void)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    struct backoff station = with_limits(0, 0), before = station;
    uint64_t slots = UNTOUCHED;
    uint32_t attempts = 77;
    CHECK(backoff_init(NULL, &config, 2, 2) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_init(&station, NULL, 2, 2) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_collide(NULL, &slots) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_collide(&station, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_collide_word(NULL, 0, &slots) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_collide_word(&station, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_attempts(NULL, &attempts) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_attempts(&station, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_reset(NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(memcmp(&station, &before, sizeof station) == 0);
    CHECK(slots == UNTOUCHED && attempts == 77);
}

static void a_configuration_of_another_size_is_refused(void)
{
    static const uint32_t sizes[] = {0, 1, 8, 11, 4097, UINT32_MAX};
    struct backoff station = with_limits(0, 0), before = station;
    size_t i;
    for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct backoff_config config = BACKOFF_CONFIG_INIT;
        config.size = sizes[i];
        CHECK(backoff_init(&station, &config, 2, 2) == BACKOFF_STATUS_CONFIG_SIZE);
    }
    CHECK(memcmp(&station, &before, sizeof station) == 0);
}

/* A program of a later version: its struct is larger. What this library does not know must be 0. */
static void a_larger_configuration_is_accepted_if_the_rest_is_0(void)
{
    struct {
        struct backoff_config known;
        uint32_t later[3];
    } config = {BACKOFF_CONFIG_INIT, {0, 0, 0}};
    struct backoff station = with_limits(0, 0), before = station;
    config.known.size = sizeof config;
    config.later[2] = 1;
    CHECK(backoff_init(&station, &config.known, 2, 2) == BACKOFF_STATUS_CONFIG_SIZE);
    CHECK(memcmp(&station, &before, sizeof station) == 0);
    config.later[2] = 0;
    CHECK(backoff_init(&station, &config.known, 2, 2) == BACKOFF_STATUS_OK);
}

static void zeroed_memory_is_no_state(void)
{
    struct backoff station, before;
    uint64_t slots = UNTOUCHED;
    uint32_t attempts = 77;
    memset(&station, 0, sizeof station);
    station.attempts = 3; /* nor is that changed */
    before = station;
    CHECK(backoff_collide(&station, &slots) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_collide_word(&station, 0, &slots) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_attempts(&station, &attempts) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_reset(&station) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(memcmp(&station, &before, sizeof station) == 0);
    CHECK(slots == UNTOUCHED && attempts == 77);
}

static void any_octets_have_an_answer(void)
{
    struct backoff station;
    uint64_t slots;
    uint32_t attempts;
    int octet;
    for (octet = 1; octet <= 0xFF; octet++) {
        memset(&station, octet, sizeof station);
        CHECK(backoff_collide(&station, &slots) == BACKOFF_STATUS_DISCARDED);
        CHECK(backoff_attempts(&station, &attempts) == BACKOFF_STATUS_OK);
        CHECK(attempts == station.attempt_limit);
    }
}

static void every_status_has_a_text_of_its_own(void)
{
    uint32_t one, other;
    for (one = BACKOFF_STATUS_OK; one <= BACKOFF_STATUS_MEMORY + 1; one++)
        for (other = BACKOFF_STATUS_OK; other < one; other++)
            CHECK(strcmp(backoff_status_text(one), backoff_status_text(other)) != 0);
    CHECK(strcmp(backoff_status_text(UINT32_MAX), "unknown status") == 0);
}

int main(void)
{
    the_version_is_the_header_s();
    the_layout_is_the_documented_one();
    the_largest_word_gives_the_longest_delays();
    the_sixteenth_collision_discards_until_the_reset();
    the_seeded_delays_are_those_of_the_rust_library();
    the_caller_s_word_leaves_the_generator_where_it_stands();
    every_limit_is_accepted();
    null_is_refused_and_nothing_changes();
    a_configuration_of_another_size_is_refused();
    a_larger_configuration_is_accepted_if_the_rest_is_0();
    zeroed_memory_is_no_state();
    any_octets_have_an_answer();
    every_status_has_a_text_of_its_own();
    return failures != 0;
}
