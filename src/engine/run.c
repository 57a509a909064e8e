/* SPDX-License-Identifier: MIT */
/*
 * run - the phases of a run, which only go forward: gbx_run_begin() leaves QUEUED, and
 * the step_*() functions leave the others. Drivers use the functions in run.h.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/thread.h"
#include "base/timeouts.h"
#include "policy/policy.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Reads of 32 KiB each: after 1 MiB the clock is checked. */
#define READS_PER_STEP 32

/* ---- checks that need no worker ------------------------------------------------- */

/* A call's own policy must not be wider than the engine's, or than what an engine
 * without one allows. */
static gbx_status take_policy(gbx_run *run, gbx_policy *own, gbx_error *reterr)
{
    const gbx_options *options = &run->engine->settings.options;
    char every[] = "*";
    gbx_policy plain = {.capabilities = options->capabilities,
                        .functions = (char *[]){every},
                        .function_count = 1};

    if (!gbx_policy_covers(options->policy != NULL ? options->policy : &plain, own,
                           reterr))
        return GBX_E_POLICY;
    run->call.policy = gbx_policy_ref(own);
    run->sites = own;
    run->capabilities &= own->capabilities;
    gbx_limits_lower(&run->limits, &own->limits);
    return GBX_OK;
}

gbx_status gbx_run_init(gbx_run *run, gbx_engine *engine, const gbx_call *call,
                        gbx_run_driver driver, gbx_error *reterr)
{
    gbx_policy *own;
    gbx_status status;

    memset(run, 0, sizeof *run);
    run->engine = engine;
    run->driver = driver;
    run->cpu_start_ns = -1;
    run->calls.wake_fd = -1;
    run->calls.replies_end = &run->calls.replies;
    run->host = &gbx_live_host;
    run->capabilities = engine->settings.options.capabilities;
    run->sites = engine->settings.options.policy;
    status = gbx_call_import(call, &run->call, reterr);
    if (status == GBX_OK && run->call.replay != NULL)
        status = gbx_replayer_begin(run, reterr);
    own = run->call.policy;
    run->call.policy = NULL; /* freed with the run once it is our own reference */
    if (status == GBX_OK)
        status = gbx_limits_resolve(&engine->settings.options.limits, run->call.limits,
                                    run->call.form, &run->limits, reterr);
    if (status == GBX_OK && own != NULL && own != engine->settings.options.policy)
        status = take_policy(run, own, reterr);
    if (status == GBX_OK && run->call.dataset != NULL)
        status = gbx_loader_find(engine, run->call.dataset, reterr);
    if (status == GBX_OK && run->call.record != NULL)
        status = gbx_recorder_begin(run, reterr);
    if (status != GBX_OK)
        return status;
    run->calls.in_left = run->limits.host_in_bytes;
    run->result = gbx_result_new();
    if (run->result == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the result");
    run->result->stats.input_bytes = run->call.input_len;
    run->ticket = ++engine->next_ticket;
    run->result->call = run->ticket;
    gbx_call_id(engine, run->ticket, run->result->call_id);
    if (!gbx_engine_leases(engine)) /* else its machine is not known yet */
        gbx_audit_call_started(run);
    if (run->call.signal != NULL && !gbx_signal_attach(run->call.signal, run)) {
        run->call.signal = NULL;
        (void)gbx_run_finish(run, GBX_END_ABORT);
        return GBX_OK;
    }
    return gbx_run_check_code(run, reterr);
}

/* Copy what the call lends. */
static gbx_status own(gbx_run *run, gbx_error *reterr)
{
    gbx_call *c = &run->call;
    size_t dataset_len = c->dataset != NULL ? strlen(c->dataset) + 1 : 0;
    bool is_lent = (c->flags & GBX_CALL_LENT) != 0;
    size_t texts_len = is_lent ? 0 : c->code_len + c->input_len + c->bindings_len;
    char *at = malloc(texts_len + dataset_len + 1);

    if (at == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the call");
    run->copy = at;
#define OWN(field)                            \
    if (c->field != NULL && !is_lent) {       \
        memcpy(at, c->field, c->field##_len); \
        c->field = at;                        \
        at += c->field##_len;                 \
    }
    OWN(code)
    OWN(input)
    OWN(bindings)
#undef OWN
    if (c->dataset != NULL)
        c->dataset = memcpy(at, c->dataset, dataset_len);
    c->limits = NULL; /* already resolved */
    return GBX_OK;
}

/* ---- the CALL, which gives a worker its call ------------------------------------- */

/* The fields that come from the call; lists, seed and entropy are added later. */
static gbx_msg_call message_of(const gbx_run *run)
{
    const gbx_call *call = &run->call;
    gbx_msg_call msg = {
        .form = (uint8_t)call->form,
        .capabilities = run->capabilities,
        .now_ms = call->now_ms,
        .memory_bytes = run->limits.memory_bytes,
        .output_bytes = run->limits.output_bytes,
        .log_bytes = run->limits.log_bytes,
        .first_line = run->span.line,
        .first_column = run->span.column,
        .host_calls = run->limits.host_calls,
        .host_calls_at_once = run->limits.host_calls_at_once,
        .host_out_bytes = run->limits.host_out_bytes,
        .code = {(const uint8_t *)call->code + run->span.start, run->span.len},
        .dataset = {(const uint8_t *)call->dataset,
                    call->dataset != NULL ? strlen(call->dataset) : 0},
        .bindings = {(const uint8_t *)call->bindings, call->bindings_len},
        .input = {(const uint8_t *)call->input, call->input_len},
    };

    if (run->span.is_parsed)
        msg.flags |= GBX_CALL_WIRE_PARSED;
    if (call->flags & GBX_CALL_COMPILE)
        msg.flags |= GBX_CALL_WIRE_COMPILE;
    if (call->flags & GBX_CALL_FIXED_NOW)
        msg.flags |= GBX_CALL_WIRE_FIXED_NOW;
    if (call->input != NULL)
        msg.flags |= GBX_CALL_WIRE_HAS_INPUT;
    return msg;
}

static void on_request(void *user, const gbx_msg_hostcall *msg)
{
    gbx_run *run = user;

    /* The worker's own script sends nothing but a compact JSON array. */
    if (msg->args.data[0] != '[' ||
        !gbx_json_check_strict((const char *)msg->args.data, msg->args.len,
                               GBX_JSON_DEPTH_MAX, NULL))
        gbx_exchange_break(&run->exchange,
                           "arguments that are not a compact JSON array",
                           GBX_MSG_HOSTCALL);
    else
        run->host->request(run, msg);
}

static void on_cancel(void *user, uint32_t id)
{
    gbx_run *run = user;

    if (run->host->cancel != NULL)
        run->host->cancel(run, id);
}

static void start(gbx_run *run, int64_t now_ns)
{
    const gbx_call *call = &run->call;
    gbx_msg_call msg = message_of(run);
    struct {
        uint64_t call_id;
        uint64_t seed;
        uint8_t entropy[GBX_ENTROPY_SIZE];
    } random = {0};
    gbx_buf withheld = {.ceiling = GBX_CONFIG_MAX};
    gbx_buf env = {.ceiling = GBX_CONFIG_MAX};
    bool has_random;

    if (run->host->open != NULL)
        run->host->open(run, &withheld, &env);
    msg.withheld = (gbx_span){withheld.data, withheld.len};
    msg.env = (gbx_span){env.data, env.len};
    has_random = getrandom(&random, sizeof random, 0) == (ssize_t)sizeof random;
    msg.seed = call->flags & GBX_CALL_SEEDED ? call->seed : random.seed;
    if (call->flags & GBX_CALL_SEEDED)
        gbx_recorder_spread_seed(call->seed, random.entropy);
    if (run->entropy != NULL)
        memcpy(random.entropy, run->entropy, sizeof random.entropy);
    msg.entropy = (gbx_span){random.entropy, sizeof random.entropy};
    run->has_exchange = true;
    gbx_exchange_init(&run->exchange, random.call_id, &run->limits, run->result);
    run->exchange.on_request = on_request;
    run->exchange.on_cancel = on_cancel;
    run->exchange.on_limited = gbx_audit_limited;
    run->exchange.request_user = run;
    run->exchange.on_log = call->on_log;
    run->exchange.log_user = call->log_user;
    run->exchange.start_ns = now_ns;
    /* A worker that could guess its call's id could send messages before it gets the
     * call. */
    if (run->host->call != NULL)
        run->host->call(run);
    else if (!has_random || withheld.failed || env.failed ||
             !gbx_exchange_call(&run->exchange, &msg))
        run->exchange.is_nomem = true;
    gbx_buf_cleanup(&withheld);
    gbx_buf_cleanup(&env);
    run->phase = GBX_RUN_STARTED;
    run->deadline_ns = now_ns + (int64_t)run->limits.timeout_ms * GBX_NS_PER_MS;
    run->cpu_check_ns = now_ns + (int64_t)run->limits.cpu_ms * GBX_NS_PER_MS;
    run->cpu_start_ns = gbx_pidfd_cpu_ns(run->worker->pidfd, run->worker->pid);
}

/* ---- stepping -------------------------------------------------------------------- */

/* Send what the worker accepts now. False if its channel is closed. */
static bool send_some(gbx_run *run)
{
    for (;;) {
        gbx_span out = gbx_exchange_output(&run->exchange);
        ssize_t n;

        if (out.len == 0)
            return true;
        n = run->lease != NULL ? gbx_lease_send(run, out)
                               : send(run->worker->channel, out.data, out.len,
                                      MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        gbx_exchange_sent(&run->exchange, (size_t)n);
    }
}

/* Read until no data is left, the last message came or the channel closed. The number
 * of reads is bounded: a worker that writes faster than we read must not keep us from
 * the clock or from other calls. False if the channel is closed. */
static bool receive(gbx_run *run)
{
    uint8_t data[GBX_KIB(32)];

    for (int i = 0; i < READS_PER_STEP && !gbx_exchange_has_ended(&run->exchange) &&
                    !run->exchange.is_nomem && !run->is_held;
         i++) {
        ssize_t n = run->lease != NULL
                        ? gbx_lease_recv(run, data, sizeof data)
                        : recv(run->worker->channel, data, sizeof data, MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        if (n == 0)
            return false;
        gbx_exchange_feed(&run->exchange, data, (size_t)n, gbx_clock_now_ns());
        if ((size_t)n < sizeof data)
            return true;
    }
    return true;
}

/* Processor time cannot exceed its limit before that much wall time has passed. */
static bool is_over_cpu(gbx_run *run, int64_t now_ns)
{
    int64_t limit = (int64_t)run->limits.cpu_ms * GBX_NS_PER_MS;
    int64_t cpu;

    if (run->cpu_start_ns < 0)
        return false;
    cpu = gbx_pidfd_cpu_ns(run->worker->pidfd, run->worker->pid);
    if (cpu < 0)
        return false;
    cpu -= run->cpu_start_ns;
    if (cpu >= limit)
        return true;
    run->cpu_check_ns =
        now_ns + (limit - cpu > GBX_NS_PER_MS ? limit - cpu : GBX_NS_PER_MS);
    return false;
}

static void step_waiting(gbx_run *run, int64_t now_ns)
{
    bool asked_one = run->exchange.last_request - run->woken_request == 1;
    const gbx_worker *w = run->worker;
    cpu_set_t before;
    bool is_placed;

    if (!run->host->wake(run, now_ns))
        return;
    run->wake_ns = 0;
    run->woken_request = run->exchange.last_request;
    if (!gbx_exchange_wake(&run->exchange))
        run->exchange.is_nomem = true;
    /* Wake the worker on this thread's processor, which is about to be free. Only if it
     * sleeps: moving a running process makes the kernel stop a processor. A worker that
     * sent several requests may run already: reading each of them wakes it. */
    is_placed = asked_one && run->exchange.host_open == 0 && gbx_run_takes_turns(run) &&
                gbx_pidfd_is_there(w->pidfd) && gbx_cpu_here(w->pid, &before);
    (void)send_some(run);
    if (is_placed)
        gbx_cpu_anywhere(w->pid, &before);
}

/* How long the end of a worker elsewhere may take. */
#define STOP_NS (INT64_C(100) * GBX_NS_PER_MS)

/* The call ends, and not because of the worker. One elsewhere may then still report its
 * last lines and its cost. */
static bool stop(gbx_run *run, gbx_end how, int64_t now_ns)
{
    if (!gbx_lease_cancel(run))
        return gbx_run_finish(run, how);
    run->stopped = how;
    run->phase = GBX_RUN_DYING;
    run->grace_ns = now_ns + STOP_NS;
    return false;
}

static bool step_dying(gbx_run *run, int64_t now_ns)
{
    bool has_exited;
    bool is_lost;
    bool is_ours; /* we sent the signal that killed it */
    int status;

    if (run->lease != NULL) {
        bool is_open = receive(run) && !gbx_exchange_has_ended(&run->exchange);

        return (!is_open || now_ns >= run->grace_ns) &&
               gbx_run_finish(run, run->stopped);
    }
    if (atomic_load(&run->is_aborted))
        return gbx_run_finish(run, GBX_END_ABORT);
    (void)pthread_mutex_lock(&run->engine->lock);
    has_exited = run->worker->has_exited;
    is_lost = run->worker->is_lost;
    status = (int)run->worker->exit.status;
    is_ours = run->was_closed && run->worker->shortage == GBX_SHORTAGE_NONE;
    (void)pthread_mutex_unlock(&run->engine->lock);
    if (has_exited) {
        if (is_ours && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
            return gbx_run_finish(run, GBX_END_CLOSED);
        return gbx_run_finish(run, is_lost ? GBX_END_LOST : GBX_END_DIED);
    }
    if (now_ns < run->grace_ns)
        return false;
    if (run->was_closed)
        return gbx_run_finish(run, GBX_END_LOST);
    /* A process that is ending keeps its own status; one that only closed its channel
     * dies of this signal. */
    run->was_closed = true;
    run->grace_ns = now_ns + gbx_timeout_ns(GBX_TIMEOUT_END);
    gbx_pidfd_kill(run->worker->pidfd);
    return false;
}

static bool step_started(gbx_run *run, int64_t now_ns)
{
    bool can_read;
    bool is_open;

    if (atomic_load(&run->is_aborted))
        return stop(run, GBX_END_ABORT, now_ns);
    can_read = send_some(run);
    is_open = receive(run);
    if (run->exchange.state == GBX_EXCHANGE_BROKEN)
        return gbx_run_finish(run, GBX_END_BROKEN);
    if (gbx_exchange_has_ended(&run->exchange) || run->exchange.is_nomem)
        return gbx_run_finish(run, GBX_END_SAID);
    if (atomic_load(&run->is_aborted))
        return stop(run, GBX_END_ABORT, now_ns);
    if (is_open) {
        if (now_ns >= run->deadline_ns)
            return stop(run, run->is_waiting ? GBX_END_NO_WORKER : GBX_END_DEADLINE,
                        now_ns);
        if (now_ns >= run->cpu_check_ns && is_over_cpu(run, now_ns))
            return gbx_run_finish(run, GBX_END_CPU);
    }
    if (!is_open || !can_read) {
        if (run->lease != NULL)
            return gbx_run_finish(run, gbx_lease_end(run));
        run->phase = GBX_RUN_DYING;
        run->grace_ns = now_ns + gbx_timeout_ns(GBX_TIMEOUT_CLOSED);
        return step_dying(run, now_ns); /* its end may have been reported before */
    }
    if (run->exchange.state != GBX_EXCHANGE_WAITING)
        return false;
    step_waiting(run, now_ns);
    /* After a lost answer no event would wake us. */
    return (run->exchange.is_nomem || gbx_exchange_has_ended(&run->exchange)) &&
           gbx_run_finish(run, run->exchange.state == GBX_EXCHANGE_BROKEN
                                   ? GBX_END_BROKEN
                                   : GBX_END_SAID);
}

/* ---- what all drivers do --------------------------------------------------------- */

gbx_status gbx_run_enter(gbx_run *run, gbx_error *reterr)
{
    gbx_engine *engine = run->engine;
    gbx_status status = run->driver != GBX_DRIVER_CALLER ? own(run, reterr) : GBX_OK;
    bool is_closing;

    if (status == GBX_OK && run->phase == GBX_RUN_QUEUED &&
        engine->runner.execute != NULL)
        status = gbx_outcome_run(run, reterr);
    /* Ended submitted runs are listed too: the engine must outlive their delivery. */
    if (status != GBX_OK ||
        (run->phase == GBX_RUN_ENDED && run->driver != GBX_DRIVER_SUPERVISOR))
        return status;
    (void)pthread_mutex_lock(&engine->lock);
    is_closing = engine->is_closing;
    if (!is_closing) {
        gbx_queue_link(engine, run);
        if (run->phase == GBX_RUN_QUEUED &&
            (run->driver != GBX_DRIVER_SUPERVISOR ||
             (engine->ready_count > 0 && engine->inbox.count == 0)))
            gbx_queue_enter(engine, run);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return is_closing ? gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed")
                      : GBX_OK;
}

void gbx_run_begin(gbx_run *run)
{
    gbx_engine *engine = run->engine;
    gbx_end how = GBX_END_SAID;
    bool has_worker;

    (void)pthread_mutex_lock(&engine->lock);
    has_worker = run->worker != NULL;
    if (!has_worker) {
        if (atomic_load(&run->is_aborted) || engine->is_closing)
            how = GBX_END_ABORT;
        else if (run->unserved != GBX_END_SAID)
            how = run->unserved;
        else if (gbx_clock_now_ns() >= run->deadline_ns)
            how = GBX_END_NO_WORKER;
        if (how != GBX_END_SAID && run->is_waiting)
            gbx_queue_remove(&engine->waiting, run);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    if (how == GBX_END_SAID && gbx_engine_leases(engine)) {
        how = gbx_lease_begin(run);
        has_worker = how == GBX_END_SAID;
    }
    if (has_worker) {
        start(run, gbx_clock_now_ns());
        (void)send_some(run); /* a failure will recur in the first step */
    } else if (how != GBX_END_SAID) {
        (void)gbx_run_finish(run, how);
    }
}

bool gbx_run_pump(gbx_run *run)
{
    bool begins = run->phase == GBX_RUN_QUEUED;

    if (begins)
        gbx_run_begin(run);
    if (run->leaves_few && run->phase != GBX_RUN_QUEUED)
        gbx_pool_fill_for(run); /* the worker has its call and runs by now */
    switch (run->phase) {
    case GBX_RUN_STARTED:
        /* The worker cannot have answered yet. But an abort from before the run had
         * this worker must be handled now: no further event will report it. */
        if (begins && !run->exchange.is_nomem && !atomic_load(&run->is_aborted) &&
            !gbx_exchange_has_ended(&run->exchange))
            return false;
        return step_started(run, gbx_clock_now_ns());
    case GBX_RUN_DYING: return step_dying(run, gbx_clock_now_ns());
    case GBX_RUN_QUEUED: return false;
    case GBX_RUN_ENDED: return true;
    }
    return true;
}

void gbx_run_end_nomem(gbx_run *run)
{
    run->exchange.is_nomem = true;
    (void)gbx_run_finish(run, GBX_END_SAID);
}

gbx_result *gbx_run_close(gbx_run *run, gbx_status status)
{
    gbx_engine *engine = run->engine;
    gbx_result *result = run->result;

    /* Before its descriptors close: throwing the signal writes to one of them. */
    if (run->call.signal != NULL)
        gbx_signal_detach(run->call.signal, run);
    gbx_lease_release(run);
    if (run->is_linked) { /* after this, no other thread can find the run */
        (void)pthread_mutex_lock(&engine->lock);
        if (run->worker != NULL)
            gbx_pool_release(engine, run->worker);
        gbx_queue_unlink(engine, run);
        (void)pthread_mutex_unlock(&engine->lock);
    }
    if (run->host->close != NULL)
        run->host->close(run, status);
    if (run->exchange.last_request != 0) /* logs unanswered requests, before the end */
        gbx_run_calls_end(run);
    if (status == GBX_OK)
        gbx_audit_call_started(run); /* unless it was */
    if (run->audit.is_open)
        gbx_audit_call_ended(run, status);
    if (run->call.policy != NULL)
        gbx_policy_free(run->call.policy);
    if (run->has_exchange)
        gbx_exchange_cleanup(&run->exchange);
    if (run->calls.wake_fd >= 0)
        (void)close(run->calls.wake_fd);
    free(run->copy);
    run->result = NULL;
    if (status == GBX_OK)
        return result;
    gbx_result_free(result);
    return NULL;
}

/* ---- what a driver waits for ----------------------------------------------------- */

int64_t gbx_run_next_ns(const gbx_run *run)
{
    int64_t next = run->deadline_ns;

    if (run->phase == GBX_RUN_DYING)
        return run->grace_ns;
    if (run->cpu_start_ns >= 0 && run->cpu_check_ns < next)
        next = run->cpu_check_ns;
    if (run->wake_ns != 0 && run->wake_ns < next)
        next = run->wake_ns;
    return next;
}

bool gbx_run_takes_turns(const gbx_run *run)
{
    gbx_engine *engine = run->engine;
    bool is_alone;

    if (run->driver != GBX_DRIVER_LOOP || !gbx_run_hears(run) ||
        run->exchange.host_open > 1)
        return false;
    (void)pthread_mutex_lock(&engine->lock);
    is_alone = engine->running.count == 1;
    (void)pthread_mutex_unlock(&engine->lock);
    return is_alone;
}
