/* SPDX-License-Identifier: MIT */
/* crypto - text to bytes and back, and random bytes. */
#ifndef GBX_CRYPTO_CRYPTO_H
#define GBX_CRYPTO_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- encoding.c ---------------------------------------------------------- */

/*
 * From the characters of a string to the bytes that are hashed, and back.
 *
 * Decoding is lenient in the ways of Node's Buffer: hex ends at the first pair that is
 * none, base64 skips what is not of its alphabet (or of base64url's) and ends at "=".
 */

typedef enum gbx_encoding {
    GBX_ENCODING_UTF8,
    GBX_ENCODING_HEX,
    GBX_ENCODING_BASE64, /* decodes base64url as well */
    GBX_ENCODING_BASE64URL,
    GBX_ENCODING_LATIN1,
    GBX_ENCODING_UTF16LE,
} gbx_encoding;

/* The characters of a string, by one byte each or, as UTF-16, by two. */
typedef struct gbx_text_units {
    const uint8_t *narrow; /* NULL: wide has them */
    const uint16_t *wide;
    size_t count;
} gbx_text_units;

/* Bytes that one character becomes at most, in any encoding. */
#define GBX_DECODED_MAX 3u

/* A string that comes in pieces. UTF-8 wants pairs of surrogates whole in a piece, hex
 * pairs of digits. */
typedef struct gbx_decoder {
    gbx_encoding encoding;
    bool ended;    /* what follows is ignored */
    uint32_t bits; /* of base64, not yet a byte */
    unsigned bit_count;
} gbx_decoder;

/* The bytes of text, *ret_len of them: those of text itself if they are the same, else
 * at `to`, which has room for GBX_DECODED_MAX for each character. An unpaired surrogate
 * is U+FFFD in UTF-8. */
const uint8_t *gbx_decode(gbx_decoder *decoder, const gbx_text_units *text, uint8_t *to,
                          size_t *ret_len);

/* Characters that len bytes become: in hex, base64 and base64url. */
size_t gbx_encoded_len(gbx_encoding encoding, size_t len);
/* Write them and a NUL. base64url needs room for as many as base64. The library
 * (hash.h) is loaded. */
void gbx_encode(gbx_encoding encoding, const uint8_t *data, size_t len, char *to);

/* ---- random.c ------------------------------------------------------------ */

/*
 * Bytes that cannot be guessed, in a process that may not ask the kernel for
 * any: a ChaCha20 keystream from the key that came with the call. The same key gives
 * the same bytes, which is what makes a call repeatable.
 */

#define GBX_CRYPTO_SEED_SIZE 32u

/* Begin a stream; NULL: from now on there is none. */
void gbx_crypto_seed(const uint8_t *key);

/* The next bytes of the stream. False if there is none. */
bool gbx_crypto_random(uint8_t *to, size_t len);

#endif
