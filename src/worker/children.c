/* SPDX-License-Identifier: MIT */
/* children - see worker.h. */
#include "worker/worker.h"

#include <assert.h>
#include <sys/resource.h>
#include <sys/wait.h>

static uint64_t microseconds(const struct timeval *tv)
{
    return (uint64_t)tv->tv_sec * 1000000u + (uint64_t)tv->tv_usec;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_children_full(const gbx_children *children)
{
    return children->count == GBX_CHILDREN_MAX;
}

void gbx_children_add(gbx_children *children, pid_t pid, uint64_t worker_id)
{
    assert(!gbx_children_full(children));
    children->list[children->count++] =
        (struct gbx_child){.pid = pid, .worker_id = worker_id};
}

bool gbx_children_reap(gbx_children *children, gbx_msg_exited *ret)
{
    struct rusage usage;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        for (size_t i = 0; i < children->count; i++) {
            if (children->list[i].pid != pid)
                continue;
            *ret = (gbx_msg_exited){
                .worker_id = children->list[i].worker_id,
                .status = (uint32_t)status,
                .cpu_us = microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime),
                .max_rss_kib = (uint64_t)usage.ru_maxrss,
            };
            children->list[i] = children->list[--children->count];
            return true;
        }
        /* As pid 1 of its namespace the template also inherits orphans, which are
         * not workers. */
    }
    return false;
}
