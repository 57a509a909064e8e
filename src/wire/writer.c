/* SPDX-License-Identifier: MIT */
/* writer - the fields of a frame, little-endian; the buffer remembers a failure. */
#include "wire/wire.h"

#include <assert.h>

void gbx_put_u8(gbx_buf *to, uint8_t value)
{
    (void)gbx_buf_append(to, &value, sizeof value);
}

static void put_le(gbx_buf *to, uint64_t value, size_t width)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < width; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    (void)gbx_buf_append(to, bytes, width);
}

void gbx_put_u32(gbx_buf *to, uint32_t value)
{
    put_le(to, value, 4);
}

void gbx_put_u64(gbx_buf *to, uint64_t value)
{
    put_le(to, value, 8);
}

void gbx_put_span(gbx_buf *to, gbx_span span)
{
    assert(span.len <= UINT32_MAX);
    gbx_put_u32(to, (uint32_t)span.len);
    (void)gbx_buf_append(to, span.data, span.len);
}

/* Write a header whose length is filled in by end(). Returns its offset. */
size_t gbx_frame_begin(gbx_buf *to, gbx_msg_type type, uint64_t call_id)
{
    size_t at = to->len;

    gbx_put_u32(to, 0);
    gbx_put_u8(to, (uint8_t)type);
    put_le(to, 0, 3);
    gbx_put_u64(to, call_id);
    return at;
}

/* Fill in the length of the frame begun at `at`, of which `beyond` more bytes follow. */
bool gbx_frame_end(gbx_buf *to, size_t at, size_t beyond)
{
    size_t len = to->len - at - GBX_FRAME_HEADER_SIZE + beyond;

    if (to->failed)
        return false;
    if (len > UINT32_MAX) {
        to->failed = true;
        return false;
    }
    for (size_t i = 0; i < 4; i++)
        to->data[at + i] = (uint8_t)(len >> (8 * i));
    return true;
}

/* A flag is 0 or 1; anything else fails the reader. */
void gbx_read_flag(gbx_reader *r, uint8_t *ret)
{
    gbx_read_u8(r, ret);
    if (*ret > 1)
        r->failed = true;
}
