/* Holds the library to golden.json, of which each line is a vector with its fields in one order. Call: golden golden.json */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backoff_one.h"
#include "backoff_presets.h"

/* How many numbers of a line come before its delays. */
#define DELAYS 20

/* The numbers of a line, in their order; gives how many. */
static int numbers(const char *line, uint64_t *found, int room)
{
    int count = 0;
    while (*line && count < room) {
        if (*line >= '0' && *line <= '9') {
            char *end;
            found[count++] = (uint64_t)strtoull(line, &end, 10);
            line = end;
        } else {
            line++;
        }
    }
    return count;
}

/* The same vector by the single file: 1 if it has the delays, 0 if the vector is not for it, -1 if one differs. */
static int by_the_single_file(const uint64_t *found, int count)
{
    static const uint32_t jitters[] = {BACKOFF_ONE_FULL, BACKOFF_ONE_EQUAL, BACKOFF_ONE_DECORRELATED, BACKOFF_ONE_EXACT};
    struct backoff_one_policy policy = {0};
    struct backoff_one operation;
    int i;
    for (i = 8; i < 14; i++)
        if (found[i] != 0)
            return 0;
    if (found[0] > 3 || found[6] != 0)
        return 0;
    policy.jitter = jitters[found[0]];
    policy.base_ns = found[1];
    policy.ceiling_ns = found[4];
    policy.cap_ns = found[5];
    policy.attempt_limit = (uint32_t)found[7];
    backoff_one_init(&operation, found[18], found[19], 0);
    for (i = DELAYS; i < count; i++) {
        uint64_t delay;
        if (backoff_one_fail(&operation, &policy, 0, 0, &delay) != BACKOFF_ONE_OK || delay != found[i])
            return -1;
    }
    return 1;
}

int main(int argc, char **argv)
{
    static char line[2048];
    FILE *file = argc > 1 ? fopen(argv[1], "r") : NULL;
    int vectors = 0, short_ones = 0, single_ones = 0;
    if (!file)
        return 2;
    while (fgets(line, sizeof line, file)) {
        struct backoff_policy policy = BACKOFF_POLICY_INIT;
        struct backoff_retry retry, shorter;
        uint64_t found[DELAYS + 16], delay;
        uint32_t i;
        int count = numbers(line, found, DELAYS + 16), next, single;
        if (count < DELAYS)
            continue;
        policy.kind = (uint32_t)found[0];
        policy.base_ns = found[1];
        policy.increment_ns = found[2];
        policy.slot_ns = found[3];
        policy.ceiling_ns = found[4];
        policy.cap_ns = found[5];
        policy.elapsed_limit_ns = found[6];
        policy.attempt_limit = found[7];
        policy.multiplier_millionths = (uint32_t)found[8];
        policy.priority_percent = (uint32_t)found[9];
        policy.jitter = (uint32_t)found[10];
        policy.jitter_amount = (uint32_t)found[11];
        /* Some vectors have fields that their kind does not use. */
        policy.flags = (uint32_t)found[12] | BACKOFF_FLAG_IGNORE_UNUSED;
        policy.intervals_count = (uint32_t)found[13];
        for (i = 0; i < 4; i++)
            policy.intervals[i] = (uint32_t)found[14 + i];
        if (backoff_retry_init(&retry, found[18], found[19], 0) != BACKOFF_STATUS_OK)
            return 1;
        shorter = retry;
        for (next = DELAYS; next < DELAYS + 12; next++) {
            uint64_t same;
            backoff_status status = backoff_retry_fail_any(&retry, &policy, 0, 0, &delay);
            backoff_status other = backoff_retry_fail(&shorter, &policy, 0, 0, &same);
            if (other != BACKOFF_STATUS_NEEDS_ANY && (other != status || memcmp(&retry, &shorter, sizeof retry) ||
                (status == BACKOFF_STATUS_OK && same != delay))) {
                printf("%s: failure %d: backoff_retry_fail gives another delay\n", line, next - DELAYS + 1);
                return 1;
            }
            short_ones += next == DELAYS && other == BACKOFF_STATUS_OK;
            if (next >= count ? status == BACKOFF_STATUS_OK : status != BACKOFF_STATUS_OK || delay != found[next]) {
                printf("%s: failure %d: %" PRIu64 "\n", line, next - DELAYS + 1, delay);
                return 1;
            }
            if (next >= count)
                break;
        }
        single = by_the_single_file(found, count);
        if (single < 0) {
            printf("%s: backoff_one.h gives another delay\n", line);
            return 1;
        }
        single_ones += single;
        vectors++;
    }
    fclose(file);
    printf("%d vectors, %d of them by backoff_retry_fail too, %d by backoff_one.h\n", vectors, short_ones, single_ones);
    return vectors < 100 || short_ones < 10 || single_ones < 5;
}
