/* SPDX-License-Identifier: MIT */
/* types_none - for builds without the TypeScript grammar: its syntax is then an error
 * like any other, with the guard's hint. */
#include "mcp/code/code_mode.h"

bool gbx_types_take(const char *text, size_t len, char *to, gbx_types_fault *ret_fault)
{
    (void)text;
    (void)len;
    (void)to;
    *ret_fault = (gbx_types_fault){NULL, NULL, 0};
    return true;
}
