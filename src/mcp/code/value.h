/* SPDX-License-Identifier: MIT */
/*
 * value - what code gets for a CallToolResult: its structured content, else the JSON that
 * its text is, else the text; what is no text, as a handle.
 *
 * Results come from upstream servers: hostile, and only known to be JSON.
 */
#ifndef GBX_MCP_CODE_VALUE_H
#define GBX_MCP_CODE_VALUE_H

#include "base/json_view.h"

/* Keep bytes, and append the JSON of the handle by which they are found. */
typedef struct gbx_value_keeper {
    void (*keep)(void *user, const char *mime_type, const void *data, size_t len,
                 gbx_buf *handle);
    void *user;
} gbx_value_keeper;

/* True: the value's JSON is appended to `to`. False: the tool says that it failed, and
 * why is appended to message as text, head and tail of what is long. */
bool gbx_value_of_result(gbx_view result, const gbx_value_keeper *keeper, gbx_buf *to,
                         gbx_buf *message);

/* Has the result more than what code gets as its structured content: a text that is not
 * that content once more and not in it, or other blocks? */
bool gbx_value_has_more(gbx_view result);

/* What a value is, in a few words of printable text: "string", "{ content: string }",
 * "[{ id: number, ... }, ...]". */
#define GBX_VALUE_SKETCH_SIZE 128
void gbx_value_sketch(gbx_view value, char ret[GBX_VALUE_SKETCH_SIZE]);

/* Its members, in one pass: those that are missing are no value. */
typedef struct gbx_value_parts {
    gbx_view structured;
    gbx_view content;
    bool is_error;
} gbx_value_parts;

gbx_value_parts gbx_value_parts_of(gbx_view result);

#endif
