/* SPDX-License-Identifier: MIT */
/* hostcall - see hostcall.h. What cannot be told for want of memory is answered here. */
#include "hostcall.h"

#include "gather.h"
#include "job.h"
#include "text.h"

#include <glovebox/host.h>

#include <stdlib.h>
#include <string.h>

typedef struct asked {
    gbx_node_event event;
    gbx_node_engine *engine;
    gbx_request request;
    gbx_ticket call;
    size_t name_len;
    size_t args_len;
    char text[]; /* name, then arguments */
} asked;

typedef struct audit_line {
    gbx_node_event event;
    gbx_node_engine *engine;
    size_t len;
    char text[];
} audit_line;

static napi_value make_request(napi_env env, uint64_t number)
{
    napi_value value;

    return napi_create_bigint_uint64(env, number, &value) == napi_ok
               ? value
               : gbx_node_undefined(env);
}

static bool tell_asked(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    asked *a = (asked *)event;
    napi_value args[6] = {
        gbx_node_number(env, GBX_NODE_ASKED),
        gbx_node_number(env, a->engine->id),
        make_request(env, a->request),
        gbx_node_utf8(env, a->text, a->name_len),
        gbx_node_utf8(env, a->text + a->name_len, a->args_len),
        gbx_node_number(env, (double)a->call),
    };

    gbx_node_dispatch(e, env, 6, args);
    return true;
}

static void drop(gbx_node_event *event)
{
    free(event);
}

static void on_host_call(void *user, gbx_engine *core, const gbx_host_call *call)
{
    gbx_node_engine *engine = user;
    size_t name_len = strlen(call->name);
    asked *a = malloc(sizeof *a + name_len + call->args_len);

    if (a == NULL) {
        (void)!gbx_answer_error(core, call->request, "Error",
                                "the host is out of memory", "ENOMEM", NULL);
        return;
    }
    a->event.tell = tell_asked;
    a->event.drop = drop;
    a->engine = engine;
    a->request = call->request;
    a->call = call->call;
    a->name_len = name_len;
    a->args_len = call->args_len;
    memcpy(a->text, call->name, name_len);
    memcpy(a->text + name_len, call->args, call->args_len);
    gbx_node_post(engine->e, &a->event);
}

static bool tell_audit(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    audit_line *l = (audit_line *)event;
    napi_value args[3] = {gbx_node_number(env, GBX_NODE_AUDIT),
                          gbx_node_number(env, l->engine->id),
                          gbx_node_utf8(env, l->text, l->len)};

    gbx_node_dispatch(e, env, 3, args);
    return true;
}

static void expose(gbx_node_job *job)
{
    job->status = gbx_engine_expose(job->engine->core, job->name, on_host_call,
                                    job->engine, &job->error);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_node_on_audit(void *user, const char *line, size_t len)
{
    gbx_node_engine *engine = user;
    audit_line *l = malloc(sizeof *l + len);

    if (l == NULL)
        return;
    l->event.tell = tell_audit;
    l->event.drop = drop;
    l->engine = engine;
    l->len = len;
    memcpy(l->text, line, len);
    gbx_node_post(engine->e, &l->event);
}

/* (handle, job, name): the engine's thread asks on_host_call() for it from now on. */
napi_value gbx_node_expose(napi_env env, napi_callback_info info)
{
    size_t argc = 3;
    napi_value argv[3];
    gbx_node_engine *engine;
    gbx_node_job *job;
    double id = 0;
    size_t ignored;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok)
        return NULL;
    engine = gbx_node_engine_of(env, argv[0]);
    if (engine == NULL || napi_get_value_double(env, argv[1], &id) != napi_ok)
        return NULL;
    if (gbx_node_engine_core(engine) == NULL)
        return gbx_node_boolean(env, false);
    job = gbx_node_job_new(env, engine, id);
    if (job == NULL)
        return NULL;
    job->work = expose;
    job->name = gbx_node_string(env, argv[2], &ignored);
    if (job->name == NULL) {
        gbx_node_job_free(job);
        return NULL;
    }
    gbx_node_job_start(job);
    return gbx_node_boolean(env, true);
}

/* The engine and the request of an answer; false: there is nobody to answer. */
static bool take_request(napi_env env, napi_callback_info info, size_t argc,
                         napi_value *argv, gbx_engine **ret_core, uint64_t *ret_request)
{
    gbx_node_engine *engine;
    bool lossless;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok)
        return false;
    engine = gbx_node_engine_of(env, argv[0]);
    if (engine == NULL ||
        napi_get_value_bigint_uint64(env, argv[1], ret_request, &lossless) != napi_ok)
        return false;
    *ret_core = gbx_node_engine_core(engine);
    return *ret_core != NULL;
}

/* (handle, request, JSON, gathered or not; undefined is undefined) */
napi_value gbx_node_answer(napi_env env, napi_callback_info info)
{
    napi_value argv[3];
    gbx_engine *core;
    uint64_t request;
    gbx_node_text json;
    napi_valuetype type;
    char *large;
    size_t len = 0;

    if (!take_request(env, info, 3, argv, &core, &request))
        return NULL;
    /* Who comes late finds nobody: that is no failure. */
    if (napi_typeof(env, argv[2], &type) == napi_ok && type == napi_external) {
        large = gbx_node_gather_take(env, argv[2], &len);
        if (large != NULL)
            (void)!gbx_answer(core, request, large, len, NULL);
        free(large);
    } else if (gbx_node_text_take(env, argv[2], &json)) {
        (void)!gbx_answer(core, request, json.data, json.len, NULL);
        gbx_node_text_cleanup(&json);
    }
    return NULL;
}

/* (handle, request, name, message, code) */
napi_value gbx_node_answer_error(napi_env env, napi_callback_info info)
{
    napi_value argv[5];
    gbx_engine *core;
    uint64_t request;
    size_t ignored;
    char *name;
    char *message;
    char *code;

    if (!take_request(env, info, 5, argv, &core, &request))
        return NULL;
    name = gbx_node_string(env, argv[2], &ignored);
    message = gbx_node_string(env, argv[3], &ignored);
    code = gbx_node_string(env, argv[4], &ignored);
    (void)!gbx_answer_error(core, request, name, message, code, NULL);
    free(name);
    free(message);
    free(code);
    return NULL;
}
