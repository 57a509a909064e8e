/* SPDX-License-Identifier: MIT */
/*
 * link_http - the link to a server at an address: messages to it and their order,
 * answers, and the stream of its unasked messages. Every message is a POST, and its
 * answer is a body or a stream; the end of the session is a DELETE. Redirects are not
 * followed, since our headers are only for the configured server.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of answered streams that are still open; servers usually close them. */
#define OPEN_MAX 4

/* Messages without an id: the limits of those under way and of those that wait. */
#define ASIDES_AT_ONCE 4
#define ASIDES_WAITING 64

typedef struct http {
    gbx_link link;
    gbx_link_hooks hooks;
    const gbx_mcp_upstream_config *config;
    gbx_link_secrets secrets; /* removed from what the server says */
    gbx_http_client *web;
    gbx_oauth *oauth;                 /* NULL: no stored token is used */
    gbx_http_exchange_list exchanges; /* requests, and other messages */
    gbx_http_exchange *stream;        /* of the server's unasked messages, or NULL */
    gbx_mcp_timer again;              /* reopens the stream */
    uint32_t again_ms;                /* the pause that the server asks for; 0: none */
    unsigned stream_failures;         /* consecutive failures to open it */
    bool was_stream_tried;
    bool is_stream_due; /* it waits for a token */
    bool is_modern;
    char version[64];  /* of the protocol, agreed upon or to be asked for */
    char *session;     /* NULL: none was given */
    bool is_forgotten; /* the server says that the session does not exist */
    /* The HTTP+SSE transport: messages go where the stream's first event says. */
    bool is_sse;
    char *endpoint;   /* NULL: not known yet; messages wait */
    int64_t first_id; /* of the first message, which may be sent again by it */
    char *refusal;    /* of that message, before the stream was tried; or NULL */
    /* The exchange that the server must accept before anything else is sent, and the
     * messages that wait for it: POSTs may overtake one another. */
    gbx_http_exchange *settling;
    gbx_mcp_timer settle;
    TAILQ_HEAD(, gbx_http_waiting) later;
    unsigned asides; /* messages without an awaited answer that are under way */
    bool has_dropped_asides;
} http;

/* ---- requests ---------------------------------------------------------------- */

/* The headers that every request has. */
static gbx_http_headers common_headers(const http *h)
{
    gbx_http_headers headers = {.lib = &h->web->lib};

    for (size_t i = 0; i < h->config->header_count; i++)
        gbx_http_header_add(&headers, h->config->headers[i].name,
                            h->config->headers[i].value);
    gbx_oauth_add_header(h->oauth, &headers);
    if (h->version[0] != 0)
        gbx_http_header_add(&headers, "MCP-Protocol-Version", h->version);
    if (h->session != NULL)
        gbx_http_header_add(&headers, "Mcp-Session-Id", h->session);
    return headers;
}

static void drop_exchange(gbx_http_exchange *exchange)
{
    LIST_REMOVE(exchange, entry);
    gbx_http_exchange_free(exchange);
}

static const gbx_http_exchange_hooks request_hooks;
static const gbx_http_exchange_hooks stream_hooks;

static bool post(http *h, const gbx_link_message *message)
{
    const char *method = message->method;
    const char *name = message->name;
    gbx_http_headers headers = common_headers(h);
    gbx_http_exchange_options options = {
        .web = h->web,
        .method = GBX_HTTP_POST,
        .url = h->is_sse ? h->endpoint : h->config->url,
        .body = message->text,
        .body_len = message->len,
        .is_call = name != NULL,
        .is_first_try = name != NULL && !message->is_again,
        .is_last_try = name != NULL && (message->is_again || !message->is_repeatable),
        .id = message->id,
        .timeout_ms = message->is_aside ? gbx_timeout_ms(GBX_TIMEOUT_ASIDE) : 0,
        .hooks = &request_hooks,
        .user = h,
    };
    gbx_http_exchange *exchange;
    gbx_http_exchange *next;
    unsigned open = 0;

    gbx_http_header_add(&headers, "Content-Type", "application/json");
    gbx_http_header_add(&headers, "Accept", "application/json, text/event-stream");
    gbx_http_header_add(&headers, "Expect", NULL);
    if (h->is_modern && method != NULL)
        gbx_http_header_add(&headers, "Mcp-Method", method);
    if (h->is_modern && name != NULL && strcmp(method, "completion/complete") != 0)
        gbx_http_header_add_value(&headers, "Mcp-Name", name, strlen(name));
    if (*message->traceparent != '\0')
        gbx_http_header_add(&headers, "traceparent", message->traceparent);
    if (h->is_modern && message->schema.at != NULL)
        gbx_params_add(message->schema, message->args, &headers);
    for (gbx_http_exchange *e = LIST_FIRST(&h->exchanges); e != NULL; e = next) {
        next = LIST_NEXT(e, entry);
        if (e->was_answered && ++open > OPEN_MAX)
            drop_exchange(e);
    }
    options.headers = headers.list;
    exchange = gbx_http_exchange_start(&options);
    if (exchange == NULL)
        return false;
    LIST_INSERT_HEAD(&h->exchanges, exchange, entry);
    h->asides += message->is_aside;
    if (method != NULL && strcmp(method, "notifications/initialized") == 0) {
        h->settling = exchange;
        gbx_mcp_timer_set(&h->settle, gbx_timeout_ms(GBX_TIMEOUT_SETTLE));
    }
    return true;
}

/* GET a stream of events: those after the event of that id, if it is not NULL. NULL: it
 * cannot be sent. */
static gbx_http_exchange *get(http *h, const char *last_id,
                              gbx_http_exchange_options *options)
{
    gbx_http_headers headers = common_headers(h);

    gbx_http_header_add(&headers, "Accept", "text/event-stream");
    if (last_id != NULL)
        gbx_http_header_add(&headers, "Last-Event-ID", last_id);
    options->web = h->web;
    options->method = GBX_HTTP_GET;
    options->url = h->config->url;
    options->headers = headers.list;
    options->user = h;
    return gbx_http_exchange_start(options);
}

/* Open the stream of the server's unasked messages. */
static bool open_stream(http *h)
{
    if (h->is_sse) {
        h->is_modern = false;
        h->version[0] = 0;
    }
    h->is_stream_due = !gbx_oauth_is_ready(h->oauth);
    if (h->is_stream_due)
        return true;
    h->stream = get(h, NULL, &(gbx_http_exchange_options){.hooks = &stream_hooks});
    return h->stream != NULL;
}

/* ---- messages that wait ---------------------------------------------------------
 *
 * None may overtake the message that begins the session, or be sent with a token that
 * is about to expire. Replies and notifications, whose answers are not awaited, are
 * sent a few at a time: a server that never accepts them would hold connections and
 * memory.
 */

/* True if it may be sent now. */
static bool may_go(const http *h, const gbx_link_message *message)
{
    bool is_nowhere = h->is_sse && h->endpoint == NULL;

    return !is_nowhere && h->settling == NULL && gbx_oauth_is_ready(h->oauth) &&
           (!message->is_aside || h->asides < ASIDES_AT_ONCE);
}

/* Queue a message until it may be sent. False: too many wait. */
static bool send_later(http *h, const gbx_link_message *message)
{
    gbx_http_waiting *w;
    unsigned asides = 0;

    TAILQ_FOREACH(w, &h->later, entry)
    asides += w->message.id == 0;
    if (message->id != 0 || asides < ASIDES_WAITING) {
        w = gbx_http_waiting_new(message);
        TAILQ_INSERT_TAIL(&h->later, w, entry);
        return true;
    }
    if (!h->has_dropped_asides)
        h->hooks.log(h->hooks.user,
                     "it is slow to take replies and notifications: those "
                     "that are too many are dropped");
    h->has_dropped_asides = true;
    return false;
}

/* Send all that may go, in order; drop what cannot be sent. */
static void send_waiting(http *h)
{
    gbx_http_waiting *next;

    for (gbx_http_waiting *w = TAILQ_FIRST(&h->later); w != NULL; w = next) {
        next = TAILQ_NEXT(w, entry);
        if (!may_go(h, &w->message))
            continue;
        TAILQ_REMOVE(&h->later, w, entry);
        (void)post(h, &w->message);
        gbx_http_waiting_free(w);
    }
}

/* Drop the message of that id, or all if id is 0. */
static void drop_waiting(http *h, int64_t id)
{
    gbx_http_waiting *next;

    for (gbx_http_waiting *w = TAILQ_FIRST(&h->later); w != NULL; w = next) {
        next = TAILQ_NEXT(w, entry);
        if (id != 0 && w->message.id != id)
            continue;
        TAILQ_REMOVE(&h->later, w, entry);
        gbx_http_waiting_free(w);
    }
}

/* ---- the end of a link ------------------------------------------------------- */

static void free_exchanges(http *h)
{
    while (!LIST_EMPTY(&h->exchanges))
        drop_exchange(LIST_FIRST(&h->exchanges));
    gbx_http_exchange_free(h->stream);
    h->stream = NULL;
}

static void free_http(http *h)
{
    free_exchanges(h);
    gbx_mcp_timer_cleanup(&h->again);
    gbx_mcp_timer_cleanup(&h->settle);
    drop_waiting(h, 0);
    gbx_oauth_free(h->oauth);
    free(h->endpoint);
    free(h->refusal);
    free(h->session);
    free(h);
}

/* ---- in place of an answer -----------------------------------------------------
 *
 * A hook may end the link: touch nothing of it after calling one.
 */

static void unanswered(const http *h, const gbx_http_exchange *exchange,
                       gbx_upstream_fault fault, const char *why, gbx_unanswered how)
{
    h->hooks.unanswered(h->hooks.user, exchange->options.id, fault, why, how);
}

/* Pass on a message of the server, without our tokens. */
static void tell(const http *h, const char *text, size_t len, int64_t about)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {0};

    gbx_oauth_clean(h->oauth, &text, &len, &clean);
    h->hooks.message(h->hooks.user, text, len, about);
}

/* The response is missing or incomplete. */
static void take_break(const http *h, const gbx_http_exchange *exchange,
                       CURLcode result)
{
    bool is_no_http =
        result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY;
    bool is_away;
    char why[400];
    long sent = 0;

    /* Check that nothing was sent, since some of these codes can also mean a bad
     * response. */
    (void)h->web->lib.curl_easy_getinfo(exchange->easy, CURLINFO_REQUEST_SIZE, &sent);
    is_away =
        sent == 0 &&
        (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST ||
         result == CURLE_COULDNT_RESOLVE_PROXY || gbx_http_is_lasting(result));
    (void)snprintf(why, sizeof why, "%s: %s",
                   is_away      ? "it cannot be reached"
                   : is_no_http ? "its answer is not HTTP"
                                : "the connection broke",
                   gbx_http_exchange_error(exchange, result));
    if (exchange->is_too_long)
        unanswered(h, exchange, GBX_UPSTREAM_PROTOCOL,
                   "the answer is longer than 32 MiB", GBX_UNANSWERED);
    else if (is_away) /* on other connections, requests may still be under way */
        unanswered(h, exchange, GBX_UPSTREAM_EXIT, why,
                   gbx_http_is_lasting(result) ? GBX_UNANSWERED_AWAY
                                               : GBX_UNANSWERED_FORGOTTEN);
    else if (is_no_http)
        unanswered(h, exchange, GBX_UPSTREAM_PROTOCOL, why, GBX_UNANSWERED_ODD);
    else
        unanswered(h, exchange, GBX_UPSTREAM_EXIT, why, GBX_UNANSWERED);
}

/* The rest of a stream could not be fetched. */
static void take_no_rest(const http *h, const gbx_http_exchange *exchange,
                         CURLcode result)
{
    char status[64];
    char why[400];

    if (exchange->is_too_long) {
        take_break(h, exchange, result);
        return;
    }
    (void)snprintf(status, sizeof status, "HTTP status %ld%s", exchange->status,
                   exchange->is_stream ? "" : ", and no stream of events");
    (void)snprintf(
        why, sizeof why,
        "the stream ended before the answer, and the rest of it is not to be had: %s",
        result == CURLE_OK ? status : gbx_http_exchange_error(exchange, result));
    unanswered(h, exchange, GBX_UPSTREAM_EXIT, why, GBX_UNANSWERED);
}

/* True if the body is the answer to this request. */
static bool is_about(const gbx_http_exchange *exchange)
{
    return exchange->body.len > 0 &&
           gbx_http_is_answer((const char *)exchange->body.data, exchange->body.len,
                              exchange->options.id);
}

/* True if the server has forgotten our session and has not acted on this request. A 404
 * says so. A 400 without our id says that nothing was read, and restarted servers send
 * it for a forgotten session; but it is believed only once for each call. */
static bool is_forgotten(const http *h, const gbx_http_exchange *exchange)
{
    if (h->session == NULL || h->is_modern)
        return false;
    return exchange->status == 404 ||
           (exchange->status == 400 && exchange->options.is_first_try &&
            !is_about(exchange));
}

/* A 404 that answers the last try of a call may be about the call: it is the answer. */
static void take_forgotten(http *h, const gbx_http_exchange *exchange)
{
    const gbx_link_hooks hooks = h->hooks;
    bool is_told = exchange->options.is_last_try && is_about(exchange);
    const char *text = (const char *)exchange->body.data;
    size_t len = exchange->body.len;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {0};

    gbx_oauth_clean(h->oauth, &text, &len, &clean);
    h->is_forgotten = true;
    hooks.unanswered(hooks.user, is_told ? 0 : exchange->options.id, GBX_UPSTREAM_EXIT,
                     "its session has ended", GBX_UNANSWERED_FORGOTTEN);
    if (is_told)
        hooks.message(hooks.user, text, len, exchange->options.id);
}

/* The response has an error status. */
static void take_refusal(void *user, gbx_http_exchange *exchange)
{
    http *h = user;
    GBX_CLEANUP(gbx_free) char *why = NULL;
    bool needs_sign_in;

    if (is_forgotten(h, exchange)) {
        take_forgotten(h, exchange);
    } else if (gbx_http_is_error(exchange)) {
        tell(h, (const char *)exchange->body.data, exchange->body.len,
             exchange->options.id);
    } else {
        why = gbx_oauth_refusal(h->oauth, h->config, exchange, &h->secrets,
                                &needs_sign_in);
        unanswered(h, exchange, GBX_UPSTREAM_REFUSED, why,
                   needs_sign_in ? GBX_UNANSWERED_SIGN_IN
                                 : gbx_http_meaning(exchange->status));
    }
}

/* ---- the rest of a stream -------------------------------------------------------
 *
 * A legacy server may close the stream of a request before its answer. A GET that names
 * the last received event gets the rest.
 */

/* True: the exchange ended before the answer, and the rest of its stream is being
 * requested. */
static bool resume(http *h, const gbx_http_exchange *ended)
{
    const gbx_sse *sse = &ended->sse;
    uint32_t least_ms = gbx_timeout_ms(GBX_TIMEOUT_RESUME_MIN);
    uint32_t ms =
        sse->retry_ms != 0 ? sse->retry_ms : gbx_timeout_ms(GBX_TIMEOUT_RESUME);
    gbx_http_exchange_options options = {.id = ended->options.id,
                                         .delay_ms = ms > least_ms ? ms : least_ms,
                                         .hooks = &request_hooks};
    bool may_have_rest = ended->options.id != 0 && !ended->was_answered &&
                         !h->is_modern && !h->is_sse && h->version[0] != 0 &&
                         ended->status == 200 && ended->is_stream &&
                         !ended->is_too_long && sse->id[0] != 0 &&
                         h->hooks.awaits(h->hooks.user, ended->options.id);
    gbx_http_exchange *exchange = may_have_rest ? get(h, sse->id, &options) : NULL;

    if (exchange == NULL)
        return false;
    /* These values stay valid until the new stream changes them. */
    memcpy(exchange->sse.id, sse->id, sizeof sse->id);
    memcpy(exchange->sse.next_id, sse->id, sizeof sse->id);
    exchange->sse.retry_ms = sse->retry_ms;
    LIST_INSERT_HEAD(&h->exchanges, exchange, entry);
    return true;
}

/* ---- answers ----------------------------------------------------------------- */

/* Read the session id of the first answer, before its body. False: the id is too long
 * to be sent back; the request was reported as failed. */
static bool note_session(http *h, gbx_http_exchange *exchange)
{
    const char *session = gbx_http_exchange_header(exchange, "mcp-session-id");

    if (h->is_modern || h->session != NULL)
        return true;
    if (strlen(session) > GBX_EXCHANGE_SESSION_MAX) {
        exchange->was_answered = true;
        unanswered(h, exchange, GBX_UPSTREAM_PROTOCOL,
                   "the id of its session is longer than 8 KiB", GBX_UNANSWERED);
        return false;
    }
    if (*session != 0 && session[gbx_visible_len(session)] == 0)
        h->session = gbx_need(strdup(session));
    return true;
}

/* The first message was accepted, or takes too long: send those that wait for it. */
static void end_settling(void *user)
{
    http *h = user;

    gbx_mcp_timer_clear(&h->settle);
    h->settling = NULL;
    send_waiting(h);
}

/* The server has accepted the message; some servers keep the answer open
 * nevertheless. */
static void on_head(void *user, gbx_http_exchange *exchange)
{
    http *h = user;

    if (exchange == h->settling)
        end_settling(h);
}

static void on_event(void *user, gbx_http_exchange *exchange,
                     const gbx_sse_event *event)
{
    http *h = user;

    if (strcmp(event->name, "message") != 0 || event->len == 0 ||
        !note_session(h, exchange))
        return;
    if (exchange->options.id != 0 &&
        gbx_http_is_answer(event->data, event->len, exchange->options.id))
        exchange->was_answered = true;
    tell(h, event->data, event->len, 0);
}

static void take_answer(http *h, gbx_http_exchange *exchange)
{
    GBX_CLEANUP(gbx_free) char *type = NULL;

    if (!note_session(h, exchange) || exchange->options.id == 0 ||
        exchange->was_answered || h->is_sse)
        return;
    type = gbx_http_other_type(exchange, &h->secrets);
    if (type != NULL)
        unanswered(h, exchange, GBX_UPSTREAM_PROTOCOL, type, GBX_UNANSWERED);
    else if (exchange->is_stream)
        unanswered(h, exchange, GBX_UPSTREAM_EXIT, "the stream ended before the answer",
                   GBX_UNANSWERED);
    else if (exchange->body.len > 0)
        tell(h, (const char *)exchange->body.data, exchange->body.len,
             exchange->options.id);
    else
        unanswered(h, exchange, GBX_UPSTREAM_PROTOCOL, "it answers with nothing",
                   GBX_UNANSWERED_SPOKEN);
}

/* The server may use the older HTTP+SSE transport: ask for its stream, and send the
 * refused message once the stream says where to. If this fails, the first refusal is the
 * one that is reported. */
static bool try_transport_before(http *h, const gbx_http_exchange *exchange)
{
    const gbx_link_message first = {.text = (const char *)exchange->sent_body.data,
                                    .len = exchange->options.body_len,
                                    .id = h->first_id,
                                    .method = "initialize"};
    long status = exchange->status;
    gbx_http_waiting *waiting;

    if (h->is_sse || h->is_modern || h->version[0] != 0 || first.id == 0 ||
        exchange->options.id != first.id ||
        (status != 400 && status != 404 && status != 405) ||
        gbx_http_is_error(exchange) || gbx_http_is_of_version(exchange))
        return false;
    free(h->refusal);
    h->refusal = gbx_http_status_text(exchange, &h->secrets);
    h->is_sse = true;
    waiting = gbx_http_waiting_new(&first);
    TAILQ_INSERT_HEAD(&h->later, waiting, entry);
    return open_stream(h);
}

static void take_end(http *h, gbx_http_exchange *exchange, CURLcode result)
{
    long status = exchange->status;

    if (exchange->options.method == GBX_HTTP_GET && !exchange->was_answered)
        take_no_rest(h, exchange, result);
    else if (result == CURLE_OK && status >= 200 && status < 300)
        take_answer(h, exchange);
    else if (result != CURLE_OK && !exchange->was_answered)
        take_break(h, exchange, result);
    else if (!exchange->was_answered && !try_transport_before(h, exchange))
        take_refusal(h, exchange);
}

static void on_done(void *user, gbx_http_exchange *exchange, CURLcode result)
{
    http *h = user;

    LIST_REMOVE(exchange, entry);
    if (exchange == h->settling)
        end_settling(h);
    if (exchange->options.timeout_ms != 0) { /* of all, only these have one */
        h->asides--;
        send_waiting(h);
    }
    if (exchange->options.id != 0 && exchange->status == 401 &&
        gbx_oauth_hold(h->oauth, exchange))
        return;
    if (!resume(h, exchange))
        take_end(h, exchange, result);
    gbx_http_exchange_free(exchange);
}

static const gbx_http_exchange_hooks request_hooks = {on_head, on_event, on_done};

static void on_renewed(void *user)
{
    http *h = user;

    if (h->is_stream_due && h->stream == NULL)
        (void)open_stream(h);
    send_waiting(h);
}

static void on_resent(void *user, gbx_http_exchange *exchange)
{
    http *h = user;

    LIST_INSERT_HEAD(&h->exchanges, exchange, entry);
    h->asides += exchange->options.timeout_ms != 0;
}

/* ---- the stream of unasked messages ----------------------------------------------
 *
 * Legacy servers have one, which a GET opens. With the older HTTP+SSE transport it
 * brings all messages; its first event is the address for POSTs.
 */

static void on_stream_event(void *user, gbx_http_exchange *exchange,
                            const gbx_sse_event *event)
{
    http *h = user;

    /* The link and its stream may be freed in here: do not touch them afterwards. */
    if (h->is_sse && strcmp(event->name, "endpoint") == 0 && h->endpoint == NULL) {
        h->endpoint = gbx_http_resolve(h->web, h->config->url, event->data, event->len);
        if (h->endpoint != NULL) {
            send_waiting(h);
        } else {
            h->hooks.lost(h->hooks.user, "it names an endpoint that is not its own",
                          true);
            free_http(h);
        }
    } else if (strcmp(event->name, "message") == 0 && event->len > 0) {
        tell(h, event->data, event->len, 0);
    }
}

static void lose_stream(http *h, const gbx_http_exchange *stream, CURLcode result)
{
    bool is_refused = result == CURLE_OK && stream->status != 200 &&
                      gbx_http_meaning(stream->status) == GBX_UNANSWERED_LASTING;
    GBX_CLEANUP(gbx_free) char *words = gbx_http_status_text(stream, &h->secrets);
    char why[2048];

    if (result != CURLE_OK)
        (void)snprintf(why, sizeof why, "its stream of events broke: %s",
                       gbx_http_exchange_error(stream, result));
    else if (!gbx_http_is_open(stream))
        (void)snprintf(why, sizeof why, "%s%s%s, and with no stream of events",
                       h->refusal != NULL ? h->refusal : "",
                       h->refusal != NULL ? "; asked for a stream of events, " : "",
                       words);
    else
        (void)snprintf(why, sizeof why, "its stream of events has ended");
    h->hooks.lost(h->hooks.user, why, is_refused || gbx_http_is_lasting(result));
    free_http(h);
}

static void on_stream_head(void *user, gbx_http_exchange *exchange)
{
    http *h = user;

    if (!gbx_http_is_open(exchange))
        return;
    h->stream_failures = 0;
    if (h->was_stream_tried)
        h->hooks.missed(h->hooks.user);
}

static void on_stream_done(void *user, gbx_http_exchange *exchange, CURLcode result)
{
    http *h = user;
    long status = exchange->status;
    /* Statuses of an unreachable or overloaded server do not count. */
    bool has_no_stream = status != 0 && status != 408 && status != 429 &&
                         (status < 500 || status == 501) && !gbx_http_is_open(exchange);
    uint32_t least_ms = gbx_timeout_ms(GBX_TIMEOUT_STREAM_MIN);
    uint32_t most_ms = gbx_timeout_ms(GBX_TIMEOUT_STREAM_MAX);
    uint32_t ms;

    h->stream = NULL;
    if (status == 401 && gbx_oauth_renew(h->oauth)) {
        h->is_stream_due = true;
    } else if (h->is_sse) {
        lose_stream(h, exchange, result);
    } else if (!has_no_stream) {
        if (exchange->sse.retry_ms != 0)
            h->again_ms = exchange->sse.retry_ms;
        ms = h->again_ms != 0 ? h->again_ms : gbx_timeout_ms(GBX_TIMEOUT_STREAM);
        ms = ms > least_ms ? ms : least_ms;
        for (unsigned i = 0; i < h->stream_failures && ms < most_ms; i++)
            ms *= 2;
        gbx_mcp_timer_set(&h->again, ms < most_ms ? ms : most_ms);
        h->stream_failures++; /* until the next one is open */
    }
    gbx_http_exchange_free(exchange);
}

static const gbx_http_exchange_hooks stream_hooks = {on_stream_head, on_stream_event,
                                                     on_stream_done};

static void on_again(void *user)
{
    http *h = user;

    h->was_stream_tried = true;
    if (h->stream == NULL)
        (void)open_stream(h);
}

/* ---- functions of the link --------------------------------------------------- */

static bool send_message(gbx_link *link, const gbx_link_message *message)
{
    http *h = (http *)link;
    bool is_first =
        message->method != NULL && strcmp(message->method, "initialize") == 0;

    /* In the modern era, closing the request's connection cancels it. */
    if (h->is_modern && message->method != NULL &&
        strcmp(message->method, "notifications/cancelled") == 0)
        return true;
    if (is_first) {
        h->is_modern = false;
        h->version[0] = 0;
        h->first_id = message->id;
    }
    return may_go(h, message) ? post(h, message) : send_later(h, message);
}

static void forget(gbx_link *link, int64_t id)
{
    http *h = (http *)link;
    gbx_http_exchange *exchange = LIST_FIRST(&h->exchanges);

    drop_waiting(h, id);
    gbx_oauth_forget(h->oauth, id);
    while (exchange != NULL && exchange->options.id != id)
        exchange = LIST_NEXT(exchange, entry);
    if (exchange != NULL)
        drop_exchange(exchange);
}

static void agree(gbx_link *link, const char *version, bool is_modern)
{
    http *h = (http *)link;

    h->is_modern = is_modern;
    (void)snprintf(h->version, sizeof h->version, "%s", version);
    if (!is_modern && !h->is_sse)
        (void)open_stream(h);
}

static void leave(gbx_link *link, bool is_hopeless)
{
    http *h = (http *)link;

    free_exchanges(h);
    /* End our session at the server: unused ones cost it memory. */
    if (h->session != NULL && !h->is_forgotten && !h->is_modern && !h->is_sse)
        gbx_http_client_say_farewell(&(gbx_http_exchange_options){
            .web = h->web,
            .method = GBX_HTTP_DELETE,
            .url = h->config->url,
            .headers = common_headers(h).list,
            .timeout_ms = gbx_timeout_ms(GBX_TIMEOUT_FAREWELL),
        });
    free_http(h);
}

static const gbx_link_ops ops = {
    .send = send_message,
    .forget = forget,
    .agree = agree,
    .leave = leave,
};

gbx_status gbx_link_http(const gbx_link_options *options, gbx_link **ret,
                         gbx_error *reterr)
{
    gbx_yard *yard = options->yard;
    gbx_status status;
    http *h;

    for (size_t i = 0; i < options->config->header_count; i++) {
        const char *name = options->config->headers[i].name;

        if (!gbx_is_token(name, strlen(name)) ||
            strpbrk(options->config->headers[i].value, "\r\n") != NULL)
            return gbx_fail(reterr, GBX_E_USAGE, "the header '%.64s' cannot be sent",
                            name);
    }
    if (yard->web == NULL) {
        status = gbx_http_client_new(options->loop, &yard->web, reterr);
        if (status != GBX_OK)
            return status;
    }
    h = gbx_need(calloc(1, sizeof *h));
    h->link.ops = &ops;
    h->hooks = options->hooks;
    h->config = options->config;
    h->web = yard->web;
    h->is_modern = true;
    h->is_sse = options->config->transport == GBX_MCP_SSE;
    h->oauth = gbx_oauth_new(&(gbx_oauth_options){.web = h->web,
                                                  .server = h->config,
                                                  .trust = yard->trust,
                                                  .user = h,
                                                  .renewed = on_renewed,
                                                  .resent = on_resent,
                                                  .refused = take_refusal});
    h->secrets = (gbx_link_secrets){yard->secrets, gbx_oauth_hidden(h->oauth)};
    TAILQ_INIT(&h->later);
    (void)snprintf(h->version, sizeof h->version, GBX_MCP_MODERN);
    gbx_mcp_timer_init(&h->again, options->loop, on_again, h);
    gbx_mcp_timer_init(&h->settle, options->loop, end_settling, h);
    if (h->is_sse && !open_stream(h)) {
        free_http(h);
        return gbx_fail(reterr, GBX_E_OS, "its stream of events cannot be opened");
    }
    *ret = &h->link;
    return GBX_OK;
}
