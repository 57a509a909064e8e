/* SPDX-License-Identifier: MIT */
/* advice - what a model can do where a hint is for who starts the command. */
#ifndef GBX_MCP_CODE_ADVICE_H
#define GBX_MCP_CODE_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/* Where there are servers. message: of the error; hint: the guard's, or ""; line: of the
 * code, where it failed. A constant, or the hint itself. */
const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len);

/* Where there may be none: a constant, or the hint itself. */
const char *gbx_advice_for_hint(const char *hint);

/* Does the text name one of the globals that are there in code mode alone? */
bool gbx_code_names_ours(const char *text, size_t len);

#endif
