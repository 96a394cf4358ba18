// backoff.hpp: the delays of the C functions, as std::chrono has them.

#include <algorithm>
#include <vector>

#include "backoff.hpp"
#include "check.h"

using namespace std::chrono_literals;

static void the_range_has_the_delays_of_the_c_functions()
{
    libbackoff::policy policy(BACKOFF_KIND_EQUAL_JITTER);
    policy.base(50ms).cap(1s).attempt_limit(9);
    libbackoff::delays range(policy, 42, 7);
    std::vector<std::chrono::nanoseconds> found(range.begin(), range.end());
    backoff_retry retry;
    std::uint64_t delay;
    backoff_retry_init(&retry, 42, 7, 0);
    CHECK(found.size() == 8);
    for (auto one : found) {
        CHECK(backoff_retry_fail(&retry, &policy.raw(), 0, 0, &delay) == BACKOFF_STATUS_OK);
        CHECK(one.count() == static_cast<std::int64_t>(delay) && one <= 1s);
    }
    CHECK(*std::max_element(found.begin(), found.end()) > 200ms);
}

static void an_operation_is_told_the_time()
{
    libbackoff::policy policy(BACKOFF_KIND_CONSTANT);
    policy.elapsed_limit(1s);
    libbackoff::operation operation(1, 1, 5s);
    CHECK(operation.fail(policy, 5s) == std::optional<libbackoff::nanoseconds>(100ms));
    CHECK(operation.fail(policy, 5s, 700ms) == std::optional<libbackoff::nanoseconds>(700ms));
    CHECK(!operation.fail(policy, 5901ms) && operation.status() == BACKOFF_STATUS_ELAPSED_LIMIT);
    CHECK(libbackoff::span(UINT64_MAX) == libbackoff::nanoseconds::max() && libbackoff::count(-1s) == 0);
}

int main()
{
    the_range_has_the_delays_of_the_c_functions();
    an_operation_is_told_the_time();
    return failures != 0;
}
