/* SPDX-License-Identifier: MIT */
/*
 * url - one reading of a URL, or none.
 *
 * What two parsers could read differently is where request forgery lives. Text is
 * accepted only in the plain notation in which it can be read in one way: printable
 * ASCII, http or https, no user, a host that is a name or the one notation of an address.
 * libcurl's own parser then reads it too, and both must have found the same.
 */
#ifndef GBX_FETCH_URL_H
#define GBX_FETCH_URL_H

#include "fetch/fetch_error.h"
#include "fetch/ip.h"
#include "fetch/libcurl.h"

#define GBX_URL_MAX  8192u
#define GBX_HOST_MAX 253u

typedef struct gbx_url {
    const gbx_libcurl *lib;      /* whose parser agreed; borrowed */
    uint8_t scheme;              /* GBX_SCHEME_HTTP or GBX_SCHEME_HTTPS */
    char host[GBX_HOST_MAX + 1]; /* as in gbx_site.host */
    bool is_literal;             /* host is an address */
    gbx_ip address;              /* then this one */
    uint16_t port;               /* never 0 */
    char *text;                  /* canonical: what is sent; without fragment; owned */
} gbx_url;

/* ret is filled on success only; clean it up. */
bool gbx_url_parse(const gbx_libcurl *lib, const char *text, size_t len, gbx_url *ret,
                   gbx_fault *fault);

/* location, as a response gave it, seen from base. */
bool gbx_url_join(const gbx_url *base, const char *location, gbx_url *ret,
                  gbx_fault *fault);

void gbx_url_cleanup(gbx_url *url);

/* Scheme, host and port are the same. */
bool gbx_url_same_origin(const gbx_url *a, const gbx_url *b);

/* "https" or "http". */
const char *gbx_url_scheme_name(uint8_t scheme);

#endif
