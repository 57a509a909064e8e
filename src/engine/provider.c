/* SPDX-License-Identifier: MIT */
/* provider - see provider.h. The thread that answers a job frees it. */
#include "engine/provider.h"

#include "engine/engine.h"
#include "file/file.h"

#include <stdlib.h>
#include <string.h>

/* Files waiting for the I/O thread, in one engine. */
#define IO_QUEUE_MAX 1024

static gbx_job *job_new(gbx_run *run, gbx_request request, const gbx_msg_hostcall *msg)
{
    gbx_job *job = calloc(1, sizeof *job + msg->args.len + msg->bytes.len);

    if (job == NULL)
        return NULL;
    job->engine = run->engine;
    job->request = request;
    /* An engine's policy never changes, but its counter does. */
    job->policy = gbx_policy_ref((gbx_policy *)(uintptr_t)gbx_run_policy(run));
    memcpy(job->data, msg->args.data, msg->args.len);
    job->args = (gbx_span){job->data, msg->args.len};
    if (msg->bytes.len > 0)
        memcpy(job->data + msg->args.len, msg->bytes.data, msg->bytes.len);
    job->body = (gbx_span){job->data + msg->args.len, msg->bytes.len};
    return job;
}

void gbx_job_free(gbx_job *job)
{
    gbx_policy_free(job->policy);
    free(job);
}

void gbx_job_refuse(gbx_engine *engine, gbx_request request, const char *name)
{
    char text[128];

    (void)snprintf(text, sizeof text, "%s: the host cannot take another request now",
                   name);
    gbx_hostcall_refuse(engine, request, "Error", text, "ERR_HOST_BUSY");
}

static gbx_io *start_io(gbx_engine *engine)
{
    gbx_providers *p = &engine->providers;
    gbx_io *io;

    (void)pthread_mutex_lock(&engine->hostcalls.lock);
    if (p->io == NULL)
        p->io = gbx_io_start(IO_QUEUE_MAX);
    io = p->io;
    (void)pthread_mutex_unlock(&engine->hostcalls.lock);
    return io;
}

/* ---- files: on the I/O thread ---------------------------------------------------- */

static void read_file(void *user)
{
    gbx_job *job = user;
    gbx_msg_answer answer = {0};
    gbx_buf bytes = {0};

    gbx_file_read(job->policy, job->engine->settings.options.policy, job->args, &bytes,
                  &answer);
    (void)gbx_hostcall_reply(job->engine, job->request, &answer);
    gbx_buf_cleanup(&bytes);
    gbx_job_free(job);
}

static void drop_file(void *user)
{
    gbx_job_free(user);
}

static bool start_file(gbx_engine *engine, gbx_job *job)
{
    gbx_io_job io_job = {.run = read_file, .drop = drop_file, .user = job};
    gbx_io *io = start_io(engine);

    return io != NULL && gbx_io_submit(io, &io_job);
}

/* ---- answers that must be searched for secrets: on the I/O thread
 * ------------------------- */

typedef struct late_reply {
    gbx_engine *engine;
    gbx_request request;
    gbx_reply *reply;
} late_reply;

static void drop_reply(void *user)
{
    late_reply *late = user;

    gbx_reply_wipe(late->reply);
    free(late);
}

static void give_reply(void *user)
{
    late_reply *late = user;

    (void)gbx_hostcall_reply(late->engine, late->request, &late->reply->msg);
    drop_reply(late);
}

/* ---- public to other modules -------------------------------------------- */

static const struct provider {
    const char *name;
    uint32_t bit;
    bool (*start)(gbx_engine *engine, gbx_job *job);
} providers[] = {
    {"fetch", GBX_CAP_FETCH, gbx_provider_fetch},
    {"fs.readFile", GBX_CAP_FILE, start_file},
};

const char *gbx_provider_name(const gbx_run *run, gbx_span name)
{
    const gbx_policy *policy = gbx_run_policy(run);

    for (size_t i = 0; i < GBX_COUNTOF(providers); i++)
        if (policy != NULL && (policy->capabilities & providers[i].bit) != 0 &&
            strlen(providers[i].name) == name.len &&
            memcmp(providers[i].name, name.data, name.len) == 0)
            return providers[i].name;
    return NULL;
}

void gbx_provider_start(gbx_run *run, gbx_request request, const char *name,
                        const gbx_msg_hostcall *msg)
{
    gbx_job *job = job_new(run, request, msg);
    bool started = false;

    for (size_t i = 0; job != NULL && i < GBX_COUNTOF(providers); i++)
        if (providers[i].name == name)
            started = providers[i].start(run->engine, job);
    if (started)
        return;
    if (job != NULL)
        gbx_job_free(job);
    gbx_job_refuse(run->engine, request, name);
}

void gbx_provider_reply(gbx_engine *engine, gbx_request request,
                        const gbx_msg_answer *answer)
{
    late_reply *late;
    gbx_io *io;
    bool taken;

    if (!gbx_redact_is_due(engine->settings.options.policy)) {
        (void)gbx_hostcall_reply(engine, request, answer);
        return;
    }
    io = start_io(engine);
    late = calloc(1, sizeof *late);
    if (late != NULL)
        *late = (late_reply){engine, request, gbx_reply_copy(answer)};
    taken = io != NULL && late != NULL && late->reply != NULL &&
            gbx_io_submit(io, &(gbx_io_job){give_reply, drop_reply, late});
    if (taken)
        return;
    if (late != NULL)
        drop_reply(late);
    gbx_job_refuse(engine, request, "fetch");
}

void gbx_provider_forget(gbx_engine *engine, gbx_request request)
{
    gbx_job *const lists[] = {engine->providers.posted, engine->providers.active};

    for (size_t i = 0; i < GBX_COUNTOF(lists); i++) {
        for (gbx_job *job = lists[i]; job != NULL; job = job->next) {
            if (job->request != request)
                continue;
            job->is_unwanted = true;
            gbx_supervisor_wake(engine);
            return;
        }
    }
}

void gbx_provider_end(gbx_engine *engine)
{
    gbx_io_stop(engine->providers.io);
    engine->providers.io = NULL;
}
