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
    gbx_mcp_config *config;
    gbx_upstreams *upstreams;
    gbx_gate *gate;
    gbx_mcp_code *code;
} gbx_mcp_servers;

/* Reads the file with mcpServers. It may be a FIFO, which is waited for: signals must still
 * do what they do in a fresh process. What was begun is undone by gbx_mcp_servers_close(). */
gbx_status gbx_mcp_servers_read(gbx_mcp_servers *servers, const char *path,
                                gbx_trust trust, gbx_error *reterr);

/* What has been read comes to life. The log that it names is opened if there is none yet,
 * and written by all that is made of options then; both are the caller's. */
gbx_status gbx_mcp_servers_open(gbx_mcp_servers *servers, gbx_mcp_loop *loop,
                                gbx_mcp_server *server, gbx_security_log *log,
                                gbx_options *options, gbx_error *reterr);

/* After the loop has ended, before the server is freed and the log is closed. */
void gbx_mcp_servers_close(gbx_mcp_servers *servers);

#endif
