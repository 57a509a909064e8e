/* SPDX-License-Identifier: MIT */
/* strip_fences - what comes with code on its way from a model: fences, and escapes that are left. */
#ifndef GBX_MCP_CODE_STRIP_FENCES_H
#define GBX_MCP_CODE_STRIP_FENCES_H

#include <stddef.h>

/*
 * Blank a Markdown fence that guard/source_region.h does not take for one: one whose first line
 * says more than a language, one that nothing closes. Only where the code is complete,
 * with no text around it; no byte moves.
 */
void gbx_strip_fence(char *text, size_t len);

/* The first backslash that is in no string, template, regular expression or comment and
 * that one escaping too many has left; len if there is none. *ret_hint is a constant. */
size_t gbx_strip_escape(const char *text, size_t len, const char **ret_hint);

/* A first line for a shell, #!, is a comment, as it is to the language. */
void gbx_strip_first_line(char *text, size_t len);

#endif
