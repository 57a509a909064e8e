/* SPDX-License-Identifier: MIT */
/*
 * nameservers - whom to ask: the policy's servers, or the system's as they are now.
 *
 * One libevent resolver for each list of servers that policies name, a few at most.
 */
#ifndef GBX_FETCH_NAMESERVERS_H
#define GBX_FETCH_NAMESERVERS_H

#include <stddef.h>

struct event_base;
struct evdns_base;

typedef struct gbx_nameservers gbx_nameservers;

/* resolv_path is borrowed. NULL: memory is out. */
gbx_nameservers *gbx_nameservers_new(struct event_base *base, const char *resolv_path);

/* Whoever still waits for an answer is told that there is none, in the loop's next turn. */
void gbx_nameservers_free(gbx_nameservers *all);

/* The resolver for a list of "ip:port"; for none, that of the system. NULL: there is no
 * server, or memory is out. Borrowed until the next call. */
struct evdns_base *gbx_nameservers_get(gbx_nameservers *all, char *const *servers,
                                       size_t count);

#endif
