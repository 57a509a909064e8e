/* SPDX-License-Identifier: MIT */
/*
 * ip - which addresses a request may end at.
 *
 * A connection to an address is a right of its own: that a name is listed does not make
 * what it resolves to public. The tables here say for every address what it is; only
 * PUBLIC needs no word from the policy, and some nothing can allow.
 *
 * Pure functions of bytes.
 */
#ifndef GBX_FETCH_IP_H
#define GBX_FETCH_IP_H

#include "policy/policy.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#define GBX_IP_TEXT_MAX INET6_ADDRSTRLEN

struct sockaddr;

/* IPv4 is kept as ::ffff:a.b.c.d, like gbx_network; an IPv6 address that is written like
 * that is another one, and never allowed. */
typedef struct gbx_ip {
    bool is_v6;
    uint8_t bytes[16];
} gbx_ip;

/* What a destination's entry in the policy lets it reach beyond public addresses. */
typedef struct gbx_reach {
    bool loopback;  /* the entry names loopback itself */
    bool has_named; /* the entry is a literal address: that one */
    gbx_ip named;
    const gbx_network *networks; /* private ones that names may resolve to */
    size_t network_count;
} gbx_reach;

/* Four plain decimal numbers, or IPv6 without brackets and zone; nothing else. */
bool gbx_ip_parse(const char *text, gbx_ip *ret);

/* False if it is neither IPv4 nor IPv6, or has a scope. */
bool gbx_ip_from_sockaddr(const struct sockaddr *from, size_t len, gbx_ip *ret);

/* The one notation of an address; text has GBX_IP_TEXT_MAX bytes. */
void gbx_ip_text(const gbx_ip *address, char *text);

bool gbx_ip_equal(const gbx_ip *a, const gbx_ip *b);

/* NULL if a connection may be made; else what the address is, for the host's log:
 * "loopback", "link-local", ... */
const char *gbx_ip_refusal(const gbx_ip *address, const gbx_reach *reach);

#endif
