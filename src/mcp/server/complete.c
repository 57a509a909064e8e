/* SPDX-License-Identifier: MIT */
/* complete - what a person may be about to type as an argument of a prompt or template. */
#include "mcp/server/parts.h"

#include "base/cleanup.h"

#include <string.h>

#define VALUES_MAX 100 /* the protocol's */
#define NAMES_MAX  ((size_t)1024 * 1024)
#define NAME_SIZE  129

static gbx_mcp_entry *find_template(const gbx_mcp_server *server, const char *uri)
{
    const gbx_mcp_registry *templates = &server->lists[GBX_MCP_TEMPLATES];

    for (size_t i = 0; i < templates->count; i++)
        if (strcmp(templates->entries[i]->pattern, uri) == 0)
            return templates->entries[i];
    return gbx_mcp_registry_find(&server->lists[GBX_MCP_RESOURCES], uri);
}

/* The entry that ref is about; else the request has failed. */
static gbx_mcp_entry *referred(gbx_mcp_request *request, gbx_view ref)
{
    const gbx_mcp_server *server = request->server;
    gbx_mcp_entry *entry = NULL;
    char prompt[NAME_SIZE];
    char uri[GBX_MCP_URI_MAX];

    if (gbx_view_is_text(gbx_view_member(ref, "type"), "ref/prompt") &&
        gbx_rpc_copy_text(gbx_view_member(ref, "name"), prompt, sizeof prompt)) {
        entry = gbx_mcp_registry_find(&server->lists[GBX_MCP_PROMPTS], prompt);
        if (entry == NULL)
            gbx_mcp_fail_unknown(request, GBX_MCP_PROMPTS, "prompt", prompt);
    } else if (gbx_view_is_text(gbx_view_member(ref, "type"), "ref/resource") &&
               gbx_rpc_copy_text(gbx_view_member(ref, "uri"), uri, sizeof uri)) {
        entry = find_template(server, uri);
        if (entry == NULL)
            gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                         "there is no such resource template");
    } else {
        gbx_mcp_fail(
            request, GBX_RPC_INVALID_PARAMS,
            "ref must be of type ref/prompt with a name, or ref/resource with a uri");
    }
    return entry;
}

/* The first values of names, which are JSON strings with commas between them. */
static void append_values(gbx_buf *to, gbx_buf *names)
{
    size_t cursor = 0;
    size_t count = 0;
    gbx_view list = {0};
    gbx_view key;
    gbx_view value;

    (void)gbx_buf_puts(names, "]");
    (void)gbx_buf_puts(to, ",\"completion\":{\"values\":[");
    if (!names->failed)
        (void)gbx_view_open((const char *)names->data, names->len, &list);
    while (gbx_view_next(list, &cursor, &key, &value)) {
        if (count++ >= VALUES_MAX)
            continue;
        (void)gbx_buf_puts(to, count > 1 ? "," : "");
        (void)gbx_buf_append(to, value.at, value.len);
    }
    (void)gbx_buf_printf(to, "],\"total\":%zu,\"hasMore\":%s}", count,
                         count > VALUES_MAX ? "true" : "false");
}

/* ---- public to other modules -------------------------------------------- */

void gbx_mcp_on_complete(gbx_mcp_request *request)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names = {.ceiling = NAMES_MAX};
    gbx_view argument = gbx_view_member(request->params, "argument");
    gbx_mcp_entry *entry = referred(request, gbx_view_member(request->params, "ref"));
    char name[NAME_SIZE];
    char prefix[1025];
    gbx_buf to;

    if (entry == NULL)
        return;
    if (!gbx_rpc_copy_text(gbx_view_member(argument, "name"), name, sizeof name) ||
        !gbx_rpc_copy_text(gbx_view_member(argument, "value"), prefix, sizeof prefix)) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "argument must have a name and a value, short strings");
        return;
    }
    (void)gbx_buf_puts(&names, "[");
    if (entry->complete != NULL)
        entry->complete(entry->user, name, prefix, &names);
    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    append_values(&to, &names);
    gbx_mcp_reply_end(request, &to);
}
