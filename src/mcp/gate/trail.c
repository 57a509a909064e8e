/* SPDX-License-Identifier: MIT */
/* trail - one line of the security log for every call, however it ended. No argument and
 * no answer is in it: they may be anything. */
#include "audit/events.h"
#include "audit/line.h"
#include "base/clock.h"
#include "mcp/gate/parts.h"

#include <stdio.h>
#include <string.h>

/* "files/write_file" is hostile: the tool's name is the script's. */
static void put_names(gbx_line *line, const gbx_gate_call *call)
{
    gbx_line_text(line, "server", call->server, strlen(call->server));
    gbx_line_text(line, "tool", call->tool, strlen(call->tool));
}

static void put_decision(gbx_line *line, const gbx_gate_call *call)
{
    size_t rule = call->verdict.rule;

    gbx_line_puts(line, "decision", gbx_gate_action_name(call->verdict.action));
    if (rule != GBX_GATE_NO_RULE)
        gbx_line_count(line, "rule", rule + 1);
    if (call->answer != NULL)
        gbx_line_puts(line, "answer", call->answer);
}

/* ---- for the other parts ---------------------------------------------------- */

void gbx_gate_log(gbx_gate_call *call, const gbx_gate_reply *reply)
{
    gbx_gate *gate = call->gate;
    gbx_line line;
    const char *text;
    size_t len;

    if (gate->on_line == NULL)
        return;
    gbx_line_begin(&line, &(gbx_line_head){.wall_ms = gbx_clock_wall_ms(),
                                           .seq = ++gate->seq,
                                           .event = gbx_audit_name(GBX_AUDIT_MCP_CALL),
                                           .engine = gate->id});
    if (call->run[0] != '\0')
        gbx_line_puts(&line, "run", call->run);
    gbx_line_bool(&line, "ok", reply->code == NULL);
    if (reply->code != NULL)
        gbx_line_puts(&line, "code", reply->code);
    if (call->decided)
        put_decision(&line, call);
    gbx_line_number(&line, "durationMs",
                    (double)(gbx_clock_now_ns() - call->start_ns) / GBX_NS_PER_MS);
    gbx_line_count(&line, "bytesOut", call->args_len);
    gbx_line_count(&line, "bytesIn", call->result_bytes);
    if (call->line != 0)
        gbx_line_count(&line, "line", call->line);
    put_names(&line, call);
    text = gbx_line_end(&line, &len);
    gate->on_line(gate->on_line_user, text, len);
}
