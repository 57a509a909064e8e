/* SPDX-License-Identifier: MIT */
/* code - code mode: `execute`, `discover`, `call` and `provision` over upstream servers. */
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
 * What the command's policy gives to code, in the words of a description: a model
 * and a host that are told less than there is decide wrongly. The Node package says the same
 * (node/lib/instruction.js).
 */

/* Has code that capability? NULL: the policy of an engine that was given none. */
bool gbx_granted(const gbx_policy *policy, gbx_capability capability);

/* Can code do more by fetch than to ask? */
bool gbx_granted_writes(const gbx_policy *policy);

/* Append a line for each thing that reaches beyond the box: nothing if there is none. The
 * same policy gives the same bytes. */
void gbx_granted_say(const gbx_policy *policy, const char *prefix, gbx_buf *to);

/* ---- excerpt.c ----------------------------------------------------------- */

/* Head and tail of a text that is too long, and where the whole is. */

typedef struct gbx_excerpt {
    const char *head;
    size_t head_len;
    const char *tail; /* NULL: nothing was cut, head is all */
    size_t tail_len;
    size_t total;
    bool is_rest;                    /* more than that was there once, and is lost */
    char uri[GBX_ARTIFACT_URI_SIZE]; /* of the whole; "" if it could not be kept */
} gbx_excerpt;

/* text is borrowed. Of more than max bytes the whole is kept in store as `name`. */
gbx_excerpt gbx_excerpt_text(const char *text, size_t len, size_t max,
                             gbx_artifacts *store, const char *name,
                             const char *mime_type, int64_t now_ns);

/* Append what was cut, exactly, in one line that ends in a newline: "what: ...". Nothing
 * if nothing was. page: bytes that a page may have. */
void gbx_excerpt_say(const gbx_excerpt *cut, const char *what, size_t page,
                     gbx_buf *to);

/* Append head, a mark with the number of bytes left out, and tail, as they are shown. */
void gbx_excerpt_append(const gbx_excerpt *cut, gbx_escape how, gbx_buf *to);

/* A byte of text is at most so many when it is shown, and that as JSON. */
#define GBX_CUT_SHOWN_MAX 6
#define GBX_CUT_JSON_MAX  7

/* Is a part of the text left out, with such a mark in its place? */
bool gbx_excerpt_is_marked(const char *text);

/* ---- hint_texts.c -------------------------------------------------------- */

/* What a model can do where a hint is for who starts the command. */

/* After a failure that no code is the reason of, or gets around. */
#define GBX_ADVICE_MEND "whoever runs this server must mend that"

/* Where there are servers. message: of the error; hint: the guard's, or ""; line: of the
 * code, where it failed. A constant, or the hint itself. */
const char *gbx_code_advice(const char *message, const char *hint, const char *line,
                            size_t line_len);

/* Where there may be none: a constant, or the hint itself. */
const char *gbx_advice_for_hint(const char *hint);

/* The globals that are there in code mode alone. */
#define GBX_CODE_OURS "servers glovebox discover artifact progress ToolError"

/* Is one of the words, between single spaces, a name in the text? */
bool gbx_code_has_one_of(const char *words, const char *text, size_t len);

/* ---- script.c ------------------------------------------------------------ */

/*
 * Code in any shape that models write, as a script whose value is meant.
 *
 * A function that stands at the end is called with the input, and so is the one that is
 * exported as default; and run(), main() or execute() if nothing else does. Types are taken out. What the parser does not
 * understand stays as it is: the engine says what is wrong with it.
 */

/* Of text before which something of ours stands. */
typedef struct gbx_script_insert {
    size_t offset; /* in what is run */
    size_t len;
} gbx_script_insert;

#define GBX_SCRIPT_INSERTS_MAX 16

typedef struct gbx_script {
    char *code; /* what is run, in the form script */
    size_t code_len;
    bool had_types;
    gbx_script_insert
        inserts[GBX_SCRIPT_INSERTS_MAX]; /* in order, without line breaks */
    size_t insert_count;
    size_t uncalled; /* in what was given: the name of a function that nothing calls */
    size_t uncalled_len; /* 0: there is none */
    uint32_t last_line;  /* of what was given */
    const char *message; /* constant: why it cannot be run, or NULL */
    const char *hint;    /* constant */
    uint32_t line;       /* of it, with column, from 1 */
    uint32_t column;
} gbx_script;

/* The input as an argument: where there is none, a default value stands in. */
#define GBX_SCRIPT_INPUT "input ?? undefined"

/* text is copied; arguments are what a function that is called gets: GBX_SCRIPT_INPUT, or
 * "data, input". Only GBX_E_NOMEM fails. */
gbx_status gbx_script_make(const char *text, size_t len, const char *arguments,
                           gbx_script *ret, gbx_error *reterr);

/* From a position in what was run to the one in what was given. */
void gbx_script_map(const gbx_script *script, uint32_t *line, uint32_t *column);

/* A zeroed one is nothing. */
void gbx_script_cleanup(gbx_script *script);

/* ---- recent.c ------------------------------------------------------------ */

/*
 * Scripts that were made lately: the same text, given again, is not parsed again.
 * What an agent has found to work it runs with other input, as it stands.
 *
 * Bounded in texts and in bytes, the oldest goes first. One thread.
 */

#define GBX_RECENT_MAX      16
#define GBX_RECENT_TEXT_MAX GBX_KIB(64) /* what is longer is parsed each time */

typedef struct gbx_recent {
    struct gbx_recent_script {
        char *text; /* NULL: free */
        size_t len;
        gbx_script script;
    } kept[GBX_RECENT_MAX];
    size_t next; /* the place that is taken next */
} gbx_recent;

/* What was kept for that text; false if nothing was. */
bool gbx_recent_find(const gbx_recent *recent, const char *text, size_t len,
                     gbx_script *ret);
/* What gbx_script_make() has made of it, with the same arguments for all of one recent;
 * both are copied. Without memory for it, it is parsed again the next time. */
void gbx_recent_keep(gbx_recent *recent, const char *text, size_t len,
                     const gbx_script *script);

/* A zeroed one has kept nothing. */
void gbx_recent_cleanup(gbx_recent *recent);

typedef struct gbx_mcp_code gbx_mcp_code;

/* Everything is borrowed and outlives the object. options: of the engine; its policy, if
 * there is one, is the caller's alone until now: the function that code asks us by is added
 * to it. */
gbx_status gbx_mcp_code_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const gbx_mcp_config *config, gbx_upstreams *upstreams,
                            gbx_gate *gate, const gbx_options *options,
                            gbx_mcp_code **ret, gbx_error *reterr);
/* The hook of gbx_upstream_hooks.tools_changed. */
void gbx_mcp_code_tools_changed(gbx_mcp_code *code, const char *server);
/* After the loop has ended, and before the gate and the upstream servers are freed: what
 * they still call back for does no harm. NULL is ignored. */
void gbx_mcp_code_free(gbx_mcp_code *code);

#endif
