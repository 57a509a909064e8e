/* SPDX-License-Identifier: MIT */
/*
 * session_streams - sends an answer as plain JSON if nothing was sent before it, else
 * as the last event of its stream.
 *
 * The id of an event is "STREAM-NUMBER", so it also identifies the stream that a client
 * wants to continue: events of another stream are never replayed.
 */
#include "mcp/http/http.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Silence before a heartbeat, and before an answer becomes a stream so that it can have
 * heartbeats: clients and proxies close connections on which nothing arrives. */
#define BEAT_NS  (15000 * GBX_NS_PER_MS)
#define BEGIN_NS (30000 * GBX_NS_PER_MS)

/* How long a client waits before it reconnects. */
#define RETRY_TEXT "retry: 1000\n"

/* ---- events ---------------------------------------------------------------------- */

static void drop_event(gbx_stream *s)
{
    gbx_stream_event *event = TAILQ_FIRST(&s->events);

    TAILQ_REMOVE(&s->events, event, entry);
    s->owner->event_count--;
    s->owner->bytes -= event->len;
    free(event);
}

/* Keep it, and drop the oldest events of the oldest streams until the rest is within its
 * limits. */
static void keep_event(gbx_stream *s, const char *message, size_t len)
{
    gbx_streams *streams = s->owner;
    gbx_stream *oldest = TAILQ_FIRST(&streams->all);
    gbx_stream_event *event = gbx_need(malloc(sizeof *event + len));

    event->number = s->last;
    event->len = len;
    memcpy(event->text, message, len);
    TAILQ_INSERT_TAIL(&s->events, event, entry);
    streams->event_count++;
    streams->bytes += len;
    while (oldest != NULL && (streams->event_count > GBX_STREAM_EVENTS_MAX ||
                              streams->bytes > GBX_STREAM_BYTES_MAX)) {
        if (!TAILQ_EMPTY(&oldest->events))
            drop_event(oldest);
        else
            oldest = TAILQ_NEXT(oldest, entry);
    }
}

static void write_event(gbx_stream *s, uint64_t number, const char *message, size_t len)
{
    char head[80] = "data: ";

    if (s->owner->keeps)
        (void)snprintf(head, sizeof head,
                       "id: %" PRIu64 "-%" PRIu64 "\ndata: ", s->number, number);
    if (gbx_http_put(s->connection, head, message, len))
        s->sent = number;
    s->since_ns = gbx_clock_now_ns();
}

/* Begin the stream on its connection. after: the last event that the client has. */
static void begin_stream(gbx_stream *s, uint64_t after)
{
    char prime[96] = RETRY_TEXT;

    gbx_http_begin_events(s->connection, s->owner->fields);
    s->has_begun = true;
    s->since_ns = gbx_clock_now_ns();
    if (!s->owner->keeps)
        return;
    /* An event without data gives the client an id from which to resume. */
    if (s->owner->primes)
        (void)snprintf(prime, sizeof prime,
                       "id: %" PRIu64 "-%" PRIu64 "\n" RETRY_TEXT "data: ", s->number,
                       after);
    (void)gbx_http_put(s->connection, prime, NULL, 0);
}

/* ---- streams ---------------------------------------------------------------------- */

static void drop_stream(gbx_stream *s)
{
    while (!TAILQ_EMPTY(&s->events))
        drop_event(s);
    TAILQ_REMOVE(&s->owner->all, s, entry);
    free(s);
}

static void on_gone(void *user)
{
    gbx_stream *s = user;
    gbx_streams *streams = s->owner;

    s->connection = NULL;
    if (streams->gone == NULL)
        return;
    streams->gone(streams->user, s);
    drop_stream(s);
}

/* Detach the connection from the stream, and return it. NULL: there is none. */
static gbx_http_connection *detach(gbx_stream *s)
{
    gbx_http_connection *c = s->connection;

    s->connection = NULL;
    if (c != NULL)
        gbx_http_on_gone(c, NULL, NULL);
    return c;
}

/* Close the connection of the stream when everything is sent. */
static void part(gbx_stream *s)
{
    gbx_http_connection *c = detach(s);

    if (c == NULL)
        return;
    if (!s->has_begun) /* the answer has no head yet */
        gbx_http_begin_events(c, s->owner->fields);
    gbx_http_end(c);
}

void gbx_streams_cleanup(gbx_streams *streams)
{
    gbx_stream *s;

    while ((s = TAILQ_FIRST(&streams->all)) != NULL) {
        part(s);
        drop_stream(s);
    }
}

gbx_stream *gbx_stream_new(gbx_streams *streams, gbx_http_connection *c)
{
    gbx_stream *s = gbx_need(calloc(1, sizeof *s));

    s->owner = streams;
    s->number = ++streams->last;
    s->connection = c;
    s->since_ns = gbx_clock_now_ns();
    TAILQ_INIT(&s->events);
    TAILQ_INSERT_TAIL(&streams->all, s, entry);
    if (c != NULL)
        gbx_http_on_gone(c, on_gone, s);
    return s;
}

gbx_stream *gbx_streams_newest(gbx_streams *streams)
{
    gbx_stream *s;

    TAILQ_FOREACH_REVERSE(s, &streams->all, gbx_stream_list, entry)
    if (s->connection != NULL && s->open > 0)
        return s;
    return NULL;
}

void gbx_stream_put(gbx_stream *s, const char *message, size_t len)
{
    s->last++;
    if (s->owner->keeps)
        keep_event(s, message, len);
    if (s->connection == NULL)
        return;
    if (!s->has_begun)
        begin_stream(s, s->last - 1);
    write_event(s, s->last, message, len);
}

/* It has no open requests any more. */
static void finish_stream(gbx_stream *s)
{
    gbx_streams *streams = s->owner;
    gbx_stream *oldest = NULL;
    size_t count = 0;

    part(s);
    if (!streams->keeps) {
        drop_stream(s);
        return;
    }
    /* Finished streams are kept for clients that reconnect, up to a limit. */
    TAILQ_FOREACH_REVERSE(s, &streams->all, gbx_stream_list, entry)
    if (s->open == 0 && s->connection == NULL) {
        oldest = s;
        count++;
    }
    if (count > GBX_STREAMS_KEPT)
        drop_stream(oldest);
}

void gbx_stream_answer(gbx_stream *s, int status, const char *message, size_t len)
{
    bool is_all = --s->open == 0;

    if (is_all && !s->has_begun) {
        gbx_http_connection *c = detach(s);

        if (c != NULL)
            gbx_http_reply(c, status, s->owner->fields, "application/json", message,
                           len);
        drop_stream(s);
        return;
    }
    gbx_stream_put(s, message, len);
    if (is_all)
        finish_stream(s);
}

void gbx_stream_give_up(gbx_stream *s)
{
    if (--s->open == 0)
        finish_stream(s);
}

void gbx_stream_attach(gbx_stream *s, gbx_http_connection *c, uint64_t after)
{
    const gbx_stream_event *event;

    part(s);
    s->connection = c;
    gbx_http_on_gone(c, on_gone, s);
    begin_stream(s, after);
    TAILQ_FOREACH(event, &s->events, entry)
    if (event->number > after)
        write_event(s, event->number, event->text, event->len);
    if (s->open == 0)
        part(s);
}

gbx_stream *gbx_streams_find(gbx_streams *streams, const char *event_id,
                             uint64_t *ret_after)
{
    size_t len = strcspn(event_id, "-");
    const char *rest = event_id + len + (event_id[len] == '-');
    uint64_t number;
    gbx_stream *s;

    if (!gbx_decimal_read(event_id, len, UINT64_MAX, &number) ||
        !gbx_decimal_read(rest, strlen(rest), UINT64_MAX, ret_after))
        return NULL;
    TAILQ_FOREACH(s, &streams->all, entry)
    if (s->number == number && *ret_after <= s->last)
        return s;
    return NULL;
}

void gbx_streams_beat(gbx_streams *streams, int64_t now_ns)
{
    gbx_stream *s;

    TAILQ_FOREACH(s, &streams->all, entry)
    {
        int64_t silent_ns = now_ns - s->since_ns;

        if (s->connection == NULL || silent_ns < (s->has_begun ? BEAT_NS : BEGIN_NS))
            continue;
        if (!s->has_begun)
            begin_stream(s, s->last);
        (void)gbx_http_put(s->connection, ":", NULL, 0);
        s->since_ns = now_ns;
    }
}

bool gbx_streams_is_used(const gbx_streams *streams)
{
    const gbx_stream *s;

    TAILQ_FOREACH(s, &streams->all, entry)
    if (s->connection != NULL)
        return true;
    return false;
}
