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

void gbx_reader_init(gbx_reader *r, const void *data, size_t len);

/* Integers are little-endian and unsigned on the wire. */
void gbx_read_u8(gbx_reader *r, uint8_t *ret);
void gbx_read_u32(gbx_reader *r, uint32_t *ret);
void gbx_read_u64(gbx_reader *r, uint64_t *ret);

/* A u32 length, then that many bytes; fails if the length is over max. */
void gbx_read_span(gbx_reader *r, size_t max, gbx_span *ret);

/* True if every field fitted and no byte is left over. */
bool gbx_reader_done(const gbx_reader *r);

#endif
