/* SPDX-License-Identifier: MIT */
/*
 * library - OpenSSL's libcrypto, loaded by name, with the algorithms fetched from it.
 *
 * Loaded in the template, before the seal. By then everything that hashing needs has
 * been fetched and has run once, so a sealed worker opens no file, takes no lock that
 * another thread could hold, and asks the kernel only for memory. Configuration files
 * and environment variables have no effect.
 *
 * One thread. What is loaded stays for the life of the process.
 */
#ifndef GBX_CRYPTO_LIBRARY_H
#define GBX_CRYPTO_LIBRARY_H

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <stdbool.h>
#include <stddef.h>

/* All of its functions that are called. */
#define GBX_LIBCRYPTO_MAP(XX)            \
    XX(OPENSSL_init_crypto)              \
    XX(OPENSSL_version_major)            \
    XX(OSSL_PARAM_construct_end)         \
    XX(OSSL_PARAM_construct_utf8_string) \
    XX(CRYPTO_memcmp)                    \
    XX(EVP_MD_fetch)                     \
    XX(EVP_MD_get_size)                  \
    XX(EVP_MD_CTX_new)                   \
    XX(EVP_MD_CTX_free)                  \
    XX(EVP_MD_CTX_copy_ex)               \
    XX(EVP_DigestInit_ex2)               \
    XX(EVP_DigestUpdate)                 \
    XX(EVP_DigestFinal_ex)               \
    XX(EVP_DigestFinalXOF)               \
    XX(EVP_MAC_fetch)                    \
    XX(EVP_MAC_CTX_new)                  \
    XX(EVP_MAC_CTX_dup)                  \
    XX(EVP_MAC_CTX_free)                 \
    XX(EVP_MAC_init)                     \
    XX(EVP_MAC_update)                   \
    XX(EVP_MAC_final)                    \
    XX(EVP_CIPHER_fetch)                 \
    XX(EVP_CIPHER_CTX_new)               \
    XX(EVP_EncryptInit_ex2)              \
    XX(EVP_EncryptUpdate)                \
    XX(EVP_EncodeBlock)

typedef struct gbx_libcrypto {
#define XX(name) __typeof__(name) *name;
    GBX_LIBCRYPTO_MAP(XX)
#undef XX
} gbx_libcrypto;

/* One algorithm, as it was fetched. */
typedef struct gbx_digest {
    EVP_MD *md;
    EVP_MAC_CTX *mac; /* HMAC with it, without a key; NULL: not available */
    size_t len;       /* of its value; if the length is free: the default */
    bool is_free;
} gbx_digest;

/* Load and warm everything. NULL on success (also if already loaded), else a
 * constant reason. */
const char *gbx_libcrypto_load(void);

/* The same by another name. */
const char *gbx_libcrypto_load_file(const char *file);

/* NULL before it is loaded. */
const gbx_libcrypto *gbx_libcrypto_get(void);
const gbx_digest *gbx_libcrypto_digest(size_t algorithm);

/* The stream cipher of random.c, keyed with zeros; NULL before loading. */
EVP_CIPHER_CTX *gbx_libcrypto_stream(void);

#endif
