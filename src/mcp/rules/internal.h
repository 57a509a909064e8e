/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/mcp/rules share. */
#ifndef GBX_MCP_RULES_INTERNAL_H
#define GBX_MCP_RULES_INTERNAL_H

#include "mcp/rules/rules.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- canonical.c --------------------------------------------------------- */

/*
 * Can a path or a URL be read in only one way?
 *
 * Servers resolve "/data/../etc", "%2e%2e", "https://a@b", "HTTPS:\\b" in different
 * ways. A rule that resolved them in yet another way could be bypassed. So such texts
 * are refused.
 */

/* NULL, or why the text cannot be judged by the pattern; constant. */
const char *gbx_canonical_objection(const char *pattern, gbx_glob_kind kind,
                                    const char *text, size_t len, gbx_glob_how how);

/* NULL, or why every text that could match the pattern of an asking or denying rule
 * would be refused: such a rule only seems to have an effect. The pattern's length is
 * GBX_GLOB_MAX at most. */
const char *gbx_canonical_pattern_objection(const char *pattern);

/* Does the text begin with that character, literally or escaped? */
bool gbx_canonical_is(char c, const char *text, size_t len);

/* Does it begin with "scheme://"? */
bool gbx_canonical_has_scheme(const char *text, size_t len);

/* Does every program look for an address of that scheme on a network? Some other
 * schemes ("sqlite:///srv/x") name files. */
bool gbx_canonical_is_remote(const char *text, size_t len);

/* ---- path_forms.c -------------------------------------------------------- */

/*
 * A text as the path that some program may make of it.
 *
 * Programs differ: "k.txt/", "./k.txt" and "k.txt/x/.." may all be "k.txt". So a rule
 * that asks or denies looks at each of these forms besides the text itself; no form may
 * ever make a rule match less.
 */

/* Some programs treat '\' as a slash. */
typedef enum gbx_path_slashes { GBX_RESOLVED_ONE, GBX_RESOLVED_BOTH } gbx_path_slashes;

/* The text without ".", without ".." and what it cancels, and without repeated or
 * trailing slashes. ret has room for len bytes; returns the length. */
size_t gbx_path_forms(const char *text, size_t len, gbx_path_slashes slashes,
                      char *ret);

/* ---- rule_host.c --------------------------------------------------------- */

/*
 * Is the host of a URL written in the one canonical way?
 *
 * "0x7f.1", "2130706433", "[::ffff:7f00:1]" and "127.0.0.1:0080" lead to one place, but
 * a rule compares text. So all forms but one are refused.
 */

/* NULL, or why not; constant. scheme: a text that begins with "https:" or the like;
 * host: the text between the slashes, with its port. */
const char *gbx_host_objection(const char *scheme, const char *host, size_t len);

/* Does text begin with a scheme, in any case, that needs a host, such as "https:"? */
bool gbx_host_is_needed(const char *text, size_t len);

/* ---- unambiguous.c ------------------------------------------------------- */

/*
 * Does every parser read the same values from JSON text?
 *
 * If a member occurs twice, some parsers take the first and others the last. They also
 * differ on numbers that are too large, half a surrogate pair, and "__proto__". No
 * values are built: hostile text may hold millions of them.
 */

#define GBX_ALIKE_DEPTH 200

/* text is JSON of at most 16 MiB, no deeper than GBX_ALIKE_DEPTH. NULL, or what is
 * wrong with the value, or with the member whose name is, at text[*ret_at];
 * constant. */
const char *gbx_ambiguity(const char *text, size_t len, size_t *ret_at);

#endif
