/* SPDX-License-Identifier: MIT */
/* sensitive_address - IP addresses, of four numbers or of eight. */
#ifndef GBX_MCP_DATA_SENSITIVE_ADDRESS_H
#define GBX_MCP_DATA_SENSITIVE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>

/* s: a run without white space. Is there an address anywhere in it: with a port, in a URL,
 * in a list? A time, a version of more numbers and a MAC address are none. */
bool gbx_sensitive_has_address(const char *s, size_t len);

#endif
