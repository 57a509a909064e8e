/* SPDX-License-Identifier: MIT */
/* replay - writing the lines of a recording. */
#ifndef GBX_REPLAY_REPLAY_H
#define GBX_REPLAY_REPLAY_H

#include "base/buf.h"
#include "replay/record.h"
#include "wire/reader.h"

/* ---- chunk --------------------------------------------------------------- */

/* Memory for the spans of a head that was read; freed with it. */

struct gbx_record_chunk {
    struct gbx_record_chunk *next;
    uint8_t data[];
};

/* NULL if memory is out. */
uint8_t *gbx_record_chunk(gbx_record_head *head, size_t size);

/* ---- put.c --------------------------------------------------------------- */

/* Members of a line, as recording_line.h reads them. */

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

/* ---- words --------------------------------------------------------------- */

/* The names of choices in a recording; NULL past the last. */

const char *gbx_record_form(unsigned index);       /* gbx_form */
const char *gbx_record_globals(unsigned index);    /* gbx_globals */
const char *gbx_record_capability(unsigned index); /* bit of gbx_capability */
const char *gbx_record_code(unsigned index);       /* gbx_code */

#endif
