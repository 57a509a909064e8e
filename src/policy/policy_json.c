/* SPDX-License-Identifier: MIT */
/*
 * policy_json - the policy file: a row for every key.
 *
 * share/policy.schema.json describes the same for editors; a test compares the two.
 */
#include "policy/policy_json.h"

#include "base/cleanup.h"
#include "base/fail.h"
#include "policy/policy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLICY_BYTES_MAX GBX_MIB(1)

static gbx_status add_root(gbx_json_reader *r, const char *text, size_t len,
                           void *target)
{
    return gbx_grant_root(target, 0, r->base_dir, text, len, r->err);
}

static gbx_status read_file(gbx_json_reader *r, const json_t *value,
                            const gbx_json_key *key, void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "allow", .read = gbx_json_read_list, .add = add_root},
        GBX_JSON_NUMBER("maxBytes", gbx_file_policy, max_bytes, 1, GBX_MIB(256)),
    };
    gbx_policy *policy = target;
    gbx_status status =
        gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), &policy->file);
    (void)key;

    policy->capabilities |= GBX_CAP_FILE;
    return status == GBX_OK
               ? gbx_json_require(r, value, "allow", "list the directories")
               : status;
}

static gbx_status add_function(gbx_json_reader *r, const char *text, size_t len,
                               void *target)
{
    gbx_policy *policy = target;

    return gbx_grant_function(&policy->functions, &policy->function_count,
                              &policy->all_functions, 0, text, len, r->err);
}

/* min is the capability's bit. */
static gbx_status read_switch(gbx_json_reader *r, const json_t *value,
                              const gbx_json_key *key, void *target)
{
    gbx_policy *policy = target;

    if (!json_is_boolean(value))
        return gbx_json_refuse_type(r, value, "true or false");
    policy->capabilities &= ~(uint32_t)key->min;
    if (json_is_true(value))
        policy->capabilities |= (uint32_t)key->min;
    return GBX_OK;
}

static gbx_status read_limits(gbx_json_reader *r, const json_t *value,
                              const gbx_json_key *key, void *target)
{
    static const gbx_json_key keys[] = {
        GBX_JSON_NUMBER("timeoutMs", gbx_limits, timeout_ms, 1, 600000),
        GBX_JSON_NUMBER("cpuMs", gbx_limits, cpu_ms, 1, 600000),
        GBX_JSON_NUMBER("memoryBytes", gbx_limits, memory_bytes, GBX_MIB(8),
                        GBX_MIB(4096)),
        GBX_JSON_NUMBER("outputBytes", gbx_limits, output_bytes, 1, GBX_MIB(256)),
        GBX_JSON_NUMBER("codeBytes", gbx_limits, code_bytes, 1, GBX_MIB(1)),
        GBX_JSON_NUMBER("logBytes", gbx_limits, log_bytes, 1, GBX_MIB(64)),
        GBX_JSON_NUMBER("hostCalls", gbx_limits, host_calls, 1, 10000000),
        GBX_JSON_NUMBER("hostCallsAtOnce", gbx_limits, host_calls_at_once, 1, 4096),
        GBX_JSON_NUMBER("hostOutBytes", gbx_limits, host_out_bytes, 1, GBX_MIB(1024)),
        GBX_JSON_NUMBER("hostInBytes", gbx_limits, host_in_bytes, 1, GBX_MIB(1024)),
    };
    gbx_policy *policy = target;
    (void)key;

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), &policy->limits);
}

/* For editors, which find the schema by it. */
static gbx_status read_schema(gbx_json_reader *r, const json_t *value,
                              const gbx_json_key *key, void *target)
{
    (void)key;
    (void)target;
    return json_is_string(value) ? GBX_OK : gbx_json_refuse_type(r, value, "a string");
}

static gbx_status read_policy(gbx_json_reader *r, const json_t *value)
{
    static const gbx_json_key keys[] = {
        {.name = "console", .read = read_switch, .min = GBX_CAP_CONSOLE},
        {.name = "timers", .read = read_switch, .min = GBX_CAP_TIMERS},
        {.name = "fetch", .read = gbx_policy_read_fetch},
        {.name = "file", .read = read_file},
        {.name = "crypto", .read = read_switch, .min = GBX_CAP_CRYPTO},
        {.name = "helpers", .read = read_switch, .min = GBX_CAP_HELPERS},
        {.name = "env", .read = gbx_policy_read_env},
        {.name = "secrets", .read = gbx_policy_read_secrets},
        {.name = "functions", .read = gbx_json_read_list, .add = add_function},
        {.name = "limits", .read = read_limits},
        {.name = "$schema", .read = read_schema},
    };

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), r->policy);
}

static void release(json_t **value)
{
    json_decref(*value);
}

static void release_policy(gbx_policy **policy)
{
    gbx_policy_free(*policy);
}

static gbx_status parse(gbx_json_reader *r, gbx_trust trust, gbx_policy **ret)
{
    GBX_CLEANUP(release) json_t *value = NULL;
    GBX_CLEANUP(release_policy) gbx_policy *policy = gbx_policy_new();
    gbx_status status;

    if (policy == NULL)
        return gbx_list_nomem(r->err);
    status = gbx_json_decode(r, "policy", POLICY_BYTES_MAX, GBX_POLICY_DEPTH, &value);
    policy->trust = trust;
    r->policy = policy;
    if (status == GBX_OK)
        status = read_policy(r, value);
    if (status == GBX_OK)
        status = gbx_secrets_prepare(policy, r->err);
    if (status != GBX_OK)
        return status;
    *ret = policy;
    policy = NULL;
    return GBX_OK;
}

/* Read all of fd, at most one byte more than a policy may have. */
static gbx_status read_all(int fd, const char *path, gbx_buf *buf, gbx_error *reterr)
{
    for (;;) {
        uint8_t *at = gbx_buf_reserve(buf, GBX_KIB(16));
        ssize_t n = at != NULL ? read(fd, at, GBX_KIB(16)) : 0;

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return gbx_fail(reterr, GBX_E_OS, "cannot read the policy '%s': %s", path,
                            gbx_fail_reason(errno));
        if (buf->failed)
            return gbx_fail(reterr,
                            buf->len > POLICY_BYTES_MAX - GBX_KIB(16) ? GBX_E_POLICY
                                                                      : GBX_E_NOMEM,
                            "the policy '%s' is larger than %zu bytes", path,
                            POLICY_BYTES_MAX);
        if (n == 0)
            return GBX_OK;
        buf->len += (size_t)n;
    }
}

/* The directory of path; free() it. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (slash == NULL)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

static gbx_status take_flags(uint32_t flags, gbx_trust *ret, gbx_error *reterr)
{
    if ((flags & ~(uint32_t)GBX_POLICY_TRUST_FILES) != 0)
        return gbx_fail(reterr, GBX_E_USAGE, "flags has bits that mean nothing");
    *ret = (flags & GBX_POLICY_TRUST_FILES) != 0 ? GBX_TRUST_ALL : GBX_TRUST_OWN;
    return GBX_OK;
}

/* ---- public ---------------------------------------------------------------- */

gbx_status gbx_policy_parse_with(const char *json, size_t json_len,
                                 const char *base_dir, uint32_t flags,
                                 gbx_policy **ret_policy, gbx_error *reterr)
{
    gbx_error err = {0};
    gbx_json_reader r = {.text = json,
                         .len = json_len,
                         .base_dir = base_dir != NULL ? base_dir : ".",
                         .err = &err};
    gbx_trust trust = GBX_TRUST_OWN;
    gbx_status status = take_flags(flags, &trust, reterr);

    if (status != GBX_OK)
        return status;
    if (json == NULL || ret_policy == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "json or ret_policy is NULL");
    status = parse(&r, trust, ret_policy);
    if (status != GBX_OK && reterr != NULL)
        *reterr = err;
    return status;
}

gbx_status gbx_policy_parse(const char *json, size_t json_len, const char *base_dir,
                            gbx_policy **ret_policy, gbx_error *reterr)
{
    return gbx_policy_parse_with(json, json_len, base_dir, 0, ret_policy, reterr);
}

gbx_status gbx_policy_load_with(const char *path, uint32_t flags,
                                gbx_policy **ret_policy, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    GBX_CLEANUP(gbx_free) char *directory = NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    GBX_CLEANUP(release_policy) gbx_policy *policy = NULL;
    gbx_trusted_file file = {.path = path, .what = "the policy ", .flags = O_RDONLY};
    gbx_status status = take_flags(flags, &file.trust, reterr);

    gbx_buf_init_secret(&buf, POLICY_BYTES_MAX + GBX_KIB(16));
    if (status == GBX_OK && (path == NULL || ret_policy == NULL))
        status = gbx_fail(reterr, GBX_E_USAGE, "path or ret_policy is NULL");
    if (status == GBX_OK)
        status = gbx_trusted_file_open(&file, &fd, NULL, reterr);
    if (status == GBX_OK)
        status = read_all(fd, path, &buf, reterr);
    if (status != GBX_OK)
        return status;
    directory = directory_of(path);
    if (directory == NULL)
        return gbx_list_nomem(reterr);
    status = gbx_policy_parse_with(buf.data != NULL ? (const char *)buf.data : "",
                                   buf.len, directory, flags, &policy, reterr);
    if (status == GBX_OK)
        status = gbx_file_disown(&policy->file, fd, reterr);
    if (status != GBX_OK)
        return status;
    *ret_policy = policy;
    policy = NULL;
    return GBX_OK;
}

gbx_status gbx_policy_load(const char *path, gbx_policy **ret_policy, gbx_error *reterr)
{
    return gbx_policy_load_with(path, 0, ret_policy, reterr);
}
