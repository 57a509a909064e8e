/* SPDX-License-Identifier: MIT */
/* hold - what waits while it is not known yet what the server offers. */
#include "mcp_client.h"
#include "test.h"

#include "base/cleanup.h"

#include <unistd.h>

#define HOLD_MS 200
#define BEAT_MS 300

static int open_client(void **state)
{
    static const gbx_mcp_server_options options = {.name = "test",
                                                   .version = "1",
                                                   .hold_ms = HOLD_MS,
                                                   .beat_ms = BEAT_MS};
    static mcp_client client;

    mcp_client_open(&client, &options);
    mcp_client_initialize(&client, "2025-11-25", "{}");
    *state = &client;
    return 0;
}

static int close_client(void **state)
{
    mcp_client_close(*state);
    return 0;
}

static void list(mcp_client *c, const char *id)
{
    char text[64];

    (void)snprintf(text, sizeof text, "\"id\":%s,\"method\":\"tools/list\"", id);
    mcp_client_say(c, text);
}

TEST(what_is_held__runs_in_order_when_released)
{
    mcp_client *c = *state;
    const char *heard;

    gbx_mcp_server_hold(c->server);
    gbx_mcp_server_hold(c->server);
    list(c, "1");
    list(c, "2");
    list(c, "3");
    mcp_client_say(c, "\"method\":\"notifications/cancelled\","
                      "\"params\":{\"requestId\":3}");
    gbx_mcp_server_release(c->server);
    mcp_client_expect(c, "");
    gbx_mcp_server_release(c->server);
    heard = mcp_client_hear(c);
    assert_non_null(strstr(heard, "\"id\":1"));
    assert_non_null(strstr(strstr(heard, "\"id\":1"), "\"id\":2"));
    assert_null(strstr(heard, "\"id\":3"));
}

static void end(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    (void)user;
    (void)arguments;
    gbx_mcp_finish(request, &(gbx_mcp_result){.text = "x", .text_len = 1});
}

TEST(a_hold__concerns_lists_alone)
{
    static const gbx_mcp_tool tool = {.name = "t", .input_schema = "{}", .call = end};
    mcp_client *c = *state;

    assert_true(gbx_mcp_server_set_tool(c->server, &tool));
    gbx_mcp_server_hold(c->server);
    list(c, "1");
    mcp_client_say(c, "\"id\":2,\"method\":\"ping\"");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    mcp_client_say(c, "\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}");
    (void)mcp_client_expect_part(c, "\"id\":3,\"result\"");
    gbx_mcp_server_release(c->server);
}

static void on_read(void *user, gbx_mcp_request *request, const char *uri)
{
    (void)user;
    (void)uri;
    gbx_mcp_finish_resource(request, "[]", 2);
}

static void put_resource(mcp_client *c, const char *uri, bool is_pending)
{
    gbx_mcp_resource r = {.uri = uri,
                          .name = "r",
                          .read = on_read,
                          .is_pending = is_pending};

    assert_true(gbx_mcp_server_set_resource(c->server, &r));
}

TEST(a_read_of_what_is_pending__waits_for_it_alone)
{
    static const char read_a[] =
        "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"x:a\"}";
    static const char read_b[] =
        "\"id\":2,\"method\":\"resources/read\",\"params\":{\"uri\":\"x:b\"}";
    mcp_client *c = *state;

    put_resource(c, "x:a", true);
    put_resource(c, "x:b", false);
    gbx_mcp_server_hold(c->server);
    mcp_client_say(c, read_a);
    mcp_client_say(c, read_b);
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"contents\":[]}}");
    put_resource(c, "x:a", false);
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"contents\":[]}}");
    gbx_mcp_server_release(c->server);
}

TEST(a_hold__does_not_last_for_ever)
{
    mcp_client *c = *state;

    gbx_mcp_server_hold(c->server);
    list(c, "1");
    mcp_client_expect(c, "");
    (void)usleep((HOLD_MS + 20) * 1000);
    (void)mcp_client_expect_part(c, "\"id\":1");
    gbx_mcp_server_hold(c->server); /* it is late, too */
    list(c, "2");
    (void)mcp_client_expect_part(c, "\"id\":2");
    gbx_mcp_server_release(c->server);
    gbx_mcp_server_release(c->server);
    gbx_mcp_server_hold(c->server);
    list(c, "3");
    mcp_client_expect(c, "");
    gbx_mcp_server_release(c->server);
}

static void wait_for_ever(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    gbx_mcp_request **waiting = user;
    (void)arguments;

    *waiting = request;
}

TEST(silence__is_broken_for_who_asked_for_progress)
{
    mcp_client *c = *state;
    gbx_mcp_request *waiting = NULL;

    assert_true(
        gbx_mcp_server_set_tool(c->server, &(gbx_mcp_tool){.name = "wait",
                                                           .input_schema = "{}",
                                                           .call = wait_for_ever,
                                                           .user = &waiting}));
    (void)mcp_client_hear(c);
    mcp_client_say(c,
                   "\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"wait\","
                   "\"_meta\":{\"progressToken\":\"t\"}}");
    mcp_client_expect(c, "");
    (void)usleep(600 * 1000);
    (void)mcp_client_expect_part(
        c, "\"progress\":0.001,\"message\":\"still at work, 0 s\"");
    gbx_mcp_progress_at(waiting, 1, 2, NULL, 0);
    (void)mcp_client_expect_part(c, "\"progress\":1,\"total\":2}");
    (void)usleep(600 * 1000);
    (void)mcp_client_expect_part(c, "\"progress\":1.001,");
    gbx_mcp_finish(waiting,
                   &(gbx_mcp_result){.text = "over", .text_len = 4, .is_error = true});
    (void)mcp_client_expect_part(c, "\"id\":1");
    (void)usleep(600 * 1000);
    mcp_client_expect(c, "");
}

TEST_MAIN_EACH(open_client, close_client)
