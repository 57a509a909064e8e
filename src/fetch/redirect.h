/* SPDX-License-Identifier: MIT */
/*
 * redirect - what becomes of a request when the server sends it elsewhere.
 *
 * The rules are those of the fetch standard. Nothing here allows the new destination: the
 * caller puts it through every check that the first one passed.
 */
#ifndef GBX_FETCH_REDIRECT_H
#define GBX_FETCH_REDIRECT_H

#include "fetch/request.h"
#include "fetch/response.h"
#include "fetch/url.h"

typedef enum gbx_redirect {
    GBX_REDIRECT_NONE,   /* the response is the answer */
    GBX_REDIRECT_TO,     /* *ret_next is where to ask next */
    GBX_REDIRECT_FAILED, /* *fault says why */
} gbx_redirect;

/*
 * The head of response answered request at url, after so many redirects before. With
 * GBX_REDIRECT_TO request is changed to what the next hop sends: across origins it has
 * lost its credentials.
 */
gbx_redirect gbx_redirect_next(gbx_fetch_request *request, const gbx_url *url,
                               const gbx_response *response, uint32_t redirects,
                               uint32_t max_redirects, gbx_url *ret_next,
                               gbx_fault *fault);

/* Would gbx_redirect_next() look further than this head? Then its body is not awaited. */
bool gbx_redirect_ends_body(const gbx_fetch_request *request,
                            const gbx_response *response);

#endif
