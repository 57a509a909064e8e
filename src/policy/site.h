/* SPDX-License-Identifier: MIT */
/* site - one allowed destination, from and to text. */
#ifndef GBX_POLICY_SITE_H
#define GBX_POLICY_SITE_H

#include "policy/policy.h"

/* "[scheme://]host[:port]"; ret->host is free()d by the caller. */
gbx_status gbx_site_parse(const char *text, size_t len, gbx_site *ret,
                          gbx_error *reterr);

bool gbx_site_equals(const gbx_site *a, const gbx_site *b);

/* True if everything that narrow matches is matched by wide. */
bool gbx_site_covers(const gbx_site *wide, const gbx_site *narrow);

#define GBX_SITE_TEXT_SIZE 300

/*
 * May url be fetched? False only if it is plain to see that it may not, before any
 * resolver or redirect: then site is where it leads. What is no absolute http or https
 * URL, or is written in a way that needs a URL parser, is left to who fetches.
 */
bool gbx_policy_may_fetch(const gbx_policy *policy, const char *url, size_t len,
                          char site[GBX_SITE_TEXT_SIZE]);

/* As a policy would have it, for messages: "http://localhost:8080". */
const char *gbx_site_print(const gbx_site *site, char out[GBX_SITE_TEXT_SIZE]);

#endif
