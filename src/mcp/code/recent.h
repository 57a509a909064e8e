/* SPDX-License-Identifier: MIT */
/*
 * recent - scripts that were made lately: the same text, given again, is not parsed again.
 * What an agent has found to work it runs with other input, as it stands.
 *
 * Bounded in texts and in bytes, the oldest goes first. One thread.
 */
#ifndef GBX_MCP_CODE_RECENT_H
#define GBX_MCP_CODE_RECENT_H

#include "base/cleanup.h"
#include "mcp/code/script.h"

#define GBX_RECENT_MAX      16
#define GBX_RECENT_TEXT_MAX GBX_KIB(64) /* what is longer is parsed each time */

typedef struct gbx_recent {
    struct gbx_recent_script {
        char *text; /* NULL: free */
        size_t len;
        gbx_script script;
    } kept[GBX_RECENT_MAX];
    size_t next; /* the place that is taken next */
} gbx_recent;

/* What was kept for that text; false if nothing was. */
bool gbx_recent_find(const gbx_recent *recent, const char *text, size_t len,
                     gbx_script *ret);
/* What gbx_script_make() has made of it, with the same arguments for all of one recent;
 * both are copied. Without memory for it, it is parsed again the next time. */
void gbx_recent_keep(gbx_recent *recent, const char *text, size_t len,
                     const gbx_script *script);

/* A zeroed one has kept nothing. */
void gbx_recent_cleanup(gbx_recent *recent);

#endif
