/* SPDX-License-Identifier: MIT */
/*
 * sha256 - SHA-256 (FIPS 180-4), to identify data that is not kept.
 *
 * For identification only, never for secrets: the input that it buffers is not wiped.
 */
#ifndef GBX_BASE_SHA256_H
#define GBX_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define GBX_SHA256_SIZE     32
#define GBX_SHA256_HEX_SIZE 65 /* its NUL included */

typedef struct gbx_sha256 {
    uint32_t state[8];
    uint64_t total; /* bytes so far */
    uint8_t block[64];
} gbx_sha256;

void gbx_sha256_init(gbx_sha256 *s);
void gbx_sha256_add(gbx_sha256 *s, const void *data, size_t len);

/* Initialise s again before its next use. */
void gbx_sha256_end(gbx_sha256 *s, uint8_t ret[GBX_SHA256_SIZE]);

void gbx_sha256_of(const void *data, size_t len, uint8_t ret[GBX_SHA256_SIZE]);

/* Hexadecimal digits in lower case, and a NUL. */
void gbx_sha256_print(const uint8_t digest[GBX_SHA256_SIZE],
                      char ret[GBX_SHA256_HEX_SIZE]);

#endif
