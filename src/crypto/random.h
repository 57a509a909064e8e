/* SPDX-License-Identifier: MIT */
/*
 * random - bytes that cannot be guessed, in a process that may not ask the kernel for
 * any: a ChaCha20 keystream from the key that came with the call. The same key gives
 * the same bytes, which is what makes a call repeatable.
 */
#ifndef GBX_CRYPTO_RANDOM_H
#define GBX_CRYPTO_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GBX_CRYPTO_SEED_SIZE 32u

/* Begin a stream; NULL: from now on there is none. */
void gbx_crypto_seed(const uint8_t *key);

/* The next bytes of the stream. False if there is none. */
bool gbx_crypto_random(uint8_t *to, size_t len);

#endif
