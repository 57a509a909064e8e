/* SPDX-License-Identifier: MIT */
/* slip - what models write out of the habit of other hosts, and what it is here. */
#ifndef GBX_MCP_CODE_SLIP_H
#define GBX_MCP_CODE_SLIP_H

#include "mcp/code/run.h"

/* message: the engine's, of an error that a run ended with; line: of the code, where it
 * failed. What to write instead, to be freed, or NULL. */
char *gbx_code_slip(const gbx_code_run *run, const char *message, const char *line,
                    size_t line_len);

#endif
