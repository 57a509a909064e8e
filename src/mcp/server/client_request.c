/* SPDX-License-Identifier: MIT */
/*
 * client_request - a request's life, from its message to its answer. Every handler ends
 * its request once. If the client does not wait any more, nothing is sent. While it has
 * no id because a person is being asked, the outcome is kept.
 */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Changes of lists are announced; this bounds how long a client that does not listen is
 * out of date. */
#define TTL_MS 60000

/* ---- messages ---------------------------------------------------------------- */

void gbx_mcp_settle_soon(gbx_mcp_server *server)
{
    gbx_mcp_timer_fire(&server->settle);
}

/* Every message to a client leaves here, as one line of JSON. Invisible characters are
 * escaped for people who read the line. */
static bool send_line(const gbx_mcp_server *server, gbx_buf *message)
{
    return gbx_utf8_escape(message, 0, GBX_ESCAPE_JSON) &&
           server->hooks.send(server->hooks.user, message->data, message->len);
}

void gbx_mcp_send(gbx_mcp_server *server, gbx_buf *message)
{
    if (!message->failed && !server->is_ended)
        (void)send_line(server, message);
    gbx_buf_cleanup(message);
}

void gbx_mcp_refuse(gbx_mcp_server *server, gbx_view id, int code, const char *message,
                    const char *data)
{
    gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};

    gbx_rpc_append_error(&to, id, code, message, data);
    gbx_mcp_send(server, &to);
}

/* ---- the end of a question --------------------------------------------------- */

void gbx_mcp_ask_end(gbx_mcp_ask_entry *ask, gbx_mcp_answer how)
{
    gbx_mcp_server *server = ask->request->server;
    gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};

    if (ask->is_sent && !ask->is_local && !ask->request->era.is_modern) {
        /* The client need not ask its person any more. */
        gbx_rpc_begin_notification(&to, "notifications/cancelled");
        gbx_json_put_integer(&to, "requestId", ask->rpc_id);
        gbx_rpc_end(&to);
        gbx_mcp_send(server, &to);
    }
    ask->is_answered = true;
    ask->answer = how;
    gbx_mcp_settle_soon(server);
}

void gbx_mcp_asks_end(gbx_mcp_request *request, gbx_mcp_answer how)
{
    gbx_mcp_ask_entry *ask;

    TAILQ_FOREACH(ask, &request->server->asks, entry)
    if (ask->request == request && !ask->is_answered)
        gbx_mcp_ask_end(ask, how);
}

/* ---- the life of a request --------------------------------------------------- */

gbx_call_span *gbx_mcp_request_span(gbx_mcp_request *request)
{
    return &request->span;
}

static void end_span(gbx_mcp_request *request, gbx_call_outcome end)
{
    if (request->is_cancelled)
        end = (gbx_call_outcome){.code = "ABORTED"};
    end.version = gbx_mcp_request_version(request);
    gbx_call_span_end(&request->span, &end);
}

gbx_mcp_request *gbx_mcp_request_new(gbx_mcp_server *server, const char *text,
                                     size_t len)
{
    gbx_mcp_request *request = gbx_need(calloc(1, sizeof *request));

    request->text = gbx_need(malloc(len + 1));
    memcpy(request->text, text, len);
    request->text[len] = '\0';
    request->text_len = len;
    request->server = server;
    request->era.log_level = -1;
    gbx_bucket_init(&request->rate, GBX_MCP_RATE_BURST, GBX_MCP_RATE_PER_SECOND,
                    gbx_clock_now_ns());
    server->request_bytes += len;
    gbx_buf_init(&request->outcome, GBX_MCP_MESSAGE_MAX);
    LIST_INSERT_HEAD(&server->requests, request, entry);
    return request;
}

void gbx_mcp_request_bind(gbx_mcp_request *request, gbx_view id, gbx_view meta)
{
    gbx_view token = gbx_view_member(meta, "progressToken");

    if (request->id_len == 0)
        request->server->request_count++;
    free(request->id);
    request->id = memcpy(gbx_need(malloc(id.len)), id.at, id.len);
    request->id_len = id.len;
    request->token_len = 0;
    request->progress = GBX_MCP_NO_PROGRESS;
    request->bound_ns = request->said_ns = gbx_clock_now_ns();
    if (!gbx_rpc_is_id(token) || token.len > GBX_RPC_ID_MAX)
        return;
    memcpy(request->token, token.at, token.len);
    request->token_len = token.len;
}

gbx_mcp_request *gbx_mcp_request_find(gbx_mcp_server *server, gbx_view id)
{
    gbx_mcp_request *r;

    LIST_FOREACH(r, &server->requests, entry)
    if (r->id_len > 0 && gbx_rpc_same_id((gbx_view){r->id, r->id_len}, id))
        return r;
    return NULL;
}

static void gbx_mcp_request_unbind(gbx_mcp_request *request)
{
    gbx_mcp_server *server = request->server;

    if (request->id_len == 0)
        return;
    request->id_len = 0;
    request->token_len = 0;
    server->request_count--;
    if (server->request_count == 0 && server->hooks.idle != NULL)
        server->hooks.idle(server->hooks.user);
}

void gbx_mcp_request_free(gbx_mcp_request *request)
{
    gbx_mcp_ask_entry *ask;

    end_span(request, (gbx_call_outcome){.code = "ABORTED"});
    gbx_mcp_request_unbind(request);
    gbx_mcp_asks_end(request, GBX_MCP_ANSWER_ENDED);
    TAILQ_FOREACH(ask, &request->server->asks, entry)
    if (ask->request == request)
        ask->request = NULL; /* its answer is delivered later */
    if (!request->is_parked)
        request->server->request_bytes -= request->text_len;
    LIST_REMOVE(request, entry);
    gbx_buf_cleanup(&request->outcome);
    free(request->text);
    free(request->id);
    free(request);
}

void gbx_mcp_request_cancel(gbx_mcp_request *request)
{
    if (request->is_cancelled)
        return;
    request->is_cancelled = true;
    gbx_mcp_request_unbind(request);
    if (request->is_held || request->is_finished) {
        gbx_mcp_request_free(request); /* no handler uses it */
        return;
    }
    gbx_mcp_asks_end(request, GBX_MCP_ANSWER_ENDED);
    request->is_cancel_due = request->cancel != NULL;
    gbx_mcp_settle_soon(request->server);
}

void gbx_mcp_request_settle(gbx_mcp_server *server)
{
    gbx_mcp_request *r = LIST_FIRST(&server->requests);

    while (r != NULL) {
        void (*cancel)(void *user) = r->cancel;

        if (!r->is_cancel_due || cancel == NULL) {
            r = LIST_NEXT(r, entry);
            continue;
        }
        r->is_cancel_due = false;
        r->cancel = NULL;
        cancel(r->cancel_user);
        /* The function may have ended any request. */
        r = LIST_FIRST(&server->requests);
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

gbx_view gbx_mcp_request_meta(const gbx_mcp_request *request, const char *name)
{
    return gbx_view_member(request->meta, name);
}

const char *gbx_mcp_request_version(const gbx_mcp_request *request)
{
    return request->era.is_modern ? GBX_MCP_MODERN : request->server->version;
}

bool gbx_mcp_takes_links(const gbx_mcp_request *request)
{
    return strcmp(gbx_mcp_request_version(request), GBX_MCP_LINKS_SINCE) >= 0;
}

unsigned gbx_mcp_can_ask(const gbx_mcp_request *request)
{
    const gbx_mcp_page *page = &request->server->page;
    bool has_page = page->is_watched != NULL && page->is_watched(page->user);

    return !request->is_cancelled && request->method->is_stateful
               ? request->era.can_ask | (has_page ? GBX_MCP_ASK_FORM : 0u)
               : 0;
}

unsigned gbx_mcp_server_can_ask(const gbx_mcp_server *server)
{
    bool has_page = server->page.is_watched != NULL;

    return server->latest.can_ask | (has_page ? GBX_MCP_ASK_FORM : 0u);
}

/* ---- results and errors ------------------------------------------------------ */

static void begin_id(gbx_buf *to, const gbx_mcp_request *request)
{
    (void)gbx_buf_puts(to, "{\"jsonrpc\":\"2.0\"");
    gbx_json_put_json(to, "id", request->id, request->id_len);
}

static void begin(gbx_buf *to, const gbx_mcp_request *request, const char *member)
{
    gbx_buf_init(to, GBX_MCP_MESSAGE_MAX);
    if (request->id_len > 0)
        begin_id(to, request);
    gbx_json_put_open(to, member, '{');
}

/* The members of a JSON object. */
static void put_members(gbx_buf *to, const char *object)
{
    size_t cursor = 0;
    gbx_view view;
    gbx_view name;
    gbx_view value;

    if (object == NULL || !gbx_view_open(object, strlen(object), &view))
        return;
    while (gbx_view_next(view, &cursor, &name, &value)) {
        gbx_json_put_json(to, NULL, name.at, name.len);
        (void)gbx_buf_puts(to, ":");
        (void)gbx_json_append_line(to, value.at, value.len);
    }
}

/* True if the client neither waits nor will return. */
static bool is_forgotten(const gbx_mcp_request *request)
{
    return request->is_cancelled || (request->id_len == 0 && request->round == 0);
}

/* A client that reads an answer together with progress drops the progress: the answer
 * ends its listener first. So the client must read the answer separately. */
static void send_answer(gbx_mcp_request *request, gbx_buf *answer)
{
    const gbx_mcp_client_hooks *hooks = &request->server->hooks;
    bool has_progress = request->progress > GBX_MCP_NO_PROGRESS;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf instead = {0};

    if (!answer->failed && has_progress && hooks->part != NULL)
        hooks->part(hooks->user);
    if (!answer->failed && send_line(request->server, answer))
        return;
    /* It is too long, or memory is out. */
    begin(&instead, request, "error");
    gbx_rpc_put_error(
        &instead, GBX_RPC_INTERNAL_ERROR,
        "the answer cannot be sent: it is too large, or too much waits to "
        "be read already",
        NULL);
    gbx_rpc_end(&instead);
    if (!send_line(request->server, &instead))
        hooks->give_up(hooks->user);
}

void gbx_mcp_reply_begin(gbx_buf *to, gbx_mcp_request *request, const char *result_type,
                         const char *meta)
{
    begin(to, request, "result");
    if (request->era.is_modern) {
        gbx_json_put_text(to, "resultType", result_type);
        gbx_json_put_open(to, "_meta", '{');
        gbx_json_put_json(to, "io.modelcontextprotocol/serverInfo",
                          request->server->info, strlen(request->server->info));
        put_members(to, meta);
        (void)gbx_buf_puts(to, "}");
    } else if (meta != NULL) {
        gbx_json_put_json(to, "_meta", meta, strlen(meta));
    }
}

void gbx_mcp_reply_cacheable(gbx_buf *to, const gbx_mcp_request *request)
{
    if (!request->era.is_modern)
        return;
    gbx_json_put_integer(to, "ttlMs", TTL_MS);
    gbx_json_put_text(to, "cacheScope", "private");
}

void gbx_mcp_reply_end(gbx_mcp_request *request, gbx_buf *to)
{
    if (is_forgotten(request)) {
        gbx_buf_cleanup(to);
        gbx_mcp_request_free(request);
        return;
    }
    gbx_rpc_end(to);
    if (request->id_len == 0) { /* keep it until the client is back */
        gbx_buf_cleanup(&request->outcome);
        request->outcome = *to;
        request->is_finished = true;
        gbx_mcp_asks_end(request, GBX_MCP_ANSWER_ENDED);
        return;
    }
    send_answer(request, to);
    gbx_buf_cleanup(to);
    gbx_mcp_request_free(request);
}

void gbx_mcp_reply_outcome(gbx_mcp_request *request)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};
    gbx_buf *outcome = &request->outcome;

    begin_id(&to, request);
    gbx_json_put_key(&to, NULL);
    (void)gbx_buf_append(&to, outcome->data, outcome->len);
    to.failed = to.failed || outcome->failed;
    send_answer(request, &to);
    gbx_mcp_request_free(request);
}

void gbx_mcp_reply_interim(gbx_mcp_request *request, gbx_buf *to)
{
    gbx_rpc_end(to);
    send_answer(request, to);
    gbx_buf_cleanup(to);
    gbx_mcp_request_unbind(request);
}

void gbx_mcp_reply_empty(gbx_mcp_request *request)
{
    gbx_buf to;

    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    gbx_mcp_reply_end(request, &to);
}

static void fail_with(gbx_mcp_request *request, int code, const char *message,
                      const char *data)
{
    gbx_buf to;

    end_span(request, (gbx_call_outcome){.rpc_code = code});
    begin(&to, request, "error");
    gbx_rpc_put_error(&to, code, message, data);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_finish(gbx_mcp_request *request, const gbx_mcp_result *result)
{
    gbx_buf to;

    end_span(request, (gbx_call_outcome){.is_tool_error = result->is_error});
    if (is_forgotten(request)) {
        gbx_mcp_request_free(request);
        return;
    }
    gbx_mcp_reply_begin(&to, request, "complete", result->meta);
    gbx_json_put_json(&to, "content", result->content, result->content_len);
    gbx_json_put_json(&to, "structuredContent", result->structured,
                      result->structured_len);
    gbx_json_put_bool(&to, "isError", result->is_error);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_finish_resource(gbx_mcp_request *request, const char *contents, size_t len)
{
    gbx_buf to;

    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    gbx_json_put_json(&to, "contents", contents, len);
    gbx_mcp_reply_cacheable(&to, request);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_finish_members(gbx_mcp_request *request, const char *members, size_t len,
                            bool is_cacheable)
{
    gbx_buf to;

    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    gbx_json_put_json(&to, NULL, members, len);
    if (is_cacheable)
        gbx_mcp_reply_cacheable(&to, request);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_fail_no_resource(gbx_mcp_request *request, const char *uri,
                              const char *message)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf data = {.ceiling = (size_t)GBX_MCP_URI_MAX * 8};
    int code = request->era.is_modern ? GBX_RPC_INVALID_PARAMS : -32002;

    (void)gbx_buf_puts(&data, "{");
    gbx_json_put_text(&data, "uri", uri);
    (void)gbx_buf_append(&data, "}", 2); /* with its NUL */
    fail_with(request, code, message != NULL ? message : "no such resource",
              data.failed ? NULL : (const char *)data.data);
}

bool gbx_mcp_fail_undeclared(gbx_mcp_request *request, unsigned missing,
                             const char *message)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf data = {.ceiling = GBX_KIB(1)};

    if (missing == 0 || !request->era.is_modern)
        return false;
    (void)gbx_buf_puts(&data, "{");
    gbx_mcp_asking_put(&data, "requiredCapabilities", missing, NULL);
    (void)gbx_buf_puts(&data, "}");
    fail_with(request, GBX_RPC_MISSING_CAPABILITY, message, gbx_rpc_string(&data));
    return true;
}

void gbx_mcp_fail(gbx_mcp_request *request, int code, const char *message)
{
    fail_with(request, code, message, NULL);
}
