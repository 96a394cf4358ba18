/* A schedule begun anew in the same memory: tickets of its earlier lives, and of values that are gone, are refused, and no
 * call reads what this life has not written (in memory from malloc, which valgrind watches). */

#include <stdlib.h>
#include <string.h>

#include "backoff_schedule.h"
#include "check.h"

#define CAPACITY 300
#define LIVES 20

static struct backoff_schedule *begin(void *memory)
{
    struct backoff_schedule *schedule = NULL;
    CHECK(backoff_schedule_init(memory, backoff_schedule_octets(CAPACITY), 0, &schedule) == BACKOFF_STATUS_OK);
    return schedule;
}

static uint32_t pending_in(struct backoff_schedule *schedule)
{
    uint32_t pending = 0;
    CHECK(backoff_schedule_pending(schedule, &pending) == BACKOFF_STATUS_OK);
    return pending;
}

/* Every life inserts the same values into the same slots: nothing but the life tells its tickets from the earlier ones. */
static void tickets_of_other_lives_are_refused(void)
{
    static struct backoff_ticket old[CAPACITY], tickets[CAPACITY];
    static struct backoff_due due[CAPACITY];
    void *memory = malloc(backoff_schedule_octets(CAPACITY));
    uint64_t value;
    size_t count, i;
    int life;
    CHECK(memory != NULL);
    for (life = 0; life < LIVES; life++) {
        struct backoff_schedule *schedule = begin(memory);
        for (i = 0; life > 0 && i < CAPACITY; i++)
            CHECK(backoff_schedule_cancel(schedule, &old[i], &value) == BACKOFF_STATUS_NOT_PENDING);
        CHECK(pending_in(schedule) == 0);
        for (i = 0; i < CAPACITY; i++)
            CHECK(backoff_schedule_insert(schedule, i * i, i, &tickets[i]) == BACKOFF_STATUS_OK);
        for (i = 0; life > 0 && i < CAPACITY; i++)
            CHECK(backoff_schedule_cancel(schedule, &old[i], &value) == BACKOFF_STATUS_NOT_PENDING);
        CHECK(pending_in(schedule) == CAPACITY);
        CHECK(backoff_schedule_cancel(schedule, &tickets[7], &value) == BACKOFF_STATUS_OK && value == 7);
        CHECK(backoff_schedule_expire(schedule, UINT64_MAX, CAPACITY, due, &count) == BACKOFF_STATUS_OK);
        CHECK(count == CAPACITY - 1);
        memcpy(old, tickets, sizeof old);
    }
    free(memory);
}

/* Tickets of another schedule, and of no schedule, meet memory that has never been written. */
static void no_ticket_leads_to_memory_that_was_not_written(void)
{
    static const struct backoff_ticket odd[] = {{0, 1, 0}, {0, 1, 1}, {5, 3, 299}, {0, 1, UINT32_MAX}, {5, 1, 300}};
    void *memory = malloc(backoff_schedule_octets(CAPACITY)), *other = malloc(backoff_schedule_octets(CAPACITY));
    struct backoff_schedule *schedule = begin(memory), *stranger = begin(other);
    struct backoff_ticket ticket;
    uint64_t value = 0;
    size_t i;
    for (i = 0; i < sizeof odd / sizeof *odd; i++)
        CHECK(backoff_schedule_cancel(schedule, &odd[i], &value) == BACKOFF_STATUS_NOT_PENDING);
    CHECK(backoff_schedule_insert(stranger, 5, 1, &ticket) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_cancel(schedule, &ticket, &value) == BACKOFF_STATUS_NOT_PENDING);
    CHECK(backoff_schedule_insert(schedule, 5, 2, NULL) == BACKOFF_STATUS_OK);
    CHECK(backoff_schedule_cancel(schedule, &ticket, &value) == BACKOFF_STATUS_NOT_PENDING && pending_in(schedule) == 1);
    free(memory);
    free(other);
}

/* Slots of all distances, with and without tickets, for a while. */
static void calls_read_only_what_this_life_has_written(void)
{
    static struct backoff_ticket tickets[CAPACITY];
    void *memory = malloc(backoff_schedule_octets(CAPACITY));
    struct backoff_schedule *schedule = begin(memory);
    struct backoff_due due[8];
    uint64_t word = 1, now = 0, next, value;
    size_t count, i;
    memset(tickets, 0, sizeof tickets);
    for (i = 0; i < 20000; i++) {
        struct backoff_ticket *ticket = &tickets[i % CAPACITY];
        word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        CHECK(backoff_schedule_now(schedule, &now) == BACKOFF_STATUS_OK);
        if (word >> 62 == 0)
            backoff_schedule_cancel(schedule, ticket, &value);
        if (word >> 61 & 1)
            CHECK(backoff_schedule_insert(schedule, now + (word & 0xFFFFFF) % (UINT64_C(1) << (word >> 56 & 31)), i,
                word >> 60 & 1 ? ticket : NULL) != BACKOFF_STATUS_NOT_INITIALISED);
        else if (backoff_schedule_next(schedule, &next) == BACKOFF_STATUS_OK)
            CHECK(backoff_schedule_expire(schedule, next, 1 + (word >> 57 & 7), due, &count) == BACKOFF_STATUS_OK);
    }
    free(memory);
}

int main(void)
{
    tickets_of_other_lives_are_refused();
    no_ticket_leads_to_memory_that_was_not_written();
    calls_read_only_what_this_life_has_written();
    return failures != 0;
}
