/* SPDX-License-Identifier: MIT */
/* message_hints - what models write out of the habit of other hosts, and what it is here. */
#ifndef GBX_MCP_CODE_MESSAGE_HINTS_H
#define GBX_MCP_CODE_MESSAGE_HINTS_H

#include "mcp/code/script_run.h"

/* message: the engine's, of an error that a run ended with; line: of the code, where it
 * failed. What to write instead, to be freed, or NULL. */
char *gbx_code_message_hint(const gbx_code_run *run, const char *message,
                            const char *line, size_t line_len);

#endif
