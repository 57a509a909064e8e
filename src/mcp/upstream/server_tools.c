/* SPDX-License-Identifier: MIT */
/* server_tools - what is known of a server's tools, and whether that is still
 * current. */
#include "mcp/upstream/upstream_server.h"

#include "base/clock.h"

static bool holds(const gbx_server *server)
{
    return server->tools_until_ns == 0 || gbx_clock_now_ns() < server->tools_until_ns;
}

/* ---- the rest of upstream ------------------------------------------------- */

void gbx_server_take_tools(gbx_server *server, const gbx_session *session)
{
    uint32_t ttl_ms = gbx_session_facts_of(session)->tools_ttl_ms;
    gbx_tools ours;

    server->tools_until_ns =
        ttl_ms == 0 ? 0 : gbx_clock_now_ns() + (int64_t)ttl_ms * GBX_NS_PER_MS;
    if (!gbx_redact_tools(server->all->yard.secrets, gbx_session_tools(session),
                          &ours)) {
        gbx_tools_cleanup(&ours);
        return;
    }
    server->left_out = ours.dropped;
    gbx_tools_say_dropped(&ours, server->left_out_why, sizeof server->left_out_why);
    if (server->knows_tools && gbx_tools_same(&server->tools, &ours)) {
        gbx_tools_cleanup(&ours);
        return;
    }
    if (ours.flaws[GBX_TOOL_SECRET] > 0)
        gbx_server_log(server, server->left_out_why);
    gbx_tools_cleanup(&server->tools);
    server->tools = ours;
    server->knows_tools = true;
    if (server->all->hooks.tools_changed != NULL)
        server->all->hooks.tools_changed(server->all->hooks.user, server->config->name);
}

bool gbx_server_is_current(const gbx_server *server, const gbx_session *session,
                           const gbx_upstream_call *call)
{
    return (holds(server) && !gbx_session_is_stale(session)) ||
           gbx_session_listed_ns(session) >= call->since_ns;
}

void gbx_server_learn(gbx_server *server, gbx_upstream_call *call)
{
    bool is_there = false;
    bool is_current = true;

    for (size_t i = 0; i < server->session_count; i++) {
        gbx_session *session = server->sessions[i];

        if (!gbx_session_is_ready(session))
            continue;
        is_there = true;
        if (gbx_server_is_current(server, session, call))
            continue;
        gbx_session_list_now(session);
        is_current = false;
    }
    if (server->knows_tools && is_current && (is_there || holds(server)))
        gbx_call_end_later(call, GBX_UPSTREAM_OK, "");
}

bool gbx_server_is_dated(const gbx_server *server)
{
    bool is_stale = !holds(server);
    bool is_there = false;

    for (size_t i = 0; i < server->session_count; i++) {
        if (!gbx_session_is_ready(server->sessions[i]))
            continue;
        is_there = true;
        is_stale = is_stale || gbx_session_is_stale(server->sessions[i]);
    }
    return is_there && is_stale;
}
