/* SPDX-License-Identifier: MIT */
/*
 * spawn - starts a template: executes the worker program without anything of the host.
 *
 * The program gets a built environment, /dev/null as 0 and 1, a pipe for its output
 * before it serves as 2, and the control socket as 3 (wire/wire.h). It changes its
 * identity and namespaces itself and puts another process, the template, in its place.
 * Where possible the template is pid 1 of a pid namespace, so that its end is the end
 * of every worker. Must be called on a thread that lives as long as the template may:
 * the death signal follows the thread.
 */
#ifndef GBX_ENGINE_SPAWN_H
#define GBX_ENGINE_SPAWN_H

#include "base/fail.h"
#include "wire/wire.h"

#include <stdbool.h>
#include <sys/types.h>

typedef enum gbx_spawn_kind {
    GBX_SPAWN_TEMPLATE,
    GBX_SPAWN_ZYGOTE, /* engine.h */
    GBX_SPAWN_SQLITE, /* sqlite.h */
} gbx_spawn_kind;

typedef struct gbx_spawn_options {
    gbx_spawn_kind kind;
    const char *worker_path; /* NULL: search */
    gbx_jit jit;             /* not DEFAULT */
    uint32_t layers_off;     /* gbx_layer bits: namespaces not to make (attack mode) */
    const char *uids;        /* user of a root host's template (engine.h) */
    int cgroup;              /* directory of the group to enter; -1: the host's */
    uint32_t huge_pages;     /* a zygote's: maximum for the engine's code */
    int rows;                /* the reader of a database: its file for the rows, and */
    char *const *paths;      /* the database's files, in the order of wire/wire.h */
} gbx_spawn_options;

typedef struct gbx_spawned {
    int control;      /* our end, non-blocking; -1 if closed */
    int said;         /* the program's output before it serves */
    int pidfd;        /* of the program; after settling, of the template */
    pid_t pid;        /* the same */
    int cgroup_errno; /* why it is not in the group, or 0 */
    bool is_settled;  /* the template is known */
    bool is_bundled;  /* the program and its libraries are files of a bundle */
} gbx_spawned;

#define GBX_SPAWNED_INIT ((gbx_spawned){.control = -1, .said = -1, .pidfd = -1})

gbx_status gbx_spawn(const gbx_spawn_options *options, gbx_spawned *ret,
                     gbx_error *reterr);

/* The channels of a template: our ends in ret, and the template's ends. type: of the
 * control socket. The caller closes all of them, whatever the status. */
gbx_status gbx_spawned_open(gbx_spawned *ret, int type, int *ret_control, int *ret_said,
                            gbx_error *reterr);

/* Call with the template's first message, which carried its pid (SCM_CREDENTIALS):
 * ret then tracks the template instead of the executed program. False if the program
 * did not make it, or it has gone. */
bool gbx_spawned_settle(gbx_spawned *spawned, pid_t pid);

/* Kill the template, and so all its workers; the pidfd shows when they have ended. */
void gbx_spawned_kill(gbx_spawned *spawned);

/* Wait for its end after a kill; closes the pidfd. */
void gbx_spawned_reap(gbx_spawned *spawned);

/* Kill and reap. Blocks while the kernel frees the memory of template and workers. */
void gbx_spawned_close(gbx_spawned *spawned);

/* Find the worker program; opened O_PATH. The path is for messages. */
gbx_status gbx_worker_program_open(const char *asked, int *ret_fd, char *path,
                                   size_t path_size, gbx_error *reterr);

/* A bundle has the dynamic loader and all libraries beside the worker program, for systems
 * that have others or none. The loader, opened O_PATH, and where it finds the libraries; -1:
 * the system's loader runs the program. */
int gbx_worker_loader_open(const char *path, char *search_path, size_t size);

/* After its exec, any process of the same user may trace a process, unless it may
 * not read its own program. If the host may not be traced (it has changed its ids,
 * or has asked for that), *fd becomes an unreadable copy; if no copy can be made,
 * *fd is unchanged. */
void gbx_worker_program_hide(int *fd);

#endif
