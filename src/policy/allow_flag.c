/* SPDX-License-Identifier: MIT */
/*
 * allow_flag - add to a policy by hand, as by the command's flags.
 *
 * A flag is applied completely or not at all.
 */
#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "policy/capability_grants.h"
#include "policy/policy.h"

#include <string.h>

/* One flag being applied; part points into text. */
typedef struct flag {
    gbx_policy *policy;
    const gbx_policy_mark *mark;
    gbx_error *err;
    const char *part;
    size_t part_len;
} flag;

static gbx_status take_site(flag *f)
{
    return gbx_grant_site(&f->policy->fetch.sites, &f->policy->fetch.site_count,
                          f->mark->sites, f->part, f->part_len, f->err);
}

static gbx_status take_root(flag *f)
{
    return gbx_grant_root(&f->policy->file, f->mark->roots, ".", f->part, f->part_len,
                          f->err);
}

static gbx_status take_env(flag *f)
{
    const char *equals = memchr(f->part, '=', f->part_len);
    gbx_entry entry = {.name = f->part, .name_len = f->part_len};

    if (equals != NULL) {
        entry.name_len = (size_t)(equals - f->part);
        entry.value = equals + 1;
        entry.value_len = f->part_len - entry.name_len - 1;
    } else {
        gbx_status status =
            gbx_host_value(entry.name, entry.name_len, &entry.value, f->err);

        if (status != GBX_OK)
            return status;
        entry.value_len = strlen(entry.value);
    }
    return gbx_grant_env(f->policy, f->mark->env, &entry, f->err);
}

static gbx_status take_function(flag *f)
{
    return gbx_grant_function(&f->policy->functions, &f->policy->function_count,
                              &f->policy->all_functions, f->mark->functions, f->part,
                              f->part_len, f->err);
}

static const struct capability {
    const char *name;
    uint32_t bit;
    gbx_status (*take)(flag *f); /* NULL: it has no parts */
    const char *example;
} capabilities[] = {
    {"console", GBX_CAP_CONSOLE, NULL, "console"},
    {"timers", GBX_CAP_TIMERS, NULL, "timers"},
    {"fetch", GBX_CAP_FETCH, take_site, "fetch=api.example.com,*.example.org"},
    {"file", GBX_CAP_FILE, take_root, "file=./data"},
    {"crypto", GBX_CAP_CRYPTO, NULL, "crypto"},
    {"env", GBX_CAP_ENV, take_env, "env=NAME"},
    {"functions", 0, take_function, "functions=db.query,tools.*"},
};

#define CAPABILITIES GBX_COUNTOF(capabilities)

static gbx_status unknown(const char *text, size_t len, gbx_error *reterr)
{
    const char *names[CAPABILITIES];
    char word[GBX_NEAREST_WORD_MAX + 1] = "";
    char quote[GBX_QUOTE_SIZE];
    const char *nearest;

    for (size_t i = 0; i < CAPABILITIES; i++)
        names[i] = capabilities[i].name;
    if (len < sizeof word)
        memcpy(word, text, len);
    nearest = gbx_nearest(word, names, CAPABILITIES);
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

/* Apply every comma-separated part from text[at] on. */
static gbx_status take_parts(flag *f, const struct capability *c, const char *text,
                             size_t at)
{
    size_t len = strlen(text);
    gbx_status status;

    for (;;) {
        const char *comma = memchr(text + at, ',', len - at);

        f->part = text + at;
        f->part_len = comma != NULL ? (size_t)(comma - f->part) : len - at;
        if (f->part_len == 0)
            return gbx_refuse(f->err, text, at,
                              "something is missing here: write it like '%s'",
                              c->example);
        status = c->take(f);
        if (status != GBX_OK) {
            gbx_refused_within(f->err, text, at);
            return status;
        }
        if (comma == NULL)
            return GBX_OK;
        at += f->part_len + 1;
    }
}

static gbx_status take_flag(flag *f, const char *text)
{
    size_t name_len = strcspn(text, "=");
    bool has_parts = text[name_len] == '=';
    const struct capability *c = NULL;

    for (size_t i = 0; i < CAPABILITIES && c == NULL; i++)
        if (strlen(capabilities[i].name) == name_len &&
            memcmp(capabilities[i].name, text, name_len) == 0)
            c = &capabilities[i];
    if (c == NULL)
        return unknown(text, name_len, f->err);
    if (has_parts && c->take == NULL)
        return gbx_refuse(f->err, text, name_len, "'%s' takes nothing after it",
                          c->name);
    if (!has_parts && c->take != NULL)
        return gbx_refuse(f->err, text, name_len,
                          "'%s' needs a list of what it may reach: write it like '%s'",
                          c->name, c->example);
    f->policy->capabilities |= c->bit;
    return c->take == NULL ? GBX_OK : take_parts(f, c, text, name_len + 1);
}

/* ---- public -------------------------------------------------------------- */

gbx_status gbx_policy_allow(gbx_policy *policy, const char *grant, gbx_error *reterr)
{
    gbx_policy_mark mark;
    gbx_error err = {0};
    gbx_status status;

    if (policy == NULL || grant == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "policy or grant is NULL");
    status = gbx_policy_unused(policy, reterr);
    if (status != GBX_OK)
        return status;
    mark = gbx_policy_here(policy);
    status = take_flag(&(flag){.policy = policy, .mark = &mark, .err = &err}, grant);
    if (status == GBX_OK)
        return GBX_OK;
    gbx_policy_back_to(policy, &mark);
    if (reterr != NULL)
        *reterr = err;
    return status;
}
