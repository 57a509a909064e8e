/* SPDX-License-Identifier: MIT */
/*
 * tally - what is not in the log of one call, counted by event and by function.
 *
 * The names of functions are the host's own and are not copied.
 */
#ifndef GBX_AUDIT_TALLY_H
#define GBX_AUDIT_TALLY_H

#include "audit/events.h"
#include "audit/log_line.h"

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
