/* SPDX-License-Identifier: MIT */
/* Upstream servers as the world has them: from npm, unchanged. */
#include "base/cleanup.h"
#include "servers.h"
#include "test.h"

#include <unistd.h>

#define PACKAGES "node_modules/@modelcontextprotocol/"

TEST(everything__tells_its_tools_and_echoes)
{
    servers *s = *state;
    gbx_upstream_info info;
    answer a;

    (void)servers_add(s, "everything", PACKAGES "server-everything/dist/index.js",
                      "stdio");
    servers_start(s);
    servers_learn(s, "everything", &a);

    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    assert_non_null(strstr(a.result, "\"echo\""));
    answer_cleanup(&a);
    info = gbx_upstreams_info(s->all, &s->list[0]);
    assert_int_equal(info.state, GBX_UPSTREAM_READY);
    assert_string_equal(info.era, "2025-11-25");
    assert_non_null(strstr(info.server_name, "everything"));
    assert_true(info.start_ms > 0);
    servers_expect(s, "everything", "echo", "{\"message\":\"hello\"}", "Echo: hello");
}

TEST(filesystem__reads_what_it_may)
{
    servers *s = *state;
    char path[128];
    char args[256];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/note.txt", s->directory);
    file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("a note", file);
    (void)fclose(file);
    (void)snprintf(args, sizeof args, "{\"path\":\"%s\"}", path);
    (void)servers_add(s, "files", PACKAGES "server-filesystem/dist/index.js",
                      s->directory);
    servers_start(s);

    servers_expect(s, "files", "read_text_file", args, "a note");
    servers_expect_fault(s, "files", "read_txt_file", args, GBX_UPSTREAM_UNKNOWN_TOOL,
                         "has no tool 'read_txt_file'");
}

TEST(memory__keeps_state_between_calls)
{
    servers *s = *state;
    gbx_mcp_upstream_config *c;
    char path[128];
    answer a;

    (void)snprintf(path, sizeof path, "%s/memory.json", s->directory);
    c = servers_add(s, "memory", PACKAGES "server-memory/dist/index.js", "");
    c->env[c->env_count++] = (gbx_mcp_variable){(char[]){"MEMORY_FILE_PATH"}, path};
    servers_start(s);
    servers_call(s, "memory", "create_entities",
                 "{\"entities\":[{\"name\":\"Ada\",\"entityType\":\"person\","
                 "\"observations\":[\"counts\"]}]}",
                 &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    answer_cleanup(&a);
    servers_call(s, "memory", "read_graph", "{}", &a);

    assert_non_null(strstr(a.result, "counts"));
    answer_cleanup(&a);
}

TEST(three__are_started_at_once_and_none_waits_for_another)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer a = {.of = s};
    GBX_CLEANUP(answer_cleanup) answer b;

    (void)servers_add(s, "everything", PACKAGES "server-everything/dist/index.js",
                      "stdio");
    (void)servers_add(s, "files", PACKAGES "server-filesystem/dist/index.js",
                      s->directory);
    (void)servers_add_command(s, "broken", "/no/such/command", "");
    servers_start(s);
    servers_expect_fault(s, "broken", "x", "{}", GBX_UPSTREAM_START,
                         "cannot be executed");
    (void)servers_begin(s, "everything", "echo", "{\"message\":\"1\"}", &a);
    (void)servers_begin(s, "files", "list_allowed_directories", "{}", &b);
    servers_wait(s, &a);
    servers_wait(s, &b);

    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    assert_int_equal(b.fault, GBX_UPSTREAM_OK);
}

static void everything_at_an_address(servers *s, gbx_mcp_transport transport)
{
    answer a;

    (void)servers_add_everything(s, "everything", transport);
    servers_start(s);
    servers_expect(s, "everything", "echo", "{\"message\":\"hello\"}", "Echo: hello");
    servers_call(s, "everything", "trigger-long-running-operation",
                 "{\"duration\":0.3,\"steps\":3}", &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    answer_cleanup(&a);
    assert_string_equal(gbx_upstreams_info(s->all, &s->list[0]).era, "2025-11-25");
}

TEST(everything__over_streamable_http)
{
    everything_at_an_address(*state, GBX_MCP_HTTP);
}

TEST(everything__over_the_transport_before)
{
    everything_at_an_address(*state, GBX_MCP_SSE);
}

TEST_MAIN_EACH(servers_set_up, servers_tear_down)
