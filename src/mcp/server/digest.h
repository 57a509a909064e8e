/* SPDX-License-Identifier: MIT */
/*
 * digest - of what a request asks for, however it is written: two texts that any reader of
 * JSON may take for different requests never have the same one.
 */
#ifndef GBX_MCP_SERVER_DIGEST_H
#define GBX_MCP_SERVER_DIGEST_H

#include "base/json_view.h"
#include "base/sha256.h"

typedef struct gbx_mcp_digest {
    uint8_t bytes[GBX_SHA256_SIZE];
} gbx_mcp_digest;

/* Of a method and its parameters less _meta, inputResponses and requestState. White space,
 * the order of members of different names, escapes in strings and the notation of numbers
 * are all the same to it. */
void gbx_mcp_digest_request(const char *method, gbx_view params, gbx_mcp_digest *ret);

#endif
