/* SPDX-License-Identifier: MIT */
/* grants - an answer covers calls of one tool, and only those that the same rule asks
 * about: another rule asks again. The latest answer counts. */
#include "mcp/approval/tool_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For another process that is writing a grant; our loop stands still meanwhile. */
#define LOCK_MS 100

/* A digest of what covered calls have in common, besides tool and rule. */
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

/* NULL: the default has asked. */
static const char *text_that_asked(const gbx_gate *gate, const gbx_gate_verdict *asked)
{
    return asked->rule != GBX_GATE_NO_RULE
               ? gate->config->rules->items[asked->rule].text
               : NULL;
}

/* NULL: no matching rule is short enough to be shown. */
static char *rule_for(const gbx_gate *gate, const gbx_gate_verdict *asked,
                      const char *server, const char *tool, gbx_view args)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf rule;

    gbx_buf_init(&rule, GBX_GATE_RULE_MAX);
    return gbx_gate_rule_for(gate->config->rules, asked, server, tool, args, &rule)
               ? gbx_buf_take_string(&rule, NULL)
               : NULL;
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

    /* A longer name would be cut, and might then be another tool's. Without a run's
     * name, the answer covers only this call. */
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

char *gbx_gate_rule_of(const gbx_gate_call *call)
{
    return rule_for(call->gate, &call->verdict, call->server, call->tool, call->args);
}

bool gbx_gate_is_kept(const gbx_gate *gate, const gbx_gate_verdict *asked,
                      const char *server, const char *tool, gbx_view args)
{
    GBX_CLEANUP(gbx_free) char *rule = rule_for(gate, asked, server, tool, args);

    return rule != NULL && gbx_grants_file_covers(gate->standing, server, tool, rule,
                                                  text_that_asked(gate, asked));
}

gbx_status gbx_gate_keep_rule(gbx_gate_call *call, gbx_error *reterr)
{
    return gbx_grants_file_add(call->gate->standing, call->server, call->tool,
                               call->rule, text_that_asked(call->gate, &call->verdict),
                               LOCK_MS, reterr);
}
