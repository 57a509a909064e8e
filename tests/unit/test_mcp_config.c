/* SPDX-License-Identifier: MIT */
/*
 * mcp_config - every document of mcp/documents.txt, and what good ones come to. The schema
 * is held against the same documents by policy/schema.mjs.
 */
#include "documents.h"
#include "parsed_config.h"
#include "test.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"
#include "mcp/rules/rules.h"
#include "policy/policy.h"

#include <sys/stat.h>
#include <unistd.h>

static char base[] = "/tmp/gbx-mcp-XXXXXX";
static char path[64];

static void write_file(const char *name, const char *text)
{
    char full[64];
    FILE *file;

    (void)snprintf(full, sizeof full, "%s/%s", base, name);
    file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    (void)umask(077);
    if (mkdtemp(base) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/mcp.json", base);
    write_file("token", "t0ken-in-a-file\n");
    (void)unsetenv("GBX_TEST_UNSET");
    return setenv("GBX_TEST_TOKEN", "t0ken-of-the-test", 1) ||
           setenv("GBX_TEST_DIR", "/srv/data", 1) || setenv("GBX_TEST_EMPTY", "", 1);
}

static int teardown(void **state)
{
    char token[64];

    (void)snprintf(token, sizeof token, "%s/token", base);
    (void)unlink(token);
    (void)unlink(path);
    return rmdir(base);
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
    assert_int_equal(config->rules->reads, GBX_GATE_ALLOW);
    assert_int_equal(config->rules->others, GBX_GATE_ASK);
    assert_null(gbx_mcp_config_server(config, "files"));
    gbx_mcp_config_free(config);
}

/* What the only server of a configuration at that path has as its cwd. */
static void assert_cwd(const char *file, const char *cwd, const char *full)
{
    gbx_mcp_config *config = NULL;
    char text[200];

    (void)snprintf(text, sizeof text,
                   "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"cwd\": \"%s\"}}}",
                   cwd);
    assert_int_equal(gbx_mcp_config_parse(text, strlen(text), file, GBX_TRUST_OWN,
                                          &config, NULL),
                     GBX_OK);
    assert_string_equal(gbx_mcp_config_server(config, "a")->cwd, full);
    gbx_mcp_config_free(config);
}

TEST(command__runs_in_a_folder_below_that_of_the_file)
{
    assert_cwd("/etc/mcp.json", "sub", "/etc/sub");
    assert_cwd("/etc/mcp.json", "${GBX_TEST_UNSET:-../a}", "/etc/../a");
    assert_cwd("/etc/mcp.json", "${GBX_TEST_DIR}/a", "/srv/data/a");
    assert_cwd("/etc/mcp.json", "/whole", "/whole");
    assert_cwd("here/mcp.json", "sub", "here/sub");
    assert_cwd("mcp.json", "sub", "./sub");
}

TEST(env_file__is_read_as_editors_do)
{
    static const struct {
        const char *name;
        const char *value;
    } wanted[] = {
        {"OWN", "of env"},
        {"PLAIN", "a b"},
        {"EMPTY", ""},
        {"COLON", "x:y=z"},
        {"TWO", "a # \nb\\t"},
        {"ONE", "a\\n${HOME}"},
        {"TOKEN", "sk-0123456789abcdef"},
    };
    static const char *const forms[] = {
        "\"env\": {\"OWN\": \"of env\"}, \"envFile\": \"vars\"",
        "\"environment\": {\"OWN\": \"of env\"}, \"envFile\": \"${GBX_TEST_EMPTY}./vars\""};

    write_file("vars",
               "# OWN=no\nOWN=of the file\r\n\n  export PLAIN = a b  # why\nEMPTY=\n"
               "COLON: x:y=z\nno variable\nTWO=\"a # \\nb\\t\"\nONE='a\\n${HOME}'\n"
               "TOKEN=sk-0123456789abcdef");
    for (size_t k = 0; k < GBX_COUNTOF(forms); k++) {
        char text[200];
        gbx_mcp_config *config;
        const gbx_mcp_upstream_config *a;

        (void)snprintf(text, sizeof text,
                       "{\"mcpServers\": {\"a\": {\"command\": \"x\", %s}}}", forms[k]);
        config = parsed_config(path, text);
        a = &config->servers[0];
        assert_null(a->fault);
        assert_int_equal(a->env_count, GBX_COUNTOF(wanted));
        for (size_t i = 0; i < GBX_COUNTOF(wanted); i++) {
            assert_string_equal(a->env[i].name, wanted[i].name);
            assert_string_equal(a->env[i].value, wanted[i].value);
        }
        assert_true(config->rules->secrets->secret_count > 0);
        gbx_mcp_config_free(config);
    }
}

TEST(env_file__that_others_can_change_stops_its_server)
{
    gbx_mcp_config *config;
    char full[64];

    (void)snprintf(full, sizeof full, "%s/vars", base);
    write_file("vars", "A=b\n");
    assert_int_equal(chmod(full, 0622), 0);
    config = parsed_config(
        path, "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"envFile\": \"vars\"}}}");
    assert_true(config->servers[0].is_malformed);
    assert_non_null(strstr(config->servers[0].fault, "chmod go-w"));
    assert_int_equal(config->servers[0].env_count, 0);
    gbx_mcp_config_free(config);
    assert_int_equal(unlink(full), 0);
}

TEST(command__that_is_a_path_is_below_where_it_runs)
{
    static const struct {
        const char *members;
        const char *command;
    } rows[] = {
        {"\"command\": \"srv\"", "srv"},
        {"\"command\": \"./srv\"", "/etc/./srv"},
        {"\"command\": \"bin/srv\", \"cwd\": null", "/etc/bin/srv"},
        {"\"command\": \"./srv\", \"cwd\": \"sub\"", "./srv"},
        {"\"command\": \"/bin/srv\"", "/bin/srv"},
        {"\"command\": \"${GBX_TEST_DIR}/srv\"", "/srv/data/srv"},
        {"\"command\": [\"./srv\", \"./x\"]", "/etc/./srv"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        char text[200];
        gbx_mcp_config *config;

        (void)snprintf(text, sizeof text, "{\"mcpServers\": {\"a\": {%s}}}",
                       rows[i].members);
        config = parsed_config("/etc/mcp.json", text);
        assert_string_equal(config->servers[0].command, rows[i].command);
        gbx_mcp_config_free(config);
    }
}

TEST(tilde__is_the_home_directory_at_the_beginning_of_a_word)
{
    gbx_mcp_config *config;
    static const char *const args[] = {"/home/us/a", "/home/us", "~",  "~a/b",
                                       "a~/b",       "~/a",      "\\~"};
    const gbx_mcp_upstream_config *a;

    assert_int_equal(setenv("HOME", "/home/us", 1), 0);
    config = parsed_config(
        path,
        "{\"mcpServers\": {\"a\": {\"command\": \"~/bin/x\", \"cwd\": \"~/w\", \"args\":"
        "[\"~/a\", \"~\", \"\\\\~\", \"~a/b\", \"a~/b\", \"\\\\~/a\", \"\\\\\\\\~\"],"
        "\"env\": {\"A\": \"~/a\"}}}}");
    a = gbx_mcp_config_server(config, "a");
    assert_string_equal(a->command, "/home/us/bin/x");
    assert_string_equal(a->cwd, "/home/us/w");
    assert_int_equal(a->arg_count, GBX_COUNTOF(args));
    for (size_t i = 0; i < GBX_COUNTOF(args); i++)
        assert_string_equal(a->args[i], args[i]);
    assert_string_equal(a->env[0].value, "~/a");
    gbx_mcp_config_free(config);
    assert_int_equal(unsetenv("HOME"), 0);
    config =
        parsed_config(path, "{\"mcpServers\": {\"a\": {\"command\": \"~/bin/x\"}}}");
    assert_non_null(strstr(config->servers[0].fault, "'HOME' is not set"));
    gbx_mcp_config_free(config);
}

/* What args[0] is with its variables. */
static void assert_filled(const char *text, const char *wanted)
{
    char document[200];
    gbx_mcp_config *config;

    (void)snprintf(
        document, sizeof document,
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"%s\"]}}}", text);
    config = parsed_config(NULL, document);
    assert_string_equal(config->servers[0].args[0], wanted);
    gbx_mcp_config_free(config);
}

TEST(variables__are_text_behind_a_dollar)
{
    assert_filled("a$${GBX_TEST_DIR}b", "a${GBX_TEST_DIR}b");
    assert_filled("$$${GBX_TEST_DIR}", "$/srv/data");
    assert_filled("$$$${GBX_TEST_DIR}", "$${GBX_TEST_DIR}");
    assert_filled("$${input:x}", "${input:x}");
    assert_filled("$${", "${");
    assert_filled("${", "${");
    assert_filled("$$ $$$5 a$$", "$$ $$$5 a$$");
}

TEST(command__fills_every_field)
{
    gbx_mcp_config *config = parsed_config(
        path,
        "{\"mcpServers\": {\"a\": {\"command\": \"${GBX_TEST_DIR}/bin\","
        "\"args\": [\"-y\", \"${GBX_TEST_UNSET:-none}\", \"${GBX_TEST_EMPTY:-full}\","
        "\"$5 ${1} ${env:GBX_TEST_DIR}\", \"\"], \"env\": {\"A\": \"b\", \"C\": \"\"},"
        "\"cwd\": \"/tmp\", \"glovebox\": {\"timeoutMs\": 1, \"startMs\": 2,"
        "\"idleMs\": 0, \"callsAtOnce\": 4, \"processes\": 5, \"env\": [\"LANG\"],"
        "\"description\": \"d\", \"eager\": true}}}}");
    const gbx_mcp_upstream_config *a = gbx_mcp_config_server(config, "a");
    static const char *const args[] = {"-y", "none", "full", "$5 ${1} /srv/data",
                                       "",   NULL};

    assert_int_equal(a->transport, GBX_MCP_STDIO);
    assert_string_equal(a->command, "/srv/data/bin");
    assert_int_equal(a->arg_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(a->args[i], args[i]);
    assert_null(a->args[5]);
    assert_int_equal(a->env_count, 2);
    assert_string_equal(a->env[1].name, "C");
    assert_string_equal(a->env[1].value, "");
    assert_string_equal(a->cwd, "/tmp");
    assert_int_equal(a->timeout_ms, 1);
    assert_int_equal(a->start_ms, 2);
    assert_int_equal(a->idle_ms, 0);
    assert_int_equal(a->calls_at_once, 4);
    assert_int_equal(a->processes, 5);
    assert_string_equal(a->inherit[0], "LANG");
    assert_string_equal(a->description, "d");
    assert_true(a->eager);
    assert_false(a->disabled);
    gbx_mcp_config_free(config);
}

TEST(url__fills_every_field)
{
    gbx_mcp_config *config = parsed_config(
        path, "{\"servers\": {\"a\": {\"url\": \"https://x.example/mcp\", \"headers\":"
              "{\"Authorization\": \"Bearer ${GBX_TEST_TOKEN}\"}},"
              "\"b\": {\"type\": \"sse\", \"url\": \"https://y.example/\"},"
              "\"c\": {\"url\": 5, \"disabled\": true}}}");
    const gbx_mcp_upstream_config *a = gbx_mcp_config_server(config, "a");

    assert_int_equal(a->transport, GBX_MCP_HTTP);
    assert_string_equal(a->url, "https://x.example/mcp");
    assert_string_equal(a->headers[0].value, "Bearer t0ken-of-the-test");
    assert_int_equal(a->timeout_ms, 60000);
    assert_int_equal(a->start_ms, 30000);
    assert_int_equal(a->idle_ms, 300000);
    assert_int_equal(a->calls_at_once, 8);
    assert_int_equal(a->processes, 1);
    assert_int_equal(gbx_mcp_config_server(config, "b")->transport, GBX_MCP_SSE);
    assert_true(gbx_mcp_config_server(config, "c")->disabled);
    gbx_mcp_config_free(config);
}

TEST(entries__are_taken_as_other_hosts_write_them)
{
    static const struct {
        const char *entry;
        gbx_mcp_transport transport;
    } rows[] = {
        {"{\"httpUrl\": \"https://x/\"}", GBX_MCP_HTTP},
        {"{\"serverUrl\": \"https://x/\"}", GBX_MCP_HTTP},
        {"{\"type\": \"remote\", \"url\": \"https://x/\"}", GBX_MCP_HTTP},
        {"{\"transport\": \"sse\", \"url\": \"https://x/\"}", GBX_MCP_SSE},
        {"{\"type\": \"local\", \"command\": \"c\", \"args\": [\"a\", \"5\"], \"env\": {\"E\": \"true\"}}",
         GBX_MCP_STDIO},
        {"{\"command\": [\"c\", \"a\", \"5\"], \"environment\": {\"E\": \"true\"}}",
         GBX_MCP_STDIO},
        {"{\"command\": [\"c\"], \"args\": [\"a\", 5], \"env\": {\"E\": true}}",
         GBX_MCP_STDIO},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        char text[200];
        gbx_mcp_config *config;
        const gbx_mcp_upstream_config *a;

        (void)snprintf(text, sizeof text, "{\"mcpServers\": {\"a\": %s}}",
                       rows[i].entry);
        config = parsed_config(path, text);
        a = &config->servers[0];
        assert_false(a->disabled);
        assert_int_equal(a->transport, rows[i].transport);
        if (a->transport != GBX_MCP_STDIO) {
            assert_string_equal(a->url, "https://x/");
        } else {
            assert_string_equal(a->command, "c");
            assert_int_equal(a->arg_count, 2);
            assert_string_equal(a->args[0], "a");
            assert_string_equal(a->args[1], "5");
            assert_null(a->args[2]);
            assert_string_equal(a->env[0].name, "E");
            assert_string_equal(a->env[0].value, "true");
        }
        gbx_mcp_config_free(config);
    }
}

TEST(server__that_is_wrong_costs_no_other)
{
    gbx_mcp_config *config = parsed_config(
        path,
        "{\"mcpServers\": {\"cwd\": {\"args\": [\"${GBX_TEST_UNSET}\"], \"cwd\": 5}, \"no-command\": {}, "
        "\"half\": {\"command\": \"x\", \"env\": {\"A\": \"b\"}, \"args\": [\"a\", {}]},\n"
        "\"type\": 5, \"a b\": {\"command\": \"x\"}, \"a-b\": {\"command\": \"x\"},\n"
        "\"c d\": {\"command\": \"x\", \"disabled\": true}, \"twice\": {\"command\": \"x\"},\n"
        "\"fine\": {\"command\": \"x\", \"args\": [\"${GBX_TEST_DIR}\"]}},\n"
        "\"servers\": {\"twice\": {\"command\": \"y\"}, \"last\": {\"command\": \"x\"}},\n"
        "\"glovebox\": {\"rules\": [{\"action\": \"deny\", \"server\": [\"type\", \"fine\"]}]}}");
    static const struct {
        const char *name;
        const char *fault; /* or NULL */
    } rows[] = {
        {"cwd",
         "its configuration is wrong at line 1, column 63: mcpServers.cwd.cwd: this "
         "is a number, where a string belongs"},
        {"no-command", "its configuration is wrong at line 1, column 81: "
                       "mcpServers.no-command: 'command' is missing, or a 'url'"},
        {"half",
         "its configuration is wrong at line 1, column 143: mcpServers.half.args[1]: "
         "this is an object, where a string belongs"},
        {"type",
         "its configuration is wrong at line 2, column 9: mcpServers.type: this "
         "is a number, where an object belongs"},
        {"a-b-2", "its configuration is wrong at line 2, column 12: mcpServers.a b: a "
                  "server's name has from 1 to 64"},
        {"a-b", NULL},
        {"c-d", NULL},
        {"twice", "its configuration is wrong at line 5, column 13: servers.twice: "
                  "another server has this name: rename one"},
        {"fine", NULL},
        {"last", NULL},
    };

    assert_int_equal(config->server_count, GBX_COUNTOF(rows));
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        const gbx_mcp_upstream_config *one =
            gbx_mcp_config_server(config, rows[i].name);

        assert_non_null(one);
        assert_int_equal(one->is_malformed, rows[i].fault != NULL);
        assert_int_equal(one->disabled, rows[i].fault != NULL || i == 6);
        if (rows[i].fault == NULL) {
            assert_null(one->fault);
            continue;
        }
        assert_memory_equal(one->fault, rows[i].fault, strlen(rows[i].fault));
        assert_null(one->command);
        assert_int_equal(one->arg_count + one->env_count + one->header_count, 0);
    }
    assert_string_equal(gbx_mcp_config_server(config, "fine")->args[0], "/srv/data");
    gbx_mcp_config_free(config);
}

TEST(server__that_no_value_can_hold_costs_no_other)
{
    static const struct {
        const char *entry;
        const char *fault;
    } rows[] = {
        {"{\"url\":\"\\u0000\"}",
         "line 2, column 21: servers.wrong.url: a string here cannot hold NUL"},
        {"{\"command\": \"a\", \"command\": \"b\"}",
         "line 2, column 31: servers.wrong.command: the key is there twice: leave one out"},
        {"{\n\"env\": {\"A\": \"\\ud800\"}}",
         "line 3, column 14: servers.wrong.env.A: an escape in the string stands for no character"},
        {"{\"glovebox\": {\"startMs\": 1e999}}",
         "line 2, column 39: servers.wrong.glovebox.startMs: this is a number, where a "
         "whole number belongs"},
        {"{\"command\": \"x\"}, \"wrong\":\n{\"command\": \"y\"}",
         "line 2, column 32: servers.wrong: another server has this name: rename one"},
        {"{\"a\": 1, \"a\": 1}, \"wrong\": 1",
         "line 2, column 32: servers.wrong: another server has this name: rename one"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        char text[300];
        gbx_mcp_config *config;
        const char *fault;

        (void)snprintf(text, sizeof text,
                       "{\"servers\": {\"fine\": {\"command\": \"x\"},\n    "
                       "\"wrong\": %s, \"last\": {\"command\": \"y\"}}}",
                       rows[i].entry);
        config = parsed_config(path, text);
        assert_int_equal(config->server_count, 3);
        assert_int_equal(server_status(config, &(gbx_error){0}), GBX_E_POLICY);
        fault = gbx_mcp_config_server(config, "wrong")->fault;
        assert_string_equal(strstr(fault, "line "), rows[i].fault);
        assert_string_equal(gbx_mcp_config_server(config, "fine")->command, "x");
        assert_string_equal(gbx_mcp_config_server(config, "last")->command, "y");
        gbx_mcp_config_free(config);
    }
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

TEST(numbers_and_null__are_what_hosts_mean_by_them)
{
    gbx_mcp_config *config = parsed_config(
        path,
        "{\"servers\": {\"a\": {\"command\": \"x\", \"args\": null,"
        "\"env\": {\"A\": -1.50e3, \"B\": null , \"C\": 8080\n, \"D\": \"d\"}},"
        "\"b\": {\"url\": \"https://x/\", \"headers\": {\"X-A\":5}, \"env\": null}}}");
    const gbx_mcp_upstream_config *a = gbx_mcp_config_server(config, "a");
    const gbx_mcp_upstream_config *b = gbx_mcp_config_server(config, "b");

    assert_int_equal(a->arg_count, 0);
    assert_null(a->args[0]);
    assert_int_equal(a->env_count, 3);
    assert_string_equal(a->env[0].value, "-1.50e3");
    assert_string_equal(a->env[1].name, "C");
    assert_string_equal(a->env[1].value, "8080");
    assert_string_equal(a->env[2].value, "d");
    assert_string_equal(b->headers[0].value, "5");
    gbx_mcp_config_free(config);
}

TEST(headers__that_the_transport_sets_are_left_out_and_named)
{
    gbx_mcp_config *config = parsed_config(
        NULL,
        "{\"servers\": {\"a\": {\"url\": \"https://x/\", \"headers\": {\"accept\": \"*/*\","
        "\"X-Own\": \"1\", \"Content-TYPE\": \"text/x\", \"mcp-param-x\": \"y\","
        "\"Host\": \"z\", \"Mcp-Session-Id\": \"s\", \"Accepted\": \"2\"}},"
        "\"b\": {\"url\": \"https://y/\", \"headers\": {\"X\": \"1\"}}}}");
    const gbx_mcp_upstream_config *a = gbx_mcp_config_server(config, "a");

    assert_int_equal(a->header_count, 3);
    assert_string_equal(a->headers[0].name, "X-Own");
    assert_string_equal(a->headers[1].name, "Host");
    assert_string_equal(a->headers[2].name, "Accepted");
    assert_string_equal(a->unsent_headers,
                        "accept, Content-TYPE, mcp-param-x, Mcp-Session-Id");
    assert_null(gbx_mcp_config_server(config, "b")->unsent_headers);
    gbx_mcp_config_free(config);
}

TEST(variable__that_is_not_set_stops_its_server_alone)
{
    gbx_mcp_config *config = parsed_config(
        path,
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"args\": [\"y\", \"${GBX_TEST_UNSET}\"]},"
        "\"b\": {\"command\": \"${GBX_TEST_UNSET}\", \"cwd\": \"${GBX_OTHER_UNSET}/${GBX_TEST_UNSET}\"},"
        "\"c\": {\"command\": \"x\"}}}");
    const gbx_mcp_upstream_config *a = gbx_mcp_config_server(config, "a");
    const gbx_mcp_upstream_config *b = gbx_mcp_config_server(config, "b");

    assert_true(a->disabled && b->disabled);
    assert_non_null(strstr(a->fault, "'GBX_TEST_UNSET' is not set"));
    assert_string_equal(b->fault,
                        "the environment variables 'GBX_TEST_UNSET' and "
                        "'GBX_OTHER_UNSET' are not set: set them (some hosts pass on "
                        "only what \"env\" of the entry of glovebox has), or write "
                        "${GBX_TEST_UNSET:-default}");
    assert_false(gbx_mcp_config_server(config, "c")->disabled);
    assert_null(gbx_mcp_config_server(config, "c")->fault);
    gbx_mcp_config_free(config);
}

TEST(variable__that_is_set_to_nonsense_stops_its_server_alone)
{
    static const char *const names[] = {"empty", "no-url", "line", "both"};
    gbx_mcp_config *config;

    assert_int_equal(setenv("GBX_TEST_EMPTY", "", 1), 0);
    assert_int_equal(setenv("GBX_TEST_LINES", "ab\ncd", 1), 0);
    config = parsed_config(
        path,
        "{\"mcpServers\": {\"empty\": {\"command\": \"${GBX_TEST_EMPTY}\"},"
        "\"no-url\": {\"url\": \"${GBX_TEST_LINES}\"},"
        "\"line\": {\"url\": \"http://a/\", \"headers\": {\"X\": \"${GBX_TEST_LINES}\"}},"
        "\"both\": {\"headers\": {\"X\": \"${GBX_TEST_LINES}\", \"Y\": \"${GBX_TEST_LINES}\"},"
        "\"url\": \"${GBX_TEST_UNSET}\"},"
        "\"fine\": {\"command\": \"x\"}}}");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const gbx_mcp_upstream_config *one = gbx_mcp_config_server(config, names[i]);

        assert_true(one->disabled);
        assert_non_null(one->fault);
        assert_null(strstr(one->fault, "cd"));
    }
    assert_false(gbx_mcp_config_server(config, "fine")->disabled);
    gbx_mcp_config_free(config);
    assert_int_equal(unsetenv("GBX_TEST_EMPTY"), 0);
    assert_int_equal(unsetenv("GBX_TEST_LINES"), 0);
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
    write_file("mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"x\"}},"
                           "\"glovebox\": {\"audit\": \"calls.log\"}}");
    assert_int_equal(gbx_mcp_config_load(path, GBX_TRUST_OWN, &config, &error), GBX_OK);
    assert_string_equal(config->path, path);
    assert_int_equal(config->server_count, 1);
    assert_non_null(strstr(config->settings.audit_path, "gbx-mcp-"));
    gbx_mcp_config_free(config);
}

TEST(files__that_others_can_change_are_refused)
{
    static const char *const files[] = {"mcp.json", "token"};
    gbx_mcp_config *config = NULL;
    char open[64];

    write_file("mcp.json", "{\"servers\": {\"a\": {\"command\": \"x\"}}, \"glovebox\": "
                           "{\"secrets\": {\"K\": {\"file\": \"token\", "
                           "\"servers\": [\"a\"]}}}}");
    for (size_t i = 0; i < GBX_COUNTOF(files); i++) {
        (void)snprintf(open, sizeof open, "%s/%s", base, files[i]);
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

TEST_MAIN(setup, teardown)
