/* SPDX-License-Identifier: MIT */
/* moment - a point in time as people write it: milliseconds since 1970, or ISO 8601. */
#ifndef GBX_CLI_MOMENT_H
#define GBX_CLI_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * `1767225600000`, `-1`, `2026-01-01`, `2026-01-01T12:30Z`, with seconds, with
 * milliseconds, with an offset (+02:00). Without an offset it is UTC: the only time zone
 * that code in the box knows. False if it is none of them or names no real day.
 */
bool gbx_moment_parse(const char *text, int64_t *ret_ms);

#endif
