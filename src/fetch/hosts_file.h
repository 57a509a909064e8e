/* SPDX-License-Identifier: MIT */
/* hosts_file - what the host's own table of names says; read anew each time, it is small. */
#ifndef GBX_FETCH_HOSTS_FILE_H
#define GBX_FETCH_HOSTS_FILE_H

#include "fetch/ip.h"

#include <stddef.h>

/* The addresses of a name (in lower case), at most max, and how many they are. */
size_t gbx_hosts_find(const char *path, const char *name, gbx_ip *ret, size_t max);

#endif
