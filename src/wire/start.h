/* SPDX-License-Identifier: MIT */
/*
 * start - what host and worker program agree on before the first message: where the
 * control socket is, and the program's arguments.
 */
#ifndef GBX_WIRE_START_H
#define GBX_WIRE_START_H

#define GBX_CONTROL_FD 3

/* Indices of the program's arguments; numbers are decimal. */
enum {
    GBX_START_SERVE = 1,  /* "--serve" */
    GBX_START_VERSION,    /* GBX_WIRE_VERSION of the library */
    GBX_START_LAYERS_OFF, /* gbx_layer bits: namespaces that are not to be made */
    GBX_START_IS_GROUPED, /* "1": this process is in its control group */
    GBX_START_UIDS, /* for a root host's template: the first of these that can be had; one
                       alone must be had; "": stay */
    GBX_START_ARGS
};

#endif
