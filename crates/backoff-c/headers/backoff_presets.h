/*
 * libbackoff: named policies and the other laws. They link only where a function of this header is called.
 *
 *     struct backoff_policy policy = BACKOFF_POLICY_INIT;
 *     policy.kind = BACKOFF_PRESET_GRPC;                       // the fields of the policy change what the preset says
 *     status = backoff_retry_fail_any(&retry, &policy, now_ns, hint_ns, &delay_ns);
 *
 * A client that connects as gRPC does counts each delay from the start of the attempt on, not from its end:
 *
 *     status = backoff_retry_fail_since(&retry, &policy, attempt_ns, now_ns, 0, &delay_ns);
 *
 * backoff_retry_fail of backoff.h takes the eight kinds by structure, with times, limits and hints. Everything else is for
 * the functions of this header: presets, multiplier, priority, another jitter, an exact or immediate first delay.
 */

#ifndef BACKOFF_PRESETS_H
#define BACKOFF_PRESETS_H

/* Made from the source of the library and from headers/backoff_presets.h there: change it there. */

#include "backoff.h"

#ifdef __cplusplus
extern "C" {
#endif

@ITEMS@

#ifdef __cplusplus
}
#endif

BACKOFF_ASSERT(sizeof(struct backoff_prepared) == 1192 && offsetof(struct backoff_prepared, laws) == 56)
BACKOFF_ASSERT(sizeof(struct backoff_bounds) == 16 && sizeof(struct backoff_moments) == 16)

#endif /* BACKOFF_PRESETS_H */
