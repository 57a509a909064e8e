/* SPDX-License-Identifier: MIT */
/* exports - what a module of Node exports, as the value that is meant. */
#ifndef GBX_MCP_CODE_EXPORTS_H
#define GBX_MCP_CODE_EXPORTS_H

#include "guard/tree.h"

/*
 * t: flat and without errors. to: a copy of its text, in which `module.exports =` becomes
 * `export default` of the same length, and what exports no more than functions by their names
 * becomes blanks. False if nothing of it is there, or anything else is done with `module` or
 * `exports`: then to is as it was.
 */
bool gbx_exports_take(const gbx_tree *t, char *to);

#endif
