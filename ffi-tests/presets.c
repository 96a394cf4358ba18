/* The presets of backoff_presets.h beside the delays that their sources publish, in milliseconds: the shortest and the longest
 * after failures 1, 2, 3 ... Where a delay follows from the one before, that was the longest. */

#include <string.h>

#include "backoff_presets.h"
#include "check.h"

#define MS UINT64_C(1000000)
#define MOST 8
#define UP_TO(d) {0, d}
#define ALL(d) {d, d}

static const struct row {
    const char *name;
    struct backoff_policy policy;
    double delays[MOST][2]; /* until one that is {0, 0} */
    uint64_t last;          /* the failure that is the last; 0: none */
    int is_short;           /* backoff_retry_fail takes it */
} rows[] = {
    /* 4.2.3.2.5: 0 <= r < 2^k, in slots of 51.2 us */
    {"802.3", BACKOFF_PRESET_IEEE8023, {UP_TO(.0512), UP_TO(.1536), UP_TO(.3584), UP_TO(.768), UP_TO(1.5872)}, 16, 1},
    /* 6.2.5.1: 2^BE - 1 units of 20 symbols of 16 us */
    {"802.15.4", BACKOFF_PRESET_IEEE802154, {UP_TO(2.24), UP_TO(4.8), UP_TO(9.92), UP_TO(9.92), UP_TO(9.92)}, 6, 0},
    /* RFC 3261, 17.1.2.2: "intervals of 500 ms, 1 s, 2 s, 4 s, 4 s, 4 s" */
    {"SIP timer E", BACKOFF_PRESET_SIP_TIMER_E, {ALL(500), ALL(1000), ALL(2000), ALL(4000), ALL(4000), ALL(4000)}, 0, 1},
    /* 17.1.1.2: doubled each time, until timer B */
    {"SIP timer A", BACKOFF_PRESET_SIP_TIMER_A, {ALL(500), ALL(1000), ALL(2000), ALL(4000), ALL(8000), ALL(16000)}, 0, 1},
    /* ExponentialBackOff.java: its table of requests 1 to 9, of which the first eight */
    {"Google HTTP", BACKOFF_PRESET_GOOGLE_HTTP, {{250, 750}, {375, 1125}, {562.5, 1687.5}, {843.75, 2531.25},
        {1265.625, 3796.875}, {1898.4375, 5695.3125}, {2847.65625, 8542.96875}, {4271.484375, 12814.453125}}, 0, 0},
    /* (2 ** n) + random.randint(0, 1000) / 1000, n from 0 to 4 */
    {"Google Drive", BACKOFF_PRESET_GOOGLE_DRIVE, {{1000, 2000}, {2000, 3000}, {4000, 5000}, {8000, 9000}, {16000, 17000}}, 6, 0},
    /* API Error Retries: up to 400, 1,600, 6,400 ms; below it by a nanosecond here */
    {"SimpleDB", BACKOFF_PRESET_AMAZON_SIMPLEDB, {UP_TO(399.999999), UP_TO(1599.999999), UP_TO(6399.999999)}, 0, 0},
    /* connection-backoff.md: 1 s, then times 1.6, 20 % up or down */
    {"gRPC", BACKOFF_PRESET_GRPC, {ALL(1000), {1280, 1920}, {2048, 3072}, {3276.8, 4915.2}}, 0, 0},
    /* A6: initialBackoff * random(0.8, 1.2), then min(initialBackoff * backoffMultiplier ** (n - 1), maxBackoff) * that */
    {"gRPC retryPolicy", BACKOFF_PRESET_GRPC_RETRY, {{80, 120}, {160, 240}, {320, 480}}, 4, 0},
    {"AWS standard", BACKOFF_PRESET_AWS_STANDARD, {UP_TO(50), UP_TO(100)}, 3, 1},
    {"AWS throttling", BACKOFF_PRESET_AWS_THROTTLING, {UP_TO(1000), UP_TO(2000)}, 3, 1},
    {"AWS DynamoDB", BACKOFF_PRESET_AWS_DYNAMODB, {UP_TO(25), UP_TO(50), UP_TO(100)}, 4, 1},
    {"AWS before", BACKOFF_PRESET_AWS_STANDARD_BEFORE, {UP_TO(1000), UP_TO(2000)}, 3, 1},
    {"Kubernetes queue", BACKOFF_PRESET_KUBERNETES_QUEUE, {ALL(5), ALL(10), ALL(20), ALL(40), ALL(80)}, 0, 1},
    /* pod lifecycle: 10 s, 20 s, 40 s ..., capped at 300 s */
    {"CrashLoopBackOff", BACKOFF_PRESET_KUBERNETES_CRASH_LOOP, {ALL(1e4), ALL(2e4), ALL(4e4), ALL(8e4), ALL(16e4), ALL(3e5)}, 0, 1},
    /* RFC 6298, 5.5: RTO <- RTO * 2, from 1 s (2.1), at most 60 s (2.5) */
    {"TCP", BACKOFF_PRESET_TCP_RTO, {ALL(1000), ALL(2000), ALL(4000), ALL(8000), ALL(16000), ALL(32000), ALL(60000)}, 0, 1},
    /* RFC 6206, 4.2: t in [I/2, I) */
    {"Trickle", BACKOFF_PRESET_TRICKLE, {{4, 7.999999}, {8, 15.999999}, {16, 31.999999}}, 0, 0},
    /* RFC 7252, 4.8.2: 2 s * 1.5 * 31 are the 93 s of MAX_TRANSMIT_WAIT */
    {"CoAP", BACKOFF_PRESET_COAP, {{2000, 3000}, ALL(6000), ALL(12000), ALL(24000), ALL(48000)}, 6, 0},
    /* RFC 2131, 4.1: 4 s, 8 s, up to 64 s, "randomized by the value of a uniform random number chosen from the range -1 to +1" */
    {"DHCPv4", BACKOFF_PRESET_DHCPV4, {{3e3, 5e3}, {7e3, 9e3}, {15e3, 17e3}, {31e3, 33e3}, {63e3, 65e3}, {63e3, 65e3}}, 0, 0},
    /* RFC 8415, 15: RT = IRT + RAND * IRT, then 2 * RTprev + RAND * RTprev */
    {"DHCPv6 Solicit", BACKOFF_PRESET_DHCPV6_SOLICIT, {{1000.000001, 1100}, {2090, 2310}, {4389, 4851}}, 0, 0},
    {"DHCPv6", BACKOFF_PRESET_DHCPV6, {{900, 1100}, {2090, 2310}, {4389, 4851}}, 0, 0},
    /* router_filter.rst: 0-24 ms, 0-74 ms, 0-174 ms, capped at 250 ms; one retry */
    {"Envoy", BACKOFF_PRESET_ENVOY, {UP_TO(24), UP_TO(74), UP_TO(174), UP_TO(249), UP_TO(249)}, 2, 0},
    /* retry.md: one second, then doubled, until it reaches 10 minutes */
    {"curl", BACKOFF_PRESET_CURL, {ALL(1000), ALL(2000), ALL(4000), ALL(8000), ALL(16000)}, 0, 1},
    /* configretry: 5 s, 1.5, 30 s, 0.5 */
    {"OTLP", BACKOFF_PRESET_OTLP, {{2500, 7500}, {3750, 11250}, {5625, 16875}, {8437.5, 25312.5}, {12656.25, 37968.75},
        {15000, 45000}}, 0, 0},
    /* KIP-580: MIN(retry.backoff.max.ms, (retry.backoff.ms * 2**(failures - 1)) * random(0.8, 1.2)) */
    {"Kafka", BACKOFF_PRESET_KAFKA, {{80, 120}, {160, 240}, {320, 480}, {640, 960}, ALL(1000), ALL(1000)}, 0, 0},
};

static void every_preset_has_the_delays_of_its_source(void)
{
    size_t i, n;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct backoff_policy policy = rows[i].policy;
        struct backoff_bounds bounds = {0, 0};
        policy.attempt_limit = 0;
        for (n = 0; n < MOST && rows[i].delays[n][1] > 0; n++) {
            uint64_t shortest = (uint64_t)(rows[i].delays[n][0] * 1e6 + .5), longest = (uint64_t)(rows[i].delays[n][1] * 1e6 + .5);
            CHECK(backoff_policy_bounds(&policy, n + 1, bounds.longest_ns, &bounds) == BACKOFF_STATUS_OK);
            if (bounds.shortest_ns != shortest || bounds.longest_ns != longest)
                fprintf(stderr, "%s, failure %u\n", rows[i].name, (unsigned)n + 1);
            CHECK(bounds.shortest_ns == shortest && bounds.longest_ns == longest);
        }
        CHECK(n > 1);
    }
}

static void every_preset_ends_where_its_source_does(void)
{
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct backoff_bounds bounds;
        uint64_t last = rows[i].last ? rows[i].last : UINT32_MAX;
        CHECK(backoff_policy_bounds(&rows[i].policy, last - 1, 0, &bounds) == BACKOFF_STATUS_OK);
        CHECK(backoff_policy_bounds(&rows[i].policy, last, 0, &bounds) ==
            (rows[i].last ? BACKOFF_STATUS_ATTEMPT_LIMIT : BACKOFF_STATUS_OK));
    }
}

/* The function for kinds by structure says so of the others, and both give the same. */
static void the_presets_of_the_short_function_are_those_that_the_header_names(void)
{
    size_t i;
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct backoff_retry one, other;
        uint64_t delay = 0, same = 0;
        CHECK(backoff_retry_init(&one, 802, i, 0) == BACKOFF_STATUS_OK);
        other = one;
        CHECK(backoff_retry_fail_any(&one, &rows[i].policy, 0, 0, &delay) == BACKOFF_STATUS_OK);
        CHECK(backoff_retry_fail(&other, &rows[i].policy, 0, 0, &same) ==
            (rows[i].is_short ? BACKOFF_STATUS_OK : BACKOFF_STATUS_NEEDS_ANY));
        CHECK(!rows[i].is_short || (same == delay && memcmp(&one, &other, sizeof one) == 0));
    }
}

/* KIP-580 by its draws: at the cap there is no jitter left, and the mean of min(c, X) is that of its law. */
static void the_clamped_jitter_is_the_cap_as_often_as_what_is_above_it(void)
{
    struct backoff_policy policy = BACKOFF_PRESET_KAFKA;
    struct backoff_moments moments;
    uint64_t generator = 1, delays[3000];
    int i, capped = 0;
    policy.ceiling_ns = 1000 * MS; /* [800, 1200] ms */
    CHECK(backoff_policy_draws(&policy, 5, 0, &generator, 3000, delays) == BACKOFF_STATUS_OK);
    for (i = 0; i < 3000; i++) {
        CHECK(delays[i] >= 800 * MS && delays[i] <= 1000 * MS);
        capped += delays[i] == 1000 * MS;
    }
    CHECK(capped > 1350 && capped < 1650);
    CHECK(backoff_policy_moments(&policy, 5, 0, &moments) == BACKOFF_STATUS_OK);
    CHECK(moments.mean_ns > 949.9e6 && moments.mean_ns < 950.1e6);
}

int main(void)
{
    every_preset_has_the_delays_of_its_source();
    every_preset_ends_where_its_source_does();
    the_presets_of_the_short_function_are_those_that_the_header_names();
    the_clamped_jitter_is_the_cap_as_often_as_what_is_above_it();
    return failures != 0;
}
