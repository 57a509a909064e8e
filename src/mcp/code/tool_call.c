/* SPDX-License-Identifier: MIT */
/*
 * tool_call - one call of an upstream server's tool, made by code (servers.x.tool()) or
 * by a model without a run (the tool `call`). It goes through the gate, and the reply
 * goes back to the caller. For code, the worker gets {"value"}, {"json"} or {"error"},
 * which servers.js turns into a value or an exception.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX  GBX_MIB(256)
#define CONTENT_MAX GBX_MIB(512)
#define META_MAX    GBX_KIB(64)

/* ---- shared --------------------------------------------------------------------- */

static gbx_code_call *of_code(gbx_tool_call *call)
{
    return (gbx_code_call *)(void *)call; /* its first member */
}

/* False: the code has ended and does not wait for the reply. */
static bool is_awaited(const gbx_code_call *call)
{
    return call->run == NULL || !call->run->is_ending;
}

/* Find read_file for readFile; the reply has the real name as well. */
static char *other_name(gbx_tool_call *base)
{
    const gbx_code_call *call = of_code(base);

    return is_awaited(call)
               ? gbx_code_other_name(call->code, base->up.server, base->up.tool)
               : NULL;
}

/* Pass it on, after the names of server and tool. */
static void on_progress(gbx_tool_call *base, const char *message, size_t len)
{
    const char *tool = base->up.tool;
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf line = {.ceiling = GBX_KIB(8) + (size_t)GBX_CODE_PROGRESS_MAX * 6};

    if (!is_awaited(of_code(base)))
        return;
    (void)gbx_buf_printf(&line, "%s.", base->up.server->name);
    (void)gbx_utf8_append_escaped(&line, tool, strlen(tool), GBX_ESCAPE_LINE);
    (void)gbx_buf_puts(&line, ": ");
    (void)gbx_utf8_append_escaped(&line, message,
                                  gbx_utf8_cut(message, len, GBX_CODE_PROGRESS_MAX),
                                  GBX_ESCAPE_LINE);
    if (!line.failed)
        gbx_mcp_progress(base->request, -1, (char *)line.data, line.len);
}

static void put_fault(const gbx_code_call *call, const gbx_gate_reply *reply,
                      gbx_buf *to)
{
    if (strcmp(reply->code, "NOT_FOUND") == 0)
        gbx_code_no_tool(call->code, call->base.up.server, call->base.up.tool, to);
    if (to->len == 0)
        (void)gbx_buf_puts(to, reply->message);
}

static double elapsed_ms(const gbx_code_call *call)
{
    return (double)(gbx_clock_now_ns() - call->base.start_ns) / (double)GBX_NS_PER_MS;
}

static void drop(gbx_tool_call *base)
{
    free(of_code(base)->message);
    free(of_code(base));
}

static void end_for_code(gbx_tool_call *base, const gbx_gate_reply *reply);

gbx_code_call *gbx_code_call_new(gbx_mcp_code *code, gbx_mcp_request *client,
                                 gbx_view server, gbx_view tool, gbx_view args,
                                 gbx_buf *message, const char **ret_code)
{
    const gbx_mcp_upstream_config *found;
    gbx_code_call *call;
    char server_name[GBX_CODE_SERVER_SIZE];
    char tool_name[GBX_TOOL_NAME_MAX + 1];

    if (!gbx_code_take_name(server, server_name, sizeof server_name) ||
        !gbx_code_take_name(tool, tool_name, sizeof tool_name) ||
        gbx_view_kind(args) != '{') {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf name = {.ceiling = GBX_TOOL_NAME_MAX};
        bool is_long = gbx_view_kind(tool) == '"' && !gbx_view_append_text(tool, &name);

        *ret_code = "INVALID_ARGS";
        (void)gbx_buf_puts(message, is_long ? GBX_CODE_LONG_NAME
                                            : "give server, tool and args, an object");
        return NULL;
    }
    found = gbx_code_find_server(code, server_name, message, ret_code);
    if (found == NULL)
        return NULL;
    call = gbx_need(calloc(1, sizeof *call));
    call->code = code;
    call->base.up.server = found;
    call->base.up.tool = gbx_need(strdup(tool_name));
    call->base.args_text = gbx_copy_bytes(args.at, args.len);
    call->base.args_len = args.len;
    call->base.request = client;
    call->base.holders = 1;
    call->base.done = end_for_code;
    call->base.drop = drop;
    call->base.other_name = other_name;
    if (gbx_mcp_wants_progress(client))
        call->base.progress = on_progress;
    return call;
}

static void detach(gbx_code_call *call)
{
    if (call->in_code.le_prev != NULL)
        LIST_REMOVE(call, in_code);
    call->in_code.le_prev = NULL;
}

static void ignore(gbx_tool_call *call, const gbx_gate_reply *reply)
{
}

void gbx_code_call_abandon(gbx_code_call *call)
{
    detach(call);
    call->base.done = ignore;
    call->base.progress = NULL;
    call->base.other_name = NULL;
    gbx_tool_call_release(&call->base);
}

/* ---- the answer to code --------------------------------------------------------- */

void gbx_code_answer_error(gbx_mcp_code *code, gbx_request request,
                           const char *error_code, const char *message, size_t len,
                           bool retryable)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf answer = {.ceiling = 6 * len + GBX_KIB(1)};

    (void)gbx_buf_printf(&answer,
                         "{\"error\":{\"code\":\"%s\",\"message\":", error_code);
    (void)gbx_json_append_string(&answer, message, len);
    (void)gbx_buf_printf(&answer, ",\"retryable\":%s}}", retryable ? "true" : "false");
    (void)gbx_need(answer.failed ? NULL : &answer);
    gbx_box_answer(code->box, request, (char *)answer.data, answer.len);
}

static void keep_bytes(void *user, const char *mime_type, const void *data, size_t len,
                       gbx_buf *handle)
{
    gbx_code_call *call = user;

    gbx_code_run_keep(call->run, call->base.up.tool, mime_type, data, len, handle);
}

/* Copy the message as the worker gets it in JSON: NUL is replaced. */
static char *copy_message(const char *message, size_t len)
{
    const char *nul;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_MIB(1)};

    for (; len > 0 && (nul = memchr(message, 0, len)) != NULL; message = nul + 1) {
        (void)gbx_buf_append(&text, message, (size_t)(nul - message));
        (void)gbx_buf_puts(&text, "\xEF\xBF\xBD");
        len -= (size_t)(nul + 1 - message);
    }
    (void)gbx_buf_append(&text, message, len);
    return gbx_buf_take_string(&text, NULL);
}

static void note_failure(gbx_code_call *call, const char *error_code,
                         const char *message, size_t len)
{
    call->failed = error_code;
    call->message = copy_message(message, len);
}

static void fail(gbx_code_call *call, const char *error_code, const char *message,
                 size_t len, bool retryable)
{
    note_failure(call, error_code, message, len);
    gbx_code_answer_error(call->code, call->asked, error_code, message, len, retryable);
}

/* A remark is made once per tool, however often a run calls it. */
static void remark_more(gbx_code_call *call, const gbx_value_parts *parts)
{
    const char *server = call->base.up.server->name;

    for (const gbx_code_call *o = call->run->calls; o != NULL; o = o->next)
        if (o->is_remarked && o->base.up.server == call->base.up.server &&
            strcmp(o->base.up.tool, call->base.up.tool) == 0)
            return;
    if (!gbx_value_has_more(parts))
        return;
    call->is_remarked = true;
    gbx_code_run_remark(call->run,
                        "%.64s.%s (line %u) gave more than its structured content, "
                        "which the code has alone: servers[\"%.64s\"].call(\"%s\", "
                        "args, { raw: true }) gives both",
                        server, call->base.up.tool, call->base.line, server,
                        call->base.up.tool);
}

/* value: JSON. If it may have integers beyond 2^53 - 1, servers.js parses it. */
static void send_value(gbx_code_call *call, gbx_view value, const gbx_buf *answer)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = 2 * ANSWER_MAX};

    if (!gbx_json_has_digits(value.at, value.len)) {
        gbx_box_answer(call->code->box, call->asked, (char *)answer->data, answer->len);
        return;
    }
    (void)gbx_buf_puts(&text, "{\"json\":");
    (void)gbx_json_append_string(&text, value.at, value.len);
    (void)gbx_need(gbx_buf_puts(&text, "}") ? &text : NULL);
    gbx_box_answer(call->code->box, call->asked, (char *)text.data, text.len);
}

static void answer_value(gbx_code_call *call, gbx_view result)
{
    static const char too_large[] =
        "the tool has done its work, but its result is too large for the box";
    static const char before[] = "{\"value\":";
    const size_t start = sizeof before - 1;
    const char *server = call->base.up.server->name;
    gbx_value_keeper keeper = {keep_bytes, call};
    gbx_value_parts parts = gbx_value_parts_of(result);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf answer = {.ceiling = ANSWER_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(16)};

    (void)gbx_buf_puts(&answer, before);
    if (call->raw)
        (void)gbx_buf_append(&answer, result.at, result.len);
    if (call->raw || gbx_value_of_result(&parts, &keeper, &answer, &message)) {
        if (!call->raw)
            remark_more(call, &parts);
        (void)gbx_buf_puts(&answer, "}");
        if (answer.failed) {
            fail(call, "OUTPUT_TOO_LARGE", too_large, strlen(too_large), false);
        } else {
            gbx_view value = {(char *)answer.data + start, answer.len - start - 1};

            send_value(call, value, &answer);
            gbx_value_sketch(value, call->gave);
        }
    } else {
        if (parts.structured.at != NULL)
            gbx_code_run_remark(call->run,
                                "the error of %.64s.%s (line %u) has structured "
                                "content: servers[\"%.64s\"].call(\"%s\", args, "
                                "{ raw: true }) gives the whole result, and throws "
                                "nothing",
                                server, call->base.up.tool, call->base.line, server,
                                call->base.up.tool);
        fail(call, "TOOL_ERROR", (char *)message.data, message.len, false);
    }
}

/* The code has ended, but the tool's effect must still be reported. */
static void note_outcome(gbx_code_call *call, const gbx_gate_reply *reply)
{
    gbx_value_parts parts = gbx_value_parts_of(reply->result);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(16)};

    if (reply->code == NULL && parts.is_error) {
        (void)gbx_value_of_result(&parts, NULL, NULL, &message);
        note_failure(call, "TOOL_ERROR", (char *)message.data, message.len);
    } else if (reply->code != NULL && strcmp(reply->code, "ABORTED") == 0) {
        call->failed =
            call->base.fate == GBX_GATE_NOT_SENT ? GBX_CODE_CALL_NOT_SENT : "CANCELLED";
    } else if (reply->code != NULL) {
        note_failure(call, reply->code, reply->message, strlen(reply->message));
    }
}

/* The run lives as long as this call is open, and may end with it. */
static void end_for_code(gbx_tool_call *base, const gbx_gate_reply *reply)
{
    gbx_code_call *call = of_code(base);
    gbx_code_run *run = call->run;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(16)};

    if (run->is_ending) {
        note_outcome(call, reply);
    } else if (reply->code == NULL) {
        answer_value(call, reply->result);
    } else {
        put_fault(call, reply, &message);
        fail(call, reply->code, (char *)message.data, message.len, reply->retryable);
    }
    call->bytes = reply->result.len;
    call->ms = elapsed_ms(call);
    free(call->base.args_text);
    call->base.args_text = NULL;
    run->open--;
    run->may_end(run);
}

/* ---- the tool `call` ------------------------------------------------------------ */

/* Write the result's _meta without entries of the protocol, which are ours to set.
 * Nothing if it is empty or too long. */
static void put_meta(gbx_view meta, gbx_buf *to)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    (void)gbx_buf_puts(to, "{");
    while (gbx_view_kind(meta) == '{' && gbx_view_next(meta, &cursor, &name, &value)) {
        if (memmem(name.at, name.len, "modelcontextprotocol", 20) != NULL ||
            memchr(name.at, '\\', name.len) != NULL)
            continue;
        (void)gbx_buf_puts(to, to->len > 1 ? "," : "");
        (void)gbx_buf_append(to, name.at, name.len);
        (void)gbx_buf_puts(to, ":");
        (void)gbx_view_append_json(value, to);
    }
    (void)gbx_buf_puts(to, "}");
    if (!gbx_buf_append(to, "", 1) || to->len <= sizeof "{}")
        gbx_buf_cleanup(to);
}

/* Costs follow the content; reports of cuts precede it. Many hosts show only blocks,
 * and old ones know nothing else, so a value without a block is repeated as text. */
static void answer_content(gbx_code_call *call, gbx_view result)
{
    gbx_upstream_id *server = call->base.up.server;
    bool has_resources = (gbx_upstreams_info(call->code->upstreams, server).has &
                          GBX_HAS_RESOURCES) != 0;
    gbx_value_parts parts = gbx_value_parts_of(result);
    gbx_mcp_result out = {.is_error = parts.is_error};
    gbx_blocks_room room = {.max = (size_t)call->code->settings->reply_bytes,
                            .store = call->code->artifacts,
                            .name = call->base.up.tool,
                            .version = gbx_mcp_request_version(call->base.request),
                            .server = has_resources ? server->name : NULL,
                            .now_ns = gbx_clock_now_ns()};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf blocks = {.ceiling = CONTENT_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf first = {.ceiling = GBX_KIB(16)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf all = {.ceiling = CONTENT_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf meta = {.ceiling = META_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf reason = {.ceiling = GBX_KIB(16)};

    put_meta(gbx_view_member(result, "_meta"), &meta);
    out.meta = (char *)meta.data;
    gbx_blocks_write(parts.content, &room, &blocks, &first);
    if (gbx_view_kind(parts.structured) == '{' && parts.structured.len <= room.max) {
        out.structured = parts.structured.at;
        out.structured_len = parts.structured.len;
    }
    if (out.is_error && blocks.len == 0) { /* the reason that code would get */
        (void)gbx_value_of_result(&parts, NULL, NULL, &reason);
        gbx_block_text(&blocks, reason.data, reason.len);
    } else if (parts.structured.at != NULL && blocks.len == 0)
        gbx_blocks_json(parts.structured, &room, &blocks, &first);
    (void)gbx_buf_puts(&all, "[");
    if (first.len > 0)
        gbx_block_text(&all, first.data, first.len);
    if (blocks.len > 0) {
        gbx_json_put_key(&all, NULL);
        (void)gbx_buf_append(&all, blocks.data, blocks.len);
    }
    first.len = 0;
    (void)gbx_buf_printf(&first, "(1 call; %.0f ms; %zu bytes%s)", elapsed_ms(call),
                         result.len,
                         blocks.len == 0 ? "; the tool gave nothing back" : "");
    gbx_block_text(&all, first.data, first.len);
    (void)gbx_buf_puts(&all, "]");
    if (all.failed || blocks.failed) {
        gbx_mcp_fail(call->base.request, GBX_RPC_INTERNAL_ERROR, "memory is out");
        return;
    }
    out.content = (char *)all.data;
    out.content_len = all.len;
    gbx_mcp_finish(call->base.request, &out);
}

static void end_for_client(gbx_tool_call *base, const gbx_gate_reply *reply)
{
    gbx_code_call *call = of_code(base);
    gbx_buf message;

    if (reply->code == NULL) {
        answer_content(call, reply->result);
    } else {
        gbx_call_span_note(gbx_mcp_request_span(base->request), reply->code);
        gbx_buf_init(&message, GBX_KIB(8));
        put_fault(call, reply, &message);
        if (!gbx_mcp_fail_undeclared(base->request, base->missing,
                                     gbx_rpc_string(&message)))
            gbx_code_say_wrong(call->code, call->base.request, "%s: %.*s%s",
                               reply->code, (int)message.len, (char *)message.data,
                               reply->retryable ? " (worth another try)" : "");
        gbx_buf_cleanup(&message);
    }
    detach(call);
    gbx_tool_call_release(&call->base);
}

static void on_cancel(void *user)
{
    gbx_gate_cancel(user);
}

void gbx_code_call_tool(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static const char *const names[] = {"server", "tool", "args", NULL};
    gbx_mcp_code *code = user;
    gbx_view args = gbx_view_member(arguments, "args");
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message = {.ceiling = GBX_KIB(8)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {0};
    gbx_code_call *call;
    const char *why;

    gbx_code_look_at_file(code);
    if (gbx_code_refuse_names(code, request, arguments, names))
        return;
    /* Some models write the object as a string, which is then unpacked into text. */
    gbx_buf_init_secret(&text, args.len);
    if (gbx_view_kind(args) == '"' &&
        (!gbx_view_take_text(args, &text) ||
         !gbx_view_open((const char *)text.data, text.len, &args)))
        args = (gbx_view){"\"\"", 2};
    else if (args.at == NULL || gbx_view_kind(args) == 'n')
        args = (gbx_view){"{}", 2};
    call = gbx_code_call_new(code, request, gbx_view_member(arguments, "server"),
                             gbx_view_member(arguments, "tool"), args, &message, &why);
    if (call == NULL) {
        gbx_code_say_wrong(code, request, "%s: %.*s", why, (int)message.len,
                           (char *)message.data);
        return;
    }
    call->base.done = end_for_client;
    LIST_INSERT_HEAD(&code->calls, call, in_code);
    gbx_mcp_on_cancel(request, on_cancel, &call->base);
    gbx_gate_start(code->gate, &call->base);
}
