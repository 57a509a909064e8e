/* SPDX-License-Identifier: MIT */
/*
 * buf - a byte buffer that grows up to its ceiling, which is given at the start.
 *
 * A secret buffer is wiped whenever it gives up memory: when it grows, is consumed or
 * is cleaned up. The caller wipes what it takes out.
 *
 * A failed append (ceiling or memory) leaves the contents unchanged and marks the
 * buffer failed for ever: a writer can append many times and check once. A zeroed
 * gbx_buf is empty with ceiling 0. Not thread-safe.
 */
#ifndef GBX_BASE_BUF_H
#define GBX_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed bytes. */
typedef struct gbx_span {
    const uint8_t *data;
    size_t len;
} gbx_span;

gbx_span gbx_span_of(const char *text);

/* Take the next line from *rest, without its newline; false after the last. */
bool gbx_span_line(gbx_span *rest, gbx_span *ret);

/* True if the text is one of the words, which are separated by single spaces. */
bool gbx_text_is_listed(const char *words, const char *text, size_t len);

/* True if text is an HTTP token, as method and header names must be. */
bool gbx_is_token(const char *text, size_t len);

/* How many visible characters of ASCII the text begins with. */
size_t gbx_visible_len(const char *text);

typedef struct gbx_buf {
    uint8_t *data; /* NULL while nothing was appended */
    size_t len;
    size_t capacity;
    size_t ceiling; /* len never exceeds it */
    bool failed;    /* an append was refused */
    bool is_secret;
} gbx_buf;

void gbx_buf_init(gbx_buf *buf, size_t ceiling);
void gbx_buf_init_secret(gbx_buf *buf, size_t ceiling);
/* Free the contents. The buffer stays usable, with the same ceiling and secrecy. */
void gbx_buf_cleanup(gbx_buf *buf);

/* Room for n more bytes at data + len, not yet counted in len; NULL if refused. */
uint8_t *gbx_buf_reserve(gbx_buf *buf, size_t n);

bool gbx_buf_append(gbx_buf *buf, const void *data, size_t len);
bool gbx_buf_puts(gbx_buf *buf, const char *text);
bool gbx_buf_printf(gbx_buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool gbx_buf_vprintf(gbx_buf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* Read from fd up to its end or the ceiling, and append. False with errno if reading
 * fails; if memory is out, buf->failed is set, too. */
bool gbx_buf_read(gbx_buf *buf, int fd);

/* Drop the first n bytes (n <= len). */
void gbx_buf_consume(gbx_buf *buf, size_t n);

/* Move the contents out, with a NUL at the end: free() them. NULL if the buffer failed
 * or memory is out; the buffer is empty afterwards in any case. */
char *gbx_buf_take_string(gbx_buf *buf, size_t *ret_len);

/*
 * Memory for secrets: not in core dumps, on pages of its own, wiped before it is freed.
 * It may be swapped out, and a debugger that may trace the process can read it.
 */

/* Zeroed; NULL if memory is out. */
void *gbx_secret_memory_new(size_t size);

/* size as it was requested. NULL is ignored. */
void gbx_secret_memory_free(void *data, size_t size);

#endif
