/*
 * The rows of the schedule: one expiry and one insert, with a given number of
 * values pending. Every value that expires is inserted again at a random delay
 * below the range, as devices that try again do. Beside it its yardsticks,
 * inline: a wheel of arrays, where it has slots enough, and a heap.
 */

#define ROOM 64

static struct backoff_schedule *schedule;
static uint64_t schedule_mask;
/* How many values the last turn has had, where that is more than OPERATIONS. */
static size_t turned_values;

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

/* A schedule with `pending` values, at delays below 2^bits; returns its memory. It has gone round twice. */
static void *fill_schedule(uint32_t pending, int bits)
{
    size_t octets = backoff_schedule_octets(pending);
    void *memory = malloc(octets);
    uint32_t value;
    int turns;
    if (!memory || backoff_schedule_init(memory, octets, 0, &schedule) != BACKOFF_STATUS_OK)
        exit(1);
    schedule_mask = (UINT64_C(1) << bits) - 1;
    for (value = 0; value < pending; value++)
        backoff_schedule_insert(schedule, 1 + (generator_word() & schedule_mask), value, NULL);
    for (turns = 0; turns < (int)(2 * pending / OPERATIONS + 50); turns++)
        schedule_turn();
    return memory;
}

/* The floor: one array for each slot of a wheel, nothing else; no far slots, no order of levels, nothing to cancel. */
#define WHEEL 1024

static struct {
    uint64_t *values;
    size_t count, room;
} buckets[WHEEL];
static uint64_t bucket_now;

static void bucket_insert(uint64_t slot, uint64_t value)
{
    size_t list = slot % WHEEL;
    if (buckets[list].count == buckets[list].room) {
        buckets[list].room = buckets[list].room ? 2 * buckets[list].room : 16;
        buckets[list].values = realloc(buckets[list].values, buckets[list].room * sizeof buckets[list].values[0]);
        if (!buckets[list].values)
            exit(1);
    }
    buckets[list].values[buckets[list].count++] = value;
}

static void bucket_turn(void)
{
    static uint64_t *taken;
    static size_t taken_room;
    size_t turned = 0, i;
    while (turned < OPERATIONS) {
        size_t list = ++bucket_now % WHEEL, count = buckets[list].count, room = buckets[list].room;
        uint64_t *values = buckets[list].values;
        /* What is inserted into this slot meanwhile is for the next turn of the wheel. */
        buckets[list].values = taken;
        buckets[list].room = taken_room;
        buckets[list].count = 0;
        taken = values;
        taken_room = room;
        for (i = 0; i < count; i++)
            bucket_insert(bucket_now + 1 + (generator_word() & schedule_mask), values[i]);
        turned += count;
    }
    turned_values = turned;
}

/* A binary heap of slots and values, as std::priority_queue has it. */
static struct backoff_due *heap;
static size_t heap_count;

static void heap_push(uint64_t slot, uint64_t value)
{
    size_t place = heap_count++;
    while (place > 0 && slot < heap[(place - 1) / 2].slot) {
        heap[place] = heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    heap[place].slot = slot;
    heap[place].value = value;
}

static struct backoff_due heap_pop(void)
{
    struct backoff_due first = heap[0], last = heap[--heap_count];
    size_t place = 0, child;
    while ((child = 2 * place + 1) < heap_count) {
        if (child + 1 < heap_count && heap[child + 1].slot < heap[child].slot)
            child++;
        if (last.slot <= heap[child].slot)
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = last;
    return first;
}

static void heap_turn(void)
{
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        struct backoff_due due = heap_pop();
        heap_push(due.slot + 1 + (generator_word() & schedule_mask), due.value);
    }
}

static void yardsticks(uint32_t pending, int bits)
{
    char name[80];
    uint32_t value;
    int turns;
    schedule_mask = (UINT64_C(1) << bits) - 1;
    heap = malloc(pending * sizeof *heap);
    if (!heap)
        exit(1);
    heap_count = 0;
    for (value = 0; value < pending; value++)
        heap_push(generator_word() & schedule_mask, value);
    for (turns = 0; turns < (int)(pending / OPERATIONS + 10); turns++)
        heap_turn();
    snprintf(name, sizeof name, "yardstick: heap, %lu pending, delays below 2^%d", (unsigned long)pending, bits);
    measure_many(name, heap_turn, samples / 8);
    free(heap);
    if (schedule_mask >= WHEEL)
        return;
    for (value = 0; value < pending; value++)
        bucket_insert(bucket_now + 1 + (generator_word() & schedule_mask), value);
    for (turns = 0; turns < (int)(2 * pending / OPERATIONS + 50); turns++)
        bucket_turn();
    snprintf(name, sizeof name, "yardstick: contiguous buckets, %lu pending, delays below 2^%d", (unsigned long)pending,
             bits);
    measure_turns(name, bucket_turn, &turned_values, samples / 2);
    for (value = 0; value < WHEEL; value++)
        buckets[value].count = 0;
}

static void schedules(void)
{
    static const uint32_t pending[] = {1000, 100000, 1000000};
    static const int bits[] = {10, 20};
    char name[64];
    size_t range, i;
    for (range = 0; range < 2; range++)
        for (i = 0; i < 3; i++) {
            void *memory = fill_schedule(pending[i], bits[range]);
            snprintf(name, sizeof name, "schedule, %lu pending, delays below 2^%d", (unsigned long)pending[i], bits[range]);
            measure_many(name, schedule_turn, samples / 2);
            free(memory);
            yardsticks(pending[i], bits[range]);
        }
}
