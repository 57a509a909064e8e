/* SPDX-License-Identifier: MIT */
/* mcp_hidden - which values of a configuration never come back. */
#include "parsed_config.h"

#include "base/cleanup.h"
#include "mcp/config/config.h"
#include "mcp/rules/rules.h"
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char base[] = "/tmp/gbx-mcp-XXXXXX";
static char path[64]; /* of the token; a configuration is as if beside it */

static int setup(void **state)
{
    FILE *file;
    (void)state;

    if (mkdtemp(base) == NULL)
        return -1;
    (void)snprintf(path, sizeof path, "%s/token", base);
    file = fopen(path, "w");
    if (file == NULL || fchmod(fileno(file), 0600) < 0 ||
        fputs("t0ken-in-a-file\n", file) < 0 || fclose(file) != 0)
        return -1;
    return setenv("GBX_TEST_TOKEN", "t0ken-of-the-test", 1) ||
           setenv("GBX_TEST_MODE", "ordinary-text-1", 1);
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(base);
}

/* Is text changed into wanted in answers (NULL: does it stay)? */
static bool strips(const gbx_mcp_config *config, const char *text, const char *wanted)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf out;
    bool changed;

    gbx_buf_init(&out, 4096);
    assert_true(gbx_secrets_strip(config->rules->secrets, GBX_SECRET_LINE,
                                  (gbx_span){(const uint8_t *)text, strlen(text)}, &out,
                                  &changed));
    if (!changed)
        return wanted == NULL;
    return wanted != NULL && out.len == strlen(wanted) &&
           memcmp(out.data, wanted, out.len) == 0;
}

typedef struct hidden {
    const char *entry;  /* of a server, without its braces */
    const char *text;   /* in an answer */
    const char *wanted; /* what the answer has instead; NULL: it stays */
} hidden;

static void assert_hidden(const hidden *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        GBX_CLEANUP(gbx_free) char *text = NULL;
        gbx_mcp_config *config;

        assert_true(asprintf(&text, "{\"mcpServers\": {\"a\": {%s}}}", cases[i].entry) >
                    0);
        config = parsed_config(path, text);
        if (config->servers[0].fault != NULL)
            fail_msg("%s: %s", cases[i].entry, config->servers[0].fault);
        if (!strips(config, cases[i].text, cases[i].wanted))
            fail_msg("%s: '%s'", cases[i].entry, cases[i].text);
        gbx_mcp_config_free(config);
    }
}

#define ENV(members) "\"command\": \"x\", \"env\": {" members "}"
#define ARGS(items)  "\"command\": \"x\", \"args\": [" items "]"
#define URL(rest)    "\"url\": \"https://" rest

static void test_values__of_variables_are_hidden_whatever_they_are(void **state)
{
    static const hidden cases[] = {
        {ENV("\"API_KEY\": \"written-out\""), "written-out", "{{secret:API_KEY}}"},
        {ENV("\"ANY\": \"customer_id\""), "a customer_id.", "a {{secret:ANY}}."},
        {ENV("\"DB_PASSWORD\": \"postgres\""), "postgres", "{{secret:DB_PASSWORD}}"},
        {ENV("\"DB_PASSWORD\": \"12345678\""), "12345678", "{{secret:DB_PASSWORD}}"},
        {ENV("\"DB_PASSWORD\": \"1234567\""), "1234567", NULL},
        {ENV("\"EMPTY\": \"\", \"NONE\": null, \"PORT\": 8080"), "8080", NULL},
        {ENV("\"1-X\": \"name-of-a-digit\""), "name-of-a-digit", "{{secret:_1_X}}"},
        {ENV("\"A\": \"${GBX_TEST_TOKEN}\""), "t0ken-of-the-test", "{{secret:A}}"},
        {ENV("\"APP_PASSWORD\": \"abcd efgh ijkl\""), "abcd efgh ijkl",
         "{{secret:APP_PASSWORD}}"},
        {ENV("\"A_TOKEN\": \"with-a-line-end\\n\""), "with-a-line-end",
         "{{secret:A_TOKEN}}"},
        {ENV("\"A\": \" \\t between-blanks \""), "between-blanks", "{{secret:A}}"},
        {ENV("\"KEY\": \"-----BEGIN-----\\r\\nMIIEvQIBADAN\\r\\n  AQEFAASC\\r\\nshort\""),
         "MIIEvQIBADAN AQEFAASC short", "{{secret:KEY_2}} {{secret:KEY_3}} short"},
        {ENV("\"AUTH\": \"Bearer in-a-variable\""), "in-a-variable", "{{secret:AUTH}}"},
        {ENV("\"AUTH\": \"Bearer in-a-variable\""), "Bearer", NULL},
        {ENV("\"HEADERS\": \"X-Team:blue, Authorization:bearer key-of-api-1,X: y\""),
         "key-of-api-1", "{{secret:HEADERS}}"},
        {ENV("\"H\": \"authorization=basic dXNlcjpw\""), "dXNlcjpw", "{{secret:H}}"},
        {ENV("\"DB\": \"postgresql://bob:p@ss-of-bob@host/db\""), "p@ss-of-bob",
         "{{secret:DB}}"},
        {ENV("\"INDEX\": \"https://0123456789abcdef@host/\""), "0123456789abcdef",
         "{{secret:INDEX}}"},
        {ENV("\"H\": \"{\\\"Authorization\\\": \\\"Bearer ntn-of-a-page\\\"}\""),
         "ntn-of-a-page", "{{secret:Authorization}}"},
        {ENV("\"A\": \" {\\\"web\\\": [{\\\"client\\\": \\\"in-the-web\\\"}]}\""),
         "in-the-web", "{{secret:client}}"},
        {"\"command\": \"x\", \"glovebox\": {\"env\": [\"GBX_TEST_MODE\", \"UNSET\"]}",
         "ordinary-text-1", "{{secret:GBX_TEST_MODE}}"},
    };
    (void)state;

    assert_hidden(cases, GBX_COUNTOF(cases));
}

static void test_values__that_plain_names_stay_in_answers(void **state)
{
    static const hidden cases[] = {
        {ENV("\"MODE\": \"production\"") ", \"glovebox\": {\"plain\": [\"MODE\"]}",
         "production", NULL},
        {"\"glovebox\": {\"plain\": [\"MODE\"]}, " ENV("\"MODE\": \"production\""),
         "production", NULL},
        {ENV("\"MODE\": \"production\"") ", \"glovebox\": {\"plain\": [\"OTHER\"]}",
         "production", "{{secret:MODE}}"},
        {URL("h/\", \"headers\": {\"X-Org\": \"our-company\"}, "
             "\"glovebox\": {\"plain\": [\"X-Org\"]}"),
         "our-company", NULL},
        {ARGS("\"-e\", \"MODE=production\"") ", \"glovebox\": {\"plain\": [\"MODE\"]}",
         "production", NULL},
        {URL("${GBX_TEST_MODE}.example/\", \"glovebox\": {\"plain\": [\"GBX_TEST_MODE\"]}"),
         "ordinary-text-1", NULL},
    };
    (void)state;

    assert_hidden(cases, GBX_COUNTOF(cases));
}

static void test_values__of_headers_and_urls_are_hidden(void **state)
{
    static const hidden cases[] = {
        {URL("h/\", \"headers\": {\"X-Org\": \"our-company\"}"), "our-company",
         "{{secret:X_Org}}"},
        {URL("h/\", \"headers\": {\"Authorization\": \"Bearer  of-a-header\"}"),
         "of-a-header", "{{secret:Authorization}}"},
        {URL("h/\", \"headers\": {\"Authorization\": \"Custom of-a-header\"}"),
         "of-a-header", "{{secret:Authorization}}"},
        {URL("h/\", \"headers\": {\"X-Key\": \"qrst uvwx-yz\"}"), "qrst uvwx-yz",
         "{{secret:X_Key}}"},
        {URL("bob:key-of-bob@h/mcp\""), "key-of-bob", "{{secret:URL}}"},
        {URL("h/mcp?n=1&api_key=key-of-a-query#x\""), "key-of-a-query",
         "{{secret:api_key}}"},
        {URL("h/mcp?=nameless-1\""), "nameless-1", "{{secret:_}}"},
        {URL("h/${GBX_TEST_TOKEN}/mcp\""), "t0ken-of-the-test",
         "{{secret:GBX_TEST_TOKEN}}"},
        {URL("host.example/path-of-it/mcp\""), "host.example/path-of-it", NULL},
    };
    (void)state;

    assert_hidden(cases, GBX_COUNTOF(cases));
}

static void test_values__of_arguments_are_hidden_by_their_options(void **state)
{
    static const hidden cases[] = {
        {ARGS("\"--header\", \"Authorization: Bearer key-of-a-header\""),
         "key-of-a-header", "{{secret:Authorization}}"},
        {ARGS("\"--header=X-Org:key-behind-equals\""), "key-behind-equals",
         "{{secret:X_Org}}"},
        {ARGS("\"-H\", \"X-Org: of-a-short-option\""), "of-a-short-option",
         "{{secret:X_Org}}"},
        {ARGS("\"-e\", \"ANY=key-of-a-variable\""), "key-of-a-variable",
         "{{secret:ANY}}"},
        {ARGS("\"--env=ANY=key-of-an-option\""), "key-of-an-option", "{{secret:ANY}}"},
        {ARGS("\"-e\", \"H={\\\"x\\\":\\\"of-an-argument\\\"}\""), "of-an-argument",
         "{{secret:x}}"},
        {ARGS("\"--token\", \"key-of-its-own\""), "key-of-its-own", "{{secret:token}}"},
        {ARGS("\"--token=key-at-once\""), "key-at-once", "{{secret:token}}"},
        {ARGS("\"--api-key\", \"${GBX_TEST_TOKEN}\""), "t0ken-of-the-test",
         "{{secret:api_key}}"},
        {ARGS("\"--DB_PASSWORD\", \"key-of-a-db\""), "key-of-a-db",
         "{{secret:DB_PASSWORD}}"},
        {ARGS("\"GITHUB_TOKEN=key-alone\""), "key-alone", "{{secret:GITHUB_TOKEN}}"},
        {ARGS("\"postgresql://bob:key-of-bob@host/db\""), "key-of-bob",
         "{{secret:URL}}"},
        {ARGS("\"https://h.example/?api_key=key-of-a-query#x\""), "key-of-a-query",
         "{{secret:api_key}}"},
        {ARGS("\"--token\", \"--verbose\", \"ordinary-1\", \"FOO=ordinary-2\""),
         "--verbose ordinary-1 FOO=ordinary-2", NULL},
        {ARGS("\"--token-file\", \"file-of-tokens.json\", \"-e\", \"OTHER_TOKEN\""),
         "file-of-tokens.json OTHER_TOKEN", NULL},
        {ARGS("\"/srv/ordinary\", \"https://h.example/ordinary\""),
         "/srv/ordinary https://h.example/ordinary", NULL},
    };
    (void)state;

    assert_hidden(cases, GBX_COUNTOF(cases));
}

static void test_values__that_are_hidden_are_listed_by_their_names(void **state)
{
    gbx_mcp_config *config = parsed_config(
        NULL,
        "{\"servers\": {\"a\": {\"command\": \"x\", \"env\": {"
        "\"A\": \"of-eight\", \"B\": \"seven-7\", \"C\": \"one-line\\nother-line\"},"
        "\"args\": [\"--token\", \"key-of-its-own\"]}}}");
    const gbx_mcp_upstream_config *server = &config->servers[0];
    (void)state;

    assert_int_equal(server->hidden_count, 3);
    assert_string_equal(server->hidden[0], "A");
    assert_string_equal(server->hidden[1], "C");
    assert_string_equal(server->hidden[2], "token");
    gbx_mcp_config_free(config);
}

static void test_secrets__declared_are_for_their_servers_alone(void **state)
{
    gbx_mcp_config *config = parsed_config(
        path,
        "{\"mcpServers\": {\"a\": {\"command\": \"x\", \"env\": {\"TOKEN\": \"something-else\"}},"
        "\"b\": {\"command\": \"y\"}}, \"glovebox\": {\"secrets\": {\"TOKEN\":"
        "{\"from\": \"GBX_TEST_TOKEN\", \"servers\": [\"a\"]}, \"FILE\":"
        "{\"file\": \"token\", \"servers\": [\"b\"]}}}}");
    const gbx_policy *secrets = config->rules->secrets;
    gbx_span text = {(const uint8_t *)"{{secret:TOKEN}}", 16};
    gbx_buf out;
    (void)state;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values__of_variables_are_hidden_whatever_they_are),
        cmocka_unit_test(test_values__that_plain_names_stay_in_answers),
        cmocka_unit_test(test_values__of_headers_and_urls_are_hidden),
        cmocka_unit_test(test_values__of_arguments_are_hidden_by_their_options),
        cmocka_unit_test(test_values__that_are_hidden_are_listed_by_their_names),
        cmocka_unit_test(test_secrets__declared_are_for_their_servers_alone),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
