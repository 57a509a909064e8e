/* SPDX-License-Identifier: MIT */
/* listen - decides which notifications the client gets. A legacy client gets those of
 * lists that it has requested and of resources that it has subscribed to, a modern one
 * those that its subscriptions name. */
#include "mcp/server/server_state.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    gbx_mcp_list list;
    const char *filter;
    const char *notification;
} changes[] = {
    {GBX_MCP_TOOLS, "toolsListChanged", "notifications/tools/list_changed"},
    {GBX_MCP_RESOURCES, "resourcesListChanged", "notifications/resources/list_changed"},
    {GBX_MCP_PROMPTS, "promptsListChanged", "notifications/prompts/list_changed"},
};

/* The index of uri, or uris->count. */
static size_t find_uri(const gbx_mcp_uris *uris, const char *uri)
{
    size_t i = 0;

    while (i < uris->count && strcmp(uris->items[i], uri) != 0)
        i++;
    return i;
}

static bool holds(const gbx_mcp_uris *uris, const char *uri)
{
    return find_uri(uris, uri) < uris->count;
}

/* False: there are too many. */
static bool add_uri(gbx_mcp_uris *uris, const char *uri)
{
    if (holds(uris, uri))
        return true;
    if (uris->count >= GBX_MCP_SUBSCRIBED_MAX)
        return false;
    uris->items =
        gbx_need(reallocarray(uris->items, uris->count + 1, sizeof *uris->items));
    uris->items[uris->count++] = gbx_need(strdup(uri));
    return true;
}

/* info: the server's, for results; or NULL. */
static void put_subscription(gbx_buf *to, const gbx_mcp_listen *listen,
                             const char *info)
{
    gbx_json_put_open(to, "_meta", '{');
    gbx_json_put_json(to, "io.modelcontextprotocol/serverInfo", info,
                      info != NULL ? strlen(info) : 0);
    gbx_json_put_json(to, "io.modelcontextprotocol/subscriptionId", listen->id,
                      listen->id_len);
    (void)gbx_buf_puts(to, "}");
}

/* listen may be that of the legacy client. uri NULL: a list has changed. */
static void notify(gbx_mcp_server *server, const gbx_mcp_listen *listen,
                   const char *method, const char *uri)
{
    gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};

    gbx_rpc_begin_notification(&to, method);
    if (listen->id_len > 0)
        put_subscription(&to, listen, NULL);
    gbx_json_put_text(&to, "uri", uri);
    gbx_rpc_end(&to);
    gbx_mcp_send(server, &to);
}

static void tell_subscribed(const gbx_mcp_server *server)
{
    if (server->proxy != NULL)
        server->proxy->subscribed(server->proxy->user);
}

static void each_uri(const gbx_mcp_uris *uris, void (*fn)(void *user, const char *uri),
                     void *user)
{
    for (size_t i = 0; i < uris->count; i++)
        fn(user, uris->items[i]);
}

void gbx_mcp_server_each_subscribed(const gbx_mcp_server *server,
                                    void (*fn)(void *user, const char *uri), void *user)
{
    const gbx_mcp_listen *l;

    each_uri(&server->legacy.uris, fn, user);
    LIST_FOREACH(l, &server->listens, entry)
    each_uri(&l->uris, fn, user);
}

void gbx_mcp_server_list_changed(gbx_mcp_server *server, gbx_mcp_list list)
{
    server->is_changed[list] = true;
    gbx_mcp_settle_soon(server);
}

/* ---- subscriptions/listen --------------------------------------------------- */

/* False: the filter is malformed. */
static bool read_filter(gbx_mcp_listen *listen, gbx_view filter)
{
    gbx_view list = gbx_view_member(filter, "resourceSubscriptions");
    char uri[GBX_MCP_URI_MAX];
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    if (gbx_view_kind(filter) != '{')
        return false;
    for (size_t i = 0; i < GBX_COUNTOF(changes); i++) {
        gbx_view flag = gbx_view_member(filter, changes[i].filter);

        if (flag.at != NULL && gbx_view_kind(flag) != 't' && gbx_view_kind(flag) != 'f')
            return false;
        listen->lists[changes[i].list] = gbx_view_is_true(flag);
    }
    if (list.at == NULL)
        return true;
    if (gbx_view_kind(list) != '[')
        return false;
    while (gbx_view_next(list, &cursor, &name, &value))
        if (!gbx_rpc_copy_text(value, uri, sizeof uri) || !add_uri(&listen->uris, uri))
            return false;
    return true;
}

static void acknowledge(gbx_mcp_server *server, const gbx_mcp_listen *listen)
{
    gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};

    gbx_rpc_begin_notification(&to, "notifications/subscriptions/acknowledged");
    put_subscription(&to, listen, NULL);
    gbx_json_put_open(&to, "notifications", '{');
    for (size_t i = 0; i < GBX_COUNTOF(changes); i++)
        if (listen->lists[changes[i].list])
            gbx_json_put_bool(&to, changes[i].filter, true);
    if (listen->uris.count > 0) {
        gbx_json_put_open(&to, "resourceSubscriptions", '[');
        for (size_t i = 0; i < listen->uris.count; i++)
            gbx_json_put_text(&to, NULL, listen->uris.items[i]);
        (void)gbx_buf_puts(&to, "]");
    }
    (void)gbx_buf_puts(&to, "}");
    gbx_rpc_end(&to);
    gbx_mcp_send(server, &to);
}

void gbx_mcp_on_listen(gbx_mcp_request *request)
{
    gbx_mcp_server *server = request->server;
    gbx_mcp_listen *listen;

    if (request->id_len > GBX_RPC_ID_MAX) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "the id of a subscription has at most 256 bytes");
        return;
    }
    if (server->listen_count >= GBX_MCP_LISTENS_MAX) {
        gbx_mcp_fail(request, GBX_RPC_INTERNAL_ERROR,
                     "too many subscriptions are open");
        return;
    }
    listen = gbx_need(calloc(1, sizeof *listen));
    if (!read_filter(listen, gbx_view_member(request->params, "notifications"))) {
        gbx_mcp_uris_free(&listen->uris);
        free(listen);
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "notifications must be an object of flags, and of at most 1024 "
                     "URIs in resourceSubscriptions");
        return;
    }
    memcpy(listen->id, request->id, request->id_len);
    listen->id_len = request->id_len;
    LIST_INSERT_HEAD(&server->listens, listen, entry);
    server->listen_count++;
    acknowledge(server, listen);
    tell_subscribed(server);
    /* The subscription keeps the id; the request itself is done. */
    gbx_mcp_request_free(request);
}

gbx_mcp_listen *gbx_mcp_listen_find(const gbx_mcp_server *server, gbx_view id)
{
    gbx_mcp_listen *l;

    LIST_FOREACH(l, &server->listens, entry)
    if (gbx_rpc_same_id((gbx_view){l->id, l->id_len}, id))
        return l;
    return NULL;
}

static void drop_listen(gbx_mcp_server *server, gbx_mcp_listen *listen)
{
    LIST_REMOVE(listen, entry);
    server->listen_count--;
    gbx_mcp_uris_free(&listen->uris);
    free(listen);
    tell_subscribed(server);
}

bool gbx_mcp_listen_cancel(gbx_mcp_server *server, gbx_view id)
{
    gbx_mcp_listen *listen = gbx_mcp_listen_find(server, id);

    if (listen != NULL)
        drop_listen(server, listen);
    return listen != NULL;
}

void gbx_mcp_listens_end(gbx_mcp_server *server)
{
    gbx_mcp_listen *listen;

    while ((listen = LIST_FIRST(&server->listens)) != NULL) {
        gbx_buf to = {.ceiling = GBX_MCP_MESSAGE_MAX};

        gbx_rpc_begin_result(&to, (gbx_view){listen->id, listen->id_len});
        gbx_json_put_text(&to, "resultType", "complete");
        put_subscription(&to, listen, server->info);
        gbx_rpc_end(&to);
        gbx_mcp_send(server, &to);
        drop_listen(server, listen);
    }
}

void gbx_mcp_uris_free(gbx_mcp_uris *uris)
{
    for (size_t i = 0; i < uris->count; i++)
        free(uris->items[i]);
    free(uris->items);
}

void gbx_mcp_announce(gbx_mcp_server *server)
{
    bool *is_changed = server->is_changed;
    const gbx_mcp_listen *l;

    is_changed[GBX_MCP_RESOURCES] |= is_changed[GBX_MCP_TEMPLATES];
    is_changed[GBX_MCP_TEMPLATES] = false;
    for (size_t i = 0; i < GBX_COUNTOF(changes); i++) {
        const char *method = changes[i].notification;
        gbx_mcp_list list = changes[i].list;

        if (!is_changed[list])
            continue;
        is_changed[list] = false;
        if (server->version[0] != '\0' && server->legacy.lists[list])
            notify(server, &server->legacy, method, NULL);
        LIST_FOREACH(l, &server->listens, entry)
        if (l->lists[list])
            notify(server, l, method, NULL);
    }
}

void gbx_mcp_server_resource_updated(gbx_mcp_server *server, const char *uri)
{
    static const char method[] = "notifications/resources/updated";
    const gbx_mcp_listen *l;

    if (holds(&server->legacy.uris, uri))
        notify(server, &server->legacy, method, uri);
    LIST_FOREACH(l, &server->listens, entry)
    if (holds(&l->uris, uri))
        notify(server, l, method, uri);
}

static bool read_uri(gbx_mcp_request *request, char uri[GBX_MCP_URI_MAX])
{
    if (gbx_rpc_copy_text(gbx_view_member(request->params, "uri"), uri,
                          GBX_MCP_URI_MAX))
        return true;
    gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "uri must be a string");
    return false;
}

void gbx_mcp_on_subscribe(gbx_mcp_request *request)
{
    char uri[GBX_MCP_URI_MAX];

    if (!read_uri(request, uri))
        return;
    if (!add_uri(&request->server->legacy.uris, uri)) {
        gbx_mcp_fail(request, GBX_RPC_INTERNAL_ERROR, "too many subscriptions");
        return;
    }
    tell_subscribed(request->server);
    gbx_mcp_reply_empty(request);
}

void gbx_mcp_on_unsubscribe(gbx_mcp_request *request)
{
    gbx_mcp_uris *uris = &request->server->legacy.uris;
    char uri[GBX_MCP_URI_MAX];
    size_t at;

    if (!read_uri(request, uri))
        return;
    at = find_uri(uris, uri);
    if (at < uris->count) {
        free(uris->items[at]);
        uris->items[at] = uris->items[--uris->count];
        tell_subscribed(request->server);
    }
    gbx_mcp_reply_empty(request);
}
