/* SPDX-License-Identifier: MIT */
/* sensitive_key - keys and tokens: by the prefixes of those that give them out, or by a mix
 * of letters and digits that no word is; and what is kept of passwords. */
#ifndef GBX_MCP_DATA_SENSITIVE_KEY_H
#define GBX_MCP_DATA_SENSITIVE_KEY_H

#include <stdbool.h>
#include <stddef.h>

/* s: a run without white space. */
bool gbx_sensitive_is_key(const char *s, size_t len);

/* Stricter, for parts of runs: with a prefix, and a mix behind it; or such a hash. */
bool gbx_sensitive_is_marked_key(const char *s, size_t len);

#endif
