/* SPDX-License-Identifier: MIT */
/*
 * memory - the runner that isolates nothing. Code runs in the caller's process, with
 * the caller's authority, for unit tests of programs that embed Glovebox. It is a
 * separate library, so that no other one links a JavaScript engine.
 *
 * It does not stop code at a deadline or a memory limit, fix the clock, hold datasets,
 * or call functions of the host. Forms, realm, console, timers, crypto, env, values and
 * errors are those of a worker.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "policy/policy.h"
#include "realm/realm.h"

#include <jsc/jsc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* The engine allows one realm a process: calls take turns. */
typedef struct memory_runner {
    pthread_mutex_t lock;
    gbx_globals globals;
    uint32_t capabilities;
    const gbx_policy *policy; /* the engine's, which outlives this; NULL: none */
} memory_runner;

/* Capabilities that need no host beyond this process. */
#define CAPABILITIES ((uint32_t)(GBX_CAP_CRYPTO | GBX_CAP_ENV))

GBX_API extern const char gbx_runner_version[];
GBX_API gbx_status gbx_runner_open(const gbx_options *options, gbx_runner *ret,
                                   gbx_error *reterr);

static void on_log(void *user, const gbx_msg_log *line)
{
    (void)!gbx_outcome_log(user, (gbx_log_level)line->level,
                           (const char *)line->text.data, line->text.len);
}

static void on_wait(void *user, uint32_t ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    while (nanosleep(&ts, &ts) < 0)
        continue;
}

static double on_now(void *user)
{
    return (double)gbx_clock_now_ns() / 1e6;
}

/* The code for a failed step; without a worker process, nothing else is known about
 * the end. */
static gbx_code code_of(uint8_t failure)
{
    switch ((gbx_failure)failure) {
    case GBX_FAILURE_SYNTAX: return GBX_CODE_SYNTAX;
    case GBX_FAILURE_OUTPUT: return GBX_CODE_OUTPUT_TOO_LARGE;
    case GBX_FAILURE_INPUT: return GBX_CODE_INVALID_DATA;
    case GBX_FAILURE_BAD_FORM: return GBX_CODE_INVALID_CODE;
    case GBX_FAILURE_THROWN:
    case GBX_FAILURE_NOT_JSON:
    case GBX_FAILURE_NEVER: break;
    }
    return GBX_CODE_RUNTIME;
}

static gbx_status report_error(gbx_outcome *outcome, const gbx_msg_error *error)
{
    gbx_code code = error->is_out_of_memory ? GBX_CODE_MEMORY : code_of(error->failure);
    gbx_status status;
    gbx_buf text = {.ceiling = GBX_NAME_MAX + GBX_MESSAGE_MAX + 8};
    char *message;

    (void)gbx_buf_append(&text, error->name.data, error->name.len);
    if (error->name.len > 0 && error->message.len > 0)
        (void)gbx_buf_puts(&text, ": ");
    (void)gbx_buf_append(&text, error->message.data, error->message.len);
    message = gbx_buf_take_string(&text, NULL);
    if (message == NULL)
        return GBX_E_NOMEM;
    status = gbx_outcome_error(outcome, code, message, error->line, error->column);
    free(message);
    return status;
}

/* A call, with the memory it points to. */
typedef struct wired {
    gbx_msg_call msg;
    char *input; /* ends in NUL: the engine needs that for large text */
    gbx_buf env;
    uint8_t entropy[GBX_ENTROPY_SIZE];
} wired;

static gbx_status wire_input(const gbx_call *call, wired *w, gbx_error *reterr)
{
    w->input = malloc(call->input_len + 1);
    if (w->input == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the input");
    if (call->input_len > 0)
        memcpy(w->input, call->input, call->input_len);
    w->input[call->input_len] = 0;
    w->msg.input = (gbx_span){(const uint8_t *)w->input, call->input_len};
    if (call->input != NULL)
        w->msg.flags |= GBX_CALL_WIRE_HAS_INPUT;
    return GBX_OK;
}

static gbx_status wire_random(const gbx_call *call, wired *w, gbx_error *reterr)
{
    if (call->flags & GBX_CALL_SEEDED) {
        w->msg.seed = call->seed;
        for (size_t i = 0; i < sizeof w->entropy; i++) /* as a worker gets it */
            w->entropy[i] = (uint8_t)(call->seed >> (8 * (i % 8)));
    } else if (getrandom(w->entropy, sizeof w->entropy, 0) != sizeof w->entropy ||
               getrandom(&w->msg.seed, sizeof w->msg.seed, 0) != sizeof w->msg.seed) {
        return gbx_fail(reterr, GBX_E_OS, "cannot get random bytes");
    }
    w->msg.entropy = (gbx_span){w->entropy, sizeof w->entropy};
    return GBX_OK;
}

/* Fill *w, which is zero; the caller frees what it has. */
static gbx_status wire_call(const memory_runner *self, const gbx_call *call, wired *w,
                            gbx_error *reterr)
{
    const gbx_policy *policy = call->policy != NULL ? call->policy : self->policy;
    uint32_t capabilities = self->capabilities;
    gbx_status status;

    if (call->policy != NULL)
        capabilities &= call->policy->capabilities;
    w->msg = (gbx_msg_call){
        .form = (uint8_t)call->form,
        .now_ms = call->now_ms,
        .output_bytes = call->limits->output_bytes,
        .log_bytes = call->limits->log_bytes,
        .first_line = 1,
        .first_column = 1,
        .capabilities = capabilities,
        .code = {(const uint8_t *)call->code, call->code_len},
        .bindings = {(const uint8_t *)call->bindings, call->bindings_len},
    };
    if (call->flags & GBX_CALL_FIXED_NOW)
        w->msg.flags |= GBX_CALL_WIRE_FIXED_NOW;
    gbx_buf_init(&w->env, GBX_CONFIG_MAX);
    if (policy != NULL && (capabilities & GBX_CAP_ENV) != 0 &&
        !gbx_policy_put_env(policy, &w->env))
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the values of env");
    w->msg.env = (gbx_span){w->env.data, w->env.len};
    status = wire_input(call, w, reterr);
    if (status == GBX_OK)
        status = wire_random(call, w, reterr);
    return status;
}

/* A VM for this one call; the lock is held. */
static gbx_status run(const memory_runner *self, const gbx_msg_call *msg,
                      gbx_outcome *outcome, gbx_error *reterr)
{
    gbx_realm_host host = {.user = outcome,
                           .log = on_log,
                           .wait = on_wait,
                           .now_ms = on_now};
    gbx_realm_outcome ended = {0};
    const char *reason = NULL;
    gbx_realm_setup setup = {.globals = self->globals,
                             .capabilities = self->capabilities & CAPABILITIES};
    gbx_realm *realm = gbx_realm_new(&setup, &reason);
    gbx_status status;

    if (realm == NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "the memory runner cannot start: %s",
                        reason);
    gbx_realm_run(realm, msg, &host, &ended);
    if (ended.ok)
        status = gbx_outcome_value(outcome,
                                   ended.result.is_undefined
                                       ? NULL
                                       : (const char *)ended.result.json.data,
                                   ended.result.json.len);
    else
        status = report_error(outcome, &ended.error);
    gbx_realm_free(realm);
    return status == GBX_OK ? GBX_OK
                            : gbx_fail(reterr, status,
                                       "the memory runner could not give its outcome");
}

static gbx_status execute(void *user, const gbx_call *call, gbx_outcome *outcome,
                          gbx_error *reterr)
{
    memory_runner *self = user;
    wired w = {0};
    gbx_status status = wire_call(self, call, &w, reterr);

    if (status == GBX_OK) {
        (void)pthread_mutex_lock(&self->lock);
        status = run(self, &w.msg, outcome, reterr);
        (void)pthread_mutex_unlock(&self->lock);
    }
    free(w.input);
    gbx_buf_cleanup(&w.env);
    return status;
}

static void dispose(void *user)
{
    memory_runner *self = user;

    (void)pthread_mutex_destroy(&self->lock);
    free(self);
}

/* The settings of a worker's environment, made before the engine first starts here. */
static void set_engine_options(void)
{
    (void)setenv("TZ", "UTC", 1);
    tzset();
    (void)jsc_options_set_boolean("useTailCalls", FALSE);
    (void)jsc_options_set_boolean("useWasm", FALSE);
    (void)jsc_options_set_boolean("useSharedArrayBuffer", FALSE);
}

/* ---- public to the loader --------------------------------------------------- */

const char gbx_runner_version[] = GBX_VERSION;

gbx_status gbx_runner_open(const gbx_options *options, gbx_runner *ret,
                           gbx_error *reterr)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    memory_runner *self = calloc(1, sizeof *self);

    if (self == NULL || pthread_mutex_init(&self->lock, NULL) != 0) {
        free(self);
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the runner");
    }
    (void)pthread_once(&once, set_engine_options);
    self->globals = options->globals;
    self->capabilities = options->capabilities;
    self->policy = options->policy;
    ret->name = "memory";
    ret->user = self;
    ret->execute = execute;
    ret->dispose = dispose;
    return GBX_OK;
}
