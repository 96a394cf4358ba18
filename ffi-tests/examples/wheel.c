/*
 * A million devices lose their server and come back: each tries again by its own backoff, one timer wheel has all of their
 * timers, and who is switched off meanwhile takes his timer back. A slot is a millisecond. This is what somebody wrote who
 * had the header, docs/backoff/c.md and cc.
 */

#include <stdlib.h>

#include "backoff_schedule.h"
#include "../check.h"

#define DEVICES 1000000u
#define MILLISECOND UINT64_C(1000000)
/* When the server is back, and when every hundredth device is switched off; in slots. */
#define BACK 4000u
#define OFF 2000u

struct device {
    struct backoff_retry retry;
    struct backoff_ticket ticket;
};

static struct device *devices;
static struct backoff_schedule *wheel;
static struct backoff_policy policy = BACKOFF_POLICY_INIT;
static struct backoff_due due[256];
static uint32_t connected, failed, off;

/* The device tries again after its delay, in whole milliseconds. */
static void try_later(uint32_t device, uint64_t now)
{
    uint64_t delay_ns;
    CHECK(backoff_retry_fail(&devices[device].retry, &policy, now * MILLISECOND, 0, &delay_ns) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_insert(wheel, now + 1 + delay_ns / MILLISECOND, device, &devices[device].ticket) ==
          BACKOFF_STATUS_OK);
}

/* Everything that is due up to now. */
static void expire(uint64_t now)
{
    size_t count, i;
    do {
        CHECK(backoff_schedule_expire(wheel, now, 256, due, &count) == BACKOFF_STATUS_OK);
        for (i = 0; i < count; i++) {
            uint32_t device = (uint32_t)due[i].value;
            CHECK(due[i].slot == now); /* a program that slept too long would find earlier slots here */
            if (now >= BACK) {
                connected++;
            } else {
                failed++;
                try_later(device, now);
            }
        }
    } while (count == 256);
}

static void switch_off(uint32_t device)
{
    uint64_t value;
    if (backoff_schedule_cancel(wheel, &devices[device].ticket, &value) == BACKOFF_STATUS_OK) {
        CHECK(value == device);
        off++;
    }
}

int main(void)
{
    size_t octets = backoff_schedule_octets(DEVICES);
    void *memory = malloc(octets);
    uint64_t now = 0;
    uint32_t device;
    int switched = 0;
    devices = malloc(DEVICES * sizeof *devices);
    if (!memory || !devices)
        return 1;
    policy.base_ns = 1000 * MILLISECOND;
    policy.ceiling_ns = 60000 * MILLISECOND;
    CHECK(backoff_schedule_init(memory, octets, now, &wheel) == BACKOFF_STATUS_OK);
    for (device = 0; device < DEVICES; device++) {
        backoff_retry_init(&devices[device].retry, 2026, device, now); /* one seed, and its own stream for each */
        try_later(device, now);
    }
    /* A program that waits for the clock sleeps until the next slot here, and not longer than until its next other task. */
    while (backoff_schedule_next(wheel, &now) == BACKOFF_STATUS_OK) {
        if (now >= OFF && !switched)
            for (switched = 1, device = 0; device < DEVICES; device += 100)
                switch_off(device);
        expire(now);
    }
    CHECK(connected + off == DEVICES);
    CHECK(off == DEVICES / 100);
    CHECK(failed > DEVICES);
    free(devices);
    free(memory);
    return failures != 0;
}
