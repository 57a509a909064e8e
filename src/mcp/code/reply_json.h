/* SPDX-License-Identifier: MIT */
/* reply_json - the halves of a reply that are JSON; for script_reply.c alone. */
#ifndef GBX_MCP_CODE_REPLY_JSON_H
#define GBX_MCP_CODE_REPLY_JSON_H

#include "mcp/code/excerpt.h"
#include "mcp/code/script_reply.h"

/* Of what is long, what is shown. */
typedef struct gbx_reply_cuts {
    gbx_excerpt value;
    gbx_excerpt logs;
    gbx_excerpt message; /* of the error, which has what is shown already */
} gbx_reply_cuts;

/* How what is shown of the value is escaped. */
gbx_escape gbx_reply_escape(const gbx_script_reply *reply);

void gbx_reply_structure(const gbx_script_reply *reply, const gbx_reply_cuts *cuts,
                         gbx_buf *to);
/* Append a comma and a block that links to a resource. */
void gbx_reply_link(gbx_buf *to, const char *uri, const char *name,
                    const char *mime_type, size_t bytes);
void gbx_reply_blocks(const gbx_script_reply *reply, const gbx_buf *text,
                      const gbx_reply_cuts *cuts, gbx_buf *to);

#endif
