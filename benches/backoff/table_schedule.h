/*
 * The rows of the schedule: one expiry and one insert, with so many values pending. Every value that expires is inserted
 * again at a random delay below the range, as devices that try again do.
 */

#define ROOM 64

static struct backoff_schedule *schedule;
static uint64_t schedule_mask;

static void schedule_turn(void)
{
    static struct backoff_due due[ROOM];
    size_t count, i, turned = 0;
    while (turned < OPERATIONS) {
        size_t room = OPERATIONS - turned < ROOM ? OPERATIONS - turned : ROOM;
        backoff_schedule_expire(schedule, UINT64_MAX, room, due, &count);
        for (i = 0; i < count; i++) {
            uint64_t slot = due[i].slot + 1 + (generator_word() & schedule_mask);
            backoff_schedule_insert(schedule, slot, due[i].value, NULL);
        }
        turned += count;
    }
}

static void schedules(void)
{
    static const uint32_t pending[] = {1000, 100000, 1000000};
    static const int bits[] = {10, 20};
    char name[64];
    size_t range, i;
    for (range = 0; range < 2; range++)
        for (i = 0; i < 3; i++) {
            size_t octets = backoff_schedule_octets(pending[i]);
            void *memory = malloc(octets);
            uint32_t value;
            int turns;
            if (!memory || backoff_schedule_init(memory, octets, 0, &schedule) != BACKOFF_STATUS_OK)
                exit(1);
            schedule_mask = (UINT64_C(1) << bits[range]) - 1;
            for (value = 0; value < pending[i]; value++)
                backoff_schedule_insert(schedule, 1 + (generator_word() & schedule_mask), value, NULL);
            for (turns = 0; turns < (int)(2 * pending[i] / OPERATIONS + 50); turns++)
                schedule_turn();
            snprintf(name, sizeof name, "schedule, %lu pending, delays below 2^%d", (unsigned long)pending[i], bits[range]);
            measure_many(name, schedule_turn, samples / 2);
            free(memory);
        }
}
