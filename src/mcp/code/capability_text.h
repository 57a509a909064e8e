/* SPDX-License-Identifier: MIT */
/*
 * capability_text - what the command's policy gives to code, in the words of a description: a model
 * and a host that are told less than there is decide wrongly. The Node package says the same
 * (node/lib/instruction.js).
 */
#ifndef GBX_MCP_CODE_CAPABILITY_TEXT_H
#define GBX_MCP_CODE_CAPABILITY_TEXT_H

#include "base/buf.h"

#include <stdbool.h>

#include <glovebox/glovebox.h>

/* Has code that capability? NULL: the policy of an engine that was given none. */
bool gbx_granted(const gbx_policy *policy, gbx_capability capability);

/* Can code do more by fetch than to ask? */
bool gbx_granted_writes(const gbx_policy *policy);

/* Append a line for each thing that reaches beyond the box: nothing if there is none. The
 * same policy gives the same bytes. */
void gbx_granted_say(const gbx_policy *policy, const char *prefix, gbx_buf *to);

#endif
