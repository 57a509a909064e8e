/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/policy share. */
#ifndef GBX_POLICY_INTERNAL_H
#define GBX_POLICY_INTERNAL_H

#include "policy/policy.h"
#include "policy/secret_forms.h"
#include "wire/reader.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- host_name.c --------------------------------------------------------- */

/*
 * The canonical form of a host name: listed and requested names are compared as these
 * bytes.
 */

/* The longest name is 253 characters. */
#define GBX_HOST_SIZE 256

typedef struct gbx_host {
    char text[GBX_HOST_SIZE]; /* as gbx_site.host; ends in NUL */
    size_t labels;            /* 0 for a literal address */
    uint8_t address[16];      /* of a literal address */
} gbx_host;

/*
 * Lower case, international names in punycode (UTS 46, as browsers have it), without a
 * trailing dot; addresses in one notation. is_bracketed: text was in brackets, and must
 * be IPv6. Refuses text that is not a host, and addresses in obsolete notations.
 */
gbx_status gbx_host_parse(const char *text, size_t len, bool is_bracketed,
                          gbx_host *ret, gbx_error *reterr);

/* ---- json_place.c -------------------------------------------------------- */

/*
 * Find the position of a value in JSON text.
 *
 * The library that parses the text into values keeps no positions; only a refused value
 * needs one. So the text is walked again, to the member with the same number: a path of
 * ordinals, since members keep their order.
 */

/*
 * The byte offset of the value that is member path[0] of the whole, member path[1] of
 * that, and so on; with depth 0, of the whole. is_key: of the last member's key
 * instead. text must be valid JSON; if it is not, the offset is anywhere in it.
 */
size_t gbx_json_place(const char *text, size_t len, const size_t *path, size_t depth,
                      bool is_key);

/* The offset of the last token that begins before end. */
size_t gbx_json_token_before(const char *text, size_t len, size_t end);

/* ---- secret_find.c ------------------------------------------------------- */

/*
 * Find the forms of secrets in bytes: in the bytes as they are, and with every escape
 * undone (unescape.c). One pass searches both.
 */

typedef struct gbx_hit {
    size_t start;
    size_t end;
    uint32_t secret; /* index in the policy */
} gbx_hit;

typedef struct gbx_hits {
    gbx_hit *items; /* by start, not overlapping, after gbx_secret_find() */
    size_t count;
    size_t capacity;
} gbx_hits;

/* False if memory is out, or once *stop (which may be NULL) is true: the result is then
 * unknown. Free ret->items in any case. */
bool gbx_secret_find(const gbx_secret_forms *forms, gbx_span data,
                     const atomic_bool *stop, gbx_hits *ret);

/* ---- unescape.c ---------------------------------------------------------- */

/*
 * Undo the encodings that programs apply to text: percent-encoding, escapes of JSON and
 * JavaScript, HTML's, line ends within, a plus for a space. All of them are undone
 * together, and the result again, so that up to four may be nested.
 *
 * It covers the escapes that programs use, not a standard's: undoing too much only
 * makes the search find a value that nobody would have read so.
 */

/* No escape is longer. */
#define GBX_ESCAPE_MAX 12u

/* Levels of nested escapes that are undone. */
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

/* Initialise to zeros, then set emit. */
typedef struct gbx_unescaper {
    /* One byte of the decoded text, from the input's bytes start to end. Space and plus
     * both become a plus. */
    void (*emit)(void *user, uint8_t byte, size_t start, size_t end);
    void *user;
    size_t waiting; /* bytes in all levels; at 0, a byte that begins no escape is
                       emitted */
    gbx_unescape_level levels[GBX_UNESCAPE_DEEP];
} gbx_unescaper;

/* The input's next byte, at position at. */
void gbx_unescape_take(gbx_unescaper *u, uint8_t byte, size_t at);

/* The input has ended: bytes that wait are not an escape. */
void gbx_unescape_end(gbx_unescaper *u);

#endif
