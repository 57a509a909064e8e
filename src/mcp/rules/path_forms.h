/* SPDX-License-Identifier: MIT */
/*
 * path_forms - a text as the path that some program makes of it.
 *
 * What is no path to one program is one to the next: "k.txt/", "./k.txt" and
 * "k.txt/x/.." may all be "k.txt". So a rule that asks or denies looks at each of these
 * forms besides the text itself; none of them may ever make a rule fit less.
 */
#ifndef GBX_MCP_RULES_PATH_FORMS_H
#define GBX_MCP_RULES_PATH_FORMS_H

#include <stddef.h>

/* To some programs '\' is a slash. */
typedef enum gbx_path_slashes { GBX_RESOLVED_ONE, GBX_RESOLVED_BOTH } gbx_path_slashes;

/* The text without ".", "..", what ".." takes back, and slashes doubled or at the end. ret
 * has room for len bytes; returns how many it has. */
size_t gbx_path_forms(const char *text, size_t len, gbx_path_slashes slashes,
                      char *ret);

#endif
