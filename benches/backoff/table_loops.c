/*
 * The job of the schedule with the timers of libuv and libevent: rows for the
 * table that table.sh makes. Both read a clock of this program, which moves on
 * until 64 values or more are due. Each turn of the loop has its system call.
 */

#define _GNU_SOURCE

#include <event2/event.h>
#include <event2/event_struct.h>
#include <malloc.h>
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
static int samples = 4000;

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

static void libuv_cancel(size_t i)
{
    uv_timer_stop(&handles[i]);
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

static void libevent_cancel(size_t i)
{
    evtimer_del(&events[i]);
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
    void (*cancel)(size_t i);
    void (*turn)(void);
    void (*end)(size_t count);
} peers[] = {
    {"libuv", libuv_begin, libuv_set, libuv_cancel, libuv_turn, libuv_end},
    {"libevent", libevent_begin, libevent_set, libevent_cancel, libevent_turn, libevent_end},
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

/* The last handles are these timers. */
static void set_and_cancel(void)
{
    size_t i;
    for (i = 0; i < OPERATIONS; i++) {
        peer->cancel(values + i % TIMERS);
        peer->set(values + i % TIMERS);
    }
    turned = OPERATIONS;
}

/* Either library takes a timer that is set. */
static void reschedule(void)
{
    size_t i;
    for (i = 0; i < OPERATIONS; i++)
        peer->set(values + i % TIMERS);
    turned = OPERATIONS;
}

static int by_size(const void *one, const void *other)
{
    double difference = *(const double *)one - *(const double *)other;
    return (difference > 0) - (difference < 0);
}

static void measure(const char *job, int bits, void (*run)(void), int between)
{
    double *times = malloc(sizeof *times * (size_t)samples);
    int i;
    for (i = 0; i < samples; i++) {
        double start = now_ns();
        run();
        times[i] = (now_ns() - start) / (double)turned;
        if (between)
            turn();
    }
    qsort(times, (size_t)samples, sizeof times[0], by_size);
    printf("%s|%s, %zu pending, delays below 2^%d\t%.2f\t%.2f\n", peer->name, job, values, bits, times[0],
           times[samples / 10]);
    fflush(stdout);
    free(times);
}

int main(int argc, char **argv)
{
    static const size_t pending[] = {1000, 100000, 1000000};
    static const int bits[] = {10, 20};
    size_t which, range, i, k;
    if (argc > 1)
        samples = atoi(argv[1]);
    fprintf(stderr, "libuv %s, libevent %s\n", uv_version_string(), event_get_version());
    for (which = 0; which < sizeof peers / sizeof peers[0]; which++)
        for (range = 0; range < 2; range++)
            for (i = 0; i < 3; i++) {
                size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
                peer = &peers[which];
                values = pending[i];
                mask = (UINT64_C(1) << bits[range]) - 1;
                peer->begin(values + TIMERS);
                for (k = 0; k < values; k++)
                    peer->set(k);
                for (k = 0; k < values / OPERATIONS / 2 + 10; k++)
                    turn();
                printf("%s|octets a value, %zu pending, delays below 2^%d\t%.0f\t\n", peer->name, values, bits[range],
                       (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / (double)values);
                measure("schedule", bits[range], turn, 0);
                measure("set and cancel", bits[range], set_and_cancel, 1);
                measure("reschedule", bits[range], reschedule, 1);
                peer->end(values + TIMERS);
            }
    return 0;
}
