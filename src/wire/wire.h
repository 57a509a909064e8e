/* SPDX-License-Identifier: MIT */
/* wire - how host and worker start, and how a frame is written. */
#ifndef GBX_WIRE_WIRE_H
#define GBX_WIRE_WIRE_H

#include "wire/messages.h"

#include <stdint.h>

/* ---- start --------------------------------------------------------------- */

/*
 * The contract of host and worker program before the first message: the control
 * socket's descriptor, the program's arguments, and the request to a zygote for a
 * template.
 */

#define GBX_CONTROL_FD 3

/* Indices of the program's arguments; numbers are decimal. */
enum {
    GBX_START_SERVE = 1,  /* "--serve" */
    GBX_START_VERSION,    /* GBX_WIRE_VERSION of the library */
    GBX_START_LAYERS_OFF, /* gbx_layer bits: namespaces not to make */
    GBX_START_IS_GROUPED, /* "1": this process is in its control group */
    GBX_START_UIDS, /* for a root host's template: uids to try in order; a single one is
                       required; "": stay */
    GBX_START_ARGS
};

/* A zygote's arguments: "--zygote", version, the most huge pages for the engine's
 * code. */
enum {
    GBX_ZYGOTE_SERVE = 1,
    GBX_ZYGOTE_VERSION,
    GBX_ZYGOTE_HUGE_PAGES,
    GBX_ZYGOTE_ARGS
};

/* One datagram to the zygote, with the descriptors of the template's control socket, its
 * error output and, if there is one, the directory of its control group. */
typedef struct gbx_zygote_request {
    uint32_t layers_off; /* as GBX_START_LAYERS_OFF */
    char uids[32];       /* as GBX_START_UIDS */
} gbx_zygote_request;

/* The answer, with the pidfd of the process if error is 0. A zygote reports that it is
 * ready by an answer without a pidfd, before any request. */
typedef struct gbx_zygote_answer {
    int32_t error; /* an errno */
    int32_t pid;
} gbx_zygote_answer;

#endif
