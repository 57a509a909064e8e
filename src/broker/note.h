/* SPDX-License-Identifier: MIT */
/*
 * note - what the log will say of a request beside its answer: what it was aimed at.
 *
 * Made when a request comes, if somebody listens; filled by the capability that serves
 * it; freed when it is written. Texts are cut, and hostile.
 */
#ifndef GBX_BROKER_NOTE_H
#define GBX_BROKER_NOTE_H

#include "wire/messages.h"

#include <stdbool.h>

typedef struct gbx_note {
    char function[GBX_NAME_MAX]; /* what was asked for, if the host has no such */
    char target[512]; /* fetch: the URL without query and user; a file: its path */
} gbx_note;

/* A request as the host keeps it until it is answered, and until that is logged. */
typedef struct gbx_asked {
    const char *name; /* lives as long as the engine; "": there is no such function */
    bool is_ours;     /* a capability, or nothing: not a function of the embedder's */
    gbx_note *note;   /* owned; NULL: nobody listens */
    uint64_t bytes_out;
    int64_t start_ns;
} gbx_asked;

/* NULL if memory is out. name is asked->name. */
gbx_note *gbx_note_new(const char *name, const gbx_msg_hostcall *msg);
void gbx_note_free(gbx_note *note);

#endif
