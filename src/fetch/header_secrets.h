/* SPDX-License-Identifier: MIT */
/*
 * header_secrets - the headers of one hop as they are sent, with the secrets that its site may have.
 */
#ifndef GBX_FETCH_HEADER_SECRETS_H
#define GBX_FETCH_HEADER_SECRETS_H

#include "fetch/fetch_error.h"
#include "fetch/fields.h"
#include "fetch/url.h"
#include "policy/policy.h"

/* *to is emptied first. A field of from that names a secret is marked is_secret. */
bool gbx_fill_headers(const gbx_policy *policy, const gbx_url *url, gbx_fields *from,
                      gbx_fields *to, gbx_fault *fault);

#endif
