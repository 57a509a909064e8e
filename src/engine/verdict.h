/* SPDX-License-Identifier: MIT */
/*
 * verdict - from what was seen to a code. Pure: every rule of "who decides" is here,
 * and text that the code in the box wrote decides nothing.
 */
#ifndef GBX_ENGINE_VERDICT_H
#define GBX_ENGINE_VERDICT_H

#include "engine/exchange.h"

/* How the host came to end the call. */
typedef enum gbx_end {
    GBX_END_SAID,      /* the worker sent its last message */
    GBX_END_BROKEN,    /* the worker broke the protocol */
    GBX_END_DEADLINE,  /* the wall clock ran out */
    GBX_END_CPU,       /* the processor time ran out */
    GBX_END_ABORT,     /* the caller asked */
    GBX_END_DIED,      /* the worker ended by itself; status tells how */
    GBX_END_CLOSED,    /* the worker closed its channel and lived on: killed */
    GBX_END_LOST,      /* the worker is gone and nobody knows how: its template died */
    GBX_END_NO_WORKER, /* none could be had */
    GBX_END_QUEUE_FULL,
    GBX_END_REPLAYED, /* a replay has heard enough, and says itself what that means */
} gbx_end;

/* What the kernel says of a process that it may have killed. */
typedef enum gbx_shortage {
    GBX_SHORTAGE_NONE,    /* nothing of want of memory */
    GBX_SHORTAGE_GROUP,   /* all of the engine's processes together had too much */
    GBX_SHORTAGE_MACHINE, /* the machine, or the container around us, had none left */
} gbx_shortage;

typedef struct gbx_evidence {
    gbx_end end;
    const gbx_exchange *exchange; /* NULL if no worker was had */
    const gbx_limits *limits;
    int wait_status;       /* with DIED */
    uint64_t growth_bytes; /* resident memory over what it was at READY */
    double cpu_ms;
    uint64_t input_bytes;
    gbx_shortage shortage; /* with DIED, LOST: when the worker or its template ended */
    uint64_t group_bytes;  /* what the engine's processes may have together */
    bool is_late;          /* with NO_WORKER: all of the time has passed */
    const char *lack; /* with NO_WORKER: why none could be made; NULL: unknown. With
                         BROKEN and no exchange: what the worker did before READY */
} gbx_evidence;

typedef struct gbx_verdict {
    gbx_code code;
    char message[320]; /* "" : what was thrown is the message */
    const char *hint;  /* constant, may be "" */
} gbx_verdict;

void gbx_verdict_decide(const gbx_evidence *e, gbx_verdict *v);

#endif
