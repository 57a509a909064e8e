/* SPDX-License-Identifier: MIT */
/*
 * supervisor - the engine's one thread: keeps a template serving and the pool full, and
 * drives submitted calls. It must never block. Only a slow callback of the embedder can
 * hold it up, and the header says so.
 */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* An event loop needs four descriptors, and libevent ends the whole process if it gets
 * no socket, so we check first. The others are a reserve for descriptors that threads
 * of the host open between the check and the loop, for instance to start a program. A
 * template with one worker needs nearly as many. */
#define SPARE_FDS 16

static void drive(gbx_run *run);

static void on_channel(evutil_socket_t fd, short what, void *arg)
{
    drive(arg);
}

/* Wait for the channel and the clock. False if memory is out: the call must end. */
static bool arm(gbx_run *run)
{
    struct event_base *base = run->engine->base;
    int64_t left = gbx_run_next_ns(run) - gbx_clock_now_ns();
    struct timeval tv = {0};
    bool hears = gbx_run_hears(run);
    bool writes = gbx_exchange_output(&run->exchange).len > 0;
    short want = (short)(EV_READ | (writes ? EV_WRITE : 0));

    if (run->phase == GBX_RUN_QUEUED) /* a wake or a tick will find it */
        return true;
    if (run->event == NULL)
        run->event = evtimer_new(base, on_channel, run);
    if (run->event == NULL)
        return false;
    if (left > 0)
        tv = (struct timeval){left / 1000000000, left % 1000000000 / 1000};
    (void)event_del(run->event);
    return event_assign(run->event, base, hears ? run->worker->channel : -1,
                        (short)(hears ? want : 0), on_channel, run) == 0 &&
           event_add(run->event, &tv) == 0;
}

static void drive(gbx_run *run)
{
    gbx_ticket ticket;
    gbx_result *result;
    gbx_done_fn on_done;
    void *user;

    if (!gbx_run_pump(run) && !arm(run))
        gbx_run_end_nomem(run);
    if (run->phase != GBX_RUN_ENDED)
        return;
    if (run->event != NULL)
        event_free(run->event);
    on_done = run->on_done;
    user = run->done_user;
    ticket = run->ticket;
    result = gbx_run_close(run, GBX_OK);
    free(run);
    on_done(user, ticket, result);
}

static void take_inbox(gbx_engine *engine)
{
    gbx_run *run;

    do {
        (void)pthread_mutex_lock(&engine->lock);
        run = gbx_queue_pop(&engine->inbox);
        /* Otherwise the guard has ended it, or the submitting thread has started it. */
        if (run != NULL && run->phase == GBX_RUN_QUEUED)
            gbx_queue_enter(engine, run);
        (void)pthread_mutex_unlock(&engine->lock);
        if (run != NULL) {
            run->is_driven = true;
            drive(run);
        }
    } while (run != NULL);
}

/* Pump submitted runs for which a worker, an abort, an answer or the worker's end came,
 * or whose time in the queue is over. */
static void look_after_runs(gbx_engine *engine)
{
    gbx_run *run;

    do {
        int64_t now = gbx_clock_now_ns();

        (void)pthread_mutex_lock(&engine->lock);
        TAILQ_FOREACH(run, &engine->running.runs, link)
        if (run->is_driven && (atomic_exchange(&run->is_told, false) ||
                               (run->phase == GBX_RUN_QUEUED &&
                                (now >= run->deadline_ns || engine->is_closing))))
            break;
        (void)pthread_mutex_unlock(&engine->lock);
        if (run != NULL)
            drive(run);
    } while (run != NULL);
}

/* A cold template is replaced after this time, or after two calls: an engine that is
 * made for one call then starts no other. */
#define COLD_NS (INT64_C(100) * GBX_NS_PER_MS)

/* True if a new template is due: none serves, or the serving one is used up. */
static bool needs_template(gbx_engine *engine, int64_t now)
{
    const gbx_options *o = &engine->settings.options;
    const gbx_template *t = engine->current;
    bool is_starting = false;

    for (const gbx_template *at = engine->templates; at != NULL; at = at->next)
        is_starting = is_starting || at->state < GBX_TEMPLATE_SERVING;
    if (engine->runner.name != NULL) /* a runner executes calls */
        return false;
    if (gbx_change_is_open(engine, GBX_CHANGE_RENEWAL) && !engine->change.is_started)
        return !is_starting && !engine->is_spawning && !engine->is_closing;
    if (is_starting || engine->is_spawning || engine->is_closing ||
        gbx_engine_is_loading(engine) || now < engine->retry_ns ||
        (gbx_change_is_open(engine, GBX_CHANGE_START) && engine->templates_started > 0))
        return false;
    if (t != NULL && t->is_cold &&
        (engine->calls_ended > 1 || now - t->born_ns >= COLD_NS))
        return true;
    return t == NULL || t->forks >= o->recycle_calls ||
           now - t->born_ns >= (int64_t)o->recycle_ms * GBX_NS_PER_MS;
}

static void look_after_templates(gbx_engine *engine)
{
    gbx_error error = {0};
    bool needed;

    gbx_template_sweep(engine);
    (void)pthread_mutex_lock(&engine->lock);
    needed = needs_template(engine, gbx_clock_now_ns());
    engine->is_spawning = needed; /* prevents a load from starting meanwhile */
    if (needed)
        engine->change.is_started = true;
    (void)pthread_mutex_unlock(&engine->lock);
    if (!needed || gbx_template_start(engine, &error) == GBX_OK)
        return;
    (void)pthread_mutex_lock(&engine->lock);
    if (!gbx_change_is_open(engine, GBX_CHANGE_RENEWAL)) {
        engine->failed_starts++;
        engine->retry_ns = gbx_clock_now_ns() + INT64_C(200) * GBX_NS_PER_MS;
        if (engine->failed_starts >= GBX_FAILED_STARTS_MAX)
            gbx_queue_fail_all(engine);
    }
    gbx_change_end(engine, NULL, &error);
    engine->is_spawning = false;
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_audit_engine_event(engine, GBX_AUDIT_TEMPLATE_FAILED, error.message);
}

static void look_after_all(gbx_engine *engine)
{
    bool is_over;

    take_inbox(engine);
    gbx_provider_tick(engine);
    look_after_runs(engine);
    look_after_templates(engine);
    (void)pthread_mutex_lock(&engine->lock);
    is_over =
        engine->is_closing && engine->running.count == 0 && engine->executing == 0;
    (void)pthread_mutex_unlock(&engine->lock);
    if (is_over)
        (void)event_base_loopbreak(engine->base);
}

/* The pool is not filled here: otherwise each submitted call would run next to the
 * fork of the next worker. */
static void on_wake(evutil_socket_t fd, short what, void *arg)
{
    uint64_t count;

    (void)!read(fd, &count, sizeof count);
    look_after_all(arg);
}

/* For what no event reports: queue deadlines, retries, recycling by age, hung
 * templates. */
static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    gbx_engine *engine = arg;

    gbx_watch_templates(engine);
    gbx_confine_tick(engine);
    look_after_all(engine);
    (void)pthread_mutex_lock(&engine->lock);
    gbx_pool_trim(engine);
    gbx_pool_fill(engine); /* retry, if memory or a fork was refused */
    (void)pthread_mutex_unlock(&engine->lock);
}

static void on_pause(evutil_socket_t fd, short what, void *arg)
{
    gbx_engine *engine = arg;

    (void)pthread_mutex_lock(&engine->lock);
    gbx_pool_fill_in_pauses(engine);
    (void)pthread_mutex_unlock(&engine->lock);
}

static void *supervise(void *arg)
{
    gbx_engine *engine = arg;
    gbx_template *t;
    gbx_worker *w;

    look_after_templates(engine);
    (void)event_base_loop(engine->base, EVLOOP_NO_EXIT_ON_EMPTY);
    gbx_provider_end_fetches(engine);
    while ((w = LIST_FIRST(&engine->workers)) != NULL)
        gbx_pool_forget(engine, w);
    while ((t = engine->templates) != NULL) {
        engine->templates = t->next;
        gbx_template_end(t);
    }
    return NULL;
}

gbx_status gbx_supervisor_start(gbx_engine *engine, gbx_error *reterr)
{
    static const struct timeval tick = {0, 100000};
    struct event_config *config;
    int e;

    if (!gbx_fd_has_spare(SPARE_FDS))
        return gbx_fail(reterr, GBX_E_OS, "cannot make an event loop: %s",
                        strerror(errno));
    config = event_config_new();
    /* The flag makes timers precise to the microsecond instead of the millisecond. */
    if (config != NULL &&
        event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) == 0)
        engine->base = event_base_new_with_config(config);
    if (config != NULL)
        event_config_free(config);
    engine->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (engine->base == NULL || engine->wake_fd < 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot make an event loop");
    engine->wake =
        event_new(engine->base, engine->wake_fd, EV_READ | EV_PERSIST, on_wake, engine);
    engine->tick = event_new(engine->base, -1, EV_PERSIST, on_tick, engine);
    engine->pause = evtimer_new(engine->base, on_pause, engine);
    if (engine->wake == NULL || engine->tick == NULL || engine->pause == NULL ||
        event_add(engine->wake, NULL) < 0 || event_add(engine->tick, &tick) < 0)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for an event loop");
    e = gbx_thread_start(&engine->thread, supervise, engine);
    if (e != 0)
        return gbx_fail(reterr, GBX_E_OS, "cannot start the engine's thread: %s",
                        strerror(e));
    return GBX_OK;
}
