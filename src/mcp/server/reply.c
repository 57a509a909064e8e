/* SPDX-License-Identifier: MIT */
/* reply - results and errors in the form of the request's era. While the client does
 * not wait because a person is being asked, the outcome is kept without its id. */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <string.h>

/* Changes of lists are announced; this bounds how long a client that does not listen is
 * out of date. */
#define TTL_MS 60000

static void begin(gbx_buf *to, const gbx_mcp_request *request, const char *member)
{
    if (request->id_len > 0) {
        (void)gbx_buf_puts(to, "{\"jsonrpc\":\"2.0\",\"id\":");
        (void)gbx_buf_append(to, request->id, request->id_len);
        (void)gbx_buf_puts(to, ",");
    }
    (void)gbx_buf_printf(to, "\"%s\":{", member);
}

/* The members of a JSON object, without its braces and with a comma before them. */
static void append_members(gbx_buf *to, const char *object)
{
    gbx_view view;

    if (object == NULL || !gbx_view_open(object, strlen(object), &view) ||
        gbx_view_kind(view) != '{')
        return;
    for (size_t i = 1; i + 1 < view.len; i++) {
        if (strchr(" \t\r\n", view.at[i]) != NULL)
            continue;
        (void)gbx_buf_puts(to, ",");
        (void)gbx_rpc_append_json(to, view.at + i, view.len - 1 - i);
        return;
    }
}

/* Does no client wait, and will none return? */
static bool is_forgotten(const gbx_mcp_request *request)
{
    return request->session == NULL || request->is_cancelled ||
           (request->id_len == 0 && request->round == 0);
}

static void append_error(gbx_buf *to, int code, const char *message, const char *data)
{
    (void)gbx_buf_printf(to, "\"code\":%d,\"message\":", code);
    (void)gbx_json_append_shown(to, message, strlen(message));
    if (data != NULL) {
        (void)gbx_buf_puts(to, ",\"data\":");
        (void)gbx_rpc_append_json(to, data, strlen(data));
    }
}

/* Every message to a client leaves here, as one line of JSON. Invisible characters are
 * escaped for people who read the line. */
static bool send_line(const gbx_mcp_session *session, gbx_buf *message)
{
    return gbx_utf8_escape(message, 0, GBX_ESCAPE_JSON) &&
           session->hooks.send(session->hooks.user, message->data, message->len);
}

/* On an answer, clients drop its progress listener before they handle progress that was
 * read in the same go. So the answer must be read separately. */
static bool send_answer(const gbx_mcp_request *request, gbx_buf *answer)
{
    const gbx_mcp_session_hooks *hooks = &request->session->hooks;

    if (answer->failed)
        return false;
    if (request->progress > GBX_MCP_NO_PROGRESS && hooks->part != NULL)
        hooks->part(hooks->user);
    return send_line(request->session, answer);
}

/* The answer is too long, or memory is out: send an error instead. */
static void send_instead(gbx_mcp_request *request)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};
    gbx_mcp_session *session = request->session;

    begin(&to, request, "error");
    append_error(&to, GBX_RPC_INTERNAL_ERROR,
                 "the answer cannot be sent: it is too large, or too much waits to be "
                 "read already",
                 NULL);
    (void)gbx_buf_puts(&to, "}}\n");
    if (!send_line(session, &to))
        session->hooks.give_up(session->hooks.user);
}

/* JSON as text. */
static void add_shown(gbx_buf *to, const char *json, size_t len)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown = {0};

    gbx_buf_init(&shown, len + 1);
    (void)gbx_view_append_json((gbx_view){json, len}, &shown);
    (void)gbx_json_append_shown(to, shown.data, shown.len);
    to->failed = to->failed || shown.failed;
}

static void add_content(gbx_buf *to, const gbx_mcp_result *result)
{
    bool has_text = result->text != NULL || result->structured == NULL;

    (void)gbx_buf_puts(to, ",\"content\":");
    if (result->content != NULL) {
        (void)gbx_rpc_append_json(to, result->content, result->content_len);
    } else {
        (void)gbx_buf_puts(to, "[{\"type\":\"text\",\"text\":");
        if (has_text && result->text == NULL)
            (void)gbx_buf_puts(to, "\"\"");
        else if (has_text)
            (void)gbx_json_append_shown(to, result->text, result->text_len);
        else
            add_shown(to, result->structured, result->structured_len);
        (void)gbx_buf_puts(to, "}]");
    }
    if (result->structured != NULL) {
        (void)gbx_buf_puts(to, ",\"structuredContent\":");
        (void)gbx_rpc_append_json(to, result->structured, result->structured_len);
    }
    (void)gbx_buf_printf(to, ",\"isError\":%s", result->is_error ? "true" : "false");
}

/* The first member of the result has no comma; both objects are closed. */
static void close_result(const gbx_mcp_request *request, gbx_buf *to)
{
    size_t first = request->members_at;

    if (first > 0 && first < to->len && to->data[first] == ',')
        to->data[first] = ' ';
    (void)gbx_buf_puts(to, "}}\n");
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_reply_begin(gbx_buf *to, gbx_mcp_request *request, const char *result_type,
                         const char *meta)
{
    gbx_buf_init(to, GBX_MCP_MESSAGE_MAX);
    begin(to, request, "result");
    request->members_at = to->len;
    if (request->era.is_modern) {
        (void)gbx_buf_printf(to, ",\"resultType\":\"%s\",\"_meta\":{", result_type);
        (void)gbx_buf_puts(to, "\"io.modelcontextprotocol/serverInfo\":");
        (void)gbx_buf_puts(to, request->server->info);
        append_members(to, meta);
        (void)gbx_buf_puts(to, "}");
    } else if (meta != NULL) {
        (void)gbx_buf_puts(to, ",\"_meta\":");
        (void)gbx_rpc_append_json(to, meta, strlen(meta));
    }
}

void gbx_mcp_reply_cacheable(gbx_buf *to, const gbx_mcp_request *request)
{
    if (request->era.is_modern)
        (void)gbx_buf_printf(to, ",\"ttlMs\":%d,\"cacheScope\":\"private\"", TTL_MS);
}

void gbx_mcp_reply_end(gbx_mcp_request *request, gbx_buf *to)
{
    if (is_forgotten(request)) {
        gbx_buf_cleanup(to);
        gbx_mcp_request_free(request);
        return;
    }
    close_result(request, to);
    if (request->id_len == 0) { /* keep it until the client is back */
        gbx_buf_cleanup(&request->outcome);
        request->outcome = *to;
        request->is_finished = true;
        gbx_mcp_asks_end(request, GBX_MCP_ANSWER_ENDED);
        return;
    }
    if (!send_answer(request, to))
        send_instead(request);
    gbx_buf_cleanup(to);
    gbx_mcp_request_free(request);
}

void gbx_mcp_reply_outcome(gbx_mcp_request *request)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};
    gbx_buf *outcome = &request->outcome;

    (void)gbx_buf_puts(&to, "{\"jsonrpc\":\"2.0\",\"id\":");
    (void)gbx_buf_append(&to, request->id, request->id_len);
    (void)gbx_buf_puts(&to, ",");
    (void)gbx_buf_append(&to, outcome->data, outcome->len);
    if (outcome->failed || !send_answer(request, &to))
        send_instead(request);
    gbx_mcp_request_free(request);
}

void gbx_mcp_reply_interim(gbx_mcp_request *request, gbx_buf *to)
{
    close_result(request, to);
    if (!send_answer(request, to))
        send_instead(request);
    gbx_buf_cleanup(to);
    gbx_mcp_request_unbind(request);
}

void gbx_mcp_reply_empty(gbx_mcp_request *request)
{
    gbx_buf to;

    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    gbx_mcp_reply_end(request, &to);
}

static void mcp_fail_with(gbx_mcp_request *request, int code, const char *message,
                          const char *data)
{
    gbx_buf to;

    gbx_buf_init(&to, GBX_MCP_MESSAGE_MAX);
    begin(&to, request, "error");
    append_error(&to, code, message, data);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_session_send(gbx_mcp_session *session, gbx_buf *message)
{
    if (!message->failed && !session->is_ended)
        (void)send_line(session, message);
    gbx_buf_cleanup(message);
}

void gbx_mcp_session_refuse(gbx_mcp_session *session, gbx_view id, int code,
                            const char *message, const char *data)
{
    gbx_buf to;

    gbx_buf_init(&to, GBX_MCP_MESSAGE_MAX);
    gbx_rpc_append_error(&to, id, code, message, data);
    gbx_mcp_session_send(session, &to);
}

void gbx_mcp_finish(gbx_mcp_request *request, const gbx_mcp_result *result)
{
    gbx_buf to;

    if (is_forgotten(request)) {
        gbx_mcp_request_free(request);
        return;
    }
    gbx_mcp_reply_begin(&to, request, "complete", result->meta);
    add_content(&to, result);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_finish_error(gbx_mcp_request *request, const char *text)
{
    gbx_mcp_result result = {.text = text, .text_len = strlen(text), .is_error = true};

    gbx_mcp_finish(request, &result);
}

void gbx_mcp_finish_resource(gbx_mcp_request *request, const char *contents, size_t len)
{
    gbx_buf to;

    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    (void)gbx_buf_puts(&to, ",\"contents\":");
    (void)gbx_rpc_append_json(&to, contents, len);
    gbx_mcp_reply_cacheable(&to, request);
    gbx_mcp_reply_end(request, &to);
}

void gbx_mcp_fail_no_resource(gbx_mcp_request *request, const char *uri,
                              const char *message)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf data = {.ceiling = (size_t)GBX_MCP_URI_MAX * 8};
    int code = request->era.is_modern ? GBX_RPC_INVALID_PARAMS : -32002;

    (void)gbx_buf_puts(&data, "{\"uri\":");
    (void)gbx_json_append_string(&data, uri, strlen(uri));
    (void)gbx_buf_puts(&data, "}");
    (void)gbx_buf_append(&data, "", 1);
    mcp_fail_with(request, code, message != NULL ? message : "no such resource",
                  data.failed ? NULL : (const char *)data.data);
}

void gbx_mcp_fail(gbx_mcp_request *request, int code, const char *message)
{
    mcp_fail_with(request, code, message, NULL);
}
