/* SPDX-License-Identifier: MIT */
/*
 * proxy - resources, prompts and completions of upstream servers, for our clients.
 *
 * One table has all methods. A list is the lists of all servers, one after another; every
 * other request names its server (GBX_PROXY_SCHEME). All pass the gate, as calls of tools
 * do.
 */
#ifndef GBX_MCP_PROXY_PROXY_H
#define GBX_MCP_PROXY_PROXY_H

#include "mcp/approval/gate.h"
#include "mcp/config/config.h"
#include "mcp/server/server.h"
#include "mcp/upstream/upstream.h"

typedef struct gbx_proxy gbx_proxy;

/* Everything is borrowed. */
gbx_proxy *gbx_proxy_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                         const gbx_mcp_config *config, gbx_upstreams *upstreams,
                         gbx_gate *gate);
/* Call it after the loop has ended, before freeing the gate and the upstream servers,
 * whose later callbacks do no harm. NULL is ignored. */
void gbx_proxy_free(gbx_proxy *proxy);

/* The hook of gbx_upstream_hooks.news. */
void gbx_proxy_on_news(gbx_proxy *proxy, const gbx_mcp_upstream_config *server,
                       gbx_upstream_news news, gbx_view uri);

#endif
