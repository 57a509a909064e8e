/* SPDX-License-Identifier: MIT */
/* clock - see clock.h; and the table of timeouts.h. */
#include "base/clock.h"

#include "base/timeouts.h"

#include <time.h>

int64_t gbx_clock_now_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t gbx_clock_wall_ns(void)
{
    struct timespec ts;

    (void)clock_gettime(CLOCK_REALTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t gbx_clock_wall_ms(void)
{
    return gbx_clock_wall_ns() / GBX_NS_PER_MS;
}

uint32_t gbx_timeout_ms(gbx_timeout timeout)
{
    static const uint32_t table[] = {
#define XX(name, ms, what) ms,
        GBX_TIMEOUT_MAP(XX)
#undef XX
    };

    return table[timeout];
}
