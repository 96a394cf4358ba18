/*
 * Any octets as states and configurations, any numbers as arguments: every function of libbackoff answers, keeps its
 * promises, and touches nothing but what it was given. A broken promise aborts.
 *
 * With clang's libFuzzer: fuzz/backoff.sh. With -DSTANDALONE it is a program of its own: `backoff SEED COUNT`.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backoff_limits.h"
#include "backoff_presets.h"

#define UNTOUCHED UINT64_C(0x5555555555555555)
#define PROMISE(holds) \
    do { \
        if (!(holds)) { \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #holds); \
            abort(); \
        } \
    } while (0)

#include "../ffi-tests/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is left of the input; zeros after its end. */
struct input {
    const uint8_t *data;
    size_t left;
};

static void take(struct input *input, void *into, size_t size)
{
    size_t taken = size < input->left ? size : input->left;
    memset(into, 0, size);
    memcpy(into, input->data, taken);
    input->data += taken;
    input->left -= taken;
}

static uint64_t number(struct input *input)
{
    uint64_t value;
    take(input, &value, sizeof value);
    return value;
}

static void stations(struct input *input)
{
    struct backoff_config config = BACKOFF_CONFIG_INIT;
    struct backoff station, before, inlined;
    uint64_t slots = UNTOUCHED, other = UNTOUCHED, many[9];
    backoff_status status;
    take(input, &station, sizeof station);
    take(input, &config.attempt_limit, 8);
    before = inlined = station;
    status = backoff_collide(&station, &slots);
    PROMISE(backoff_collide_inline(&inlined, &other) == status);
    PROMISE(memcmp(&station, &inlined, sizeof station) == 0 && slots == other);
    PROMISE(status == BACKOFF_STATUS_OK || slots == UNTOUCHED);
    PROMISE(status != BACKOFF_STATUS_NOT_INITIALISED || memcmp(&station, &before, sizeof station) == 0);
    PROMISE(backoff_collide_word(&station, number(input), &slots) <= BACKOFF_STATUS_NOT_INITIALISED);
    backoff_draws(&station, 9, many);
    backoff_collide_each(&station, 1, many);
    backoff_reset(&station);
    PROMISE(backoff_init(&station, &config, number(input), number(input)) == BACKOFF_STATUS_OK);
    PROMISE(station.attempts == 0 && station.attempt_limit != 0);
}

static void policies(struct input *input)
{
    struct backoff_policy policy;
    struct backoff_retry retry, before, shorter;
    struct backoff_bounds bounds;
    struct backoff_moments moments;
    uint64_t failures = number(input), previous = number(input), now = number(input), hint = number(input);
    uint64_t delay = UNTOUCHED, generator = number(input), many[5];
    uint32_t failed;
    uint64_t short_delay;
    backoff_status status, short_status;
    int round, bounded;
    take(input, &retry, sizeof retry);
    take(input, &policy, sizeof policy);
    policy.size = sizeof policy;
    if (number(input) & 1) {
        policy.kind %= BACKOFF_LAW_ALOHA_GEOMETRIC + 1;
        policy.flags &= BACKOFF_FLAG_FIRST_AT_ONCE | BACKOFF_FLAG_FIRST_EXACT | BACKOFF_FLAG_HINT_ABOVE_DRAW |
            BACKOFF_FLAG_IGNORE_UNUSED;
        policy.jitter %= BACKOFF_JITTER_AROUND + 1;
        policy.intervals_count = policy.intervals_count % BACKOFF_INTERVALS + 1;
        policy.reserved = 0;
        if (policy.flags & BACKOFF_FLAG_FIRST_AT_ONCE)
            policy.flags |= BACKOFF_FLAG_IGNORE_UNUSED;
    }
    bounded = policy.hint_limit_ns != 0;
    status = backoff_policy_bounds(&policy, failures, previous, &bounds);
    PROMISE(backoff_policy_draw(&policy, failures, previous, generator, &delay) == status);
    PROMISE(backoff_policy_moments(&policy, failures, previous, &moments) == status);
    PROMISE(backoff_policy_draws(&policy, failures, previous, &generator, 5, many) == status);
    if (status == BACKOFF_STATUS_OK) {
        PROMISE(bounds.shortest_ns <= delay && delay <= bounds.longest_ns);
        PROMISE(bounds.shortest_ns <= many[4] && many[4] <= bounds.longest_ns);
        PROMISE(policy.cap_ns == 0 || bounds.longest_ns <= policy.cap_ns);
        PROMISE(moments.variance_ns2 >= 0 && moments.mean_ns >= 0);
    } else {
        PROMISE(delay == UNTOUCHED);
    }
    if (number(input) & 1)
        PROMISE(backoff_retry_init(&retry, now, hint, now) == BACKOFF_STATUS_OK);
    for (round = 0; round < 4; round++) {
        before = shorter = retry;
        delay = UNTOUCHED;
        status = backoff_retry_fail_any(&retry, &policy, now, hint, &delay);
        /* What the short function takes or refuses, the other one does too; else it says so. */
        short_delay = UNTOUCHED;
        short_status = backoff_retry_fail(&shorter, &policy, now, hint, &short_delay);
        PROMISE(short_status == BACKOFF_STATUS_NEEDS_ANY || (short_status == status && short_delay == delay));
        PROMISE(memcmp(&shorter, short_status == BACKOFF_STATUS_NEEDS_ANY ? &before : &retry, sizeof retry) == 0);
        if (status == BACKOFF_STATUS_OK)
            PROMISE((delay >= hint || bounded) && (hint != 0 || policy.cap_ns == 0 || delay <= policy.cap_ns));
        else
            PROMISE(delay == UNTOUCHED);
        if (status == BACKOFF_STATUS_NOT_INITIALISED || status == BACKOFF_STATUS_CONFIG_VALUE ||
            status == BACKOFF_STATUS_FIELD_UNUSED)
            PROMISE(memcmp(&retry, &before, sizeof retry) == 0);
        hint = 0;
    }
    before = retry;
    if (backoff_retry_failures(&retry, &failed) == BACKOFF_STATUS_OK)
        PROMISE(failed == before.failures);
    backoff_retry_reset(&retry, now);
}

static void rates(struct input *input)
{
    struct backoff_rate_config config = BACKOFF_RATE_CONFIG_INIT;
    struct backoff_rate rate;
    uint64_t wait;
    uint32_t level;
    int round;
    take(input, &rate, sizeof rate);
    take(input, &config.base, sizeof config - sizeof config.size);
    if (number(input) & 3)
        config.reserved = 0;
    if (number(input) & 1)
        PROMISE(backoff_rate_init(&rate) == BACKOFF_STATUS_OK);
    for (round = 0; round < 6; round++) {
        uint64_t now = number(input);
        if (now & 1)
            backoff_rate_adverse(&rate, &config, now);
        backoff_rate_act(&rate, &config, now, &wait);
        if (backoff_rate_level(&rate, &config, now, &level) == BACKOFF_STATUS_OK)
            PROMISE(level <= (config.level_limit ? config.level_limit : 10));
        if (backoff_rate_cooling_off(&rate, &config, now, &wait) == BACKOFF_STATUS_OK)
            PROMISE(wait >= (config.cooling_off_ns ? config.cooling_off_ns : UINT64_C(1000000000)));
    }
}

static uint64_t next_number(void *input)
{
    return number(input);
}

/* Two lives in one memory, beside a model: tickets of the first one are among those of the second. */
static void schedules(struct input *input)
{
    static uint64_t memory[1100];
    static const uint32_t capacities[] = {1, 4, 32, 33};
    struct known_ticket tickets[MODEL_TICKETS];
    int life;
    PROMISE(backoff_schedule_octets(33) <= sizeof memory);
    memset(tickets, 0, sizeof tickets);
    for (life = 0; life < 2; life++)
        model_life(next_number, input, capacities[number(input) & 3], 24, memory, tickets);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input;
    uint8_t which = 0;
    input.data = data;
    input.left = size;
    take(&input, &which, 1);
    switch (which & 3) {
    case 0:
        stations(&input);
        break;
    case 1:
        policies(&input);
        break;
    case 2:
        rates(&input);
        break;
    default:
        schedules(&input);
    }
    return 0;
}

#ifdef STANDALONE
/* Random inputs, with small numbers and edges among them; the seed alone repeats the run. */
int main(int argc, char **argv)
{
    uint64_t generator = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000, i;
    printf("seed %llu, %lu inputs\n", (unsigned long long)generator, count);
    for (i = 0; i < count; i++) {
        uint64_t data[120];
        size_t k;
        for (k = 0; k < 120; k++) {
            uint64_t word = (generator += UINT64_C(0x9E3779B97F4A7C15));
            word = (word ^ (word >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
            word = (word ^ (word >> 27)) * UINT64_C(0x94D049BB133111EB);
            word ^= word >> 31;
            data[k] = word & 8 ? word : word & 16 ? word >> (word & 63) : word & 32 ? UINT64_MAX - (word & 3) : word & 3;
        }
        LLVMFuzzerTestOneInput((const uint8_t *)data, sizeof data);
    }
    return 0;
}
#endif
