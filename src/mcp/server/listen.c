/* SPDX-License-Identifier: MIT */
/* listen - decides which client gets which notification. Legacy clients hear of all
 * lists that they have seen and of their subscribed resources, modern ones of what
 * their subscriptions name. */
#include "mcp/server/server_state.h"

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
};

#define CHANGES (sizeof changes / sizeof changes[0])

static bool holds(char *const *uris, size_t count, const char *uri)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(uris[i], uri) == 0)
            return true;
    return false;
}

static bool append_uri(char ***uris, size_t *count, const char *uri)
{
    char **more = reallocarray(*uris, *count + 1, sizeof *more);

    if (more == NULL)
        return false;
    *uris = more;
    more[*count] = strdup(uri);
    if (more[*count] == NULL)
        return false;
    (*count)++;
    return true;
}

/* info: of the server, in results; or NULL. */
static void append_subscription(gbx_buf *to, const gbx_mcp_listen *listen,
                                const char *info)
{
    (void)gbx_buf_puts(to, "\"_meta\":{");
    if (info != NULL) {
        (void)gbx_buf_puts(to, "\"io.modelcontextprotocol/serverInfo\":");
        (void)gbx_buf_puts(to, info);
        (void)gbx_buf_puts(to, ",");
    }
    (void)gbx_buf_puts(to, "\"io.modelcontextprotocol/subscriptionId\":");
    (void)gbx_buf_append(to, listen->id, listen->id_len);
    (void)gbx_buf_puts(to, "}");
}

/* listen NULL: to a legacy client. uri NULL: a list has changed. */
static void notify(gbx_mcp_session *session, const gbx_mcp_listen *listen,
                   const char *method, const char *uri)
{
    gbx_buf to;

    gbx_buf_init(&to, GBX_MCP_MESSAGE_MAX);
    gbx_rpc_begin_notification(&to, method);
    (void)gbx_buf_puts(&to, "{");
    if (listen != NULL)
        append_subscription(&to, listen, NULL);
    if (uri != NULL) {
        (void)gbx_buf_puts(&to, listen != NULL ? ",\"uri\":" : "\"uri\":");
        (void)gbx_json_append_string(&to, uri, strlen(uri));
    }
    (void)gbx_buf_puts(&to, "}");
    gbx_rpc_end(&to);
    gbx_mcp_session_send(session, &to);
}

static void announce_list(gbx_mcp_session *session, size_t change)
{
    gbx_mcp_list list = changes[change].list;
    bool has_listed =
        session->has_listed[list] ||
        (list == GBX_MCP_RESOURCES && session->has_listed[GBX_MCP_TEMPLATES]);

    if (session->version[0] != '\0' && has_listed)
        notify(session, NULL, changes[change].notification, NULL);
    for (gbx_mcp_listen *l = session->listens; l != NULL; l = l->next)
        if (l->lists[list])
            notify(session, l, changes[change].notification, NULL);
}

static void free_listen(gbx_mcp_listen *listen)
{
    gbx_mcp_uris_free(listen->uris, listen->uri_count);
    free(listen);
}

/* ---- subscriptions/listen --------------------------------------------------- */

/* False: the filter is malformed, or memory is out. */
static bool read_uris(gbx_mcp_listen *listen, gbx_view list)
{
    char uri[GBX_MCP_URI_MAX];
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    if (list.at == NULL)
        return true;
    if (gbx_view_kind(list) != '[')
        return false;
    while (gbx_view_next(list, &cursor, &name, &value)) {
        if (listen->uri_count >= GBX_MCP_SUBSCRIBED_MAX ||
            !gbx_rpc_copy_text(value, uri, sizeof uri))
            return false;
        if (!holds(listen->uris, listen->uri_count, uri) &&
            !append_uri(&listen->uris, &listen->uri_count, uri))
            return false;
    }
    return true;
}

static bool read_filter(gbx_mcp_listen *listen, gbx_view filter)
{
    if (gbx_view_kind(filter) != '{')
        return false;
    for (size_t i = 0; i < CHANGES; i++) {
        gbx_view flag = gbx_view_member(filter, changes[i].filter);

        if (flag.at != NULL && gbx_view_kind(flag) != 't' && gbx_view_kind(flag) != 'f')
            return false;
        listen->lists[changes[i].list] = gbx_view_is_true(flag);
    }
    return read_uris(listen, gbx_view_member(filter, "resourceSubscriptions"));
}

static void acknowledge(gbx_mcp_session *session, const gbx_mcp_listen *listen)
{
    const char *comma = "";
    gbx_buf to;

    gbx_buf_init(&to, GBX_MCP_MESSAGE_MAX);
    gbx_rpc_begin_notification(&to, "notifications/subscriptions/acknowledged");
    (void)gbx_buf_puts(&to, "{");
    append_subscription(&to, listen, NULL);
    (void)gbx_buf_puts(&to, ",\"notifications\":{");
    for (size_t i = 0; i < CHANGES; i++) {
        if (!listen->lists[changes[i].list])
            continue;
        (void)gbx_buf_printf(&to, "%s\"%s\":true", comma, changes[i].filter);
        comma = ",";
    }
    if (listen->uri_count > 0)
        (void)gbx_buf_printf(&to, "%s\"resourceSubscriptions\":[", comma);
    for (size_t i = 0; i < listen->uri_count; i++) {
        (void)gbx_buf_puts(&to, i > 0 ? "," : "");
        (void)gbx_json_append_string(&to, listen->uris[i], strlen(listen->uris[i]));
    }
    (void)gbx_buf_puts(&to, listen->uri_count > 0 ? "]}}" : "}}");
    gbx_rpc_end(&to);
    gbx_mcp_session_send(session, &to);
}

static void close_listen(gbx_mcp_session *session, const gbx_mcp_listen *listen)
{
    gbx_buf to;

    gbx_buf_init(&to, GBX_MCP_MESSAGE_MAX);
    gbx_rpc_begin_result(&to, (gbx_view){listen->id, listen->id_len});
    (void)gbx_buf_puts(&to, "{\"resultType\":\"complete\",");
    append_subscription(&to, listen, session->server->info);
    (void)gbx_buf_puts(&to, "}");
    gbx_rpc_end(&to);
    gbx_mcp_session_send(session, &to);
}

void gbx_mcp_on_listen(gbx_mcp_request *request)
{
    gbx_mcp_session *session = request->session;
    gbx_mcp_listen *listen;

    if (request->id_len > GBX_RPC_ID_MAX) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "the id of a subscription has at most 256 bytes");
        return;
    }
    if (session->listen_count >= GBX_MCP_LISTENS_MAX) {
        gbx_mcp_fail(request, GBX_RPC_INTERNAL_ERROR,
                     "too many subscriptions are open");
        return;
    }
    listen = calloc(1, sizeof *listen);
    if (listen == NULL ||
        !read_filter(listen, gbx_view_member(request->params, "notifications"))) {
        if (listen != NULL)
            free_listen(listen);
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                     "notifications must be an object of flags, and of at most 1024 "
                     "URIs in resourceSubscriptions");
        return;
    }
    memcpy(listen->id, request->id, request->id_len);
    listen->id_len = request->id_len;
    listen->next = session->listens;
    session->listens = listen;
    session->listen_count++;
    acknowledge(session, listen);
    /* The subscription keeps the id; the request itself is done. */
    gbx_mcp_request_free(request);
}

bool gbx_mcp_listen_has(const gbx_mcp_session *session, gbx_view id)
{
    for (const gbx_mcp_listen *l = session->listens; l != NULL; l = l->next)
        if (gbx_rpc_same_id((gbx_view){l->id, l->id_len}, id))
            return true;
    return false;
}

bool gbx_mcp_listen_cancel(gbx_mcp_session *session, gbx_view id)
{
    for (gbx_mcp_listen **at = &session->listens; *at != NULL; at = &(*at)->next) {
        gbx_mcp_listen *listen = *at;

        if (!gbx_rpc_same_id((gbx_view){listen->id, listen->id_len}, id))
            continue;
        *at = listen->next;
        session->listen_count--;
        free_listen(listen);
        return true;
    }
    return false;
}

void gbx_mcp_listens_free(gbx_mcp_session *session, bool say_so)
{
    while (session->listens != NULL) {
        gbx_mcp_listen *listen = session->listens;

        session->listens = listen->next;
        if (say_so)
            close_listen(session, listen);
        free_listen(listen);
    }
    session->listen_count = 0;
}

void gbx_mcp_uris_free(char **uris, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(uris[i]);
    free(uris);
}

void gbx_mcp_announce(gbx_mcp_server *server)
{
    bool *is_changed = server->is_changed;

    is_changed[GBX_MCP_RESOURCES] |= is_changed[GBX_MCP_TEMPLATES];
    is_changed[GBX_MCP_TEMPLATES] = false;
    for (size_t i = 0; i < CHANGES; i++) {
        if (!is_changed[changes[i].list])
            continue;
        is_changed[changes[i].list] = false;
        for (gbx_mcp_session *s = server->sessions; s != NULL; s = s->next)
            if (!s->is_ended)
                announce_list(s, i);
    }
}

void gbx_mcp_server_resource_updated(gbx_mcp_server *server, const char *uri)
{
    static const char method[] = "notifications/resources/updated";

    for (gbx_mcp_session *s = server->sessions; s != NULL; s = s->next) {
        if (s->is_ended)
            continue;
        if (holds(s->uris, s->uri_count, uri))
            notify(s, NULL, method, uri);
        for (gbx_mcp_listen *l = s->listens; l != NULL; l = l->next)
            if (holds(l->uris, l->uri_count, uri))
                notify(s, l, method, uri);
    }
}

void gbx_mcp_on_subscribe(gbx_mcp_request *request)
{
    gbx_mcp_session *session = request->session;
    char uri[GBX_MCP_URI_MAX];

    if (!gbx_rpc_copy_text(gbx_view_member(request->params, "uri"), uri, sizeof uri)) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "uri must be a string");
        return;
    }
    if (!holds(session->uris, session->uri_count, uri) &&
        (session->uri_count >= GBX_MCP_SUBSCRIBED_MAX ||
         !append_uri(&session->uris, &session->uri_count, uri))) {
        gbx_mcp_fail(request, GBX_RPC_INTERNAL_ERROR, "too many subscriptions");
        return;
    }
    gbx_mcp_reply_empty(request);
}

void gbx_mcp_on_unsubscribe(gbx_mcp_request *request)
{
    gbx_mcp_session *session = request->session;
    char uri[GBX_MCP_URI_MAX];

    if (!gbx_rpc_copy_text(gbx_view_member(request->params, "uri"), uri, sizeof uri)) {
        gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS, "uri must be a string");
        return;
    }
    for (size_t i = 0; i < session->uri_count; i++) {
        if (strcmp(session->uris[i], uri) != 0)
            continue;
        free(session->uris[i]);
        session->uris[i] = session->uris[--session->uri_count];
        break;
    }
    gbx_mcp_reply_empty(request);
}
