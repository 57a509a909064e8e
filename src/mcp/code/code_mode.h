/* SPDX-License-Identifier: MIT */
/* code_mode - what the files of code mode's tools share. Nobody else includes it. */
#ifndef GBX_MCP_CODE_CODE_MODE_H
#define GBX_MCP_CODE_CODE_MODE_H

#include "mcp/code/artifacts.h"
#include "mcp/code/box.h"
#include "mcp/code/code.h"
#include "mcp/code/parse_thread.h"
#include "mcp/code/recent.h"
#include "mcp/code/search.h"

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
