/* SPDX-License-Identifier: MIT */
/*
 * dispatch - finds and calls the host's functions.
 *
 * The name and the arguments come from a worker and are hostile. A name that this call
 * does not have is answered with an error. Arguments that are not a JSON array end the
 * worker, since its own script cannot produce them.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "engine/engine.h"
#include "policy/policy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_NAME_MAX 128

/* Arguments up to this size get their NUL on the stack. */
#define SMALL_ARGS GBX_KIB(4)

/* ---- names ------------------------------------------------------------------- */

/* Identifiers with dots between. Refuses a first identifier that every object has:
 * such a property must not be shadowed by accident. */
static bool is_function_name(const char *name)
{
    static const char *const never[] = {"__proto__", "prototype", "constructor"};
    const char *at = name;

    if (strlen(name) > FUNCTION_NAME_MAX)
        return false;
    for (;;) {
        size_t len = 0;

        while (isalnum((unsigned char)at[len]) || at[len] == '_' || at[len] == '$')
            len++;
        if (len == 0 || isdigit((unsigned char)at[0]))
            return false;
        for (size_t i = 0; i < GBX_COUNTOF(never); i++)
            if (strlen(never[i]) == len && memcmp(at, never[i], len) == 0)
                return false;
        at += len;
        if (*at == 0)
            return true;
        if (*at++ != '.')
            return false;
    }
}

/* "db" and "db.query" cannot both be functions. */
static bool collide(const char *a, const char *b)
{
    size_t len = strlen(a) < strlen(b) ? strlen(a) : strlen(b);

    return memcmp(a, b, len) == 0 && (a[len] == 0 || a[len] == '.') &&
           (b[len] == 0 || b[len] == '.');
}

/* The lock is held. */
static gbx_function *find_function(gbx_hostcalls *h, gbx_span name)
{
    for (gbx_function *f = h->functions; f != NULL; f = f->next)
        if (strlen(f->name) == name.len && memcmp(f->name, name.data, name.len) == 0)
            return f;
    return NULL;
}

static gbx_status check_name(gbx_engine *engine, const char *name, gbx_error *reterr)
{
    gbx_hostcalls *h = &engine->hostcalls;
    gbx_function *taken = NULL;

    if (!is_function_name(name))
        return gbx_fail(
            reterr, GBX_E_USAGE,
            "'%.64s' is not the name of a function: one or more identifiers "
            "with dots between, at most %d bytes",
            name, FUNCTION_NAME_MAX);
    (void)pthread_mutex_lock(&h->lock);
    for (gbx_function *f = h->functions; f != NULL && taken == NULL; f = f->next)
        if (collide(f->name, name))
            taken = f;
    (void)pthread_mutex_unlock(&h->lock);
    if (taken != NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "the name '%s' is taken by '%s'", name,
                        taken->name);
    return GBX_OK;
}

/* Append to the list: templates get the names in the order of exposing. */
static void link_function(gbx_hostcalls *h, gbx_function *function)
{
    gbx_function **at = &h->functions;

    (void)pthread_mutex_lock(&h->lock);
    while (*at != NULL)
        at = &(*at)->next;
    function->serial = ++h->function_serial;
    *at = function;
    (void)pthread_mutex_unlock(&h->lock);
}

static void unlink_function(gbx_hostcalls *h, const gbx_function *function)
{
    gbx_function **at = &h->functions;

    (void)pthread_mutex_lock(&h->lock);
    while (*at != function)
        at = &(*at)->next;
    *at = function->next;
    (void)pthread_mutex_unlock(&h->lock);
}

/* ---- calling ------------------------------------------------------------------- */

static void call_function(gbx_run *run, const gbx_function *f, gbx_request request,
                          gbx_span args)
{
    char small[SMALL_ARGS];
    char *text = args.len < sizeof small ? small : malloc(args.len + 1);
    gbx_host_call call = {.request = request,
                          .call = run->ticket,
                          .name = f->name,
                          .args = text,
                          .args_len = args.len};

    if (text == NULL) {
        run->exchange.is_nomem = true;
        return;
    }
    memcpy(text, args.data, args.len);
    text[args.len] = 0;
    run->calls.is_dispatching = true;
    f->fn(f->user, run->engine, &call);
    run->calls.is_dispatching = false;
    explicit_bzero(text, args.len); /* it may contain secrets */
    if (text != small)
        free(text);
}

static bool fills_itself(const gbx_policy *policy, const gbx_function *f)
{
    return policy->self_filling != NULL && strcmp(policy->self_filling, f->name) == 0;
}

/* Call with secrets filled in for this function, if its arguments refer to any. */
static void call_with_secrets(gbx_run *run, const gbx_function *f, gbx_request request,
                              gbx_span args)
{
    const gbx_policy *policy = gbx_run_policy(run);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf filled = {0};
    gbx_error error = {0};

    if (policy == NULL || fills_itself(policy, f) || !gbx_secrets_are_in(args)) {
        call_function(run, f, request, args);
        return;
    }
    if (gbx_secrets_fill_json(policy, f->name, args, &filled, &error) == GBX_OK)
        call_function(run, f, request, (gbx_span){filled.data, filled.len});
    else
        gbx_hostcall_refuse(run->engine, request, "Error", error.message, "ERR_SECRET");
}

/* ---- public to other modules -------------------------------------------- */

void gbx_hostcall_take(void *user, const gbx_msg_hostcall *msg)
{
    gbx_run *run = user;
    gbx_hostcalls *h = &run->engine->hostcalls;
    const gbx_policy *policy = gbx_run_policy(run);
    const gbx_function *f;
    const char *builtin;
    gbx_request request;

    if (msg->args.data[0] != '[' ||
        !gbx_json_check_strict((const char *)msg->args.data, msg->args.len,
                               GBX_JSON_DEPTH_MAX, NULL)) {
        gbx_exchange_break(&run->exchange,
                           "arguments that are not a compact JSON array",
                           GBX_MSG_HOSTCALL);
        return;
    }
    gbx_recorder_request(run, msg);
    builtin = gbx_provider_name(run, msg->name);
    (void)pthread_mutex_lock(&h->lock);
    f = builtin == NULL ? find_function(h, msg->name) : NULL;
    (void)pthread_mutex_unlock(&h->lock);
    request = gbx_hostcall_open(run, f != NULL ? f->name : builtin, f == NULL, msg);
    run->result->stats.host_calls++;
    if (request == 0)
        run->exchange.is_nomem = true;
    else if (builtin != NULL)
        gbx_provider_start(run, request, builtin, msg);
    else if (f == NULL ||
             (policy != NULL && !gbx_policy_allows_function(policy, f->name)))
        gbx_hostcall_refuse(run->engine, request, "Error",
                            "this call has no function of that name",
                            "ERR_NOT_ALLOWED");
    else
        call_with_secrets(run, f, request, msg->args);
}

bool gbx_hostcalls_names(gbx_engine *engine, const gbx_policy *policy, bool withheld,
                         gbx_buf *to, uint32_t *ret_serial)
{
    gbx_hostcalls *h = &engine->hostcalls;

    (void)pthread_mutex_lock(&h->lock);
    if (ret_serial != NULL)
        *ret_serial = h->function_serial;
    for (const gbx_function *f = h->functions; f != NULL; f = f->next) {
        bool is_allowed = policy == NULL || gbx_policy_allows_function(policy, f->name);

        if (is_allowed != withheld)
            (void)gbx_buf_printf(to, "%s%s", to->len > 0 ? "\n" : "", f->name);
    }
    (void)pthread_mutex_unlock(&h->lock);
    return !to->failed;
}

gbx_status gbx_hostcalls_init(gbx_engine *engine, gbx_error *reterr)
{
    engine->hostcalls.has_lock = pthread_mutex_init(&engine->hostcalls.lock, NULL) == 0;
    return engine->hostcalls.has_lock
               ? GBX_OK
               : gbx_fail(reterr, GBX_E_NOMEM, "cannot make a lock");
}

void gbx_hostcalls_cleanup(gbx_engine *engine)
{
    gbx_hostcalls *h = &engine->hostcalls;

    while (h->functions != NULL) {
        gbx_function *next = h->functions->next;

        free(h->functions);
        h->functions = next;
    }
    free(h->pending);
    if (h->has_lock)
        (void)pthread_mutex_destroy(&h->lock);
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_engine_expose(gbx_engine *engine, const char *name, gbx_host_fn fn,
                             void *user, gbx_error *reterr)
{
    gbx_function *function;
    const gbx_policy *policy;
    gbx_status status = gbx_engine_need(engine, reterr);

    if (status != GBX_OK)
        return status;
    if (name == NULL || fn == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "name or fn is missing");
    if (engine->runner.execute != NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "the runner '%s' has no functions of the host",
                        engine->runner.name);
    policy = engine->settings.options.policy;
    status = check_name(engine, name, reterr);
    if (status != GBX_OK)
        return status;
    function = calloc(1, sizeof *function + strlen(name) + 1);
    if (function == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the function '%s'", name);
    function->fn = fn;
    function->user = user;
    memcpy(function->name, name, strlen(name) + 1);
    /* Link first: a template that starts meanwhile has it too. */
    link_function(&engine->hostcalls, function);
    if (policy == NULL || gbx_policy_allows_function(policy, name))
        status = gbx_dataset_loader_expose(engine, function, reterr);
    if (status != GBX_OK) {
        unlink_function(&engine->hostcalls, function);
        free(function);
    }
    return status;
}
