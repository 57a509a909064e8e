/* SPDX-License-Identifier: MIT */
/*
 * tools - a server's list of tools, page by page.
 *
 * The JSON is kept as it came, unknown members included, together with what calls need:
 * which tools exist, and which are safe to call twice.
 */
#ifndef GBX_MCP_UPSTREAM_TOOLS_H
#define GBX_MCP_UPSTREAM_TOOLS_H

#include "mcp/upstream/upstream.h"

/* Limit of all definitions together; a tool beyond it is left out. */
#define GBX_TOOLS_BYTES_MAX GBX_MIB(16)

typedef struct gbx_tool {
    char *name;
    bool is_reading;    /* readOnlyHint in every entry of this name */
    bool is_repeatable; /* is_reading, or idempotentHint */
    size_t at;          /* offset of its definition in the JSON */
    size_t len;
} gbx_tool;

/* Why a tool is left out. */
typedef enum gbx_tool_flaw {
    GBX_TOOL_NO_NAME,
    GBX_TOOL_LONG_NAME,
    GBX_TOOL_TWICE,
    GBX_TOOL_NO_SCHEMA,
    GBX_TOOL_UNSOUND,
    GBX_TOOL_TOO_MANY,
    GBX_TOOL_TOO_LONG,
    GBX_TOOL_SECRET,
    GBX_TOOL_FLAWS,
    GBX_TOOL_FINE = GBX_TOOL_FLAWS
} gbx_tool_flaw;

/* Zeroed, it is an empty list from no server. */
typedef struct gbx_tools {
    gbx_buf json; /* "[...]", not terminated, once it is closed */
    gbx_tool *list;
    size_t count;
    size_t dropped; /* number of tools left out */
    size_t flaws[GBX_TOOL_FLAWS];
    bool is_cut; /* the server has more pages, which were not read */
} gbx_tools;

/* May a tool with this input schema be called? NULL: any may. */
typedef bool gbx_tools_check(gbx_view schema);

void gbx_tools_open(gbx_tools *tools);
/* False: page is not a list of tools, or memory is out. */
bool gbx_tools_add(gbx_tools *tools, gbx_view page, gbx_tools_check *is_sound);
/* The same for a list that was made from another one: unless known is NULL, tools with
 * names that are not in known are left out, since their names were changed on the
 * way. */
bool gbx_tools_add_known(gbx_tools *tools, gbx_view page, const gbx_tools *known);
/* Count what the other list left out as left out here, too, and cap the hints of each
 * tool at those of the other list. */
void gbx_tools_add_flaws(gbx_tools *tools, const gbx_tools *other);
/* Is it full? Tools that were left out count, too. */
bool gbx_tools_is_full(const gbx_tools *tools);
bool gbx_tools_close(gbx_tools *tools);
void gbx_tools_cleanup(gbx_tools *tools);

/* The schema of its input. */
gbx_view gbx_tools_schema(const gbx_tools *tools, const gbx_tool *tool);

/* NULL if no tool has that name. Borrowed. */
const gbx_tool *gbx_tools_find(const gbx_tools *tools, const char *name);

/* The name that may have been meant, or NULL. */
const char *gbx_tools_nearest(const gbx_tools *tools, const char *name);

/* "2 left out: 1 with no name, 1 there twice; further pages were not read", or "". */
void gbx_tools_say_dropped(const gbx_tools *tools, char *ret, size_t size);

gbx_view gbx_tools_view(const gbx_tools *tools); /* no value until it is closed */
bool gbx_tools_same(const gbx_tools *a, const gbx_tools *b);

#endif
