/* SPDX-License-Identifier: MIT */
/*
 * variable - ${VAR}, ${VAR:-default} and ${env:VAR} in texts of a configuration.
 *
 * "$${" is "${" as text; of any number of '$' before a '{' two are one, and an odd last
 * one begins a variable. What is not of these forms stays as it is, but for the forms that
 * editors fill in and nobody here can.
 */
#ifndef GBX_MCP_CONFIG_VARIABLE_H
#define GBX_MCP_CONFIG_VARIABLE_H

#include "base/buf.h"
#include "base/fail.h"

/* Of one text with its variables. */
#define GBX_MCP_TEXT_MAX 65536

/* Ends what is said of a form of editors: `mcp import` itself has to say it without. */
#define GBX_VARIABLES_IMPORT ", or take the file over with 'glovebox mcp import'"

/* Is told of each value that was put in, and with value NULL of each that is not set. */
typedef gbx_status (*gbx_variable_fn)(void *user, const char *name, const char *value);

/* *ret is the text with its variables, nothing for one that is not set; free() it.
 * GBX_E_POLICY without a place: the text is too long, wants an editor, or has a variable in
 * a default. */
gbx_status gbx_variables_fill(const char *text, gbx_variable_fn used, void *user,
                              char **ret, gbx_error *reterr);

/* Append what gbx_variables_fill() makes that very text of. */
void gbx_variables_escape(const char *text, gbx_buf *to);

/* What to say of names that are not set, in one sentence; free() it. NULL: no memory. */
char *gbx_variables_unset(char *const *names, size_t count);

#endif
