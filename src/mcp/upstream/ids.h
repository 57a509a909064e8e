/* SPDX-License-Identifier: MIT */
/* ids - which request of ours an answer is for, whatever else is wrong with it. */
#ifndef GBX_MCP_UPSTREAM_IDS_H
#define GBX_MCP_UPSTREAM_IDS_H

#include "base/json_view.h"

#include <stdint.h>

/* The number that we have sent as an id; some servers write it as a string,
 * or as 1.0. */
bool gbx_id_read(gbx_view view, int64_t *ret);

/* The id of an answer that cannot be read as JSON, or is none of the protocol's: a member
 * of the outermost object, beside "jsonrpc" and without "method". 0: it has none, or two. */
int64_t gbx_id_find(const char *text, size_t len);
/* The same of one that follows on the line of something else: a banner, a prompt. */
int64_t gbx_id_find_behind(const char *text, size_t len);
/* The same of one of which only this beginning is there, or only this end. */
int64_t gbx_id_find_in_head(const char *text, size_t len);
int64_t gbx_id_find_in_tail(const char *text, size_t len);

#endif
