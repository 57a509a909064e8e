/* SPDX-License-Identifier: MIT */
/*
 * spawn - start a template: namespaces first, then exec with nothing of the host.
 *
 * The child gets a built environment, /dev/null as 0 to 2, the control socket as 3
 * and no other descriptor. It becomes pid 1 of a pid namespace where one can be had,
 * so that its end is the end of every worker. Must be called on a thread that lives
 * as long as the template may: the death signal follows the thread.
 */
#ifndef GBX_BROKER_SPAWN_H
#define GBX_BROKER_SPAWN_H

#include "base/fail.h"

#include <sys/types.h>

typedef struct gbx_spawn_options {
    const char *worker_path; /* NULL: search */
    gbx_jit jit;             /* not DEFAULT */
    uint32_t layers_off;     /* gbx_layer bits: namespaces not to make (attack mode) */
    int cgroup;              /* the directory of the group to be in; -1: the host's */
} gbx_spawn_options;

typedef struct gbx_spawned {
    int control; /* our end, non-blocking; -1 if none */
    int pidfd;   /* of the template */
    pid_t pid;
    uint32_t ns_made; /* gbx_layer bits of the namespaces that were made; of the group,
                         if it is in it */
    int ns_errno;     /* why the first of the others was not */
    int cgroup_errno; /* why it is not in the group, if it is not */
} gbx_spawned;

gbx_status gbx_spawn(const gbx_spawn_options *options, gbx_spawned *ret,
                     gbx_error *reterr);

/* Kill the template, and so all its workers; the pidfd tells when they have ended. */
void gbx_spawned_kill(gbx_spawned *spawned);

/* Wait for its end, which follows a kill; closes the pidfd. */
void gbx_spawned_reap(gbx_spawned *spawned);

/* Both. Blocks while the kernel frees what template and workers had. */
void gbx_spawned_close(gbx_spawned *spawned);

/* Where the worker program is; opened O_PATH. The path is for messages. */
gbx_status gbx_worker_program_open(const char *asked, int *ret_fd, char *path,
                                   size_t path_size, gbx_error *reterr);

#endif
