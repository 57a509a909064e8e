/* SPDX-License-Identifier: MIT */
/*
 * server - what every tool and resource of ours needs to know of the protocol: nothing.
 *
 * A feature registers tools and resources, and is called with requests. The two
 * eras of the protocol, negotiation, lists with their pages, progress tokens,
 * cancellation, and how a person is asked are the server's. Everything runs on the loop's
 * thread; no handler may block it.
 *
 * A request is ended exactly once, by gbx_mcp_finish() or gbx_mcp_fail(), also after it
 * was cancelled (nothing is sent then); it is gone after that.
 */
#ifndef GBX_MCP_SERVER_SERVER_H
#define GBX_MCP_SERVER_SERVER_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "mcp/rpc/rpc.h"

typedef struct gbx_mcp_server gbx_mcp_server;
typedef struct gbx_mcp_request gbx_mcp_request;

/* Texts are copied; NULL: none. */
typedef struct gbx_mcp_server_options {
    const char *name;
    const char *title;
    const char *version;
    const char *description;
    const char *instructions; /* for the model */
    size_t page_entries;      /* of a list; 0: 200 */
    uint32_t ask_ms;          /* how long a person has; 0: 300000 */
    uint32_t hold_ms;         /* how long what is held waits; 0: 5000 */
    uint32_t beat_ms;         /* of silence, then a sign of life; 0: 10000 */
} gbx_mcp_server_options;

gbx_status gbx_mcp_server_new(gbx_mcp_loop *loop, const gbx_mcp_server_options *options,
                              gbx_mcp_server **ret, gbx_error *reterr);
/* After the sessions are freed and every request is ended. NULL is ignored. */
void gbx_mcp_server_free(gbx_mcp_server *server);

/* Other instructions, for clients that come from now on. */
bool gbx_mcp_server_set_instructions(gbx_mcp_server *server, const char *text);

/* arguments: a JSON object, already known to be one; the schema is the tool's to check.
 * It is valid until the request is ended. */
typedef void (*gbx_mcp_tool_fn)(void *user, gbx_mcp_request *request,
                                gbx_view arguments);

/* A tool; every text is copied. */
typedef struct gbx_mcp_tool {
    const char *name;
    const char *title;
    const char *description;
    const char *input_schema;  /* JSON object */
    const char *output_schema; /* JSON object, or NULL */
    const char *annotations;   /* JSON object, or NULL */
    const char *meta;          /* JSON object for _meta, or NULL */
    gbx_mcp_tool_fn call;
    void *user;
} gbx_mcp_tool;

/* Add a tool, or put it in the place of that name. Clients are told if anything that
 * they can see has changed. */
bool gbx_mcp_server_set_tool(gbx_mcp_server *server, const gbx_mcp_tool *tool);

/* What is said of a tool that there is not: append how else it may be called, or nothing.
 * name is hostile. NULL: nobody knows. */
void gbx_mcp_server_on_unknown_tool(gbx_mcp_server *server,
                                    void (*advise)(void *user, const char *name,
                                                   gbx_buf *to),
                                    void *user);

/*
 * While held, lists of tools and resources wait, and reads of resources that are
 * pending: what a server offers is not known before its data is loaded. Nothing else does.
 * Holds are counted; after hold_ms they no longer matter, or a client would give us up.
 */
void gbx_mcp_server_hold(gbx_mcp_server *server);
void gbx_mcp_server_release(gbx_mcp_server *server);

/* Answers with gbx_mcp_finish_resource(), or gbx_mcp_fail(). uri is valid until the
 * handler returns. */
typedef void (*gbx_mcp_read_fn)(void *user, gbx_mcp_request *request, const char *uri);
/* A resource, or a template if uri_template is set (then uri is its fixed beginning, and
 * read is called for every URI that begins so); every text is copied. */
typedef struct gbx_mcp_resource {
    const char *uri;
    const char *uri_template; /* or NULL */
    const char *name;
    const char *title;       /* or NULL */
    const char *description; /* or NULL */
    const char *mime_type;
    gbx_mcp_read_fn read;
    void *user;
    bool
        is_pending; /* there is nothing to be read yet: to be set again when there is */
} gbx_mcp_resource;

bool gbx_mcp_server_set_resource(gbx_mcp_server *server,
                                 const gbx_mcp_resource *resource);
/* Who has subscribed is told. */
void gbx_mcp_server_resource_updated(gbx_mcp_server *server, const char *uri);

/* ---- requests ------------------------------------------------------------ */

/* Called at most once, on the loop's thread, never from inside: the client wants the work
 * to stop, or is gone. The handler stops what it does and then ends the request as
 * always. A later call replaces the function; NULL: none. */
void gbx_mcp_on_cancel(gbx_mcp_request *request, void (*fn)(void *user), void *user);
bool gbx_mcp_cancelled(const gbx_mcp_request *request);

/* To the client if it asked for progress, else nothing; strictly increasing and at a
 * bounded rate by the server's doing, which tells of itself that work goes on where nothing
 * else is told. total < 0: unknown. */
void gbx_mcp_progress(gbx_mcp_request *request, double total, const char *message,
                      size_t message_len);
/* The same with a figure of the caller's own. Where that has not grown, the message goes
 * out with the next number and without a total, which would no longer fit; without a
 * message, nothing does. */
void gbx_mcp_progress_at(gbx_mcp_request *request, double progress, double total,
                         const char *message, size_t message_len);

/* Has it asked for progress? Others need not be asked for theirs if it has not. */
bool gbx_mcp_wants_progress(const gbx_mcp_request *request);
/* And would it be sent at this moment? What would not need not be made ready. */
bool gbx_mcp_hears_progress(gbx_mcp_request *request);

typedef enum gbx_mcp_level {
    GBX_MCP_DEBUG,
    GBX_MCP_INFO,
    GBX_MCP_NOTICE,
    GBX_MCP_WARNING,
    GBX_MCP_ERROR,
    GBX_MCP_CRITICAL,
    GBX_MCP_ALERT,
    GBX_MCP_EMERGENCY,
} gbx_mcp_level;

/* A log message to the client, if it asked for messages of that level; at a bounded rate.
 * data: one JSON value. Prefer progress: the protocol is giving up on this. */
void gbx_mcp_log(gbx_mcp_request *request, gbx_mcp_level level, const char *logger,
                 const char *data, size_t data_len);

/* The same of a console line of code. */
void gbx_mcp_log_line(gbx_mcp_request *request, gbx_log_level level, const char *text,
                      size_t len);
/* Would such a line be sent at this moment, as progress or as a message? */
bool gbx_mcp_hears_line(gbx_mcp_request *request, gbx_log_level level);

/* "2025-06-18": what its client and we speak. Later versions are greater texts. */
const char *gbx_mcp_request_version(const gbx_mcp_request *request);
/* May its result link to resources? Versions before 2025-06-18 have no block for that. */
#define GBX_MCP_LINKS_SINCE "2025-06-18"
bool gbx_mcp_takes_links(const gbx_mcp_request *request);

/* "traceparent", "tracestate", "baggage" of the request's _meta, or no value. */
gbx_view gbx_mcp_request_meta(const gbx_mcp_request *request, const char *name);

/* What a tool answers. */
typedef struct gbx_mcp_result {
    const char
        *content; /* JSON array of content blocks; NULL: one text block of text */
    size_t content_len;
    const char *text; /* UTF-8 */
    size_t text_len;
    const char *structured; /* JSON object, or NULL; without content and text it is the
                               text, too */
    size_t structured_len;
    const char *meta; /* JSON object for _meta, or NULL */
    bool is_error;
} gbx_mcp_result;

void gbx_mcp_finish(gbx_mcp_request *request, const gbx_mcp_result *result);
/* contents: JSON array of {uri, mimeType, text | blob}. */
void gbx_mcp_finish_resource(gbx_mcp_request *request, const char *contents,
                             size_t len);

/* The words of is_error, for where there is nothing else to say. */
void gbx_mcp_finish_error(gbx_mcp_request *request, const char *text);

/* A JSON-RPC error; what a model should repair is a result with is_error instead. */
#define GBX_MCP_INTERNAL_ERROR (-32603)
/* -32602 or -32002, as the era has it. message NULL: there is none of that uri. */
void gbx_mcp_fail_no_resource(gbx_mcp_request *request, const char *uri,
                              const char *message);
void gbx_mcp_fail(gbx_mcp_request *request, int code, const char *message);

/* ---- asking a person ------------------------------------------------------ */

typedef enum gbx_mcp_answer {
    GBX_MCP_ANSWER_ACCEPT,
    GBX_MCP_ANSWER_DECLINE,
    GBX_MCP_ANSWER_CANCEL, /* dismissed */
    GBX_MCP_ANSWER_LATE,   /* there is none: the person has taken too long */
    GBX_MCP_ANSWER_NOBODY, /* the client cannot ask, or answered with an error */
    GBX_MCP_ANSWER_ENDED,  /* there is none: the request is over, or was cancelled */
} gbx_mcp_answer;

/* Does the client of this request say that it can show a form? */
bool gbx_mcp_can_ask(const gbx_mcp_request *request);

/*
 * Ask by a form. Legacy: a request to the client. Modern: the request ends for the client
 * as input_required with a sealed state, and goes on when the client comes back with it;
 * for the handler there is no difference but time. Several may be asked at once by one
 * request. done is called exactly once, on the loop's thread, never from inside; with
 * ENDED after the request has ended, if it ends before the answer.
 *
 * schema: JSON object, flat, as elicitation has it. content: what was filled in, or no
 * value.
 */
void gbx_mcp_ask(gbx_mcp_request *request, const char *message, const char *schema,
                 void (*done)(void *user, gbx_mcp_answer answer, gbx_view content),
                 void *user);

/* ---- stdio.c ------------------------------------------------------------- */

/*
 * A session on standard input and output, from its first byte to its end.
 *
 * The end is: end of input, a signal that asks us to go, or a client that does not read.
 * Requests, begun or not, have a moment to be answered after the end of input, none
 * otherwise; then they are cancelled, their handlers have a moment to be through, and the
 * loop is stopped, all within STDIO_END_MS. A client that does not read stops being read
 * from.
 */

/* From the reason to end to the stop of the loop. */
#define GBX_MCP_STDIO_END_MS 650

typedef struct gbx_mcp_stdio gbx_mcp_stdio;

/* Serve on two descriptors, which are borrowed, and stop the loop with status 0 at the
 * end. Handles SIGTERM, SIGINT and SIGHUP, blocked or not: the second of them exits at once. */
gbx_status gbx_mcp_stdio_new(gbx_mcp_loop *loop, gbx_mcp_server *server, int in_fd,
                             int out_fd, gbx_mcp_stdio **ret, gbx_error *reterr);

/* Why the end has come, if it is that a descriptor cannot be read or written; else 0, and
 * so if the client is gone. */
int gbx_mcp_stdio_read_errno(const gbx_mcp_stdio *stdio);
int gbx_mcp_stdio_write_errno(const gbx_mcp_stdio *stdio);

/* Ends the session. NULL is ignored. */
void gbx_mcp_stdio_free(gbx_mcp_stdio *stdio);

#endif
