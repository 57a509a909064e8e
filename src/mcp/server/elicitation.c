/* SPDX-License-Identifier: MIT */
/*
 * elicitation - questions to a person, from the handler's call to the answer.
 *
 * Answers are delivered in a later turn of the loop. Every question gets one: the
 * person's answer, that nobody can be asked, that time ran out, or ENDED if its
 * request ends first.
 */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PARAMS_MAX ((size_t)1024 * 1024)

static bool is_legacy_sent(const gbx_mcp_request *request, const gbx_mcp_ask_entry *ask)
{
    return ask->is_sent && !ask->is_answered && !request->era.is_modern;
}

static void answer(gbx_mcp_server *server, gbx_mcp_ask_entry *ask, gbx_mcp_answer how)
{
    ask->is_answered = true;
    ask->answer = how;
    gbx_mcp_settle_soon(server);
}

static char *print_params(const gbx_mcp_request *request, const char *message,
                          const char *schema)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = PARAMS_MAX};

    (void)gbx_buf_puts(&to, request->era.is_modern ? "{\"mode\":\"form\",\"message\":"
                                                   : "{\"message\":");
    (void)gbx_json_append_string(&to, message, strlen(message));
    (void)gbx_buf_puts(&to, ",\"requestedSchema\":");
    (void)gbx_rpc_append_json(&to, schema, strlen(schema));
    (void)gbx_buf_puts(&to, "}");
    return gbx_buf_take_string(&to, NULL);
}

static void send_legacy(gbx_mcp_request *request, gbx_mcp_ask_entry *ask)
{
    gbx_mcp_session *session = request->session;
    gbx_buf to;

    ask->is_sent = true;
    ask->rpc_id = ++session->last_rpc_id;
    ask->until_ns =
        gbx_clock_now_ns() + (int64_t)request->server->ask_ms * GBX_NS_PER_MS;
    gbx_buf_init(&to, GBX_MCP_MESSAGE_MAX);
    gbx_rpc_begin_request(&to, ask->rpc_id, "elicitation/create");
    (void)gbx_rpc_append_json(&to, ask->params, strlen(ask->params));
    gbx_rpc_end(&to);
    gbx_mcp_session_send(session, &to);
}

/* The client need not wait for its person any longer. */
static void withdraw(gbx_mcp_session *session, const gbx_mcp_ask_entry *ask)
{
    gbx_buf to;

    gbx_buf_init(&to, GBX_MCP_MESSAGE_MAX);
    gbx_rpc_begin_notification(&to, "notifications/cancelled");
    (void)gbx_buf_printf(&to, "{\"requestId\":%" PRId64 "}", ask->rpc_id);
    gbx_rpc_end(&to);
    gbx_mcp_session_send(session, &to);
}

static void give_answer(gbx_mcp_ask_entry *ask)
{
    gbx_view content = {0};

    if (ask->content != NULL)
        (void)gbx_view_open(ask->content, strlen(ask->content), &content);
    ask->done(ask->user, ask->answer, content);
    free(ask->content);
    free(ask->params);
    free(ask);
}

/* Remove the first answered question from its request; NULL if there is none. */
static gbx_mcp_ask_entry *take_answered(gbx_mcp_server *server)
{
    gbx_mcp_ask_entry *orphan = server->orphans;

    if (orphan != NULL) {
        server->orphans = orphan->next;
        return orphan;
    }
    for (gbx_mcp_request *r = server->requests; r != NULL; r = r->next) {
        for (gbx_mcp_ask_entry **at = &r->asks; *at != NULL; at = &(*at)->next) {
            gbx_mcp_ask_entry *ask = *at;

            if (!ask->is_answered)
                continue;
            *at = ask->next;
            return ask;
        }
    }
    return NULL;
}

static void send_open(gbx_mcp_request *request)
{
    bool is_new = false;

    for (gbx_mcp_ask_entry *ask = request->asks; ask != NULL; ask = ask->next) {
        if (ask->is_sent || ask->is_answered)
            continue;
        is_new = true;
        if (!request->era.is_modern)
            send_legacy(request, ask);
    }
    if (is_new && request->era.is_modern && request->id_len > 0)
        gbx_mcp_retry_ask(request);
}

static size_t count_open(const gbx_mcp_request *request)
{
    size_t count = 0;

    for (const gbx_mcp_ask_entry *ask = request->asks; ask != NULL; ask = ask->next)
        count++;
    return count;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_ask(gbx_mcp_request *request, const char *message, const char *schema,
                 void (*done)(void *user, gbx_mcp_answer answer, gbx_view content),
                 void *user)
{
    bool can = gbx_mcp_can_ask(request) && count_open(request) < GBX_MCP_ASKS_MAX;
    gbx_mcp_ask_entry *ask = calloc(1, sizeof *ask);
    gbx_mcp_ask_entry **end = &request->asks;

    if (ask == NULL) {
        done(user, GBX_MCP_ANSWER_NOBODY, (gbx_view){0});
        return;
    }
    *ask = (gbx_mcp_ask_entry){.number = ++request->asked, .done = done, .user = user};
    while (*end != NULL)
        end = &(*end)->next;
    *end = ask;
    if (can)
        ask->params = print_params(request, message, schema);
    if (request->is_cancelled)
        answer(request->server, ask, GBX_MCP_ANSWER_ENDED);
    else if (ask->params == NULL)
        answer(request->server, ask, GBX_MCP_ANSWER_NOBODY);
    gbx_mcp_settle_soon(request->server);
}

void gbx_mcp_asks_settle(gbx_mcp_server *server)
{
    gbx_mcp_ask_entry *ask;

    while ((ask = take_answered(server)) != NULL)
        give_answer(ask);
    for (gbx_mcp_request *r = server->requests; r != NULL; r = r->next)
        if (r->asks != NULL && r->session != NULL && !r->session->is_ended)
            send_open(r);
}

void gbx_mcp_asks_expire(gbx_mcp_server *server)
{
    int64_t now = gbx_clock_now_ns();
    gbx_mcp_request *r = server->requests;

    while (r != NULL) {
        gbx_mcp_request *next = r->next;

        for (gbx_mcp_ask_entry *ask = r->asks; ask != NULL; ask = ask->next) {
            if (!is_legacy_sent(r, ask) || now < ask->until_ns)
                continue;
            withdraw(r->session, ask);
            answer(server, ask, GBX_MCP_ANSWER_LATE);
        }
        if (r->round > 0 && r->id_len == 0 && now >= r->retry_until_ns)
            gbx_mcp_request_cancel(r);
        r = next;
    }
}

void gbx_mcp_asks_end(gbx_mcp_request *request, gbx_mcp_answer how)
{
    for (gbx_mcp_ask_entry *ask = request->asks; ask != NULL; ask = ask->next) {
        if (ask->is_answered)
            continue;
        if (is_legacy_sent(request, ask) && request->session != NULL)
            withdraw(request->session, ask);
        answer(request->server, ask, how);
    }
}

void gbx_mcp_asks_free(gbx_mcp_request *request)
{
    gbx_mcp_asks_end(request, GBX_MCP_ANSWER_ENDED);
    while (request->asks != NULL) {
        gbx_mcp_ask_entry *ask = request->asks;

        request->asks = ask->next;
        ask->next = request->server->orphans;
        request->server->orphans = ask;
    }
}

void gbx_mcp_ask_take(gbx_mcp_server *server, gbx_mcp_ask_entry *ask, gbx_view result)
{
    gbx_view action = gbx_view_member(result, "action");
    gbx_view content = gbx_view_member(result, "content");

    if (gbx_view_is_text(action, "accept")) {
        if (gbx_view_kind(content) == '{')
            ask->content = strndup(content.at, content.len);
        answer(server, ask, GBX_MCP_ANSWER_ACCEPT);
    } else if (gbx_view_is_text(action, "decline")) {
        answer(server, ask, GBX_MCP_ANSWER_DECLINE);
    } else if (gbx_view_is_text(action, "cancel")) {
        answer(server, ask, GBX_MCP_ANSWER_CANCEL);
    } else {
        answer(server, ask, GBX_MCP_ANSWER_NOBODY);
    }
}

void gbx_mcp_ask_response(gbx_mcp_session *session, const gbx_rpc_message *message)
{
    int64_t id;

    if (!gbx_rpc_integer(message->id, &id))
        return;
    for (gbx_mcp_request *r = session->server->requests; r != NULL; r = r->next) {
        if (r->session != session)
            continue;
        for (gbx_mcp_ask_entry *ask = r->asks; ask != NULL; ask = ask->next) {
            if (!is_legacy_sent(r, ask) || ask->rpc_id != id)
                continue;
            if (message->kind == GBX_RPC_RESULT)
                gbx_mcp_ask_take(session->server, ask, message->payload);
            else
                answer(session->server, ask, GBX_MCP_ANSWER_NOBODY);
            return;
        }
    }
}
