/* A field of a policy has an effect, or it is refused: for every kind, every jitter and every field. */

#include <stddef.h>
#include <string.h>

#include "backoff_presets.h"
#include "check.h"

#define MS UINT64_C(1000000)
#define KINDS (BACKOFF_LAW_ALOHA_GEOMETRIC + 1)
#define JITTERS (BACKOFF_JITTER_AROUND + 1)

static const struct field {
    const char *name;
    size_t place;
    size_t size;
    uint64_t values[3];
} fields[] = {
#define FIELD(name, ...) {#name, offsetof(struct backoff_policy, name), sizeof ((struct backoff_policy *)0)->name, {__VA_ARGS__}}
    FIELD(base_ns, 3 * MS, 70 * MS, 3000000 * MS),
    FIELD(increment_ns, 3 * MS, 70 * MS, 3000000 * MS),
    FIELD(slot_ns, 3 * MS, 70 * MS, 3000000 * MS),
    FIELD(ceiling_ns, 1 * MS, 60 * MS, 250 * MS),
    FIELD(cap_ns, 1, 3 * MS, 60 * MS),
    FIELD(multiplier_percent, 110, 300, 900),
    FIELD(multiplier_millionths, 1100000, 3000000, 9000000),
    FIELD(priority_percent, 50, 300, 900),
    FIELD(jitter, BACKOFF_JITTER_NONE, BACKOFF_JITTER_EQUAL, BACKOFF_JITTER_PROPORTIONAL),
    FIELD(jitter_amount, 3, 30, 77),
    FIELD(slot_base, 3, 5, 9),
    FIELD(slot_limit, 1, 2, 3),
    FIELD(intervals_count, 1, 2, 3)
#undef FIELD
};

static void set(struct backoff_policy *policy, const struct field *field, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (field->size == sizeof value)
        memcpy((unsigned char *)policy + field->place, &value, sizeof value);
    else
        memcpy((unsigned char *)policy + field->place, &narrow, sizeof narrow);
}

/* Whether both have the same bounds after each of the first failures, whatever the delay before. */
static int are_alike(const struct backoff_policy *one, const struct backoff_policy *other)
{
    static const uint64_t before[] = {0, 5000 * MS};
    uint64_t n;
    size_t i;
    for (n = 1; n < 6; n++)
        for (i = 0; i < sizeof before / sizeof *before; i++) {
            struct backoff_bounds bounds = {0, 0}, others = {0, 0};
            if (backoff_policy_bounds(one, n, before[i], &bounds) != backoff_policy_bounds(other, n, before[i], &others) ||
                bounds.shortest_ns != others.shortest_ns || bounds.longest_ns != others.longest_ns)
                return 0;
        }
    return 1;
}

static struct backoff_policy policy_of(uint32_t kind, uint32_t jitter)
{
    struct backoff_policy policy = BACKOFF_POLICY_INIT;
    policy.kind = kind;
    policy.jitter = jitter;
    policy.attempt_limit = policy.elapsed_limit_ns = UINT64_MAX;
    if (kind == BACKOFF_LAW_RCP || kind == BACKOFF_LAW_RCP_MULTIPLIERS) {
        policy.intervals_count = 2;
        policy.intervals[0] = 10;
        policy.intervals[1] = 100;
        policy.intervals[2] = 50;
    }
    if (kind == BACKOFF_LAW_ALOHA_UNIFORM || kind == BACKOFF_LAW_ALOHA_GEOMETRIC)
        policy.intervals[0] = 5000;
    if (kind == BACKOFF_LAW_STEPS && jitter != BACKOFF_JITTER_DECORRELATED &&
        (jitter < BACKOFF_JITTER_INITIAL || jitter > BACKOFF_JITTER_POLLY)) {
        policy.intervals[0] = 5;
        policy.ceiling_ns = 9000 * MS;
    }
    return policy;
}

static void a_field_has_an_effect_or_is_refused(void)
{
    static const uint32_t counts_one[] = {BACKOFF_LAW_ALOHA_UNIFORM, BACKOFF_LAW_ALOHA_GEOMETRIC, BACKOFF_LAW_STEPS};
    uint32_t kind, jitter, checked = 0, refused_ones = 0;
    size_t f, v, i;
    for (kind = 0; kind < KINDS; kind++)
        for (jitter = 0; jitter < JITTERS; jitter++) {
            struct backoff_policy plain = policy_of(kind, jitter);
            struct backoff_bounds bounds;
            if (backoff_policy_bounds(&plain, 1, 0, &bounds) != BACKOFF_STATUS_OK)
                continue; /* a jitter for a kind that counts slots */
            for (f = 0; f < sizeof fields / sizeof *fields; f++) {
                int effect = 0, refused = 0;
                for (v = 0; v < 3; v++) {
                    struct backoff_policy changed = plain;
                    struct backoff_retry retry;
                    uint64_t delay;
                    backoff_status status;
                    set(&changed, &fields[f], fields[f].values[v]);
                    status = backoff_policy_bounds(&changed, 1, 0, &bounds);
                    refused += status == BACKOFF_STATUS_FIELD_UNUSED;
                    CHECK(backoff_retry_init(&retry, 1, kind, 0) == BACKOFF_STATUS_OK);
                    CHECK(backoff_retry_fail_any(&retry, &changed, 0, 0, &delay) == status);
                    effect += status == BACKOFF_STATUS_OK && !are_alike(&plain, &changed);
                    if (status == BACKOFF_STATUS_FIELD_UNUSED) { /* and then it would have had none */
                        changed.flags = BACKOFF_FLAG_IGNORE_UNUSED;
                        if (!are_alike(&plain, &changed))
                            fprintf(stderr, "kind %u, jitter %u: %s\n", kind, jitter, fields[f].name);
                        CHECK(are_alike(&plain, &changed));
                    }
                }
                for (i = 0; i < sizeof counts_one / sizeof *counts_one; i++) /* a count of 1 says what is so anyway */
                    effect += kind == counts_one[i] && fields[f].place == offsetof(struct backoff_policy, intervals_count);
                /* The geometric law has no end; its priority is in the mean. */
                effect += kind == BACKOFF_LAW_ALOHA_GEOMETRIC && fields[f].place == offsetof(struct backoff_policy, priority_percent);
                if (!effect && refused < 3)
                    fprintf(stderr, "kind %u, jitter %u: %s\n", kind, jitter, fields[f].name);
                CHECK(effect || refused == 3);
                checked++;
                refused_ones += refused == 3;
            }
        }
    CHECK(checked > 1600 && refused_ones > 500);
}

/* backoff_retry_fail takes what the eight kinds have, refuses what they do not use, and names the function for the rest. */
static void the_short_function_says_what_is_not_for_it(void)
{
    struct backoff_policy policy;
    struct backoff_retry retry, before;
    uint64_t delay = 7;
    uint32_t kind;
    CHECK(backoff_retry_init(&retry, 1, 2, 0) == BACKOFF_STATUS_OK);
    before = retry;
    for (kind = 0; kind < KINDS; kind++) {
        int is_structure = kind <= BACKOFF_KIND_FIBONACCI || kind == BACKOFF_KIND_SLOT_EXPONENTIAL;
        policy = policy_of(kind, 0);
        retry = before;
        CHECK(backoff_retry_fail(&retry, &policy, 0, 0, &delay) ==
            (is_structure ? BACKOFF_STATUS_OK : BACKOFF_STATUS_NEEDS_ANY));
    }
    retry = before;
    delay = 7;
    policy = policy_of(BACKOFF_KIND_FULL_JITTER, BACKOFF_JITTER_EQUAL);
    CHECK(backoff_retry_fail(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_NEEDS_ANY);
    policy = policy_of(BACKOFF_KIND_FULL_JITTER, 0);
    policy.flags = BACKOFF_FLAG_FIRST_AT_ONCE;
    CHECK(backoff_retry_fail(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_NEEDS_ANY);
    policy.flags = 0;
    policy.slot_ns = 1;
    CHECK(backoff_retry_fail(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_FIELD_UNUSED);
    policy.kind = KINDS;
    CHECK(backoff_retry_fail(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_CONFIG_VALUE);
    CHECK(delay == 7 && memcmp(&retry, &before, sizeof retry) == 0);
    policy.kind = BACKOFF_KIND_FULL_JITTER;
    policy.flags = BACKOFF_FLAG_IGNORE_UNUSED;
    CHECK(backoff_retry_fail(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK);
}

/* A field at its default is the same as one left 0. */
static void a_default_said_aloud_is_the_default(void)
{
    static const uint32_t doubling[] = {BACKOFF_KIND_FULL_JITTER, BACKOFF_KIND_EQUAL_JITTER, BACKOFF_KIND_EXPONENTIAL};
    struct backoff_retry retry;
    uint64_t plain, delay;
    size_t i;
    int field;
    for (i = 0; i < 3; i++)
        for (field = 0; field < 3; field++) {
            struct backoff_policy policy = policy_of(doubling[i], 0);
            CHECK(backoff_retry_init(&retry, 1, 2, 0) == BACKOFF_STATUS_OK);
            CHECK(backoff_retry_fail(&retry, &policy, 0, 0, &plain) == BACKOFF_STATUS_OK);
            policy.multiplier_percent = field == 0 ? 200 : 0;
            policy.multiplier_millionths = field == 1 ? 2000000 : 0;
            policy.priority_percent = field == 2 ? 100 : 0;
            CHECK(backoff_retry_init(&retry, 1, 2, 0) == BACKOFF_STATUS_OK);
            CHECK(backoff_retry_fail(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK && delay == plain);
            CHECK(backoff_retry_init(&retry, 1, 2, 0) == BACKOFF_STATUS_OK);
            CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK && delay == plain);
        }
}

/* The count stops at UINT32_MAX, and the delay is that of the count. */
static void after_the_last_count_the_delay_stays(void)
{
    struct backoff_policy policy = policy_of(BACKOFF_KIND_LINEAR, 0);
    struct backoff_retry retry;
    struct backoff_bounds bounds;
    uint64_t delay;
    int any;
    policy.base_ns = 1;
    CHECK(backoff_policy_bounds(&policy, UINT32_MAX, 0, &bounds) == BACKOFF_STATUS_OK);
    for (any = 0; any < 2; any++) {
        CHECK(backoff_retry_init(&retry, 1, 2, 0) == BACKOFF_STATUS_OK);
        retry.failures = UINT32_MAX;
        CHECK((any ? backoff_retry_fail_any : backoff_retry_fail)(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK);
        CHECK(retry.failures == UINT32_MAX && delay == bounds.longest_ns);
    }
}

int main(void)
{
    a_field_has_an_effect_or_is_refused();
    a_default_said_aloud_is_the_default();
    after_the_last_count_the_delay_stays();
    the_short_function_says_what_is_not_for_it();
    return failures != 0;
}
