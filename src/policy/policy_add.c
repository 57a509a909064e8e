/* SPDX-License-Identifier: MIT */
/*
 * policy_add - functions that extend a policy: by the command's flags, by secrets, and
 * by the names that a replay shows to code. Each adds everything or nothing.
 */
#include "policy/internal.h"
#include "policy/json_reader.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/fail.h"

#include <string.h>

/* A policy that is shared may not change. */
static gbx_status check_unused(const gbx_policy *policy, gbx_error *reterr)
{
    if (atomic_load_explicit(&policy->refcount, memory_order_relaxed) > 1)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the policy is in use and cannot be changed any more");
    return GBX_OK;
}

/* ---- flags ------------------------------------------------------------------- */

/* NAME, or NAME=VALUE */
static gbx_status take_env(gbx_json_reader *r, const char *text, size_t len,
                           void *target)
{
    const char *equals = memchr(text, '=', len);
    size_t name_len = equals != NULL ? (size_t)(equals - text) : len;

    return equals == NULL ? gbx_grant_variable(r, text, len, target)
                          : gbx_grant_env(r->policy, r->since.env_count,
                                          &(gbx_entry){.name = text,
                                                       .name_len = name_len,
                                                       .value = equals + 1,
                                                       .value_len = len - name_len - 1},
                                          r->err);
}

static const struct capability {
    const char *name;
    uint32_t bit;
    gbx_json_text_fn take; /* NULL: it has no parts */
    const char *example;
} flag_table[] = {
    {"console", GBX_CAP_CONSOLE, NULL, "console"},
    {"timers", GBX_CAP_TIMERS, NULL, "timers"},
    {"fetch", GBX_CAP_FETCH, gbx_grant_site, "fetch=api.example.com,*.example.org"},
    {"file", GBX_CAP_FILE, gbx_grant_root, "file=./data"},
    {"crypto", GBX_CAP_CRYPTO, NULL, "crypto"},
    {"env", GBX_CAP_ENV, take_env, "env=NAME"},
    {"functions", 0, gbx_grant_function, "functions=db.query,tools.*"},
};

#define FLAGS GBX_COUNTOF(flag_table)

static gbx_status unknown(const char *text, size_t len, gbx_error *reterr)
{
    const char *names[FLAGS];
    char word[GBX_NEAREST_WORD_MAX + 1] = "";
    char quote[GBX_QUOTE_SIZE];
    const char *nearest;

    for (size_t i = 0; i < FLAGS; i++)
        names[i] = flag_table[i].name;
    if (len < sizeof word)
        memcpy(word, text, len);
    nearest = gbx_nearest(word, names, FLAGS);
    (void)gbx_quote(quote, text, len);
    if (nearest != NULL)
        return gbx_refuse(reterr, text, 0,
                          "unknown capability '%s': did you mean '%s'?", quote,
                          nearest);
    return gbx_refuse(reterr, text, 0,
                      "unknown capability '%s': there are console, timers, fetch, "
                      "file, crypto, env and functions",
                      quote);
}

/* Add every part between commas, from text[at] on. An empty part is refused with the
 * example, unless that is NULL. */
static gbx_status take_parts(gbx_json_reader *r, gbx_json_text_fn add,
                             const char *example, const char *text, size_t at,
                             void *target)
{
    gbx_status status;

    do {
        size_t len = strcspn(text + at, ",");

        if (len == 0 && example != NULL)
            return gbx_refuse(r->err, text, at,
                              "something is missing here: write it like '%s'", example);
        status = add(r, text + at, len, target);
        if (status != GBX_OK)
            gbx_refused_within(r->err, text, at);
        at += len + 1;
    } while (status == GBX_OK && text[at - 1] != '\0');
    return status;
}

static gbx_status take_flag(gbx_json_reader *r, const char *text)
{
    size_t name_len = strcspn(text, "=");
    bool has_parts = text[name_len] == '=';
    const struct capability *c = NULL;

    for (size_t i = 0; i < FLAGS && c == NULL; i++)
        if (strlen(flag_table[i].name) == name_len &&
            memcmp(flag_table[i].name, text, name_len) == 0)
            c = &flag_table[i];
    if (c == NULL)
        return unknown(text, name_len, r->err);
    if (has_parts && c->take == NULL)
        return gbx_refuse(r->err, text, name_len, "'%s' takes nothing after it",
                          c->name);
    if (!has_parts && c->take != NULL)
        return gbx_refuse(r->err, text, name_len,
                          "'%s' needs a list of what it may reach: write it like '%s'",
                          c->name, c->example);
    r->policy->capabilities |= c->bit;
    return c->take == NULL
               ? GBX_OK
               : take_parts(r, c->take, c->example, text, name_len + 1, NULL);
}

/* Unless status is GBX_OK, restore the policy and copy the error to reterr. */
static gbx_status end_change(const gbx_json_reader *r, gbx_status status,
                             gbx_error *reterr)
{
    gbx_policy *policy = r->policy;
    const gbx_policy *to = &r->since;

    if (status == GBX_OK)
        return GBX_OK;
    policy->capabilities = to->capabilities;
    gbx_sites_cut(policy->fetch.sites, to->fetch.site_count, policy->fetch.site_count);
    policy->fetch.site_count = to->fetch.site_count;
    gbx_roots_cut(&policy->file, to->file.root_count);
    gbx_pairs_cut(policy->env, to->env_count, policy->env_count);
    policy->env_count = to->env_count;
    gbx_secrets_cut(policy->secrets, to->secret_count, policy->secret_count);
    policy->secret_count = to->secret_count;
    gbx_names_cut(policy->functions, to->function_count, policy->function_count);
    policy->function_count = to->function_count;
    if (reterr != NULL)
        *reterr = *r->err;
    return status;
}

gbx_status gbx_policy_allow(gbx_policy *policy, const char *grant, gbx_error *reterr)
{
    gbx_error err = {0};
    gbx_json_reader r = {.base_dir = ".", .policy = policy, .err = &err};
    gbx_status status;

    if (policy == NULL || grant == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "policy or grant is NULL");
    status = check_unused(policy, reterr);
    if (status != GBX_OK)
        return status;
    r.since = *policy;
    return end_change(&r, take_flag(&r, grant), reterr);
}

/* ---- secrets: from a value, or from the host's environment or files ---------- */

gbx_status gbx_policy_secret(gbx_policy *policy, const char *name, const char *value,
                             const char *sites, const char *functions,
                             gbx_error *reterr)
{
    gbx_secret *secret = NULL;
    gbx_error err = {0};
    gbx_json_reader r = {.policy = policy, .err = &err};
    gbx_status status;

    if (policy == NULL || name == NULL || value == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "policy, name or value is NULL");
    if (sites == NULL && functions == NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "a secret is for sites, for functions, or for both");
    status = check_unused(policy, reterr);
    if (status != GBX_OK)
        return status;
    r.since = *policy;
    status = gbx_grant_secret(policy,
                              &(gbx_entry){.name = name,
                                           .name_len = strlen(name),
                                           .value = value,
                                           .value_len = strlen(value)},
                              &secret, &err);
    if (status == GBX_OK && sites != NULL)
        status = take_parts(&r, gbx_grant_secret_site, NULL, sites, 0, secret);
    if (status == GBX_OK && functions != NULL)
        status = take_parts(&r, gbx_grant_secret_function, NULL, functions, 0, secret);
    if (status == GBX_OK)
        status = gbx_secrets_prepare(policy, &err);
    return end_change(&r, status, reterr);
}

gbx_status gbx_policy_secret_from(gbx_policy *policy, const char *name,
                                  const char *source, const char *sites,
                                  const char *functions, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_host_text_free) gbx_host_text text = {0};
    gbx_entry entry = {0};
    gbx_status status;

    if (policy == NULL || source == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "policy or source is NULL");
    status = check_unused(policy, reterr);
    if (status != GBX_OK)
        return status;
    if (strchr(source, '/') != NULL) {
        status = gbx_host_file(policy, ".", source, strlen(source), &text, reterr);
        entry.value = text.data;
    } else {
        status = gbx_host_value(source, strlen(source), &entry, reterr);
    }
    if (status != GBX_OK)
        return status;
    if (text.data != NULL && strlen(text.data) != text.len)
        return gbx_refuse(reterr, source, 0, "there is a NUL in the file");
    return gbx_policy_secret(policy, name, entry.value, sites, functions, reterr);
}

/* ---- for replay -------------------------------------------------------------- */

static gbx_status nomem(gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a policy");
}

/* A recording may be hostile: it passes the same checks as a policy's text. Since all
 * values are strings, none of them names what the host has. */
gbx_status gbx_policy_for_replay(uint32_t capabilities, gbx_span env, gbx_policy **ret,
                                 gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = env.len + 40};
    gbx_status status;

    (void)gbx_buf_puts(&text, "{\"functions\":[\"*\"],\"env\":");
    (void)(env.len > 0 ? gbx_buf_append(&text, env.data, env.len)
                       : gbx_buf_puts(&text, "{}"));
    if (!gbx_buf_puts(&text, "}"))
        return nomem(reterr);
    status = gbx_policy_parse((const char *)text.data, text.len, NULL, ret, reterr);
    if (status != GBX_OK)
        return status;
    (*ret)->capabilities = capabilities;
    return GBX_OK;
}

gbx_status gbx_policy_of_sites(gbx_span lines, gbx_policy **ret, gbx_error *reterr)
{
    gbx_policy *policy = gbx_policy_new();
    gbx_error err = {0};
    gbx_json_reader r = {.policy = policy, .err = reterr != NULL ? reterr : &err};
    gbx_status status = GBX_OK;
    gbx_span one;

    if (policy == NULL)
        return nomem(reterr);
    while (status == GBX_OK && gbx_span_line(&lines, &one))
        status = gbx_grant_site(&r, (const char *)one.data, one.len, NULL);
    if (status == GBX_OK)
        *ret = policy;
    else
        gbx_policy_free(policy);
    return status;
}
