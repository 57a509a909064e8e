/* SPDX-License-Identifier: MIT */
/*
 * rule_host - is the host of a URL written in the one way that every program writes it?
 *
 * "0x7f.1", "2130706433", "[::ffff:7f00:1]" and "127.0.0.1:0080" lead to one place, and a
 * rule compares text: so all of them but one are objected to.
 */
#ifndef GBX_MCP_RULES_RULE_HOST_H
#define GBX_MCP_RULES_RULE_HOST_H

#include <stdbool.h>
#include <stddef.h>

/* NULL, or why not, constant. scheme: a text that begins with "https:" or the like; host:
 * what is between the slashes, with its port. */
const char *gbx_host_objection(const char *scheme, const char *host, size_t len);

/* Does text begin with a scheme, in any case, that needs a host: "https:" or the like? */
bool gbx_host_is_needed(const char *text, size_t len);

#endif
