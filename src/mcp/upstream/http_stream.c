/* SPDX-License-Identifier: MIT */
/*
 * http_stream - the stream of a legacy server's unasked messages, opened by GET. With
 * the older HTTP+SSE transport all messages come this way, the first one being the
 * address for POSTs.
 */
#include "mcp/upstream/link_http.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
static char *resolve(const gbx_http *h, const char *text, size_t len)
{
    const gbx_libcurl *lib = &h->web->lib;
    CURLU *base = lib->curl_url();
    CURLU *target = lib->curl_url();
    char *relative = strndup(text, len);
    char *url = NULL;
    char *copy = NULL;

    if (base != NULL && target != NULL && relative != NULL &&
        lib->curl_url_set(base, CURLUPART_URL, h->config->url, 0) == CURLUE_OK &&
        lib->curl_url_set(target, CURLUPART_URL, h->config->url, 0) == CURLUE_OK &&
        lib->curl_url_set(target, CURLUPART_URL, relative, 0) == CURLUE_OK &&
        same_part(lib, base, target, CURLUPART_SCHEME) &&
        same_part(lib, base, target, CURLUPART_HOST) &&
        same_part(lib, base, target, CURLUPART_PORT) &&
        lib->curl_url_get(target, CURLUPART_URL, &url, 0) == CURLUE_OK)
        copy = strdup(url);
    lib->curl_free(url);
    lib->curl_url_cleanup(base);
    lib->curl_url_cleanup(target);
    free(relative);
    return copy;
}

static void take_endpoint(gbx_http *h, const gbx_sse_event *event)
{
    gbx_link_message first;

    if (h->endpoint != NULL)
        return;
    h->endpoint = resolve(h, event->data, event->len);
    if (h->endpoint == NULL) {
        gbx_http_lose(h, "it names an endpoint that is not its own", true);
        return;
    }
    first = (gbx_link_message){.text = (const char *)h->held.data,
                               .len = h->held.len,
                               .id = h->held_id,
                               .method = "initialize"};
    if (h->held.len > 0 && !gbx_http_post(h, &first))
        gbx_http_lose(h, "out of memory", false);
    else
        gbx_http_send_later(h);
}

static void on_event(void *user, gbx_http_exchange *exchange,
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
                      gbx_http_meaning_of(status) == GBX_UNANSWERED_LASTING;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf words = {0};
    char why[2048];

    gbx_buf_init(&words, GBX_KIB(4));
    gbx_http_put_status(h, &stream->response, &words);
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
    gbx_http_lose(h, why, is_refused || gbx_http_is_lasting(result));
}

static bool is_open(const gbx_http_exchange *stream)
{
    return stream->response.status == 200 && stream->response.is_stream;
}

static void on_head(void *user, gbx_http_exchange *exchange)
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
    after = (struct timeval){ms / 1000, (suseconds_t)(ms % 1000) * 1000};
    (void)event_add(h->again, &after);
}

static void on_done(void *user, gbx_http_exchange *exchange, CURLcode result)
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

/* ---- the rest of the link ------------------------------------------------- */

bool gbx_http_open_stream(gbx_http *h)
{
    gbx_http_headers headers = {0};
    gbx_http_exchange_options options = {
        .base = h->web->base,
        .multi = h->web->multi,
        .lib = &h->web->lib,
        .method = GBX_HTTP_GET,
        .url = h->config->url,
        .hooks = {on_head, on_event, on_done},
        .user = h,
    };

    if (h->is_sse) {
        h->is_modern = false;
        h->version[0] = 0;
    }
    gbx_http_common_headers(h, &headers);
    gbx_http_header_add(&headers, "Accept", "text/event-stream");
    if (headers.failed) {
        gbx_http_headers_cleanup(&headers);
        return false;
    }
    options.headers = headers.list;
    h->stream = gbx_http_exchange_start(&options);
    return h->stream != NULL;
}

void gbx_http_stream_again(evutil_socket_t fd, short what, void *arg)
{
    gbx_http *h = arg;

    (void)fd;
    (void)what;
    h->was_stream_tried = true;
    if (h->stream == NULL)
        (void)gbx_http_open_stream(h);
}

bool gbx_http_hold(gbx_http *h, const char *text, size_t len, int64_t id)
{
    gbx_buf_cleanup(&h->held);
    gbx_buf_init(&h->held, GBX_KIB(64));
    h->held_id = id;
    return gbx_buf_append(&h->held, text, len);
}
