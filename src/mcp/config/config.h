/* SPDX-License-Identifier: MIT */
/*
 * config - the format that MCP hosts use for servers, with our settings under the
 * key "glovebox".
 *
 *     {"mcpServers": {"files": {"command": "npx", "args": [...],
 *                               "env": {...}, "cwd": "..."},
 *                     "tickets": {"type": "http", "url": "...", "headers": {...}}},
 *      "glovebox": {"toolNames": "mcp_", "limits": {...}, "rules": [...]}}
 *
 * ${VAR} and ${VAR:-default} are replaced from the environment; $${VAR} is plain
 * text. Reading is strict below our own key, and lenient outside it, since hosts add
 * keys. A server with a wrong entry is disabled with a reason; any other error
 * invalidates the whole file.
 */
#ifndef GBX_MCP_CONFIG_CONFIG_H
#define GBX_MCP_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "policy/policy.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---- replace.c ----------------------------------------------------------- */

/* Replaces a user's file atomically, and keeps a backup next to it. */

/* How long a command waits for a lock; a server with waiting clients has less time. */
#define GBX_FILE_LOCK_MS 10000

/*
 * Lock the folder of the file at path, which need not exist, for a change of it. Missing
 * folders are created, accessible to the user only. Until *ret_fd is closed, other calls
 * of this function wait. GBX_OK also without a lock: if the file system has none, or the
 * folder is not writable (*ret_fd is then unchanged).
 */
gbx_status gbx_file_lock(const char *path, int wait_ms, int *ret_fd, gbx_error *reterr);

/* The path of a file that we keep between runs: name below glovebox in $XDG_STATE_HOME
 * or ~/.local/state. False: no home directory. */
bool gbx_file_state_path(const char *name, char path[PATH_MAX]);

/* False if the file was written, replaced or given other rights in between. */
bool gbx_file_is_same(const struct stat *a, const struct stat *b);

/*
 * Write len bytes to the file at path, which gets the mode 0600: it may hold secrets of
 * files that only the user may read. A symbolic link is followed. backup, if not NULL,
 * gets the path of a new backup of the old contents, or "" if none existed. A backup
 * never overwrites another file.
 *
 * GBX_E_OS: nothing has changed, but a backup may exist.
 */
gbx_status gbx_file_replace(const char *path, const char *data, size_t len,
                            char backup[PATH_MAX], gbx_error *reterr);

/* ---- variables.c --------------------------------------------------------- */

/*
 * ${VAR}, ${VAR:-default} and ${env:VAR} in texts of a configuration.
 *
 * "$${" is a literal "${": before a '{' each pair of '$' is one '$', and an odd last
 * '$' begins a variable. Other forms stay unchanged; forms that only editors can fill
 * in are refused.
 */

/* Maximum length of one text with its variables filled in, in bytes. */
#define GBX_MCP_TEXT_MAX 65536

/* Called for each variable that is used, with value NULL if it is not set; not
 * for defaults. */
typedef gbx_status (*gbx_variable_fn)(void *user, const char *name, const char *value);

/* *ret is the text with its variables filled in; an unset one is empty. free() it.
 * GBX_E_POLICY without a position: the text is too long, needs an editor, or has a
 * variable in a default. */
gbx_status gbx_variables_fill(const char *text, gbx_variable_fn used, void *user,
                              char **ret, gbx_error *reterr);

/* A sentence about variables that are not set; free() it. */
char *gbx_variables_unset(char *const *names, size_t count);

typedef enum gbx_mcp_transport {
    GBX_MCP_STDIO,
    GBX_MCP_HTTP, /* streamable HTTP */
    GBX_MCP_SSE,  /* the HTTP+SSE transport before it */
} gbx_mcp_transport;

typedef struct gbx_mcp_variable {
    char *name;
    char *value;
} gbx_mcp_variable;

#define GBX_MCP_NAME_MAX 64

/* This program's registration at an authorization server; each may be NULL. */
typedef struct gbx_mcp_oauth_config {
    char *client_id; /* if it was registered before */
    char *client_secret;
    char *issuer;     /* issued them, and is the only one to get them */
    char *client_url; /* URL of its client metadata document */
} gbx_mcp_oauth_config;

/* One upstream server. */
typedef struct gbx_mcp_upstream_config {
    char *name; /* the key: letters, digits, '_', '.', '-' */
    gbx_mcp_transport transport;
    char *command;
    char **args; /* ends in NULL */
    size_t arg_count;
    gbx_mcp_variable *env; /* in addition to our own HOME LOGNAME PATH SHELL
                            * TERM USER */
    size_t env_count;
    char *cwd; /* or NULL; already resolved against the file's folder */
    char *url;
    gbx_mcp_variable *headers;
    size_t header_count;
    /* "glovebox": {"env": [...]}: names of further variables that it inherits. */
    char **inherit;
    size_t inherit_count;
    /* "glovebox": {"plain": [...]}: names of values that are not redacted. */
    char **plain;
    size_t plain_count;
    /* Names of values that are redacted, except declared secrets. */
    char **hidden;
    size_t hidden_count;
    gbx_mcp_oauth_config oauth;
    char *description;      /* one line for the model, or NULL */
    uint32_t timeout_ms;    /* of one call; default 60000 */
    uint32_t start_ms;      /* time for its first answer; default 30000 */
    uint32_t idle_ms;       /* idle time before it is stopped; default 300000; 0:
                             * never */
    uint32_t calls_at_once; /* default 8 */
    uint32_t processes;     /* of the pool; default 1 */
    bool eager;             /* started at our start instead of at its first use */
    bool sampling;          /* it may ask the client's model, */
    bool roots;             /* and for the client's folders */
    bool disabled;
    char *fault;       /* why it is disabled (its entry is wrong, or a variable is not
                        * set), or NULL */
    bool is_malformed; /* its entry is wrong: only its name was kept */
} gbx_mcp_upstream_config;

typedef struct gbx_mcp_settings {
    char *tool_prefix;       /* "" or "mcp_" */
    uint32_t timeout_ms;     /* of execute: default and maximum; 120000 unless set */
    uint32_t sleep_ms;       /* default 30000 */
    uint64_t code_bytes;     /* default 51200 */
    uint64_t output_bytes;   /* default 10 MiB */
    uint64_t memory_bytes;   /* default 128 MiB */
    uint64_t reply_bytes;    /* of text shown to a model; default 40000 */
    uint32_t calls;          /* nested calls of one execute; default 1000 */
    uint32_t calls_at_once;  /* of all servers, over all runs; default 32 */
    uint32_t artifact_ms;    /* how long cut-off text is kept; default 3600000 */
    uint64_t artifact_bytes; /* of all; default 64 MiB */
    char *audit_path;        /* security log, or NULL */
    char *runner;            /* the address of machines that run code, or NULL */
} gbx_mcp_settings;

struct gbx_gate_rules; /* "rules" and "secrets"; see rules/rules.h */

typedef struct gbx_mcp_config {
    char *path;      /* of the file, for messages */
    gbx_trust trust; /* of it, and of the files that it names */
    gbx_mcp_upstream_config *servers;
    size_t server_count;
    gbx_mcp_settings settings;
    struct gbx_gate_rules *rules; /* never NULL after a successful load */
    struct stat read;             /* the file when it was read */
} gbx_mcp_config;

/* path NULL: the defaults, without servers. GBX_E_POLICY with line and column if the
 * text is wrong, GBX_E_OS if the file cannot be read or is refused. Waits for a
 * FIFO. */
gbx_status gbx_mcp_config_load(const char *path, gbx_trust trust, gbx_mcp_config **ret,
                               gbx_error *reterr);
gbx_status gbx_mcp_config_parse(const char *text, size_t len, const char *path,
                                gbx_trust trust, gbx_mcp_config **ret,
                                gbx_error *reterr);
/* Wipes what may be secret. NULL is ignored. */
void gbx_mcp_config_free(gbx_mcp_config *config);

const gbx_mcp_upstream_config *gbx_mcp_config_server(const gbx_mcp_config *config,
                                                     const char *name);

/* True if the file at config->path was written or replaced since it was read: the server
 * keeps the configuration that it read, and reports that the edit has no effect yet. False
 * if it is missing, since a restart would not help, and of a pipe. */
bool gbx_config_has_changed(const gbx_mcp_config *config);

#endif
