/* SPDX-License-Identifier: MIT */
/* nats_identity - see nats_identity.h. A key is a byte for its kind, Ed25519, and a CRC-16, in
 * base32; a seed has its kind twice. */
#include "nats_identity.h"
#include "scratch.h"
#include "test.h"

#include <openssl/evp.h>
#include <sys/stat.h>
#include <time.h>

enum { OPERATOR = 14 << 3, ACCOUNT = 0, USER = 20 << 3, SEED = 18 << 3 };

typedef struct identity {
    EVP_PKEY *key;
    char public_key[NATS_KEY_SIZE];
    char seed[64];
} identity;

static identity operator_identity;
static identity account_identity;

static void base32(const uint8_t *from, size_t len, char *to)
{
    unsigned held = 0;
    unsigned bits = 0;

    for (size_t i = 0; i < len; i++) {
        held = held << 8 | from[i];
        for (bits += 8; bits >= 5; bits -= 5)
            *to++ = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[held >> (bits - 5) & 31];
        held &= 0xff;
    }
    if (bits > 0)
        *to++ = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[held << (5 - bits) & 31];
    *to = '\0';
}

/* Append the CRC-16 and encode. */
static void encode(uint8_t *bytes, size_t len, char *to)
{
    unsigned crc = 0;

    for (size_t i = 0; i < len; i++) {
        crc ^= (unsigned)bytes[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = ((crc & 0x8000) != 0 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
    }
    bytes[len] = (uint8_t)crc;
    bytes[len + 1] = (uint8_t)(crc >> 8);
    base32(bytes, len + 2, to);
}

static identity make(unsigned kind)
{
    identity made = {.key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")};
    uint8_t bytes[36] = {(uint8_t)kind};
    size_t len = 32;

    assert_int_equal(EVP_PKEY_get_raw_public_key(made.key, bytes + 1, &len), 1);
    encode(bytes, 33, made.public_key);
    bytes[0] = (uint8_t)(SEED | kind >> 5);
    bytes[1] = (uint8_t)((kind & 31) << 3);
    assert_int_equal(EVP_PKEY_get_raw_private_key(made.key, bytes + 2, &len), 1);
    encode(bytes, 34, made.seed);
    return made;
}

static void forget(identity *i)
{
    EVP_PKEY_free(i->key);
    *i = (identity){0};
}

static size_t base64url(const void *from, size_t len, char *to)
{
    size_t n = (size_t)EVP_EncodeBlock((unsigned char *)to, from, (int)len);

    while (n > 0 && to[n - 1] == '=')
        n--;
    to[n] = '\0';
    for (char *c = to; *c != '\0'; c++)
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
    return n;
}

/* A token about an identity, signed by the issuer; claims: members for "nats". */
static void token(const identity *issuer, const char *subject, long expires,
                  const char *claims, char *to)
{
    static const char head[] = "{\"typ\":\"JWT\",\"alg\":\"ed25519-nkey\"}";
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    uint8_t signature[64];
    size_t size = sizeof signature;
    char expiry[32] = "";
    char body[1024];
    size_t n = base64url(head, sizeof head - 1, to);

    if (expires != 0)
        (void)snprintf(expiry, sizeof expiry, "\"exp\":%ld,", expires);
    (void)snprintf(body, sizeof body,
                   "{\"jti\":\"%ld\",\"iat\":%ld,\"iss\":\"%s\",\"sub\":\"%s\",%s"
                   "\"name\":\"test\",\"nats\":{%s,\"version\":2}}",
                   random(), (long)time(NULL), issuer->public_key, subject, expiry,
                   claims);
    to[n++] = '.';
    n += base64url(body, strlen(body), to + n);
    assert_int_equal(EVP_DigestSignInit(context, NULL, NULL, NULL, issuer->key), 1);
    assert_int_equal(EVP_DigestSign(context, signature, &size, (uint8_t *)to, n), 1);
    EVP_MD_CTX_free(context);
    to[n++] = '.';
    (void)base64url(signature, size, to + n);
}

void nats_identity_nkey(const char *name, char public_key[NATS_KEY_SIZE])
{
    identity user = make(USER);
    char text[256];

    (void)snprintf(text, sizeof text, "%s\n%s\n", user.seed, user.public_key);
    scratch_write(name, text);
    assert_int_equal(chmod(scratch_path(name), 0600), 0);
    memcpy(public_key, user.public_key, NATS_KEY_SIZE);
    forget(&user);
}

void nats_identity_operator(char *options, size_t size)
{
    char of_operator[2048];
    char of_account[2048];

    forget(&operator_identity);
    forget(&account_identity);
    operator_identity = make(OPERATOR);
    account_identity = make(ACCOUNT);
    token(&operator_identity, operator_identity.public_key, 0, "\"type\":\"operator\"",
          of_operator);
    token(&operator_identity, account_identity.public_key, 0,
          "\"type\":\"account\",\"limits\":{\"subs\":-1,\"data\":-1,\"payload\":-1,"
          "\"imports\":-1,\"exports\":-1,\"wildcards\":true,\"conn\":-1,\"leaf\":-1}",
          of_account);
    (void)snprintf(options, size,
                   "operator: %s\nresolver: MEMORY\nresolver_preload: {%s: %s}\n",
                   of_operator, account_identity.public_key, of_account);
}

void nats_identity_creds(const char *name, int seconds)
{
    identity user = make(USER);
    char of_user[2048];
    char text[4096];

    token(
        &account_identity, user.public_key, (long)time(NULL) + seconds,
        "\"type\":\"user\",\"subs\":-1,\"data\":-1,\"payload\":-1,\"pub\":{},\"sub\":{}",
        of_user);
    (void)
        snprintf(text, sizeof text,
                 "-----BEGIN NATS USER JWT-----\n%s\n------END NATS USER JWT------\n\n"
                 "-----BEGIN USER NKEY SEED-----\n%s\n------END USER NKEY SEED------\n",
                 of_user, user.seed);
    scratch_write(name, text);
    assert_int_equal(chmod(scratch_path(name), 0600), 0);
    forget(&user);
}
