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

#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "base/sha256.h"
#include "policy/policy.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* ---- edit.c -------------------------------------------------------------- */

/*
 * Put something into a JSON file of a person's, and leave all the rest as it is,
 * to the byte: comments, order, numbers, keys of others.
 */

/* A text that is edited. */
typedef struct gbx_edit {
    gbx_buf text;  /* as it stands */
    char *blanked; /* the same without comments: views are into this */
    gbx_view root;
} gbx_edit;

/* A copy of text; false if it is not JSON (with comments), or memory is out. */
bool gbx_edit_open(gbx_edit *edit, const char *text, size_t len);
void gbx_edit_close(gbx_edit *edit);

/* Each ends all views; edit->root is the new one. json is one value. False: the text is
 * as it was. */
bool gbx_edit_add_member(gbx_edit *edit, gbx_view object, const char *name,
                         const char *json);

/* ---- jsonc.c ------------------------------------------------------------- */

/* Editors write comments into JSON, commas before closing brackets, and a byte
 * order mark first: all become blanks, so that everything else keeps its place. */

/* Members of an object that are looked at; "*" is every one. A list ends in a NULL name. */
typedef struct gbx_jsonc_wanted {
    const char *name;
    const struct gbx_jsonc_wanted *below; /* of its own object, only these; NULL: all */
} gbx_jsonc_wanted;

/* The offset past the comment at `at`, or `at` if there is none; one without an end is
 * none. */
size_t gbx_jsonc_past_comment(const char *text, size_t len, size_t at);

/* Blanks from one offset to another, in place; lines stay lines. */
void gbx_jsonc_erase(char *text, size_t from, size_t to);

/* In place; lines stay lines. What is neither JSON nor a comment stays as it is. */
void gbx_jsonc_blank(char *text, size_t len);

/* In place, after gbx_jsonc_blank(): members that are not wanted become blanks. Hosts keep
 * what people wrote beside their servers, and a parser that builds values refuses a whole
 * text for half a surrogate pair, "\u0000" or 1e400 in it. What is not JSON stays. */
void gbx_jsonc_keep(char *text, size_t len, const gbx_jsonc_wanted *wanted);

/* Of the byte order mark: editors do not count it as a column. 0: there is none. */
size_t gbx_jsonc_mark_len(const char *text, size_t len);

/* ---- replace.c ----------------------------------------------------------- */

/* A file of a person's gets new contents at once or not at all, and keeps what
 * it was beside it. */

/* How long a command waits for a lock; a server that others wait for has less time. */
#define GBX_FILE_LOCK_MS 2000

/*
 * Open the file at path to change it: until *ret_fd, which reads it, is closed, nobody
 * else gets it by this function. Sleeps until who has it lets it go, two seconds at most.
 * The lock is on the file that is there and needs none beside it; where there are no
 * locks, there is none. A file that is not to be trusted is refused, with EPERM.
 */
gbx_status gbx_file_lock(const char *path, gbx_trust trust, int *ret_fd,
                         gbx_error *reterr);
/* The same for a file that need not be there: the lock is on its folder. Who waited for it
 * may find one. Where nothing can be written, there is no lock, and *ret_fd stays. */
gbx_status gbx_file_lock_folder(const char *path, int wait_ms, int *ret_fd,
                                gbx_error *reterr);

/* The folder of the file at path, and those above it, for the user alone where they are
 * not there. */
void gbx_file_make_folders(const char *path);

/*
 * Write len bytes as the file at path; its mode stays, but for the bits in withheld, one
 * that is new has 0600. A symbolic link is followed. backup, if not NULL, gets the path under which the old
 * contents are now (never one that was there before), or "" if there were none.
 *
 * GBX_E_OS: nothing has changed, but for a backup perhaps.
 */
gbx_status gbx_file_replace(const char *path, const char *data, size_t len,
                            mode_t withheld, char backup[PATH_MAX], gbx_error *reterr);

/* ---- variable.c ---------------------------------------------------------- */

/*
 * ${VAR}, ${VAR:-default} and ${env:VAR} in texts of a configuration.
 *
 * "$${" is "${" as text; of any number of '$' before a '{' two are one, and an odd last
 * one begins a variable. What is not of these forms stays as it is, but for the forms that
 * editors fill in and nobody here can.
 */

/* Of one text with its variables. */
#define GBX_MCP_TEXT_MAX 65536

/* Ends what is said of a form of editors: `mcp import` itself has to say it without. */
#define GBX_VARIABLES_IMPORT ", or take the file over with 'glovebox mcp import'"

/* Is told of each value that was put in, and with value NULL of each that is not set. */
typedef gbx_status (*gbx_variable_fn)(void *user, const char *name, const char *value);

/* *ret is the text with its variables, nothing for one that is not set; free() it.
 * GBX_E_POLICY without a place: the text is too long, wants an editor, or has a variable in
 * a default. */
gbx_status gbx_variables_fill(const char *text, gbx_variable_fn used, void *user,
                              char **ret, gbx_error *reterr);

/* Append what gbx_variables_fill() makes that very text of. */
void gbx_variables_escape(const char *text, gbx_buf *to);

/* What to say of names that are not set, in one sentence; free() it. NULL: no memory. */
char *gbx_variables_unset(char *const *names, size_t count);

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

struct gbx_config_fingerprint; /* see config.h */
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

/* ---- fingerprint.c ------------------------------------------------------- */

/*
 * Is the file of a configuration still what it was when it was read? What runs goes
 * by what was read; who has edited the file since must hear that it is of no effect yet.
 */

typedef struct gbx_config_fingerprint {
    bool is_set; /* it was a regular file: a pipe is read once */
    struct stat then;
    size_t len;
    uint8_t digest[GBX_SHA256_SIZE];
} gbx_config_fingerprint;

/* Of the open file whose contents these are. */
void gbx_config_fingerprint_set(gbx_config_fingerprint *stamp, int fd, const void *text,
                                size_t len);

/* Has the file at config->path other contents? Those are read only if the file was written
 * or replaced. False where it is gone or cannot be read: a restart would do no good. */
bool gbx_config_has_changed(const gbx_mcp_config *config);

#endif
