/* SPDX-License-Identifier: MIT */
/* clock - read the clocks. Deadlines use CLOCK_MONOTONIC: the wall clock may jump. */
#ifndef GBX_BASE_CLOCK_H
#define GBX_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>

#define GBX_NS_PER_MS INT64_C(1000000)

int64_t gbx_clock_now_ns(void);  /* CLOCK_MONOTONIC */
int64_t gbx_clock_wall_ns(void); /* CLOCK_REALTIME, since 1970 */
int64_t gbx_clock_wall_ms(void);

static inline struct timeval gbx_clock_timeval(uint32_t ms)
{
    return (struct timeval){ms / 1000, (suseconds_t)(ms % 1000) * 1000};
}

/* The pause before a retry: 1 s after the first failure, twice as long after each
 * further failure, at most 32 s. Zeroed: no failures. */

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

static inline uint32_t gbx_backoff_ms(const gbx_backoff *b)
{
    unsigned doublings = b->failures > 0 ? b->failures - 1 : 0;

    if (doublings > GBX_BACKOFF_DOUBLINGS)
        doublings = GBX_BACKOFF_DOUBLINGS;
    return UINT32_C(1000) << doublings;
}

static inline bool gbx_backoff_is_over(const gbx_backoff *b, int64_t now_ns)
{
    return now_ns - b->last_ns >= gbx_backoff_ms(b) * GBX_NS_PER_MS;
}

#endif
