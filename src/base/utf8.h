/* SPDX-License-Identifier: MIT */
/*
 * utf8 - check, encode, decode, cut and escape UTF-8, and count its lines.
 *
 * One rule everywhere: invalid UTF-8 (overlong forms, surrogates, past U+10FFFF,
 * truncation) is refused on the way in and becomes U+FFFD on the way out.
 */
#ifndef GBX_BASE_UTF8_H
#define GBX_BASE_UTF8_H

#include "base/buf.h"

/* Length of the sequence at data (1 to 4), or 0 if it is not valid. */
size_t gbx_utf8_sequence(const uint8_t *data, size_t len);

/* The character of a valid sequence of n bytes. */
uint32_t gbx_utf8_decode(const uint8_t *data, size_t n);

/* Write a character up to U+10FFFF; returns the number of bytes. A surrogate becomes
 * three bytes, which are not UTF-8. */
size_t gbx_utf8_encode(uint32_t point, uint8_t ret[4]);

/* True if all of it is valid; *ret_bad (may be NULL) is the first bad offset. */
bool gbx_utf8_valid(const uint8_t *data, size_t len, size_t *ret_bad);

/* Append UTF-16 as UTF-8; an unpaired surrogate becomes U+FFFD. */
bool gbx_utf8_append_utf16(gbx_buf *buf, const uint16_t *units, size_t count);

/* The length of text when cut between characters to at most max bytes, of which invalid
 * text keeps all but three. */
size_t gbx_utf8_cut(const void *text, size_t len, size_t max);

/* Append, with each invalid byte replaced by U+FFFD. */
bool gbx_utf8_append_lossy(gbx_buf *buf, const void *data, size_t len);

/* The same; if it is longer than max bytes, append its head and tail, cut between
 * characters, with " [... N bytes ...] " between them. */
bool gbx_utf8_append_ends(gbx_buf *buf, const void *data, size_t len, size_t max);

/*
 * Append so that the text cannot steer a terminal or a text log and hides nothing: C0,
 * DEL, C1, bidi controls, line separators and invisible characters become \u{...}, a
 * newline \n. One joiner (U+200C, U+200D) or selector of an emoji's shape (U+FE0E,
 * U+FE0F) is kept after a character that can have one, since ordinary text uses them.
 * If there is not room for all, appends as many whole characters and escapes as fit.
 */
typedef enum gbx_escape {
    GBX_ESCAPE_LINE = 0,
    GBX_ESCAPE_TEXT = 1, /* newlines and tabs are kept, and CR before a newline */
    GBX_ESCAPE_ALL = 2,  /* joiners and selectors are escaped, too */
    GBX_ESCAPE_JSON = 5, /* text that is JSON: \uXXXX, which is the same JSON */
} gbx_escape;
bool gbx_utf8_append_escaped(gbx_buf *buf, const void *data, size_t len,
                             gbx_escape how);

/* The same as one line, into an array; cut to what fits before the NUL. */
void gbx_utf8_copy_line(char *to, size_t size, const void *data, size_t len);

/* Escape the contents of the buffer from offset `from` on, in place. */
bool gbx_utf8_escape(gbx_buf *buf, size_t from, gbx_escape how);

/* The number of leading bytes that would be appended unchanged. */
size_t gbx_utf8_unescaped(const void *data, size_t len, gbx_escape how);

/* The length of text in UTF-16 units. */
size_t gbx_utf16_units(const char *text, size_t len);

/* Line and column (from 1; column in characters) of a byte offset. Lines of data end in
 * "\n". */
void gbx_utf8_position(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                       uint32_t *ret_column);

/*
 * The lines of JavaScript, as engines and editors count them: one ends in "\n", "\r",
 * "\r\n", U+2028 or U+2029.
 */

/* Length of the line end at text, which has at least one byte; 0 if it is not one. */
size_t gbx_lines_end(const char *text, size_t len);

/* The bytes [*ret_start, *ret_end) of that line (from 1), without its end. If there are
 * fewer lines, false, and both are len. */
bool gbx_lines_find(const char *text, size_t len, uint32_t line, size_t *ret_start,
                    size_t *ret_end);

/* Line and column (from 1; column in characters) of a byte offset. */
void gbx_lines_position(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                        uint32_t *ret_column);

/* The same with the column in UTF-16 units, as engines count. */
void gbx_lines_place(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                     uint32_t *ret_column);

/* Convert a column in UTF-16 units, as engines count, to one in characters, as people
 * count; 0 stays 0. */
uint32_t gbx_lines_column(const char *text, size_t len, uint32_t line, uint32_t units);

#endif
