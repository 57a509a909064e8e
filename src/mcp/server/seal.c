/* SPDX-License-Identifier: MIT */
/* seal - 16 bytes of handle, 4 of round, 8 of time, 32 of digest, 32 of HMAC over them. */
#include "mcp/server/seal.h"

#include "base/base64.h"
#include "base/cleanup.h"

#include <string.h>
#include <sys/random.h>

#define BLOCK      64
#define BODY_SIZE  (GBX_MCP_STATE_ID_SIZE + 4 + 8 + GBX_SHA256_SIZE)
#define TOKEN_SIZE (BODY_SIZE + GBX_SHA256_SIZE)

static bool random_bytes(void *to, size_t len)
{
    return getrandom(to, len, 0) == (ssize_t)len;
}

static void put_be(uint8_t *to, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++)
        to[i] = (uint8_t)(value >> (8 * (width - 1 - i)));
}

static uint64_t take_be(const uint8_t *from, size_t width)
{
    uint64_t value = 0;

    for (size_t i = 0; i < width; i++)
        value = value << 8 | from[i];
    return value;
}

/* However many bytes are equal, it takes the same time. */
static bool same(const uint8_t *a, const uint8_t *b, size_t len)
{
    volatile uint8_t different = 0;

    for (size_t i = 0; i < len; i++)
        different = (uint8_t)(different | (a[i] ^ b[i]));
    return different == 0;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_mcp_seal_init(gbx_mcp_seal *seal)
{
    return random_bytes(seal->key, sizeof seal->key);
}

void gbx_mcp_seal_cleanup(gbx_mcp_seal *seal)
{
    explicit_bzero(seal, sizeof *seal);
}

bool gbx_mcp_state_id_new(gbx_mcp_state_id *ret)
{
    return random_bytes(ret->bytes, sizeof ret->bytes);
}

void gbx_mcp_seal_state(const gbx_mcp_seal *seal, const gbx_mcp_state *state,
                        char ret[GBX_MCP_STATE_SIZE])
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_MCP_STATE_SIZE};
    uint8_t token[TOKEN_SIZE];

    memcpy(token, state->id.bytes, sizeof state->id.bytes);
    put_be(token + 16, state->round, 4);
    put_be(token + 20, (uint64_t)state->until_ns, 8);
    memcpy(token + 28, state->request.bytes, sizeof state->request.bytes);
    gbx_mcp_hmac(seal->key, sizeof seal->key, token, BODY_SIZE, token + BODY_SIZE);
    ret[0] = '\0'; /* out of memory: a state that nothing will accept */
    if (gbx_base64_append(&text, token, sizeof token) && gbx_buf_append(&text, "", 1))
        memcpy(ret, text.data, text.len);
}

bool gbx_mcp_unseal_state(const gbx_mcp_seal *seal, const char *text, size_t len,
                          gbx_mcp_state *ret)
{
    uint8_t token[GBX_MCP_STATE_SIZE];
    uint8_t mac[GBX_SHA256_SIZE];
    size_t token_len;

    if (len != GBX_MCP_STATE_SIZE - 1 ||
        !gbx_base64_decode(text, len, token, &token_len) || token_len != TOKEN_SIZE)
        return false;
    gbx_mcp_hmac(seal->key, sizeof seal->key, token, BODY_SIZE, mac);
    if (!same(mac, token + BODY_SIZE, sizeof mac))
        return false;
    memcpy(ret->id.bytes, token, sizeof ret->id.bytes);
    ret->round = (uint32_t)take_be(token + 16, 4);
    ret->until_ns = (int64_t)take_be(token + 20, 8);
    memcpy(ret->request.bytes, token + 28, sizeof ret->request.bytes);
    return true;
}

void gbx_mcp_hmac(const uint8_t *key, size_t key_len, const void *data, size_t len,
                  uint8_t ret[GBX_SHA256_SIZE])
{
    uint8_t pad[BLOCK] = {0};
    uint8_t inner[GBX_SHA256_SIZE];
    gbx_sha256 s;

    if (key_len > BLOCK)
        gbx_sha256_of(key, key_len, pad);
    else if (key_len > 0)
        memcpy(pad, key, key_len);
    for (size_t i = 0; i < BLOCK; i++)
        pad[i] ^= 0x36;
    gbx_sha256_init(&s);
    gbx_sha256_add(&s, pad, BLOCK);
    gbx_sha256_add(&s, data, len);
    gbx_sha256_end(&s, inner);
    for (size_t i = 0; i < BLOCK; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    gbx_sha256_init(&s);
    gbx_sha256_add(&s, pad, BLOCK);
    gbx_sha256_add(&s, inner, sizeof inner);
    gbx_sha256_end(&s, ret);
    explicit_bzero(pad, sizeof pad);
    explicit_bzero(&s, sizeof s);
}
