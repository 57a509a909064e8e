/* SPDX-License-Identifier: MIT */
/* put - members of a line, as recording_line.h reads them. */
#ifndef GBX_REPLAY_PUT_H
#define GBX_REPLAY_PUT_H

#include "base/buf.h"
#include "wire/reader.h"

/* {"what":"..." ; a line is closed by gbx_put_line_end(). */
void gbx_put_line(gbx_buf *to, const char *what);
bool gbx_put_line_end(gbx_buf *to);

void gbx_put_text(gbx_buf *to, const char *name, gbx_span text);
void gbx_put_string(gbx_buf *to, const char *name, const char *text);
void gbx_put_bytes(gbx_buf *to, const char *name, gbx_span bytes);
void gbx_put_uint(gbx_buf *to, const char *name, uint64_t value);
void gbx_put_true(gbx_buf *to, const char *name, bool value); /* false: nothing */
void gbx_put_digest(gbx_buf *to, const char *name, const uint8_t *digest);
void gbx_put_ms(gbx_buf *to, const char *name, double ms);

#endif
