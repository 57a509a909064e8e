/* SPDX-License-Identifier: MIT */
/*
 * settings - checks and completes the caller's options, limits and calls. Structures
 * can grow, as those of openat2(): a shorter one is completed with zeros, a longer one
 * must have a zero tail, and zero means the default.
 */
#include "engine/engine.h"

#include "audit/audit.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SCRIPT_CODE_BYTES 51200u

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

/* Check a number of 4 or 8 bytes: 0 becomes standard; others must be in least..most. */
static bool settle(void *value, size_t size, uint64_t standard, uint64_t least,
                   uint64_t most, const char *name, gbx_error *reterr)
{
    uint64_t number =
        size == sizeof(uint32_t) ? *(uint32_t *)value : *(uint64_t *)value;

    if (number == 0)
        number = standard;
    if ((number < least || number > most) && (number != 0 || standard != 0)) {
        (void)gbx_fail(reterr, GBX_E_USAGE, "%s must be from %llu to %llu, not %llu",
                       name, (unsigned long long)least, (unsigned long long)most,
                       (unsigned long long)number);
        return false;
    }
    if (size == sizeof(uint32_t))
        *(uint32_t *)value = (uint32_t)number;
    else
        *(uint64_t *)value = number;
    return true;
}

static bool settle_limits(gbx_limits *l, gbx_error *reterr)
{
#define SETTLE(field, name, standard, least, most)                                \
    &&settle(&l->field, sizeof l->field, standard, least, most, "limits." #field, \
             reterr)
    static const uint64_t none[sizeof l->reserved / sizeof l->reserved[0]];

    l->struct_size = sizeof *l;
    if (memcmp(l->reserved, none, sizeof none) != 0) {
        (void)gbx_fail(reterr, GBX_E_USAGE,
                       "limits has fields that this version of the library lacks");
        return false;
    }
    if (!(true GBX_LIMIT_MAP(SETTLE)))
        return false;
#undef SETTLE
    if (l->cpu_ms == 0)
        l->cpu_ms = l->timeout_ms;
    return true;
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
        !choose(o->jit, GBX_JIT_LONG, "options.jit", reterr) ||
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
#define SETTLE(field, standard, least, most) \
    settle(&o->field, sizeof o->field, standard, least, most, "options." #field, reterr)
    return SETTLE(pool_size, 5, 1, 64) && SETTLE(max_workers, 64, 1, 1024) &&
           SETTLE(queue_length, 1024, 1, 1u << 20) &&
           SETTLE(recycle_calls, 10000, 1, UINT32_MAX) &&
           SETTLE(recycle_ms, 600000, 1000, UINT32_MAX) &&
           SETTLE(huge_pages, 3, 1, 16) && SETTLE(worker_uid, 0, 1, UINT32_MAX - 1) &&
           SETTLE(total_memory_bytes, 0, GBX_MIB(64), UINT64_C(1) << 50) &&
           SETTLE(total_cpu_percent, 0, 1, 1000000) &&
           SETTLE(suspicious_refusals, GBX_SUSPICION_THRESHOLD, 1,
                  GBX_SUSPICION_THRESHOLD_MAX) &&
           SETTLE(suspicious_ms, GBX_SUSPICION_WINDOW_MS, 1000, 3600000);
#undef SETTLE
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

gbx_status gbx_limits_import(const gbx_limits *given, gbx_limits *ret,
                             gbx_error *reterr)
{
    static const gbx_limits none = GBX_LIMITS_INIT;

    return import(given != NULL ? given : &none, ret, sizeof *ret, "call.limits",
                  reterr);
}

gbx_status gbx_runner_import(const gbx_runner *given, gbx_runner *ret,
                             gbx_error *reterr)
{
    return import(given, ret, sizeof *ret, "options.runner", reterr);
}

gbx_status gbx_limits_resolve(const gbx_limits *engine, const gbx_limits *asked,
                              gbx_form form, gbx_limits *ret, gbx_error *reterr)
{
    gbx_limits complete = *engine;
    gbx_limits l;
    gbx_status status;

    if (complete.code_bytes == 0)
        complete.code_bytes = form == GBX_FORM_SCRIPT ? SCRIPT_CODE_BYTES : 65536;
    if (asked == NULL) { /* the engine's were checked when it was made */
        if (complete.cpu_ms > complete.timeout_ms)
            complete.cpu_ms = complete.timeout_ms;
        *ret = complete;
        return GBX_OK;
    }
    status = gbx_limits_import(asked, &l, reterr);
    if (status != GBX_OK)
        return status;
    if (l.cpu_ms == 0) {
        l.cpu_ms = l.timeout_ms != 0 ? l.timeout_ms : engine->timeout_ms;
        if (l.cpu_ms > engine->cpu_ms)
            l.cpu_ms = engine->cpu_ms;
    }
#define LOWER(field, name, standard, least, most)                                    \
    if (l.field == 0)                                                                \
        l.field = complete.field;                                                    \
    else if (l.field > complete.field)                                               \
        return gbx_fail(reterr, GBX_E_USAGE,                                         \
                        "call.limits." #field " is above the engine's: %llu > %llu", \
                        (unsigned long long)l.field,                                 \
                        (unsigned long long)complete.field);
    GBX_LIMIT_MAP(LOWER)
#undef LOWER
    if (!settle_limits(&l, reterr))
        return GBX_E_USAGE;
    *ret = l;
    return GBX_OK;
}

gbx_status gbx_call_import(const gbx_call *given, gbx_call *ret, gbx_error *reterr)
{
    gbx_status status;

    if (given == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "call is NULL");
    status = import(given, ret, sizeof *ret, "call", reterr);
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
