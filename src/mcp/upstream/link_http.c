/* SPDX-License-Identifier: MIT */
/*
 * link_http - a server at an address: what its responses mean, and the stream of its
 * unasked messages. Every message is a POST, and its answer is a body or a stream.
 * Redirects are not followed: our headers go only to the configured server.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "base/utf8.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a server's text about a refusal. Secrets are removed before it is cut. */
#define WORDS_MAX     200
#define LOOKED_AT_MAX GBX_KIB(64)
#define WHY_MAX       GBX_KIB(4)

/* ---- what a response says ---------------------------------------------------- */

bool gbx_http_is_answer(const char *text, size_t len, int64_t id)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    int64_t theirs = 0;

    return gbx_rpc_read(text, len, &message, &fault) &&
           (message.kind == GBX_RPC_RESULT || message.kind == GBX_RPC_ERROR) &&
           gbx_id_read(message.id, &theirs) && theirs == id;
}

static bool is_error(const gbx_buf *body)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    return body->len > 0 &&
           gbx_rpc_read((const char *)body->data, body->len, &message, &fault) &&
           message.kind == GBX_RPC_ERROR;
}

/* Does its body speak of a protocol version? Those are dates: 2025-03-26. Only its
 * beginning is searched. */
static bool is_of_version(const gbx_buf *body)
{
    static const char date[] = "*20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]*";
    size_t len = body->len < LOOKED_AT_MAX ? body->len : LOOKED_AT_MAX;
    GBX_CLEANUP(gbx_free)
    char *text = gbx_need(len > 0 ? strndup((char *)body->data, len) : strdup(""));

    return strcasestr(text, "protocol version") != NULL ||
           strcasestr(text, "protocol-version") != NULL ||
           strcasestr(text, "protocolversion") != NULL ||
           (strcasestr(text, "version") != NULL && fnmatch(date, text, 0) == 0);
}

/* The connection fails, or does not speak HTTP, until a person fixes the address or the
 * certificate. */
static bool is_lasting(CURLcode result)
{
    return result == CURLE_PEER_FAILED_VERIFICATION ||
           result == CURLE_SSL_CONNECT_ERROR || result == CURLE_URL_MALFORMAT ||
           result == CURLE_UNSUPPORTED_PROTOCOL;
}

/* What an error status says of the request. 401 and the like say nothing about the era:
 * with other credentials the answer may differ. */
static gbx_unanswered meaning_of(long status)
{
    if (status == 429 || status == 408)
        return GBX_UNANSWERED_LATER;
    if (status < 400 || status == 401 || status == 403 || status == 407)
        return GBX_UNANSWERED_LASTING;
    if (status < 500)
        return GBX_UNANSWERED_SPOKEN;
    /* From a gateway: the server behind it may have begun. */
    return status >= 502 && status <= 504 ? GBX_UNANSWERED_PASSING : GBX_UNANSWERED;
}

/* Append the server's text as one line, as much of it as fits. */
static void put_words(const gbx_http *h, const char *text, size_t len, gbx_buf *to)
{
    char words[WORDS_MAX + 1];
    char *copy = gbx_need(strndup(text, len < LOOKED_AT_MAX ? len : LOOKED_AT_MAX));

    for (char *c = copy; *c != 0; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    gbx_redact_copy(h->secrets, copy, words, sizeof words);
    free(copy);
    (void)gbx_utf8_append_escaped(to, words, strlen(words), GBX_ESCAPE_LINE);
}

static bool has_words(const gbx_http_exchange_response *r)
{
    return r->body.len > 0 && r->encoding[0] == 0 &&
           ((r->content_type[0] == 0 && r->body.data[0] != '<') ||
            strcmp(r->content_type, "text/plain") == 0 ||
            strstr(r->content_type, "json") != NULL);
}

/* Append the status and the server's text for people; ends in NUL, unless it failed. A
 * page of HTML is not the server's own text. */
static void put_status(const gbx_http *h, const gbx_http_exchange_response *r,
                       gbx_buf *to)
{
    (void)gbx_buf_printf(to, "it answers with HTTP status %ld", r->status);
    if (r->status >= 300 && r->status < 400 && r->location[0] != 0) {
        (void)gbx_buf_puts(to, ", to '");
        put_words(h, r->location, strlen(r->location), to);
        (void)gbx_buf_puts(to, "': redirects are not followed");
    } else if (has_words(r)) {
        (void)gbx_buf_puts(to, ": ");
        put_words(h, (const char *)r->body.data, r->body.len, to);
    }
    (void)gbx_buf_append(to, "", 1);
}

/* ---- the end of a link ------------------------------------------------------- */

static void free_exchanges(gbx_http *h)
{
    gbx_http_exchange *exchange;

    while ((exchange = LIST_FIRST(&h->exchanges)) != NULL) {
        LIST_REMOVE(exchange, entry);
        gbx_http_exchange_free(exchange);
    }
    if (h->stream != NULL)
        gbx_http_exchange_free(h->stream);
    h->stream = NULL;
}

static void free_http(gbx_http *h)
{
    free_exchanges(h);
    event_free(h->again);
    event_free(h->settle);
    gbx_http_drop_later(h, 0);
    gbx_buf_cleanup(&h->held);
    free(h->endpoint);
    free(h->refusal);
    free(h->session);
    free(h);
}

/* End the link from inside. */
static void lose(gbx_http *h, const char *why, bool is_lasting)
{
    h->hooks.lost(h->hooks.user, why, is_lasting);
    free_http(h);
}

/* ---- in place of an answer --------------------------------------------------- */

/* Nothing was sent. That must be checked, since some of these codes can also mean a
 * bad response. */
static bool is_unreachable(const gbx_http_exchange *exchange, CURLcode result)
{
    return !gbx_http_exchange_was_sent(exchange) &&
           (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST ||
            result == CURLE_COULDNT_RESOLVE_PROXY || is_lasting(result));
}

static bool is_no_http(CURLcode result)
{
    return result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY;
}

/* The response is missing or incomplete. */
static void take_break(gbx_http *h, const gbx_http_exchange *exchange, CURLcode result)
{
    const gbx_link_hooks hooks = h->hooks;
    char why[400];
    bool is_away;

    if (exchange->response.is_too_long) {
        hooks.unanswered(hooks.user, exchange->options->id, GBX_UPSTREAM_PROTOCOL,
                         "the answer is longer than 32 MiB", GBX_UNANSWERED);
        return;
    }
    is_away = is_unreachable(exchange, result);
    (void)snprintf(why, sizeof why, "%s: %s",
                   is_away              ? "it cannot be reached"
                   : is_no_http(result) ? "its answer is not HTTP"
                                        : "the connection broke",
                   gbx_http_exchange_error(exchange, result));
    /* On other connections, requests may still be under way. */
    if (is_away)
        hooks.forgotten(hooks.user, exchange->options->id, why, is_lasting(result));
    else if (is_no_http(result))
        hooks.unanswered(hooks.user, exchange->options->id, GBX_UPSTREAM_PROTOCOL, why,
                         GBX_UNANSWERED_ODD);
    else
        hooks.unanswered(hooks.user, exchange->options->id, GBX_UPSTREAM_EXIT, why,
                         GBX_UNANSWERED);
}

/* The rest of a stream could not be had. */
static void take_no_rest(gbx_http *h, const gbx_http_exchange *exchange,
                         CURLcode result)
{
    char status[64];
    char why[400];

    if (exchange->response.is_too_long) {
        take_break(h, exchange, result);
        return;
    }
    (void)snprintf(status, sizeof status, "HTTP status %ld%s",
                   exchange->response.status,
                   exchange->response.is_stream ? "" : ", and no stream of events");
    (void)snprintf(
        why, sizeof why,
        "the stream ended before the answer, and the rest of it is not to be had: %s",
        result == CURLE_OK ? status : gbx_http_exchange_error(exchange, result));
    h->hooks.unanswered(h->hooks.user, exchange->options->id, GBX_UPSTREAM_EXIT, why,
                        GBX_UNANSWERED);
}

/* Its body is not JSON, and the headers either do not claim that it is, or name an
 * encoding that was not asked for. */
static bool is_of_another_type(const gbx_http_exchange_response *response)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (response->encoding[0] != 0)
        return true;
    return !response->is_stream && response->body.len > 0 &&
           strstr(response->content_type, "json") == NULL &&
           !gbx_rpc_read((const char *)response->body.data, response->body.len,
                         &message, &fault);
}

static void take_another_type(gbx_http *h, const gbx_http_exchange *exchange)
{
    const gbx_http_exchange_response *r = &exchange->response;
    const gbx_link_hooks hooks = h->hooks;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why = {0};

    gbx_buf_init(&why, WHY_MAX);
    (void)gbx_buf_puts(&why, "it answers with ");
    if (r->content_type[0] != 0)
        put_words(h, r->content_type, strlen(r->content_type), &why);
    else
        (void)gbx_buf_puts(&why, "a body of no type");
    if (r->encoding[0] != 0) {
        (void)gbx_buf_puts(&why, " that is coded as '");
        put_words(h, r->encoding, strlen(r->encoding), &why);
        (void)gbx_buf_puts(&why, "', which was not asked for");
    } else {
        (void)gbx_buf_puts(&why, ", not with JSON");
    }
    (void)gbx_buf_append(&why, "", 1);
    hooks.unanswered(hooks.user, exchange->options->id, GBX_UPSTREAM_PROTOCOL,
                     why.failed ? "it answers with no JSON" : (const char *)why.data,
                     GBX_UNANSWERED);
}

/* Does the body answer this very request? */
static bool is_about(const gbx_http_exchange *exchange)
{
    const gbx_buf *body = &exchange->response.body;

    return body->len > 0 && gbx_http_is_answer((const char *)body->data, body->len,
                                               exchange->options->id);
}

/* Does the server not know our session any more, without having acted on this request?
 * A 404 says so. A 400 without our id says that nothing was read, and restarted servers
 * use it in the same way; but it is believed only once for each call. */
static bool is_forgotten(const gbx_http *h, const gbx_http_exchange *exchange)
{
    long status = exchange->response.status;

    if (h->session == NULL || h->is_modern)
        return false;
    return status == 404 ||
           (status == 400 && exchange->options->is_first_try && !is_about(exchange));
}

/* The response has an error status. */
static void take_refusal(gbx_http *h, const gbx_http_exchange *exchange)
{
    const gbx_link_hooks hooks = h->hooks;
    const gbx_buf *body = &exchange->response.body;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why = {0};
    long status = exchange->response.status;

    if (is_forgotten(h, exchange)) {
        /* If the 404 is about what the call asks for, it is the call's answer. */
        bool is_told = exchange->options->is_last_try && is_about(exchange);

        h->is_forgotten = true;
        hooks.forgotten(hooks.user, is_told ? 0 : exchange->options->id,
                        "its session has ended", false);
        if (is_told)
            hooks.message(hooks.user, (const char *)body->data, body->len,
                          exchange->options->id);
        return;
    }
    if (is_error(body)) {
        hooks.message(hooks.user, (const char *)body->data, body->len,
                      exchange->options->id);
    } else {
        gbx_buf_init(&why, WHY_MAX);
        put_status(h, &exchange->response, &why);
        hooks.unanswered(hooks.user, exchange->options->id, GBX_UPSTREAM_REFUSED,
                         why.failed ? "it refuses this" : (const char *)why.data,
                         meaning_of(status));
    }
}

/* ---- answers ----------------------------------------------------------------- */

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
        h->hooks.unanswered(h->hooks.user, exchange->options->id, GBX_UPSTREAM_PROTOCOL,
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
    if (exchange->options->id != 0 &&
        gbx_http_is_answer(event->data, event->len, exchange->options->id))
        exchange->was_answered = true;
    h->hooks.message(h->hooks.user, event->data, event->len, 0);
}

static void take_answer(gbx_http *h, gbx_http_exchange *exchange)
{
    const gbx_link_hooks hooks = h->hooks;
    const gbx_http_exchange_response *r = &exchange->response;

    if (!note_session(h, exchange))
        return;
    if (exchange->options->id == 0 || exchange->was_answered || h->is_sse)
        return;
    if (is_of_another_type(r))
        take_another_type(h, exchange);
    else if (r->is_stream)
        hooks.unanswered(hooks.user, exchange->options->id, GBX_UPSTREAM_EXIT,
                         "the stream ended before the answer", GBX_UNANSWERED);
    else if (r->body.len > 0)
        hooks.message(hooks.user, (const char *)r->body.data, r->body.len,
                      exchange->options->id);
    else
        hooks.unanswered(hooks.user, exchange->options->id, GBX_UPSTREAM_PROTOCOL,
                         "it answers with nothing", GBX_UNANSWERED_SPOKEN);
}

/* The server may use the older HTTP+SSE transport: ask for its stream, and hold the
 * refused message until the stream says where to send it. If this fails, the first
 * refusal is the one that is reported. */
static bool try_transport_before(gbx_http *h, const gbx_http_exchange *exchange)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why = {0};
    long status = exchange->response.status;

    if (h->is_sse || h->is_modern || h->version[0] != 0 || exchange->options->id == 0 ||
        h->held.len == 0 || (status != 400 && status != 404 && status != 405) ||
        is_error(&exchange->response.body) || is_of_version(&exchange->response.body))
        return false;
    gbx_buf_init(&why, GBX_KIB(4));
    put_status(h, &exchange->response, &why);
    free(h->refusal);
    h->refusal = gbx_buf_take_string(&why, NULL);
    h->is_sse = true;
    return gbx_http_open_stream(h);
}

static void take_end(gbx_http *h, gbx_http_exchange *exchange, CURLcode result)
{
    long status = exchange->response.status;

    if (exchange->options->method == GBX_HTTP_GET && !exchange->was_answered)
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
    gbx_http *h = user;

    LIST_REMOVE(exchange, entry);
    if (exchange == h->settling)
        end_settling(h);
    if (exchange->options->id == 0) {
        h->asides--;
        gbx_http_send_later(h);
    }
    if (!gbx_http_resume(h, exchange))
        take_end(h, exchange, result);
    gbx_http_exchange_free(exchange);
}

static const gbx_http_exchange_hooks request_hooks = {on_head, on_event, on_done};

/* ---- the stream of unasked messages ----------------------------------------------
 *
 * It is a legacy server's, opened by GET. With the older HTTP+SSE transport all messages
 * come this way, the first one being the address for POSTs.
 */

static void take_endpoint(gbx_http *h, const gbx_sse_event *event)
{
    gbx_link_message first;

    if (h->endpoint != NULL)
        return;
    h->endpoint = gbx_http_resolve(h, event->data, event->len);
    if (h->endpoint == NULL) {
        lose(h, "it names an endpoint that is not its own", true);
        return;
    }
    first = (gbx_link_message){.text = (const char *)h->held.data,
                               .len = h->held.len,
                               .id = h->held_id,
                               .method = "initialize"};
    if (h->held.len > 0 && !gbx_http_post(h, &first))
        lose(h, "out of memory", false);
    else
        gbx_http_send_later(h);
}

static void on_stream_event(void *user, gbx_http_exchange *exchange,
                            const gbx_sse_event *event)
{
    gbx_http *h = user;

    /* The link and its stream may be freed in here: do not touch them afterwards. */
    (void)exchange;
    if (h->is_sse && strcmp(event->name, "endpoint") == 0)
        take_endpoint(h, event);
    else if (strcmp(event->name, "message") == 0 && event->len > 0)
        h->hooks.message(h->hooks.user, event->data, event->len, 0);
}

static void lose_stream(gbx_http *h, const gbx_http_exchange *stream, CURLcode result)
{
    long status = stream->response.status;
    bool is_refused = result == CURLE_OK && status != 200 &&
                      meaning_of(status) == GBX_UNANSWERED_LASTING;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf words = {0};
    char why[2048];

    gbx_buf_init(&words, GBX_KIB(4));
    put_status(h, &stream->response, &words);
    if (result != CURLE_OK)
        (void)snprintf(why, sizeof why, "its stream of events broke: %s",
                       gbx_http_exchange_error(stream, result));
    else if (status != 200 || !stream->response.is_stream)
        (void)snprintf(why, sizeof why, "%s%s%s, and with no stream of events",
                       h->refusal != NULL ? h->refusal : "",
                       h->refusal != NULL ? "; asked for a stream of events, " : "",
                       words.failed ? "it refuses" : (const char *)words.data);
    else
        (void)snprintf(why, sizeof why, "its stream of events has ended");
    lose(h, why, is_refused || is_lasting(result));
}

static bool is_open(const gbx_http_exchange *stream)
{
    return stream->response.status == 200 && stream->response.is_stream;
}

static void on_stream_head(void *user, gbx_http_exchange *exchange)
{
    gbx_http *h = user;

    if (!is_open(exchange))
        return;
    h->stream_failures = 0;
    if (h->was_stream_tried)
        h->hooks.missed(h->hooks.user);
}

/* A server without such a stream says so by its status, and is not asked again. Being
 * unreachable or overloaded does not count. */
static bool has_none(const gbx_http_exchange *stream)
{
    long status = stream->response.status;

    return status != 0 && status != 408 && status != 429 &&
           (status < 500 || status == 501) && !is_open(stream);
}

static void open_later(gbx_http *h)
{
    uint32_t least_ms = gbx_timeout_ms(GBX_TIMEOUT_STREAM_MIN);
    uint32_t most_ms = gbx_timeout_ms(GBX_TIMEOUT_STREAM_MAX);
    uint32_t ms = h->again_ms != 0 ? h->again_ms : gbx_timeout_ms(GBX_TIMEOUT_STREAM);
    struct timeval after;

    ms = ms > least_ms ? ms : least_ms;
    for (unsigned i = 0; i < h->stream_failures && ms < most_ms; i++)
        ms *= 2;
    ms = ms < most_ms ? ms : most_ms;
    after = gbx_clock_timeval(ms);
    (void)event_add(h->again, &after);
}

static void on_stream_done(void *user, gbx_http_exchange *exchange, CURLcode result)
{
    gbx_http *h = user;

    h->stream = NULL;
    if (h->is_sse) {
        lose_stream(h, exchange, result);
    } else if (!has_none(exchange)) {
        if (exchange->response.sse.retry_ms != 0)
            h->again_ms = exchange->response.sse.retry_ms;
        open_later(h);
        h->stream_failures++; /* until the next one is open */
    }
    gbx_http_exchange_free(exchange);
}

static const gbx_http_exchange_hooks stream_hooks = {on_stream_head, on_stream_event,
                                                     on_stream_done};

static void on_again(evutil_socket_t fd, short what, void *arg)
{
    gbx_http *h = arg;

    (void)fd;
    (void)what;
    h->was_stream_tried = true;
    if (h->stream == NULL)
        (void)gbx_http_open_stream(h);
}

/* ---- functions of the link --------------------------------------------------- */

static void agree(gbx_link *link, const char *version, bool is_modern)
{
    gbx_http *h = (gbx_http *)link;

    h->is_modern = is_modern;
    (void)snprintf(h->version, sizeof h->version, "%s", version);
    gbx_buf_cleanup(&h->held);
    if (!is_modern && !h->is_sse)
        (void)gbx_http_open_stream(h);
}

static void leave(gbx_link *link, bool is_hopeless)
{
    gbx_http *h = (gbx_http *)link;

    (void)is_hopeless;
    free_exchanges(h);
    if (h->session != NULL && !h->is_forgotten && !h->is_modern && !h->is_sse)
        gbx_http_say_farewell(h);
    free_http(h);
}

static const gbx_link_ops ops = {
    .send = gbx_http_send,
    .forget = gbx_http_forget,
    .agree = agree,
    .leave = leave,
    .has_headers = true,
};

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
    h = gbx_need(calloc(1, sizeof *h));
    h->link.ops = &ops;
    h->hooks = options->hooks;
    h->config = options->config;
    h->secrets = yard->secrets;
    h->web = yard->web;
    h->request_hooks = &request_hooks;
    h->stream_hooks = &stream_hooks;
    h->is_modern = true;
    h->is_sse = options->config->transport == GBX_MCP_SSE;
    (void)snprintf(h->version, sizeof h->version, "2026-07-28");
    h->again = gbx_need(evtimer_new(base, on_again, h));
    h->settle = gbx_need(evtimer_new(base, on_settle_timeout, h));
    if (h->is_sse && !gbx_http_open_stream(h)) {
        free_http(h);
        return gbx_fail(reterr, GBX_E_OS, "its stream of events cannot be opened");
    }
    *ret = &h->link;
    return GBX_OK;
}
