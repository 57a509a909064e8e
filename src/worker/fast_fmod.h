/* SPDX-License-Identifier: MIT */
/*
 * fast_fmod - JavaScript's % of numbers that are not both small integers.
 *
 * The engine asks fmod() of the C library for it, which until its version 2.38 divides bit
 * by bit: some 60 ns where the code around it takes one. The program answers fmod() itself.
 */
#ifndef GBX_WORKER_FAST_FMOD_H
#define GBX_WORKER_FAST_FMOD_H

/* What is left of x divided by y, with the sign of x and without rounding; NaN if either
 * is, if x is infinite, if y is zero. */
double gbx_modulo(double x, double y);

#endif
