/* SPDX-License-Identifier: MIT */
/*
 * mcp_client - a client in the test's own process: says lines, and reads what it is told.
 */
#ifndef GBX_TESTS_MCP_CLIENT_H
#define GBX_TESTS_MCP_CLIENT_H

#include "mcp/server/server_state.h"

typedef struct mcp_client {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_buf told; /* all lines that were not read yet */
    bool is_deaf; /* takes nothing more */
    bool is_full;
    int gave_up;
    int idled;
} mcp_client;

#define MODERN_META                                                          \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN_META_ASK                                                      \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}"

void mcp_client_open(mcp_client *client, const gbx_mcp_server_options *options);
void mcp_client_close(mcp_client *client);

/* Say a message; what is inside of "jsonrpc":"2.0" and braces. */
void mcp_client_say(mcp_client *client, const char *members);
/* A line as it is. */
void mcp_client_say_line(mcp_client *client, const char *line);
/* initialize with that version; its answer is read. */
void mcp_client_initialize(mcp_client *client, const char *version,
                           const char *capabilities);

/* What was said since the last call, without the newline at the end; runs the loop until
 * it has nothing to do. Borrowed until the next call. */
const char *mcp_client_hear(mcp_client *client);
/* The same, and it is exactly this; or has this in it. */
void mcp_client_expect(mcp_client *client, const char *lines);
const char *mcp_client_expect_part(mcp_client *client, const char *part);

#endif
