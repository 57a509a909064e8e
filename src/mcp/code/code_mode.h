/* SPDX-License-Identifier: MIT */
/* code_mode - what the files of code mode's tools share. Nobody else includes it. */
#ifndef GBX_MCP_CODE_CODE_MODE_H
#define GBX_MCP_CODE_CODE_MODE_H

#include "base/buf.h"
#include "base/json_view.h"
#include "guard/tree.h"
#include "mcp/code/artifacts.h"
#include "mcp/code/code.h"
#include "mcp/code/parse_thread.h"
#include "mcp/code/script_reply.h"
#include "mcp/rpc/rpc.h"

#include <glovebox/glovebox.h>
#include <glovebox/host.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- box.c --------------------------------------------------------------- */

/*
 * The engine as the loop sees it: runs begin and end on the loop's thread, and so
 * arrives what they ask and print.
 *
 * The engine starts on a thread of its own, since that takes a while; runs that begin
 * before wait. What the engine's threads say is carried to the loop in its order.
 */

typedef struct gbx_box gbx_box;
typedef struct gbx_box_run gbx_box_run;

/* All on the loop's thread; user is the run's. */
typedef struct gbx_box_hooks {
    /* args: the arguments of the function of the host, an array; to be answered by
     * gbx_box_answer(), once. Borrowed until it returns. */
    void (*request)(void *user, gbx_request request, gbx_view args);
    void (*log)(void *user, gbx_log_level level, const char *text, size_t len);
    /* Last of all, once. result is the callee's from now on, and an error in it is not
     * explained (gbx_guard_explain()); NULL: nothing ran, and error says why. */
    void (*done)(void *user, gbx_result *result, const gbx_error *error);
} gbx_box_hooks;

/* options are copied, what they point to is borrowed until the box is freed, but for
 * preloads: these are the box's. name: of the function of the host. aside is borrowed, and
 * freed before the box. */
gbx_box *gbx_box_new(gbx_mcp_loop *loop, gbx_parse_thread *aside,
                     const gbx_options *options, const char *preload_name,
                     char *preload_source, size_t preload_len, const char *function,
                     const gbx_box_hooks *hooks);

/* The loop does not run any more. Runs end without done. NULL is ignored. */
void gbx_box_free(gbx_box *box);

/* code and input are copied; patience, for the guard, is borrowed until done. NULL if
 * memory is out. */
gbx_box_run *gbx_box_start(gbx_box *box, const char *code, size_t code_len,
                           gbx_view input, const gbx_limits *limits,
                           gbx_time_budget *patience, void *user);
/* done is called all the same, never from inside. */
void gbx_box_abort(gbx_box_run *run);

/* The run as the engine's security log names it; where there is no log, "". */
#define GBX_BOX_NAME_SIZE 40
void gbx_box_name(gbx_box_run *run, char ret[GBX_BOX_NAME_SIZE]);

void gbx_box_answer(gbx_box *box, gbx_request request, const char *json, size_t len);

/* ---- content_blocks.c ---------------------------------------------------- */

/*
 * The content of one tool's result, for a client: what is known of each block is
 * checked and written anew, and all of it together is bounded.
 *
 * Results come from upstream servers: hostile, and only known to be JSON. A client refuses
 * a whole answer for one block that is none, so what is no block becomes text.
 */

typedef struct gbx_blocks_room {
    size_t max; /* bytes of all blocks, but for the data of images and files */
    gbx_artifacts *store; /* for a text that is longer */
    const char *name;     /* of what is kept there */
    const char *version;  /* of the protocol, as the client speaks it */
    int64_t now_ns;
} gbx_blocks_room;

/* Append a comma and a block for each block of content, as long as there is room. Else all
 * texts are one, whose middle is left out, before what is no text; and what was left out is
 * appended to `left_out`, lines of text. */
void gbx_blocks_write(gbx_view content, const gbx_blocks_room *room, gbx_buf *to,
                      gbx_buf *left_out);

/* The same for a value that is none of blocks: its JSON as one text. */
void gbx_blocks_json(gbx_view value, const gbx_blocks_room *room, gbx_buf *to,
                     gbx_buf *left_out);

/* Append a comma and a block of text. */
void gbx_blocks_text(gbx_buf *to, const void *text, size_t len);

/* ---- search.c ------------------------------------------------------------ */

/*
 * Which tools may be meant: BM25 over names, descriptions and parameters.
 *
 * A word that only begins like one of the query counts a little: "repo" finds
 * "repository", after what has "repo". Words as "the" and "of" do not count, unless there
 * are no others. Nothing is kept between searches: a few thousand tools take milliseconds.
 */

typedef struct gbx_search_doc {
    const char *server;
    gbx_view tool; /* as tools/list has it */
    double score;
    size_t place; /* before the search */
} gbx_search_doc;

/* Score every tool, and sort: best first, equals in the order they had. A query without
 * words scores and moves nothing. False if memory is out. */
bool gbx_search_rank(gbx_search_doc *docs, size_t count, const char *query, size_t len);

/* ---- declare.c ----------------------------------------------------------- */

/* Upstream tools as TypeScript declarations of what the box finds. */

/* Is the name of a tool one that stands for something else on the object of its server
 * (servers.js), so that only call("name", args) reaches it? */
bool gbx_declare_by_call(gbx_view name);

/* One tool, as it stands in the object of its server; of more than 12 KiB, a shorter one. */
void gbx_declare_tool(gbx_buf *to, gbx_view tool);

/*
 * `declare const servers: {...}` with the tools in their order, those of one server
 * together. A tool whose name a server has twice is there once.
 */
void gbx_declare(gbx_buf *to, const gbx_search_doc *docs, size_t count);

/* The first sentence of a description, or nothing, as a comment may have it; before it, if
 * calls of the tool must be tasks, that it cannot be called. */
void gbx_declare_summary(gbx_buf *to, gbx_view tool, size_t max);

/* ---- entry_point.c ------------------------------------------------------- */

/* How the statements of a script say what their value is. */

#define GBX_SHAPE_RETURNS_MAX 16

/* Offsets in the text of the tree. */
typedef struct gbx_entry_point {
    bool
        calls_expression; /* the statement of [start, end) is a function to be called */
    bool keeps; /* [start, end) is the value, or a function to be called at the end, */
    bool calls_kept; /* though it stands before others */
    bool is_void;    /* no value is meant, whatever the engine finds */
    size_t start;
    size_t end;
    size_t returns
        [GBX_SHAPE_RETURNS_MAX]; /* where expressions begin that are the value, */
    size_t return_count;         /* in order */
    size_t name_start;     /* the function of this name is to be called at the end; */
    size_t name_end;       /* 0: none */
    size_t uncalled_start; /* the last function that nothing uses, if none is called; */
    size_t uncalled_end;   /* 0: none */
} gbx_entry_point;

/* t: flat. In a tree with errors nothing is found. to: a copy of its text, in which `export`
 * and `export default` before what stands by itself become blanks, whatever the tree. */
void gbx_entry_point_find(const gbx_tree *t, char *to, gbx_entry_point *ret);

/* ---- exports.c ----------------------------------------------------------- */

/* What a module of Node exports, as the value that is meant. */

/*
 * t: flat and without errors. to: a copy of its text, in which `module.exports =` becomes
 * `export default` of the same length, and what exports no more than functions by their names
 * becomes blanks. False if nothing of it is there, or anything else is done with `module` or
 * `exports`: then to is as it was.
 */
bool gbx_exports_take(const gbx_tree *t, char *to);

/* ---- reply_json.c -------------------------------------------------------- */

/* The halves of a reply that are JSON; for script_reply.c alone. */

/* Of what is long, what is shown. */
typedef struct gbx_reply_cuts {
    gbx_excerpt value;
    gbx_excerpt logs;
    gbx_excerpt message; /* of the error, which has what is shown already */
} gbx_reply_cuts;

/* How what is shown of the value is escaped. */
gbx_escape gbx_reply_escape(const gbx_script_reply *reply);

void gbx_reply_structure(const gbx_script_reply *reply, const gbx_reply_cuts *cuts,
                         gbx_buf *to);
/* Append a comma and a block that links to a resource. */
void gbx_reply_link(gbx_buf *to, const char *uri, const char *name,
                    const char *mime_type, size_t bytes);
void gbx_reply_blocks(const gbx_script_reply *reply, const gbx_buf *text,
                      const gbx_reply_cuts *cuts, gbx_buf *to);

/* ---- search_words.c ------------------------------------------------------ */

/*
 * A text as the words that a search compares, in one case of all letters.
 *
 * They are cut where a person sees them: readTextFile, read_text_file and read-text-file
 * are the same three, and after them the whole in one, since GitHub is written github, too.
 * Scripts without gaps between words (Chinese, Japanese, Thai, ...) are told in pairs of
 * letters, each with the next; one that stands alone is a word.
 *
 * No state and no memory: one pass, however long the text is.
 */

#define GBX_WORD_MAX 64 /* bytes; what is longer has the same beginning */

typedef struct gbx_search_word {
    char text[GBX_WORD_MAX + 1]; /* folded, see rules/letters.h; "files" is "FILE" */
    size_t len;
    size_t letters;
    bool is_stop;  /* "the", "of": it is everywhere, and says nothing */
    bool is_dense; /* of a script without gaps */
} gbx_search_word;

/* The word is borrowed until the function returns. */
typedef void (*gbx_word_fn)(void *user, const gbx_search_word *word);

/* Bytes that are no UTF-8 are gaps. */
void gbx_search_words(const char *text, size_t len, gbx_word_fn each, void *user);

/* ---- code.c ---------------------------------------------------- */

/* The script servers.js as a preload of an engine, for a list of servers. */

/* What the script is called in stacks, and the function of the host that it calls. */
#define GBX_CODE_PRELOAD_NAME "servers.js"
#define GBX_CODE_HOST_NAME    "codemode"

/* Append the source. sleep_ms: how long one sleep may be. */
bool gbx_code_preload(gbx_buf *to, const char *const *names, size_t count,
                      uint32_t sleep_ms);

/* ---- strip_fences.c ------------------------------------------------------ */

/* What comes with code on its way from a model: fences, and escapes that are left. */

/*
 * Blank a Markdown fence that guard/source_region.h does not take for one: one whose first line
 * says more than a language, one that nothing closes. Only where the code is complete,
 * with no text around it; no byte moves.
 */
void gbx_strip_fence(char *text, size_t len);

/* The first backslash that is in no string, template, regular expression or comment and
 * that one escaping too many has left; len if there is none. *ret_hint is a constant. */
size_t gbx_strip_escape(const char *text, size_t len, const char **ret_hint);

/* A first line for a shell, #!, is a comment, as it is to the language. */
void gbx_strip_first_line(char *text, size_t len);

/* ---- types.c ------------------------------------------------------------- */

/*
 * TypeScript whose types are only types becomes JavaScript of the same length.
 *
 * What is a type becomes blanks, character by character and line by line, so that every
 * position in what is left is one in what was given. What would have to be translated
 * (an enum, a namespace, a parameter that is a property) is refused.
 */

typedef struct gbx_types_fault {
    const char *message; /* constant; NULL: none */
    const char *hint;
    size_t offset;
} gbx_types_fault;

/*
 * Blank the types in `to`, a copy of the text; without the grammar nothing happens. False if
 * the text is no TypeScript: then what looks like types is blank, and where the first thing
 * is wrong is the fault's offset, if it has no message. Inside gbx_arena_run().
 */
bool gbx_types_take(const char *text, size_t len, char *to, gbx_types_fault *ret_fault);

/* ---- types_compared.c ---------------------------------------------------- */

/* F(a < b, c > (d)): by its grammar alone, a generic call a<b, c>(d). */

typedef struct gbx_types_name {
    const char *text;
    size_t len;
    bool is_type;
} gbx_types_name;

/* What the code declares, sorted; {0} until it is first needed. */
typedef struct gbx_types_names {
    gbx_types_name *items;
    uint32_t count;
} gbx_types_names;

/* True if node i, type arguments, are operands. Of a call: one is a variable that the code
 * declares and no type, or a member of what it declares, and nothing is of a form that only
 * types have.
 * Without a call: what follows is an operand. Inside gbx_arena_run(). */
bool gbx_types_is_compared(const gbx_tree *t, uint32_t i, gbx_types_names *names);

/* ---- types_given.c ------------------------------------------------------- */

/* Type arguments where the grammar of TypeScript knows none. */

/*
 * t: flat, of `text`. Blanks in text and in `to`, of the same length, type arguments before a
 * template, f<T>`x`; and, if there is an error, before the call of what may be missing,
 * f<T>?.(x). And import("y") becomes a name in text. False if there is none of it.
 */
bool gbx_types_mend_given(const gbx_tree *t, char *text, char *to);

/* ---- types_of.c ---------------------------------------------------------- */

/*
 * TypeScript for what a JSON Schema describes.
 *
 * Schemas come from upstream servers: hostile. Whatever they hold, what is written is
 * valid TypeScript, of bounded length after a bounded amount of work; what is too deep, too
 * much, recursive or not understood is `unknown`, and a value that the schema allows is not
 * refused. Only references within the schema are followed.
 */

typedef struct gbx_types_form {
    unsigned indent;     /* of lines that are begun */
    unsigned nested_max; /* objects and arrays in each other */
    unsigned values_max; /* of an enum, or more that are short */
    size_t describe_max; /* bytes of a parameter's description */
} gbx_types_form;

/* Append the type of schema; no value is `unknown`. */
void gbx_types_of(gbx_buf *to, gbx_view schema, const gbx_types_form *form);

/* What "#/$defs/a" leads to in the schema that is root, or the $anchor or $id of one of its
 * definitions; no value for anything else. */
gbx_view gbx_types_follow(gbx_view root, gbx_view ref);

/* Is there nothing that a caller must give? Then the arguments may be left out. */
bool gbx_types_all_optional(gbx_view schema);

/* Append text as the inside of a comment of one line, at most max bytes of it: nothing in
 * it ends the comment. */
void gbx_types_comment(gbx_buf *to, gbx_view text, size_t max);

/* Append a JSON string as one of TypeScript: characters that reorder text or steer a
 * terminal are escaped. */
bool gbx_types_string(gbx_buf *to, gbx_view string);

/* Append a name as TypeScript has members': as it is, or as a string. False, and nothing
 * is written, if it is no string. */
bool gbx_types_put_name(gbx_buf *to, gbx_view name);

/* FNV-1a of a string's characters: names that were already written are left out. */
uint64_t gbx_types_hash(gbx_view name);

/* ---- types_path.c -------------------------------------------------------- */

/* Names of types with dots, which the grammar of TypeScript cuts short. */

/*
 * Parse as TypeScript, and lay flat: to the tree, `x as A.B.C` is all type behind x, unless
 * gbx_types_is_cut() says so. What code_mode.h and code_mode.h mend is blank in `to`, a copy of the text.
 * False if the time bound was reached; then there is no tree.
 * Inside gbx_arena_run().
 */
bool gbx_types_parse(gbx_tree *t, const char *text, size_t len, char *to);

/* True if i is a member to the tree, and to TypeScript the end of a type's name. */
bool gbx_types_is_cut(const gbx_tree *t, uint32_t i);

/* ---- types_words.c ------------------------------------------------------- */

/* Words that the grammar of TypeScript takes for something else. */

/*
 * t: of `text`, and with an error. Writes into text what the grammar does know there, of
 * the same length, and blanks in `to` what is no JavaScript and would be left. False if
 * there is no such word.
 */
bool gbx_types_mend_words(const gbx_tree *t, char *text, char *to);

/* ---- value.c ------------------------------------------------------------- */

/*
 * What code gets for a CallToolResult: its structured content, else the JSON that
 * its text is, else the text; what is no text, as a handle.
 *
 * Results come from upstream servers: hostile, and only known to be JSON.
 */

/* Keep bytes, and append the JSON of the handle by which they are found. */
typedef struct gbx_value_keeper {
    void (*keep)(void *user, const char *mime_type, const void *data, size_t len,
                 gbx_buf *handle);
    void *user;
} gbx_value_keeper;

/* True: the value's JSON is appended to `to`. False: the tool says that it failed, and
 * why is appended to message as text, head and tail of what is long. */
bool gbx_value_of_result(gbx_view result, const gbx_value_keeper *keeper, gbx_buf *to,
                         gbx_buf *message);

/* Has the result more than what code gets as its structured content: a text that is not
 * that content once more and not in it, or other blocks? */
bool gbx_value_has_more(gbx_view result);

/* What a value is, in a few words of printable text: "string", "{ content: string }",
 * "[{ id: number, ... }, ...]". */
#define GBX_VALUE_SKETCH_SIZE 128
void gbx_value_sketch(gbx_view value, char ret[GBX_VALUE_SKETCH_SIZE]);

/* Its members, in one pass: those that are missing are no value. */
typedef struct gbx_value_parts {
    gbx_view structured;
    gbx_view content;
    bool is_error;
} gbx_value_parts;

gbx_value_parts gbx_value_parts_of(gbx_view result);

#define GBX_CODE_PROGRESS_MAX 2000 /* of one message */
#define GBX_CODE_TOLD_MAX     5000 /* messages that one script may tell; as in servers.js */

struct gbx_nested_call;
struct gbx_code_run;
struct gbx_direct;
struct learning;

struct gbx_mcp_code {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    const gbx_mcp_config *config;
    const gbx_mcp_settings *settings;
    const gbx_policy *policy; /* of the command, or NULL */
    gbx_upstreams *upstreams;
    gbx_gate *gate;
    gbx_parse_thread *aside;
    gbx_box *box;
    gbx_artifacts *artifacts;
    gbx_recent recent; /* of execute */
    struct gbx_code_run *open_runs;
    struct learning *learning;
    struct gbx_direct *directs;
    char id[9];        /* of this object, in the log of the gate */
    uint64_t runs;     /* so far */
    bool file_changed; /* the configuration; said on standard error */
    bool change_told;  /* to the model, too */
};

/* ---- names of servers and tools (known_names.c) ------------------------------------------ */

/* Do code and models hear of it? Not if it is switched off; but if only a variable of it
 * is not set: who calls it must be told which. */
bool gbx_code_is_listed(const gbx_mcp_upstream_config *server);
/* NULL and a message, with the nearest name or why it cannot start, if there is none;
 * *ret_code is the code of that error, a constant. */
const gbx_mcp_upstream_config *gbx_code_find_server(const gbx_mcp_code *code,
                                                    const char *name, gbx_buf *message,
                                                    const char **ret_code);
/* What is known of a server; false if nobody has heard of it. */
bool gbx_code_info(const gbx_mcp_code *code, const char *server,
                   gbx_upstream_info *ret);
/* The server that a variable is named for, as my_files for "my-files", or NULL. */
const char *gbx_code_meant_server(const gbx_mcp_code *code, const char *name);
/* Append the names of all servers that code hears of: "there are: files, web". */
void gbx_code_put_servers(const gbx_mcp_code *code, gbx_buf *to);
/* The true name of a tool that is written in another way (readFile for read_file), or
 * NULL; free() it. */
char *gbx_code_other_name(const gbx_mcp_code *code, const char *server,
                          const char *tool);
/* Append why there is no such tool, with what may have been meant: nothing if there is
 * one, or it is not known. server "": of any server. */
void gbx_code_no_tool(const gbx_mcp_code *code, const char *server, const char *tool,
                      gbx_buf *message);

/* Append the calls of the tool that a word names as other hosts do: tool, server__tool or
 * mcp__server__tool. Nothing if no server has it. */
void gbx_code_put_call(const gbx_mcp_code *code, const char *word, gbx_buf *to);

/* The same for a model that has called it as a tool of ours. user is the gbx_mcp_code. */
void gbx_code_advise_call(void *user, const char *word, gbx_buf *to);

/* ---- learning what tools there are (list_tools.c) ----------------------------------------- */

/* failure: why the one server that was asked for has not told its tools, or NULL. It is
 * borrowed, and hostile. */
typedef void (*gbx_learnt_fn)(void *user, const gbx_upstream_reply *failure);

/* Calls done once, never from inside, when the tools of the server (NULL: of all but those
 * whose last start has failed) are known, after a while, or when the request (NULL: none)
 * is cancelled. starts: a server whose tools are known is started, too. False if memory
 * is out. */
bool gbx_code_list_tools(gbx_mcp_code *code, const char *server, bool starts,
                         gbx_mcp_request *request, gbx_learnt_fn done,
                         void (*drop)(void *user), void *user);
/* Code mode ends: instead of done, drop is called (or, if it is NULL, nothing). */
void gbx_code_list_tools_end(gbx_mcp_code *code);

/* ---- discovery (discover.c, find.c) ----------------------------------------------------- */

typedef struct gbx_code_query {
    char words[512];
    char server[72];
    char tool[GBX_TOOL_NAME_MAX + 1];
    char detail[16]; /* "names", "summary", "types", or "" */
} gbx_code_query;

/* The tools that are known and fit, best first; free() *ret. At most limit. */
bool gbx_code_find(const gbx_mcp_code *code, const gbx_code_query *query, size_t limit,
                   gbx_search_doc **ret, size_t *ret_count, size_t *ret_total);
/* Read what code or a model asks for; false: message says what is wrong. */
bool gbx_code_read_query(gbx_view words, gbx_view settings, gbx_code_query *ret,
                         gbx_buf *message);
/* The names of those that could not be asked, or nothing. */
void gbx_code_put_absent(const gbx_mcp_code *code, const gbx_code_query *query,
                         gbx_buf *to);
/* The answers for code, JSON: to discover(), and to servers.x.tools(), which are tools as
 * their servers list them. */
void gbx_code_find_json(const gbx_mcp_code *code, const gbx_code_query *query,
                        gbx_buf *to);
void gbx_code_tools_json(const gbx_mcp_code *code, const gbx_code_query *query,
                         gbx_buf *to);

/* ---- tools (execute_tool.c, discover.c, direct.c, provision.c) ------------------------------- */

void gbx_code_execute(void *user, gbx_mcp_request *request, gbx_view arguments);
void gbx_code_discover(void *user, gbx_mcp_request *request, gbx_view arguments);
void gbx_code_call(void *user, gbx_mcp_request *request, gbx_view arguments);
void gbx_code_provision(void *user, gbx_mcp_request *request, gbx_view arguments);

/* Code mode ends: what the gate still knows is freed when it lets go. */
void gbx_code_abandon_calls(gbx_mcp_code *code);

extern const gbx_box_hooks gbx_code_run_hooks;

/* Register the four tools; those that changed are announced. */
bool gbx_code_register(gbx_mcp_code *code);

/* A reply of text alone, cut if it must be; is_error for a model to repair. */
void gbx_code_say(gbx_mcp_code *code, gbx_mcp_request *request, const gbx_buf *text,
                  bool is_error);
void gbx_code_say_wrong(gbx_mcp_code *code, gbx_mcp_request *request,
                        const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same; if the configuration has changed, the first of them begins with that. */
void gbx_code_say_changed(gbx_mcp_code *code, gbx_mcp_request *request,
                          const gbx_buf *text, bool is_error);
/* Has it? Then a person is told, once. */
void gbx_code_look_at_file(gbx_mcp_code *code);

/* What a tool says while a call of it runs, with the names of both before it. */
void gbx_code_say_progress(gbx_mcp_request *request, const char *server,
                           const char *tool, const char *message, size_t len);

/* ---- arguments (arguments.c, known_names.c) ------------------------------------------------- */

/* Are all members of the arguments among names, which NULL ends? False: message says which
 * is not, and what it may have been meant for. */
bool gbx_code_check_names(gbx_view arguments, const char *const *names,
                          gbx_buf *message);
/* A string of 1 to size - 1 bytes without NUL. */
bool gbx_code_take_name(gbx_view view, char *ret, size_t size);
/* Is it longer than the name of any tool? Then that is said. */
#define GBX_CODE_LONG_NAME "the name of a tool has at most 256 bytes"
_Static_assert(GBX_TOOL_NAME_MAX == 256, "GBX_CODE_LONG_NAME says so");
bool gbx_code_is_long_name(gbx_view view);
/* Append what a server has said of its own failure, without values of secrets. */
void gbx_code_put_fault(const gbx_mcp_code *code, const char *fault, gbx_buf *to);
/* A whole number from 0 to max; what is more is max. */
bool gbx_code_take_count(gbx_view view, uint32_t max, uint32_t *ret);

#endif
