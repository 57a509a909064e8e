/* SPDX-License-Identifier: MIT */
/*
 * url - read a URL in only one way, or refuse it.
 *
 * Text that two parsers could read differently allows request forgery. So a URL is
 * accepted only in a plain notation with a single reading: printable ASCII, http or
 * https, no user, a host that is a name or an address in its canonical notation.
 * libcurl's parser then reads it too, and both results must agree.
 */
#ifndef GBX_FETCH_URL_H
#define GBX_FETCH_URL_H

#include "fetch/libcurl.h"
#include "policy/policy.h"

typedef struct gbx_fault gbx_fault;

/* IPv4 is kept as ::ffff:a.b.c.d, as in gbx_network. An IPv6 address written in that
 * form is a different address, and never allowed. */
typedef struct gbx_ip {
    bool is_v6;
    uint8_t bytes[16];
} gbx_ip;

#define GBX_URL_MAX 8192u

typedef struct gbx_url {
    const gbx_libcurl *lib;   /* whose parser agreed; borrowed */
    uint8_t scheme;           /* GBX_SCHEME_HTTP or GBX_SCHEME_HTTPS */
    char host[GBX_HOST_SIZE]; /* as in gbx_site.host */
    bool is_literal;          /* host is an address */
    gbx_ip address;           /* with is_literal */
    uint16_t port;            /* never 0 */
    char *text;               /* canonical, as sent; without fragment; owned */
} gbx_url;

/* ret is filled on success only; clean it up. fault: the reason; may be NULL. */
bool gbx_url_parse(const gbx_libcurl *lib, const char *text, size_t len, gbx_url *ret,
                   gbx_fault *fault);

/* Resolve a response's location against base. */
bool gbx_url_join(const gbx_url *base, const char *location, gbx_url *ret,
                  gbx_fault *fault);

void gbx_url_cleanup(gbx_url *url);

/* True if scheme, host and port are the same. */
bool gbx_url_same_origin(const gbx_url *a, const gbx_url *b);

#endif
