/* SPDX-License-Identifier: MIT */
/*
 * mcp_doctor_rules - patterns of tools, in rules, that fit no tool.
 *
 * A denial that is misspelt denies nothing, and only the servers can tell. What a rule
 * says of a server whose tools are not known is not judged.
 */
#ifndef GBX_CLI_MCP_DOCTOR_RULES_H
#define GBX_CLI_MCP_DOCTOR_RULES_H

#include "base/json_view.h"
#include "mcp/config/config.h"

#include <stddef.h>

/* Calls on_one for each, with the number of its rule from 1 on. tools: of each server of
 * the configuration, or no value where they are not known. */
void gbx_mcp_idle_patterns(const gbx_mcp_config *config, const gbx_view *tools,
                           void (*on_one)(void *user, size_t rule, const char *pattern),
                           void *user);

#endif
