/* SPDX-License-Identifier: MIT */
/*
 * preloads - the host's own scripts on their way into the realm: taken from the control
 * channel, mapped, and run against a limit of processor time.
 *
 * In the template alone, between CONFIG and HELLO. The host is trusted, its scripts are
 * not expected to end: one that loops must be said to loop, by name.
 */
#ifndef GBX_WORKER_PRELOADS_H
#define GBX_WORKER_PRELOADS_H

#include "realm/realm.h"

typedef struct gbx_preloads {
    gbx_realm_preload items[GBX_PRELOADS_MAX]; /* their spans are mapped */
    size_t count;
} gbx_preloads;

/* Take count PRELOADs from the channel. False if it ends or brings anything else. */
bool gbx_preloads_read(gbx_preloads *preloads, int control, uint32_t count);

/* From now on the process's time is counted; when it is up, HELLO with a failure that
 * names the preload goes out, and the process ends. */
void gbx_preloads_watch(const gbx_preloads *preloads, int control);

/* The one at index is about to run. user is the gbx_preloads. */
void gbx_preloads_begin(void *user, size_t index);

/* All have run, or one has failed: stop counting. */
void gbx_preloads_unwatch(void);

/* hello->preload and its place, if one has failed. */
void gbx_preloads_report(const gbx_preloads *preloads, gbx_msg_hello *hello);

/* Give the mappings back: nothing in the realm needs them. */
void gbx_preloads_cleanup(gbx_preloads *preloads);

#endif
