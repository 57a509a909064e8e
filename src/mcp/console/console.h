/* SPDX-License-Identifier: MIT */
/*
 * console - a page of this machine where a person sees what the server does, and answers
 * its questions.
 *
 * Each server process has a link to the hub, which is in the process that listens. The
 * link reports lines of the security log, open questions and upstream servers, and takes
 * answers. The hub keeps what all links report and serves it to browsers. It decides
 * nothing: an answer goes to the server, which treats it like the client's.
 */
#ifndef GBX_MCP_CONSOLE_CONSOLE_H
#define GBX_MCP_CONSOLE_CONSOLE_H

#include "mcp/http/http.h"
#include "mcp/server/server.h"
#include "mcp/upstream/upstream.h"

/* What a line between a link and the hub is about: its first character. */
#define GBX_CONSOLE_EVENT   'L' /* JSON: a line of the security log */
#define GBX_CONSOLE_SHOW    'Q' /* NUMBER JSON: a question is open */
#define GBX_CONSOLE_HIDE    'C' /* NUMBER: it is not open any more */
#define GBX_CONSOLE_SERVERS 'S' /* JSON array: upstream servers */
/* From the hub: */
#define GBX_CONSOLE_ADDRESS 'H' /* of the page, without its folder */
#define GBX_CONSOLE_WATCHED 'W' /* NUMBER: 1 if a browser shows the page, else 0 */
#define GBX_CONSOLE_ANSWER  'A' /* NUMBER JSON */

/* ---- console_link.c ---------------------------------------------------------------- */

typedef struct gbx_console_link gbx_console_link;

/* Takes ownership of fd. Free it before the server and the loop, and after whatever calls
 * gbx_console_link_line(). */
gbx_console_link *gbx_console_link_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                                       int fd);
void gbx_console_link_free(gbx_console_link *link);
/* The address to name in errors; "" until it is known. Valid as long as the link. */
const char *gbx_console_link_address(const gbx_console_link *link);
/* Report a line of the security log, or drop it while too many wait; `user` is the link.
 * From any thread. */
void gbx_console_link_line(void *user, const char *line, size_t len);
/* Report the state of these servers. Both are borrowed while the loop runs. */
void gbx_console_link_servers(gbx_console_link *link, const gbx_mcp_config *config,
                              const gbx_upstreams *upstreams);

/* ---- console_hub.c ----------------------------------------------------------------- */

/* port: a number in digits; 0: any free one. GBX_E_USAGE: it is not. */
gbx_status gbx_console_check(const char *port, gbx_error *reterr);
/* port is borrowed. Start it with its own function, and stop it before the loop ends. */
gbx_http_console *gbx_console_new(const char *port);
void gbx_console_free(gbx_http_console *console);

#endif
