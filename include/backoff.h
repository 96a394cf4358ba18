/*
 * libbackoff: when to try again. The truncated binary exponential backoff of IEEE 802.3, exact.
 *
 *     #include <backoff.h>
 *
 *     struct backoff_config config = BACKOFF_CONFIG_INIT;    all defaults: 16 attempts, 2^10 slots
 *     struct backoff station;
 *     backoff_init(&station, &config, seed, station_id);
 *
 *     for each frame:
 *         while (the attempt collides) {
 *             uint64_t slots;
 *             if (backoff_collide(&station, &slots) == BACKOFF_STATUS_DISCARDED)
 *                 break;
 *             wait slots times slotTime from the end of the jam, then defer, then attempt again
 *         }
 *         backoff_reset(&station);
 *
 * State lies in your memory: 32 octets, plain, copyable, nothing to free. No function allocates, locks, waits, calls
 * the system, uses floating point or keeps state of its own; so all may be called from an interrupt handler. Two
 * threads may use two states at the same time, never one; for each function the section "Safety" says which
 * pointers must be valid and who must not use them meanwhile.
 *
 * Functions that can be refused return a status. A result goes through the last pointer, and only with
 * BACKOFF_STATUS_OK. NULL is refused. Every number is accepted: nothing overflows.
 *
 * Link with -lbackoff. The header is C99, C11 and C++17.
 */

#ifndef BACKOFF_H
#define BACKOFF_H

/* Made from crates/backoff-c by `BLESS=1 cargo test --test ffi`: change the Rust source, not this file. */

#include <stddef.h>
#include <stdint.h>

/**
 * The version of this header; `backoff_version()` is the one of the library that was found at run time.
 */
#define BACKOFF_VERSION_MAJOR 0

/**
 * Grows with additions that old programs do not notice.
 */
#define BACKOFF_VERSION_MINOR 1

/**
 * Grows with corrections.
 */
#define BACKOFF_VERSION_PATCH 0

/**
 * What a call came to. A result is written only with `BACKOFF_STATUS_OK`.
 */
enum backoff_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : uint32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
    /**
     * Done.
     */
    BACKOFF_STATUS_OK = 0,
    /**
     * The collision of attempt number `attempt_limit`: the frame is discarded. An answer, not a fault.
     */
    BACKOFF_STATUS_DISCARDED = 1,
    /**
     * A pointer is NULL. Nothing changed.
     */
    BACKOFF_STATUS_NULL_POINTER = 2,
    /**
     * `size` of the configuration is not that of a `struct backoff_config` this library knows. Nothing changed.
     */
    BACKOFF_STATUS_CONFIG_SIZE = 3,
    /**
     * The state is not one that `backoff_init` made, but zeroed memory, for example. Nothing changed.
     */
    BACKOFF_STATUS_NOT_INITIALISED = 4,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum backoff_status backoff_status;
#else
typedef uint32_t backoff_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * One station's backoff: the frame in hand and the generator of all its frames. Plain data in the caller's memory.
 *
 * Copy it with `=` or `memcpy`, write it to a file, throw it away: there is nothing to free. A copy draws the same
 * delays again. The fields are the library's: read them with a debugger, write them through the functions.
 */
struct backoff {
    /**
     * The counter of the built-in generator, splitmix64.
     */
    uint64_t generator;
    /**
     * How many attempts of this frame have collided.
     */
    uint32_t attempts;
    /**
     * As configured; 0 only where `backoff_init` has not been.
     */
    uint32_t attempt_limit;
    /**
     * As configured.
     */
    uint32_t backoff_limit;
    /**
     * 0; room for later versions.
     */
    uint32_t reserved[3];
};

/**
 * What `backoff_init` is told. A field that is 0 means the default, the value of IEEE 802.3.
 *
 * `struct backoff_config config = BACKOFF_CONFIG_INIT;` sets the size and takes every default. Fields of later
 * versions come at the end, so that `size` tells them apart.
 */
struct backoff_config {
    /**
     * `sizeof(struct backoff_config)`; the one field without a default.
     */
    uint32_t size;
    /**
     * The attempt, the first included, whose collision discards the frame; 0: 16.
     */
    uint32_t attempt_limit;
    /**
     * The collision from which on the range no longer doubles; 0: 10. From 64 on the range is all of `uint64_t`.
     */
    uint32_t backoff_limit;
};

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the library as a number: major * 65536 + minor * 256 + patch.
 *
 * Any thread may call it at any time.
 */
uint32_t backoff_version(void);

/**
 * The version of the library as text, such as "0.1.0".
 *
 * Any thread may call it at any time; the text is constant and lives as long as the library.
 */
const char *backoff_version_text(void);

/**
 * What a status means, as a line of English; "unknown status" for a number that is none. Never NULL.
 *
 * Any thread may call it at any time; the text is constant and lives as long as the library.
 *
 * @param status  what another function returned
 */
const char *backoff_status_text(uint32_t status);

/**
 * Makes a state: no attempt has collided, and the built-in generator stands at its start.
 *
 * The same `seed` and `stream` give the same delays on every machine. Give all stations of a run one seed and each
 * its own stream; 1, 2, 3 ... will do, because both numbers are mixed before use. The generator's start is that of
 * `Generator::stream` of the Rust library.
 *
 * @param backoff  receives the state; what was there before does not matter
 * @param config   the limits; may be reused or thrown away after the call
 * @param seed     the run
 * @param stream   the station or device within the run
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_CONFIG_SIZE, and nothing is written
 *
 * # Safety
 * `backoff` is NULL, or valid for writes and used by no other thread during the call; `config` is NULL, or valid
 * for reads of as many octets as its `size` says and written by no other thread during the call.
 */
backoff_status backoff_init(struct backoff *backoff,
                            const struct backoff_config *config,
                            uint64_t seed,
                            uint64_t stream);

/**
 * Counts an attempt that collided, and draws the delay before the next one from the built-in generator.
 *
 * After the n-th collision of a frame the delay is uniform over 0 ... 2^k - 1 slots, k = min(n, backoff_limit, 64).
 * It begins at the end of the jam. The generator takes one step at every call that is answered with
 * BACKOFF_STATUS_OK or BACKOFF_STATUS_DISCARDED.
 *
 * @param backoff  the station's backoff
 * @param slots    receives the delay, in slots
 *
 * @return BACKOFF_STATUS_OK; BACKOFF_STATUS_DISCARDED if this was attempt number attempt_limit, and at every further
 *         collision until backoff_reset; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `backoff` and `slots` are each NULL, or valid, apart from each other, and used by no other thread during the call.
 */
backoff_status backoff_collide(struct backoff *backoff,
                               uint64_t *slots);

/**
 * The same with a random word of the caller: the delay is the k high bits of `word`. The generator does not step.
 *
 * If all 64 bits of the word are random, every delay is equally likely. 0 gives no delay, UINT64_MAX the longest.
 *
 * @param backoff  the station's backoff
 * @param word     64 random bits; of fewer than 64, put them into the high ones
 * @param slots    receives the delay, in slots
 *
 * @return as backoff_collide
 *
 * # Safety
 * `backoff` and `slots` are each NULL, or valid, apart from each other, and used by no other thread during the call.
 */
backoff_status backoff_collide_word(struct backoff *backoff,
                                    uint64_t word,
                                    uint64_t *slots);

/**
 * Gives the number of attempts of this frame that have collided; at most attempt_limit.
 *
 * @param backoff   the station's backoff
 * @param attempts  receives the number
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `backoff` is NULL, or valid and written by no other thread during the call; `attempts` is NULL, or valid for
 * writes, apart from `backoff`, and used by no other thread during the call.
 */
backoff_status backoff_attempts(const struct backoff *backoff,
                                uint32_t *attempts);

/**
 * Makes the state ready for another frame: no attempt has collided. Call it when a frame got through or was
 * discarded. The generator goes on where it stands.
 *
 * @param backoff  the station's backoff
 *
 * @return BACKOFF_STATUS_OK; else BACKOFF_STATUS_NULL_POINTER or BACKOFF_STATUS_NOT_INITIALISED
 *
 * # Safety
 * `backoff` is NULL, or valid and used by no other thread during the call.
 */
backoff_status backoff_reset(struct backoff *backoff);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/** A `struct backoff_config` with every default. */
#define BACKOFF_CONFIG_INIT { sizeof(struct backoff_config), 0, 0 }

/* The layout is part of the ABI. C99 has no assertion of this kind; there the library alone asserts it. */
#if defined(__cplusplus)
#define BACKOFF_ASSERT(holds) static_assert(holds, #holds)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define BACKOFF_ASSERT(holds) _Static_assert(holds, #holds)
#endif
#ifdef BACKOFF_ASSERT
BACKOFF_ASSERT(sizeof(backoff_status) == 4);
BACKOFF_ASSERT(sizeof(struct backoff_config) == 12);
BACKOFF_ASSERT(offsetof(struct backoff_config, size) == 0);
BACKOFF_ASSERT(offsetof(struct backoff_config, attempt_limit) == 4);
BACKOFF_ASSERT(offsetof(struct backoff_config, backoff_limit) == 8);
BACKOFF_ASSERT(sizeof(struct backoff) == 32);
BACKOFF_ASSERT(offsetof(struct backoff, generator) == 0);
BACKOFF_ASSERT(offsetof(struct backoff, attempts) == 8);
BACKOFF_ASSERT(offsetof(struct backoff, attempt_limit) == 12);
BACKOFF_ASSERT(offsetof(struct backoff, backoff_limit) == 16);
BACKOFF_ASSERT(offsetof(struct backoff, reserved) == 20);
#undef BACKOFF_ASSERT
#endif

#endif /* BACKOFF_H */
