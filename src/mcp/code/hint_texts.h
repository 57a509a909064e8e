/* SPDX-License-Identifier: MIT */
/* hint_texts - what a model can do where a hint is for who starts the command. */
#ifndef GBX_MCP_CODE_HINT_TEXTS_H
#define GBX_MCP_CODE_HINT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* After a failure that no code is the reason of, or gets around. */
#define GBX_ADVICE_MEND "whoever runs this server must mend that"

/* Where there are servers. message: of the error; hint: the guard's, or ""; line: of the
 * code, where it failed. A constant, or the hint itself. */
const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len);

/* Where there may be none: a constant, or the hint itself. */
const char *gbx_advice_for_hint(const char *hint);

/* The globals that are there in code mode alone. */
#define GBX_CODE_OURS "servers glovebox discover artifact progress ToolError"

/* Is one of the words, between single spaces, a name in the text? */
bool gbx_code_has_one_of(const char *words, const char *text, size_t len);

#endif
