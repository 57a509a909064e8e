/* SPDX-License-Identifier: MIT */
/*
 * gate_call - the life of a call, and sending it. Its arguments are sent byte for byte
 * as they were decided, except for secrets: these are filled in last, and redacted from
 * the answer first.
 */
#include "mcp/approval/gate_call.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX GBX_KIB(4)
#define WORDS_MAX   GBX_MIB(64) /* of a message before it is cut to head and tail */
#define META_MAX    GBX_KIB(16) /* fits three entries of 4 KiB */
#define CHANGES_MAX 3           /* after this many, the server's processes disagree */

/* ---- its life ----------------------------------------------------------------- */

void gbx_tool_call_release(gbx_tool_call *call)
{
    if (--call->holders > 0)
        return;
    free(call->tool);
    free(call->called);
    free(call->args_text);
    gbx_buf_cleanup(&call->filled);
    free(call->meta);
    free(call->rule);
    free(call->refusal);
    call->drop(call);
}

bool gbx_gate_called_back(gbx_tool_call *call)
{
    bool goes_on = call->state != GBX_TOOL_CALL_DONE && !call->cancelled;

    if (call->state != GBX_TOOL_CALL_DONE && call->cancelled)
        gbx_gate_refuse(call, "ABORTED", "the call was cancelled");
    gbx_tool_call_release(call); /* the gate still holds a call that continues */
    return goes_on;
}

void gbx_gate_finish(gbx_tool_call *call, const gbx_gate_reply *reply)
{
    gbx_gate *gate = call->gate;
    gbx_mcp_request *request = call->request;

    gbx_gate_log(call, reply);
    gbx_gate_redact_stop(call->sift);
    TAILQ_REMOVE(&gate->calls, call, in_gate);
    gbx_mcp_timer_cleanup(&call->later);
    call->state = GBX_TOOL_CALL_DONE;
    call->gate = NULL;
    call->done(call, reply);
    gbx_tool_call_release(call);
    gbx_gate_next_question(gate, request);
}

void gbx_gate_refuse(gbx_tool_call *call, const char *code, const char *format, ...)
{
    gbx_gate_reply reply = {.code = code, .message = "", .retryable = call->retryable};
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = WORDS_MAX, .is_secret = true};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean = {.ceiling = WORDS_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown = {.ceiling = MESSAGE_MAX * 4};
    va_list args;

    va_start(args, format);
    (void)gbx_buf_vprintf(&text, format, args);
    va_end(args);
    if (call->fate == GBX_GATE_DOUBTFUL)
        (void)gbx_buf_puts(&text, "; " GBX_GATE_DOUBT);
    /* Redact before cutting: a cut would hide half of a secret. If memory is out, the
     * message is left empty. */
    if (!text.failed &&
        gbx_gate_redact(call->gate, (const char *)text.data, text.len, &clean) &&
        gbx_utf8_append_ends(&shown, clean.data, clean.len, MESSAGE_MAX))
        reply.message = gbx_rpc_string(&shown);
    gbx_gate_finish(call, &reply);
}

void gbx_gate_fail(gbx_tool_call *call, const gbx_upstream_reply *reply)
{
    const char *code = gbx_upstream_fault_name(reply->fault);

    call->retryable = gbx_upstream_is_retryable(reply);
    if (reply->remedy != GBX_REMEDY_SIGN_IN || call->has_signed_in) {
        gbx_gate_refuse(call, code, "%s", reply->message);
        return;
    }
    call->refusal_code = code;
    free(call->refusal);
    call->refusal = gbx_need(strdup(reply->message));
    call->state = GBX_TOOL_CALL_UNSIGNED;
    gbx_mcp_timer_fire(&call->later);
}

bool gbx_gate_rename(gbx_tool_call *call)
{
    char *name = call->other_name != NULL ? call->other_name(call) : NULL;

    call->other_name = NULL;
    if (name == NULL)
        return false;
    call->called = call->tool;
    call->tool = name;
    return true;
}

const char *gbx_gate_reason(const gbx_tool_call *call)
{
    size_t rule = call->verdict.rule;

    return rule != GBX_GATE_NO_RULE ? call->gate->config->rules->items[rule].reason
                                    : NULL;
}

bool gbx_gate_is_busy(const gbx_gate *gate, const gbx_mcp_request *request)
{
    const gbx_tool_call *call;

    TAILQ_FOREACH(call, &gate->calls, in_gate)
    {
        if (call->request == request && call->state == GBX_TOOL_CALL_ASKING)
            return true;
    }
    return false;
}

void gbx_gate_next_question(gbx_gate *gate, gbx_mcp_request *request)
{
    gbx_tool_call *call;

    if (gbx_gate_is_busy(gate, request))
        return;
    TAILQ_FOREACH(call, &gate->calls, in_gate)
    {
        if (call->request == request && call->state == GBX_TOOL_CALL_WAITING) {
            gbx_mcp_timer_fire(&call->later);
            return;
        }
    }
}

/* ---- sending it --------------------------------------------------------------- */

/* End the call with the redacted result. */
static void on_sifted(void *user, const gbx_gate_sifted *sifted)
{
    gbx_tool_call *call = user;
    gbx_gate_reply reply = {.message = "", .result = sifted->text};

    call->sift = NULL;
    if (!gbx_gate_called_back(call))
        return;
    if (!sifted->done)
        gbx_gate_refuse(call, "UPSTREAM_PROTOCOL",
                        "the answer is too large to be looked through for secrets");
    else if (sifted->changed &&
             !gbx_view_open(sifted->text.at, sifted->text.len, &reply.result))
        gbx_gate_refuse(call, "UPSTREAM_PROTOCOL",
                        "the answer is not JSON without its secrets");
    else {
        call->fate = GBX_GATE_ANSWERED;
        gbx_gate_finish(call, &reply);
    }
}

/* Uses the server's present statement about the tool: the decision may not
 * have needed one. */
static gbx_gate_fate fate_of(const gbx_tool_call *call, const gbx_upstream_reply *reply)
{
    if (reply->fault == GBX_UPSTREAM_REFUSED && !reply->is_passing)
        return GBX_GATE_ANSWERED;
    if (reply->fault != GBX_UPSTREAM_OK && !gbx_upstream_may_have_acted(reply))
        return GBX_GATE_NOT_SENT;
    return gbx_upstreams_tool(call->gate->upstreams, call->server, call->tool) ==
                   GBX_GATE_HINT_READS
               ? GBX_GATE_HARMLESS
               : GBX_GATE_DOUBTFUL;
}

static void decide_again(gbx_tool_call *call)
{
    call->state = GBX_TOOL_CALL_UNDECIDED;
    gbx_mcp_timer_fire(&call->later);
}

static void on_reply(void *user, const gbx_upstream_reply *reply)
{
    gbx_tool_call *call = user;

    call->upstream = NULL;
    gbx_buf_cleanup(&call->filled);
    if (call->gate != NULL)
        call->fate = fate_of(call, reply);
    if (!gbx_gate_called_back(call))
        return;
    if (reply->fault == GBX_UPSTREAM_OK) {
        call->result_bytes = reply->result.len;
        call->holders++;
        gbx_gate_redact_start(call->gate, GBX_SECRET_DATA, &reply->result, 1, on_sifted,
                              call, &call->sift);
        return;
    }
    if (reply->fault == GBX_UPSTREAM_CHANGED && ++call->changes < CHANGES_MAX) {
        call->answer = NULL; /* the person answered for the tool as it was before */
        decide_again(call);
        return;
    }
    if (reply->fault == GBX_UPSTREAM_UNKNOWN_TOOL && gbx_gate_rename(call)) {
        decide_again(call);
        return;
    }
    gbx_gate_fail(call, reply);
}

static void on_progress(void *user, const char *message, size_t len)
{
    gbx_tool_call *call = user;
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf clean = {.ceiling = gbx_gate_redact_ceiling(len)};

    if (call->state == GBX_TOOL_CALL_SENT && call->progress != NULL &&
        gbx_mcp_hears_progress(call->request) &&
        gbx_gate_redact(call->gate, message, len, &clean))
        call->progress(call, (const char *)clean.data, clean.len);
}

/* The trace of the request, as members of _meta; NULL: it has none. */
static char *print_meta(const gbx_tool_call *call)
{
    static const char *const names[] = {"traceparent", "tracestate", "baggage"};
    gbx_buf to = {.ceiling = META_MAX};

    for (size_t i = 0; call->request != NULL && i < GBX_COUNTOF(names); i++) {
        gbx_view value = gbx_mcp_request_meta(call->request, names[i]);

        if (gbx_view_kind(value) != '"' || value.len > GBX_KIB(4))
            continue;
        (void)gbx_buf_printf(&to, "%s\"%s\":", to.len > 0 ? "," : "", names[i]);
        (void)gbx_buf_append(&to, value.at, value.len);
    }
    return to.len > 0 ? gbx_need(gbx_buf_take_string(&to, NULL)) : NULL;
}

void gbx_gate_pass(gbx_tool_call *call)
{
    gbx_span args = {(const uint8_t *)call->args.at, call->args.len};
    gbx_upstream_request request = {
        .server = call->server,
        .tool = call->tool,
        .author = call->request,
        .args = call->args,
        .timeout_ms = call->timeout_ms,
        .hint = call->verdict.used_hint ? call->verdict.hint : GBX_GATE_HINT_UNKNOWN,
        .progress = call->progress != NULL ? on_progress : NULL,
        .done = on_reply,
        .user = call};
    gbx_error err = {0};

    if (gbx_secrets_are_in(args)) {
        if (gbx_secrets_fill_json(call->gate->config->rules->secrets,
                                  call->server->name, args, &call->filled,
                                  &err) != GBX_OK) {
            gbx_gate_refuse(call, "INVALID_ARGS", "%s", err.message);
            return;
        }
        request.args = (gbx_view){(const char *)call->filled.data, call->filled.len};
    }
    free(call->meta);
    request.meta = call->meta = print_meta(call);
    call->state = GBX_TOOL_CALL_SENT;
    call->holders++;
    call->upstream = gbx_upstream_start(call->gate->upstreams, &request);
}

void gbx_gate_cancel(gbx_tool_call *call)
{
    if (call->cancelled || call->state == GBX_TOOL_CALL_DONE)
        return;
    call->cancelled = true;
    /* The server is notified, and the upstream callback ends the call. Other callbacks
     * are not awaited. */
    if (call->upstream != NULL)
        gbx_upstream_cancel(call->upstream);
    else
        gbx_mcp_timer_fire(&call->later);
}

bool gbx_gate_was_sent(const gbx_tool_call *call)
{
    return call->state == GBX_TOOL_CALL_SENT &&
           (call->upstream == NULL || gbx_upstream_was_sent(call->upstream));
}

bool gbx_gate_is_asking(const gbx_tool_call *call)
{
    return call->state == GBX_TOOL_CALL_ASKING || call->state == GBX_TOOL_CALL_WAITING;
}
