/* A timer wheel for very many devices, the way a C program would have it: far and near slots, crowds in one slot, timers that
 * are cancelled before they fire; everything comes out by slot, and within a slot in the order of insertion. */

#include <stdlib.h>

#include "backoff_schedule.h"
#include "check.h"

#define DEVICES 50000u

static uint64_t word(void)
{
    static uint64_t state = 802;
    uint64_t z = (state += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Slots of one kind: all in one, in a few crowds, spread over 2^bits. */
static uint64_t slot_of(unsigned kind, uint64_t now)
{
    switch (kind) {
    case 0:
        return now + (UINT64_C(1) << 30);
    case 1:
        return now + (UINT64_C(5000000) << (word() % 20)) + word() % 100;
    default:
        return now + word() % (UINT64_C(1) << (kind * 5));
    }
}

static struct backoff_ticket tickets[DEVICES];
static uint64_t slots[DEVICES];
static uint32_t turn[DEVICES];
static struct backoff_due due[100];

static void every_timer_fires_in_its_slot_and_its_order(unsigned kind)
{
    size_t octets = backoff_schedule_octets(DEVICES), count, i;
    void *memory = malloc(octets);
    struct backoff_schedule *schedule;
    uint64_t last = 0, start = UINT64_C(1) << 40, value, slot;
    uint32_t last_turn = 0, device, cancelled = 0, fired = 0, pending;
    if (!memory) {
        failures++;
        return;
    }
    CHECK(backoff_schedule_init(memory, octets, start, &schedule) == BACKOFF_STATUS_OK);
    for (device = 0; device < DEVICES; device++) {
        slots[device] = slot_of(kind, start);
        turn[device] = device;
        CHECK(backoff_schedule_insert(schedule, slots[device], device, device % 2 ? &tickets[device] : NULL) ==
              BACKOFF_STATUS_OK);
    }
    CHECK(backoff_schedule_insert(schedule, 0, 0, NULL) == BACKOFF_STATUS_SCHEDULE_FULL);
    for (device = 1; device < DEVICES; device += 6) {
        CHECK(backoff_schedule_cancel(schedule, &tickets[device], &value) == BACKOFF_STATUS_OK && value == device);
        CHECK(backoff_schedule_cancel(schedule, &tickets[device], &value) == BACKOFF_STATUS_NOT_PENDING);
        cancelled++;
    }
    while (backoff_schedule_next(schedule, &slot) == BACKOFF_STATUS_OK) {
        CHECK(backoff_schedule_expire(schedule, slot, 100, due, &count) == BACKOFF_STATUS_OK && count > 0);
        for (i = 0; i < count; i++) {
            device = (uint32_t)due[i].value;
            CHECK(due[i].slot == slot && slots[device] == slot && device % 6 != 1);
            CHECK(slot > last || turn[device] > last_turn || fired == 0);
            last = slot;
            last_turn = turn[device];
            fired++;
        }
    }
    CHECK(fired + cancelled == DEVICES);
    CHECK(backoff_schedule_pending(schedule, &pending) == BACKOFF_STATUS_OK && pending == 0);
    free(memory);
}

int main(void)
{
    unsigned kind;
    for (kind = 0; kind < 11; kind++)
        every_timer_fires_in_its_slot_and_its_order(kind);
    return failures != 0;
}
