/* SPDX-License-Identifier: MIT */
/* http_headers - the headers of one request to an upstream server. */
#ifndef GBX_MCP_UPSTREAM_HTTP_HEADERS_H
#define GBX_MCP_UPSTREAM_HTTP_HEADERS_H

#include "fetch/libcurl.h"
#include "mcp/upstream/link.h"

typedef struct gbx_http_headers {
    const gbx_libcurl *lib;
    struct curl_slist *list; /* take it, or clean up */
    bool failed;             /* memory is out */
} gbx_http_headers;

/* Could it be the name of one? */
bool gbx_http_is_token(const char *name);

/* value may be NULL: libcurl's own header of that name is left out. */
void gbx_http_header_add(gbx_http_headers *headers, const char *name,
                         const char *value);
/* A value of a message's body: as it is, or in base64 where that could not be sent. */
void gbx_http_header_add_value(gbx_http_headers *headers, const char *name,
                               const char *value, size_t len);
void gbx_http_headers_cleanup(gbx_http_headers *headers);

/* The configured ones. False with a text: one of them would break the request. */
bool gbx_http_headers_check(const gbx_mcp_upstream_config *config,
                            const char **ret_name);
void gbx_http_headers_add_configured(gbx_http_headers *headers,
                                     const gbx_mcp_upstream_config *config);

#endif
