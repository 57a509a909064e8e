/* SPDX-License-Identifier: MIT */
/* lease - asks a runner for a worker on another machine, and is the channel to it. */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)GBX_ENDING_BROKEN == GBX_END_BROKEN &&
                   (int)GBX_ENDING_LOST == GBX_END_LOST &&
                   (int)GBX_ENDING_GONE == GBX_END_GONE,
               "an ending is numbered as the ends of calls");

/* How much later than the time limit the runner's own report of it may come. */
#define LATE_NS (INT64_C(500) * GBX_NS_PER_MS)

static void keep_line(char *to, size_t size, const char *text, size_t most)
{
    gbx_utf8_copy_line(to, size, text, strnlen(text, most));
}

static void wake(gbx_lease *pub)
{
    gbx_run *run = ((gbx_leased *)pub)->run;

    (void)pthread_mutex_lock(&run->engine->lock);
    gbx_run_notify(run);
    (void)pthread_mutex_unlock(&run->engine->lock);
}

gbx_end gbx_lease_begin(gbx_run *run)
{
    gbx_engine *engine = run->engine;
    const gbx_runner *runner = &engine->runner;
    gbx_leased *lease = calloc(1, sizeof *lease);
    gbx_error error = {0};

    if (lease == NULL)
        return GBX_END_NO_WORKER;
    lease->run = run;
    lease->worker.pidfd = lease->worker.status_fd = lease->worker.channel = -1;
    lease->pub = (gbx_lease){.struct_size = sizeof lease->pub,
                             .limits = &run->limits,
                             .capabilities = run->capabilities,
                             .call_bytes = run->call.code_len + run->call.input_len +
                                           run->call.bindings_len + 2 * GBX_CONFIG_MAX +
                                           GBX_KIB(1),
                             .wake = wake};
    (void)snprintf(run->result->runner_name, sizeof run->result->runner_name, "%s",
                   runner->name);
    run->result->runner = run->result->runner_name;
    (void)pthread_mutex_lock(&engine->lock);
    engine->contents->holders++;
    lease->pub.contents = &engine->contents->pub;
    lease->worker.load_seq = engine->load_seq;
    run->lease = lease;
    run->worker = &lease->worker;
    (void)pthread_mutex_unlock(&engine->lock);
    if (runner->lease(runner->user, &lease->pub, &error) == GBX_OK)
        return GBX_END_SAID;
    keep_line(run->lack, sizeof run->lack, error.message, sizeof error.message);
    return GBX_END_NO_WORKER;
}

void gbx_lease_release(gbx_run *run)
{
    gbx_engine *engine = run->engine;
    gbx_leased *lease = run->lease;

    if (lease == NULL)
        return;
    engine->runner.release(engine->runner.user, &lease->pub);
    (void)pthread_mutex_lock(&engine->lock);
    run->worker = NULL;
    run->lease = NULL;
    if (run->is_waiting)
        gbx_queue_remove(&engine->waiting, run);
    gbx_snapshot_drop((gbx_snapshot *)(uintptr_t)lease->pub.contents);
    (void)pthread_mutex_unlock(&engine->lock);
    free(lease);
}

/* ---- the channel ----------------------------------------------------------------- */

/* The worker is there: the call's time begins. */
static void on_begun(gbx_run *run)
{
    gbx_engine *engine = run->engine;
    gbx_leased *lease = run->lease;
    gbx_result *r = run->result;

    keep_line(r->machine, sizeof r->machine, lease->pub.machine,
              sizeof lease->pub.machine);
    (void)pthread_mutex_lock(&engine->lock);
    keep_line(engine->facts.engine, sizeof engine->facts.engine, lease->pub.engine,
              sizeof lease->pub.engine);
    gbx_queue_remove(&engine->waiting, run);
    (void)pthread_mutex_unlock(&engine->lock);
    run->exchange.start_ns = gbx_clock_now_ns();
    run->deadline_ns = run->exchange.start_ns +
                       (int64_t)run->limits.timeout_ms * GBX_NS_PER_MS + LATE_NS;
    gbx_audit_call_started(run);
}

ssize_t gbx_lease_send(gbx_run *run, gbx_span bytes)
{
    const gbx_runner *runner = &run->engine->runner;
    size_t n = runner->send(runner->user, &run->lease->pub, bytes.data, bytes.len);

    if (n > 0 && run->is_waiting)
        on_begun(run);
    errno = EAGAIN;
    return n > 0 ? (ssize_t)n : -1;
}

ssize_t gbx_lease_recv(gbx_run *run, void *to, size_t size)
{
    const gbx_runner *runner = &run->engine->runner;
    ssize_t n = runner->receive(runner->user, &run->lease->pub, to, size);

    if (n > 0)
        wake(&run->lease->pub); /* there may be more, or the end */
    errno = EAGAIN;
    return n;
}

bool gbx_lease_cancel(gbx_run *run)
{
    const gbx_runner *runner = &run->engine->runner;

    if (run->lease == NULL || run->is_waiting)
        return false;
    runner->cancel(runner->user, &run->lease->pub);
    return true;
}

/* ---- its end --------------------------------------------------------------------- */

/* The report may not contradict what was received, and must not make a call safe to repeat
 * that may have run. */
gbx_end gbx_lease_end(gbx_run *run)
{
    uint32_t how = run->lease->pub.ending.how;

    if (run->is_waiting)
        return GBX_END_NO_WORKER;
    if (how == GBX_END_SAID) {
        gbx_exchange_break(&run->exchange, "it ended before its last message", 0);
        return GBX_END_BROKEN;
    }
    if (how > GBX_END_GONE || how == GBX_END_ABORT || /* nobody here has asked for it */
        ((how == GBX_END_NO_WORKER || how == GBX_END_QUEUE_FULL) &&
         run->exchange.now_ns != 0))
        return GBX_END_GONE;
    return (gbx_end)how;
}

void gbx_lease_measure(gbx_run *run, gbx_evidence *evidence)
{
    gbx_stats *stats = &run->result->stats;
    const gbx_runner *runner = &run->engine->runner;
    gbx_lease *lease = &run->lease->pub;
    const gbx_ending unknown = {0};
    uint8_t byte;
    /* Until this, the runner may write it. */
    bool has_ended = runner->receive(runner->user, lease, &byte, 1) == 0;
    const gbx_ending *e = has_ended ? &lease->ending : &unknown;

    stats->cpu_ms = evidence->cpu_ms = (double)e->cpu_us / 1000;
    stats->peak_memory_bytes = evidence->growth_bytes = e->growth_bytes;
    evidence->wait_status = e->wait_status;
    evidence->group_bytes = e->group_bytes;
    if (e->shortage <= GBX_SHORTAGE_MACHINE)
        evidence->shortage = (gbx_shortage)e->shortage;
    keep_line(run->lack, sizeof run->lack, e->reason, sizeof e->reason);
    if (run->exchange.state != GBX_EXCHANGE_BROKEN)
        keep_line(run->exchange.reason, sizeof run->exchange.reason, e->reason,
                  sizeof e->reason);
}
