/* SPDX-License-Identifier: MIT */
/* declare - upstream tools as TypeScript declarations of what the box finds. */
#ifndef GBX_MCP_CODE_DECLARE_H
#define GBX_MCP_CODE_DECLARE_H

#include "mcp/code/search.h"

/* Is the name of a tool one that stands for something else on the object of its server
 * (servers.js), so that only call("name", args) reaches it? */
bool gbx_declare_by_call(gbx_view name);

/* One tool, as it stands in the object of its server; of more than 12 KiB, a shorter one. */
void gbx_declare_tool(gbx_buf *to, gbx_view tool);

/*
 * `declare const servers: {...}` with the tools in their order, those of one server
 * together. A tool whose name a server has twice is there once.
 */
void gbx_declare(gbx_buf *to, const gbx_search_doc *docs, size_t count);

/* The first sentence of a description, or nothing, as a comment may have it; before it, if
 * calls of the tool must be tasks, that it cannot be called. */
void gbx_declare_summary(gbx_buf *to, gbx_view tool, size_t max);

#endif
