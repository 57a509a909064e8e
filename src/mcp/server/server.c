/* SPDX-License-Identifier: MIT */
/* server - what is registered, and the turn of the loop that does everything that must
 * not happen inside a handler's own call. */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_ENTRIES 200
#define ASK_MS       300000
#define HOLD_MS      5000
#define BEAT_MS      10000
#define TEXT_MAX     ((size_t)1024 * 1024)

/* How often questions are checked for a timeout. */
static const struct timeval expiry_period = {.tv_sec = 0, .tv_usec = 500000};

static void on_settle(evutil_socket_t fd, short what, void *arg)
{
    gbx_mcp_server *server = arg;

    (void)fd;
    (void)what;
    gbx_mcp_request_settle(server);
    gbx_mcp_asks_settle(server);
    gbx_mcp_run_held(server);
    if (!gbx_mcp_is_held(server))
        gbx_mcp_announce(server);
}

static void on_impatience(evutil_socket_t fd, short what, void *arg)
{
    gbx_mcp_server *server = arg;

    (void)fd;
    (void)what;
    server->is_impatient = true;
    gbx_mcp_settle_soon(server);
}

static void on_expiry(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    gbx_mcp_asks_expire(arg);
    gbx_mcp_beat(arg);
}

static void append_member(gbx_buf *to, const char *name, const char *value)
{
    if (value == NULL)
        return;
    (void)gbx_buf_printf(to, "%s\"%s\":", to->len > 1 ? "," : "", name);
    (void)gbx_json_append_string(to, value, strlen(value));
}

static char *print_info(const gbx_mcp_server_options *o)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf info = {.ceiling = TEXT_MAX};

    (void)gbx_buf_puts(&info, "{");
    append_member(&info, "name", o->name);
    append_member(&info, "title", o->title);
    append_member(&info, "version", o->version);
    append_member(&info, "description", o->description);
    (void)gbx_buf_puts(&info, "}");
    return gbx_buf_take_string(&info, NULL);
}

static void changed(gbx_mcp_server *server, gbx_mcp_list list, bool is_changed)
{
    if (!is_changed)
        return;
    server->is_changed[list] = true;
    gbx_mcp_settle_soon(server);
}

/* ---- entries as the lists show them --------------------------------------- */

static bool is_object(const char *json)
{
    gbx_view view;

    return gbx_view_open(json, strlen(json), &view) && gbx_view_kind(view) == '{';
}

/* The protocol's rule for names of tools. */
static bool is_name(const char *text)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                              "0123456789_.-");

    return len > 0 && len <= 128 && text[len] == '\0';
}

static void append_json(gbx_buf *to, const char *name, const char *json)
{
    if (json == NULL)
        return;
    (void)gbx_buf_printf(to, ",\"%s\":", name);
    (void)gbx_rpc_append_json(to, json, strlen(json));
}

static bool put(gbx_mcp_server *server, gbx_mcp_list list, gbx_mcp_entry *entry,
                const char *key, gbx_buf *shown)
{
    bool is_changed = false;
    bool is_put;

    entry->key = strdup(key);
    entry->shown = gbx_buf_take_string(shown, NULL);
    if (entry->key == NULL || entry->shown == NULL) {
        free(entry->key);
        free(entry->shown);
        free(entry->pattern);
        return false;
    }
    is_put = gbx_mcp_registry_put(&server->lists[list], entry, &is_changed);
    changed(server, list, is_changed);
    return is_put;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_mcp_server_new(gbx_mcp_loop *loop, const gbx_mcp_server_options *options,
                              gbx_mcp_server **ret, gbx_error *reterr)
{
    struct event_base *base = gbx_mcp_loop_base(loop);
    gbx_mcp_server *server = calloc(1, sizeof *server);

    if (server == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "out of memory");
    server->loop = loop;
    server->page_entries =
        options->page_entries > 0 ? options->page_entries : PAGE_ENTRIES;
    server->ask_ms = options->ask_ms > 0 ? options->ask_ms : ASK_MS;
    server->hold_ms = options->hold_ms > 0 ? options->hold_ms : HOLD_MS;
    server->beat_ms = options->beat_ms > 0 ? options->beat_ms : BEAT_MS;
    server->info = print_info(options);
    server->settle = event_new(base, -1, 0, on_settle, server);
    server->expiry = event_new(base, -1, EV_PERSIST, on_expiry, server);
    server->patience = evtimer_new(base, on_impatience, server);
    if (server->info == NULL || server->settle == NULL || server->expiry == NULL ||
        server->patience == NULL || event_add(server->expiry, &expiry_period) != 0 ||
        !gbx_mcp_server_set_instructions(server, options->instructions)) {
        gbx_mcp_server_free(server);
        return gbx_fail(reterr, GBX_E_NOMEM, "out of memory");
    }
    *ret = server;
    return GBX_OK;
}

void gbx_mcp_server_free(gbx_mcp_server *server)
{
    if (server == NULL)
        return;
    while (server->requests != NULL)
        gbx_mcp_request_free(server->requests);
    for (size_t i = 0; i < GBX_MCP_LISTS; i++)
        gbx_mcp_registry_cleanup(&server->lists[i]);
    if (server->settle != NULL)
        event_free(server->settle);
    if (server->expiry != NULL)
        event_free(server->expiry);
    if (server->patience != NULL)
        event_free(server->patience);
    free(server->info);
    free(server->instructions);
    free(server);
}

bool gbx_mcp_server_set_instructions(gbx_mcp_server *server, const char *text)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json = {.ceiling = TEXT_MAX};
    char *quoted = NULL;

    if (text != NULL) {
        (void)gbx_json_append_string(&json, text, strlen(text));
        quoted = gbx_buf_take_string(&json, NULL);
        if (quoted == NULL)
            return false;
    }
    free(server->instructions);
    server->instructions = quoted;
    return true;
}

bool gbx_mcp_server_set_tool(gbx_mcp_server *server, const gbx_mcp_tool *tool)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown = {.ceiling = TEXT_MAX};
    gbx_mcp_entry entry = {.call = tool->call, .user = tool->user};

    if (!is_name(tool->name) || !is_object(tool->input_schema) ||
        (tool->output_schema != NULL && !is_object(tool->output_schema)) ||
        (tool->annotations != NULL && !is_object(tool->annotations)) ||
        (tool->meta != NULL && !is_object(tool->meta)))
        return false;
    (void)gbx_buf_puts(&shown, "{");
    append_member(&shown, "name", tool->name);
    append_member(&shown, "title", tool->title);
    append_member(&shown, "description", tool->description);
    append_json(&shown, "inputSchema", tool->input_schema);
    append_json(&shown, "outputSchema", tool->output_schema);
    append_json(&shown, "annotations", tool->annotations);
    append_json(&shown, "_meta", tool->meta);
    (void)gbx_buf_puts(&shown, "}");
    return put(server, GBX_MCP_TOOLS, &entry, tool->name, &shown);
}

void gbx_mcp_server_on_unknown_tool(gbx_mcp_server *server,
                                    void (*advise)(void *user, const char *name,
                                                   gbx_buf *to),
                                    void *user)
{
    server->advise = advise;
    server->advise_user = user;
}

void gbx_mcp_server_hold(gbx_mcp_server *server)
{
    struct timeval after = {server->hold_ms / 1000,
                            (suseconds_t)(server->hold_ms % 1000) * 1000};

    if (server->holds++ == 0)
        (void)evtimer_add(server->patience, &after);
}

void gbx_mcp_server_release(gbx_mcp_server *server)
{
    if (--server->holds == 0) {
        server->is_impatient = false;
        (void)evtimer_del(server->patience);
    }
    gbx_mcp_settle_soon(server);
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
    if (is_template) {
        entry.pattern = strdup(resource->uri_template);
        if (entry.pattern == NULL)
            return false;
    }
    (void)gbx_buf_puts(&shown, "{");
    append_member(&shown, is_template ? "uriTemplate" : "uri",
                  is_template ? resource->uri_template : resource->uri);
    append_member(&shown, "name", resource->name);
    append_member(&shown, "title", resource->title);
    append_member(&shown, "description", resource->description);
    append_member(&shown, "mimeType", resource->mime_type);
    (void)gbx_buf_puts(&shown, "}");
    gbx_mcp_settle_soon(server); /* a held request may wait for it */
    return put(server, is_template ? GBX_MCP_TEMPLATES : GBX_MCP_RESOURCES, &entry,
               resource->uri, &shown);
}

void gbx_mcp_settle_soon(gbx_mcp_server *server)
{
    event_active(server->settle, 0, 0);
}

bool gbx_mcp_is_held(const gbx_mcp_server *server)
{
    return server->holds > 0 && !server->is_impatient;
}
