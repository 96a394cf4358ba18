/*
 * The pairs of table_schedule.h with the timers of libuv and libevent: answers lines of `libuv_BITS_PENDING` or
 * `libevent_BITS_PENDING` and a number of rounds, as table.c does. Both read a clock of this program, which moves on until 64
 * values or more are due. Each turn of the loop has its system call.
 */

#define _GNU_SOURCE

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define OPERATIONS 4096
#define TIMERS 64

static uint64_t virtual_ms = 1000, mask;
static size_t turned;

/* In place of that of the C library, for both loops. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = (time_t)(virtual_ms / 1000);
    now->tv_nsec = (long)(virtual_ms % 1000) * 1000000;
    return 0;
}

static double now_ns(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t delay(void)
{
    static uint64_t counter = 1;
    uint64_t z = (counter += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return 1 + ((z ^ (z >> 31)) & mask);
}

static uv_loop_t *loop;
static uv_timer_t *handles;

static void libuv_due(uv_timer_t *handle)
{
    turned++;
    uv_timer_start(handle, libuv_due, delay(), 0);
}

static void libuv_begin(size_t count)
{
    size_t i;
    loop = malloc(sizeof *loop);
    uv_loop_init(loop);
    handles = calloc(count, sizeof *handles);
    for (i = 0; i < count; i++)
        uv_timer_init(loop, &handles[i]);
}

static void libuv_set(size_t i)
{
    uv_timer_start(&handles[i], libuv_due, delay(), 0);
}

static void libuv_turn(void)
{
    uv_run(loop, UV_RUN_NOWAIT);
}

static void libuv_end(size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        uv_close((uv_handle_t *)&handles[i], NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
    free(handles);
    free(loop);
}

static struct event_base *base;
static struct event *events;

static void libevent_set(size_t i)
{
    uint64_t ms = delay();
    struct timeval after = {(time_t)(ms / 1000), (suseconds_t)(ms % 1000) * 1000};
    evtimer_add(&events[i], &after);
}

static void libevent_due(evutil_socket_t none, short what, void *event)
{
    (void)none;
    (void)what;
    turned++;
    libevent_set((size_t)((struct event *)event - events));
}

static void libevent_begin(size_t count)
{
    size_t i;
    base = event_base_new();
    events = calloc(count, sizeof *events);
    for (i = 0; i < count; i++)
        evtimer_assign(&events[i], base, libevent_due, &events[i]);
}

static void libevent_turn(void)
{
    event_base_loop(base, EVLOOP_NONBLOCK);
}

static void libevent_end(size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        evtimer_del(&events[i]);
    event_base_free(base);
    free(events);
}

static const struct peer {
    const char *name;
    void (*begin)(size_t count);
    void (*set)(size_t i);
    void (*turn)(void);
    void (*end)(size_t count);
} peers[] = {
    {"libuv", libuv_begin, libuv_set, libuv_turn, libuv_end},
    {"libevent", libevent_begin, libevent_set, libevent_turn, libevent_end},
};

static const struct peer *peer;
static size_t values;

static void turn(void)
{
    uint64_t step = 1 + TIMERS * mask / 2 / values;
    turned = 0;
    while (turned < OPERATIONS) {
        virtual_ms += step;
        peer->turn();
    }
}

int main(void)
{
    char name[32], last[32] = "", library[16];
    unsigned long rounds, round, pending;
    unsigned bits;
    while (scanf("%31s %lu", name, &rounds) == 2) {
        size_t operations = 0, i;
        double start;
        if (strcmp(name, last) != 0) {
            if (peer)
                peer->end(values);
            if (sscanf(name, "%15[a-z]_%u_%lu", library, &bits, &pending) != 3)
                return 1;
            peer = &peers[strcmp(library, "libuv") != 0];
            values = pending;
            mask = (UINT64_C(1) << bits) - 1;
            peer->begin(values);
            for (i = 0; i < values; i++)
                peer->set(i);
            for (i = 0; i < values / OPERATIONS / 2 + 10; i++)
                turn();
            strcpy(last, name);
        }
        start = now_ns();
        for (round = 0; round < rounds; round++) {
            turn();
            operations += turned;
        }
        printf("%.0f %zu\n", now_ns() - start, operations);
        fflush(stdout);
    }
    return 0;
}
