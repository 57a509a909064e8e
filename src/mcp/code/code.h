/* SPDX-License-Identifier: MIT */
/* code - code mode: `execute`, `discover`, `call`, `provision` over upstream
 * servers. */
#ifndef GBX_MCP_CODE_CODE_H
#define GBX_MCP_CODE_CODE_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fail.h"
#include "base/utf8.h"
#include "mcp/approval/gate.h"
#include "mcp/code/artifacts.h"

#include <glovebox/glovebox.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- capability_text.c --------------------------------------------------- */

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

/* ---- excerpt.c ----------------------------------------------------------- */

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

/* ---- hint_texts.c -------------------------------------------------------- */

/* Advice for a model in place of hints for the user who starts the command. */

/* After a failure that code neither caused nor can avoid. */
#define GBX_ADVICE_MEND "ask the operator of this server to fix this"

/* With upstream servers. message: of the error; hint: the guard's, or ""; line: the
 * line of code that failed. Returns a constant, or the hint itself. */
const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len);

/* With or without upstream servers: a constant, or the hint itself. */
const char *gbx_advice_for_hint(const char *hint);

/* The globals that exist only in code mode. */
#define GBX_CODE_OURS "servers glovebox discover artifact progress ToolError"

/* Does the text use one of the words (separated by single spaces) as a name? */
bool gbx_code_has_one_of(const char *words, const char *text, size_t len);

/* ---- script.c ------------------------------------------------------------ */

/*
 * Turn code in any shape that models write into a script with a value.
 *
 * A function at the end, or exported as default, is called with the input; without one,
 * run(), main(), execute() or handler() is. Types are removed. What the parser does not
 * understand stays unchanged: the engine reports what is wrong with it.
 */

/* Text of ours that was inserted. */
typedef struct gbx_script_insert {
    size_t offset; /* in what is run */
    size_t len;
} gbx_script_insert;

#define GBX_SCRIPT_INSERTS_MAX 16

typedef struct gbx_script {
    char *code; /* what runs, in script form */
    size_t code_len;
    bool had_types;
    gbx_script_insert
        inserts[GBX_SCRIPT_INSERTS_MAX]; /* in order, without line breaks */
    size_t insert_count;
    size_t uncalled;     /* in the source: the name of a function that nothing calls */
    size_t uncalled_len; /* 0: none */
    uint32_t last_line;  /* of the source */
    const char *message; /* constant: why it cannot run, or NULL */
    const char *hint;    /* constant */
    uint32_t line;       /* of the problem, with column, from 1 */
    uint32_t column;
} gbx_script;

/* The input as an argument; without an input, default values apply. */
#define GBX_SCRIPT_INPUT "input ?? undefined"

/* text is copied. arguments: what the called function gets, GBX_SCRIPT_INPUT or "data,
 * input". Only GBX_E_NOMEM fails. */
gbx_status gbx_script_make(const char *text, size_t len, const char *arguments,
                           gbx_script *ret, gbx_error *reterr);

/* Map a position in what ran to the source. */
void gbx_script_map(const gbx_script *script, uint32_t *line, uint32_t *column);

/* A zeroed script is empty. */
void gbx_script_cleanup(gbx_script *script);

/* ---- recent.c ------------------------------------------------------------ */

/*
 * A cache of prepared scripts: the same text is not parsed again. Agents run code that
 * works again and again, with other input.
 *
 * Bounded in number and bytes; the oldest goes first. For one thread.
 */

#define GBX_RECENT_MAX      16
#define GBX_RECENT_TEXT_MAX GBX_KIB(64) /* longer ones are parsed each time */

typedef struct gbx_recent {
    struct gbx_recent_script {
        char *text; /* NULL: unused */
        size_t len;
        gbx_script script;
    } kept[GBX_RECENT_MAX];
    size_t next; /* the entry to replace next */
} gbx_recent;

/* A copy of the script kept for that text; false if there is none. */
bool gbx_recent_find(const gbx_recent *recent, const char *text, size_t len,
                     gbx_script *ret);
/* Keep what gbx_script_make() made of the text; both are copied. All scripts of one
 * cache must have the same arguments. If memory is out, nothing is kept. */
void gbx_recent_keep(gbx_recent *recent, const char *text, size_t len,
                     const gbx_script *script);

/* A zeroed cache is empty. */
void gbx_recent_cleanup(gbx_recent *recent);

typedef struct gbx_mcp_code gbx_mcp_code;

/* Everything is borrowed and must outlive the object. options: of the engine; its
 * policy, if any, must still be the caller's alone, since the host function by which
 * code asks us is added to it. */
gbx_status gbx_mcp_code_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const gbx_mcp_config *config, gbx_upstreams *upstreams,
                            gbx_gate *gate, const gbx_options *options,
                            gbx_mcp_code **ret, gbx_error *reterr);
/* The hook of gbx_upstream_hooks.tools_changed. */
void gbx_mcp_code_tools_changed(gbx_mcp_code *code, const char *server);
/* Call after the loop has ended, and before freeing the gate and the upstream servers;
 * their later callbacks do no harm. NULL is ignored. */
void gbx_mcp_code_free(gbx_mcp_code *code);

#endif
