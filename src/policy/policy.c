/* SPDX-License-Identifier: MIT */
/* policy - its lifetime, and the queries at run time. */
#include "policy/policy.h"

#include "base/cleanup.h"
#include "base/fail.h"
#include "policy/capability_grants.h"

#include <stdlib.h>
#include <string.h>

/* The documented defaults. */
#define FETCH_BYTES         GBX_MIB(10)
#define FETCH_REQUEST_BYTES GBX_MIB(1)
#define FETCH_TIMEOUT_MS    30000
#define FETCH_REDIRECTS     5
#define FILE_BYTES          GBX_MIB(1)

static void free_names(char **names, size_t count)
{
    gbx_names_cut(names, 0, count);
    free(names);
}

static void free_fetch(gbx_fetch_policy *fetch)
{
    gbx_sites_cut(fetch->sites, 0, fetch->site_count);
    free(fetch->sites);
    free(fetch->networks);
    free_names(fetch->methods, fetch->method_count);
    free_names(fetch->nameservers, fetch->nameserver_count);
    free(fetch->ca_file);
}

static void free_file(gbx_file_policy *file)
{
    gbx_roots_cut(file, 0);
    free(file->root_fds);
    free(file->roots);
    free(file->names);
    free(file->own);
}

static void free_all(gbx_policy *policy)
{
    free_fetch(&policy->fetch);
    free_file(&policy->file);
    gbx_pairs_cut(policy->env, 0, policy->env_count);
    free(policy->env);
    gbx_secrets_forget(policy);
    gbx_secrets_cut(policy->secrets, 0, policy->secret_count);
    free(policy->secrets);
    free_names(policy->functions, policy->function_count);
    free_names(policy->warnings, policy->warning_count);
    free(policy);
}

/* ---- public to other modules -------------------------------------------- */

gbx_policy *gbx_policy_ref(gbx_policy *policy)
{
    atomic_fetch_add_explicit(&policy->refcount, 1, memory_order_relaxed);
    return policy;
}

bool gbx_policy_allows_function(const gbx_policy *policy, const char *name)
{
    if (policy == NULL)
        return false;
    return policy->all_functions ||
           gbx_names_function(policy->functions, policy->function_count, name);
}

gbx_status gbx_policy_unused(const gbx_policy *policy, gbx_error *reterr)
{
    if (atomic_load_explicit(&policy->refcount, memory_order_relaxed) > 1)
        return gbx_fail(reterr, GBX_E_USAGE,
                        "the policy is in use and cannot be changed any more");
    return GBX_OK;
}

void gbx_limits_lower(gbx_limits *limits, const gbx_limits *by)
{
#define LOWER(field)                                                         \
    if (by->field != 0 && (limits->field == 0 || by->field < limits->field)) \
    limits->field = by->field
    LOWER(timeout_ms);
    LOWER(cpu_ms);
    LOWER(memory_bytes);
    LOWER(output_bytes);
    LOWER(code_bytes);
    LOWER(log_bytes);
    LOWER(host_calls);
    LOWER(host_calls_at_once);
    LOWER(host_out_bytes);
    LOWER(host_in_bytes);
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
    if (policy != NULL &&
        atomic_fetch_sub_explicit(&policy->refcount, 1, memory_order_acq_rel) == 1)
        free_all(policy);
}
