/* SPDX-License-Identifier: MIT */
/* options - reads options from JavaScript; tables map names to fields. */
#include "addon.h"

#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

/* A number of 4 or 8 bytes. */
typedef struct field {
    const char *name;
    size_t offset;
    size_t size;
} field;

#define FIELD(name, type, member)                                    \
    {                                                                \
        name, offsetof(type, member), sizeof(((type *)NULL)->member) \
    }

static const field limit_fields[] = {
#define XX(member, name, standard, least, most) FIELD(name, gbx_limits, member),
    GBX_LIMIT_MAP(XX)
#undef XX
};

static const field option_fields[] = {
    FIELD("poolSize", gbx_options, pool_size),
    FIELD("maxWorkers", gbx_options, max_workers),
    FIELD("queueLength", gbx_options, queue_length),
    FIELD("require", gbx_options, require),
    FIELD("jit", gbx_options, jit),
    FIELD("globals", gbx_options, globals),
    FIELD("fresh", gbx_options, fresh),
    FIELD("recycleCalls", gbx_options, recycle_calls),
    FIELD("recycleMs", gbx_options, recycle_ms),
    FIELD("hugePages", gbx_options, huge_pages),
    FIELD("workerUid", gbx_options, worker_uid),
    FIELD("speculation", gbx_options, speculation),
    FIELD("zygote", gbx_options, zygote),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void take_fields(napi_env env, napi_value object, const field *fields, size_t n,
                        void *to)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t number = 0;
        uint32_t narrow;

        gbx_node_get_u64(env, object, fields[i].name, &number);
        narrow = number <= UINT32_MAX ? (uint32_t)number : 0;
        memcpy((char *)to + fields[i].offset,
               fields[i].size == sizeof narrow ? (void *)&narrow : (void *)&number,
               fields[i].size);
    }
}

static char *take_string(napi_env env, napi_value object, const char *name)
{
    napi_value value;
    size_t ignored;

    return napi_get_named_property(env, object, name, &value) == napi_ok
               ? gbx_node_string(env, value, &ignored)
               : NULL;
}

/* preloads: [name, source, name, source, ...] */
static bool take_preloads(napi_env env, napi_value object, gbx_node_options *o)
{
    napi_value list;
    uint32_t length = 0;

    if (napi_get_named_property(env, object, "preloads", &list) != napi_ok ||
        gbx_node_is_undefined(env, list))
        return true;
    if (napi_get_array_length(env, list, &length) != napi_ok || length > 128)
        return napi_throw_type_error(env, NULL, "at most 64 preloads") != napi_ok;
    o->preloads = calloc(length / 2 + 1, sizeof *o->preloads);
    for (uint32_t i = 0; o->preloads != NULL && i + 1 < length; i += 2) {
        gbx_preload *p = &o->preloads[i / 2];
        napi_value name;
        napi_value source;
        size_t ignored;

        if (napi_get_element(env, list, i, &name) != napi_ok ||
            napi_get_element(env, list, i + 1, &source) != napi_ok)
            return false;
        p->name = gbx_node_string(env, name, &ignored);
        p->source = gbx_node_string(env, source, &p->source_len);
        o->core.preload_count++;
        if (p->name == NULL || p->source == NULL)
            return false;
    }
    o->core.preloads = o->preloads;
    return o->preloads != NULL;
}

/* process.emitWarning(text): to standard error, unless the program listens. */
static void emit_warnings(napi_env env, const gbx_policy *policy)
{
    const char *text;
    napi_value process;
    napi_value emit;
    napi_value warning;

    for (size_t i = 0; (text = gbx_policy_warning(policy, i)) != NULL; i++) {
        if (napi_get_global(env, &process) != napi_ok ||
            napi_get_named_property(env, process, "process", &process) != napi_ok ||
            napi_get_named_property(env, process, "emitWarning", &emit) != napi_ok ||
            napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &warning) != napi_ok)
            return;
        (void)napi_call_function(env, process, emit, 1, &warning, NULL);
    }
}

void gbx_node_limits_take(napi_env env, napi_value object, gbx_limits *ret)
{
    static const gbx_limits none = GBX_LIMITS_INIT;

    *ret = none;
    take_fields(env, object, limit_fields, COUNT(limit_fields), ret);
}

bool gbx_node_policy_take(napi_env env, napi_value json, napi_value base_dir,
                          napi_value trust_files, gbx_policy **ret)
{
    bool trusts_all = false;
    size_t len;
    size_t ignored;
    char *text = gbx_node_string(env, json, &len);
    char *base;
    gbx_error error = {0};
    gbx_status status;
    bool is_pending = false;

    *ret = NULL;
    if (text == NULL)
        return napi_is_exception_pending(env, &is_pending) == napi_ok && !is_pending;
    base = gbx_node_string(env, base_dir, &ignored);
    (void)napi_get_value_bool(env, trust_files, &trusts_all);
    status =
        gbx_policy_parse_with(text, len, base, trusts_all ? GBX_POLICY_TRUST_FILES : 0,
                              ret, &error);
    free(base);
    free(text);
    if (status != GBX_OK)
        gbx_node_throw(env, &error);
    return status == GBX_OK;
}

gbx_node_options *gbx_node_options_take(napi_env env, napi_value object)
{
    static const gbx_options standard = GBX_OPTIONS_INIT;
    gbx_node_options *o = calloc(1, sizeof *o);
    napi_value policy;
    napi_value base_dir;
    napi_value trust_files;

    if (o == NULL) {
        (void)napi_throw_error(env, "GBX_E_NOMEM", "no memory for options");
        return NULL;
    }
    o->core = standard;
    gbx_node_limits_take(env, object, &o->core.limits);
    take_fields(env, object, option_fields, COUNT(option_fields), &o->core);
    o->core.worker_path = take_string(env, object, "workerPath");
    o->core.runner_name = take_string(env, object, "runner");
    o->has_transport = gbx_node_get_bool(env, object, "hasTransport");
    o->has_audit = gbx_node_get_bool(env, object, "hasSecurityLog");
    if (!take_preloads(env, object, o) ||
        napi_get_named_property(env, object, "policy", &policy) != napi_ok ||
        napi_get_named_property(env, object, "baseDir", &base_dir) != napi_ok ||
        napi_get_named_property(env, object, "trustFiles", &trust_files) != napi_ok ||
        !gbx_node_policy_take(env, policy, base_dir, trust_files, &o->core.policy)) {
        gbx_node_options_free(o);
        return NULL;
    }
    emit_warnings(env, o->core.policy);
    return o;
}

void gbx_node_options_for(gbx_node_options *options, gbx_node_engine *engine)
{
    static const gbx_fetch_transport none = GBX_FETCH_TRANSPORT_INIT;

    if (options->has_transport) {
        options->transport = none;
        options->transport.fetch = gbx_node_on_fetch;
        options->transport.user = engine;
        options->core.transport = &options->transport;
    }
    if (options->has_audit) {
        options->core.on_audit = gbx_node_on_audit;
        options->core.audit_user = engine;
    }
}

void gbx_node_options_free(gbx_node_options *options)
{
    if (options == NULL)
        return;
    for (size_t i = 0; options->preloads != NULL && i < options->core.preload_count;
         i++) {
        free((void *)(uintptr_t)options->preloads[i].name);
        free((void *)(uintptr_t)options->preloads[i].source);
    }
    free(options->preloads);
    free((void *)(uintptr_t)options->core.worker_path);
    free((void *)(uintptr_t)options->core.runner_name);
    gbx_policy_free(options->core.policy);
    free(options);
}
