/* SPDX-License-Identifier: MIT */
/* named_server - one web server under names that a name server gives it, and a fetcher
 * that may reach it by all of them. */
#ifndef GBX_TESTS_NAMED_SERVER_H
#define GBX_TESTS_NAMED_SERVER_H

#include "dns_server.h"
#include "fetch_world.h"
#include "http_server.h"

typedef struct named_server {
    fetch_world world;
    dns_server *dns;
    server *server;
    unsigned port;
} named_server;

/* names stay the caller's; options may be NULL. */
void named_server_open(named_server *n, const dns_name *names, size_t count,
                       const server_options *options);
void named_server_close(named_server *n);

#endif
