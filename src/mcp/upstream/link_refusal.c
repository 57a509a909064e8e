/* SPDX-License-Identifier: MIT */
/* link_refusal - what comes in place of an answer, and what it says of the request. */
#include "mcp/rpc/message.h"
#include "mcp/upstream/ids.h"
#include "mcp/upstream/link_http.h"

#include <stdio.h>

static bool is_unreachable(CURLcode result)
{
    return result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST ||
           result == CURLE_COULDNT_RESOLVE_PROXY ||
           result == CURLE_PEER_FAILED_VERIFICATION ||
           result == CURLE_SSL_CONNECT_ERROR || result == CURLE_URL_MALFORMAT ||
           result == CURLE_UNSUPPORTED_PROTOCOL;
}

/* It is there, but does not answer this; with some statuses it might, to somebody else or
 * a little later. */
static bool is_spoken(long status)
{
    return status >= 400 && status < 500 && status != 401 && status != 403 &&
           status != 407 && status != 408 && status != 429;
}

/* Does it not know our session any more, and has done nothing for this request? By 404 it
 * says so. By 400 without our id it says that it has read nothing, and servers that were
 * started anew mean the same by it; but it is believed only once of each call. */
static bool is_forgotten(const gbx_http *h, const gbx_exchange *exchange)
{
    const gbx_buf *body = &exchange->response.body;
    long status = exchange->response.status;

    if (h->session == NULL || h->is_modern)
        return false;
    return status == 404 ||
           (status == 400 && exchange->is_first_try &&
            (body->len == 0 ||
             !gbx_http_is_answer((const char *)body->data, body->len, exchange->id)));
}

/* ---- the rest of the link ------------------------------------------------- */

bool gbx_http_is_answer(const char *text, size_t len, int64_t id)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    int64_t theirs = 0;

    return gbx_rpc_read(text, len, &message, &fault) &&
           (message.kind == GBX_RPC_RESULT || message.kind == GBX_RPC_ERROR) &&
           gbx_id_read(message.id, &theirs) && theirs == id;
}

bool gbx_http_is_error(const gbx_buf *body)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    return body->len > 0 &&
           gbx_rpc_read((const char *)body->data, body->len, &message, &fault) &&
           message.kind == GBX_RPC_ERROR;
}

void gbx_http_take_break(gbx_http *h, const gbx_exchange *exchange, CURLcode result)
{
    const gbx_link_hooks hooks = h->hooks;
    char why[400];

    if (exchange->response.is_too_long) {
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_PROTOCOL,
                         "the answer is longer than 32 MiB", false);
        return;
    }
    (void)snprintf(why, sizeof why, "%s: %s",
                   is_unreachable(result) ? "it cannot be reached"
                                          : "the connection broke",
                   gbx_exchange_error(exchange, result));
    /* Nothing of it was sent. Others may be under way on other connections. */
    if (is_unreachable(result))
        hooks.forgotten(hooks.user, exchange->id, why);
    else
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_EXIT, why, false);
}

void gbx_http_take_refusal(gbx_http *h, const gbx_exchange *exchange)
{
    const gbx_link_hooks hooks = h->hooks;
    const gbx_buf *body = &exchange->response.body;
    long status = exchange->response.status;
    char why[128];

    if (is_forgotten(h, exchange)) {
        h->is_forgotten = true;
        hooks.forgotten(hooks.user, exchange->id, "its session has ended");
    } else if (gbx_http_is_error(body)) {
        hooks.message(hooks.user, (const char *)body->data, body->len, exchange->id);
    } else {
        (void)snprintf(why, sizeof why, "it answers with HTTP status %ld", status);
        hooks.unanswered(hooks.user, exchange->id, GBX_UPSTREAM_REFUSED, why,
                         is_spoken(status));
    }
}
