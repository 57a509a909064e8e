/* SPDX-License-Identifier: MIT */
/* upstreams - all servers of a configuration; see upstream.h. */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Calls that wait for one server; a script with more does not await them. */
#define WAITING_MAX       1000
#define WAITING_BYTES_MAX GBX_MIB(64)

/* Servers are kept in the order of the configuration. */
static gbx_server *server_of(const gbx_upstreams *all, gbx_upstream_id *id)
{
    return &all->servers[id - all->config->servers];
}

/* ---- deferred work -------------------------------------------------------- */

static void tell(gbx_upstream_call *call)
{
    gbx_upstream_reply reply = {.fault = call->fault,
                                .was_not_begun = !call->was_sent,
                                .is_lasting = call->is_lasting,
                                .message = call->message};

    if (call->request.tool == NULL && call->fault == GBX_UPSTREAM_OK)
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
                                      const gbx_upstream_request *request)
{
    gbx_server *server = server_of(upstreams, request->server);
    gbx_upstream_call *call;

    if (upstreams->is_closing)
        return NULL;
    call = gbx_need(calloc(1, sizeof *call));
    call->all = upstreams;
    call->server = server;
    call->request = *request;
    if (server->waiting_count >= WAITING_MAX ||
        request->args.len > WAITING_BYTES_MAX - server->waiting_bytes) {
        gbx_call_end_later(call, GBX_UPSTREAM_BUSY, "too many calls wait for it");
    } else {
        gbx_call_enqueue(call);
        gbx_server_pump(server);
    }
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

gbx_upstream_info gbx_upstreams_info(const gbx_upstreams *upstreams,
                                     gbx_upstream_id *id)
{
    const gbx_server *server = server_of(upstreams, id);

    return (gbx_upstream_info){
        .name = id->name,
        .state = gbx_server_state(server),
        .era = server->facts.version,
        .server_name = server->facts.server_name,
        .version = server->facts.server_version,
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

gbx_gate_hint gbx_upstreams_tool(const gbx_upstreams *upstreams,
                                 gbx_upstream_id *server, const char *tool)
{
    const gbx_tools *tools = server_of(upstreams, server)->tools;
    const gbx_tool *known = gbx_tools_find(tools, tool);

    if (tools == NULL)
        return GBX_GATE_HINT_UNKNOWN;
    if (known == NULL)
        return GBX_GATE_HINT_MISSING;
    return known->is_reading ? GBX_GATE_HINT_READS : GBX_GATE_HINT_OTHER;
}

bool gbx_upstreams_is_dated(const gbx_upstreams *upstreams, gbx_upstream_id *server)
{
    return gbx_server_is_dated(server_of(upstreams, server));
}

const char *gbx_upstreams_nearest_tool(const gbx_upstreams *upstreams,
                                       gbx_upstream_id *server, const char *tool)
{
    return gbx_tools_nearest(server_of(upstreams, server)->tools, tool);
}

bool gbx_upstream_learn(gbx_upstreams *upstreams, gbx_upstream_id *server,
                        gbx_upstream_done_fn done, void *user)
{
    gbx_upstream_request request = {.server = server, .done = done, .user = user};

    return gbx_upstream_start(upstreams, &request) != NULL;
}

void gbx_upstream_retry(gbx_upstreams *upstreams, gbx_upstream_id *server)
{
    if (server_of(upstreams, server)->waiting_count == 0)
        (void)gbx_upstream_learn(upstreams, server, NULL, NULL);
}
