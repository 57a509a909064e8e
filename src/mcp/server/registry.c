/* SPDX-License-Identifier: MIT */
/*
 * registry - the tools and resources that are offered, in the order in which they were
 * added: the same for every client, so that hosts may cache the lists. Lists are short,
 * so a linear search is fast enough.
 */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAREST_MAX 256 /* names that are compared with an unknown one */
#define TEXT_MAX    ((size_t)1024 * 1024)
#define NAME_SIZE   129

/* ---- entries ----------------------------------------------------------------- */

static gbx_mcp_entry *find_entry(const gbx_mcp_registry *registry, const char *key)
{
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->entries[i].key, key) == 0)
            return &registry->entries[i];
    return NULL;
}

/* The entry whose key is the longest prefix of text. */
static gbx_mcp_entry *match_entry(const gbx_mcp_registry *registry, const char *text)
{
    gbx_mcp_entry *best = NULL;
    size_t best_len = 0;

    for (size_t i = 0; i < registry->count; i++) {
        size_t len = strlen(registry->entries[i].key);

        if (strncmp(registry->entries[i].key, text, len) == 0 && len >= best_len) {
            best = &registry->entries[i];
            best_len = len;
        }
    }
    return best;
}

/* Add the entry, or replace the one with that key. False: its text is too long, or the
 * list is full. */
static bool put(gbx_mcp_server *server, gbx_mcp_list list, gbx_mcp_entry entry,
                const char *key, gbx_buf *shown)
{
    gbx_mcp_registry *registry = &server->lists[list];
    gbx_mcp_entry *at = find_entry(registry, key);
    bool is_same = false;

    entry.shown = gbx_buf_take_string(shown, NULL);
    if (entry.shown == NULL || (at == NULL && registry->count >= GBX_MCP_ENTRIES_MAX)) {
        free(entry.shown);
        return false;
    }
    if (at != NULL) {
        is_same = strcmp(at->shown, entry.shown) == 0;
        free(at->key);
        free(at->shown);
    } else {
        registry->entries = gbx_need(
            reallocarray(registry->entries, registry->count + 1, sizeof entry));
        at = &registry->entries[registry->count++];
    }
    entry.key = gbx_need(strdup(key));
    *at = entry;
    if (!is_same) {
        server->is_changed[list] = true;
        gbx_mcp_settle_soon(server);
    }
    return true;
}

/* ---- what is offered --------------------------------------------------------- */

/* Put an object as a member, unless it is NULL. False: it is not an object. */
static bool put_object(gbx_buf *to, const char *name, const char *json)
{
    gbx_view view = {0};

    if (json == NULL)
        return true;
    if (!gbx_view_open(json, strlen(json), &view) || gbx_view_kind(view) != '{')
        return false;
    gbx_json_put_json(to, name, json, strlen(json));
    return true;
}

bool gbx_mcp_server_set_tool(gbx_mcp_server *server, const gbx_mcp_tool *tool)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown = {.ceiling = TEXT_MAX};
    gbx_mcp_entry entry = {.call = tool->call, .user = tool->user};
    /* The protocol's rule for names of tools. */
    size_t len =
        strspn(tool->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                           "0123456789_.-");
    bool is_name = len > 0 && len <= 128 && tool->name[len] == '\0';

    if (server->offers != NULL && !server->offers(server->offers_user, tool->name))
        return true;
    (void)gbx_buf_puts(&shown, "{");
    gbx_json_put_text(&shown, "name", tool->name);
    gbx_json_put_text(&shown, "title", tool->title);
    gbx_json_put_text(&shown, "description", tool->description);
    if (!is_name || tool->input_schema == NULL ||
        !put_object(&shown, "inputSchema", tool->input_schema) ||
        !put_object(&shown, "outputSchema", tool->output_schema) ||
        !put_object(&shown, "annotations", tool->annotations) ||
        !put_object(&shown, "_meta", tool->meta))
        return false;
    (void)gbx_buf_puts(&shown, "}");
    return put(server, GBX_MCP_TOOLS, entry, tool->name, &shown);
}

bool gbx_mcp_server_set_resource(gbx_mcp_server *server,
                                 const gbx_mcp_resource *resource)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown = {.ceiling = TEXT_MAX};
    bool is_template = resource->uri_template != NULL;
    gbx_mcp_entry entry = {.read = resource->read,
                           .user = resource->user,
                           .is_pending = resource->is_pending};

    if (resource->uri[0] == '\0' || strlen(resource->uri) >= GBX_MCP_URI_MAX)
        return false;
    (void)gbx_buf_puts(&shown, "{");
    gbx_json_put_text(&shown, is_template ? "uriTemplate" : "uri",
                      is_template ? resource->uri_template : resource->uri);
    gbx_json_put_text(&shown, "name", resource->name);
    gbx_json_put_text(&shown, "title", resource->title);
    gbx_json_put_text(&shown, "description", resource->description);
    gbx_json_put_text(&shown, "mimeType", resource->mime_type);
    (void)gbx_buf_puts(&shown, "}");
    gbx_mcp_settle_soon(server); /* a held request may wait for it */
    return put(server, is_template ? GBX_MCP_TEMPLATES : GBX_MCP_RESOURCES, entry,
               resource->uri, &shown);
}

/* ---- lists ------------------------------------------------------------------- */

static void run_elsewhere(gbx_mcp_request *request)
{
    const gbx_mcp_proxy *proxy = request->server->proxy;

    proxy->run(proxy->user, request, request->method->name, request->params);
}

void gbx_mcp_finish_list(gbx_mcp_request *request, const char *entries, size_t len)
{
    static const char *const members[GBX_MCP_LISTS] = {
        [GBX_MCP_TOOLS] = "tools",
        [GBX_MCP_RESOURCES] = "resources",
        [GBX_MCP_TEMPLATES] = "resourceTemplates",
        [GBX_MCP_PROMPTS] = "prompts",
    };
    gbx_mcp_server *server = request->server;
    gbx_mcp_list list = request->method->list;
    const gbx_mcp_registry *registry = &server->lists[list];
    gbx_buf to;

    /* Announce earlier changes first: this client is about to see them anyway. */
    gbx_mcp_announce(server);
    gbx_mcp_reply_begin(&to, request, "complete", NULL);
    gbx_json_put_open(&to, members[list], '[');
    for (size_t i = 0; i < registry->count; i++) {
        gbx_json_put_key(&to, NULL);
        (void)gbx_buf_puts(&to, registry->entries[i].shown);
    }
    if (len > 0) {
        gbx_json_put_key(&to, NULL);
        (void)gbx_buf_append(&to, entries, len);
    }
    (void)gbx_buf_puts(&to, "]");
    gbx_mcp_reply_cacheable(&to, request);
    server->legacy.lists[list == GBX_MCP_TEMPLATES ? GBX_MCP_RESOURCES : list] = true;
    gbx_mcp_reply_end(request, &to);
}

/* A list has one page, so no cursor is valid. */
void gbx_mcp_on_list(gbx_mcp_request *request)
{
    char cursor = gbx_view_kind(gbx_view_member(request->params, "cursor"));

    if (cursor != 0 && cursor != 'n')
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "the cursor is not one of this list");
    else if (request->server->proxy != NULL && request->method->list != GBX_MCP_TOOLS)
        run_elsewhere(request);
    else
        gbx_mcp_finish_list(request, NULL, 0);
}

/* ---- calls and reads --------------------------------------------------------- */

/* Fail with the advice for that name, or else with the nearest name of a tool. */
static void fail_unknown(gbx_mcp_request *request, const char *name)
{
    const gbx_mcp_server *server = request->server;
    const gbx_mcp_registry *tools = &server->lists[GBX_MCP_TOOLS];
    const char *keys[NEAREST_MAX];
    size_t count = tools->count < NEAREST_MAX ? tools->count : NEAREST_MAX;
    const char *nearest;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf advice = {.ceiling = GBX_KIB(4)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(8)};

    for (size_t i = 0; i < count; i++)
        keys[i] = tools->entries[i].key;
    nearest = gbx_nearest(name, keys, count);
    if (server->advise != NULL)
        server->advise(server->advise_user, name, &advice);
    (void)gbx_buf_printf(&text, "unknown tool '%s'", name);
    if (advice.len > 0)
        (void)gbx_buf_printf(&text, ": %.*s", (int)advice.len, (char *)advice.data);
    else if (nearest != NULL)
        (void)gbx_buf_printf(&text, ": did you mean '%s'?", nearest);
    gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, gbx_rpc_string(&text));
}

/* The resource or template for params.uri, or NULL. uri is a copy, "" if too long. */
static gbx_mcp_entry *resource_of(const gbx_mcp_request *request,
                                  char uri[GBX_MCP_URI_MAX])
{
    const gbx_mcp_registry *of = request->server->lists;
    gbx_mcp_entry *entry;

    if (!gbx_rpc_copy_text(gbx_view_member(request->params, "uri"), uri,
                           GBX_MCP_URI_MAX)) {
        uri[0] = '\0';
        return NULL;
    }
    entry = find_entry(&of[GBX_MCP_RESOURCES], uri);
    if (entry == NULL)
        entry = match_entry(&of[GBX_MCP_TEMPLATES], uri);
    return entry;
}

/* null counts as missing arguments. */
void gbx_mcp_on_call(gbx_mcp_request *request)
{
    gbx_view arguments = gbx_view_member(request->params, "arguments");
    gbx_mcp_entry *tool;
    char name[NAME_SIZE];

    if (!gbx_rpc_copy_text(gbx_view_member(request->params, "name"), name,
                           sizeof name)) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "name must be a string of at most 128 bytes");
        return;
    }
    tool = find_entry(&request->server->lists[GBX_MCP_TOOLS], name);
    if (tool == NULL) {
        fail_unknown(request, name);
        return;
    }
    gbx_call_span_begin(&request->span, request->server->telemetry, tool->key,
                        gbx_mcp_request_meta(request, "traceparent"));
    if (arguments.at == NULL || gbx_view_kind(arguments) == 'n')
        arguments = (gbx_view){"{}", 2};
    if (gbx_view_kind(arguments) == '{')
        tool->call(tool->user, request, arguments);
    else
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "arguments must be an object");
}

void gbx_mcp_on_prompt(gbx_mcp_request *request)
{
    if (request->server->proxy != NULL)
        run_elsewhere(request);
    else
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "this server has no prompts");
}

void gbx_mcp_on_read(gbx_mcp_request *request)
{
    const gbx_mcp_proxy *proxy = request->server->proxy;
    gbx_view view = gbx_view_member(request->params, "uri");
    char uri[GBX_MCP_URI_MAX];
    gbx_mcp_entry *entry;

    if (gbx_view_kind(view) != '"') {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "uri must be a string");
        return;
    }
    entry = resource_of(request, uri);
    if (proxy != NULL && strncmp(uri, proxy->scheme, strlen(proxy->scheme)) == 0)
        run_elsewhere(request);
    else if (entry == NULL)
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
