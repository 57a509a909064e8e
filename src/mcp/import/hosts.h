/* SPDX-License-Identifier: MIT */
/*
 * hosts - the MCP hosts that we know: where their configurations are, and how each
 * writes what all of them mean.
 */
#ifndef GBX_MCP_IMPORT_HOSTS_H
#define GBX_MCP_IMPORT_HOSTS_H

#include "base/buf.h"
#include "base/fail.h"

#include <jansson.h>
#include <limits.h>

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

/* Does it replace "${...}" when it starts a server? */
bool gbx_host_fills(gbx_host_kind host);
#define GBX_HOST_KEYS_MAX 3

/* One place where a host may have servers. */
typedef struct gbx_host_place {
    gbx_host_kind host;
    char path[PATH_MAX];
    /* From the top to the servers; NULL ends. */
    char *keys[GBX_HOST_KEYS_MAX + 1];
    char folder[PATH_MAX]; /* of its project, or "" */
    bool is_named;         /* named by a person, who thereby approves it */
} gbx_host_place;

/* All places of a host, existing or not, in the order in which the host looks; each
 * only once: in the home directory, the user's files do not also count as a project's.
 * *ret_count is at most max. */
void gbx_host_places(gbx_host_kind host, gbx_host_place *places, size_t max,
                     size_t *ret_count);
void gbx_host_place_cleanup(gbx_host_place *place);

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

#endif
