/* SPDX-License-Identifier: MIT */
/* base64 - base64 (RFC 4648, section 4) with a strict and a lenient decoder, and
 * hexadecimal digits. */
#ifndef GBX_BASE_BASE64_H
#define GBX_BASE_BASE64_H

#include "base/buf.h"

/* Append 4 characters for every 3 bytes, padded. */
bool gbx_base64_append(gbx_buf *to, const void *data, size_t len);

/* True if text is the canonical base64 of some bytes: whole groups, padded, no stray
 * bits. Writes the bytes to `to`, which may be text itself and needs 3 bytes for every
 * 4 of text; *ret_len is their number. */
bool gbx_base64_decode(const char *text, size_t len, uint8_t *to, size_t *ret_len);

/* Decode buf in place, leniently: white space and missing padding are accepted. False
 * if it is not base64; the contents of buf are then undefined. */
bool gbx_base64_undo(gbx_buf *buf);

/* Fill ret with size - 1 random hexadecimal digits and a NUL; size is at most 65. Ends the
 * process if the kernel has no random bytes: a name that can be guessed would be worse. */
void gbx_hex_random(char *ret, size_t size);

/* The value of a hexadecimal digit; -1 if it is not one. */
static inline int gbx_hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

#endif
