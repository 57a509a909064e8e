/* SPDX-License-Identifier: MIT */
/* Servers made with the official SDKs, of both eras and over every transport. */
#include "freed.h"
#include "servers.h"
#include "test.h"

#include "base/cleanup.h"

#define MODERN "2026-07-28"
#define LEGACY "2025-11-25"

static servers *s;

static int set_up(void **state)
{
    int result = servers_set_up(state);

    s = *state;
    return result;
}

/* What every server does, whatever is between us. */
static void expect_service(const char *era)
{
    gbx_upstream_info info;
    GBX_CLEANUP(answer_cleanup) answer a;

    servers_expect(s, "sdk", "echo", "{\"message\":\"h\xc3\xa9llo\"}", "h\xc3\xa9llo");
    info = gbx_upstreams_info(s->all, &s->list[0]);
    assert_string_equal(info.era, era);
    assert_string_equal(info.version, "1.2.3");
    servers_expect(s, "sdk",
                   "h\xc3\xa4"
                   "der n\xc3\xa4me",
                   "{}", "found");
    servers_call(s, "sdk", "echo", "{\"message\":5}", &a);
    assert_true(a.fault == GBX_UPSTREAM_REFUSED ||
                strstr(a.result, "\"isError\":true") != NULL);
}

static void expect_progress(void)
{
    GBX_CLEANUP(answer_cleanup) answer a;

    servers_call(s, "sdk", "slow", "{}", &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    assert_string_equal(a.progress, "step 1,step 2,step 3,");
}

static void expect_change(void)
{
    servers_expect_fault(s, "sdk", "new-tool", "{}", GBX_UPSTREAM_UNKNOWN_TOOL, "");
    servers_expect(s, "sdk", "grow", "{}", "grown");
    for (int i = 0; i < 200; i++) {
        gbx_view tools = gbx_upstreams_info(s->all, &s->list[0]).tools;

        if (memmem(tools.at, tools.len, "new-tool", 8) != NULL)
            break;
        servers_turn(s, 50);
    }
    servers_expect(s, "sdk", "new-tool", "{}", "new");
}

static void expect_cancel(void)
{
    char text[16] = "";
    answer a;

    servers_begin(s, "sdk", "hang", "{}", &a);
    servers_turn(s, 300);
    gbx_upstream_cancel(&a.call);
    servers_wait(s, &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_CANCELLED);
    for (int i = 0; i < 100 && strcmp(text, "1") != 0; i++) {
        servers_turn(s, 20);
        servers_call(s, "sdk", "aborted", "{}", &a);
        answer_text(&a, text, sizeof text);
        answer_cleanup(&a);
    }
    assert_string_equal(text, "1");
}

/* ---- stdio ---------------------------------------------------------------- */

TEST(sdk2__serves_the_modern_era_over_stdio)
{
    (void)servers_add(s, "sdk", "sdk-servers.mjs", "modern-stdio");
    servers_start(s);
    expect_service(MODERN);
    expect_progress();
    expect_cancel();
}

TEST(sdk2__with_both_eras_is_begun_in_the_one_before)
{
    (void)servers_add(s, "sdk", "sdk-servers.mjs", "both-stdio");
    servers_start(s);
    expect_service(LEGACY);
}

/* ---- HTTP ----------------------------------------------------------------- */

TEST(http__modern)
{
    answer a;

    (void)servers_add_address(s, "sdk", GBX_MCP_HTTP, "modern-http");
    servers_start(s);
    expect_service(MODERN);
    servers_call(s, "sdk", "headers", "{}", &a);
    assert_non_null(strstr(a.result, "\\\"mcp-method\\\":\\\"tools/call\\\""));
    assert_non_null(strstr(a.result, "\\\"mcp-name\\\":\\\"headers\\\""));
    assert_non_null(
        strstr(a.result, "\\\"mcp-protocol-version\\\":\\\"" MODERN "\\\""));
    answer_cleanup(&a);
    expect_progress();
    expect_cancel();
    expect_change();
}

TEST(http__legacy_with_sessions)
{
    (void)servers_add_address(s, "sdk", GBX_MCP_HTTP, "legacy-http");
    servers_start(s);
    expect_service(LEGACY);
    expect_progress();
    expect_cancel();
    expect_change();
}

/* What asks whether it is alive hears that nobody knows the session: with that the link
 * ends, while it tells so. */
TEST(http__session_that_is_lost_in_a_call_is_begun_again)
{
    servers_add_address(s, "sdk", GBX_MCP_HTTP, "legacy-http")->timeout_ms = 2000;
    servers_start(s);
    servers_expect_fault(s, "sdk", "vanish", "{}", GBX_UPSTREAM_TIMEOUT, "no answer");
    servers_turn(s, 300);
    servers_expect(s, "sdk", "echo", "{\"message\":\"again\"}", "again");
}

TEST(http__legacy_with_answers_in_json)
{
    (void)servers_add_address(s, "sdk", GBX_MCP_HTTP, "legacy-json");
    servers_start(s);
    expect_service(LEGACY);
}

TEST(sse__by_its_own_name)
{
    (void)servers_add_address(s, "sdk", GBX_MCP_SSE, "legacy-sse");
    servers_start(s);
    expect_service(LEGACY);
    expect_progress();
    expect_cancel();
    expect_change();
}

TEST(sse__is_found_behind_an_address_of_the_later_transport)
{
    (void)servers_add_address(s, "sdk", GBX_MCP_HTTP, "legacy-sse");
    servers_start(s);
    expect_service(LEGACY);
}

TEST(http__headers_of_the_configuration_are_sent)
{
    gbx_mcp_variable header = {(char[]){"Authorization"}, (char[]){"Bearer sesame"}};

    servers_add_address(s, "sdk", GBX_MCP_HTTP, "modern-http sesame")->headers =
        &header;
    s->list[0].header_count = 1;
    freed_watch("Bearer ses", "ame"); /* it may be a secret */
    servers_start(s);
    expect_service(MODERN);
    assert_false(freed_was_seen());
}

TEST(http__header_with_a_line_break_is_never_sent)
{
    gbx_mcp_variable header = {(char[]){"X-Name"}, (char[]){"a\r\nX-Other: b"}};

    servers_add_url(s, "sdk", GBX_MCP_HTTP, (char[]){"http://127.0.0.1:9/mcp"})
        ->headers = &header;
    s->list[0].header_count = 1;
    servers_start(s);
    servers_expect_fault(s, "sdk", "echo", "{}", GBX_UPSTREAM_START, "X-Name");
}

TEST(http__arguments_are_headers_where_the_schema_says_so)
{
    GBX_CLEANUP(answer_cleanup) answer a;

    (void)servers_add_address(s, "sdk", GBX_MCP_HTTP, "modern-http");
    servers_start(s);
    servers_call(s, "sdk", "routed",
                 " {\"region\":\"Z\xc3\xbcrich\",\"level\":-7,"
                 "\"nested\":{\"deep\":true}}",
                 &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    assert_non_null(
        strstr(a.result, "\\\"mcp-param-region\\\":\\\"=?base64?WsO8cmljaA==?="));
    assert_non_null(strstr(a.result, "\\\"mcp-param-level\\\":\\\"-7\\\""));
    assert_non_null(strstr(a.result, "\\\"mcp-param-deep\\\":\\\"true\\\""));
}

/* ---- secrets -------------------------------------------------------------- */

/* A message of that length which ends in a secret, there and back. */
static void echo_secret(const char *name, const char *tool, size_t len)
{
    size_t size = len + 64;
    char *args = malloc(size);
    GBX_CLEANUP(answer_cleanup) answer a;

    assert_non_null(args);
    (void)memset(args, 'x', size);
    (void)memcpy(args, "{\"message\":\"", 12);
    (void)snprintf(args + 12 + len, size - 12 - len, "%s%s\"}", "fr33d-secret",
                   "-of-the-test");
    freed_watch("fr33d-secret", "-of-the-test");
    servers_call(s, name, tool, args, &a);
    if (freed_was_seen())
        fail_msg("%s, %zu bytes: a secret was freed", name, len);
    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    assert_true(a.result_len > len);
    free(args);
}

TEST(secret__is_wiped_before_its_memory_is_freed)
{
    static const struct {
        const char *name;
        gbx_mcp_transport transport;
        const char *words;
    } rows[] = {
        {"modern", GBX_MCP_HTTP, "modern-http"},
        {"streams", GBX_MCP_HTTP, "legacy-http"},
        {"json", GBX_MCP_HTTP, "legacy-json"},
        {"sse", GBX_MCP_SSE, "legacy-sse"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
        (void)servers_add_address(s, rows[i].name, rows[i].transport, rows[i].words);
    (void)servers_add(s, "stdio", "sdk-servers.mjs", "modern-stdio");
    (void)servers_add_bad(s, "bad", "");
    servers_start(s);
    for (size_t len = 1; len < 100000; len *= 17) {
        for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
            echo_secret(rows[i].name, "echo", len);
        echo_secret("stdio", "echo", len);
        echo_secret("bad", "latin", len); /* bytes that are no characters */
    }
}

TEST_MAIN_EACH(set_up, servers_tear_down)
