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
 * The one way to write a host name: what the policy lists and what a request asks
 * for are compared as these bytes.
 */

/* The longest name is 253 characters. */
#define GBX_HOST_SIZE 256

typedef struct gbx_host {
    char text[GBX_HOST_SIZE]; /* as gbx_site.host; ends in NUL */
    size_t labels;            /* 0: a literal address */
    uint8_t address[16];      /* of a literal one */
} gbx_host;

/*
 * Lower case, international names in punycode (UTS 46, as browsers have it), without a
 * trailing dot; addresses in one notation. is_bracketed: text stood in brackets, and is
 * IPv6 or nothing. Refuses what is no host, and addresses in notations of old.
 */
gbx_status gbx_host_parse(const char *text, size_t len, bool is_bracketed,
                          gbx_host *ret, gbx_error *reterr);

/* ---- json_place.c -------------------------------------------------------- */

/*
 * Where in JSON text a value stands.
 *
 * The library that makes values of the text keeps no positions; they are needed only for
 * the one value that is objected to. So the text is walked again, to the member with the
 * same number: a path of ordinals, since members keep their order.
 */

/*
 * The byte offset of the value that is member path[0] of the whole, member path[1] of
 * that, and so on; with depth 0, of the whole. is_key: of the last member's key instead.
 * text is valid JSON; if it is not, the offset is somewhere in it.
 */
size_t gbx_json_place(const char *text, size_t len, const size_t *path, size_t depth,
                      bool is_key);

/* The offset of the last token that begins before end. */
size_t gbx_json_token_before(const char *text, size_t len, size_t end);

/* ---- secret_find.c ------------------------------------------------------- */

/*
 * Where in some bytes the forms of secrets are: as they are, and as they
 * are once every escape is undone (unescape.h). Both are searched in one pass.
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

/* False if memory is out, or once *stop (which may be NULL) is true: then nothing is
 * known. Free ret->items in any case. */
bool gbx_secret_find(const gbx_secret_forms *forms, gbx_span data,
                     const atomic_bool *stop, gbx_hits *ret);

/* ---- unescape.c ---------------------------------------------------------- */

/*
 * Undo what programs do to text on its way: percent-encoding, escapes of JSON
 * and JavaScript, HTML's, line ends within, a plus for a space. All of them at once, and
 * what is then left of them again: four of them may lie in one another.
 *
 * The ways of writing a byte that programs use, not what any standard says is one: what is
 * taken too much only makes something be found that nobody would have read so.
 */

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
