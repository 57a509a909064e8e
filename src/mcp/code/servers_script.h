/* SPDX-License-Identifier: MIT */
/* servers_script - the script servers.js as a preload of an engine, for a list of servers. */
#ifndef GBX_MCP_CODE_SERVERS_SCRIPT_H
#define GBX_MCP_CODE_SERVERS_SCRIPT_H

#include "base/buf.h"

/* What the script is called in stacks, and the function of the host that it calls. */
#define GBX_CODE_PRELOAD_NAME "servers.js"
#define GBX_CODE_HOST_NAME    "codemode"

/* Append the source. sleep_ms: how long one sleep may be. */
bool gbx_code_preload(gbx_buf *to, const char *const *names, size_t count,
                      uint32_t sleep_ms);

#endif
