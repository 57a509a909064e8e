/* SPDX-License-Identifier: MIT */
/* clock - deadlines use CLOCK_MONOTONIC, so a jump of the wall clock moves none. */
#ifndef GBX_BASE_CLOCK_H
#define GBX_BASE_CLOCK_H

#include <stdint.h>

#define GBX_NS_PER_MS INT64_C(1000000)

int64_t gbx_clock_now_ns(void);  /* CLOCK_MONOTONIC */
int64_t gbx_clock_wall_ms(void); /* CLOCK_REALTIME, since 1970 */

#endif
