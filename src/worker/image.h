/* SPDX-License-Identifier: MIT */
/*
 * image - the libraries that forks inherit, made cheap to inherit.
 *
 * A fork copies every mapping of the template and its end takes every one apart. A
 * matter of speed: where something here cannot be done, workers are slower and nothing
 * else.
 *
 * In the template, single-threaded, while there is a /proc.
 */
#ifndef GBX_WORKER_IMAGE_H
#define GBX_WORKER_IMAGE_H

#include <stdint.h>

/* What forks lack of what the template maps. */
typedef struct gbx_image_gap {
    uint64_t total_bytes;
    uint64_t data_bytes; /* of them private and writable */
} gbx_image_gap;

/* Leave out of every fork the libraries that the engine's library is linked with for
 * other programs' sake. */
gbx_image_gap gbx_image_leave_out(void);

#endif
