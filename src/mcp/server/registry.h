/* SPDX-License-Identifier: MIT */
/*
 * registry - what one list of the protocol has in it, in the order it was put there.
 *
 * An entry keeps its place when it is put again. Every place has a number that is never
 * used twice: a cursor is such a number, so that a list may change between two pages.
 */
#ifndef GBX_MCP_SERVER_REGISTRY_H
#define GBX_MCP_SERVER_REGISTRY_H

#include "mcp/server/server.h"

typedef enum gbx_mcp_list {
    GBX_MCP_TOOLS,
    GBX_MCP_RESOURCES,
    GBX_MCP_TEMPLATES,
    GBX_MCP_PROMPTS, /* always empty: hosts ask for it, and some complain of an error */
    GBX_MCP_LISTS,
} gbx_mcp_list;

/* More than anybody lists by hand; artifacts have limits of their own. */
#define GBX_MCP_ENTRIES_MAX 10000

typedef struct gbx_mcp_entry {
    uint64_t place;
    char *key;     /* name; of a resource, its uri or its fixed beginning */
    char *shown;   /* JSON object, as the list has it */
    char *pattern; /* of a template: its uri_template; else NULL */
    gbx_mcp_tool_fn call;
    gbx_mcp_read_fn read;
    void *user;
    bool is_pending; /* of a resource */
} gbx_mcp_entry;

typedef struct gbx_mcp_registry {
    gbx_mcp_entry **entries;
    size_t count;
    uint64_t last_place;
} gbx_mcp_registry;

/* entry's texts are moved in, whether it worked or not. *ret_changed: the list looks
 * different now. False: memory is out, or the list is full. */
bool gbx_mcp_registry_put(gbx_mcp_registry *registry, gbx_mcp_entry *entry,
                          bool *ret_changed);
gbx_mcp_entry *gbx_mcp_registry_find(const gbx_mcp_registry *registry, const char *key);
/* The entry whose key is the longest beginning of text. */
gbx_mcp_entry *gbx_mcp_registry_match(const gbx_mcp_registry *registry,
                                      const char *text);
/* What may have been meant, or NULL. */
const char *gbx_mcp_registry_nearest(const gbx_mcp_registry *registry, const char *key);
void gbx_mcp_registry_cleanup(gbx_mcp_registry *registry);

/* Cursors are opaque to clients: "tools:1f". False: it is not one of this list. */
#define GBX_MCP_CURSOR_MAX 40
void gbx_mcp_cursor_print(gbx_mcp_list list, uint64_t place,
                          char ret[GBX_MCP_CURSOR_MAX]);
bool gbx_mcp_cursor_read(gbx_mcp_list list, const char *text, uint64_t *ret_place);

#endif
