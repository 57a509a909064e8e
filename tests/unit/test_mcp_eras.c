/* SPDX-License-Identifier: MIT */
/* eras - one process speaks both protocols, and neither leaks into the other. */
#include "mcp_client.h"

#include "base/cleanup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ERROR(id, code, text)                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":" code \
    ",\"message\":\"" text "\"}}"
#define INFO "{\"name\":\"test\",\"version\":\"1\"}"
#define CAPABILITIES                                                       \
    "{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true," \
    "\"listChanged\":true},\"prompts\":{},\"logging\":{}}"

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

static void test_initialize__agrees_on_the_version_if_we_have_it(void **state)
{
    static const struct {
        const char *asked;
        const char *given;
    } cases[] = {
        {"2025-11-25", "2025-11-25"}, {"2025-06-18", "2025-06-18"},
        {"2025-03-26", "2025-03-26"}, {"2024-11-05", "2024-11-05"},
        {"2026-07-28", "2025-11-25"}, {"1999-01-01", "2025-11-25"},
        {"", "2025-11-25"},           {"a very long version, \\n", "2025-11-25"},
    };
    mcp_client *c = *state;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        char said[256];
        char heard[512];

        (void)snprintf(said, sizeof said,
                       "\"id\":1,\"method\":\"initialize\",\"params\":{"
                       "\"protocolVersion\":\"%s\",\"capabilities\":{}}",
                       cases[i].asked);
        (void)snprintf(heard, sizeof heard,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ "
                       "\"protocolVersion\":\"%s\",\"capabilities\":" CAPABILITIES
                       ",\"serverInfo\":" INFO "}}",
                       cases[i].given);
        mcp_client_say(c, said);
        mcp_client_expect(c, heard);
    }
}

static void test_discover__tells_what_there_is(void **state)
{
    mcp_client *c = *state;

    mcp_client_say(
        c, "\"id\":\"d\",\"method\":\"server/discover\",\"params\":{" MODERN_META "}");
    mcp_client_expect(
        c, "{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"result\":{ \"resultType\":\"complete\","
           "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "},"
           "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":" CAPABILITIES
           ",\"ttlMs\":60000,\"cacheScope\":\"private\"}}");
}

static void test_instructions__are_told_in_both_eras(void **state)
{
    mcp_client *c = *state;

    assert_true(gbx_mcp_server_set_instructions(c->server, "say \"please\""));
    mcp_client_say(c, "\"id\":1,\"method\":\"server/discover\",\"params\":{" MODERN_META
                      "}");
    (void)mcp_client_expect_part(c, ",\"instructions\":\"say \\\"please\\\"\"");
    mcp_client_say(c, "\"id\":1,\"method\":\"initialize\",\"params\":{"
                      "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}}");
    (void)mcp_client_expect_part(c, ",\"instructions\":\"say \\\"please\\\"\"");
}

static void test_an_era__has_its_methods_and_no_others(void **state)
{
    static const char *const of_legacy[] = {"ping", "logging/setLevel", "initialize",
                                            "resources/subscribe",
                                            "resources/unsubscribe"};
    static const char *const of_modern[] = {"server/discover", "subscriptions/listen"};
    mcp_client *c = *state;
    char said[512];

    mcp_client_initialize(c, "2025-11-25", "{}");
    for (size_t i = 0; i < GBX_COUNTOF(of_legacy); i++) {
        (void)snprintf(said, sizeof said,
                       "\"id\":1,\"method\":\"%s\",\"params\":{" MODERN_META "}",
                       of_legacy[i]);
        mcp_client_say(c, said);
        (void)mcp_client_expect_part(c, "\"id\":1,\"error\":{\"code\":-32601,");
    }
    for (size_t i = 0; i < GBX_COUNTOF(of_modern); i++) {
        (void)snprintf(said, sizeof said, "\"id\":1,\"method\":\"%s\"", of_modern[i]);
        mcp_client_say(c, said);
        (void)mcp_client_expect_part(c, "\"id\":1,\"error\":{\"code\":-32601,");
    }
    mcp_client_say(c, "\"id\":1,\"method\":\"tools/kill\"");
    mcp_client_expect(c, ERROR("1", "-32601", "unknown method 'tools/kill'"));
}

static void test_ping__is_answered_before_and_after_initialize(void **state)
{
    mcp_client *c = *state;

    mcp_client_say(c, "\"id\":1,\"method\":\"ping\"");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    mcp_client_initialize(c, "2024-11-05", "{}");
    mcp_client_say(c, "\"id\":\"1\",\"method\":\"ping\"");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}");
}

static void test_a_request_of_no_era__is_told_of_both(void **state)
{
    mcp_client *c = *state;

    mcp_client_say(c, "\"id\":1,\"method\":\"tools/list\"");
    (void)mcp_client_expect_part(c,
                                 "\"code\":-32602,\"message\":\"no protocol version: "
                                 "send 'initialize' first (2025-11-25");
    mcp_client_say(c, "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{}}");
    (void)mcp_client_expect_part(c, "\"code\":-32602");
}

#define VERSION_KEY "\"io.modelcontextprotocol/protocolVersion\""
#define CAPS_KEY    "\"io.modelcontextprotocol/clientCapabilities\""

static void test_meta__must_be_whole(void **state)
{
    static const char *const metas[] = {
        "1",
        "[]",
        "{" VERSION_KEY ":1," CAPS_KEY ":{}}",
        "{" VERSION_KEY ":null," CAPS_KEY ":{}}",
        "{" VERSION_KEY ":\"2026-07-28\"}",
        "{" VERSION_KEY ":\"2026-07-28\"," CAPS_KEY ":[]}",
        "{" VERSION_KEY ":\"2026-07-28\"," CAPS_KEY
        ":{},\"io.modelcontextprotocol/logLevel\":\"loud\"}",
    };
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    for (size_t i = 0; i < GBX_COUNTOF(metas); i++) {
        char said[512];

        (void)snprintf(said, sizeof said,
                       "\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":%s}",
                       metas[i]);
        mcp_client_say(c, said);
        (void)mcp_client_expect_part(c, "\"id\":1,\"error\":{\"code\":-32602,");
    }
}

static void test_a_version_that_we_do_not_speak__is_answered_with_ours(void **state)
{
    mcp_client *c = *state;

    mcp_client_say(
        c, "\"id\":1,\"method\":\"server/discover\",\"params\":{\"_meta\":{" VERSION_KEY
           ":\"2099-01-01\"," CAPS_KEY ":{}}}");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32022,"
                         "\"message\":\"unsupported protocol version\",\"data\":{"
                         "\"supported\":[\"2026-07-28\"],"
                         "\"requested\":\"2099-01-01\"}}}");
}

static void test_both_eras__are_served_on_one_connection(void **state)
{
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-06-18", "{}");
    mcp_client_say(c, "\"id\":1,\"method\":\"tools/list\"");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ \"tools\":[]}}");
    mcp_client_say(c,
                   "\"id\":2,\"method\":\"tools/list\",\"params\":{" MODERN_META "}");
    mcp_client_expect(
        c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{ \"resultType\":\"complete\","
           "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "},\"tools\":[],"
           "\"ttlMs\":60000,\"cacheScope\":\"private\"}}");
}

static void test_lines_that_are_no_messages__are_refused_and_the_next_is_not(
    void **state)
{
    mcp_client *c = *state;

    mcp_client_say_line(c, "{broken");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":"
                         "\"the line is not JSON\"}}");
    mcp_client_say(c, "\"id\":7,\"method\":\"ping\",\"params\":[1]");
    mcp_client_expect(c, ERROR("7", "-32602", "params must be an object"));
    gbx_mcp_session_take_too_long(c->session);
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":"
                         "\"a message has at most 16 MiB\"}}");
    mcp_client_say(c, "\"id\":99,\"result\":{}"); /* to nothing that we asked */
    mcp_client_say(c, "\"method\":\"notifications/no-such-thing\"");
    mcp_client_say(c, "\"id\":1,\"method\":\"ping\"");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
}

static void test_batches__are_of_one_version_alone(void **state)
{
    static const char batch[] =
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},7,"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}]";
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    mcp_client_say_line(c, batch);
    (void)mcp_client_expect_part(c, "\"error\":{\"code\":-32600");
    mcp_client_initialize(c, "2025-03-26", "{}");
    mcp_client_say_line(c, batch);
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
                         "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":"
                         "\"a message is an object\"}}\n"
                         "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{ \"tools\":[]}}");
    mcp_client_say_line(c, "[]");
    (void)mcp_client_expect_part(c, "the batch is empty");
}

static void test_levels_of_logs__are_the_eight_of_syslog(void **state)
{
    mcp_client *c = *state;

    mcp_client_initialize(c, "2025-11-25", "{}");
    mcp_client_say(
        c,
        "\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"notice\"}");
    mcp_client_expect(c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    mcp_client_say(
        c, "\"id\":1,\"method\":\"logging/setLevel\",\"params\":{\"level\":\"loud\"}");
    mcp_client_expect(c, ERROR("1", "-32602", "unknown level of logs"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_client, close_client)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_initialize__agrees_on_the_version_if_we_have_it),
        CASE(test_discover__tells_what_there_is),
        CASE(test_instructions__are_told_in_both_eras),
        CASE(test_an_era__has_its_methods_and_no_others),
        CASE(test_ping__is_answered_before_and_after_initialize),
        CASE(test_a_request_of_no_era__is_told_of_both),
        CASE(test_meta__must_be_whole),
        CASE(test_a_version_that_we_do_not_speak__is_answered_with_ours),
        CASE(test_both_eras__are_served_on_one_connection),
        CASE(test_lines_that_are_no_messages__are_refused_and_the_next_is_not),
        CASE(test_batches__are_of_one_version_alone),
        CASE(test_levels_of_logs__are_the_eight_of_syslog),
    };

    return cmocka_run_group_tests_name("mcp_eras", tests, NULL, NULL);
}
