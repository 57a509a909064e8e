/* SPDX-License-Identifier: MIT */
/* policy - lifetime, queries at run time, and comparison of two policies. */
#include "policy/policy.h"

#include "base/cleanup.h"
#include "base/fail.h"
#include "policy/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The documented defaults. */
#define FETCH_BYTES         GBX_MIB(10)
#define FETCH_REQUEST_BYTES GBX_MIB(1)
#define FETCH_TIMEOUT_MS    30000
#define FETCH_REDIRECTS     5
#define FILE_BYTES          GBX_MIB(1)

gbx_policy *gbx_policy_ref(gbx_policy *policy)
{
    atomic_fetch_add_explicit(&policy->refcount, 1, memory_order_relaxed);
    return policy;
}

bool gbx_policy_allows_function(const gbx_policy *policy, const char *name)
{
    return policy != NULL &&
           gbx_names_function(policy->functions, policy->function_count, name);
}

void gbx_limits_lower(gbx_limits *limits, const gbx_limits *by)
{
#define LOWER(field, name, standard, least, most)                            \
    if (by->field != 0 && (limits->field == 0 || by->field < limits->field)) \
        limits->field = by->field;
    GBX_LIMIT_MAP(LOWER)
#undef LOWER
}

/* ---- public -------------------------------------------------------------- */

gbx_policy *gbx_policy_new(void)
{
    gbx_policy *policy = calloc(1, sizeof *policy);

    if (policy == NULL)
        return NULL;
    atomic_init(&policy->refcount, 1);
    policy->capabilities = GBX_CAP_HELPERS;
    policy->fetch.max_bytes = FETCH_BYTES;
    policy->fetch.max_request_bytes = FETCH_REQUEST_BYTES;
    policy->fetch.timeout_ms = FETCH_TIMEOUT_MS;
    policy->fetch.max_redirects = FETCH_REDIRECTS;
    policy->file.max_bytes = FILE_BYTES;
    policy->limits.struct_size = sizeof policy->limits;
    return policy;
}

const char *gbx_policy_warning(const gbx_policy *policy, size_t index)
{
    return policy != NULL && index < policy->warning_count ? policy->warnings[index]
                                                           : NULL;
}

void gbx_policy_free(gbx_policy *policy)
{
    gbx_fetch_policy *fetch;

    if (policy == NULL ||
        atomic_fetch_sub_explicit(&policy->refcount, 1, memory_order_acq_rel) != 1)
        return;
    fetch = &policy->fetch;
    gbx_sites_cut(fetch->sites, 0, fetch->site_count);
    free(fetch->sites);
    free(fetch->networks);
    gbx_names_free(fetch->methods, fetch->method_count);
    gbx_names_free(fetch->nameservers, fetch->nameserver_count);
    free(fetch->ca_file);
    gbx_roots_cut(&policy->file, 0);
    free(policy->file.roots);
    free(policy->file.own);
    gbx_pairs_cut(policy->env, 0, policy->env_count);
    free(policy->env);
    gbx_secrets_forget(policy);
    gbx_secrets_cut(policy->secrets, 0, policy->secret_count);
    free(policy->secrets);
    gbx_names_free(policy->functions, policy->function_count);
    gbx_names_free(policy->warnings, policy->warning_count);
    free(policy);
}

/* ---- is a call's policy within its engine's? --------------------------------- */

/*
 * Each wider_*() returns true, with an error, if narrow has something that wide lacks.
 * Parts that narrow does not switch on are not examined.
 */

#define WIDER "the call's policy is wider than the engine's: "

static bool wider_number(uint64_t wide, uint64_t narrow, const char *what,
                         gbx_error *reterr)
{
    if (narrow <= wide)
        return false;
    (void)gbx_fail(reterr, GBX_E_POLICY, WIDER "%s is %llu, not %llu at most", what,
                   (unsigned long long)narrow, (unsigned long long)wide);
    return true;
}

static bool wider_text(const char *what, const char *text, gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];

    (void)gbx_fail(reterr, GBX_E_POLICY, WIDER "%s '%s'", what,
                   gbx_quote(quote, text, strlen(text)));
    return true;
}

static bool wider_capability(uint32_t wide, uint32_t narrow, gbx_error *reterr)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {
        {GBX_CAP_CONSOLE, "console"}, {GBX_CAP_TIMERS, "timers"},
        {GBX_CAP_FETCH, "fetch"},     {GBX_CAP_FILE, "file"},
        {GBX_CAP_CRYPTO, "crypto"},   {GBX_CAP_ENV, "env"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if ((narrow & ~wide & names[i].bit) != 0)
            return wider_text("capability", names[i].name, reterr);
    return false;
}

static bool wider_sites(const gbx_site *wide, size_t wide_count, const gbx_site *narrow,
                        size_t narrow_count, const char *what, gbx_error *reterr)
{
    char text[GBX_SITE_TEXT_SIZE];

    for (size_t n = 0; n < narrow_count; n++) {
        size_t w = 0;

        while (w < wide_count && !gbx_site_covers(&wide[w], &narrow[n]))
            w++;
        if (w == wide_count)
            return wider_text(what, gbx_site_print(&narrow[n], text), reterr);
    }
    return false;
}

static bool wider_networks(const gbx_fetch_policy *wide, const gbx_fetch_policy *narrow,
                           gbx_error *reterr)
{
    for (size_t n = 0; n < narrow->network_count; n++) {
        const gbx_network *network = &narrow->networks[n];
        bool is_v4 = gbx_address_is_v4(network->address);
        char address[GBX_ADDRESS_TEXT_SIZE];
        char text[GBX_ADDRESS_TEXT_SIZE + 8];
        size_t w = 0;

        while (w < wide->network_count &&
               !gbx_network_covers(&wide->networks[w], network))
            w++;
        if (w < wide->network_count)
            continue;
        gbx_address_print(network->address, address);
        (void)snprintf(text, sizeof text, "%s/%d", address,
                       network->prefix_bits - (is_v4 ? 96 : 0));
        return wider_text("network", text, reterr);
    }
    return false;
}

/* No list means all methods. */
static bool wider_methods(const gbx_fetch_policy *wide, const gbx_fetch_policy *narrow,
                          gbx_error *reterr)
{
    if (wide->method_count == 0)
        return false;
    if (narrow->method_count == 0)
        return wider_text("methods", "all", reterr);
    for (size_t i = 0; i < narrow->method_count; i++)
        if (gbx_names_find(wide->methods, 0, wide->method_count, narrow->methods[i],
                           strlen(narrow->methods[i])) == wide->method_count)
            return wider_text("method", narrow->methods[i], reterr);
    return false;
}

/* Only the engine decides which name servers and certificate authorities to trust. */
static bool other_trust(const gbx_fetch_policy *wide, const gbx_fetch_policy *narrow,
                        gbx_error *reterr)
{
    bool same_servers = wide->nameserver_count == narrow->nameserver_count;

    for (size_t i = 0; same_servers && i < wide->nameserver_count; i++)
        same_servers = strcmp(wide->nameservers[i], narrow->nameservers[i]) == 0;
    if (!same_servers)
        return wider_text("it differs in", "fetch.nameservers", reterr);
    if ((wide->ca_file == NULL) != (narrow->ca_file == NULL) ||
        (wide->ca_file != NULL && strcmp(wide->ca_file, narrow->ca_file) != 0))
        return wider_text("it differs in", "fetch.caFile", reterr);
    return false;
}

static bool wider_fetch(const gbx_fetch_policy *wide, const gbx_fetch_policy *narrow,
                        gbx_error *reterr)
{
    return wider_sites(wide->sites, wide->site_count, narrow->sites, narrow->site_count,
                       "site", reterr) ||
           wider_networks(wide, narrow, reterr) ||
           wider_methods(wide, narrow, reterr) || other_trust(wide, narrow, reterr) ||
           wider_number(wide->max_bytes, narrow->max_bytes, "fetch.maxBytes", reterr) ||
           wider_number(wide->max_request_bytes, narrow->max_request_bytes,
                        "fetch.maxRequestBytes", reterr) ||
           wider_number(wide->timeout_ms, narrow->timeout_ms, "fetch.timeoutMs",
                        reterr) ||
           wider_number(wide->max_redirects, narrow->max_redirects,
                        "fetch.maxRedirects", reterr);
}

static bool wider_file(const gbx_file_policy *wide, const gbx_file_policy *narrow,
                       gbx_error *reterr)
{
    for (size_t n = 0; n < narrow->root_count; n++) {
        const char *path = narrow->roots[n].path;
        bool is_below = false;

        for (size_t w = 0; w < wide->root_count && !is_below; w++) {
            size_t len = strlen(wide->roots[w].path);

            is_below = strncmp(wide->roots[w].path, path, len) == 0 &&
                       (path[len] == '\0' || path[len] == '/');
        }
        if (!is_below)
            return wider_text("directory", path, reterr);
    }
    return wider_number(wide->max_bytes, narrow->max_bytes, "file.maxBytes", reterr);
}

static bool wider_env(const gbx_policy *wide, const gbx_policy *narrow,
                      gbx_error *reterr)
{
    for (size_t n = 0; n < narrow->env_count; n++) {
        size_t w = 0;

        while (w < wide->env_count &&
               strcmp(wide->env[w].name, narrow->env[n].name) != 0)
            w++;
        if (w == wide->env_count)
            return wider_text("variable", narrow->env[n].name, reterr);
    }
    return false;
}

/* A pattern is covered by itself, and by a shorter one that ends in a star. */
static bool wider_functions(char *const *wide, size_t wide_count, char *const *narrow,
                            size_t narrow_count, gbx_error *reterr)
{
    for (size_t n = 0; n < narrow_count; n++)
        if (!gbx_names_function(wide, wide_count, narrow[n]))
            return wider_text("function", narrow[n], reterr);
    return false;
}

static bool wider_secrets(const gbx_policy *wide, const gbx_policy *narrow,
                          gbx_error *reterr)
{
    for (size_t n = 0; n < narrow->secret_count; n++) {
        const gbx_secret *secret = &narrow->secrets[n];
        const gbx_secret *of_engine = NULL;

        for (size_t w = 0; w < wide->secret_count && of_engine == NULL; w++)
            if (strcmp(wide->secrets[w].name, secret->name) == 0)
                of_engine = &wide->secrets[w];
        if (of_engine == NULL)
            return wider_text("secret", secret->name, reterr);
        if (wider_sites(of_engine->sites, of_engine->site_count, secret->sites,
                        secret->site_count, "site of a secret", reterr) ||
            wider_functions(of_engine->functions, of_engine->function_count,
                            secret->functions, secret->function_count, reterr))
            return true;
    }
    return false;
}

/* A limit that one of them leaves out is checked where limits are resolved, with the
 * defaults. */
static bool wider_limits(const gbx_limits *wide, const gbx_limits *narrow,
                         gbx_error *reterr)
{
#define WIDER_LIMIT(field, name, standard, least, most) \
    || (wide->field != 0 && narrow->field != 0 &&       \
        wider_number(wide->field, narrow->field, "limits." name, reterr))
    return false GBX_LIMIT_MAP(WIDER_LIMIT);
#undef WIDER_LIMIT
}

bool gbx_policy_covers(const gbx_policy *wide, const gbx_policy *narrow,
                       gbx_error *reterr)
{
    uint32_t on = narrow->capabilities;

    return !(
        wider_capability(wide->capabilities, on, reterr) ||
        ((on & GBX_CAP_FETCH) != 0 &&
         wider_fetch(&wide->fetch, &narrow->fetch, reterr)) ||
        ((on & GBX_CAP_FILE) != 0 && wider_file(&wide->file, &narrow->file, reterr)) ||
        ((on & GBX_CAP_ENV) != 0 && wider_env(wide, narrow, reterr)) ||
        wider_functions(wide->functions, wide->function_count, narrow->functions,
                        narrow->function_count, reterr) ||
        wider_secrets(wide, narrow, reterr) ||
        wider_limits(&wide->limits, &narrow->limits, reterr));
}
