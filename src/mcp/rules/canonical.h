/* SPDX-License-Identifier: MIT */
/*
 * canonical - is a path or a URL written so that there is one way to read it?
 *
 * A server resolves "/data/../etc", "%2e%2e", "https://a@b", "HTTPS:\\b" in its own way,
 * and a rule that resolved them in another would be passed by. So they are objected to.
 */
#ifndef GBX_MCP_RULES_CANONICAL_H
#define GBX_MCP_RULES_CANONICAL_H

#include "mcp/rules/glob.h"

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

#endif
