/* SPDX-License-Identifier: MIT */
/*
 * policy_file - reads the policy file by tables with a row for every key.
 *
 * share/policy.schema.json describes the same for editors; a test compares the two.
 */
#include "policy/json_reader.h"

#include "base/cleanup.h"
#include "base/fail.h"
#include "policy/internal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define POLICY_BYTES_MAX GBX_MIB(1)

/* ---- the keys "env" and "secrets" -------------------------------------------- */

/* Their values never enter a message. */

/* Read a source of the entry's value: it must be a string, and the only source. */
static gbx_status read_source(gbx_json_reader *r, gbx_view value,
                              const gbx_entry *entry, const char *wanted,
                              const char **ret)
{
    gbx_status status = gbx_json_read_text(r, value, wanted, ret);

    return status != GBX_OK || entry->value == NULL
               ? status
               : gbx_json_refuse_key(r, "there is a value already: give one of them");
}

/* "from": the value of that environment variable. target is a gbx_entry. */
static gbx_status read_from(gbx_json_reader *r, gbx_view value, void *target)
{
    gbx_entry *entry = target;
    const char *name;
    gbx_status status =
        read_source(r, value, entry, "the name of an environment variable", &name);

    if (status != GBX_OK)
        return status;
    return gbx_json_placed(r, gbx_host_value(name, strlen(name), entry, r->err));
}

static gbx_status read_env_member(gbx_json_reader *r, const char *name, gbx_view value,
                                  void *target)
{
    static const gbx_json_key keys[] = {{.name = "from", .read = read_from}};
    gbx_entry entry = {.name = name, .name_len = strlen(name)};
    gbx_status status;

    if (gbx_view_kind(value) == '{') {
        status = gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), &entry);
        if (status == GBX_OK)
            status =
                gbx_json_require(r, value, "from", "name the environment variable");
    } else {
        status = gbx_json_read_text(r, value, "a string or {\"from\": \"VARIABLE\"}",
                                    &entry.value);
        entry.value_len = status == GBX_OK ? strlen(entry.value) : 0;
    }
    if (status != GBX_OK)
        return status;
    return gbx_json_placed_key(r, gbx_grant_env(target, 0, &entry, r->err));
}

/* One secret while it is read. */
typedef struct secret_entry {
    gbx_entry entry; /* first: readers of an entry fill it */
    gbx_host_text text;
} secret_entry;

static gbx_status read_secret_value(gbx_json_reader *r, gbx_view value, void *target)
{
    gbx_entry *entry = target;
    const char *text;
    gbx_status status = read_source(r, value, entry, "a string", &text);

    if (status != GBX_OK)
        return status;
    entry->value = text;
    entry->value_len = strlen(text);
    return GBX_OK;
}

static gbx_status read_secret_file(gbx_json_reader *r, gbx_view value, void *target)
{
    secret_entry *secret = target;
    const char *path;
    gbx_status status =
        read_source(r, value, &secret->entry, "the path of a file", &path);

    if (status != GBX_OK)
        return status;
    status = gbx_host_file(r->policy, r->base_dir, path, strlen(path), &secret->text,
                           r->err);
    secret->entry.value = secret->text.data;
    secret->entry.value_len = secret->text.len;
    return gbx_json_placed(r, status);
}

static void forget(secret_entry *secret)
{
    gbx_host_text_free(&secret->text);
}

/* Skip a value. The lists are read in a second pass, once the secret exists. */
static gbx_status leave(gbx_json_reader *r, gbx_view value, void *target)
{
    return GBX_OK;
}

static gbx_status read_secret(gbx_json_reader *r, const char *name, gbx_view value,
                              void *target)
{
    static const gbx_json_key lists[] = {
        {.name = "sites", .read = gbx_json_read_list, .add = gbx_grant_secret_site},
        {.name = "functions",
         .read = gbx_json_read_list,
         .add = gbx_grant_secret_function},
    };

    return gbx_policy_read_secret(r, name, value, lists, GBX_COUNTOF(lists),
                                  gbx_view_member(value, "functions").at == NULL
                                      ? "list the sites that may get it"
                                      : NULL);
}

static gbx_status read_env(gbx_json_reader *r, gbx_view value, void *target)
{
    gbx_policy *policy = target;

    policy->capabilities |= GBX_CAP_ENV;
    if (gbx_view_kind(value) == '[')
        return gbx_json_read_texts(r, value, gbx_grant_variable, policy);
    if (gbx_view_kind(value) == '{')
        return gbx_json_read_members(r, value, read_env_member, policy);
    return gbx_json_refuse_type(r, value, "an array of names, or an object");
}

gbx_status gbx_policy_read_secret(gbx_json_reader *r, const char *name, gbx_view value,
                                  const gbx_json_key *lists, size_t list_count,
                                  const char *why_first)
{
    gbx_json_key keys[8] = {
        {.name = "from", .read = read_from},
        {.name = "file", .read = read_secret_file},
        {.name = "value", .read = read_secret_value},
    };
    const size_t count = 3 + list_count;
    GBX_CLEANUP(forget)
    secret_entry entry = {.entry = {.name = name, .name_len = strlen(name)}};
    gbx_secret *secret = NULL;
    gbx_status status;

    assert(count <= GBX_COUNTOF(keys));
    for (size_t i = 0; i < list_count; i++)
        keys[3 + i] = (gbx_json_key){.name = lists[i].name, .read = leave};
    status = gbx_json_read_object(r, value, keys, count, &entry);
    if (status != GBX_OK)
        return status;
    if (entry.entry.value == NULL)
        return gbx_json_require(
            r, value, "from",
            "name the environment variable that has it, or a \"file\"");
    if (why_first != NULL)
        status = gbx_json_require(r, value, lists[0].name, why_first);
    if (status == GBX_OK)
        status = gbx_json_placed_key(r, gbx_grant_secret(r->policy, &entry.entry,
                                                         &secret, r->err));
    for (size_t i = 0; i < count; i++)
        keys[i] =
            i < 3 ? (gbx_json_key){.name = keys[i].name, .read = leave} : lists[i - 3];
    if (status == GBX_OK)
        status = gbx_json_read_object(r, value, keys, count, secret);
    return status;
}

static gbx_status read_secrets(gbx_json_reader *r, gbx_view value, void *target)
{
    return gbx_json_read_members(r, value, read_secret, target);
}

/* ---- the key "fetch" --------------------------------------------------------- */

static gbx_status add_network(gbx_json_reader *r, const char *text, size_t len,
                              void *target)
{
    gbx_fetch_policy *fetch = target;
    gbx_network network;
    gbx_network *room;
    gbx_status status = gbx_list_check(fetch->network_count, "networks", r->err);

    if (status == GBX_OK)
        status = gbx_network_parse(text, len, &network, r->err);
    if (status != GBX_OK)
        return status;
    for (size_t i = 0; i < fetch->network_count; i++)
        if (memcmp(&fetch->networks[i], &network, sizeof network) == 0)
            return gbx_refuse_twice(r->err, text, len);
    room = gbx_list_room(&fetch->networks, fetch->network_count, sizeof network);
    if (room == NULL)
        return gbx_list_nomem(r->err);
    *room = network;
    fetch->network_count++;
    return GBX_OK;
}

static const char *const methods[] = {"GET",   "HEAD",   "POST",   "PUT",
                                      "PATCH", "DELETE", "OPTIONS"};

static gbx_status add_method(gbx_json_reader *r, const char *text, size_t len,
                             void *target)
{
    gbx_fetch_policy *fetch = target;
    char quote[GBX_QUOTE_SIZE];

    if (gbx_names_find(fetch->methods, 0, fetch->method_count, text, len) <
        fetch->method_count)
        return gbx_refuse_twice(r->err, text, len);
    for (size_t i = 0; i < GBX_COUNTOF(methods); i++)
        if (strlen(methods[i]) == len && memcmp(methods[i], text, len) == 0)
            return gbx_names_add(&fetch->methods, &fetch->method_count, text, len,
                                 r->err);
    return gbx_refuse(r->err, text, 0,
                      "'%s' is not a method that can be allowed: GET, HEAD, POST, PUT, "
                      "PATCH, DELETE, OPTIONS",
                      gbx_quote(quote, text, len));
}

static gbx_status add_nameserver(gbx_json_reader *r, const char *text, size_t len,
                                 void *target)
{
    gbx_fetch_policy *fetch = target;
    GBX_CLEANUP(gbx_free) char *server = NULL;
    gbx_status status = gbx_list_check(fetch->nameserver_count, "name servers", r->err);

    if (status == GBX_OK)
        status = gbx_nameserver_parse(text, len, &server, r->err);
    if (status != GBX_OK)
        return status;
    if (gbx_names_find(fetch->nameservers, 0, fetch->nameserver_count, server,
                       strlen(server)) < fetch->nameserver_count)
        return gbx_refuse_twice(r->err, server, strlen(server));
    return gbx_names_add(&fetch->nameservers, &fetch->nameserver_count, server,
                         strlen(server), r->err);
}

static gbx_status read_ca_file(gbx_json_reader *r, gbx_view value, void *target)
{
    GBX_CLEANUP(gbx_fd_close) int fd = -1;
    gbx_fetch_policy *fetch = target;
    gbx_trusted_file file;
    gbx_error err = {0};
    struct stat st;
    char quote[GBX_QUOTE_SIZE];
    const char *name;
    gbx_status status = gbx_json_read_text(r, value, "the path of a file", &name);

    if (status != GBX_OK)
        return status;
    if (asprintf(&fetch->ca_file, "%s%s%s", name[0] == '/' ? "" : r->base_dir,
                 name[0] == '/' ? "" : "/", name) < 0) {
        fetch->ca_file = NULL;
        return gbx_list_nomem(r->err);
    }
    file = (gbx_trusted_file){fetch->ca_file, "the CA file ", O_RDONLY | O_NONBLOCK,
                              r->policy->trust, false};
    if (gbx_trusted_file_open(&file, &fd, NULL, &err) != GBX_OK &&
        err.os_errno == EPERM)
        return gbx_json_refuse(r, "%s", err.message);
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return gbx_json_refuse(r, "the file '%s' does not exist or cannot be read",
                               gbx_quote(quote, name, strlen(name)));
    return GBX_OK;
}

static gbx_status read_fetch(gbx_json_reader *r, gbx_view value, void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "allow", .read = gbx_json_read_list, .add = gbx_grant_site},
        {.name = "networks", .read = gbx_json_read_list, .add = add_network},
        {.name = "methods", .read = gbx_json_read_list, .add = add_method},
        GBX_JSON_NUMBER("maxBytes", gbx_fetch_policy, max_bytes, 1, GBX_MIB(1024)),
        GBX_JSON_NUMBER("maxRequestBytes", gbx_fetch_policy, max_request_bytes, 1,
                        GBX_MIB(64)),
        GBX_JSON_NUMBER("timeoutMs", gbx_fetch_policy, timeout_ms, 1, 600000),
        GBX_JSON_NUMBER("maxRedirects", gbx_fetch_policy, max_redirects, 0, 20),
        {.name = "nameservers", .read = gbx_json_read_list, .add = add_nameserver},
        {.name = "caFile", .read = read_ca_file},
    };
    gbx_policy *policy = target;
    gbx_status status =
        gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), &policy->fetch);

    policy->capabilities |= GBX_CAP_FETCH;
    return status == GBX_OK ? gbx_json_require(r, value, "allow", "list the sites")
                            : status;
}

/* ---- the whole file ---------------------------------------------------------- */

static gbx_status read_file(gbx_json_reader *r, gbx_view value, void *target)
{
    static const gbx_json_key keys[] = {
        {.name = "allow", .read = gbx_json_read_list, .add = gbx_grant_root},
        GBX_JSON_NUMBER("maxBytes", gbx_file_policy, max_bytes, 1, GBX_MIB(256)),
    };
    gbx_policy *policy = target;
    gbx_status status =
        gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), &policy->file);

    policy->capabilities |= GBX_CAP_FILE;
    return status == GBX_OK
               ? gbx_json_require(r, value, "allow", "list the directories")
               : status;
}

/* row->min is the capability's bit. */
static gbx_status read_switch(gbx_json_reader *r, gbx_view value, void *target)
{
    uint32_t bit = (uint32_t)r->row->min;
    gbx_policy *policy = target;
    bool is_on;
    gbx_status status = gbx_json_read_bool(r, value, &is_on);

    policy->capabilities &= ~bit;
    if (is_on)
        policy->capabilities |= bit;
    return status;
}

static gbx_status read_limits(gbx_json_reader *r, gbx_view value, void *target)
{
    static const gbx_json_key keys[] = {
#define XX(field, name, standard, least, most) \
    GBX_JSON_NUMBER(name, gbx_limits, field, least, most),
        GBX_LIMIT_MAP(XX)
#undef XX
    };
    gbx_policy *policy = target;

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), &policy->limits);
}

/* For editors, which find the schema by it. */
static gbx_status read_schema(gbx_json_reader *r, gbx_view value, void *target)
{
    return gbx_view_kind(value) == '"' ? GBX_OK
                                       : gbx_json_refuse_type(r, value, "a string");
}

static gbx_status read_policy(gbx_json_reader *r, gbx_view value)
{
    static const gbx_json_key keys[] = {
        {.name = "console", .read = read_switch, .min = GBX_CAP_CONSOLE},
        {.name = "timers", .read = read_switch, .min = GBX_CAP_TIMERS},
        {.name = "fetch", .read = read_fetch},
        {.name = "file", .read = read_file},
        {.name = "crypto", .read = read_switch, .min = GBX_CAP_CRYPTO},
        {.name = "helpers", .read = read_switch, .min = GBX_CAP_HELPERS},
        {.name = "env", .read = read_env},
        {.name = "secrets", .read = read_secrets},
        {.name = "functions", .read = gbx_json_read_list, .add = gbx_grant_function},
        {.name = "limits", .read = read_limits},
        {.name = "$schema", .read = read_schema},
    };

    return gbx_json_read_object(r, value, keys, GBX_COUNTOF(keys), r->policy);
}

static gbx_status parse(gbx_json_reader *r, gbx_trust trust, gbx_policy **ret)
{
    gbx_view value = {0};
    GBX_CLEANUP(gbx_policy_release) gbx_policy *policy = gbx_policy_new();
    gbx_status status;

    if (policy == NULL)
        return gbx_list_nomem(r->err);
    status = gbx_json_open(r, "policy", POLICY_BYTES_MAX, GBX_POLICY_DEPTH, &value);
    policy->trust = trust;
    r->policy = policy;
    if (status == GBX_OK)
        status = read_policy(r, value);
    gbx_json_end(r);
    if (status == GBX_OK)
        status = gbx_secrets_prepare(policy, r->err);
    if (status != GBX_OK)
        return status;
    *ret = policy;
    policy = NULL;
    return GBX_OK;
}

char *gbx_directory_of(const char *path)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;

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
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};
    GBX_CLEANUP(gbx_policy_release) gbx_policy *policy = NULL;
    gbx_trusted_file file = {.path = path, .what = "the policy ", .flags = O_RDONLY};
    gbx_status status = take_flags(flags, &file.trust, reterr);

    if (status == GBX_OK && (path == NULL || ret_policy == NULL))
        status = gbx_fail(reterr, GBX_E_USAGE, "path or ret_policy is NULL");
    if (status == GBX_OK)
        status =
            gbx_trusted_file_read(&file, POLICY_BYTES_MAX, &buf, &fd, NULL, reterr);
    if (status != GBX_OK)
        return status;
    directory = gbx_directory_of(path);
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
