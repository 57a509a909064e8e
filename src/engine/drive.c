/* SPDX-License-Identifier: MIT */
/*
 * drive - a call in steps. One descriptor covers its three reasons to step: the
 * worker's channel, the clock, and the eventfd by which other threads announce a
 * worker, an answer, or an end. A step never waits for the worker, however briefly: the
 * loop has other work.
 */
#include <glovebox/drive.h>

#include "base/clock.h"
#include "engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* A template with one worker needs nearly as many. Calls that used them all would
 * wait for workers whose descriptors nobody can receive. */
#define SPARE_FDS 16

struct gbx_drive {
    gbx_run run;
    int fd; /* epoll: timer, run.calls.wake_fd, the worker's channel */
    int timer;
    uint32_t watched; /* EPOLL* of the channel; 0: not in the set */
    int64_t armed_ns;
    bool is_over;
};

static bool watch(const gbx_drive *d, int operation, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events};

    return epoll_ctl(d->fd, operation, fd, &event) == 0;
}

/* The kernel assigns the lowest free descriptor: all below this one are in use. */
static bool leaves_some(int fd)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || (rlim_t)fd + SPARE_FDS < limit.rlim_cur)
        return true;
    errno = EMFILE;
    return false;
}

static gbx_status open_descriptors(gbx_drive *d, gbx_error *reterr)
{
    d->fd = epoll_create1(EPOLL_CLOEXEC);
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    d->run.calls.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    /* A thread that throws the call's signal already reads this. */
    (void)pthread_mutex_lock(&d->run.engine->lock);
    d->run.is_stepped = d->run.calls.wake_fd >= 0;
    (void)pthread_mutex_unlock(&d->run.engine->lock);
    if (d->fd < 0 || d->timer < 0 || d->run.calls.wake_fd < 0 ||
        !leaves_some(d->run.calls.wake_fd) ||
        !watch(d, EPOLL_CTL_ADD, d->timer, EPOLLIN) ||
        !watch(d, EPOLL_CTL_ADD, d->run.calls.wake_fd, EPOLLIN))
        return gbx_fail(reterr, GBX_E_OS, "no descriptors for a call: %s",
                        strerror(errno));
    return GBX_OK;
}

/* Wait for the clock and the channel; false if the kernel is out of memory. */
static bool arm(gbx_drive *d)
{
    gbx_run *run = &d->run;
    int64_t next =
        run->phase == GBX_RUN_QUEUED ? run->deadline_ns : gbx_run_next_ns(run);
    struct itimerspec at = {
        .it_value = {.tv_sec = next / 1000000000, .tv_nsec = next % 1000000000}};
    uint32_t want = 0;

    if (next != d->armed_ns &&
        timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &at, NULL) < 0)
        return false;
    d->armed_ns = next;
    if (run->phase == GBX_RUN_STARTED)
        want = EPOLLIN | (gbx_run_wants_write(run) ? EPOLLOUT : 0);
    if (want != d->watched && !watch(d,
                                     d->watched == 0 ? EPOLL_CTL_ADD
                                     : want == 0     ? EPOLL_CTL_DEL
                                                     : EPOLL_CTL_MOD,
                                     run->worker->channel, want))
        return false;
    d->watched = want;
    return true;
}

/* Clear everything that is about to be handled. A clock that has run out must be set
 * again, even to the same time. */
static void drain(gbx_drive *d)
{
    uint64_t count;

    (void)!read(d->run.calls.wake_fd, &count, sizeof count);
    if (gbx_clock_now_ns() >= d->armed_ns) {
        (void)!read(d->timer, &count, sizeof count);
        d->armed_ns = 0;
    }
}

static void begin(gbx_run *run)
{
    gbx_run_start(run, gbx_clock_now_ns());
    gbx_run_send(run);
    if (run->leaves_few) /* the worker has its call and runs by now */
        gbx_pool_fill_for(run);
}

/* Does the run have a worker, or no hope of one? */
static void step_queued(gbx_run *run)
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
            gbx_queue_remove(engine, run);
    }
    (void)pthread_mutex_unlock(&engine->lock);
    if (has_worker)
        begin(run);
    else if (how != GBX_END_SAID)
        gbx_run_end_unserved(run, how);
}

/* Its worker is killed and released; no message can reach it any more. */
static void leave_engine(gbx_run *run)
{
    gbx_engine *engine = run->engine;

    (void)pthread_mutex_lock(&engine->lock);
    if (run->worker != NULL)
        gbx_pool_release(engine, run->worker);
    gbx_queue_unlink(engine, run);
    (void)pthread_mutex_unlock(&engine->lock);
}

static gbx_result *finish(gbx_drive *d)
{
    gbx_run *run = &d->run;
    gbx_result *result;

    if (d->watched != 0) /* the channel may outlive this */
        (void)watch(d, EPOLL_CTL_DEL, run->worker->channel, 0);
    d->watched = 0;
    leave_engine(run);
    gbx_run_conclude(run);
    gbx_audit_call_ended(run, GBX_OK);
    if (run->call.signal != NULL) /* it may use the run, too */
        gbx_signal_detach(run->call.signal, run);
    run->call.signal = NULL;
    gbx_run_calls_end(run); /* later answers find no request */
    result = run->result;
    run->result = NULL;
    d->is_over = true;
    return result;
}

static void free_drive(gbx_drive *d)
{
    gbx_run_cleanup(&d->run);
    gbx_fd_close(&d->timer);
    gbx_fd_close(&d->fd);
    free(d);
}

/* Adds it to the engine's list, where others may end it. */
static gbx_status enter_engine(gbx_run *run, gbx_error *reterr)
{
    gbx_engine *engine = run->engine;
    bool is_closing;

    (void)pthread_mutex_lock(&engine->lock);
    is_closing = engine->is_closing;
    if (!is_closing)
        gbx_queue_link(engine, run);
    if (!is_closing && run->phase == GBX_RUN_QUEUED)
        gbx_queue_enter(engine, run);
    (void)pthread_mutex_unlock(&engine->lock);
    return is_closing ? gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed")
                      : GBX_OK;
}

static gbx_status start(gbx_drive *d, const gbx_call *call, gbx_engine *engine,
                        gbx_error *reterr)
{
    gbx_run *run = &d->run;
    gbx_status status = gbx_run_init(run, engine, call, reterr);

    if (status == GBX_OK)
        status = open_descriptors(d, reterr);
    if (status == GBX_OK)
        status = gbx_run_own(run, reterr);
    if (status == GBX_OK && run->phase != GBX_RUN_ENDED &&
        engine->runner.execute != NULL)
        status = gbx_outcome_run(run, reterr);
    if (status == GBX_OK)
        status = enter_engine(run, reterr);
    if (status != GBX_OK)
        gbx_audit_call_ended(run, status);
    return status;
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_drive_new(gbx_engine *engine, const gbx_call *call,
                         gbx_drive **ret_drive, gbx_ticket *ret_ticket,
                         gbx_error *reterr)
{
    gbx_status status;
    gbx_drive *d;

    if (ret_drive == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "ret_drive is missing");
    status = gbx_engine_enter(engine, call, reterr);
    if (status != GBX_OK)
        return status;
    d = calloc(1, sizeof *d);
    if (d == NULL) {
        gbx_engine_leave(engine);
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the call");
    }
    d->fd = d->timer = -1;
    status = start(d, call, engine, reterr);
    if (status != GBX_OK) {
        free_drive(d);
        gbx_engine_leave(engine);
        return status;
    }
    if (ret_ticket != NULL)
        *ret_ticket = d->run.ticket;
    *ret_drive = d;
    if (d->run.phase == GBX_RUN_QUEUED)
        step_queued(&d->run);
    /* If sending failed, the first step finds out. */
    if (d->run.phase == GBX_RUN_ENDED || d->run.exchange.is_nomem || !arm(d))
        gbx_run_notify(&d->run);
    return GBX_OK;
}

int gbx_drive_fd(const gbx_drive *drive)
{
    return drive->fd;
}

gbx_result *gbx_drive_step(gbx_drive *drive)
{
    gbx_run *run = &drive->run;

    if (drive->is_over || !gbx_engine_is_ours(run->engine))
        return NULL;
    drain(drive);
    if (run->phase == GBX_RUN_QUEUED)
        step_queued(run);
    if (run->phase == GBX_RUN_STARTED || run->phase == GBX_RUN_DYING)
        (void)gbx_run_step(run, gbx_clock_now_ns());
    if (run->phase != GBX_RUN_ENDED && !arm(drive)) {
        run->exchange.is_nomem = true;
        if (run->phase == GBX_RUN_QUEUED)
            return NULL; /* the next step comes when it has a worker */
        gbx_run_finish(run, GBX_END_SAID, gbx_clock_now_ns());
        run->phase = GBX_RUN_ENDED;
    }
    return run->phase == GBX_RUN_ENDED ? finish(drive) : NULL;
}

int gbx_drive_takes_turns(const gbx_drive *drive)
{
    return gbx_run_takes_turns(&drive->run);
}

void gbx_drive_free(gbx_drive *drive)
{
    gbx_engine *engine;

    if (drive == NULL)
        return;
    engine = drive->run.engine;
    if (!gbx_engine_is_ours(engine))
        return;
    if (!drive->is_over) {
        (void)pthread_mutex_lock(&engine->lock);
        gbx_run_abort_locked(&drive->run);
        (void)pthread_mutex_unlock(&engine->lock);
        gbx_result_free(gbx_drive_step(drive));
    }
    free_drive(drive);
    gbx_engine_leave(engine);
}
