/* SPDX-License-Identifier: MIT */
/*
 * catalog - looks up servers and tools, finds what a wrong name may mean, and lists
 * tools. Server names come from the configuration, tool names from the servers' lists.
 */
#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/code/code_mode.h"
#include "syntax/tree.h"

#include <stdlib.h>
#include <string.h>

#define SERVERS_MAX 512 /* searched for the nearest name */
#define NAMED_MAX   20  /* named in one message */
#define MEANT_MAX   5
#define PATIENCE_MS 15000 /* the longest wait for servers that start */

/* ---- servers --------------------------------------------------------------------- */

bool gbx_code_is_listed(const gbx_mcp_upstream_config *server)
{
    return !server->disabled || server->fault != NULL;
}

bool gbx_code_is_eager(const gbx_mcp_code *code)
{
    size_t eager = 0;

    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *c = &code->config->servers[i];

        if (!c->disabled && !c->eager)
            return false;
        eager += !c->disabled;
    }
    return eager > 0;
}

/* List the servers that code may see; returns their number. */
static size_t list_servers(const gbx_mcp_code *code, const char *ret[SERVERS_MAX])
{
    size_t count = 0;

    for (size_t i = 0; i < code->config->server_count && count < SERVERS_MAX; i++)
        if (gbx_code_is_listed(&code->config->servers[i]))
            ret[count++] = code->config->servers[i].name;
    return count;
}

void gbx_code_put_servers(const gbx_mcp_code *code, gbx_buf *to)
{
    const char *names[SERVERS_MAX] = {NULL};
    size_t count = list_servers(code, names);

    (void)gbx_buf_puts(to, count > 0 ? "there are:" : "there are none");
    for (size_t i = 0; i < count && i < NAMED_MAX; i++)
        (void)gbx_buf_printf(to, "%s %s", i > 0 ? "," : "", names[i]);
    (void)gbx_buf_puts(to, count > NAMED_MAX ? ", ..." : "");
}

const gbx_mcp_upstream_config *gbx_code_find_server(const gbx_mcp_code *code,
                                                    const char *name, gbx_buf *message,
                                                    const char **ret_code)
{
    const gbx_mcp_upstream_config *found = gbx_mcp_config_server(code->config, name);

    *ret_code = found != NULL && found->fault != NULL ? "UPSTREAM_START" : "NOT_FOUND";
    if (found != NULL && !found->disabled)
        return found;
    if (found == NULL) {
        const char *names[SERVERS_MAX] = {NULL};
        const char *near = gbx_nearest_name(name, names, list_servers(code, names));

        (void)gbx_buf_printf(message, "unknown server '%.64s'", name);
        if (near != NULL)
            (void)gbx_buf_printf(message, ": did you mean '%s'?", near);
        (void)gbx_buf_puts(message, " (");
        gbx_code_put_servers(code, message);
        (void)gbx_buf_puts(message, ")");
    } else if (found->fault != NULL) {
        (void)gbx_buf_printf(message, "the server '%s' cannot start: %s", found->name,
                             found->fault);
    } else {
        (void)gbx_buf_printf(message,
                             "the server '%s' is disabled in the configuration",
                             found->name);
    }
    return NULL;
}

/* A name without letters and digits means nothing else. */
static bool may_mean(const char *name, const char *other)
{
    return gbx_names_alike(name, other) && !gbx_names_alike(name, "");
}

const char *gbx_code_meant_server(const gbx_mcp_code *code, const char *name)
{
    const char *found = NULL;

    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *server = &code->config->servers[i];

        if (!gbx_code_is_listed(server))
            continue;
        if (strcmp(server->name, name) == 0)
            return server->name;
        if (found == NULL && may_mean(name, server->name))
            found = server->name;
    }
    return found;
}

/* ---- tools ----------------------------------------------------------------------- */

static bool has_tool(const gbx_mcp_code *code, gbx_upstream_id *server,
                     const char *tool)
{
    gbx_gate_hint known = gbx_upstreams_tool(code->upstreams, server, tool);

    return known == GBX_GATE_HINT_READS || known == GBX_GATE_HINT_OTHER;
}

char *gbx_code_other_name(const gbx_mcp_code *code,
                          const gbx_mcp_upstream_config *server, const char *tool)
{
    gbx_view tools = gbx_upstreams_info(code->upstreams, server).tools;
    size_t cursor = 0;
    char name[GBX_TOOL_NAME_MAX + 1];
    char *found = NULL;
    unsigned fits = 0;
    gbx_view key;
    gbx_view one;

    if (has_tool(code, server, tool))
        return NULL; /* something else was not found */
    while (gbx_view_next(tools, &cursor, &key, &one)) {
        if (!gbx_code_take_name(gbx_view_member(one, "name"), name, sizeof name) ||
            !may_mean(tool, name))
            continue;
        fits++;
        free(found);
        found = strdup(name);
    }
    if (fits == 1)
        return found;
    free(found);
    return NULL;
}

/* Other hosts prefix a tool with its server's name: files.read, mcp__files__read. */
static const char *without_server(const char *server, const char *tool)
{
    size_t len = strlen(server);
    const char *name = strncmp(tool, "mcp__", 5) == 0 ? tool + 5 : tool;
    const char *rest;

    if (strncmp(name, server, len) != 0)
        return tool;
    rest = name + len + strspn(name + len, "._-/:");
    return rest > name + len && *rest != 0 ? rest : tool;
}

/* Name the nearest tool of each server; nothing if some server has that tool. */
static void no_tool_anywhere(const gbx_mcp_code *code, const char *tool,
                             gbx_buf *message)
{
    const gbx_mcp_config *config = code->config;
    size_t meant = 0;

    for (size_t i = 0; i < config->server_count; i++)
        if (has_tool(code, &config->servers[i], tool))
            return;
    (void)gbx_buf_printf(message, "no server has a tool '%.256s'", tool);
    for (size_t i = 0; i < config->server_count && meant < MEANT_MAX; i++) {
        gbx_upstream_id *server = &config->servers[i];
        const char *near = gbx_upstreams_nearest_tool(code->upstreams, server, tool);

        if (near != NULL)
            (void)gbx_buf_printf(message, "%s'%s.%s'",
                                 meant++ == 0 ? ": did you mean " : " or ",
                                 server->name, near);
    }
    (void)gbx_buf_puts(message, meant > 0 ? "?" : "");
}

void gbx_code_no_tool(const gbx_mcp_code *code, const gbx_mcp_upstream_config *server,
                      const char *tool, gbx_buf *message)
{
    const char *near;

    if (server == NULL) {
        no_tool_anywhere(code, tool, message);
        return;
    }
    if (gbx_upstreams_tool(code->upstreams, server, tool) != GBX_GATE_HINT_MISSING)
        return;
    near = gbx_upstreams_nearest_tool(code->upstreams, server,
                                      without_server(server->name, tool));
    (void)gbx_buf_printf(message, GBX_NO_TOOL_FORMAT, server->name, tool);
    if (near != NULL)
        (void)gbx_buf_printf(message, ": did you mean '%s'?", near);
    else
        (void)gbx_buf_printf(message, ": discover({ server: \"%s\" }) lists its tools",
                             server->name);
}

/* A server's name as it is written after a dot: '_' for other characters. */
static char *as_word(const char *name)
{
    char *word = gbx_need(strdup(name));

    for (char *at = word; *at != 0; at++)
        if (!gbx_text_is_name((unsigned char)*at) || *at == '$')
            *at = '_';
    return word;
}

void gbx_code_put_call(const gbx_mcp_code *code, const char *word, bool is_tool,
                       gbx_buf *to)
{
    const gbx_mcp_config *config = code->config;
    size_t meant = 0;

    for (size_t i = 0; i < config->server_count && meant < MEANT_MAX; i++) {
        const char *server = config->servers[i].name;
        GBX_CLEANUP(gbx_free) char *alias = as_word(server);
        const char *tool = without_server(is_tool ? server : alias, word);
        gbx_upstream_info info =
            gbx_upstreams_info(code->upstreams, &config->servers[i]);
        /* While the server's tools are unknown, only a word with its name counts. */
        bool may_be = tool != word && gbx_view_count(info.tools) == 0;

        if (!may_be && !has_tool(code, &config->servers[i], tool))
            continue;
        (void)gbx_buf_puts(to, meant++ > 0 ? " or "
                               : is_tool   ? "call it by the tool 'call', with "
                                           : "did you mean ");
        if (!is_tool) {
            (void)gbx_buf_printf(to, "servers.%s.%s(args)", alias, tool);
            continue;
        }
        (void)gbx_buf_printf(to, "{\"server\": \"%s\", \"tool\": ", server);
        (void)gbx_json_append_safe(to, tool, strlen(tool));
        (void)gbx_buf_puts(to, ", \"args\": {...}}");
    }
    if (meant > 0)
        (void)gbx_buf_puts(to, is_tool ? ", or in the code of 'execute'" : "?");
}

void gbx_code_advise_call(void *user, const char *word, gbx_buf *to)
{
    gbx_code_put_call(user, word, true, to);
}

/* ---- lists of tools -------------------------------------------------------------- */

/* Servers start when a request for tools needs them. A server that does not come up
 * delays the answer for a limited time. In a list of all servers, one whose last start
 * failed does not delay it; it is started again for later requests. */
struct gbx_tool_listing {
    gbx_mcp_code *code;
    gbx_mcp_request *request; /* ends the wait when it is cancelled; or NULL */
    gbx_listed_fn done;
    void (*drop)(void *user);
    void *user;
    LIST_ENTRY(gbx_tool_listing) in_code;
    TAILQ_ENTRY(gbx_tool_listing) in_listed;
    gbx_mcp_timer late;
    unsigned pending; /* servers that have not answered yet */
    bool is_of_one;
    bool is_listed; /* waits for its turn */
    bool is_told;
};

static void detach(struct gbx_tool_listing *l)
{
    l->is_told = true;
    if (l->request != NULL)
        gbx_mcp_on_cancel(l->request, NULL, NULL);
    gbx_mcp_timer_cleanup(&l->late);
    LIST_REMOVE(l, in_code);
    if (l->is_listed)
        TAILQ_REMOVE(&l->code->listed, l, in_listed);
}

/* Report once. The listing is freed when the last server has answered. */
static void tell(struct gbx_tool_listing *l, const gbx_upstream_reply *failure)
{
    if (!l->is_told) {
        detach(l);
        l->done(l->user, failure);
    }
    if (l->pending == 0)
        free(l);
}

static void on_turn(void *user)
{
    gbx_mcp_code *code = user;

    if (!TAILQ_EMPTY(&code->listed)) /* it may have been cancelled */
        tell(TAILQ_FIRST(&code->listed), NULL);
    if (!TAILQ_EMPTY(&code->listed))
        gbx_mcp_timer_set(&code->turn, 0);
}

/* Using a list takes time in proportion to its tools, and code may request thousands at
 * once: give each its own turn of the loop. */
static void line_up(struct gbx_tool_listing *l)
{
    l->is_listed = true;
    gbx_mcp_timer_clear(&l->late);
    TAILQ_INSERT_TAIL(&l->code->listed, l, in_listed);
    gbx_mcp_timer_set(&l->code->turn, 0);
}

static void on_listed(void *user, const gbx_upstream_reply *reply)
{
    struct gbx_tool_listing *l = user;

    if (--l->pending > 0)
        return;
    if (l->is_told || (l->is_of_one && reply->fault != GBX_UPSTREAM_OK))
        tell(l, reply);
    else
        line_up(l);
}

static void on_late(void *user)
{
    static const gbx_upstream_reply late = {.fault = GBX_UPSTREAM_START,
                                            .message = "it has not started yet"};
    struct gbx_tool_listing *l = user;

    tell(l, l->is_of_one ? &late : NULL);
}

static void on_cancel(void *user)
{
    tell(user, NULL);
}

/* Known tools suffice. Outdated ones are requested again, but suffice if that fails.
 * starts: the server must run, too. Do not wait twice for a server that fails. */
static void ask(struct gbx_tool_listing *l, gbx_mcp_code *code,
                const gbx_mcp_upstream_config *server, bool starts)
{
    gbx_upstream_info info = gbx_upstreams_info(code->upstreams, server);

    if ((!starts || info.state == GBX_UPSTREAM_READY) &&
        gbx_view_kind(info.tools) == '[') {
        if (!gbx_upstreams_is_dated(code->upstreams, server))
            return;
        l->is_of_one = false;
    }
    if (!l->is_of_one && info.fault[0] != 0) {
        gbx_upstream_retry(code->upstreams, server);
        return;
    }
    gbx_upstream_learn(code->upstreams, server, on_listed, l);
    l->pending++;
}

void gbx_code_list_tools(gbx_mcp_code *code, const gbx_mcp_upstream_config *server,
                         bool starts, gbx_mcp_request *request, gbx_listed_fn done,
                         void (*drop)(void *user), void *user)
{
    struct gbx_tool_listing *l = gbx_need(calloc(1, sizeof *l));

    l->code = code;
    l->request = request;
    l->done = done;
    l->drop = drop;
    l->user = user;
    l->is_of_one = server != NULL;
    gbx_mcp_timer_init(&l->late, code->loop, on_late, l);
    LIST_INSERT_HEAD(&code->listings, l, in_code);
    for (size_t i = 0; i < code->config->server_count; i++) {
        const gbx_mcp_upstream_config *c = &code->config->servers[i];

        if (!c->disabled && (server == NULL || server == c))
            ask(l, code, c, starts);
    }
    if (l->pending == 0)
        line_up(l);
    else
        gbx_mcp_timer_set(&l->late, PATIENCE_MS);
    if (request != NULL)
        gbx_mcp_on_cancel(request, on_cancel, l);
}

void gbx_code_list_tools_begin(gbx_mcp_code *code)
{
    TAILQ_INIT(&code->listed);
    gbx_mcp_timer_init(&code->turn, code->loop, on_turn, code);
}

void gbx_code_list_tools_end(gbx_mcp_code *code)
{
    struct gbx_tool_listing *l;

    while ((l = LIST_FIRST(&code->listings)) != NULL) {
        detach(l);
        if (l->drop != NULL)
            l->drop(l->user);
        if (l->pending == 0)
            free(l);
    }
    gbx_mcp_timer_cleanup(&code->turn);
}
