/* SPDX-License-Identifier: MIT */
/*
 * server - hides the MCP protocol from the tools and resources that we offer.
 *
 * A feature registers tools and resources, and is called with requests. The server
 * handles the two eras of the protocol, negotiation, lists, progress tokens,
 * cancellation, and questions to a person. Everything runs on the loop's
 * thread; no handler may block it.
 *
 * Each request is ended exactly once, by gbx_mcp_finish() or gbx_mcp_fail(), even after
 * it was cancelled (nothing is sent then). This frees the request.
 */
#ifndef GBX_MCP_SERVER_SERVER_H
#define GBX_MCP_SERVER_SERVER_H

#include "base/buf.h"
#include "base/fail.h"
#include "base/json_view.h"
#include "mcp/rpc/rpc.h"
#include "mcp/telemetry/telemetry.h"

typedef struct gbx_mcp_server gbx_mcp_server;
typedef struct gbx_mcp_request gbx_mcp_request;

/* Texts are copied; NULL: none. */
typedef struct gbx_mcp_server_options {
    const char *name;
    const char *title;
    const char *version;
    const char *description;
    const char *instructions; /* for the model */
    uint32_t ask_ms;          /* time for a person's answer; 0: 300000 */
    uint32_t hold_ms;         /* longest wait while held; 0: 5000 */
    uint32_t beat_ms;         /* silence before a keep-alive; 0: 10000 */
    /* Is that tool offered to this client? NULL: every tool is. */
    bool (*offers)(const void *user, const char *tool);
    const void *offers_user;
    gbx_telemetry
        *telemetry; /* observes calls of tools; borrowed; NULL: nothing does */
} gbx_mcp_server_options;

gbx_mcp_server *gbx_mcp_server_new(gbx_mcp_loop *loop,
                                   const gbx_mcp_server_options *options);
/* Call it after the client is gone and every request has ended. NULL is ignored. */
void gbx_mcp_server_free(gbx_mcp_server *server);

/* Change the instructions for clients that connect from now on. */
void gbx_mcp_server_set_instructions(gbx_mcp_server *server, const char *text);

/* Limit of a tool's description and of the instructions, in characters: hosts silently
 * cut them after 2,048. */
#define GBX_MCP_TOLD_MAX 2000

/* arguments: a JSON object; the tool checks it against its schema. It is valid until
 * the request is ended. */
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

/* Add a tool, or replace the tool of that name. Clients are notified if anything that
 * they can see has changed. */
bool gbx_mcp_server_set_tool(gbx_mcp_server *server, const gbx_mcp_tool *tool);

/* Set the function that adds advice to the error for an unknown tool: it appends how
 * else the tool may be called, or nothing. name is hostile. NULL: no advice. */
void gbx_mcp_server_on_unknown_tool(gbx_mcp_server *server,
                                    void (*advise)(void *user, const char *name,
                                                   gbx_buf *to),
                                    void *user);

/*
 * While the server is held, lists of tools and resources wait, and so do reads of
 * pending resources: the data that decides what is offered is still loading. Other
 * requests do not wait. Holds are counted. After hold_ms they are ignored, since
 * clients would give up on this server.
 */
void gbx_mcp_server_hold(gbx_mcp_server *server);
void gbx_mcp_server_release(gbx_mcp_server *server);

/* Answer with gbx_mcp_finish_resource() or gbx_mcp_fail(). uri is valid until the
 * handler returns. */
typedef void (*gbx_mcp_read_fn)(void *user, gbx_mcp_request *request, const char *uri);
/* A resource, or a template if uri_template is set: then uri is its fixed beginning,
 * and read is called for every URI that begins with it. Every text is copied. */
typedef struct gbx_mcp_resource {
    const char *uri;
    const char *uri_template; /* or NULL */
    const char *name;
    const char *title;       /* or NULL */
    const char *description; /* or NULL */
    const char *mime_type;
    gbx_mcp_read_fn read;
    void *user;
    bool is_pending; /* not readable yet; set the resource again when it is */
} gbx_mcp_resource;

bool gbx_mcp_server_set_resource(gbx_mcp_server *server,
                                 const gbx_mcp_resource *resource);
/* Notify the clients that have subscribed to it. */
void gbx_mcp_server_resource_updated(gbx_mcp_server *server, const char *uri);

/* The lists of the protocol. */
typedef enum gbx_mcp_list {
    GBX_MCP_TOOLS,
    GBX_MCP_RESOURCES,
    GBX_MCP_TEMPLATES,
    GBX_MCP_PROMPTS,
    GBX_MCP_LISTS,
} gbx_mcp_list;

/* What other servers have: lists but those of tools, reads of resources whose URI begins
 * with `scheme`, and all requests about prompts and completion go to `run`. It ends them
 * by gbx_mcp_finish_list(), gbx_mcp_finish_members() or an error. */
typedef struct gbx_mcp_proxy {
    const char *scheme;
    void (*run)(void *user, gbx_mcp_request *request, const char *method,
                gbx_view params);
    /* The client's subscriptions have changed. */
    void (*subscribed)(void *user);
    void *user;
} gbx_mcp_proxy;

/* Borrowed, and before the loop runs. */
void gbx_mcp_server_set_proxy(gbx_mcp_server *server, const gbx_mcp_proxy *proxy);
/* Call fn for each resource to which the client has subscribed; some twice. */
void gbx_mcp_server_each_subscribed(const gbx_mcp_server *server,
                                    void (*fn)(void *user, const char *uri),
                                    void *user);
/* Notify the clients that have asked for that list. */
void gbx_mcp_server_list_changed(gbx_mcp_server *server, gbx_mcp_list list);
/* entries: JSON objects separated by commas, behind our own. */
void gbx_mcp_finish_list(gbx_mcp_request *request, const char *entries, size_t len);
/* members: of the result, without braces. */
void gbx_mcp_finish_members(gbx_mcp_request *request, const char *members, size_t len,
                            bool is_cacheable);

/* ---- requests ------------------------------------------------------------ */

/* fn is called at most once, on the loop's thread, never from inside, when the client
 * cancels the request or is gone. The handler then stops its work and ends the
 * request as usual. A later call replaces the function; NULL: none. */
void gbx_mcp_on_cancel(gbx_mcp_request *request, void (*fn)(void *user), void *user);

/* Send progress if the client asked for it. The server makes it strictly
 * increasing and bounds its rate; during silence it sends keep-alives by itself.
 * total < 0: unknown. */
void gbx_mcp_progress(gbx_mcp_request *request, double total, const char *message,
                      size_t message_len);
/* The same with the caller's own figure. If that has not grown, the message is sent
 * with the next number and without total, which would no longer fit; without a message,
 * nothing is sent. */
void gbx_mcp_progress_at(gbx_mcp_request *request, double progress, double total,
                         const char *message, size_t message_len);

/* Has the client asked for progress? If not, do not ask others for theirs. */
bool gbx_mcp_wants_progress(const gbx_mcp_request *request);
/* True if progress would be sent now. If not, do not prepare it. */
bool gbx_mcp_hears_progress(gbx_mcp_request *request);

/* Send a console line of code, if the client asked for log messages of that level; the
 * rate is bounded. Prefer progress: the protocol is giving up log messages. */
void gbx_mcp_log_line(gbx_mcp_request *request, gbx_log_level level, const char *text,
                      size_t len);
/* True if such a line would be sent now, as progress or as a log message. */
bool gbx_mcp_hears_line(gbx_mcp_request *request, gbx_log_level level);

/* The protocol version of the request: "2025-06-18". A later version is greater in
 * strcmp(). */
const char *gbx_mcp_request_version(const gbx_mcp_request *request);
/* May its result link to resources? Versions before 2025-06-18 have no content
 * block for that. */
#define GBX_MCP_LINKS_SINCE "2025-06-18"
bool gbx_mcp_takes_links(const gbx_mcp_request *request);

/* "traceparent", "tracestate", "baggage" of the request's _meta, or no value. */
gbx_view gbx_mcp_request_meta(const gbx_mcp_request *request, const char *name);

/* The call that the request is; unobserved unless it calls a tool. */
gbx_call_span *gbx_mcp_request_span(gbx_mcp_request *request);

/* The result of a tool. */
typedef struct gbx_mcp_result {
    const char *content; /* JSON array of content blocks */
    size_t content_len;
    const char *structured; /* JSON object, or NULL; content should say the same */
    size_t structured_len;
    const char *meta; /* JSON object for _meta, or NULL */
    bool is_error;
} gbx_mcp_result;

void gbx_mcp_finish(gbx_mcp_request *request, const gbx_mcp_result *result);
/* contents: JSON array of {uri, mimeType, text | blob}. */
void gbx_mcp_finish_resource(gbx_mcp_request *request, const char *contents,
                             size_t len);

/* A JSON-RPC error. For errors that a model should repair, use a result with
 * is_error. */
/* The code is -32602 or -32002, depending on the era. message NULL: a standard
 * message. */
void gbx_mcp_fail_no_resource(gbx_mcp_request *request, const char *uri,
                              const char *message);
void gbx_mcp_fail(gbx_mcp_request *request, int code, const char *message);
/* False, and nothing has ended: the client is of an era without this error. missing: bits of
 * gbx_mcp_asking that it has to declare. */
bool gbx_mcp_fail_undeclared(gbx_mcp_request *request, unsigned missing,
                             const char *message);

/* ---- asking a person ------------------------------------------------------ */

typedef enum gbx_mcp_answer {
    GBX_MCP_ANSWER_ACCEPT,
    GBX_MCP_ANSWER_DECLINE,
    GBX_MCP_ANSWER_CANCEL, /* dismissed */
    GBX_MCP_ANSWER_LATE,   /* no answer: the person took too long */
    GBX_MCP_ANSWER_NOBODY, /* the client cannot ask, or answered with an error */
    GBX_MCP_ANSWER_ENDED,  /* no answer: the request has ended or was cancelled */
} gbx_mcp_answer;

/* How the client of this request can ask, where the method allows it: bits of
 * gbx_mcp_asking. */
unsigned gbx_mcp_can_ask(const gbx_mcp_request *request);
/* The same of the client's latest request, whatever it was for; forms, too, if there is a
 * page, which may be opened later. */
unsigned gbx_mcp_server_can_ask(const gbx_mcp_server *server);

/*
 * Ask with a form, at the client, and on the page if there is one. Legacy: sends a
 * request to the client. Modern: answers the client's request with input_required and a
 * random handle as its state; the work continues when the client returns with that
 * handle, and the handler notices only the delay. One request may ask several questions
 * at once. done is called exactly once, on the loop's thread, never from inside. If the
 * request ends first, done is called after that, with ENDED.
 *
 * schema: JSON object, flat, as in elicitation. about: members of JSON for the page,
 * without braces, or NULL. content: the filled-in form, or no value.
 */
void gbx_mcp_ask(gbx_mcp_request *request, const char *message, const char *schema,
                 const char *about,
                 void (*done)(void *user, gbx_mcp_answer answer, gbx_view content),
                 void *user);

/* The name of the question that was asked last, for a modern client, if it can be one. A
 * client that has the answer under this name in its request already is not asked. */
void gbx_mcp_name_question(gbx_mcp_request *request, gbx_view name);

/* Ask a person to open url. ACCEPT: they have agreed to; what they do there is not known here.
 * id: of this question alone. Everything else is as above. */
void gbx_mcp_ask_url(gbx_mcp_request *request, const char *message, const char *url,
                     const char *id,
                     void (*done)(void *user, gbx_mcp_answer answer, gbx_view content),
                     void *user);
/* Ask the client itself. what: SAMPLING or ROOTS; params: members of JSON, without braces.
 * ACCEPT: content is the client's result, of any shape. Everything else is as above. */
void gbx_mcp_ask_client(
    gbx_mcp_request *request, gbx_mcp_asking what, const char *params,
    void (*done)(void *user, gbx_mcp_answer answer, gbx_view content), void *user);
/* Is a question of that request without an answer? */
bool gbx_mcp_is_asking(const gbx_mcp_request *request);
/* What the person was to do there is done. */
void gbx_mcp_url_is_done(gbx_mcp_request *request, const char *id);

/* Another place where a person can fill in forms: a page of this machine. The first
 * answer, there or at the client, is the answer. */
typedef struct gbx_mcp_page {
    void *user;
    /* Does a person look at it? Then a client that cannot ask need not. */
    bool (*is_watched)(const void *user);
    /* A question is open. json: message, requestedSchema, code, and its about. */
    void (*show)(void *user, uint64_t number, const char *json);
    /* It is not open any more. */
    void (*hide)(void *user, uint64_t number);
} gbx_mcp_page;

/* Copied; NULL: none. */
void gbx_mcp_server_set_page(gbx_mcp_server *server, const gbx_mcp_page *page);
/* The person's answer: {action, content}, as in elicitation. Ignored if the question is
 * not open. */
void gbx_mcp_page_answer(gbx_mcp_server *server, uint64_t number, gbx_view result);
/* Nobody looks at it any more: questions that are open there alone end with NOBODY. */
void gbx_mcp_page_left(gbx_mcp_server *server);

/* ---- stdio.c ------------------------------------------------------------- */

/*
 * A session on standard input and output.
 *
 * It ends at the end of input, on a termination signal, or if the client does not read.
 * After the end of input, requests (begun or not) have a grace time to be answered;
 * in the other cases they do not. Then they are cancelled, their handlers have a short
 * time to finish, and the loop is stopped, all within GBX_MCP_STDIO_END_MS. While a
 * client does not read our output, we do not read its input.
 */

/* Maximum time from the reason to end until the loop stops. */
#define GBX_MCP_STDIO_END_MS 650

typedef struct gbx_mcp_stdio gbx_mcp_stdio;

/* Serve on two borrowed descriptors, and stop the loop with status 0 at the
 * end. Unblocks and handles SIGTERM, SIGINT and SIGHUP; a second signal exits
 * at once. */
gbx_status gbx_mcp_stdio_new(gbx_mcp_loop *loop, gbx_mcp_server *server, int in_fd,
                             int out_fd, gbx_mcp_stdio **ret, gbx_error *reterr);

/* The error, if the session ended because a descriptor could not be read or written;
 * else 0, also if the client is gone. */
int gbx_mcp_stdio_read_errno(const gbx_mcp_stdio *stdio);
int gbx_mcp_stdio_write_errno(const gbx_mcp_stdio *stdio);

/* Ends the session. NULL is ignored. */
void gbx_mcp_stdio_free(gbx_mcp_stdio *stdio);

#endif
