/* A schedule beside the plainest model: an array in the order in which values come out. Words from anywhere say what is
 * called; what differs goes to PROMISE, which the program that includes this defines. */

#include <stdlib.h>
#include <string.h>

#include "backoff_schedule.h"

#define MODEL_MOST 700
#define MODEL_TICKETS 64

struct model {
    uint64_t now;
    size_t count;
    struct backoff_due pending[MODEL_MOST];
};

struct known_ticket {
    struct backoff_ticket ticket;
    uint64_t value;
};

static void model_insert(struct model *model, uint64_t slot, uint64_t value)
{
    size_t place = model->count++;
    if (slot < model->now)
        slot = model->now;
    for (; place > 0 && model->pending[place - 1].slot > slot; place--)
        model->pending[place] = model->pending[place - 1];
    model->pending[place].slot = slot;
    model->pending[place].value = value;
}

/* 1 if a value of that number was pending. */
static int model_cancel(struct model *model, uint64_t value)
{
    size_t place = 0;
    while (place < model->count && model->pending[place].value != value)
        place++;
    if (place == model->count)
        return 0;
    memmove(&model->pending[place], &model->pending[place + 1], (--model->count - place) * sizeof model->pending[0]);
    return 1;
}

/* How many values come out: of one slot, or of all slots up to the limit; now as the header says. */
static size_t model_expire(struct model *model, uint64_t limit, size_t room, int one_slot)
{
    size_t given = 0;
    while (given < room && given < model->count && model->pending[given].slot <= limit &&
           (!one_slot || model->pending[given].slot == model->pending[0].slot))
        given++;
    if (given > 0)
        model->now = model->pending[given - 1].slot;
    if (room > 0 && limit != UINT64_MAX && limit > model->now && (one_slot ? given == 0 : given < room))
        model->now = limit;
    return given;
}

static void model_drop(struct model *model, size_t given)
{
    model->count -= given;
    memmove(model->pending, &model->pending[given], model->count * sizeof model->pending[0]);
}

/* A slot near or far, now and then in the past, and on the last slots of all. */
static uint64_t model_slot(const struct model *model, uint64_t word)
{
    static const unsigned bits[] = {2, 4, 9, 10, 11, 20, 40, 64};
    unsigned width = bits[word & 7];
    uint64_t delay = width == 64 ? word : (word >> 8) & ((UINT64_C(1) << width) - 1);
    if ((word >> 3 & 15) == 0)
        return UINT64_MAX - (word >> 60);
    if ((word >> 8 & 3) == 0 && model->count > 0)
        return model->pending[(word >> 16) % model->count].slot;
    return delay > UINT64_MAX - model->now ? UINT64_MAX : model->now + delay - ((word >> 7 & 1) && model->now > 0);
}

/* One schedule in that memory, from its beginning to its last value. Tickets of earlier lives are among those given. */
static void model_life(uint64_t (*word)(void *), void *from, uint32_t capacity, uint64_t steps, void *memory,
                       struct known_ticket *tickets)
{
    static struct model model;
    static struct backoff_due due[MODEL_MOST];
    static uint64_t slots[MODEL_MOST], numbers = 1; /* 0 is no value: that of a ticket of zeros */
    struct backoff_schedule *schedule = NULL;
    uint64_t step, now;
    uint32_t pending;
    model.now = word(from) & 1 ? UINT64_MAX - (word(from) & 0xFFFF) : word(from) >> (word(from) & 63);
    model.count = 0;
    PROMISE(backoff_schedule_init(memory, backoff_schedule_octets(capacity), model.now, &schedule) == BACKOFF_STATUS_OK);
    for (step = 0; step < steps; step++) {
        uint64_t what = word(from), slot = model_slot(&model, word(from)), value = 0;
        struct known_ticket *known = &tickets[what >> 32 & (MODEL_TICKETS - 1)];
        size_t count = 0, room = what >> 40 & 31, given, i;
        int one_slot = (what >> 45 & 1) != 0;
        backoff_status status;
        /* Lives that fill, and lives that empty. */
        switch (what & (step & 1024 ? 7 : 3)) {
        case 0:
        case 1:
            status = backoff_schedule_insert(schedule, slot, numbers, what & 64 ? &known->ticket : NULL);
            PROMISE(status == (model.count < capacity ? BACKOFF_STATUS_OK : BACKOFF_STATUS_SCHEDULE_FULL));
            if (status == BACKOFF_STATUS_OK) {
                if (what & 64)
                    known->value = numbers;
                model_insert(&model, slot, numbers);
            }
            numbers++;
            break;
        case 2:
            if (what & 32)
                break;
            status = backoff_schedule_cancel(schedule, &known->ticket, &value);
            PROMISE((status == BACKOFF_STATUS_OK) == model_cancel(&model, known->value));
            PROMISE(status == BACKOFF_STATUS_OK ? value == known->value : status == BACKOFF_STATUS_NOT_PENDING);
            break;
        case 3:
            status = backoff_schedule_reschedule(schedule, &known->ticket, slot);
            PROMISE((status == BACKOFF_STATUS_OK) == model_cancel(&model, known->value));
            if (status == BACKOFF_STATUS_OK)
                model_insert(&model, slot, known->value);
            break;
        default:
            if ((what >> 46 & 7) == 0)
                slot = UINT64_MAX;
            given = model_expire(&model, slot, room, one_slot);
            status = (one_slot ? backoff_schedule_expire_next : backoff_schedule_expire)(schedule, slot, room, due, &count);
            PROMISE(status == (one_slot && room > 0 && given == 0 ? BACKOFF_STATUS_NOT_PENDING : BACKOFF_STATUS_OK));
            PROMISE(count == given && memcmp(due, model.pending, given * sizeof due[0]) == 0);
            model_drop(&model, given);
            if (what & 128) {
                for (i = 0; i < given; i++) {
                    slots[i] = model_slot(&model, word(from));
                    due[i].value = numbers++;
                }
                PROMISE(backoff_schedule_insert_each(schedule, due, slots, given) == BACKOFF_STATUS_OK);
                for (i = 0; i < given; i++)
                    model_insert(&model, slots[i], due[i].value);
            }
        }
        PROMISE(backoff_schedule_now(schedule, &now) == BACKOFF_STATUS_OK && now == model.now);
        PROMISE(backoff_schedule_pending(schedule, &pending) == BACKOFF_STATUS_OK && pending == model.count);
        status = backoff_schedule_next(schedule, &now);
        PROMISE(model.count > 0 ? status == BACKOFF_STATUS_OK && now == model.pending[0].slot : status == BACKOFF_STATUS_NOT_PENDING);
    }
}
