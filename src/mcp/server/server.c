/* SPDX-License-Identifier: MIT */
/*
 * server - takes the client's lines and dispatches their methods. What must not happen
 * inside a handler's own call is done in a later turn of the loop.
 *
 * The table says in which era each method exists, and whether it waits while the server
 * is held. Other methods are refused.
 */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/timeouts.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only this version has JSON-RPC batches. */
#define BATCH_VERSION "2025-03-26"
#define BATCH_MAX     100

#define SHOWN_NAME_MAX 256

#define ASK_MS   300000
#define HOLD_MS  5000
#define BEAT_MS  10000
#define TEXT_MAX ((size_t)1024 * 1024)

/* How often questions are checked for a timeout. */
#define EXPIRY_MS 500

/* ---- methods ----------------------------------------------------------------- */

static bool always(const gbx_mcp_request *request)
{
    return true;
}

static const gbx_mcp_method methods[] = {
    {"initialize", GBX_MCP_IN_LEGACY, gbx_mcp_on_initialize, 0, NULL, false},
    {"ping", GBX_MCP_IN_LEGACY, gbx_mcp_reply_empty, 0, NULL, false},
    {"server/discover", GBX_MCP_IN_MODERN, gbx_mcp_on_discover, 0, NULL, false},
    {"tools/list", GBX_MCP_IN_BOTH, gbx_mcp_on_list, GBX_MCP_TOOLS, always, false},
    {"tools/call", GBX_MCP_IN_BOTH, gbx_mcp_on_call, 0, NULL, true},
    {"resources/list", GBX_MCP_IN_BOTH, gbx_mcp_on_list, GBX_MCP_RESOURCES, always,
     false},
    {"resources/templates/list", GBX_MCP_IN_BOTH, gbx_mcp_on_list, GBX_MCP_TEMPLATES,
     always, false},
    {"resources/read", GBX_MCP_IN_BOTH, gbx_mcp_on_read, 0, gbx_mcp_read_is_pending,
     true},
    {"resources/subscribe", GBX_MCP_IN_LEGACY, gbx_mcp_on_subscribe, 0, NULL, false},
    {"resources/unsubscribe", GBX_MCP_IN_LEGACY, gbx_mcp_on_unsubscribe, 0, NULL,
     false},
    {"prompts/list", GBX_MCP_IN_BOTH, gbx_mcp_on_list, GBX_MCP_PROMPTS, always, false},
    {"prompts/get", GBX_MCP_IN_BOTH, gbx_mcp_on_prompt, 0, NULL, true},
    {"completion/complete", GBX_MCP_IN_BOTH, gbx_mcp_on_prompt, 0, NULL, false},
    {"logging/setLevel", GBX_MCP_IN_LEGACY, gbx_mcp_on_set_level, 0, NULL, false},
    {"subscriptions/listen", GBX_MCP_IN_MODERN, gbx_mcp_on_listen, 0, NULL, false},
};

static const gbx_mcp_method *find_method(const char *name, bool is_modern)
{
    unsigned era = is_modern ? GBX_MCP_IN_MODERN : GBX_MCP_IN_LEGACY;

    for (size_t i = 0; i < GBX_COUNTOF(methods); i++)
        if (strcmp(methods[i].name, name) == 0)
            return (methods[i].eras & era) != 0 ? &methods[i] : NULL;
    return NULL;
}

static void refuse_method(gbx_mcp_server *server, const gbx_rpc_message *message,
                          bool is_modern)
{
    char text[256];

    (void)snprintf(text, sizeof text, "unknown method '%s'%s", message->method,
                   find_method(message->method, !is_modern) == NULL ? ""
                   : is_modern                                      ? " in 2026-07-28"
                               : " before 2026-07-28");
    gbx_mcp_refuse(server, message->id, GBX_RPC_METHOD_NOT_FOUND, text, NULL);
}

static bool is_held(const gbx_mcp_server *server)
{
    return server->holds > 0 && !server->is_impatient;
}

static bool must_wait(const gbx_mcp_request *request)
{
    return request->method->waits != NULL && is_held(request->server) &&
           request->method->waits(request);
}

static void on_request(gbx_mcp_server *server, const gbx_rpc_message *message,
                       const char *text, size_t len)
{
    gbx_mcp_era era = {.log_level = -1};
    const char *too_much = NULL;
    const gbx_mcp_method *method;
    gbx_mcp_request *request;

    if (server->request_count >= GBX_MCP_REQUESTS_MAX)
        too_much = "too many requests are in flight";
    else if (server->request_bytes + len > GBX_MCP_MESSAGE_MAX)
        too_much = "the requests in flight are too large together";
    if (!gbx_mcp_era_read(server, message, &era))
        return;
    method = find_method(message->method, era.is_modern);
    if (method == NULL) {
        refuse_method(server, message, era.is_modern);
        return;
    }
    if (gbx_mcp_request_find(server, message->id) != NULL ||
        gbx_mcp_listen_find(server, message->id) != NULL) {
        /* An error with this id would be taken for the answer to the first request. */
        gbx_mcp_refuse(server, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                       "a request with this id is in flight", NULL);
        return;
    }
    /* A returning request adds no load, and resumes a suspended one: overload
     * does not matter. */
    if (era.is_modern && method->is_stateful &&
        gbx_mcp_retry_take(server, method, message, &era))
        return;
    if (too_much != NULL) {
        gbx_mcp_refuse(server, message->id, GBX_RPC_INTERNAL_ERROR, too_much, NULL);
        return;
    }
    request = gbx_mcp_request_new(server, text, len);
    request->method = method;
    request->era = era;
    if (message->payload.at != NULL)
        request->params = (gbx_view){request->text + (message->payload.at - text),
                                     message->payload.len};
    request->meta = gbx_view_member(request->params, "_meta");
    gbx_mcp_request_bind(request, message->id, request->meta);
    request->is_held = must_wait(request);
    if (!request->is_held)
        method->run(request);
}

static void on_notification(gbx_mcp_server *server, const gbx_rpc_message *message)
{
    gbx_view id = gbx_view_member(message->payload, "requestId");
    gbx_mcp_request *request;

    /* The others (initialized, roots) change nothing here, and notifications
     * get no answer. */
    if (strcmp(message->method, "notifications/cancelled") != 0 || !gbx_rpc_is_id(id))
        return;
    if (gbx_mcp_listen_cancel(server, id))
        return;
    request = gbx_mcp_request_find(server, id);
    if (request != NULL)
        gbx_mcp_request_cancel(request);
}

/* ---- lines ------------------------------------------------------------------- */

/* message was read from text. */
static void dispatch(gbx_mcp_server *server, const gbx_rpc_message *message,
                     const char *text, size_t len)
{
    switch (message->kind) {
    case GBX_RPC_REQUEST: on_request(server, message, text, len); break;
    case GBX_RPC_NOTIFICATION: on_notification(server, message); break;
    case GBX_RPC_RESULT:
    case GBX_RPC_ERROR: gbx_mcp_ask_response(server, message); break;
    case GBX_RPC_BATCH:
        /* They were split before, in the version that has them. */
        gbx_mcp_refuse(server, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                       "a message is an object; batches are of 2025-03-26 alone", NULL);
        break;
    }
}

/* Each request is answered separately when it is done: a slow one delays no other. */
static void take_batch(gbx_mcp_server *server, gbx_view batch)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(batch, &cursor, &name, &value)) {
        if (++count > BATCH_MAX) {
            gbx_mcp_refuse(server, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                           "a batch has at most 100 messages", NULL);
            return;
        }
        if (gbx_rpc_read_view(value, &message, &fault))
            dispatch(server, &message, value.at, value.len);
        else if (fault.is_answerable)
            gbx_mcp_refuse(server, fault.id, fault.code, fault.message, NULL);
    }
    if (count == 0)
        gbx_mcp_refuse(server, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                       "the batch is empty", NULL);
}

void gbx_mcp_server_take(gbx_mcp_server *server, const char *line, size_t len)
{
    gbx_rpc_message message;
    gbx_rpc_fault fault;

    if (server->is_ended)
        return;
    if (!gbx_rpc_read(line, len, &message, &fault)) {
        if (fault.is_answerable)
            gbx_mcp_refuse(server, fault.id, fault.code, fault.message, NULL);
    } else if (message.kind == GBX_RPC_BATCH &&
               strcmp(server->version, BATCH_VERSION) == 0) {
        take_batch(server, message.payload);
    } else {
        dispatch(server, &message, line, len);
    }
}

void gbx_mcp_server_take_too_long(gbx_mcp_server *server)
{
    gbx_mcp_refuse(server, (gbx_view){0}, GBX_RPC_INVALID_REQUEST,
                   "a message has at most 16 MiB", NULL);
}

/* ---- the client -------------------------------------------------------------- */

void gbx_mcp_server_connect(gbx_mcp_server *server, const gbx_mcp_client_hooks *hooks)
{
    server->hooks = *hooks;
    server->is_ended = false;
}

void gbx_mcp_server_name_oldest(const gbx_mcp_server *server, gbx_buf *to)
{
    const gbx_mcp_request *oldest = NULL;
    const gbx_mcp_request *r;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf name = {.ceiling = SHOWN_NAME_MAX};

    LIST_FOREACH(r, &server->requests, entry)
    if (r->id_len > 0)
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
    const gbx_mcp_request *r;
    size_t count = 0;

    LIST_FOREACH(r, &server->requests, entry)
    count += !r->is_finished;
    return count;
}

void gbx_mcp_server_end(gbx_mcp_server *server)
{
    gbx_mcp_request *request;

    if (server->is_ended)
        return;
    gbx_mcp_listens_end(server);
    server->is_ended = true;
    do { /* a cancelled request may end others */
        LIST_FOREACH(request, &server->requests, entry)
        if (!request->is_cancelled)
            break;
        if (request != NULL)
            gbx_mcp_request_cancel(request);
    } while (request != NULL);
}

/* ---- holds ------------------------------------------------------------------- */

static void on_impatience(void *user)
{
    gbx_mcp_server *server = user;

    server->is_impatient = true;
    gbx_mcp_settle_soon(server);
}

void gbx_mcp_server_hold(gbx_mcp_server *server)
{
    if (server->holds++ == 0)
        gbx_mcp_timer_set(&server->patience, server->hold_ms);
}

void gbx_mcp_server_release(gbx_mcp_server *server)
{
    if (--server->holds == 0) {
        server->is_impatient = false;
        gbx_mcp_timer_clear(&server->patience);
    }
    gbx_mcp_settle_soon(server);
}

/* ---- the server -------------------------------------------------------------- */

static void on_settle(void *user)
{
    gbx_mcp_server *server = user;
    gbx_mcp_request *held;
    gbx_mcp_request *r;

    gbx_mcp_request_settle(server);
    gbx_mcp_asks_settle(server);
    do { /* the oldest held request runs first; it is the last in the list */
        held = NULL;
        LIST_FOREACH(r, &server->requests, entry)
        if (r->is_held && !must_wait(r))
            held = r;
        if (held != NULL) {
            held->is_held = false;
            held->method->run(held);
        }
    } while (held != NULL);
    if (!is_held(server))
        gbx_mcp_announce(server);
}

static void on_expiry(void *user)
{
    gbx_mcp_server *server = user;

    gbx_mcp_timer_set(&server->expiry, EXPIRY_MS);
    gbx_mcp_asks_expire(server);
    gbx_mcp_beat(server);
}

gbx_mcp_server *gbx_mcp_server_new(gbx_mcp_loop *loop,
                                   const gbx_mcp_server_options *options)
{
    gbx_mcp_server *server = gbx_need(calloc(1, sizeof *server));
    gbx_buf info = {.ceiling = TEXT_MAX};

    (void)gbx_buf_puts(&info, "{");
    gbx_json_put_text(&info, "name", options->name);
    gbx_json_put_text(&info, "title", options->title);
    gbx_json_put_text(&info, "version", options->version);
    gbx_json_put_text(&info, "description", options->description);
    (void)gbx_buf_puts(&info, "}");
    server->info = gbx_need(gbx_buf_take_string(&info, NULL));
    server->ask_ms = options->ask_ms > 0 ? options->ask_ms : ASK_MS;
    server->hold_ms = options->hold_ms > 0 ? options->hold_ms : HOLD_MS;
    server->beat_ms = options->beat_ms > 0 ? options->beat_ms : BEAT_MS;
    server->offers = options->offers;
    server->offers_user = options->offers_user;
    server->telemetry = options->telemetry;
    server->is_ended = true;
    server->era.log_level = -1;
    TAILQ_INIT(&server->asks);
    gbx_mcp_timer_init(&server->settle, loop, on_settle, server);
    gbx_mcp_timer_init(&server->expiry, loop, on_expiry, server);
    gbx_mcp_timer_init(&server->patience, loop, on_impatience, server);
    gbx_mcp_timer_set(&server->expiry, EXPIRY_MS);
    gbx_mcp_server_set_instructions(server, options->instructions);
    return server;
}

void gbx_mcp_server_free(gbx_mcp_server *server)
{
    if (server == NULL)
        return;
    gbx_mcp_server_end(server);
    while (!LIST_EMPTY(&server->requests))
        gbx_mcp_request_free(LIST_FIRST(&server->requests));
    for (size_t i = 0; i < GBX_MCP_LISTS; i++) {
        const gbx_mcp_registry *list = &server->lists[i];

        for (size_t k = 0; k < list->count; k++) {
            free(list->entries[k].key);
            free(list->entries[k].shown);
        }
        free(list->entries);
    }
    gbx_mcp_timer_cleanup(&server->settle);
    gbx_mcp_timer_cleanup(&server->expiry);
    gbx_mcp_timer_cleanup(&server->patience);
    gbx_mcp_uris_free(&server->legacy.uris);
    free(server->info);
    free(server->instructions);
    free(server);
}

void gbx_mcp_server_set_instructions(gbx_mcp_server *server, const char *text)
{
    free(server->instructions);
    server->instructions = text != NULL ? gbx_need(strdup(text)) : NULL;
}

void gbx_mcp_server_set_proxy(gbx_mcp_server *server, const gbx_mcp_proxy *proxy)
{
    server->proxy = proxy;
}

void gbx_mcp_server_on_unknown_tool(gbx_mcp_server *server,
                                    void (*advise)(void *user, const char *name,
                                                   gbx_buf *to),
                                    void *user)
{
    server->advise = advise;
    server->advise_user = user;
}
