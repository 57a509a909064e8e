/* SPDX-License-Identifier: MIT */
/*
 * seal - what the kernel will refuse, in the order in which it can be asked.
 *
 * Three steps, none of which can be undone:
 *   1. the host's spawn has made the namespaces and mapped the ids before exec;
 *   2. gbx_seal_template(), once the engine, the realm and their files are loaded:
 *      empty read-only root, no capabilities, no_new_privs, landlock, MDWE, not
 *      dumpable, the limits that all workers share. Forks inherit all of it;
 *   3. gbx_seal_worker(), in each fork: every descriptor closed but the channel,
 *      memory and processor limits from the size of this very process, seccomp last.
 *
 * Nothing here allocates after the fork, and a step that fails is reported, never
 * skipped silently; the caller decides by what is required. One thread only.
 */
#ifndef GBX_SEAL_SEAL_H
#define GBX_SEAL_SEAL_H

#include "seal/layers.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the worker's only descriptor is after gbx_seal_worker(). */
#define GBX_CHANNEL_FD 3

typedef struct gbx_layer_state {
    bool stands;
    char reason[160]; /* why not and what would bring it; "" if it stands */
} gbx_layer_state;

typedef struct gbx_seal {
    uint32_t layers_off;          /* bits left out: attack mode and test builds only */
    uint64_t memory_bytes;        /* most growth of data that any call may have */
    uint32_t cpu_s;               /* RLIMIT_CPU */
    gbx_layer_state layers[GBX_LAYER_COUNT];
    uint32_t landlock_abi;        /* 0: none */
    struct sock_filter *filter;   /* compiled once by libseccomp, installed as bytes */
    unsigned short filter_len;    /* instructions */
} gbx_seal;

/* Before the engine starts: what spawn established (namespaces are compared with the
 * ones the host had, handed over in host_ns_mask as the bits that spawn asked for),
 * and the filter compiled. */
void gbx_seal_init(gbx_seal *seal, uint32_t layers_off, uint32_t host_ns_mask,
                   uint64_t memory_bytes, uint32_t cpu_s);

/* Step 2. Fills seal->layers for what it does. */
void gbx_seal_template(gbx_seal *seal);

/* Step 3, in the child. channel is moved to GBX_CHANNEL_FD. False if a required
 * layer failed: the caller must exit without reading anything. */
bool gbx_seal_worker(const gbx_seal *seal, int channel);

void gbx_seal_cleanup(gbx_seal *seal);

#endif
