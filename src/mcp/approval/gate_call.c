/* SPDX-License-Identifier: MIT */
/* gate_call - the life of a call, from its start to its one reply. */
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

void gbx_tool_call_release(gbx_tool_call *call)
{
    if (--call->holders > 0)
        return;
    free(call->up.tool);
    free(call->called);
    free(call->args_text);
    gbx_buf_cleanup(&call->filled);
    free(call->up.meta);
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
    call->error_code = reply->code;
    call->missing = reply->missing;
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
    call->called = call->up.tool;
    call->up.tool = name;
    return true;
}

const char *gbx_gate_reason(const gbx_tool_call *call)
{
    size_t rule = call->verdict.rule;

    return rule != GBX_GATE_NO_RULE ? call->gate->config->rules->items[rule].reason
                                    : NULL;
}

void gbx_gate_put_name(gbx_buf *to, const char *name)
{
    (void)gbx_utf8_append_escaped(to, name, strlen(name),
                                  GBX_ESCAPE_LINE | GBX_ESCAPE_ALL);
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

void gbx_gate_cancel(gbx_tool_call *call)
{
    if (call->cancelled || call->state == GBX_TOOL_CALL_DONE)
        return;
    call->cancelled = true;
    /* The server is notified, and the upstream callback ends the call. Other callbacks
     * are not awaited. */
    if (call->up.is_open)
        gbx_upstream_cancel(&call->up);
    else
        gbx_mcp_timer_fire(&call->later);
}

bool gbx_gate_was_sent(const gbx_tool_call *call)
{
    return call->state == GBX_TOOL_CALL_SENT &&
           (!call->up.is_open || call->up.was_sent);
}

bool gbx_gate_is_asking(const gbx_tool_call *call)
{
    return call->state == GBX_TOOL_CALL_ASKING || call->state == GBX_TOOL_CALL_WAITING;
}
