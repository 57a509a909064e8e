/* SPDX-License-Identifier: MIT */
/* import - the configurations of hosts: where they are, and what becomes of an entry. */
#ifndef GBX_MCP_IMPORT_IMPORT_H
#define GBX_MCP_IMPORT_IMPORT_H

#include "base/fail.h"
#include "mcp/config/config.h"

#include <glovebox/glovebox.h>
#include <jansson.h>
#include <limits.h>

/* ---- host_box.c ---------------------------------------------------------- */

/* The sealed process that reads the files of hosts: host_files.js runs in it. */
typedef struct gbx_host_box {
    gbx_engine *engine;
    gbx_trust trust; /* of all files that are read */
} gbx_host_box;

gbx_status gbx_host_box_open(gbx_host_box *box, gbx_trust trust, gbx_error *reterr);
void gbx_host_box_close(gbx_host_box *box);

/* Ask one of its functions; question is stolen, and *ret is a new reference.
 * GBX_E_DATA: it has no answer. */
gbx_status gbx_host_box_ask(gbx_host_box *box, const char *function, json_t *question,
                            json_t **ret, gbx_error *reterr);

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
bool gbx_host_place_of(const char *path, const json_t *root, gbx_host_place *ret);

/* A file of Claude Code: ".claude.json", or one of its folder. All of them are in
 * $CLAUDE_CONFIG_DIR if that is set. */
bool gbx_host_claude_file(const char *name, char path[PATH_MAX]);

/* The user's file of Codex. */
bool gbx_host_codex_file(char path[PATH_MAX]);

/* Our own file, if --config is not given: $XDG_CONFIG_HOME/glovebox/mcp.json. */
bool gbx_host_own_path(char path[PATH_MAX]);

/* Read a host's file: *ret has its members that matter here. A text of our own file, if
 * ret_text is not NULL: free() it. GBX_E_OS (os_errno ENOENT: it does not exist, EPERM:
 * it is not trusted), GBX_E_DATA with line and column. */
gbx_status gbx_host_file_read(gbx_host_box *box, const char *path, json_t **ret,
                              char **ret_text, gbx_error *reterr);

/* The servers at a place, borrowed; NULL if it has none. */
json_t *gbx_host_servers(const json_t *root, const gbx_host_place *place);

/* The inputs that the editor asks a person for, borrowed; NULL: none. */
json_t *gbx_host_inputs(const json_t *root, const gbx_host_place *place);

/* ---- project_approval.c -------------------------------------------------- */

/* A person's decisions about the servers of a place that are stored elsewhere. */
typedef struct gbx_host_answers {
    json_t *off;         /* disabled servers: name -> the file that says so */
    json_t *on;          /* approved servers, in the same form */
    json_t *permissions; /* files that deny tools of servers, or ask about them */
    bool all_on;         /* all others are approved, or need no approval */
} gbx_host_answers;

/* On failure path is the file that cannot be read. Clean up in any case. */
gbx_status gbx_host_answers_read(gbx_host_box *box, const gbx_host_place *place,
                                 gbx_host_answers *ret, char path[PATH_MAX],
                                 gbx_error *reterr);
void gbx_host_answers_cleanup(gbx_host_answers *answers);

/* ---- host_entry.c -------------------------------------------------------- */

/* Turn the servers at a place of root into ours. off: the files that disable servers, by
 * name. *ret is a list, in the order of the servers, of {"entry", "notes"}: no entry if it
 * cannot be taken, and what a person should know about it. */
gbx_status gbx_host_take(gbx_host_box *box, const gbx_host_place *place,
                         const json_t *root, json_t *off, json_t **ret,
                         gbx_error *reterr);

/* Does it start us? With that configuration? */
bool gbx_host_is_us(const json_t *entry);
bool gbx_host_is_us_with(const json_t *entry, const char *config);

#define GBX_HOST_NAME_SIZE (GBX_MCP_NAME_MAX + 1)

#endif
