/* SPDX-License-Identifier: MIT */
/*
 * seal - a state that goes to the client and comes back, and cannot be made by it.
 *
 * What is sealed is a handle, a round, a time, and a digest of the request it belongs to:
 * nothing of the work itself, which stays in the server. The key is this process's and
 * is never written anywhere.
 */
#ifndef GBX_MCP_SERVER_SEAL_H
#define GBX_MCP_SERVER_SEAL_H

#include "mcp/server/digest.h"

#define GBX_MCP_STATE_ID_SIZE 16
/* Characters of a state, its NUL included: 92 bytes in base64. */
#define GBX_MCP_STATE_SIZE 125

typedef struct gbx_mcp_state_id {
    uint8_t bytes[GBX_MCP_STATE_ID_SIZE];
} gbx_mcp_state_id;

typedef struct gbx_mcp_seal {
    uint8_t key[GBX_SHA256_SIZE];
} gbx_mcp_seal;

typedef struct gbx_mcp_state {
    gbx_mcp_state_id id;
    uint32_t round;
    int64_t until_ns; /* on the monotonic clock of this process */
    gbx_mcp_digest request;
} gbx_mcp_state;

/* False: the system has no random numbers for us. */
bool gbx_mcp_seal_init(gbx_mcp_seal *seal);
void gbx_mcp_seal_cleanup(gbx_mcp_seal *seal);
bool gbx_mcp_state_id_new(gbx_mcp_state_id *ret);

void gbx_mcp_seal_state(const gbx_mcp_seal *seal, const gbx_mcp_state *state,
                        char ret[GBX_MCP_STATE_SIZE]);

/* False unless text was sealed by this seal, to the bit. Time, round and request are the
 * caller's to compare. */
bool gbx_mcp_unseal_state(const gbx_mcp_seal *seal, const char *text, size_t len,
                          gbx_mcp_state *ret);

/* HMAC-SHA-256 (RFC 2104). */
void gbx_mcp_hmac(const uint8_t *key, size_t key_len, const void *data, size_t len,
                  uint8_t ret[GBX_SHA256_SIZE]);

#endif
