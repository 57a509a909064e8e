/* SPDX-License-Identifier: MIT */
/* base64 - see base64.h. */
#include "base/base64.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of a base64 digit; 64 if c is not one. */
static uint32_t value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a') + 26;
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

bool gbx_base64_append(gbx_buf *to, const void *data, size_t len)
{
    const uint8_t *d = data;
    uint8_t *at = len > 0 ? gbx_buf_reserve(to, (len + 2) / 3 * 4) : NULL;

    if (at == NULL)
        return !to->failed;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t bits = (uint32_t)d[i] << 16;

        if (i + 1 < len)
            bits |= (uint32_t)d[i + 1] << 8;
        if (i + 2 < len)
            bits |= d[i + 2];
        *at++ = (uint8_t)digits[bits >> 18];
        *at++ = (uint8_t)digits[bits >> 12 & 63];
        *at++ = (uint8_t)(i + 1 < len ? digits[bits >> 6 & 63] : '=');
        *at++ = (uint8_t)(i + 2 < len ? digits[bits & 63] : '=');
    }
    to->len += (len + 2) / 3 * 4;
    return true;
}

bool gbx_base64_decode(const char *text, size_t len, uint8_t *to, size_t *ret_len)
{
    uint8_t *at = to;

    if (len % 4 != 0)
        return false;
    for (size_t i = 0; i < len; i += 4) {
        size_t have = 4;
        uint32_t bits = 0;

        if (i + 4 == len && text[i + 3] == '=')
            have = text[i + 2] == '=' ? 2 : 3;
        for (size_t k = 0; k < have; k++) {
            uint32_t value = value_of(text[i + k]);

            if (value == 64)
                return false;
            bits |= value << (18 - 6 * k);
        }
        /* Unused bits must be zero, so that the same bytes have one encoding. */
        if ((have == 2 && (bits & 0xFFFF) != 0) || (have == 3 && (bits & 0xFF) != 0))
            return false;
        for (size_t k = 0; k + 1 < have; k++)
            *at++ = (uint8_t)(bits >> (16 - 8 * k));
    }
    *ret_len = (size_t)(at - to);
    return true;
}

bool gbx_base64_undo(gbx_buf *buf)
{
    char *text = (char *)buf->data;
    size_t len = 0;
    size_t whole;
    char last[4] = "====";
    size_t last_len;

    for (size_t i = 0; i < buf->len; i++)
        if (text[i] != ' ' && (text[i] < '\t' || text[i] > '\r'))
            text[len++] = text[i];
    whole = len - len % 4;
    if (len == 0) {
        buf->len = 0;
        return true;
    }
    if (len % 4 != 0 && whole > 0 && text[whole - 1] == '=')
        return false;
    memcpy(last, text + whole, len % 4);
    if (!gbx_base64_decode(text, whole, buf->data, &buf->len))
        return false;
    if (len % 4 == 0)
        return true;
    if (!gbx_base64_decode(last, sizeof last, (uint8_t *)last, &last_len))
        return false;
    memcpy(buf->data + buf->len, last, last_len);
    buf->len += last_len;
    return true;
}

void gbx_hex_random(char *ret, size_t size)
{
    uint8_t bits[64];

    if (size == 0 || size - 1 > sizeof bits ||
        getrandom(bits, size - 1, 0) != (ssize_t)size - 1)
        abort();
    for (size_t i = 0; i + 1 < size; i++)
        ret[i] = "0123456789abcdef"[bits[i] & 15];
    ret[size - 1] = '\0';
}
