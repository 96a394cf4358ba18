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

/** The pushback_ms of backoff_throttle_fail where the server said nothing. */
#define BACKOFF_NO_PUSHBACK INT64_MIN

/** A rate that falls at once and recovers slowly. Plain data in the caller's memory, as `struct backoff` is. */
struct backoff_rate {
    /** From when the cooling-off period counts. */
    uint64_t since_ns;
    /** The last action, plus 1; 0: none yet. */
    uint64_t last_ns;
    /** 0 is the full rate. */
    uint32_t level;
    /** How often the cooling-off period has been doubled. */
    uint32_t doublings;
    /** Whether a level has been recovered since the last adverse event. */
    uint32_t recovering;
    /** Tells a state from memory that is none. */
    uint32_t mark;
    /** 0; room for later versions. */
    uint64_t reserved;
};

/** How a rate falls and recovers: f = 1 / (interval * base^level). A field that is 0 means its default. */
struct backoff_rate_config {
    /** `sizeof(struct backoff_rate_config)`; the one field without a default. */
    uint32_t size;
    /** By how much an adverse event divides the rate; 0 and 1: 2. */
    uint32_t base;
    /** The largest level; 0: 10. */
    uint32_t level_limit;
    /** 0; room for later versions, and refused if it is not 0. */
    uint32_t reserved;
    /** The time between two actions at the full rate; 0: 1 ms. */
    uint64_t interval_ns;
    /** The time without adverse events after which the rate recovers by one level; 0: 1 s. */
    uint64_t cooling_off_ns;
    /**
     * The cooling-off period doubles up to here when the rate recovered too early; 0: 64 s. At or below cooling_off_ns
     * the period is always cooling_off_ns.
     */
    uint64_t cooling_off_limit_ns;
};

/**
 * Tokens for retries, of a quota or a throttle: the functions of one refuse the tokens of the other. Any number of threads
 * may use them at the same time, and no call waits. A processor without atomic compare-and-swap (ARMv6-M) has none of
 * the functions for tokens.
 */
struct backoff_tokens {
    /** What they are, in thousandths of one. */
    uint32_t thousandths;
    /** Tells the tokens of a quota, those of a throttle and other memory apart. */
    uint32_t mark;
};

/**
 * The retry quota of the AWS SDKs (retry behaviour, standard mode, November 2026). A field that is 0 means its default.
 * Up to 4,294,967 tokens.
 */
struct backoff_quota_config {
    /** `sizeof(struct backoff_quota_config)`; the one field without a default. */
    uint32_t size;
    /** How many tokens there are; 0: 500. */
    uint32_t capacity;
    /** What a retry costs; 0: 14. */
    uint32_t cost;
    /** What a retry after a throttling error costs; 0: 5. */
    uint32_t throttling_cost;
    /** What a request gives that succeeds without a retry; 0: 1. */
    uint32_t reward;
};

/** The retry throttling of gRPC (proposal A6). A field that is 0 means its default. */
struct backoff_throttle_config {
    /** `sizeof(struct backoff_throttle_config)`; the one field without a default. */
    uint32_t size;
    /** maxTokens; 0: 10. */
    uint32_t max_tokens;
    /** tokenRatio in thousandths; 0: 100. */
    uint32_t ratio_thousandths;
};

/** A budget that forgets what is older than its window. Plain data in the caller's memory, for one thread at a time. */
struct backoff_window {
    /** The tenth of the window that was used last. */
    uint64_t slice;
    /** What each tenth has, in hundredths of a retry. */
    int32_t slices[10];
    /** 0; room for later versions. */
    uint32_t reserved;
    /** Tells it from memory that is none. */
    uint32_t mark;
};

/** How many retries a window lets through; Finagle's RetryBudget, tower's TpsBudget. A field that is 0 means its default. */
struct backoff_window_config {
    /** `sizeof(struct backoff_window_config)`; the one field without a default. */
    uint32_t size;
    /** How many retries for each 100 requests; 0: 20. */
    uint32_t percent;
    /** How many besides for each second of the window; 0: 10; UINT32_MAX: none. */
    uint32_t least_per_second;
    /** 0; room for later versions, and refused if it is not 0. */
    uint32_t reserved;
    /** How long a request counts; 0: 10 s. */
    uint64_t window_ns;
};

/**
 * Makes a rate: the full one, and no action yet.
 *
 * @param rate  receives the state; what was there before does not matter
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER
 *
 * # Safety
 * `rate` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_rate_init(struct backoff_rate *rate) BACKOFF_DIRECT;

/**
 * Takes an adverse event (a 429, a full queue): the rate falls by one level at once.
 *
 * After each cooling-off period without one it recovers by one level. An event while it recovers shows that the
 * recovery was too early: the cooling-off period doubles, up to its limit. Once the full rate is reached again, the
 * period is the first one again. A time before the last event counts as that one: nothing recovers while a clock that
 * went back catches up.
 *
 * @param rate    the rate
 * @param config  how it falls and recovers
 * @param now_ns  the time, of any clock that does not go back
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED,
 *         BACKOFF_STATUS_CONFIG_SIZE or BACKOFF_STATUS_CONFIG_VALUE, and nothing changes
 *
 * # Safety
 * `rate` is NULL, or valid and used by no other thread during the call; `config` is NULL, or valid for reads of as
 * many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_rate_adverse(struct backoff_rate *rate,
                                    const struct backoff_rate_config *config,
                                    uint64_t now_ns) BACKOFF_DIRECT;

/**
 * Counts an action now if the rate allows one; else says how long to wait, and counts nothing.
 *
 * A time before the last action counts as that one: so where the clock went back the wait is no longer than the interval
 * of the level.
 *
 * @param rate     the rate
 * @param config   how it falls and recovers
 * @param now_ns   the time, of any clock that does not go back
 * @param wait_ns  receives 0: act now; or how long to wait before asking again
 *
 * @return as backoff_rate_adverse
 *
 * # Safety
 * `rate` and `wait_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
 */
backoff_status backoff_rate_act(struct backoff_rate *rate, const struct backoff_rate_config *config,
                                uint64_t now_ns, uint64_t *wait_ns) BACKOFF_DIRECT;

/**
 * Gives the level now: 0 is the full rate, each level one division by the base.
 *
 * @param rate    the rate; what has recovered by now is noted in it
 * @param config  how it falls and recovers
 * @param now_ns  the time, of any clock that does not go back
 * @param level   receives the level
 *
 * @return as backoff_rate_adverse
 *
 * # Safety
 * `rate` and `level` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
 */
backoff_status backoff_rate_level(struct backoff_rate *rate,
                                  const struct backoff_rate_config *config, uint64_t now_ns,
                                  uint32_t *level) BACKOFF_DIRECT;

/**
 * Gives the cooling-off period in force now: that of the configuration, doubled for each recovery that came too early.
 *
 * @param rate       the rate; what has recovered by now is noted in it
 * @param config     how it falls and recovers
 * @param now_ns     the time, of any clock that does not go back
 * @param period_ns  receives the period
 *
 * @return as backoff_rate_adverse
 *
 * # Safety
 * `rate` and `period_ns` are each NULL, or valid, apart from each other, and used by no other thread during the call;
 * `config` is NULL, or valid for reads of as many octets as its `size` says and written by no other thread.
 */
backoff_status backoff_rate_cooling_off(struct backoff_rate *rate,
                                        const struct backoff_rate_config *config, uint64_t now_ns,
                                        uint64_t *period_ns) BACKOFF_DIRECT;

/**
 * Makes the tokens of a quota: all of them.
 *
 * @param tokens  receives them, before other threads use them; what was there before does not matter
 * @param config  how many there are
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_CONFIG_SIZE, and nothing is written
 *
 * # Safety
 * `tokens` is NULL, or valid for writes and used by no other thread during the call; `config` is NULL, or valid for
 * reads of as many octets as its `size` says and written by no other thread during the call.
 */
BACKOFF_CHECKED
backoff_status backoff_quota_init(struct backoff_tokens *tokens,
                                  const struct backoff_quota_config *config) BACKOFF_DIRECT;

/**
 * Takes the cost of a retry by the class of its error, if there are enough tokens.
 *
 * The order of a failed attempt: the quota first, then backoff_retry_fail. Where that answers ATTEMPT_LIMIT or
 * ELAPSED_LIMIT, no retry follows, and backoff_quota_succeed with `cost` gives back what was taken for it. A request that
 * fails for good after a retry gives nothing back.
 *
 * @param tokens     the tokens
 * @param config     what a retry costs
 * @param throttled  not 0: the error was one of throttling
 * @param cost       receives what was taken, for backoff_quota_succeed
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not, and nothing was taken; else
 *         BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED or BACKOFF_STATUS_CONFIG_SIZE
 *
 * # Safety
 * `tokens` is NULL, or valid, and changed by functions of this library alone, in any number of threads; `config` is NULL,
 * or valid for reads of as many octets as its `size` says and written by no other thread during the call; `cost` is NULL,
 * or valid for writes and used by no other thread during the call.
 */
BACKOFF_CHECKED
backoff_status backoff_quota_take(struct backoff_tokens *tokens,
                                  const struct backoff_quota_config *config, uint32_t throttled,
                                  uint32_t *cost) BACKOFF_DIRECT;

/**
 * A request has succeeded: gives back what its last retry has cost, or the reward of one that needed none. A retry that
 * was paid for and is not made gives back its cost in the same way.
 *
 * @param tokens  the tokens
 * @param config  how many there may be
 * @param cost    what backoff_quota_take gave last for this request; 0: it succeeded at its first attempt
 *
 * @return as backoff_quota_take, without BACKOFF_STATUS_BUDGET_EMPTY
 *
 * # Safety
 * As that of backoff_quota_take.
 */
backoff_status backoff_quota_succeed(struct backoff_tokens *tokens,
                                     const struct backoff_quota_config *config,
                                     uint32_t cost) BACKOFF_DIRECT;

/**
 * Makes the tokens of a throttle: all of them.
 *
 * @param tokens  receives them, before other threads use them; what was there before does not matter
 * @param config  how many there are
 *
 * @return as backoff_quota_init
 *
 * # Safety
 * As that of backoff_quota_init.
 */
BACKOFF_CHECKED
backoff_status backoff_throttle_init(struct backoff_tokens *tokens,
                                     const struct backoff_throttle_config *config) BACKOFF_DIRECT;

/**
 * Counts a failed attempt, which takes a token; says whether it may be tried again: with more than half of them left.
 *
 * @param tokens       the tokens
 * @param config       how many there may be
 * @param pushback_ms  what the server said (grpc-retry-pushback-ms); a negative number, or what is none: do not retry;
 *                     BACKOFF_NO_PUSHBACK: nothing. Where it is 0 or more, it takes the place of the policy's delay
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not; else as backoff_quota_take
 *
 * # Safety
 * As that of backoff_quota_take.
 */
BACKOFF_CHECKED
backoff_status backoff_throttle_fail(struct backoff_tokens *tokens,
                                     const struct backoff_throttle_config *config,
                                     int64_t pushback_ms) BACKOFF_DIRECT;

/**
 * Counts an attempt that has succeeded, which gives a part of a token.
 *
 * @param tokens  the tokens
 * @param config  how many there may be
 *
 * @return as backoff_quota_succeed
 *
 * # Safety
 * As that of backoff_quota_take.
 */
backoff_status backoff_throttle_succeed(struct backoff_tokens *tokens,
                                        const struct backoff_throttle_config *config) BACKOFF_DIRECT;

/**
 * Makes a window: no request yet.
 *
 * @param window  receives the state; what was there before does not matter
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER
 *
 * # Safety
 * `window` is NULL, or valid for writes and used by no other thread during the call.
 */
backoff_status backoff_window_init(struct backoff_window *window) BACKOFF_DIRECT;

/**
 * Counts a request, which adds its share to the window.
 *
 * @param window  the window
 * @param config  what it lets through
 * @param now_ns  the time, of any clock that does not go back; a time before the last one counts as that one
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER, BACKOFF_STATUS_NOT_INITIALISED,
 *         BACKOFF_STATUS_CONFIG_SIZE or BACKOFF_STATUS_CONFIG_VALUE, and nothing changes
 *
 * # Safety
 * `window` is NULL, or valid and used by no other thread during the call; `config` is NULL, or valid for reads of as
 * many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_window_deposit(struct backoff_window *window,
                                      const struct backoff_window_config *config,
                                      uint64_t now_ns) BACKOFF_DIRECT;

/**
 * Takes a retry, if the window holds one.
 *
 * @param window  the window
 * @param config  what it lets through
 * @param now_ns  the time, as for backoff_window_deposit
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not, and nothing was taken; else as
 *         backoff_window_deposit
 *
 * # Safety
 * As that of backoff_window_deposit.
 */
BACKOFF_CHECKED
backoff_status backoff_window_withdraw(struct backoff_window *window,
                                       const struct backoff_window_config *config,
                                       uint64_t now_ns) BACKOFF_DIRECT;

/**
 * Whether another retry is allowed with these numbers of active requests and retries, as in Envoy's retry budget. It
 * is allowed while retries are fewer than a share of the requests, and always while they are fewer than `least`. The
 * function keeps no state.
 *
 * Any thread may call it at any time.
 *
 * @param active_requests  how many requests are under way, pending ones included
 * @param active_retries   how many of them are retries
 * @param percent          the share; 0: 20
 * @param least            how many retries may be under way in any case; 0: 3
 *
 * @return BACKOFF_STATUS_OK: retry; BACKOFF_STATUS_BUDGET_EMPTY: do not
 */
BACKOFF_CHECKED
backoff_status backoff_share_allows(uint64_t active_requests, uint64_t active_retries,
                                    uint32_t percent, uint32_t least) BACKOFF_DIRECT;

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
