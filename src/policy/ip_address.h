/* SPDX-License-Identifier: MIT */
/*
 * ip_address - Internet addresses and networks, as a policy may write them.
 *
 * Each has a single notation: those that another program could read differently (octal,
 * hex, IPv4 within IPv6, zones) are refused, with the notation to use.
 */
#ifndef GBX_POLICY_IP_ADDRESS_H
#define GBX_POLICY_IP_ADDRESS_H

#include "policy/policy.h"

#define GBX_ADDRESS_TEXT_SIZE 48

/* Four decimal numbers, or IPv6 without brackets and zone; IPv4 becomes ::ffff:a.b.c.d.
 * False if text is neither. */
bool gbx_address_parse(const char *text, size_t len, uint8_t ret[16]);

/* Print in the single notation: IPv4 as such, IPv6 as inet_ntop() writes it. */
void gbx_address_print(const uint8_t address[16], char out[GBX_ADDRESS_TEXT_SIZE]);

bool gbx_address_is_v4(const uint8_t address[16]);
bool gbx_address_is_loopback(const uint8_t address[16]);

/* True if every address of inner is one of outer. */
bool gbx_network_covers(const gbx_network *outer, const gbx_network *inner);

/* What network contains that no policy may open ("link-local addresses"), or NULL.
 * Loopback is not part of that. */
const char *gbx_network_never(const gbx_network *network);

/*
 * Addresses in notations that URL parsers accept, but that people do not write:
 * 2130706433, 0x7f.1, 0177.0.0.1. True if the last part of host is a number; *ret_ok
 * tells whether the whole is then an address.
 */
bool gbx_address_any_notation(const char *host, uint8_t ret[16], bool *ret_ok);

/* "10.0.0.0/8", "fd00::/8"; a single address is a network of one. */
gbx_status gbx_network_parse(const char *text, size_t len, gbx_network *ret,
                             gbx_error *reterr);

/* "host", "host:port", "[host]" or "[host]:port", split but not checked; borrowed. */
typedef struct gbx_hostport {
    const char *host;
    size_t host_len;
    const char *port; /* NULL: none; may be empty after a colon */
    size_t port_len;
    bool is_bracketed;
} gbx_hostport;
gbx_status gbx_hostport_split(const char *text, size_t len, gbx_hostport *ret,
                              gbx_error *reterr);

/* "127.0.0.1:5353", "[::1]:53", or without the port; *ret is free()d by the caller. */
gbx_status gbx_nameserver_parse(const char *text, size_t len, char **ret,
                                gbx_error *reterr);

/* A port from 1 to 65535, without sign, space or leading zero. */
bool gbx_port_parse(const char *text, size_t len, uint16_t *ret);

#endif
