/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/mcp/upstream share. */
#ifndef GBX_MCP_UPSTREAM_INTERNAL_H
#define GBX_MCP_UPSTREAM_INTERNAL_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "fetch/fetch.h"
#include "fetch/libcurl.h"
#include "mcp/config/config.h"
#include "mcp/rpc/rpc.h"
#include "mcp/upstream/keeper/keeper.h"
#include "mcp/upstream/link.h"
#include "mcp/upstream/upstream.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

/* ---- sse.c --------------------------------------------------------------- */

/*
 * Parses a stream of server-sent events (HTML standard): bytes in, events
 * out. No I/O.
 *
 *     gbx_sse_feed(&sse, bytes, n);
 *     do
 *         while (gbx_sse_next(&sse, &event))
 *             ...
 *     while (sse.has_more);
 */

#define GBX_SSE_NAME_MAX 32
#define GBX_SSE_ID_MAX   512

typedef struct gbx_sse {
    gbx_buf in;   /* unread bytes, from `start` on */
    size_t start; /* bytes before it are removed only now and then: events may be
                   * many */
    size_t seen;  /* no end of line before this */
    gbx_buf data;
    char name[GBX_SSE_NAME_MAX + 1];
    char id[GBX_SSE_ID_MAX + 1];      /* of the last whole event; kept between events */
    char next_id[GBX_SSE_ID_MAX + 1]; /* of the event being read */
    uint32_t retry_ms;                /* 0: none given */
    bool is_begun;                    /* the optional byte order mark is dealt with */
    bool has_data;
    bool is_told; /* data belongs to the last event; dropped at the next call */
    bool had_cr;
    bool has_more; /* the last call has left some input unexamined */
} gbx_sse;

/* Borrowed until the next call. */
typedef struct gbx_sse_event {
    const char *name; /* "message" if the event has none */
    const char *data;
    size_t len;
} gbx_sse_event;

void gbx_sse_init(gbx_sse *sse, size_t event_max);
void gbx_sse_cleanup(gbx_sse *sse);

/* How many bytes were not examined yet. */
size_t gbx_sse_ahead(const gbx_sse *sse);

/* False: an event is longer than event_max, or memory is out; the stream is
 * unusable. */
bool gbx_sse_feed(gbx_sse *sse, const void *data, size_t len);
/* False: no event is complete, or one was too long (then data.failed), or the examined
 * part, which is bounded, had none (then has_more: call it again). */
bool gbx_sse_next(gbx_sse *sse, gbx_sse_event *ret);

/* ---- http_exchange.c ----------------------------------------------------- */

/*
 * One HTTP request of an upstream server's link, and its response: a
 * body, or a stream of events.
 *
 * Hooks come from the loop, never from inside libcurl: they may do anything, even free
 * the exchange.
 */

/* Limit of a session's name; a longer one is refused, since it could not be sent
 * back. */
#define GBX_EXCHANGE_SESSION_MAX GBX_KIB(8)

typedef struct gbx_http_exchange gbx_http_exchange;

typedef enum gbx_http_method {
    GBX_HTTP_POST,
    GBX_HTTP_GET,
    GBX_HTTP_DELETE,
} gbx_http_method;

/* Each hook may free the exchange; its arguments stay valid until it returns. */
typedef struct gbx_http_exchange_hooks {
    /* Status and headers have arrived; once, before the events. May be NULL. */
    void (*head)(void *user, gbx_http_exchange *exchange);
    /* One event of the stream. */
    void (*event)(void *user, gbx_http_exchange *exchange, const gbx_sse_event *event);
    /* It has ended with this result. Once. */
    void (*done)(void *user, gbx_http_exchange *exchange, CURLcode result);
} gbx_http_exchange_hooks;

typedef struct gbx_http_exchange_options {
    struct event_base *base;
    gbx_multi *multi;
    const gbx_libcurl *lib;
    gbx_http_method method;
    const char *url;
    struct curl_slist *headers; /* owned from now on, also on failure */
    const void *body;           /* of a POST; copied */
    size_t body_len;
    bool is_sent_once;   /* libcurl never resends it, whatever becomes of
                          * the connection */
    bool is_first_try;   /* for the owner: the call was not made before */
    bool is_last_try;    /* for the owner: not made again once it was answered */
    int64_t id;          /* of the request in it, or 0 */
    uint32_t timeout_ms; /* 0: none */
    uint32_t delay_ms;   /* before it is sent */
    gbx_http_exchange_hooks hooks;
    void *user;
} gbx_http_exchange_options;

/* What is known of the response; borrowed from the exchange. */
typedef struct gbx_http_exchange_response {
    long status;
    char content_type[64]; /* lower case, without parameters */
    char encoding[32];     /* of the body, which is left encoded; or "" */
    char location[256];    /* or "" */
    char *session;         /* or NULL */
    gbx_buf body;          /* empty for a stream of events; without a byte order mark */
    gbx_sse sse;
    bool is_stream;
    bool is_too_long;
    bool is_session_too_long;
} gbx_http_exchange_response;

struct gbx_http_exchange {
    gbx_http_exchange *next; /* in its owner's list */
    int64_t id;
    gbx_http_method method;
    bool is_first_try;
    bool is_last_try;
    bool was_answered; /* for the owner: the answer to id was among the events */
    gbx_http_exchange_response response;
};

/* NULL: memory is out. */
gbx_http_exchange *gbx_http_exchange_start(const gbx_http_exchange_options *options);
void gbx_http_exchange_free(gbx_http_exchange *shared);

/* Has any of it been sent to the server? */
bool gbx_http_exchange_was_sent(const gbx_http_exchange *shared);

/* A text for people, by libcurl. */
const char *gbx_http_exchange_error(const gbx_http_exchange *shared, CURLcode result);

/* ---- tools.c ------------------------------------------------------------- */

/*
 * A server's list of tools, page by page.
 *
 * The JSON is kept as it came, unknown members included, together with what calls need:
 * which tools exist, and which are safe to call twice.
 */

/* Limit of all definitions together; a tool beyond it is left out. */
#define GBX_TOOLS_BYTES_MAX GBX_MIB(16)

typedef struct gbx_tool {
    char *name;
    bool is_reading;    /* readOnlyHint in every entry of this name */
    bool is_repeatable; /* is_reading, or idempotentHint */
    size_t at;          /* offset of its definition in the JSON */
    size_t len;
} gbx_tool;

/* Why a tool is left out. */
typedef enum gbx_tool_flaw {
    GBX_TOOL_NO_NAME,
    GBX_TOOL_LONG_NAME,
    GBX_TOOL_TWICE,
    GBX_TOOL_NO_SCHEMA,
    GBX_TOOL_UNSOUND,
    GBX_TOOL_TOO_MANY,
    GBX_TOOL_TOO_LONG,
    GBX_TOOL_SECRET,
    GBX_TOOL_FLAWS,
    GBX_TOOL_FINE = GBX_TOOL_FLAWS
} gbx_tool_flaw;

/* Zeroed, it is an empty list from no server. */
typedef struct gbx_tools {
    gbx_buf json; /* "[...]", not terminated, once it is closed */
    gbx_tool *list;
    size_t count;
    size_t dropped; /* number of tools left out */
    size_t flaws[GBX_TOOL_FLAWS];
    bool is_cut; /* the server has more pages, which were not read */
} gbx_tools;

/* May a tool with this input schema be called? NULL: any may. */
typedef bool gbx_tools_check(gbx_view schema);

void gbx_tools_open(gbx_tools *tools);
/* False: page is not a list of tools, or memory is out. */
bool gbx_tools_add(gbx_tools *tools, gbx_view page, gbx_tools_check *is_sound);
/* The same for a list that was made from another one: unless known is NULL, tools with
 * names that are not in known are left out, since their names were changed on the
 * way. */
bool gbx_tools_add_known(gbx_tools *tools, gbx_view page, const gbx_tools *known);
/* Count what the other list left out as left out here, too, and cap the hints of each
 * tool at those of the other list. */
void gbx_tools_add_flaws(gbx_tools *tools, const gbx_tools *other);
/* Is it full? Tools that were left out count, too. */
bool gbx_tools_is_full(const gbx_tools *tools);
bool gbx_tools_close(gbx_tools *tools);
void gbx_tools_cleanup(gbx_tools *tools);

/* The schema of its input. */
gbx_view gbx_tools_schema(const gbx_tools *tools, const gbx_tool *tool);

/* NULL if no tool has that name. Borrowed. */
const gbx_tool *gbx_tools_find(const gbx_tools *tools, const char *name);

/* The name that may have been meant, or NULL. */
const char *gbx_tools_nearest(const gbx_tools *tools, const char *name);

/* "2 left out: 1 with no name, 1 there twice; further pages were not read", or "". */
void gbx_tools_say_dropped(const gbx_tools *tools, char *ret, size_t size);

gbx_view gbx_tools_view(const gbx_tools *tools); /* no value until it is closed */
bool gbx_tools_same(const gbx_tools *a, const gbx_tools *b);

/* ---- session.c ----------------------------------------------------------- */

/*
 * The conversation with one running server: its era, its tools, and requests.
 *
 * Both eras look the same from outside. A session is ready once it knows the tools. It
 * is lost when its link is, or when it fails to become ready. Loop's thread only. Hooks
 * and answers come from the loop; they may do anything but free the session.
 */

#define GBX_VERSION_TEXT_MAX 32

typedef struct gbx_session gbx_session;

typedef struct gbx_session_hooks {
    void *user;
    void (*ready)(void *user, gbx_session *session);
    /* The list of tools was read again, or reading it has failed. */
    void (*listed)(void *user, gbx_session *session);
    /* The server has answered the check. */
    void (*checked)(void *user, gbx_session *session);
    void (*log)(void *user, const char *line);
    /* The server has forgotten the session or cannot be reached: nothing more is sent.
     * The session is lost once the calls in flight have ended. */
    void (*ending)(void *user, gbx_session *session, const char *why);
    /* Requests in flight have been answered with GBX_UPSTREAM_EXIT. */
    void (*lost)(void *user, gbx_session *session, const char *why);
} gbx_session_hooks;

typedef struct gbx_session_options {
    gbx_mcp_loop *loop;
    struct gbx_yard *yard;
    const gbx_mcp_upstream_config *config; /* borrowed for the session's life */
    uint32_t start_ms;
    gbx_session_hooks hooks;
} gbx_session_options;

/* What a session knows of its server; borrowed from it. */
typedef struct gbx_session_facts {
    char version[GBX_VERSION_TEXT_MAX]; /* of the protocol */
    bool is_modern;
    char server_name[129];
    char server_version[65];
    char *instructions;      /* never NULL once it is ready */
    const char *containment; /* constant */
    double start_ms;
    uint32_t tools_ttl_ms; /* how long the list is valid, or 0: until it changes */
    bool is_lasting;       /* it was lost, and a new one would be for the same reason */
} gbx_session_facts;

gbx_status gbx_session_new(const gbx_session_options *options, gbx_session **ret,
                           gbx_error *reterr) GBX_MUST_USE;

/* Pending answers are dropped. Do not call it from a hook. NULL is ignored. */
void gbx_session_free(gbx_session *session);

bool gbx_session_is_ready(const gbx_session *session);
bool gbx_session_is_lost(const gbx_session *session);
const gbx_session_facts *gbx_session_facts_of(const gbx_session *session);
const gbx_tools *gbx_session_tools(const gbx_session *session);

/* ---- calling -------------------------------------------------------------- */

typedef struct gbx_session_call {
    const char *tool;
    const char *args; /* JSON object */
    size_t args_len;
    const char *meta; /* members of _meta without braces, or NULL */
    bool is_again;    /* it was made before, without effect */
    void *user;
    void (*progress)(void *user, const char *message, size_t len); /* or NULL */
    void (*answer)(void *user, const gbx_upstream_reply *reply);
} gbx_session_call;

/* The id of the call, or 0: it cannot be sent. The call's text is copied. */
int64_t gbx_session_start_call(gbx_session *session, const gbx_session_call *call);

/* Notify the server; answer is not called any more. */
void gbx_session_drop_call(gbx_session *session, int64_t id, const char *reason);

size_t gbx_session_calls(const gbx_session *session); /* in flight */

/* Check that the server is alive: if it says nothing within a while, it is lost. */
void gbx_session_check(gbx_session *session);
/* Is such a check still unanswered? */
bool gbx_session_is_checked(const gbx_session *session);

/* Has it said that its tools have changed since they were read? */
bool gbx_session_is_stale(const gbx_session *session);
/* When the known tools were asked for. */
int64_t gbx_session_listed_ns(const gbx_session *session);
/* A call waits for its tools: ask in the next turn, unless a list is under way. */
void gbx_session_list_now(gbx_session *session);

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

/* ---- process.c ----------------------------------------------------------- */

/*
 * One running server: lines to it, lines from it, and its end.
 *
 * The owner gives it up with leave(); the process is then asked politely to end, and
 * freed when nothing of it is left. The yard knows all running processes, also those
 * without an owner, and can end them all at once.
 *
 * The whole program must ignore SIGPIPE. Loop's thread only.
 */

typedef struct gbx_process gbx_process;

typedef struct gbx_yard {
    gbx_process *first;
    struct gbx_http_client *web; /* what links over HTTP share; NULL: none was used */
    rlim_t descriptors;          /* see gbx_server_command */
    const gbx_policy *secrets;   /* removed from last words; borrowed, or NULL */
} gbx_yard;

typedef struct gbx_process_hooks {
    void *user;
    /* The line is borrowed until the hook returns. */
    void (*line)(void *user, const char *line, size_t len);
    /* A line longer than line_max: its beginning and its end, not terminated. */
    void (*long_line)(void *user, const char *head, size_t head_len, const char *tail,
                      size_t tail_len);
    void (*error_line)(void *user, const char *line); /* of stderr; hostile; escaped */
    /* It has closed its input: only this many of all sent bytes have reached it. Its
     * output is still read; it may be about to end. */
    void (*deaf)(void *user, uint64_t written);
    /* It has ended or will: no further line comes. why is borrowed; is_lasting: a new
     * one would end in the same way. Not called after leave. */
    void (*ended)(void *user, const char *why, bool is_lasting);
} gbx_process_hooks;

typedef struct gbx_process_options {
    gbx_mcp_loop *loop;
    gbx_yard *yard;
    gbx_server_command command; /* borrowed until start returns */
    size_t line_max;
    size_t waiting_max;   /* bytes that the server has not read */
    uint32_t patience_ms; /* when ending it: before each harder step */
    gbx_process_hooks hooks;
} gbx_process_options;

gbx_status gbx_process_start(const gbx_process_options *options, gbx_process **ret,
                             gbx_error *reterr) GBX_MUST_USE;

/* Send one message with its newline. False: it reads too slowly, or not any more. */
bool gbx_process_send(gbx_process *process, const void *data, size_t len);

/* Give it up: no hook is called any more, and the pointer is invalid. The process gets
 * the end of its input, later SIGTERM, later SIGKILL; is_hopeless: SIGKILL at once. */
void gbx_process_leave(gbx_process *process, bool is_hopeless);

/* As gbx_exit_status_add_words(), for a process that still runs. */
void gbx_process_add_words(const gbx_process *process, char *text, size_t size);

gbx_containment gbx_process_containment(gbx_process *process);
pid_t gbx_process_keeper(const gbx_process *process);

/* End all processes, owned or not, and wait until nothing is left: patience_ms for
 * each step, for all at once. Hooks are not called. Blocks; only for the shutdown of
 * the program. */
void gbx_yard_clear(gbx_yard *yard, uint32_t patience_ms);

#endif
