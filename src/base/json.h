/* SPDX-License-Identifier: MIT */
/*
 * json - write JSON, and check JSON text.
 *
 * The check is strict RFC 8259 with a depth limit. It keeps no values, does not recurse
 * and does not allocate.
 */
#ifndef GBX_BASE_JSON_H
#define GBX_BASE_JSON_H

#include "base/buf.h"

/* Deeper text is refused. No real record is as deep, and any stack has room for it. */
#define GBX_JSON_DEPTH_MAX 1000

/* Why JSON text was refused. */
typedef struct gbx_json_fault {
    size_t offset;       /* byte that does not fit */
    uint32_t line;       /* from 1 */
    uint32_t column;     /* in characters, from 1 */
    const char *message; /* constant: "expected ',' or ']'", ... */
} gbx_json_fault;

/* White space between tokens. */
static inline bool gbx_json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* True if text is exactly one JSON value with optional white space around it. */
bool gbx_json_check(const char *text, size_t len, size_t max_depth,
                    gbx_json_fault *ret_fault);

/* The same for JSON as JSON.stringify() writes it, which a worker must send. Refuses
 * white space between tokens, since some readers take it for the end of a line, and
 * numbers beyond the range of a double. */
bool gbx_json_check_strict(const char *text, size_t len, size_t max_depth,
                           gbx_json_fault *ret_fault);

/* Read a whole number from 0 to most as JSON writes it: digits alone, without a leading
 * zero. *ret is set if it is one. */
bool gbx_decimal_read(const char *text, size_t len, uint64_t most, uint64_t *ret);

/* Append text, known to be JSON, without the white space between its tokens. */
bool gbx_json_append_compact(gbx_buf *buf, const char *text, size_t len);

/* Append text as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD. */
bool gbx_json_append_string(gbx_buf *buf, const void *text, size_t len);

/* The same for UTF-8 that will be shown to people: characters that could steer a
 * terminal are written as \uXXXX, so a reader gets the same text back. */
bool gbx_json_append_safe(gbx_buf *buf, const void *text, size_t len);

/* Append text that people or models read, as a JSON string. Invisible characters become
 * \u{...}; if the text is JSON itself, \uXXXX, so that it stays the same JSON. */
bool gbx_json_append_shown(gbx_buf *buf, const void *text, size_t len);

/* Append a finite number as JSON with at most three decimals, whatever the locale;
 * else null. */
bool gbx_json_append_number(gbx_buf *buf, double number);

/*
 * Append a key and its value, after a comma if one is needed. With key NULL it is an
 * array element. Keys are constants that need no escapes. A NULL value is left out with
 * its key. For a value that is JSON see gbx_json_put_json().
 */
void gbx_json_put_key(gbx_buf *to, const char *key);
/* Begin an object or an array; close it with gbx_buf_puts(). */
void gbx_json_put_open(gbx_buf *to, const char *key, char bracket);
void gbx_json_put_text(gbx_buf *to, const char *key, const char *text);
/* Text for people and models: see gbx_json_append_shown(). */
void gbx_json_put_shown(gbx_buf *to, const char *key, const char *text, size_t len);
void gbx_json_put_integer(gbx_buf *to, const char *key, int64_t number);
void gbx_json_put_number(gbx_buf *to, const char *key, double number);
void gbx_json_put_bool(gbx_buf *to, const char *key, bool value);

/* True if text has 16 digits in a row, as any integer beyond 2^53 - 1 has. Cheap. */
bool gbx_json_has_digits(const char *text, size_t len);

/* Convert text with one JSON value a line to one JSON array of at most
 * GBX_JSON_DEPTH_MAX levels. Blank lines are skipped. False with the position of the
 * first bad line, or with message NULL if buf is full. */
bool gbx_json_from_lines(const char *text, size_t len, gbx_buf *buf,
                         gbx_json_fault *ret_fault);

#endif
