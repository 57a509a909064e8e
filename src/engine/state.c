/* SPDX-License-Identifier: MIT */
/*
 * state - what every other part of an engine uses: checking the handle's owner, waking
 * the supervisor, the lists of runs, and aborting runs. Calls no other part.
 *
 * Lock order: a signal's own lock, then the engine's.
 */
#include "engine/engine.h"

#include "base/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const gbx_layer_info gbx_layers[GBX_LAYER_COUNT] = {
#define XX(id, text, required, takes) \
    {.name = text, .what = takes, .is_required = required},
    GBX_LAYER_MAP(XX)
#undef XX
};

bool gbx_engine_is_ours(const gbx_engine *engine)
{
    return engine->owner == getpid();
}

gbx_status gbx_engine_need(const gbx_engine *engine, gbx_error *reterr)
{
    if (engine == NULL || engine->magic != GBX_ENGINE_MAGIC)
        return gbx_fail(reterr, GBX_E_USAGE, "engine is not an engine");
    if (engine->owner != getpid())
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the engine belongs to the process that made it: a child of "
                        "fork() makes one of its own");
    return GBX_OK;
}

void gbx_engine_name(gbx_engine *engine, char ret[GBX_ENGINE_NAME_SIZE])
{
    (void)pthread_mutex_lock(&engine->lock);
    memcpy(ret, engine->facts.engine, GBX_ENGINE_NAME_SIZE);
    (void)pthread_mutex_unlock(&engine->lock);
}

void gbx_engine_wake(gbx_engine *engine)
{
    uint64_t one = 1;

    (void)!write(engine->wake_fd, &one, sizeof one);
}

bool gbx_engine_is_loading(const gbx_engine *engine)
{
    return engine->change.kind > GBX_CHANGE_NONE;
}

bool gbx_change_is_open(const gbx_engine *engine, int kind)
{
    return (int)engine->change.kind == kind && !engine->change.is_done;
}

void gbx_change_end(gbx_engine *engine, const gbx_template *t, const gbx_error *error)
{
    gbx_change *c = &engine->change;
    bool is_of_it = false;

    switch (c->kind) {
    case GBX_CHANGE_START: is_of_it = true; break;
    case GBX_CHANGE_NONE: break;
    case GBX_CHANGE_UPDATE: is_of_it = t != NULL && t == engine->current; break;
    case GBX_CHANGE_RENEWAL:
        is_of_it = t == NULL || t->content_seq == engine->content_seq;
        break;
    }
    if (!is_of_it || c->is_done)
        return;
    if (error != NULL)
        c->error = *error;
    c->is_done = true;
    (void)pthread_cond_broadcast(&engine->changed);
}

/* ---- one run ---------------------------------------------------------------- */

const gbx_policy *gbx_run_policy(const gbx_run *run)
{
    return run->call.policy != NULL ? run->call.policy
                                    : run->engine->settings.options.policy;
}

void gbx_run_notify(gbx_run *run)
{
    int fd = run->calls.wake_fd;
    uint64_t one = 1;

    atomic_store(&run->is_told, true);
    if (run->driver == GBX_DRIVER_SUPERVISOR)
        gbx_engine_wake(run->engine);
    else if (fd >= 0) /* otherwise the driver checks before it sleeps */
        (void)!write(fd, &one, sizeof one);
}

void gbx_run_abort_locked(gbx_run *run)
{
    if (atomic_exchange(&run->is_aborted, true))
        return;
    if (run->worker != NULL) {
        gbx_pidfd_kill(run->worker->pidfd);
        /* Wakes us early: a killed process closes its descriptors last. */
        (void)shutdown(run->worker->channel, SHUT_RDWR);
    }
    gbx_run_notify(run);
}

/* ---- running and waiting calls, by arrival; the engine's lock is held --------- */

void gbx_queues_init(gbx_engine *engine)
{
    TAILQ_INIT(&engine->running.runs);
    TAILQ_INIT(&engine->waiting.runs);
    TAILQ_INIT(&engine->inbox.runs);
}

void gbx_queue_link(gbx_engine *engine, gbx_run *run)
{
    run->is_linked = true;
    TAILQ_INSERT_TAIL(&engine->running.runs, run, link);
    engine->running.count++;
}

void gbx_queue_unlink(gbx_engine *engine, gbx_run *run)
{
    run->is_linked = false;
    TAILQ_REMOVE(&engine->running.runs, run, link);
    engine->running.count--;
    engine->ended_ns = gbx_clock_now_ns();
    engine->calls_ended++;
    if (engine->is_closing || (engine->current != NULL && engine->current->is_cold))
        gbx_engine_wake(engine);
}

void gbx_queue_lacks(gbx_engine *engine, const char *what, int error)
{
    const char *reason = error != 0 ? strerror(error) : "";
    bool says_it = strstr(what, reason) != NULL;

    (void)snprintf(engine->lack, sizeof engine->lack, "%s%s%s", what,
                   says_it ? "" : ": ", says_it ? "" : reason);
}

void gbx_queue_add(gbx_run_list *list, gbx_run *run)
{
    TAILQ_INSERT_TAIL(&list->runs, run, wait_link);
    list->count++;
}

void gbx_queue_remove(gbx_run_list *list, gbx_run *run)
{
    TAILQ_REMOVE(&list->runs, run, wait_link);
    list->count--;
    run->is_waiting = false;
}

gbx_run *gbx_queue_pop(gbx_run_list *list)
{
    gbx_run *run = TAILQ_FIRST(&list->runs);

    if (run != NULL)
        gbx_queue_remove(list, run);
    return run;
}

bool gbx_queue_fail_first(gbx_engine *engine, gbx_end how, const char *lack)
{
    gbx_run *run = gbx_queue_pop(&engine->waiting);

    if (run == NULL)
        return false;
    run->unserved = how;
    (void)snprintf(run->lack, sizeof run->lack, "%s", lack);
    gbx_run_notify(run);
    return true;
}

void gbx_queue_fail_all(gbx_engine *engine)
{
    while (gbx_queue_fail_first(engine, GBX_END_NO_WORKER, ""))
        continue;
}

/* ---- signals, which abort calls ---------------------------------------------- */

struct gbx_signal {
    pthread_mutex_t lock;
    bool is_thrown;
    LIST_HEAD(, gbx_run) runs;
};

bool gbx_signal_attach(gbx_signal *signal, gbx_run *run)
{
    bool attached;

    (void)pthread_mutex_lock(&signal->lock);
    attached = !signal->is_thrown;
    if (attached)
        LIST_INSERT_HEAD(&signal->runs, run, signal_link);
    (void)pthread_mutex_unlock(&signal->lock);
    return attached;
}

void gbx_signal_detach(gbx_signal *signal, gbx_run *run)
{
    (void)pthread_mutex_lock(&signal->lock);
    if (run->signal_link.le_prev !=
        NULL) /* it may have failed before it was attached */
        LIST_REMOVE(run, signal_link);
    (void)pthread_mutex_unlock(&signal->lock);
}

gbx_signal *gbx_signal_new(void)
{
    gbx_signal *signal = calloc(1, sizeof *signal);

    if (signal != NULL)
        signal->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    return signal;
}

void gbx_signal_abort(gbx_signal *signal)
{
    gbx_run *run;

    (void)pthread_mutex_lock(&signal->lock);
    signal->is_thrown = true;
    LIST_FOREACH(run, &signal->runs, signal_link)
    {
        if (!gbx_engine_is_ours(run->engine))
            continue;
        (void)pthread_mutex_lock(&run->engine->lock);
        gbx_run_abort_locked(run);
        (void)pthread_mutex_unlock(&run->engine->lock);
    }
    (void)pthread_mutex_unlock(&signal->lock);
}

void gbx_signal_free(gbx_signal *signal)
{
    if (signal == NULL)
        return;
    (void)pthread_mutex_destroy(&signal->lock);
    free(signal);
}

void gbx_abort(gbx_engine *engine, gbx_ticket ticket)
{
    gbx_run *run;

    if (!gbx_engine_is_ours(engine))
        return;
    (void)pthread_mutex_lock(&engine->lock);
    TAILQ_FOREACH(run, &engine->running.runs, link)
    {
        if (run->ticket == ticket) {
            gbx_run_abort_locked(run);
            break;
        }
    }
    (void)pthread_mutex_unlock(&engine->lock);
}
