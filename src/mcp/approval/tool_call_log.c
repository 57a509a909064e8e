/* SPDX-License-Identifier: MIT */
/* tool_call_log - writes one line of the security log for every call, however it ended,
 * and ends its span.
 * Arguments and answers are left out, since they may be anything. A script's refused
 * calls are logged up to a limit and then only counted: it may make any number. */
#include "audit/audit.h"
#include "base/clock.h"
#include "mcp/approval/gate_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gbx_gate_call_log {
    gbx_gate_call_log *next;
    char run[GBX_TOOL_CALL_RUN_SIZE];
    unsigned refusal_lines;
    unsigned dropped; /* refusals without a line */
};

static gbx_log_line_head head_of(gbx_gate *gate, gbx_audit_event event)
{
    return (gbx_log_line_head){.wall_ms = gbx_clock_wall_ms(),
                               .seq = ++gate->seq,
                               .event = gbx_audit_name(event),
                               .engine = gate->id};
}

/* ---- refusals that are not logged ------------------------------------------- */

static gbx_gate_call_log *trail_of(gbx_gate *gate, const char *run)
{
    gbx_gate_call_log *trail = gate->trails;

    while (trail != NULL && strcmp(trail->run, run) != 0)
        trail = trail->next;
    if (trail != NULL)
        return trail;
    trail = gbx_need(calloc(1, sizeof *trail));
    (void)snprintf(trail->run, sizeof trail->run, "%s", run);
    trail->next = gate->trails;
    gate->trails = trail;
    return trail;
}

/* Calls that reached a server or a person are always logged: many refusals must not
 * hide an effect. A run's limit of calls and the limit of questions bound their
 * number. */
static bool may_say(const gbx_tool_call *call, const gbx_gate_reply *reply)
{
    gbx_gate *gate = call->gate;
    gbx_gate_call_log *trail;

    if (reply->code == NULL || call->run[0] == '\0' ||
        call->state == GBX_TOOL_CALL_SENT || call->state == GBX_TOOL_CALL_ASKING)
        return true;
    trail = trail_of(gate, call->run);
    if (trail->refusal_lines < GBX_GATE_REFUSAL_LINES &&
        gbx_bucket_take(&gate->refusals, gbx_clock_now_ns())) {
        trail->refusal_lines++;
        return true;
    }
    trail->dropped++;
    return false;
}

static void say_dropped(gbx_gate *gate, const gbx_gate_call_log *trail)
{
    gbx_log_line_head head = head_of(gate, GBX_AUDIT_LOG_DROPPED);
    gbx_log_line line;
    const char *text;
    size_t len;

    gbx_log_line_begin(&line, &head);
    gbx_log_line_puts(&line, "run", trail->run);
    gbx_log_line_count(&line, "lines", trail->dropped);
    text = gbx_log_line_end(&line, &len);
    gate->options.on_line(gate->options.on_line_user, text, len);
}

/* ---- the call's span --------------------------------------------------------- */

/* The result is searched for a text before it is read: most have no such member. */
static bool is_tool_error(gbx_view result)
{
    return result.at != NULL && memmem(result.at, result.len, "isError", 7) != NULL &&
           gbx_view_is_true(gbx_view_member(result, "isError"));
}

/* A name of a tool may be the script's. It is put in the span if the server lists it. */
static void end_span(gbx_tool_call *call, const gbx_gate_reply *reply)
{
    const gbx_mcp_upstream_config *server = call->up.server;
    gbx_gate_hint hint;
    gbx_call_outcome end = {
        .code = reply->code,
        .server = server->name,
    };

    if (call->span.telemetry == NULL)
        return;
    hint = gbx_upstreams_tool(call->gate->upstreams, server, call->up.tool);
    if (hint != GBX_GATE_HINT_MISSING && hint != GBX_GATE_HINT_UNKNOWN)
        end.tool = call->up.tool;
    if (call->decided)
        end.decision = gbx_gate_action_name(call->verdict.action);
    end.is_tool_error = is_tool_error(reply->result);
    gbx_call_span_end(&call->span, &end);
}

void gbx_gate_log(gbx_tool_call *call, const gbx_gate_reply *reply)
{
    gbx_gate *gate = call->gate;
    gbx_log_line_head head;
    gbx_log_line line;
    const char *text;
    size_t len;

    end_span(call, reply);
    if (gate->options.on_line == NULL || call->subject == GBX_GATE_LIST ||
        !may_say(call, reply))
        return;
    head = head_of(gate, GBX_AUDIT_MCP_CALL);
    gbx_log_line_begin(&line, &head);
    if (call->run[0] != '\0')
        gbx_log_line_puts(&line, "run", call->run);
    gbx_log_line_bool(&line, "ok", reply->code == NULL);
    if (reply->code != NULL)
        gbx_log_line_puts(&line, "code", reply->code);
    if (call->decided) {
        gbx_log_line_puts(&line, "decision",
                          gbx_gate_action_name(call->verdict.action));
        if (call->verdict.rule != GBX_GATE_NO_RULE)
            gbx_log_line_count(&line, "rule", call->verdict.rule + 1);
        if (call->answer != NULL)
            gbx_log_line_puts(&line, "answer", call->answer);
    }
    if (call->questions > 0)
        gbx_log_line_count(&line, "questions", call->questions);
    gbx_log_line_number(&line, "durationMs",
                        (double)(gbx_clock_now_ns() - call->start_ns) / GBX_NS_PER_MS);
    gbx_log_line_count(&line, "bytesOut", call->args_len);
    gbx_log_line_count(&line, "bytesIn", call->result_bytes);
    if (call->line != 0)
        gbx_log_line_count(&line, "line", call->line);
    /* "files/write_file" is hostile: the tool's name comes from the script. */
    gbx_log_line_text(&line, "server", call->up.server->name,
                      strlen(call->up.server->name));
    gbx_log_line_text(&line, gbx_gate_subject_name(call->subject), call->up.tool,
                      strlen(call->up.tool));
    text = gbx_log_line_end(&line, &len);
    gate->options.on_line(gate->options.on_line_user, text, len);
}

void gbx_gate_call_log_end(gbx_gate *gate, const char *run)
{
    gbx_gate_call_log **at = &gate->trails, *trail;

    while ((trail = *at) != NULL)
        if (run == NULL || strcmp(trail->run, run) == 0) {
            *at = trail->next;
            if (trail->dropped > 0)
                say_dropped(gate, trail);
            free(trail);
        } else {
            at = &trail->next;
        }
}
