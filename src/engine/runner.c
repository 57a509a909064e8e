/* SPDX-License-Identifier: MIT */
/*
 * runner - finds an external runner, and executes calls on it that the guard has
 * passed. Size limits of the value and the logs are enforced here too, since a runner
 * may not know them.
 */
#include "engine/engine.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct gbx_outcome {
    gbx_run *run;
    int64_t start_ns;
    bool is_filled;
};

/* The libraries of a plug-in with an address bind to their own dependencies, not to a
 * host's: Node exports the functions of its OpenSSL. Sanitizers refuse the flag. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define ORDER 0
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define ORDER 0
#    endif
#endif
#ifndef ORDER
#    define ORDER RTLD_DEEPBIND
#endif

/* The plug-in of this name, or of this address' scheme. It gets the whole text. */
static gbx_status load(gbx_engine *engine, const char *text, gbx_error *reterr)
{
    typedef gbx_status (*open_fn)(const gbx_options *options, gbx_runner *ret,
                                  gbx_error *reterr);
    const char *name = strncmp(text, "tls:", 4) == 0 ? "nats:" : text;
    size_t len = strcspn(name, ":");
    const char *version;
    gbx_status status;
    char library[128];
    union {
        void *address;
        open_fn function;
    } open_runner;

    /* ORDER would give "memory" two JavaScript engines. */
    if (len > 32 || strspn(name, "abcdefghijklmnopqrstuvwxyz") != len ||
        strncmp(name, "memory:", 7) == 0)
        return gbx_fail(reterr, GBX_E_USAGE, "options.runner_name is not a name");
    (void)snprintf(library, sizeof library, "libglovebox-runner-%.*s.so.0", (int)len,
                   name);
    engine->runner_library =
        dlopen(library, RTLD_NOW | RTLD_LOCAL | (name[len] != 0 ? ORDER : 0));
    if (engine->runner_library == NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "cannot load the runner '%.*s': %s",
                        (int)len, name, dlerror());
    open_runner.address = dlsym(engine->runner_library, "gbx_runner_open");
    if (open_runner.address == NULL)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED, "'%s' is not a runner", library);
    version = dlsym(engine->runner_library, "gbx_runner_version");
    if (version == NULL || strcmp(version, GBX_VERSION) != 0)
        return gbx_fail(reterr, GBX_E_UNSUPPORTED,
                        "the runner '%.*s' has version %s, and this library %s",
                        (int)len, name, version != NULL ? version : "unknown",
                        GBX_VERSION);
    engine->runner = (gbx_runner)GBX_RUNNER_INIT;
    status = open_runner.function(&engine->settings.options, &engine->runner, reterr);
    if (status != GBX_OK)
        engine->runner = (gbx_runner){0}; /* nothing to dispose of */
    return status;
}

gbx_status gbx_runner_init(gbx_engine *engine, gbx_error *reterr)
{
    gbx_settings *s = &engine->settings;
    const gbx_options *o = &s->options;
    gbx_runner *r = &engine->runner;
    gbx_status status;

    if (o->runner != NULL)
        status = gbx_runner_import(o->runner, &engine->runner, reterr);
    else if (o->runner_name != NULL && strcmp(o->runner_name, "process") != 0)
        status = load(engine, o->runner_name, reterr);
    else
        return GBX_OK;
    if (status != GBX_OK)
        return status;
    if (r->name == NULL || (r->execute != NULL) == (r->lease != NULL) ||
        (r->lease != NULL && (r->send == NULL || r->receive == NULL ||
                              r->cancel == NULL || r->release == NULL)))
        return gbx_fail(reterr, GBX_E_USAGE,
                        "options.runner lacks a name or execute, or a part of lease");
    if (strlen(r->name) >= sizeof s->runner)
        return gbx_fail(reterr, GBX_E_USAGE, "options.runner.name is too long");
    (void)snprintf(s->runner, sizeof s->runner, "%s", r->name);
    r->name = s->runner;
    return GBX_OK;
}

gbx_status gbx_outcome_run(gbx_run *run, gbx_error *reterr)
{
    const gbx_runner *runner = &run->engine->runner;
    gbx_outcome outcome = {.run = run, .start_ns = gbx_clock_now_ns()};
    gbx_call call = run->call;
    gbx_result *r = run->result;
    gbx_status status;

    call.code += run->span.start; /* without what surrounds it */
    call.code_len = run->span.len;
    call.limits = &run->limits;
    (void)snprintf(r->runner_name, sizeof r->runner_name, "%s", runner->name);
    r->runner = r->runner_name;
    r->is_isolated = false;
    status = runner->execute(runner->user, &call, &outcome, reterr);
    if (status != GBX_OK)
        return status;
    if (!outcome.is_filled &&
        !gbx_result_fail(r, GBX_CODE_CRASHED, "the runner gave no outcome", ""))
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for the result");
    r->stats.wall_ms = (double)(gbx_clock_now_ns() - outcome.start_ns) / 1e6;
    run->phase = GBX_RUN_ENDED;
    return GBX_OK;
}

/* ---- public API ---------------------------------------------------------- */

gbx_status gbx_outcome_value(gbx_outcome *outcome, const char *json, size_t json_len)
{
    gbx_run *run = outcome->run;
    gbx_result *r = run->result;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf value = {.ceiling = json_len};
    bool filled;

    if (outcome->is_filled ||
        (json != NULL && !gbx_json_check(json, json_len, GBX_JSON_DEPTH_MAX, NULL)))
        return GBX_E_USAGE;
    outcome->is_filled = true;
    filled = gbx_json_append_compact(&value, json, json_len);
    if (filled && value.len > run->limits.output_bytes)
        filled = gbx_result_fail(r, GBX_CODE_OUTPUT_TOO_LARGE,
                                 gbx_code_text(GBX_CODE_OUTPUT_TOO_LARGE), "");
    else if (filled)
        filled =
            gbx_result_set_value(r, json == NULL, (gbx_span){value.data, value.len});
    r->stats.output_bytes = r->value_len;
    return filled ? GBX_OK : GBX_E_NOMEM;
}

gbx_status gbx_outcome_error(gbx_outcome *outcome, gbx_code code, const char *message,
                             uint32_t line, uint32_t column)
{
    gbx_run *run = outcome->run;

    if (outcome->is_filled || code == GBX_CODE_VALUE || code > GBX_CODE_VIOLATION ||
        message == NULL)
        return GBX_E_USAGE;
    outcome->is_filled = true;
    gbx_run_point_at(run, line, column);
    return gbx_result_fail(run->result, code, message, "") ? GBX_OK : GBX_E_NOMEM;
}

gbx_status gbx_outcome_log(gbx_outcome *outcome, gbx_log_level level, const char *text,
                           size_t text_len)
{
    gbx_run *run = outcome->run;
    double at_ms = (double)(gbx_clock_now_ns() - outcome->start_ns) / 1e6;
    gbx_log line;

    if (level > GBX_LOG_ERROR)
        return GBX_E_USAGE;
    if (!gbx_result_add_log(run->result, level, at_ms,
                            (gbx_span){(const uint8_t *)text, text_len},
                            run->limits.log_bytes, 0))
        return GBX_E_NOMEM;
    if (run->call.on_log != NULL && gbx_result_take_unseen_log(run->result, &line))
        run->call.on_log(run->call.log_user, &line);
    return GBX_OK;
}
