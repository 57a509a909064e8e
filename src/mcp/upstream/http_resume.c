/* SPDX-License-Identifier: MIT */
/*
 * http_resume - a legacy server may close the stream of a request before its answer. A
 * GET that names the last received event gets the rest.
 */
#include "mcp/upstream/link_http.h"

#include "base/timeouts.h"

#include <stdio.h>
#include <string.h>

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

    return ended->id != 0 && !ended->was_answered && !h->is_modern && !h->is_sse &&
           h->version[0] != 0 && r->status == 200 && r->is_stream && !r->is_too_long &&
           r->sse.id[0] != 0 && h->hooks.awaits(h->hooks.user, ended->id);
}

/* ---- the rest of the link ------------------------------------------------- */

bool gbx_http_resume(gbx_http *h, const gbx_http_exchange *ended)
{
    const gbx_sse *sse = &ended->response.sse;
    gbx_http_headers headers = {0};
    gbx_http_exchange_options options = {
        .base = h->web->base,
        .multi = h->web->multi,
        .lib = &h->web->lib,
        .method = GBX_HTTP_GET,
        .url = h->config->url,
        .id = ended->id,
        .delay_ms = delay_of(sse),
        .hooks = gbx_http_hooks,
        .user = h,
    };
    gbx_http_exchange *exchange;

    if (!may_have_rest(h, ended))
        return false;
    gbx_http_common_headers(h, &headers);
    gbx_http_header_add(&headers, "Accept", "text/event-stream");
    gbx_http_header_add(&headers, "Last-Event-ID", sse->id);
    if (headers.failed) {
        gbx_http_headers_cleanup(&headers);
        return false;
    }
    options.headers = headers.list;
    exchange = gbx_http_exchange_start(&options);
    if (exchange == NULL)
        return false;
    /* These values stay valid until the new stream changes them. */
    memcpy(exchange->response.sse.id, sse->id, sizeof sse->id);
    memcpy(exchange->response.sse.next_id, sse->id, sizeof sse->id);
    exchange->response.sse.retry_ms = sse->retry_ms;
    exchange->next = h->exchanges;
    h->exchanges = exchange;
    return true;
}

void gbx_http_take_no_rest(gbx_http *h, const gbx_http_exchange *exchange,
                           CURLcode result)
{
    char status[64];
    char why[400];

    if (exchange->response.is_too_long) {
        gbx_http_take_break(h, exchange, result);
        return;
    }
    (void)snprintf(status, sizeof status, "HTTP status %ld%s",
                   exchange->response.status,
                   exchange->response.is_stream ? "" : ", and no stream of events");
    (void)snprintf(
        why, sizeof why,
        "the stream ended before the answer, and the rest of it is not to be had: %s",
        result == CURLE_OK ? status : gbx_http_exchange_error(exchange, result));
    h->hooks.unanswered(h->hooks.user, exchange->id, GBX_UPSTREAM_EXIT, why,
                        GBX_UNANSWERED);
}
