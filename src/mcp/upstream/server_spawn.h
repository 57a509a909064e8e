/* SPDX-License-Identifier: MIT */
/* server_spawn - a command below a keeper of its own, and the descriptors that lead to it. */
#ifndef GBX_MCP_UPSTREAM_SERVER_SPAWN_H
#define GBX_MCP_UPSTREAM_SERVER_SPAWN_H

#include "base/fail.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct gbx_server_command {
    const char *program; /* found by the PATH of environment */
    char *const *args;   /* without the program itself; NULL at the end, or NULL */
    char *const *environment;
    const char *directory; /* NULL: ours */
    rlim_t descriptors;    /* the soft limit of how many it may have; 0: ours */
    bool is_plain;         /* without namespaces, even where there are */
} gbx_server_command;

/* All descriptors are non-blocking and close-on-exec. */
typedef struct gbx_spawned_command {
    pid_t pid;   /* the keeper's, a child of ours */
    int pidfd;   /* readable once everything is gone */
    int control; /* see keeper/keeper.h; closed, it is the end of everything */
    int input;   /* a socket: what is sent here the command reads */
    int output;
    int errors;
} gbx_spawned_command;

/*
 * Call it on a thread that lives as long as the servers do: the kernel takes that
 * thread's end for our own. That the command itself could not be executed is said by the
 * keeper, later.
 */
gbx_status gbx_server_command_spawn(const gbx_server_command *command,
                                    gbx_spawned_command *ret, gbx_error *reterr)
    GBX_MUST_USE;

#endif
