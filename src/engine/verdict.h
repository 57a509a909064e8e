/* SPDX-License-Identifier: MIT */
/*
 * verdict - decides a call's code from evidence. Pure; all rules are here. Text from
 * the sandboxed code decides nothing.
 */
#ifndef GBX_ENGINE_VERDICT_H
#define GBX_ENGINE_VERDICT_H

#include "engine/exchange.h"

/* How the call ended. */
typedef enum gbx_end {
    GBX_END_SAID,      /* the worker sent its last message */
    GBX_END_BROKEN,    /* the worker broke the protocol */
    GBX_END_DEADLINE,  /* the wall clock ran out */
    GBX_END_CPU,       /* the processor time ran out */
    GBX_END_ABORT,     /* the caller aborted it */
    GBX_END_DIED,      /* the worker ended by itself; status says how */
    GBX_END_CLOSED,    /* the worker closed its channel but lived on: killed */
    GBX_END_LOST,      /* the worker's end is unknown: its template died, or is late */
    GBX_END_NO_WORKER, /* none was available */
    GBX_END_QUEUE_FULL,
    GBX_END_GONE, /* the worker's machine, or the way to it: the call may have run */
} gbx_end;

/* What the kernel reports about a process that it may have killed. */
typedef enum gbx_shortage {
    GBX_SHORTAGE_NONE,    /* no sign of a shortage */
    GBX_SHORTAGE_GROUP,   /* the engine's processes together used too much */
    GBX_SHORTAGE_MACHINE, /* the machine, or our container, was out of memory */
} gbx_shortage;

typedef struct gbx_evidence {
    gbx_end end;
    const gbx_exchange *exchange; /* NULL if there was never a worker */
    const gbx_limits *limits;
    int wait_status;       /* with DIED */
    uint64_t growth_bytes; /* growth of resident memory since READY */
    double cpu_ms;
    uint64_t input_bytes;
    gbx_shortage shortage; /* with DIED, LOST: when the worker or its template ended */
    uint64_t group_bytes;  /* memory limit for all processes of the engine together */
    bool is_late;          /* with NO_WORKER: the time limit has passed */
    const char *machine;   /* with GONE, or NO_WORKER of a lease; NULL: this one */
    const char *lack; /* with NO_WORKER: why none could be made; NULL: unknown. With
                         BROKEN and no exchange: what the worker did before READY. With
                         GONE: what is known, or "" */
} gbx_evidence;

typedef struct gbx_verdict {
    gbx_code code;
    char message[320]; /* "": the thrown error is the message */
    const char *hint;  /* constant, may be "" */
} gbx_verdict;

void gbx_verdict_decide(const gbx_evidence *e, gbx_verdict *v);

#endif
