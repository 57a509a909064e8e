/* SPDX-License-Identifier: MIT */
/*
 * providers - serves requests: by a function of the embedder, by fetch, or from files.
 *
 * The name and the arguments come from a worker and are hostile. A name that this call
 * does not have is answered with an error. A request for fetch or a file becomes a job;
 * the thread that answers a job frees it.
 */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "fetch/fetch.h"
#include "file/file.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments up to this size get their NUL on the stack. */
#define SMALL_ARGS GBX_KIB(4)

/* Maximum number of jobs that wait for an engine's I/O thread. */
#define IO_QUEUE_MAX 1024

/* ---- functions of the embedder ------------------------------------------------ */

static void call_function(gbx_run *run, const gbx_function *f, gbx_request request,
                          gbx_span args)
{
    char small[SMALL_ARGS];
    char *text = args.len < sizeof small ? small : malloc(args.len + 1);
    gbx_host_call call = {.request = request,
                          .call = run->ticket,
                          .name = f->name,
                          .args = text,
                          .args_len = args.len,
                          .call_id = run->result->call_id};

    if (text == NULL) {
        run->exchange.is_nomem = true;
        return;
    }
    memcpy(text, args.data, args.len);
    text[args.len] = 0;
    run->calls.is_dispatching = true;
    f->fn(f->user, run->engine, &call);
    run->calls.is_dispatching = false;
    explicit_bzero(text, args.len); /* it may contain secrets */
    if (text != small)
        free(text);
}

/* Call the function, with secrets filled in if its arguments refer to any. */
static void call_with_secrets(gbx_run *run, const gbx_function *f, gbx_request request,
                              gbx_span args)
{
    const gbx_policy *policy = gbx_run_policy(run);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf filled = {.ceiling = GBX_SECRETS_FILLED_MAX};
    const gbx_secret_target target = {.function = f->name};
    gbx_error error = {0};

    if (policy == NULL || !gbx_secrets_are_in(args) ||
        (policy->self_filling != NULL && strcmp(policy->self_filling, f->name) == 0)) {
        call_function(run, f, request, args);
        return;
    }
    if (gbx_secrets_fill(policy, &target, args, &filled, &error) == GBX_OK)
        call_function(run, f, request, (gbx_span){filled.data, filled.len});
    else
        gbx_hostcall_refuse(run->engine, request, "Error", error.message, "ERR_SECRET");
}

/* ---- jobs ---------------------------------------------------------------------- */

static gbx_job *job_new(gbx_run *run, gbx_request request, const gbx_msg_hostcall *msg)
{
    gbx_job *job = calloc(1, sizeof *job + msg->args.len + msg->bytes.len);

    if (job == NULL)
        return NULL;
    job->engine = run->engine;
    job->request = request;
    /* An engine's policy never changes, but its reference count does. */
    job->policy = gbx_policy_ref((gbx_policy *)(uintptr_t)gbx_run_policy(run));
    memcpy(job->data, msg->args.data, msg->args.len);
    job->args = (gbx_span){job->data, msg->args.len};
    if (msg->bytes.len > 0)
        memcpy(job->data + msg->args.len, msg->bytes.data, msg->bytes.len);
    job->body = (gbx_span){job->data + msg->args.len, msg->bytes.len};
    return job;
}

static void free_job(void *user)
{
    gbx_job *job = user;

    gbx_policy_free(job->policy);
    gbx_reply_wipe(job->reply);
    free(job);
}

/* Answer that the host lacks a resource. */
static void refuse_job(gbx_engine *engine, gbx_request request, const char *name)
{
    char text[128];

    (void)snprintf(text, sizeof text, "%s: the host cannot take another request now",
                   name);
    gbx_hostcall_refuse(engine, request, "Error", text, "ERR_HOST_BUSY");
}

/* Let the I/O thread run it. On success it belongs to that thread. */
static bool submit(gbx_job *job, void (*run)(void *job))
{
    gbx_engine *engine = job->engine;
    gbx_providers *p = &engine->providers;
    gbx_io *io;

    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    if (p->io == NULL)
        p->io = gbx_io_start(IO_QUEUE_MAX);
    io = p->io;
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
    return io != NULL &&
           gbx_io_submit(io, &(gbx_io_job){.run = run, .drop = free_job, .user = job});
}

/* ---- files: on the I/O thread --------------------------------------------------- */

static void read_file(void *user)
{
    gbx_job *job = user;
    gbx_msg_answer answer = {0};
    gbx_buf bytes = {0};

    gbx_file_read(job->policy, job->engine->settings.options.policy, job->args, &bytes,
                  &answer);
    (void)gbx_hostcall_reply(job->engine, job->request, &answer);
    gbx_buf_cleanup(&bytes);
    free_job(job);
}

static bool start_file(gbx_job *job)
{
    return submit(job, read_file);
}

/* ---- fetches: on the supervisor's loop, which starts and drops them -------------- */

static void unlink_fetch(gbx_job *job)
{
    (void)pthread_mutex_lock(&job->engine->hostcalls.lock);
    LIST_REMOVE(job, link);
    (void)pthread_mutex_unlock(&job->engine->hostcalls.lock);
}

static void drop_fetch(gbx_job *job)
{
    if (job->fetch != NULL)
        gbx_fetch_drop(job->fetch);
    unlink_fetch(job);
    free_job(job);
}

/* On the I/O thread, which does the search for secrets. */
static void give_reply(void *user)
{
    gbx_job *job = user;

    (void)gbx_hostcall_reply(job->engine, job->request, &job->reply->msg);
    free_job(job);
}

static void on_fetched(void *user, const gbx_msg_answer *answer)
{
    gbx_job *job = user;
    const gbx_policy *policy = job->engine->settings.options.policy;

    unlink_fetch(job);
    if (policy == NULL || policy->secret_count == 0) {
        (void)gbx_hostcall_reply(job->engine, job->request, answer);
        free_job(job);
        return;
    }
    job->reply = gbx_reply_copy(answer);
    if (job->reply == NULL || !submit(job, give_reply)) {
        refuse_job(job->engine, job->request, "fetch");
        free_job(job);
    }
}

static void on_report(void *user, void *fetch_user, const gbx_fetch_report *report)
{
    const gbx_job *job = fetch_user;

    gbx_hostcall_report(user, job->request, report);
}

/* Hand a fetch to the supervisor. */
static bool post_fetch(gbx_job *job)
{
    gbx_engine *engine = job->engine;

    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    LIST_INSERT_HEAD(&engine->providers.fetches, job, link);
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
    gbx_engine_wake(engine);
    return true;
}

/* With the lock, since threads that answer for a transport read it too. */
static void set_fetcher(gbx_engine *engine, gbx_fetcher *fetcher)
{
    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    engine->providers.fetcher = fetcher;
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
}

/* The first fetch makes the fetcher. */
static void begin_fetch(gbx_engine *engine, gbx_job *job)
{
    gbx_providers *p = &engine->providers;
    gbx_fetcher *fetcher = NULL;
    const gbx_fetch_transport *own = engine->settings.options.transport;
    gbx_fetcher_options options = {
        .base = engine->base,
        .engine = engine,
        .transport = own != NULL ? own->fetch : NULL,
        .transport_user = own != NULL ? own->user : NULL,
        .on_report = on_report,
        .report_user = engine,
    };

    if (p->fetcher == NULL && gbx_fetcher_new(&options, &fetcher, NULL) == GBX_OK)
        set_fetcher(engine, fetcher);
    if (p->fetcher != NULL)
        job->fetch = gbx_fetch_start(p->fetcher, job->policy, job->args, job->body,
                                     on_fetched, job);
    if (job->fetch == NULL) {
        refuse_job(engine, job->request, "fetch");
        drop_fetch(job);
    }
}

static const struct provider {
    const char *name;
    uint32_t bit;
    bool (*start)(gbx_job *job);
} providers[] = {
    {"fetch", GBX_CAP_FETCH, post_fetch},
    {"fs.readFile", GBX_CAP_FILE, start_file},
};

/* The capability that serves this name, if the run has it; otherwise NULL. */
static const struct provider *find_provider(const gbx_run *run, gbx_span name)
{
    const gbx_policy *policy = gbx_run_policy(run);

    for (size_t i = 0; i < GBX_COUNTOF(providers); i++)
        if (policy != NULL && (policy->capabilities & providers[i].bit) != 0 &&
            strlen(providers[i].name) == name.len &&
            memcmp(providers[i].name, name.data, name.len) == 0)
            return &providers[i];
    return NULL;
}

/* A request has arrived, with a JSON array of arguments. Driver only. */
static void live_request(gbx_run *run, const gbx_msg_hostcall *msg)
{
    gbx_hostcalls *h = &run->engine->hostcalls;
    const gbx_policy *policy = gbx_run_policy(run);
    const struct provider *builtin = find_provider(run, msg->name);
    const gbx_function *f;
    const char *name;
    gbx_request request;
    gbx_job *job;

    (void)pthread_mutex_lock(&h->lock);
    f = builtin == NULL ? h->functions : NULL;
    while (f != NULL && (strlen(f->name) != msg->name.len ||
                         memcmp(f->name, msg->name.data, msg->name.len) != 0))
        f = f->next;
    (void)pthread_mutex_unlock(&h->lock);
    name = f != NULL ? f->name : builtin != NULL ? builtin->name : NULL;
    request = gbx_hostcall_open(run, name, f == NULL, msg);
    run->result->stats.host_calls++;
    if (request == 0) {
        run->exchange.is_nomem = true;
    } else if (builtin != NULL) {
        job = job_new(run, request, msg);
        if (job != NULL && builtin->start(job))
            return;
        if (job != NULL)
            free_job(job);
        refuse_job(run->engine, request, builtin->name);
    } else if (f == NULL ||
               (policy != NULL && !gbx_policy_allows_function(policy, f->name))) {
        gbx_hostcall_refuse(run->engine, request, "Error",
                            "this call has no function of that name",
                            "ERR_NOT_ALLOWED");
    } else {
        call_with_secrets(run, f, request, msg->args);
    }
}

void gbx_provider_tick(gbx_engine *engine)
{
    gbx_job *job;
    bool is_new;

    do {
        (void)pthread_mutex_lock(&engine->hostcalls.lock);
        LIST_FOREACH(job, &engine->providers.fetches, link)
        if (job->is_unwanted || !job->has_begun)
            break;
        is_new = job != NULL && !job->is_unwanted;
        if (job != NULL)
            job->has_begun = true;
        (void)pthread_mutex_unlock(&engine->hostcalls.lock);
        if (is_new)
            begin_fetch(engine, job);
        else if (job != NULL)
            drop_fetch(job);
    } while (job != NULL);
}

void gbx_provider_end_fetches(gbx_engine *engine)
{
    gbx_providers *p = &engine->providers;
    gbx_fetcher *fetcher = p->fetcher;

    while (!LIST_EMPTY(&p->fetches))
        drop_fetch(LIST_FIRST(&p->fetches));
    if (fetcher != NULL) {
        /* Run events that libevent has postponed to the next turn of the loop. */
        (void)event_base_loop(engine->base, EVLOOP_NONBLOCK);
        set_fetcher(engine, NULL);
        gbx_fetcher_free(fetcher);
    }
}

void gbx_provider_end(gbx_engine *engine)
{
    gbx_io_stop(engine->providers.io);
    engine->providers.io = NULL;
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_transport_answer(gbx_engine *engine, gbx_transport_token token,
                                const gbx_transport_response *response,
                                gbx_error *reterr)
{
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status != GBX_OK)
        return status;
    /* The lock prevents the fetcher from being freed meanwhile. */
    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    if (engine->providers.fetcher != NULL)
        status = gbx_fetcher_answer(engine->providers.fetcher, token, response, reterr);
    else
        status = gbx_fail(reterr, GBX_E_CLOSED, "nobody waits for this answer");
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
    return status;
}

/* ---- the host itself answers ----------------------------------------------------- */

static void live_open(gbx_run *run, gbx_buf *withheld, gbx_buf *env)
{
    if (run->call.policy != NULL)
        (void)gbx_hostcalls_names(run->engine, run->call.policy, true, withheld, NULL);
    if (run->capabilities & GBX_CAP_ENV)
        (void)gbx_policy_put_env(gbx_run_policy(run), env);
}

static bool live_wake(gbx_run *run, int64_t now_ns)
{
    size_t count = 0;

    if (run->wake_ns == 0)
        run->wake_ns = now_ns + (int64_t)run->exchange.wake_ms * GBX_NS_PER_MS;
    for (gbx_reply *r = gbx_hostcall_replies(run); r != NULL; count++) {
        if (!run->host->answer(run, &r->msg))
            run->exchange.is_nomem = true;
        r = gbx_hostcall_log(run, r);
    }
    run->calls.was_answered = count > 0;
    return count > 0 || now_ns >= run->wake_ns;
}

static bool live_answer(gbx_run *run, const gbx_msg_answer *msg)
{
    return gbx_exchange_answer(&run->exchange, msg);
}

const gbx_run_host gbx_live_host = {
    .open = live_open,
    .request = live_request,
    .cancel = gbx_hostcall_cancel,
    .wake = live_wake,
    .answer = live_answer,
};
