/* SPDX-License-Identifier: MIT */
/*
 * attack_table - what a compromised worker would try, one line each.
 *
 * The table is shared: the worker program has the code (attack_*.c), the host has the
 * texts (attack_table.c). The index of a line is its number in gbx_msg_attack.
 *
 * An attack judges by effect (a byte was read, code ran, a descriptor came back), not
 * by a return value alone: some calls are answered without being executed. It never
 * does harm if it succeeds, since it also runs without any layer: signals are 0, and
 * dangerous calls get arguments that fail right after the permission check.
 */
#ifndef GBX_WORKER_ATTACK_TABLE_H
#define GBX_WORKER_ATTACK_TABLE_H

#include "worker/attack_map.h"

#include <stddef.h>
#include <stdint.h>

/* Indexes from here on are a system call's number plus this: the sweep. */
#define GBX_ATTACK_SWEEP 100000u

/* Exit statuses of an attacking process. Any other means that it became another
 * program, which is a breach. A signal means that the attack failed. */
enum {
    GBX_ATTACK_EXIT_REFUSED = 0,
    GBX_ATTACK_EXIT_BREACH = 1,
    GBX_ATTACK_EXIT_ABSENT = 2, /* this machine lacks the target */
};

/* Maximum length of the one line that an attack leaves on its channel. */
#define GBX_ATTACK_NOTE_SIZE 96

/* The sweep's note: "returned VALUE" for a call that returned. If the call itself
 * ended the process, the exit status is the sweep's argument. */
#define GBX_ATTACK_SWEEP_STATUS 77

typedef struct gbx_attack_info {
    const char *id;    /* as in the threat model */
    const char *topic; /* files, programs, processes, memory, network, kernel, ... */
    const char *name;
    uint32_t layers;  /* each of them alone stops it, while in effect */
    const char *note; /* why there are fewer than two, or "" */
} gbx_attack_info;

/* Targets of attacks on the host's side; see worker.h. */
#define GBX_ATTACK_VICTIM_NAME "glovebox.attack"
#define GBX_ATTACK_VICTIM_KEY  0x67627861

size_t gbx_attack_count(void);

/* NULL past the end. */
const gbx_attack_info *gbx_attack_info_get(size_t index);

/* The layer that this one needs to be in effect, or to be effective, as a bit; 0 if
 * it needs none. What both together stop and that one alone does not, counts for
 * this layer. */
uint32_t gbx_attack_companion(size_t layer);

#endif
