/* SPDX-License-Identifier: MIT */
/* rule_rows - calls, and what rules are to make of them. */
#ifndef GBX_TESTS_RULE_ROWS_H
#define GBX_TESTS_RULE_ROWS_H

#include "mcp/config/config.h"
#include "mcp/rules/rules.h"

/* A configuration with these rules, the array without its brackets; the test fails if
 * they cannot be read. Free with gbx_mcp_config_free(). */
gbx_mcp_config *config_of(const char *rules);

/* What becomes of a call, "server/tool {args}": allow, ask, deny, fault (of the
 * arguments), or malformed if they are not read. */
const char *decided(const gbx_gate_rules *rules, const char *call);

/* Asserts that call is decided so. */
void check_decided(const char *rules, const char *call, const char *wanted);

/* The same of every call of a table of cases: "=== RULES", of which there are at least so
 * many, and below "VERDICT CALL" a line. */
void check_rules(const char *path, size_t at_least);

#endif
