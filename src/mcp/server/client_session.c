/* SPDX-License-Identifier: MIT */
/* client_session - lines of a client, before they become requests. */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Only this version has JSON-RPC batches. */
#define BATCH_VERSION "2025-03-26"
#define BATCH_MAX     100

#define SHOWN_NAME_MAX 256

static void take_view(gbx_mcp_session *session, gbx_view value)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (!gbx_rpc_read_view(value, &message, &fault)) {
        if (fault.is_answerable)
            gbx_mcp_session_refuse(session, fault.id, fault.code, fault.message, NULL);
        return;
    }
    gbx_mcp_dispatch(session, &message, value.at, value.len);
}

/* Each request is answered separately when it is done: a slow one delays no other. */
static void take_batch(gbx_mcp_session *session, gbx_view batch)
{
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(batch, &cursor, &name, &value)) {
        if (++count > BATCH_MAX) {
            gbx_mcp_session_refuse(session, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                                   "a batch has at most 100 messages", NULL);
            return;
        }
        take_view(session, value);
    }
    if (count == 0)
        gbx_mcp_session_refuse(session, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                               "the batch is empty", NULL);
}

/* The newest request of the session that the client waits for, or NULL. */
static gbx_mcp_request *first_request(const gbx_mcp_session *session)
{
    for (gbx_mcp_request *r = session->server->requests; r != NULL; r = r->next)
        if (r->session == session && !r->is_cancelled)
            return r;
    return NULL;
}

/* ---- public to other modules -------------------------------------------- */

gbx_mcp_session *gbx_mcp_session_new(gbx_mcp_server *server,
                                     const gbx_mcp_session_hooks *hooks)
{
    gbx_mcp_session *session = calloc(1, sizeof *session);

    if (session == NULL)
        return NULL;
    session->server = server;
    session->hooks = *hooks;
    session->era.log_level = -1;
    session->next = server->sessions;
    server->sessions = session;
    return session;
}

void gbx_mcp_session_take(gbx_mcp_session *session, const char *line, size_t len)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (session->is_ended)
        return;
    if (!gbx_rpc_read(line, len, &message, &fault)) {
        if (fault.is_answerable)
            gbx_mcp_session_refuse(session, fault.id, fault.code, fault.message, NULL);
    } else if (message.kind == GBX_RPC_BATCH &&
               strcmp(session->version, BATCH_VERSION) == 0) {
        take_batch(session, message.payload);
    } else {
        gbx_mcp_dispatch(session, &message, line, len);
    }
}

void gbx_mcp_session_take_too_long(gbx_mcp_session *session)
{
    gbx_mcp_session_refuse(session, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                           "a message has at most 16 MiB", NULL);
}

size_t gbx_mcp_session_in_flight(const gbx_mcp_session *session)
{
    return session->request_count;
}

void gbx_mcp_session_name_oldest(const gbx_mcp_session *session, gbx_buf *to)
{
    const gbx_mcp_request *oldest = NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf name;

    gbx_buf_init(&name, SHOWN_NAME_MAX);
    for (const gbx_mcp_request *r = session->server->requests; r != NULL; r = r->next)
        if (r->session == session && r->id_len > 0)
            oldest = r;
    if (oldest == NULL)
        return;
    (void)gbx_buf_puts(to, oldest->method->name);
    if (!gbx_view_take_text(gbx_view_member(oldest->params, "name"), &name))
        return;
    (void)gbx_buf_puts(to, " ");
    (void)gbx_utf8_append_escaped(to, name.data, name.len, GBX_ESCAPE_LINE);
}

size_t gbx_mcp_server_unfinished(const gbx_mcp_server *server)
{
    size_t count = 0;

    for (const gbx_mcp_request *r = server->requests; r != NULL; r = r->next)
        count += !r->is_finished;
    return count;
}

void gbx_mcp_session_end(gbx_mcp_session *session)
{
    gbx_mcp_request *request;

    if (session->is_ended)
        return;
    gbx_mcp_listens_free(session, true);
    session->is_ended = true;
    while ((request = first_request(session)) != NULL)
        gbx_mcp_request_cancel(request);
}

void gbx_mcp_session_free(gbx_mcp_session *session)
{
    gbx_mcp_session **at;

    if (session == NULL)
        return;
    gbx_mcp_session_end(session);
    for (gbx_mcp_request *r = session->server->requests; r != NULL; r = r->next)
        if (r->session == session)
            r->session = NULL;
    for (at = &session->server->sessions; *at != session; at = &(*at)->next)
        continue;
    *at = session->next;
    gbx_mcp_uris_free(session->uris, session->uri_count);
    free(session);
}
