/* SPDX-License-Identifier: MIT */
/* audit_world - an engine whose log is kept, with functions, and files to be refused. */
#ifndef GBX_TESTS_AUDIT_WORLD_H
#define GBX_TESTS_AUDIT_WORLD_H

#include "audit_log.h"
#include "host_functions.h"

/* Code that asks n times for a file that it may not read; the guard cannot see where the
 * path leads. */
#define AUDIT_REFUSED(n)                    \
    "async () => { for (let i = 0; i < " #n \
    "; i++) await fs.promises.readFile(['', 'etc', 'x' + i].join('/')).catch(() => 0) }"

/* Real workers; files below /usr/share and the functions of host_functions.h. */
gbx_options audit_options(audit_log *log);

/* The engine has the options' policy from then on. Asserts, as the above. */
gbx_engine *audit_start(gbx_options *options, host_functions *host);

#endif
