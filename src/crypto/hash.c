/* SPDX-License-Identifier: MIT */
/*
 * hash - every failure of libcrypto here is a failure of memory: algorithm, key and
 * length were checked before.
 */
#include "crypto/hash.h"

#include "crypto/library.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* More than any hash's block: a longer key is replaced by its hash (RFC 2104). */
#define KEY_MAX 256u

struct gbx_hash {
    const gbx_digest *digest;
    size_t len;
    EVP_MD_CTX *md;   /* of a hash, and of the long key of a MAC */
    EVP_MAC_CTX *mac; /* NULL while a MAC gets its key */
    uint8_t *key;     /* NULL in a hash */
    size_t key_len;
};

static void must(bool worked)
{
    if (!worked)
        abort();
}

static const gbx_libcrypto *lib(void)
{
    const gbx_libcrypto *functions = gbx_libcrypto_get();

    assert(functions != NULL);
    return functions;
}

static gbx_hash *make(size_t algorithm, size_t len)
{
    gbx_hash *hash = calloc(1, sizeof *hash);

    assert(algorithm < gbx_hash_count());
    must(hash != NULL);
    hash->digest = gbx_libcrypto_digest(algorithm);
    hash->len = len;
    return hash;
}

static void begin(gbx_hash *hash)
{
    hash->md = lib()->EVP_MD_CTX_new();
    must(hash->md != NULL &&
         lib()->EVP_DigestInit_ex2(hash->md, hash->digest->md, NULL) == 1);
}

static void update_md(gbx_hash *hash, const void *data, size_t len)
{
    must(lib()->EVP_DigestUpdate(hash->md, data, len) == 1);
}

static void update_key(gbx_hash *hash, const void *data, size_t len)
{
    if (hash->md == NULL && len <= KEY_MAX - hash->key_len) {
        memcpy(hash->key + hash->key_len, data, len);
        hash->key_len += len;
        return;
    }
    if (hash->md == NULL) {
        begin(hash);
        update_md(hash, hash->key, hash->key_len);
    }
    update_md(hash, data, len);
}

/* ---- public to other modules -------------------------------------------- */

const char *gbx_hash_load(void)
{
    return gbx_libcrypto_load();
}

size_t gbx_hash_len(size_t algorithm)
{
    return gbx_libcrypto_digest(algorithm)->len;
}

bool gbx_hash_len_is_free(size_t algorithm)
{
    return gbx_libcrypto_digest(algorithm)->is_free;
}

gbx_hash *gbx_hash_new(size_t algorithm, size_t len)
{
    gbx_hash *hash = make(algorithm, len);

    assert(hash->digest->is_free ? len <= GBX_HASH_LEN_MAX : len == hash->digest->len);
    begin(hash);
    return hash;
}

gbx_hash *gbx_hash_new_mac(size_t algorithm)
{
    gbx_hash *hash = make(algorithm, gbx_hash_len(algorithm));

    assert(!hash->digest->is_free);
    hash->key = malloc(KEY_MAX);
    must(hash->key != NULL);
    return hash;
}

void gbx_hash_keyed(gbx_hash *hash)
{
    assert(hash->key != NULL && hash->mac == NULL);
    if (hash->md != NULL) {
        unsigned len;

        must(lib()->EVP_DigestFinal_ex(hash->md, hash->key, &len) == 1);
        lib()->EVP_MD_CTX_free(hash->md);
        hash->md = NULL;
        hash->key_len = len;
    }
    hash->mac = lib()->EVP_MAC_CTX_dup(hash->digest->mac);
    must(hash->mac != NULL &&
         lib()->EVP_MAC_init(hash->mac, hash->key, hash->key_len, NULL) == 1);
}

gbx_hash *gbx_hash_copy(const gbx_hash *hash)
{
    gbx_hash *copy = calloc(1, sizeof *copy);

    assert(hash->key == NULL);
    must(copy != NULL);
    copy->digest = hash->digest;
    copy->len = hash->len;
    copy->md = lib()->EVP_MD_CTX_new();
    must(copy->md != NULL && lib()->EVP_MD_CTX_copy_ex(copy->md, hash->md) == 1);
    return copy;
}

void gbx_hash_update(gbx_hash *hash, const void *data, size_t len)
{
    if (hash->mac != NULL)
        must(lib()->EVP_MAC_update(hash->mac, data, len) == 1);
    else if (hash->key != NULL)
        update_key(hash, data, len);
    else
        update_md(hash, data, len);
}

void gbx_hash_value(gbx_hash *hash, uint8_t *to)
{
    size_t len = hash->len;

    assert(hash->key == NULL || hash->mac != NULL);
    if (hash->mac != NULL)
        must(lib()->EVP_MAC_final(hash->mac, to, &len, hash->len) == 1);
    else if (hash->digest->is_free)
        must(lib()->EVP_DigestFinalXOF(hash->md, to, hash->len) == 1);
    else
        must(lib()->EVP_DigestFinal_ex(hash->md, to, NULL) == 1);
    assert(len == hash->len);
}

size_t gbx_hash_value_len(const gbx_hash *hash)
{
    return hash->len;
}

void gbx_hash_free(gbx_hash *hash)
{
    if (hash == NULL)
        return;
    if (hash->md != NULL)
        lib()->EVP_MD_CTX_free(hash->md);
    if (hash->mac != NULL)
        lib()->EVP_MAC_CTX_free(hash->mac);
    if (hash->key != NULL)
        explicit_bzero(hash->key, KEY_MAX);
    free(hash->key);
    free(hash);
}

bool gbx_hash_equal(const void *a, const void *b, size_t len)
{
    return lib()->CRYPTO_memcmp(a, b, len) == 0;
}
