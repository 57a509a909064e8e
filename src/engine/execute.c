/* SPDX-License-Identifier: MIT */
/*
 * execute - a call driven by the thread that makes it. From the worker's READY to its
 * result no other thread of the host has to run.
 */
#include "engine/engine.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Code that awaits one function after the other reacts to an answer within
 * microseconds, and waking an idle processor takes longer: spinning raised 15,000
 * round trips a second to 30,000. Only after an answer was delivered. */
#define SPIN_NS INT64_C(60000)

static struct timespec to_timespec(int64_t ns)
{
    if (ns < 0)
        ns = 0;
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* Wait until the run has a worker or never will. */
static gbx_end wait_for_worker(gbx_run *run)
{
    gbx_engine *engine = run->engine;
    struct timespec deadline;
    gbx_end how = GBX_END_SAID;

    (void)pthread_mutex_lock(&engine->lock);
    gbx_queue_enter(engine, run);
    deadline = to_timespec(run->deadline_ns);
    while (run->worker == NULL && how == GBX_END_SAID) {
        if (atomic_load(&run->is_aborted) || engine->is_closing)
            how = GBX_END_ABORT;
        else if (run->unserved != GBX_END_SAID)
            how = run->unserved;
        else if (pthread_cond_timedwait(&run->changed, &engine->lock, &deadline) ==
                     ETIMEDOUT &&
                 run->worker == NULL)
            how = GBX_END_NO_WORKER;
    }
    if (run->is_waiting)
        gbx_queue_remove(engine, run);
    (void)pthread_mutex_unlock(&engine->lock);
    return how;
}

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

/* Sleep until the channel or the clock needs attention. */
static void sleep_on_channel(gbx_run *run)
{
    struct pollfd fds[2] = {
        {.fd = run->worker->channel,
         .events = (short)(POLLIN | (gbx_run_wants_write(run) ? POLLOUT : 0))},
        {.events = POLLIN}};
    struct timespec left;
    uint64_t count;

    if (!gbx_hostcall_may_sleep(run, &fds[1].fd) ||
        (run->calls.was_answered && hears_soon(run)))
        return;
    left = to_timespec(gbx_run_next_ns(run) - gbx_clock_now_ns());
    (void)ppoll(fds, fds[1].fd >= 0 ? 2 : 1, &left, NULL);
    if (fds[1].fd >= 0 && fds[1].revents != 0)
        (void)!read(fds[1].fd, &count, sizeof count);
}

/* Sleep until the worker's end is reported. */
static void sleep_on_exit(gbx_run *run)
{
    struct timespec deadline = to_timespec(gbx_run_next_ns(run));

    (void)pthread_mutex_lock(&run->engine->lock);
    if (!run->worker->has_exited && !atomic_load(&run->is_aborted))
        (void)pthread_cond_timedwait(&run->changed, &run->engine->lock, &deadline);
    (void)pthread_mutex_unlock(&run->engine->lock);
}

static void drive(gbx_run *run)
{
    gbx_run_start(run, gbx_clock_now_ns());
    if (run->leaves_few && !gbx_run_step(run, gbx_clock_now_ns()))
        gbx_pool_fill_for(run); /* the worker has its call and runs by now */
    while (!gbx_run_step(run, gbx_clock_now_ns())) {
        if (run->phase == GBX_RUN_DYING)
            sleep_on_exit(run);
        else
            sleep_on_channel(run);
    }
}

static gbx_status run_on_process(gbx_run *run, gbx_error *reterr)
{
    gbx_engine *engine = run->engine;
    gbx_end how;

    (void)pthread_mutex_lock(&engine->lock);
    if (engine->is_closing) {
        (void)pthread_mutex_unlock(&engine->lock);
        return gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed");
    }
    gbx_queue_link(engine, run);
    (void)pthread_mutex_unlock(&engine->lock);
    how = wait_for_worker(run);
    if (how == GBX_END_SAID)
        drive(run);
    else
        gbx_run_end_unserved(run, how);
    (void)pthread_mutex_lock(&engine->lock);
    if (run->worker != NULL)
        gbx_pool_release(engine, run->worker);
    gbx_queue_unlink(engine, run);
    (void)pthread_mutex_unlock(&engine->lock);
    return GBX_OK;
}

static gbx_status check_engine(const gbx_engine *engine, const gbx_call *call,
                               gbx_error *reterr)
{
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status == GBX_OK && call == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "call is NULL");
    return status;
}

/*
 * If a submitted run need not wait, the submitting thread starts it: the worker is at
 * work before the supervisor wakes. After that it belongs to the supervisor. Nobody
 * else touches it meanwhile: it is not in any list of driven runs.
 */
static void start_at_once(gbx_run *run)
{
    gbx_engine *engine = run->engine;

    (void)pthread_mutex_lock(&engine->lock);
    if (engine->ready_count > 0 && engine->inbox.count == 0)
        gbx_queue_enter(engine, run);
    (void)pthread_mutex_unlock(&engine->lock);
    if (run->worker == NULL)
        return;
    gbx_run_start(run, gbx_clock_now_ns());
    gbx_run_send(run);
}

/* Leave the run to the supervisor. */
static void hand_over(gbx_run *run)
{
    gbx_engine *engine = run->engine;

    (void)pthread_mutex_lock(&engine->lock);
    if (engine->inbox.last != NULL)
        engine->inbox.last->next_wait = run;
    else
        engine->inbox.first = run;
    engine->inbox.last = run;
    engine->inbox.count++;
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_supervisor_wake(engine);
}

/* ---- public to other files of this folder --------------------------------- */

gbx_status gbx_engine_enter(gbx_engine *engine, const gbx_call *call, gbx_error *reterr)
{
    gbx_status status = check_engine(engine, call, reterr);
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

void gbx_engine_leave(gbx_engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    engine->executing--;
    if (engine->is_closing)
        gbx_supervisor_wake(engine);
    (void)pthread_mutex_unlock(&engine->lock);
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_execute(gbx_engine *engine, const gbx_call *call,
                       gbx_result **ret_result, gbx_error *reterr)
{
    gbx_status status;
    gbx_run run;

    if (ret_result == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "ret_result is missing");
    status = gbx_engine_enter(engine, call, reterr);
    if (status != GBX_OK)
        return status;
    status = gbx_run_init(&run, engine, call, reterr);
    if (status == GBX_OK && run.phase != GBX_RUN_ENDED)
        status = engine->runner.execute != NULL ? gbx_outcome_run(&run, reterr)
                                                : run_on_process(&run, reterr);
    if (status == GBX_OK)
        gbx_run_conclude(&run);
    gbx_audit_call_ended(&run, status);
    if (status == GBX_OK) {
        *ret_result = run.result;
        run.result = NULL;
    }
    gbx_run_cleanup(&run);
    gbx_engine_leave(engine);
    return status;
}

gbx_status gbx_submit(gbx_engine *engine, const gbx_call *call, gbx_done_fn on_done,
                      void *user, gbx_ticket *ret_ticket, gbx_error *reterr)
{
    gbx_status status = check_engine(engine, call, reterr);
    gbx_run *run;

    if (status != GBX_OK)
        return status;
    if (on_done == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "on_done is NULL");
    run = malloc(sizeof *run);
    if (run == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the call");
    status = gbx_run_init(run, engine, call, reterr);
    if (status == GBX_OK)
        status = gbx_run_own(run, reterr);
    if (status == GBX_OK) {
        /* A thread that throws the call's signal already reads this. */
        (void)pthread_mutex_lock(&engine->lock);
        run->is_async = true;
        (void)pthread_mutex_unlock(&engine->lock);
    }
    if (status == GBX_OK && run->phase != GBX_RUN_ENDED &&
        engine->runner.execute != NULL)
        status = gbx_outcome_run(run, reterr);
    if (status == GBX_OK) {
        run->on_done = on_done;
        run->done_user = user;
        (void)pthread_mutex_lock(&engine->lock);
        if (engine->is_closing) {
            status = gbx_fail(reterr, GBX_E_CLOSED, "the engine is being freed");
        } else {
            gbx_queue_link(engine, run);
            if (ret_ticket != NULL)
                *ret_ticket = run->ticket;
        }
        (void)pthread_mutex_unlock(&engine->lock);
    }
    if (status == GBX_OK) {
        if (run->phase != GBX_RUN_ENDED)
            start_at_once(run);
        hand_over(run);
        return GBX_OK;
    }
    gbx_audit_call_ended(run, status);
    gbx_run_cleanup(run);
    free(run);
    return status;
}
