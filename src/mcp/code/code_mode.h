/* SPDX-License-Identifier: MIT */
/*
 * code_mode - the internal declarations of code mode. Only its files and tests include
 * it. script_run.c drives a run of code; the files that it uses call back through
 * may_end.
 */
#ifndef GBX_MCP_CODE_CODE_MODE_H
#define GBX_MCP_CODE_CODE_MODE_H

#include "base/buf.h"
#include "base/json_view.h"
#include "guard/guard.h"
#include "mcp/code/code.h"
#include "mcp/rpc/rpc.h"
#include "syntax/tree.h"

#include <glovebox/glovebox.h>
#include <glovebox/host.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

/* ---- content_blocks.c ---------------------------------------------------- */

/*
 * Write the content of one tool's result for a client. Blocks of known types are
 * checked and written anew; their total size is bounded.
 *
 * Results come from upstream servers: hostile, and only known to be JSON. A client
 * refuses a whole answer for one invalid block, so an invalid block becomes text.
 */

typedef struct gbx_blocks_room {
    size_t max;           /* bytes of all blocks, except the data of images and files */
    gbx_artifacts *store; /* keeps a text that is longer */
    const char *name;     /* of the artifact */
    const char *version;  /* protocol version that the client speaks */
    const char *server;   /* whose resources clients can read, or NULL */
    int64_t now_ns;
} gbx_blocks_room;

/* Append a block for each block of content. If they do not fit, join all texts into one
 * whose middle is left out, and put it before the other blocks; append lines that say
 * what was left out to `left_out`. */
void gbx_blocks_write(gbx_view content, const gbx_blocks_room *room, gbx_buf *to,
                      gbx_buf *left_out);

/* The same for a value that is not a list of blocks: its JSON becomes one text. */
void gbx_blocks_json(gbx_view value, const gbx_blocks_room *room, gbx_buf *to,
                     gbx_buf *left_out);

/* ---- script_reply.c ------------------------------------------------------ */

/* The reply to a model about a run: text, and the same as structured content. Each cut
 * is reported first, with exact sizes, and the whole is kept as an artifact. */

typedef struct gbx_script_reply_log {
    const char *level;
    const char *text; /* borrowed */
    size_t len;
} gbx_script_reply_log;

typedef enum gbx_code_call_outcome {
    GBX_CALL_DONE,
    GBX_CALL_FAILED,
    GBX_CALL_NOT_SENT,
    GBX_CALL_CANCELLED, /* its tool is read-only */
    GBX_CALL_DOUBTFUL,  /* it may have taken effect */
    GBX_CALL_OUTCOMES
} gbx_code_call_outcome;

typedef struct gbx_script_reply_error {
    const char *code; /* NULL: no error */
    const char *name; /* "TypeError", or "" */
    const char *message;
    uint32_t line;
    uint32_t column;
    const char *frame; /* or "" */
    const char *hint;  /* or "" */
} gbx_script_reply_error;

/* One artifact that the code kept. */
typedef struct gbx_script_reply_artifact {
    char uri[GBX_ARTIFACT_URI_SIZE];
    char name[64];
    char mime_type[64];
    size_t bytes;
} gbx_script_reply_artifact;

/* Maximum number of artifacts listed in a reply; others are only counted. */
#define GBX_REPLY_ARTIFACTS_MAX 64

typedef struct gbx_script_reply {
    const char *value; /* JSON; len 0: none */
    size_t value_len;
    const gbx_script_reply_log *logs;
    size_t log_count;
    bool logs_cut;                     /* the run's limit cut them */
    const struct gbx_code_call *calls; /* a linked list */
    size_t call_count;
    const gbx_script_reply_artifact *artifacts;
    size_t artifact_count;
    bool has_no_links;     /* name artifacts only in text and structure */
    const gbx_buf *images; /* further blocks of content; or NULL */
    gbx_script_reply_error error;
    const char *left_out; /* the engine's hint on a script without an error; or "" */
    const char *note;     /* further lines, e.g. of calls that had not ended; or "" */
    double wall_ms;
    double cpu_ms;
    uint64_t memory_bytes;
    uint32_t calls_left;
    double ms_left;
} gbx_script_reply;

typedef struct gbx_script_reply_texts {
    gbx_buf text;
    gbx_buf structured; /* JSON object */
    gbx_buf content; /* JSON array of blocks: the text, and a link for each artifact */
} gbx_script_reply_texts;

/* JSON Schema of the structured content. */
#define GBX_REPLY_SCHEMA                                                  \
    "{\"type\":\"object\",\"properties\":{"                               \
    "\"ok\":{\"type\":\"boolean\"},"                                      \
    "\"result\":{},"                                                      \
    "\"logs\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"      \
    "\"calls\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}},"     \
    "\"truncated\":{\"type\":\"boolean\"},"                               \
    "\"artifacts\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}," \
    "\"error\":{\"type\":\"object\"},"                                    \
    "\"usage\":{\"type\":\"object\"}},"                                   \
    "\"required\":[\"ok\",\"logs\",\"calls\",\"truncated\",\"artifacts\",\"usage\"]}"

/* cap: bytes of text that may be shown. False if memory is out. Clean up *ret in any
 * case. */
bool gbx_code_reply_write(const gbx_script_reply *reply, size_t cap,
                          gbx_artifacts *store, int64_t now_ns,
                          gbx_script_reply_texts *ret);
void gbx_script_reply_cleanup(gbx_script_reply_texts *texts);

/* The outcome of a call that has ended. */
gbx_code_call_outcome gbx_code_call_outcome_of(const struct gbx_code_call *call);

/* Append "up.write (line 3)". */
void gbx_reply_put_call(const struct gbx_code_call *call, gbx_buf *to);

/* ---- value.c ------------------------------------------------------------- */

/*
 * The value that code gets for a CallToolResult: its structured content, else the JSON
 * in its text, else the text. Other content becomes a handle.
 *
 * Results come from upstream servers: hostile, and only known to be JSON.
 */

/* The members of a result, found in one pass; missing ones have no value. */
typedef struct gbx_value_parts {
    gbx_view structured;
    gbx_view content;
    bool is_error;
} gbx_value_parts;

gbx_value_parts gbx_value_parts_of(gbx_view result);

/* The text of a text block, or of an embedded text resource; else not a value. */
gbx_view gbx_value_text_of(gbx_view block);

/* Keep bytes and append their handle, as JSON. */
typedef struct gbx_value_keeper {
    void (*keep)(void *user, const char *mime_type, const void *data, size_t len,
                 gbx_buf *handle);
    void *user;
} gbx_value_keeper;

/* True: the value's JSON was appended to `to`. False: the tool reported a failure; its
 * text was appended to message, the middle cut if it is long. */
bool gbx_value_of_result(const gbx_value_parts *parts, const gbx_value_keeper *keeper,
                         gbx_buf *to, gbx_buf *message);

/* True if the result has more than its structured content, which is all that code gets:
 * other blocks, or a text that is neither JSON nor part of it. */
bool gbx_value_has_more(const gbx_value_parts *parts);

/* Describe the form of a value in a few words of printable text: "string", "{ content:
 * string }", "[{ id: number, ... }, ...]". */
#define GBX_VALUE_SKETCH_SIZE 128
void gbx_value_sketch(gbx_view value, char ret[GBX_VALUE_SKETCH_SIZE]);

/* ---- code.c -------------------------------------------------------------- */

#define GBX_CODE_PROGRESS_MAX 2000 /* bytes of one progress message */
#define GBX_CODE_TOLD_MAX     5000 /* progress messages of a script; as in servers.js */
#define GBX_CODE_SERVER_SIZE  72   /* for the name of a server */

struct gbx_code_run;
struct gbx_code_call;
struct gbx_tool_listing;

struct gbx_mcp_code {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    const gbx_mcp_config *config;
    const gbx_mcp_settings *settings;
    const gbx_policy *policy; /* of the command line, or NULL */
    gbx_upstreams *upstreams;
    gbx_gate *gate;
    gbx_box *box;
    gbx_limits limits; /* of a run, in the engine */
    gbx_artifacts *artifacts;
    gbx_code_data data; /* count 0: scripts have no datasets */
    LIST_HEAD(, gbx_code_run) runs;
    LIST_HEAD(, gbx_tool_listing) listings;
    TAILQ_HEAD(, gbx_tool_listing) listed; /* to be reported, one per turn */
    gbx_mcp_timer turn;
    LIST_HEAD(, gbx_code_call) calls; /* of the tool `call` */
    LIST_HEAD(, gbx_discovery_run) discoveries;
    char *declared;        /* tools of the eager servers, as TypeScript; or NULL */
    bool is_held;          /* the first tools/list waits for `declared` alone */
    bool is_declaring;     /* a script that makes `declared` runs */
    bool is_declared_late; /* and must run again: more tools are known */
    bool file_changed;     /* the configuration; reported on standard error */
    bool change_told;      /* reported to the model, too */
};

/* The script's name in stack traces, and the host function that it calls. */
#define GBX_CODE_PRELOAD_NAME "servers.js"
#define GBX_CODE_HOST_NAME    "codemode"

/* Append the source of servers.js as a preload for those servers. sleep_ms: the longest
 * sleep. */
bool gbx_code_preload(gbx_buf *to, const char *const *names, size_t count,
                      uint32_t sleep_ms);

/* ---- catalog.c ----------------------------------------------------------- */

/* Look up servers and tools by name, and list tools. A server is looked up once, by
 * gbx_code_find_server(). */

/* True if code and models may see this server: not if it is disabled. A server that is
 * off because a variable is not set stays listed, so that callers learn which one is
 * missing. */
bool gbx_code_is_listed(const gbx_mcp_upstream_config *server);
/* True if there are servers, and each starts with us. */
bool gbx_code_is_eager(const gbx_mcp_code *code);
/* NULL if the server does not exist or cannot start: message then has the nearest name
 * or the reason, and *ret_code the error code, a constant. */
const gbx_mcp_upstream_config *gbx_code_find_server(const gbx_mcp_code *code,
                                                    const char *name, gbx_buf *message,
                                                    const char **ret_code);
/* The server that an identifier stands for, such as my_files for "my-files", or
 * NULL. */
const char *gbx_code_meant_server(const gbx_mcp_code *code, const char *name);
/* Append the names of all listed servers: "there are: files, web". */
void gbx_code_put_servers(const gbx_mcp_code *code, gbx_buf *to);
/* The real name of a tool that was spelled in another way (readFile for read_file), or
 * NULL; free() it. */
char *gbx_code_other_name(const gbx_mcp_code *code,
                          const gbx_mcp_upstream_config *server, const char *tool);
/* Append why the tool does not exist, with likely alternatives. Nothing if it exists or
 * its server's tools are unknown. server NULL: of any server. */
void gbx_code_no_tool(const gbx_mcp_code *code, const gbx_mcp_upstream_config *server,
                      const char *tool, gbx_buf *message);

/* Append how code, or with is_tool the tool `call`, calls a tool that a model named in
 * another host's style: tool, server__tool or mcp__server__tool. Nothing if no server
 * has it. */
void gbx_code_put_call(const gbx_mcp_code *code, const char *word, bool is_tool,
                       gbx_buf *to);
/* For a model that called it as our own tool. user is the gbx_mcp_code. */
void gbx_code_advise_call(void *user, const char *word, gbx_buf *to);

/* failure: why the one requested server did not list its tools, or NULL. Borrowed and
 * hostile. */
typedef void (*gbx_listed_fn)(void *user, const gbx_upstream_reply *failure);

/* Call done once, never from inside, when the tools of the server are known, after a
 * while, or when the request (NULL: none) is cancelled. server NULL: all servers except
 * those whose last start failed. starts: start it even if its tools are known. */
void gbx_code_list_tools(gbx_mcp_code *code, const gbx_mcp_upstream_config *server,
                         bool starts, gbx_mcp_request *request, gbx_listed_fn done,
                         void (*drop)(void *user), void *user);
void gbx_code_list_tools_begin(gbx_mcp_code *code);
/* Code mode ends: call drop, if not NULL, instead of done. */
void gbx_code_list_tools_end(gbx_mcp_code *code);

/* ---- discover.c ---------------------------------------------------------- */

typedef struct gbx_code_query {
    char words[512];
    const gbx_mcp_upstream_config *server; /* NULL: all */
    char tool[GBX_TOOL_NAME_MAX + 1];
    char detail[16]; /* "names", "summary", "types", or "" */
} gbx_code_query;

/* Read a query from code or a model. False: message says what is wrong, and *ret_code
 * is the error code. */
bool gbx_code_read_query(const gbx_mcp_code *code, gbx_view words, gbx_view server,
                         gbx_view settings, gbx_code_query *ret, gbx_buf *message,
                         const char **ret_code);
/* Append a tool to an array, as discover.js wants it: {server, mark, tool}. */
void gbx_code_put_doc(const gbx_mcp_code *code, const char *server, gbx_view tool,
                      gbx_buf *to);
/* Append the answer for code, {value, absent}: tools that may match, and the names of
 * servers that could not be asked. */
void gbx_code_answer_query(const gbx_mcp_code *code, const gbx_code_query *query,
                           gbx_buf *to);

/* The object of discover.js, as a script reaches it. */
#define GBX_DISCOVER_JS "globalThis[Symbol.for('glovebox.discover')]"

/* text: the script's value as text, or, if not is_text, why it has none; NULL: code
 * mode ends. */
typedef void (*gbx_discovered_fn)(void *user, gbx_buf *text, bool is_text);
/* Run a script of ours in the box with input (JSON), which is taken over. done is
 * called once, never from inside. */
void gbx_code_ask_discover(gbx_mcp_code *code, const char *script, gbx_buf *input,
                           gbx_discovered_fn done, void *user);
/* Code mode ends: call each done with NULL. */
void gbx_code_discover_end(gbx_mcp_code *code);

/* ---- the tools ----------------------------------------------------------- */

/* gbx_mcp_tool_fn; user is the gbx_mcp_code. */
void gbx_code_call_tool(void *user, gbx_mcp_request *request, gbx_view arguments);
void gbx_code_discover(void *user, gbx_mcp_request *request, gbx_view arguments);
void gbx_code_provision(void *user, gbx_mcp_request *request, gbx_view arguments);

/* Register the four tools, and announce those that changed (tools.c). */
bool gbx_code_register(gbx_mcp_code *code);
/* Declare the tools of the eager servers again, then do the same. */
void gbx_code_declare(gbx_mcp_code *code);

/* ---- tool_text.c --------------------------------------------------------- */

/* The arguments of our tools, and replies that are text alone. */

/* True: gbx_code_check_names() found an unknown member, and the request has ended. */
bool gbx_code_refuse_names(gbx_mcp_code *code, gbx_mcp_request *request,
                           gbx_view arguments, const char *const *names);
/* A string of 1 to size - 1 bytes without NUL. */
bool gbx_code_take_name(gbx_view view, char *ret, size_t size);
/* The answer to a text that is longer than any tool name. */
#define GBX_CODE_LONG_NAME "the name of a tool has at most 256 bytes"
_Static_assert(GBX_TOOL_NAME_MAX == 256, "GBX_CODE_LONG_NAME says so");

/* A whole number from 0 to max; larger ones become max. */
bool gbx_code_take_count(gbx_view view, uint32_t max, uint32_t *ret);

/* Reply with text alone, for a mistake that the model can repair. */
void gbx_code_say_wrong(gbx_mcp_code *code, gbx_mcp_request *request,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reply with text alone, cut if necessary; the first reply after a change of the
 * configuration begins with a notice. is_error: the model can repair it. */
void gbx_code_say_changed(gbx_mcp_code *code, gbx_mcp_request *request,
                          const gbx_buf *text, bool is_error);
/* Check whether the configuration file changed; if so, report it to the user, once. */
void gbx_code_look_at_file(gbx_mcp_code *code);
/* Append a server's own failure message, without secret values. */
void gbx_code_put_fault(const gbx_mcp_code *code, const char *fault, gbx_buf *to);

#define GBX_RUN_FAULTS_MAX 8
#define GBX_RUN_WHY_SIZE   120 /* for the reason why nothing was kept */
/* Bytes of all images of a run, as blocks of content. */
#define GBX_RUN_IMAGES_MAX  GBX_MIB(8)
#define GBX_RUN_REMARKS_MAX 16

/* The error message of servers.js beyond the limit of requests to the host. */
#define GBX_RUN_ASKED_MAX "the limit on questions of one run is reached: ask less often"

/* ---- tool_call.c --------------------------------------------------------- */

/* The error code of a call that was cancelled before it was sent to its server. */
#define GBX_CODE_CALL_NOT_SENT "NOT_SENT"

typedef struct gbx_code_call {
    gbx_tool_call base;
    gbx_mcp_code *code;
    LIST_ENTRY(gbx_code_call) in_code; /* of the tool `call` */

    /* For a call made by code, which is kept until its run has reported it. */
    struct gbx_code_run *run;   /* NULL: the tool `call` */
    gbx_request asked;          /* the worker's request */
    struct gbx_code_call *next; /* of the run, in the order of the calls */
    bool raw;
    bool was_open; /* when the code had ended: its result is reported, not answered */
    bool is_remarked;   /* its result had more than the code got, and the log says so */
    const char *failed; /* code of the error, a constant; or NULL */
    char *message;      /* of the error */
    double ms;
    size_t bytes;                     /* of its result */
    char gave[GBX_VALUE_SKETCH_SIZE]; /* or "" */
} gbx_code_call;

/* Make a call from the arguments of code or a model: two strings and an object. NULL:
 * message has the reason, and *ret_code its code. */
gbx_code_call *gbx_code_call_new(gbx_mcp_code *code, gbx_mcp_request *client,
                                 gbx_view server, gbx_view tool, gbx_view args,
                                 gbx_buf *message, const char **ret_code);

/* Code mode ends: the gate frees the call when it has ended. */
void gbx_code_call_abandon(gbx_code_call *call);

/* Answer a request of the worker with an error; message is text. */
void gbx_code_answer_error(gbx_mcp_code *code, gbx_request request,
                           const char *error_code, const char *message, size_t len,
                           bool retryable);

/* ---- a run --------------------------------------------------------------- */

/* A ToolError that no call of a tool caused. */
typedef struct gbx_run_fault {
    char code[24];
    char *message;
} gbx_run_fault;

typedef struct gbx_code_run {
    gbx_mcp_code *code;
    gbx_mcp_request *request;
    char id[GBX_TOOL_CALL_RUN_SIZE]; /* in the logs; "": has requested nothing yet */
    char *text;                      /* as received */
    size_t text_len;
    gbx_view input;                     /* of the request */
    char *remarks[GBX_RUN_REMARKS_MAX]; /* our own lines in the log */
    size_t remark_count;
    gbx_box_run *box_run; /* NULL: ended, or not begun */
    uint32_t timeout_ms;
    int64_t start_ns;
    gbx_mcp_timer timer;
    double paused_ms; /* while waiting for a person */
    double seen_ms;   /* time of the last check */
    bool is_late;
    gbx_code_call *calls; /* all of them, in call order */
    gbx_code_call **calls_end;
    size_t call_count;
    size_t open; /* calls that have not ended */
    STAILQ_HEAD(, gbx_keeping)
    keepings; /* future artifacts; the first is being redacted */
    gbx_script_reply_artifact *artifacts;
    size_t artifact_count;
    size_t artifact_room;
    gbx_buf images; /* shown to the model: blocks of content, each after a comma */
    size_t image_count;
    size_t unkept;                            /* artifacts that were not kept */
    char why_unkept[GBX_RUN_WHY_SIZE];        /* the reason for the first */
    gbx_run_fault faults[GBX_RUN_FAULTS_MAX]; /* the last ones, as a ring */
    size_t fault_count;
    bool is_ending;     /* the worker has finished; open calls are with their servers */
    gbx_result *result; /* owned while is_ending; NULL: nothing ran */
    gbx_error error;
    gbx_gate_sift *sift;        /* redacts its output, or NULL */
    gbx_buf value;              /* redacted, once is_stripped */
    gbx_buf printed;            /* the same for its logs, concatenated */
    gbx_script_reply_log *logs; /* our remarks first */
    size_t log_count;
    bool is_stripped;
    bool is_value_lost; /* memory was out */
    unsigned holders;   /* questions and jobs that refer to the run */
    /* A call, question or job of the run has ended: finish the run if it was the last;
     * that frees it. */
    void (*may_end)(struct gbx_code_run *run);
    LIST_ENTRY(gbx_code_run) in_code;
} gbx_code_run;

/* Undo one increment of holders. */
static inline void gbx_code_run_release(gbx_code_run *run)
{
    run->holders--;
    run->may_end(run);
}

/* ---- script_run.c -------------------------------------------------------- */

/* Start a run, which ends the request. text: the code, at least one byte, without a
 * final NUL; input may be a missing value. */
void gbx_code_run_start(gbx_mcp_code *code, gbx_mcp_request *request,
                        const gbx_buf *text, gbx_view input, uint32_t timeout_ms);

/* Free a run after the loop has ended, without an answer. Calls that the gate still
 * holds are freed when the gate releases them. */
void gbx_code_run_abandon(gbx_code_run *run);

/* ---- run_output.c -------------------------------------------------------- */

/* All that leaves a run is redacted. */

/* Pass on a log line when it is printed; user is the run. */
void gbx_code_run_log(void *user, gbx_log_level level, const char *text, size_t len);

/* Add our own line to the code's log, as a warning, up to GBX_RUN_REMARKS_MAX. */
void gbx_code_run_remark(gbx_code_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Record that a ToolError of that code was or will be made; code is [A-Z_]. */
void gbx_code_run_fault(gbx_code_run *run, const char *code, const char *message);

/* Keep a redacted value for readers of the reply, and append its handle as JSON.
 * is_bytes: never read it as text. False: not kept, and why has the reason in words. */
bool gbx_code_run_try_keep(gbx_code_run *run, const char *name, const char *mime_type,
                           const void *data, size_t len, bool is_bytes, gbx_buf *handle,
                           char why[GBX_RUN_WHY_SIZE]);
/* The same for bytes of a tool's result whose other parts are still useful: a handle is
 * always appended; if nothing was kept, it says why. */
void gbx_code_run_keep(gbx_code_run *run, const char *name, const char *mime_type,
                       const void *data, size_t len, gbx_buf *handle);

/* Redact the run's value and log; the run is held until that is done. */
void gbx_code_run_redact(gbx_code_run *run);

/* ---- guest_requests.c ---------------------------------------------------- */

/* Handle a request of the code; user is the run. */
void gbx_code_run_request(void *user, const gbx_host_call *call, gbx_view args);

/* Drop artifacts that are not kept yet. */
void gbx_code_run_drop_keepings(gbx_code_run *run);

/* ---- script_result.c ----------------------------------------------------- */

/* Write the reply and end the request. ms_left: of the run's time. */
void gbx_code_run_finish(gbx_code_run *run, double ms_left);
/* Reply for a run that never started: what is wrong with the arguments or the code. */
void gbx_code_run_refuse(gbx_mcp_code *code, gbx_mcp_request *request,
                         const gbx_script_reply_error *error);

/* ---- hints.c ------------------------------------------------------------- */

/* A hint with names that only the host knows: of servers, or of the tool that an
 * unknown name means. To be freed; NULL: no such hint. message: the engine's, of the
 * error that ended a run. */
char *gbx_code_name_meant(const gbx_code_run *run, const char *message,
                          const char *hint);

#endif
