/* SPDX-License-Identifier: MIT */
/*
 * mcp_config - every document of mcp/documents.txt, and what good ones come to. The schema
 * is held against the same documents by policy/schema.mjs.
 */
#include "documents.h"
#include "parsed_config.h"
#include "scratch.h"
#include "table.h"
#include "test.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"
#include "mcp/rules/rules.h"
#include "policy/policy.h"

#include <sys/stat.h>

static char path[64]; /* of the configuration */

static int setup(void **state)
{
    (void)umask(077);
    if (scratch_begin(state) != 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/mcp.json", scratch);
    scratch_write("token", "t0ken-in-a-file\n");
    scratch_write("vars",
                  "# OWN=no\nOWN=of the file\r\n\n  export PLAIN = a b  # why\nEMPTY=\n"
                  "COLON: x:y=z\nno variable\nTWO=\"a # x\\nb\\t\"\nONE='a\\n${HOME}'\n"
                  "TOKEN=sk-0123456789abcdef");
    (void)unsetenv("GBX_TEST_UNSET");
    return setenv("GBX_TEST_TOKEN", "t0ken-of-the-test", 1) ||
           setenv("GBX_TEST_DIR", "/srv/data", 1) || setenv("GBX_TEST_EMPTY", "", 1) ||
           setenv("GBX_TEST_LINES", "ab\ncd", 1) || setenv("HOME", "/home/us", 1);
}

/* What is wrong with the first server that is, as if it were the file's. */
static gbx_status server_status(const gbx_mcp_config *config, gbx_error *reterr)
{
    for (size_t i = 0; i < config->server_count; i++) {
        const gbx_mcp_upstream_config *server = &config->servers[i];
        int at = 0;

        if (!server->is_malformed)
            continue;
        assert_true(server->disabled);
        assert_int_equal(sscanf(server->fault,
                                "its configuration is wrong at line %u, column %u: %n",
                                &reterr->line, &reterr->column, &at),
                         2);
        return gbx_fail_at(reterr, GBX_E_POLICY, reterr->line, reterr->column, "%s",
                           server->fault + at);
    }
    return GBX_OK;
}

static gbx_status try_text(const char *text, size_t len, gbx_error *reterr)
{
    gbx_mcp_config *config = NULL;
    gbx_status status =
        gbx_mcp_config_parse(text, len, path, GBX_TRUST_OWN, &config, reterr);

    assert_int_equal(status == GBX_OK, config != NULL);
    if (status == GBX_OK)
        status = server_status(config, reterr);
    gbx_mcp_config_free(config);
    return status;
}

TEST(documents__are_taken_or_refused_at_their_places)
{
    documents_check("unit/mcp/documents.txt", try_text, 80);
}

TEST(nothing__has_the_documented_defaults)
{
    gbx_mcp_config *config = NULL;

    assert_int_equal(gbx_mcp_config_load(NULL, GBX_TRUST_OWN, &config, NULL), GBX_OK);

    assert_int_equal(config->server_count, 0);
    assert_string_equal(config->settings.tool_prefix, "");
    assert_int_equal(config->settings.timeout_ms, 120000);
    assert_int_equal(config->settings.sleep_ms, 30000);
    assert_int_equal(config->settings.code_bytes, 51200);
    assert_int_equal(config->settings.output_bytes, 10 << 20);
    assert_int_equal(config->settings.reply_bytes, 40000);
    assert_int_equal(config->settings.calls, 1000);
    assert_int_equal(config->settings.calls_at_once, 32);
    assert_null(config->settings.audit_path);
    assert_null(config->settings.runner);
    assert_int_equal(config->rules->reads, GBX_GATE_ALLOW);
    assert_int_equal(config->rules->others, GBX_GATE_ASK);
    assert_null(gbx_mcp_config_server(config, "files"));
    gbx_mcp_config_free(config);
}

/* ---- servers ------------------------------------------------------------------- */

static void print_variables(gbx_buf *to, const char *what, const gbx_mcp_variable *list,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)gbx_buf_printf(to, "\n  %s: '%s=%s'", what, list[i].name, list[i].value);
}

static void print_text(gbx_buf *to, const char *what, const char *text)
{
    if (text != NULL)
        (void)gbx_buf_printf(to, "\n  %s: '%s'", what, text);
}

static void print_number(gbx_buf *to, const char *what, uint32_t number, uint32_t usual)
{
    if (number != usual)
        (void)gbx_buf_printf(to, "\n  %s: %u", what, number);
}

static void print_server(gbx_buf *to, const gbx_mcp_upstream_config *s)
{
    static const char *const transports[] = {
        [GBX_MCP_STDIO] = "stdio", [GBX_MCP_HTTP] = "http", [GBX_MCP_SSE] = "sse"};

    (void)gbx_buf_printf(to, "\n%s: %s%s%s", s->name, transports[s->transport],
                         s->disabled ? ", disabled" : "",
                         s->is_malformed ? ", malformed" : "");
    print_text(to, "fault", s->fault);
    print_text(to, "command", s->command);
    for (size_t i = 0; i < s->arg_count; i++)
        print_text(to, "arg", s->args[i]);
    if (s->command != NULL)
        assert_null(s->args[s->arg_count]);
    print_variables(to, "env", s->env, s->env_count);
    print_text(to, "cwd", s->cwd);
    print_text(to, "url", s->url);
    print_variables(to, "header", s->headers, s->header_count);
    for (size_t i = 0; i < s->inherit_count; i++)
        print_text(to, "inherited", s->inherit[i]);
    print_text(to, "description", s->description);
    if (s->is_malformed)
        return;
    print_number(to, "timeoutMs", s->timeout_ms, 60000);
    print_number(to, "startMs", s->start_ms, 30000);
    print_number(to, "idleMs", s->idle_ms, 300000);
    print_number(to, "callsAtOnce", s->calls_at_once, 8);
    print_number(to, "processes", s->processes, 1);
    print_number(to, "eager", s->eager, false);
    print_number(to, "sampling", s->sampling, false);
    print_number(to, "roots", s->roots, false);
}

TEST(servers__are_what_the_table_says)
{
    const table_block *blocks;
    size_t count = table_blocks("unit/mcp/configs.txt", &blocks);

    for (size_t i = 0; i < count; i++) {
        const char *own = blocks[i].options;
        gbx_mcp_config *config =
            parsed_config(*own != '\0' ? own + strlen("path=") : path, blocks[i].text);
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf printed = {.ceiling = GBX_KIB(64)};

        for (size_t k = 0; k < config->server_count; k++)
            print_server(&printed, &config->servers[k]);
        assert_true(gbx_buf_append(&printed, "", 1));
        print_message("%s\n", blocks[i].name);
        assert_string_equal((const char *)printed.data + 1, blocks[i].value);
        gbx_mcp_config_free(config);
    }
}

TEST(env_file__has_secrets)
{
    gbx_mcp_config *config = parsed_config(
        path, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"envFile\": \"vars\"}}}");

    assert_true(config->rules->secrets->secret_count > 0);
    gbx_mcp_config_free(config);
}

TEST(env_file__that_others_can_change_stops_its_server)
{
    const char *vars = scratch_path("vars");
    gbx_mcp_config *config;

    assert_int_equal(chmod(vars, 0622), 0);
    config = parsed_config(
        path, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"envFile\": \"vars\"}}}");
    assert_true(config->servers[0].is_malformed);
    assert_non_null(strstr(config->servers[0].fault, "chmod go-w"));
    assert_int_equal(config->servers[0].env_count, 0);
    gbx_mcp_config_free(config);
    assert_int_equal(chmod(vars, 0600), 0);
}

/* Some readers would end there, and lose the variables behind it. */
TEST(env_file__with_a_nul_byte_stops_its_server)
{
    static const char text[] = "A=1\n\0\nB=2\n";
    gbx_mcp_config *config;

    scratch_put("nul", text, sizeof text - 1);
    config = parsed_config(
        path, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"envFile\": \"nul\"}}}");
    assert_true(config->servers[0].is_malformed);
    assert_non_null(strstr(config->servers[0].fault, "has a NUL byte"));
    gbx_mcp_config_free(config);
}

TEST(tilde__needs_a_home_directory)
{
    gbx_mcp_config *config;

    assert_int_equal(unsetenv("HOME"), 0);
    config =
        parsed_config(path, "{\"mcpServers\": {\"a\": {\"command\": \"~/bin/x\"}}}");
    assert_non_null(strstr(config->servers[0].fault, "'HOME' is not set"));
    gbx_mcp_config_free(config);
}

TEST(servers__that_are_far_too_many_are_refused_soon)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_MIB(4)};

    (void)gbx_buf_puts(&text, "{\"servers\":{\"wrong\":\"\\u0000\"");
    for (unsigned i = 0; i < 200000; i++)
        (void)gbx_buf_printf(&text, ",\"k%u\":0", i);
    assert_true(gbx_buf_puts(&text, "}}"));
    assert_int_equal(try_text((const char *)text.data, text.len, NULL), GBX_E_POLICY);
}

TEST(a_configuration__is_at_most_four_mebibytes)
{
    size_t len = GBX_MIB(4);
    GBX_CLEANUP(gbx_free) char *text = malloc(len + 1);
    gbx_error error = {0};

    assert_non_null(text);
    memset(text, ' ', len + 1);
    memcpy(text, "{}", 2);
    assert_int_equal(try_text(text, len, &error), GBX_OK);
    assert_int_equal(try_text(text, len + 1, &error), GBX_E_POLICY);
    assert_string_equal(error.message,
                        "the configuration is larger than 4194304 bytes");
}

TEST(comments__and_last_commas_are_blanks_and_places_stay)
{
    static const char text[] =
        "{ // one \"a\"\n \"b\": [1, /* 2, */ 3, ], \"c\\\"//\": \"/*\", /* x\n */ }";
    gbx_error error = {0};

    assert_int_equal(try_text(text, strlen(text), &error), GBX_OK);
    assert_int_equal(try_text("{ // x\n \"glovebox\": /* y */ 5 }", 31, &error),
                     GBX_E_POLICY);
    assert_int_equal(error.line, 2);
    assert_int_equal(error.column, 22);
}

TEST(members__of_hosts_need_not_be_what_a_parser_can_hold)
{
    static const char text[] = "{\"history\": [\"\\ud83d\", \"\\u0000\", 1e400],\n"
                               " \"mcpServers\": {\"a\": {\"command\": \"x\"}},\n"
                               " \"glovebox\": 5}";
    gbx_error error = {0};

    assert_int_equal(try_text(text, sizeof text - 1, &error), GBX_E_POLICY);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 14);
}

TEST(messages__have_no_value_in_them)
{
    static const char *const texts[] = {
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"url\": \"${GBX_TEST_TOKEN}\"}}}",
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"T\": \"${GBX_TEST_TOKEN}\"}}},"
        "\"glovebox\": {\"secrets\": {\"K\": {\"from\": \"GBX_TEST_TOKEN\", \"servers\": 1}}}}",
    };

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        gbx_error error = {0};

        assert_int_equal(try_text(texts[i], strlen(texts[i]), &error), GBX_E_POLICY);
        assert_null(strstr(error.message, "t0ken"));
    }
}

TEST(file__is_read_and_is_missed_by_its_name)
{
    gbx_mcp_config *config = NULL;
    gbx_error error = {0};

    assert_int_equal(gbx_mcp_config_load("/nonexistent/mcp.json", GBX_TRUST_OWN,
                                         &config, &error),
                     GBX_E_OS);
    assert_non_null(strstr(error.message, "/nonexistent/mcp.json"));
    scratch_write("mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}},"
                              "\"glovebox\": {\"audit\": \"calls.log\"}}");
    assert_int_equal(gbx_mcp_config_load(path, GBX_TRUST_OWN, &config, &error), GBX_OK);
    assert_string_equal(config->path, path);
    assert_int_equal(config->server_count, 1);
    assert_non_null(strstr(config->settings.audit_path, scratch));
    gbx_mcp_config_free(config);
}

TEST(runner__becomes_an_address_with_paths_relative_to_the_file)
{
    gbx_mcp_config *config = NULL;
    gbx_error error = {0};
    char expected[256];

    scratch_write("mcp.json",
                  "{\"glovebox\": {\"runner\": {\"tlsCa\": \"my ca.pem\","
                  "\"nats\": \"tls://h:1?pool=gpu\", \"creds\": \"/etc/a.creds\"}}}");
    assert_int_equal(gbx_mcp_config_load(path, GBX_TRUST_OWN, &config, &error), GBX_OK);
    (void)snprintf(expected, sizeof expected,
                   "tls://h:1?pool=gpu&creds=/etc/a.creds&tls-ca=%s/my ca.pem",
                   scratch);
    assert_string_equal(config->settings.runner, expected);
    gbx_mcp_config_free(config);
}

TEST(runner__that_cannot_be_is_refused_at_its_place)
{
    static const char *const texts[] = {
        "{\"glovebox\": {\n\"runner\": {}}}",
        "{\"glovebox\": {\n\"runner\": \"nats://h\"}}",
        "{\"glovebox\": {\n\"runner\": {\"nats\": \"http://h\"}}}",
        "{\"glovebox\": {\n\"runner\": {\"nats\": \"nats://h?pool=A\"}}}",
        "{\"glovebox\": {\n\"runner\": {\"nats\": \"nats://h\", \"cred\": \"a\"}}}",
        "{\"glovebox\": {\n\"runner\": {\"nats\": \"nats://h?tls-key=a\"}}}",
        "{\"glovebox\": {\n\"runner\": {\"nats\": 1}}}",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        gbx_error error = {0};

        assert_int_equal(try_text(texts[i], strlen(texts[i]), &error), GBX_E_POLICY);
        assert_int_equal(error.line, 2);
    }
}

TEST(files__that_others_can_change_are_refused)
{
    static const char *const files[] = {"mcp.json", "token"};
    gbx_mcp_config *config = NULL;

    scratch_write("mcp.json",
                  "{\"servers\": {\"a\": {\"command\": \"x\"}}, \"glovebox\": "
                  "{\"secrets\": {\"K\": {\"file\": \"token\", "
                  "\"servers\": [\"a\"]}}}}");
    for (size_t i = 0; i < GBX_COUNTOF(files); i++) {
        const char *open = scratch_path(files[i]);

        assert_int_equal(chmod(open, 0622), 0);
        assert_int_equal(gbx_mcp_config_load(path, GBX_TRUST_OWN, &config, NULL),
                         i == 0 ? GBX_E_OS : GBX_E_POLICY);
        assert_int_equal(chmod(open, 0600), 0);
    }
}

/* What the manual shows as a whole configuration is one. */
TEST(manual__shows_configurations)
{
    static char manual[64 * 1024];
    FILE *file = fopen(MCP_MANUAL, "r");
    char *at = manual;
    size_t shown = 0;

    assert_non_null(file);
    assert_true(fread(manual, 1, sizeof manual - 1, file) > 0);
    (void)fclose(file);
    while ((at = strstr(at, "```json\n{\n")) != NULL) {
        char *text = at + 8;

        at = strstr(text, "```");
        assert_non_null(at);
        *at++ = '\0';
        gbx_mcp_config_free(parsed_config(path, text));
        shown++;
    }
    assert_true(shown > 0);
}

/* Nothing is leaked or read past the end, wherever a text breaks off. */
TEST(truncation__is_never_fatal)
{
    static const char text[] =
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"${GBX_TEST_DIR}\"], \"env\":"
        "{\"A\": \"b\"}, \"glovebox\": {\"env\": [\"L\"]}}}, \"glovebox\": {\"rules\": [{\"action\":"
        "\"deny\", \"server\": \"a\", \"args\": {\"a[].b\": [\"/x\"]}}], \"secrets\": {\"K\":"
        "{\"value\": \"abcdefgh\", \"servers\": [\"a\"]}}}} // end";

    for (size_t len = 0; len < sizeof text - 8; len++) {
        char *copy = malloc(len + 1);

        assert_non_null(copy);
        memcpy(copy, text, len);
        assert_int_equal(try_text(copy, len, NULL), GBX_E_POLICY);
        free(copy);
    }
    assert_int_equal(try_text(text, sizeof text - 1, NULL), GBX_OK);
}

TEST_MAIN(setup, scratch_end)
