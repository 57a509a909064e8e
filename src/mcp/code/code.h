/* SPDX-License-Identifier: MIT */
/* code - code mode: `execute`, `discover`, `call`, `provision` over upstream
 * servers. */
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
 * Keep results that are too long to show, and values that code wants to
 * keep, for resources/read. Total size and lifetime are bounded; the oldest go first.
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

/* Is it UTF-8, and not of a binary type? Such types must be read as bytes whatever they
 * contain. */
bool gbx_artifacts_is_text(const char *mime_type, const void *data, size_t len);

/* Everything is copied. NULL if it is larger than the whole store may be. The result is borrowed until the next change; the caller may set is_text. */
gbx_artifact *gbx_artifacts_add(gbx_artifacts *store, const char *name,
                                const char *mime_type, const void *data, size_t len,
                                int64_t now_ns);

/* The artifact of that URI, borrowed until the next change; NULL: it does not exist (any
 * more). */
const gbx_artifact *gbx_artifacts_find(gbx_artifacts *store, const char *uri,
                                       int64_t now_ns);

/* Append the contents for resources/read of URI or URI?offset=N&length=M, also with %3D
 * and %26: bytes, or whole characters of text, at least one, under the requested uri.
 * Each part states its position and what follows. False if the artifact does not exist
 * (any more), or the range is not valid: a length of 0 never is. */
bool gbx_artifacts_read(gbx_artifacts *store, const char *uri, int64_t now_ns,
                        gbx_buf *to);

/* Why uri cannot be read; a constant. */
const char *gbx_artifacts_fault(const gbx_artifacts *store, const char *uri);

/* A MIME type that is safe to pass to hosts: "type/subtype" with its parameters, in
 * printable ASCII, without spaces around those. False if text is not a MIME type. */
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
    bool is_rest;                    /* the text was longer once; the rest is lost */
    char uri[GBX_ARTIFACT_URI_SIZE]; /* of the whole; "" if it could not be kept */
} gbx_excerpt;

/* text is borrowed. If it has more than max bytes, the whole is kept in store as
 * `name`. */
gbx_excerpt gbx_excerpt_text(const char *text, size_t len, size_t max,
                             gbx_artifacts *store, const char *name,
                             const char *mime_type, int64_t now_ns);

/* Append exactly what was cut, as one line: "what: ...\n". Nothing if nothing was cut.
 * page: bytes that one page may have. */
void gbx_excerpt_say(const gbx_excerpt *cut, const char *what, size_t page,
                     gbx_buf *to);

/* Append head, a mark with the number of bytes left out, and tail, escaped for
 * display. */
void gbx_excerpt_append(const gbx_excerpt *cut, gbx_escape how, gbx_buf *to);

/* The most bytes that one byte of text needs when it is shown, and then as JSON. */
#define GBX_CUT_SHOWN_MAX 6
#define GBX_CUT_JSON_MAX  7

/* Does the text have such a mark in place of a part? */
bool gbx_excerpt_is_marked(const char *text);

/* ---- content_blocks.c ---------------------------------------------------- */

/* Append a block of text to an array, for people and models. */
void gbx_block_text(gbx_buf *to, const void *text, size_t len);
/* Append a block that links to a resource. */
void gbx_block_link(gbx_buf *to, const char *uri, const char *name,
                    const char *mime_type, size_t bytes);
/* The same for the whole of a cut text, if it was kept. */
void gbx_excerpt_link(const gbx_excerpt *cut, const char *name, const char *mime_type,
                      gbx_buf *to);

/* ---- parsing on the loop -------------------------------------------------- */

/* The time that the loop has for parsing one text of code, by gbx_time_budget_begin(). It
 * is twice what ordinary code of that length needs; none for longer code, which goes to the
 * worker as it is. */
static inline gbx_time_budget gbx_code_budget(size_t code_len)
{
    return (gbx_time_budget){
        .left_ns = code_len <= GBX_KIB(8) ? INT64_C(8) * GBX_NS_PER_MS : 0};
}

/* ---- box.c --------------------------------------------------------------- */

/*
 * The engine as the loop sees it: scripts and calls of `compute` run in one. Runs begin and
 * end on the loop's thread; requests and log lines of code arrive there, too.
 *
 * The engine starts on a thread of its own because that takes a while; runs that begin
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
    /* args: the arguments of the host function, an array, borrowed until this returns.
     * Answer once, with gbx_box_answer(). NULL: every request is refused. */
    void (*request)(void *user, gbx_request request, gbx_view args);
    void (*log)(void *user, gbx_log_level level, const char *text, size_t len);
    /* The engine is there. The input may still be set. */
    gbx_box_turn (*turn)(void *user, gbx_call *call);
    /* The last call, made once. It takes ownership of result, which is NULL if nothing
     * ran; error then says why: GBX_E_CLOSED if the run was aborted. */
    void (*done)(void *user, gbx_result *result, const gbx_error *error);
} gbx_box_hooks;

/* options are copied. What they point to is borrowed until gbx_box_free(). The preload,
 * servers.js, is taken over; NULL: no code asks us. NULL if no thread can be started. */
gbx_box *gbx_box_new(gbx_mcp_loop *loop, const gbx_options *options, char *preload,
                     size_t preload_len);

/* Call after the loop has ended. done is not called for open runs. NULL is ignored. */
void gbx_box_free(gbx_box *box);

/* All but code and input is copied; they, and hooks, are borrowed until done. call has
 * limits. done is not called from inside. */
gbx_box_run *gbx_box_start(gbx_box *box, const gbx_call *call,
                           const gbx_box_hooks *hooks, void *user);
/* After the loop has ended: done is not called. NULL is ignored. */
void gbx_box_drop(gbx_box_run *run);
/* The engine, once it has started; NULL: it could not. Blocks; any other thread than the
 * loop's. */
gbx_engine *gbx_box_engine(gbx_box *box, gbx_error *reterr);
/* restarted is called on the loop when there is an engine at last; datasets could not be
 * loaded before. */
void gbx_box_on_restart(gbx_box *box, void (*restarted)(void *user), void *user);
/* Ask runs that wait for data again. */
void gbx_box_go_on(gbx_box *box);
/* done is still called, but not from inside this call. */
void gbx_box_abort(gbx_box_run *run);

/* The run's name in the engine's security log; "" without a log. */
#define GBX_BOX_NAME_SIZE 40
void gbx_box_name(gbx_box_run *run, char ret[GBX_BOX_NAME_SIZE]);

void gbx_box_answer(gbx_box *box, gbx_request request, const char *json, size_t len);

/* ---- tools.c ------------------------------------------------------------- */

/*
 * Describe what the command's policy grants to code. A model or host that learns less
 * than the truth decides wrongly. The Node package says the same
 * (node/lib/instruction.js).
 */

/* Does code have that capability? NULL: the default policy of an engine. */
bool gbx_granted(const gbx_policy *policy, gbx_capability capability);

/* May fetch use methods that do more than read? */
bool gbx_granted_writes(const gbx_policy *policy);

/* Append a line for each thing that reaches beyond the sandbox; nothing if there is
 * none. The same policy gives the same bytes. */
void gbx_granted_say(const gbx_policy *policy, const char *prefix, gbx_buf *to);

/* ---- tool_text.c --------------------------------------------------------- */

/* Are all members of the arguments among names, a NULL-terminated list? If not, message
 * names the unknown member and what it may have meant. */
bool gbx_code_check_names(gbx_view arguments, const char *const *names,
                          gbx_buf *message);

/* ---- hints.c ------------------------------------------------------------- */

/* Advice for a model in place of hints for the user who starts the command. */

/* After a failure that code neither caused nor can avoid. */
#define GBX_ADVICE_MEND "ask the operator of this server to fix this"

/* With upstream servers. message: of the error; hint: the guard's, or ""; line: the
 * line of code that failed. Returns a constant, or the hint itself. */
const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len);

/* ---- code.c -------------------------------------------------------------- */

/* Let clients read the artifacts. */
bool gbx_artifacts_offer(gbx_mcp_server *server, gbx_artifacts *store);

typedef struct gbx_mcp_code gbx_mcp_code;

/* Everything is borrowed and must outlive the object. options: of the engine, with the
 * limits of `compute`; its policy, if any, must still be the caller's alone, since the host function by which
 * code asks us is added to it. */
gbx_status gbx_mcp_code_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const gbx_mcp_config *config, gbx_upstreams *upstreams,
                            gbx_gate *gate, const gbx_options *options,
                            gbx_mcp_code **ret, gbx_error *reterr);
/* Bytes, about, of names in the instructions of a server. */
#define GBX_CODE_NAMES_BYTES 500

/* Append what a model is told at first. */
void gbx_mcp_code_put_instructions(const gbx_mcp_code *code, gbx_buf *to);

/* What scripts need to know of datasets; all is borrowed until the object is freed. */
typedef struct gbx_code_data {
    size_t count;
    const char *(*name)(void *user, size_t index);
    /* Is one that the code may read still being loaded? */
    bool (*is_pending)(void *user, const char *code, size_t len);
    /* Why the code finds one as undefined; "": all are there. */
    void (*say_missing)(void *user, const char *code, size_t len, gbx_buf *to);
    void *user;
} gbx_code_data;

/* Scripts find datasets, too. Before the loop runs. */
void gbx_mcp_code_use_data(gbx_mcp_code *code, const gbx_code_data *data);
/* Where scripts run, and what is kept of their output, for `compute`, too; borrowed. */
gbx_box *gbx_mcp_code_box(const gbx_mcp_code *code);
gbx_artifacts *gbx_mcp_code_artifacts(const gbx_mcp_code *code);

/* The hook of gbx_upstream_hooks.tools_changed. */
void gbx_mcp_code_tools_changed(gbx_mcp_code *code, const char *server);
/* Call after the loop has ended, and before freeing the gate and the upstream servers;
 * their later callbacks do no harm. NULL is ignored. */
void gbx_mcp_code_free(gbx_mcp_code *code);

#endif
