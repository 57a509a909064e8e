/* SPDX-License-Identifier: MIT */
/* rule_rows - calls, and what rules are to make of them. */
#ifndef GBX_TESTS_RULE_ROWS_H
#define GBX_TESTS_RULE_ROWS_H

#include "mcp/config/config.h"
#include "mcp/rules/rules.h"

#include <stddef.h>

/* What becomes of a call. */
typedef enum answer { ALLOW, ASK, DENY, FAULT, NO_ARGS } answer;

typedef struct row {
    const char *rules; /* the array without its brackets */
    const char *call;  /* "server/tool {args}" */
    answer wanted;
} row;

/* A configuration with these rules; the test fails if they cannot be read. Free with
 * gbx_mcp_config_free(). */
gbx_mcp_config *config_of(const char *rules);

answer ask_with(const gbx_gate_rules *rules, const char *call, gbx_gate_hint hint);

/* Every row, then fail if one is not as wanted. */
void check_rows(const row *rows, size_t count);

#endif
