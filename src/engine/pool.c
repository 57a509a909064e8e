/* SPDX-License-Identifier: MIT */
/*
 * pool - workers forked ahead of time. Every worker serves one run and is then killed;
 * none returns from BUSY to READY. The engine's lock is held throughout.
 */
#include "engine/engine.h"

#include "base/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define FORK_FRAME_SIZE (GBX_FRAME_HEADER_SIZE + 9)

/* After WASTED_MAX failed workers in a row, no FORK is sent for ABSTAINS_NS, so that
 * only ticks send them: otherwise host and template would do nothing else. */
#define WASTED_MAX  8
#define ABSTAINS_NS (INT64_C(90) * GBX_NS_PER_MS)

/* After the first of these times without calls, an engine keeps one ready worker, and
 * after the second none: then the next call waits for a fork. */
#define KEEPS_ONE_NS  (INT64_C(2000) * GBX_NS_PER_MS)
#define KEEPS_NONE_NS (INT64_C(60000) * GBX_NS_PER_MS)

/* The pool does not wait for the end of a call that is longer. */
#define LONG_NS (INT64_C(50) * GBX_NS_PER_MS)

void gbx_pool_forget(gbx_engine *engine, gbx_worker *w)
{
    LIST_REMOVE(w, link);
    engine->alive--;
    w->from->workers--;
    if (w->ready != NULL)
        event_free(w->ready);
    gbx_fd_close(&w->channel);
    gbx_fd_close(&w->pidfd);
    gbx_fd_close(&w->status_fd);
    free(w);
}

static gbx_worker *add_worker(gbx_engine *engine)
{
    gbx_worker *w = calloc(1, sizeof *w);

    if (w == NULL)
        return NULL;
    w->channel = w->pidfd = w->status_fd = -1;
    w->id = ++engine->next_worker;
    w->from = engine->current;
    w->load_seq = engine->load_seq;
    w->asked_ns = gbx_clock_now_ns();
    LIST_INSERT_HEAD(&engine->workers, w, link);
    engine->alive++;
    engine->coming++;
    w->from->workers++;
    w->from->forks++;
    return w;
}

static void spend(gbx_engine *engine, gbx_worker *w)
{
    if ((w->state == GBX_WORKER_FORKING || w->state == GBX_WORKER_STARTING) &&
        w->load_seq == engine->load_seq)
        engine->coming--;
    if (w->state == GBX_WORKER_READY) {
        LIST_REMOVE(w, ready_link);
        engine->ready_count--;
    }
    w->state = GBX_WORKER_SPENT;
    gbx_pidfd_kill(w->pidfd);
}

/* A worker ended before it got a call. */
static void waste(gbx_engine *engine)
{
    if (++engine->wasted >= WASTED_MAX)
        engine->fork_ns = gbx_clock_now_ns() + ABSTAINS_NS;
}

static void give(gbx_engine *engine, gbx_worker *w, gbx_run *run)
{
    if (w->state == GBX_WORKER_READY) {
        LIST_REMOVE(w, ready_link);
        engine->ready_count--;
    }
    w->state = GBX_WORKER_BUSY;
    w->run = run;
    run->worker = w;
}

/* True if the pool should not be filled yet: while it lasts for a few calls in a row, a
 * fork would take processor time from them and their callers. */
static bool may_wait_for_pause(const gbx_engine *engine)
{
    int64_t now = gbx_clock_now_ns();

    if (engine->ready_count == 0 || engine->place > engine->settings.options.pool_size)
        return false;
    return engine->running.count > 0 ? now - engine->called_ns < LONG_NS
                                     : now - engine->ended_ns < GBX_PAUSE_NS;
}

/* How many more workers the pool and the queue need and the limits allow. */
static size_t forks_wanted(const gbx_engine *engine)
{
    const gbx_options *o = &engine->settings.options;
    const gbx_template *t = engine->current;
    size_t have = (size_t)engine->ready_count + engine->coming;
    size_t want = may_wait_for_pause(engine) ? 0 : engine->kept;

    want += engine->waiting.count;
    if (t == NULL || engine->is_closing || engine->change.kind == GBX_CHANGE_UPDATE ||
        have >= want || engine->alive >= o->max_workers ||
        t->forks >= o->recycle_calls ||
        (engine->fork_ns != 0 && gbx_clock_now_ns() < engine->fork_ns))
        return 0;
    want -= have;
    if (want > o->max_workers - engine->alive)
        want = o->max_workers - engine->alive;
    return want < o->recycle_calls - t->forks ? want : o->recycle_calls - t->forks;
}

gbx_worker *gbx_pool_find(gbx_engine *engine, uint64_t worker_id)
{
    gbx_worker *w;

    LIST_FOREACH(w, &engine->workers, link)
    if (w->id == worker_id)
        break;
    return w;
}

void gbx_pool_release(gbx_engine *engine, gbx_worker *w)
{
    w->run->worker = NULL;
    w->run = NULL;
    w->state = GBX_WORKER_SPENT;
    engine->wasted = 0;
    engine->fork_ns = 0;
    gbx_pidfd_kill(w->pidfd);
    if (w->has_exited) { /* no later report will trigger filling the pool */
        gbx_pool_forget(engine, w);
        gbx_pool_fill(engine);
    }
}

void gbx_pool_fill(gbx_engine *engine)
{
    const gbx_options *o = &engine->settings.options;
    gbx_template *t = engine->current;
    size_t count = forks_wanted(engine);
    gbx_buf buf = {.ceiling = count * FORK_FRAME_SIZE};

    if (count == 0)
        return;
    /* Room for all frames at once: a worker that is counted must also be requested. */
    if (gbx_buf_reserve(&buf, count * FORK_FRAME_SIZE) == NULL)
        return; /* the supervisor's tick tries again */
    for (size_t i = 0; i < count; i++) {
        gbx_worker *w = add_worker(engine);

        if (w == NULL)
            break;
        /* Without the trial run if a call waits: it would delay the call. */
        (void)gbx_msg_put(&buf, 0,
                          &((gbx_msg_fork){.worker_id = w->id,
                                           .hurries = i < engine->waiting.count}));
    }
    /* If not all can be sent, the template has stopped reading, since the socket holds
     * far more than its queue: replace it. */
    if (buf.len > 0 && send(t->process.control, buf.data, buf.len,
                            MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)buf.len)
        gbx_pidfd_kill(t->process.pidfd);
    gbx_buf_cleanup(&buf);
    if (t->forks >= o->recycle_calls)
        gbx_engine_wake(engine);
}

void gbx_pool_fill_in_pauses(gbx_engine *engine)
{
    static const struct timeval pause = {0, GBX_PAUSE_NS / 1000};

    if (!may_wait_for_pause(engine))
        gbx_pool_fill(engine);
    else if (engine->running.count == 0) /* else a call's end, or the tick, does it */
        (void)event_add(engine->pause, &pause);
}

void gbx_pool_fill_for(gbx_run *run)
{
    run->leaves_few = false;
    (void)pthread_mutex_lock(&run->engine->lock);
    gbx_pool_fill(run->engine);
    (void)pthread_mutex_unlock(&run->engine->lock);
}

void gbx_pool_ready(gbx_engine *engine, gbx_worker *w)
{
    gbx_run *run;

    if (w->load_seq != engine->load_seq || engine->is_closing) {
        spend(engine, w);
        return;
    }
    engine->coming--;
    engine->failed_starts = 0;
    w->from->was_useful = true;
    run = gbx_queue_pop(&engine->waiting);
    if (run != NULL) {
        give(engine, w, run);
        gbx_run_notify(run);
        return;
    }
    if (engine->ready_count >= engine->kept) {
        w->state = GBX_WORKER_SPENT; /* its call no longer waits */
        gbx_pidfd_kill(w->pidfd);
        return;
    }
    w->state = GBX_WORKER_READY;
    LIST_INSERT_HEAD(&engine->ready, w, ready_link);
    engine->ready_count++;
}

void gbx_pool_exited(gbx_engine *engine, gbx_worker *w, const gbx_msg_exited *exit)
{
    w->has_exited = true;
    w->is_lost = exit == NULL;
    if (exit != NULL)
        w->exit = *exit;
    if (w->run != NULL) {
        gbx_run_notify(w->run);
        return; /* freed when the run releases it */
    }
    if (w->state != GBX_WORKER_SPENT) {
        waste(engine);
        spend(engine, w);
    }
    gbx_pool_forget(engine, w);
}

void gbx_pool_discard(gbx_engine *engine, gbx_worker *w)
{
    waste(engine);
    spend(engine, w);
}

void gbx_queue_enter(gbx_engine *engine, gbx_run *run)
{
    uint32_t size = engine->settings.options.pool_size;
    int64_t now_ns = gbx_clock_now_ns();
    gbx_worker *w;

    /* Its place in the current sequence of calls without a pause. */
    if (engine->running.count == 1 && now_ns - engine->ended_ns >= GBX_PAUSE_NS)
        engine->place = 0;
    if (engine->place <= size)
        engine->place++;
    /* The number of ready workers to keep. Many engines are made for one call. */
    if (engine->called_ns == 0 && engine->preloads == NULL)
        engine->kept = 0;
    else
        engine->kept = engine->kept == 0 ? 1 : 2 * engine->kept;
    if (engine->kept > size)
        engine->kept = size;
    engine->called_ns = engine->demand_ns = run->queued_ns = now_ns;
    run->deadline_ns = run->queued_ns + (int64_t)run->limits.timeout_ms * GBX_NS_PER_MS;
    if (atomic_load(&run->is_aborted))
        return;
    w = LIST_FIRST(&engine->ready);
    if (w != NULL) {
        give(engine, w, run);
    } else {
        if (engine->failed_starts >= GBX_FAILED_STARTS_MAX)
            run->unserved = GBX_END_NO_WORKER;
        else if (engine->waiting.count >= engine->settings.options.queue_length)
            run->unserved = GBX_END_QUEUE_FULL;
        if (run->unserved != GBX_END_SAID)
            return;
        gbx_queue_add(&engine->waiting, run);
        run->is_waiting = true;
    }
    /* Normally the worker's replacement is requested when its end is reported, which
     * delays no call. It is requested now if this call waits, and during the call if
     * the next ones might have to wait. */
    if (run->is_waiting)
        gbx_pool_fill(engine);
    else
        run->leaves_few = engine->ready_count + engine->coming < (engine->kept + 1) / 2;
}

void gbx_pool_trim(gbx_engine *engine)
{
    int64_t idle_ns = gbx_clock_now_ns() - engine->demand_ns;

    if (engine->kept > 1 && idle_ns > KEEPS_ONE_NS)
        engine->kept = 1;
    if (engine->kept > 0 && idle_ns > KEEPS_NONE_NS)
        engine->kept = 0;
    while (engine->ready_count > engine->kept)
        spend(engine, LIST_FIRST(&engine->ready));
}

void gbx_pool_discard_stale(gbx_engine *engine)
{
    gbx_worker *w;

    LIST_FOREACH(w, &engine->workers, link)
    if (w->state == GBX_WORKER_READY && w->load_seq != engine->load_seq)
        spend(engine, w);
}
