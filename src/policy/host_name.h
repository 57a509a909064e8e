/* SPDX-License-Identifier: MIT */
/*
 * host_name - the one way to write a host name: what the policy lists and what a request asks
 * for are compared as these bytes.
 */
#ifndef GBX_POLICY_HOST_NAME_H
#define GBX_POLICY_HOST_NAME_H

#include "policy/policy.h"

/* The longest name is 253 characters. */
#define GBX_HOST_SIZE 256

typedef struct gbx_host {
    char text[GBX_HOST_SIZE]; /* as gbx_site.host; ends in NUL */
    size_t labels;            /* 0: a literal address */
    uint8_t address[16];      /* of a literal one */
} gbx_host;

/*
 * Lower case, international names in punycode (UTS 46, as browsers have it), without a
 * trailing dot; addresses in one notation. is_bracketed: text stood in brackets, and is
 * IPv6 or nothing. Refuses what is no host, and addresses in notations of old.
 */
gbx_status gbx_host_parse(const char *text, size_t len, bool is_bracketed,
                          gbx_host *ret, gbx_error *reterr);

#endif
