/*
 * The rows of the schedule, JOB_BITS_PENDING: `pending` values at random delays from 1 to 2^bits. A pair is one expiry and one
 * insertion: every value that expires is inserted again, as devices that try again do. Beside it the same pairs by yardsticks,
 * inline and without tickets, order or bounds: a heap of four children, and a calendar queue.
 */

#define ROOM 4096
#define TIMERS 64

/* One schedule, heap or calendar, and its delays. */
static struct cell {
    char name[32];
    void (*run)(void);
    uint64_t mask, now;
    uint32_t pending;
    struct backoff_schedule *schedule;
    struct backoff_ticket timers[TIMERS];
    struct backoff_due *heap;
    struct day {
        struct backoff_due *values; /* the latest first */
        size_t count, room;
    } *days;
    uint32_t width_bits; /* a day is 2^this many slots */
} cells[32], *cell;

static uint64_t schedule_delay(void)
{
    return 1 + (generator_word() & cell->mask);
}

/* One slot a call. */
static void pairs(void)
{
    static struct backoff_due due[ROOM];
    size_t count, i, turned = 0;
    while (turned < OPERATIONS) {
        backoff_schedule_expire_next(cell->schedule, UINT64_MAX, ROOM, due, &count);
        for (i = 0; i < count; i++)
            backoff_schedule_insert(cell->schedule, due[i].slot + schedule_delay(), due[i].value, NULL);
        turned += count;
    }
    turned_values = turned;
}

/* A timer is set, and cancelled when 63 later ones have been set. */
static void set_and_cancel(void)
{
    uint64_t now = 0, value;
    size_t i;
    backoff_schedule_now(cell->schedule, &now);
    for (i = 0; i < OPERATIONS; i++) {
        backoff_schedule_cancel(cell->schedule, &cell->timers[i % TIMERS], &value);
        backoff_schedule_insert(cell->schedule, now + schedule_delay(), i, &cell->timers[i % TIMERS]);
    }
}

static void heap_push(size_t place, uint64_t slot, uint64_t value)
{
    struct backoff_due *heap = cell->heap;
    for (; place > 0 && slot < heap[(place - 1) / 4].slot; place = (place - 1) / 4)
        heap[place] = heap[(place - 1) / 4];
    heap[place].slot = slot;
    heap[place].value = value;
}

static void heap_pairs(void)
{
    struct backoff_due *heap = cell->heap;
    size_t count = cell->pending - 1, place, child, next;
    int i;
    for (i = 0; i < OPERATIONS; i++) {
        struct backoff_due first = heap[0], last = heap[count];
        for (place = 0; (child = 4 * place + 1) < count; place = child) {
            for (next = child + 1; next < count && next < 4 * place + 5; next++)
                if (heap[next].slot < heap[child].slot)
                    child = next;
            if (last.slot <= heap[child].slot)
                break;
            heap[place] = heap[child];
        }
        heap[place] = last;
        heap_push(count, first.slot + schedule_delay(), first.value);
    }
}

/* The day of a slot; there are as many days as values, or some more. */
static struct day *day_of(uint64_t slot)
{
    return &cell->days[(slot & cell->mask) >> cell->width_bits];
}

static void calendar_insert(uint64_t slot, uint64_t value)
{
    struct day *day = day_of(slot);
    size_t place;
    if (day->count == day->room) {
        day->room = day->room ? 2 * day->room : 8;
        day->values = realloc(day->values, day->room * sizeof day->values[0]);
        if (!day->values)
            exit(1);
    }
    for (place = day->count++; place > 0 && day->values[place - 1].slot < slot; place--)
        day->values[place] = day->values[place - 1];
    day->values[place].slot = slot;
    day->values[place].value = value;
}

static void calendar_pairs(void)
{
    uint64_t width = UINT64_C(1) << cell->width_bits;
    int turned = 0;
    while (turned < OPERATIONS) {
        struct day *day = day_of(cell->now);
        struct backoff_due *last = &day->values[day->count - 1];
        if (day->count > 0 && last->slot < cell->now + width) {
            struct backoff_due due = *last;
            day->count--;
            calendar_insert(due.slot + schedule_delay(), due.value);
            turned++;
        } else {
            cell->now += width;
        }
    }
}

static void fill_schedule(void)
{
    size_t octets = backoff_schedule_octets(cell->pending + TIMERS);
    void *memory = malloc(octets);
    uint32_t value;
    if (!memory || backoff_schedule_init(memory, octets, 0, &cell->schedule) != BACKOFF_STATUS_OK)
        exit(1);
    for (value = 0; value < cell->pending; value++)
        backoff_schedule_insert(cell->schedule, schedule_delay(), value, NULL);
}

static void fill_heap(void)
{
    uint32_t value;
    cell->heap = malloc(cell->pending * sizeof cell->heap[0]);
    if (!cell->heap)
        exit(1);
    for (value = 0; value < cell->pending; value++)
        heap_push(value, schedule_delay(), value);
}

static void fill_calendar(void)
{
    uint32_t value;
    while (cell->mask >> cell->width_bits > 2 * (uint64_t)cell->pending)
        cell->width_bits++;
    cell->days = calloc((cell->mask >> cell->width_bits) + 1, sizeof cell->days[0]);
    if (!cell->days)
        exit(1);
    for (value = 0; value < cell->pending; value++)
        calendar_insert(schedule_delay(), value);
}

/* The row of that name; made and turned until its values lie as they always do, where it is new. */
static void (*schedule_row(const char *name))(void)
{
    static const struct {
        const char *name;
        void (*fill)(void), (*turn)(void), (*run)(void);
    } jobs[] = {
        {"pair", fill_schedule, pairs, pairs},
        {"cancel", fill_schedule, pairs, set_and_cancel},
        {"heap", fill_heap, heap_pairs, heap_pairs},
        {"calendar", fill_calendar, calendar_pairs, calendar_pairs},
    };
    char job[16];
    unsigned bits;
    unsigned long pending;
    size_t i;
    for (cell = cells; cell->run; cell++)
        if (strcmp(cell->name, name) == 0)
            return cell->run;
    if (sscanf(name, "%15[a-z]_%u_%lu", job, &bits, &pending) != 3 || cell == &cells[31])
        return NULL;
    strcpy(cell->name, name);
    cell->mask = (UINT64_C(1) << bits) - 1;
    cell->pending = (uint32_t)pending;
    for (i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
        if (strcmp(jobs[i].name, job) == 0) {
            size_t turns;
            jobs[i].fill();
            for (turns = 0; turns < 2 * pending / OPERATIONS + 20; turns++)
                jobs[i].turn();
            cell->run = jobs[i].run;
            measured(cell->run);
        }
    return cell->run;
}
