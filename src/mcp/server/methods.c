/* SPDX-License-Identifier: MIT */
/*
 * methods - all methods of a client, the era of each, and which of them wait while the
 * server is held. A method that is not in the table does not exist.
 */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

static bool always(const gbx_mcp_request *request)
{
    (void)request;
    return true;
}

static void no_prompt(gbx_mcp_request *request)
{
    gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "this server has no prompts");
}

static const gbx_mcp_method methods[] = {
    {.name = "initialize", .in_legacy = true, .run = gbx_mcp_on_initialize},
    {.name = "ping", .in_legacy = true, .run = gbx_mcp_reply_empty},
    {.name = "server/discover", .in_modern = true, .run = gbx_mcp_on_discover},
    {.name = "tools/list",
     .in_legacy = true,
     .in_modern = true,
     .waits = always,
     .list = GBX_MCP_TOOLS,
     .run = gbx_mcp_on_list},
    {.name = "tools/call",
     .in_legacy = true,
     .in_modern = true,
     .is_stateful = true,
     .run = gbx_mcp_on_call},
    {.name = "resources/list",
     .in_legacy = true,
     .in_modern = true,
     .waits = always,
     .list = GBX_MCP_RESOURCES,
     .run = gbx_mcp_on_list},
    {.name = "resources/templates/list",
     .in_legacy = true,
     .in_modern = true,
     .waits = always,
     .list = GBX_MCP_TEMPLATES,
     .run = gbx_mcp_on_list},
    {.name = "resources/read",
     .in_legacy = true,
     .in_modern = true,
     .waits = gbx_mcp_read_is_pending,
     .is_stateful = true,
     .run = gbx_mcp_on_read},
    {.name = "resources/subscribe", .in_legacy = true, .run = gbx_mcp_on_subscribe},
    {.name = "resources/unsubscribe", .in_legacy = true, .run = gbx_mcp_on_unsubscribe},
    {.name = "prompts/list",
     .in_legacy = true,
     .in_modern = true,
     .waits = always,
     .list = GBX_MCP_PROMPTS,
     .run = gbx_mcp_on_list},
    {.name = "prompts/get", .in_legacy = true, .in_modern = true, .run = no_prompt},
    {.name = "logging/setLevel", .in_legacy = true, .run = gbx_mcp_on_set_level},
    {.name = "subscriptions/listen", .in_modern = true, .run = gbx_mcp_on_listen},
};

static const gbx_mcp_method *find(const char *name, bool is_modern)
{
    for (size_t i = 0; i < GBX_COUNTOF(methods); i++)
        if (strcmp(methods[i].name, name) == 0)
            return (is_modern ? methods[i].in_modern : methods[i].in_legacy)
                       ? &methods[i]
                       : NULL;
    return NULL;
}

static void refuse_method(gbx_mcp_session *session, const gbx_rpc_message *message,
                          bool is_modern)
{
    char text[256];

    (void)snprintf(text, sizeof text, "unknown method '%s'%s", message->method,
                   find(message->method, !is_modern) == NULL ? ""
                   : is_modern                               ? " in 2026-07-28"
                                                             : " before 2026-07-28");
    gbx_mcp_session_refuse(session, message->id, GBX_RPC_METHOD_NOT_FOUND, text, NULL);
}

/* Why another request is refused, or NULL. */
static const char *overload(const gbx_mcp_session *session, size_t len)
{
    if (session->request_count >= GBX_MCP_REQUESTS_MAX)
        return "too many requests are in flight";
    if (session->request_bytes + len > GBX_MCP_MESSAGE_MAX)
        return "the requests in flight are too large together";
    return NULL;
}

static bool must_wait(const gbx_mcp_request *request)
{
    return request->method->waits != NULL && gbx_mcp_is_held(request->server) &&
           request->method->waits(request);
}

static void on_request(gbx_mcp_session *session, const gbx_rpc_message *message,
                       const char *text, size_t len)
{
    bool is_initialize = strcmp(message->method, "initialize") == 0;
    gbx_mcp_era era = {.log_level = -1};
    gbx_mcp_era_fault fault = gbx_mcp_era_read(session, message->payload, &era);
    const gbx_mcp_method *method;
    gbx_mcp_request *request;
    const char *too_much = overload(session, len);

    /* These may come before a version is agreed on. */
    if (fault == GBX_MCP_ERA_NONE &&
        (is_initialize || strcmp(message->method, "ping") == 0))
        fault = GBX_MCP_ERA_OK;
    if (fault != GBX_MCP_ERA_OK) {
        gbx_mcp_era_refuse(session, message->id, message->payload, fault);
        return;
    }
    method = find(message->method, era.is_modern);
    if (method == NULL) {
        refuse_method(session, message, era.is_modern);
        return;
    }
    if (gbx_mcp_request_find(session, message->id) != NULL ||
        gbx_mcp_listen_has(session, message->id)) {
        /* An error with this id would be taken for the answer to the first request. */
        gbx_mcp_session_refuse(session, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                               "a request with this id is in flight", NULL);
        return;
    }
    /* A returning request adds no load, and resumes a suspended one: overload
     * does not matter. */
    if (era.is_modern && method->is_stateful &&
        gbx_mcp_retry_take(session, method, message))
        return;
    if (too_much != NULL) {
        gbx_mcp_session_refuse(session, message->id, GBX_RPC_INTERNAL_ERROR, too_much,
                               NULL);
        return;
    }
    request = gbx_mcp_request_new(session, text, len);
    if (request == NULL) {
        gbx_mcp_session_refuse(session, message->id, GBX_RPC_INTERNAL_ERROR,
                               "out of memory", NULL);
        return;
    }
    request->method = method;
    request->era = era;
    if (message->payload.at != NULL)
        request->params = (gbx_view){request->text + (message->payload.at - text),
                                     message->payload.len};
    gbx_mcp_request_bind(request, message->id,
                         gbx_view_member(request->params, "_meta"));
    request->is_held = must_wait(request);
    if (!request->is_held)
        method->run(request);
}

static void on_notification(gbx_mcp_session *session, const gbx_rpc_message *message)
{
    gbx_view id = gbx_view_member(message->payload, "requestId");
    gbx_mcp_request *request;

    /* The others (initialized, roots) change nothing here, and notifications
     * get no answer. */
    if (strcmp(message->method, "notifications/cancelled") != 0 || !gbx_rpc_is_id(id))
        return;
    if (gbx_mcp_listen_cancel(session, id))
        return;
    request = gbx_mcp_request_find(session, id);
    if (request != NULL)
        gbx_mcp_request_cancel(request);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_dispatch(gbx_mcp_session *session, const gbx_rpc_message *message,
                      const char *text, size_t len)
{
    switch (message->kind) {
    case GBX_RPC_REQUEST: on_request(session, message, text, len); break;
    case GBX_RPC_NOTIFICATION: on_notification(session, message); break;
    case GBX_RPC_RESULT:
    case GBX_RPC_ERROR: gbx_mcp_ask_response(session, message); break;
    case GBX_RPC_BATCH:
        /* The session splits batches itself, in the version that has them. */
        gbx_mcp_session_refuse(
            session, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
            "a message is an object; batches are of 2025-03-26 alone", NULL);
        break;
    }
}

/* The oldest request runs first; it is the last in the list. */
void gbx_mcp_run_held(gbx_mcp_server *server)
{
    gbx_mcp_request *held;

    do {
        held = NULL;
        for (gbx_mcp_request *r = server->requests; r != NULL; r = r->next)
            if (r->is_held && !must_wait(r))
                held = r;
        if (held != NULL) {
            held->is_held = false;
            held->method->run(held);
        }
    } while (held != NULL);
}
