/* SPDX-License-Identifier: MIT */
/*
 * relay - runs a call of another machine in a worker of this one: the other half of a
 * lease (glovebox/relay.h). The worker's messages are checked and counted by the run's
 * exchange, and passed on as they are; what the lease answers is checked too. The code
 * is never parsed here: the lease's engine judges what happened.
 */
#include "engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With more to pass on than this, nothing is read from the worker. */
#define OUT_MAX GBX_KIB(64)

/* What each answer may cost besides host_in_bytes: its header, or an error in place of
 * one that is too large. */
#define ANSWER_COST GBX_KIB(1)

struct gbx_relay {
    gbx_buf frame;                  /* the CALL */
    gbx_msg_call msg;               /* its spans point into frame */
    char dataset[GBX_NAME_MAX + 1]; /* of msg */
    uint64_t call_id;
    gbx_drive *drive;
    gbx_run *run; /* the drive's */
    gbx_buf out;  /* messages of the worker */
    size_t taken; /* so many bytes of out are with the lease */
    gbx_buf in;   /* messages of the lease */
    gbx_ending ending;
};

/* ---- the worker's messages ------------------------------------------------------- */

static void hold(gbx_relay *relay)
{
    relay->run->is_held = relay->out.len - relay->taken >= OUT_MAX;
}

static void on_frame(void *user, gbx_span frame)
{
    gbx_run *run = user;

    if (!gbx_buf_append(&run->relay->out, frame.data, frame.len))
        run->exchange.is_nomem = true;
    hold(run->relay);
}

/* ---- instead of a host ----------------------------------------------------------- */

static void relay_request(gbx_run *run, const gbx_msg_hostcall *msg)
{
    run->result->stats.host_calls++;
}

/* The lease's messages, as far as they have come: answers, at most one for each open
 * request, then a WAKE. */
static bool relay_wake(gbx_run *run, int64_t now_ns)
{
    gbx_exchange *x = &run->exchange;
    gbx_buf *in = &run->relay->in;
    bool is_woken = false;
    size_t used = 0;

    /* One that was taken over may wait without reading: so much is kept for it, no more. */
    if (x->head_sent < x->head.len && x->head.len > in->ceiling)
        return false;
    while (!is_woken && in->len - used >= GBX_FRAME_HEADER_SIZE) {
        gbx_span body = {in->data + used + GBX_FRAME_HEADER_SIZE, 0};
        gbx_msg_answer msg;
        gbx_header header;
        bool is_valid = gbx_header_decode(in->data + used, &header);

        body.len = header.body_len;
        if (in->len - used - GBX_FRAME_HEADER_SIZE < body.len)
            break;
        used += GBX_FRAME_HEADER_SIZE + body.len;
        is_woken = header.type == GBX_MSG_WAKE;
        is_valid = is_valid && header.call_id == x->call_id &&
                   (is_woken ? body.len == 0
                             : header.type == GBX_MSG_ANSWER && x->host_open > 0 &&
                                   gbx_msg_get(body, &msg));
        if (!is_valid) {
            gbx_exchange_break(x, "the lease sent what no host sends", header.type);
            return false;
        }
        if (!is_woken && !gbx_exchange_answer(x, &msg))
            x->is_nomem = true;
    }
    gbx_buf_consume(in, used);
    return is_woken;
}

/* ---- begin and end --------------------------------------------------------------- */

/* The whole frame of a CALL, copied. */
static gbx_status take_call(gbx_relay *relay, const void *frame, size_t len,
                            gbx_error *reterr)
{
    const uint8_t *bytes;
    gbx_header header;

    relay->frame.ceiling = len;
    if (!gbx_buf_append(&relay->frame, frame, len))
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the call");
    bytes = relay->frame.data;
    if (len < sizeof header || !gbx_header_decode(bytes, &header) ||
        header.type != GBX_MSG_CALL || header.body_len != len - sizeof header ||
        !gbx_msg_get(((gbx_span){bytes + sizeof header, header.body_len}), &relay->msg))
        return gbx_fail(reterr, GBX_E_DATA, "this is not one whole, valid call");
    relay->call_id = header.call_id;
    memcpy(relay->dataset, relay->msg.dataset.data, relay->msg.dataset.len);
    return GBX_OK;
}

static void relay_call(gbx_run *run)
{
    gbx_exchange *x = &run->exchange;
    const gbx_relay *relay = run->relay;

    x->call_id = relay->call_id;
    x->on_frame = on_frame;
    x->tail = (gbx_span){relay->frame.data, relay->frame.len};
}

static bool relay_ended(gbx_run *run, const gbx_evidence *given)
{
    gbx_relay *relay = run->relay;
    gbx_evidence e = *given;
    gbx_verdict verdict;

    e.machine = "";
    if (e.exchange != NULL && e.exchange->is_nomem)
        e.end = GBX_END_GONE;
    relay->ending = (gbx_ending){.how = e.end,
                                 .wait_status = e.wait_status,
                                 .shortage = e.shortage,
                                 .cpu_us = (uint64_t)(run->result->stats.cpu_ms * 1000),
                                 .growth_bytes = e.growth_bytes,
                                 .group_bytes = e.group_bytes};
    (void)snprintf(relay->ending.reason, sizeof relay->ending.reason, "%s",
                   e.end == GBX_END_BROKEN && e.exchange != NULL ? e.exchange->reason
                                                                 : e.lack);
    gbx_verdict_decide(&e, &verdict); /* for the log */
    run->result->code = verdict.code;
    run->result->stats.output_bytes = run->result->value_len;
    if (run->audit.is_open)
        gbx_audit_verdict(run, e.end, &verdict);
    return true;
}

static const gbx_run_host relay_host = {
    .call = relay_call,
    .request = relay_request,
    .wake = relay_wake,
    .ended = relay_ended,
};

static gbx_status attach(gbx_relay *relay, gbx_run *run, gbx_error *reterr)
{
    const gbx_msg_call *m = &relay->msg;
    const gbx_limits *l = &run->limits;

    if (run->phase == GBX_RUN_ENDED || /* its code is too long */
        m->memory_bytes == 0 ||        /* all that the worker was sealed with */
        m->memory_bytes > l->memory_bytes || m->output_bytes > l->output_bytes ||
        m->log_bytes > l->log_bytes || m->host_calls > l->host_calls ||
        m->host_calls_at_once > l->host_calls_at_once ||
        m->host_out_bytes > l->host_out_bytes ||
        (m->capabilities & (GBX_CAP_NONE - 1u) & ~run->capabilities) != 0)
        return gbx_fail(reterr, GBX_E_DATA, "the call is beyond its limits");
    relay->run = run;
    run->relay = relay;
    run->host = &relay_host;
    return GBX_OK;
}

/* The options of an engine with these contents; the policy is freed by the caller. */
static gbx_status fill_options(const gbx_contents *c, const gbx_options *own,
                               gbx_options *to, gbx_error *reterr)
{
    gbx_limits wanted = GBX_LIMITS_INIT;
    gbx_status status = gbx_options_import(own, to, reterr);

    if (status != GBX_OK)
        return status;
    if (to->capabilities != 0 || to->policy != NULL || to->globals != 0 ||
        to->preload_count != 0 || to->runner != NULL || to->runner_name != NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "capabilities, policy, globals, preloads and runner come from "
                        "the contents: leave them alone");
    if (to->jit != GBX_JIT_DEFAULT && to->jit != c->jit)
        return gbx_fail(reterr, GBX_E_USAGE, "this machine has another JIT level");
#define FILL(field, name, standard, least, most) \
    if (to->limits.field == 0)                   \
        to->limits.field = most;
    GBX_LIMIT_MAP(FILL)
#undef FILL
    wanted.memory_bytes = c->memory_bytes;
    wanted.cpu_ms = c->cpu_ms;
    status =
        gbx_limits_resolve(&to->limits, &wanted, GBX_FORM_SCRIPT, &to->limits, reterr);
    if (status != GBX_OK)
        return status;
    to->jit = (gbx_jit)c->jit;
    to->globals = (gbx_globals)c->globals;
    if (c->require > to->require)
        to->require = (gbx_require)c->require;
    if (c->speculation > to->speculation)
        to->speculation = (gbx_speculation)c->speculation;
    return gbx_policy_for_replay(c->capabilities & (GBX_CAP_NONE - 1u), (gbx_span){0},
                                 &to->policy, reterr);
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_relay_engine(const gbx_contents *contents, const gbx_options *own,
                            gbx_engine **ret_engine, gbx_error *reterr)
{
    gbx_options options;
    gbx_status status;

    if (contents == NULL || contents->struct_size != sizeof *contents ||
        contents->functions == NULL || ret_engine == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "contents or ret_engine is missing");
    status = fill_options(contents, own, &options, reterr);
    if (status != GBX_OK)
        return status;
    status = gbx_engine_start(&options, contents, ret_engine, reterr);
    gbx_policy_free(options.policy);
    return gbx_replay_as_data(status, reterr);
}

gbx_status gbx_relay_new(gbx_engine *engine, const void *frame, size_t len,
                         const gbx_limits *limits, gbx_relay **ret_relay,
                         gbx_error *reterr)
{
    gbx_relay *relay = calloc(1, sizeof *relay);
    gbx_call call = GBX_CALL_INIT;
    gbx_status status;

    if (relay == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a relay");
    relay->out.ceiling = SIZE_MAX / 2; /* other limits bound it */
    status = take_call(relay, frame, len, reterr);
    call.form = (gbx_form)relay->msg.form;
    call.flags = GBX_CALL_LENT | GBX_CALL_NO_GUARD;
    call.code = (const char *)relay->msg.code.data;
    call.code_len = relay->msg.code.len;
    call.input = (const char *)relay->msg.input.data;
    call.input_len = relay->msg.input.len;
    call.dataset = relay->dataset[0] != 0 ? relay->dataset : NULL;
    call.limits = limits;
    if (status == GBX_OK)
        status = gbx_drive_open(engine, &call, attach, relay, &relay->drive, reterr);
    if (status == GBX_OK) {
        relay->in.ceiling = relay->run->limits.host_in_bytes +
                            (relay->msg.host_calls_at_once + 1) * ANSWER_COST;
        *ret_relay = relay;
    } else {
        gbx_relay_free(relay);
    }
    return gbx_replay_as_data(status, reterr);
}

int gbx_relay_fd(const gbx_relay *relay)
{
    return gbx_drive_fd(relay->drive);
}

size_t gbx_relay_step(gbx_relay *relay, const void **ret_data,
                      const gbx_ending **ret_ending)
{
    gbx_result_free(gbx_drive_step(relay->drive)); /* NULL until it has ended */
    *ret_data = relay->out.len > 0 ? relay->out.data + relay->taken : NULL;
    *ret_ending = relay->run->phase == GBX_RUN_ENDED ? &relay->ending : NULL;
    return relay->out.len - relay->taken;
}

void gbx_relay_taken(gbx_relay *relay, size_t len)
{
    relay->taken += len;
    /* Not each time: that would move a large result once for each window. */
    if (relay->taken * 2 >= relay->out.len) {
        gbx_buf_consume(&relay->out, relay->taken);
        relay->taken = 0;
    }
    hold(relay);
}

gbx_status gbx_relay_feed(gbx_relay *relay, const void *data, size_t len)
{
    if (relay->run->phase == GBX_RUN_ENDED)
        return GBX_OK;
    return gbx_buf_append(&relay->in, data, len) ? GBX_OK : GBX_E_DATA;
}

void gbx_relay_abort(gbx_relay *relay)
{
    gbx_engine *engine = relay->run->engine;

    (void)pthread_mutex_lock(&engine->lock);
    if (relay->run->phase != GBX_RUN_ENDED)
        gbx_run_abort_locked(relay->run);
    (void)pthread_mutex_unlock(&engine->lock);
}

void gbx_relay_free(gbx_relay *relay)
{
    if (relay == NULL)
        return;
    gbx_drive_free(relay->drive);
    gbx_buf_cleanup(&relay->frame);
    gbx_buf_cleanup(&relay->out);
    gbx_buf_cleanup(&relay->in);
    free(relay);
}
