/* SPDX-License-Identifier: MIT */
/*
 * config - the hosts' own format of servers, with our settings under the key "glovebox".
 *
 *     {"mcpServers": {"files": {"command": "npx", "args": [...], "env": {...}, "cwd": "..."},
 *                     "tickets": {"type": "http", "url": "...", "headers": {...}}},
 *      "glovebox": {"toolNames": "mcp_", "limits": {...}, "rules": [...]}}
 *
 * ${VAR} and ${VAR:-default} are filled in from the environment, $${VAR} is text. Strict
 * below our own key, lenient outside it: the hosts add keys of theirs. A server whose entry
 * is wrong is disabled and says why; what else is wrong costs the whole file.
 */
#ifndef GBX_MCP_CONFIG_CONFIG_H
#define GBX_MCP_CONFIG_CONFIG_H

#include "policy/trusted_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gbx_mcp_transport {
    GBX_MCP_STDIO,
    GBX_MCP_HTTP, /* streamable HTTP */
    GBX_MCP_SSE,  /* the transport before it */
} gbx_mcp_transport;

typedef struct gbx_mcp_variable {
    char *name;
    char *value;
} gbx_mcp_variable;

#define GBX_MCP_NAME_MAX 64

/* One upstream server. */
typedef struct gbx_mcp_upstream_config {
    char *name; /* the key: gbx_mcp_is_name() */
    gbx_mcp_transport transport;
    char *command;
    char **args; /* ends in NULL */
    size_t arg_count;
    gbx_mcp_variable *env; /* beside HOME LOGNAME PATH SHELL TERM USER of our own */
    size_t env_count;
    char *cwd; /* or NULL; a relative one is below the file's folder by now */
    char *url;
    gbx_mcp_variable *headers;
    size_t header_count;
    char
        *unsent_headers; /* names of those that are the transport's own, which sets them
                           * itself: none of `headers`; or NULL */
    char **inherit; /* names of further variables of ours; "glovebox": {"env": [...]} */
    size_t inherit_count;
    char **weak; /* names of passwords that are short, a word or a number:
                             * they stay in answers */
    size_t weak_count;
    char *description;      /* one line for the model, or NULL */
    uint32_t timeout_ms;    /* of one call; default 60000 */
    uint32_t start_ms;      /* until it must have answered; default 30000 */
    uint32_t idle_ms;       /* stopped after; default 300000; 0: never */
    uint32_t calls_at_once; /* default 8 */
    uint32_t processes;     /* of the pool; default 1 */
    bool eager;             /* started with us instead of at the first use */
    bool disabled;
    char *fault; /* why it cannot be used, then it is disabled: its entry is wrong, or a
                  * variable is not set */
    bool
        is_malformed; /* its entry is wrong, with its variables: nothing else is here */
} gbx_mcp_upstream_config;

/* For people; takes unsent_headers. */
#define GBX_MCP_UNSENT_FORMAT \
    "not sent as configured, but as the transport sets them: %.400s"

typedef struct gbx_mcp_settings {
    char *tool_prefix;       /* "" or "mcp_" */
    uint32_t timeout_ms;     /* of execute; default and at most 120000 unless set */
    uint32_t sleep_ms;       /* default 30000 */
    uint64_t code_bytes;     /* default 51200 */
    uint64_t output_bytes;   /* default 10 MiB */
    uint64_t memory_bytes;   /* default 128 MiB */
    uint64_t reply_bytes;    /* of text that a model is shown; default 40000 */
    uint32_t calls;          /* nested calls of one execute; default 1000 */
    uint32_t calls_at_once;  /* of all servers, over all runs; default 32 */
    uint32_t artifact_ms;    /* how long what was cut is kept; default 3600000 */
    uint64_t artifact_bytes; /* of all; default 64 MiB */
    char *audit_path;        /* security log, or NULL */
} gbx_mcp_settings;

struct gbx_config_fingerprint; /* see fingerprint.h */
struct gbx_gate_rules;         /* "rules" and "secrets"; see rules/rules.h */

typedef struct gbx_mcp_config {
    char *path;      /* of the file, for messages */
    gbx_trust trust; /* of it, and of the files that it names */
    gbx_mcp_upstream_config *servers;
    size_t server_count;
    gbx_mcp_settings settings;
    struct gbx_gate_rules *rules;         /* never NULL after a successful load */
    struct gbx_config_fingerprint *stamp; /* neither */
} gbx_mcp_config;

/* path NULL: the defaults and no server. GBX_E_POLICY with line and column if the text is
 * at fault, GBX_E_OS if the file cannot be read or is refused. A FIFO is waited for. */
gbx_status gbx_mcp_config_load(const char *path, gbx_trust trust, gbx_mcp_config **ret,
                               gbx_error *reterr);
gbx_status gbx_mcp_config_parse(const char *text, size_t len, const char *path,
                                gbx_trust trust, gbx_mcp_config **ret,
                                gbx_error *reterr);
/* Wipes what may be secret. NULL is ignored. */
void gbx_mcp_config_free(gbx_mcp_config *config);

const gbx_mcp_upstream_config *gbx_mcp_config_server(const gbx_mcp_config *config,
                                                     const char *name);

/* May a server be called so? */
bool gbx_mcp_is_name(const char *name);
/* name as one that a server may have, into out: "Google Drive" is "Google-Drive". */
void gbx_mcp_clean_name(const char *name, char out[GBX_MCP_NAME_MAX + 1]);

#endif
