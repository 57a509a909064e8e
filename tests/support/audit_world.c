/* SPDX-License-Identifier: MIT */
/* audit_world - see audit_world.h. */
#include "audit_world.h"
#include "test.h"

#include "calls.h"

#include <glovebox/policy.h>

gbx_options audit_options(audit_log *log)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_error error = {0};

    options.policy = gbx_policy_new();
    assert_non_null(options.policy);
    if (gbx_policy_allow(options.policy, "file=/usr/share", &error) != GBX_OK ||
        gbx_policy_allow(options.policy, "timers", &error) != GBX_OK ||
        gbx_policy_allow(options.policy, "functions=echo,nothing,fail,db.*", &error) !=
            GBX_OK)
        fail_msg("no policy: %s", error.message);
    options.limits.timeout_ms = 120000;
    audit_log_hear(log, &options);
    return options;
}

gbx_engine *audit_start(gbx_options *options, host_functions *host)
{
    gbx_engine *engine = engine_start(options);

    gbx_policy_free(options->policy);
    host_functions_expose(host, engine);
    return engine;
}
