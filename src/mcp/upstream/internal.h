/* SPDX-License-Identifier: MIT */
/* Types and functions that only the files of src/mcp/upstream share. */
#ifndef GBX_MCP_UPSTREAM_INTERNAL_H
#define GBX_MCP_UPSTREAM_INTERNAL_H

#include "audit/audit.h"
#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "fetch/fetch.h"
#include "fetch/libcurl.h"
#include "mcp/config/config.h"
#include "mcp/rpc/rpc.h"
#include "mcp/upstream/keeper/keeper.h"
#include "mcp/upstream/oauth.h"
#include "mcp/upstream/upstream.h"
#include "policy/policy.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/types.h>

typedef struct gbx_yard gbx_yard;               /* all child processes */
typedef struct gbx_http_client gbx_http_client; /* what all links over HTTP share */

/* ---- tool_list.c --------------------------------------------------------- */

/*
 * A server's list of tools, page by page.
 *
 * The JSON is kept with its unknown members, but without secrets. Calls also need to
 * know which tools exist, and which are safe to call twice.
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

/* Shared by a session and its server. drop, find, view and same take NULL. */
typedef struct gbx_tools {
    unsigned users;
    gbx_buf json; /* "[...]" without a NUL, once it is closed */
    gbx_tool *list;
    size_t count;
    size_t dropped;   /* number of tools left out */
    const char *flaw; /* of the first of them, or NULL; constant */
    bool is_cut;      /* the server has more pages, which were not read */
    /* "2 left out, one that is there twice; further pages were not read", or ""; once it
     * is closed. */
    char dropped_why[GBX_TOOLS_DROPPED_SIZE];
} gbx_tools;

/* An empty list. */
gbx_tools *gbx_tools_new(void);
void gbx_tools_drop(gbx_tools *tools);
/* Add a page, with values of secrets removed: the server knows some, and its texts are
 * shown to models and people. A tool whose name holds a secret is left out, since it
 * cannot be called by another name; with has_headers, so is one whose annotations for
 * headers are unsound. False: page is not a list of tools. */
bool gbx_tools_add(gbx_tools *tools, gbx_view page, bool has_headers,
                   const gbx_policy *secrets);
void gbx_tools_close(gbx_tools *tools);

/* A member of its definition, such as inputSchema. */
gbx_view gbx_tools_member(const gbx_tools *tools, const gbx_tool *tool,
                          const char *name);
/* NULL if no tool has that name. Borrowed. */
gbx_tool *gbx_tools_find(const gbx_tools *tools, const char *name);
gbx_view gbx_tools_view(const gbx_tools *tools); /* no value until it is closed */
bool gbx_tools_same(const gbx_tools *a, const gbx_tools *b);

/* ---- schema_check.c -------------------------------------------------------- */

/* False: the value certainly does not fit, or if is_strict may not fit; why says where and
 * why. */
bool gbx_schema_check(gbx_view schema, gbx_view value, bool is_strict, char *why,
                      size_t size);

/* ---- process.c, link_http.c: links ----------------------------------------- */

/*
 * The connection to one upstream server: a child process, or an HTTP address.
 *
 * Messages are sent and received whole. A lost link never recovers; create a new one.
 * Loop's thread only. Hooks are called from the loop, never from inside a function of
 * the link, except for log.
 */

/* A longer message from a server is rejected as an answer. */
#define GBX_LINK_MESSAGE_MAX GBX_MIB(32)

/* Once a server has left this much unread, nothing more is sent to it. */
#define GBX_LINK_WAITING_MAX GBX_MIB(64)

/* What is known of a request that gets no answer. */
typedef enum gbx_unanswered {
    GBX_UNANSWERED,         /* nothing: the server may have acted on it */
    GBX_UNANSWERED_PASSING, /* it may have acted; it may answer a little later */
    GBX_UNANSWERED_ODD,     /* it may have acted; it is not an MCP server, and a person
                             * must fix that first */
    /* The server did nothing for the request. Moreover, it: */
    GBX_UNANSWERED_SPOKEN,  /* answers, but does not accept this request */
    GBX_UNANSWERED_LATER,   /* may accept it a little later */
    GBX_UNANSWERED_LASTING, /* will not accept it until a person has fixed something */
    GBX_UNANSWERED_SIGN_IN, /* will not accept it until a person has signed in */
    /* The same, and nothing more must be sent: it has forgotten the session or cannot
     * be reached. Other requests may still be answered. */
    GBX_UNANSWERED_FORGOTTEN,
    GBX_UNANSWERED_AWAY, /* not reachable until a person has fixed something */
} gbx_unanswered;

typedef struct gbx_link_hooks {
    void *user;
    /* about: the id of our request that the message answers, if the transport
     * shows it, else 0. The text is borrowed until the hook returns. The hook may
     * leave the link. */
    void (*message)(void *user, const char *text, size_t len, int64_t about);
    /* A message was too long, and is skipped. */
    void (*too_long)(void *user);
    /* True if the answer to this request is still awaited. */
    bool (*awaits)(void *user, int64_t id);
    /* This request (if about is not 0) gets no answer. */
    void (*unanswered)(void *user, int64_t about, gbx_upstream_fault fault,
                       const char *why, gbx_unanswered how);
    /* The server has closed its input: it reads no more than the first `written` bytes
     * of all that were sent. Answers may still come. */
    void (*deaf)(void *user, uint64_t written, const char *why);
    /* Messages that the server sent unasked may have been missed. */
    void (*missed)(void *user);
    void (*log)(void *user, const char *line); /* hostile, but escaped */
    /* The link is freed, and no hook is called afterwards. is_lasting: a new link would
     * be lost, too, until a person has fixed something. */
    void (*lost)(void *user, const char *why, bool is_lasting);
} gbx_link_hooks;

/* One message to send. */
typedef struct gbx_link_message {
    const char *text; /* one line with its newline; copied */
    size_t len;
    int64_t id;         /* of a request of ours; else 0 */
    const char *method; /* of a request or a notification, constant; else NULL */
    const char *name;   /* of the tool that it calls, or NULL */
    bool is_aside;      /* nobody waits for an answer */
    bool is_again;      /* the call was sent before, without an answer */
    bool is_repeatable; /* sending it twice does no harm */
    gbx_view schema;    /* of the tool's input, or no value */
    gbx_view args;      /* of the call */
    char traceparent[GBX_TRACEPARENT_SIZE]; /* of the call, or "" */
} gbx_link_message;

typedef struct gbx_link gbx_link;

typedef struct gbx_link_ops {
    /* False: it cannot be sent now. */
    bool (*send)(gbx_link *link, const gbx_link_message *message);
    /* The answer to this request is not awaited any more. NULL: only the server is
     * notified. */
    void (*forget)(gbx_link *link, int64_t id);
    /* The agreed protocol version, borrowed until the function returns. May be NULL. */
    void (*agree)(gbx_link *link, const char *version, bool is_modern);
    /* Give up the link: no hook is called any more, and the pointer is invalid.
     * is_hopeless: kill the server at once. */
    void (*leave)(gbx_link *link, bool is_hopeless);
    /* Append the last lines of the server's stderr, if there are any. May be NULL. */
    void (*add_words)(const gbx_link *link, char *text, size_t size);
    /* How its processes are contained, once it is ready: a constant text, "" if that is
     * unknown. A NULL function: they are not. */
    const char *(*containment)(gbx_link *link);
    /* True for a child process: its output may have other lines than messages, and it
     * may end. Over HTTP, arguments may also be sent as headers, so only tools with
     * sound annotations can be called. */
    bool is_process;
} gbx_link_ops;

struct gbx_link {
    const gbx_link_ops *ops;
};

typedef struct gbx_link_options {
    gbx_mcp_loop *loop;
    gbx_yard *yard;
    const gbx_mcp_upstream_config *config; /* borrowed for the link's life */
    gbx_link_hooks hooks;
} gbx_link_options;

/* Streamable HTTP, and the HTTP+SSE transport before it. */
gbx_status gbx_link_http(const gbx_link_options *options, gbx_link **ret,
                         gbx_error *reterr) GBX_MUST_USE;

/* ---- server_spawn.c -------------------------------------------------------- */

/*
 * The environment of a server: a few of our variables by name, and configured ones.
 *
 * It gets no other variables of ours, and so no tokens for other servers.
 */

/* "NAME=value" strings, NULL at the end. */
char **gbx_environ_new(const gbx_mcp_upstream_config *config);

/* Wiped before it is freed: configured values may be secret. */
void gbx_environ_free(char **environment);

/* A server that runs below its own keeper. All descriptors are close-on-exec, and ours
 * are non-blocking. */
typedef struct gbx_spawned_server {
    int pidfd;  /* the keeper's; readable once all processes are gone */
    int fds[4]; /* our ends, by the number of the other end: a socket for the server's
                 * input, pipes of its output and errors, and GBX_KEEPER_FD */
} gbx_spawned_server;

/*
 * Call it on a thread that lives as long as the servers do: the kernel treats the end
 * of that thread as the death of the keeper's parent. If the command cannot be
 * executed, the keeper reports it later.
 */
gbx_status gbx_server_spawn(const gbx_mcp_upstream_config *config, const gbx_yard *yard,
                            gbx_spawned_server *ret, gbx_error *reterr) GBX_MUST_USE;
/* Closing its control socket kills all remaining processes. */
void gbx_spawned_server_close(gbx_spawned_server *spawned);

/* ---- exit_status.c --------------------------------------------------------- */

/* Keeps only the end of a stream, however much was written. */

#define GBX_TAIL_BYTES 4096

typedef struct gbx_stderr_tail {
    char bytes[GBX_TAIL_BYTES];
    size_t len;
    bool is_cut; /* something came before it */
} gbx_stderr_tail;

void gbx_stderr_tail_add(gbx_stderr_tail *tail, const char *data, size_t len);

/* Append the last eight lines, without blank lines and stack frames, with " | " between
 * them. Terminal escapes and values of secrets are removed (secrets NULL: none). */
bool gbx_stderr_tail_print(const gbx_stderr_tail *tail, const gbx_policy *secrets,
                           gbx_buf *to);

/* A text about how a server ended. */

#define GBX_ENDING_TEXT_MAX 1024

/* What is known of the start and the end of a server. */
typedef struct gbx_exit_status {
    gbx_containment containment;
    const gbx_mcp_upstream_config *config; /* borrowed; add_words() does not use it */
    int no_directory;                      /* errno, or 0 */
    int no_command;
    bool has_status;
    int status; /* as of waitpid() */
    bool output_closed;
    bool was_stopped; /* by us, so the status says nothing */
    gbx_stderr_tail errors;
    const gbx_policy *secrets; /* not shown; borrowed, or NULL */
} gbx_exit_status;

/* Append "; its last words: ...", the last lines of stderr, if there are any. */
void gbx_exit_status_add_words(const gbx_exit_status *ending, char *text, size_t size);

/* "it ended with status 1; its last words: ...": escaped, at most size - 1 bytes. */
void gbx_exit_status_print(const gbx_exit_status *ending, char *text, size_t size);

/* ---- process.c ----------------------------------------------------------- */

/*
 * One running server: lines to it, lines from it, and its end.
 *
 * The owner gives it up with leave(). The server is then asked to end, and the object
 * is freed when all its processes have ended. The yard lists all objects, also those
 * without an owner, and can end them all at once.
 *
 * The whole program must ignore SIGPIPE. Loop's thread only.
 */

typedef struct gbx_process gbx_process;

struct gbx_yard {
    LIST_HEAD(, gbx_process) processes;
    gbx_http_client *web;      /* what links over HTTP share; NULL: none was used */
    rlim_t descriptors;        /* the servers' soft limit of them; 0: ours */
    const gbx_policy *secrets; /* removed from servers' texts; borrowed, or NULL */
    gbx_trust trust;           /* in the file of tokens */
    bool is_plain;             /* do not use namespaces */
};

/* Its leave() closes the server's input, later sends SIGTERM, later SIGKILL;
 * is_hopeless: SIGKILL at once. It calls only the hooks message, too_long, log, deaf
 * and lost. */
gbx_status gbx_link_stdio(const gbx_link_options *options, gbx_link **ret,
                          gbx_error *reterr) GBX_MUST_USE;

/* End all processes, owned or not, and wait until nothing is left: patience_ms for
 * each step, for all at once. Hooks are not called. Blocks; only for the shutdown of
 * the program. */
void gbx_yard_clear(gbx_yard *yard, uint32_t patience_ms);

/* ---- sse.c --------------------------------------------------------------- */

/*
 * Parses a stream of server-sent events (HTML standard): bytes in, events
 * out. No I/O.
 *
 *     gbx_sse_feed(&sse, bytes, n);
 *     while (gbx_sse_next(&sse, &event))
 *         ...
 */

#define GBX_SSE_NAME_MAX 32
#define GBX_SSE_ID_MAX   512

typedef struct gbx_sse {
    gbx_buf in;   /* unread bytes, from `start` on */
    size_t start; /* bytes before it are removed in bulk, as events may be many */
    size_t seen;  /* no end of line before this */
    gbx_buf data;
    char name[GBX_SSE_NAME_MAX + 1];
    char id[GBX_SSE_ID_MAX + 1];      /* of the last whole event; kept between events */
    char next_id[GBX_SSE_ID_MAX + 1]; /* of the event being read */
    uint32_t retry_ms;                /* 0: none given */
    bool is_begun;                    /* the optional byte order mark was handled */
    bool has_data;
    bool is_told; /* data belongs to the last event; dropped at the next call */
    bool had_cr;
} gbx_sse;

/* Borrowed until the next call. */
typedef struct gbx_sse_event {
    const char *name; /* "message" if the event has none */
    const char *data;
    size_t len;
} gbx_sse_event;

void gbx_sse_init(gbx_sse *sse, size_t event_max);
void gbx_sse_cleanup(gbx_sse *sse);

/* False: an event is longer than event_max, or memory is out; the stream is
 * unusable. */
bool gbx_sse_feed(gbx_sse *sse, const void *data, size_t len);
/* False: no event is complete, or one was too long (data.failed). */
bool gbx_sse_next(gbx_sse *sse, gbx_sse_event *ret);

/* ---- http_exchange.c ----------------------------------------------------- */

/*
 * One HTTP request of an upstream server's link, and its response: a
 * body, or a stream of events.
 *
 * Hooks come from the loop, never from inside libcurl: they may do anything, even free
 * the exchange.
 */

/* Maximum length of a session id; a longer one is refused: it cannot be sent back. */
#define GBX_EXCHANGE_SESSION_MAX GBX_KIB(8)

typedef struct gbx_http_exchange gbx_http_exchange;
typedef LIST_HEAD(gbx_http_exchange_list, gbx_http_exchange) gbx_http_exchange_list;

typedef enum gbx_http_method {
    GBX_HTTP_POST,
    GBX_HTTP_GET,
    GBX_HTTP_DELETE,
} gbx_http_method;

/* Each hook may free the exchange; its arguments stay valid until it returns. */
typedef struct gbx_http_exchange_hooks {
    /* Status and headers have arrived; once, before the events. May be NULL. */
    void (*head)(void *user, gbx_http_exchange *exchange);
    /* One event of the stream. May be NULL. */
    void (*event)(void *user, gbx_http_exchange *exchange, const gbx_sse_event *event);
    /* It has ended with this result. Once. */
    void (*done)(void *user, gbx_http_exchange *exchange, CURLcode result);
} gbx_http_exchange_hooks;

typedef struct gbx_http_exchange_options {
    gbx_http_client *web;
    gbx_http_method method;
    const char *url;
    struct curl_slist *headers; /* owned from now on, also on failure */
    const void *body;           /* of a POST; copied */
    size_t body_len;
    bool is_call;        /* never resend it, even if the connection breaks */
    bool is_first_try;   /* for the owner: the call was not made before */
    bool is_last_try;    /* for the owner: an answered call is not made again */
    bool is_resent;      /* for the owner: with a renewed token */
    int64_t id;          /* of the request in it, or 0 */
    uint32_t timeout_ms; /* 0: none */
    uint32_t delay_ms;   /* before it is sent */
    size_t answer_max;   /* bytes of a body that is not a stream; 0: as a message */
    const gbx_http_exchange_hooks *hooks;
    void *user;
} gbx_http_exchange_options;

struct gbx_http_exchange {
    LIST_ENTRY(gbx_http_exchange) entry; /* in its owner's list */
    gbx_http_exchange_options options;
    bool was_answered; /* for the owner: the answer to id was among the events */
    /* What is known of the response. */
    long status;
    bool is_stream;
    bool is_too_long;
    gbx_buf body; /* empty for a stream of events; without a byte order mark */
    gbx_sse sse;
    /* For http_exchange.c; other files only read these. */
    CURL *easy;
    gbx_multi_entry multi_entry;
    gbx_buf sent_body; /* the body of a POST, and a NUL */
    size_t sent;       /* bytes of it, if is_call */
    char error[CURL_ERROR_SIZE];
    gbx_mcp_timer turn; /* examines what has arrived; begins it after its delay */
    size_t header_bytes;
    bool has_head;
    bool is_head_told;
    bool is_added;
    bool is_paused; /* events come faster than they are examined */
    bool is_over;
    bool is_telling; /* a hook is running, and may read the response */
    bool is_dropped; /* freed by that hook: release it once the hook has returned */
    CURLcode result;
};

/* NULL: it cannot be sent. */
gbx_http_exchange *gbx_http_exchange_start(const gbx_http_exchange_options *options);
/* NULL is ignored. */
void gbx_http_exchange_free(gbx_http_exchange *e);

/* A header of the response, or "". Borrowed until the next one is asked for. */
const char *gbx_http_exchange_header(const gbx_http_exchange *e, const char *name);
/* The WWW-Authenticate field that asks for a token, or "". Borrowed in the same way. */
const char *gbx_http_exchange_challenge(const gbx_http_exchange *e);

/* Why the exchange failed, for people. */
const char *gbx_http_exchange_error(const gbx_http_exchange *e, CURLcode result);

/* What all links over HTTP share: libcurl, loaded with the first link. */
struct gbx_http_client {
    gbx_libcurl lib;
    gbx_multi *multi;
    gbx_mcp_loop *loop;
    gbx_http_exchange_list farewells; /* their answers are ignored */
};

gbx_status gbx_http_client_new(gbx_mcp_loop *loop, gbx_http_client **ret,
                               gbx_error *reterr) GBX_MUST_USE;
/* Only farewells may still be in flight. NULL is ignored. */
void gbx_http_client_free(gbx_http_client *web);

/* Once the loop has ended: send the farewells, for at most ms. Blocks;
 * NULL is ignored. */
void gbx_http_client_finish(gbx_http_client *web, uint32_t ms);

/* Start an exchange whose answer is ignored. */
void gbx_http_client_say_farewell(gbx_http_exchange_options *options);

/* Resolve a URL that the server at base has sent. NULL: it is not on that server. */
char *gbx_http_resolve(const gbx_http_client *web, const char *base, const char *text,
                       size_t len);

/* A copy of a message that waits to be sent; wiped when it is freed. */
typedef struct gbx_http_waiting {
    TAILQ_ENTRY(gbx_http_waiting) entry;
    gbx_link_message message;
    char *text;
    char *name;
} gbx_http_waiting;

gbx_http_waiting *gbx_http_waiting_new(const gbx_link_message *message);
void gbx_http_waiting_free(gbx_http_waiting *waiting);

/* ---- http_headers.c ------------------------------------------------------ */

/* The headers of one request to an upstream server. */

typedef struct gbx_http_headers {
    const gbx_libcurl *lib;
    struct curl_slist *list; /* take ownership, or gbx_libcurl_wipe() it */
} gbx_http_headers;

/* value may be NULL: then libcurl's own header of that name is left out. */
void gbx_http_header_add(gbx_http_headers *headers, const char *name,
                         const char *value);
/* Add a value from a message's body, of at most 16 KiB: unchanged, or in base64 if a
 * header cannot hold it. */
void gbx_http_header_add_value(gbx_http_headers *headers, const char *name,
                               const char *value, size_t len);

/*
 * Arguments that a tool wants as headers, too ("x-mcp-header" in its schema), so that
 * proxies can route a call without reading its body.
 */

#define GBX_PARAMS_MAX   32
#define GBX_PARAM_PREFIX "Mcp-Param-"

/* True if all annotations in the schema are valid and allowed where they are. */
bool gbx_params_are_sound(gbx_view schema);

/* Add the headers of a call with these arguments. The schema must be sound. */
void gbx_params_add(gbx_view schema, gbx_view args, gbx_http_headers *headers);

/* ---- http_response.c ------------------------------------------------------- */

/* True if this is an answer to our request with that id, a result or an error. */
bool gbx_http_is_answer(const char *text, size_t len, int64_t id);
/* Is the body a JSON-RPC error? */
bool gbx_http_is_error(const gbx_http_exchange *e);
/* True if the body mentions a protocol version, such as 2025-03-26. Only its beginning
 * is searched. */
bool gbx_http_is_of_version(const gbx_http_exchange *e);

/* The connection fails until a person fixes the address or the certificate. */
bool gbx_http_is_lasting(CURLcode result);
/* True if the response is the requested stream of events. */
bool gbx_http_is_open(const gbx_http_exchange *stream);
/* What an error status says about the request. */
gbx_unanswered gbx_http_meaning(long status);

/* Secrets to remove from a server's texts. Each may be NULL. */
typedef struct gbx_link_secrets {
    const gbx_policy *configured;
    gbx_policy *const *tokens; /* the policy behind it changes */
} gbx_link_secrets;

/* Texts for people, to be freed: the status, with the server's text about it; and the
 * type of an answer that is not JSON, or NULL if it is JSON. */
char *gbx_http_status_text(const gbx_http_exchange *e, const gbx_link_secrets *secrets);
char *gbx_http_other_type(const gbx_http_exchange *e, const gbx_link_secrets *secrets);

/* ---- oauth_metadata.c ----------------------------------------------------------- */

/* The metadata of a server and of its authorization server. */

typedef struct gbx_oauth_metadata {
    char *resource;    /* the server's identifier in requests for tokens */
    char *scope;       /* to ask for, or NULL */
    char *issuer;      /* the authorization server that the server trusts */
    json_t *endpoints; /* metadata of the issuer */
} gbx_oauth_metadata;

/* Fetch a JSON object from a URL; NULL: there is none. */
typedef json_t *gbx_oauth_get_fn(void *user, const char *url);

/* The URL at which an issuer may have its metadata; index from 0. To be freed; NULL: there
 * are no more. */
char *gbx_oauth_issuer_place(const gbx_libcurl *lib, const char *issuer, size_t index);

/* challenge: the WWW-Authenticate field of the server's refusal, or ""; NULL: it
 * refused nothing. */
gbx_status gbx_oauth_discover(const gbx_libcurl *lib, const char *url,
                              const char *challenge, gbx_oauth_get_fn *get, void *user,
                              gbx_oauth_metadata *ret, gbx_error *reterr);
void gbx_oauth_metadata_cleanup(gbx_oauth_metadata *metadata);

/* A parameter of a Bearer challenge, to be freed; NULL: it has none of that name. */
char *gbx_oauth_challenge(const char *challenge, const char *name);

/* True if `asked` is https, or both it and the server at url are on this machine. */
bool gbx_oauth_is_safe(const gbx_libcurl *lib, const char *url, const char *asked);

/* ---- oauth_token.c -------------------------------------------------------------- */

/* Requests to a token endpoint, and the tokens that come back. */

/* Append name=value, percent-encoded. Nothing if value is NULL or "". */
void gbx_oauth_put(const gbx_libcurl *lib, gbx_buf *form, const char *name,
                   const char *value);

/* Send this form to the token endpoint, as the client in `kept`. */
gbx_http_exchange *gbx_oauth_request(gbx_http_client *web, const json_t *kept,
                                     gbx_buf *form,
                                     const gbx_http_exchange_hooks *hooks, void *user);

/* True if it is the code of an error, such as "invalid_grant". */
bool gbx_oauth_is_code(const char *text);

/* The JSON object of a whole response, or NULL. */
json_t *gbx_oauth_object(const gbx_http_exchange *e);

/* Put the tokens of a response into `kept`. GBX_E_DATA: it has none. */
gbx_status gbx_oauth_take(const gbx_http_exchange *e, CURLcode result, json_t *kept,
                          gbx_error *reterr);

/* ---- oauth_link.c ------------------------------------------------------------------ */

/* The token of one link: it is sent, renewed, and removed from answers. */

typedef struct gbx_oauth gbx_oauth;

typedef struct gbx_oauth_options {
    gbx_http_client *web;
    const gbx_mcp_upstream_config *server;
    gbx_trust trust;
    void *user;
    /* From the loop: */
    void (*renewed)(void *user); /* requests need not wait any more */
    /* A held request was sent again as this exchange, which the hook takes over. */
    void (*resent)(void *user, gbx_http_exchange *exchange);
    /* A held request stays refused; it is borrowed. The hook may free the gbx_oauth. */
    void (*refused)(void *user, gbx_http_exchange *exchange);
} gbx_oauth_options;

/* NULL: no token is stored, or the configuration has an Authorization field. All other
 * functions accept NULL. */
gbx_oauth *gbx_oauth_new(const gbx_oauth_options *options);
void gbx_oauth_free(gbx_oauth *oauth);

/* May requests be sent? If not, the token is being renewed: `renewed` is called. */
bool gbx_oauth_is_ready(gbx_oauth *oauth);
/* The server has refused the token. True: it is being renewed, and `renewed` is called. */
bool gbx_oauth_renew(gbx_oauth *oauth);
/* The same for a request, which is then sent again. If true, it takes the exchange. */
bool gbx_oauth_hold(gbx_oauth *oauth, gbx_http_exchange *refused);
/* The answer to that request is not awaited any more. */
void gbx_oauth_forget(gbx_oauth *oauth, int64_t id);
/* A text for people, to be freed: why the server refuses, and what to do. *ret_sign_in: a
 * sign-in would help. A scope that the token does not cover is stored for the next one. */
char *gbx_oauth_refusal(const gbx_oauth *oauth, const gbx_mcp_upstream_config *server,
                        const gbx_http_exchange *e, const gbx_link_secrets *secrets,
                        bool *ret_sign_in);
void gbx_oauth_add_header(const gbx_oauth *oauth, gbx_http_headers *headers);
/* A pointer to the policy with its tokens, which changes; NULL: it has no tokens. */
gbx_policy *const *gbx_oauth_hidden(const gbx_oauth *oauth);
/* Remove the tokens from a server's text: *text and *len may then point into buf, which
 * is initialized here and which the caller cleans up. */
void gbx_oauth_clean(const gbx_oauth *oauth, const char **text, size_t *len,
                     gbx_buf *buf);

#endif
