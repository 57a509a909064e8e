/* SPDX-License-Identifier: MIT */
/* code - code mode: the tools `execute`, `discover`, `call` and `provision`, which give
 * access to upstream servers. */
#ifndef GBX_MCP_CODE_CODE_H
#define GBX_MCP_CODE_CODE_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "guard/guard.h"
#include "mcp/approval/gate.h"
#include "mcp/rpc/rpc.h"
#include "syntax/tree.h"

#include <glovebox/glovebox.h>
#include <glovebox/host.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

/* ---- artifacts.c --------------------------------------------------------- */

/*
 * The store of results that are too long to show, and of values that code keeps, for
 * resources/read. Total size and lifetime are bounded; the oldest are dropped first.
 *
 * Time is a parameter: nanoseconds of gbx_clock_now_ns().
 */

#define GBX_ARTIFACT_URI_SIZE  64
#define GBX_ARTIFACT_MIME_SIZE 101
#define GBX_ARTIFACT_SCHEME    "artifact://"

typedef struct gbx_artifacts gbx_artifacts;

typedef struct gbx_artifact {
    char uri[GBX_ARTIFACT_URI_SIZE];
    char *name;      /* given by code: hostile */
    char *mime_type; /* likewise */
    char *data;
    size_t len;
    bool is_text; /* read as text, not as base64 */
    int64_t expires_ns;
    STAILQ_ENTRY(gbx_artifact) in_store;
} gbx_artifact;

gbx_artifacts *gbx_artifacts_new(uint64_t max_bytes, uint32_t keep_ms);
void gbx_artifacts_free(gbx_artifacts *store);

/* True if it is UTF-8 and not of a binary type. Binary types must be read as bytes even
 * if they are UTF-8. */
bool gbx_artifacts_is_text(const char *mime_type, const void *data, size_t len);

/* Copies everything. NULL if the data is larger than the store may be. The result is
 * borrowed until the next change; the caller may set is_text. */
gbx_artifact *gbx_artifacts_add(gbx_artifacts *store, const char *name,
                                const char *mime_type, const void *data, size_t len,
                                int64_t now_ns);

/* The artifact with that URI, borrowed until the next change; NULL: none (any more). */
const gbx_artifact *gbx_artifacts_find(gbx_artifacts *store, const char *uri,
                                       int64_t now_ns);

/* Append the contents for resources/read of URI or URI?offset=N&length=M, with or without
 * escapes: bytes, or whole characters of text, at least one. They have the requested
 * uri, their position, and the URI of the next part. False if the artifact does not
 * exist, or the range is not valid; a length of 0 never is. */
bool gbx_artifacts_read(gbx_artifacts *store, const char *uri, int64_t now_ns,
                        gbx_buf *to);

/* Why uri cannot be read; a constant. */
const char *gbx_artifacts_fault(const gbx_artifacts *store, const char *uri);

/* A MIME type that is safe to pass to hosts: "type/subtype" with its parameters, in
 * printable ASCII, without spaces. False if text is not a MIME type. */
bool gbx_artifacts_mime(const char *text, char ret[GBX_ARTIFACT_MIME_SIZE]);

/* A copy with a final NUL. */
char *gbx_copy_bytes(const void *data, size_t len);

/* The head and tail of a long text, and where the whole is kept. */

typedef struct gbx_excerpt {
    const char *head;
    size_t head_len;
    const char *tail; /* NULL: nothing was cut, head is all */
    size_t tail_len;
    size_t total;
    bool is_rest;                    /* the text was longer; the rest is lost */
    char uri[GBX_ARTIFACT_URI_SIZE]; /* of the whole; "" if it could not be kept */
} gbx_excerpt;

/* text is borrowed. If it has more than max bytes, the whole is kept in store as
 * `name`. */
gbx_excerpt gbx_excerpt_text(const char *text, size_t len, size_t max,
                             gbx_artifacts *store, const char *name,
                             const char *mime_type, int64_t now_ns);

/* Append exactly what was cut, as one line: "what: ...\n". Nothing if nothing was cut.
 * page: maximum bytes of one page. */
void gbx_excerpt_say(const gbx_excerpt *cut, const char *what, size_t page,
                     gbx_buf *to);

/* Append head, a mark with the number of bytes left out, and tail, escaped for
 * display. */
void gbx_excerpt_append(const gbx_excerpt *cut, gbx_escape how, gbx_buf *to);

/* The most bytes that one byte of text needs when shown, and when that is also JSON. */
#define GBX_CUT_SHOWN_MAX 6
#define GBX_CUT_JSON_MAX  7

/* ---- content_blocks.c ---------------------------------------------------- */

/* Append a block of text to an array, for people and models. */
void gbx_block_text(gbx_buf *to, const void *text, size_t len);
/* Append a block that links to a resource. */
void gbx_block_link(gbx_buf *to, const char *uri, const char *name,
                    const char *mime_type, size_t bytes);
/* The same for the whole of a cut text, if it was kept. */
void gbx_excerpt_link(const gbx_excerpt *cut, const char *name, const char *mime_type,
                      gbx_buf *to);

/* A resource or a prompt of a server has the server's name before its own:
 * "mcp://files/file:///home/you/a.txt", "files/summary". Nothing is escaped: a name of a
 * server has no slash. */
#define GBX_PROXY_SCHEME "mcp://"
#define GBX_NAMED_MAX    2047 /* bytes of these */

/* Results of a server's methods that are not about tools. */
typedef enum gbx_result_kind {
    GBX_RESULT_RESOURCES,
    GBX_RESULT_TEMPLATES,
    GBX_RESULT_PROMPTS,
    GBX_RESULT_CONTENTS,
    GBX_RESULT_PROMPT,
    GBX_RESULT_COMPLETION,
} gbx_result_kind;

/* May this entry of a list be shown? */
typedef struct gbx_entry_filter {
    bool (*passes)(void *user, gbx_view entry);
    void *user;
} gbx_entry_filter;

/* Append the members of the result, for a client that speaks that version. False: one
 * that is required is missing or invalid. filter: or NULL. */
bool gbx_result_write(gbx_view result, gbx_result_kind kind, const char *server,
                      const char *version, const gbx_entry_filter *filter, gbx_buf *to);

/* ---- parsing on the loop -------------------------------------------------- */

/* The time that the loop may spend on parsing one text of code: twice what 8 KiB of
 * ordinary code need. Longer code has no budget and goes to the worker unchanged. */
static inline gbx_time_budget gbx_code_budget(size_t code_len)
{
    return (gbx_time_budget){
        .left_ns = code_len <= GBX_KIB(8) ? INT64_C(8) * GBX_NS_PER_MS : 0};
}

/* ---- box.c --------------------------------------------------------------- */

/*
 * The engine for scripts and for calls of `compute`, driven by the loop. Runs begin and
 * end on the loop's thread; requests and log lines of code arrive there, too.
 *
 * The engine starts on its own thread because that takes a while; runs that begin
 * earlier wait for it. If it could not start, a later run starts it again.
 */

typedef struct gbx_box gbx_box;
typedef struct gbx_box_run gbx_box_run;

typedef enum gbx_box_turn {
    GBX_BOX_GOES,
    GBX_BOX_WAITS, /* for data: gbx_box_go_on() asks again */
    GBX_BOX_ENDS,  /* as if aborted */
} gbx_box_turn;

/* All are called on the loop's thread; user is that of the run. All but done may be
 * NULL. */
typedef struct gbx_box_hooks {
    /* args: the arguments of the host function, an array. Both are borrowed until this
     * returns. Answer once, with gbx_box_answer(). NULL: every request is refused. */
    void (*request)(void *user, const gbx_host_call *call, gbx_view args);
    void (*log)(void *user, gbx_log_level level, const char *text, size_t len);
    /* The engine is ready. The hook may still set the call's input. */
    gbx_box_turn (*turn)(void *user, gbx_call *call);
    /* The last call, made once. It takes ownership of result, which is NULL if nothing
     * ran; error then says why: GBX_E_CLOSED if the run was aborted. */
    void (*done)(void *user, gbx_result *result, const gbx_error *error);
} gbx_box_hooks;

/* options are copied; what they point to is borrowed until gbx_box_free(). preload, the
 * source of servers.js, is taken over; NULL: code cannot make requests. Returns NULL if
 * no thread can be started. */
gbx_box *gbx_box_new(gbx_mcp_loop *loop, const gbx_options *options, char *preload,
                     size_t preload_len);

/* Call after the loop has ended. done is not called for open runs. NULL is ignored. */
void gbx_box_free(gbx_box *box);

/* Copies call except its code and input; these and hooks are borrowed until done.
 * call->limits must be set. done is not called from inside. */
gbx_box_run *gbx_box_start(gbx_box *box, const gbx_call *call,
                           const gbx_box_hooks *hooks, void *user);
/* Free a run after the loop has ended; done is not called. NULL is ignored. */
void gbx_box_drop(gbx_box_run *run);
/* Wait for the start and return the engine; NULL if it could not start. Not on the
 * loop's thread. */
gbx_engine *gbx_box_engine(gbx_box *box, gbx_error *reterr);
/* restarted is called on the loop when an engine has started after a failed start;
 * datasets could not be loaded before. */
void gbx_box_on_restart(gbx_box *box, void (*restarted)(void *user), void *user);
/* Call the turn hook again for runs that wait for data. */
void gbx_box_go_on(gbx_box *box);
/* done is still called, but not from inside this call. */
void gbx_box_abort(gbx_box_run *run);

void gbx_box_answer(gbx_box *box, gbx_request request, const char *json, size_t len);

/* ---- tools.c ------------------------------------------------------------- */

/*
 * Describe what the command's policy grants to code. With an incomplete description, a
 * model or host would decide wrongly. The Node package says the same
 * (node/lib/instruction.js).
 */

/* True if code has that capability. NULL: the default policy of an engine. */
bool gbx_granted(const gbx_policy *policy, gbx_capability capability);

/* True if fetch may use methods that do more than read. */
bool gbx_granted_writes(const gbx_policy *policy);

/* Append a line for each granted capability of fetch, file, crypto and env. The same
 * policy gives the same bytes. */
void gbx_granted_say(const gbx_policy *policy, const char *prefix, gbx_buf *to);

/* ---- tool_text.c --------------------------------------------------------- */

/* True if all members of the arguments are among names, a NULL-terminated list. If not,
 * message has the unknown member and the one that it may mean. */
bool gbx_code_check_names(gbx_view arguments, const char *const *names,
                          gbx_buf *message);

/* ---- hints.c ------------------------------------------------------------- */

/* Advice for a model in place of hints for the user who starts the command. */

/* After a failure that code neither caused nor can avoid. */
#define GBX_ADVICE_MEND "ask the operator of this server to fix this"

/* The advice in code mode. message: of the error; hint: the guard's, or ""; line: the
 * line of code that failed. Returns a constant, or the hint itself. */
const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len);

/* ---- code.c -------------------------------------------------------------- */

/* Let clients read the artifacts. */
bool gbx_artifacts_offer(gbx_mcp_server *server, gbx_artifacts *store);

typedef struct gbx_mcp_code gbx_mcp_code;

/* Everything is borrowed and must outlive the object. options: of the engine, with the
 * limits of `compute`. Its policy, if any, must not be shared yet, since the host
 * function for requests of code is added to it. */
gbx_status gbx_mcp_code_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const gbx_mcp_config *config, gbx_upstreams *upstreams,
                            gbx_gate *gate, const gbx_options *options,
                            gbx_mcp_code **ret, gbx_error *reterr);
/* Approximate bytes of the names that are listed in a server's instructions. */
#define GBX_CODE_NAMES_BYTES 500

/* Append the server's instructions for the model. */
void gbx_mcp_code_put_instructions(const gbx_mcp_code *code, gbx_buf *to);

/* The datasets, for scripts. Everything is borrowed until the object is freed. */
typedef struct gbx_code_data {
    size_t count;
    const char *(*name)(void *user, size_t index);
    /* True if a dataset that the code may read is still being loaded. */
    bool (*is_pending)(void *user, const char *code, size_t len);
    /* Append why a dataset is undefined in the code; nothing if all are loaded. */
    void (*say_missing)(void *user, const char *code, size_t len, gbx_buf *to);
    void *user;
} gbx_code_data;

/* Give scripts access to datasets. Before the loop runs. */
void gbx_mcp_code_use_data(gbx_mcp_code *code, const gbx_code_data *data);
/* The box and the artifacts of scripts, which `compute` shares; borrowed. */
gbx_box *gbx_mcp_code_box(const gbx_mcp_code *code);
gbx_artifacts *gbx_mcp_code_artifacts(const gbx_mcp_code *code);

/* The hook of gbx_upstream_hooks.tools_changed. */
void gbx_mcp_code_tools_changed(gbx_mcp_code *code, const char *server);
/* Call after the loop has ended, and before freeing the gate and the upstream servers;
 * their later callbacks do no harm. NULL is ignored. */
void gbx_mcp_code_free(gbx_mcp_code *code);

#endif
