/* SPDX-License-Identifier: MIT */
/* named_server - see named_server.h. */
#include "named_server.h"

void named_server_open(named_server *n, const dns_name *names, size_t count,
                       const server_options *options)
{
    n->dns = dns_server_start(names, count);
    n->server = server_start(options);
    n->port = server_port(n->server);
    world_open(&n->world, NULL);
    world_nameserver(&n->world, dns_server_address(n->dns));
    for (size_t i = 0; i < count; i++)
        world_allow(&n->world, names[i].name, (uint16_t)n->port, LOOPBACK_TOO);
}

void named_server_close(named_server *n)
{
    world_close(&n->world);
    server_stop(n->server);
    dns_server_stop(n->dns);
}
