/* SPDX-License-Identifier: MIT */
/* socket - see internal.h. */
#include "fetch/internal.h"

#include <string.h>
#include <sys/socket.h>

static bool is_pinned(const gbx_hop *hop, const gbx_ip *address)
{
    for (size_t i = 0; i < hop->address_count; i++)
        if (gbx_ip_equal(address, &hop->addresses[i]))
            return true;
    return false;
}

static uint16_t port_of(const struct sockaddr *to)
{
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;

    if (to->sa_family == AF_INET) {
        memcpy(&v4, to, sizeof v4);
        return ntohs(v4.sin_port);
    }
    memcpy(&v6, to, sizeof v6);
    return ntohs(v6.sin6_port);
}

/* ---- public to other modules -------------------------------------------- */

const char *gbx_socket_refusal(const gbx_hop *hop, const struct sockaddr *to,
                               size_t len, char *text)
{
    const char *refusal;
    gbx_ip address;

    text[0] = '\0';
    if (!gbx_ip_from_sockaddr(to, len, &address))
        return "no plain address of the Internet";
    gbx_ip_text(&address, text);
    refusal = gbx_ip_refusal(&address, &hop->reach);
    if (refusal != NULL)
        return refusal;
    if (!is_pinned(hop, &address))
        return "not what was checked";
    return port_of(to) != hop->url->port ? "not the port of the URL" : NULL;
}
