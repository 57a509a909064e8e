/* SPDX-License-Identifier: MIT */
/*
 * types_of - TypeScript for what a JSON Schema describes.
 *
 * Schemas come from upstream servers: hostile. Whatever they hold, what is written is
 * valid TypeScript, of bounded length after a bounded amount of work; what is too deep, too
 * much, recursive or not understood is `unknown`, and a value that the schema allows is not
 * refused. Only references within the schema are followed.
 */
#ifndef GBX_MCP_CODE_TYPES_OF_H
#define GBX_MCP_CODE_TYPES_OF_H

#include "base/buf.h"
#include "base/json_view.h"

typedef struct gbx_types_form {
    unsigned indent;     /* of lines that are begun */
    unsigned nested_max; /* objects and arrays in each other */
    unsigned values_max; /* of an enum, or more that are short */
    size_t describe_max; /* bytes of a parameter's description */
} gbx_types_form;

/* Append the type of schema; no value is `unknown`. */
void gbx_types_of(gbx_buf *to, gbx_view schema, const gbx_types_form *form);

/* What "#/$defs/a" leads to in the schema that is root, or the $anchor or $id of one of its
 * definitions; no value for anything else. */
gbx_view gbx_types_follow(gbx_view root, gbx_view ref);

/* Is there nothing that a caller must give? Then the arguments may be left out. */
bool gbx_types_all_optional(gbx_view schema);

/* Append text as the inside of a comment of one line, at most max bytes of it: nothing in
 * it ends the comment. */
void gbx_types_comment(gbx_buf *to, gbx_view text, size_t max);

/* Append a JSON string as one of TypeScript: characters that reorder text or steer a
 * terminal are escaped. */
bool gbx_types_string(gbx_buf *to, gbx_view string);

/* Append a name as TypeScript has members': as it is, or as a string. False, and nothing
 * is written, if it is no string. */
bool gbx_types_put_name(gbx_buf *to, gbx_view name);

/* FNV-1a of a string's characters: names that were already written are left out. */
uint64_t gbx_types_hash(gbx_view name);

#endif
