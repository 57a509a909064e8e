/* SPDX-License-Identifier: MIT */
/* mcp_serve - one process that serves a client of `glovebox mcp`. */
#ifndef GBX_CLI_MCP_SERVE_H
#define GBX_CLI_MCP_SERVE_H

#include "cli/cli.h"
#include "mcp/access/access.h"
#include "mcp/http/http.h"

typedef struct gbx_mcp_args {
    gbx_common_args common;
    gbx_opt_list data;
    gbx_opt_list show;
    gbx_opt_list preloads;
    int examples;
    const char *config;
    const char *security_log;
    const char *otlp;
    const char *console; /* the port of the page, or NULL */
    gbx_policy_args policy;
    gbx_http_options http;
    gbx_access_file access;
    const gbx_http_caller *client; /* NULL: without OAuth, it may use everything */
    /* Of this process: */
    gbx_http_console *page; /* that it serves, or NULL */
    int spawner;            /* for the page over stdio, or -1 */
    int page_fd;            /* to the page that another process serves, or -1 */
} gbx_mcp_args;

bool gbx_fd_is_open(int fd);

/* The usual limit is for programs that use select(); a server needs more. */
void gbx_mcp_raise_descriptors(void);

/* Serve one client over standard input and output. Returns the exit status. */
int gbx_mcp_serve(gbx_mcp_args *args);
/* The same, as the rights of that client allow. */
int gbx_mcp_serve_granted(gbx_mcp_args *args, const gbx_http_caller *client);

#endif
