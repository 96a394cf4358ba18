/* The budgets of large clients as a C program sees them: AWS's quota, gRPC's throttling, Finagle's window, Envoy's share; and
 * what is refused. */

#include <string.h>

#include "backoff_limits.h"
#include "backoff_presets.h"
#include "check.h"

#define SECOND UINT64_C(1000000000)

/* 500 tokens last for 35 retries of 14, and each success pays for one more. */
static void the_quota_costs_by_class_and_is_refunded(void)
{
    struct backoff_quota_config config = BACKOFF_QUOTA_CONFIG_INIT;
    struct backoff_tokens tokens;
    uint32_t cost = 0;
    int retries = 0;
    CHECK(backoff_quota_init(&tokens, &config) == BACKOFF_STATUS_OK && tokens.thousandths == 500000);
    while (backoff_quota_take(&tokens, &config, 0, &cost) == BACKOFF_STATUS_OK)
        retries++;
    CHECK(retries == 35 && cost == 14 && tokens.thousandths == 10000);
    CHECK(backoff_quota_take(&tokens, &config, 1, &cost) == BACKOFF_STATUS_OK && cost == 5);
    CHECK(backoff_quota_succeed(&tokens, &config, 14) == BACKOFF_STATUS_OK && tokens.thousandths == 19000);
    CHECK(backoff_quota_succeed(&tokens, &config, 0) == BACKOFF_STATUS_OK && tokens.thousandths == 20000);
}

/* At half of the tokens no client retries, nor where the server forbids it. */
static void the_throttle_stops_at_half(void)
{
    struct backoff_throttle_config config = BACKOFF_THROTTLE_CONFIG_INIT;
    struct backoff_tokens tokens;
    int i;
    CHECK(backoff_throttle_init(&tokens, &config) == BACKOFF_STATUS_OK);
    CHECK(backoff_throttle_fail(&tokens, &config, -1) == BACKOFF_STATUS_BUDGET_EMPTY && tokens.thousandths == 9000);
    for (i = 0; i < 3; i++)
        CHECK(backoff_throttle_fail(&tokens, &config, i ? BACKOFF_NO_PUSHBACK : 0) == BACKOFF_STATUS_OK);
    CHECK(backoff_throttle_fail(&tokens, &config, BACKOFF_NO_PUSHBACK) == BACKOFF_STATUS_BUDGET_EMPTY);
    CHECK(backoff_throttle_succeed(&tokens, &config) == BACKOFF_STATUS_OK && tokens.thousandths == 5100);
}

/* 100 retries in 10 s without a request; 100 requests are good for 20 more. */
static void the_window_has_a_floor_and_a_share(void)
{
    struct backoff_window_config config = BACKOFF_WINDOW_CONFIG_INIT;
    struct backoff_window window;
    int i, retries = 0;
    CHECK(backoff_window_init(&window) == BACKOFF_STATUS_OK);
    for (i = 0; i < 100; i++)
        CHECK(backoff_window_deposit(&window, &config, 0) == BACKOFF_STATUS_OK);
    while (backoff_window_withdraw(&window, &config, SECOND) == BACKOFF_STATUS_OK)
        retries++;
    CHECK(retries == 120);
    CHECK(backoff_window_withdraw(&window, &config, 30 * SECOND) == BACKOFF_STATUS_OK);
    config.least_per_second = UINT32_MAX;
    CHECK(backoff_window_withdraw(&window, &config, 60 * SECOND) == BACKOFF_STATUS_BUDGET_EMPTY);
    config.reserved = 1;
    CHECK(backoff_window_withdraw(&window, &config, 60 * SECOND) == BACKOFF_STATUS_CONFIG_VALUE);
}

/* Each function takes the tokens of its own kind alone. */
static void a_quota_is_no_throttle(void)
{
    struct backoff_quota_config quota = BACKOFF_QUOTA_CONFIG_INIT;
    struct backoff_throttle_config throttle = BACKOFF_THROTTLE_CONFIG_INIT;
    struct backoff_tokens tokens;
    uint32_t cost = 7;
    CHECK(backoff_quota_init(&tokens, &quota) == BACKOFF_STATUS_OK);
    CHECK(backoff_throttle_fail(&tokens, &throttle, BACKOFF_NO_PUSHBACK) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_throttle_succeed(&tokens, &throttle) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(tokens.thousandths == 500000);
    CHECK(backoff_throttle_init(&tokens, &throttle) == BACKOFF_STATUS_OK);
    CHECK(backoff_quota_take(&tokens, &quota, 0, &cost) == BACKOFF_STATUS_NOT_INITIALISED && cost == 7);
    CHECK(backoff_quota_succeed(&tokens, &quota, 14) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(tokens.thousandths == 10000);
}

/* The quota first, then the policy; the cost goes back where the policy gives up. */
static void a_retry_that_is_not_made_gives_its_cost_back(void)
{
    struct backoff_quota_config config = BACKOFF_QUOTA_CONFIG_INIT;
    struct backoff_policy policy = BACKOFF_PRESET_AWS_STANDARD;
    struct backoff_retry retry;
    struct backoff_tokens tokens;
    uint64_t delay;
    uint32_t cost;
    CHECK(backoff_quota_init(&tokens, &config) == BACKOFF_STATUS_OK);
    CHECK(backoff_retry_init(&retry, 1, 2, 0) == BACKOFF_STATUS_OK);
    while (backoff_quota_take(&tokens, &config, 0, &cost) == BACKOFF_STATUS_OK)
        if (backoff_retry_fail_any(&retry, &policy, 0, 0, &delay) != BACKOFF_STATUS_OK) {
            CHECK(backoff_quota_succeed(&tokens, &config, cost) == BACKOFF_STATUS_OK);
            break;
        }
    CHECK(tokens.thousandths == 500000 - 2 * 14000);
}

static void null_zeroed_memory_and_other_sizes_are_refused(void)
{
    struct backoff_quota_config quota = BACKOFF_QUOTA_CONFIG_INIT;
    struct backoff_throttle_config throttle = BACKOFF_THROTTLE_CONFIG_INIT;
    struct backoff_window_config config = BACKOFF_WINDOW_CONFIG_INIT;
    struct backoff_tokens tokens;
    struct backoff_window window;
    uint32_t cost = 7;
    memset(&tokens, 0, sizeof tokens);
    memset(&window, 0, sizeof window);
    CHECK(backoff_quota_init(NULL, &quota) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_quota_init(&tokens, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_quota_take(&tokens, &quota, 0, &cost) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_quota_take(NULL, &quota, 0, &cost) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_quota_take(&tokens, &quota, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_quota_succeed(&tokens, &quota, 0) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_throttle_init(&tokens, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_throttle_fail(&tokens, &throttle, 0) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_throttle_succeed(NULL, &throttle) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_window_init(NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_window_deposit(&window, &config, 0) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_window_withdraw(&window, NULL, 0) == BACKOFF_STATUS_NULL_POINTER);
    quota.size = 16;
    throttle.size = 0;
    CHECK(backoff_quota_init(&tokens, &quota) == BACKOFF_STATUS_CONFIG_SIZE);
    CHECK(backoff_throttle_init(&tokens, &throttle) == BACKOFF_STATUS_CONFIG_SIZE);
    CHECK(cost == 7 && tokens.mark == 0 && window.mark == 0);
}

int main(void)
{
    the_quota_costs_by_class_and_is_refunded();
    the_throttle_stops_at_half();
    the_window_has_a_floor_and_a_share();
    CHECK(backoff_share_allows(100, 19, 0, 0) == BACKOFF_STATUS_OK);
    CHECK(backoff_share_allows(100, 20, 0, 0) == BACKOFF_STATUS_BUDGET_EMPTY);
    CHECK(backoff_share_allows(0, 2, 0, 0) == BACKOFF_STATUS_OK);
    a_quota_is_no_throttle();
    a_retry_that_is_not_made_gives_its_cost_back();
    null_zeroed_memory_and_other_sizes_are_refused();
    return failures != 0;
}
