/* SPDX-License-Identifier: MIT */
/*
 * fill - the headers of one hop as they are sent, with the secrets that its site may have.
 */
#ifndef GBX_FETCH_FILL_H
#define GBX_FETCH_FILL_H

#include "fetch/fault.h"
#include "fetch/fields.h"
#include "fetch/url.h"
#include "policy/policy.h"

/* *to is emptied first. A field of from that names a secret is marked is_secret. */
bool gbx_fill_headers(const gbx_policy *policy, const gbx_url *url, gbx_fields *from,
                      gbx_fields *to, gbx_fault *fault);

#endif
