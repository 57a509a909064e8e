/* SPDX-License-Identifier: MIT */
/* schema_distinct - how many values there are at one place, and how often the commonest. */
#ifndef GBX_MCP_DATA_SCHEMA_DISTINCT_H
#define GBX_MCP_DATA_SCHEMA_DISTINCT_H

#include "mcp/data/schema.h"

/* Count a scalar; seen: its bytes, or those of what code sees of it. False: no memory. */
bool gbx_schema_tell_apart(gbx_schema *s, gbx_view value, gbx_view seen);

/* Count in `into` what was counted in `from`. False: no memory. */
bool gbx_schema_join_values(gbx_schema *into, const gbx_schema *from);

#endif
