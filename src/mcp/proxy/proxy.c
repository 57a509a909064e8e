/* SPDX-License-Identifier: MIT */
/*
 * proxy - passes requests for resources, prompts and completions on, by a table of the
 * methods. What a server sends is hostile: it is redacted by the gate, rewritten with
 * known members, and bounded.
 */
#include "mcp/proxy/proxy.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/timeouts.h"
#include "mcp/code/code.h"

#include <stdlib.h>
#include <string.h>

/* Limits of a list of one server, and of all lists that are being read. */
#define ENTRIES_MAX GBX_TOOLS_MAX
#define PAGES_MAX   200
#define CURSOR_MAX  GBX_KIB(8)
#define LIST_BYTES  GBX_MIB(4)
#define LISTS_BYTES GBX_MIB(64)

#define RESULT_MAX  GBX_MIB(64)
#define PARAMS_MAX  GBX_MIB(16)
#define WANTED_MAX  1024 /* resources of one server that are subscribed to */
#define PATIENCE_MS 5000 /* the longest wait for lists; later ones are announced */

typedef enum row_kind { LIST, READ, GET, COMPLETE } row_kind;

static const struct row {
    const char *method; /* of the client, and to the server */
    row_kind kind;
    gbx_mcp_list list;
    gbx_gate_subject subject;
    const char *name; /* the member of an entry, or of the parameters, that names it */
    gbx_result_kind result;
    unsigned has; /* only servers that declare this are asked */
} rows[] = {
    {"resources/list", LIST, GBX_MCP_RESOURCES, GBX_GATE_RESOURCE, "uri",
     GBX_RESULT_RESOURCES, GBX_HAS_RESOURCES},
    {"resources/templates/list", LIST, GBX_MCP_TEMPLATES, GBX_GATE_RESOURCE,
     "uriTemplate", GBX_RESULT_TEMPLATES, GBX_HAS_RESOURCES},
    {"prompts/list", LIST, GBX_MCP_PROMPTS, GBX_GATE_PROMPT, "name", GBX_RESULT_PROMPTS,
     GBX_HAS_PROMPTS},
    {"resources/read", READ, GBX_MCP_LISTS, GBX_GATE_RESOURCE, "uri",
     GBX_RESULT_CONTENTS, GBX_HAS_RESOURCES},
    {"prompts/get", GET, GBX_MCP_LISTS, GBX_GATE_PROMPT, "name", GBX_RESULT_PROMPT,
     GBX_HAS_PROMPTS},
    {"completion/complete", COMPLETE, GBX_MCP_LISTS, GBX_GATE_PROMPT, "ref",
     GBX_RESULT_COMPLETION, GBX_HAS_COMPLETIONS},
};

typedef struct passing passing;

/* What one server has to do for a request. */
typedef struct part {
    passing *of;
    gbx_upstream_id *server;
    gbx_tool_call *call; /* in flight, or NULL */
    gbx_buf entries;     /* of a list */
    size_t count;
    size_t bytes; /* that the server has sent of them */
    size_t pages;
    bool is_cut;   /* a limit was reached */
    bool is_whole; /* all that will come of the list is there */
} part;

/* One request of the client. It is freed when the last callback has come. */
struct passing {
    LIST_ENTRY(passing) in_proxy;
    gbx_proxy *proxy;
    const struct row *row;
    gbx_mcp_request *request; /* NULL: it was answered, or cancelled */
    gbx_mcp_timer late;
    size_t open; /* callbacks to come */
    size_t count;
    part parts[];
};

typedef struct page {
    gbx_tool_call call; /* the first member */
    part *part;
} page;

struct gbx_proxy {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    const gbx_mcp_config *config;
    gbx_upstreams *upstreams;
    gbx_gate *gate;
    gbx_mcp_proxy hooks;
    bool is_ended;
    size_t bytes; /* of all lists that are being read */
    LIST_HEAD(, passing) requests;
    bool (*is_missing)[GBX_MCP_LISTS]; /* lists without the server of that index */
    bool is_changed[GBX_MCP_LISTS];
    char **updated; /* resources, until the next notification */
    size_t updated_count;
    gbx_mcp_timer news;   /* notifies the client, not too often */
    gbx_mcp_timer follow; /* passes the client's subscriptions on */
};

/* Rules compare URIs as text: one without a scheme could be read in another way. */
static bool is_name(gbx_gate_subject subject, const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789+.-");

    return name[0] != '\0' &&
           (subject != GBX_GATE_RESOURCE || (len > 0 && name[len] == ':'));
}

/* ---- the end of a request -------------------------------------------------------- */

static void answer_list(void *user)
{
    passing *p = user;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf all = {.ceiling = RESULT_MAX};
    gbx_mcp_request *request = p->request;

    for (size_t i = 0; i < p->count; i++) {
        part *one = &p->parts[i];

        p->proxy->is_missing[one->server - p->proxy->config->servers][p->row->list] =
            !one->is_whole;
        if (all.len > 0 && one->entries.len > 0)
            (void)gbx_buf_puts(&all, ",");
        (void)gbx_buf_append(&all, one->entries.data, one->entries.len);
    }
    p->request = NULL; /* no more is asked for it */
    for (size_t i = 0; i < p->count; i++)
        if (p->parts[i].call != NULL)
            gbx_gate_cancel(p->parts[i].call);
    gbx_mcp_finish_list(request, (const char *)all.data, all.failed ? 0 : all.len);
}

/* One more callback has come. */
static void settle(passing *p)
{
    gbx_proxy *proxy = p->proxy;

    if (--p->open > 0)
        return;
    if (p->request != NULL)
        answer_list(p); /* the others were answered with their call */
    for (size_t i = 0; i < p->count; i++) {
        proxy->bytes -= p->parts[i].bytes;
        gbx_buf_cleanup(&p->parts[i].entries);
    }
    gbx_mcp_timer_cleanup(&p->late);
    LIST_REMOVE(p, in_proxy);
    free(p);
    if (proxy->is_ended && LIST_EMPTY(&proxy->requests))
        free(proxy);
}

static void on_cancel(void *user)
{
    passing *p = user;

    if (p->row->kind == LIST)
        answer_list(p);
    else
        gbx_gate_cancel(p->parts[0].call);
}

/* ---- one call to a server --------------------------------------------------------- */

static void drop_page(gbx_tool_call *call)
{
    free(call);
}

static void on_progress(gbx_tool_call *call, const char *message, size_t len)
{
    if (((page *)(void *)call)->part->of->request != NULL)
        gbx_mcp_progress(call->request, -1, message, len);
}

static void on_done(gbx_tool_call *call, const gbx_gate_reply *reply);

/* params is taken over. */
static void start_call(part *one, gbx_gate_subject subject, const char *name,
                       gbx_buf *params)
{
    passing *p = one->of;
    page *sent = gbx_need(calloc(1, sizeof *sent));
    gbx_tool_call *call = &sent->call;

    sent->part = one;
    call->up.server = one->server;
    call->up.method = p->row->method;
    call->up.tool = gbx_need(strdup(name));
    call->subject = subject;
    call->args_text = gbx_need(gbx_buf_take_string(params, &call->args_len));
    call->holders = 1;
    call->done = on_done;
    call->drop = drop_page;
    /* Nobody is asked about a list, nor with each letter of an argument. */
    if (p->row->kind == READ || p->row->kind == GET)
        call->request = p->request;
    if (call->request != NULL && gbx_mcp_wants_progress(call->request))
        call->progress = on_progress;
    one->call = call;
    p->open++;
    gbx_gate_start(p->proxy->gate, call);
}

/* ---- lists ----------------------------------------------------------------------- */

/* A rule may hide it. Those beyond a limit are left out. */
static bool passes(void *user, gbx_view entry)
{
    part *one = user;
    passing *p = one->of;
    GBX_CLEANUP(gbx_free)
    char *name = gbx_view_string(gbx_view_member(entry, p->row->name), GBX_NAMED_MAX);

    one->bytes += entry.len;
    p->proxy->bytes += entry.len;
    if (name == NULL || !is_name(p->row->subject, name))
        return false;
    one->is_cut |= one->count >= ENTRIES_MAX || one->bytes > LIST_BYTES ||
                   p->proxy->bytes > LISTS_BYTES;
    one->count++;
    return !one->is_cut &&
           gbx_gate_permits(p->proxy->gate, one->server->name, p->row->subject, name);
}

/* False: it is not a list of the protocol. */
static bool add_page(part *one, gbx_view result)
{
    const passing *p = one->of;
    const gbx_entry_filter filter = {passes, one};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = RESULT_MAX};
    const char *from;

    if (!gbx_result_write(result, p->row->result, one->server->name,
                          gbx_mcp_request_version(p->request), &filter, &text) ||
        text.failed)
        return false;
    from = gbx_need(memchr(text.data, '[', text.len));
    text.len -= 1; /* the bracket */
    from++;
    if (one->entries.len > 0 && from < (char *)text.data + text.len)
        (void)gbx_buf_puts(&one->entries, ",");
    return gbx_buf_append(&one->entries, from,
                          (size_t)((char *)text.data + text.len - from));
}

static void ask_page(part *one, gbx_view cursor)
{
    gbx_buf params = {.ceiling = PARAMS_MAX};

    (void)gbx_buf_puts(&params, "{");
    gbx_json_put_json(&params, "cursor", cursor.at, cursor.len);
    (void)gbx_buf_puts(&params, "}");
    one->pages++;
    start_call(one, GBX_GATE_LIST, "", &params);
}

static void take_page(part *one, gbx_view result)
{
    gbx_view cursor = gbx_view_member(result, "nextCursor");
    bool has_more = gbx_view_kind(cursor) == '"' && cursor.len > 2;

    if (!add_page(one, result)) {
        gbx_mcp_warn("%s: its answer to %s is not valid", one->server->name,
                     one->of->row->method);
        return;
    }
    one->is_cut |= has_more && (one->count >= ENTRIES_MAX || one->pages >= PAGES_MAX ||
                                cursor.len > CURSOR_MAX);
    if (has_more && !one->is_cut) {
        ask_page(one, cursor);
        return;
    }
    if (one->is_cut)
        gbx_mcp_warn("%s: %s is too long; the rest of it is left out",
                     one->server->name, one->of->row->method);
    one->is_whole = true;
}

static void on_learned(void *user, const gbx_upstream_reply *reply)
{
    part *one = user;
    passing *p = one->of;
    unsigned has = gbx_upstreams_info(p->proxy->upstreams, one->server).has;

    if (p->request != NULL && reply->fault == GBX_UPSTREAM_OK) {
        if ((has & p->row->has) != 0)
            ask_page(one, (gbx_view){0});
        else
            one->is_whole = true;
    }
    settle(p);
}

/* A server that is known to have nothing of this is not started, and none delays the
 * answer whose last start has failed. */
static void begin_part(part *one)
{
    gbx_upstreams *upstreams = one->of->proxy->upstreams;
    gbx_upstream_info info = gbx_upstreams_info(upstreams, one->server);

    one->entries.ceiling = RESULT_MAX;
    one->is_whole = one->server->disabled ||
                    (info.era[0] != '\0' && (info.has & one->of->row->has) == 0);
    if (one->is_whole)
        return;
    if (info.state == GBX_UPSTREAM_BROKEN) {
        gbx_upstream_retry(upstreams, one->server);
        return;
    }
    one->of->open++;
    gbx_upstream_learn(upstreams, one->server, on_learned, one);
}

/* ---- requests that name their server ---------------------------------------------- */

/* Split "SCHEME SERVER / NAME". NULL: no such server. */
static gbx_upstream_id *find_server(const gbx_proxy *proxy, char *named, bool is_uri,
                                    char **ret_name)
{
    size_t skip = is_uri ? strlen(GBX_PROXY_SCHEME) : 0;
    const gbx_mcp_upstream_config *found;
    char *slash;

    if (is_uri && strncmp(named, GBX_PROXY_SCHEME, skip) != 0)
        return NULL;
    slash = strchr(named + skip, '/');
    if (slash == NULL ||
        !is_name(is_uri ? GBX_GATE_RESOURCE : GBX_GATE_PROMPT, slash + 1))
        return NULL;
    *slash = '\0';
    *ret_name = slash + 1;
    found = gbx_mcp_config_server(proxy->config, named + skip);
    *slash = found == NULL ? '/' : '\0';
    return found != NULL && !found->disabled ? found : NULL;
}

static void put_params(gbx_buf *to, const struct row *row, gbx_view params,
                       const char *member, const char *name)
{
    static const char *const others[] = {"arguments", "argument", "context"};

    (void)gbx_buf_puts(to, "{");
    if (row->kind == COMPLETE) {
        gbx_json_put_open(to, "ref", '{');
        gbx_json_put_text(to, "type",
                          strcmp(member, "uri") == 0 ? "ref/resource" : "ref/prompt");
    }
    gbx_json_put_text(to, member, name);
    if (row->kind == COMPLETE)
        (void)gbx_buf_puts(to, "}");
    for (size_t i = 0; i < GBX_COUNTOF(others); i++) {
        gbx_view value = gbx_view_member(params, others[i]);

        if (gbx_view_kind(value) == '{')
            gbx_json_put_json(to, others[i], value.at, value.len);
    }
    (void)gbx_buf_puts(to, "}");
}

static void begin_named(passing *p, gbx_view params)
{
    part *one = &p->parts[0];
    gbx_view object =
        p->row->kind == COMPLETE ? gbx_view_member(params, "ref") : params;
    bool is_uri = p->row->kind == READ ||
                  gbx_view_is_text(gbx_view_member(object, "type"), "ref/resource");
    const char *member = is_uri ? "uri" : "name";
    GBX_CLEANUP(gbx_free)
    char *named = gbx_view_string(gbx_view_member(object, member), GBX_NAMED_MAX);
    gbx_buf to = {.ceiling = PARAMS_MAX + GBX_KIB(64)};
    gbx_mcp_request *request = p->request;
    gbx_upstream_info info;
    char *name;

    one->server = named != NULL ? find_server(p->proxy, named, is_uri, &name) : NULL;
    if (one->server == NULL) {
        p->request = NULL;
        if (is_uri)
            gbx_mcp_fail_no_resource(request, named != NULL ? named : "", NULL);
        else
            gbx_mcp_fail(request, GBX_RPC_INVALID_PARAMS,
                         "no such prompt: prompts/list has their names");
        return;
    }
    info = gbx_upstreams_info(p->proxy->upstreams, one->server);
    if (p->row->kind == COMPLETE && info.era[0] != '\0' &&
        (info.has & p->row->has) == 0) {
        static const char none[] = "\"completion\":{\"values\":[]}";

        p->request = NULL;
        gbx_mcp_finish_members(request, none, sizeof none - 1, false);
        return;
    }
    put_params(&to, p->row, params, member, name);
    gbx_mcp_on_cancel(request, on_cancel, p);
    start_call(one, is_uri ? GBX_GATE_RESOURCE : GBX_GATE_PROMPT, name, &to);
}

/* The server's refusal keeps its meaning: clients know these codes. */
static void fail_named(const passing *p, const gbx_tool_call *call,
                       const gbx_gate_reply *reply)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(16)};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf uri = {.ceiling = GBX_KIB(4)};
    bool is_refused = call->error_code == GBX_RPC_INVALID_PARAMS;
    const char *message;

    (void)gbx_buf_printf(&text, "%s: %s", reply->code, reply->message);
    (void)gbx_buf_printf(&uri, GBX_PROXY_SCHEME "%s/%s", call->up.server->name,
                         call->up.tool);
    message = gbx_rpc_string(&text);
    if (gbx_mcp_fail_undeclared(p->request, call->missing, message))
        return;
    if (p->row->kind == READ && (is_refused || call->error_code == -32002))
        gbx_mcp_fail_no_resource(p->request, gbx_rpc_string(&uri), message);
    else
        gbx_mcp_fail(p->request,
                     is_refused ? GBX_RPC_INVALID_PARAMS : GBX_RPC_INTERNAL_ERROR,
                     message);
}

static void answer_named(const passing *p, const gbx_tool_call *call,
                         const gbx_gate_reply *reply)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf members = {.ceiling = RESULT_MAX};

    if (reply->code != NULL)
        fail_named(p, call, reply);
    else if (gbx_result_write(reply->result, p->row->result, call->up.server->name,
                              gbx_mcp_request_version(p->request), NULL, &members))
        gbx_mcp_finish_members(p->request, (char *)members.data, members.len,
                               p->row->kind == READ);
    else
        gbx_mcp_fail(p->request, GBX_RPC_INTERNAL_ERROR,
                     "UPSTREAM_PROTOCOL: the server's answer is not valid");
}

/* ---- answers ---------------------------------------------------------------------- */

static void on_done(gbx_tool_call *call, const gbx_gate_reply *reply)
{
    part *one = ((page *)(void *)call)->part;
    passing *p = one->of;

    one->call = NULL;
    if (p->request != NULL && p->row->kind != LIST) {
        answer_named(p, call, reply);
        p->request = NULL;
    } else if (p->request != NULL && reply->code == NULL) {
        take_page(one, reply->result);
    }
    settle(p);
    gbx_tool_call_release(call);
}

static void run(void *user, gbx_mcp_request *request, const char *method,
                gbx_view params)
{
    gbx_proxy *proxy = user;
    const struct row *row = rows;
    size_t count;
    passing *p;

    while (strcmp(row->method, method) != 0)
        row++;
    count = row->kind == LIST ? proxy->config->server_count : 1;
    p = gbx_need(calloc(1, sizeof *p + count * sizeof *p->parts));
    *p = (passing){.proxy = proxy, .row = row, .request = request, .count = count};
    p->open = 1;
    LIST_INSERT_HEAD(&proxy->requests, p, in_proxy);
    gbx_mcp_timer_init(&p->late, proxy->loop, answer_list, p);
    for (size_t i = 0; i < count; i++)
        p->parts[i] = (part){.of = p, .server = &proxy->config->servers[i]};
    if (row->kind == LIST) {
        gbx_mcp_timer_set(&p->late, PATIENCE_MS);
        gbx_mcp_on_cancel(request, on_cancel, p);
        for (size_t i = 0; i < count; i++)
            begin_part(&p->parts[i]);
    } else {
        begin_named(p, params);
    }
    settle(p);
}

/* ---- changes ---------------------------------------------------------------------- */

static void on_news_timer(void *user)
{
    gbx_proxy *proxy = user;

    for (gbx_mcp_list list = 0; list < GBX_MCP_LISTS; list++)
        if (proxy->is_changed[list])
            gbx_mcp_server_list_changed(proxy->server, list);
    memset(proxy->is_changed, 0, sizeof proxy->is_changed);
    for (size_t i = 0; i < proxy->updated_count; i++)
        gbx_mcp_server_resource_updated(proxy->server, proxy->updated[i]);
    gbx_names_cut(proxy->updated, 0, proxy->updated_count);
    proxy->updated_count = 0;
}

static void note_updated(gbx_proxy *proxy, const char *server, gbx_view uri)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_NAMED_MAX + 1};

    (void)gbx_buf_printf(&text, GBX_PROXY_SCHEME "%s/", server);
    (void)gbx_view_append_text(uri, &text);
    if (gbx_names_find(proxy->updated, 0, proxy->updated_count, (char *)text.data,
                       text.len) < proxy->updated_count)
        return;
    proxy->updated = gbx_need(
        reallocarray(proxy->updated, proxy->updated_count + 1, sizeof *proxy->updated));
    proxy->updated[proxy->updated_count++] = gbx_need(gbx_buf_take_string(&text, NULL));
}

void gbx_proxy_on_news(gbx_proxy *proxy, const gbx_mcp_upstream_config *server,
                       gbx_upstream_news news, gbx_view uri)
{
    bool *is_missing = proxy->is_missing[server - proxy->config->servers];

    switch (news) {
    case GBX_NEWS_READY:
        for (gbx_mcp_list list = 0; list < GBX_MCP_LISTS; list++) {
            proxy->is_changed[list] |= is_missing[list];
            is_missing[list] = false;
        }
        break;
    case GBX_NEWS_RESOURCES: proxy->is_changed[GBX_MCP_RESOURCES] = true; break;
    case GBX_NEWS_PROMPTS: proxy->is_changed[GBX_MCP_PROMPTS] = true; break;
    case GBX_NEWS_UPDATED: note_updated(proxy, server->name, uri); break;
    }
    if (!gbx_mcp_timer_is_set(&proxy->news))
        gbx_mcp_timer_set(&proxy->news, gbx_timeout_ms(GBX_TIMEOUT_LIST));
}

/* ---- subscriptions ---------------------------------------------------------------- */

typedef struct wanted {
    const gbx_proxy *proxy;
    gbx_upstream_id *server;
    char **uris; /* of that server */
    size_t count;
} wanted;

static void add_wanted(void *user, const char *uri)
{
    wanted *w = user;
    char *named = gbx_need(strdup(uri));
    char *name;

    if (find_server(w->proxy, named, true, &name) == w->server &&
        w->count < WANTED_MAX &&
        gbx_names_find(w->uris, 0, w->count, name, strlen(name)) == w->count &&
        gbx_gate_permits(w->proxy->gate, w->server->name, GBX_GATE_RESOURCE, name)) {
        w->uris = gbx_need(reallocarray(w->uris, w->count + 1, sizeof *w->uris));
        w->uris[w->count++] = gbx_need(strdup(name));
    }
    free(named);
}

static void on_follow(void *user)
{
    const gbx_proxy *proxy = user;

    for (size_t i = 0; i < proxy->config->server_count; i++) {
        wanted w = {.proxy = proxy, .server = &proxy->config->servers[i]};

        if (w.server->disabled)
            continue;
        gbx_mcp_server_each_subscribed(proxy->server, add_wanted, &w);
        gbx_upstream_subscribe(proxy->upstreams, w.server, w.uris, w.count);
    }
}

static void on_subscribed(void *user)
{
    gbx_mcp_timer_fire(&((gbx_proxy *)user)->follow);
}

/* ---- the proxy -------------------------------------------------------------------- */

gbx_proxy *gbx_proxy_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                         const gbx_mcp_config *config, gbx_upstreams *upstreams,
                         gbx_gate *gate)
{
    gbx_proxy *proxy = gbx_need(calloc(1, sizeof *proxy));

    *proxy = (gbx_proxy){
        .loop = loop,
        .server = server,
        .config = config,
        .upstreams = upstreams,
        .gate = gate,
        .hooks = {GBX_PROXY_SCHEME, run, on_subscribed, proxy},
    };
    proxy->is_missing =
        gbx_need(calloc(config->server_count + 1, sizeof *proxy->is_missing));
    gbx_mcp_timer_init(&proxy->news, loop, on_news_timer, proxy);
    gbx_mcp_timer_init(&proxy->follow, loop, on_follow, proxy);
    gbx_mcp_server_set_proxy(server, &proxy->hooks);
    return proxy;
}

void gbx_proxy_free(gbx_proxy *proxy)
{
    passing *p;

    if (proxy == NULL)
        return;
    gbx_mcp_server_set_proxy(proxy->server, NULL);
    gbx_mcp_timer_cleanup(&proxy->news);
    gbx_mcp_timer_cleanup(&proxy->follow);
    gbx_names_free(proxy->updated, proxy->updated_count);
    LIST_FOREACH(p, &proxy->requests, in_proxy)
    {
        gbx_mcp_timer_cleanup(&p->late);
        p->late = (gbx_mcp_timer){0};
        p->request = NULL;
    }
    free(proxy->is_missing);
    proxy->is_ended = true;
    if (LIST_EMPTY(&proxy->requests))
        free(proxy);
}
