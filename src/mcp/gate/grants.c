/* SPDX-License-Identifier: MIT */
/* grants - an answer covers calls of the tool that was asked about, and of these only what
 * the same rule asks about: another rule asks again. The latest answer counts. */
#include "mcp/gate/parts.h"

#include <stdio.h>
#include <string.h>

/* What calls that the scope covers have in common, besides tool and rule. */
static bool digest_of(const gbx_gate_call *call, gbx_gate_scope scope,
                      uint8_t ret[GBX_SHA256_SIZE])
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf rule = {.ceiling = GBX_GATE_RULE_MAX};

    switch (scope) {
    case GBX_GATE_SCOPE_RUN:
    case GBX_GATE_SCOPE_SESSION: memset(ret, 0, GBX_SHA256_SIZE); return true;
    case GBX_GATE_SCOPE_RUN_SAME:
        gbx_sha256_of(call->args.at, call->args.len, ret);
        return true;
    case GBX_GATE_SCOPE_RULE: break;
    }
    if (!gbx_gate_rule_for(call->gate->config->rules, &call->verdict, call->server,
                           call->tool, call->args, &rule))
        return false;
    gbx_sha256_of(rule.data, rule.len, ret);
    return true;
}

static bool covers(const gbx_gate_grant *grant, const gbx_gate_call *call)
{
    uint8_t digest[GBX_SHA256_SIZE];

    return (grant->run[0] == '\0' || strcmp(grant->run, call->run) == 0) &&
           grant->rule == call->verdict.rule &&
           strcmp(grant->server, call->server) == 0 &&
           strcmp(grant->tool, call->tool) == 0 &&
           digest_of(call, grant->scope, digest) &&
           memcmp(digest, grant->digest, sizeof digest) == 0;
}

/* ---- for the other parts ---------------------------------------------------- */

gbx_gate_granted gbx_gate_look_up(const gbx_gate *gate, const gbx_gate_call *call)
{
    for (size_t n = 1; n <= gate->grant_count && n <= GBX_GATE_GRANTS_MAX; n++) {
        const gbx_gate_grant *grant =
            &gate->grants[(gate->grant_count - n) % GBX_GATE_GRANTS_MAX];

        if (covers(grant, call))
            return grant->allows ? GBX_GATE_GRANTED : GBX_GATE_DECLINED;
    }
    return GBX_GATE_OPEN;
}

void gbx_gate_remember(gbx_gate *gate, const gbx_gate_call *call, gbx_gate_scope scope,
                       bool allows)
{
    gbx_gate_grant *grant = &gate->grants[gate->grant_count % GBX_GATE_GRANTS_MAX];
    bool is_of_run = scope == GBX_GATE_SCOPE_RUN || scope == GBX_GATE_SCOPE_RUN_SAME;
    uint8_t digest[GBX_SHA256_SIZE];

    /* A longer name would be cut, and then be another tool's. A run without a name is
     * none: its answer is for one call. */
    if (strlen(call->tool) >= sizeof grant->tool ||
        strlen(call->server) >= sizeof grant->server ||
        (is_of_run && call->run[0] == '\0') || !digest_of(call, scope, digest))
        return;
    *grant =
        (gbx_gate_grant){.scope = scope, .rule = call->verdict.rule, .allows = allows};
    memcpy(grant->digest, digest, sizeof digest);
    if (is_of_run)
        (void)snprintf(grant->run, sizeof grant->run, "%s", call->run);
    (void)snprintf(grant->server, sizeof grant->server, "%s", call->server);
    (void)snprintf(grant->tool, sizeof grant->tool, "%s", call->tool);
    gate->grant_count++;
}
