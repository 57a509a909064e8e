/* SPDX-License-Identifier: MIT */
/*
 * http_send - what a link over HTTP sends: each message is a POST, a stream is a GET, and
 * the end of the session a DELETE; and the order of messages.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <stdlib.h>
#include <string.h>

/* Limit of answered streams that are still open; servers usually close them. */
#define OPEN_MAX 4

/* Messages without an id: the limits of those under way and of those that wait. */
#define ASIDES_AT_ONCE 4
#define ASIDES_WAITING 64

/* ---- requests ---------------------------------------------------------------- */

/* The headers that every request has. */
static gbx_http_headers common_headers(const gbx_http *h)
{
    gbx_http_headers headers = {.lib = &h->web->lib};

    gbx_http_headers_add_configured(&headers, h->config);
    if (h->version[0] != 0)
        gbx_http_header_add(&headers, "MCP-Protocol-Version", h->version);
    if (h->session != NULL)
        gbx_http_header_add(&headers, "Mcp-Session-Id", h->session);
    return headers;
}

/* Start an exchange with these headers, which it takes. NULL: it cannot be sent. */
static gbx_http_exchange *start(gbx_http *h, const gbx_http_headers *headers,
                                gbx_http_exchange_options *options)
{
    if (headers->is_too_long) {
        gbx_libcurl_wipe(headers->lib, headers->list);
        return NULL;
    }
    options->web = h->web;
    options->headers = headers->list;
    options->user = h;
    return gbx_http_exchange_start(options);
}

static void close_answered(gbx_http *h)
{
    unsigned open = 0;
    gbx_http_exchange *next;

    for (gbx_http_exchange *e = LIST_FIRST(&h->exchanges); e != NULL; e = next) {
        next = LIST_NEXT(e, entry);
        if (e->was_answered && ++open > OPEN_MAX) {
            LIST_REMOVE(e, entry);
            gbx_http_exchange_free(e);
        }
    }
}

static bool same_part(const gbx_libcurl *lib, CURLU *a, CURLU *b, CURLUPart part)
{
    char *one = NULL;
    char *other = NULL;
    bool same = lib->curl_url_get(a, part, &one, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                lib->curl_url_get(b, part, &other, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                strcmp(one, other) == 0;

    lib->curl_free(one);
    lib->curl_free(other);
    return same;
}

/* Resolve the address for messages that the stream names. It must be on the configured
 * server, which alone may see our headers. */
char *gbx_http_resolve(const gbx_http *h, const char *text, size_t len)
{
    const gbx_libcurl *lib = &h->web->lib;
    CURLU *base = gbx_need(lib->curl_url());
    CURLU *target = gbx_need(lib->curl_url());
    char *relative = gbx_need(strndup(text, len));
    char *url = NULL;
    char *copy = NULL;

    if (lib->curl_url_set(base, CURLUPART_URL, h->config->url, 0) == CURLUE_OK &&
        lib->curl_url_set(target, CURLUPART_URL, h->config->url, 0) == CURLUE_OK &&
        lib->curl_url_set(target, CURLUPART_URL, relative, 0) == CURLUE_OK &&
        same_part(lib, base, target, CURLUPART_SCHEME) &&
        same_part(lib, base, target, CURLUPART_HOST) &&
        same_part(lib, base, target, CURLUPART_PORT) &&
        lib->curl_url_get(target, CURLUPART_URL, &url, 0) == CURLUE_OK)
        copy = gbx_need(strdup(url));
    lib->curl_free(url);
    lib->curl_url_cleanup(base);
    lib->curl_url_cleanup(target);
    free(relative);
    return copy;
}

bool gbx_http_post(gbx_http *h, const gbx_link_message *message)
{
    const char *method = message->method;
    const char *name = message->name;
    gbx_http_headers headers = common_headers(h);
    gbx_http_exchange_options options = {
        .method = GBX_HTTP_POST,
        .url = h->is_sse ? h->endpoint : h->config->url,
        .body = message->text,
        .body_len = message->len,
        .is_sent_once = message->name != NULL,
        .is_first_try = message->name != NULL && !message->is_again,
        .is_last_try =
            message->name != NULL && (message->is_again || !message->is_repeatable),
        .id = message->id,
        .timeout_ms = message->id == 0 ? gbx_timeout_ms(GBX_TIMEOUT_ASIDE) : 0,
        .hooks = *h->request_hooks,
    };
    gbx_http_exchange *exchange;

    gbx_http_header_add(&headers, "Content-Type", "application/json");
    gbx_http_header_add(&headers, "Accept", "application/json, text/event-stream");
    gbx_http_header_add(&headers, "Expect", NULL);
    if (h->is_modern && method != NULL)
        gbx_http_header_add(&headers, "Mcp-Method", method);
    if (h->is_modern && name != NULL)
        gbx_http_header_add_value(&headers, "Mcp-Name", name, strlen(name));
    if (h->is_modern && message->schema.at != NULL)
        gbx_params_add(message->schema, message->args, &headers);
    close_answered(h);
    exchange = start(h, &headers, &options);
    if (exchange == NULL)
        return false;
    LIST_INSERT_HEAD(&h->exchanges, exchange, entry);
    h->asides += message->id == 0;
    if (method != NULL && strcmp(method, "notifications/initialized") == 0) {
        struct timeval patience = gbx_timeout_timeval(GBX_TIMEOUT_SETTLE);

        h->settling = exchange;
        (void)event_add(h->settle, &patience);
    }
    return true;
}

bool gbx_http_open_stream(gbx_http *h)
{
    gbx_http_exchange_options options = {
        .method = GBX_HTTP_GET,
        .url = h->config->url,
        .hooks = *h->stream_hooks,
    };
    gbx_http_headers headers;

    if (h->is_sse) {
        h->is_modern = false;
        h->version[0] = 0;
    }
    headers = common_headers(h);
    gbx_http_header_add(&headers, "Accept", "text/event-stream");
    h->stream = start(h, &headers, &options);
    return h->stream != NULL;
}

void gbx_http_say_farewell(const gbx_http *h)
{
    gbx_http_headers headers = common_headers(h);
    gbx_http_exchange_options options = {
        .web = h->web,
        .method = GBX_HTTP_DELETE,
        .url = h->config->url,
        .headers = headers.list,
        .timeout_ms = gbx_timeout_ms(GBX_TIMEOUT_FAREWELL),
    };

    gbx_http_client_say_farewell(&options);
}

/* ---- the rest of a stream -------------------------------------------------------
 *
 * A legacy server may close the stream of a request before its answer. A GET that names
 * the last received event gets the rest.
 */

static uint32_t delay_of(const gbx_sse *sse)
{
    uint32_t least_ms = gbx_timeout_ms(GBX_TIMEOUT_RESUME_MIN);
    uint32_t ms =
        sse->retry_ms != 0 ? sse->retry_ms : gbx_timeout_ms(GBX_TIMEOUT_RESUME);

    return ms > least_ms ? ms : least_ms;
}

static bool may_have_rest(const gbx_http *h, const gbx_http_exchange *ended)
{
    const gbx_http_exchange_response *r = &ended->response;

    return ended->options->id != 0 && !ended->was_answered && !h->is_modern &&
           !h->is_sse && h->version[0] != 0 && r->status == 200 && r->is_stream &&
           !r->is_too_long && r->sse.id[0] != 0 &&
           h->hooks.awaits(h->hooks.user, ended->options->id);
}

bool gbx_http_resume(gbx_http *h, const gbx_http_exchange *ended)
{
    const gbx_sse *sse = &ended->response.sse;
    gbx_http_exchange_options options = {
        .method = GBX_HTTP_GET,
        .url = h->config->url,
        .id = ended->options->id,
        .delay_ms = delay_of(sse),
        .hooks = *h->request_hooks,
    };
    gbx_http_headers headers;
    gbx_http_exchange *exchange;

    if (!may_have_rest(h, ended))
        return false;
    headers = common_headers(h);
    gbx_http_header_add(&headers, "Accept", "text/event-stream");
    gbx_http_header_add(&headers, "Last-Event-ID", sse->id);
    exchange = start(h, &headers, &options);
    if (exchange == NULL)
        return false;
    /* These values stay valid until the new stream changes them. */
    memcpy(exchange->response.sse.id, sse->id, sizeof sse->id);
    memcpy(exchange->response.sse.next_id, sse->id, sizeof sse->id);
    exchange->response.sse.retry_ms = sse->retry_ms;
    LIST_INSERT_HEAD(&h->exchanges, exchange, entry);
    return true;
}

/* ---- messages that wait ---------------------------------------------------------
 *
 * None may overtake the one that begins the session. Replies and notifications, whose
 * answers nobody waits for, are sent a few at a time: with a server that never accepts
 * them, they would hold connections and memory.
 */

static void free_waiting(gbx_http_waiting *w)
{
    gbx_buf_cleanup(&w->text);
    free(w->name);
    free(w);
}

static unsigned count_asides(const gbx_http *h)
{
    unsigned count = 0;

    for (const gbx_http_waiting *w = h->later; w != NULL; w = w->next)
        count += w->message.id == 0;
    return count;
}

static void say_dropped(gbx_http *h)
{
    if (!h->has_dropped_asides)
        h->hooks.log(h->hooks.user,
                     "it is slow to take replies and notifications: those "
                     "that are too many are dropped");
    h->has_dropped_asides = true;
}

/* May it be sent at once? None may overtake the one that begins the session. */
static bool may_go(const gbx_http *h, const gbx_link_message *message)
{
    bool is_nowhere = h->is_sse && h->endpoint == NULL;

    return !is_nowhere && h->settling == NULL &&
           (message->id != 0 || h->asides < ASIDES_AT_ONCE);
}

bool gbx_http_later(gbx_http *h, const gbx_link_message *message)
{
    gbx_http_waiting **at = &h->later;
    gbx_http_waiting *w;

    if (message->id == 0 && count_asides(h) == ASIDES_WAITING) {
        say_dropped(h);
        return false;
    }
    w = gbx_need(calloc(1, sizeof *w));
    w->message = *message;
    w->message.schema = w->message.args =
        (gbx_view){0}; /* a modern server has no such wait */
    w->name = message->name != NULL ? gbx_need(strdup(message->name)) : NULL;
    w->message.name = w->name;
    gbx_buf_init_secret(&w->text, message->len);
    if (!gbx_buf_append(&w->text, message->text, message->len)) {
        free_waiting(w);
        return false;
    }
    w->message.text = (const char *)w->text.data;
    while (*at != NULL)
        at = &(*at)->next;
    *at = w;
    return true;
}

void gbx_http_send_later(gbx_http *h)
{
    gbx_http_waiting **at = &h->later;

    while (*at != NULL) {
        gbx_http_waiting *w = *at;

        if (!may_go(h, &w->message)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        (void)gbx_http_post(h, &w->message);
        free_waiting(w);
    }
}

void gbx_http_drop_later(gbx_http *h, int64_t id)
{
    gbx_http_waiting **at = &h->later;

    while (*at != NULL) {
        gbx_http_waiting *w = *at;

        if (id != 0 && w->message.id != id) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        free_waiting(w);
    }
}

/* ---- functions of the link --------------------------------------------------- */

/* Keep the first message: the transport before needs it once its stream has said where
 * to send it. */
static bool hold(gbx_http *h, const gbx_link_message *message)
{
    gbx_buf_cleanup(&h->held);
    gbx_buf_init(&h->held, GBX_KIB(64));
    h->held_id = message->id;
    return gbx_buf_append(&h->held, message->text, message->len);
}

bool gbx_http_send(gbx_link *link, const gbx_link_message *message)
{
    gbx_http *h = (gbx_http *)link;
    bool is_first =
        message->method != NULL && strcmp(message->method, "initialize") == 0;

    /* In the modern era, closing the request's connection cancels it. */
    if (h->is_modern && message->method != NULL &&
        strcmp(message->method, "notifications/cancelled") == 0)
        return true;
    if (is_first) {
        h->is_modern = false;
        h->version[0] = 0;
    }
    if (h->is_sse && h->endpoint == NULL && message->id != 0)
        return hold(h, message);
    if (!may_go(h, message))
        return gbx_http_later(h, message);
    if (is_first && !hold(h, message))
        return false;
    return gbx_http_post(h, message);
}

void gbx_http_forget(gbx_link *link, int64_t id)
{
    gbx_http *h = (gbx_http *)link;
    gbx_http_exchange *exchange = LIST_FIRST(&h->exchanges);

    gbx_http_drop_later(h, id);
    while (exchange != NULL && exchange->options->id != id)
        exchange = LIST_NEXT(exchange, entry);
    if (exchange == NULL)
        return;
    LIST_REMOVE(exchange, entry);
    gbx_http_exchange_free(exchange);
}
