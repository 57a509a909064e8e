/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/policy share. */
#ifndef GBX_POLICY_INTERNAL_H
#define GBX_POLICY_INTERNAL_H

#include "policy/policy.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- address.c ----------------------------------------------------------- */

/*
 * Internet addresses and networks, as a policy may write them.
 *
 * Each has a single notation: those that another program could read differently (octal,
 * hex, IPv4 within IPv6, zones) are refused, with the notation to use.
 */

#define GBX_ADDRESS_TEXT_SIZE 48

/* Print in the single notation: IPv4 as such, IPv6 as inet_ntop() writes it. */
void gbx_address_print(const uint8_t address[16], char out[GBX_ADDRESS_TEXT_SIZE]);

bool gbx_address_is_v4(const uint8_t address[16]);

/* True if every address of inner is one of outer. */
bool gbx_network_covers(const gbx_network *outer, const gbx_network *inner);

/* Names the addresses in network that no policy may open ("link-local addresses"), or
 * NULL. Loopback is not one of them. */
const char *gbx_network_never(const gbx_network *network);

/* "10.0.0.0/8", "fd00::/8"; a single address is a network of one. */
gbx_status gbx_network_parse(const char *text, size_t len, gbx_network *ret,
                             gbx_error *reterr);

/* "127.0.0.1:5353", "[::1]:53", or without the port; *ret is free()d by the caller. */
gbx_status gbx_nameserver_parse(const char *text, size_t len, char **ret,
                                gbx_error *reterr);

/* ---- capability_grants.c ------------------------------------------------- */

/* Maximum length of a variable's value, in bytes. */
#define GBX_VALUE_MAX 65536

/* Maximum length of all variables together, in bytes. Every call gets them, as JSON up
 * to six times as long. */
#define GBX_ENV_MAX 131072

/* Set the value of ret to that of the host's environment variable of that name. */
gbx_status gbx_host_value(const char *name, size_t name_len, gbx_entry *ret,
                          gbx_error *reterr);

/* A file's contents without the final line end, in secret memory. */
typedef struct gbx_host_text {
    char *data; /* ends in NUL; NULL: nothing */
    size_t len;
} gbx_host_text;

/* Read a file that holds one secret, if the policy trusts it. Code can never read the
 * file: it is added to policy->file.own. A relative path is below base_dir. */
gbx_status gbx_host_file(gbx_policy *policy, const char *base_dir, const char *path,
                         size_t len, gbx_host_text *ret, gbx_error *reterr);
void gbx_host_text_free(gbx_host_text *text);

/* Keep code that may read the file's directory from reading this file. */
gbx_status gbx_file_disown(gbx_file_policy *file, int fd, gbx_error *reterr);

/* Refuses as gbx_grant_site() does; variables from index `since` on are new. */
gbx_status gbx_grant_env(gbx_policy *policy, size_t since, const gbx_entry *entry,
                         gbx_error *reterr);

/* ---- policy_lists.c ------------------------------------------------------ */

/* Bytes of the name at text: letters, digits, '_' and '$', not beginning with a digit. */
size_t gbx_name_length(const char *text, size_t len);

/* Refuse an entry that its list has already. */
gbx_status gbx_refuse_twice(gbx_error *reterr, const char *text, size_t len);

/* ---- secret_find.c ------------------------------------------------------- */

/*
 * Find the forms of secrets in raw bytes, and in the bytes with every escape undone
 * (unescape.c). One pass searches both.
 */

/* All forms of a policy's secrets to search for. */
typedef struct gbx_secret_forms gbx_secret_forms;

typedef struct gbx_hit {
    size_t start;
    size_t end;
    uint32_t secret; /* index in the policy */
} gbx_hit;

typedef struct gbx_hits {
    gbx_hit *items; /* sorted and not overlapping after gbx_secret_find() */
    size_t count;
    size_t capacity;
} gbx_hits;

/* NULL if memory is out. */
gbx_secret_forms *gbx_secret_forms_new(const gbx_secret *secrets, size_t count);
void gbx_secret_forms_free(gbx_secret_forms *forms);

/* False if memory is out, or once *stop is true (stop may be NULL): *ret is then
 * incomplete. Free ret->items in any case. */
bool gbx_secret_find(const gbx_secret_forms *forms, gbx_span data,
                     const atomic_bool *stop, gbx_hits *ret);

/* ---- unescape.c ---------------------------------------------------------- */

/*
 * Undo the encodings that programs apply to text: percent-encoding, with a plus for a
 * space, the escapes of JSON, and line ends within. All of them are undone together, and
 * the result again, so that up to four may be nested: JSON in JSON is common.
 *
 * Undoing too much is safe: the search may only find a value where no reader would.
 */

/* Length of the longest escape, in bytes. */
#define GBX_ESCAPE_MAX 12u

/* Levels of nested escapes that are undone. */
#define GBX_UNESCAPE_DEEP 4u

/* True if an escape can begin with this byte. */
static inline bool gbx_unescape_begins(uint8_t byte)
{
    return byte == '\\' || byte == '%' || byte == '\n' || byte == '\r';
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

/* Decode the input's next byte, which is at offset `at`. */
void gbx_unescape_take(gbx_unescaper *u, uint8_t byte, size_t at);

/* The input has ended: bytes that wait are not an escape. */
void gbx_unescape_end(gbx_unescaper *u);

#endif
