/* SPDX-License-Identifier: MIT */
/* host_entry_reader - what the files that take an entry of a host over share. */
#ifndef GBX_MCP_IMPORT_HOST_ENTRY_READER_H
#define GBX_MCP_IMPORT_HOST_ENTRY_READER_H

#include "mcp/import/host_entry.h"

/* An entry while it is taken. */
typedef struct gbx_host_entry_reader {
    const gbx_host_place *place;
    const json_t *inputs; /* what the editor asks for, or NULL */
    gbx_host_note_fn note;
    void *user;
} gbx_host_entry_reader;

/* A note; format has one "%s". */
void gbx_host_entry_say(const gbx_host_entry_reader *t, const char *format,
                        const char *what);

/* Every string below value means to us what it means to its host. */
void gbx_host_entry_texts(const gbx_host_entry_reader *t, json_t *value);

#endif
