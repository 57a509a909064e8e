/* SPDX-License-Identifier: MIT */
/*
 * casefold - one form for all the cases of a letter, in every script that has cases.
 *
 * One letter becomes one letter: "ß" is not "ss". The locale has no say in it, and a dotless
 * or a dotted i is an i, since some programs take them for one.
 */
#ifndef GBX_MCP_RULES_CASEFOLD_H
#define GBX_MCP_RULES_CASEFOLD_H

#include <stdbool.h>
#include <stddef.h>

/* The first character of text, of at least one byte, in that form, which has no more bytes
 * than it; a byte that is not of UTF-8 stands for itself. The bytes of text that it has. */
size_t gbx_letter_fold(const char *text, size_t len, char ret[4], size_t *ret_len);

/* Do they differ in the case of letters alone, if at all? */
bool gbx_casefold_same(const char *a, const char *b);

#endif
