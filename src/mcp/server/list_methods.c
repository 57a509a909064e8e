/* SPDX-License-Identifier: MIT */
/* list_methods - pages of tools, resources, templates and prompts, in the order in
 * which they were added; the same for every client, so that hosts may cache them. */
#include "mcp/server/server_state.h"

#include <string.h>

static const char *const members[GBX_MCP_LISTS] = {
    [GBX_MCP_TOOLS] = "tools",
    [GBX_MCP_RESOURCES] = "resources",
    [GBX_MCP_TEMPLATES] = "resourceTemplates",
    [GBX_MCP_PROMPTS] = "prompts",
};

/* Read the place after which the page begins. */
static bool read_cursor(const gbx_mcp_request *request, uint64_t *ret)
{
    gbx_view cursor = gbx_view_member(request->params, "cursor");
    char text[GBX_MCP_CURSOR_MAX];

    if (cursor.at == NULL || gbx_view_kind(cursor) == 'n')
        return true;
    return gbx_rpc_copy_text(cursor, text, sizeof text) &&
           gbx_mcp_cursor_read(request->method->list, text, ret);
}

/* Returns the place of the last entry if more follow, else 0. */
static uint64_t append_page(gbx_buf *to, const gbx_mcp_registry *registry,
                            uint64_t after, size_t max)
{
    uint64_t last = 0;
    size_t count = 0;

    for (size_t i = 0; i < registry->count; i++) {
        const gbx_mcp_entry *entry = registry->entries[i];

        if (entry->place <= after)
            continue;
        if (count == max)
            return last;
        (void)gbx_buf_puts(to, count > 0 ? "," : "");
        (void)gbx_buf_puts(to, entry->shown);
        last = entry->place;
        count++;
    }
    return 0;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_on_list(gbx_mcp_request *request)
{
    gbx_mcp_server *server = request->server;
    gbx_mcp_list list = request->method->list;
    char cursor[GBX_MCP_CURSOR_MAX];
    uint64_t place = 0;
    gbx_buf to;

    if (!read_cursor(request, &place)) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "the cursor is not one of this list");
        return;
    }
    /* Announce earlier changes first: this client is about to see them anyway. */
    gbx_mcp_announce(server);
    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    (void)gbx_buf_printf(&to, ",\"%s\":[", members[list]);
    place = append_page(&to, &server->lists[list], place, server->page_entries);
    (void)gbx_buf_puts(&to, "]");
    if (place > 0) {
        gbx_mcp_cursor_print(list, place, cursor);
        (void)gbx_buf_printf(&to, ",\"nextCursor\":\"%s\"", cursor);
    }
    gbx_mcp_reply_cacheable(&to, request);
    request->session->has_listed[list] = true;
    gbx_mcp_reply_end(request, &to);
}
