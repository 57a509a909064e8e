/* SPDX-License-Identifier: MIT */
/* serve_call - the life of one worker, from its fork to its one result. */
#ifndef GBX_WORKER_SERVE_CALL_H
#define GBX_WORKER_SERVE_CALL_H

#include "realm/realm.h"
#include "seal/seal.h"

typedef enum gbx_session_proof {
    GBX_SESSION_PROVES, /* run something first: the true call finds its pages touched */
    GBX_SESSION_HURRIES, /* a call is waiting: READY as soon as sealed */
} gbx_session_proof;

/* Seal this process, say READY, serve one CALL. Ends the process. */
_Noreturn void gbx_session_run(gbx_realm *realm, const gbx_seal *seal, int channel,
                               gbx_session_proof proof);

#endif
