/* SPDX-License-Identifier: MIT */
/*
 * spawn - start a template: execute the worker program with nothing of the host.
 *
 * The program gets a built environment, /dev/null as 0 and 1, a pipe for what it says
 * before it serves as 2, and the control socket as 3 (wire/wire.h). It takes
 * its identity and namespaces itself and puts another process, the template, in its place:
 * pid 1 of a pid namespace where one can be had, so that its end is the end of every
 * worker. Must be called on a thread that lives as long as the template may: the death
 * signal follows the thread.
 */
#ifndef GBX_ENGINE_SPAWN_H
#define GBX_ENGINE_SPAWN_H

#include "base/fail.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <sys/types.h>

typedef struct gbx_spawn_options {
    const char *worker_path; /* NULL: search */
    gbx_jit jit;             /* not DEFAULT */
    uint32_t layers_off;     /* gbx_layer bits: namespaces not to make (attack mode) */
    const char *uids;        /* whom a root host's template becomes (engine.h) */
    int cgroup;              /* the directory of the group to be in; -1: the host's */
    bool is_zygote;          /* not a template: engine.h */
    uint32_t huge_pages;     /* most for the engine's code */
} gbx_spawn_options;

typedef struct gbx_spawned {
    int control;      /* our end, non-blocking; -1 if none */
    int said;         /* what the program says before it serves */
    int pidfd;        /* of the program; once settled, of the template */
    pid_t pid;        /* the same */
    int cgroup_errno; /* why it is not in the group, if it is not */
    bool is_settled;  /* the template is known */
} gbx_spawned;

#define GBX_SPAWNED_INIT ((gbx_spawned){.control = -1, .said = -1, .pidfd = -1})

gbx_status gbx_spawn(const gbx_spawn_options *options, gbx_spawned *ret,
                     gbx_error *reterr);

/* The channels of a template that is not executed: ret's ends, and those that it is to
 * get. All are closed by the caller. */
gbx_status gbx_spawned_open(gbx_spawned *ret, int *ret_control, int *ret_said,
                            gbx_error *reterr);

/* Once the template has said its first word, which came with its pid (SCM_CREDENTIALS): know
 * it instead of the program that was executed. False if it is not of that program's making,
 * or has gone. */
bool gbx_spawned_settle(gbx_spawned *spawned, pid_t pid);

/* Kill the template, and so all its workers; the pidfd tells when they have ended. */
void gbx_spawned_kill(gbx_spawned *spawned);

/* Wait for its end, which follows a kill; closes the pidfd. */
void gbx_spawned_reap(gbx_spawned *spawned);

/* Both. Blocks while the kernel frees what template and workers had. */
void gbx_spawned_close(gbx_spawned *spawned);

/* Where the worker program is; opened O_PATH. The path is for messages. */
gbx_status gbx_worker_program_open(const char *asked, int *ret_fd, char *path,
                                   size_t path_size, gbx_error *reterr);

/* A process may be traced by all of its user's from its exec on, but not if it may not read
 * its program. Where the host may not be traced (it has changed its ids, or has asked for
 * it), *fd becomes a copy that nobody may read; if none can be made it stays as it is. */
void gbx_worker_program_hide(int *fd);

#endif
