/* SPDX-License-Identifier: MIT */
/*
 * launch - from the exec of this program to the process that becomes the template.
 *
 * The host executes this program with the host's own identity and nothing else of its:
 * identity and namespaces are taken here, in an image that never held the host's memory.
 *
 *   1. A helper process makes a user namespace. This process writes its id maps, a root
 *      host's to a user that is not root's, and enters it. If it fails, this process is as
 *      it was and goes on without.
 *   2. This process makes the other namespaces.
 *   3. It forks the template, pid 1 of the new pid namespace and a child of the host.
 *   4. The template opens what only the old identity may, then takes the new one.
 *
 * Single-threaded, before the engine is started.
 */
#ifndef GBX_WORKER_LAUNCH_H
#define GBX_WORKER_LAUNCH_H

#include "seal/seal.h"

typedef struct gbx_launch {
    uint32_t layers_off; /* gbx_layer bits that were not to be made */
    uint32_t made; /* gbx_layer bits of the namespaces, and of the control group */
    gbx_identity identity; /* taken already if there is a user namespace */
} gbx_launch;

/* argv as the host gives it (wire/start.h). Returns in the template; what fails is said on
 * the error output and ends the process. */
void gbx_launch_template(char **argv, int argc, gbx_launch *ret);

/* The same in a fork of the zygote, which has no arguments. */
void gbx_launch_fork(uint32_t layers_off, bool is_grouped, const char *uids,
                     gbx_launch *ret);

/* Ends the process if the library is of another version. */
void gbx_launch_check_version(char **argv, int argc, int index, int count);

#endif
