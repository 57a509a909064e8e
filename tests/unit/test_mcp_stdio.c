/* SPDX-License-Identifier: MIT */
/* stdio - lines that wait do not keep the loop from what ends the server. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/server/server.h"
#include "support/failing_malloc.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#define LINES   300
#define BUSY_NS (6 * GBX_NS_PER_MS)

#define CLOSED_FD 1000

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_mcp_stdio *stdio;
    int in[2];
    int out;
    bool asks_to_end; /* the first call does */
    bool starves;     /* the first call, and all that follows */
    int calls;
} scene;

static scene its;
static scene *const s = &its;

/* Keeps the loop for longer than lines may. */
static void busy_call(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    int64_t until_ns = gbx_clock_now_ns() + BUSY_NS;

    if (s->calls++ == 0 && s->asks_to_end)
        (void)raise(SIGTERM);
    while (gbx_clock_now_ns() < until_ns)
        continue;
    if (s->starves)
        failing_malloc_arm(1, FAIL_FROM_THEN_ON);
    gbx_mcp_finish(request, &(gbx_mcp_result){.content = "[]",
                                              .content_len = 2,
                                              .is_error = true});
}

static void say(const char *line)
{
    size_t len = strlen(line);

    assert_int_equal(write(s->in[1], line, len), len);
}

static int start(void **state)
{
    *s = (scene){0};
    if (pipe2(s->in, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    s->out = open("/dev/null", O_WRONLY | O_CLOEXEC);
    s->loop = gbx_mcp_loop_new();
    if (s->loop == NULL)
        return -1;
    s->server = gbx_mcp_server_new(s->loop, &(gbx_mcp_server_options){.name = "test",
                                                                      .version = "1"});
    if (!gbx_mcp_server_set_tool(s->server, &(gbx_mcp_tool){.name = "busy",
                                                            .description = "",
                                                            .input_schema =
                                                                "{\"type\":\"object\"}",
                                                            .call = busy_call,
                                                            .user = s}) ||
        gbx_mcp_stdio_new(s->loop, s->server, s->in[0], s->out, &s->stdio, NULL) !=
            GBX_OK)
        return -1;
    say("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
        "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{"
        "\"name\":\"t\",\"version\":\"1\"}}}\n");
    for (int i = 1; i <= LINES; i++) {
        char line[128];

        (void)snprintf(line, sizeof line,
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
                       "\"params\":{\"name\":\"busy\",\"arguments\":{}}}\n",
                       i);
        say(line);
    }
    return 0;
}

static int finish(void **state)
{
    gbx_mcp_stdio_free(s->stdio);
    gbx_mcp_server_free(s->server);
    gbx_mcp_loop_free(s->loop);
    gbx_fd_close(&s->in[0]);
    gbx_fd_close(&s->in[1]);
    gbx_fd_close(&s->out);
    return 0;
}

TEST(a_signal__is_seen_between_lines)
{
    s->asks_to_end = true;
    (void)gbx_mcp_loop_run(s->loop);

    assert_in_range(s->calls, 1, 3);
}

/* What is begun later than answers are waited for would only be cancelled. */
TEST(a_client_that_has_gone__is_served_for_a_while_only)
{
    gbx_fd_close(&s->in[1]);
    (void)gbx_mcp_loop_run(s->loop);

    assert_in_range(s->calls, 2, LINES / 2);
}

TEST(a_client_that_has_not_gone__is_served_to_its_last_line)
{
    say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    while (s->calls < LINES)
        (void)event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_ONCE);

    assert_int_equal(s->calls, LINES);
}

TEST(an_end_for_want_of_memory__is_told_from_that_of_a_client)
{
    s->starves = true;
    (void)gbx_mcp_loop_run(s->loop);

    assert_true(failing_malloc_disarm());
    assert_int_equal(gbx_mcp_stdio_write_errno(s->stdio), ENOMEM);
    assert_int_equal(gbx_mcp_stdio_read_errno(s->stdio), 0);
}

/* It then seems to have ended. */
TEST(input__that_cannot_be_waited_for_has_not_ended)
{
    gbx_mcp_loop *loop = gbx_mcp_loop_new();
    gbx_mcp_stdio *started = NULL;

    assert_non_null(loop);
    assert_int_equal(gbx_mcp_stdio_new(loop, s->server, CLOSED_FD, s->out, &started,
                                       NULL),
                     GBX_OK);
    assert_int_equal(gbx_mcp_stdio_read_errno(started), EBADF);
    gbx_mcp_stdio_free(started);
    gbx_mcp_loop_free(loop);
}

int main(void)
{
    failing_malloc_take_libevent();
    tests_each(start, finish);
    return tests_run(NULL, NULL);
}
