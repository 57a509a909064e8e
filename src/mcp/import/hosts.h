/* SPDX-License-Identifier: MIT */
/*
 * hosts - the MCP hosts that are known here: where their configurations lie, and how each
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

/* Does it fill in "${...}" in how it starts a server? */
bool gbx_host_fills(gbx_host_kind host);
#define GBX_HOST_KEYS_MAX 3

/* One place where a host may have servers. */
typedef struct gbx_host_place {
    gbx_host_kind host;
    char path[PATH_MAX];
    /* From the top to the servers; NULL ends. */
    char *keys[GBX_HOST_KEYS_MAX + 1];
    char folder[PATH_MAX]; /* of the project that it is of, or "" */
    bool is_named;         /* by a person, who then has approved what it has */
} gbx_host_place;

/* Every place of a host, there or not, in the order in which the host itself would look,
 * each once: in the home directory the user's files are no project's. *ret_count of at
 * most max. */
void gbx_host_places(gbx_host_kind host, gbx_host_place *places, size_t max,
                     size_t *ret_count);
void gbx_host_place_cleanup(gbx_host_place *place);

/* Are these paths of one file? Of one that is not there, only the path itself is. */
bool gbx_host_same_file(const char *a, const char *b);
/* The very same servers, by whichever path? */
bool gbx_host_same_place(const gbx_host_place *a, const gbx_host_place *b);

/* A place for a file of anybody's: the host is told by where it lies, else by what it
 * looks like. False if there are no servers in it. */
bool gbx_host_place_of(const char *path, const json_t *root, bool is_toml,
                       gbx_host_place *ret);

/* A file of Claude Code's: ".claude.json", or one of its folder. All of them are in
 * $CLAUDE_CONFIG_DIR, if there is one. */
bool gbx_host_claude_file(const char *name, char path[PATH_MAX]);

/* The user's file of Codex. */
bool gbx_host_codex_file(char path[PATH_MAX]);

/* Where we look for ours without --config: $XDG_CONFIG_HOME/glovebox/mcp.json. */
bool gbx_host_own_path(char path[PATH_MAX]);

#endif
