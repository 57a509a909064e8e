/* SPDX-License-Identifier: MIT */
/* encoding - see crypto.h. Hostile text is the normal case: every unit is checked. */
#include "crypto/crypto.h"

#include "base/base64.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>

/* clang-format off */
/* A digit of base64 or base64url by its character; -1: not a digit; -2: the padding, which
 * ends it. */
static const int8_t base64_digits[128] = {
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 62, -1, 62, -1, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, -1, -1, -1, -2, -1, -1,
    -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, -1, -1, -1, -1, 63,
    -1, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, -1, -1, -1, -1, -1,
};
/* clang-format on */

static uint16_t unit_at(const gbx_text_units *text, size_t i)
{
    return text->narrow != NULL ? text->narrow[i] : text->wide[i];
}

static int hex_digit(uint16_t unit)
{
    return unit < 128 ? gbx_hex_digit((uint8_t)unit) : -1;
}

static size_t decode_hex(gbx_decoder *d, const gbx_text_units *text, uint8_t *to)
{
    size_t n = 0;

    for (size_t i = 0; i + 1 < text->count; i += 2) {
        int high = hex_digit(unit_at(text, i));
        int low = hex_digit(unit_at(text, i + 1));

        if ((high | low) < 0) {
            d->ended = true;
            break;
        }
        to[n++] = (uint8_t)(high << 4 | low);
    }
    return n;
}

static size_t decode_base64(gbx_decoder *d, const gbx_text_units *text, uint8_t *to)
{
    size_t n = 0;

    for (size_t i = 0; i < text->count; i++) {
        uint16_t unit = unit_at(text, i);
        int digit = unit < 128 ? base64_digits[unit] : -1;

        if (digit < 0) {
            d->ended = digit == -2;
            if (d->ended)
                break;
            continue;
        }
        d->bits = d->bits << 6 | (uint32_t)digit;
        d->bit_count += 6;
        if (d->bit_count >= 8) {
            d->bit_count -= 8;
            to[n++] = (uint8_t)(d->bits >> d->bit_count);
        }
    }
    return n;
}

/* Writes the leading ASCII units, four at once; returns how many. */
static size_t put_ascii(uint8_t *to, const uint16_t *units, size_t count)
{
    size_t i = 0;

    for (; i + 4 <= count; i += 4) {
        uint64_t four;

        memcpy(&four, units + i, sizeof four);
        if ((four & UINT64_C(0xFF80FF80FF80FF80)) != 0)
            break;
        for (size_t k = 0; k < 4; k++)
            to[i + k] = (uint8_t)units[i + k];
    }
    for (; i < count && units[i] < 0x80; i++)
        to[i] = (uint8_t)units[i];
    return i;
}

static size_t decode_wide_utf8(const uint16_t *units, size_t count, uint8_t *to)
{
    uint8_t *begin = to;

    for (size_t i = 0; i < count;) {
        size_t plain = put_ascii(to, units + i, count - i);
        uint32_t c;

        to += plain;
        i += plain;
        if (i == count)
            break;
        c = units[i++];
        if (c >= 0xD800 && c <= 0xDBFF && i < count && units[i] >= 0xDC00 &&
            units[i] <= 0xDFFF)
            c = 0x10000 + ((c - 0xD800) << 10) + (units[i++] - 0xDC00u);
        else if (c >= 0xD800 && c <= 0xDFFF)
            c = 0xFFFD;
        to += gbx_utf8_encode(c, to);
    }
    return (size_t)(to - begin);
}

static bool is_ascii(const uint8_t *text, size_t count)
{
    uint64_t all = 0;
    uint8_t rest = 0;
    size_t i = 0;

    for (; i + sizeof all <= count; i += sizeof all) {
        uint64_t eight;

        memcpy(&eight, text + i, sizeof eight);
        all |= eight;
    }
    for (; i < count; i++)
        rest |= text[i];
    return ((all & UINT64_C(0x8080808080808080)) | (rest & 0x80u)) == 0;
}

static size_t decode_narrow_utf8(const uint8_t *text, size_t count, uint8_t *to)
{
    uint8_t *begin = to;

    for (size_t i = 0; i < count; i++)
        to += gbx_utf8_encode(text[i], to);
    return (size_t)(to - begin);
}

static void narrow_down(const gbx_text_units *text, uint8_t *to)
{
    for (size_t i = 0; i < text->count; i++)
        to[i] = (uint8_t)text->wide[i];
}

static size_t decode_utf16le(const gbx_text_units *text, uint8_t *to)
{
    for (size_t i = 0; i < text->count; i++) {
        uint16_t unit = unit_at(text, i);

        to[2 * i] = (uint8_t)unit;
        to[2 * i + 1] = (uint8_t)(unit >> 8);
    }
    return 2 * text->count;
}

const uint8_t *gbx_decode(gbx_decoder *decoder, const gbx_text_units *text, uint8_t *to,
                          size_t *ret_len)
{
    *ret_len = 0;
    if (decoder->ended)
        return to;
    switch (decoder->encoding) {
    case GBX_ENCODING_UTF8:
        if (text->narrow == NULL) {
            *ret_len = decode_wide_utf8(text->wide, text->count, to);
            return to;
        }
        if (!is_ascii(text->narrow, text->count)) {
            *ret_len = decode_narrow_utf8(text->narrow, text->count, to);
            return to;
        }
        *ret_len = text->count;
        return text->narrow;
    case GBX_ENCODING_LATIN1:
        *ret_len = text->count;
        if (text->narrow != NULL)
            return text->narrow;
        narrow_down(text, to);
        return to;
    case GBX_ENCODING_HEX: *ret_len = decode_hex(decoder, text, to); return to;
    case GBX_ENCODING_BASE64:
    case GBX_ENCODING_BASE64URL: *ret_len = decode_base64(decoder, text, to); return to;
    case GBX_ENCODING_UTF16LE: *ret_len = decode_utf16le(text, to); return to;
    }
    return to;
}

size_t gbx_encoded_len(gbx_encoding encoding, size_t len)
{
    if (encoding == GBX_ENCODING_HEX)
        return 2 * len;
    if (encoding == GBX_ENCODING_BASE64)
        return (len + 2) / 3 * 4;
    assert(encoding == GBX_ENCODING_BASE64URL);
    return (len * 4 + 2) / 3;
}

void gbx_encode(gbx_encoding encoding, const uint8_t *data, size_t len, char *to)
{
    static const char digits[] = "0123456789abcdef";

    if (encoding == GBX_ENCODING_HEX) {
        for (size_t i = 0; i < len; i++) {
            to[2 * i] = digits[data[i] >> 4];
            to[2 * i + 1] = digits[data[i] & 15];
        }
        to[2 * len] = 0;
        return;
    }
    to[gbx_base64_encode(data, len, to)] = 0;
    if (encoding == GBX_ENCODING_BASE64URL) {
        size_t used = gbx_encoded_len(encoding, len);

        to[used] = 0; /* no padding */
        for (size_t i = 0; i < used; i++)
            if (to[i] == '+')
                to[i] = '-';
            else if (to[i] == '/')
                to[i] = '_';
    }
}
