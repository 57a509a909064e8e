/* SPDX-License-Identifier: MIT */
/*
 * stdio - a session on standard input and output, from its first byte to its end.
 *
 * The end is: end of input, a signal that asks us to go, or a client that does not read.
 * Requests, begun or not, have a moment to be answered after the end of input, none
 * otherwise; then they are cancelled, their handlers have a moment to be through, and the
 * loop is stopped, all within STDIO_END_MS. A client that does not read stops being read
 * from.
 */
#ifndef GBX_MCP_SERVER_STDIO_H
#define GBX_MCP_SERVER_STDIO_H

#include "mcp/server/server.h"

/* From the reason to end to the stop of the loop. */
#define GBX_MCP_STDIO_END_MS 650

typedef struct gbx_mcp_stdio gbx_mcp_stdio;

/* Serve on two descriptors, which are borrowed, and stop the loop with status 0 at the
 * end. Handles SIGTERM, SIGINT and SIGHUP, blocked or not: the second of them exits at once. */
gbx_status gbx_mcp_stdio_new(gbx_mcp_loop *loop, gbx_mcp_server *server, int in_fd,
                             int out_fd, gbx_mcp_stdio **ret, gbx_error *reterr);

/* Why the end has come, if it is that a descriptor cannot be read or written; else 0, and
 * so if the client is gone. */
int gbx_mcp_stdio_read_errno(const gbx_mcp_stdio *stdio);
int gbx_mcp_stdio_write_errno(const gbx_mcp_stdio *stdio);

/* Ends the session. NULL is ignored. */
void gbx_mcp_stdio_free(gbx_mcp_stdio *stdio);

#endif
