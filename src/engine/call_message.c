/* SPDX-License-Identifier: MIT */
/* call_message - builds the CALL: the one message that gives a worker its call. */
#include "engine/run.h"

#include "base/clock.h"
#include "engine/engine.h"
#include "engine/replayer.h"
#include "policy/policy.h"

#include <string.h>
#include <sys/random.h>

/* The functions that the call may not use, and its values of env. */
static void put_lists(const gbx_run *run, gbx_buf *withheld, gbx_buf *env)
{
    gbx_buf_init(withheld, GBX_CONFIG_MAX);
    gbx_buf_init(env, GBX_CONFIG_MAX);
    if (run->replayer != NULL) {
        gbx_replayer_put_lists(run, withheld, env);
        return;
    }
    if (run->call.policy != NULL)
        (void)gbx_hostcalls_names(run->engine, run->call.policy, true, withheld, NULL);
    if (gbx_run_capabilities(run) & GBX_CAP_ENV)
        (void)gbx_policy_put_env(gbx_run_policy(run), env);
}

/* The part from the call itself; lists, seed and entropy are added later. */
static gbx_msg_call message_of(const gbx_run *run)
{
    const gbx_call *call = &run->call;
    uint32_t capabilities = gbx_run_capabilities(run);
    gbx_msg_call msg = {
        .form = (uint8_t)call->form,
        .capabilities = capabilities,
        .now_ms = call->now_ms,
        .memory_bytes = run->limits.memory_bytes,
        .output_bytes = run->limits.output_bytes,
        .log_bytes = run->limits.log_bytes,
        .first_line = run->span.line,
        .first_column = run->span.column,
        .last_expr = (uint32_t)run->span.last_expr,
        .host_calls = run->limits.host_calls,
        .host_calls_at_once = run->limits.host_calls_at_once,
        .host_out_bytes = run->limits.host_out_bytes,
        .code = {(const uint8_t *)call->code + run->span.start, run->span.len},
        .dataset = {(const uint8_t *)call->dataset,
                    call->dataset != NULL ? strlen(call->dataset) : 0},
        .bindings = {(const uint8_t *)call->bindings, call->bindings_len},
        .input = {(const uint8_t *)call->input, call->input_len},
    };

    if (capabilities & GBX_CAP_CONSOLE)
        msg.flags |= GBX_CALL_WIRE_CONSOLE;
    if (capabilities & GBX_CAP_TIMERS)
        msg.flags |= GBX_CALL_WIRE_TIMERS;
    if (run->span.is_parsed)
        msg.flags |= GBX_CALL_WIRE_PARSED;
    if (call->flags & GBX_CALL_FIXED_NOW)
        msg.flags |= GBX_CALL_WIRE_FIXED_NOW;
    if (call->input != NULL)
        msg.flags |= GBX_CALL_WIRE_HAS_INPUT;
    return msg;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_run_spread_seed(uint64_t seed, uint8_t entropy[GBX_ENTROPY_SIZE])
{
    for (size_t i = 0; i < GBX_ENTROPY_SIZE; i++)
        entropy[i] = (uint8_t)(seed >> (8 * (i % 8)));
}

void gbx_run_start(gbx_run *run, int64_t now_ns)
{
    const gbx_call *call = &run->call;
    gbx_msg_call msg = message_of(run);
    struct {
        uint64_t call_id;
        uint64_t seed;
        uint8_t entropy[GBX_ENTROPY_SIZE];
    } random = {0};
    gbx_buf withheld, env;
    bool has_random;

    put_lists(run, &withheld, &env);
    msg.withheld = (gbx_span){withheld.data, withheld.len};
    msg.env = (gbx_span){env.data, env.len};
    has_random = getrandom(&random, sizeof random, 0) == (ssize_t)sizeof random;
    msg.seed = call->flags & GBX_CALL_SEEDED ? call->seed : random.seed;
    if (call->flags & GBX_CALL_SEEDED)
        gbx_run_spread_seed(call->seed, random.entropy);
    if (run->has_entropy)
        memcpy(random.entropy, run->entropy, sizeof random.entropy);
    msg.entropy = (gbx_span){random.entropy, sizeof random.entropy};
    run->has_exchange = true;
    gbx_exchange_init(&run->exchange, random.call_id, &run->limits, run->result);
    run->exchange.on_request =
        run->replayer != NULL ? gbx_replayer_request : gbx_hostcall_take;
    run->exchange.on_cancel =
        run->replayer != NULL ? gbx_replayer_cancel : gbx_hostcall_cancel;
    run->exchange.on_limited = gbx_audit_limited;
    run->exchange.request_user = run;
    run->exchange.on_log = call->on_log;
    run->exchange.log_user = call->log_user;
    run->exchange.start_ns = now_ns;
    /* A worker that could guess its call's id could send messages before it gets the
     * call. */
    if (!has_random || withheld.failed || env.failed ||
        !gbx_exchange_call(&run->exchange, &msg))
        run->exchange.is_nomem = true;
    gbx_buf_cleanup(&withheld);
    gbx_buf_cleanup(&env);
    gbx_recorder_start(run);
    run->phase = GBX_RUN_STARTED;
    run->deadline_ns = now_ns + (int64_t)run->limits.timeout_ms * GBX_NS_PER_MS;
    run->cpu_check_ns = now_ns + (int64_t)run->limits.cpu_ms * GBX_NS_PER_MS;
    run->cpu_start_ns = gbx_worker_cpu_ns(run->worker);
}
