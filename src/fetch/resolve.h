/* SPDX-License-Identifier: MIT */
/*
 * resolve - the addresses of a name: asked for once, and every one of them handed out.
 *
 * In this order: "localhost" is loopback by definition and never asked for; then the
 * host's table of names; then the name servers, for IPv4 and IPv6 at once.
 */
#ifndef GBX_FETCH_RESOLVE_H
#define GBX_FETCH_RESOLVE_H

#include "fetch/ip.h"

#define GBX_ADDRESSES_MAX 64u

struct event_base;

typedef struct gbx_resolver gbx_resolver;
typedef struct gbx_query gbx_query;

/* Paths are borrowed. NULL: memory is out. */
gbx_resolver *gbx_resolver_new(struct event_base *base, const char *hosts_path,
                               const char *resolv_path);

/* No query may be left. */
void gbx_resolver_free(gbx_resolver *resolver);

/* problem is NULL and count at least 1; or it is constant text, for the host's log. The
 * addresses are borrowed until done returns; IPv4 comes first. */
typedef void (*gbx_resolved_fn)(void *user, const gbx_ip *addresses, size_t count,
                                const char *problem);

/* done is called once, never from in here; servers is borrowed until this returns. NULL:
 * memory is out. */
gbx_query *gbx_resolve(gbx_resolver *resolver, const char *name, char *const *servers,
                       size_t server_count, gbx_resolved_fn done, void *user);

/* done is not called any more; not after it was. */
void gbx_query_drop(gbx_query *query);

#endif
