/* SPDX-License-Identifier: MIT */
/* http_client - what all links over HTTP share: libcurl, loaded with the first of them. */
#ifndef GBX_MCP_UPSTREAM_HTTP_CLIENT_H
#define GBX_MCP_UPSTREAM_HTTP_CLIENT_H

#include "mcp/upstream/http_exchange.h"

typedef struct gbx_http_client {
    gbx_libcurl lib;
    gbx_multi *multi;
    struct event_base *base;
    gbx_http_exchange *farewells; /* nobody waits for them */
} gbx_http_client;

gbx_status gbx_http_client_new(struct event_base *base, gbx_http_client **ret,
                               gbx_error *reterr) GBX_MUST_USE;
/* No exchange but farewells may be left. NULL is ignored. */
void gbx_http_client_free(gbx_http_client *web);

/* Once the loop has ended: farewells are sent, for so long at most. Blocks; NULL is ignored. */
void gbx_http_client_finish(gbx_http_client *web, uint32_t ms);

/* An exchange whose answer is not looked at. */
void gbx_http_client_say_farewell(gbx_http_client *web,
                                  const gbx_http_exchange_options *options);

#endif
