/* SPDX-License-Identifier: MIT */
/*
 * upstream_server - one configured server: its sessions and what is known of its tools.
 *
 * Restarts and the circuit breaker: the first successful call clears all failures. Until
 * then each retry waits longer. After several failures the circuit is open for a while:
 * calls fail at once instead of waiting in vain.
 */
#include "mcp/upstream/servers.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAILURES_MAX 5

static uint32_t or_else(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static size_t processes_of(const gbx_server *server)
{
    uint32_t wanted = or_else(server->config->processes, 1);

    return wanted < GBX_PROCESSES_MAX ? wanted : GBX_PROCESSES_MAX;
}

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
    uint32_t ttl_ms = gbx_session_tools_ttl(session);
    gbx_tools *known = server->tools;

    server->tools_until_ns =
        ttl_ms == 0 ? 0 : gbx_clock_now_ns() + (int64_t)ttl_ms * GBX_NS_PER_MS;
    server->tools = gbx_tools_share(session->tools);
    if (!gbx_tools_same(known, session->tools)) {
        if (session->tools->flaws[GBX_TOOL_SECRET] > 0)
            gbx_server_log(server, session->tools->dropped_why);
        if (server->all->hooks.tools_changed != NULL)
            server->all->hooks.tools_changed(server->all->hooks.user,
                                             server->config->name);
    }
    gbx_tools_drop(known);
}

/* Is the process's list current? True also if it was read after the call came: nothing
 * newer can be known, and no call waits for ever. */
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

bool gbx_server_is_dated(const gbx_server *server)
{
    for (size_t i = 0; i < server->session_count; i++)
        if (server->sessions[i]->phase == GBX_PHASE_READY &&
            (!holds(server) || gbx_session_is_stale(server->sessions[i])))
            return true;
    return false;
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
        call->is_lasting = server->is_lasting;
        gbx_call_end_later(call, fault, message);
    }
}

static void note_failure(gbx_server *server, const char *why, bool is_lasting)
{
    uint64_t pause_ms = 0;

    server->failures++;
    if (server->failures >= FAILURES_MAX)
        pause_ms = gbx_timeout_ms(GBX_TIMEOUT_OPEN);
    else if (server->failures > 1)
        pause_ms = gbx_timeout_ms(GBX_TIMEOUT_RETRY) << (server->failures - 2);
    server->retry_ns = gbx_clock_now_ns() + (int64_t)pause_ms * GBX_NS_PER_MS;
    (void)snprintf(server->fault, sizeof server->fault, "%s", why);
    server->is_lasting = is_lasting;
}

static void on_listed(gbx_server *server, gbx_session *session)
{
    take_tools(server, session);
    gbx_upstreams_wake(server->all);
}

static void on_ready(gbx_server *server, gbx_session *session)
{
    server->facts = session->facts;
    on_listed(server, session);
}

/* Another one can start at once, while calls of this one end. */
static void on_ending(gbx_server *server, gbx_session *session, const char *why)
{
    note_failure(server, why, session->is_lasting);
    gbx_server_log(server, why);
    gbx_upstreams_wake(server->all);
}

static void on_lost(gbx_server *server, gbx_session *session, const char *why)
{
    gbx_upstreams_wake(server->all);
    if (session->facts.start_ms <= 0 && count_live(server) == 0) /* never ready */
        fail_waiting(server, GBX_UPSTREAM_START, why);
}

static const gbx_session_hooks hooks = {
    on_ready,
    on_listed,
    on_ending,
    on_lost,
    gbx_call_on_answer,
    gbx_call_answer,
    gbx_call_on_progress,
};

/* ---- the end ----------------------------------------------------------------- */

void gbx_server_stop(gbx_server *server)
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

void gbx_server_bury(gbx_server *server)
{
    size_t left = 0;

    for (size_t i = 0; i < server->session_count; i++) {
        if (server->sessions[i]->phase == GBX_PHASE_LOST)
            gbx_session_free(server->sessions[i]);
        else
            server->sessions[left++] = server->sessions[i];
    }
    server->session_count = left;
}

void gbx_server_cleanup(gbx_server *server)
{
    gbx_mcp_timer_cleanup(&server->retry);
    gbx_mcp_timer_cleanup(&server->idle);
    gbx_tools_drop(server->tools);
}

/* ---- starts ------------------------------------------------------------------
 *
 * A request for all tools starts all servers, and dozens of programs that start at once
 * slow each other down until all time out. So they start in turn. A server that a call
 * waits for starts at once.
 */

gbx_upstream_state gbx_server_state(const gbx_server *server)
{
    if (count_ready(server) > 0)
        return GBX_UPSTREAM_READY;
    if (count_live(server) > 0)
        return GBX_UPSTREAM_STARTING;
    return server->failures > 0 ? GBX_UPSTREAM_BROKEN : GBX_UPSTREAM_STOPPED;
}

uint32_t gbx_server_retry_ms(const gbx_server *server)
{
    int64_t left_ns = server->retry_ns - gbx_clock_now_ns();

    return left_ns > 0 ? (uint32_t)(left_ns / GBX_NS_PER_MS + 1) : 0;
}

static bool may_start(const gbx_server *server)
{
    return !server->all->is_closing && server->session_count < GBX_PROCESSES_MAX &&
           gbx_clock_now_ns() >= server->retry_ns;
}

void gbx_server_start(gbx_server *server)
{
    gbx_error error;
    gbx_session *session;

    server->started_ns = gbx_clock_now_ns();
    if (gbx_session_new(server, &hooks, &session, &error) == GBX_OK) {
        server->sessions[server->session_count++] = session;
        return;
    }
    note_failure(server, error.message, false);
    if (count_live(server) == 0)
        fail_waiting(server, GBX_UPSTREAM_START, error.message);
}

static bool is_called(const gbx_server *server)
{
    const gbx_upstream_call *call = TAILQ_FIRST(&server->waiting);

    while (call != NULL && call->request.tool == NULL)
        call = TAILQ_NEXT(call, entry);
    return call != NULL;
}

static bool has_place(const gbx_server *server, int64_t now_ns)
{
    return gbx_server_state(server) == GBX_UPSTREAM_STARTING &&
           server->config->transport == GBX_MCP_STDIO &&
           now_ns - server->started_ns < gbx_timeout_ns(GBX_TIMEOUT_START_PLACE);
}

static bool has_turn(const gbx_server *server)
{
    const gbx_upstreams *all = server->all;
    int64_t now_ns = gbx_clock_now_ns();
    size_t places = 0;

    if (server->config->transport != GBX_MCP_STDIO || is_called(server))
        return true;
    for (size_t i = 0; i < all->count; i++)
        places += has_place(&all->servers[i], now_ns);
    return places < all->starts_at_once;
}

/* Start it now or as soon as it may be: after its pause, and once one of the starting
 * servers is ready, has ended, or takes long. */
static void start_in_turn(gbx_server *server)
{
    bool may = may_start(server);
    int64_t left_ns = may ? gbx_timeout_ns(GBX_TIMEOUT_START_LOOK)
                          : server->retry_ns - gbx_clock_now_ns();

    if (may && has_turn(server))
        gbx_server_start(server);
    else if (left_ns > 0)
        gbx_mcp_timer_set(&server->retry, (uint32_t)(left_ns / GBX_NS_PER_MS + 1));
}

/* ---- calls ------------------------------------------------------------------- */

/* The ready session with the least work, or NULL. Avoid one that may hang: a call sent
 * to it is lost, and nobody knows whether it was begun. */
static gbx_session *pick(const gbx_server *server)
{
    gbx_session *best = NULL;

    for (size_t i = 0; i < server->session_count; i++) {
        gbx_session *s = server->sessions[i];

        if (s->phase == GBX_PHASE_READY && !gbx_session_is_checked(s) &&
            (best == NULL || s->call_count < best->call_count))
            best = s;
    }
    return best;
}

static bool has_room(const gbx_server *server)
{
    return server->in_flight < or_else(server->config->calls_at_once, 8) &&
           server->all->in_flight <
               or_else(server->all->config->settings.calls_at_once, 32);
}

/* Send it, unless the limits are reached or the tool has changed. */
static void try_to_send(gbx_server *server, gbx_session *session,
                        gbx_upstream_call *call)
{
    const gbx_tool *tool = gbx_tools_find(session->tools, call->request.tool);
    gbx_gate_hint hint = call->request.hint;
    char message[512];

    if (hint != GBX_GATE_HINT_UNKNOWN && !has_current_list(server, session, call)) {
        gbx_call_arm(call);
        gbx_session_list_now(session);
    } else if (tool == NULL) {
        (void)snprintf(message, sizeof message, GBX_NO_TOOL_FORMAT,
                       server->config->name, call->request.tool);
        gbx_call_end_later(call, GBX_UPSTREAM_UNKNOWN_TOOL, message);
    } else if (hint != GBX_GATE_HINT_UNKNOWN &&
               tool->is_reading != (hint == GBX_GATE_HINT_READS)) {
        take_tools(server, session); /* the known list may come from another process */
        gbx_call_end_later(call, GBX_UPSTREAM_CHANGED,
                           "the server says another thing of this tool than before");
    } else if (has_room(server)) {
        gbx_call_send(call, session);
    }
}

static void send_waiting(gbx_server *server)
{
    gbx_upstream_call *next;

    for (gbx_upstream_call *call = TAILQ_FIRST(&server->waiting); call != NULL;
         call = next) {
        gbx_session *session = pick(server);

        next = TAILQ_NEXT(call, entry);
        if (call->request.tool == NULL)
            learn(server, call);
        else if (session != NULL)
            try_to_send(server, session, call);
    }
}

/* Start one more process if all are busy and the limit allows it. */
static void widen(gbx_server *server)
{
    const gbx_session *best = pick(server);

    if (count_live(server) < processes_of(server) && best != NULL &&
        best->call_count > 0 && count_ready(server) == count_live(server) &&
        may_start(server))
        gbx_server_start(server);
}

static void on_idle(void *user)
{
    gbx_server *server = user;

    if (server->in_flight == 0 && server->waiting_count == 0)
        gbx_server_stop(server);
}

static void watch_idleness(gbx_server *server)
{
    uint32_t ms = server->config->idle_ms;
    bool is_idle = server->in_flight == 0 && server->waiting_count == 0;

    if (!is_idle || count_live(server) == 0 || ms == 0)
        gbx_mcp_timer_clear(&server->idle);
    else if (!gbx_mcp_timer_is_set(&server->idle))
        gbx_mcp_timer_set(&server->idle, ms);
}

void gbx_server_pump(gbx_server *server)
{
    send_waiting(server);
    if (server->waiting_count > 0 && count_live(server) == 0) {
        if (is_open(server))
            fail_waiting(server, GBX_UPSTREAM_OPEN, server->fault);
        else
            start_in_turn(server);
    } else if (server->waiting_count > 0 || server->in_flight > 0) {
        widen(server);
    }
    watch_idleness(server);
}

static void on_retry(void *user)
{
    gbx_server_pump(user);
}

void gbx_server_init(gbx_server *server, gbx_upstreams *all,
                     const gbx_mcp_upstream_config *config)
{
    server->all = all;
    server->config = config;
    TAILQ_INIT(&server->waiting);
    gbx_mcp_timer_init(&server->retry, all->loop, on_retry, server);
    gbx_mcp_timer_init(&server->idle, all->loop, on_idle, server);
}
