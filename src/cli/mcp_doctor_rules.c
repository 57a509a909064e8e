/* SPDX-License-Identifier: MIT */
/* mcp_doctor_rules - see cli.h. */
#include "cli/cli.h"

#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"
#include "mcp/rules/rules.h"
#include "mcp/upstream/upstream.h"

static gbx_glob_how how_of(const gbx_gate_rule *rule)
{
    return rule->action == GBX_GATE_ALLOW ? GBX_GLOB_EXACT : GBX_GLOB_WIDE;
}

static bool is_of_server(const gbx_gate_rule *rule, const char *server)
{
    for (size_t i = 0; i < rule->server_count; i++)
        if (gbx_glob_name(rule->servers[i], server, GBX_GLOB_EXACT))
            return true;
    return rule->server_count == 0;
}

static bool fits_tool_of(const char *pattern, gbx_glob_how how, gbx_view tools)
{
    char name[GBX_TOOL_NAME_MAX + 1];
    size_t cursor = 0;
    gbx_view none;
    gbx_view tool;

    while (gbx_view_next(tools, &cursor, &none, &tool))
        if (gbx_rpc_copy_text(gbx_view_member(tool, "name"), name, sizeof name) &&
            gbx_glob_name(pattern, name, how))
            return true;
    return false;
}

/* Does the pattern match a tool, or may it match an unknown one? */
static bool may_fit(const gbx_mcp_config *config, const gbx_view *tools,
                    const gbx_gate_rule *rule, const char *pattern)
{
    for (size_t i = 0; i < config->server_count; i++)
        if (is_of_server(rule, config->servers[i].name) &&
            (tools[i].at == NULL || fits_tool_of(pattern, how_of(rule), tools[i])))
            return true;
    return false;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_idle_patterns(const gbx_mcp_config *config, const gbx_view *tools,
                           void (*on_one)(void *user, size_t rule, const char *pattern),
                           void *user)
{
    const gbx_gate_rules *rules = config->rules;

    for (size_t i = 0; i < rules->count; i++)
        for (size_t k = 0; k < rules->items[i].tool_count; k++)
            if (!may_fit(config, tools, &rules->items[i], rules->items[i].tools[k]))
                on_one(user, i + 1, rules->items[i].tools[k]);
}
