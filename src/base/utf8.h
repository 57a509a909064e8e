/* SPDX-License-Identifier: MIT */
/*
 * utf8 - check, make and step through UTF-8.
 *
 * One rule everywhere: what is not UTF-8 (overlong forms, surrogates, past U+10FFFF,
 * truncation) is refused on the way in and becomes U+FFFD on the way out.
 */
#ifndef GBX_BASE_UTF8_H
#define GBX_BASE_UTF8_H

#include "base/buf.h"

/* Bytes of the sequence at data (1 to 4), or 0 if there is no valid one. */
size_t gbx_utf8_sequence(const uint8_t *data, size_t len);

/* The character of a valid sequence of n bytes. */
uint32_t gbx_utf8_decode(const uint8_t *data, size_t n);

/* Write a character, no surrogate and up to U+10FFFF; the number of bytes. */
size_t gbx_utf8_encode(uint32_t point, uint8_t ret[4]);

/* True if all of it is valid; *ret_bad (may be NULL) is the first bad offset. */
bool gbx_utf8_valid(const uint8_t *data, size_t len, size_t *ret_bad);

/* Append UTF-16 as UTF-8; an unpaired surrogate becomes U+FFFD. */
bool gbx_utf8_append_utf16(gbx_buf *buf, const uint16_t *units, size_t count);

/* Append with invalid bytes replaced by U+FFFD each. */
bool gbx_utf8_append_lossy(gbx_buf *buf, const void *data, size_t len);

/* The same; of more than max bytes head and tail, between characters, and between them
 * " [... N bytes ...] ". */
bool gbx_utf8_append_ends(gbx_buf *buf, const void *data, size_t len, size_t max);

/*
 * Append so that a terminal or a text log cannot be steered by it, and nothing in it is
 * hidden: C0, DEL, C1, bidi controls, line separators and what is not drawn become
 * \u{...}, and a newline \n. Kept is what text is written with: one joiner (U+200C, U+200D) or selector of
 * an emoji's shape (U+FE0E, U+FE0F) after a character that can have one. Without room for
 * all, what has room is appended, in whole characters and escapes.
 */
typedef enum gbx_escape {
    GBX_ESCAPE_LINE = 0,
    GBX_ESCAPE_TEXT = 1, /* newlines and tabs are kept, and CR before a newline */
    GBX_ESCAPE_ALL = 2,  /* joiners and selectors are escaped, too */
    GBX_ESCAPE_JSON = 5, /* text that is JSON: \uXXXX, which is the same JSON */
} gbx_escape;
bool gbx_utf8_append_escaped(gbx_buf *buf, const void *data, size_t len,
                             gbx_escape how);

/* The same as one line into an array: as much as fits before the NUL. */
void gbx_utf8_copy_line(char *to, size_t size, const void *data, size_t len);

/* The same for what stands in the buffer from there on. */
bool gbx_utf8_escape(gbx_buf *buf, size_t from, gbx_escape how);

/* So many bytes of its beginning are appended as they are. */
size_t gbx_utf8_unescaped(const void *data, size_t len, gbx_escape how);

/* Is the valid sequence of n bytes at data one of those; *ret_point is the character. */
bool gbx_utf8_is_steering(const uint8_t *data, size_t n, uint32_t *ret_point);

/* Line and column (from 1; column in characters) of a byte offset. */
void gbx_utf8_position(const char *text, size_t len, size_t offset, uint32_t *ret_line,
                       uint32_t *ret_column);

#endif
