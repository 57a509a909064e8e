/* SPDX-License-Identifier: MIT */
/* add_rule - a rule into a configuration that is edited. The first that fits decides: where
 * it goes is the caller's to judge. */
#ifndef GBX_MCP_CONFIG_ADD_RULE_H
#define GBX_MCP_CONFIG_ADD_RULE_H

#include "mcp/config/edit.h"

/* Before the rule of that index, or as the last; rule is one JSON value. False: the text
 * is as it was, but for an empty list of rules. */
bool gbx_config_add_rule(gbx_edit *edit, size_t index, const char *rule);

#endif
