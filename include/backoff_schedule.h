/*
 * libbackoff: a timer wheel. Values that are pending, by slot, in one block of the caller's memory. backoff.h says what
 * holds for every function.
 */

#ifndef BACKOFF_SCHEDULE_H
#define BACKOFF_SCHEDULE_H

/* Made from the source of the library and from headers/backoff_schedule.h there: change it there. */

#include "backoff.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Who attempts in which slot: values that are pending, by slot. It lies at the start of the memory that
 * backoff_schedule_init was given; copy or move the whole of that memory, there are no pointers in it. The schedule in
 * the copy is at its start: `(struct backoff_schedule *)copy`, aligned to 8 octets as the first memory was.
 */
struct backoff_schedule;

/** Names a pending value, so that it can be cancelled. Plain data. */
struct backoff_ticket {
    /** The slot. */
    uint64_t slot;
    /** Tells it from others in the slot. */
    uint32_t serial;
    /** Where it lies. */
    uint32_t node;
};

/** A value that has expired, and the slot it was pending in. */
struct backoff_due {
    /** The slot. */
    uint64_t slot;
    /** What backoff_schedule_insert was given. */
    uint64_t value;
};

/**
 * The octets that a schedule for `capacity` pending values needs: 32 for each value and 176 more up to 32 values, and at
 * most 40 for each value and 8,000 more in any case.
 *
 * SIZE_MAX if that does not fit, or if `capacity` is above 2^27. Any thread may call it at any time.
 *
 * @param capacity  how many values may be pending at the same time
 */
size_t backoff_schedule_octets(uint32_t capacity) BACKOFF_DIRECT;

/**
 * Makes an empty schedule in the caller's memory, for as many values as fit.
 *
 * It writes the head and the wheel, at most 2.5 MB; the rest is written when it is used.
 *
 * @param memory    the memory, aligned to 8 octets; the schedule lives in it
 * @param octets    its size, from backoff_schedule_octets
 * @param now       the first slot that can expire
 * @param schedule  receives the schedule, for the other functions
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_MEMORY, and nothing is written
 *
 * # Safety
 * `memory` is NULL, or valid for `octets` octets and used by no other thread during the call; `schedule` is NULL, or
 * valid for writes, apart from `memory`, and used by no other thread during the call.
 */
BACKOFF_CHECKED
backoff_status backoff_schedule_init(void *memory, size_t octets, uint64_t now,
                                     struct backoff_schedule **schedule) BACKOFF_DIRECT;

/**
 * Makes a value pending in a slot; in the present slot (see backoff_schedule_now), where that one has passed.
 *
 * @param schedule  the schedule
 * @param slot      the slot
 * @param value     what the caller knows it by: a number, an index, a pointer
 * @param ticket    receives what backoff_schedule_cancel asks for; NULL: it will not be cancelled
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_SCHEDULE_FULL; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `ticket` is NULL, or valid for writes and used by no other thread during the call.
 */
BACKOFF_CHECKED
backoff_status backoff_schedule_insert(struct backoff_schedule *schedule, uint64_t slot,
                                       uint64_t value,
                                       struct backoff_ticket *ticket) BACKOFF_DIRECT;

/**
 * Makes values pending that have expired, each in another slot: backoff_schedule_insert for each, in their order.
 *
 * @param schedule  the schedule
 * @param due       the values, such as backoff_schedule_expire_next gave; their slots are ignored
 * @param slots     the new slot of each
 * @param count     how many
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_SCHEDULE_FULL if there is no room for all; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED; nothing is inserted then
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread during
 * the call; `due` and `slots` are each NULL, or valid for reads of `count` entries, apart from the schedule.
 */
BACKOFF_CHECKED
backoff_status backoff_schedule_insert_each(struct backoff_schedule *schedule,
                                            const struct backoff_due *due, const uint64_t *slots,
                                            size_t count) BACKOFF_DIRECT;

/**
 * Takes a pending value back. A ticket is good until its value has expired or been cancelled. After that it is refused, and
 * so is a ticket of an earlier schedule in the same memory: a serial number of 31 bits tells them apart.
 *
 * @param schedule  the schedule
 * @param ticket    which value
 * @param value     receives the value
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `ticket` is NULL, or valid for reads; `value` is NULL, or valid for writes; no other thread uses them.
 */
backoff_status backoff_schedule_cancel(struct backoff_schedule *schedule,
                                       const struct backoff_ticket *ticket,
                                       uint64_t *value) BACKOFF_DIRECT;

/**
 * Moves a pending value to another slot, behind the values that are there; as backoff_schedule_cancel and
 * backoff_schedule_insert, but it needs no room.
 *
 * @param schedule  the schedule
 * @param ticket    which value; receives its new ticket
 * @param slot      the new slot; the present one, where that one has passed
 *
 * @return as backoff_schedule_cancel; with a status that is not OK nothing changes
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `ticket` is NULL, or valid, and used by no other thread during the call.
 */
BACKOFF_CHECKED
backoff_status backoff_schedule_reschedule(struct backoff_schedule *schedule,
                                           struct backoff_ticket *ticket,
                                           uint64_t slot) BACKOFF_DIRECT;

/**
 * Gives the first slot in which a value is pending.
 *
 * @param schedule  the schedule
 * @param slot      receives the slot
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING if nothing is; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `slot` is NULL, or valid for writes and used by no other thread during the call.
 */
BACKOFF_CHECKED
backoff_status backoff_schedule_next(struct backoff_schedule *schedule,
                                     uint64_t *slot) BACKOFF_DIRECT;

/**
 * Takes the values of all slots up to `limit`, by slot, and within a slot in the order of their insertion.
 *
 * For one slot in one go, let `limit` be that slot. Now is then the slot of the last value, or `limit` if no more are
 * pending up to there, unless that is UINT64_MAX, any slot; it never goes back. If `count` is `room`, there may be more: call again. With a room of 0, which
 * is accepted with pointers that are not NULL, nothing is taken and now stays.
 *
 * A call takes a time in proportion to the values that it gives; it moves up to 64 others. A value that was inserted for a
 * slot far away, or into a crowd of slots, takes some three steps for each bit of the number of those.
 *
 * @param schedule  the schedule
 * @param limit     the last slot
 * @param room      how many values may be written
 * @param due       receives up to `room` values, each with its slot
 * @param count     receives how many
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid; `due` is NULL, or valid
 * for writes of `room` entries; `count` is NULL, or valid for writes; they are apart from each other, and no other
 * thread uses them during the call.
 */
backoff_status backoff_schedule_expire(struct backoff_schedule *schedule, uint64_t limit,
                                       size_t room, struct backoff_due *due,
                                       size_t *count) BACKOFF_DIRECT;

/**
 * Takes the values of the next slot that has any, in the order of their insertion: backoff_schedule_next and
 * backoff_schedule_expire in one call.
 *
 * Now is then that slot. If `count` is `room`, the slot may have more: call again with a limit of that slot, which every
 * entry of `due` has. Nothing pending up to `limit`: NOT_PENDING, and now is `limit`, unless that is UINT64_MAX. A room
 * of 0 takes nothing.
 *
 * @param schedule  the schedule
 * @param limit     the last slot; UINT64_MAX: any
 * @param room      how many values may be written
 * @param due       receives up to `room` values, all of one slot
 * @param count     receives how many
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_NOT_PENDING, and nothing is written; else BACKOFF_STATUS_NULL_POINTER or
 *         BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * As that of backoff_schedule_expire.
 */
BACKOFF_CHECKED
backoff_status backoff_schedule_expire_next(struct backoff_schedule *schedule, uint64_t limit,
                                            size_t room, struct backoff_due *due,
                                            size_t *count) BACKOFF_DIRECT;

/**
 * Gives now: the first slot that can still expire. What is inserted before it counts as in it.
 *
 * @param schedule  the schedule
 * @param slot      receives the slot
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `slot` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_schedule_now(struct backoff_schedule *schedule,
                                    uint64_t *slot) BACKOFF_DIRECT;

/**
 * Gives the number of values that are pending.
 *
 * @param schedule  the schedule
 * @param count     receives the number
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `schedule` is NULL, or what backoff_schedule_init gave, in memory that is still valid, and used by no other thread
 * during the call; `count` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_schedule_pending(struct backoff_schedule *schedule,
                                        uint32_t *count) BACKOFF_DIRECT;

#ifdef __cplusplus
}
#endif

BACKOFF_ASSERT(sizeof(struct backoff_ticket) == 16)
BACKOFF_ASSERT(sizeof(struct backoff_due) == 16)

#endif /* BACKOFF_SCHEDULE_H */
