/* SPDX-License-Identifier: MIT */
/* A server for which memory runs out at any moment: what it sends is messages all the
 * same, every question has its answer, and nothing is left behind (which a sanitizer and
 * valgrind see). */
#include "mcp_client.h"
#include "test.h"

#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"
#include "support/failing_malloc.h"

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_mcp_session *session;
    gbx_mcp_request *waiting[16];
    size_t count;
    int asked;
    int answered;
    char state[256]; /* of the last input_required */
} scene;

static bool on_send(void *user, const void *data, size_t len)
{
    static const char mark[] = "\"requestState\":\"";
    scene *s = user;
    const char *text = data;
    const char *state = memmem(text, len, mark, sizeof mark - 1);

    assert_true(len > 2 && text[0] == '{' && text[len - 2] == '}' &&
                text[len - 1] == '\n');
    if (state != NULL) {
        state += sizeof mark - 1;
        (void)snprintf(s->state, sizeof s->state, "%.*s", (int)strcspn(state, "\""),
                       state);
    }
    return true;
}

static bool on_is_full(void *user)
{
    (void)user;
    return false;
}

static void on_give_up(void *user)
{
    (void)user;
}

static void on_cancel(void *user)
{
    scene *s = user;

    if (s->count > 0)
        gbx_mcp_finish_error(s->waiting[--s->count], "cancelled");
}

static void late(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    scene *s = user;

    (void)arguments;
    s->waiting[s->count++] = request;
}

static void wait_for_cancel(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_on_cancel(request, on_cancel, user);
    late(user, request, arguments);
}

static void on_answer(void *user, gbx_mcp_answer answer, gbx_view content)
{
    (void)answer;
    (void)content;
    ((scene *)user)->answered++;
}

static void ask(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    scene *s = user;

    late(user, request, arguments);
    s->asked += 2;
    gbx_mcp_ask(request, "?", "{}", on_answer, s);
    gbx_mcp_ask(request, "?", "{}", on_answer, s);
}

static void read_it(void *user, gbx_mcp_request *request, const char *uri)
{
    (void)user;
    gbx_mcp_fail_no_resource(request, uri, NULL);
}

static void offer(scene *s)
{
    gbx_mcp_tool tool = {.input_schema = "{}", .user = s};
    gbx_mcp_resource resource = {.uri = "a://",
                                 .uri_template = "a://{x}",
                                 .name = "n",
                                 .read = read_it};

    tool.name = "wait";
    tool.call = wait_for_cancel;
    (void)gbx_mcp_server_set_tool(s->server, &tool);
    tool.name = "ask";
    tool.call = ask;
    (void)gbx_mcp_server_set_tool(s->server, &tool);
    (void)gbx_mcp_server_set_resource(s->server, &resource);
    (void)gbx_mcp_server_set_instructions(s->server, "words");
}

static void say(scene *s, const char *members)
{
    char line[1024];
    int len = snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",%s}", members);

    gbx_mcp_session_take(s->session, line, (size_t)len);
    for (int i = 0; i < 3; i++)
        (void)event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_NONBLOCK);
}

static void talk(scene *s)
{
    static const char *const said[] = {
        "\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{\"elicitation\":{}}}",
        "\"id\":1,\"method\":\"tools/list\"",
        "\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\",\"_meta\":{"
        "\"progressToken\":1}}",
        "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":2}",
        "\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"}",
        "\"id\":1,\"result\":{\"action\":\"accept\",\"content\":{\"a\":1}}",
        "\"id\":4,\"method\":\"resources/read\",\"params\":{\"uri\":\"a://b\"}",
        "\"id\":5,\"method\":\"prompts/list\"",
        "\"id\":7,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a://b\"}",
        "\"id\":8,\"method\":\"subscriptions/listen\",\"params\":{" MODERN_META
        ",\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":["
        "\"a://b\"]}}",
        "\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"," MODERN_META_ASK
        "}",
        "\"id\":9,\"method\":\"no/such\"",
    };
    char back[1024];

    for (size_t i = 0; i < GBX_COUNTOF(said); i++)
        say(s, said[i]);
    (void)snprintf(
        back, sizeof back,
        "\"id\":10,\"method\":\"tools/call\",\"params\":{\"name\":\"ask\"," MODERN_META_ASK
        ",\"requestState\":\"%s\",\"inputResponses\":{"
        "\"ask-1\":{\"action\":\"accept\",\"content\":{}}}}",
        s->state);
    say(s, back);
    gbx_mcp_server_resource_updated(s->server, "a://b");
    say(s, "\"id\":11,\"method\":\"ping\"");
}

static void serve(size_t nth, failing_malloc_how how)
{
    gbx_mcp_server_options options = {.name = "t", .version = "1", .instructions = "i"};
    scene s = {.loop = NULL};
    gbx_mcp_session_hooks hooks = {.user = &s,
                                   .send = on_send,
                                   .is_full = on_is_full,
                                   .give_up = on_give_up};

    failing_malloc_arm(nth, how);
    s.loop = gbx_mcp_loop_new();
    if (s.loop != NULL &&
        gbx_mcp_server_new(s.loop, &options, &s.server, NULL) == GBX_OK) {
        s.session = gbx_mcp_session_new(s.server, &hooks);
        offer(&s);
    }
    if (s.session != NULL)
        talk(&s);
    while (s.count > 0)
        gbx_mcp_finish_error(s.waiting[--s.count], "end");
    if (s.session != NULL) {
        for (int i = 0; i < 3; i++)
            (void)event_base_loop(gbx_mcp_loop_base(s.loop), EVLOOP_NONBLOCK);
        assert_int_equal(s.answered, s.asked);
    }
    gbx_mcp_session_free(s.session);
    gbx_mcp_server_free(s.server);
    gbx_mcp_loop_free(s.loop);
}

TEST(a_server__survives_every_allocation_that_fails)
{
    for (size_t nth = 1;; nth++) {
        bool once;

        serve(nth, FAIL_ONCE);
        once = failing_malloc_disarm();
        serve(nth, FAIL_FROM_THEN_ON);
        if (!failing_malloc_disarm() && !once)
            break;
        assert_true(nth < 5000);
    }
}

int main(void)
{
    failing_malloc_take_libevent();
    return tests_run(NULL, NULL);
}
