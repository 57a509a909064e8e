/* SPDX-License-Identifier: MIT */
/*
 * host_entry - turns a host's server entries into ours.
 *
 * Nothing of an entry is lost: members that mean nothing to us are copied, too.
 */
#ifndef GBX_MCP_IMPORT_HOST_ENTRY_H
#define GBX_MCP_IMPORT_HOST_ENTRY_H

#include "mcp/config/config.h"
#include "mcp/import/hosts.h"

/* A host's file that was read. */
typedef struct gbx_host_file_text {
    char *text;
    size_t len;
    bool is_toml;
    json_t *root;
} gbx_host_file_text;

/* GBX_E_OS (os_errno ENOENT: it does not exist, EPERM: it is not trusted), GBX_E_DATA
 * with line and column. */
gbx_status gbx_host_file_read(const char *path, gbx_trust trust,
                              gbx_host_file_text *ret, gbx_error *reterr);
void gbx_host_file_cleanup(gbx_host_file_text *file);

/* The servers at a place, borrowed; NULL if it has none. */
const json_t *gbx_host_servers(const gbx_host_file_text *file,
                               const gbx_host_place *place);

/* The inputs that the editor asks a person for, borrowed; NULL: none. */
const json_t *gbx_host_inputs(const gbx_host_file_text *file,
                              const gbx_host_place *place);

/* Numbers in env and headers become strings, exactly as written. */
void gbx_host_keep_numbers(gbx_host_file_text *file, const gbx_host_place *place);

/* A person's decisions about the servers of a place that are stored elsewhere. */
typedef struct gbx_host_answers {
    json_t *off;         /* disabled servers: name -> the file that says so */
    json_t *on;          /* approved servers, in the same form */
    json_t *permissions; /* files that deny tools of servers, or ask about them */
    bool all_on;         /* all others are approved, or need no approval */
} gbx_host_answers;

/* On failure path is the file that cannot be read. Clean up in any case. */
gbx_status gbx_host_answers_read(const gbx_host_place *place, gbx_trust trust,
                                 gbx_host_answers *ret, char path[PATH_MAX],
                                 gbx_error *reterr);
void gbx_host_answers_cleanup(gbx_host_answers *answers);

/* Receives what a person should know about an imported server. */
typedef void (*gbx_host_note_fn)(void *user, const char *note);

/* An entry of that host as ours: json_decref() it. inputs: of its file, or NULL.
 * off_by: the file that disables it, or NULL. NULL: it cannot be imported, and a
 * note has said why. Another note reports each part that works there and will
 * not work here. */
json_t *gbx_host_take(const gbx_host_place *place, const json_t *inputs,
                      const json_t *entry, const char *off_by, gbx_host_note_fn note,
                      void *user);

/* Does it start us? With that configuration? */
bool gbx_host_is_us(const json_t *entry);
bool gbx_host_is_us_with(const json_t *entry, const char *config);

#define GBX_HOST_NAME_SIZE (GBX_MCP_NAME_MAX + 1)

#endif
