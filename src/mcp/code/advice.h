/* SPDX-License-Identifier: MIT */
/* advice - what a model can do where the guard's hint is for who starts the command. */
#ifndef GBX_MCP_CODE_ADVICE_H
#define GBX_MCP_CODE_ADVICE_H

#include <stddef.h>

/* message: of the error; hint: the guard's, or ""; line: of the code, where it failed.
 * A constant, or NULL: the hint is good here, too. */
const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len);

#endif
