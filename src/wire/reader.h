/* SPDX-License-Identifier: MIT */
/*
 * reader - take typed fields out of bytes that came from a hostile process.
 *
 * The reader is sticky: the first field that does not fit marks it failed, and from
 * then on every getter stores zero. A decoder therefore reads like the message's
 * schema, and checks once, at the end, whether all fields were valid.
 *
 * Nothing is copied. A span points into the buffer given to gbx_reader_init() and is
 * valid for as long as that buffer is.
 */
#ifndef GBX_WIRE_READER_H
#define GBX_WIRE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct gbx_reader {
    const uint8_t *next;
    size_t left;
    bool failed;
} gbx_reader;

typedef struct gbx_span {
    const uint8_t *data;
    size_t len;
} gbx_span;

/* Only this checks bounds. Keep it that way: the next n bytes, or NULL if there are
 * fewer; after that NULL for ever. */
static inline const uint8_t *gbx_reader_take(gbx_reader *r, size_t n)
{
    const uint8_t *at = r->next;

    if (r->failed || n > r->left) {
        r->failed = true;
        return NULL;
    }
    if (n > 0) {
        r->next += n;
        r->left -= n;
    }
    return at;
}

/* Integers are little-endian and unsigned on the wire. */
static inline uint64_t gbx_reader_take_le(gbx_reader *r, size_t width)
{
    const uint8_t *at = gbx_reader_take(r, width);
    uint64_t value = 0;

    if (at == NULL)
        return 0;
    for (size_t i = width; i > 0; i--)
        value = value << 8 | at[i - 1];
    return value;
}

static inline void gbx_reader_init(gbx_reader *r, const void *data, size_t len)
{
    *r = (gbx_reader){.next = data, .left = len};
}

static inline void gbx_read_u8(gbx_reader *r, uint8_t *ret)
{
    *ret = (uint8_t)gbx_reader_take_le(r, sizeof *ret);
}

static inline void gbx_read_u32(gbx_reader *r, uint32_t *ret)
{
    *ret = (uint32_t)gbx_reader_take_le(r, sizeof *ret);
}

static inline void gbx_read_u64(gbx_reader *r, uint64_t *ret)
{
    *ret = gbx_reader_take_le(r, sizeof *ret);
}

/* A u32 length, then that many bytes; fails if the length is over max. */
static inline void gbx_read_span(gbx_reader *r, size_t max, gbx_span *ret)
{
    uint32_t len;

    *ret = (gbx_span){0};
    gbx_read_u32(r, &len);
    if (len > max)
        r->failed = true;

    const uint8_t *at = gbx_reader_take(r, len);
    if (at != NULL)
        *ret = (gbx_span){.data = at, .len = len};
}

/* True if every field fitted and no byte is left over. */
static inline bool gbx_reader_done(const gbx_reader *r)
{
    return !r->failed && r->left == 0;
}

#endif
