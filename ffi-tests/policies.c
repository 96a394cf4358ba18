/* The policies as a C program sees them: the numbers of their sources, the limits, and what is refused. */

#include <string.h>

#include "backoff_limits.h"
#include "backoff_presets.h"
#include "check.h"

#define MS UINT64_C(1000000)
#define UNTOUCHED UINT64_C(0x5555555555555555)
#define KINDS (BACKOFF_LAW_ALOHA_GEOMETRIC + 1)

static struct backoff_policy of_kind(uint32_t kind)
{
    struct backoff_policy policy = BACKOFF_POLICY_INIT;
    policy.kind = kind;
    if (kind == BACKOFF_LAW_RCP || kind == BACKOFF_LAW_RCP_MULTIPLIERS)
        policy.intervals_count = 1;
    if (policy.intervals_count || kind == BACKOFF_LAW_ALOHA_UNIFORM || kind == BACKOFF_LAW_ALOHA_GEOMETRIC ||
        kind == BACKOFF_LAW_STEPS)
        policy.intervals[0] = 10;
    return policy;
}

/* Longest delays after failures 1, 2, 3 ..., in units of `unit`. */
static void expect(const struct backoff_policy *policy, uint64_t unit, const uint64_t *longest, int count)
{
    int n;
    for (n = 1; n <= count; n++) {
        struct backoff_bounds bounds;
        uint64_t delay;
        CHECK(backoff_policy_bounds(policy, (uint64_t)n, 0, &bounds) == BACKOFF_STATUS_OK);
        CHECK(bounds.longest_ns == longest[n - 1] * unit);
        CHECK(backoff_policy_draw(policy, (uint64_t)n, 0, UINT64_MAX, &delay) == BACKOFF_STATUS_OK);
        CHECK(delay <= bounds.longest_ns && delay >= bounds.longest_ns - unit);
        CHECK(backoff_policy_draw(policy, (uint64_t)n, 0, 0, &delay) == BACKOFF_STATUS_OK);
        CHECK(delay >= bounds.shortest_ns && delay <= bounds.shortest_ns + unit);
    }
}

static void the_kinds_grow_as_they_say(void)
{
    static const uint64_t full[] = {100, 200, 400, 800}, fibonacci[] = {100, 100, 200, 300, 500};
    static const uint64_t linear[] = {100, 200, 300}, rcp[] = {9, 99, 199, 199};
    struct backoff_policy policy = of_kind(BACKOFF_KIND_FULL_JITTER);
    expect(&policy, MS, full, 4);
    policy = of_kind(BACKOFF_KIND_FIBONACCI);
    expect(&policy, MS, fibonacci, 5);
    policy = of_kind(BACKOFF_KIND_LINEAR);
    expect(&policy, MS, linear, 3);
    policy = of_kind(BACKOFF_LAW_RCP);
    policy.slot_ns = 10;
    policy.intervals_count = 3;
    policy.intervals[1] = 100;
    policy.intervals[2] = 200;
    expect(&policy, 10, rcp, 4);
    policy.kind = BACKOFF_LAW_RCP_MULTIPLIERS;
    policy.intervals[1] = 10;
    policy.intervals[2] = 2;
    expect(&policy, 10, rcp, 4);
}

static void every_kind_never_passes_its_cap_at_any_count(void)
{
    static const uint64_t counts[] = {1, 2, 3, 10, 64, 65, 1000, UINT32_MAX, UINT64_MAX - 1, UINT64_MAX};
    uint32_t kind;
    size_t i;
    for (kind = 0; kind < KINDS; kind++)
        for (i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            struct backoff_policy policy = of_kind(kind);
            uint64_t delay = UNTOUCHED;
            backoff_status status;
            policy.cap_ns = 300 * MS;
            policy.attempt_limit = UINT64_MAX;
            status = backoff_policy_draw(&policy, counts[i], 77 * MS, UINT64_MAX, &delay);
            CHECK(status == BACKOFF_STATUS_OK && delay <= 300 * MS); /* UINT64_MAX is no limit, not a late one */
            policy.attempt_limit = UINT64_MAX - 1;
            status = backoff_policy_draw(&policy, counts[i], 77 * MS, UINT64_MAX, &delay);
            CHECK(status == (counts[i] >= UINT64_MAX - 1 ? BACKOFF_STATUS_ATTEMPT_LIMIT : BACKOFF_STATUS_OK));
        }
}

/* K = 1 is p = 1: it goes out in the next slot. */
static void a_geometric_choice_from_one_slot_does_not_wait(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_LAW_ALOHA_GEOMETRIC);
    struct backoff_bounds bounds;
    struct backoff_moments moments;
    policy.intervals[0] = 1;
    CHECK(backoff_policy_bounds(&policy, 1, 0, &bounds) == BACKOFF_STATUS_OK);
    CHECK(bounds.shortest_ns == 0 && bounds.longest_ns == 0);
    CHECK(backoff_policy_moments(&policy, 1, 0, &moments) == BACKOFF_STATUS_OK);
    CHECK(moments.mean_ns == 0.0 && moments.variance_ns2 == 0.0);
}

static struct backoff_bounds bounds_of(const struct backoff_policy *policy, uint64_t failures, uint64_t previous_ns)
{
    struct backoff_bounds bounds = {UNTOUCHED, UNTOUCHED};
    CHECK(backoff_policy_bounds(policy, failures, previous_ns, &bounds) == BACKOFF_STATUS_OK);
    return bounds;
}

/* What the header says of cap_ns and ceiling_ns. */
static void a_cap_moves_the_range_and_a_ceiling_does_not(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_KIND_EQUAL_JITTER);
    struct backoff_bounds bounds;
    policy.cap_ns = 1000 * MS;
    bounds = bounds_of(&policy, 5, 0); /* d = 1600 ms: [800, 1600] */
    CHECK(bounds.shortest_ns == 200 * MS && bounds.longest_ns == 1000 * MS);
    bounds = bounds_of(&policy, 6, 0); /* d = 3200 ms */
    CHECK(bounds.shortest_ns == 0 && bounds.longest_ns == 1000 * MS);
    policy.cap_ns = 0;
    policy.ceiling_ns = 1000 * MS;
    bounds = bounds_of(&policy, 6, 0);
    CHECK(bounds.shortest_ns == 500 * MS && bounds.longest_ns == 1000 * MS);

    policy = of_kind(BACKOFF_KIND_DECORRELATED_JITTER);
    policy.cap_ns = 1000 * MS;
    bounds = bounds_of(&policy, 2, 350 * MS); /* [100, 1050] */
    CHECK(bounds.shortest_ns == 50 * MS && bounds.longest_ns == 1000 * MS);
    policy.cap_ns = 0;
    policy.ceiling_ns = 1000 * MS;
    bounds = bounds_of(&policy, 2, 350 * MS);
    CHECK(bounds.shortest_ns == 100 * MS && bounds.longest_ns == 1000 * MS);
}

/* connection-backoff.md: the deadline of a delay counts from the start of the attempt. */
static void a_delay_may_count_from_the_start_of_the_attempt(void)
{
    struct backoff_policy policy = BACKOFF_PRESET_GRPC;
    struct backoff_retry retry;
    uint64_t delay;
    /* The attempt began at 0 and failed after 0.4 s: 0.6 s are left. One that lasted longer is followed at once. */
    CHECK(backoff_retry_init(&retry, 1, 1, 0) == BACKOFF_STATUS_OK);
    CHECK(backoff_retry_fail_since(&retry, &policy, 0, 400 * MS, 0, &delay) == BACKOFF_STATUS_OK);
    CHECK(delay == 600 * MS);
    CHECK(backoff_retry_fail_since(&retry, &policy, 1000 * MS, 21000 * MS, 0, &delay) == BACKOFF_STATUS_OK);
    CHECK(delay == 0);
    CHECK(backoff_retry_fail_since(&retry, &policy, 21000 * MS, 22000 * MS, 7000 * MS, &delay) == BACKOFF_STATUS_OK);
    CHECK(delay >= 7000 * MS);
    delay = UNTOUCHED;
    CHECK(backoff_retry_fail_since(&retry, &policy, 0, 0, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_retry_fail_since(&retry, NULL, 0, 0, 0, &delay) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(delay == UNTOUCHED);
}

/* RFC 7252, 4.2: t in [2, 3] s, then twice the one before; five timeouts. */
static void coap_doubles_what_it_drew(void)
{
    struct backoff_policy policy = BACKOFF_PRESET_COAP;
    struct backoff_retry retry;
    uint64_t delay, last = 0, stream;
    int n;
    for (stream = 0; stream < 100; stream++) {
        CHECK(backoff_retry_init(&retry, 1, stream, 0) == BACKOFF_STATUS_OK);
        for (n = 0; n < 5; n++) {
            CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK);
            CHECK(n == 0 ? delay >= 2000 * MS && delay <= 3000 * MS : delay == 2 * last);
            last = delay;
        }
        CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_ATTEMPT_LIMIT);
    }
}

/* The flags, and a multiplier finer than a percent. */
static void the_first_retry_may_come_at_once(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_KIND_EXPONENTIAL);
    policy.flags = BACKOFF_FLAG_FIRST_AT_ONCE;
    CHECK(bounds_of(&policy, 1, 0).longest_ns == 0 && bounds_of(&policy, 2, 0).longest_ns == 100 * MS);
    CHECK(bounds_of(&policy, 3, 0).longest_ns == 200 * MS);
    policy.kind = BACKOFF_KIND_SLOT_EXPONENTIAL;
    CHECK(bounds_of(&policy, 1, 0).longest_ns == 0 && bounds_of(&policy, 2, 0).longest_ns == 51200);
    policy = of_kind(BACKOFF_KIND_FULL_JITTER);
    policy.flags = BACKOFF_FLAG_FIRST_EXACT;
    CHECK(bounds_of(&policy, 1, 0).shortest_ns == 100 * MS && bounds_of(&policy, 2, 0).shortest_ns == 0);
    /* ALOHA_GEOMETRIC has a law of its own. */
    policy = of_kind(BACKOFF_LAW_ALOHA_GEOMETRIC);
    policy.flags = BACKOFF_FLAG_FIRST_AT_ONCE;
    CHECK(bounds_of(&policy, 1, 0).longest_ns == 0 && bounds_of(&policy, 2, 0).longest_ns > 51200);
    /* Both flags: the first delay is that after the second failure. */
    policy = of_kind(BACKOFF_KIND_FULL_JITTER);
    policy.flags = BACKOFF_FLAG_FIRST_AT_ONCE | BACKOFF_FLAG_FIRST_EXACT;
    CHECK(bounds_of(&policy, 1, 0).longest_ns == 0 && bounds_of(&policy, 2, 0).shortest_ns == 100 * MS);
    CHECK(bounds_of(&policy, 2, 0).longest_ns == 100 * MS && bounds_of(&policy, 3, 0).shortest_ns == 0);
    policy = of_kind(BACKOFF_KIND_EXPONENTIAL);
    policy.multiplier_millionths = 1001000;
    CHECK(bounds_of(&policy, 2, 0).longest_ns == UINT64_C(100100000));
    CHECK(bounds_of(&policy, 3, 0).longest_ns == UINT64_C(100200100));
}

/* What would be cut in silence, or change nothing, is refused. */
static void fields_that_would_be_ignored_are_refused(void)
{
    static const uint32_t slots[] = {BACKOFF_KIND_SLOT_EXPONENTIAL, BACKOFF_LAW_RCP, BACKOFF_LAW_ALOHA_UNIFORM,
        BACKOFF_LAW_ALOHA_GEOMETRIC};
    struct backoff_policy policy = of_kind(BACKOFF_KIND_EXPONENTIAL);
    struct backoff_bounds bounds = {7, 7};
    struct backoff_retry retry;
    uint64_t delay = 7;
    size_t i;
    policy.multiplier_percent = 429496;
    CHECK(bounds_of(&policy, 2, 0).longest_ns == UINT64_C(429496000000));
    policy.multiplier_percent = 429497;
    CHECK(backoff_policy_bounds(&policy, 2, 0, &bounds) == BACKOFF_STATUS_CONFIG_VALUE);
    CHECK(backoff_retry_init(&retry, 1, 2, 0) == BACKOFF_STATUS_OK);
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE && retry.failures == 0);
    for (i = 0; i < sizeof slots / sizeof *slots; i++) {
        policy = of_kind(slots[i]);
        policy.flags = BACKOFF_FLAG_FIRST_EXACT;
        CHECK(backoff_policy_bounds(&policy, 1, 0, &bounds) == BACKOFF_STATUS_CONFIG_VALUE);
        CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE);
    }
    policy = of_kind(BACKOFF_KIND_EXPONENTIAL);
    policy.flags = 16;
    CHECK(backoff_policy_bounds(&policy, 1, 0, &bounds) == BACKOFF_STATUS_CONFIG_VALUE);
    CHECK(bounds.shortest_ns == 7 && bounds.longest_ns == 7 && delay == 7);
}

/* A server asks for a year. */
static void a_hint_has_a_limit(void)
{
    static const uint64_t year = UINT64_C(31536000000000000), hints[] = {0, 1000000, 3000000000, 31536000000000000};
    struct backoff_policy policy = of_kind(BACKOFF_KIND_FULL_JITTER);
    struct backoff_prepared prepared;
    struct backoff_retry retry, plain, again;
    uint64_t delay, other, t, stream;
    size_t i;
    policy.hint_limit_ns = 60 * 1000 * MS;
    CHECK(backoff_policy_prepare(&policy, &prepared) == BACKOFF_STATUS_OK);
    for (stream = 0; stream < 100; stream++) {
        CHECK(backoff_retry_init(&retry, 1, stream, 0) == BACKOFF_STATUS_OK);
        again = retry;
        CHECK(backoff_retry_fail_any(&retry, &policy, 0, year, &delay) == BACKOFF_STATUS_OK);
        CHECK(delay >= 60000 * MS && delay <= 60100 * MS);
        CHECK(backoff_prepared_fail(&again, &prepared, 0, year, &other) == BACKOFF_STATUS_OK && other == delay);
    }
    /* AWS: x-amz-retry-after is clamped to [t, t + 5 s]. */
    policy = (struct backoff_policy)BACKOFF_PRESET_AWS_STANDARD;
    CHECK(backoff_policy_prepare(&policy, &prepared) == BACKOFF_STATUS_OK);
    for (stream = 0; stream < 400; stream++) {
        uint64_t hint = hints[stream % 4];
        CHECK(backoff_retry_init(&retry, 1, stream, 0) == BACKOFF_STATUS_OK);
        plain = again = retry;
        for (i = 0; i < 2; i++) {
            CHECK(backoff_retry_fail_any(&plain, &policy, 0, 0, &t) == BACKOFF_STATUS_OK);
            CHECK(backoff_retry_fail_any(&retry, &policy, 0, hint, &delay) == BACKOFF_STATUS_OK);
            CHECK(delay == (hint < t ? t : hint > t + 5000 * MS ? t + 5000 * MS : hint));
            CHECK(backoff_prepared_fail(&again, &prepared, 0, hint, &other) == BACKOFF_STATUS_OK && other == delay);
        }
    }
    /* The same as a flag, for any kind. */
    policy = of_kind(BACKOFF_KIND_CONSTANT);
    policy.flags = BACKOFF_FLAG_HINT_ABOVE_DRAW;
    policy.hint_limit_ns = 50 * MS;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, year, &delay) == BACKOFF_STATUS_OK && delay == 150 * MS);
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 120 * MS, &delay) == BACKOFF_STATUS_OK && delay == 120 * MS);
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 20 * MS, &delay) == BACKOFF_STATUS_OK && delay == 100 * MS);
}

/* RestartMaxDelaySec below RestartSec: systemd waits RestartSec. */
static void a_ceiling_below_the_base_of_systemd_is_none(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_LAW_STEPS);
    uint64_t n;
    policy.base_ns = 1000 * MS;
    policy.ceiling_ns = 300 * MS;
    policy.intervals[0] = 4;
    for (n = 1; n < 8; n++)
        CHECK(bounds_of(&policy, n, 0).shortest_ns == 1000 * MS && bounds_of(&policy, n, 0).longest_ns == 1000 * MS);
}

/* RFC 6206, 4.2: I and t apart. An interval doubles up to Imax; t is in its second half; a message that is inconsistent
 * begins with Imin again. */
static void trickle_can_be_driven(void)
{
    struct backoff_policy policy = BACKOFF_PRESET_TRICKLE;
    struct backoff_retry timer;
    uint64_t now = 0, t, interval, expected = 8 * MS, n;
    policy.ceiling_ns = 64 * MS;
    CHECK(backoff_retry_init(&timer, 1, 2, now) == BACKOFF_STATUS_OK);
    for (n = 0; n < 20; n++) {
        interval = bounds_of(&policy, timer.failures + UINT64_C(1), 0).longest_ns + 1;
        CHECK(interval == expected);
        CHECK(backoff_retry_fail_any(&timer, &policy, now, 0, &t) == BACKOFF_STATUS_OK);
        CHECK(t >= interval / 2 && t < interval);
        now += interval; /* at now + t, if fewer than k were consistent: transmit */
        expected = expected < 64 * MS ? 2 * expected : 64 * MS;
        if (n == 12) {
            CHECK(backoff_retry_reset(&timer, now) == BACKOFF_STATUS_OK);
            expected = 8 * MS;
        }
    }
}

/* 20 % of 0.5 s, and [0, 300] ms. */
static void a_preset_takes_another_amount_of_jitter(void)
{
    struct backoff_policy policy = BACKOFF_PRESET_GOOGLE_HTTP;
    struct backoff_bounds bounds;
    policy.jitter_amount = 20;
    bounds = bounds_of(&policy, 1, 0);
    CHECK(bounds.shortest_ns == 400 * MS && bounds.longest_ns == 600 * MS);
    policy = (struct backoff_policy)BACKOFF_PRESET_GOOGLE_DRIVE;
    policy.jitter_amount = 300;
    bounds = bounds_of(&policy, 1, 0);
    CHECK(bounds.shortest_ns == 1000 * MS && bounds.longest_ns == 1300 * MS);
    policy.jitter = BACKOFF_JITTER_PROPORTIONAL; /* above 100 % counts as 100 % */
    bounds = bounds_of(&policy, 1, 0);
    CHECK(bounds.shortest_ns == 0 && bounds.longest_ns == 2000 * MS);
}

/* 100^10 passes 2^64; the ceiling holds all the same. And it bounds a geometric delay, without a change of p. */
static void a_ceiling_bounds_delays_in_slots(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_KIND_SLOT_EXPONENTIAL);
    struct backoff_moments moments;
    policy.slot_base = 100;
    policy.slot_limit = 100;
    policy.ceiling_ns = 1000 * MS;
    CHECK(bounds_of(&policy, 9, 0).longest_ns <= 1000 * MS);
    CHECK(bounds_of(&policy, 10, 0).longest_ns <= 1000 * MS);
    CHECK(bounds_of(&policy, 100, 0).longest_ns <= 1000 * MS);
    policy = of_kind(BACKOFF_LAW_ALOHA_GEOMETRIC);
    policy.slot_ns = 1;
    policy.intervals[0] = 200;
    policy.ceiling_ns = 10;
    CHECK(bounds_of(&policy, 1, 0).longest_ns == 10);
    CHECK(backoff_policy_moments(&policy, 1, 0, &moments) == BACKOFF_STATUS_OK);
    CHECK(moments.mean_ns > 4.8 && moments.mean_ns < 5.0);
}

/* The header says 2^64 - 1 slots. */
static void products_of_multipliers_end_at_the_largest_word(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_LAW_RCP_MULTIPLIERS);
    policy.slot_ns = 1;
    policy.intervals_count = 3;
    policy.intervals[0] = policy.intervals[1] = policy.intervals[2] = UINT32_MAX;
    CHECK(bounds_of(&policy, 2, 0).longest_ns == UINT64_C(4294967295) * UINT64_C(4294967295) - 1);
    CHECK(bounds_of(&policy, 3, 0).longest_ns == UINT64_MAX - 1);
}

/* One seed and one stream: a station and an operation have different generators. */
static void a_station_and_an_operation_draw_different_words(void)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    struct backoff station;
    struct backoff_retry retry;
    CHECK(backoff_init(&station, &config, 42, 7) == BACKOFF_STATUS_OK);
    CHECK(backoff_retry_init(&retry, 42, 7, 0) == BACKOFF_STATUS_OK);
    CHECK(station.generator != retry.generator);
}

/* A hint of 150 ms below a cap of 200 ms: the range [0, 200] begins there, and ends at 350 ms. And the next decorrelated
 * range follows from the draw without the hint. */
static void a_hint_below_the_cap_may_lead_past_it(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_KIND_DECORRELATED_JITTER);
    struct backoff_retry retry;
    uint64_t delay, longest = 0, stream;
    policy.cap_ns = 200 * MS;
    for (stream = 0; stream < 1000; stream++) {
        CHECK(backoff_retry_init(&retry, 1, stream, 0) == BACKOFF_STATUS_OK);
        CHECK(backoff_retry_fail_any(&retry, &policy, 0, 150 * MS, &delay) == BACKOFF_STATUS_OK);
        CHECK(delay >= 150 * MS && delay - retry.previous_ns == 150 * MS && retry.previous_ns <= 200 * MS);
        longest = delay > longest ? delay : longest;
    }
    CHECK(longest > 340 * MS && longest <= 350 * MS); /* [100, 300], moved to [0, 200] by the cap, and up by the hint */
}

/* What the header says of a decorrelated delay after one of 0. */
static void after_a_delay_of_0_comes_the_base(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_KIND_DECORRELATED_JITTER);
    struct backoff_retry retry;
    uint64_t delay;
    CHECK(backoff_retry_init(&retry, 1, 1, 0) == BACKOFF_STATUS_OK);
    retry.failures = 1;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK && delay == 100 * MS);
    retry.previous_ns = 0;
    policy.cap_ns = 60 * MS;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK && delay == 60 * MS);
}

/* Kinds 8 to 12 have their own spread; decorrelated without jitter is exponential. */
static void jitter_is_for_kinds_that_do_not_count_slots(void)
{
    uint32_t kind;
    for (kind = 0; kind < KINDS; kind++) {
        struct backoff_policy own = of_kind(kind), none = of_kind(kind);
        struct backoff_bounds with, without;
        own.attempt_limit = none.attempt_limit = UINT64_MAX;
        none.jitter = BACKOFF_JITTER_NONE;
        none.flags = BACKOFF_FLAG_IGNORE_UNUSED;
        with = bounds_of(&own, 3, 0);
        without = bounds_of(&none, 3, 0);
        if (kind > BACKOFF_LAW_STEPS)
            CHECK(with.shortest_ns == without.shortest_ns && with.longest_ns == without.longest_ns);
        else
            CHECK(without.shortest_ns == without.longest_ns);
        if (kind == BACKOFF_KIND_DECORRELATED_JITTER)
            CHECK(without.longest_ns == 400 * MS);
    }
}

/* The mean of the third 802.3 collision is 3.5 slots; the variance of 8 equally likely ones (8^2 - 1)/12 slots. */
static void the_moments_are_exact(void)
{
    struct backoff_policy policy = BACKOFF_PRESET_IEEE8023;
    struct backoff_moments moments;
    policy.slot_ns = 4;
    CHECK(backoff_policy_moments(&policy, 3, 0, &moments) == BACKOFF_STATUS_OK);
    CHECK(moments.mean_ns == 14.0 && moments.variance_ns2 == 84.0);
    CHECK(backoff_policy_moments(&policy, 16, 0, &moments) == BACKOFF_STATUS_ATTEMPT_LIMIT);
    CHECK(moments.mean_ns == 14.0 && moments.variance_ns2 == 84.0);
}

/* RFC 3261: requests at 0, 0.5, 1.5, 3.5, 7.5, 11.5 ... 31.5 s, and the transaction ends at 32 s. */
static void a_sip_request_is_sent_eleven_times_and_an_invite_seven(void)
{
    static const uint64_t other[] = {500, 1500, 3500, 7500, 11500, 15500, 19500, 23500, 27500, 31500};
    static const uint64_t invite[] = {500, 1500, 3500, 7500, 15500, 31500};
    struct backoff_policy policy = BACKOFF_PRESET_SIP_TIMER_E;
    struct backoff_retry transaction;
    uint64_t start = 1000 * MS, now = start, delay;
    uint32_t failed;
    int sent = 0;
    CHECK(backoff_retry_init(&transaction, 1, 1, now) == BACKOFF_STATUS_OK);
    while (backoff_retry_fail_any(&transaction, &policy, now, 0, &delay) == BACKOFF_STATUS_OK) {
        now += delay;
        CHECK(sent < 10 && now - start == other[sent] * MS);
        sent++;
    }
    CHECK(sent == 10);
    CHECK(backoff_retry_failures(&transaction, &failed) == BACKOFF_STATUS_OK && failed == 11);
    CHECK(backoff_retry_fail_any(&transaction, &policy, now, 0, &delay) == BACKOFF_STATUS_ELAPSED_LIMIT);

    policy = (struct backoff_policy)BACKOFF_PRESET_SIP_TIMER_A;
    CHECK(backoff_retry_reset(&transaction, now) == BACKOFF_STATUS_OK);
    for (sent = 0, start = now; backoff_retry_fail_any(&transaction, &policy, now, 0, &delay) == BACKOFF_STATUS_OK; sent++) {
        now += delay;
        CHECK(sent < 6 && now - start == invite[sent] * MS);
    }
    CHECK(sent == 6);

    /* T1 = 100 ms. */
    policy.base_ns = 100 * MS;
    policy.elapsed_limit_ns = 64 * policy.base_ns;
    CHECK(backoff_retry_reset(&transaction, now) == BACKOFF_STATUS_OK);
    for (sent = 0; backoff_retry_fail_any(&transaction, &policy, now, 0, &delay) == BACKOFF_STATUS_OK; sent++)
        now += delay;
    CHECK(sent == 6);
}

static void limits_hints_and_clocks(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_KIND_CONSTANT);
    struct backoff_retry retry;
    uint64_t delay = UNTOUCHED;
    policy.attempt_limit = 3;
    policy.elapsed_limit_ns = 1000 * MS;
    CHECK(backoff_retry_init(&retry, 1, 1, 500 * MS) == BACKOFF_STATUS_OK);
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK); /* a clock that goes back */
    CHECK(delay == 100 * MS);
    CHECK(backoff_retry_fail_any(&retry, &policy, 600 * MS, 700 * MS, &delay) == BACKOFF_STATUS_OK);
    CHECK(delay == 700 * MS);
    delay = UNTOUCHED;
    CHECK(backoff_retry_fail_any(&retry, &policy, 600 * MS, 0, &delay) == BACKOFF_STATUS_ATTEMPT_LIMIT);
    CHECK(backoff_retry_reset(&retry, 0) == BACKOFF_STATUS_OK);
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 1001 * MS, &delay) == BACKOFF_STATUS_ELAPSED_LIMIT);
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, UINT64_MAX, &delay) == BACKOFF_STATUS_ELAPSED_LIMIT);
    CHECK(delay == UNTOUCHED);
    policy.attempt_limit = policy.elapsed_limit_ns = UINT64_MAX;
    retry.failures = UINT32_MAX;
    CHECK(backoff_retry_fail_any(&retry, &policy, UINT64_MAX, UINT64_MAX, &delay) == BACKOFF_STATUS_OK);
    CHECK(delay == UINT64_MAX && retry.failures == UINT32_MAX);
}

static void a_base_of_0_is_the_default_and_a_base_above_the_cap_is_the_cap(void)
{
    struct backoff_policy policy = of_kind(BACKOFF_KIND_CONSTANT);
    uint64_t delay;
    CHECK(backoff_policy_draw(&policy, 1, 0, 0, &delay) == BACKOFF_STATUS_OK && delay == 100 * MS);
    policy.cap_ns = 7;
    CHECK(backoff_policy_draw(&policy, 1, 0, 0, &delay) == BACKOFF_STATUS_OK && delay == 7);
}

static void what_means_nothing_is_refused_and_nothing_changes(void)
{
    struct backoff_policy policy = of_kind(KINDS);
    struct backoff_retry retry, before;
    struct backoff_bounds bounds;
    uint64_t delay = UNTOUCHED;
    uint32_t failed = 7;
    CHECK(backoff_retry_init(NULL, 1, 1, 0) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_retry_init(&retry, 1, 1, 0) == BACKOFF_STATUS_OK);
    before = retry;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE);
    policy = of_kind(0);
    policy.jitter = BACKOFF_JITTER_AROUND + 1;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE);
    policy = of_kind(BACKOFF_LAW_RCP);
    policy.intervals_count = 0;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE);
    policy.intervals_count = BACKOFF_INTERVALS + 1;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE);
    policy.kind = BACKOFF_LAW_RCP_MULTIPLIERS;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE);
    policy = of_kind(0);
    policy.reserved = 1;
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE);
    policy = of_kind(0);
    policy.size = 159; /* smaller than it was in any version */
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_SIZE);
    policy = of_kind(0);
    CHECK(backoff_retry_fail_any(NULL, &policy, 0, 0, &delay) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_retry_fail_any(&retry, NULL, 0, 0, &delay) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_retry_reset(NULL, 0) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_policy_bounds(NULL, 1, 0, &bounds) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_policy_bounds(&policy, 1, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_policy_moments(&policy, 1, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_policy_draw(&policy, 1, 0, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(memcmp(&retry, &before, sizeof retry) == 0);
    memset(&retry, 0, sizeof retry);
    CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_retry_reset(&retry, 0) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_retry_failures(&retry, &failed) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_retry_failures(&retry, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_retry_failures(NULL, &failed) == BACKOFF_STATUS_NULL_POINTER && failed == 7);
    CHECK(delay == UNTOUCHED);
}

static void the_layout_is_the_documented_one(void)
{
    CHECK(sizeof(struct backoff_retry) == 40 && sizeof(struct backoff_rate) == 40);
    CHECK(sizeof(struct backoff_policy) == 176);
    CHECK(offsetof(struct backoff_policy, intervals) == 96);
}

int main(void)
{
    the_kinds_grow_as_they_say();
    every_kind_never_passes_its_cap_at_any_count();
    a_geometric_choice_from_one_slot_does_not_wait();
    a_cap_moves_the_range_and_a_ceiling_does_not();
    a_delay_may_count_from_the_start_of_the_attempt();
    coap_doubles_what_it_drew();
    the_first_retry_may_come_at_once();
    fields_that_would_be_ignored_are_refused();
    a_hint_has_a_limit();
    a_ceiling_below_the_base_of_systemd_is_none();
    trickle_can_be_driven();
    a_preset_takes_another_amount_of_jitter();
    a_ceiling_bounds_delays_in_slots();
    products_of_multipliers_end_at_the_largest_word();
    a_station_and_an_operation_draw_different_words();
    a_hint_below_the_cap_may_lead_past_it();
    after_a_delay_of_0_comes_the_base();
    jitter_is_for_kinds_that_do_not_count_slots();
    the_moments_are_exact();
    a_sip_request_is_sent_eleven_times_and_an_invite_seven();
    limits_hints_and_clocks();
    a_base_of_0_is_the_default_and_a_base_above_the_cap_is_the_cap();
    what_means_nothing_is_refused_and_nothing_changes();
    the_layout_is_the_documented_one();
    return failures != 0;
}
