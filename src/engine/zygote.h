/* SPDX-License-Identifier: MIT */
/*
 * zygote - one process of this host from which templates are forked, in a tenth of the
 * time that it takes to execute the program and to warm its engine.
 *
 * It is started when a second template is wanted within ten seconds, and ended when none
 * was for as long. It is replaced when it has ended, does not answer, is old, or was
 * started for another program, JIT level, user or other limits. The thread that starts it
 * lives as long as this process: the death signal of a template follows that thread. Any
 * thread may ask.
 */
#ifndef GBX_ENGINE_ZYGOTE_H
#define GBX_ENGINE_ZYGOTE_H

#include "engine/spawn.h"

/* A template, as gbx_spawn() gives it. Waits for a zygote that is starting. False: there
 * is none to fork it from, execute the program. */
bool gbx_zygote_spawn(const gbx_spawn_options *options, gbx_spawned *ret);

#endif
