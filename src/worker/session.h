/* SPDX-License-Identifier: MIT */
/* session - the life of one worker, from its fork to its one result. */
#ifndef GBX_WORKER_SESSION_H
#define GBX_WORKER_SESSION_H

#include "realm/realm.h"
#include "seal/seal.h"

/* Seal this process, say READY, serve one CALL. Ends the process. */
_Noreturn void gbx_session_run(gbx_realm *realm, const gbx_seal *seal, int channel,
                               uint32_t capabilities);

#endif
