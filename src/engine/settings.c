/* SPDX-License-Identifier: MIT */
/*
 * settings - structures grow by the rule of openat2: shorter ones are completed with
 * zeros, longer ones must have a zero tail, and zero means the default.
 */
#include "engine/engine.h"

#include "audit/audit.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS_MAX    600000u
#define MEMORY_MIN        (UINT64_C(8) << 20)
#define MEMORY_MAX        (UINT64_C(4) << 30)
#define OUTPUT_MAX        (UINT64_C(256) << 20)
#define CODE_MAX          (1u << 20)
#define SCRIPT_CODE_BYTES 51200u
#define LOG_MAX           (64u << 20)
#define HOST_CALLS_MAX    10000000u
#define HOST_AT_ONCE_MAX  4096u
#define HOST_BYTES_MAX    (UINT64_C(1) << 30)
#define TOTAL_MEMORY_MIN  (UINT64_C(64) << 20)
#define TOTAL_MEMORY_MAX  (UINT64_C(1) << 50)
#define CPU_PERCENT_MAX   UINT64_C(1000000)

/* Capabilities that need no list of permitted targets. */
#define PLAIN_CAPABILITIES \
    ((unsigned)(GBX_CAP_CONSOLE | GBX_CAP_TIMERS | GBX_CAP_CRYPTO | GBX_CAP_HELPERS))

static gbx_status import(const void *given, void *to, size_t size, const char *what,
                         gbx_error *reterr)
{
    const uint8_t *bytes = given;
    size_t given_size;

    memcpy(&given_size, given, sizeof given_size);
    if (given_size < sizeof given_size || given_size > 4096)
        return gbx_fail(reterr, GBX_E_USAGE, "%s.struct_size is not set", what);
    for (size_t i = size; i < given_size; i++)
        if (bytes[i] != 0)
            return gbx_fail(reterr, GBX_E_USAGE,
                            "%s has fields that this version of the library lacks",
                            what);
    memset(to, 0, size);
    memcpy(to, given, given_size < size ? given_size : size);
    return GBX_OK;
}

/* *value: 0 becomes standard; a value outside min..max is refused by name. */
static bool settle(uint64_t *value, uint64_t standard, uint64_t min, uint64_t max,
                   const char *name, gbx_error *reterr)
{
    if (*value == 0)
        *value = standard;
    if (*value >= min && *value <= max)
        return true;
    (void)gbx_fail(reterr, GBX_E_USAGE, "%s must be from %llu to %llu, not %llu", name,
                   (unsigned long long)min, (unsigned long long)max,
                   (unsigned long long)*value);
    return false;
}

static bool settle32(uint32_t *value, uint32_t standard, uint32_t min, uint32_t max,
                     const char *name, gbx_error *reterr)
{
    uint64_t wide = *value;

    if (!settle(&wide, standard, min, max, name, reterr))
        return false;
    *value = (uint32_t)wide;
    return true;
}

static bool is_known(const gbx_limits *l, gbx_error *reterr)
{
    static const uint64_t none[sizeof l->reserved / sizeof l->reserved[0]];

    if (memcmp(l->reserved, none, sizeof none) == 0)
        return true;
    (void)gbx_fail(reterr, GBX_E_USAGE,
                   "limits has fields that this version of the library lacks");
    return false;
}

static bool settle_limits(gbx_limits *l, gbx_error *reterr)
{
    l->struct_size = sizeof *l;
    return is_known(l, reterr) &&
           settle32(&l->timeout_ms, 5000, 1, TIMEOUT_MS_MAX, "limits.timeout_ms",
                    reterr) &&
           settle32(&l->cpu_ms, l->timeout_ms, 1, TIMEOUT_MS_MAX, "limits.cpu_ms",
                    reterr) &&
           settle(&l->memory_bytes, UINT64_C(128) << 20, MEMORY_MIN, MEMORY_MAX,
                  "limits.memory_bytes", reterr) &&
           settle(&l->output_bytes, 1048576, 1, OUTPUT_MAX, "limits.output_bytes",
                  reterr) &&
           (l->code_bytes == 0 ||
            settle32(&l->code_bytes, 0, 1, CODE_MAX, "limits.code_bytes", reterr)) &&
           settle32(&l->log_bytes, 10u << 20, 1, LOG_MAX, "limits.log_bytes", reterr) &&
           settle32(&l->host_calls, 10000, 1, HOST_CALLS_MAX, "limits.host_calls",
                    reterr) &&
           settle32(&l->host_calls_at_once, 256, 1, HOST_AT_ONCE_MAX,
                    "limits.host_calls_at_once", reterr) &&
           settle(&l->host_out_bytes, UINT64_C(16) << 20, 1, HOST_BYTES_MAX,
                  "limits.host_out_bytes", reterr) &&
           settle(&l->host_in_bytes, UINT64_C(64) << 20, 1, HOST_BYTES_MAX,
                  "limits.host_in_bytes", reterr);
}

static bool choose(unsigned value, unsigned last, const char *name, gbx_error *reterr)
{
    if (value <= last)
        return true;
    (void)gbx_fail(reterr, GBX_E_USAGE, "%s is not one of its values", name);
    return false;
}

static bool settle_choices(gbx_options *o, gbx_error *reterr)
{
    if (!choose(o->require, GBX_REQUIRE_STRICT, "options.require", reterr) ||
        !choose(o->jit, GBX_JIT_OFF, "options.jit", reterr) ||
        !choose(o->globals, GBX_GLOBALS_MINIMAL, "options.globals", reterr) ||
        !choose(o->fresh, GBX_FRESH_EXEC, "options.fresh", reterr) ||
        !choose(o->speculation, GBX_SPECULATION_GUARDED, "options.speculation",
                reterr) ||
        !choose(o->zygote, GBX_ZYGOTE_OFF, "options.zygote", reterr))
        return false;
    if (o->jit == GBX_JIT_DEFAULT)
        o->jit = o->require == GBX_REQUIRE_STRICT ? GBX_JIT_OFF : GBX_JIT_FULL;
    if (o->capabilities == 0 && o->policy == NULL)
        o->capabilities = GBX_CAP_CONSOLE | GBX_CAP_TIMERS;
    if (o->capabilities != GBX_CAP_NONE &&
        (o->capabilities & ~PLAIN_CAPABILITIES) != 0) {
        (void)gbx_fail(reterr, GBX_E_USAGE,
                       "options.capabilities has an unknown bit, or one that needs a "
                       "policy");
        return false;
    }
    if (o->policy != NULL)
        o->capabilities =
            (o->capabilities & PLAIN_CAPABILITIES) | o->policy->capabilities;
    else if (o->capabilities != GBX_CAP_NONE)
        o->capabilities |= GBX_CAP_HELPERS;
    if (o->fresh == GBX_FRESH_EXEC)
        o->recycle_calls = 1;
    if (o->worker_uid != 0 && geteuid() != 0) {
        (void)
            gbx_fail(reterr, GBX_E_USAGE,
                     "options.worker_uid needs a host that is root: workers of others "
                     "are the host's own user");
        return false;
    }
    return settle32(&o->pool_size, 5, 1, 64, "options.pool_size", reterr) &&
           settle32(&o->max_workers, 64, 1, 1024, "options.max_workers", reterr) &&
           settle32(&o->queue_length, 1024, 1, 1u << 20, "options.queue_length",
                    reterr) &&
           settle32(&o->recycle_calls, 10000, 1, UINT32_MAX, "options.recycle_calls",
                    reterr) &&
           settle32(&o->recycle_ms, 600000, 1000, UINT32_MAX, "options.recycle_ms",
                    reterr) &&
           settle32(&o->huge_pages, 3, 1, 16, "options.huge_pages", reterr) &&
           (o->worker_uid == 0 || settle32(&o->worker_uid, 0, 1, UINT32_MAX - 1,
                                           "options.worker_uid", reterr)) &&
           (o->total_memory_bytes == 0 ||
            settle(&o->total_memory_bytes, 0, TOTAL_MEMORY_MIN, TOTAL_MEMORY_MAX,
                   "options.total_memory_bytes", reterr)) &&
           (o->total_cpu_percent == 0 ||
            settle(&o->total_cpu_percent, 0, 1, CPU_PERCENT_MAX,
                   "options.total_cpu_percent", reterr)) &&
           settle32(&o->suspicious_refusals, GBX_SUSPICION_THRESHOLD, 1,
                    GBX_SUSPICION_THRESHOLD_MAX, "options.suspicious_refusals",
                    reterr) &&
           settle32(&o->suspicious_ms, GBX_SUSPICION_WINDOW_MS, 1000, 3600000,
                    "options.suspicious_ms", reterr);
}

static bool copy_text(const char **text, char *to, size_t size, const char *name,
                      gbx_error *reterr)
{
    if (*text == NULL)
        return true;
    if (strlen(*text) >= size) {
        (void)gbx_fail(reterr, GBX_E_USAGE, "%s is too long", name);
        return false;
    }
    (void)snprintf(to, size, "%s", *text);
    *text = to;
    return true;
}

gbx_status gbx_options_import(const gbx_options *given, gbx_options *ret,
                              gbx_error *reterr)
{
    static const gbx_options none = GBX_OPTIONS_INIT;

    return import(given != NULL ? given : &none, ret, sizeof *ret, "options", reterr);
}

gbx_status gbx_settings_init(gbx_settings *s, const gbx_options *options,
                             gbx_error *reterr)
{
    gbx_options *o = &s->options;
    gbx_status status;

    memset(s, 0, sizeof *s);
    status = gbx_options_import(options, o, reterr);
    if (status != GBX_OK)
        return status;
    if (o->runner != NULL && o->runner_name != NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "options.runner and options.runner_name exclude each other");
    if (o->transport != NULL) {
        if (o->transport->struct_size != sizeof *o->transport ||
            o->transport->fetch == NULL)
            return gbx_fail(reterr, GBX_E_USAGE, "options.transport lacks fetch");
        s->transport = *o->transport;
        o->transport = &s->transport;
    }
    if (o->policy != NULL)
        gbx_limits_lower(&o->limits, &o->policy->limits);
    if (!settle_limits(&o->limits, reterr) || !settle_choices(o, reterr) ||
        !copy_text(&o->worker_path, s->worker_path, sizeof s->worker_path,
                   "options.worker_path", reterr) ||
        !copy_text(&o->runner_name, s->runner_name, sizeof s->runner_name,
                   "options.runner_name", reterr))
        return GBX_E_USAGE;
    return GBX_OK;
}

gbx_status gbx_limits_resolve(const gbx_limits *engine, const gbx_limits *asked,
                              gbx_form form, gbx_limits *ret, gbx_error *reterr)
{
    gbx_limits complete;
    gbx_limits l = {0};
    gbx_status status = GBX_OK;

    if (asked != NULL)
        status = import(asked, &l, sizeof l, "call.limits", reterr);
    if (status != GBX_OK)
        return status;
#define LOWER(field)                                                             \
    if (l.field == 0)                                                            \
        l.field = engine->field;                                                 \
    else if (engine->field != 0 && l.field > engine->field)                      \
    return gbx_fail(reterr, GBX_E_USAGE,                                         \
                    "call.limits." #field " is above the engine's: %llu > %llu", \
                    (unsigned long long)l.field, (unsigned long long)engine->field)
    LOWER(timeout_ms);
    LOWER(memory_bytes);
    LOWER(output_bytes);
    LOWER(log_bytes);
    LOWER(host_calls);
    LOWER(host_calls_at_once);
    LOWER(host_out_bytes);
    LOWER(host_in_bytes);
    if (l.cpu_ms == 0)
        l.cpu_ms = engine->cpu_ms < l.timeout_ms ? engine->cpu_ms : l.timeout_ms;
    LOWER(cpu_ms);
    complete = *engine;
    if (complete.code_bytes == 0)
        complete.code_bytes = form == GBX_FORM_SCRIPT ? SCRIPT_CODE_BYTES : 65536;
    engine = &complete;
    LOWER(code_bytes);
#undef LOWER
    if (!settle_limits(&l, reterr))
        return GBX_E_USAGE;
    *ret = l;
    return GBX_OK;
}

gbx_status gbx_call_import(const gbx_call *given, gbx_call *ret, gbx_error *reterr)
{
    gbx_status status = import(given, ret, sizeof *ret, "call", reterr);

    if (status != GBX_OK)
        return status;
    if (ret->form > GBX_FORM_SCRIPT)
        return gbx_fail(reterr, GBX_E_USAGE, "call.form is not one of its values");
    if ((ret->flags &
         ~(unsigned)(GBX_CALL_SEEDED | GBX_CALL_FIXED_NOW | GBX_CALL_NO_GUARD |
                     GBX_CALL_LENT | GBX_CALL_COMPILE)) != 0)
        return gbx_fail(reterr, GBX_E_USAGE, "call.flags has an unknown bit");
    if ((ret->code == NULL && ret->code_len > 0) ||
        (ret->input == NULL && ret->input_len > 0) ||
        (ret->bindings == NULL && ret->bindings_len > 0))
        return gbx_fail(reterr, GBX_E_USAGE, "call has a length without its pointer");
    if (ret->dataset != NULL && ret->form == GBX_FORM_BODY)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "call.dataset is not for form body, which sees datasets");
    if (ret->input_len > UINT32_MAX / 2 || ret->bindings_len > UINT32_MAX / 4)
        return gbx_fail(reterr, GBX_E_USAGE, "call.input is larger than 2 GiB");
    if (ret->bindings_len > 0 && ret->form != GBX_FORM_BODY)
        return gbx_fail(reterr, GBX_E_USAGE, "call.bindings are for form body alone");
    if (ret->code == NULL)
        ret->code = "";
    return GBX_OK;
}
