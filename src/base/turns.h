/* SPDX-License-Identifier: MIT */
/*
 * turns - how long this thread, and what it starts, runs before others have their turn.
 *
 * A thread that has little to do and is waited for should not stand behind one that has
 * much: Linux from 6.12 lets the one with shorter turns go first when it wakes. Neither gets
 * more of the processor by it. Kernels before that take no notice.
 */
#ifndef GBX_BASE_TURNS_H
#define GBX_BASE_TURNS_H

void gbx_turns_make_short(void);
void gbx_turns_make_usual(void);

#endif
