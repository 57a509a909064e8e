/* SPDX-License-Identifier: MIT */
/* sensitive_iban - is it the number of an account, with the digits that check it? */
#ifndef GBX_MCP_DATA_SENSITIVE_IBAN_H
#define GBX_MCP_DATA_SENSITIVE_IBAN_H

#include <stdbool.h>
#include <stddef.h>

/* With blanks or hyphens anywhere, or without. */
bool gbx_sensitive_is_iban(const char *s, size_t len);

/* The end of one that begins at s[at], as it is printed: in groups of four, of which the
 * last may be shorter. Or at. */
size_t gbx_sensitive_iban_end(const char *s, size_t len, size_t at);

#endif
