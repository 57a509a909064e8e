/* SPDX-License-Identifier: MIT */
/* session_call - one call of a tool, its progress and its answer. */
#include "mcp/upstream/session_parts.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/upstream/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for the arguments, plus the message around them. */
#define MESSAGE_MAX (GBX_LINK_MESSAGE_MAX + GBX_KIB(64))

#define WORDS_MAX GBX_KIB(64) /* of an error */
#define DATA_MAX  GBX_KIB(1)  /* of the data of an error */

#define HEADER_MISMATCH    (-32020)
#define MISSING_CAPABILITY (-32021)
#define URL_NEEDED         (-32042)

static const char needs_input[] =
    "the tool asks for input from a person, which a nested call cannot give";

static const char is_task[] =
    "it answers with a task, though none was asked for: whether and how that ends is not known";

static void answer(gbx_session_request *p, const gbx_upstream_reply *reply)
{
    p->answer(p->user, reply);
    free(p);
}

/* Append the error's data without values of secrets: redacted first, then cut. Nothing
 * if memory is out. */
static void put_data(const gbx_session *s, gbx_view data, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    GBX_CLEANUP(gbx_free) char *clean = NULL;

    gbx_buf_init_secret(&text, data.len + 1);
    if (gbx_view_kind(data) == '"')
        (void)gbx_view_append_text(data, &text);
    else if (gbx_view_kind(data) != 0 && gbx_view_kind(data) != 'n')
        (void)gbx_rpc_append_json(&text, data.at, data.len);
    if (gbx_buf_append(&text, "", 1))
        clean = gbx_redact_text(s->options.yard->secrets, (const char *)text.data);
    if (clean != NULL)
        (void)gbx_utf8_append_ends(to, clean, strlen(clean), DATA_MAX);
}

/* Its message, code and data: some servers say more by the latter two than by words. */
static void put_refusal(const gbx_session *s, gbx_view error, int code, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf words = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf data = {0};
    bool has_words;

    gbx_buf_init_secret(&words, WORDS_MAX);
    gbx_buf_init_secret(&data, DATA_MAX + GBX_KIB(1));
    (void)gbx_view_append_text(gbx_rpc_error_message(error), &words);
    for (size_t i = 0; i < words.len; i++)
        words.data[i] = words.data[i] == '\0' ? ' ' : words.data[i];
    put_data(s, gbx_view_member(error, "data"), &data);
    has_words = !words.failed && words.len > 0;
    if (has_words)
        (void)gbx_buf_append(to, words.data, words.len);
    else if (data.len > 0)
        (void)gbx_buf_append(to, data.data, data.len);
    else
        (void)gbx_buf_puts(to, "no reason was given");
    (void)gbx_buf_printf(to, " (error %d)", code);
    if (has_words && data.len > 0)
        (void)gbx_buf_printf(to, ": %.*s", (int)data.len, (const char *)data.data);
    (void)gbx_buf_append(to, "", 1);
}

static void answer_error(const gbx_session *s, gbx_session_request *p, gbx_view error)
{
    gbx_upstream_reply reply = {.fault = GBX_UPSTREAM_REFUSED,
                                .code = gbx_rpc_error_code(error)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};

    if (reply.code == MISSING_CAPABILITY || reply.code == URL_NEEDED)
        reply.fault = GBX_UPSTREAM_INPUT;
    gbx_buf_init_secret(&text, WORDS_MAX + DATA_MAX + GBX_KIB(2));
    put_refusal(s, error, reply.code, &text);
    reply.message = text.failed ? "no reason was given" : (const char *)text.data;
    answer(p, &reply);
}

static void answer_result(gbx_session_request *p, gbx_view result)
{
    enum { TYPE, CONTENT, STRUCTURED, TASK, MEMBERS };
    static const char *const names[] = {"resultType", "content", "structuredContent",
                                        "task"};
    gbx_upstream_reply reply = {.message = "", .result = result};
    gbx_view m[MEMBERS];
    char content;

    gbx_view_members(result, names, MEMBERS, m);
    content = gbx_view_kind(m[CONTENT]);
    if (gbx_view_kind(result) != '{') {
        reply = (gbx_upstream_reply){.fault = GBX_UPSTREAM_PROTOCOL,
                                     .message = "the result is not an object"};
    } else if (gbx_view_is_text(m[TYPE], "input_required")) {
        reply =
            (gbx_upstream_reply){.fault = GBX_UPSTREAM_INPUT, .message = needs_input};
    } else if (gbx_view_is_text(m[TYPE], "task") ||
               (gbx_view_kind(m[TASK]) == '{' && gbx_view_count(m[CONTENT]) == 0 &&
                m[STRUCTURED].at == NULL)) {
        reply =
            (gbx_upstream_reply){.fault = GBX_UPSTREAM_PROTOCOL, .message = is_task};
    } else if (m[TYPE].at != NULL && !gbx_view_is_text(m[TYPE], "complete")) {
        reply = (gbx_upstream_reply){.fault = GBX_UPSTREAM_PROTOCOL,
                                     .message = "the result is of an unknown type"};
    } else if (content != 0 && content != 'n' && content != '[') {
        reply =
            (gbx_upstream_reply){.fault = GBX_UPSTREAM_PROTOCOL,
                                 .message = "the content of the result is not a list"};
    }
    answer(p, &reply);
}

/* Its message, or "3/10". False: it has neither. */
static bool put_progress(gbx_view params, gbx_buf *to)
{
    gbx_view message = gbx_view_member(params, "message");
    gbx_view progress = gbx_view_member(params, "progress");
    gbx_view total = gbx_view_member(params, "total");

    if (gbx_view_kind(message) == '"' && message.len > 2)
        return gbx_view_append_text(message, to);
    if (gbx_view_kind(progress) != '0')
        return false;
    (void)gbx_buf_append(to, progress.at, progress.len);
    if (gbx_view_kind(total) == '0') {
        (void)gbx_buf_puts(to, "/");
        (void)gbx_buf_append(to, total.at, total.len);
    }
    return !to->failed;
}

/* ---- the rest of the session ---------------------------------------------- */

void gbx_session_on_call(gbx_session *s, gbx_session_request *p,
                         const gbx_rpc_message *message)
{
    if (message->kind == GBX_RPC_ERROR) {
        if (gbx_rpc_error_code(message->payload) == HEADER_MISMATCH)
            gbx_session_on_change(s); /* it wants other headers than its list
                                       * of tools says */
        answer_error(s, p, message->payload);
    } else {
        answer_result(p, message->payload);
    }
}

void gbx_session_fail_call(gbx_session *s, gbx_session_request *p,
                           gbx_upstream_fault fault, const char *why,
                           bool was_not_begun)
{
    gbx_upstream_reply reply = {.fault = fault,
                                .message = why,
                                .was_not_begun = was_not_begun};

    (void)s;
    answer(p, &reply);
}

void gbx_session_answer_call(gbx_session_request *p, const gbx_upstream_reply *reply)
{
    answer(p, reply);
}

void gbx_session_on_progress(gbx_session *s, gbx_view params)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    int64_t id;

    if (!gbx_id_read(gbx_view_member(params, "progressToken"), &id))
        return;
    for (const gbx_session_request *p = s->pending; p != NULL; p = p->next) {
        if (p->id != id || p->progress == NULL)
            continue;
        gbx_buf_init_secret(&text, GBX_KIB(64));
        if (put_progress(params, &text))
            p->progress(p->user, (const char *)text.data, text.len);
        return;
    }
}

/* ---- public to other modules -------------------------------------------- */

int64_t gbx_session_start_call(gbx_session *session, const gbx_session_call *call)
{
    gbx_session_request *p = gbx_session_expect(session, GBX_ASK_CALL);
    const gbx_tool *tool = gbx_tools_find(&session->tools, call->tool);
    gbx_link_message about = {.method = "tools/call",
                              .name = call->tool,
                              .is_again = call->is_again,
                              .is_repeatable = tool != NULL && tool->is_repeatable};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    int64_t token = 0;

    gbx_buf_init_secret(&text, MESSAGE_MAX);
    if (p == NULL)
        return 0;
    p->user = call->user;
    p->progress = call->progress;
    p->answer = call->answer;
    about.id = p->id;
    if (tool != NULL && session->link != NULL && session->link->ops->has_headers &&
        gbx_view_open(call->args, call->args_len, &about.args))
        about.schema = gbx_tools_schema(&session->tools, tool);
    if (call->progress != NULL)
        token = p->id;
    gbx_rpc_begin_request(&text, p->id, about.method);
    (void)gbx_buf_puts(&text, "{\"name\":");
    (void)gbx_json_append_string(&text, call->tool, strlen(call->tool));
    (void)gbx_buf_puts(&text, ",\"arguments\":");
    (void)gbx_rpc_append_json(&text, call->args, call->args_len);
    if (session->facts.is_modern || token != 0 || call->meta != NULL) {
        (void)gbx_buf_puts(&text, ",");
        gbx_session_put_meta(session, token, call->meta, &text);
    }
    (void)gbx_buf_puts(&text, "}");
    gbx_rpc_end(&text);
    if (gbx_session_send(session, &text, &about))
        return about.id;
    free(gbx_session_take(session, about.id));
    return 0;
}

void gbx_session_drop_call(gbx_session *session, int64_t id, const char *reason)
{
    gbx_session_request *p = gbx_session_take(session, id);
    char params[128];

    if (p == NULL)
        return;
    free(p);
    if (session->link == NULL)
        return;
    (void)snprintf(params, sizeof params, "\"requestId\":%" PRId64 ",\"reason\":\"%s\"",
                   id, reason);
    gbx_session_notify(session, "notifications/cancelled", params);
    session->link->ops->forget(session->link, id);
}
