// A C++ program: many connections that come back after an outage, each with its own state in a vector.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backoff.h"
#include "check.h"

int main()
{
    constexpr std::size_t connections = 1000;
    backoff_policy policy = BACKOFF_POLICY_INIT;
    policy.kind = BACKOFF_KIND_EQUAL_JITTER;
    policy.ceiling_ns = UINT64_C(30000000000);
    std::vector<backoff_retry> states(connections);
    std::vector<std::uint64_t> delays(connections);
    for (std::size_t i = 0; i < connections; i++)
        CHECK(backoff_retry_init(&states[i], 1, i, 0) == BACKOFF_STATUS_OK);
    for (int failure = 1; failure <= 12; failure++)
        for (std::size_t i = 0; i < connections; i++)
            CHECK(backoff_retry_fail(&states[i], &policy, 0, 0, &delays[i]) == BACKOFF_STATUS_OK);
    const auto [first, last] = std::minmax_element(delays.begin(), delays.end());
    CHECK(*first >= policy.ceiling_ns / 2 && *last <= policy.ceiling_ns);
    CHECK(*last - *first > policy.ceiling_ns / 2 * 98 / 100);
    std::sort(delays.begin(), delays.end());
    CHECK(std::adjacent_find(delays.begin(), delays.end()) == delays.end());

    backoff_config config = BACKOFF_CONFIG_INIT;
    backoff station;
    std::uint64_t slots = 0;
    CHECK(backoff_init(&station, &config, 1, 1) == BACKOFF_STATUS_OK);
    CHECK(backoff_collide_inline(&station, &slots) == BACKOFF_STATUS_OK && slots <= 1);
    return failures != 0;
}
