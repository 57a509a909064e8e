/* SPDX-License-Identifier: MIT */
/*
 * tool_call - sends the call. It is sent byte for byte as it was decided, except for
 * secrets: they are filled in last, and taken out of the answer first.
 */
#include "mcp/approval/tool_call.h"
#include "base/cleanup.h"

#include <string.h>

#define META_MAX    GBX_KIB(16)
#define CHANGES_MAX 3 /* after this many, the server's processes disagree */

static const char *code_of(gbx_upstream_fault fault)
{
    if (fault == GBX_UPSTREAM_UNKNOWN_SERVER || fault == GBX_UPSTREAM_UNKNOWN_TOOL)
        return "NOT_FOUND";
    if (fault == GBX_UPSTREAM_CANCELLED)
        return "ABORTED";
    return gbx_upstream_fault_name(fault);
}

/* End the call with the redacted result. */
static void give(gbx_gate_call *call, const gbx_gate_sifted *sifted)
{
    gbx_gate_reply reply = {.message = "",
                            .fate = GBX_GATE_ANSWERED,
                            .result = sifted->text};

    if (!sifted->done)
        gbx_gate_refuse(call, "UPSTREAM_PROTOCOL",
                        "the answer is too large to be looked through for secrets");
    else if (sifted->changed &&
             !gbx_view_open(sifted->text.at, sifted->text.len, &reply.result))
        gbx_gate_refuse(call, "UPSTREAM_PROTOCOL",
                        "the answer is not JSON without its secrets");
    else
        gbx_gate_finish(call, &reply);
}

static void on_sifted(void *user, const gbx_gate_sifted *sifted)
{
    gbx_gate_call *call = user;

    call->sift = NULL;
    if (gbx_gate_called_back(call))
        give(call, sifted);
}

static void give_result(gbx_gate_call *call, gbx_view result)
{
    gbx_gate_sifted sifted = {.text = result};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out;

    gbx_buf_init(&out, gbx_gate_redact_ceiling(result.len));
    call->result_bytes = result.len;
    call->sift =
        gbx_gate_redact_start(call->gate, GBX_SECRET_DATA, &result, 1, on_sifted, call);
    if (call->sift != NULL) {
        call->callbacks++;
        return;
    }
    sifted.done = gbx_secrets_strip(call->gate->config->rules->secrets, GBX_SECRET_DATA,
                                    (gbx_span){(const uint8_t *)result.at, result.len},
                                    &out, &sifted.changed);
    if (sifted.changed)
        sifted.text = (gbx_view){(const char *)out.data, out.len};
    give(call, &sifted);
}

/* Uses the server's present statement about the tool: the decision may not
 * have needed one. */
static gbx_gate_fate fate_of(const gbx_gate_call *call, const gbx_upstream_reply *reply)
{
    if (reply->fault == GBX_UPSTREAM_REFUSED && !reply->is_passing)
        return GBX_GATE_ANSWERED;
    if (reply->fault != GBX_UPSTREAM_OK && !gbx_upstream_may_have_acted(reply))
        return GBX_GATE_NOT_SENT;
    return gbx_upstreams_tool(call->gate->upstreams, call->server, call->tool) ==
                   GBX_UPSTREAM_TOOL_READS
               ? GBX_GATE_HARMLESS
               : GBX_GATE_DOUBTFUL;
}

static void on_reply(void *user, const gbx_upstream_reply *reply)
{
    gbx_gate_call *call = user;

    call->upstream = NULL;
    if (call->gate != NULL)
        call->fate = fate_of(call, reply);
    if (!gbx_gate_called_back(call))
        return;
    if (reply->fault == GBX_UPSTREAM_OK) {
        give_result(call, reply->result);
        return;
    }
    if (reply->fault == GBX_UPSTREAM_CHANGED && ++call->changes < CHANGES_MAX) {
        call->answer = NULL; /* the person answered for the tool as it was before */
        gbx_gate_go_on(call);
        return;
    }
    if (reply->fault == GBX_UPSTREAM_UNKNOWN_TOOL && gbx_gate_rename(call)) {
        gbx_gate_go_on(call);
        return;
    }
    call->retryable = gbx_upstream_is_retryable(reply);
    gbx_gate_refuse(call, code_of(reply->fault), "%s", reply->message);
}

static void on_progress(void *user, const char *message, size_t len)
{
    gbx_gate_call *call = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf clean;

    gbx_buf_init(&clean, len * 8 + GBX_KIB(4));
    if (call->state == GBX_GATE_CALLING && call->progress != NULL &&
        gbx_mcp_hears_progress(call->request) &&
        gbx_gate_redact(call->gate, message, len, &clean))
        call->progress(call->user, (const char *)clean.data, clean.len);
}

/* The trace of the request, as members of _meta. */
static void put_meta(const gbx_gate_call *call, gbx_buf *to)
{
    static const char *const names[] = {"traceparent", "tracestate", "baggage"};

    for (size_t i = 0; call->request != NULL && i < GBX_COUNTOF(names); i++) {
        gbx_view value = gbx_mcp_request_meta(call->request, names[i]);

        if (gbx_view_kind(value) != '"' || value.len > GBX_KIB(4))
            continue;
        (void)gbx_buf_printf(to, "%s\"%s\":", to->len > 0 ? "," : "", names[i]);
        (void)gbx_buf_append(to, value.at, value.len);
    }
    (void)gbx_buf_append(to, "", 1);
}

static gbx_upstream_trust trust_of(const gbx_gate_verdict *verdict)
{
    if (!verdict->used_hint)
        return GBX_UPSTREAM_TRUSTS_NOTHING;
    return verdict->hint == GBX_GATE_HINT_READS ? GBX_UPSTREAM_TRUSTS_READS
                                                : GBX_UPSTREAM_TRUSTS_OTHER;
}

static void make_call(gbx_gate_call *call, gbx_span args)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf meta;
    gbx_upstream_request request = {.server = call->server,
                                    .tool = call->tool,
                                    .args = (const char *)args.data,
                                    .args_len = args.len,
                                    .timeout_ms = call->timeout_ms,
                                    .trust = trust_of(&call->verdict),
                                    .progress =
                                        call->progress != NULL ? on_progress : NULL};

    gbx_buf_init(&meta, META_MAX);
    put_meta(call, &meta);
    if (!meta.failed && meta.len > 1)
        request.meta = (const char *)meta.data;
    call->state = GBX_GATE_CALLING;
    call->callbacks++;
    call->upstream =
        gbx_upstream_start(call->gate->upstreams, &request, on_reply, call);
    if (call->upstream == NULL) {
        call->callbacks--;
        gbx_gate_refuse(call, "UPSTREAM_BUSY", "no memory is left for the call");
    }
}

/* ---- for the other parts ---------------------------------------------------- */

void gbx_gate_pass(gbx_gate_call *call)
{
    gbx_span args = {(const uint8_t *)call->args_text, call->args_len};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf filled = {0};
    gbx_error err = {0};
    gbx_status status;

    if (!gbx_secrets_are_in(args)) {
        make_call(call, args);
        return;
    }
    status = gbx_secrets_fill_json(call->gate->config->rules->secrets, call->server,
                                   args, &filled, &err);
    if (status == GBX_OK)
        make_call(call, (gbx_span){filled.data, filled.len});
    else
        gbx_gate_refuse(call, "INVALID_ARGS", "%s", err.message);
}
