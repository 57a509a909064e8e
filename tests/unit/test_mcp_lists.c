/* SPDX-License-Identifier: MIT */
/* lists - pages, order, change, and who is told of it; what is registered is checked. */
#include "mcp_client.h"
#include "test.h"

#include "base/cleanup.h"

static int open_client(void **state)
{
    static mcp_client client;

    mcp_client_open(&client, NULL);
    *state = &client;
    return 0;
}

static int close_client(void **state)
{
    mcp_client_close(*state);
    return 0;
}

static void end(void *user, gbx_mcp_request *request, gbx_view arguments)
{
    (void)arguments;
    gbx_mcp_finish(request, &(gbx_mcp_result){.text = user, .text_len = strlen(user)});
}

static bool set_tool(mcp_client *c, const char *name, const char *description)
{
    static char done[] = "done";

    return gbx_mcp_server_set_tool(c->server,
                                   &(gbx_mcp_tool){.name = name,
                                                   .description = description,
                                                   .input_schema =
                                                       "{\"type\":\"object\"}",
                                                   .call = end,
                                                   .user = done});
}

/* Names in the list. */
static const char *names_of(mcp_client *c, const char *method, const char *key)
{
    static char names[256];
    char said[256];
    const char *heard;
    char pattern[32];

    (void)snprintf(said, sizeof said, "\"id\":1,\"method\":\"%s\"", method);
    mcp_client_say(c, said);
    heard = mcp_client_hear(c);
    names[0] = '\0';
    (void)snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
    for (const char *at = heard; (at = strstr(at, pattern)) != NULL; at++) {
        at += strlen(pattern);
        (void)snprintf(names + strlen(names), sizeof names - strlen(names), "%.*s ",
                       (int)strcspn(at, "\""), at);
    }
    return names;
}

TEST(a_list__is_in_the_order_of_registration)
{
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    for (const char *name = "edcba"; *name != '\0'; name++)
        assert_true(set_tool(c, (char[]){*name, '\0'}, "x"));
    assert_true(set_tool(c, "c", "other")); /* keeps its place */
    assert_string_equal(names_of(c, "tools/list", "name"), "e d c b a ");
}

TEST(a_cursor__is_refused)
{
    static const char *const cursors[] = {"\"\"", "\"tools:1\"", "1", "[]"};
    mcp_client *c = *state;
    char said[256];

    mcp_client_initialize(c, "2025-11-25", "{}");
    for (size_t i = 0; i < GBX_COUNTOF(cursors); i++) {
        (void)snprintf(said, sizeof said,
                       "\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":%s}",
                       cursors[i]);
        mcp_client_say(c, said);
        (void)mcp_client_expect_part(c, "\"id\":1,\"error\":{\"code\":-32602");
    }
}

TEST(what_is_registered__is_checked)
{
    static const char long_name[] =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaa";
    mcp_client *c = *state;
    gbx_mcp_tool tool = {.name = "t", .input_schema = "[]", .call = end};

    assert_int_equal(strlen(long_name), 129);
    assert_false(set_tool(c, "", "x"));
    assert_false(set_tool(c, "a b", "x"));
    assert_false(set_tool(c, "a/b", "x"));
    assert_false(set_tool(c, long_name, "x"));
    assert_true(set_tool(c, long_name + 1, "x"));
    assert_false(gbx_mcp_server_set_tool(c->server, &tool));
    tool.input_schema = "{";
    assert_false(gbx_mcp_server_set_tool(c->server, &tool));
    tool.input_schema = "{}";
    tool.output_schema = "1";
    assert_false(gbx_mcp_server_set_tool(c->server, &tool));
    assert_false(
        gbx_mcp_server_set_resource(c->server,
                                    &(gbx_mcp_resource){.uri = "", .name = "r"}));
}

TEST(a_tool__is_shown_as_it_was_registered)
{
    static char user[] = "";
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    assert_true(gbx_mcp_server_set_tool(
        c->server, &(gbx_mcp_tool){.name = "t",
                                   .title = "T \"t\"",
                                   .description = "two\nlines",
                                   .input_schema = "{\n \"type\": \"object\"}",
                                   .output_schema = "{\"type\":\"object\"}",
                                   .annotations = "{\"readOnlyHint\":true}",
                                   .meta = "{\"k\":1}",
                                   .call = end,
                                   .user = user}));
    mcp_client_say(c, "\"id\":1,\"method\":\"tools/list\"");
    mcp_client_expect(
        c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"t\","
           "\"title\":\"T \\\"t\\\"\",\"description\":\"two\\nlines\",\"inputSchema\":"
           "{  \"type\": \"object\"},\"outputSchema\":{\"type\":\"object\"},"
           "\"annotations\":{\"readOnlyHint\":true},\"_meta\":{\"k\":1}}]}}");
}

/* ---- who is told -------------------------------------------------------------- */

#define CHANGED(list)                                       \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" list \
    "/list_changed\",\"params\":{}}"

TEST(a_legacy_client__is_told_once_of_a_list_that_it_has_seen)
{
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    assert_true(set_tool(c, "a", "x"));
    mcp_client_expect(c, "");
    (void)names_of(c, "tools/list", "name");
    assert_true(set_tool(c, "a", "y"));
    assert_true(set_tool(c, "b", "y"));
    mcp_client_expect(c, CHANGED("tools"));
    assert_true(set_tool(c, "a", "y")); /* looks the same */
    mcp_client_expect(c, "");
}

static void read_it(void *user, gbx_mcp_request *request, const char *uri)
{
    char contents[256];

    (void)user;
    (void)snprintf(contents, sizeof contents, "[{\"uri\":\"%s\",\"text\":\"t\"}]", uri);
    gbx_mcp_finish_resource(request, contents, strlen(contents));
}

static bool set_resource(mcp_client *c, const char *uri, const char *pattern)
{
    return gbx_mcp_server_set_resource(c->server,
                                       &(gbx_mcp_resource){.uri = uri,
                                                           .uri_template = pattern,
                                                           .name = "n",
                                                           .mime_type = "text/plain",
                                                           .read = read_it});
}

TEST(templates_are_resources__to_who_wants_to_know)
{
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    assert_true(set_resource(c, "a://b", NULL));
    assert_true(set_resource(c, "t://", "t://{x}"));
    assert_string_equal(names_of(c, "resources/list", "uri"), "a://b ");
    assert_string_equal(names_of(c, "resources/templates/list", "uriTemplate"),
                        "t://{x} ");
    (void)mcp_client_hear(c);
    assert_true(set_resource(c, "u://", "u://{x}"));
    mcp_client_expect(c, CHANGED("resources"));
}

TEST(a_resource__is_read_by_its_uri_or_the_longest_beginning)
{
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    assert_true(set_resource(c, "t://", "t://{x}"));
    mcp_client_say(
        c, "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"t://q\"}");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"contents\":[{"
                         "\"uri\":\"t://q\",\"text\":\"t\"}]}}");
    mcp_client_say(
        c, "\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":\"u://q\"}");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32002,"
                         "\"message\":\"no such resource\",\"data\":{"
                         "\"uri\":\"u://q\"}}}");
    mcp_client_say(c, "\"id\":1,\"method\":\"resources/read\",\"params\":{" MODERN_META
                      ",\"uri\":\"u://q\"}");
    (void)mcp_client_expect_part(c, "\"code\":-32602");
    mcp_client_say(c, "\"id\":1,\"method\":\"resources/read\",\"params\":{" MODERN_META
                      ",\"uri\":\"t://q\"}");
    (void)mcp_client_expect_part(c, ",\"ttlMs\":60000,\"cacheScope\":\"private\"");
}

TEST(subscriptions__of_legacy_name_resources)
{
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    mcp_client_say(
        c,
        "\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"a://b\"}");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    gbx_mcp_server_resource_updated(c->server, "a://b");
    gbx_mcp_server_resource_updated(c->server, "a://c");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
                         "updated\",\"params\":{\"uri\":\"a://b\"}}");
    mcp_client_say(c, "\"id\":1,\"method\":\"resources/unsubscribe\",\"params\":{"
                      "\"uri\":\"a://b\"}");
    (void)mcp_client_hear(c);
    gbx_mcp_server_resource_updated(c->server, "a://b");
    mcp_client_expect(c, "");
}

#define SUBSCRIPTION(id) "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id "}"

TEST(listen__is_acknowledged_tagged_filtered_and_closed)
{
    mcp_client *c = *state;

    mcp_client_say(
        c, "\"id\":\"s\",\"method\":\"subscriptions/listen\",\"params\":{" MODERN_META
           ",\"notifications\":{\"toolsListChanged\":true,"
           "\"promptsListChanged\":true,\"resourceSubscriptions\":"
           "[\"a://b\",\"a://b\"],\"somethingNew\":true}}");
    mcp_client_expect(c,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
                      "acknowledged\",\"params\":{" SUBSCRIPTION(
                          "\"s\"") ",\"notifications\":{\"toolsListChanged\":true,"
                                   "\"resourceSubscriptions\":[\"a://b\"]}}}");
    assert_true(set_tool(c, "a", "x"));
    assert_true(set_resource(c, "a://b", NULL));
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/"
                         "list_changed\",\"params\":{" SUBSCRIPTION("\"s\"") "}}");
    gbx_mcp_server_resource_updated(c->server, "a://b");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
                         "updated\",\"params\":{" SUBSCRIPTION(
                             "\"s\"") ",\"uri\":\"a://b\"}}");
    gbx_mcp_server_end(c->server);
    mcp_client_expect(c,
                      "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"result\":{\"resultType\":"
                      "\"complete\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
                      "{\"name\":\"test\",\"version\":\"1\"},"
                      "\"io.modelcontextprotocol/subscriptionId\":\"s\"}}}");
}

TEST(listen__is_cancelled_in_silence_and_has_bounds)
{
    mcp_client *c = *state;
    char said[512];

    for (int i = 0; i < 33; i++) {
        (void)snprintf(
            said, sizeof said,
            "\"id\":%d,\"method\":\"subscriptions/listen\",\"params\":{" MODERN_META
            ",\"notifications\":{\"toolsListChanged\":true}}",
            i);
        mcp_client_say(c, said);
    }
    (void)mcp_client_expect_part(c, "\"id\":32,\"error\":{\"code\":-32603");
    mcp_client_say(c, "\"id\":7,\"method\":\"ping\",\"params\":{" MODERN_META "}");
    (void)mcp_client_hear(c);
    for (int i = 0; i < 32; i++) {
        (void)snprintf(said, sizeof said,
                       "\"method\":\"notifications/cancelled\",\"params\":{"
                       "\"requestId\":%d}",
                       i);
        mcp_client_say(c, said);
        mcp_client_say(c, said);
    }
    assert_true(set_tool(c, "a", "x"));
    mcp_client_expect(c, "");
}

TEST(listen__refuses_a_filter_that_is_none)
{
    static const char *const filters[] = {"1", "[]", "{\"toolsListChanged\":1}",
                                          "{\"resourceSubscriptions\":{}}",
                                          "{\"resourceSubscriptions\":[1]}"};
    mcp_client *c = *state;
    char said[512];

    for (size_t i = 0; i < GBX_COUNTOF(filters); i++) {
        (void)snprintf(
            said, sizeof said,
            "\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{" MODERN_META
            ",\"notifications\":%s}",
            filters[i]);
        mcp_client_say(c, said);
        (void)mcp_client_expect_part(c, "\"id\":1,\"error\":{\"code\":-32602");
    }
}

TEST_MAIN_EACH(open_client, close_client)
