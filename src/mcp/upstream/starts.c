/* SPDX-License-Identifier: MIT */
/*
 * starts - a request for all tools starts all servers, and dozens of programs that
 * start at once slow each other down until all time out. So they start in turn. A
 * server that a call waits for starts at once.
 */
#include "mcp/upstream/upstream_server.h"

#include "base/clock.h"
#include "base/timeouts.h"

#include <unistd.h>

#define EACH_PROCESSOR 2u

static bool is_called(const gbx_server *server)
{
    for (const gbx_upstream_call *call = server->waiting; call != NULL;
         call = call->next)
        if (call->tool != NULL)
            return true;
    return false;
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

/* ---- the rest of upstream ------------------------------------------------- */

size_t gbx_starts_at_once(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return EACH_PROCESSOR * (processors > 0 ? (size_t)processors : 1);
}

void gbx_server_start_in_turn(gbx_server *server)
{
    bool may_start = gbx_server_may_start(server);
    int64_t left_ns = may_start ? gbx_timeout_ns(GBX_TIMEOUT_START_LOOK)
                                : server->retry_ns - gbx_clock_now_ns();
    struct timeval after = {left_ns / 1000000000, left_ns % 1000000000 / 1000 + 1};

    if (may_start && has_turn(server))
        gbx_server_start(server);
    else if (left_ns > 0)
        (void)event_add(server->retry, &after);
}
