/*
 * The rows of the schedule: one expiry and one insert, with a given number of
 * values pending. Every value that expires is inserted again at a random delay
 * below the range, as devices that try again do. Beside it its yardsticks,
 * inline: a wheel of arrays, where it has slots enough, and a heap.
 */

#define ROOM 4096
#define TIMERS 64

static struct backoff_schedule *schedule;
static uint64_t schedule_mask;
/* How many values the last turn has had, where that is more than OPERATIONS. */
static size_t turned_values;

static uint64_t schedule_delay(void)
{
    return 1 + (generator_word() & schedule_mask);
}

/* One slot a call, as in table.rs. */
static void schedule_turn(void)
{
    static struct backoff_due due[ROOM];
    size_t count, i, turned = 0;
    while (turned < OPERATIONS) {
        backoff_schedule_expire_next(schedule, UINT64_MAX, ROOM, due, &count);
        for (i = 0; i < count; i++)
            backoff_schedule_insert(schedule, due[i].slot + schedule_delay(), due[i].value, NULL);
        turned += count;
    }
    turned_values = turned;
}

/* As many values a call as there is room for, of several slots. */
static void schedule_turn_many(void)
{
    static struct backoff_due due[64];
    size_t count, i, turned = 0;
    while (turned < OPERATIONS) {
        backoff_schedule_expire(schedule, UINT64_MAX, 64, due, &count);
        for (i = 0; i < count; i++)
            backoff_schedule_insert(schedule, due[i].slot + schedule_delay(), due[i].value, NULL);
        turned += count;
    }
    turned_values = turned;
}

static struct backoff_ticket timers[TIMERS];

/* A timer is set, and cancelled when 63 later ones have been set. */
static void set_and_cancel(void)
{
    uint64_t now = 0, value;
    size_t i;
    backoff_schedule_now(schedule, &now);
    for (i = 0; i < OPERATIONS; i++) {
        backoff_schedule_cancel(schedule, &timers[i % TIMERS], &value);
        backoff_schedule_insert(schedule, now + schedule_delay(), i, &timers[i % TIMERS]);
    }
}

static void move_timers(void)
{
    uint64_t now = 0;
    size_t i;
    backoff_schedule_now(schedule, &now);
    for (i = 0; i < OPERATIONS; i++)
        backoff_schedule_reschedule(schedule, &timers[i % TIMERS], now + schedule_delay());
}

/* A schedule with `pending` values, at delays below 2^bits; returns its memory. It has gone round twice. */
static void *fill_schedule(uint32_t pending, int bits)
{
    size_t octets = backoff_schedule_octets(pending + TIMERS);
    void *memory = malloc(octets);
    uint32_t value;
    int turns;
    if (!memory || backoff_schedule_init(memory, octets, 0, &schedule) != BACKOFF_STATUS_OK)
        exit(1);
    schedule_mask = (UINT64_C(1) << bits) - 1;
    for (value = 0; value < pending; value++)
        backoff_schedule_insert(schedule, schedule_delay(), value, NULL);
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
    snprintf(name, sizeof name, "heap|schedule, %lu pending, delays below 2^%d", (unsigned long)pending, bits);
    measure_many(name, heap_turn, samples / 8);
    free(heap);
    if (schedule_mask >= WHEEL)
        return;
    for (value = 0; value < pending; value++)
        bucket_insert(bucket_now + 1 + (generator_word() & schedule_mask), value);
    for (turns = 0; turns < (int)(2 * pending / OPERATIONS + 50); turns++)
        bucket_turn();
    snprintf(name, sizeof name, "buckets|schedule, %lu pending, delays below 2^%d", (unsigned long)pending, bits);
    measure_turns(name, bucket_turn, &turned_values, samples / 2);
    for (value = 0; value < WHEEL; value++)
        buckets[value].count = 0;
}

static void set_timers(void)
{
    uint64_t now = 0;
    size_t i;
    backoff_schedule_now(schedule, &now);
    for (i = 0; i < TIMERS; i++)
        backoff_schedule_insert(schedule, now + schedule_delay(), i, &timers[i]);
}

static void cancel_timers(void)
{
    uint64_t value;
    size_t i;
    for (i = 0; i < TIMERS; i++)
        backoff_schedule_cancel(schedule, &timers[i], &value);
}

/* Time goes on between samples, for the values that are pending. */
static void let_others_expire(void)
{
    cancel_timers();
    schedule_turn();
    set_timers();
}

static void measure_timers(const char *name, void (*run)(void))
{
    set_timers();
    between = let_others_expire;
    measure_many(name, run, samples / 2);
    between = NULL;
    cancel_timers();
}

static void schedule_rows(uint32_t pending, int bits)
{
    char name[96], rest[48];
    void *memory = fill_schedule(pending, bits);
    snprintf(rest, sizeof rest, "%lu pending, delays below 2^%d", (unsigned long)pending, bits);
    printf("C|octets a value, %s\t%.0f\t\n", rest, (double)backoff_schedule_octets(pending) / pending);
    snprintf(name, sizeof name, "C|schedule, %s", rest);
    measure_turns(name, schedule_turn, &turned_values, samples / 2);
    snprintf(name, sizeof name, "C|64 values a call, %s", rest);
    measure_turns(name, schedule_turn_many, &turned_values, samples / 2);
    snprintf(name, sizeof name, "C|set and cancel, %s", rest);
    measure_timers(name, set_and_cancel);
    snprintf(name, sizeof name, "C|reschedule, %s", rest);
    measure_timers(name, move_timers);
    free(memory);
}

static void schedules(void)
{
    static const uint32_t pending[] = {1000, 100000, 1000000};
    static const int bits[] = {10, 20};
    size_t range, i;
    for (range = 0; range < 2; range++)
        for (i = 0; i < 3; i++) {
            schedule_rows(pending[i], bits[range]);
            yardsticks(pending[i], bits[range]);
        }
}
