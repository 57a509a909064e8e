/* SPDX-License-Identifier: MIT */
/* unawaited - did code fail because it used a call's promise instead of its value? */
#ifndef GBX_MCP_CODE_UNAWAITED_H
#define GBX_MCP_CODE_UNAWAITED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The call whose promise was used. */
typedef struct gbx_unawaited {
    size_t start; /* its function, in the text: servers.up.list */
    size_t end;
    uint32_t line; /* from 1 */
    bool is_list;  /* made for each item of a list */
} gbx_unawaited;

/* text: JavaScript; message and line: of the error, as the engine words it. False if
 * the error is not recognised. */
bool gbx_unawaited_find(const char *text, size_t len, const char *message,
                        uint32_t line, gbx_unawaited *ret);

#endif
