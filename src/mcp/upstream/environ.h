/* SPDX-License-Identifier: MIT */
/*
 * environ - the environment of a server: a few variables of ours by name, and its own.
 *
 * Everything else of ours, tokens for other servers among it, is not its business.
 */
#ifndef GBX_MCP_UPSTREAM_ENVIRON_H
#define GBX_MCP_UPSTREAM_ENVIRON_H

#include "mcp/config/config.h"

/* "NAME=value" strings, NULL at the end; NULL if memory is out. */
char **gbx_environ_new(const gbx_mcp_upstream_config *config);

/* Wiped: what is configured may be secret. NULL is ignored. */
void gbx_environ_free(char **environment);

#endif
