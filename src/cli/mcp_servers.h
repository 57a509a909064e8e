/* SPDX-License-Identifier: MIT */
/*
 * mcp_servers - code mode of `glovebox mcp`: the configuration, the servers in it, the
 * gate before them, and the tools over them.
 */
#ifndef GBX_CLI_MCP_SERVERS_H
#define GBX_CLI_MCP_SERVERS_H

#include "cli/security_log.h"
#include "mcp/code/code.h"

/* Zeroed: there are none. */
typedef struct gbx_mcp_servers {
    gbx_security_log log; /* of the configuration, if the command has none */
    gbx_options options;
    gbx_mcp_config *config;
    gbx_upstreams *upstreams;
    gbx_gate *gate;
    gbx_mcp_code *code;
} gbx_mcp_servers;

/* path: of the file with mcpServers. options are copied; what they point to is borrowed.
 * What was begun is undone by gbx_mcp_servers_close(). */
gbx_status gbx_mcp_servers_open(gbx_mcp_servers *servers, const char *path,
                                gbx_mcp_loop *loop, gbx_mcp_server *server,
                                const gbx_options *options, gbx_error *reterr);

/* After the loop has ended, before the server is freed. Not GBX_OK if a line of the
 * configuration's security log was not written. */
gbx_status gbx_mcp_servers_close(gbx_mcp_servers *servers, gbx_error *reterr);

#endif
