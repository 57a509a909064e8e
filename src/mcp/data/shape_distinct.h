/* SPDX-License-Identifier: MIT */
/* shape_distinct - how many values there are at one place, and how often the commonest. */
#ifndef GBX_MCP_DATA_SHAPE_DISTINCT_H
#define GBX_MCP_DATA_SHAPE_DISTINCT_H

#include "mcp/data/shape.h"

/* Count a scalar; seen: its bytes, or those of what code sees of it. False: no memory. */
bool gbx_shape_tell_apart(gbx_shape *s, gbx_view value, gbx_view seen);

/* Count in `into` what was counted in `from`. False: no memory. */
bool gbx_shape_join_values(gbx_shape *into, const gbx_shape *from);

#endif
