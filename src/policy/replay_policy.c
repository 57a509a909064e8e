/* SPDX-License-Identifier: MIT */
/* replay_policy - see policy.h. Input from strangers passes the same checks as an
 * operator's. */
#include "policy/policy.h"

#include "base/cleanup.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "policy/capability_grants.h"

#include <string.h>

static gbx_status nomem(gbx_error *reterr)
{
    return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a policy");
}

static gbx_status add_variable(gbx_policy *policy, gbx_view name, gbx_view value,
                               gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    gbx_entry entry = {.name = name.at + 1, .name_len = name.len - 2};

    gbx_buf_init(&text, value.len + 1);
    (void)gbx_view_append_text(value, &text);
    entry.value_len = text.len;
    if (!gbx_buf_append(&text, "", 1))
        return nomem(reterr);
    entry.value = (const char *)text.data;
    return gbx_grant_env(policy, 0, &entry, reterr);
}

static gbx_status add_env(gbx_policy *policy, gbx_span env, gbx_error *reterr)
{
    gbx_view object = {(const char *)env.data, env.len};
    gbx_status status = GBX_OK;
    gbx_view name, value;
    size_t cursor = 0;

    if (env.len == 0)
        return GBX_OK;
    while (status == GBX_OK && gbx_view_next(object, &cursor, &name, &value))
        status = add_variable(policy, name, value, reterr);
    return status;
}

static gbx_status add_sites(gbx_policy *policy, gbx_span lines, gbx_error *reterr)
{
    gbx_status status = GBX_OK;

    while (status == GBX_OK && lines.len > 0) {
        const uint8_t *newline = memchr(lines.data, '\n', lines.len);
        size_t n = newline != NULL ? (size_t)(newline - lines.data) : lines.len;

        status = gbx_grant_site(&policy->fetch.sites, &policy->fetch.site_count, 0,
                                (const char *)lines.data, n, reterr);
        n += newline != NULL;
        lines = (gbx_span){lines.data + n, lines.len - n};
    }
    return status;
}

/* Hand out the policy if status is GBX_OK; else free it. */
static gbx_status hand_out(gbx_policy *policy, gbx_status status, gbx_policy **ret)
{
    if (status == GBX_OK)
        *ret = policy;
    else
        gbx_policy_free(policy);
    return status;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_policy_for_replay(uint32_t capabilities, gbx_span env, gbx_policy **ret,
                                 gbx_error *reterr)
{
    gbx_policy *policy = gbx_policy_new();

    if (policy == NULL)
        return nomem(reterr);
    policy->capabilities = capabilities;
    policy->all_functions = true;
    return hand_out(policy, add_env(policy, env, reterr), ret);
}

gbx_status gbx_policy_of_sites(gbx_span lines, gbx_policy **ret, gbx_error *reterr)
{
    gbx_policy *policy = gbx_policy_new();

    if (policy == NULL)
        return nomem(reterr);
    return hand_out(policy, add_sites(policy, lines, reterr), ret);
}
