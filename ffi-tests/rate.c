
#define _POSIX_C_SOURCE 200809L

#include "backoff_limits.h"
#include "check.h"
#include "loopback.h"

#define MS UINT64_C(1000000)

/* Accepts one request in 8 ms, and says 429 to those that come sooner. */
static const char *limited(int request, uint64_t now)
{
    static uint64_t last;
    uint64_t since = now - last;
    (void)request;
    last = now;
    return since < 8 * MS ? "HTTP/1.0 429 Too Many Requests\r\n\r\n" : "HTTP/1.0 200 OK\r\n\r\n";
}

/* From one request in 2 ms the rate falls until the server is content, and most requests get through. */
static void the_rate_settles_where_the_server_allows_it(void)
{
    struct backoff_rate_config config = BACKOFF_RATE_CONFIG_INIT;
    struct backoff_rate rate;
    in_port_t port;
    int asked, refused = 0, late_refusals = 0;
    uint32_t level;
    pid_t server = start_server(limited, &port);
    config.interval_ns = 2 * MS;
    config.cooling_off_ns = 10000 * MS; /* no recovery during the test */
    CHECK(backoff_rate_init(&rate) == BACKOFF_STATUS_OK);
    for (asked = 0; asked < 30; asked++) {
        unsigned long unused;
        uint64_t wait;
        while (backoff_rate_act(&rate, &config, now_ns(), &wait) == BACKOFF_STATUS_OK && wait > 0)
            sleep_ns(wait);
        if (get(port, &unused) == 429) {
            refused++;
            late_refusals += asked >= 15;
            CHECK(backoff_rate_adverse(&rate, &config, now_ns()) == BACKOFF_STATUS_OK);
        }
    }
    CHECK(backoff_rate_level(&rate, &config, now_ns(), &level) == BACKOFF_STATUS_OK);
    CHECK(refused >= 1 && level >= 1);
    CHECK(level == (refused < 10 ? (uint32_t)refused : 10));
    CHECK(late_refusals <= 2);
    stop_server(server);
}

static void it_falls_at_once_and_recovers_one_level_a_period(void)
{
    struct backoff_rate_config config = BACKOFF_RATE_CONFIG_INIT;
    struct backoff_rate rate;
    uint64_t wait;
    uint32_t level;
    CHECK(backoff_rate_init(&rate) == BACKOFF_STATUS_OK);
    CHECK(backoff_rate_adverse(&rate, &config, 0) == BACKOFF_STATUS_OK);
    CHECK(backoff_rate_adverse(&rate, &config, 0) == BACKOFF_STATUS_OK);
    CHECK(backoff_rate_act(&rate, &config, 0, &wait) == BACKOFF_STATUS_OK && wait == 0);
    CHECK(backoff_rate_act(&rate, &config, 1 * MS, &wait) == BACKOFF_STATUS_OK && wait == 3 * MS);
    CHECK(backoff_rate_level(&rate, &config, 999 * MS, &level) == BACKOFF_STATUS_OK && level == 2);
    CHECK(backoff_rate_level(&rate, &config, 1000 * MS, &level) == BACKOFF_STATUS_OK && level == 1);
    CHECK(backoff_rate_level(&rate, &config, 0, &level) == BACKOFF_STATUS_OK && level == 1); /* time that goes back */
    CHECK(backoff_rate_adverse(&rate, &config, 1000 * MS) == BACKOFF_STATUS_OK); /* too early: 2 s from now on */
    CHECK(backoff_rate_cooling_off(&rate, &config, 1000 * MS, &wait) == BACKOFF_STATUS_OK && wait == 2000 * MS);
    CHECK(backoff_rate_level(&rate, &config, 2999 * MS, &level) == BACKOFF_STATUS_OK && level == 2);
    CHECK(backoff_rate_level(&rate, &config, UINT64_MAX, &level) == BACKOFF_STATUS_OK && level == 0);
    CHECK(backoff_rate_cooling_off(&rate, &config, UINT64_MAX, &wait) == BACKOFF_STATUS_OK && wait == 1000 * MS);
}

static void null_zeroed_memory_and_other_sizes_are_refused(void)
{
    struct backoff_rate_config config = BACKOFF_RATE_CONFIG_INIT;
    struct backoff_rate rate;
    uint64_t wait = 7;
    uint32_t level = 7;
    memset(&rate, 0, sizeof rate);
    CHECK(backoff_rate_init(NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_rate_adverse(&rate, &config, 0) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_rate_act(&rate, &config, 0, &wait) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_rate_act(&rate, &config, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_rate_act(NULL, &config, 0, &wait) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_rate_cooling_off(&rate, &config, 0, &wait) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_rate_cooling_off(&rate, &config, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_rate_level(&rate, NULL, 0, &level) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_rate_level(&rate, &config, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    config.size = 8;
    CHECK(backoff_rate_level(&rate, &config, 0, &level) == BACKOFF_STATUS_CONFIG_SIZE);
    config.size = sizeof config;
    config.reserved = 1;
    CHECK(backoff_rate_level(&rate, &config, 0, &level) == BACKOFF_STATUS_CONFIG_VALUE);
    CHECK(wait == 7 && level == 7);
}

int main(void)
{
    the_rate_settles_where_the_server_allows_it();
    it_falls_at_once_and_recovers_one_level_a_period();
    null_zeroed_memory_and_other_sizes_are_refused();
    return failures != 0;
}
