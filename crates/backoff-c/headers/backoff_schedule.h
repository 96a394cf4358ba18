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

@ITEMS@

#ifdef __cplusplus
}
#endif

BACKOFF_ASSERT(sizeof(struct backoff_ticket) == 16)
BACKOFF_ASSERT(sizeof(struct backoff_due) == 16)

#endif /* BACKOFF_SCHEDULE_H */
