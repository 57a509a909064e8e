/* SPDX-License-Identifier: MIT */
/*
 * attack - assume breach: a process sealed as a worker turns on its seal.
 *
 * Only the attack mode of the worker program calls it, and no worker that serves calls
 * is ever started in that mode.
 */
#ifndef GBX_WORKER_ATTACK_H
#define GBX_WORKER_ATTACK_H

#include "worker/attack_table.h"

/* Try attack number index, or with GBX_ATTACK_SWEEP + N system call N; leave a line on
 * the channel and end the process with a GBX_ATTACK_EXIT status. */
_Noreturn void gbx_attack_run(uint32_t index);

#endif
