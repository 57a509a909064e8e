/* SPDX-License-Identifier: MIT */
/*
 * stack - the engine takes every word on the stack for a reference to what lies where it
 * points, and never frees that. Functions that have returned, the loader's above all, leave
 * words there that point to nothing, until a large array of a call is put in that place.
 */
#ifndef GBX_WORKER_STACK_H
#define GBX_WORKER_STACK_H

/* Forget what functions that the caller has called have left: 32 KiB. */
void gbx_stack_clear(void);

#endif
