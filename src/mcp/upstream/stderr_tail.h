/* SPDX-License-Identifier: MIT */
/* stderr_tail - the last of what somebody wrote, however much it was. */
#ifndef GBX_MCP_UPSTREAM_STDERR_TAIL_H
#define GBX_MCP_UPSTREAM_STDERR_TAIL_H

#include "base/buf.h"
#include "policy/policy.h"

#define GBX_TAIL_BYTES 4096

typedef struct gbx_stderr_tail {
    char bytes[GBX_TAIL_BYTES];
    size_t len;
    bool is_cut; /* something was before it */
} gbx_stderr_tail;

void gbx_stderr_tail_add(gbx_stderr_tail *tail, const char *data, size_t len);

/* Append the last lines that say something, no frames of a stack, at most `lines`, " | "
 * between them, such that no terminal is steered by them, and without values of secrets
 * (NULL: there are none). If none of them names an error, the last one that does comes
 * before them. */
bool gbx_stderr_tail_print(const gbx_stderr_tail *tail, const gbx_policy *secrets,
                           unsigned lines, gbx_buf *to);

#endif
