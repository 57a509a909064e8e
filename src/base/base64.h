/* SPDX-License-Identifier: MIT */
/* base64 - RFC 4648, section 4: bytes in text, and strictly back. */
#ifndef GBX_BASE_BASE64_H
#define GBX_BASE_BASE64_H

#include "base/buf.h"

bool gbx_base64_append(gbx_buf *to, const void *data, size_t len);

/* True if text is the one base64 of some bytes: whole groups, padded, no bit too many.
 * They are written to `to`, which may be text itself and needs 3 bytes for every 4 of
 * text; *ret_len is how many. */
bool gbx_base64_decode(const char *text, size_t len, uint8_t *to, size_t *ret_len);

/* What is in buf becomes the bytes that it is the base64 of, as others write it: in lines,
 * and perhaps without the padding. False: it is none, and what is in buf is of no use. */
bool gbx_base64_undo(gbx_buf *buf);

#endif
