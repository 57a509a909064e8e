/* SPDX-License-Identifier: MIT */
/*
 * engine - see engine.h. Handles are objects that wrap the structure; the tag on them is
 * what makes a wrong argument a TypeError and not a wild pointer.
 */
#include "engine.h"

#include "job.h"
#include "options.h"
#include "text.h"

#include <stdlib.h>

static const napi_type_tag handle_tag = {0x8d3f5b0ac1d94e27, 0xb1f07e2a64c85d93};

static bool start_closing_for(gbx_node_engine *engine, double job);

/* The handle was collected: nobody can use the engine any more. */
static void on_collected(napi_env env, void *data, void *hint)
{
    gbx_node_engine *engine = data;

    (void)env;
    (void)hint;
    if (!engine->is_closing)
        (void)start_closing_for(engine, 0);
    gbx_node_engine_unref(engine);
}

static void open_core(gbx_node_job *job)
{
    gbx_node_options *options = job->more;
    gbx_engine *core = NULL;

    job->status = gbx_engine_new(&options->core, &core, &job->error);
    if (job->status == GBX_OK)
        job->status = gbx_engine_report(core, &job->text, &job->error);
    if (job->status != GBX_OK) {
        gbx_engine_free(core);
        core = NULL;
    }
    (void)pthread_mutex_lock(&job->engine->lock);
    job->engine->core = core;
    (void)pthread_mutex_unlock(&job->engine->lock);
}

static void free_options(gbx_node_job *job)
{
    gbx_node_options_free(job->more);
}

static void unlink_from_env(gbx_node_engine *engine)
{
    for (gbx_node_engine **at = &engine->e->engines; *at != NULL; at = &(*at)->next) {
        if (*at == engine) {
            *at = engine->next;
            gbx_node_engine_unref(engine);
            return;
        }
    }
}

/* Wait until no thread is inside the library with it, then free it. */
static void end_core(gbx_node_engine *engine)
{
    gbx_engine *core;

    (void)pthread_mutex_lock(&engine->lock);
    while (engine->users > 0)
        (void)pthread_cond_wait(&engine->changed, &engine->lock);
    core = engine->core;
    engine->core = NULL;
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_engine_free(core);
}

typedef struct closing {
    gbx_node_event event;
    gbx_node_engine *engine;
    double job;
} closing;

static bool tell_closed(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    closing *c = (closing *)event;
    napi_value args[3] = {gbx_node_number(env, GBX_NODE_JOB),
                          gbx_node_number(env, c->job), gbx_node_number(env, GBX_OK)};

    unlink_from_env(c->engine);
    if (c->job > 0)
        gbx_node_dispatch(e, env, 3, args);
    return true;
}

static void drop_closed(gbx_node_event *event)
{
    closing *c = (closing *)event;

    gbx_node_engine_unref(c->engine);
    free(c);
}

static void close_core(void *arg)
{
    closing *c = arg;

    end_core(c->engine);
    gbx_node_post(c->engine->e, &c->event);
}

/* Without memory or a thread for it the engine is ended with its JavaScript thread. */
static bool start_closing_for(gbx_node_engine *engine, double job)
{
    closing *c = calloc(1, sizeof *c);

    engine->is_closing = true;
    if (c == NULL)
        return false;
    c->event.tell = tell_closed;
    c->event.drop = drop_closed;
    c->engine = engine;
    c->job = job;
    gbx_node_engine_ref(engine);
    if (gbx_node_run(engine->e, close_core, c))
        return true;
    drop_closed(&c->event);
    return false;
}

static gbx_node_engine *make(gbx_node_env *e, double id)
{
    gbx_node_engine *engine = calloc(1, sizeof *engine);

    if (engine == NULL)
        return NULL;
    engine->e = e;
    engine->id = id;
    engine->references = 2; /* the handle and the env's list */
    (void)pthread_mutex_init(&engine->lock, NULL);
    (void)pthread_cond_init(&engine->changed, NULL);
    gbx_node_env_ref(e);
    engine->next = e->engines;
    e->engines = engine;
    return engine;
}

/* ---- public to other modules -------------------------------------------- */

gbx_node_engine *gbx_node_engine_of(napi_env env, napi_value handle)
{
    void *data = NULL;
    bool is_ours = false;

    if (napi_check_object_type_tag(env, handle, &handle_tag, &is_ours) != napi_ok ||
        !is_ours || napi_unwrap(env, handle, &data) != napi_ok) {
        (void)napi_throw_type_error(env, NULL, "not the handle of an engine");
        return NULL;
    }
    return data;
}

gbx_engine *gbx_node_engine_core(gbx_node_engine *engine)
{
    gbx_engine *core;

    if (engine->is_closing)
        return NULL;
    (void)pthread_mutex_lock(&engine->lock);
    core = engine->core;
    (void)pthread_mutex_unlock(&engine->lock);
    return core;
}

void gbx_node_engine_enter(gbx_node_engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    engine->users++;
    (void)pthread_mutex_unlock(&engine->lock);
}

void gbx_node_engine_leave(gbx_node_engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    engine->users--;
    (void)pthread_cond_broadcast(&engine->changed);
    (void)pthread_mutex_unlock(&engine->lock);
}

void gbx_node_engine_ref(gbx_node_engine *engine)
{
    (void)pthread_mutex_lock(&engine->lock);
    engine->references++;
    (void)pthread_mutex_unlock(&engine->lock);
}

void gbx_node_engine_unref(gbx_node_engine *engine)
{
    bool is_last;

    (void)pthread_mutex_lock(&engine->lock);
    is_last = --engine->references == 0;
    (void)pthread_mutex_unlock(&engine->lock);
    if (!is_last)
        return;
    gbx_node_env_unref(engine->e);
    (void)pthread_cond_destroy(&engine->changed);
    (void)pthread_mutex_destroy(&engine->lock);
    free(engine);
}

void gbx_node_engine_end(gbx_node_engine *engine)
{
    engine->is_closing = true;
    end_core(engine);
    unlink_from_env(engine);
}

/* (engine's number, job's number, options) -> handle */
napi_value gbx_node_open(napi_env env, napi_callback_info info)
{
    size_t argc = 3;
    napi_value argv[3];
    napi_value handle;
    void *data = NULL;
    double id = 0;
    double job_id = 0;
    gbx_node_options *options;
    gbx_node_engine *engine;
    gbx_node_job *job;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, &data) != napi_ok ||
        napi_get_value_double(env, argv[0], &id) != napi_ok ||
        napi_get_value_double(env, argv[1], &job_id) != napi_ok)
        return NULL;
    options = gbx_node_options_take(env, argv[2]);
    if (options == NULL)
        return NULL;
    engine = make(data, id);
    job = engine != NULL ? gbx_node_job_new(env, engine, job_id) : NULL;
    if (job == NULL) {
        gbx_node_options_free(options);
        if (engine != NULL) {
            unlink_from_env(engine);
            gbx_node_engine_unref(engine);
        }
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for an engine");
        return NULL;
    }
    gbx_node_options_for(options, engine);
    job->work = open_core;
    job->more = options;
    job->free_more = free_options;
    gbx_node_job_start(job);
    if (napi_create_object(env, &handle) != napi_ok ||
        napi_wrap(env, handle, engine, on_collected, NULL, NULL) != napi_ok) {
        (void)start_closing_for(engine, 0);
        gbx_node_engine_unref(engine);
        return NULL;
    }
    (void)napi_type_tag_object(env, handle, &handle_tag);
    return handle;
}

/* (handle, job's number): the job's end is told when every process is gone. */
napi_value gbx_node_close(napi_env env, napi_callback_info info)
{
    size_t argc = 2;
    napi_value argv[2];
    double job = 0;
    gbx_node_engine *engine;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
        napi_get_value_double(env, argv[1], &job) != napi_ok)
        return NULL;
    engine = gbx_node_engine_of(env, argv[0]);
    if (engine == NULL)
        return NULL;
    return gbx_node_boolean(env, !engine->is_closing && start_closing_for(engine, job));
}
