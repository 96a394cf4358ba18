/*
 * The longest call of a schedule with very many values pending: each program of calls is run several times, a call counts
 * as the fastest of its runs, and the slowest of all calls is printed. So what the machine does besides is left out, as far
 * as it does not meet the same call every time.
 *
 *     cc -O2 -I include benches/backoff/longest.c target/release/libbackoff.so -o longest
 *     LD_LIBRARY_PATH=... taskset -c 1 ./longest [VALUES] [RUNS] [touched|huge]
 *
 * "touched": the memory is written to once before. "huge": and it is made of pages of 2 MiB, where the kernel gives them.
 */

#define _GNU_SOURCE

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* A status that is not looked at costs nothing, and is none of what is measured. */
#pragma GCC diagnostic ignored "-Wunused-result"

#include "backoff_schedule.h"

enum { INSERT, NEXT, EXPIRE, CALLS };

static uint64_t seed;

static uint64_t word(void)
{
    uint64_t z = (seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* How far ahead the slots lie: below 2^10, 2^20, 2^40 and 2^63, and in crowds. */
static uint64_t delay_of(int kind)
{
    switch (kind) {
    case 0:
        return 1 + (word() >> 54);
    case 1:
        return 1 + (word() >> 44);
    case 2:
        return 1 + (word() >> 24);
    case 3:
        return 1 + (word() >> 1);
    default:
        return (UINT64_C(5000000) << (word() % 20)) + word() % 100;
    }
}

/* The fastest time of each call so far. */
static void note(uint32_t *fastest, size_t call, uint64_t since)
{
    uint64_t took = now_ns() - since;
    if (took < fastest[call])
        fastest[call] = (uint32_t)took;
}

static void run(int kind, uint32_t values, void *memory, uint32_t *fastest[CALLS])
{
    struct backoff_schedule *schedule;
    struct backoff_due due;
    uint64_t slot = 0, start;
    uint32_t i;
    size_t count;
    seed = 802;
    backoff_schedule_init(memory, backoff_schedule_octets(values), 0, &schedule);
    for (i = 0; i < values; i++) {
        uint64_t at = delay_of(kind);
        start = now_ns();
        backoff_schedule_insert(schedule, at, i, NULL);
        note(fastest[INSERT], i, start);
    }
    /* Every value goes off once, and half of them come back. */
    for (i = 0; i < values; i++) {
        start = now_ns();
        backoff_schedule_next(schedule, &slot);
        note(fastest[NEXT], i, start);
        start = now_ns();
        backoff_schedule_expire(schedule, slot, 1, &due, &count);
        note(fastest[EXPIRE], i, start);
        if (i % 2)
            backoff_schedule_insert(schedule, due.slot + delay_of(kind), i, NULL);
    }
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"2^10", "2^20", "2^40", "2^63", "crowds"};
    static const char *const calls[] = {"insert", "next", "expire"};
    uint32_t values = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000000u, i;
    int runs = argc > 2 ? atoi(argv[2]) : 5, kind, call, n;
    size_t page = (size_t)2 << 20, octets = (backoff_schedule_octets(values) + page - 1) & ~(page - 1);
    void *memory = aligned_alloc(page, octets);
    uint32_t *fastest[CALLS];
    uint64_t floor = UINT64_MAX;
    if (argc > 3 && strcmp(argv[3], "huge") == 0 && madvise(memory, octets, MADV_HUGEPAGE) != 0)
        return 1;
    if (argc > 3)
        memset(memory, 1, octets);
    for (i = 0; i < 1000; i++) {
        uint64_t start = now_ns(), took = now_ns() - start;
        floor = took < floor ? took : floor;
    }
    printf("the clock alone: %" PRIu64 " ns\n", floor);
    for (call = 0; call < CALLS; call++)
        fastest[call] = malloc(values * sizeof *fastest[call]);
    for (kind = 0; kind < 5; kind++) {
        for (call = 0; call < CALLS; call++)
            memset(fastest[call], 0xFF, values * sizeof *fastest[call]);
        for (n = 0; n < runs; n++)
            run(kind, values, memory, fastest);
        printf("%s:", kinds[kind]);
        for (call = 0; call < CALLS; call++) {
            uint64_t sum = 0, longest = 0;
            uint32_t above = 0;
            for (i = 0; i < values; i++) {
                sum += fastest[call][i];
                longest = fastest[call][i] > longest ? fastest[call][i] : longest;
                above += fastest[call][i] > 2000;
            }
            printf(" %s mean %.0f longest %" PRIu64 " ns, %" PRIu32 " above 2 us;", calls[call], (double)sum / values,
                   longest, above);
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
