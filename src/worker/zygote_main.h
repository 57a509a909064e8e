/* SPDX-License-Identifier: MIT */
/*
 * zygote_main - the engine and a warm realm, made once for all engines of a host process: each
 * template is a fork of this process.
 *
 * It has the host's identity and nothing of an engine: no policy, preload, dataset or
 * code. Its control socket brings one datagram for each template (wire/start.h), with the
 * descriptors that an executed program would have got. The fork is a child of the host,
 * and launches itself as an executed program does (launch.h).
 */
#ifndef GBX_WORKER_ZYGOTE_MAIN_H
#define GBX_WORKER_ZYGOTE_MAIN_H

#include "realm/realm.h"

/* What a template finds made. */
typedef struct gbx_prepared {
    gbx_realm *realm; /* begun and warm */
    char time_zones[64];
} gbx_prepared;

/* ---- what an executed template does itself --------------------------------------- */

/* NULL with a reason. time_zones becomes their version. */
gbx_realm *gbx_zygote_begin(char time_zones[static 64], const char **ret_reason);

/* The program begins with all signals blocked. Requests to end, which a terminal or a
 * service manager sends to every process of the host, stay blocked here and in all that is
 * forked: the host decides what becomes of a call, and ends it by SIGKILL. Signals that stop
 * stay as they are: host and workers then stop, and go on, together. */
void gbx_zygote_block_requests(void);

/* The engine handles faults of its own compiled code, which it does not need as we run
 * it. In a worker a handler could not return: a fault must end the process, at once
 * and as what it is. */
void gbx_zygote_forget_handlers(void);

/* Little to copy, little to fault in, little to take apart: for this process is about
 * to be forked many times. */
void gbx_zygote_make_light(gbx_realm *realm, size_t huge_pages);

/* ---- the process ------------------------------------------------------------------ */

/* argv as the host gives it (wire/start.h). Returns the exit status of the process: of the
 * zygote when its socket closes, of a template in a fork. */
int gbx_zygote_serve(char **argv, int argc);

#endif
