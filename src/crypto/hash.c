/* SPDX-License-Identifier: MIT */
/*
 * hash - hashes, and random bytes from a stream cipher, by OpenSSL's libcrypto. Once it
 * is loaded every failure means that memory is out: algorithm, key and length were
 * checked before.
 */
#include "crypto/crypto.h"

#include <assert.h>
#include <dlfcn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/opensslv.h>
#include <openssl/params.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- libcrypto, loaded once ------------------------------------------------ */

/*
 * It is loaded by name, in the template, before the seal. Loading also fetches all that
 * hashing needs and runs it once, so a sealed worker opens no file, takes no lock that
 * another thread could hold, and asks the kernel only for memory. Configuration files
 * and environment variables have no effect. The library stays loaded for the life of
 * the process.
 *
 * Fetching takes locks, searches and allocates. All of it is done here, once; nothing
 * else of realm or worker may fetch.
 */

/* The functions in use. */
#define LIBCRYPTO_MAP(XX)                \
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
    XX(EVP_EncryptUpdate)

typedef struct libcrypto {
#define XX(name) __typeof__(name) *name;
    LIBCRYPTO_MAP(XX)
#undef XX
} libcrypto;

/* One fetched algorithm. */
typedef struct digest {
    EVP_MD *md;
    EVP_MAC_CTX *mac; /* HMAC with it, without a key; NULL: not available */
} digest;

#define TEXT_OF(x)  TEXT_OF2(x)
#define TEXT_OF2(x) #x
/* The version of the headers that this was built with. */
#define LIBRARY "libcrypto.so." TEXT_OF(OPENSSL_SHLIB_VERSION)

/* Sorted by name. */
const gbx_hash_algorithm gbx_hash_algorithms[] = {
    {"blake2b512", "BLAKE2B-512", 64, false, {"blake2b-512"}},
    {"blake2s256", "BLAKE2S-256", 32, false, {"blake2s-256"}},
    {"md5", "MD5", 16, false, {NULL}},
    {"sha1", "SHA1", 20, false, {"sha-1"}},
    {"sha224", "SHA2-224", 28, false, {"sha-224", "sha2-224"}},
    {"sha256", "SHA2-256", 32, false, {"sha-256", "sha2-256"}},
    {"sha3-224", "SHA3-224", 28, false, {NULL}},
    {"sha3-256", "SHA3-256", 32, false, {NULL}},
    {"sha3-384", "SHA3-384", 48, false, {NULL}},
    {"sha3-512", "SHA3-512", 64, false, {NULL}},
    {"sha384", "SHA2-384", 48, false, {"sha-384", "sha2-384"}},
    {"sha512", "SHA2-512", 64, false, {"sha-512", "sha2-512"}},
    {"sha512-224", "SHA2-512/224", 28, false, {"sha-512/224", "sha2-512/224"}},
    {"sha512-256", "SHA2-512/256", 32, false, {"sha-512/256", "sha2-512/256"}},
    {"shake128", "SHAKE-128", 16, true, {"shake-128"}},
    {"shake256", "SHAKE-256", 32, true, {"shake-256"}},
};

static struct {
    bool is_loaded;
    const char *file;
    libcrypto functions;
    digest digests[GBX_HASH_COUNT];
    EVP_CIPHER_CTX *stream;
    char reason[128];
} state;

static const char *lacks(const char *what)
{
    (void)snprintf(state.reason, sizeof state.reason, "'%s' has no %s", state.file,
                   what);
    return state.reason;
}

static const char *find_functions(void *library)
{
    void *found;

#define XX(name)                   \
    found = dlsym(library, #name); \
    if (found == NULL)             \
        return lacks(#name);       \
    memcpy(&state.functions.name, &found, sizeof found);
    LIBCRYPTO_MAP(XX)
#undef XX
    return NULL;
}

/* HMAC over the algorithm, ready for a key. */
static EVP_MAC_CTX *make_mac(EVP_MAC *hmac, const char *fetched_as)
{
    const libcrypto *lib = &state.functions;
    EVP_MAC_CTX *mac = lib->EVP_MAC_CTX_new(hmac);
    char name[32];
    OSSL_PARAM params[2];

    (void)snprintf(name, sizeof name, "%s", fetched_as);
    params[0] = lib->OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0);
    params[1] = lib->OSSL_PARAM_construct_end();
    if (mac == NULL || !lib->EVP_MAC_init(mac, (const uint8_t *)"", 0, params))
        return NULL;
    return mac;
}

static const char *fetch_digests(void)
{
    const libcrypto *lib = &state.functions;
    EVP_MAC *hmac = lib->EVP_MAC_fetch(NULL, "HMAC", NULL);

    if (hmac == NULL)
        return lacks("HMAC");
    for (size_t i = 0; i < GBX_HASH_COUNT; i++) {
        const gbx_hash_algorithm *a = &gbx_hash_algorithms[i];
        digest *d = &state.digests[i];

        d->md = lib->EVP_MD_fetch(NULL, a->fetched_as, NULL);
        if (d->md == NULL ||
            (!a->is_free && (size_t)lib->EVP_MD_get_size(d->md) != a->len))
            return lacks(a->fetched_as);
        d->mac = a->is_free ? NULL : make_mac(hmac, a->fetched_as);
        if (!a->is_free && d->mac == NULL)
            return lacks("HMAC of every hash");
    }
    return NULL;
}

static const char *fetch_stream(void)
{
    static const uint8_t zeros[32];
    const libcrypto *lib = &state.functions;
    EVP_CIPHER *cipher = lib->EVP_CIPHER_fetch(NULL, "ChaCha20", NULL);
    uint8_t out[64];
    int len;

    state.stream = lib->EVP_CIPHER_CTX_new();
    if (cipher == NULL || state.stream == NULL ||
        !lib->EVP_EncryptInit_ex2(state.stream, cipher, zeros, zeros, NULL) ||
        !lib->EVP_EncryptUpdate(state.stream, out, &len, zeros, sizeof zeros))
        return lacks("ChaCha20");
    return NULL;
}

static const libcrypto *lib(void)
{
    assert(state.is_loaded);
    return &state.functions;
}

/* ---- one hash ---------------------------------------------------------------- */

static void must(bool worked)
{
    if (!worked)
        abort();
}

struct gbx_hash {
    const gbx_hash_algorithm *algorithm;
    size_t len;
    EVP_MD_CTX *md;   /* of a hash */
    EVP_MAC_CTX *mac; /* of a MAC */
};

static gbx_hash *make(size_t algorithm, size_t len)
{
    gbx_hash *hash = calloc(1, sizeof *hash);

    assert(algorithm < GBX_HASH_COUNT);
    must(hash != NULL);
    hash->algorithm = &gbx_hash_algorithms[algorithm];
    hash->len = len;
    return hash;
}

gbx_hash *gbx_hash_new(size_t algorithm, size_t len)
{
    gbx_hash *hash = make(algorithm, len);

    assert(hash->algorithm->is_free ? len <= GBX_HASH_LEN_MAX
                                    : len == hash->algorithm->len);
    hash->md = lib()->EVP_MD_CTX_new();
    must(hash->md != NULL &&
         lib()->EVP_DigestInit_ex2(hash->md, state.digests[algorithm].md, NULL) == 1);
    return hash;
}

gbx_hash *gbx_hash_new_mac(size_t algorithm, const uint8_t *key, size_t len)
{
    gbx_hash *hash = make(algorithm, gbx_hash_algorithms[algorithm].len);

    assert(!hash->algorithm->is_free);
    hash->mac = lib()->EVP_MAC_CTX_dup(state.digests[algorithm].mac);
    /* OpenSSL keeps the previous key if the new one is NULL. */
    must(hash->mac != NULL &&
         lib()->EVP_MAC_init(hash->mac, len > 0 ? key : (const uint8_t *)"", len,
                             NULL) == 1);
    return hash;
}

gbx_hash *gbx_hash_copy(const gbx_hash *hash)
{
    gbx_hash *copy = calloc(1, sizeof *copy);

    assert(hash->md != NULL);
    must(copy != NULL);
    copy->algorithm = hash->algorithm;
    copy->len = hash->len;
    copy->md = lib()->EVP_MD_CTX_new();
    must(copy->md != NULL && lib()->EVP_MD_CTX_copy_ex(copy->md, hash->md) == 1);
    return copy;
}

void gbx_hash_update(gbx_hash *hash, const void *data, size_t len)
{
    if (hash->mac != NULL)
        must(lib()->EVP_MAC_update(hash->mac, data, len) == 1);
    else
        must(lib()->EVP_DigestUpdate(hash->md, data, len) == 1);
}

void gbx_hash_value(gbx_hash *hash, uint8_t *to)
{
    size_t len = hash->len;

    if (hash->mac != NULL)
        must(lib()->EVP_MAC_final(hash->mac, to, &len, hash->len) == 1);
    else if (hash->algorithm->is_free)
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
    free(hash);
}

bool gbx_hash_equal(const void *a, const void *b, size_t len)
{
    return lib()->CRYPTO_memcmp(a, b, len) == 0;
}

/* ---- loading ----------------------------------------------------------------- */

/* Run everything that a worker will do once: this does the set-up of first uses. */
static void warm(void)
{
    uint8_t value[64];

    for (size_t i = 0; i < GBX_HASH_COUNT; i++) {
        gbx_hash *hash = gbx_hash_new(i, gbx_hash_algorithms[i].len);
        gbx_hash *copy;

        gbx_hash_update(hash, "warm", 4);
        copy = gbx_hash_copy(hash);
        gbx_hash_value(copy, value);
        gbx_hash_free(copy);
        gbx_hash_free(hash);
        if (gbx_hash_algorithms[i].is_free)
            continue;
        hash = gbx_hash_new_mac(i, NULL, 0);
        gbx_hash_update(hash, "warm", 4);
        gbx_hash_value(hash, value);
        gbx_hash_free(hash);
    }
}

const char *gbx_hash_load_file(const char *file)
{
    const char *reason;
    void *library;

    if (state.is_loaded)
        return NULL;
    state.file = file;
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        (void)snprintf(state.reason, sizeof state.reason,
                       "'%s' cannot be loaded: hashes need OpenSSL", file);
        return state.reason;
    }
    reason = find_functions(library);
    if (reason != NULL)
        return reason;
    if (state.functions.OPENSSL_version_major() != OPENSSL_VERSION_MAJOR)
        return lacks("the version that this program was built for");
    /* Must come first, or OpenSSL would look for a configuration file. */
    if (!state.functions.OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG |
                                                 OPENSSL_INIT_NO_ATEXIT,
                                             NULL))
        return lacks("working initialisation");
    reason = fetch_digests();
    if (reason == NULL)
        reason = fetch_stream();
    if (reason != NULL)
        return reason;
    state.is_loaded = true;
    warm();
    return NULL;
}

const char *gbx_hash_load(void)
{
    return gbx_hash_load_file(LIBRARY);
}

/* ---- random bytes ------------------------------------------------------------ */

/* The cipher keeps the stream's position: nothing is buffered here. */

/* libcrypto counts in int. */
#define PIECE ((size_t)1 << 30)

static bool is_seeded;

void gbx_crypto_seed(const uint8_t *key)
{
    static const uint8_t start[16];

    is_seeded = state.is_loaded && key != NULL;
    if (is_seeded)
        must(lib()->EVP_EncryptInit_ex2(state.stream, NULL, key, start, NULL) == 1);
}

bool gbx_crypto_random(uint8_t *to, size_t len)
{
    if (!is_seeded)
        return false;
    memset(to, 0, len);
    while (len > 0) {
        int n = (int)(len < PIECE ? len : PIECE);

        must(lib()->EVP_EncryptUpdate(state.stream, to, &n, to, n) == 1);
        to += n;
        len -= (size_t)n;
    }
    return true;
}
