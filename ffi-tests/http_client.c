/* A client that retries a real HTTP server on loopback: 503 with Retry-After, 503 without, then 200. */

#define _POSIX_C_SOURCE 200809L

#include "backoff.h"
#include "check.h"
#include "loopback.h"

#define MS UINT64_C(1000000)

static const char *recovering(int request, uint64_t now)
{
    (void)now;
    switch (request) {
    case 0:
        return "HTTP/1.0 503 Busy\r\nRetry-After: 1\r\n\r\n";
    case 1:
    case 2:
        return "HTTP/1.0 503 Busy\r\n\r\n";
    default:
        return "HTTP/1.0 200 OK\r\n\r\nhello\n";
    }
}

static const char *down(int request, uint64_t now)
{
    (void)request;
    (void)now;
    return "HTTP/1.0 503 Down\r\n\r\n";
}

/* Retries until it gets through or gives up; gives the last HTTP status, and how many requests it took. */
static int fetch(in_port_t port, const struct backoff_policy *policy, int *requests, backoff_status *reason)
{
    struct backoff_retry retry;
    unsigned long retry_after;
    uint64_t delay, longest = policy->cap_ns;
    int status;
    CHECK(backoff_retry_init(&retry, 42, (uint64_t)getpid(), now_ns()) == BACKOFF_STATUS_OK);
    *reason = BACKOFF_STATUS_OK;
    for (*requests = 1; (status = get(port, &retry_after)) == 503; ++*requests) {
        uint64_t hint = retry_after * 1000 * MS;
        *reason = backoff_retry_fail(&retry, policy, now_ns(), hint, &delay);
        if (*reason != BACKOFF_STATUS_OK)
            break;
        CHECK(delay >= hint && delay <= hint + longest);
        sleep_ns(delay);
    }
    return status;
}

int main(void)
{
    struct backoff_policy policy = BACKOFF_POLICY_INIT;
    backoff_status reason;
    in_port_t port;
    int requests;
    uint64_t start;
    pid_t server = start_server(recovering, &port);
    policy.base_ns = 10 * MS;
    policy.cap_ns = 50 * MS;
    policy.attempt_limit = 6;
    start = now_ns();
    CHECK(fetch(port, &policy, &requests, &reason) == 200);
    CHECK(requests == 4 && reason == BACKOFF_STATUS_OK);
    CHECK(now_ns() - start >= 1000 * MS);
    stop_server(server);

    server = start_server(down, &port);
    CHECK(fetch(port, &policy, &requests, &reason) == 503);
    CHECK(requests == 6 && reason == BACKOFF_STATUS_ATTEMPT_LIMIT);
    policy.attempt_limit = 0;
    policy.elapsed_limit_ns = 100 * MS;
    CHECK(fetch(port, &policy, &requests, &reason) == 503);
    CHECK(requests > 1 && reason == BACKOFF_STATUS_ELAPSED_LIMIT);
    stop_server(server);
    return failures != 0;
}
