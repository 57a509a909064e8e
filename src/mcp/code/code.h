/* SPDX-License-Identifier: MIT */
/* code - code mode: `execute`, `discover`, `call` and `provision` over upstream servers. */
#ifndef GBX_MCP_CODE_CODE_H
#define GBX_MCP_CODE_CODE_H

#include "mcp/approval/gate.h"

#include <glovebox/glovebox.h>

typedef struct gbx_mcp_code gbx_mcp_code;

/* Everything is borrowed and outlives the object. options: of the engine; its policy, if
 * there is one, is the caller's alone until now: the function that code asks us by is added
 * to it. */
gbx_status gbx_mcp_code_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const gbx_mcp_config *config, gbx_upstreams *upstreams,
                            gbx_gate *gate, const gbx_options *options,
                            gbx_mcp_code **ret, gbx_error *reterr);
/* The hook of gbx_upstream_hooks.tools_changed. */
void gbx_mcp_code_tools_changed(gbx_mcp_code *code, const char *server);
/* After the loop has ended, and before the gate and the upstream servers are freed: what
 * they still call back for does no harm. NULL is ignored. */
void gbx_mcp_code_free(gbx_mcp_code *code);

#endif
