/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/mcp/upstream share. */
#ifndef GBX_MCP_UPSTREAM_INTERNAL_H
#define GBX_MCP_UPSTREAM_INTERNAL_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "fetch/libcurl.h"
#include "mcp/config/config.h"
#include "mcp/upstream/http_exchange.h"
#include "mcp/upstream/keeper/keeper.h"
#include "mcp/upstream/link.h"
#include "mcp/upstream/tools.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* ---- environ.c ----------------------------------------------------------- */

/*
 * The environment of a server: a few of our variables by name, and its own.
 *
 * It gets nothing else of ours, above all no tokens for other servers.
 */

/* "NAME=value" strings, NULL at the end; NULL if memory is out. */
char **gbx_environ_new(const gbx_mcp_upstream_config *config);

/* Wiped before it is freed: configured values may be secret. NULL is ignored. */
void gbx_environ_free(char **environment);

/* ---- stderr_tail.c ------------------------------------------------------- */

/* Keeps only the end of a stream, however much was written. */

#define GBX_TAIL_BYTES 4096

typedef struct gbx_stderr_tail {
    char bytes[GBX_TAIL_BYTES];
    size_t len;
    bool is_cut; /* something came before it */
} gbx_stderr_tail;

void gbx_stderr_tail_add(gbx_stderr_tail *tail, const char *data, size_t len);

/* Append the last lines that say something, without stack frames, at most `lines`,
 * separated by " | ". Terminal escapes and values of secrets are taken out (secrets
 * NULL: none). If none of the lines names an error, the last line that does comes
 * before them. */
bool gbx_stderr_tail_print(const gbx_stderr_tail *tail, const gbx_policy *secrets,
                           unsigned lines, gbx_buf *to);

/* ---- exit_status.c ------------------------------------------------------- */

/* The steps by which a server is ended, and a text about how it ended. */

#define GBX_ENDING_TEXT_MAX 1024

typedef enum gbx_stop_step {
    GBX_STOP_NOT,
    GBX_STOP_INPUT,     /* the end of its input */
    GBX_STOP_TERMINATE, /* SIGTERM */
    GBX_STOP_KILL,      /* SIGKILL, by the keeper */
    GBX_STOP_KEEPER,    /* SIGKILL for the keeper itself */
} gbx_stop_step;

/* What is known of the start and the end of a server. */
typedef struct gbx_exit_status {
    gbx_containment containment;
    char command[256];   /* as much as fits; the same for the directory */
    char directory[256]; /* or "" */
    int no_directory;    /* errno, or 0 */
    int no_command;
    bool has_status;
    int status; /* as of waitpid() */
    bool output_closed;
    bool was_stopped; /* by us: the status means nothing more */
} gbx_exit_status;

gbx_stop_step gbx_stop_harder(gbx_stop_step step);

/* Would it end so each time? Its command or directory is missing or not accessible. */
bool gbx_exit_status_is_lasting(const gbx_exit_status *ending);

/* Name the server; directory may be NULL. */
void gbx_exit_status_name(gbx_exit_status *ending, const char *command,
                          const char *directory);
void gbx_exit_status_note(gbx_exit_status *ending, const gbx_keeper_report *report);

/* Append "; its last words: ..." to the text, if there are any. */
void gbx_exit_status_add_words(const gbx_stderr_tail *errors, const gbx_policy *secrets,
                               char *text, size_t size);

/* "it ended with status 1; its last words: ...": escaped, without values of secrets
 * (NULL: none), at most size - 1 bytes. */
void gbx_exit_status_print(const gbx_exit_status *ending, const gbx_stderr_tail *errors,
                           const gbx_policy *secrets, char *text, size_t size);

/* ---- http_client.c ------------------------------------------------------- */

/* What all links over HTTP share: libcurl, loaded with the first link. */

typedef struct gbx_http_client {
    gbx_libcurl lib;
    gbx_multi *multi;
    struct event_base *base;
    gbx_http_exchange *farewells; /* nobody waits for their answers */
} gbx_http_client;

gbx_status gbx_http_client_new(struct event_base *base, gbx_http_client **ret,
                               gbx_error *reterr) GBX_MUST_USE;
/* Only farewells may still be in flight. NULL is ignored. */
void gbx_http_client_free(gbx_http_client *web);

/* Once the loop has ended: send the farewells, for at most ms. Blocks;
 * NULL is ignored. */
void gbx_http_client_finish(gbx_http_client *web, uint32_t ms);

/* Start an exchange whose answer is ignored. */
void gbx_http_client_say_farewell(gbx_http_client *web,
                                  const gbx_http_exchange_options *options);

/* ---- http_headers.c ------------------------------------------------------ */

/* The headers of one request to an upstream server. */

typedef struct gbx_http_headers {
    const gbx_libcurl *lib;
    struct curl_slist *list; /* take ownership, or clean up */
    bool failed;             /* memory is out */
} gbx_http_headers;

/* Could it be the name of a header? */
bool gbx_http_is_token(const char *name);

/* value may be NULL: then libcurl's own header of that name is left out. */
void gbx_http_header_add(gbx_http_headers *headers, const char *name,
                         const char *value);
/* Add a value from a message's body: as it is, or in base64 if a header
 * cannot hold it. */
void gbx_http_header_add_value(gbx_http_headers *headers, const char *name,
                               const char *value, size_t len);
void gbx_http_headers_cleanup(gbx_http_headers *headers);

/* Check the configured headers. False with a name: that one would break the request. */
bool gbx_http_headers_check(const gbx_mcp_upstream_config *config,
                            const char **ret_name);
void gbx_http_headers_add_configured(gbx_http_headers *headers,
                                     const gbx_mcp_upstream_config *config);

/* ---- ids.c --------------------------------------------------------------- */

/* Find the request that an answer belongs to, even in an answer that is malformed. */

/* Read an id that we have sent as a number; some servers write it as a
 * string, or as 1.0. */
bool gbx_id_read(gbx_view view, int64_t *ret);

/* The id of an answer that is invalid JSON or an invalid message: a member of the
 * outermost object that has "jsonrpc" and no "method". 0: it has no id, or two. */
int64_t gbx_id_find(const char *text, size_t len);
/* The same for an answer that follows other text on its line: a banner, a prompt. */
int64_t gbx_id_find_behind(const char *text, size_t len);
/* The same for an answer of which only this beginning, or only this end, is there. */
int64_t gbx_id_find_in_head(const char *text, size_t len);
int64_t gbx_id_find_in_tail(const char *text, size_t len);

/* ---- params.c ------------------------------------------------------------ */

/*
 * Arguments that a tool wants as headers, too ("x-mcp-header" in its schema), so that
 * proxies can route a call without reading its body.
 */

#define GBX_PARAMS_MAX   32
#define GBX_PARAM_PREFIX "Mcp-Param-"

/* Is every annotation in the schema one that may be there? */
bool gbx_params_are_sound(gbx_view schema);

/* Add the headers of a call with these arguments. The schema must be sound. */
void gbx_params_add(gbx_view schema, gbx_view args, gbx_http_headers *headers);

/* ---- redact_tools.c ------------------------------------------------------ */

/*
 * Takes values of secrets out of what a server says: it was given some, and its texts
 * are shown to models and people.
 *
 * secrets may be NULL or empty: then texts stay as they are. All functions fail closed.
 */

/* Redact first, then cut between characters to what fits. "" if memory is out. */
void gbx_redact_copy(const gbx_policy *secrets, const char *text, char *ret,
                     size_t size);
/* The whole text, redacted; NULL if memory is out. free() it. */
char *gbx_redact_text(const gbx_policy *secrets, const char *text);

/* Make *ret, to be cleaned up in any case, from a closed list. A tool whose name holds
 * a value is left out: no other name would call it. */
bool gbx_redact_tools(const gbx_policy *secrets, const gbx_tools *tools,
                      gbx_tools *ret);

/* ---- server_spawn.c ------------------------------------------------------ */

/* A command to run below a keeper of its own, and its descriptors. */

typedef struct gbx_server_command {
    const char *program; /* found by the PATH in environment */
    char *const *args;   /* without the program itself; NULL at the end, or NULL */
    char *const *environment;
    const char *directory; /* NULL: ours */
    rlim_t descriptors;    /* the soft limit of their number; 0: ours */
    bool is_plain;         /* do not use namespaces */
} gbx_server_command;

/* All descriptors are non-blocking and close-on-exec. */
typedef struct gbx_spawned_command {
    pid_t pid;   /* the keeper's, our child */
    int pidfd;   /* readable once all processes are gone */
    int control; /* see keeper/keeper.h; closing it kills everything */
    int input;   /* a socket: the command reads what is sent here */
    int output;
    int errors;
} gbx_spawned_command;

/*
 * Call it on a thread that lives as long as the servers do: to the kernel, that
 * thread's end is the death of the keeper's parent. If the command cannot be executed,
 * the keeper reports it later.
 */
gbx_status gbx_server_command_spawn(const gbx_server_command *command,
                                    gbx_spawned_command *ret, gbx_error *reterr)
    GBX_MUST_USE;

#endif
