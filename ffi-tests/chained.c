/* Delays that follow from the delay before and are not uniform, as a C program sees them: DHCPv6, AWS's clamped jitter, and
 * Polly's. The delays themselves are in golden/golden.json. */

#include "backoff_presets.h"
#include "check.h"

#define MS UINT64_C(1000000)

static struct backoff_bounds bounds_of(const struct backoff_policy *policy, uint64_t failures, uint64_t previous_ns)
{
    struct backoff_bounds bounds = {1, 0};
    CHECK(backoff_policy_bounds(policy, failures, previous_ns, &bounds) == BACKOFF_STATUS_OK);
    return bounds;
}

/* RFC 8415, 15, 7.6 and 18.2.1. */
static void dhcpv6_has_the_times_of_the_rfc(void)
{
    struct backoff_policy policy = BACKOFF_PRESET_DHCPV6_SOLICIT;
    struct backoff_bounds bounds = bounds_of(&policy, 1, 0);
    CHECK(bounds.shortest_ns == 1000 * MS + 1 && bounds.longest_ns == 1100 * MS);
    bounds = bounds_of(&policy, 2, 1000 * MS);
    CHECK(bounds.shortest_ns == 1900 * MS && bounds.longest_ns == 2100 * MS);
    bounds = bounds_of(&policy, 20, 3600000 * MS);
    CHECK(bounds.shortest_ns == 3240000 * MS && bounds.longest_ns == 3960000 * MS);
    policy = (struct backoff_policy)BACKOFF_PRESET_DHCPV6; /* a Request: MRT is 30 s, MRC 10 */
    policy.ceiling_ns = 30000 * MS;
    policy.attempt_limit = 11;
    bounds = bounds_of(&policy, 1, 0);
    CHECK(bounds.shortest_ns == 900 * MS && bounds.longest_ns == 1100 * MS);
    bounds = bounds_of(&policy, 10, 15000 * MS); /* [28.5, 30] s as it is, and above 30 s anew in [27, 33] s */
    CHECK(bounds.shortest_ns == 27000 * MS && bounds.longest_ns == 33000 * MS);
    CHECK(backoff_policy_bounds(&policy, 11, 15000 * MS, &bounds) == BACKOFF_STATUS_ATTEMPT_LIMIT);
}

/* min(cap, uniform in [base, 3 * the delay before]): of [100, 1000] ms a third is above 700 ms. */
static void the_clamped_jitter_gives_the_cap_as_often_as_what_is_above_it(void)
{
    struct backoff_policy policy = BACKOFF_POLICY_INIT;
    struct backoff_bounds bounds;
    struct backoff_moments moments;
    uint64_t generator = 1, delays[3000];
    int i, capped = 0;
    policy.kind = BACKOFF_KIND_DECORRELATED_JITTER;
    policy.jitter = BACKOFF_JITTER_DECORRELATED_CLAMPED;
    policy.cap_ns = 700 * MS;
    bounds = bounds_of(&policy, 2, 1000 * MS / 3);
    CHECK(bounds.shortest_ns == 100 * MS && bounds.longest_ns == 700 * MS);
    CHECK(backoff_policy_draws(&policy, 2, 1000 * MS / 3, &generator, 3000, delays) == BACKOFF_STATUS_OK);
    for (i = 0; i < 3000; i++)
        capped += delays[i] == 700 * MS;
    CHECK(capped > 900 && capped < 1100);
    CHECK(backoff_policy_moments(&policy, 2, 1000 * MS / 3, &moments) == BACKOFF_STATUS_OK);
    CHECK(moments.mean_ns > 499.9e6 && moments.mean_ns < 500.1e6); /* 2/3 of 400 ms and 1/3 of 700 ms */
}

/* The mean of the n-th delay over many operations is the difference of two integrals of the curve: of 2^t * tanh(2 * sqrt(t))
 * from n - 1 to n, less that before, over 1.4. */
static void pollys_delays_have_the_mean_of_their_curve(void)
{
    static const double means[] = {0.871116, 1.158146, 2.077915, 4.127598};
    struct backoff_policy policy = BACKOFF_PRESET_POLLY;
    struct backoff_moments moments;
    double sums[4] = {0, 0, 0, 0};
    uint64_t stream, delay, sum;
    int n;
    policy.base_ns = 1000 * MS;
    for (stream = 0; stream < 10000; stream++) {
        struct backoff_retry retry;
        backoff_retry_init(&retry, 530, stream, 0);
        for (n = 0, sum = 0; n < 4; n++) {
            struct backoff_bounds bounds = bounds_of(&policy, (uint64_t)n + 1, sum);
            CHECK(backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) == BACKOFF_STATUS_OK);
            CHECK(bounds.shortest_ns <= delay && delay <= bounds.longest_ns);
            sum += delay;
            CHECK(retry.previous_ns == sum);
            sums[n] += (double)delay / 1e9 / 10000;
        }
    }
    for (n = 0; n < 4; n++)
        CHECK(sums[n] > means[n] * 0.98 && sums[n] < means[n] * 1.02);
    CHECK(backoff_policy_moments(&policy, 1, 0, &moments) == BACKOFF_STATUS_OK);
    CHECK(moments.mean_ns > means[0] * 0.9999e9 && moments.mean_ns < means[0] * 1.0001e9);
}

int main(void)
{
    dhcpv6_has_the_times_of_the_rfc();
    the_clamped_jitter_gives_the_cap_as_often_as_what_is_above_it();
    pollys_delays_have_the_mean_of_their_curve();
    return failures != 0;
}
