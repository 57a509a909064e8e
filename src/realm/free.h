/* SPDX-License-Identifier: MIT */
/* free - a realm that is not the process's last: only the memory runner has such. */
#ifndef GBX_REALM_FREE_H
#define GBX_REALM_FREE_H

#include "realm/realm.h"

/* End the VM and everything in it; gbx_realm_new() may then make another. A worker
 * never does this: its end is its process's. NULL is ignored. */
void gbx_realm_free(gbx_realm *realm);

#endif
