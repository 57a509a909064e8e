/* SPDX-License-Identifier: MIT */
/* backoff - when to retry after a failure: after 1 s, then twice as long after each
 * further failure, at most 32 s. A zeroed one has no failures. */
#ifndef GBX_BASE_BACKOFF_H
#define GBX_BASE_BACKOFF_H

#include "base/clock.h"

#include <stdbool.h>

#define GBX_BACKOFF_DOUBLINGS 5u

typedef struct gbx_backoff {
    unsigned failures; /* in a row */
    int64_t last_ns;
} gbx_backoff;

static inline void gbx_backoff_fail(gbx_backoff *b, int64_t now_ns)
{
    b->failures++;
    b->last_ns = now_ns;
}

static inline bool gbx_backoff_is_over(const gbx_backoff *b, int64_t now_ns)
{
    unsigned doublings = b->failures > 0 ? b->failures - 1 : 0;

    if (doublings > GBX_BACKOFF_DOUBLINGS)
        doublings = GBX_BACKOFF_DOUBLINGS;
    return now_ns - b->last_ns >= (INT64_C(1000) << doublings) * GBX_NS_PER_MS;
}

#endif
