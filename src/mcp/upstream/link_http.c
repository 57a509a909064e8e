/* SPDX-License-Identifier: MIT */
/*
 * link_http - a server at an address: every message is a POST, and its answer is a
 * body or a stream. Redirects are not followed: our headers go only to the
 * configured server.
 */
#include "mcp/upstream/link_http.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "mcp/rpc/rpc.h"
#include "mcp/upstream/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limit of answered streams that are still open; servers usually close them. */
#define OPEN_MAX 4

static void unlink_exchange(gbx_http *h, const gbx_http_exchange *exchange)
{
    gbx_http_exchange **at = &h->exchanges;

    while (*at != NULL && *at != exchange)
        at = &(*at)->next;
    if (*at != NULL)
        *at = exchange->next;
}

static void free_exchanges(gbx_http *h)
{
    while (h->exchanges != NULL) {
        gbx_http_exchange *exchange = h->exchanges;

        h->exchanges = exchange->next;
        gbx_http_exchange_free(exchange);
    }
    if (h->stream != NULL)
        gbx_http_exchange_free(h->stream);
    h->stream = NULL;
}

static void free_http(gbx_http *h)
{
    free_exchanges(h);
    if (h->again != NULL)
        event_free(h->again);
    if (h->settle != NULL)
        event_free(h->settle);
    gbx_http_drop_later(h, 0);
    gbx_buf_cleanup(&h->held);
    free(h->endpoint);
    free(h->refusal);
    free(h->session);
    free(h);
}

/* ---- answers -------------------------------------------------------------- */

static bool is_visible(const char *text)
{
    for (; *text != 0; text++)
        if (*text <= ' ' || *text > '~')
            return false;
    return true;
}

/* Read the session id of the first answer, before its body. False: the id is too long
 * to be sent back; the request was reported as failed. */
static bool note_session(gbx_http *h, gbx_http_exchange *exchange)
{
    gbx_http_exchange_response *r = &exchange->response;

    if (h->is_modern || h->session != NULL)
        return true;
    if (r->is_session_too_long) {
        exchange->was_answered = true;
        h->hooks.unanswered(h->hooks.user, exchange->id, GBX_UPSTREAM_PROTOCOL,
                            "the id of its session is longer than 8 KiB",
                            GBX_UNANSWERED);
        return false;
    }
    if (r->session != NULL && *r->session != 0 && is_visible(r->session)) {
        h->session = r->session;
        r->session = NULL;
    }
    return true;
}

/* The first message is settled: send those that wait for it. */
static void end_settling(gbx_http *h)
{
    (void)event_del(h->settle);
    h->settling = NULL;
    gbx_http_send_later(h);
}

static void end_aside(gbx_http *h)
{
    h->asides--;
    gbx_http_send_later(h);
}

static void on_settle_timeout(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    end_settling(arg);
}

/* The server has accepted the message; some servers keep the answer open
 * nevertheless. */
static void on_head(void *user, gbx_http_exchange *exchange)
{
    gbx_http *h = user;

    if (exchange == h->settling)
        end_settling(h);
}

/* A hook may end the link: touch nothing of it after calling one. */
static void on_event(void *user, gbx_http_exchange *exchange,
                     const gbx_sse_event *event)
{
    gbx_http *h = user;

    if (strcmp(event->name, "message") != 0 || event->len == 0 ||
        !note_session(h, exchange))
        return;
    if (exchange->id != 0 && gbx_http_is_answer(event->data, event->len, exchange->id))
        exchange->was_answered = true;
    h->hooks.message(h->hooks.user, event->data, event->len, 0);
}

static void take_answer(gbx_http *h, gbx_http_exchange *exchange)
{
    const gbx_link_hooks hooks = h->hooks;
    const gbx_http_exchange_response *r = &exchange->response;

    if (!note_session(h, exchange))
        return;
    if (exchange->id == 0 || exchange->was_answered || h->is_sse)
        return;
    if (gbx_http_is_of_another_type(r))
        gbx_http_take_another_type(h, exchange);
    else if (r->is_stream)
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_EXIT,
                         "the stream ended before the answer", GBX_UNANSWERED);
    else if (r->body.len > 0)
        hooks.message(hooks.user, (const char *)r->body.data, r->body.len,
                      exchange->id);
    else
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_PROTOCOL,
                         "it answers with nothing", GBX_UNANSWERED_SPOKEN);
}

/* The server may use the older HTTP+SSE transport: ask for its stream, and hold the
 * refused message until the stream says where to send it. If this fails, the first
 * refusal is the one that is reported. */
static bool try_transport_before(gbx_http *h, const gbx_http_exchange *exchange)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why = {0};
    long status = exchange->response.status;

    if (h->is_sse || h->is_modern || h->version[0] != 0 || exchange->id == 0 ||
        h->held.len == 0 || (status != 400 && status != 404 && status != 405) ||
        gbx_http_is_error(&exchange->response.body) ||
        gbx_http_is_of_version(&exchange->response.body))
        return false;
    gbx_buf_init(&why, GBX_KIB(4));
    gbx_http_put_status(h, &exchange->response, &why);
    free(h->refusal);
    h->refusal = gbx_buf_take_string(&why, NULL);
    h->is_sse = true;
    return gbx_http_open_stream(h);
}

static void take_end(gbx_http *h, gbx_http_exchange *exchange, CURLcode result)
{
    long status = exchange->response.status;

    if (exchange->method == GBX_HTTP_GET && !exchange->was_answered)
        gbx_http_take_no_rest(h, exchange, result);
    else if (result == CURLE_OK && status >= 200 && status < 300)
        take_answer(h, exchange);
    else if (result != CURLE_OK && !exchange->was_answered)
        gbx_http_take_break(h, exchange, result);
    else if (!exchange->was_answered && !try_transport_before(h, exchange))
        gbx_http_take_refusal(h, exchange);
}

static void on_done(void *user, gbx_http_exchange *exchange, CURLcode result)
{
    gbx_http *h = user;

    unlink_exchange(h, exchange);
    if (exchange == h->settling)
        end_settling(h);
    if (exchange->id == 0)
        end_aside(h);
    if (!gbx_http_resume(h, exchange))
        take_end(h, exchange, result);
    gbx_http_exchange_free(exchange);
}

const gbx_http_exchange_hooks gbx_http_hooks = {on_head, on_event, on_done};

/* ---- messages ------------------------------------------------------------- */

static void close_answered(gbx_http *h)
{
    unsigned open = 0;
    gbx_http_exchange *next;

    for (gbx_http_exchange *e = h->exchanges; e != NULL; e = next) {
        next = e->next;
        if (e->was_answered && ++open > OPEN_MAX) {
            unlink_exchange(h, e);
            gbx_http_exchange_free(e);
        }
    }
}

void gbx_http_common_headers(const gbx_http *h, gbx_http_headers *headers)
{
    headers->lib = &h->web->lib;
    gbx_http_headers_add_configured(headers, h->config);
    if (h->version[0] != 0)
        gbx_http_header_add(headers, "MCP-Protocol-Version", h->version);
    if (h->session != NULL)
        gbx_http_header_add(headers, "Mcp-Session-Id", h->session);
}

bool gbx_http_post(gbx_http *h, const gbx_link_message *message)
{
    const char *method = message->method;
    const char *name = message->name;
    gbx_http_headers headers = {0};
    gbx_http_exchange_options options = {
        .base = h->web->base,
        .multi = h->web->multi,
        .lib = &h->web->lib,
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
        .hooks = gbx_http_hooks,
        .user = h,
    };
    gbx_http_exchange *exchange;

    gbx_http_common_headers(h, &headers);
    gbx_http_header_add(&headers, "Content-Type", "application/json");
    gbx_http_header_add(&headers, "Accept", "application/json, text/event-stream");
    gbx_http_header_add(&headers, "Expect", NULL);
    if (h->is_modern && method != NULL)
        gbx_http_header_add(&headers, "Mcp-Method", method);
    if (h->is_modern && name != NULL)
        gbx_http_header_add_value(&headers, "Mcp-Name", name, strlen(name));
    if (h->is_modern && message->schema.at != NULL)
        gbx_params_add(message->schema, message->args, &headers);
    if (headers.failed) {
        gbx_http_headers_cleanup(&headers);
        return false;
    }
    close_answered(h);
    options.headers = headers.list;
    exchange = gbx_http_exchange_start(&options);
    if (exchange == NULL)
        return false;
    exchange->next = h->exchanges;
    h->exchanges = exchange;
    h->asides += message->id == 0;
    if (method != NULL && strcmp(method, "notifications/initialized") == 0) {
        struct timeval patience = gbx_timeout_timeval(GBX_TIMEOUT_SETTLE);

        h->settling = exchange;
        (void)event_add(h->settle, &patience);
    }
    return true;
}

static bool send_message(gbx_link *link, const gbx_link_message *message)
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
        return gbx_http_hold(h, message->text, message->len, message->id);
    if (!gbx_http_may_go(h, message))
        return gbx_http_later(h, message);
    if (is_first && !gbx_http_hold(h, message->text, message->len, message->id))
        return false;
    return gbx_http_post(h, message);
}

static void forget(gbx_link *link, int64_t id)
{
    gbx_http *h = (gbx_http *)link;
    gbx_http_exchange *exchange = h->exchanges;

    gbx_http_drop_later(h, id);
    while (exchange != NULL && exchange->id != id)
        exchange = exchange->next;
    if (exchange == NULL)
        return;
    unlink_exchange(h, exchange);
    gbx_http_exchange_free(exchange);
}

static void agree(gbx_link *link, const char *version, bool is_modern)
{
    gbx_http *h = (gbx_http *)link;

    h->is_modern = is_modern;
    (void)snprintf(h->version, sizeof h->version, "%s", version);
    gbx_buf_cleanup(&h->held);
    if (!is_modern && !h->is_sse)
        (void)gbx_http_open_stream(h);
}

/* End our session at the server: unused ones cost it memory. */
static void say_farewell(gbx_http *h)
{
    gbx_http_headers headers = {0};
    gbx_http_exchange_options options = {
        .base = h->web->base,
        .multi = h->web->multi,
        .lib = &h->web->lib,
        .method = GBX_HTTP_DELETE,
        .url = h->config->url,
        .timeout_ms = gbx_timeout_ms(GBX_TIMEOUT_FAREWELL),
    };

    gbx_http_common_headers(h, &headers);
    options.headers = headers.list;
    if (headers.failed)
        gbx_http_headers_cleanup(&headers);
    else
        gbx_http_client_say_farewell(h->web, &options);
}

static void leave(gbx_link *link, bool is_hopeless)
{
    gbx_http *h = (gbx_http *)link;

    (void)is_hopeless;
    free_exchanges(h);
    if (h->session != NULL && !h->is_forgotten && !h->is_modern && !h->is_sse)
        say_farewell(h);
    free_http(h);
}

void gbx_http_lose(gbx_http *h, const char *why, bool is_lasting)
{
    h->hooks.lost(h->hooks.user, why, is_lasting);
    free_http(h);
}

static void add_words(const gbx_link *link, char *text, size_t size)
{
    (void)link;
    (void)text;
    (void)size;
}

static const char *containment(const gbx_link *link)
{
    (void)link;
    return "";
}

static const gbx_link_ops ops = {
    .send = send_message,
    .forget = forget,
    .agree = agree,
    .leave = leave,
    .add_words = add_words,
    .containment = containment,
    .has_headers = true,
};

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_link_http(const gbx_link_options *options, gbx_link **ret,
                         gbx_error *reterr)
{
    gbx_yard *yard = options->yard;
    struct event_base *base = gbx_mcp_loop_base(options->loop);
    const char *name;
    gbx_status status;
    gbx_http *h;

    if (!gbx_http_headers_check(options->config, &name))
        return gbx_fail(reterr, GBX_E_USAGE, "the header '%.64s' cannot be sent", name);
    if (yard->web == NULL) {
        status = gbx_http_client_new(base, &yard->web, reterr);
        if (status != GBX_OK)
            return status;
    }
    h = calloc(1, sizeof *h);
    if (h == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "out of memory");
    h->link.ops = &ops;
    h->hooks = options->hooks;
    h->config = options->config;
    h->secrets = yard->secrets;
    h->web = yard->web;
    h->is_modern = true;
    h->is_sse = options->config->transport == GBX_MCP_SSE;
    (void)snprintf(h->version, sizeof h->version, "2026-07-28");
    h->again = evtimer_new(base, gbx_http_stream_again, h);
    h->settle = evtimer_new(base, on_settle_timeout, h);
    if (h->again == NULL || h->settle == NULL ||
        (h->is_sse && !gbx_http_open_stream(h))) {
        free_http(h);
        return gbx_fail(reterr, GBX_E_NOMEM, "out of memory");
    }
    *ret = &h->link;
    return GBX_OK;
}
