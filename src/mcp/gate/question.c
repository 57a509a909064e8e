/* SPDX-License-Identifier: MIT */
/*
 * question - a person is shown what is to be called, and answers for this call or more.
 *
 * What is shown is hostile: it is escaped, and where it is cut it says by how much. One
 * question at a time for each request, since the answer may settle the next ones.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/gate/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_RULE  2048 /* of the rule that would allow a call */
#define MESSAGE_MAX GBX_KIB(32)

static const char once[] = "allow this call";
static const char for_run[] = "allow for this run";
static const char for_session[] = "allow for this session";
static const char for_ever[] = "always allow";
static const char never[] = "deny";

/* ---- what is shown --------------------------------------------------------------- */

static void put_name(gbx_buf *to, const char *name)
{
    (void)gbx_utf8_append_escaped(to, name, strlen(name),
                                  GBX_ESCAPE_LINE | GBX_ESCAPE_SHAPES);
}

static bool put_message(gbx_buf *to, gbx_gate_call *call)
{
    const gbx_gate_rules *rules = call->gate->config->rules;
    size_t rule = call->verdict.rule;

    (void)gbx_buf_puts(to, "Allow a call of the tool ");
    put_name(to, call->tool);
    (void)gbx_buf_puts(to, " of the server ");
    put_name(to, call->server);
    (void)gbx_buf_puts(to, "?");
    if (call->line != 0)
        (void)gbx_buf_printf(to, "\nLine %u of the script makes it.", call->line);
    if (rule == GBX_GATE_NO_RULE)
        (void)gbx_buf_puts(to, "\nNo rule is about this call.");
    else if (rules->items[rule].reason == NULL)
        (void)gbx_buf_printf(to, "\nRule %zu asks.", rule + 1);
    else
        (void)gbx_buf_printf(to, "\nRule %zu asks: %s", rule + 1,
                             rules->items[rule].reason);
    (void)gbx_buf_puts(to, "\n\nArguments:\n");
    call->is_shown = gbx_gate_show_args(call->args, to);
    return gbx_buf_append(to, "", 1);
}

/* Of a call that cannot be shown, no others can be allowed with it. */
static bool put_schema(gbx_buf *to, const gbx_gate_call *call)
{
    (void)gbx_buf_printf(to,
                         "{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":"
                         "\"string\",\"title\":\"Answer\",\"enum\":[\"%s\"",
                         once);
    if (call->is_shown && call->run[0] != '\0')
        (void)gbx_buf_printf(to, ",\"%s\"", for_run);
    if (call->is_shown)
        (void)gbx_buf_printf(to, ",\"%s\"", for_session);
    if (call->is_shown && gbx_gate_can_write(call))
        (void)gbx_buf_printf(to, ",\"%s\"", for_ever);
    (void)gbx_buf_printf(to, ",\"%s\"],\"default\":\"%s\"}},\"required\":[\"answer\"]}",
                         never, once);
    return gbx_buf_append(to, "", 1);
}

/* ---- nobody who answers ------------------------------------------------------------------ */

/* With the rule that would let it pass. */
static void refuse_unasked(gbx_gate_call *call, const char *why)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf rule;
    char place[80] = "at the end of";

    gbx_buf_init(&rule, SHOWN_RULE);
    call->answer = "nobody";
    if (call->verdict.rule != GBX_GATE_NO_RULE)
        (void)snprintf(place, sizeof place, "before rule %zu in",
                       call->verdict.rule + 1);
    if (gbx_gate_rule_for(call->gate->config->rules, &call->verdict, call->server,
                          call->tool, call->args, &rule))
        gbx_gate_refuse(
            call, "NEEDS_APPROVAL",
            "a person has to allow this call, and %s; to allow it for good, add "
            "this rule %s \"rules\" under \"glovebox\" in the configuration: %.*s",
            why, place, (int)rule.len, (const char *)rule.data);
    else
        gbx_gate_refuse(
            call, "NEEDS_APPROVAL",
            "a person has to allow this call, and %s; to allow it for good, add a rule "
            "that fits its arguments as they are written %s \"rules\" under "
            "\"glovebox\" in the configuration",
            why, place);
}

/* One question less that may be asked; false if there were too many of late. */
static bool take_question(gbx_gate *gate)
{
    int64_t now = gbx_clock_now_ns();

    gate->questions +=
        (double)(now - gate->questions_ns) / 60e9 * GBX_GATE_QUESTIONS_MAX;
    gate->questions_ns = now;
    if (gate->questions > GBX_GATE_QUESTIONS_MAX)
        gate->questions = GBX_GATE_QUESTIONS_MAX;
    if (gate->questions < 1)
        return false;
    gate->questions -= 1;
    return true;
}

/* ---- the answer --------------------------------------------------------------------- */

static bool is_answer(gbx_view content, const char *wanted)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, 100);
    return gbx_view_take_text(gbx_view_member(content, "answer"), &text) &&
           text.len == strlen(wanted) && memcmp(text.data, wanted, text.len) == 0;
}

/* Who has said "always" hears that it is for the session alone. */
static void say_unwritten(gbx_gate_call *call, const gbx_error *err)
{
    char text[GBX_ERROR_MESSAGE_SIZE + 80];
    int len = snprintf(text, sizeof text, "it is allowed for this session alone: %s",
                       err->message);

    gbx_mcp_progress(call->request, -1, text, (size_t)len);
    gbx_mcp_log_line(call->request, GBX_LOG_WARN, text, (size_t)len);
}

static void keep_for_ever(gbx_gate_call *call)
{
    gbx_error err = {0};

    call->answer = "always";
    if (gbx_gate_write_rule(call, &err) != GBX_OK) {
        call->answer = "unwritten";
        say_unwritten(call, &err);
    }
    gbx_gate_remember(call->gate, call, true, true);
}

/* Any answer but those that were offered is no. */
static bool allows(gbx_gate_call *call, gbx_view content)
{
    if (is_answer(content, once)) {
        call->answer = "once";
    } else if (!call->is_shown) {
        return false;
    } else if (is_answer(content, for_run)) {
        call->answer = "run";
        gbx_gate_remember(call->gate, call, false, true);
    } else if (is_answer(content, for_session)) {
        call->answer = "session";
        gbx_gate_remember(call->gate, call, true, true);
    } else if (is_answer(content, for_ever)) {
        keep_for_ever(call);
    } else {
        return false;
    }
    return true;
}

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    gbx_gate_call *call = user;

    if (!gbx_gate_called_back(call))
        return;
    if (answer == GBX_MCP_ANSWER_NOBODY) {
        refuse_unasked(call, "the client cannot ask anybody");
    } else if (answer == GBX_MCP_ANSWER_LATE) {
        refuse_unasked(call, "nobody has answered in time");
    } else if (answer == GBX_MCP_ANSWER_ENDED) {
        gbx_gate_refuse(call, "ABORTED", "the call was cancelled");
    } else if (answer == GBX_MCP_ANSWER_CANCEL) {
        call->answer = "dismissed";
        gbx_gate_refuse(call, "DENIED", "nobody has allowed this call");
    } else if (answer == GBX_MCP_ANSWER_DECLINE || is_answer(content, never)) {
        call->answer = "declined";
        gbx_gate_remember(call->gate, call, false, false);
        gbx_gate_refuse(call, "DENIED", "a person has declined this call");
    } else if (!allows(call, content)) {
        call->answer = "dismissed";
        gbx_gate_refuse(call, "DENIED",
                        "nobody has allowed this call: the client came back with none "
                        "of the answers that it was offered");
    } else {
        gbx_mcp_request *request = call->request;
        gbx_gate *gate = call->gate;

        gbx_gate_pass(call);
        gbx_gate_next_question(gate, request);
    }
}

static void ask(gbx_gate_call *call)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf message;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf schema;

    gbx_buf_init(&message, MESSAGE_MAX);
    gbx_buf_init(&schema, 1024);
    if (!put_message(&message, call) || !put_schema(&schema, call)) {
        refuse_unasked(call, "it cannot be shown");
        return;
    }
    call->state = GBX_GATE_ASKING;
    call->callbacks++;
    gbx_mcp_ask(call->request, (const char *)message.data, (const char *)schema.data,
                on_answer, call);
}

static bool is_busy(const gbx_gate *gate, const gbx_mcp_request *request)
{
    for (const gbx_gate_call *call = gate->calls; call != NULL; call = call->next)
        if (call->request == request && call->state == GBX_GATE_ASKING)
            return true;
    return false;
}

/* ---- for the other parts ---------------------------------------------------- */

void gbx_gate_question(gbx_gate_call *call)
{
    switch (gbx_gate_look_up(call->gate, call)) {
    case GBX_GATE_GRANTED:
        call->answer = "before";
        gbx_gate_pass(call);
        return;
    case GBX_GATE_DECLINED:
        call->answer = "declined before";
        gbx_gate_refuse(call, "DENIED", "a person has declined this tool for this run");
        return;
    case GBX_GATE_OPEN: break;
    }
    if (call->request == NULL || !gbx_mcp_can_ask(call->request))
        refuse_unasked(call, "the client cannot ask anybody");
    else if (is_busy(call->gate, call->request))
        call->state = GBX_GATE_QUEUED;
    else if (!take_question(call->gate))
        refuse_unasked(call, "there were too many questions in the last minute");
    else
        ask(call);
}

void gbx_gate_next_question(gbx_gate *gate, gbx_mcp_request *request)
{
    if (is_busy(gate, request))
        return;
    for (gbx_gate_call *call = gate->calls; call != NULL; call = call->next)
        if (call->request == request && call->state == GBX_GATE_QUEUED) {
            event_active(call->later, EV_TIMEOUT, 0);
            return;
        }
}
