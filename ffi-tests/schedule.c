/* The slot schedule as a C program sees it: 16 stations on one medium, each waiting its slots; and what is refused. */

#include <string.h>

#include "backoff_schedule.h"
#include "check.h"

#define STATIONS 16

static uint64_t memory[2048], copy[2048];

static struct backoff_schedule *schedule_of(uint32_t capacity, uint64_t now)
{
    struct backoff_schedule *schedule = NULL;
    memset(memory, 0xFF, sizeof memory);
    CHECK(backoff_schedule_octets(capacity) <= sizeof memory);
    CHECK(backoff_schedule_init(memory, backoff_schedule_octets(capacity), now, &schedule) == BACKOFF_STATUS_OK);
    CHECK((void *)schedule == (void *)memory);
    return schedule;
}

/* Stations that share a slot collide and draw again; one that is alone in its slot gets through. All get through. */
static void stations_get_through_one_after_the_other(void)
{
    struct backoff_schedule *schedule = schedule_of(STATIONS, 0);
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    struct backoff station[STATIONS];
    struct backoff_due due[STATIONS];
    uint64_t slot, slots, last = 0;
    int through = 0;
    uint64_t i;
    size_t count, k;
    config.attempt_limit = 100;
    for (i = 0; i < STATIONS; i++) {
        CHECK(backoff_init(&station[i], &config, 1, i) == BACKOFF_STATUS_OK);
        CHECK(backoff_schedule_insert(schedule, 0, i, NULL) == BACKOFF_STATUS_OK);
    }
    while (backoff_schedule_next(schedule, &slot) == BACKOFF_STATUS_OK) {
        CHECK(slot >= last);
        last = slot;
        CHECK(backoff_schedule_expire(schedule, slot, STATIONS, due, &count) == BACKOFF_STATUS_OK);
        CHECK(count >= 1);
        CHECK(due[0].slot == slot && due[count - 1].slot == slot);
        if (count == 1) {
            through++;
            continue;
        }
        for (k = 0; k < count; k++) {
            CHECK(backoff_collide(&station[due[k].value], &slots) == BACKOFF_STATUS_OK);
            CHECK(backoff_schedule_insert(schedule, slot + 1 + slots, due[k].value, NULL) == BACKOFF_STATUS_OK);
        }
    }
    CHECK(through == STATIONS);
}

static void the_order_within_a_slot_is_that_of_insertion(void)
{
    static const uint64_t slots[] = {70, 5, 70, 100000, 5, 70, UINT64_MAX};
    static const uint64_t order[] = {1, 4, 0, 2, 5, 3, 6};
    struct backoff_schedule *schedule = schedule_of(7, 3);
    struct backoff_due due[8];
    uint64_t slot;
    size_t count, i;
    for (i = 0; i < 7; i++)
        CHECK(backoff_schedule_insert(schedule, slots[i], i, NULL) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_insert(schedule, 9, 9, NULL) == BACKOFF_STATUS_SCHEDULE_FULL);
    CHECK(backoff_schedule_expire(schedule, UINT64_MAX, 4, due, &count) == BACKOFF_STATUS_OK && count == 4);
    CHECK(backoff_schedule_expire(schedule, UINT64_MAX, 4, due + 4, &count) == BACKOFF_STATUS_OK && count == 3);
    for (i = 0; i < 7; i++)
        CHECK(due[i].value == order[i] && due[i].slot == slots[order[i]]);
    CHECK(backoff_schedule_next(schedule, &slot) == BACKOFF_STATUS_NOT_PENDING);
}

static void what_is_cancelled_does_not_expire(void)
{
    struct backoff_schedule *schedule = schedule_of(3, 0), *moved = (struct backoff_schedule *)copy;
    struct backoff_ticket one, two;
    struct backoff_due due[3];
    uint64_t value = 0, slot;
    uint32_t pending;
    size_t count;
    CHECK(backoff_schedule_insert(schedule, 8, 100, &one) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_insert(schedule, 8, 200, &two) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_insert(schedule, 8, 300, NULL) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_cancel(schedule, &two, &value) == BACKOFF_STATUS_OK && value == 200);
    CHECK(backoff_schedule_cancel(schedule, &two, &value) == BACKOFF_STATUS_NOT_PENDING);
    CHECK(backoff_schedule_pending(schedule, &pending) == BACKOFF_STATUS_OK && pending == 2);
    CHECK(backoff_schedule_now(schedule, &slot) == BACKOFF_STATUS_OK && slot == 0);
    memcpy(copy, memory, sizeof memory);
    memset(memory, 0, sizeof memory);
    CHECK(backoff_schedule_expire(moved, 8, 3, due, &count) == BACKOFF_STATUS_OK && count == 2);
    CHECK(due[0].value == 100 && due[1].value == 300 && due[0].slot == 8 && due[1].slot == 8);
    CHECK(backoff_schedule_pending(moved, &pending) == BACKOFF_STATUS_OK && pending == 0);
    CHECK(backoff_schedule_now(moved, &slot) == BACKOFF_STATUS_OK && slot == 8);
    /* A room of 0 takes nothing, and now stays. */
    CHECK(backoff_schedule_expire(moved, 99, 0, due, &count) == BACKOFF_STATUS_OK && count == 0);
    CHECK(backoff_schedule_now(moved, &slot) == BACKOFF_STATUS_OK && slot == 8);
    CHECK(backoff_schedule_cancel(moved, &one, &value) == BACKOFF_STATUS_NOT_PENDING && value == 200);
}

/* One call for each slot that has values, in place of two. */
static void the_next_slot_comes_in_one_call(void)
{
    static const uint64_t slots[] = {70, 5, 70, 100000, 5, 70, UINT64_MAX};
    struct backoff_schedule *schedule = schedule_of(7, 3);
    struct backoff_due due[8];
    uint64_t slot;
    size_t count = 99, i;
    for (i = 0; i < 7; i++)
        CHECK(backoff_schedule_insert(schedule, slots[i], i, NULL) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_expire_next(schedule, 4, 8, due, &count) == BACKOFF_STATUS_NOT_PENDING && count == 99);
    CHECK(backoff_schedule_now(schedule, &slot) == BACKOFF_STATUS_OK && slot == 4);
    CHECK(backoff_schedule_expire_next(schedule, UINT64_MAX, 0, due, &count) == BACKOFF_STATUS_OK && count == 0);
    CHECK(backoff_schedule_expire_next(schedule, UINT64_MAX, 8, due, &count) == BACKOFF_STATUS_OK && count == 2);
    CHECK(due[0].slot == 5 && due[0].value == 1 && due[1].slot == 5 && due[1].value == 4);
    CHECK(backoff_schedule_expire_next(schedule, UINT64_MAX, 2, due, &count) == BACKOFF_STATUS_OK && count == 2);
    CHECK(due[0].value == 0 && due[1].value == 2 && due[1].slot == 70);
    CHECK(backoff_schedule_expire_next(schedule, 70, 2, due, &count) == BACKOFF_STATUS_OK && count == 1);
    CHECK(due[0].value == 5 && due[0].slot == 70);
    CHECK(backoff_schedule_expire_next(schedule, UINT64_MAX, 8, due, &count) == BACKOFF_STATUS_OK && count == 1);
    CHECK(due[0].slot == 100000);
    CHECK(backoff_schedule_expire_next(schedule, UINT64_MAX, 8, due, &count) == BACKOFF_STATUS_OK && count == 1);
    CHECK(due[0].slot == UINT64_MAX && due[0].value == 6);
    CHECK(backoff_schedule_expire_next(schedule, UINT64_MAX, 8, due, &count) == BACKOFF_STATUS_NOT_PENDING);
    CHECK(backoff_schedule_expire_next(NULL, 0, 8, due, &count) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_expire_next(schedule, 0, 8, NULL, &count) == BACKOFF_STATUS_NULL_POINTER);
}

/* UINT64_MAX is any slot: an idle loop that asks for the next value loses no timer, whatever its capacity and way. */
static void an_idle_loop_loses_no_timer(void)
{
    uint32_t capacity;
    int way;
    for (capacity = 1; capacity <= 60; capacity += capacity < 40 ? 1 : 20)
        for (way = 0; way < 4; way++) {
            struct backoff_schedule *schedule = schedule_of(capacity, 0);
            struct backoff_due due[2];
            uint64_t now = 7;
            size_t count = 0;
            if (way & 1) /* a value first */
                CHECK(backoff_schedule_insert(schedule, 5, 1, NULL) == BACKOFF_STATUS_OK);
            if (way & 2)
                CHECK(backoff_schedule_expire(schedule, UINT64_MAX, 2, due, &count) == BACKOFF_STATUS_OK);
            else
                CHECK(backoff_schedule_expire_next(schedule, UINT64_MAX, 2, due, &count) ==
                    (way & 1 ? BACKOFF_STATUS_OK : BACKOFF_STATUS_NOT_PENDING));
            CHECK(count == (way & 1) && backoff_schedule_now(schedule, &now) == BACKOFF_STATUS_OK);
            CHECK(now == (way & 1 ? 5 : 0));
            CHECK(backoff_schedule_insert(schedule, 100, 2, NULL) == BACKOFF_STATUS_OK);
            CHECK(backoff_schedule_expire(schedule, 1000000, 2, due, &count) == BACKOFF_STATUS_OK && count == 1);
        }
}

/* A value that moves keeps its place in no slot, and its old ticket is refused; a full schedule can move its values. */
static void a_value_moves_to_another_slot(void)
{
    struct backoff_schedule *schedule = schedule_of(3, 0);
    struct backoff_ticket one, two, old;
    struct backoff_due due[3];
    uint64_t value;
    size_t count;
    CHECK(backoff_schedule_insert(schedule, 8, 100, &one) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_insert(schedule, 8, 200, &two) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_insert(schedule, 9, 300, NULL) == BACKOFF_STATUS_OK);
    old = one;
    CHECK(backoff_schedule_reschedule(schedule, &one, 9) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_reschedule(schedule, &old, 5) == BACKOFF_STATUS_NOT_PENDING);
    CHECK(backoff_schedule_cancel(schedule, &old, &value) == BACKOFF_STATUS_NOT_PENDING);
    CHECK(backoff_schedule_reschedule(schedule, &two, 1000000) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_reschedule(schedule, &two, 7) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_reschedule(NULL, &two, 7) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_reschedule(schedule, NULL, 7) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_expire(schedule, UINT64_MAX, 3, due, &count) == BACKOFF_STATUS_OK && count == 3);
    CHECK(due[0].value == 200 && due[0].slot == 7 && due[1].value == 300 && due[2].value == 100 && due[2].slot == 9);
}

static void null_small_memory_and_zeroed_memory_are_refused(void)
{
    struct backoff_schedule *schedule = NULL, *zeroed = (struct backoff_schedule *)copy;
    struct backoff_ticket ticket = {0, 0, 0};
    struct backoff_due due;
    uint64_t value = 7;
    uint32_t pending = 7;
    size_t count = 7, octets = backoff_schedule_octets(0);
    memset(copy, 0, sizeof copy);
    CHECK(backoff_schedule_init(NULL, octets, 0, &schedule) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_init(memory, octets, 0, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_init(memory, octets - 1, 0, &schedule) == BACKOFF_STATUS_MEMORY);
    CHECK(backoff_schedule_init((char *)memory + 1, octets, 0, &schedule) == BACKOFF_STATUS_MEMORY);
    CHECK(schedule == NULL);
    CHECK(backoff_schedule_init(memory, octets, 0, &schedule) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_insert(schedule, 1, 1, NULL) == BACKOFF_STATUS_SCHEDULE_FULL);
    CHECK(backoff_schedule_insert(zeroed, 1, 1, NULL) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_schedule_insert(NULL, 1, 1, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_cancel(schedule, NULL, &value) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_cancel(schedule, &ticket, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_cancel(zeroed, &ticket, &value) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_schedule_next(zeroed, &value) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_schedule_next(schedule, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_now(zeroed, &value) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_schedule_now(schedule, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_pending(NULL, &pending) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_pending(schedule, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_pending(zeroed, &pending) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(backoff_schedule_expire(schedule, 1, 1, NULL, &count) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_expire(schedule, 1, 1, &due, NULL) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_expire(zeroed, 1, 1, &due, &count) == BACKOFF_STATUS_NOT_INITIALISED);
    CHECK(value == 7 && count == 7 && pending == 7);
}

/* All that has expired goes back in one call, or nothing does. */
static void values_go_back_in_one_call(void)
{
    static const uint64_t slots[] = {20, 9, 20};
    struct backoff_schedule *schedule = schedule_of(4, 0);
    struct backoff_due due[4] = {{0, 1}, {0, 2}, {0, 3}, {0, 0}};
    uint32_t pending = 0;
    size_t count = 0;
    CHECK(backoff_schedule_insert_each(schedule, due, slots, 3) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_insert_each(schedule, due, slots, 2) == BACKOFF_STATUS_SCHEDULE_FULL);
    CHECK(backoff_schedule_insert_each(schedule, due, slots, SIZE_MAX) == BACKOFF_STATUS_SCHEDULE_FULL);
    CHECK(backoff_schedule_insert_each(schedule, NULL, slots, 0) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_insert_each(schedule, due, NULL, 0) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_insert_each(NULL, due, slots, 0) == BACKOFF_STATUS_NULL_POINTER);
    CHECK(backoff_schedule_pending(schedule, &pending) == BACKOFF_STATUS_OK && pending == 3);
    CHECK(backoff_schedule_expire(schedule, UINT64_MAX, 4, due, &count) == BACKOFF_STATUS_OK && count == 3);
    CHECK(due[0].value == 2 && due[1].value == 1 && due[2].value == 3 && due[2].slot == 20);
}

/* 802.3's 16 stations fit 1 KB; no schedule takes more than 40 octets a value and 8,000 besides. */
static void memory_is_as_the_header_says(void)
{
    static const uint32_t capacities[] = {0, 1, 32, 33, 1000, 1000000, UINT32_C(1) << 27};
    struct backoff_schedule *schedule = NULL;
    uint32_t values;
    size_t i;
    CHECK(backoff_schedule_octets((UINT32_C(1) << 27) + 1) == SIZE_MAX);
    for (i = 0; i < sizeof capacities / sizeof capacities[0]; i++)
        CHECK(backoff_schedule_octets(capacities[i]) <=
            capacities[i] * UINT64_C(40) + (capacities[i] <= 32 ? 176 : 8000));
    CHECK(backoff_schedule_octets(STATIONS) <= 1024);
    /* As many values fit as were asked for, and no more. */
    for (i = 0; i < 40; i++) {
        schedule = schedule_of((uint32_t)i, 0);
        for (values = 0; values < i; values++)
            CHECK(backoff_schedule_insert(schedule, values * 100, 1, NULL) == BACKOFF_STATUS_OK);
        CHECK(backoff_schedule_insert(schedule, 1, 2, NULL) == BACKOFF_STATUS_SCHEDULE_FULL);
    }
}

int main(void)
{
    stations_get_through_one_after_the_other();
    the_order_within_a_slot_is_that_of_insertion();
    what_is_cancelled_does_not_expire();
    the_next_slot_comes_in_one_call();
    an_idle_loop_loses_no_timer();
    a_value_moves_to_another_slot();
    values_go_back_in_one_call();
    null_small_memory_and_zeroed_memory_are_refused();
    memory_is_as_the_header_says();
    return failures != 0;
}
