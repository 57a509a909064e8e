/* SPDX-License-Identifier: MIT */
/*
 * client_session - one client on one connection: messages in, messages out, no I/O inside.
 */
#ifndef GBX_MCP_SERVER_CLIENT_SESSION_H
#define GBX_MCP_SERVER_CLIENT_SESSION_H

#include "mcp/server/server.h"

/* The longest line that a client may send. */
#define GBX_MCP_LINE_MAX ((size_t)16 * 1024 * 1024)

typedef struct gbx_mcp_session gbx_mcp_session;

typedef struct gbx_mcp_session_hooks {
    void *user;
    /* Whole messages with their newlines; copied. False: there is no room, or nobody. */
    bool (*send)(void *user, const void *data, size_t len);
    /* What is sent next is not to be read in one go with what was sent before. May be NULL. */
    void (*part)(void *user);
    /* So much waits that what may be left out (progress, logs) is left out. */
    bool (*is_full)(void *user);
    /* A response could not be sent: memory is out, or the client does not read at all. */
    void (*give_up)(void *user);
    /* The last request in flight has ended. */
    void (*idle)(void *user);
} gbx_mcp_session_hooks;

/* NULL: memory is out. */
gbx_mcp_session *gbx_mcp_session_new(gbx_mcp_server *server,
                                     const gbx_mcp_session_hooks *hooks);

/* One line that the client sent. */
void gbx_mcp_session_take(gbx_mcp_session *session, const char *line, size_t len);
/* A line that was longer than GBX_MCP_LINE_MAX. */
void gbx_mcp_session_take_too_long(gbx_mcp_session *session);

/* Requests that the client waits for. */
size_t gbx_mcp_session_in_flight(const gbx_mcp_session *session);
/* Append what the oldest of them asks for, escaped: "tools/call execute". */
void gbx_mcp_session_name_oldest(const gbx_mcp_session *session, gbx_buf *to);
/* Requests of this server whose handlers are not through, whether anyone waits or not. */
size_t gbx_mcp_server_unfinished(const gbx_mcp_server *server);

/* The client is going: subscriptions are closed with their results, everything in flight
 * is cancelled. Nothing is taken or sent after it. */
void gbx_mcp_session_end(gbx_mcp_session *session);

/* Ends it too. Its requests live on until their handlers end them. NULL is ignored. */
void gbx_mcp_session_free(gbx_mcp_session *session);

#endif
