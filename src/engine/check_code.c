/* SPDX-License-Identifier: MIT */
/*
 * check_code - checks code without an engine and without running it: only the policy is
 * known.
 */
#include "guard/guard.h"
#include "policy/policy.h"

#include <string.h>

/* Is name the root of a function that the policy lists? "db" is the root of "db.*".
 * A lone star matches no name. */
static bool has_name(void *user, const char *name)
{
    const gbx_policy *policy = user;
    size_t len = strlen(name);

    for (size_t i = 0; i < policy->function_count; i++)
        if (strncmp(policy->functions[i], name, len) == 0 &&
            (policy->functions[i][len] == '\0' || policy->functions[i][len] == '.'))
            return true;
    return false;
}

static bool may_fetch(void *user, const char *url, size_t len,
                      char site[GBX_GUARD_SITE_SIZE])
{
    return gbx_policy_may_fetch(user, url, len, site);
}

/* ---- public -------------------------------------------------------------- */

gbx_status gbx_policy_check(const gbx_policy *policy, const char *code, size_t code_len,
                            gbx_form form, const gbx_limits *limits,
                            gbx_report **ret_report, gbx_error *reterr)
{
    gbx_guard_world world = {.may_bind = true, .capabilities = GBX_CAP_HELPERS};

    if (policy != NULL) {
        world.capabilities = policy->capabilities;
        world.code_bytes = policy->limits.code_bytes;
        world.has_name = has_name;
        world.may_fetch = may_fetch;
        world.user = (gbx_policy *)(uintptr_t)policy; /* only returned as const */
    }
    return gbx_guard_report(code, code_len, form, limits, &world, ret_report, reterr);
}
