/* SPDX-License-Identifier: MIT */
/*
 * redact_tools - what a server says of itself, without values of secrets: it was given some, and
 * what it says is shown to models and to people.
 *
 * secrets may be NULL, or hold none: then texts are what they are. All fail closed.
 */
#ifndef GBX_MCP_UPSTREAM_REDACT_TOOLS_H
#define GBX_MCP_UPSTREAM_REDACT_TOOLS_H

#include "mcp/upstream/tools.h"
#include "policy/policy.h"

/* As much of text as fits, cut between characters after it was looked through. "" if
 * memory is out. */
void gbx_redact_copy(const gbx_policy *secrets, const char *text, char *ret,
                     size_t size);
/* All of it; NULL if memory is out. free() it. */
char *gbx_redact_text(const gbx_policy *secrets, const char *text);

/* Make *ret, to be cleaned up in any case, of a list that is closed. A tool whose name
 * holds a value is left out of it: no other name would call it. */
bool gbx_redact_tools(const gbx_policy *secrets, const gbx_tools *tools,
                      gbx_tools *ret);

#endif
