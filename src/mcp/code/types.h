/* SPDX-License-Identifier: MIT */
/*
 * types - TypeScript whose types are only types becomes JavaScript of the same length.
 *
 * What is a type becomes blanks, character by character and line by line, so that every
 * position in what is left is one in what was given. What would have to be translated
 * (an enum, a namespace, a parameter that is a property) is refused.
 */
#ifndef GBX_MCP_CODE_TYPES_H
#define GBX_MCP_CODE_TYPES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbx_types_fault {
    const char *message; /* constant; NULL: none */
    const char *hint;
    size_t offset;
} gbx_types_fault;

/*
 * Blank the types in `to`, a copy of the text; without the grammar nothing happens. False if
 * the text is no TypeScript: then what looks like types is blank, and where the first thing
 * is wrong is the fault's offset, if it has no message. Inside gbx_arena_run().
 */
bool gbx_types_take(const char *text, size_t len, char *to, gbx_types_fault *ret_fault);

#endif
