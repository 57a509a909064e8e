/* SPDX-License-Identifier: MIT */
/* audit - what bounds the security log: buckets of lines, and tallies of omitted ones. */
#ifndef GBX_AUDIT_AUDIT_H
#define GBX_AUDIT_AUDIT_H

#include "audit/events.h"
#include "audit/log_line.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- tally.c ------------------------------------------------------------ */

/* So many at once, and so many a second. Time is an argument. */

typedef struct gbx_bucket {
    uint32_t size; /* full, as at the start */
    uint32_t per_s;
    double left;
    int64_t at_ns; /* when left was right */
} gbx_bucket;

void gbx_bucket_init(gbx_bucket *bucket, uint32_t size, uint32_t per_s, int64_t now_ns);

/* Take one; false if none is left. */
bool gbx_bucket_take(gbx_bucket *bucket, int64_t now_ns);

/* ---- tally.c ------------------------------------------------------------- */

/*
 * What is not in the log of one call, counted by event and by function.
 *
 * The names of functions are the host's own and are not copied.
 */

#define GBX_TALLY_MAX 16

typedef struct gbx_tally {
    uint32_t total;
    uint32_t events[GBX_AUDIT_EVENT_COUNT];
    struct {
        const char *name;
        uint32_t count;
    } functions[GBX_TALLY_MAX]; /* the first that came; the rest is counted by event */
} gbx_tally;

/* function: NULL if there is none of the host's. */
void gbx_tally_add(gbx_tally *tally, gbx_audit_event event, const char *function);

/* {"lines": n, "events": {...}, "functions": {...}}, as fields of line. */
void gbx_tally_put(const gbx_tally *tally, gbx_log_line *line);

#endif
