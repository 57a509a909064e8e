/* SPDX-License-Identifier: MIT */
/*
 * writer - append the fields of a frame to a buffer. What does not fit marks the
 * buffer failed; gbx_frame_end() says so once. For the encoders of this folder.
 */
#ifndef GBX_WIRE_WRITER_H
#define GBX_WIRE_WRITER_H

#include "wire/messages.h"

void gbx_put_u8(gbx_buf *to, uint8_t value);
void gbx_put_le(gbx_buf *to, uint64_t value, size_t width);
void gbx_put_u32(gbx_buf *to, uint32_t value);
void gbx_put_u64(gbx_buf *to, uint64_t value);
void gbx_put_span(gbx_buf *to, gbx_span span);

/* Write a header whose length is filled in by gbx_frame_end(). Returns where it is. */
size_t gbx_frame_begin(gbx_buf *to, gbx_msg_type type, uint64_t call_id);

/* Fill in the length of the frame begun at `at`, of which `beyond` more bytes follow. */
bool gbx_frame_end(gbx_buf *to, size_t at, size_t beyond);

/* A flag is 0 or 1; anything else fails the reader. */
void gbx_read_flag(gbx_reader *r, uint8_t *ret);

#endif
