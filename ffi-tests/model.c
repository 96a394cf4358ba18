/* The schedule does what the plainest model does, for every call, many capacities, and clocks up to the last slot. As a
 * program of its own: `model SEED OPERATIONS`. */

#include <stdio.h>

#include "check.h"

#define PROMISE(holds) CHECK(holds)
#include "model.h"

static uint64_t next_word(void *counter)
{
    uint64_t word = (*(uint64_t *)counter += UINT64_C(0x9E3779B97F4A7C15));
    word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
    return word ^ (word >> 31);
}

int main(int argc, char **argv)
{
    static const uint32_t capacities[] = {0, 1, 2, 4, 16, 31, 32, 33, 64, 300, MODEL_MOST};
    static uint64_t memory[40000 / sizeof(uint64_t)];
    static struct known_ticket tickets[MODEL_TICKETS];
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, left = argc > 2 ? strtoull(argv[2], NULL, 10) : 300000;
    uint64_t counter = seed, steps;
    CHECK(backoff_schedule_octets(MODEL_MOST) <= sizeof memory);
    for (; left > 0 && failures == 0; left -= steps) {
        uint32_t capacity = capacities[next_word(&counter) % (sizeof capacities / sizeof capacities[0])];
        steps = 1 + next_word(&counter) % 4000;
        steps = steps < left ? steps : left;
        model_life(next_word, &counter, capacity, steps, memory, tickets);
    }
    if (failures != 0)
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    return failures != 0;
}
