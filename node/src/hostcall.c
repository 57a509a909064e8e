/* SPDX-License-Identifier: MIT */
/* hostcall - passes the worker's requests to JavaScript. If memory is lacking for that,
 * they fail here. */
#include "addon.h"

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

void gbx_node_on_host_call(void *user, gbx_engine *core, const gbx_host_call *call)
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

bool gbx_node_take_request(napi_env env, napi_callback_info info, size_t argc,
                           napi_value *argv, gbx_engine **ret_core,
                           uint64_t *ret_request)
{
    gbx_node_engine *engine = gbx_node_args_engine(env, info, argc, argv);
    bool lossless;

    if (engine == NULL ||
        napi_get_value_bigint_uint64(env, argv[1], ret_request, &lossless) != napi_ok)
        return false;
    *ret_core = gbx_node_engine_core(engine);
    return *ret_core != NULL;
}

/* (handle, request, JSON as a string or gather; undefined: no value) */
napi_value gbx_node_answer(napi_env env, napi_callback_info info)
{
    napi_value argv[3];
    gbx_engine *core;
    uint64_t request;
    gbx_node_text json;
    napi_valuetype type;
    char *large;
    size_t len = 0;

    if (!gbx_node_take_request(env, info, 3, argv, &core, &request))
        return NULL;
    /* A late answer finds no request: that is not an error. */
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

    if (!gbx_node_take_request(env, info, 5, argv, &core, &request))
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
