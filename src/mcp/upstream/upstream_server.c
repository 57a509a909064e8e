/* SPDX-License-Identifier: MIT */
/*
 * upstream_server - the configured servers: their sessions, and what is known of their
 * tools; see upstream.h.
 *
 * Restarts and the circuit breaker: the first successful call clears all failures. Until
 * then each retry waits longer. After several failures the circuit is open for a while:
 * calls fail at once instead of waiting in vain.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/edit_distance.h"
#include "base/timeouts.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define FAILURES_MAX 5

/* Limit of calls that wait for one server: more than one script can have open. */
#define WAITING_MAX 5000

static bool is_open(const gbx_server *server)
{
    return server->failures >= FAILURES_MAX && gbx_clock_now_ns() < server->retry_ns;
}

static size_t count_ready(const gbx_server *server)
{
    size_t count = 0;

    for (size_t i = 0; i < server->session_count; i++)
        count += server->sessions[i]->phase == GBX_PHASE_READY;
    return count;
}

/* Sessions that are ready or may become so. */
static size_t count_live(const gbx_server *server)
{
    size_t count = 0;

    for (size_t i = 0; i < server->session_count; i++)
        count += server->sessions[i]->phase <= GBX_PHASE_READY;
    return count;
}

/* ---- tools ------------------------------------------------------------------- */

static bool holds(const gbx_server *server)
{
    return server->tools_until_ns == 0 || gbx_clock_now_ns() < server->tools_until_ns;
}

/* Adopt the tools that this session's process has listed. */
static void take_tools(gbx_server *server, const gbx_session *session)
{
    /* While changes are announced, the list is valid until one is. */
    uint32_t ttl_ms = session->is_listening ? 0 : session->ttl_ms;
    gbx_tools *known = server->tools;

    server->tools_until_ns =
        ttl_ms == 0 ? 0 : gbx_clock_now_ns() + (int64_t)ttl_ms * GBX_NS_PER_MS;
    server->tools = session->tools;
    server->tools->users++;
    if (!gbx_tools_same(known, session->tools) &&
        server->all->hooks.tools_changed != NULL)
        server->all->hooks.tools_changed(server->all->hooks.user, server->config->name);
    gbx_tools_drop(known);
}

/* True if the process's list is current, or was read after the call came: nothing newer
 * can be known, and no call waits for ever. */
static bool has_current_list(const gbx_server *server, const gbx_session *session,
                             const gbx_upstream_call *call)
{
    return (holds(server) && !gbx_session_is_stale(session)) ||
           session->listed_ns >= call->since_ns;
}

/* A call that asks only for the list: answer it, or ask for the list if it may be
 * stale. */
static void learn(gbx_server *server, gbx_upstream_call *call)
{
    bool is_current = true;

    for (size_t i = 0; i < server->session_count; i++) {
        gbx_session *session = server->sessions[i];

        if (session->phase != GBX_PHASE_READY ||
            has_current_list(server, session, call))
            continue;
        gbx_session_list_now(session);
        is_current = false;
    }
    if (server->tools != NULL && is_current &&
        (count_ready(server) > 0 || holds(server)))
        gbx_call_end_later(call, GBX_UPSTREAM_OK, "");
}

/* ---- hooks of a session ------------------------------------------------------ */

static void fail_waiting(gbx_server *server, gbx_upstream_fault fault, const char *why)
{
    gbx_upstream_call *call;
    char message[1200];

    (void)snprintf(message, sizeof message, "the server '%s' %s: %s",
                   server->config->name,
                   fault == GBX_UPSTREAM_OPEN ? "has failed too often and is left alone"
                                              : "cannot be started",
                   why);
    while ((call = TAILQ_FIRST(&server->waiting)) != NULL) {
        call->remedy = server->remedy;
        gbx_call_end_later(call, fault, message);
    }
}

static void note_failure(gbx_server *server, const char *why, gbx_remedy remedy)
{
    uint64_t pause_ms = 0;

    server->failures++;
    if (server->failures >= FAILURES_MAX)
        pause_ms = gbx_timeout_ms(GBX_TIMEOUT_OPEN);
    else if (server->failures > 1)
        pause_ms = gbx_timeout_ms(GBX_TIMEOUT_RETRY) << (server->failures - 2);
    server->retry_ns = gbx_clock_now_ns() + (int64_t)pause_ms * GBX_NS_PER_MS;
    (void)snprintf(server->fault, sizeof server->fault, "%s", why);
    server->remedy = remedy;
}

static void on_listed(gbx_server *server, gbx_session *session)
{
    take_tools(server, session);
    gbx_upstreams_wake(server->all);
}

/* ---- updates of resources ------------------------------------------------------
 *
 * A modern session has them in its stream of changes. To a legacy one each is a request,
 * whose answer changes nothing.
 */

/* For each resource of `some` that is not among `others`. */
static void send_each(gbx_session *session, const char *method, const gbx_uris *some,
                      const gbx_uris *others)
{
    if (session->phase != GBX_PHASE_READY || session->is_modern ||
        (session->facts.has & GBX_TELLS_UPDATES) == 0)
        return;
    for (size_t i = 0; i < some->count; i++) {
        const char *uri = some->items[i];
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf params = {.ceiling = GBX_KIB(64)};

        if (gbx_names_find(others->items, 0, others->count, uri, strlen(uri)) <
            others->count)
            continue;
        gbx_json_put_text(&params, "uri", uri);
        (void)gbx_session_send_method(session, ++session->last_id, method, NULL,
                                      gbx_rpc_string(&params));
    }
}

static void on_ready(gbx_server *server, gbx_session *session)
{
    const gbx_upstream_hooks *hooks = &server->all->hooks;

    server->facts = session->facts;
    on_listed(server, session);
    send_each(session, "resources/subscribe", &server->wanted, &(gbx_uris){0});
    if (hooks->news != NULL)
        hooks->news(hooks->user, server->config, GBX_NEWS_READY, (gbx_view){0});
}

/* Another one can start at once, while calls of this one end. */
static void on_ending(gbx_server *server, gbx_session *session, const char *why)
{
    char line[GBX_SESSION_WHY_MAX];

    gbx_utf8_copy_line(line, sizeof line, why,
                       strlen(why)); /* a server's words are in it */
    note_failure(server, line, session->remedy);
    gbx_server_log(server, line);
    gbx_upstreams_wake(server->all);
}

static void on_lost(gbx_server *server, gbx_session *session, const char *why)
{
    gbx_upstreams_wake(server->all);
    if (session->facts.start_ms <= 0 && count_live(server) == 0) /* never ready */
        fail_waiting(server, GBX_UPSTREAM_START, why);
}

static const gbx_session_hooks session_hooks = {
    on_ready,
    on_listed,
    on_ending,
    on_lost,
};

/* ---- the end ----------------------------------------------------------------- */

static void stop_server(gbx_server *server)
{
    while (server->session_count > 0) {
        gbx_session *session = server->sessions[--server->session_count];
        gbx_upstream_call *call;

        while ((call = TAILQ_FIRST(&session->calls)) != NULL)
            gbx_call_end_later(call, GBX_UPSTREAM_CANCELLED,
                               "the servers are being stopped");
        gbx_session_free(session);
    }
}

/* ---- starts ------------------------------------------------------------------
 *
 * A request for all tools starts all servers, and dozens of programs that start at once
 * slow each other down until all time out. So they start in turn. A server that a call
 * waits for starts at once.
 */

static gbx_upstream_state state_of(const gbx_server *server)
{
    if (count_ready(server) > 0)
        return GBX_UPSTREAM_READY;
    if (count_live(server) > 0)
        return GBX_UPSTREAM_STARTING;
    return server->failures > 0 ? GBX_UPSTREAM_BROKEN : GBX_UPSTREAM_STOPPED;
}

static bool may_start(const gbx_server *server)
{
    return !server->all->is_closing && server->session_count < GBX_PROCESSES_MAX &&
           gbx_clock_now_ns() >= server->retry_ns;
}

static void start_server(gbx_server *server)
{
    gbx_error error;
    gbx_session *session;

    server->started_ns = gbx_clock_now_ns();
    if (gbx_session_new(server, &session_hooks, &session, &error) == GBX_OK) {
        server->sessions[server->session_count++] = session;
        return;
    }
    note_failure(server, error.message, GBX_REMEDY_NONE);
    if (count_live(server) == 0)
        fail_waiting(server, GBX_UPSTREAM_START, error.message);
}

/* Start it now or as soon as it may be: after its pause, and once one of the starting
 * servers is ready, has ended, or takes long. */
static void start_in_turn(gbx_server *server)
{
    const gbx_upstreams *all = server->all;
    int64_t long_ago_ns = gbx_clock_now_ns() - gbx_timeout_ns(GBX_TIMEOUT_START_PLACE);
    bool has_turn = server->config->transport != GBX_MCP_STDIO;
    const gbx_upstream_call *call;
    size_t places = 0;
    bool may = may_start(server);
    int64_t left_ns = may ? gbx_timeout_ns(GBX_TIMEOUT_START_LOOK)
                          : server->retry_ns - gbx_clock_now_ns();

    TAILQ_FOREACH(call, &server->waiting, entry)
    has_turn = has_turn || call->tool != NULL;
    for (size_t i = 0; i < all->count; i++) {
        const gbx_server *other = &all->servers[i];

        places += state_of(other) == GBX_UPSTREAM_STARTING &&
                  other->config->transport == GBX_MCP_STDIO &&
                  other->started_ns > long_ago_ns;
    }
    has_turn = has_turn || places < all->starts_at_once;
    if (may && has_turn)
        start_server(server);
    else if (left_ns > 0)
        gbx_mcp_timer_set(&server->retry, (uint32_t)(left_ns / GBX_NS_PER_MS + 1));
}

/* ---- calls ------------------------------------------------------------------- */

/* The ready session with the least work, or NULL. Avoid one that may hang: a call sent
 * to it is lost, and it is not known whether it was begun. */
static gbx_session *pick(const gbx_server *server)
{
    gbx_session *best = NULL;

    for (size_t i = 0; i < server->session_count; i++) {
        gbx_session *s = server->sessions[i];

        if (s->phase == GBX_PHASE_READY && !gbx_mcp_timer_is_set(&s->check_timer) &&
            (best == NULL || s->call_count < best->call_count))
            best = s;
    }
    return best;
}

/* Send it, unless the tool has changed. */
static void try_to_send(gbx_server *server, gbx_session *session,
                        gbx_upstream_call *call)
{
    const gbx_tool *tool =
        call->method == NULL ? gbx_tools_find(session->tools, call->tool) : NULL;
    gbx_gate_hint hint = call->hint;
    char message[512];

    if (call->method != NULL) {
        gbx_call_send(call, session, NULL);
    } else if (hint != GBX_GATE_HINT_UNKNOWN &&
               !has_current_list(server, session, call)) {
        gbx_call_arm(call);
        gbx_session_list_now(session);
    } else if (tool == NULL) {
        (void)snprintf(message, sizeof message, GBX_NO_TOOL_FORMAT,
                       server->config->name, call->tool);
        gbx_call_end_later(call, GBX_UPSTREAM_UNKNOWN_TOOL, message);
    } else if (hint != GBX_GATE_HINT_UNKNOWN &&
               tool->is_reading != (hint == GBX_GATE_HINT_READS)) {
        take_tools(server, session); /* the known list may come from another process */
        gbx_call_end_later(call, GBX_UPSTREAM_CHANGED,
                           "the server says another thing of this tool than before");
    } else {
        gbx_call_send(call, session, tool);
    }
}

static void send_waiting(gbx_server *server)
{
    gbx_upstream_call *next;

    for (gbx_upstream_call *call = TAILQ_FIRST(&server->waiting); call != NULL;
         call = next) {
        gbx_session *session;

        next = TAILQ_NEXT(call, entry);
        if (call->tool == NULL)
            learn(server, call);
        else if (server->in_flight < server->config->calls_at_once &&
                 server->all->in_flight < server->all->config->settings.calls_at_once &&
                 (session = pick(server)) != NULL)
            try_to_send(server, session, call);
    }
}

static void on_idle(void *user)
{
    gbx_server *server = user;

    if (server->in_flight == 0 && server->waiting_count == 0 &&
        server->wanted.count == 0)
        stop_server(server);
}

static void pump_server(void *user)
{
    gbx_server *server = user;
    uint32_t ms = server->config->idle_ms;
    const gbx_session *best;
    bool is_idle;

    send_waiting(server);
    if ((server->waiting_count > 0 || server->wanted.count > 0) &&
        count_live(server) == 0) {
        if (is_open(server))
            fail_waiting(server, GBX_UPSTREAM_OPEN, server->fault);
        if (!is_open(server) || server->wanted.count > 0)
            start_in_turn(server);
    } else if (server->waiting_count > 0 || server->in_flight > 0) {
        /* Start one more process if all are busy and the limit allows it. */
        best = pick(server);
        if (count_live(server) < server->config->processes && best != NULL &&
            best->call_count > 0 && count_ready(server) == count_live(server) &&
            may_start(server))
            start_server(server);
    }
    is_idle = server->in_flight == 0 && server->waiting_count == 0 &&
              server->wanted.count == 0;
    if (!is_idle || count_live(server) == 0 || ms == 0)
        gbx_mcp_timer_clear(&server->idle);
    else if (!gbx_mcp_timer_is_set(&server->idle))
        gbx_mcp_timer_set(&server->idle, ms);
}

/* ---- all servers ------------------------------------------------------------- */

/* Servers are kept in the order of the configuration. */
static gbx_server *server_of(const gbx_upstreams *all, gbx_upstream_id *id)
{
    return &all->servers[id - all->config->servers];
}

static void tell(gbx_upstream_call *call)
{
    gbx_upstream_reply reply = {.fault = call->fault,
                                .was_not_begun = !call->was_sent,
                                .remedy = call->remedy,
                                .message = call->message};

    if (call->tool == NULL && call->fault == GBX_UPSTREAM_OK)
        reply.result = gbx_tools_view(call->target->tools);
    gbx_call_end(call, reply);
}

static void on_turn(void *user)
{
    gbx_upstreams *all = user;
    size_t first = all->next_server++;
    gbx_upstream_call *call;

    for (size_t i = 0; i < all->count; i++) {
        gbx_server *server = &all->servers[(first + i) % all->count];
        size_t left = 0;

        for (size_t k = 0; k < server->session_count; k++) {
            if (server->sessions[k]->phase == GBX_PHASE_LOST)
                gbx_session_free(server->sessions[k]);
            else
                server->sessions[left++] = server->sessions[k];
        }
        server->session_count = left;
        pump_server(server);
    }
    while ((call = TAILQ_FIRST(&all->ended)) != NULL)
        tell(call);
}

gbx_upstreams *gbx_upstreams_new(gbx_mcp_loop *loop, const gbx_mcp_config *config,
                                 const gbx_upstream_hooks *hooks)
{
    gbx_upstreams *all = gbx_need(calloc(1, sizeof *all));
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct rlimit limit;

    all->loop = loop;
    all->config = config;
    TAILQ_INIT(&all->ended);
    /* So many programs do not harm each other's start. */
    all->starts_at_once = 2 * (processors > 0 ? (size_t)processors : 1);
    if (hooks != NULL)
        all->hooks = *hooks;
    if (config->rules != NULL)
        all->yard.secrets = config->rules->secrets;
    all->yard.trust = config->trust;
    /* Later changes of our limit do not affect servers. */
    all->yard.descriptors = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
    gbx_mcp_timer_init(&all->turn, loop, on_turn, all);
    all->count = config->server_count;
    all->servers = gbx_need(calloc(all->count + 1, sizeof(gbx_server)));
    for (size_t i = 0; i < all->count; i++) {
        gbx_server *server = &all->servers[i];

        server->all = all;
        server->config = &config->servers[i];
        TAILQ_INIT(&server->waiting);
        gbx_mcp_timer_init(&server->retry, loop, pump_server, server);
        gbx_mcp_timer_init(&server->idle, loop, on_idle, server);
    }
    for (size_t i = 0; i < all->count; i++)
        if (config->servers[i].eager && !config->servers[i].disabled)
            start_server(&all->servers[i]);
    return all;
}

void gbx_upstreams_part(gbx_upstreams *upstreams)
{
    if (upstreams == NULL || upstreams->is_closing)
        return;
    upstreams->is_closing = true;
    for (size_t i = 0; i < upstreams->count; i++)
        stop_server(&upstreams->servers[i]);
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
    for (size_t i = 0; i < upstreams->count; i++) {
        gbx_server *server = &upstreams->servers[i];

        gbx_names_free(server->wanted.items, server->wanted.count);
        gbx_mcp_timer_cleanup(&server->retry);
        gbx_mcp_timer_cleanup(&server->idle);
        gbx_tools_drop(server->tools);
    }
    free(upstreams->servers);
    gbx_mcp_timer_cleanup(&upstreams->turn);
    free(upstreams);
}

void gbx_upstream_start(gbx_upstreams *upstreams, gbx_upstream_call *call)
{
    gbx_server *server = server_of(upstreams, call->server);

    call->all = upstreams;
    call->target = server;
    call->is_open = true;
    call->was_sent = call->was_retried = call->was_extended = false;
    call->armed_ns = call->held_ns = 0;
    call->remedy = GBX_REMEDY_NONE;
    call->rounds = 0;
    if (upstreams->is_closing) {
        gbx_call_end_later(call, GBX_UPSTREAM_CANCELLED,
                           "the servers are being stopped");
    } else if (server->waiting_count >= WAITING_MAX) {
        gbx_call_end_later(call, GBX_UPSTREAM_BUSY, "too many calls wait for it");
    } else {
        gbx_call_enqueue(call);
        pump_server(server);
    }
}

void gbx_upstream_cancel(gbx_upstream_call *call)
{
    gbx_call_withdraw(call, "the caller has cancelled it");
    gbx_call_end_later(call, GBX_UPSTREAM_CANCELLED, "the call was cancelled");
}

gbx_upstream_info gbx_upstreams_info(const gbx_upstreams *upstreams,
                                     gbx_upstream_id *id)
{
    const gbx_server *server = server_of(upstreams, id);
    int64_t left_ns = server->retry_ns - gbx_clock_now_ns();

    return (gbx_upstream_info){
        .name = id->name,
        .state = state_of(server),
        .era = server->facts.version,
        .server_name = server->facts.server_name,
        .version = server->facts.server_version,
        .fault = server->fault,
        .retry_ms = left_ns > 0 ? (uint32_t)(left_ns / GBX_NS_PER_MS + 1) : 0,
        .start_ms = server->facts.start_ms,
        .containment =
            server->facts.containment != NULL ? server->facts.containment : "",
        .has = server->facts.has,
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
    const gbx_server *of = server_of(upstreams, server);

    for (size_t i = 0; i < of->session_count; i++)
        if (of->sessions[i]->phase == GBX_PHASE_READY &&
            (!holds(of) || gbx_session_is_stale(of->sessions[i])))
            return true;
    return false;
}

const char *gbx_upstreams_nearest_tool(const gbx_upstreams *upstreams,
                                       gbx_upstream_id *server, const char *tool)
{
    const gbx_tools *tools = server_of(upstreams, server)->tools;
    const char *candidates[GBX_TOOLS_MAX];
    size_t count = tools != NULL ? tools->count : 0;

    for (size_t i = 0; i < count; i++)
        candidates[i] = tools->list[i].name;
    return gbx_nearest_name(tool, candidates, count);
}

void gbx_upstream_learn(gbx_upstreams *upstreams, gbx_upstream_id *server,
                        gbx_upstream_done_fn done, void *user)
{
    gbx_upstream_call *call = gbx_need(calloc(1, sizeof *call));

    call->server = server;
    call->done = done;
    call->user = user;
    call->is_ours = true;
    gbx_upstream_start(upstreams, call);
}

void gbx_upstream_subscribe(gbx_upstreams *upstreams, gbx_upstream_id *id, char **uris,
                            size_t count)
{
    gbx_server *server = server_of(upstreams, id);
    gbx_uris before = server->wanted;
    bool is_same = count == before.count;

    for (size_t i = 0; i < count && is_same; i++)
        is_same =
            gbx_names_find(before.items, 0, count, uris[i], strlen(uris[i])) < count;
    if (is_same) {
        gbx_names_free(uris, count);
        return;
    }
    server->wanted = (gbx_uris){uris, count};
    for (size_t i = 0; i < server->session_count; i++) {
        gbx_session *session = server->sessions[i];

        gbx_session_listen_anew(session);
        send_each(session, "resources/unsubscribe", &before, &server->wanted);
        send_each(session, "resources/subscribe", &server->wanted, &before);
    }
    gbx_names_free(before.items, before.count);
    gbx_upstreams_wake(upstreams);
}

void gbx_upstream_signed_in(gbx_upstreams *upstreams, gbx_upstream_id *id)
{
    gbx_server *server = server_of(upstreams, id);

    for (size_t i = 0; i < server->session_count; i++)
        gbx_session_end(server->sessions[i], "a person has signed in");
    server->failures = 0;
    server->retry_ns = 0;
}

void gbx_upstream_retry(gbx_upstreams *upstreams, gbx_upstream_id *server)
{
    if (server_of(upstreams, server)->waiting_count == 0)
        gbx_upstream_learn(upstreams, server, NULL, NULL);
}
