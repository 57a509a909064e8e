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
 * The environment of a server: a few variables of ours by name, and its own.
 *
 * Everything else of ours, tokens for other servers among it, is not its business.
 */

/* "NAME=value" strings, NULL at the end; NULL if memory is out. */
char **gbx_environ_new(const gbx_mcp_upstream_config *config);

/* Wiped: what is configured may be secret. NULL is ignored. */
void gbx_environ_free(char **environment);

/* ---- stderr_tail.c ------------------------------------------------------- */

/* The last of what somebody wrote, however much it was. */

#define GBX_TAIL_BYTES 4096

typedef struct gbx_stderr_tail {
    char bytes[GBX_TAIL_BYTES];
    size_t len;
    bool is_cut; /* something was before it */
} gbx_stderr_tail;

void gbx_stderr_tail_add(gbx_stderr_tail *tail, const char *data, size_t len);

/* Append the last lines that say something, no frames of a stack, at most `lines`, " | "
 * between them, such that no terminal is steered by them, and without values of secrets
 * (NULL: there are none). If none of them names an error, the last one that does comes
 * before them. */
bool gbx_stderr_tail_print(const gbx_stderr_tail *tail, const gbx_policy *secrets,
                           unsigned lines, gbx_buf *to);

/* ---- exit_status.c ------------------------------------------------------- */

/* The steps by which a server is ended, and the words for how it has. */

#define GBX_ENDING_TEXT_MAX 1024

typedef enum gbx_stop_step {
    GBX_STOP_NOT,
    GBX_STOP_INPUT,     /* the end of its input */
    GBX_STOP_TERMINATE, /* SIGTERM */
    GBX_STOP_KILL,      /* SIGKILL, by the keeper */
    GBX_STOP_KEEPER,    /* SIGKILL for the keeper itself */
} gbx_stop_step;

/* What is known of how a server came and went. */
typedef struct gbx_exit_status {
    gbx_containment containment;
    char command[256];   /* as far as it fits, and so the directory */
    char directory[256]; /* or "" */
    int no_directory;    /* errno, or 0 */
    int no_command;
    bool has_status;
    int status; /* as of waitpid() */
    bool output_closed;
    bool was_stopped; /* by us, who had no more use for it: the status says no more */
} gbx_exit_status;

gbx_stop_step gbx_stop_harder(gbx_stop_step step);

/* Would it end so each time? Its command or its directory is not there, or not for us. */
bool gbx_exit_status_is_lasting(const gbx_exit_status *ending);

/* Of whom it tells; directory may be NULL. */
void gbx_exit_status_name(gbx_exit_status *ending, const char *command,
                          const char *directory);
void gbx_exit_status_note(gbx_exit_status *ending, const gbx_keeper_report *report);

/* Append "; its last words: ..." to the text, if there are any. */
void gbx_exit_status_add_words(const gbx_stderr_tail *errors, const gbx_policy *secrets,
                               char *text, size_t size);

/* "it ended with status 1; its last words: ...": escaped, without values of secrets (NULL:
 * there are none), at most size - 1 bytes. */
void gbx_exit_status_print(const gbx_exit_status *ending, const gbx_stderr_tail *errors,
                           const gbx_policy *secrets, char *text, size_t size);

/* ---- http_client.c ------------------------------------------------------- */

/* What all links over HTTP share: libcurl, loaded with the first of them. */

typedef struct gbx_http_client {
    gbx_libcurl lib;
    gbx_multi *multi;
    struct event_base *base;
    gbx_http_exchange *farewells; /* nobody waits for them */
} gbx_http_client;

gbx_status gbx_http_client_new(struct event_base *base, gbx_http_client **ret,
                               gbx_error *reterr) GBX_MUST_USE;
/* No exchange but farewells may be left. NULL is ignored. */
void gbx_http_client_free(gbx_http_client *web);

/* Once the loop has ended: farewells are sent, for so long at most. Blocks; NULL is ignored. */
void gbx_http_client_finish(gbx_http_client *web, uint32_t ms);

/* An exchange whose answer is not looked at. */
void gbx_http_client_say_farewell(gbx_http_client *web,
                                  const gbx_http_exchange_options *options);

/* ---- http_headers.c ------------------------------------------------------ */

/* The headers of one request to an upstream server. */

typedef struct gbx_http_headers {
    const gbx_libcurl *lib;
    struct curl_slist *list; /* take it, or clean up */
    bool failed;             /* memory is out */
} gbx_http_headers;

/* Could it be the name of one? */
bool gbx_http_is_token(const char *name);

/* value may be NULL: libcurl's own header of that name is left out. */
void gbx_http_header_add(gbx_http_headers *headers, const char *name,
                         const char *value);
/* A value of a message's body: as it is, or in base64 where that could not be sent. */
void gbx_http_header_add_value(gbx_http_headers *headers, const char *name,
                               const char *value, size_t len);
void gbx_http_headers_cleanup(gbx_http_headers *headers);

/* The configured ones. False with a text: one of them would break the request. */
bool gbx_http_headers_check(const gbx_mcp_upstream_config *config,
                            const char **ret_name);
void gbx_http_headers_add_configured(gbx_http_headers *headers,
                                     const gbx_mcp_upstream_config *config);

/* ---- ids.c --------------------------------------------------------------- */

/* Which request of ours an answer is for, whatever else is wrong with it. */

/* The number that we have sent as an id; some servers write it as a string,
 * or as 1.0. */
bool gbx_id_read(gbx_view view, int64_t *ret);

/* The id of an answer that cannot be read as JSON, or is none of the protocol's: a member
 * of the outermost object, beside "jsonrpc" and without "method". 0: it has none, or two. */
int64_t gbx_id_find(const char *text, size_t len);
/* The same of one that follows on the line of something else: a banner, a prompt. */
int64_t gbx_id_find_behind(const char *text, size_t len);
/* The same of one of which only this beginning is there, or only this end. */
int64_t gbx_id_find_in_head(const char *text, size_t len);
int64_t gbx_id_find_in_tail(const char *text, size_t len);

/* ---- params.c ------------------------------------------------------------ */

/*
 * Arguments that a tool wants to see as headers, too, so that what stands between
 * us and the server can route a call without reading it ("x-mcp-header" in its schema).
 */

#define GBX_PARAMS_MAX   32
#define GBX_PARAM_PREFIX "Mcp-Param-"

/* Is every annotation in the schema one that may be there? */
bool gbx_params_are_sound(gbx_view schema);

/* The headers of a call with these arguments. The schema is sound. */
void gbx_params_add(gbx_view schema, gbx_view args, gbx_http_headers *headers);

/* ---- redact_tools.c ------------------------------------------------------ */

/*
 * What a server says of itself, without values of secrets: it was given some, and
 * what it says is shown to models and to people.
 *
 * secrets may be NULL, or hold none: then texts are what they are. All fail closed.
 */

/* As much of text as fits, cut between characters after it was looked through. "" if
 * memory is out. */
void gbx_redact_copy(const gbx_policy *secrets, const char *text, char *ret,
                     size_t size);
/* All of it; NULL if memory is out. free() it. */
char *gbx_redact_text(const gbx_policy *secrets, const char *text);

/* Make *ret, to be cleaned up in any case, of a list that is closed. A tool whose name
 * holds a value is left out of it: no other name would call it. */
bool gbx_redact_tools(const gbx_policy *secrets, const gbx_tools *tools,
                      gbx_tools *ret);

/* ---- server_spawn.c ------------------------------------------------------ */

/* A command below a keeper of its own, and the descriptors that lead to it. */

typedef struct gbx_server_command {
    const char *program; /* found by the PATH of environment */
    char *const *args;   /* without the program itself; NULL at the end, or NULL */
    char *const *environment;
    const char *directory; /* NULL: ours */
    rlim_t descriptors;    /* the soft limit of how many it may have; 0: ours */
    bool is_plain;         /* without namespaces, even where there are */
} gbx_server_command;

/* All descriptors are non-blocking and close-on-exec. */
typedef struct gbx_spawned_command {
    pid_t pid;   /* the keeper's, a child of ours */
    int pidfd;   /* readable once everything is gone */
    int control; /* see keeper/keeper.h; closed, it is the end of everything */
    int input;   /* a socket: what is sent here the command reads */
    int output;
    int errors;
} gbx_spawned_command;

/*
 * Call it on a thread that lives as long as the servers do: the kernel takes that
 * thread's end for our own. That the command itself could not be executed is said by the
 * keeper, later.
 */
gbx_status gbx_server_command_spawn(const gbx_server_command *command,
                                    gbx_spawned_command *ret, gbx_error *reterr)
    GBX_MUST_USE;

#endif
