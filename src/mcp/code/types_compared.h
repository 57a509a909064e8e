/* SPDX-License-Identifier: MIT */
/* types_compared - f(a < b, c > (d)): by its grammar alone, a generic call a<b, c>(d). */
#ifndef GBX_MCP_CODE_TYPES_COMPARED_H
#define GBX_MCP_CODE_TYPES_COMPARED_H

#include "guard/tree.h"

typedef struct gbx_types_name {
    const char *text;
    size_t len;
    bool is_type;
} gbx_types_name;

/* What the code declares, sorted; {0} until it is first needed. */
typedef struct gbx_types_names {
    gbx_types_name *items;
    uint32_t count;
} gbx_types_names;

/* True if node i, type arguments, are operands. Of a call: one is a variable that the code
 * declares and no type, or a member of what it declares, and nothing is of a form that only
 * types have.
 * Without a call: what follows is an operand. Inside gbx_arena_run(). */
bool gbx_types_is_compared(const gbx_tree *t, uint32_t i, gbx_types_names *names);

#endif
