/* SPDX-License-Identifier: MIT */
/*
 * call - see call.h. A small call is submitted on the JavaScript thread: two system
 * calls. To check long code and to copy a large input takes milliseconds: that is done
 * on a thread of its own.
 */
#include "call.h"

#include "gather.h"
#include "options.h"
#include "outcome.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>

/* What the guard takes for 4 KiB of code, and memcpy() twice for 512 KiB, is below 0.3 ms. */
#define SMALL_CODE  4096
#define SMALL_INPUT 524288

/* A larger input takes a millisecond to free, which neither JavaScript's thread nor the
 * engine's has: it is copied and freed on the call's own. */
#define LENT_MAX 16777216

typedef gbx_node_call call;

static void free_call(call *c)
{
    gbx_result_free(c->result);
    gbx_policy_free(c->policy);
    gbx_node_engine_unref(c->engine);
    free(c->code);
    free(c->input);
    free(c->bindings);
    free(c->dataset);
    free(c);
}

static void drop_call(gbx_node_event *event)
{
    call *c = (call *)event;

    (void)pthread_mutex_lock(&c->engine->lock);
    for (call **at = &c->engine->submitting; *at != NULL; at = &(*at)->next) {
        if (*at == c) {
            *at = c->next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&c->engine->lock);
    free_call(c);
}

/* ---- on the engine's thread ------------------------------------------------ */

static void on_done(void *user, gbx_ticket ticket, gbx_result *result)
{
    call *c = user;

    c->result = result;
    free(c->input); /* were lent, or not taken over at all */
    free(c->bindings);
    c->input = c->bindings = NULL;
    (void)pthread_mutex_lock(&c->engine->lock);
    c->ticket = ticket;
    (void)pthread_mutex_unlock(&c->engine->lock);
    gbx_node_post(c->engine->e, &c->event);
}

/* ---- submitting ------------------------------------------------------------ */

/* On a thread: checks, and copies what is not lent; the call may have been aborted
 * meanwhile. */
static void submit_large(void *arg)
{
    call *c = arg;
    gbx_node_engine *engine = c->engine;
    gbx_engine *core = engine->core;
    bool is_lent = (c->core.flags & GBX_CALL_LENT) != 0;
    /* Freed here: that takes a while, too. */
    char *input = is_lent ? NULL : c->input;
    char *bindings = is_lent ? NULL : c->bindings;
    gbx_ticket ticket = 0;
    bool is_unwanted;
    gbx_status status;

    gbx_node_engine_ref(engine);
    if (!is_lent)
        c->input = c->bindings = NULL;
    status = gbx_submit(core, &c->core, on_done, c, &ticket, &c->error);
    if (status == GBX_OK) {
        /* From here on c may be gone: found again by its place in the list. */
        (void)pthread_mutex_lock(&engine->lock);
        is_unwanted = false;
        for (call *at = engine->submitting; at != NULL; at = at->next) {
            if (at == c) {
                at->ticket = ticket;
                is_unwanted = at->is_unwanted;
            }
        }
        (void)pthread_mutex_unlock(&engine->lock);
        if (is_unwanted)
            gbx_abort(core, ticket);
    } else {
        gbx_node_post(engine->e, &c->event);
    }
    free(input);
    free(bindings);
    gbx_node_engine_leave(engine);
    gbx_node_engine_unref(engine);
}

static bool start_large(call *c)
{
    gbx_node_engine *engine = c->engine;

    (void)pthread_mutex_lock(&engine->lock);
    c->next = engine->submitting;
    engine->submitting = c;
    (void)pthread_mutex_unlock(&engine->lock);
    gbx_node_engine_enter(engine);
    if (gbx_node_run(engine->e, submit_large, c))
        return true;
    gbx_node_engine_leave(engine);
    return false;
}

/* A string, undefined, or what gather.h has gathered. */
static bool take_bindings(napi_env env, napi_value extra, call *c)
{
    napi_value value;
    napi_valuetype type;

    if (napi_get_named_property(env, extra, "bindings", &value) != napi_ok ||
        napi_typeof(env, value, &type) != napi_ok)
        return false;
    c->bindings = type == napi_external
                      ? gbx_node_gather_take(env, value, &c->core.bindings_len)
                      : gbx_node_string(env, value, &c->core.bindings_len);
    c->core.bindings = c->bindings;
    return true; /* or an exception is pending, which take_extra() sees */
}

/* extra: {bindings, dataset, policy, baseDir, trustFiles, limits, logs, seed, nowMs} */
static bool take_extra(napi_env env, napi_value extra, call *c)
{
    napi_value value;
    napi_value base_dir;
    napi_value trust_files;
    bool is_pending = false;
    double number;
    size_t ignored;

    if (gbx_node_is_undefined(env, extra))
        return true;
    if (!take_bindings(env, extra, c))
        return false;
    if (napi_get_named_property(env, extra, "dataset", &value) == napi_ok)
        c->core.dataset = c->dataset = gbx_node_string(env, value, &ignored);
    if (napi_get_named_property(env, extra, "policy", &value) == napi_ok &&
        napi_get_named_property(env, extra, "baseDir", &base_dir) == napi_ok &&
        napi_get_named_property(env, extra, "trustFiles", &trust_files) == napi_ok &&
        !gbx_node_policy_take(env, value, base_dir, trust_files, &c->policy))
        return false;
    c->core.policy = c->policy;
    if (napi_get_named_property(env, extra, "limits", &value) == napi_ok &&
        !gbx_node_is_undefined(env, value)) {
        gbx_node_limits_take(env, value, &c->limits);
        c->core.limits = &c->limits;
    }
    if (napi_get_named_property(env, extra, "seed", &value) == napi_ok &&
        napi_get_value_double(env, value, &number) == napi_ok) {
        c->core.flags |= GBX_CALL_SEEDED;
        c->core.seed = (uint64_t)number;
    }
    if (napi_get_named_property(env, extra, "nowMs", &value) == napi_ok &&
        napi_get_value_double(env, value, &number) == napi_ok) {
        c->core.flags |= GBX_CALL_FIXED_NOW;
        c->core.now_ms = (int64_t)number;
    }
    if (napi_get_named_property(env, extra, "logs", &value) == napi_ok) {
        bool logs = false;

        if (napi_get_value_bool(env, value, &logs) == napi_ok && logs) {
            c->core.on_log = gbx_node_outcome_on_log;
            c->core.log_user = c;
        }
    }
    return napi_is_exception_pending(env, &is_pending) == napi_ok && !is_pending;
}

/* Code and input in memory of the call's own. */
static bool own_texts(call *c, const gbx_node_text *code, const gbx_node_text *input)
{
    c->code = malloc(code->len + 1);
    if (c->code == NULL)
        return false;
    memcpy(c->code, code->data, code->len);
    c->core.code = c->code;
    if (c->input != NULL || input->data == NULL)
        return true;
    c->input = malloc(input->len + 1);
    if (c->input == NULL)
        return false;
    memcpy(c->input, input->data, input->len);
    c->core.input = c->input;
    return true;
}

static call *make(napi_env env, gbx_node_engine *engine, double id, uint32_t form)
{
    static const gbx_call standard = GBX_CALL_INIT;
    call *c = calloc(1, sizeof *c);

    if (c == NULL) {
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for a call");
        return NULL;
    }
    c->event.tell = gbx_node_outcome_tell;
    c->event.drop = drop_call;
    c->engine = engine;
    c->id = id;
    c->core = standard;
    c->core.form = (gbx_form)form;
    gbx_node_engine_ref(engine);
    return c;
}

/* False with an exception thrown. The ticket is 0 if it is submitted on a thread. */
static bool submit(napi_env env, call *c, const gbx_node_text *code,
                   const gbx_node_text *input, double *ret_ticket)
{
    gbx_engine *core = gbx_node_engine_core(c->engine);
    size_t values_len = c->core.input_len + c->core.bindings_len;
    gbx_error error = {0};

    *ret_ticket = 0;
    if (core == NULL) {
        (void)napi_throw_error(env, "GBX_E_CLOSED", "the engine has been disposed of");
        return false;
    }
    if (c->core.code_len > SMALL_CODE || values_len > SMALL_INPUT) {
        if (values_len <= LENT_MAX)
            c->core.flags |= GBX_CALL_LENT;
        if (own_texts(c, code, input) && start_large(c))
            return true;
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory or thread for a call");
        return false;
    }
    if (gbx_submit(core, &c->core, on_done, c, &c->ticket, &error) != GBX_OK) {
        gbx_node_throw(env, &error);
        return false;
    }
    *ret_ticket = (double)c->ticket; /* nothing is told before this thread returns */
    return true;
}

/* input: a string, undefined, or what gather.h has gathered. */
static bool take_input(napi_env env, napi_value value, call *c, gbx_node_text *text)
{
    napi_valuetype type;

    text->data = NULL;
    text->len = 0;
    if (napi_typeof(env, value, &type) == napi_ok && type == napi_external)
        c->core.input = c->input = gbx_node_gather_take(env, value, &c->core.input_len);
    else if (gbx_node_text_take(env, value, text))
        c->core.input = text->data, c->core.input_len = text->len;
    else
        return false;
    return type != napi_external || c->input != NULL;
}

/* ---- public to other modules -------------------------------------------- */

/* (handle, number, form, code, input, extra) -> ticket, or 0: submitted on a thread */
napi_value gbx_node_submit(napi_env env, napi_callback_info info)
{
    size_t argc = 6;
    napi_value argv[6];
    gbx_node_engine *engine;
    gbx_node_text code;
    gbx_node_text input = {.data = NULL};
    double id = 0;
    double ticket = 0;
    uint32_t form = 0;
    bool is_submitted = false;
    call *c;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
        napi_get_value_double(env, argv[1], &id) != napi_ok ||
        napi_get_value_uint32(env, argv[2], &form) != napi_ok)
        return NULL;
    engine = gbx_node_engine_of(env, argv[0]);
    if (engine == NULL || !gbx_node_text_take(env, argv[3], &code))
        return NULL;
    c = make(env, engine, id, form);
    if (c != NULL) {
        c->core.code = code.data;
        c->core.code_len = code.len;
        is_submitted = take_input(env, argv[4], c, &input) &&
                       take_extra(env, argv[5], c) &&
                       submit(env, c, &code, &input, &ticket);
        if (!is_submitted)
            free_call(c);
    }
    gbx_node_text_cleanup(&code);
    gbx_node_text_cleanup(&input);
    return is_submitted ? gbx_node_number(env, ticket) : NULL;
}

/* (handle, ticket) -> the number of a call that was submitted on a thread; -1: not known
 * yet; 0: there is none. */
napi_value gbx_node_call_of(napi_env env, napi_callback_info info)
{
    size_t argc = 2;
    napi_value argv[2];
    gbx_node_engine *engine;
    double ticket = 0;
    double id = 0;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
        napi_get_value_double(env, argv[1], &ticket) != napi_ok)
        return NULL;
    engine = gbx_node_engine_of(env, argv[0]);
    if (engine == NULL)
        return NULL;
    (void)pthread_mutex_lock(&engine->lock);
    for (call *at = engine->submitting; at != NULL && id <= 0; at = at->next) {
        if ((double)at->ticket == ticket)
            id = at->id;
        else if (at->ticket == 0)
            id = -1;
    }
    (void)pthread_mutex_unlock(&engine->lock);
    return gbx_node_number(env, id);
}

/* (handle, ticket, number): a call without a ticket is one that is being submitted. */
napi_value gbx_node_abort(napi_env env, napi_callback_info info)
{
    size_t argc = 3;
    napi_value argv[3];
    gbx_node_engine *engine;
    gbx_engine *core;
    double ticket = 0;
    double id = 0;

    if (napi_get_cb_info(env, info, &argc, argv, NULL, NULL) != napi_ok ||
        napi_get_value_double(env, argv[1], &ticket) != napi_ok ||
        napi_get_value_double(env, argv[2], &id) != napi_ok)
        return NULL;
    engine = gbx_node_engine_of(env, argv[0]);
    core = engine != NULL ? gbx_node_engine_core(engine) : NULL;
    if (core == NULL)
        return NULL;
    if (ticket == 0) {
        (void)pthread_mutex_lock(&engine->lock);
        for (call *at = engine->submitting; at != NULL; at = at->next) {
            if (at->id != id)
                continue;
            at->is_unwanted = true;
            ticket = (double)at->ticket;
        }
        (void)pthread_mutex_unlock(&engine->lock);
    }
    if (ticket > 0)
        gbx_abort(core, (gbx_ticket)ticket);
    return NULL;
}
