/* SPDX-License-Identifier: MIT */
/*
 * attack_mode - assume breach: let sealed processes of the real worker program attack their
 * own seal, with any set of layers left out. No code of a call is ever in them.
 *
 * A session is one template started in attack mode. Not thread-safe.
 */
#ifndef GBX_ENGINE_ATTACK_MODE_H
#define GBX_ENGINE_ATTACK_MODE_H

#include "engine/spawn.h"

typedef struct gbx_attack_session gbx_attack_session;

typedef enum gbx_attack_outcome {
    GBX_ATTACK_KILLED,    /* by the filter: SIGSYS */
    GBX_ATTACK_REFUSED,   /* the kernel said no, or answered without doing anything */
    GBX_ATTACK_SUCCEEDED, /* a breach */
    GBX_ATTACK_DIED,    /* of another signal, see detail: the attack came to nothing */
    GBX_ATTACK_UNKNOWN, /* no answer, or the process could not be made */
} gbx_attack_outcome;

/* Start a template without the layers of layers_off (bits of seal/layers.h). */
gbx_status gbx_attack_open(const char *worker_path, gbx_jit jit, uint32_t layers_off,
                           gbx_attack_session **ret, gbx_error *reterr);

/* Which layers do stand there, as bits. */
uint32_t gbx_attack_layers(const gbx_attack_session *session);

/* Fork a process, seal it, let it try attack number index of worker/attack_table.h.
 * *ret_detail is the exit status or the signal. */
gbx_attack_outcome gbx_attack_try(gbx_attack_session *session, uint32_t index,
                                  int *ret_detail);

/* What the last attack said of itself, in printable ASCII; "" if it was killed. */
const char *gbx_attack_note(const gbx_attack_session *session);

void gbx_attack_close(gbx_attack_session *session);

#endif
