/* SPDX-License-Identifier: MIT */
/*
 * keeper - the protocol with glovebox-keeper, the small program that starts one
 * upstream server and ensures that no process of it outlives us.
 *
 *     glovebox-keeper best|plain DESCRIPTORS DIRECTORY COMMAND [ARGUMENT...]
 *
 * DESCRIPTORS is the soft limit of descriptors for the command, 0 for the keeper's own
 * limit. Descriptors 0 to 2 become the command's. On GBX_KEEPER_FD, a socket of ordered
 * datagrams, the keeper reports and gets orders. Once our end of it is closed, for
 * whatever reason, the keeper kills everything that the command has started.
 */
#ifndef GBX_MCP_UPSTREAM_KEEPER_KEEPER_H
#define GBX_MCP_UPSTREAM_KEEPER_KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#define GBX_KEEPER_FD 3

/* With namespaces if they are available, or without. */
#define GBX_KEEPER_BEST  "best"
#define GBX_KEEPER_PLAIN "plain"

/* What we send: one byte. */
#define GBX_KEEPER_TERMINATE 'T' /* SIGTERM for all of them */
#define GBX_KEEPER_KILL      'K'

typedef enum gbx_keeper_said {
    GBX_KEEPER_CONTAINED,    /* value: gbx_containment */
    GBX_KEEPER_NO_DIRECTORY, /* value: errno */
    GBX_KEEPER_NO_COMMAND,   /* value: errno */
    GBX_KEEPER_ENDED,        /* value: the command's status, as of waitpid() */
} gbx_keeper_said;

typedef struct gbx_keeper_report {
    uint32_t said;
    int32_t value;
} gbx_keeper_report;

/* How the processes of a server are contained. */
typedef enum gbx_containment {
    GBX_CONTAIN_UNKNOWN,
    GBX_CONTAIN_PID_NS,      /* a pid namespace with its own /proc */
    GBX_CONTAIN_PID_NS_ONLY, /* a pid namespace; /proc is the host's */
    GBX_CONTAIN_SUBREAPER,   /* no namespace: found by descent, killed one by one */
} gbx_containment;

#endif
