/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/policy share. */
#ifndef GBX_POLICY_INTERNAL_H
#define GBX_POLICY_INTERNAL_H

#include "policy/policy.h"
#include "wire/reader.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- ip_address.c -------------------------------------------------------- */

/*
 * Internet addresses and networks, as a policy may write them.
 *
 * Each has a single notation: those that another program could read differently (octal,
 * hex, IPv4 within IPv6, zones) are refused, with the notation to use.
 */

#define GBX_ADDRESS_TEXT_SIZE 48

/* Four decimal numbers, or IPv6 without brackets and zone; IPv4 becomes ::ffff:a.b.c.d.
 * False if text is neither. */
bool gbx_address_parse(const char *text, size_t len, uint8_t ret[16]);

/* Print in the single notation: IPv4 as such, IPv6 as inet_ntop() writes it. */
void gbx_address_print(const uint8_t address[16], char out[GBX_ADDRESS_TEXT_SIZE]);

bool gbx_address_is_v4(const uint8_t address[16]);
bool gbx_address_is_loopback(const uint8_t address[16]);

/* True if every address of inner is one of outer. */
bool gbx_network_covers(const gbx_network *outer, const gbx_network *inner);

/* What network contains that no policy may open ("link-local addresses"), or NULL.
 * Loopback is not part of that. */
const char *gbx_network_never(const gbx_network *network);

/*
 * Addresses in notations that URL parsers accept, but that people do not write:
 * 2130706433, 0x7f.1, 0177.0.0.1. True if the last part of host is a number; *ret_ok
 * tells whether the whole is then an address.
 */
bool gbx_address_any_notation(const char *host, uint8_t ret[16], bool *ret_ok);

/* "10.0.0.0/8", "fd00::/8"; a single address is a network of one. */
gbx_status gbx_network_parse(const char *text, size_t len, gbx_network *ret,
                             gbx_error *reterr);

/* "host", "host:port", "[host]" or "[host]:port", split but not checked; borrowed. */
typedef struct gbx_hostport {
    const char *host;
    size_t host_len;
    const char *port; /* NULL: none; may be empty after a colon */
    size_t port_len;
    bool is_bracketed;
} gbx_hostport;
gbx_status gbx_hostport_split(const char *text, size_t len, gbx_hostport *ret,
                              gbx_error *reterr);

/* "127.0.0.1:5353", "[::1]:53", or without the port; *ret is free()d by the caller. */
gbx_status gbx_nameserver_parse(const char *text, size_t len, char **ret,
                                gbx_error *reterr);

/* A port from 1 to 65535, without sign, space or leading zero. */
bool gbx_port_parse(const char *text, size_t len, uint16_t *ret);

/* ---- secret_forms.c ------------------------------------------------------ */

/*
 * All forms of a policy's secrets to strip from text, as one automaton
 * (Aho-Corasick) that reads each byte once.
 *
 * The forms of a value are: itself; its hexadecimal digits in both cases; the part of
 * its base64, in both alphabets, that does not change with its place in the encoded
 * bytes; and itself with every escape undone, since the automaton also reads text in
 * that form (secret_find).
 *
 * Read-only once it is made: any thread may use it. It holds values, so it is in a
 * vault.
 */

/* The base64 character before the match also holds bits of the value. */
#define GBX_FORM_EDGE_BEFORE 1u
#define GBX_FORM_EDGE_AFTER  2u

typedef struct gbx_secret_form {
    uint32_t secret; /* index in the policy */
    uint32_t len;
    uint32_t edges;
} gbx_secret_form;

/* State 0 is the root. A state's children are a list by sibling; few have more than
 * one. */
typedef struct gbx_secret_node {
    uint32_t child;
    uint32_t sibling;
    uint32_t fail;
    uint32_t form; /* 1 + the longest form that ends here; 0: none */
    uint16_t depth;
    uint8_t byte;
} gbx_secret_node;

typedef struct gbx_secret_forms {
    size_t size; /* of the vault that holds all of it */
    gbx_secret_node *nodes;
    gbx_secret_form *forms;
    uint32_t node_count;
    uint32_t form_count;
    uint32_t longest;
    uint32_t first[256]; /* from the root, by byte */
    /* One bit for each pair of bytes that begins a form, or in which a byte begins an
     * escape. */
    uint8_t pairs[65536 / 8];
} gbx_secret_forms;

/* NULL if memory is out. */
gbx_secret_forms *gbx_secret_forms_new(const gbx_secret *secrets, size_t count);
void gbx_secret_forms_free(gbx_secret_forms *forms);

/* Can a form or an escape begin with the first byte, or an escape with the second? */
static inline bool gbx_forms_begin_so(const gbx_secret_forms *f, uint8_t a, uint8_t b)
{
    unsigned pair = (unsigned)a << 8 | b;

    return (f->pairs[pair >> 3] >> (pair & 7) & 1) != 0;
}

/* The state after one byte more. */
static inline uint32_t gbx_forms_step(const gbx_secret_forms *f, uint32_t state,
                                      uint8_t byte)
{
    while (state != 0) {
        uint32_t child = f->nodes[state].child;

        while (child != 0 && f->nodes[child].byte != byte)
            child = f->nodes[child].sibling;
        if (child != 0)
            return child;
        state = f->nodes[state].fail;
    }
    return f->first[byte];
}

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
