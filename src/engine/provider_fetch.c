/* SPDX-License-Identifier: MIT */
/* provider_fetch - runs fetches on the supervisor's loop, which starts and drops
 * them. */
#include "engine/provider.h"

#include "engine/engine.h"
#include "fetch/fetch.h"

#include <stdlib.h>

static void unlink_active(gbx_engine *engine, const gbx_job *job)
{
    gbx_job **at = &engine->providers.active;

    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
}

static void on_fetched(void *user, const gbx_msg_answer *answer)
{
    gbx_job *job = user;

    gbx_provider_reply(job->engine, job->request, answer);
    unlink_active(job->engine, job);
    gbx_job_free(job);
}

static void on_report(void *user, void *fetch_user, const gbx_fetch_report *report)
{
    const gbx_job *job = fetch_user;

    gbx_hostcall_report(user, job->request, report);
}

bool gbx_provider_fetch(gbx_engine *engine, gbx_job *job)
{
    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    job->next = engine->providers.posted;
    engine->providers.posted = job;
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
    gbx_supervisor_wake(engine);
    return true;
}

/* Threads that answer for a transport read it too. */
static void set_fetcher(gbx_engine *engine, gbx_fetcher *fetcher)
{
    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    engine->providers.fetcher = fetcher;
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
}

/* Start a fetch that is new to the supervisor; it is in the active list. */
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
        gbx_job_refuse(engine, job->request, "fetch");
        unlink_active(engine, job);
        gbx_job_free(job);
    }
}

/* The next job that needs the supervisor; *ret_begin: start it or drop it. */
static gbx_job *next_job(gbx_engine *engine, bool *ret_begin)
{
    gbx_providers *p = &engine->providers;
    gbx_job *job;

    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    job = p->posted;
    *ret_begin = job != NULL && !job->is_unwanted;
    if (job != NULL) {
        p->posted = job->next;
        job->next = p->active;
        p->active = job;
    } else {
        for (job = p->active; job != NULL && !job->is_unwanted;)
            job = job->next;
    }
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
    return job;
}

static void drop_fetch(gbx_engine *engine, gbx_job *job)
{
    if (job->fetch != NULL)
        gbx_fetch_drop(job->fetch);
    unlink_active(engine, job);
    gbx_job_free(job);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_provider_tick(gbx_engine *engine)
{
    gbx_job *job;
    bool begin;

    while ((job = next_job(engine, &begin)) != NULL) {
        if (begin)
            begin_fetch(engine, job);
        else
            drop_fetch(engine, job);
    }
}

void gbx_provider_end_fetches(gbx_engine *engine)
{
    gbx_providers *p = &engine->providers;
    gbx_fetcher *fetcher;

    gbx_provider_tick(engine);
    fetcher = p->fetcher;
    while (p->active != NULL)
        drop_fetch(engine, p->active);
    if (fetcher != NULL) {
        /* Events that libevent has postponed to the next turn of the loop. */
        (void)event_base_loop(engine->base, EVLOOP_NONBLOCK);
        set_fetcher(engine, NULL);
        gbx_fetcher_free(fetcher);
    }
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
