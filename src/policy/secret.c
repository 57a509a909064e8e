/* SPDX-License-Identifier: MIT */
/* secret - add secrets by hand: from a value, or from the host's environment or
 * files. */
#include "base/cleanup.h"
#include "policy/capability_grants.h"
#include "policy/policy.h"

#include <string.h>

/* Add every site of the list; positions are in sites. */
static gbx_status secret_sites(gbx_secret *secret, const char *sites, gbx_error *err)
{
    size_t at = 0;
    gbx_status status;

    do {
        size_t len = strcspn(sites + at, ",");

        status = gbx_grant_site(&secret->sites, &secret->site_count, 0, sites + at, len,
                                err);
        if (status != GBX_OK)
            gbx_refused_within(err, sites, at);
        at += len + 1;
    } while (status == GBX_OK && sites[at - 1] != '\0');
    return status;
}

static gbx_status secret_functions(gbx_secret *secret, const char *functions,
                                   gbx_error *err)
{
    bool all; /* a star is stored as a pattern, so this is not needed */
    size_t at = 0;
    gbx_status status;

    do {
        size_t len = strcspn(functions + at, ",");

        status = gbx_grant_function(&secret->functions, &secret->function_count, &all,
                                    0, functions + at, len, err);
        if (status != GBX_OK)
            gbx_refused_within(err, functions, at);
        at += len + 1;
    } while (status == GBX_OK && functions[at - 1] != '\0');
    return status;
}

gbx_status gbx_policy_secret(gbx_policy *policy, const char *name, const char *value,
                             const char *sites, const char *functions,
                             gbx_error *reterr)
{
    gbx_policy_mark mark;
    gbx_secret *secret = NULL;
    gbx_error err = {0};
    gbx_status status;

    if (policy == NULL || name == NULL || value == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "policy, name or value is NULL");
    if (sites == NULL && functions == NULL)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "a secret is for sites, for functions, or for both");
    status = gbx_policy_unused(policy, reterr);
    if (status != GBX_OK)
        return status;
    mark = gbx_policy_here(policy);
    status = gbx_grant_secret(policy,
                              &(gbx_entry){.name = name,
                                           .name_len = strlen(name),
                                           .value = value,
                                           .value_len = strlen(value)},
                              &secret, &err);
    if (status == GBX_OK && sites != NULL)
        status = secret_sites(secret, sites, &err);
    if (status == GBX_OK && functions != NULL)
        status = secret_functions(secret, functions, &err);
    if (status == GBX_OK)
        status = gbx_secrets_prepare(policy, &err);
    if (status == GBX_OK)
        return GBX_OK;
    gbx_policy_back_to(policy, &mark);
    if (reterr != NULL)
        *reterr = err;
    return status;
}

gbx_status gbx_policy_secret_from(gbx_policy *policy, const char *name,
                                  const char *source, const char *sites,
                                  const char *functions, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_host_text_free) gbx_host_text text = {0};
    const char *value = NULL;
    gbx_status status;

    if (policy == NULL || source == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "policy or source is NULL");
    status = gbx_policy_unused(policy, reterr);
    if (status != GBX_OK)
        return status;
    if (strchr(source, '/') != NULL) {
        status = gbx_host_file(policy, ".", source, strlen(source), &text, reterr);
        value = text.data;
    } else {
        status = gbx_host_value(source, strlen(source), &value, reterr);
    }
    if (status != GBX_OK)
        return status;
    if (text.data != NULL && strlen(text.data) != text.len)
        return gbx_refuse(reterr, source, 0, "there is a NUL in the file");
    return gbx_policy_secret(policy, name, value, sites, functions, reterr);
}
