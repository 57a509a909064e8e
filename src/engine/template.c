/* SPDX-License-Identifier: MIT */
/*
 * template - starts and ends templates, and kills those that hang. A template parses
 * datasets and runs preloads, but never a call's code. control.c reads its messages.
 */
#include "engine/engine.h"

#include "base/clock.h"
#include "base/timeouts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIED_LOADING "the template died while loading: the data does not fit"

/* Fails if pidfds do not work here: we must be able to kill every template. */
static gbx_status check_pidfds(const gbx_spawned *process, gbx_error *reterr)
{
    char reason[GBX_CALL_REASON_SIZE];
    int fd = (int)syscall(SYS_pidfd_open, process->pid, 0);

    if (fd < 0 && errno != ESRCH)
        return gbx_fail(reterr, GBX_E_OS, "cannot watch the template: %s",
                        gbx_fail_call_reason("pidfd_open", errno, reason));
    gbx_fd_close(&fd);
    if (syscall(SYS_pidfd_send_signal, process->pidfd, 0, NULL, 0) < 0 &&
        errno != ESRCH)
        return gbx_fail(reterr, GBX_E_OS, "cannot signal the template: %s",
                        gbx_fail_call_reason("pidfd_send_signal", errno, reason));
    return GBX_OK;
}

static void on_ended(evutil_socket_t fd, short what, void *arg)
{
    gbx_template *t = arg;

    event_free(t->ended);
    t->ended = NULL;
    gbx_spawned_reap(&t->process);
    gbx_engine_wake(t->engine); /* frees it: gbx_template_sweep() */
}

/* Kill it, and reap it when it has ended. The kernel may need long to free gigabytes of
 * datasets, and all calls would wait. */
static void end_later(gbx_template *t)
{
    if (t->control != NULL)
        event_free(t->control);
    t->control = NULL;
    gbx_spawned_kill(&t->process);
    t->ended = event_new(t->engine->base, t->process.pidfd, EV_READ, on_ended, t);
    if (t->ended == NULL || event_add(t->ended, NULL) < 0)
        gbx_spawned_reap(&t->process); /* if memory is out: reap it here */
}

/* The template has ended, sent invalid data or is late: end it, and so its workers. */
static void died(gbx_template *t, bool is_late)
{
    gbx_engine *engine = t->engine;
    gbx_worker *next;
    /* It may have ended before the engine took it. */
    bool was_spare =
        t->process.was_spare && t->state == GBX_TEMPLATE_STARTING && !is_late;
    bool was_useful;
    gbx_shortage shortage = gbx_confine_shortage(engine);
    gbx_error early = {0};
    gbx_error error;

    gbx_audit_engine_event(engine, GBX_AUDIT_TEMPLATE_DIED, "");
    errno = 0;
    if (is_late)
        (void)gbx_fail(&early, GBX_E_OS,
                       "the worker program was not ready after %u s: this machine may "
                       "be overloaded, or something stops the process",
                       gbx_timeout_ms(GBX_TIMEOUT_HELLO) / 1000);
    else
        (void)gbx_worker_died_early(&t->process, &early);
    error = early;
    /* Other threads write to the current template's control socket: it must not be
     * current any more when the descriptor is closed. */
    (void)pthread_mutex_lock(&engine->lock);
    was_useful = t->was_useful || t->state == GBX_TEMPLATE_RETIRED;
    if (t->state == GBX_TEMPLATE_LOADING || engine->current == t)
        (void)gbx_fail(&error, GBX_E_DATA, DIED_LOADING);
    engine->lost_spare = engine->lost_spare || was_spare;
    if (was_spare)
        engine->templates_started--;
    else
        gbx_change_end(engine, t, &error);
    t->state = GBX_TEMPLATE_DEAD;
    if (engine->current == t)
        engine->current = NULL;
    (void)pthread_mutex_unlock(&engine->lock);
    end_later(t);
    (void)pthread_mutex_lock(&engine->lock);
    if (!t->is_renewal && !was_useful && !was_spare) {
        engine->failed_starts++;
        if (engine->lack[0] == 0)
            gbx_queue_lacks(engine, early.message, 0);
        engine->retry_ns =
            gbx_clock_now_ns() +
            (INT64_C(50) << (engine->failed_starts < 6 ? engine->failed_starts : 6)) *
                GBX_NS_PER_MS;
        if (engine->failed_starts >= GBX_FAILED_STARTS_MAX)
            gbx_queue_fail_all(engine);
    }
    for (gbx_worker *w = LIST_FIRST(&engine->workers); w != NULL; w = next) {
        next = LIST_NEXT(w, link);
        if (w->from != t || w->has_exited)
            continue;
        w->shortage = shortage;
        gbx_pool_exited(engine, w, NULL);
    }
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_engine_wake(engine);
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
    gbx_template *t = arg;
    bool is_late = (what & EV_TIMEOUT) != 0;

    if (is_late ? t->state < GBX_TEMPLATE_SERVING : !gbx_control_read(t))
        died(t, is_late);
}

/* The first message: CONFIG. */
static bool put_config(gbx_template *t, gbx_buf *to)
{
    const gbx_options *o = &t->engine->settings.options;
    gbx_msg_config config = {
        .version = GBX_WIRE_VERSION,
        .globals = (uint8_t)o->globals,
        .warm = (o->pool_size > 1 || o->fresh == GBX_FRESH_EXEC) && !t->is_cold ? 1 : 0,
        .huge_pages = (uint8_t)o->huge_pages,
        .flags = o->speculation == GBX_SPECULATION_GUARDED
                     ? GBX_CONFIG_GUARD_SPECULATION
                     : 0,
        .capabilities = o->capabilities,
        .memory_bytes = o->limits.memory_bytes,
        .cpu_s = o->limits.cpu_ms / 1000 + 2,
    };
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names = {.ceiling = GBX_CONFIG_MAX / 2};

    for (const gbx_dataset *d = t->engine->preloads; d != NULL; d = d->next)
        config.preloads++;
    if (!gbx_hostcalls_names(t->engine, o->policy, false, &names, &t->function_serial))
        return false;
    config.functions = (gbx_span){names.data, names.len};
    return gbx_msg_put(to, 0, &config);
}

/* A process with its CONFIG. */
static gbx_status make_process(gbx_template *t, gbx_error *reterr)
{
    gbx_engine *engine = t->engine;
    const gbx_options *o = &engine->settings.options;
    gbx_spawn_options options = {.worker_path = o->worker_path,
                                 .jit = o->jit,
                                 .uids = engine->worker_uids,
                                 .worker_uid = o->worker_uid,
                                 .huge_pages = o->huge_pages,
                                 .cgroup = engine->group.dir};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf config = {.ceiling = GBX_CONFIG_MAX};
    bool has_pool = o->fresh == GBX_FRESH_FORK && o->pool_size > 1;
    gbx_status status;

    /* Each engine has its own control group, which a process enters at its fork;
     * preloads are read before the work that is done ahead. */
    options.takes_spare =
        options.cgroup < 0 && engine->preloads == NULL && !engine->lost_spare;
    if (engine->worker_uids[0] == 0)
        gbx_worker_uid_choose(o->worker_uid, engine->worker_uids);
    /* Not for a replacement of a serving template: if executed, it has its own address
     * layout, and no call waits for it. */
    if (has_pool && o->zygote == GBX_ZYGOTE_ON && engine->current == NULL) {
        if (!put_config(t, &config))
            return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a template");
        if (gbx_zygote_spawn(&options, (gbx_span){config.data, config.len},
                             engine->worker_uids, &t->process))
            return GBX_OK;
        config.len = 0;
    }
    /* Warming up takes three quarters of a start. The first template of an engine skips
     * it, so that the first call does not wait, and is soon replaced. Not with preloads,
     * which would have to run twice. */
    t->is_cold = has_pool && engine->templates_started == 0 && engine->preloads == NULL;
    status = gbx_spawn(&options, &t->process, reterr);
    if (status == GBX_OK &&
        (!put_config(t, &config) || send(t->process.control, config.data, config.len,
                                         MSG_NOSIGNAL) != (ssize_t)config.len))
        status = gbx_worker_died_early(&t->process, reterr);
    return status;
}

gbx_status gbx_template_start(gbx_engine *engine, gbx_error *reterr)
{
    struct timeval patience = gbx_timeout_timeval(GBX_TIMEOUT_HELLO);
    gbx_template *t = calloc(1, sizeof *t);
    gbx_error err = {0};
    gbx_status status;

    if (t == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a template");
    t->engine = engine;
    t->process = GBX_SPAWNED_INIT;
    t->born_ns = gbx_clock_now_ns();
    gbx_buf_init(&t->in, GBX_KIB(64));
    t->content_seq = engine->content_seq;
    status = make_process(t, &err);
    if (status == GBX_OK)
        status = check_pidfds(&t->process, &err);
    for (const gbx_dataset *d = engine->preloads; d != NULL; d = d->next)
        if (status == GBX_OK && !gbx_template_send_load(t, d))
            status = gbx_worker_died_early(&t->process, &err);
    if (status == GBX_OK) {
        t->control = event_new(engine->base, t->process.control, EV_READ | EV_PERSIST,
                               on_control, t);
        if (t->control == NULL || event_add(t->control, &patience) < 0)
            status = gbx_fail(&err, GBX_E_NOMEM, "no memory for an event");
    }
    if (status != GBX_OK && t->process.was_spare) {
        engine->lost_spare = true;
        gbx_template_end(t);
        return gbx_template_start(engine, reterr);
    }
    if (status != GBX_OK) {
        (void)pthread_mutex_lock(&engine->lock);
        gbx_queue_lacks(engine, err.message, err.os_errno);
        (void)pthread_mutex_unlock(&engine->lock);
        gbx_template_end(t);
        if (reterr != NULL)
            *reterr = err;
        return status;
    }
    (void)pthread_mutex_lock(&engine->lock);
    t->next = engine->templates;
    engine->templates = t;
    t->is_renewal = gbx_change_is_open(engine, GBX_CHANGE_RENEWAL);
    engine->templates_started++;
    engine->is_spawning = false;
    (void)pthread_mutex_unlock(&engine->lock);
    return GBX_OK;
}

void gbx_template_sweep(gbx_engine *engine)
{
    for (gbx_template **at = &engine->templates; *at != NULL;) {
        gbx_template *t = *at;
        bool is_over;
        bool is_gone;

        (void)pthread_mutex_lock(&engine->lock);
        is_over = t->workers == 0 && t->state == GBX_TEMPLATE_RETIRED;
        if (is_over)
            t->state = GBX_TEMPLATE_DEAD;
        is_gone = t->workers == 0 && t->state == GBX_TEMPLATE_DEAD;
        (void)pthread_mutex_unlock(&engine->lock);
        if (is_over)
            end_later(t);
        is_gone = is_gone && t->process.pidfd < 0;
        if (is_gone) {
            (void)pthread_mutex_lock(&engine->lock);
            *at = t->next;
            (void)pthread_mutex_unlock(&engine->lock);
            gbx_template_end(t);
        } else {
            at = &t->next;
        }
    }
}

void gbx_template_end(gbx_template *t)
{
    if (t->control != NULL)
        event_free(t->control);
    if (t->ended != NULL)
        event_free(t->ended);
    gbx_spawned_close(&t->process);
    for (size_t i = 0; i < t->fd_count; i++)
        gbx_fd_close(&t->fds[i]);
    gbx_buf_cleanup(&t->in);
    free(t);
}

/* ---- templates that hang -------------------------------------------------------- */

void gbx_watch_templates(gbx_engine *engine)
{
    int64_t since = gbx_clock_now_ns() - gbx_timeout_ns(GBX_TIMEOUT_FORK);
    const gbx_worker *w;

    (void)pthread_mutex_lock(&engine->lock);
    LIST_FOREACH(w, &engine->workers, link)
    {
        const gbx_template *t = w->from;
        bool loads = t == engine->current && engine->change.kind == GBX_CHANGE_UPDATE;

        /* A template that loads answers its FORKs afterwards. */
        if (w->state == GBX_WORKER_FORKING && w->asked_ns < since && !loads &&
            t->state != GBX_TEMPLATE_DEAD)
            gbx_pidfd_kill(t->process.pidfd);
    }
    (void)pthread_mutex_unlock(&engine->lock);
}
