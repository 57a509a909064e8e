/* SPDX-License-Identifier: MIT */
/* threads - there is one, and there will be no other. */
#ifndef GBX_REALM_THREADS_H
#define GBX_REALM_THREADS_H

/* Before the engine is touched: tell its allocator to start no thread of its own. */
void gbx_realm_forbid_threads(void);

#endif
