/* SPDX-License-Identifier: MIT */
/*
 * spawn - executes the worker program as a template, a zygote or the reader of a
 * database. It inherits nothing of the host except what is listed here.
 *
 * It gets its own environment, /dev/null as 0 and 1, a pipe as 2 for its output before
 * it serves, and the control socket as 3 (wire/wire.h). It changes its own identity and
 * namespaces, and forks the template, which takes its place. Where possible the
 * template is pid 1 of a pid namespace, so that its workers end with it. Call on a
 * thread that lives as long as the template may: the death signal follows the thread.
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
    uint32_t layers_off;     /* gbx_layer bits to leave out; only in attack mode */
    const char *uids;        /* users for a root host's template (engine.h) */
    uint32_t worker_uid;     /* the user that they were chosen for */
    bool is_spare;           /* only a zygote's: no engine has asked for it yet */
    bool takes_spare;        /* the template may have been forked ahead */
    int cgroup;              /* directory of the group to enter; -1: the host's group */
    uint32_t huge_pages;     /* only a zygote: maximum for the engine's code */
    int rows;                /* only the reader of a database: its file for the rows, */
    char *const *paths;      /* and the database's files, in the order of wire/wire.h */
} gbx_spawn_options;

typedef struct gbx_spawned {
    int control;      /* our end, non-blocking; -1 if closed */
    int said;         /* read end of the program's output before it serves */
    int pidfd;        /* of the program; after settling, of the template */
    pid_t pid;        /* of the same process */
    int cgroup_errno; /* why it is not in the group, or 0 */
    bool is_settled;  /* pidfd and pid are the template's */
    bool is_bundled;  /* the program and its libraries are files of a bundle */
    bool was_spare;   /* it was forked before its engine was made */
} gbx_spawned;

#define GBX_SPAWNED_INIT ((gbx_spawned){.control = -1, .said = -1, .pidfd = -1})

gbx_status gbx_spawn(const gbx_spawn_options *options, gbx_spawned *ret,
                     gbx_error *reterr);

/* Open a template's channels: our ends in *ret, and the template's ends. type: that of
 * the control socket. The caller closes all of them, also after a failure. */
gbx_status gbx_spawned_open(gbx_spawned *ret, int type, int *ret_control, int *ret_said,
                            gbx_error *reterr);

/* Call after the template's first message, which carried its pid (SCM_CREDENTIALS):
 * spawned then tracks the template instead of the executed program. False if the
 * program did not make that process, or it has ended. */
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

/* A bundle has the dynamic loader and all libraries beside the worker program, for
 * systems with others or none. Returns its loader, opened O_PATH, and the search path
 * for its libraries; -1 if there is no bundle: use the system's loader. */
int gbx_worker_loader_open(const char *path, char *search_path, size_t size);

/* After an exec, any process of the same user may trace the program, unless its file is
 * unreadable. If the host may not be traced (it has changed its ids, or asked for
 * that), *fd becomes an unreadable copy; if no copy can be made, *fd is unchanged. */
void gbx_worker_program_hide(int *fd);

#endif
