/* SPDX-License-Identifier: MIT */
/*
 * params - arguments that a tool wants to see as headers, too, so that what stands between
 * us and the server can route a call without reading it ("x-mcp-header" in its schema).
 */
#ifndef GBX_MCP_UPSTREAM_PARAMS_H
#define GBX_MCP_UPSTREAM_PARAMS_H

#include "mcp/upstream/http_headers.h"

#define GBX_PARAMS_MAX   32
#define GBX_PARAM_PREFIX "Mcp-Param-"

/* Is every annotation in the schema one that may be there? */
bool gbx_params_are_sound(gbx_view schema);

/* The headers of a call with these arguments. The schema is sound. */
void gbx_params_add(gbx_view schema, gbx_view args, gbx_http_headers *headers);

#endif
