/* SPDX-License-Identifier: MIT */
/* audit - bounds on the security log: rate limits, and counts of omitted lines. */
#ifndef GBX_AUDIT_AUDIT_H
#define GBX_AUDIT_AUDIT_H

#include "audit/events.h"
#include "audit/log_line.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- tally.c ------------------------------------------------------------ */

/* A token bucket: a burst size and a rate a second. Time is an argument. */

typedef struct gbx_bucket {
    uint32_t size; /* full, as at the start */
    uint32_t per_s;
    double left;
    int64_t at_ns; /* when left was up to date */
} gbx_bucket;

void gbx_bucket_init(gbx_bucket *bucket, uint32_t size, uint32_t per_s, int64_t now_ns);

/* Take one; false if none is left. */
bool gbx_bucket_take(gbx_bucket *bucket, int64_t now_ns);

/* ---- tally.c ------------------------------------------------------------- */

/*
 * Counts what the log of one call omits, by event and by function.
 *
 * The names of functions belong to the host and are not copied.
 */

#define GBX_TALLY_MAX 16

typedef struct gbx_tally {
    uint32_t total;
    uint32_t events[GBX_AUDIT_EVENT_COUNT];
    struct {
        const char *name;
        uint32_t count;
    } functions[GBX_TALLY_MAX]; /* the first ones seen; the rest is counted by event */
} gbx_tally;

/* function: NULL if the host does not have it. */
void gbx_tally_add(gbx_tally *tally, gbx_audit_event event, const char *function);

/* {"lines": n, "events": {...}, "functions": {...}}, as fields of line. */
void gbx_tally_put(const gbx_tally *tally, gbx_log_line *line);

#endif
