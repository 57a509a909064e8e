/* SPDX-License-Identifier: MIT */
/*
 * fixture - a server over src/mcp/server with tools that do what a test needs, and with
 * nothing behind them. `mcp-fixture [ENTRIES_PER_PAGE]`.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "mcp/rpc/rpc.h"
#include "mcp/server/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gbx_mcp_server *server;
static gbx_mcp_loop *loop;

static void finish_block(gbx_mcp_request *request, gbx_view text, gbx_view structured,
                         bool is_error)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf content = {.ceiling = GBX_MIB(64)};

    (void)gbx_buf_puts(&content, "[{\"type\":\"text\"");
    gbx_json_put_shown(&content, "text", text.at != NULL ? text.at : "", text.len);
    (void)gbx_buf_puts(&content, "}]");
    gbx_mcp_finish(request, &(gbx_mcp_result){.content = (char *)content.data,
                                              .content_len = content.len,
                                              .structured = structured.at,
                                              .structured_len = structured.len,
                                              .is_error = is_error});
}

static void finish_text(gbx_mcp_request *request, const char *text)
{
    finish_block(request, (gbx_view){text, strlen(text)}, (gbx_view){0}, false);
}

static int64_t number(gbx_view arguments, const char *name, int64_t otherwise)
{
    int64_t value;

    return gbx_rpc_integer(gbx_view_member(arguments, name), &value) ? value
                                                                     : otherwise;
}

static void echo(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    finish_block(request, arguments, arguments, false);
}

/* The trace context that came with the request. */
static void trace(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_view parent = gbx_mcp_request_meta(request, "traceparent");

    finish_block(request, parent, (gbx_view){0}, false);
}

static void fail(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    finish_block(request, (gbx_view){"it did not work", 15}, (gbx_view){0}, true);
}

static void big(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    size_t len = (size_t)number(arguments, "bytes", 0);
    GBX_CLEANUP(gbx_free) char *text = malloc(len + 1);

    if (text != NULL)
        memset(text, 'x', len);
    finish_block(request, (gbx_view){text, len}, (gbx_view){0}, false);
}

static void note(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_log_line(request, GBX_LOG_DEBUG, "low", 3);
    gbx_mcp_log_line(request, GBX_LOG_ERROR, "high", 4);
    finish_text(request, "noted");
}

/* Another list of tools, and another content of test://watched. */
static void change(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_tool added = {.name = "added",
                          .input_schema = "{\"type\":\"object\"}",
                          .call = fail};

    (void)gbx_mcp_server_set_tool(server, &added);
    gbx_mcp_server_resource_updated(server, "test://watched");
    finish_text(request, "changed");
}

/* ---- work that takes its time ------------------------------------------------- */

typedef struct work {
    gbx_mcp_request *request;
    struct event *timer;
    int64_t ticks;
} work;

static void end_work(work *w, const char *text)
{
    event_free(w->timer);
    finish_text(w->request, text);
    free(w);
}

static void on_cancel(void *user)
{
    (void)fputs("fixture: cancelled\n", stderr);
    end_work(user, "never seen");
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    work *w = arg;
    char text[32];

    (void)snprintf(text, sizeof text, "%d left", (int)--w->ticks);
    gbx_mcp_progress(w->request, -1, text, strlen(text));
    if (w->ticks == 0)
        end_work(w, "slept");
}

/* ticks of ms milliseconds; ticks 0: until it is cancelled. */
static void nap(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    struct timeval tv = {.tv_usec = (suseconds_t)number(arguments, "ms", 1) * 1000};
    work *w = calloc(1, sizeof *w);

    if (w == NULL)
        abort();
    w->request = request;
    w->ticks = number(arguments, "ticks", 0);
    w->timer = event_new(gbx_mcp_loop_base(loop), -1, EV_PERSIST, on_tick, w);
    if (w->ticks > 0)
        (void)event_add(w->timer, &tv);
    gbx_mcp_on_cancel(request, on_cancel, w);
}

/* A handler that will not hear of the end. */
static void deaf(void *user, gbx_mcp_request *request, gbx_view arguments)
{
}

/* ---- questions ------------------------------------------------------------------ */

typedef struct interview {
    gbx_mcp_request *request;
    int64_t left;
    int runs; /* of this tool in this process */
    gbx_buf answers;
} interview;

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    static const char *const names[] = {
        [GBX_MCP_ANSWER_ACCEPT] = "accept", [GBX_MCP_ANSWER_DECLINE] = "decline",
        [GBX_MCP_ANSWER_CANCEL] = "cancel", [GBX_MCP_ANSWER_LATE] = "late",
        [GBX_MCP_ANSWER_NOBODY] = "nobody", [GBX_MCP_ANSWER_ENDED] = "ended"};
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
        "\"required\":[\"name\"]}";
    interview *i = user;

    if (i->answers.len > 0 || i->left == 0)
        (void)gbx_buf_printf(&i->answers, "%s%.*s ", names[answer], (int)content.len,
                             content.at != NULL ? content.at : "");
    if (i->answers.len == 0)
        (void)gbx_buf_printf(&i->answers, "run %d: ", i->runs);
    if (i->left-- > 0) {
        gbx_mcp_ask(i->request, "What is your name?", schema, NULL, on_answer, i);
        return;
    }
    finish_block(i->request, (gbx_view){(char *)i->answers.data, i->answers.len},
                 (gbx_view){0}, false);
    gbx_buf_cleanup(&i->answers);
    free(i);
}

static void ask(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    static int runs;
    interview *i = calloc(1, sizeof *i);

    if (i == NULL)
        abort();
    i->request = request;
    i->runs = ++runs;
    i->left = number(arguments, "times", 1);
    gbx_buf_init(&i->answers, 10000);
    on_answer(i, GBX_MCP_ANSWER_NOBODY, (gbx_view){0});
}

/* ---- resources -------------------------------------------------------------------- */

static void read_it(void *user, gbx_mcp_request *request, const char *uri)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf contents = {.ceiling = 100000};

    (void)gbx_buf_puts(&contents, "[{\"uri\":");
    (void)gbx_json_append_string(&contents, uri, strlen(uri));
    (void)gbx_buf_puts(&contents, ",\"mimeType\":\"text/plain\",\"text\":\"read\"}]");
    gbx_mcp_finish_resource(request, (char *)contents.data, contents.len);
}

static void offer(void)
{
    static const struct {
        const char *name;
        gbx_mcp_tool_fn call;
    } tools[] = {{"echo", echo}, {"trace", trace}, {"fail", fail},
                 {"big", big},   {"note", note},   {"change", change},
                 {"nap", nap},   {"deaf", deaf},   {"ask", ask}};
    gbx_mcp_resource resource = {.name = "watched",
                                 .mime_type = "text/plain",
                                 .read = read_it};

    for (size_t i = 0; i < GBX_COUNTOF(tools); i++)
        (void)gbx_mcp_server_set_tool(server,
                                      &(gbx_mcp_tool){.name = tools[i].name,
                                                      .description = tools[i].name,
                                                      .input_schema =
                                                          "{\"type\":\"object\"}",
                                                      .call = tools[i].call});
    resource.uri = "test://watched";
    (void)gbx_mcp_server_set_resource(server, &resource);
    resource.uri = "test://other";
    (void)gbx_mcp_server_set_resource(server, &resource);
    resource.uri = "test://row/";
    resource.uri_template = "test://row/{id}";
    (void)gbx_mcp_server_set_resource(server, &resource);
}

int main(void)
{
    gbx_mcp_server_options options = {.name = "fixture",
                                      .version = "1.0.0",
                                      .instructions = "for tests"};
    gbx_mcp_stdio *stdio;
    int status;

    (void)signal(SIGPIPE, SIG_IGN);
    loop = gbx_mcp_loop_new();
    if (loop == NULL)
        return 70;
    server = gbx_mcp_server_new(loop, &options);
    if (gbx_mcp_stdio_new(loop, server, STDIN_FILENO, STDOUT_FILENO, &stdio, NULL) !=
        GBX_OK)
        return 70;
    offer();
    status = gbx_mcp_loop_run(loop);
    gbx_mcp_stdio_free(stdio);
    gbx_mcp_server_free(server);
    gbx_mcp_loop_free(loop);
    return status;
}
