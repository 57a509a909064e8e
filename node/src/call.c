/* SPDX-License-Identifier: MIT */
/*
 * call - submits calls, and reports their ends. A small call is submitted on the
 * JavaScript thread: two system calls. Checking long code and copying a large input
 * take milliseconds: these are done on a separate thread.
 */
#include "addon.h"

#include <stdlib.h>
#include <string.h>

/* The guard needs below 0.3 ms for 4 KiB of code, as do two memcpy() of 512 KiB. */
#define SMALL_CODE  4096
#define SMALL_INPUT 524288

/* A larger input takes a millisecond to free, too long for JavaScript's thread and the
 * engine's: it is copied and freed on the call's own thread. */
#define LENT_MAX 16777216

/* Bytes of log lines per report, and what each line adds to its text: 1 ms. */
#define LINES_AT_ONCE  262144
#define BYTES_PER_LINE 256

typedef struct gbx_node_call {
    gbx_node_event event;
    gbx_node_engine *engine;
    double id;
    gbx_result *result; /* NULL: the library refused, see error */
    gbx_error error;
    size_t lines_told;
    struct gbx_node_call *next; /* of those submitted on a thread; engine's lock */
    gbx_ticket ticket;          /* 0: not yet; engine's lock */
    bool is_unwanted;           /* aborted before it had a ticket; engine's lock */
    gbx_call core;
    gbx_limits limits;
    gbx_policy *policy;
    char *code;
    char *input;
    char *bindings;
    char *dataset;
} call;

/* ---- reports to JavaScript ----------------------------------------------- */

typedef struct line {
    gbx_node_event event;
    double call;
    double time_ms;
    gbx_log_level level;
    size_t len;
    char text[];
} line;

static void fill_figures(double *figures, gbx_result *result, gbx_ticket ticket)
{
    gbx_stats stats = gbx_result_stats(result);

    figures[GBX_NODE_WALL_MS] = stats.wall_ms;
    figures[GBX_NODE_CPU_MS] = stats.cpu_ms;
    figures[GBX_NODE_PEAK_MEMORY] = (double)stats.peak_memory_bytes;
    figures[GBX_NODE_INPUT] = (double)stats.input_bytes;
    figures[GBX_NODE_OUTPUT] = (double)stats.output_bytes;
    figures[GBX_NODE_LOG] = (double)stats.log_bytes;
    figures[GBX_NODE_HOST_CALLS] = stats.host_calls;
    figures[GBX_NODE_TICKET] = (double)ticket;
}

static napi_value make_text(napi_env env, const char *text)
{
    return gbx_node_utf8(env, text, strlen(text));
}

/* A refusal has the status as its code, and the message as its value. */
static void tell_refusal(call *c, gbx_node_env *e, napi_env env)
{
    napi_value args[4] = {gbx_node_number(env, GBX_NODE_DONE),
                          gbx_node_number(env, c->id),
                          gbx_node_number(env, c->error.status),
                          make_text(env, c->error.message)};

    gbx_node_dispatch(e, env, 4, args);
}

/* [error, hint, stack, line, column, frame, thrown name, message]; for a success
 * undefined, or the hint. */
static napi_value make_failure(napi_env env, gbx_result *result)
{
    gbx_location at = gbx_result_location(result);
    napi_value list;

    if (gbx_result_code(result) == GBX_CODE_VALUE)
        return gbx_result_hint(result)[0] == 0
                   ? gbx_node_undefined(env)
                   : make_text(env, gbx_result_hint(result));
    if (napi_create_array(env, &list) != napi_ok)
        return gbx_node_undefined(env);
    napi_value parts[] = {make_text(env, gbx_result_error(result)),
                          make_text(env, gbx_result_hint(result)),
                          make_text(env, gbx_result_stack(result)),
                          gbx_node_number(env, at.line),
                          gbx_node_number(env, at.column),
                          make_text(env, at.frame),
                          make_text(env, gbx_result_thrown_name(result)),
                          make_text(env, gbx_result_thrown_message(result))};
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++)
        (void)napi_set_element(env, list, i, parts[i]);
    return list;
}

/* [level, time, text, level, ...]: as many as one report may have, or undefined. */
static napi_value make_lines(napi_env env, call *c)
{
    size_t count = gbx_result_log_count(c->result);
    size_t bytes = 0;
    uint32_t at = 0;
    napi_value list;

    if (c->lines_told >= count || napi_create_array(env, &list) != napi_ok)
        return gbx_node_undefined(env);
    while (c->lines_told < count && bytes < LINES_AT_ONCE) {
        gbx_log log = gbx_result_log(c->result, c->lines_told++);

        bytes += log.text_len + BYTES_PER_LINE;
        (void)napi_set_element(env, list, at++, gbx_node_number(env, log.level));
        (void)napi_set_element(env, list, at++, gbx_node_number(env, log.time_ms));
        (void)napi_set_element(env, list, at++,
                               gbx_node_utf8(env, log.text, log.text_len));
    }
    return list;
}

static napi_value make_value(napi_env env, gbx_result *result)
{
    size_t len = 0;
    const char *value = gbx_result_value(result, &len);

    return len > 0 ? gbx_node_utf8(env, value, len) : gbx_node_undefined(env);
}

static bool tell_line(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    line *l = (line *)event;
    napi_value args[5] = {
        gbx_node_number(env, GBX_NODE_LINE), gbx_node_number(env, l->call),
        gbx_node_number(env, l->level),      gbx_node_utf8(env, l->text, l->len),
        gbx_node_number(env, l->time_ms),
    };

    gbx_node_dispatch(e, env, 5, args);
    return true;
}

static void drop_line(gbx_node_event *event)
{
    free(event);
}

static bool tell_outcome(gbx_node_event *event, gbx_node_env *e, napi_env env)
{
    call *c = (call *)event;
    napi_value lines;

    if (c->result == NULL) {
        tell_refusal(c, e, env);
        return true;
    }
    lines = make_lines(env, c);
    if (c->lines_told < gbx_result_log_count(c->result)) {
        napi_value part[3] = {gbx_node_number(env, GBX_NODE_LINES),
                              gbx_node_number(env, c->id), lines};

        gbx_node_dispatch(e, env, 3, part);
        return false;
    }
    fill_figures(e->figures, c->result, c->ticket);
    napi_value args[9] = {
        gbx_node_number(env, GBX_NODE_DONE),
        gbx_node_number(env, c->id),
        gbx_node_number(env, gbx_result_code(c->result)),
        make_value(env, c->result),
        make_text(env, gbx_result_call_id(c->result)),
        make_failure(env, c->result),
        lines,
        gbx_node_boolean(env, gbx_result_logs_truncated(c->result) != 0),
        make_text(env, gbx_result_machine(c->result)),
    };
    gbx_node_dispatch(e, env, 9, args);
    return true;
}

static void on_log(void *user, const gbx_log *log)
{
    call *c = user;
    line *l = malloc(sizeof *l + log->text_len);

    if (l == NULL)
        return; /* the result has the line too */
    l->event.tell = tell_line;
    l->event.drop = drop_line;
    l->call = c->id;
    l->time_ms = log->time_ms;
    l->level = log->level;
    l->len = log->text_len;
    memcpy(l->text, log->text, log->text_len);
    gbx_node_post(c->engine->e, &l->event);
}

/* ---- the end of a call ------------------------------------------------------- */

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
    free(c->input); /* were lent, or were not passed on */
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
    /* Freed on this thread: that takes long, too. */
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
        /* From here on c may be freed: look for it in the list. */
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

/* A string, undefined, or a gather. */
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
    if (gbx_node_get_number(env, extra, "seed", &number)) {
        c->core.flags |= GBX_CALL_SEEDED;
        c->core.seed = (uint64_t)number;
    }
    if (gbx_node_get_number(env, extra, "nowMs", &number)) {
        c->core.flags |= GBX_CALL_FIXED_NOW;
        c->core.now_ms = (int64_t)number;
    }
    if (gbx_node_get_bool(env, extra, "logs")) {
        c->core.on_log = on_log;
        c->core.log_user = c;
    }
    return napi_is_exception_pending(env, &is_pending) == napi_ok && !is_pending;
}

/* Copy code and input into the call's own memory. */
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
    c->event.tell = tell_outcome;
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
    *ret_ticket = (double)c->ticket; /* no report comes before this thread returns */
    return true;
}

/* input: a string, undefined, or a gather. */
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

/* (handle, number, form, code, input, extra) -> ticket, or 0: submitted on a thread */
napi_value gbx_node_submit(napi_env env, napi_callback_info info)
{
    napi_value argv[6];
    gbx_node_engine *engine = gbx_node_args_engine(env, info, 6, argv);
    gbx_node_text code;
    gbx_node_text input = {.data = NULL};
    double id = 0;
    double ticket = 0;
    uint32_t form = 0;
    bool is_submitted = false;
    call *c;

    if (engine == NULL || napi_get_value_double(env, argv[1], &id) != napi_ok ||
        napi_get_value_uint32(env, argv[2], &form) != napi_ok ||
        !gbx_node_text_take(env, argv[3], &code))
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

/* (handle, ticket) -> the number of a call that was submitted on a thread; -1: not
 * known yet; 0: no such call. */
napi_value gbx_node_call_of(napi_env env, napi_callback_info info)
{
    napi_value argv[2];
    gbx_node_engine *engine = gbx_node_args_engine(env, info, 2, argv);
    double ticket = 0;
    double id = 0;

    if (engine == NULL || napi_get_value_double(env, argv[1], &ticket) != napi_ok)
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
    napi_value argv[3];
    gbx_node_engine *engine = gbx_node_args_engine(env, info, 3, argv);
    gbx_engine *core;
    double ticket = 0;
    double id = 0;

    if (engine == NULL || napi_get_value_double(env, argv[1], &ticket) != napi_ok ||
        napi_get_value_double(env, argv[2], &id) != napi_ok)
        return NULL;
    core = gbx_node_engine_core(engine);
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
