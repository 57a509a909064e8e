/* SPDX-License-Identifier: MIT */
/* job - see job.h. */
#include "job.h"

#include "gather.h"
#include "text.h"

#include <glovebox/preload.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool tell(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    gbx_node_job *job = (gbx_node_job *)event;
    const char *message = job->error.message;
    napi_value args[7] = {
        gbx_node_number(env, GBX_NODE_JOB),
        gbx_node_number(env, job->id),
        gbx_node_number(env, job->status),
        gbx_node_utf8(env, message, strlen(message)),
        gbx_node_number(env, job->error.line),
        gbx_node_number(env, job->error.column),
        job->text != NULL ? gbx_node_utf8(env, job->text, strlen(job->text))
                          : gbx_node_undefined(env),
    };

    gbx_node_dispatch(e, env, 7, args);
    return true;
}

static void drop(gbx_node_event *event)
{
    gbx_node_job_free((gbx_node_job *)event);
}

static void run(void *arg)
{
    gbx_node_job *job = arg;

    job->work(job);
    gbx_node_engine_leave(job->engine);
    gbx_node_post(job->engine->e, &job->event);
}

static void load(gbx_node_job *job)
{
    job->status =
        gbx_engine_load(job->engine->core, job->name, job->data, job->data_len,
                        (gbx_data_format)job->format, &job->error);
}

/* The data are the path, a NUL, and the query if there is one. */
static void load_sqlite(gbx_node_job *job)
{
    const char *end = memchr(job->data, 0, job->data_len);

    job->status = gbx_engine_load_sqlite(job->engine->core, job->name, job->data,
                                         end != NULL ? end + 1 : NULL, &job->error);
}

static void preload(gbx_node_job *job)
{
    job->status = gbx_engine_preload(job->engine->core, job->name, job->data,
                                     job->data_len, &job->error);
}

static void report(gbx_node_job *job)
{
    job->status = gbx_engine_report(job->engine->core, &job->text, &job->error);
}

/* (handle, job, name, string or gather, format): false if there is no engine any more. */
static napi_value start(napi_env env, napi_callback_info info,
                        void (*work)(gbx_node_job *))
{
    size_t argc = 5;
    napi_value argv[5];
    gbx_node_engine *engine;
    gbx_node_job *job;
    napi_valuetype type;
    double id = 0;
    size_t ignored;
    bool is_pending = false;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok)
        return NULL;
    engine = gbx_node_engine_of(env, argv[0]);
    if (engine == NULL)
        return NULL;
    if (gbx_node_engine_core(engine) == NULL)
        return gbx_node_boolean(env, false);
    (void)napi_get_value_double(env, argv[1], &id);
    job = gbx_node_job_new(env, engine, id);
    if (job == NULL)
        return NULL;
    job->work = work;
    (void)napi_get_value_uint32(env, argv[4], &job->format); /* or it stays JSON */
    job->name = gbx_node_string(env, argv[2], &ignored);
    if (napi_typeof(env, argv[3], &type) == napi_ok && type == napi_external)
        job->data = gbx_node_gather_take(env, argv[3], &job->data_len);
    else
        job->data = gbx_node_string(env, argv[3], &job->data_len);
    if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending) {
        gbx_node_job_free(job);
        return NULL;
    }
    gbx_node_job_start(job);
    return gbx_node_boolean(env, true);
}

/* ---- public to other modules -------------------------------------------- */

gbx_node_job *gbx_node_job_new(napi_env env, gbx_node_engine *engine, double id)
{
    gbx_node_job *job = calloc(1, sizeof *job);

    if (job == NULL) {
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a job");
        return NULL;
    }
    job->event.tell = tell;
    job->event.drop = drop;
    job->engine = engine;
    job->id = id;
    gbx_node_engine_ref(engine);
    return job;
}

void gbx_node_job_start(gbx_node_job *job)
{
    gbx_node_engine_enter(job->engine);
    if (gbx_node_run(job->engine->e, run, job))
        return;
    gbx_node_engine_leave(job->engine);
    job->status = job->error.status = GBX_E_OS;
    (void)snprintf(job->error.message, sizeof job->error.message, "%s",
                   "no thread could be started");
    gbx_node_post(job->engine->e, &job->event);
}

void gbx_node_job_free(gbx_node_job *job)
{
    if (job->free_more != NULL)
        job->free_more(job);
    gbx_node_engine_unref(job->engine);
    gbx_string_free(job->text);
    free(job->name);
    free(job->data);
    free(job);
}

napi_value gbx_node_load(napi_env env, napi_callback_info info)
{
    return start(env, info, load);
}

napi_value gbx_node_load_sqlite(napi_env env, napi_callback_info info)
{
    return start(env, info, load_sqlite);
}

napi_value gbx_node_preload(napi_env env, napi_callback_info info)
{
    return start(env, info, preload);
}

napi_value gbx_node_report(napi_env env, napi_callback_info info)
{
    return start(env, info, report);
}
