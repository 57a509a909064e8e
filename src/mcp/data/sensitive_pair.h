/* SPDX-License-Identifier: MIT */
/* sensitive_pair - secrets inside text that stand behind their names: Password=...; of a
 * connection, "token": "..." of JSON, <token>... of XML, Bearer ... of a header. */
#ifndef GBX_MCP_DATA_SENSITIVE_PAIR_H
#define GBX_MCP_DATA_SENSITIVE_PAIR_H

#include <stddef.h>

/* Where the value ends that begins at text[at] and has the name of a secret before it;
 * `at` if there is none. at < len. */
size_t gbx_sensitive_pair_end(const char *text, size_t len, size_t at);

#endif
