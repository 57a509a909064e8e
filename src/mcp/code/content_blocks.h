/* SPDX-License-Identifier: MIT */
/*
 * content_blocks - the content of one tool's result, for a client: what is known of each block is
 * checked and written anew, and all of it together is bounded.
 *
 * Results come from upstream servers: hostile, and only known to be JSON. A client refuses
 * a whole answer for one block that is none, so what is no block becomes text.
 */
#ifndef GBX_MCP_CODE_CONTENT_BLOCKS_H
#define GBX_MCP_CODE_CONTENT_BLOCKS_H

#include "base/json_view.h"
#include "mcp/code/artifacts.h"

typedef struct gbx_blocks_room {
    size_t max; /* bytes of all blocks, but for the data of images and files */
    gbx_artifacts *store; /* for a text that is longer */
    const char *name;     /* of what is kept there */
    const char *version;  /* of the protocol, as the client speaks it */
    int64_t now_ns;
} gbx_blocks_room;

/* Append a comma and a block for each block of content, as long as there is room. Else all
 * texts are one, whose middle is left out, before what is no text; and what was left out is
 * appended to `left_out`, lines of text. */
void gbx_blocks_write(gbx_view content, const gbx_blocks_room *room, gbx_buf *to,
                      gbx_buf *left_out);

/* The same for a value that is none of blocks: its JSON as one text. */
void gbx_blocks_json(gbx_view value, const gbx_blocks_room *room, gbx_buf *to,
                     gbx_buf *left_out);

/* Append a comma and a block of text. */
void gbx_blocks_text(gbx_buf *to, const void *text, size_t len);

#endif
