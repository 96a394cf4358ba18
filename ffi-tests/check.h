/* What the C programs share: a check that names its line, and goes on. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(holds) \
    do { \
        if (!(holds)) { \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
            failures++; \
        } \
    } while (0)

#endif
