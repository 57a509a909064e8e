/* SPDX-License-Identifier: MIT */
/*
 * allow - is this destination, and this method, on the list?
 *
 * What is not listed is refused, with the list in the message: it is written for who must
 * repair the code, and holds nothing that the policy did not say.
 */
#ifndef GBX_FETCH_ALLOW_H
#define GBX_FETCH_ALLOW_H

#include "fetch/url.h"

/* *ret_reach borrows from policy: what the entries that allow it let it reach. */
bool gbx_allow_url(const gbx_fetch_policy *policy, const gbx_url *url,
                   gbx_reach *ret_reach, gbx_fault *fault);

/* method is as it will be sent. */
bool gbx_allow_method(const gbx_fetch_policy *policy, const char *method,
                      gbx_fault *fault);

/* Only what the fetch standard forbids everywhere; pure. */
bool gbx_method_is_forbidden(const char *method);

#endif
