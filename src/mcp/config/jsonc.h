/* SPDX-License-Identifier: MIT */
/* jsonc - editors write comments into JSON, and commas before closing brackets: both
 * become blanks, so that everything else keeps its place. */
#ifndef GBX_MCP_CONFIG_JSONC_H
#define GBX_MCP_CONFIG_JSONC_H

#include <stddef.h>

/* In place; lines stay lines. What is neither JSON nor a comment stays as it is. */
void gbx_jsonc_blank(char *text, size_t len);

#endif
