/* SPDX-License-Identifier: MIT */
/*
 * socket - the last word before the kernel: may a socket be opened to this very address?
 *
 * What libcurl is about to connect to is judged here and nowhere earlier in its code; it
 * must be allowed, be among what was checked, and have the URL's port. Pure.
 */
#ifndef GBX_FETCH_SOCKET_H
#define GBX_FETCH_SOCKET_H

#include "fetch/transfer.h"

struct sockaddr;

/* NULL: it may. Else why not, for the host's log; text, of GBX_IP_TEXT_MAX bytes, is the
 * address in either case, or "". */
const char *gbx_socket_refusal(const gbx_hop *hop, const struct sockaddr *to,
                               size_t len, char *text);

#endif
