/* SPDX-License-Identifier: MIT */
/* children - which process is which worker, and how each ended. */
#ifndef GBX_WORKER_CHILDREN_H
#define GBX_WORKER_CHILDREN_H

#include "wire/messages.h"

#include <sys/types.h>

#define GBX_CHILDREN_MAX 1100 /* over the host's most, for those it has killed */

typedef struct gbx_children {
    size_t count;
    struct gbx_child {
        pid_t pid;
        uint64_t worker_id;
    } list[GBX_CHILDREN_MAX];
} gbx_children;

bool gbx_children_full(const gbx_children *children);
void gbx_children_add(gbx_children *children, pid_t pid, uint64_t worker_id);

/* Reap one child that has ended; false if there is none. */
bool gbx_children_reap(gbx_children *children, gbx_msg_exited *ret);

#endif
