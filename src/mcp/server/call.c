/* SPDX-License-Identifier: MIT */
/* call - finds the named tool or resource, and checks the shape that the protocol
 * requires. The handler checks the content, with errors for a model. */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"

#include <string.h>

#define NAME_SIZE 129

/* Names the nearest of the existing tools. */
static void fail_unknown(gbx_mcp_request *request, const char *name)
{
    const gbx_mcp_server *server = request->server;
    const char *nearest = gbx_mcp_registry_nearest(&server->lists[GBX_MCP_TOOLS], name);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf advice;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&advice, GBX_KIB(4));
    gbx_buf_init(&text, GBX_KIB(8));
    if (server->advise != NULL)
        server->advise(server->advise_user, name, &advice);
    (void)gbx_buf_printf(&text, "unknown tool '%s'", name);
    if (advice.len > 0)
        (void)gbx_buf_printf(&text, ": %.*s", (int)advice.len, (char *)advice.data);
    else if (nearest != NULL)
        (void)gbx_buf_printf(&text, ": did you mean '%s'?", nearest);
    gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                 gbx_buf_append(&text, "", 1) ? (char *)text.data : "there is none");
}

/* The tool of params.name; NULL: the request has failed. */
static gbx_mcp_entry *named_tool(gbx_mcp_request *request)
{
    gbx_view view = gbx_view_member(request->params, "name");
    gbx_mcp_entry *entry;
    char name[NAME_SIZE];

    if (!gbx_rpc_copy_text(view, name, sizeof name)) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "name must be a string of at most 128 bytes");
        return NULL;
    }
    entry = gbx_mcp_registry_find(&request->server->lists[GBX_MCP_TOOLS], name);
    if (entry == NULL)
        fail_unknown(request, name);
    return entry;
}

/* False: the arguments are not an object, and the request has failed. null
 * counts as missing. */
static bool take_arguments(gbx_mcp_request *request, gbx_view *ret)
{
    *ret = gbx_view_member(request->params, "arguments");
    if (gbx_view_kind(*ret) == 'n')
        *ret = (gbx_view){NULL, 0};
    if (ret->at == NULL || gbx_view_kind(*ret) == '{')
        return true;
    gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "arguments must be an object");
    return false;
}

/* The resource or template of params.uri, which is copied, or "" if it is too long. */
static gbx_mcp_entry *resource_of(const gbx_mcp_request *request,
                                  char uri[GBX_MCP_URI_MAX])
{
    const gbx_mcp_registry *lists = request->server->lists;
    gbx_mcp_entry *entry;

    if (!gbx_rpc_copy_text(gbx_view_member(request->params, "uri"), uri,
                           GBX_MCP_URI_MAX)) {
        uri[0] = '\0';
        return NULL;
    }
    entry = gbx_mcp_registry_find(&lists[GBX_MCP_RESOURCES], uri);
    if (entry == NULL)
        entry = gbx_mcp_registry_match(&lists[GBX_MCP_TEMPLATES], uri);
    return entry;
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_on_call(gbx_mcp_request *request)
{
    gbx_mcp_entry *tool = named_tool(request);
    gbx_view arguments;

    if (tool == NULL || !take_arguments(request, &arguments))
        return;
    if (arguments.at == NULL)
        arguments = (gbx_view){"{}", 2};
    tool->call(tool->user, request, arguments);
}

void gbx_mcp_on_read(gbx_mcp_request *request)
{
    gbx_view view = gbx_view_member(request->params, "uri");
    char uri[GBX_MCP_URI_MAX];
    gbx_mcp_entry *entry;

    if (gbx_view_kind(view) != '"') {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "uri must be a string");
        return;
    }
    entry = resource_of(request, uri);
    if (entry == NULL)
        gbx_mcp_fail_no_resource(request, uri, NULL);
    else
        entry->read(entry->user, request, uri);
}

bool gbx_mcp_read_is_pending(const gbx_mcp_request *request)
{
    char uri[GBX_MCP_URI_MAX];
    const gbx_mcp_entry *entry = resource_of(request, uri);

    return entry != NULL && entry->is_pending;
}
