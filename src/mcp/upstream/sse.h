/* SPDX-License-Identifier: MIT */
/*
 * sse - a stream of events (the HTML standard's), bytes in, events out. No I/O.
 *
 *     gbx_sse_feed(&sse, bytes, n);
 *     do
 *         while (gbx_sse_next(&sse, &event))
 *             ...
 *     while (sse.has_more);
 */
#ifndef GBX_MCP_UPSTREAM_SSE_H
#define GBX_MCP_UPSTREAM_SSE_H

#include "base/buf.h"

#define GBX_SSE_NAME_MAX 32
#define GBX_SSE_ID_MAX   512

typedef struct gbx_sse {
    gbx_buf in;   /* what is not read yet, from `start` on */
    size_t start; /* what is before it goes now and then: there may be many events */
    size_t seen;  /* to there is no end of a line */
    gbx_buf data;
    char name[GBX_SSE_NAME_MAX + 1];
    char id[GBX_SSE_ID_MAX + 1]; /* of the last whole event; stays between events */
    char next_id[GBX_SSE_ID_MAX + 1]; /* of the one that is being read */
    uint32_t retry_ms;                /* 0: it was not said */
    bool is_begun;                    /* a mark of UTF-8 before it all was looked for */
    bool has_data;
    bool is_told; /* data was the last event's; it is dropped at the next call */
    bool had_cr;
    bool has_more; /* the last call has not looked at all that is there */
} gbx_sse;

/* Borrowed until the next call. */
typedef struct gbx_sse_event {
    const char *name; /* "message" if none was given */
    const char *data;
    size_t len;
} gbx_sse_event;

void gbx_sse_init(gbx_sse *sse, size_t event_max);
void gbx_sse_cleanup(gbx_sse *sse);

/* How much of what came was not looked at yet. */
size_t gbx_sse_ahead(const gbx_sse *sse);

/* False: an event is longer than event_max, or memory is out; the stream is of no use. */
bool gbx_sse_feed(gbx_sse *sse, const void *data, size_t len);
/* False: no event is complete, or it was too long (then data.failed), or none is among the
 * next that can be looked at in short time (then has_more: call it again). */
bool gbx_sse_next(gbx_sse *sse, gbx_sse_event *ret);

#endif
