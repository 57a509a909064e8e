/* SPDX-License-Identifier: MIT */
/*
 * confine - one control group for every process that an engine starts. Each worker has
 * limits of its own; the group limits their sum, and what no process is charged for.
 */
#ifndef GBX_ENGINE_CONFINE_H
#define GBX_ENGINE_CONFINE_H

#include "base/fail.h"
#include "engine/verdict.h"

#include <stdbool.h>
#include <stdint.h>

/* Call before the first template. Fails only if the options limit the sum and that
 * is not possible; otherwise the report says why the group is missing. */
gbx_status gbx_confine_open(gbx_engine *engine, gbx_error *reterr);

/* Call when the datasets have changed: sets the limit to what templates may now
 * need. The engine's lock is held, or nobody else has the engine yet. */
void gbx_confine_weigh(gbx_engine *engine);

/* The largest memory need for the engine's datasets and options; pure. */
uint64_t gbx_confine_memory(const gbx_options *options, uint64_t dataset_bytes);

/* Out-of-memory kills on the whole machine. Kills from before the engine looked are
 * not its own. */
typedef struct gbx_kills {
    uint64_t before; /* count at the look before the last */
    uint64_t latest;
    int64_t looked_ns; /* 0: never */
} gbx_kills;

void gbx_kills_look(gbx_kills *kills, uint64_t count, int64_t now_ns);

/* True once for each kill that is new since then. */
bool gbx_kills_take(gbx_kills *kills, uint64_t count);

/* At every tick; supervisor thread only. */
void gbx_confine_tick(gbx_engine *engine);

/* A process of the engine was killed, but not by us: was it the kernel, because
 * memory was out? Once for each kill; supervisor thread only. */
gbx_shortage gbx_confine_shortage(gbx_engine *engine);

/* When the last process has ended. */
void gbx_confine_close(gbx_engine *engine);

#endif
