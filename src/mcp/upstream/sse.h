/* SPDX-License-Identifier: MIT */
/*
 * sse - parses a stream of server-sent events (HTML standard): bytes in, events
 * out. No I/O.
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
    gbx_buf in;   /* unread bytes, from `start` on */
    size_t start; /* bytes before it are removed only now and then: events may be
                   * many */
    size_t seen;  /* no end of line before this */
    gbx_buf data;
    char name[GBX_SSE_NAME_MAX + 1];
    char id[GBX_SSE_ID_MAX + 1];      /* of the last whole event; kept between events */
    char next_id[GBX_SSE_ID_MAX + 1]; /* of the event being read */
    uint32_t retry_ms;                /* 0: none given */
    bool is_begun;                    /* the optional byte order mark is dealt with */
    bool has_data;
    bool is_told; /* data belongs to the last event; dropped at the next call */
    bool had_cr;
    bool has_more; /* the last call has left some input unexamined */
} gbx_sse;

/* Borrowed until the next call. */
typedef struct gbx_sse_event {
    const char *name; /* "message" if the event has none */
    const char *data;
    size_t len;
} gbx_sse_event;

void gbx_sse_init(gbx_sse *sse, size_t event_max);
void gbx_sse_cleanup(gbx_sse *sse);

/* How many bytes were not examined yet. */
size_t gbx_sse_ahead(const gbx_sse *sse);

/* False: an event is longer than event_max, or memory is out; the stream is
 * unusable. */
bool gbx_sse_feed(gbx_sse *sse, const void *data, size_t len);
/* False: no event is complete, or one was too long (then data.failed), or the examined
 * part, which is bounded, had none (then has_more: call it again). */
bool gbx_sse_next(gbx_sse *sse, gbx_sse_event *ret);

#endif
