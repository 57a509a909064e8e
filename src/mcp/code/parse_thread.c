/* SPDX-License-Identifier: MIT */
/*
 * parse_thread - a job is first in the list, then in work, then posted. It can be
 * withdrawn only from the list; after that the thread owns it until its post reaches
 * the loop.
 */
#include "mcp/code/code.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>

/* Time on the loop: at least twice what ordinary code of that length takes. */
#define LOOP_NS (4 * GBX_NS_PER_MS)

/* For the guard's parse and those that look for names: ordinary code of 50 KiB needs 50
 * ms. */
#define CALL_BASE_NS     (100 * GBX_NS_PER_MS)
#define CALL_PER_BYTE_NS INT64_C(5000)

struct gbx_parse_thread {
    gbx_mcp_loop *loop;
    pthread_t thread;
    bool has_thread;
    atomic_bool stop;
    pthread_mutex_t lock; /* protects jobs */
    pthread_cond_t changed;
    TAILQ_HEAD(, gbx_parse_thread_job) jobs;
};

/* NULL: the thread must end. */
static gbx_parse_thread_job *next_job(gbx_parse_thread *aside)
{
    gbx_parse_thread_job *job = NULL;

    (void)pthread_mutex_lock(&aside->lock);
    while (TAILQ_EMPTY(&aside->jobs) && !atomic_load(&aside->stop))
        (void)pthread_cond_wait(&aside->changed, &aside->lock);
    if (!atomic_load(&aside->stop)) {
        job = TAILQ_FIRST(&aside->jobs);
        TAILQ_REMOVE(&aside->jobs, job, in_jobs);
    }
    (void)pthread_mutex_unlock(&aside->lock);
    return job;
}

static void *run(void *arg)
{
    gbx_parse_thread *aside = arg;
    gbx_parse_thread_job *job;

    while ((job = next_job(aside)) != NULL) {
        gbx_time_budget_begin(job->patience);
        job->work(job->user);
        gbx_time_budget_end(job->patience);
        gbx_mcp_loop_post(aside->loop, &job->post);
    }
    return NULL;
}

static bool has_thread(gbx_parse_thread *aside)
{
    if (!aside->has_thread)
        aside->has_thread = gbx_thread_start(&aside->thread, run, aside) == 0;
    return aside->has_thread;
}

gbx_parse_thread *gbx_parse_thread_new(gbx_mcp_loop *loop)
{
    gbx_parse_thread *aside = gbx_need(calloc(1, sizeof *aside));

    aside->loop = loop;
    TAILQ_INIT(&aside->jobs);
    aside->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    aside->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    return aside;
}

void gbx_parse_thread_free(gbx_parse_thread *aside)
{
    if (aside == NULL)
        return;
    (void)pthread_mutex_lock(&aside->lock);
    atomic_store(&aside->stop, true);
    (void)pthread_cond_signal(&aside->changed);
    (void)pthread_mutex_unlock(&aside->lock);
    if (aside->has_thread)
        (void)pthread_join(aside->thread, NULL);
    (void)pthread_cond_destroy(&aside->changed);
    (void)pthread_mutex_destroy(&aside->lock);
    free(aside);
}

gbx_time_budget gbx_parse_thread_patience(const gbx_parse_thread *aside,
                                          size_t code_len)
{
    return (gbx_time_budget){.left_ns =
                                 CALL_BASE_NS + CALL_PER_BYTE_NS * (int64_t)code_len,
                             .stop = &aside->stop};
}

bool gbx_parse_thread_give(gbx_parse_thread *aside, gbx_parse_thread_job *job)
{
    if (!has_thread(aside))
        return false;
    job->post = (gbx_mcp_post){.run = job->done, .arg = job->user};
    (void)pthread_mutex_lock(&aside->lock);
    TAILQ_INSERT_TAIL(&aside->jobs, job, in_jobs);
    (void)pthread_cond_signal(&aside->changed);
    (void)pthread_mutex_unlock(&aside->lock);
    return true;
}

bool gbx_parse_thread_withdraw(gbx_parse_thread *aside, gbx_parse_thread_job *job)
{
    gbx_parse_thread_job *at;

    (void)pthread_mutex_lock(&aside->lock);
    TAILQ_FOREACH(at, &aside->jobs, in_jobs)
    {
        if (at == job)
            break;
    }
    if (at != NULL)
        TAILQ_REMOVE(&aside->jobs, at, in_jobs);
    (void)pthread_mutex_unlock(&aside->lock);
    return at != NULL;
}

gbx_parse_thread_when gbx_parse_thread_read(gbx_parse_thread *aside,
                                            gbx_parse_thread_job *job, size_t code_len)
{
    gbx_time_budget soon = {.left_ns = LOOP_NS};

    if (code_len <= GBX_ASIDE_SHORT) {
        gbx_time_budget_begin(&soon);
        job->work(job->user);
        gbx_time_budget_end(&soon);
        if (!soon.is_lost)
            return GBX_ASIDE_NOW;
    }
    return gbx_parse_thread_give(aside, job) ? GBX_ASIDE_LATER : GBX_ASIDE_NEVER;
}
