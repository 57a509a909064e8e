/* SPDX-License-Identifier: MIT */
/* upstreams - all servers of a configuration; see upstream.h. */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/edit_distance.h"
#include "base/timeouts.h"
#include "mcp/rules/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Calls that wait for one server; a script with more does not await them. */
#define WAITING_MAX       1000
#define WAITING_BYTES_MAX GBX_MIB(64)

static gbx_server *find_server(const gbx_upstreams *all, const char *name)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->servers[i].config->name, name) == 0)
            return &all->servers[i];
    return NULL;
}

/* ---- deferred work -------------------------------------------------------- */

static void tell(gbx_upstream_call *call)
{
    gbx_upstream_reply reply = {.fault = call->fault,
                                .was_not_begun = !call->was_sent,
                                .is_lasting = call->is_lasting,
                                .message = call->message};

    if (call->tool == NULL && call->fault == GBX_UPSTREAM_OK)
        reply.result = gbx_tools_view(call->server->tools);
    gbx_call_end(call, &reply);
}

static void on_turn(void *user)
{
    gbx_upstreams *all = user;
    size_t first = all->next_server++;
    gbx_upstream_call *call;

    for (size_t i = 0; i < all->count; i++) {
        gbx_server_bury(&all->servers[(first + i) % all->count]);
        gbx_server_pump(&all->servers[(first + i) % all->count]);
    }
    while ((call = TAILQ_FIRST(&all->ended)) != NULL)
        tell(call);
}

/* ---- requests ------------------------------------------------------------- */

static gbx_upstream_call *new_call(gbx_upstreams *all, gbx_upstream_done_fn done,
                                   void *user)
{
    gbx_upstream_call *call = gbx_need(calloc(1, sizeof *call));

    call->all = all;
    call->done = done;
    call->user = user;
    return call;
}

static void copy_request(gbx_upstream_call *call, const gbx_upstream_request *request)
{
    call->tool = gbx_need(strdup(request->tool));
    gbx_buf_init_secret(&call->args, request->args_len);
    (void)gbx_buf_append(&call->args, request->args, request->args_len);
    call->meta = request->meta != NULL ? gbx_need(strdup(request->meta)) : NULL;
    call->timeout_ms = request->timeout_ms;
    call->progress = request->progress;
    call->trust = request->trust;
}

static void refuse_server(gbx_upstreams *all, gbx_upstream_call *call, const char *name)
{
    const char *candidates[256];
    const char *nearest;
    char message[512];
    size_t count = 0;

    for (size_t i = 0; i < all->count && count < GBX_COUNTOF(candidates); i++)
        candidates[count++] = all->servers[i].config->name;
    nearest = gbx_nearest_name(name, candidates, count);
    if (nearest != NULL)
        (void)snprintf(message, sizeof message,
                       "unknown server '%.128s': did you mean '%s'?", name, nearest);
    else
        (void)snprintf(message, sizeof message, "unknown server '%.128s'", name);
    gbx_call_end_later(call, GBX_UPSTREAM_UNKNOWN_SERVER, message);
}

/* Give the call to its server, or end it if that is impossible. */
static void submit(gbx_upstreams *all, gbx_upstream_call *call, const char *name)
{
    gbx_server *server = find_server(all, name);

    if (server == NULL) {
        refuse_server(all, call, name);
    } else if (server->config->disabled) {
        gbx_call_end_later(call, GBX_UPSTREAM_UNKNOWN_SERVER,
                           "the server is disabled by the configuration");
    } else if (server->waiting_count >= WAITING_MAX ||
               call->args.len > WAITING_BYTES_MAX - server->waiting_bytes) {
        gbx_call_end_later(call, GBX_UPSTREAM_BUSY, "too many calls wait for it");
    } else {
        call->server = server;
        gbx_call_enqueue(call);
        gbx_server_pump(server);
    }
}

static bool is_object(const char *text, size_t len)
{
    gbx_view view;

    return gbx_view_open(text, len, &view) && gbx_view_kind(view) == '{';
}

/* Read once: later changes of our limit do not affect servers. */
static rlim_t descriptor_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

/* How many programs this machine can start at once without harm: two a processor. */
static size_t starts_at_once(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return 2 * (processors > 0 ? (size_t)processors : 1);
}

static void on_retried(void *user, const gbx_upstream_reply *reply)
{
    (void)user;
    (void)reply; /* the server's state shows the result */
}

gbx_upstreams *gbx_upstreams_new(gbx_mcp_loop *loop, const gbx_mcp_config *config,
                                 const gbx_upstream_hooks *hooks)
{
    gbx_upstreams *all = gbx_need(calloc(1, sizeof *all));

    all->loop = loop;
    all->config = config;
    TAILQ_INIT(&all->ended);
    all->starts_at_once = starts_at_once();
    if (hooks != NULL)
        all->hooks = *hooks;
    if (config->rules != NULL)
        all->yard.secrets = config->rules->secrets;
    all->yard.descriptors = descriptor_limit();
    gbx_mcp_timer_init(&all->turn, loop, on_turn, all);
    all->count = config->server_count;
    all->servers = gbx_need(calloc(all->count + 1, sizeof(gbx_server)));
    for (size_t i = 0; i < all->count; i++)
        gbx_server_init(&all->servers[i], all, &config->servers[i]);
    for (size_t i = 0; i < all->count; i++)
        if (config->servers[i].eager && !config->servers[i].disabled)
            gbx_server_start(&all->servers[i]);
    return all;
}

void gbx_upstreams_part(gbx_upstreams *upstreams)
{
    if (upstreams == NULL || upstreams->is_closing)
        return;
    upstreams->is_closing = true;
    for (size_t i = 0; i < upstreams->count; i++)
        gbx_server_stop(&upstreams->servers[i]);
    gbx_http_client_finish(upstreams->yard.web,
                           gbx_timeout_ms(GBX_TIMEOUT_LAST_FAREWELL));
}

void gbx_upstreams_free(gbx_upstreams *upstreams)
{
    gbx_upstream_call *call;

    if (upstreams == NULL)
        return;
    gbx_upstreams_part(upstreams);
    for (size_t i = 0; i < upstreams->count; i++)
        while ((call = TAILQ_FIRST(&upstreams->servers[i].waiting)) != NULL)
            gbx_call_end_later(call, GBX_UPSTREAM_CANCELLED,
                               "the servers are being stopped");
    while ((call = TAILQ_FIRST(&upstreams->ended)) != NULL)
        tell(call);
    gbx_yard_clear(&upstreams->yard, gbx_timeout_ms(GBX_TIMEOUT_LAST_END));
    gbx_http_client_free(upstreams->yard.web);
    for (size_t i = 0; i < upstreams->count; i++)
        gbx_server_cleanup(&upstreams->servers[i]);
    free(upstreams->servers);
    gbx_mcp_timer_cleanup(&upstreams->turn);
    free(upstreams);
}

gbx_upstream_call *gbx_upstream_start(gbx_upstreams *upstreams,
                                      const gbx_upstream_request *request,
                                      gbx_upstream_done_fn done, void *user)
{
    gbx_upstream_call *call;

    if (upstreams->is_closing)
        return NULL;
    call = new_call(upstreams, done, user);
    copy_request(call, request);
    if (call->args.failed)
        gbx_call_end_later(call, GBX_UPSTREAM_BUSY, "out of memory");
    else if (!is_object(request->args, request->args_len))
        gbx_call_end_later(call, GBX_UPSTREAM_PROTOCOL,
                           "the arguments of a tool are an object");
    else
        submit(upstreams, call, request->server);
    return call;
}

void gbx_upstream_cancel(gbx_upstream_call *call)
{
    if (call->session != NULL)
        gbx_session_cancel(call->session, call->id, "the caller has cancelled it");
    gbx_call_end_later(call, GBX_UPSTREAM_CANCELLED, "the call was cancelled");
}

bool gbx_upstream_was_sent(const gbx_upstream_call *call)
{
    return call->was_sent;
}

size_t gbx_upstreams_count(const gbx_upstreams *upstreams)
{
    return upstreams->count;
}

gbx_upstream_info gbx_upstreams_info(const gbx_upstreams *upstreams, size_t index)
{
    const gbx_server *server = &upstreams->servers[index];
    const char *instructions = server->facts.instructions;

    return (gbx_upstream_info){
        .name = server->config->name,
        .state = gbx_server_state(server),
        .era = server->facts.version,
        .server_name = server->facts.server_name,
        .version = server->facts.server_version,
        .instructions = instructions != NULL ? instructions : "",
        .fault = server->fault,
        .retry_ms = gbx_server_retry_ms(server),
        .start_ms = server->facts.start_ms,
        .containment =
            server->facts.containment != NULL ? server->facts.containment : "",
        .tools = gbx_tools_view(server->tools),
        .left_out = server->tools != NULL ? server->tools->dropped : 0,
        .left_out_why = server->tools != NULL ? server->tools->dropped_why : "",
    };
}

gbx_upstream_tool gbx_upstreams_tool(const gbx_upstreams *upstreams, const char *server,
                                     const char *tool)
{
    const gbx_server *found = find_server(upstreams, server);
    const gbx_tool *known;

    if (found == NULL || gbx_tools_view(found->tools).at == NULL)
        return GBX_UPSTREAM_TOOL_UNKNOWN;
    known = gbx_tools_find(found->tools, tool);
    if (known == NULL)
        return GBX_UPSTREAM_TOOL_MISSING;
    return known->is_reading ? GBX_UPSTREAM_TOOL_READS : GBX_UPSTREAM_TOOL_OTHER;
}

bool gbx_upstreams_is_dated(const gbx_upstreams *upstreams, const char *server)
{
    const gbx_server *found = find_server(upstreams, server);

    return found != NULL && gbx_server_is_dated(found);
}

const char *gbx_upstreams_nearest_tool(const gbx_upstreams *upstreams,
                                       const char *server, const char *tool)
{
    const gbx_server *found = find_server(upstreams, server);

    return found != NULL ? gbx_tools_nearest(found->tools, tool) : NULL;
}

bool gbx_upstream_learn(gbx_upstreams *upstreams, const char *server,
                        gbx_upstream_done_fn done, void *user)
{
    if (upstreams->is_closing)
        return false;
    if (server != NULL)
        submit(upstreams, new_call(upstreams, done, user), server);
    for (size_t i = 0; server == NULL && i < upstreams->count; i++)
        submit(upstreams, new_call(upstreams, done, user),
               upstreams->servers[i].config->name);
    return true;
}

void gbx_upstream_retry(gbx_upstreams *upstreams, const char *server)
{
    const gbx_server *found = find_server(upstreams, server);

    if (found != NULL && found->waiting_count == 0)
        gbx_upstream_learn(upstreams, server, on_retried, NULL);
}
