/* SPDX-License-Identifier: MIT */
/*
 * tools - what a server says that it can do, page by page, as it has said it.
 *
 * The JSON is kept as it came, unknown members too; beside it what calling needs: is there
 * such a tool, and does it do no harm twice.
 */
#ifndef GBX_MCP_UPSTREAM_TOOLS_H
#define GBX_MCP_UPSTREAM_TOOLS_H

#include "mcp/upstream/upstream.h"

/* Of all definitions together: one that does not fit is left out. */
#define GBX_TOOLS_BYTES_MAX GBX_MIB(16)

typedef struct gbx_tool {
    char *name;
    bool is_reading;    /* readOnlyHint, of every entry of this name */
    bool is_repeatable; /* that, or idempotentHint */
    size_t at;          /* of its definition in the list's JSON */
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

/* Zeroed, it is an empty list that nobody has told. */
typedef struct gbx_tools {
    gbx_buf json; /* "[...]", not terminated, once it is closed */
    gbx_tool *list;
    size_t count;
    size_t dropped; /* left out */
    size_t flaws[GBX_TOOL_FLAWS];
    bool is_cut; /* the server has more pages, and they were not read */
} gbx_tools;

/* May a tool with such a schema of its input be called? NULL: any. */
typedef bool gbx_tools_check(gbx_view schema);

void gbx_tools_open(gbx_tools *tools);
/* False: it is no list of tools, or memory is out. */
bool gbx_tools_add(gbx_tools *tools, gbx_view page, gbx_tools_check *is_sound);
/* The same for a list that was read from another: tools whose names are not in it, if it
 * is not NULL, are left out, since their names were changed on the way. */
bool gbx_tools_add_known(gbx_tools *tools, gbx_view page, const gbx_tools *known);
/* What was left out of another list was left out of this one, and no tool does less than
 * it does there. */
void gbx_tools_add_flaws(gbx_tools *tools, const gbx_tools *other);
/* Is there no place for one more, whatever it is? */
bool gbx_tools_is_full(const gbx_tools *tools);
bool gbx_tools_close(gbx_tools *tools);
void gbx_tools_cleanup(gbx_tools *tools);

/* The schema of its input. */
gbx_view gbx_tools_schema(const gbx_tools *tools, const gbx_tool *tool);

/* NULL if there is none of that name. Borrowed. */
const gbx_tool *gbx_tools_find(const gbx_tools *tools, const char *name);

/* The name that may have been meant, or NULL. */
const char *gbx_tools_nearest(const gbx_tools *tools, const char *name);

/* "2 left out: 1 with no name, 1 there twice; further pages were not read", or "". */
void gbx_tools_say_dropped(const gbx_tools *tools, char *ret, size_t size);

gbx_view gbx_tools_view(const gbx_tools *tools); /* no value while it is not closed */
bool gbx_tools_same(const gbx_tools *a, const gbx_tools *b);

#endif
