/* SPDX-License-Identifier: MIT */
/*
 * box - runs code in the engine. The loop drives the runs, without a thread between it
 * and a worker. The starter thread posts its result; runs that end unbegun are posted.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/thread.h"
#include "policy/policy.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <glovebox/drive.h>
#include <glovebox/preload.h>

struct gbx_box_run {
    gbx_box *box;
    const gbx_box_hooks *hooks;
    void *user;
    gbx_call call;
    gbx_limits limits; /* of the call */
    gbx_drive *drive;  /* NULL: waits for the engine */
    struct event *event;
    gbx_ticket ticket;
    gbx_error error; /* why it could not begin */
    bool is_waiting; /* for data */
    bool is_aborted;
    bool is_over;          /* done was called, or will be by the post */
    gbx_mcp_post end_post; /* for a run that ends without the engine, with its error */
    TAILQ_ENTRY(gbx_box_run) in_box;
};

struct gbx_box {
    gbx_mcp_loop *loop;
    gbx_options options;
    gbx_preload preload;
    void (*restarted)(void *user); /* the engine, without datasets; or NULL */
    void *restarted_user;
    pthread_t starter;
    bool has_starter;
    gbx_engine *engine; /* owned by the starter until is_ready */
    bool is_ready;
    bool was_started;  /* before, with or without success */
    gbx_error outcome; /* of a start; owned by the starter while is_starting */
    gbx_mcp_post start_post;
    gbx_error failure; /* of the last start; GBX_OK unless it failed */
    gbx_backoff backoff;
    TAILQ_HEAD(, gbx_box_run) runs; /* in the order of their arrival */
    pthread_mutex_t lock; /* protects is_starting; engine, outcome for threads */
    pthread_cond_t started;
    bool is_starting;
};

/* ---- on the engine's threads ----------------------------------------------------- */

static void on_request(void *user, gbx_engine *engine, const gbx_host_call *call);

static void *start_engine(void *arg)
{
    gbx_box *box = arg;
    gbx_error *error = &box->outcome;
    gbx_engine *engine = NULL;

    error->status = gbx_engine_new(&box->options, &engine, error);
    if (error->status == GBX_OK && box->preload.source != NULL)
        error->status =
            gbx_engine_expose(engine, GBX_CODE_HOST_NAME, on_request, box, error);
    /* Last, so that the template made here has the function, and both are warm. */
    if (error->status == GBX_OK && box->preload.source != NULL)
        error->status =
            gbx_engine_preload(engine, box->preload.name, box->preload.source,
                               box->preload.source_len, error);
    if (error->status != GBX_OK)
        gbx_engine_free(engine);
    (void)pthread_mutex_lock(&box->lock);
    box->engine =
        error->status == GBX_OK ? engine : NULL; /* the loop reads it after the post */
    box->is_starting = false;
    (void)pthread_cond_broadcast(&box->started);
    (void)pthread_mutex_unlock(&box->lock);
    gbx_mcp_loop_post(box->loop, &box->start_post);
    return NULL;
}

/* ---- on the loop's thread -------------------------------------------------------- */

static void free_run(gbx_box_run *run)
{
    if (run->event != NULL)
        event_free(run->event);
    gbx_drive_free(run->drive);
    free(run);
}

static void end_run(gbx_box_run *run, gbx_result *result, const gbx_error *error)
{
    TAILQ_REMOVE(&run->box->runs, run, in_box);
    /* Answer first; free what the run had afterwards. */
    run->hooks->done(run->user, result, error);
    free_run(run);
}

static void on_end(void *arg)
{
    gbx_box_run *run = arg;

    end_run(run, NULL, &run->error);
}

/* End a run with its error by a post, never from inside a call. */
static void end_later(gbx_box_run *run)
{
    run->is_over = true;
    run->end_post = (gbx_mcp_post){.run = on_end, .arg = run};
    gbx_mcp_loop_post(run->box->loop, &run->end_post);
}

static void on_log(void *user, const gbx_log *log)
{
    gbx_box_run *run = user;

    if (run->hooks->log != NULL)
        run->hooks->log(run->user, log->level, log->text, log->text_len);
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
    static const gbx_error none = {.status = GBX_OK};
    gbx_box_run *run = arg;
    gbx_result *result;

    result = gbx_drive_step(run->drive);
    if (result != NULL)
        end_run(run, result, &none);
    else if (gbx_drive_takes_turns(run->drive))
        gbx_mcp_loop_stay(run->box->loop);
}

static void end_unbegun(gbx_box_run *run)
{
    (void)gbx_fail(&run->error, GBX_E_CLOSED, "cancelled before it began");
    end_later(run);
}

/* The engine is ready. */
static void begin(gbx_box_run *run)
{
    struct event_base *base = gbx_mcp_loop_base(run->box->loop);
    gbx_box_turn turn = run->hooks->turn != NULL
                            ? run->hooks->turn(run->user, &run->call)
                            : GBX_BOX_GOES;
    gbx_time_budget budget;

    run->is_waiting = turn == GBX_BOX_WAITS;
    if (turn == GBX_BOX_ENDS)
        end_unbegun(run);
    if (turn != GBX_BOX_GOES)
        return;
    budget = gbx_code_budget(run->call.code_len);
    gbx_time_budget_begin(&budget);
    run->error.status = gbx_drive_new(run->box->engine, &run->call, &run->drive,
                                      &run->ticket, &run->error);
    gbx_time_budget_end(&budget);
    if (run->error.status == GBX_OK) {
        run->event = gbx_need(event_new(base, gbx_drive_fd(run->drive),
                                        EV_READ | EV_PERSIST, on_step, run));
        if (event_add(run->event, NULL) != 0)
            (void)gbx_fail(&run->error, GBX_E_OS, "cannot watch a run");
    }
    if (run->error.status != GBX_OK)
        end_later(run);
}

static void on_ready(void *arg)
{
    gbx_box *box = arg;
    const gbx_error *error = &box->outcome;
    gbx_box_run *run;

    box->failure = *error;
    if (error->status != GBX_OK)
        gbx_backoff_fail(&box->backoff, gbx_clock_now_ns());
    box->is_ready = error->status == GBX_OK;
    if (box->is_ready && box->was_started && box->restarted != NULL)
        box->restarted(box->restarted_user);
    box->was_started = true;
    TAILQ_FOREACH(run, &box->runs, in_box)
    {
        if (run->is_over)
            continue;
        run->error = *error;
        if (error->status == GBX_OK)
            begin(run);
        else
            end_later(run);
    }
}

static bool start(gbx_box *box)
{
    (void)pthread_mutex_lock(&box->lock);
    box->outcome = (gbx_error){.status = GBX_OK};
    box->start_post = (gbx_mcp_post){.run = on_ready, .arg = box};
    errno = gbx_thread_start(&box->starter, start_engine, box);
    box->has_starter = box->is_starting = errno == 0;
    (void)pthread_mutex_unlock(&box->lock);
    return box->has_starter;
}

/* The machine may now have the resources that the failed start lacked. */
static void start_again(gbx_box *box)
{
    int64_t now_ns = gbx_clock_now_ns();

    if (!gbx_backoff_is_over(&box->backoff, now_ns))
        return;
    if (box->has_starter) /* has ended or soon will: the post is its last action */
        (void)pthread_join(box->starter, NULL);
    if (start(box))
        box->failure = (gbx_error){.status = GBX_OK};
    else
        gbx_backoff_fail(&box->backoff, now_ns);
}

/* Called in gbx_drive_step(). Code of `compute` finds the function, too: refuse it. */
static void on_request(void *user, gbx_engine *engine, const gbx_host_call *call)
{
    static const char refused[] =
        "{\"error\":{\"code\":\"DENIED\",\"message\":\"only scripts reach servers: use "
        "execute\",\"retryable\":false}}";
    gbx_box *box = user;
    gbx_box_run *run;
    gbx_view args = {call->args, call->args_len}; /* JSON: the engine has checked it */

    TAILQ_FOREACH(run, &box->runs, in_box)
    {
        if (run->ticket == call->call)
            break;
    }
    if (run != NULL && run->hooks->request != NULL)
        run->hooks->request(run->user, call, args);
    else
        gbx_box_answer(box, call->request, refused, sizeof refused - 1);
}

gbx_box *gbx_box_new(gbx_mcp_loop *loop, const gbx_options *options, char *preload,
                     size_t preload_len)
{
    gbx_box *box = gbx_need(calloc(1, sizeof *box));

    box->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    box->started = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    TAILQ_INIT(&box->runs);
    box->loop = loop;
    box->options = *options;
    box->preload = (gbx_preload){GBX_CODE_PRELOAD_NAME, preload, preload_len};
    if (start(box))
        return box;
    gbx_box_free(box);
    return NULL;
}

void gbx_box_drop(gbx_box_run *run)
{
    if (run == NULL)
        return;
    TAILQ_REMOVE(&run->box->runs, run, in_box);
    free_run(run);
}

void gbx_box_free(gbx_box *box)
{
    if (box == NULL)
        return;
    if (box->has_starter)
        (void)pthread_join(box->starter, NULL);
    while (!TAILQ_EMPTY(&box->runs)) /* before the engine */
        gbx_box_drop(TAILQ_FIRST(&box->runs));
    gbx_engine_free(box->engine);
    (void)pthread_cond_destroy(&box->started);
    (void)pthread_mutex_destroy(&box->lock);
    free((void *)(uintptr_t)box->preload.source);
    free(box);
}

gbx_box_run *gbx_box_start(gbx_box *box, const gbx_call *call,
                           const gbx_box_hooks *hooks, void *user)
{
    gbx_box_run *run = gbx_need(calloc(1, sizeof *run));

    run->box = box;
    run->hooks = hooks;
    run->user = user;
    run->call = *call;
    run->call.flags |= GBX_CALL_LENT;
    run->call.on_log = on_log;
    run->call.log_user = run;
    run->limits = *call->limits;
    run->call.limits = &run->limits;
    if (box->options.policy != NULL) /* a call's limits may not exceed the engine's */
        gbx_limits_lower(&run->limits, &box->options.policy->limits);
    TAILQ_INSERT_TAIL(&box->runs, run, in_box);
    if (box->failure.status != GBX_OK)
        start_again(box);
    run->error = box->failure;
    if (run->error.status != GBX_OK)
        end_later(run);
    else if (box->is_ready)
        begin(run);
    return run;
}

gbx_engine *gbx_box_engine(gbx_box *box, gbx_error *reterr)
{
    gbx_engine *engine;

    (void)pthread_mutex_lock(&box->lock);
    while (box->is_starting)
        (void)pthread_cond_wait(&box->started, &box->lock);
    engine = box->engine;
    if (engine == NULL)
        *reterr = box->outcome;
    (void)pthread_mutex_unlock(&box->lock);
    return engine;
}

void gbx_box_on_restart(gbx_box *box, void (*restarted)(void *user), void *user)
{
    box->restarted = restarted;
    box->restarted_user = user;
}

void gbx_box_go_on(gbx_box *box)
{
    gbx_box_run *run, *next;

    for (run = TAILQ_FIRST(&box->runs); run != NULL; run = next) {
        next = TAILQ_NEXT(run, in_box);
        if (box->is_ready && run->is_waiting && !run->is_over)
            begin(run);
    }
}

void gbx_box_abort(gbx_box_run *run)
{
    if (run->is_aborted || run->is_over)
        return;
    run->is_aborted = true;
    if (run->ticket != 0)
        gbx_abort(run->box->engine, run->ticket);
    else
        end_unbegun(run);
}

void gbx_box_answer(gbx_box *box, gbx_request request, const char *json, size_t len)
{
    /* The run may have ended meanwhile; that is not an error. */
    (void)!gbx_answer(box->engine, request, json, len, NULL);
}
