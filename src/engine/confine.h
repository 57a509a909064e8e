/* SPDX-License-Identifier: MIT */
/*
 * confine - one control group for everything that an engine starts. Each worker has
 * limits of its own; these are for the sum, and for what is counted for no process.
 */
#ifndef GBX_ENGINE_CONFINE_H
#define GBX_ENGINE_CONFINE_H

#include "base/fail.h"
#include "engine/verdict.h"

#include <stdbool.h>
#include <stdint.h>

/* Before the first template. Fails only if the options ask for a limit on the sum and
 * it cannot be had; otherwise the report says why there is no group. */
gbx_status gbx_confine_open(gbx_engine *engine, gbx_error *reterr);

/* The datasets have changed: templates may weigh what they weigh now. The engine's lock
 * is held, or nobody else has the engine yet. */
void gbx_confine_weigh(gbx_engine *engine);

/* The most memory for the engine's datasets and options; pure. */
uint64_t gbx_confine_memory(const gbx_options *options, uint64_t dataset_bytes);

/* Kills for want of memory, on the whole machine. Those from before an engine looked say
 * nothing of its processes. */
typedef struct gbx_kills {
    uint64_t before; /* so many there were at the look before the last */
    uint64_t latest;
    int64_t looked_ns; /* 0: never */
} gbx_kills;

void gbx_kills_look(gbx_kills *kills, uint64_t count, int64_t now_ns);

/* True once for each that is new since then. */
bool gbx_kills_take(gbx_kills *kills, uint64_t count);

/* At every tick; supervisor thread only. */
void gbx_confine_tick(gbx_engine *engine);

/* A process of the engine was killed, and not by us: was it the kernel, for want of
 * memory? Once for each; supervisor thread only. */
gbx_shortage gbx_confine_shortage(gbx_engine *engine);

/* When the last process has ended. */
void gbx_confine_close(gbx_engine *engine);

#endif
