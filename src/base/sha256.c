/* SPDX-License-Identifier: MIT */
/* sha256 - see sha256.h; the names are those of FIPS 180-4, section 6.2. */
#include "base/sha256.h"

#include <string.h>

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void compress(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    for (size_t t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (size_t t = 16; t < 64; t++) {
        uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;

        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
    for (size_t t = 0; t < 64; t++) {
        uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                      (g ^ (e & (f ^ g))) + constants[t] + w[t];
        uint32_t t2 =
            (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) | (c & (a | b)));

        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void gbx_sha256_init(gbx_sha256 *s)
{
    *s = (gbx_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void gbx_sha256_add(gbx_sha256 *s, const void *data, size_t len)
{
    const uint8_t *at = data;
    size_t used = (size_t)(s->total % sizeof s->block);

    s->total += len;
    if (used > 0) {
        size_t n = sizeof s->block - used < len ? sizeof s->block - used : len;

        if (n > 0)
            memcpy(s->block + used, at, n);
        if (used + n < sizeof s->block)
            return;
        compress(s->state, s->block);
        at += n;
        len -= n;
    }
    for (; len >= sizeof s->block; at += sizeof s->block, len -= sizeof s->block)
        compress(s->state, at);
    if (len > 0)
        memcpy(s->block, at, len);
}

void gbx_sha256_end(gbx_sha256 *s, uint8_t ret[GBX_SHA256_SIZE])
{
    static const uint8_t padding[64] = {0x80};
    size_t used = (size_t)(s->total % sizeof s->block);
    uint64_t bits = s->total * 8;
    uint8_t length[8];

    for (size_t i = 0; i < sizeof length; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    gbx_sha256_add(s, padding, (used < 56 ? 56 : 120) - used);
    gbx_sha256_add(s, length, sizeof length);
    for (size_t i = 0; i < GBX_SHA256_SIZE; i++)
        ret[i] = (uint8_t)(s->state[i / 4] >> (24 - 8 * (i % 4)));
}

void gbx_sha256_of(const void *data, size_t len, uint8_t ret[GBX_SHA256_SIZE])
{
    gbx_sha256 s;

    gbx_sha256_init(&s);
    gbx_sha256_add(&s, data, len);
    gbx_sha256_end(&s, ret);
}

void gbx_sha256_print(const uint8_t digest[GBX_SHA256_SIZE],
                      char ret[GBX_SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < GBX_SHA256_SIZE; i++) {
        ret[2 * i] = digits[digest[i] >> 4];
        ret[2 * i + 1] = digits[digest[i] & 15];
    }
    ret[GBX_SHA256_HEX_SIZE - 1] = 0;
}
