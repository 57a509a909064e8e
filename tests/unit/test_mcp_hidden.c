/* SPDX-License-Identifier: MIT */
/* mcp_hidden - which values of a configuration never come back. */
#include "parsed_config.h"
#include "scratch.h"
#include "table.h"
#include "test.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"
#include "mcp/rules/rules.h"
#include "policy/policy.h"

#include <sys/stat.h>

static int setup(void **state)
{
    (void)umask(077);
    if (scratch_begin(state) != 0)
        return -1;
    scratch_write("token", "t0ken-in-a-file\n");
    return setenv("GBX_TEST_TOKEN", "t0ken-of-the-test", 1) ||
           setenv("GBX_TEST_MODE", "ordinary-text-1", 1);
}

/* Is text changed into wanted in answers (NULL: does it stay)? */
static bool strips(const gbx_mcp_config *config, const char *text, const char *wanted)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out;
    bool changed;

    gbx_buf_init(&out, 4096);
    assert_true(gbx_secrets_strip(config->rules->secrets, GBX_SECRET_LINE,
                                  (gbx_span){(const uint8_t *)text, strlen(text)}, NULL,
                                  &out, &changed));
    if (!changed)
        return wanted == NULL;
    return wanted != NULL && out.len == strlen(wanted) &&
           memcmp(out.data, wanted, out.len) == 0;
}

static bool check_hidden(char *head, char *entry, size_t len)
{
    const char *text = table_word(&head, " -> ");
    GBX_CLEANUP(gbx_free) char *json = NULL;
    gbx_mcp_config *config;
    bool is_right;

    assert_true(len > 0);
    assert_true(asprintf(&json, "{\"mcpServers\": {\"a\": {%s}}}", entry) > 0);
    config = parsed_config(scratch_path("mcp.json"), json);
    is_right = config->servers[0].fault == NULL &&
               strips(config, text, strcmp(head, "stays") == 0 ? NULL : head);
    gbx_mcp_config_free(config);
    return is_right;
}

TEST(values__are_hidden_as_the_table_says)
{
    table_check("unit/mcp/hidden.txt", check_hidden, 52);
}

TEST(values__that_are_hidden_are_listed_by_their_names)
{
    gbx_mcp_config *config = parsed_config(
        NULL,
        "{\"servers\": {\"a\": {\"command\": \"x\", \"env\": {"
        "\"A\": \"of-eight\", \"B\": \"seven-7\", \"C\": \"one-line\\nother-line\"},"
        "\"args\": [\"--token\", \"key-of-its-own\"]}}}");
    const gbx_mcp_upstream_config *server = &config->servers[0];

    assert_int_equal(server->hidden_count, 3);
    assert_string_equal(server->hidden[0], "A");
    assert_string_equal(server->hidden[1], "C");
    assert_string_equal(server->hidden[2], "token");
    gbx_mcp_config_free(config);
}

TEST(secrets__declared_are_for_their_servers_alone)
{
    gbx_mcp_config *config = parsed_config(
        scratch_path("mcp.json"),
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"TOKEN\": \"something-else\"}},"
        "\"b\": {\"command\": \"y\"}}, \"glovebox\": {\"secrets\": {\"TOKEN\":"
        "{\"from\": \"GBX_TEST_TOKEN\", \"servers\": [\"a\"]}, \"FILE\":"
        "{\"file\": \"token\", \"servers\": [\"b\"]}}}}");
    const gbx_policy *secrets = config->rules->secrets;
    gbx_span text = {(const uint8_t *)"{{secret:TOKEN}}", 16};
    gbx_buf out;

    gbx_buf_init(&out, 4096);
    assert_int_equal(gbx_secrets_fill(secrets, &(gbx_secret_target){.function = "a"},
                                      text, &out, NULL),
                     GBX_OK);
    assert_memory_equal(out.data, "t0ken-of-the-test", 17);
    gbx_buf_cleanup(&out);
    gbx_buf_init(&out, 4096);
    assert_int_equal(gbx_secrets_fill(secrets, &(gbx_secret_target){.function = "b"},
                                      text, &out, NULL),
                     GBX_E_POLICY);
    /* What was found in env has a name of its own, and is for nobody. */
    text = (gbx_span){(const uint8_t *)"{{secret:TOKEN_2}}", 18};
    assert_int_equal(gbx_secrets_fill(secrets, &(gbx_secret_target){.function = "a"},
                                      text, &out, NULL),
                     GBX_E_POLICY);
    assert_true(strips(config, "something-else", "{{secret:TOKEN_2}}"));
    assert_true(strips(config, "t0ken-in-a-file", "{{secret:FILE}}"));
    gbx_mcp_config_free(config);
}

TEST_MAIN(setup, scratch_end)
