/* SPDX-License-Identifier: MIT */
/*
 * fuzz_mcp_session - a client that says anything, a line of the input at a time, to a
 * server with tools that answer at once, late, never, and after they have asked.
 *
 * Everything that is sent is messages, one a line, and every request is ended.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"
#include "mcp/server/server_state.h"

#include <string.h>

#define WAITING_MAX 64

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_mcp_request *waiting[WAITING_MAX];
    size_t count;
} scene;

static bool on_send(void *user, const void *data, size_t len)
{
    const char *at = data;

    while (len > 0) {
        const char *newline = memchr(at, '\n', len);
        gbx_rpc_message message;
        gbx_rpc_fault fault;

        assert(newline != NULL);
        assert(gbx_rpc_read(at, (size_t)(newline - at), &message, &fault));
        len -= (size_t)(newline - at) + 1;
        at = newline + 1;
    }
    return true;
}

static bool on_is_full(void *user)
{
    return false;
}

static void on_give_up(void *user)
{
}

static void echo(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_progress(request, 1, "p", 1);
    gbx_mcp_log_line(request, GBX_LOG_ERROR, arguments.at, arguments.len);
    gbx_mcp_finish(request, &(gbx_mcp_result){.content = "[]",
                                              .content_len = 2,
                                              .structured = arguments.at,
                                              .structured_len = arguments.len});
}

static void forget(scene *s, gbx_mcp_request *request)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->waiting[i] == request)
            s->waiting[i] = s->waiting[--s->count];
}

static void late(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    scene *s = user;

    if (s->count == WAITING_MAX)
        gbx_mcp_fail(request, GBX_RPC_INTERNAL_ERROR, "full");
    else
        s->waiting[s->count++] = request;
}

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    assert(content.at == NULL || gbx_view_kind(content) == '{');
}

static void ask(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_ask(request, "?", "{}", NULL, on_answer, user);
    gbx_mcp_ask(request, "?!", "{}", NULL, on_answer, user);
    late(user, request, arguments);
}

static void read_it(void *user, gbx_mcp_request *request, const char *uri)
{
    if (strlen(uri) % 2 == 0)
        gbx_mcp_fail_no_resource(request, uri, NULL);
    else
        gbx_mcp_finish_resource(request, "[]", 2);
}

static void offer(scene *s)
{
    gbx_mcp_tool tool = {.input_schema = "{}", .user = s};
    gbx_mcp_resource resource = {.uri = "a://", .name = "n", .read = read_it};

    tool.name = "echo";
    tool.call = echo;
    (void)gbx_mcp_server_set_tool(s->server, &tool);
    tool.name = "late";
    tool.call = late;
    (void)gbx_mcp_server_set_tool(s->server, &tool);
    tool.name = "ask";
    tool.call = ask;
    (void)gbx_mcp_server_set_tool(s->server, &tool);
    resource.uri_template = "a://{x}";
    (void)gbx_mcp_server_set_resource(s->server, &resource);
    resource.uri = "a://b";
    resource.uri_template = NULL;
    (void)gbx_mcp_server_set_resource(s->server, &resource);
}

static void turn(scene *s)
{
    (void)event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_NONBLOCK);
}

/* An empty line is the host's turn: a request ends, lists and resources change. */
static void act(scene *s, size_t number)
{
    if (s->count > 0 && number % 2 == 0) {
        gbx_mcp_request *request = s->waiting[0];

        forget(s, request);
        gbx_mcp_finish(request, &(gbx_mcp_result){.content = "[]",
                                                  .content_len = 2,
                                                  .is_error = true});
    }
    gbx_mcp_server_resource_updated(s->server, "a://b");
    turn(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_mcp_client_hooks hooks = {.send = on_send,
                                  .is_full = on_is_full,
                                  .give_up = on_give_up};
    gbx_mcp_server_options options = {.name = "f", .version = "1"};
    const char *at = (const char *)data;
    scene s = {.loop = gbx_mcp_loop_new()};

    s.server = gbx_mcp_server_new(s.loop, &options);
    gbx_mcp_server_connect(s.server, &hooks);
    offer(&s);
    for (size_t number = 0; size > 0; number++) {
        const char *newline = memchr(at, '\n', size);
        size_t len = newline != NULL ? (size_t)(newline - at) : size;

        if (len == 0)
            act(&s, number);
        else
            gbx_mcp_server_take(s.server, at, len);
        size -= len + (newline != NULL);
        at += len + (newline != NULL);
    }
    gbx_mcp_server_end(s.server);
    turn(&s);
    assert(gbx_mcp_server_unfinished(s.server) == s.count);
    while (s.count > 0)
        gbx_mcp_finish(s.waiting[--s.count], &(gbx_mcp_result){.content = "[]",
                                                               .content_len = 2,
                                                               .is_error = true});
    turn(&s);
    gbx_mcp_server_free(s.server);
    gbx_mcp_loop_free(s.loop);
    return 0;
}
