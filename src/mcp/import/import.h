/* SPDX-License-Identifier: MIT */
/* import - the configurations of hosts: where they are, and what becomes of an entry. */
#ifndef GBX_MCP_IMPORT_IMPORT_H
#define GBX_MCP_IMPORT_IMPORT_H

#include "base/buf.h"
#include "base/fail.h"
#include "mcp/config/config.h"

#include <jansson.h>
#include <limits.h>

/* ---- hosts.c ------------------------------------------------------------- */

/*
 * The MCP hosts that we know: where their configurations are, and how each
 * writes what all of them mean.
 */

typedef enum gbx_host_kind {
    GBX_HOST_CLAUDE, /* Claude Desktop */
    GBX_HOST_CLAUDE_CODE,
    GBX_HOST_CURSOR,
    GBX_HOST_VSCODE,
    GBX_HOST_CODEX,
    GBX_HOST_COUNT,
} gbx_host_kind;

/* "claude-code"; the last is NULL: a table of choices. */
extern const char *const gbx_host_names[];
/* "Claude Code" */
const char *gbx_host_title(gbx_host_kind host);

#define GBX_HOST_KEYS_MAX   3
#define GBX_HOST_PLACES_MAX 4 /* of one host */

/* One place where a host may have servers. */
typedef struct gbx_host_place {
    gbx_host_kind host;
    char path[PATH_MAX];
    /* From the top to the servers, constant; NULL ends, and "*" is the folder. */
    const char *const *keys;
    char folder[PATH_MAX]; /* of its project, or "" */
    bool is_named;         /* named by a person, who thereby approves it */
} gbx_host_place;

/* All places of a host, existing or not, in the order in which the host looks; each
 * only once: in the home directory, the user's files do not also count as a project's.
 * Returns how many there are. */
size_t gbx_host_places(gbx_host_kind host, gbx_host_place places[GBX_HOST_PLACES_MAX]);

/* Are these paths of one file? A missing file equals only its own path. */
bool gbx_host_same_file(const char *a, const char *b);
/* The very same servers, by whichever path? */
bool gbx_host_same_place(const gbx_host_place *a, const gbx_host_place *b);

/* A place for any file: the host is recognized by the file's location, else by its
 * form. False if the file has no servers. */
bool gbx_host_place_of(const char *path, const json_t *root, bool is_toml,
                       gbx_host_place *ret);

/* A file of Claude Code: ".claude.json", or one of its folder. All of them are in
 * $CLAUDE_CONFIG_DIR if that is set. */
bool gbx_host_claude_file(const char *name, char path[PATH_MAX]);

/* The user's file of Codex. */
bool gbx_host_codex_file(char path[PATH_MAX]);

/* Our own file, if --config is not given: $XDG_CONFIG_HOME/glovebox/mcp.json. */
bool gbx_host_own_path(char path[PATH_MAX]);

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

/* ---- project_approval.c -------------------------------------------------- */

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

/* ---- host_entry.c -------------------------------------------------------- */

/*
 * Turns a host's server entries into ours.
 *
 * Nothing of an entry is lost: members that mean nothing to us are copied, too.
 */

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

/* ---- toml.c -------------------------------------------------------------- */

/* TOML text as values. json_decref() *ret. GBX_E_DATA with line and column. */
gbx_status gbx_toml_read(const char *text, size_t len, json_t **ret, gbx_error *reterr);

#endif
