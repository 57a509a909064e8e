/* SPDX-License-Identifier: MIT */
/* clock - see clock.h. */
#include "base/clock.h"

#include <time.h>

/* ---- public to other modules -------------------------------------------- */

int64_t gbx_clock_now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t gbx_clock_wall_ms(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}
