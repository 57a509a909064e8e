/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/mcp/rules share. */
#ifndef GBX_MCP_RULES_INTERNAL_H
#define GBX_MCP_RULES_INTERNAL_H

#include "mcp/rules/rules.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- canonical.c --------------------------------------------------------- */

/*
 * Is a path or a URL written so that there is one way to read it?
 *
 * A server resolves "/data/../etc", "%2e%2e", "https://a@b", "HTTPS:\\b" in its own way,
 * and a rule that resolved them in another would be passed by. So they are objected to.
 */

/* NULL, or why the text cannot be judged by the pattern, constant. */
const char *gbx_canonical_objection(const char *pattern, gbx_glob_kind kind,
                                    const char *text, size_t len, gbx_glob_how how);

/* NULL, or why no text that could fit the pattern of a rule that asks or denies is without
 * an objection: the rule would look as if it held. The pattern's length is GBX_GLOB_MAX at
 * most. */
const char *gbx_canonical_pattern_objection(const char *pattern);

/* Does the text begin with that character, as it is or in escapes? */
bool gbx_canonical_is(char c, const char *text, size_t len);

/* "scheme://" at its beginning? */
bool gbx_canonical_has_scheme(const char *text, size_t len);

/* Is that the scheme of an address that every program looks for on a network? Of others
 * ("sqlite:///srv/x") some are of files. */
bool gbx_canonical_is_remote(const char *text, size_t len);

/* ---- path_forms.c -------------------------------------------------------- */

/*
 * A text as the path that some program makes of it.
 *
 * What is no path to one program is one to the next: "k.txt/", "./k.txt" and
 * "k.txt/x/.." may all be "k.txt". So a rule that asks or denies looks at each of these
 * forms besides the text itself; none of them may ever make a rule fit less.
 */

/* To some programs '\' is a slash. */
typedef enum gbx_path_slashes { GBX_RESOLVED_ONE, GBX_RESOLVED_BOTH } gbx_path_slashes;

/* The text without ".", "..", what ".." takes back, and slashes doubled or at the end. ret
 * has room for len bytes; returns how many it has. */
size_t gbx_path_forms(const char *text, size_t len, gbx_path_slashes slashes,
                      char *ret);

/* ---- rule_host.c --------------------------------------------------------- */

/*
 * Is the host of a URL written in the one way that every program writes it?
 *
 * "0x7f.1", "2130706433", "[::ffff:7f00:1]" and "127.0.0.1:0080" lead to one place, and a
 * rule compares text: so all of them but one are objected to.
 */

/* NULL, or why not, constant. scheme: a text that begins with "https:" or the like; host:
 * what is between the slashes, with its port. */
const char *gbx_host_objection(const char *scheme, const char *host, size_t len);

/* Does text begin with a scheme, in any case, that needs a host: "https:" or the like? */
bool gbx_host_is_needed(const char *text, size_t len);

/* ---- unambiguous.c ------------------------------------------------------- */

/*
 * Does every parser read the same values in JSON text?
 *
 * Where a member is there twice one takes the first and another the last; a number too
 * large, half of a character and "__proto__" are read differently as well. Nothing is
 * built of the values: text of hostile code may hold millions of them.
 */

#define GBX_ALIKE_DEPTH 200

/* text is JSON of at most 16 MiB, no deeper than GBX_ALIKE_DEPTH. NULL, or what is wrong
 * with the value, or with the member of the name, at text[*ret_at], constant. */
const char *gbx_ambiguity(const char *text, size_t len, size_t *ret_at);

#endif
