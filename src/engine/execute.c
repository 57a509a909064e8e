/* SPDX-License-Identifier: MIT */
/*
 * execute - the three ways to drive a call: on the calling thread, on the supervisor
 * (partly in supervisor.c), or in steps on another event loop. All use the same
 * functions of run.h, and differ in how they wait.
 */
#include "engine/engine.h"

#include "base/clock.h"

#include <errno.h>
#include <glovebox/drive.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* ---- on the thread that makes the call ------------------------------------------- */

/* How long to spin after an answer was delivered. Code that awaits one function after
 * the other reacts within microseconds, and waking an idle processor takes longer:
 * spinning raised 15,000 round trips a second to 30,000. */
#define SPIN_NS INT64_C(60000)

/* Polling interval of a host that has no descriptor left to be woken by. */
#define BLIND_NS (10 * GBX_NS_PER_MS)

static bool hears_soon(gbx_run *run)
{
    struct pollfd fd = {.fd = run->worker->channel, .events = POLLIN};
    int64_t until = gbx_clock_now_ns() + SPIN_NS;

    run->calls.was_answered = false;
    do {
        if (poll(&fd, 1, 0) > 0)
            return true;
    } while (gbx_clock_now_ns() < until);
    return false;
}

/* Sleep until the channel, the clock or another thread needs attention. Most calls need
 * no descriptor for other threads: an abort closes the channel. */
static void sleep_on(gbx_run *run)
{
    bool hears = gbx_run_hears(run);
    bool is_told = !hears || run->exchange.host_open > 0; /* by other threads */
    struct pollfd fds[2] = {{.events = POLLIN}};
    int64_t left_ns;
    struct timespec left;
    uint64_t count;

    if (is_told && run->calls.wake_fd < 0) {
        run->calls.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (run->calls.wake_fd >= 0)
            return; /* earlier events could not wake us: check again first */
    }
    if (hears && run->calls.was_answered && hears_soon(run))
        return;
    fds[0].fd = run->calls.wake_fd;
    fds[1].fd = hears ? run->worker->channel : -1;
    fds[1].events =
        (short)(POLLIN | (gbx_exchange_output(&run->exchange).len > 0 ? POLLOUT : 0));
    left_ns = gbx_run_next_ns(run) - gbx_clock_now_ns();
    if (is_told && fds[0].fd < 0 && left_ns > BLIND_NS)
        left_ns = BLIND_NS;
    if (left_ns < 0)
        left_ns = 0;
    left = (struct timespec){left_ns / 1000000000, left_ns % 1000000000};
    (void)ppoll(fds, 2, &left, NULL);
    if (fds[0].revents != 0)
        (void)!read(fds[0].fd, &count, sizeof count);
}

/* gbx_engine_free() waits for threads between enter_engine() and leave_engine(). */
static gbx_status enter_engine(gbx_engine *engine, gbx_error *reterr)
{
    gbx_status status = gbx_engine_need(engine, reterr);
    bool is_closing;

    if (status != GBX_OK)
        return status;
    (void)pthread_mutex_lock(&engine->lock);
    is_closing = engine->is_closing;
    if (!is_closing)
        engine->executing++;
    (void)pthread_mutex_unlock(&engine->lock);
    return is_closing ? gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed")
                      : GBX_OK;
}

static void leave_engine(gbx_engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    engine->executing--;
    if (engine->is_closing)
        gbx_engine_wake(engine);
    (void)pthread_mutex_unlock(&engine->lock);
}

/* ---- in steps -------------------------------------------------------------------- */

/*
 * One descriptor covers the three reasons to step: the worker's channel, the clock, and
 * the eventfd by which other threads announce a worker, an answer, or an end. A step
 * never waits for the worker, however briefly: the loop has other work.
 */

/* Descriptors that calls leave free; a template with one worker needs nearly as many.
 * Without them the host could not receive the descriptors of new workers. */
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

static gbx_status open_descriptors(gbx_drive *d, gbx_error *reterr)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    bool leaves_some;

    d->fd = epoll_create1(EPOLL_CLOEXEC);
    d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    d->run.calls.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    /* The kernel assigns the lowest free descriptor: all below this one are in use. */
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    leaves_some = (rlim_t)d->run.calls.wake_fd + SPARE_FDS < limit.rlim_cur;
    if (!leaves_some)
        errno = EMFILE;
    if (d->fd < 0 || d->timer < 0 || d->run.calls.wake_fd < 0 || !leaves_some ||
        !watch(d, EPOLL_CTL_ADD, d->timer, EPOLLIN) ||
        !watch(d, EPOLL_CTL_ADD, d->run.calls.wake_fd, EPOLLIN))
        return gbx_fail(reterr, GBX_E_OS, "no descriptors for a call: %s",
                        strerror(errno));
    return GBX_OK;
}

/* Set the timer and watch the channel; false if the kernel is out of memory. */
static bool arm(gbx_drive *d)
{
    gbx_run *run = &d->run;
    int64_t next = gbx_run_next_ns(run);
    struct itimerspec at = {
        .it_value = {.tv_sec = next / 1000000000, .tv_nsec = next % 1000000000}};
    uint32_t want = 0;

    if (next != d->armed_ns &&
        timerfd_settime(d->timer, TFD_TIMER_ABSTIME, &at, NULL) < 0)
        return false;
    d->armed_ns = next;
    if (gbx_run_hears(run))
        want = EPOLLIN | (gbx_exchange_output(&run->exchange).len > 0 ? EPOLLOUT : 0);
    if (want != d->watched && !watch(d,
                                     d->watched == 0 ? EPOLL_CTL_ADD
                                     : want == 0     ? EPOLL_CTL_DEL
                                                     : EPOLL_CTL_MOD,
                                     run->worker->channel, want))
        return false;
    d->watched = want;
    return true;
}

static gbx_result *finish(gbx_drive *d)
{
    if (d->watched != 0) /* the channel may outlive this */
        (void)watch(d, EPOLL_CTL_DEL, d->run.worker->channel, 0);
    d->watched = 0;
    d->is_over = true;
    return gbx_run_close(&d->run, GBX_OK);
}

static void free_drive(gbx_drive *d)
{
    gbx_fd_close(&d->timer);
    gbx_fd_close(&d->fd);
    free(d);
}

gbx_status gbx_drive_open(gbx_engine *engine, const gbx_call *call,
                          gbx_attach_fn *attach, gbx_relay *relay,
                          gbx_drive **ret_drive, gbx_error *reterr)
{
    gbx_status status = enter_engine(engine, reterr);
    gbx_drive *d;

    if (status != GBX_OK)
        return status;
    d = calloc(1, sizeof *d);
    if (d == NULL) {
        leave_engine(engine);
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the call");
    }
    d->fd = d->timer = -1;
    status = gbx_run_init(&d->run, engine, call, GBX_DRIVER_LOOP, reterr);
    if (status == GBX_OK && attach != NULL)
        status = attach(relay, &d->run, reterr);
    if (status == GBX_OK)
        status = open_descriptors(d, reterr);
    if (status == GBX_OK)
        status = gbx_run_enter(&d->run, reterr);
    if (status != GBX_OK) {
        (void)gbx_run_close(&d->run, status);
        free_drive(d);
        leave_engine(engine);
        return status;
    }
    *ret_drive = d;
    if (d->run.phase == GBX_RUN_QUEUED)
        gbx_run_begin(&d->run);
    if (d->run.leaves_few && d->run.phase == GBX_RUN_STARTED)
        gbx_pool_fill_for(&d->run);
    /* If sending failed, the first step finds out. */
    if (d->run.phase == GBX_RUN_ENDED || d->run.exchange.is_nomem || !arm(d))
        gbx_run_notify(&d->run);
    return GBX_OK;
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_execute(gbx_engine *engine, const gbx_call *call,
                       gbx_result **ret_result, gbx_error *reterr)
{
    gbx_result *result;
    gbx_status status;
    gbx_run run;

    if (ret_result == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "ret_result is missing");
    status = enter_engine(engine, reterr);
    if (status != GBX_OK)
        return status;
    status = gbx_run_init(&run, engine, call, GBX_DRIVER_CALLER, reterr);
    if (status == GBX_OK)
        status = gbx_run_enter(&run, reterr);
    while (status == GBX_OK && !gbx_run_pump(&run))
        sleep_on(&run);
    result = gbx_run_close(&run, status);
    if (status == GBX_OK)
        *ret_result = result;
    leave_engine(engine);
    return status;
}

gbx_status gbx_submit(gbx_engine *engine, const gbx_call *call, gbx_done_fn on_done,
                      void *user, gbx_ticket *ret_ticket, gbx_error *reterr)
{
    gbx_status status = gbx_engine_need(engine, reterr);
    gbx_run *run;

    if (status != GBX_OK)
        return status;
    if (on_done == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "on_done is NULL");
    run = malloc(sizeof *run);
    if (run == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the call");
    status = gbx_run_init(run, engine, call, GBX_DRIVER_SUPERVISOR, reterr);
    run->on_done = on_done;
    run->done_user = user;
    if (status == GBX_OK)
        status = gbx_run_enter(run, reterr);
    if (status != GBX_OK) {
        (void)gbx_run_close(run, status);
        free(run);
        return status;
    }
    if (ret_ticket != NULL)
        *ret_ticket = run->ticket;
    /* If it has a worker already, that starts before the supervisor wakes. Then the run
     * belongs to the supervisor, which does not drive it before it is in the inbox:
     * is_driven is false. */
    if (run->worker != NULL)
        gbx_run_begin(run);
    (void)pthread_mutex_lock(&engine->lock);
    gbx_queue_add(&engine->inbox, run);
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_engine_wake(engine);
    return GBX_OK;
}

gbx_status gbx_drive_new(gbx_engine *engine, const gbx_call *call,
                         gbx_drive **ret_drive, gbx_ticket *ret_ticket,
                         gbx_error *reterr)
{
    gbx_status status;

    if (ret_drive == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "ret_drive is missing");
    status = gbx_drive_open(engine, call, NULL, NULL, ret_drive, reterr);
    if (status == GBX_OK && ret_ticket != NULL)
        *ret_ticket = (*ret_drive)->run.ticket;
    return status;
}

int gbx_drive_fd(const gbx_drive *drive)
{
    return drive->fd;
}

gbx_result *gbx_drive_step(gbx_drive *drive)
{
    gbx_run *run = &drive->run;
    uint64_t count;

    if (drive->is_over || !gbx_engine_is_ours(run->engine))
        return NULL;
    (void)!read(run->calls.wake_fd, &count, sizeof count);
    if (gbx_clock_now_ns() >= drive->armed_ns) {
        /* It must be set again, even to the same time. */
        (void)!read(drive->timer, &count, sizeof count);
        drive->armed_ns = 0;
    }
    if (!gbx_run_pump(run) && !arm(drive)) {
        if (run->phase == GBX_RUN_QUEUED)
            return NULL; /* the next step comes when it has a worker */
        gbx_run_end_nomem(run);
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
    if (!drive->is_over) { /* a lease: nobody wants its last bytes */
        (void)gbx_run_finish(&drive->run, GBX_END_ABORT);
        gbx_result_free(finish(drive));
    }
    free_drive(drive);
    leave_engine(engine);
}
