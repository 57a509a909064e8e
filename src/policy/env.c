/* SPDX-License-Identifier: MIT */
/* env - the variables as the JSON object that is sent with a call. */
#include "base/json.h"
#include "policy/policy.h"

bool gbx_policy_put_env(const gbx_policy *policy, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "{");
    for (size_t i = 0; i < policy->env_count; i++) {
        const gbx_pair *pair = &policy->env[i];

        gbx_json_put_key(to, pair->name);
        (void)gbx_json_append_string(to, pair->value, pair->value_len);
    }
    return gbx_buf_puts(to, "}");
}
