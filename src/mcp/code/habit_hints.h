/* SPDX-License-Identifier: MIT */
/* habit_hints - map habits that models bring from other hosts to what works here. */
#ifndef GBX_MCP_CODE_HABIT_HINTS_H
#define GBX_MCP_CODE_HABIT_HINTS_H

#include "mcp/code/script_run.h"

/* What to write instead, to be freed, or NULL. message: the engine's, of the error that
 * ended a run; line: the line of code that failed. */
char *gbx_code_message_hint(const gbx_code_run *run, const char *message,
                            const char *line, size_t line_len);

#endif
