/* SPDX-License-Identifier: MIT */
/*
 * freeze - what calls leave alone becomes a file's, which a fork need not map.
 *
 * A fork copies an entry for each page that a process has of its own, and takes it away
 * again when the child ends: of the 1,100 that a template has in its heap and the data of
 * its libraries, a small call touches 100. The same contents as a private mapping of a file
 * in memory are found by who needs them, sixteen pages a fault, and inherited by nobody; of
 * a library that no call touches, the fork copies no page table either. Only what a
 * rehearsal touches is made the template's own again.
 *
 * A matter of speed: where something here cannot be done, forks are slower and nothing
 * else. In the template, single-threaded, while there is a /proc.
 */
#ifndef GBX_WORKER_FREEZE_H
#define GBX_WORKER_FREEZE_H

#include <stdbool.h>

/* run is what a worker does. Leaves a descriptor open for gbx_freeze_end(). */
void gbx_freeze(bool (*run)(void *user), void *user);

/* When the template is sealed: what it has read of the file since is unmapped again, or
 * forks would copy those entries, too. */
void gbx_freeze_end(void);

#endif
