/* SPDX-License-Identifier: MIT */
/*
 * http_session - passes each message of a child to the connection that it belongs to.
 *
 * In 2026-07-28 one child serves many clients. A message that cannot be attributed to
 * one of their requests is dropped, so that it never reaches another client.
 */
#include "mcp/http/http.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of open requests; the child has the same. */
#define PENDING_MAX 1024
/* Limit of messages in one batch; the child has the same. */
#define BATCH_MAX 100

/* Maximum length of a message with replaced ids. */
#define MESSAGE_MAX GBX_MIB(66)

/* ---- pending requests -------------------------------------------------------------- */

static char *copy_view(gbx_view view)
{
    return view.at != NULL ? memcpy(gbx_need(malloc(view.len)), view.at, view.len)
                           : NULL;
}

static gbx_http_pending *add_pending(gbx_http_session *s, gbx_stream *stream,
                                     gbx_view id, gbx_view token)
{
    gbx_http_pending *p = gbx_need(calloc(1, sizeof *p));

    p->stream = stream;
    p->number = ++s->last_number;
    p->id = copy_view(id);
    p->id_len = id.len;
    p->token = copy_view(token);
    p->token_len = token.len;
    LIST_INSERT_HEAD(&s->pending, p, entry);
    s->pending_count++;
    return p;
}

static void drop_pending(gbx_http_session *s, gbx_http_pending *p)
{
    LIST_REMOVE(p, entry);
    s->pending_count--;
    free(p->id);
    free(p->token);
    free(p);
}

/* Find a request by the name in the child: our number, or the client's id or token. */
static gbx_http_pending *find_pending(const gbx_http_session *s, gbx_view name,
                                      bool is_token)
{
    gbx_http_pending *p;
    int64_t number = 0;

    if (!gbx_rpc_is_id(name) || (s->is_modern && !gbx_rpc_integer(name, &number)))
        return NULL;
    LIST_FOREACH(p, &s->pending, entry)
    {
        gbx_view own = is_token ? (gbx_view){p->token, p->token_len}
                                : (gbx_view){p->id, p->id_len};

        if (s->is_modern ? p->number == number
                         : own.at != NULL && gbx_rpc_same_id(own, name))
            return p;
    }
    return NULL;
}

/* The connection of a request of 2026-07-28 was closed: this cancels the request. */
static void on_stream_gone(void *user, gbx_stream *stream)
{
    gbx_http_session *s = user;
    gbx_http_pending *p;
    gbx_buf line = {.ceiling = GBX_KIB(1)};

    LIST_FOREACH(p, &s->pending, entry)
    if (p->stream == stream)
        break;
    if (p == NULL)
        return;
    gbx_rpc_begin_notification(&line, "notifications/cancelled");
    gbx_json_put_integer(&line, "requestId", p->number);
    (void)gbx_buf_puts(&line, "}}");
    (void)gbx_child_send(s->child, line.data, line.len);
    gbx_buf_cleanup(&line);
    drop_pending(s, p);
}

static void fail_one(gbx_http_session *s, gbx_http_pending *p, int status,
                     const char *why)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = MESSAGE_MAX};
    gbx_stream *stream = p->stream;

    gbx_rpc_append_error(&text, (gbx_view){p->id, p->id_len}, GBX_RPC_INTERNAL_ERROR,
                         why, NULL);
    drop_pending(s, p);
    if (stream != NULL && text.len > 0) /* without its newline */
        gbx_stream_answer(stream, status, (const char *)text.data, text.len - 1);
}

/* ---- ids in a message ---------------------------------------------------------------- */

/* Is a made after b? */
static bool is_later(const gbx_message_cut *a, const gbx_message_cut *b)
{
    return a->old.at > b->old.at || (a->old.at == b->old.at && a > b);
}

/* The first cut after the last one and not in its text, or NULL. */
static const gbx_message_cut *next_cut(const gbx_message_cut *last,
                                       const gbx_message_cut *cuts, size_t count)
{
    const gbx_message_cut *next = NULL;

    for (size_t i = 0; i < count; i++)
        if (cuts[i].old.at != NULL &&
            (last == NULL || (is_later(&cuts[i], last) &&
                              cuts[i].old.at >= last->old.at + last->old.len)) &&
            (next == NULL || is_later(next, &cuts[i])))
            next = &cuts[i];
    return next;
}

bool gbx_message_splice(gbx_buf *to, const char *text, size_t len,
                        const gbx_message_cut *cuts, size_t count)
{
    const gbx_message_cut *cut = NULL;
    const char *at = text;

    while ((cut = next_cut(cut, cuts, count)) != NULL) {
        (void)gbx_buf_append(to, at, (size_t)(cut->old.at - at));
        (void)gbx_buf_append(to, cut->fresh.at, cut->fresh.len);
        at = cut->old.at + cut->old.len;
    }
    return gbx_buf_append(to, at, (size_t)(text + len - at));
}

/* The ids in a message of a child; no value where it has none. */
typedef struct message_refs {
    gbx_view id;      /* of an answer */
    gbx_view token;   /* of progress */
    gbx_view request; /* in _meta: the request of a subscription or log message */
} message_refs;

static void read_refs(const gbx_rpc_message *message, message_refs *ret)
{
    bool is_answer = message->kind == GBX_RPC_RESULT || message->kind == GBX_RPC_ERROR;
    gbx_view meta = gbx_view_member(message->payload, "_meta");

    *ret = (message_refs){0};
    if (is_answer)
        ret->id = message->id;
    if (message->kind == GBX_RPC_NOTIFICATION &&
        strcmp(message->method, "notifications/progress") == 0)
        ret->token = gbx_view_member(message->payload, "progressToken");
    if (gbx_view_kind(meta) == '{')
        ret->request = gbx_view_member(meta, GBX_MCP_META_PREFIX "subscriptionId");
    if (gbx_view_kind(meta) == '{' && ret->request.at == NULL)
        ret->request = gbx_view_member(meta, GBX_MCP_LOG_META);
}

/* ---- from the child ------------------------------------------------------------------ */

/* Note the version that the answer to initialize agrees on. False: it has none. */
static bool note_version(gbx_http_session *s, const gbx_rpc_message *message)
{
    char version[16] = "";

    if (!gbx_rpc_copy_text(gbx_view_member(message->payload, "protocolVersion"),
                           version, sizeof version))
        return false;
    s->takes_batches = strcmp(version, "2025-03-26") == 0;
    s->streams.primes = strcmp(version, "2025-11-25") >= 0;
    return true;
}

/* Append the line with the client's own ids. */
static bool restore(const gbx_http_session *s, const gbx_http_pending *p, gbx_buf *to,
                    gbx_span line, const message_refs *refs)
{
    gbx_view id = {p->id, p->id_len};
    gbx_message_cut cuts[] = {{refs->id, id},
                              {refs->token, {p->token, p->token_len}},
                              {refs->request, id}};

    if (!s->is_modern)
        return gbx_buf_append(to, line.data, line.len);
    /* A tool may use that name in its own _meta. */
    if (find_pending(s, refs->request, false) != p)
        cuts[2].old = (gbx_view){0};
    return gbx_message_splice(to, (const char *)line.data, line.len, cuts,
                              GBX_COUNTOF(cuts));
}

static void take_answer(gbx_http_session *s, const gbx_rpc_message *message,
                        gbx_span line, const message_refs *refs)
{
    gbx_http_pending *p = find_pending(s, refs->id, false);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = MESSAGE_MAX};
    int code =
        message->kind == GBX_RPC_ERROR ? gbx_rpc_error_code(message->payload) : 0;
    int status = 200;
    gbx_stream *stream;

    if (p == NULL) /* it was cancelled */
        return;
    if (s->is_modern && code == GBX_RPC_METHOD_NOT_FOUND)
        status = 404;
    else if (s->is_modern && code <= -32020 && code >= -32022)
        status = 400;
    stream = p->stream;
    if (p->is_initialize) /* a client that has left does not know the session's id */
        s->is_refused = !note_version(s, message) ||
                        (stream->connection == NULL && !stream->has_begun);
    if (s->is_refused)
        s->streams.fields = NULL;
    if (!restore(s, p, &text, line, refs))
        text.len = 0;
    drop_pending(s, p);
    if (stream == NULL)
        s->ready(s->user);
    else
        gbx_stream_answer(stream, status, (const char *)text.data, text.len);
    if (s->is_refused)
        s->ended(s->user, s);
}

/* Pass on a message that is not an answer. In 2026-07-28 it must name a request. */
static void take_notice(gbx_http_session *s, gbx_span line, const message_refs *refs)
{
    bool is_token = refs->token.at != NULL;
    gbx_view name = is_token ? refs->token : refs->request;
    const gbx_http_pending *p = find_pending(s, name, is_token);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = MESSAGE_MAX};
    gbx_stream *stream = s->own;

    if (p != NULL)
        stream = restore(s, p, &text, line, refs) ? p->stream : NULL;
    else if (s->is_modern || is_token || !gbx_buf_append(&text, line.data, line.len))
        return;
    else if (s->own->connection == NULL && gbx_streams_newest(&s->streams) != NULL)
        stream = gbx_streams_newest(&s->streams);
    if (stream != NULL)
        gbx_stream_put(stream, (const char *)text.data, text.len);
}

static void on_line(void *user, const char *line, size_t len)
{
    gbx_http_session *s = user;
    gbx_span text = {(const uint8_t *)line, len};
    gbx_rpc_message message;
    message_refs refs;
    gbx_rpc_fault fault;

    if (!gbx_rpc_read(line, len, &message, &fault))
        return;
    read_refs(&message, &refs);
    if (message.kind == GBX_RPC_RESULT || message.kind == GBX_RPC_ERROR)
        take_answer(s, &message, text, &refs);
    else if (message.kind == GBX_RPC_NOTIFICATION || !s->is_modern)
        take_notice(s, text, &refs);
}

static void on_ended(void *user)
{
    gbx_http_session *s = user;

    s->streams.fields = NULL;
    while (!LIST_EMPTY(&s->pending))
        fail_one(s, LIST_FIRST(&s->pending), 502,
                 "the process that served this request has ended");
    s->ended(s->user, s);
}

/* ---- from the client ----------------------------------------------------------------- */

/* Send a request to the child; in 2026-07-28 with our number as its id and token. */
static bool send_request(gbx_http_session *s, const gbx_http_pending *p,
                         const gbx_rpc_message *message, gbx_view text, gbx_view token)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {.ceiling = MESSAGE_MAX};
    char digits[24];
    gbx_view number = {digits, 0};
    gbx_message_cut cuts[] = {{message->id, number}, {token, number}};

    if (!s->is_modern)
        return gbx_child_send(s->child, text.at, text.len);
    number.len = (size_t)snprintf(digits, sizeof digits, "%" PRId64, p->number);
    cuts[0].fresh = cuts[1].fresh = number;
    return gbx_message_splice(&line, text.at, text.len, cuts, GBX_COUNTOF(cuts)) &&
           gbx_child_send(s->child, line.data, line.len);
}

/* Why a request cannot be taken, or NULL. */
static const char *find_trouble(const gbx_http_session *s,
                                const gbx_rpc_message *message)
{
    if (s->pending_count >= PENDING_MAX)
        return "too many requests are in flight";
    if (message->id.len > GBX_HTTP_ID_MAX)
        return "the id has more than 1024 bytes";
    if (!s->is_modern && find_pending(s, message->id, false) != NULL)
        return "a request with this id is in flight";
    return NULL;
}

static void take_request(gbx_http_session *s, gbx_stream *stream,
                         const gbx_rpc_message *message, gbx_view text)
{
    gbx_view meta = gbx_view_member(message->payload, "_meta");
    gbx_view token = gbx_view_member(meta, "progressToken");
    gbx_http_pending *p;

    if (!gbx_rpc_is_id(token) || token.len > GBX_RPC_ID_MAX)
        token = (gbx_view){0}; /* the server ignores it, too */
    stream->open++;
    p = add_pending(s, stream, message->id, token);
    p->is_initialize = !s->is_modern && strcmp(message->method, "initialize") == 0;
    if (send_request(s, p, message, text, token))
        return;
    fail_one(s, p, 503, "the server does not read");
}

/* Pass on a notification or an answer. In 2026-07-28 clients send neither: to cancel,
 * they close the connection. */
static void pass_on(gbx_http_session *s, const gbx_rpc_message *message, gbx_view text)
{
    gbx_view id = gbx_view_member(message->payload, "requestId");
    gbx_http_pending *p;
    gbx_stream *stream;

    if (s->is_modern)
        return;
    (void)gbx_child_send(s->child, text.at, text.len);
    if (strcmp(message->method, "notifications/cancelled") != 0 ||
        (p = find_pending(s, id, false)) == NULL)
        return;
    stream = p->stream; /* the child does not answer any more */
    drop_pending(s, p);
    gbx_stream_give_up(stream);
}

/* False for initialize, and for requests of another era. */
static bool may_be_in_batch(const gbx_rpc_message *message)
{
    gbx_view meta = gbx_view_member(message->payload, "_meta");

    return strcmp(message->method, "initialize") != 0 &&
           gbx_view_member(meta, GBX_MCP_META_PREFIX "protocolVersion").at == NULL;
}

static void post_batch(gbx_http_session *s, gbx_http_connection *c, gbx_view batch)
{
    gbx_stream *stream = NULL;
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(batch, &cursor, &name, &value))
        if (!gbx_rpc_read_view(value, &message, &fault) ||
            message.kind == GBX_RPC_BATCH || find_trouble(s, &message) != NULL ||
            (message.kind == GBX_RPC_REQUEST && !may_be_in_batch(&message))) {
            gbx_http_reply_error(c, 400, NULL, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                                 "a message of the batch is not valid");
            return;
        }
    for (cursor = 0; gbx_view_next(batch, &cursor, &name, &value);) {
        (void)gbx_rpc_read_view(value, &message, &fault);
        if (message.kind != GBX_RPC_REQUEST) {
            pass_on(s, &message, value);
            continue;
        }
        if (find_trouble(s, &message) != NULL) /* the batch has this id twice */
            continue;
        if (stream == NULL) {
            stream = gbx_stream_new(&s->streams, c);
            stream->open = 1; /* until all are sent */
        }
        take_request(s, stream, &message, value);
    }
    if (stream == NULL)
        gbx_http_reply(c, 202, NULL, NULL, NULL, 0);
    else
        gbx_stream_give_up(stream); /* undo `open = 1` */
}

void gbx_http_session_post(gbx_http_session *s, gbx_http_connection *c,
                           const char *text, size_t len)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {.ceiling = GBX_HTTP_BODY_MAX};
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    bool is_request;
    const char *trouble;
    gbx_view body;

    s->used_ns = gbx_clock_now_ns();
    if (!gbx_json_append_line(&line, text, len) ||
        !gbx_rpc_read((const char *)line.data, line.len, &message, &fault)) {
        gbx_http_reply(c, 503, NULL, NULL, NULL, 0);
        return;
    }
    body = (gbx_view){(const char *)line.data, line.len};
    is_request = message.kind == GBX_RPC_REQUEST;
    trouble = is_request ? find_trouble(s, &message) : NULL;
    if (trouble != NULL) {
        gbx_http_reply_error(c, s->pending_count >= PENDING_MAX ? 503 : 400, NULL,
                             message.id, GBX_RPC_INVALID_REQUEST, trouble);
    } else if (is_request) {
        take_request(s, gbx_stream_new(&s->streams, c), &message, body);
    } else if (message.kind == GBX_RPC_BATCH &&
               gbx_view_count(message.payload) <= BATCH_MAX && s->takes_batches) {
        post_batch(s, c, message.payload);
    } else if (message.kind == GBX_RPC_BATCH) {
        gbx_http_reply_error(c, 400, NULL, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                             "a body has one message; batches, of at most 100, are of "
                             "2025-03-26 alone");
    } else {
        pass_on(s, &message, body);
        gbx_http_reply(c, 202, NULL, NULL, NULL, 0);
    }
}

void gbx_http_session_listen(gbx_http_session *s, gbx_http_connection *c,
                             const char *last_event_id)
{
    uint64_t after = s->own->sent;
    gbx_stream *stream = s->own;

    s->used_ns = gbx_clock_now_ns();
    if (last_event_id != NULL)
        stream = gbx_streams_find(&s->streams, last_event_id, &after);
    if (stream != NULL)
        gbx_stream_attach(stream, c, after);
    else
        gbx_http_reply_error(c, 400, NULL, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                             "Last-Event-ID is not of a stream of this session");
}

void gbx_http_session_probe(gbx_http_session *s)
{
    static const char format[] =
        "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64 ",\"method\":\"server/discover\","
        "\"params\":{\"_meta\":{\"" GBX_MCP_META_PREFIX
        "protocolVersion\":\"" GBX_MCP_MODERN "\",\"" GBX_MCP_META_PREFIX
        "clientCapabilities\":{}}}}";
    const gbx_http_pending *p = add_pending(s, NULL, (gbx_view){0}, (gbx_view){0});
    char line[sizeof format + 32];
    int len = snprintf(line, sizeof line, format, p->number);

    (void)gbx_child_send(s->child, line, (size_t)len);
}

/* ---- life ------------------------------------------------------------------------------ */

gbx_http_session *gbx_http_session_new(gbx_child_set *children,
                                       const gbx_http_caller *caller, bool is_modern)
{
    gbx_http_session *s = gbx_need(calloc(1, sizeof *s));
    gbx_child_hooks hooks = {.user = s, .line = on_line, .ended = on_ended};

    TAILQ_INIT(&s->streams.all);
    s->streams.user = s;
    s->streams.gone = is_modern ? on_stream_gone : NULL;
    s->streams.keeps = !is_modern;
    s->is_modern = is_modern;
    s->caller = *caller;
    s->used_ns = gbx_clock_now_ns();
    s->child = gbx_child_new(children, caller, &hooks);
    if (s->child == NULL) {
        free(s);
        return NULL;
    }
    if (!is_modern) {
        gbx_hex_random(s->id, sizeof s->id);
        (void)snprintf(s->fields, sizeof s->fields, "Mcp-Session-Id: %s\r\n", s->id);
        s->streams.fields = s->fields;
        s->own = gbx_stream_new(&s->streams, NULL);
        s->own->open = 1; /* it never ends by itself */
    }
    return s;
}

void gbx_http_session_free(gbx_http_session *s)
{
    if (s == NULL)
        return;
    while (!LIST_EMPTY(&s->pending))
        fail_one(s, LIST_FIRST(&s->pending), 503, "the session has ended");
    gbx_streams_cleanup(&s->streams);
    gbx_child_free(s->child);
    free(s);
}
