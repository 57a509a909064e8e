/* SPDX-License-Identifier: MIT */
/* web - what all links over HTTP share: libcurl, loaded with the first of them. */
#ifndef GBX_MCP_UPSTREAM_WEB_H
#define GBX_MCP_UPSTREAM_WEB_H

#include "mcp/upstream/exchange.h"

typedef struct gbx_web {
    gbx_libcurl lib;
    gbx_multi *multi;
    struct event_base *base;
    gbx_exchange *farewells; /* nobody waits for them */
} gbx_web;

gbx_status gbx_web_new(struct event_base *base, gbx_web **ret, gbx_error *reterr)
    GBX_MUST_USE;
/* No exchange but farewells may be left. NULL is ignored. */
void gbx_web_free(gbx_web *web);

/* Once the loop has ended: farewells are sent, for so long at most. Blocks; NULL is ignored. */
void gbx_web_finish(gbx_web *web, uint32_t ms);

/* An exchange whose answer is not looked at. */
void gbx_web_say_farewell(gbx_web *web, const gbx_exchange_options *options);

#endif
