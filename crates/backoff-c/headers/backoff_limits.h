/*
 * libbackoff: how much to retry. Rates that fall at once and recover slowly, the token buckets of gRPC and the AWS SDKs,
 * Finagle's window, Envoy's share. backoff.h says what holds for every function.
 */

#ifndef BACKOFF_LIMITS_H
#define BACKOFF_LIMITS_H

/* Made from the source of the library and from headers/backoff_limits.h there: change it there. */

#include "backoff.h"

#ifdef __cplusplus
extern "C" {
#endif

@ITEMS@

#ifdef __cplusplus
}
#endif

/** A `struct backoff_rate_config` with every default. */
#define BACKOFF_RATE_CONFIG_INIT { sizeof(struct backoff_rate_config), 0, 0, 0, 0, 0, 0 }

/** A `struct backoff_quota_config` with every default. */
#define BACKOFF_QUOTA_CONFIG_INIT { sizeof(struct backoff_quota_config), 0, 0, 0, 0 }

/** A `struct backoff_throttle_config` with every default. */
#define BACKOFF_THROTTLE_CONFIG_INIT { sizeof(struct backoff_throttle_config), 0, 0 }

/** A `struct backoff_window_config` with every default. */
#define BACKOFF_WINDOW_CONFIG_INIT { sizeof(struct backoff_window_config), 0, 0, 0, 0 }

BACKOFF_ASSERT(sizeof(struct backoff_rate_config) == 40)
BACKOFF_ASSERT(sizeof(struct backoff_rate) == 40 && offsetof(struct backoff_rate, level) == 16)
BACKOFF_ASSERT(sizeof(struct backoff_tokens) == 8)
BACKOFF_ASSERT(sizeof(struct backoff_quota_config) == 20 && sizeof(struct backoff_throttle_config) == 12)
BACKOFF_ASSERT(sizeof(struct backoff_window_config) == 24 && sizeof(struct backoff_window) == 56)

#endif /* BACKOFF_LIMITS_H */
