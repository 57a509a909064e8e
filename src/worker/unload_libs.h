/* SPDX-License-Identifier: MIT */
/*
 * unload_libs - the libraries that forks inherit, made cheap to inherit.
 *
 * A fork copies every mapping of the template and its end takes every one apart. A
 * matter of speed: where something here cannot be done, workers are slower and nothing
 * else.
 *
 * In the template, single-threaded, while there is a /proc.
 */
#ifndef GBX_WORKER_UNLOAD_LIBS_H
#define GBX_WORKER_UNLOAD_LIBS_H

/* Unmap the libraries that the engine's library is linked with for other programs' sake.
 * What the loader knows of them stays: from here on nothing may be searched for by name,
 * and the process ends by _exit(), since their own ends can no longer be run. */
void gbx_libs_drop_libraries(void);

/* Make the constants of a library, before and behind its code in one file, one mapping with
 * it. They become executable by that, and nothing becomes writable. Only where the engine has
 * memory for compiled code, which is both: whoever could jump to them has that to jump to. */
void gbx_libs_join(void);

#endif
