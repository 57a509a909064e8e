/* SPDX-License-Identifier: MIT */
/*
 * memory - the runner that isolates nothing: code runs in the caller's process, with
 * the caller's authority, for unit tests of programs that embed Glovebox. A library
 * of its own, so that no other links a JavaScript engine.
 *
 * What it does not do: stop code at a deadline or a memory limit, fix the clock, hold
 * datasets. Forms, realm, console, timers, values and errors are those of a worker.
 */
#include "base/clock.h"
#include "base/fail.h"
#include "realm/free.h"
#include "realm/realm.h"

#include <jsc/jsc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/* The engine's realm is one a process: calls take turns. */
typedef struct memory_runner {
    pthread_mutex_t lock;
    gbx_globals globals;
    uint32_t capabilities;
} memory_runner;

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

    (void)user;
    while (nanosleep(&ts, &ts) < 0)
        continue;
}

static double on_now(void *user)
{
    (void)user;
    return (double)gbx_clock_now_ns() / 1e6;
}

/* From which step failed to a code; there is no process whose end could tell more. */
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
    gbx_buf text;
    char *message;

    gbx_buf_init(&text, GBX_NAME_MAX + GBX_MESSAGE_MAX + 8);
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

static gbx_msg_call wire_call(const memory_runner *self, const gbx_call *call,
                              const char *input)
{
    gbx_msg_call msg = {
        .form = (uint8_t)call->form,
        .seed = call->seed,
        .now_ms = call->now_ms,
        .output_bytes = call->limits->output_bytes,
        .log_bytes = call->limits->log_bytes,
        .first_line = 1,
        .first_column = 1,
        .code = {(const uint8_t *)call->code, call->code_len},
        .bindings = {(const uint8_t *)call->bindings, call->bindings_len},
        .input = {(const uint8_t *)input, call->input_len},
    };

    if (!(call->flags & GBX_CALL_SEEDED))
        (void)!getrandom(&msg.seed, sizeof msg.seed, 0);
    if (self->capabilities & GBX_CAP_CONSOLE)
        msg.flags |= GBX_CALL_WIRE_CONSOLE;
    if (self->capabilities & GBX_CAP_TIMERS)
        msg.flags |= GBX_CALL_WIRE_TIMERS;
    if (call->flags & GBX_CALL_FIXED_NOW)
        msg.flags |= GBX_CALL_WIRE_FIXED_NOW;
    if (call->input != NULL)
        msg.flags |= GBX_CALL_WIRE_HAS_INPUT;
    return msg;
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
    gbx_realm *realm =
        gbx_realm_new(&(gbx_realm_setup){.globals = self->globals}, &reason);
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
    /* The engine wants large text to end in NUL. */
    char *input = malloc(call->input_len + 1);
    gbx_msg_call msg;
    gbx_status status;

    if (input == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the input");
    if (call->input_len > 0)
        memcpy(input, call->input, call->input_len);
    input[call->input_len] = 0;
    msg = wire_call(self, call, input);
    (void)pthread_mutex_lock(&self->lock);
    status = run(self, &msg, outcome, reterr);
    (void)pthread_mutex_unlock(&self->lock);
    free(input);
    return status;
}

static void dispose(void *user)
{
    memory_runner *self = user;

    (void)pthread_mutex_destroy(&self->lock);
    free(self);
}

/* What a worker's environment says, said before the engine first starts here. */
static void set_engine_options(void)
{
    (void)setenv("TZ", "UTC", 1);
    tzset();
    (void)jsc_options_set_boolean("useTailCalls", FALSE);
    (void)jsc_options_set_boolean("useWasm", FALSE);
    (void)jsc_options_set_boolean("useSharedArrayBuffer", FALSE);
}

/* ---- public to the loader --------------------------------------------------- */

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
    ret->name = "memory";
    ret->user = self;
    ret->execute = execute;
    ret->dispose = dispose;
    return GBX_OK;
}
