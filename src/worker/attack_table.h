/* SPDX-License-Identifier: MIT */
/*
 * attack_table - what a worker that was broken into would try, one line each.
 *
 * The table is shared: the worker program has the code (attack_*.c), the host has the
 * words (attack_names.c). The index of a line is its number in gbx_msg_attack.
 *
 * An attack judges by effect (a byte was read, code ran, a descriptor came back), not
 * by a return value alone: some calls are answered without being done. It never does
 * harm where it succeeds, since it is also run with no layer at all: signals are 0,
 * dangerous calls are given arguments that fail right after the permission check.
 */
#ifndef GBX_WORKER_ATTACK_TABLE_H
#define GBX_WORKER_ATTACK_TABLE_H

#include "worker/attack_map.h"

#include <stddef.h>
#include <stdint.h>

/* From here on an index is a system call's number plus this: the sweep. */
#define GBX_ATTACK_SWEEP 100000u

/* Exit statuses of an attacking process; any other says that it became something
 * else, which is a breach. A signal says that it came to nothing. */
enum {
    GBX_ATTACK_EXIT_REFUSED = 0,
    GBX_ATTACK_EXIT_BREACH = 1,
    GBX_ATTACK_EXIT_ABSENT = 2, /* this machine has no such thing to attack */
};

/* Bytes of the one line that an attack leaves on its channel, at most. */
#define GBX_ATTACK_NOTE_SIZE 96

/* What the sweep leaves: "returned VALUE" for a call that came back. A process that
 * ended by the call itself has the exit status of the sweep's argument. */
#define GBX_ATTACK_SWEEP_STATUS 77

typedef struct gbx_attack_info {
    const char *id;    /* as in the threat model */
    const char *topic; /* files, programs, processes, memory, network, kernel, ... */
    const char *name;
    uint32_t layers;  /* each of them stops it alone, where it stands */
    const char *note; /* why there are fewer than two, or "" */
} gbx_attack_info;

/* What an attack looks for on the host's side; see worker.h. */
#define GBX_ATTACK_VICTIM_NAME "glovebox.attack"
#define GBX_ATTACK_VICTIM_KEY  0x67627861

size_t gbx_attack_count(void);

/* NULL past the end. */
const gbx_attack_info *gbx_attack_info_get(size_t index);

/* The layer without which this one, alone, does not stand or does not hold, as a bit;
 * 0 if there is none. What the two stop and that one does not is the layer's own. */
uint32_t gbx_attack_companion(size_t layer);

#endif
