/* SPDX-License-Identifier: MIT */
/* crypto - hashes, and random bytes. */
#ifndef GBX_CRYPTO_CRYPTO_H
#define GBX_CRYPTO_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- hash.c -------------------------------------------------------------- */

/*
 * One hash or message authentication code, from its start to its value.
 *
 * Running out of memory ends the process, as everywhere in a worker. Every function
 * except gbx_hash_load() needs the library to be loaded.
 */

/* The maximum length of a value of an algorithm with a free length, in bytes. */
#define GBX_HASH_LEN_MAX ((size_t)16 * 1024 * 1024)

/* Approximate memory of a running hash outside the engine's heap, in bytes. */
#define GBX_HASH_COST     512u
#define GBX_HASH_MAC_COST 2048u

typedef struct gbx_hash gbx_hash;

/* Load OpenSSL's libcrypto, in the template. NULL, or a constant reason why not. */
const char *gbx_hash_load(void);

/* The same from another library file. */
const char *gbx_hash_load_file(const char *file);

/* ---- algorithms, from 0; sorted by name ------------------------------------ */

#define GBX_HASH_COUNT 16u

typedef struct gbx_hash_algorithm {
    const char *name;
    const char *fetched_as; /* OpenSSL has other names for some */
    size_t len;             /* of its value; the default if it is free */
    bool is_free;
    const char *aliases[4]; /* NULL after the last; all in lower case */
} gbx_hash_algorithm;

extern const gbx_hash_algorithm gbx_hash_algorithms[GBX_HASH_COUNT];

/* ---- one hash ---------------------------------------------------------------- */

/* len is the algorithm's, or up to GBX_HASH_LEN_MAX where it is free. */
gbx_hash *gbx_hash_new(size_t algorithm, size_t len);

/* A MAC with that key. Not for algorithms with a free length. */
gbx_hash *gbx_hash_new_mac(size_t algorithm, const uint8_t *key, size_t len);

/* Not for a MAC. */
gbx_hash *gbx_hash_copy(const gbx_hash *hash);

void gbx_hash_update(gbx_hash *hash, const void *data, size_t len);

/* Write the value, gbx_hash_value_len() bytes. After this the hash may only be freed. */
void gbx_hash_value(gbx_hash *hash, uint8_t *to);
size_t gbx_hash_value_len(const gbx_hash *hash);

void gbx_hash_free(gbx_hash *hash);

/* ---- comparison -------------------------------------------------------------- */

/* In time that depends only on len. */
bool gbx_hash_equal(const void *a, const void *b, size_t len);

/* ---- random bytes ------------------------------------------------------------ */

/*
 * Unpredictable bytes in a process that may not ask the kernel for any: a ChaCha20
 * keystream from the key that came with the call. The same key gives the same bytes,
 * which makes a call repeatable.
 */

#define GBX_CRYPTO_SEED_SIZE 32u

/* Begin a stream; NULL ends it. */
void gbx_crypto_seed(const uint8_t *key);

/* The next bytes of the stream. False without a stream. */
bool gbx_crypto_random(uint8_t *to, size_t len);

#endif
