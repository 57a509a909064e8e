/* SPDX-License-Identifier: MIT */
/* grants - an answer holds for the tool that was asked about, and for the rule that
 * asked: another rule asks again. */
#include "mcp/gate/parts.h"

#include <stdio.h>
#include <string.h>

/* ---- for the other parts ---------------------------------------------------- */

gbx_gate_granted gbx_gate_look_up(const gbx_gate *gate, const gbx_gate_call *call)
{
    size_t count = gate->grant_count < GBX_GATE_GRANTS_MAX ? gate->grant_count
                                                           : GBX_GATE_GRANTS_MAX;

    for (size_t i = 0; i < count; i++) {
        const gbx_gate_grant *grant = &gate->grants[i];

        if ((grant->run[0] == '\0' || strcmp(grant->run, call->run) == 0) &&
            grant->rule == call->verdict.rule &&
            strcmp(grant->server, call->server) == 0 &&
            strcmp(grant->tool, call->tool) == 0)
            return grant->allows ? GBX_GATE_GRANTED : GBX_GATE_DECLINED;
    }
    return GBX_GATE_OPEN;
}

void gbx_gate_remember(gbx_gate *gate, const gbx_gate_call *call, bool whole_session,
                       bool allows)
{
    gbx_gate_grant *grant = &gate->grants[gate->grant_count % GBX_GATE_GRANTS_MAX];

    /* A longer name would be cut, and then be another tool's. A run without a name is
     * none: its answer is for one call. */
    if (strlen(call->tool) >= sizeof grant->tool ||
        strlen(call->server) >= sizeof grant->server ||
        (!whole_session && call->run[0] == '\0'))
        return;
    *grant = (gbx_gate_grant){.rule = call->verdict.rule, .allows = allows};
    if (!whole_session)
        (void)snprintf(grant->run, sizeof grant->run, "%s", call->run);
    (void)snprintf(grant->server, sizeof grant->server, "%s", call->server);
    (void)snprintf(grant->tool, sizeof grant->tool, "%s", call->tool);
    gate->grant_count++;
}
