/* SPDX-License-Identifier: MIT */
/* client_request - a request's life, from its message to the end of its handler. Every
 * handler ends its request once; if no client waits any more, nothing is sent. */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* Limit of progress and logs: a burst, then as much as a person can read. */
#define RATE_BURST      100
#define RATE_PER_SECOND 50

static gbx_view meta_of(const gbx_mcp_request *request)
{
    return gbx_view_member(request->params, "_meta");
}

static void free_id(gbx_mcp_request *request)
{
    if (request->id != request->short_id)
        free(request->id);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_mcp_rate_has(gbx_mcp_rate *rate)
{
    int64_t now = gbx_clock_now_ns();

    if (rate->at_ns == 0)
        rate->left = RATE_BURST;
    else
        rate->left += (double)(now - rate->at_ns) / 1e9 * RATE_PER_SECOND;
    rate->at_ns = now;
    if (rate->left > RATE_BURST)
        rate->left = RATE_BURST;
    return rate->left >= 1;
}

bool gbx_mcp_rate_take(gbx_mcp_rate *rate)
{
    if (!gbx_mcp_rate_has(rate))
        return false;
    rate->left -= 1;
    return true;
}

gbx_mcp_request *gbx_mcp_request_new(gbx_mcp_session *session, const char *text,
                                     size_t len)
{
    gbx_mcp_server *server = session->server;
    gbx_mcp_request *request = calloc(1, sizeof *request);

    if (request == NULL)
        return NULL;
    request->text = malloc(len + 1);
    if (request->text == NULL) {
        free(request);
        return NULL;
    }
    memcpy(request->text, text, len);
    request->text[len] = '\0';
    request->text_len = len;
    request->server = server;
    request->session = session;
    request->era.log_level = -1;
    session->request_bytes += len;
    gbx_buf_init(&request->outcome, GBX_MCP_MESSAGE_MAX);
    request->next = server->requests;
    if (request->next != NULL)
        request->next->prev = request;
    server->requests = request;
    return request;
}

void gbx_mcp_request_free(gbx_mcp_request *request)
{
    gbx_mcp_server *server = request->server;

    gbx_mcp_request_unbind(request);
    gbx_mcp_asks_free(request);
    if (request->session != NULL && !request->is_parked)
        request->session->request_bytes -= request->text_len;
    if (request->prev != NULL)
        request->prev->next = request->next;
    else
        server->requests = request->next;
    if (request->next != NULL)
        request->next->prev = request->prev;
    gbx_buf_cleanup(&request->outcome);
    free(request->text);
    free_id(request);
    free(request);
}

void gbx_mcp_request_bind(gbx_mcp_request *request, gbx_view id, gbx_view meta)
{
    gbx_view token = gbx_view_member(meta, "progressToken");
    char *copy = id.len > sizeof request->short_id ? malloc(id.len) : request->short_id;

    if (copy == NULL) { /* it could never be answered */
        request->session->hooks.give_up(request->session->hooks.user);
        return;
    }
    if (request->id_len == 0)
        request->session->request_count++;
    free_id(request);
    request->id = memcpy(copy, id.at, id.len);
    request->id_len = id.len;
    request->token_len = 0;
    request->progress = GBX_MCP_NO_PROGRESS;
    request->bound_ns = request->said_ns = gbx_clock_now_ns();
    if (!gbx_rpc_is_id(token) || token.len > GBX_RPC_ID_MAX)
        return;
    memcpy(request->token, token.at, token.len);
    request->token_len = token.len;
}

void gbx_mcp_request_unbind(gbx_mcp_request *request)
{
    gbx_mcp_session *session = request->session;

    if (request->id_len == 0)
        return;
    request->id_len = 0;
    request->token_len = 0;
    if (session == NULL)
        return;
    session->request_count--;
    if (session->request_count == 0 && session->hooks.idle != NULL)
        session->hooks.idle(session->hooks.user);
}

gbx_mcp_request *gbx_mcp_request_find(gbx_mcp_session *session, gbx_view id)
{
    for (gbx_mcp_request *r = session->server->requests; r != NULL; r = r->next)
        if (r->session == session && r->id_len > 0 &&
            gbx_rpc_same_id((gbx_view){r->id, r->id_len}, id))
            return r;
    return NULL;
}

void gbx_mcp_request_cancel(gbx_mcp_request *request)
{
    if (request->is_cancelled)
        return;
    request->is_cancelled = true;
    gbx_mcp_request_unbind(request);
    if (request->is_held || request->is_finished) {
        gbx_mcp_request_free(request); /* no handler knows it */
        return;
    }
    gbx_mcp_asks_end(request, GBX_MCP_ANSWER_ENDED);
    request->is_cancel_due = request->cancel != NULL;
    gbx_mcp_settle_soon(request->server);
}

void gbx_mcp_request_settle(gbx_mcp_server *server)
{
    gbx_mcp_request *r = server->requests;

    while (r != NULL) {
        void (*cancel)(void *user) = r->cancel;

        if (!r->is_cancel_due || cancel == NULL) {
            r = r->next;
            continue;
        }
        r->is_cancel_due = false;
        r->cancel = NULL;
        cancel(r->cancel_user);
        r = server->requests; /* the function may have ended any request */
    }
}

void gbx_mcp_on_cancel(gbx_mcp_request *request, void (*fn)(void *user), void *user)
{
    request->cancel = fn;
    request->cancel_user = user;
    request->is_cancel_due = request->is_cancelled && fn != NULL;
    if (request->is_cancel_due)
        gbx_mcp_settle_soon(request->server);
}

bool gbx_mcp_cancelled(const gbx_mcp_request *request)
{
    return request->is_cancelled;
}

gbx_view gbx_mcp_request_meta(const gbx_mcp_request *request, const char *name)
{
    return gbx_view_member(meta_of(request), name);
}

const char *gbx_mcp_request_version(const gbx_mcp_request *request)
{
    return request->era.is_modern || request->session == NULL
               ? GBX_MCP_MODERN
               : request->session->version;
}

bool gbx_mcp_takes_links(const gbx_mcp_request *request)
{
    return strcmp(gbx_mcp_request_version(request), GBX_MCP_LINKS_SINCE) >= 0;
}

bool gbx_mcp_can_ask(const gbx_mcp_request *request)
{
    return request->session != NULL && !request->is_cancelled && request->era.can_ask &&
           request->method->is_stateful;
}
