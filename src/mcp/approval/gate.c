/* SPDX-License-Identifier: MIT */
/*
 * gate - the steps of a call up to the decision: its server and arguments, the server's
 * tools, the rules, a person's grants. Every callback comes from the loop, so the steps
 * of one call never nest. A call never waits for another call, except for an earlier
 * question of the same request.
 */
#include "mcp/approval/gate.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/approval/gate_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static void go_on(gbx_tool_call *call);

static void on_learned(void *user, const gbx_upstream_reply *reply)
{
    gbx_tool_call *call = user;

    if (!gbx_gate_called_back(call))
        return;
    if (reply->fault != GBX_UPSTREAM_OK) {
        gbx_gate_fail(call, reply);
        return;
    }
    go_on(call);
}

static void learn(gbx_tool_call *call)
{
    /* A server without a list of tools is asked only once. */
    if (call->state == GBX_TOOL_CALL_LISTING) {
        gbx_gate_refuse(call, "UPSTREAM_PROTOCOL",
                        "the server '%s' has no list of tools", call->up.server->name);
        return;
    }
    call->state = GBX_TOOL_CALL_LISTING;
    call->holders++;
    gbx_upstream_learn(call->gate->upstreams, call->up.server, on_learned, call);
}

/* A person's permanent answer about a tool has priority over the rules, except over
 * denials. False: the call has ended. */
static bool follow_grant(gbx_tool_call *call)
{
    gbx_error err = {0};
    gbx_grant grant;

    if (call->subject != GBX_GATE_TOOL)
        return true;
    if (gbx_grants_file_find(call->gate->standing, call->up.server->name, call->up.tool,
                             &grant, &err) != GBX_OK) {
        gbx_gate_refuse(call, "DENIED",
                        "nobody can tell whether a person has denied this tool: %s",
                        err.message);
        return false;
    }
    if (grant == GBX_GRANT_DENY) {
        call->answer = "denied for good";
        gbx_gate_refuse(call, "DENIED",
                        "a person has denied this tool for good, by 'glovebox mcp "
                        "deny'");
        return false;
    }
    if (call->verdict.action != GBX_GATE_ASK ||
        (grant != GBX_GRANT_ALLOW &&
         !gbx_gate_is_kept(call->gate, &call->verdict, call->up.server->name,
                           call->up.tool, call->args)))
        return true;
    call->answer = "allowed for good";
    gbx_gate_pass(call);
    return false;
}

static void follow(gbx_tool_call *call)
{
    const char *reason;

    if (!follow_grant(call))
        return;
    switch (call->verdict.action) {
    case GBX_GATE_DENY:
        reason = gbx_gate_reason(call);
        gbx_gate_refuse(call, "DENIED", "the rules do not allow this call%s%s",
                        reason != NULL ? ": " : "", reason != NULL ? reason : "");
        return;
    case GBX_GATE_ASK: gbx_gate_question(call); return;
    case GBX_GATE_ALLOW: break;
    }
    gbx_gate_pass(call);
}

/* False: the call has ended. */
static bool can_judge(gbx_tool_call *call)
{
    if (call->verdict.fault != NULL)
        gbx_gate_refuse(
            call, "INVALID_ARGS",
            "a rule looks at the argument '%.200s', which it cannot judge: %s",
            call->verdict.fault_path, call->verdict.fault);
    return call->verdict.fault == NULL;
}

static void go_on_without_tool(gbx_tool_call *call)
{
    if (call->subject == GBX_GATE_LIST) {
        gbx_gate_pass(call);
        return;
    }
    call->verdict =
        gbx_rules_decide_other(call->gate->config->rules, call->up.server->name,
                               call->subject, call->up.tool);
    if (!can_judge(call))
        return;
    call->decided = true;
    follow(call);
}

/* Decide, possibly again, and act on the verdict. */
static void go_on(gbx_tool_call *call)
{
    const gbx_upstreams *upstreams = call->gate->upstreams;
    gbx_gate_hint hint;

    if (call->subject != GBX_GATE_TOOL) {
        go_on_without_tool(call);
        return;
    }
    hint = gbx_upstreams_tool(upstreams, call->up.server, call->up.tool);
    if (hint == GBX_GATE_HINT_MISSING && gbx_gate_rename(call))
        hint = gbx_upstreams_tool(upstreams, call->up.server, call->up.tool);
    if (hint == GBX_GATE_HINT_MISSING) {
        if (call->state != GBX_TOOL_CALL_LISTING &&
            gbx_upstreams_is_dated(upstreams, call->up.server))
            learn(call);
        else
            gbx_gate_refuse(call, "NOT_FOUND", GBX_NO_TOOL_FORMAT,
                            call->up.server->name, call->up.tool);
        return;
    }
    call->verdict = gbx_rules_decide(call->gate->config->rules, call->up.server->name,
                                     call->up.tool, call->called, call->args, hint);
    if (!can_judge(call))
        return;
    /* Do not ask a person about a tool that may not exist. */
    if (call->verdict.needs_hint ||
        (call->verdict.action == GBX_GATE_ASK && hint == GBX_GATE_HINT_UNKNOWN)) {
        learn(call);
        return;
    }
    call->decided = true;
    follow(call);
}

static void on_later(void *user)
{
    gbx_tool_call *call = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why = {.ceiling = GBX_KIB(1)};

    if (call->cancelled)
        gbx_gate_refuse(call, "ABORTED", "the call was cancelled");
    else if (call->state == GBX_TOOL_CALL_NEW &&
             !gbx_gate_args_open(call->args_text, call->args_len, &call->args, &why))
        gbx_gate_refuse(call, "INVALID_ARGS", "%.*s", (int)why.len, (char *)why.data);
    else if (call->state == GBX_TOOL_CALL_UNSIGNED)
        gbx_gate_ask_to_sign_in(call);
    else
        go_on(call);
}

gbx_gate *gbx_gate_new(gbx_mcp_loop *loop, const gbx_mcp_config *config,
                       gbx_upstreams *upstreams, const gbx_gate_options *options)
{
    gbx_gate *gate = gbx_need(calloc(1, sizeof *gate));
    uint32_t id = 0;

    gate->loop = loop;
    gate->config = config;
    gate->standing = gbx_grants_file_new(config->path, config->trust);
    gate->upstreams = upstreams;
    gate->options = *options;
    TAILQ_INIT(&gate->calls);
    gbx_bucket_init(&gate->questions, GBX_GATE_QUESTIONS_MAX,
                    GBX_GATE_QUESTIONS_MAX / 60.0, gbx_clock_now_ns());
    gate->samplings = gate->questions;
    gbx_bucket_init(&gate->refusals, GBX_GATE_REFUSALS_AT_ONCE, GBX_GATE_REFUSALS_PER_S,
                    gbx_clock_now_ns());
    (void)!getrandom(&id, sizeof id, 0);
    (void)snprintf(gate->id, sizeof gate->id, "%08x", id);
    return gate;
}

void gbx_gate_free(gbx_gate *gate)
{
    gbx_tool_call *call;

    if (gate == NULL)
        return;
    while ((call = TAILQ_FIRST(&gate->calls)) != NULL) {
        if (call->up.is_open)
            gbx_upstream_cancel(&call->up);
        gbx_gate_finish(call, &(gbx_gate_reply){.code = "ABORTED",
                                                .message = "the server ends"});
    }
    gbx_gate_sign_ins_end(gate, NULL);
    gbx_gate_redact_end_all(gate);
    gbx_gate_call_log_end(gate, NULL);
    gbx_grants_file_free(gate->standing);
    free(gate);
}

void gbx_gate_end_run(gbx_gate *gate, const char *run)
{
    gbx_gate_sign_ins_end(gate, run);
    gbx_gate_call_log_end(gate, run);
}

void gbx_gate_start(gbx_gate *gate, gbx_tool_call *call)
{
    call->gate = gate;
    call->holders++;
    call->state = GBX_TOOL_CALL_NEW;
    call->verdict.rule = GBX_GATE_NO_RULE;
    call->start_ns = gbx_clock_now_ns();
    gbx_call_span_begin_below(&call->span, call->request != NULL
                                               ? gbx_mcp_request_span(call->request)
                                               : NULL);
    gbx_mcp_timer_init(&call->later, gate->loop, on_later, call);
    TAILQ_INSERT_TAIL(&gate->calls, call, in_gate);
    gbx_mcp_timer_fire(&call->later);
}

bool gbx_gate_permits(const gbx_gate *gate, const char *server,
                      gbx_gate_subject subject, const char *name)
{
    gbx_gate_verdict verdict =
        gbx_rules_decide_other(gate->config->rules, server, subject, name);

    return verdict.fault == NULL && verdict.action != GBX_GATE_DENY;
}

const char *gbx_gate_mark(const gbx_gate *gate, const char *server, gbx_view tool)
{
    GBX_CLEANUP(gbx_free)
    char *name = gbx_view_string(gbx_view_member(tool, "name"), GBX_TOOL_NAME_MAX);
    gbx_view reads =
        gbx_view_member(gbx_view_member(tool, "annotations"), "readOnlyHint");
    gbx_view no_args = {0};
    gbx_grant grant = GBX_GRANT_NONE;
    gbx_gate_verdict verdict;
    gbx_error err = {0};
    bool depends;

    if (name == NULL || !gbx_view_open("{}", 2, &no_args))
        return "";
    if (gbx_grants_file_find(gate->standing, server, name, &grant, &err) != GBX_OK ||
        grant == GBX_GRANT_DENY)
        return "denied";
    verdict = gbx_gate_outlook(gate->config->rules, server, name,
                               gbx_view_is_true(reads) ? GBX_GATE_HINT_READS
                                                       : GBX_GATE_HINT_OTHER,
                               grant == GBX_GRANT_ALLOW, &depends);
    if (depends)
        return "depends on arguments";
    if (verdict.action == GBX_GATE_ASK)
        return gbx_gate_is_kept(gate, &verdict, server, name, no_args)
                   ? ""
                   : "asks a person";
    return verdict.action == GBX_GATE_DENY ? "denied" : "";
}
