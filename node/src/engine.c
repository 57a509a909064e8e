/* SPDX-License-Identifier: MIT */
/*
 * engine - an engine, and its slow operations: each is a job on its own thread, whose
 * end is reported to the dispatcher with the number that JavaScript gave it. Handles
 * are objects that wrap the structure; with their tag a wrong argument is a TypeError
 * and not a wild pointer.
 */
#include "addon.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const napi_type_tag handle_tag = {0x8d3f5b0ac1d94e27, 0xb1f07e2a64c85d93};

/* ---- jobs ------------------------------------------------------------------ */

typedef struct job {
    gbx_node_event event;
    gbx_node_engine *engine;
    double id;
    void (*work)(struct job *job); /* on the thread */
    gbx_status status;             /* work's outcome */
    gbx_error error;
    char *text; /* of the outcome, or NULL; for gbx_string_free() */
    char *name; /* input of work; for free() */
    char *data;
    size_t data_len;
    uint32_t format; /* gbx_data_format of data */
    gbx_node_options *options;
} job;

static bool tell_job(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    job *j = (job *)event;
    const char *message = j->error.message;
    napi_value args[7] = {
        gbx_node_number(env, GBX_NODE_JOB),
        gbx_node_number(env, j->id),
        gbx_node_number(env, j->status),
        gbx_node_utf8(env, message, strlen(message)),
        gbx_node_number(env, j->error.line),
        gbx_node_number(env, j->error.column),
        j->text != NULL ? gbx_node_utf8(env, j->text, strlen(j->text))
                        : gbx_node_undefined(env),
    };

    gbx_node_dispatch(e, env, 7, args);
    return true;
}

static void free_job(gbx_node_event *event)
{
    job *j = (job *)event;

    gbx_node_options_free(j->options);
    gbx_node_engine_unref(j->engine);
    gbx_string_free(j->text);
    free(j->name);
    free(j->data);
    free(j);
}

static void run_job(void *arg)
{
    job *j = arg;

    j->work(j);
    gbx_node_engine_leave(j->engine);
    gbx_node_post(j->engine->e, &j->event);
}

static job *new_job(gbx_node_engine *engine, double id, void (*work)(job *))
{
    job *j = calloc(1, sizeof *j);

    if (j == NULL)
        return NULL;
    j->event.tell = tell_job;
    j->event.drop = free_job;
    j->engine = engine;
    j->id = id;
    j->work = work;
    gbx_node_engine_ref(engine);
    return j;
}

/* Takes ownership. If no thread can be started, that is the job's outcome. */
static void start_job(job *j)
{
    gbx_node_engine_enter(j->engine);
    if (gbx_node_run(j->engine->e, run_job, j))
        return;
    gbx_node_engine_leave(j->engine);
    j->status = j->error.status = GBX_E_OS;
    (void)snprintf(j->error.message, sizeof j->error.message,
                   "no thread could be started");
    gbx_node_post(j->engine->e, &j->event);
}

static void open_core(job *j)
{
    gbx_engine *core = NULL;

    j->status = gbx_engine_new(&j->options->core, &core, &j->error);
    if (j->status == GBX_OK)
        j->status = gbx_engine_report(core, &j->text, &j->error);
    if (j->status != GBX_OK) {
        gbx_engine_free(core);
        core = NULL;
    }
    (void)pthread_mutex_lock(&j->engine->lock);
    j->engine->core = core;
    (void)pthread_mutex_unlock(&j->engine->lock);
}

static void load(job *j)
{
    j->status = gbx_engine_load(j->engine->core, j->name, j->data, j->data_len,
                                (gbx_data_format)j->format, &j->error);
}

/* data is the path, a NUL, and the query if there is one. */
static void load_sqlite(job *j)
{
    const char *end = memchr(j->data, 0, j->data_len);

    j->status = gbx_engine_load_sqlite(j->engine->core, j->name, j->data,
                                       end != NULL ? end + 1 : NULL, &j->error);
}

static void preload(job *j)
{
    j->status =
        gbx_engine_preload(j->engine->core, j->name, j->data, j->data_len, &j->error);
}

static void report(job *j)
{
    j->status = gbx_engine_report(j->engine->core, &j->text, &j->error);
}

static void expose(job *j)
{
    j->status = gbx_engine_expose(j->engine->core, j->name, gbx_node_on_host_call,
                                  j->engine, &j->error);
}

/* (handle, job, name, string or gather, format): false if the engine has ended. */
static napi_value start(napi_env env, napi_callback_info info, void (*work)(job *))
{
    napi_value argv[5];
    gbx_node_engine *engine = gbx_node_args_engine(env, info, 5, argv);
    job *j;
    napi_valuetype type;
    double id = 0;
    size_t ignored;
    bool is_pending = false;

    if (engine == NULL)
        return NULL;
    if (gbx_node_engine_core(engine) == NULL)
        return gbx_node_boolean(env, false);
    (void)napi_get_value_double(env, argv[1], &id);
    j = new_job(engine, id, work);
    if (j == NULL) {
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a job");
        return NULL;
    }
    (void)napi_get_value_uint32(env, argv[4], &j->format); /* else it is JSON */
    j->name = gbx_node_string(env, argv[2], &ignored);
    if (napi_typeof(env, argv[3], &type) == napi_ok && type == napi_external)
        j->data = gbx_node_gather_take(env, argv[3], &j->data_len);
    else
        j->data = gbx_node_string(env, argv[3], &j->data_len);
    if (napi_is_exception_pending(env, &is_pending) == napi_ok && is_pending) {
        free_job(&j->event);
        return NULL;
    }
    start_job(j);
    return gbx_node_boolean(env, true);
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

/* From now on the engine's thread calls gbx_node_on_host_call() for the name. */
napi_value gbx_node_expose(napi_env env, napi_callback_info info)
{
    return start(env, info, expose);
}

/* ---- the end of an engine ---------------------------------------------------- */

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

/* Wait until no thread uses it in the library, then free it. */
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

static bool tell_closed(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    const job *j = (job *)event;

    unlink_from_env(j->engine);
    return j->id > 0 ? tell_job(event, e, env) : true;
}

/* Not a job of run_job(), for which end_core() would wait. */
static void close_core(void *arg)
{
    job *j = arg;

    end_core(j->engine);
    gbx_node_post(j->engine->e, &j->event);
}

/* Without memory or a thread for this, the engine ends with its JavaScript thread. */
static bool start_closing(gbx_node_engine *engine, double id)
{
    job *j = new_job(engine, id, NULL);

    engine->is_closing = true;
    if (j == NULL)
        return false;
    j->event.tell = tell_closed;
    if (gbx_node_run(engine->e, close_core, j))
        return true;
    free_job(&j->event);
    return false;
}

/* The handle was collected: JavaScript can no longer use the engine. */
static void on_collected(napi_env env, void *data, void *hint)
{
    gbx_node_engine *engine = data;

    if (!engine->is_closing)
        (void)start_closing(engine, 0);
    gbx_node_engine_unref(engine);
}

/* (handle, job's number): the job ends when every process has ended. */
napi_value gbx_node_close(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    double id = 0;
    gbx_node_engine *engine = gbx_node_args_engine(env, info, 2, argv);

    if (engine == NULL || napi_get_value_double(env, argv[1], &id) != napi_ok)
        return NULL;
    return gbx_node_boolean(env, !engine->is_closing && start_closing(engine, id));
}

void gbx_node_engine_end(gbx_node_engine *engine)
{
    engine->is_closing = true;
    end_core(engine);
    unlink_from_env(engine);
}

/* ---- an engine ----------------------------------------------------------------- */

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

gbx_node_engine *gbx_node_args_engine(napi_env env, napi_callback_info info,
                                      size_t count, napi_value *ret)
{
    void *data = NULL;
    bool is_ours = false;

    if (!gbx_node_args(env, info, count, ret))
        return NULL;
    if (napi_check_object_type_tag(env, ret[0], &handle_tag, &is_ours) != napi_ok ||
        !is_ours || napi_unwrap(env, ret[0], &data) != napi_ok) {
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
    job *j;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, &data) != napi_ok ||
        napi_get_value_double(env, argv[0], &id) != napi_ok ||
        napi_get_value_double(env, argv[1], &job_id) != napi_ok)
        return NULL;
    options = gbx_node_options_take(env, argv[2]);
    if (options == NULL)
        return NULL;
    engine = make(data, id);
    j = engine != NULL ? new_job(engine, job_id, open_core) : NULL;
    if (j == NULL) {
        gbx_node_options_free(options);
        if (engine != NULL) {
            unlink_from_env(engine);
            gbx_node_engine_unref(engine);
        }
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for an engine");
        return NULL;
    }
    gbx_node_options_for(options, engine);
    j->options = options;
    start_job(j);
    if (napi_create_object(env, &handle) != napi_ok ||
        napi_wrap(env, handle, engine, on_collected, NULL, NULL) != napi_ok) {
        (void)start_closing(engine, 0);
        gbx_node_engine_unref(engine);
        return NULL;
    }
    (void)napi_type_tag_object(env, handle, &handle_tag);
    return handle;
}
