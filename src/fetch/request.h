/* SPDX-License-Identifier: MIT */
/*
 * request - what the code asked for, read once and checked for what HTTP forbids.
 *
 * Where it leads to is checked elsewhere, hop by hop; here is everything that holds for
 * all hops: method, headers, body.
 */
#ifndef GBX_FETCH_REQUEST_H
#define GBX_FETCH_REQUEST_H

#include "base/json_view.h"
#include "fetch/fetch_error.h"
#include "fetch/fields.h"
#include "policy/policy.h"
#include "wire/reader.h"

#define GBX_METHOD_MAX               32u
#define GBX_REQUEST_HEADERS_MAX      100u
#define GBX_REQUEST_HEADER_BYTES_MAX 32768u

typedef enum gbx_redirect_mode {
    GBX_REDIRECT_FOLLOW,
    GBX_REDIRECT_ERROR,
    GBX_REDIRECT_MANUAL,
} gbx_redirect_mode;

typedef struct gbx_fetch_request {
    char *url; /* as given; owned */
    size_t url_len;
    char method[GBX_METHOD_MAX + 1];
    gbx_fields headers; /* values may hold {{secret:NAME}} */
    gbx_redirect_mode redirect;
    void *body; /* NULL: none; owned */
    size_t body_len;
} gbx_fetch_request;

/* ret is to be cleaned up in either case. */
bool gbx_request_read(gbx_span args, gbx_span body, const gbx_fetch_policy *policy,
                      gbx_fetch_request *ret, gbx_fault *fault);

/* Make it a GET without a body, as some redirects do. */
void gbx_request_become_get(gbx_fetch_request *request);

void gbx_request_cleanup(gbx_fetch_request *request);

/* Headers that are the transport's, the browser's or a proxy's to set. */
bool gbx_header_is_forbidden(const char *name);

#endif
