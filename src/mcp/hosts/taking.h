/* SPDX-License-Identifier: MIT */
/* taking - what the files that take an entry of a host over share. */
#ifndef GBX_MCP_HOSTS_TAKING_H
#define GBX_MCP_HOSTS_TAKING_H

#include "mcp/hosts/take.h"

/* An entry while it is taken. */
typedef struct gbx_taking {
    const gbx_host_place *place;
    const json_t *inputs; /* what the editor asks for, or NULL */
    gbx_host_note_fn note;
    void *user;
} gbx_taking;

/* A note; format has one "%s". */
void gbx_taking_say(const gbx_taking *t, const char *format, const char *what);

/* Every string below value means to us what it means to its host. */
void gbx_taking_texts(const gbx_taking *t, json_t *value);

#endif
