/* SPDX-License-Identifier: MIT */
/* numbers - members of a structure that are numbers with a range, read and written by name. */
#ifndef GBX_TESTS_NUMBERS_H
#define GBX_TESTS_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct number {
    const char *name;
    size_t offset;
    bool is_wide; /* 64 bits, else 32 */
    uint64_t min;
    uint64_t max;
} number;

static inline void number_set(void *of, const number *n, uint64_t value)
{
    uint32_t narrow = (uint32_t)value;

    if (n->is_wide)
        memcpy((char *)of + n->offset, &value, sizeof value);
    else
        memcpy((char *)of + n->offset, &narrow, sizeof narrow);
}

static inline uint64_t number_get(const void *of, const number *n)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;

    if (n->is_wide)
        memcpy(&wide, (const char *)of + n->offset, sizeof wide);
    else
        memcpy(&narrow, (const char *)of + n->offset, sizeof narrow);
    return n->is_wide ? wide : narrow;
}

#endif
