/* SPDX-License-Identifier: MIT */
/*
 * unescape - undo what programs do to text on its way: percent-encoding, escapes of JSON
 * and JavaScript, HTML's, line ends within, a plus for a space. All of them at once, and
 * what is then left of them again: four of them may lie in one another.
 *
 * The ways of writing a byte that programs use, not what any standard says is one: what is
 * taken too much only makes something be found that nobody would have read so.
 */
#ifndef GBX_POLICY_UNESCAPE_H
#define GBX_POLICY_UNESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No escape is longer. */
#define GBX_ESCAPE_MAX 12u

/* So many escapes in one another are undone. */
#define GBX_UNESCAPE_DEEP 4u

/* Can an escape begin with this byte? */
static inline bool gbx_unescape_begins(uint8_t byte)
{
    return byte == '\\' || byte == '%' || byte == '&' || byte == '\n' || byte == '\r';
}

/* Bytes that wait for the rest of an escape, and where they come from. */
typedef struct gbx_unescape_level {
    size_t count;
    uint8_t bytes[GBX_ESCAPE_MAX];
    size_t from[GBX_ESCAPE_MAX];
    size_t to[GBX_ESCAPE_MAX];
} gbx_unescape_level;

/* Begin with zeros, and emit. */
typedef struct gbx_unescaper {
    /* One byte of the text; it stands for the input's bytes from start to end. Both a
     * space and a plus are a plus. */
    void (*emit)(void *user, uint8_t byte, size_t start, size_t end);
    void *user;
    size_t waiting; /* bytes in all levels; if none, what begins no escape is emitted */
    gbx_unescape_level levels[GBX_UNESCAPE_DEEP];
} gbx_unescaper;

/* The input's next byte, at position at. */
void gbx_unescape_take(gbx_unescaper *u, uint8_t byte, size_t at);

/* There is no more: what waits is no escape. */
void gbx_unescape_end(gbx_unescaper *u);

#endif
