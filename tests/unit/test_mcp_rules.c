/* SPDX-License-Identifier: MIT */
/* mcp_rules - what calls a rule fits, and every way that was thought of to pass one by. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "mcp/rules/rules.h"
#include "rule_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ALLOW_DATA \
    "{\"action\":\"allow\",\"server\":\"files\",\"args\":{\"path\":\"/data/**\"}}"
#define DENY_ETC \
    "{\"action\":\"deny\",\"args\":{\"path\":\"/etc/**\"}},{\"action\":\"allow\"}"
#define ALLOW_API \
    "{\"action\":\"allow\",\"args\":{\"url\":\"https://*.example.com/v1/**\"}}"
#define DENY_EVIL \
    "{\"action\":\"deny\",\"args\":{\"url\":\"https://evil.example/**\"}},{\"action\":\"allow\"}"

static void test_rules__the_first_that_fits_decides(void **state)
{
    static const row rows[] = {
        {"", "files/read {}", ASK},
        {"{\"action\":\"allow\"}", "files/read {}", ALLOW},
        {"{\"action\":\"deny\"},{\"action\":\"allow\"}", "files/read {}", DENY},
        {"{\"action\":\"allow\",\"tool\":\"read_*\"}", "files/read_file {}", ALLOW},
        {"{\"action\":\"allow\",\"tool\":\"read_*\"}", "files/read_ {}", ALLOW},
        {"{\"action\":\"allow\",\"tool\":\"read_*\"}", "files/Read_file {}", ASK},
        {"{\"action\":\"allow\",\"tool\":\"read_*\"}", "files/xread_file {}", ASK},
        {"{\"action\":\"allow\",\"tool\":[\"a\",\"b?\"]}", "files/bc {}", ALLOW},
        {"{\"action\":\"allow\",\"tool\":[\"a\",\"b?\"]}", "files/b {}", ASK},
        {"{\"action\":\"allow\",\"tool\":\"a\\\\*\"}", "files/a* {}", ALLOW},
        {"{\"action\":\"allow\",\"tool\":\"a\\\\*\"}", "files/ab {}", ASK},
        {"{\"action\":\"allow\",\"server\":\"files\"}", "web/read {}", ASK},
        {"{\"action\":\"allow\",\"server\":\"git.hub\"}", "gitxhub/read {}", ASK},
        {"{\"action\":\"allow\",\"server\":\"*\"}", "web/read {}", ALLOW},
        {"{\"action\":\"allow\",\"readOnly\":false}", "web/read {}", ALLOW},
        {"{\"action\":\"allow\",\"readOnly\":true}", "web/read {}", ASK},
        {"{\"action\":\"deny\",\"tool\":\"constructor\"}", "web/constructor {}", DENY},
        {"{\"action\":\"deny\",\"tool\":\"delete*\"}", "web/Delete_all {}", DENY},
        {"{\"action\":\"deny\",\"tool\":\"Delete\"}", "web/dELETE {}", DENY},
        {"{\"action\":\"deny\",\"tool\":\"delete\"}", "web/deleted {}", ASK},
        {"{\"action\":\"ask\",\"tool\":\"delete\"},{\"action\":\"allow\"}",
         "web/Delete {}", ASK},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_paths__are_fitted_by_their_plain_form_alone(void **state)
{
    static const row rows[] = {
        {ALLOW_DATA, "files/r {\"path\":\"/data/x\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/a/b.txt\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/\\u0061\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/...\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data/.hidden\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":\"/data2/x\"}", ASK},
        {ALLOW_DATA, "files/r {\"path\":\"/DATA/x\"}", ASK},
        {ALLOW_DATA, "files/r {\"path\":\"data/x\"}", ASK},
        {ALLOW_DATA, "files/r {\"path\":\"\"}", ASK},
        {ALLOW_DATA, "files/r {}", ASK},
        {ALLOW_DATA, "files/r {\"path\":\"/data/../etc/passwd\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/..\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/./x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data//x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/\\u002e\\u002e/x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/..\\\\etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data\\\\..\\\\etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/%2e%2e/etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/%252e%252e/etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/%2E./etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/..%2fetc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x%2f..%2f..%2fetc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x\\u0000/../../etc\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x%00.txt\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\" /data/x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x\\n\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"file:///data/x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"https://x/data/y\"}", ASK},
        {DENY_ETC, "files/r {\"path\":\"/etc/passwd\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/etc\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/etc/\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/ETC/passwd\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/etc/passwd/\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/etcetera\"}", ALLOW},
        {DENY_ETC, "files/r {\"path\":\"/home/x\"}", ALLOW},
        {DENY_ETC, "files/r {\"path\":\"/data/../etc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"//etc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"/./etc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"etc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"~/x\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"/%65tc/passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"\\\\etc\\\\passwd\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"FILE:/etc/passwd\"}", FAULT},
        {"{\"action\":\"deny\",\"args\":{\"path\":\"/etc/passwd\"}},{\"action\":\"allow\"}",
         "files/r {\"path\":\"/etc/passwd//\"}", FAULT},
        {"{\"action\":\"deny\",\"args\":{\"path\":\"**/.ssh/**\"}},{\"action\":\"allow\"}",
         "files/r {\"path\":\"/home/u/.ssh/id\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"path\":\"**/.ssh/**\"}},{\"action\":\"allow\"}",
         "files/r {\"path\":\".ssh\"}", DENY},
        {"{\"action\":\"allow\",\"args\":{\"path\":\"/data/*\"}}",
         "files/r {\"path\":\"/data/a/b\"}", ASK},
        {"{\"action\":\"allow\",\"args\":{\"path\":\"/data/?.txt\"}}",
         "files/r {\"path\":\"/data/\\u00e9.txt\"}", ALLOW},
        {"{\"action\":\"allow\",\"args\":{\"path\":\"/data/?.txt\"}}",
         "files/r {\"path\":\"/data//.txt\"}", FAULT},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_urls__are_fitted_by_their_plain_form_alone(void **state)
{
    static const row rows[] = {
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1/x?y=z/../\"}",
         ALLOW},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v2/x\"}", ASK},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com/.example.com/v1/x\"}", ASK},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com?.example.com/v1/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com#.example.com/v1/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com:1.example.com/v1/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://evil.com\\\\.example.com/v1/x\"}",
         FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://u@api.example.com/v1/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1/../x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1/%2e%2e/x\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1\\\\..\\\\x\"}",
         FAULT},
        {ALLOW_API, "web/get {\"url\":\"https://api.example.com/v1/\\tx\"}", FAULT},
        {ALLOW_API, "web/get {\"url\":\"http://api.example.com/v1/x\"}", ASK},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example/x\"}", DENY},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example\"}", DENY},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example?x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://good.example/\"}", ALLOW},
        {DENY_EVIL, "web/get {\"url\":\"https://EVIL.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"HTTPS://evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https:evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https:\\\\\\\\evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"//evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example./x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example:443/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://evil.example:/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://u:p@evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://%65vil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"https://e\\u00advil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"\\thttps://evil.example/x\"}", FAULT},
        {DENY_EVIL, "web/get {\"url\":\"ht\\ntps://evil.example/x\"}", FAULT},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

#define DENY_TRUE \
    "{\"action\":\"deny\",\"args\":{\"force\":true}},{\"action\":\"allow\"}"
#define ALLOW_DRY "{\"action\":\"allow\",\"args\":{\"dry\":true,\"n\":3}}"
#define DENY_TEXT \
    "{\"action\":\"deny\",\"args\":{\"q\":\"drop*\"}},{\"action\":\"allow\"}"
#define ALLOW_EACH "{\"action\":\"allow\",\"args\":{\"e[].p\":\"a*\"}}"
#define DENY_EACH \
    "{\"action\":\"deny\",\"args\":{\"e[].p\":\"a*\"}},{\"action\":\"allow\"}"

static void test_types__cannot_be_played_with(void **state)
{
    static const row rows[] = {
        {DENY_TRUE, "files/x {\"force\":true}", DENY},
        {DENY_TRUE, "files/x {\"force\":false}", ALLOW},
        {DENY_TRUE, "files/x {}", ALLOW},
        {DENY_TRUE, "files/x {\"force\":1}", DENY},
        {DENY_TRUE, "files/x {\"force\":\"true\"}", DENY},
        {DENY_TRUE, "files/x {\"force\":[true]}", DENY},
        {DENY_TRUE, "files/x {\"force\":null}", DENY},
        {ALLOW_DRY, "files/x {\"dry\":true,\"n\":3}", ALLOW},
        {ALLOW_DRY, "files/x {\"dry\":true,\"n\":3.0}", ALLOW},
        {ALLOW_DRY, "files/x {\"dry\":true,\"n\":\"3\"}", ASK},
        {ALLOW_DRY, "files/x {\"dry\":\"true\",\"n\":3}", ASK},
        {ALLOW_DRY, "files/x {\"dry\":true}", ASK},
        {DENY_TEXT, "files/x {\"q\":\"drop table\"}", DENY},
        {DENY_TEXT, "files/x {\"q\":\"DROP table\"}", DENY},
        {DENY_TEXT, "files/x {\"q\":[\"drop table\"]}", DENY},
        {DENY_TEXT, "files/x {\"q\":{\"toString\":\"x\"}}", DENY},
        {DENY_TEXT, "files/x {\"q\":5}", DENY},
        {DENY_TEXT, "files/x {\"q\":\"select\"}", ALLOW},
        {ALLOW_DATA, "files/r {\"path\":[\"/data/x\"]}", ASK},
        {ALLOW_DATA, "files/r {\"path\":{\"0\":\"/data/x\"}}", ASK},
        {ALLOW_DATA, "files/r {\"path\":null}", ASK},
        {ALLOW_EACH, "files/x {\"e\":[{\"p\":\"ab\"},{\"p\":\"ac\"}]}", ALLOW},
        {ALLOW_EACH, "files/x {\"e\":[{\"p\":\"ab\"},{\"p\":\"b\"}]}", ASK},
        {ALLOW_EACH, "files/x {\"e\":[{\"p\":\"ab\"},{}]}", ASK},
        {ALLOW_EACH, "files/x {\"e\":[]}", ASK},
        {ALLOW_EACH, "files/x {\"e\":{\"p\":\"ab\"}}", ASK},
        {DENY_EACH, "files/x {\"e\":[{\"p\":\"b\"},{\"p\":\"ab\"}]}", DENY},
        {DENY_EACH, "files/x {\"e\":[{\"p\":\"b\"}]}", ALLOW},
        {DENY_EACH, "files/x {\"e\":{\"p\":\"ab\"}}", DENY},
        {DENY_EACH, "files/x {\"e\":[[{\"p\":\"ab\"}]]}", DENY},
        {DENY_EACH, "files/x {\"e\":\"[]\"}", DENY},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_members__are_what_every_parser_finds(void **state)
{
    static const row rows[] = {
        {DENY_ETC, "files/r {\"path\":\"/etc/x\",\"path\":\"/data/x\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/data/x\",\"\\u0070ath\":\"/etc/x\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"\\u0070\\u0061th\":\"/etc/x\"}", DENY},
        {DENY_ETC, "files/r {\"Path\":\"/etc/x\"}", FAULT},
        {DENY_ETC, "files/r {\"path\":\"/data/x\",\"PATH\":\"/etc/x\"}", FAULT},
        {ALLOW_DATA, "files/r {\"path\":\"/data/x\",\"pATH\":\"/etc/x\"}", FAULT},
        {ALLOW_DRY, "files/x {\"dry\":true,\"n\":3,\"N\":4}", FAULT},
        {"{\"action\":\"deny\",\"args\":{\"pass\":\"x\"}},{\"action\":\"allow\"}",
         "files/x {\"pa\\u017fs\":\"x\"}", FAULT},
        {"{\"action\":\"deny\",\"args\":{\"key\":\"x\"}},{\"action\":\"allow\"}",
         "files/x {\"\\u212aey\":\"x\"}", FAULT},
        {DENY_ETC, "files/r {\"__proto__\":{\"path\":\"/etc/x\"}}", NO_ARGS},
        {DENY_ETC, "files/r {\"a\":[{\"\\u005f_proto__\":{\"path\":1}}]}", NO_ARGS},
        {DENY_ETC, "files/r {\"path\\u0000\":\"/etc/x\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/etc/\\ud800\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/etc/\xC0\xAF\"}", NO_ARGS},
        {DENY_ETC, "files/r {\"n\":1e999}", NO_ARGS},
        {DENY_ETC, "files/r {\"n\":123456789012345678901234567890}", NO_ARGS},
        {DENY_ETC, "files/r [\"/etc/x\"]", NO_ARGS},
        {DENY_ETC, "files/r {\"a\":{\"path\":1},\"path\":\"/etc/x\"}", DENY},
        {DENY_ETC, "files/r {\"a\":\"{\\\"path\\\":1\",\"path\":\"/etc/x\"}", DENY},
        {DENY_ETC, "files/r {\"a\":\"\\\\\",\"path\":\"/etc\\/x\"}", DENY},
        {DENY_ETC, "files/r {\"n\":-9223372036854775808,\"path\":\"/etc/x\"}", DENY},
        {DENY_ETC, "files/r {\"n\":1e-999,\"path\":\"/etc/\\ud83d\\ude00\"}", DENY},
        {DENY_ETC, "files/r {\"path\":\"/data/x\"} x", NO_ARGS},
        {DENY_ETC, "files/r {\"path\":\"/data/x\",}", NO_ARGS},
        {DENY_ETC, "files/r {'path':1}", NO_ARGS},
        {DENY_ETC, "files/r  ", NO_ARGS},
        {"{\"action\":\"deny\",\"args\":{\"a\\\\.b\":\"x\"}},{\"action\":\"allow\"}",
         "files/x {\"a.b\":\"x\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"a\\\\.b\":\"x\"}},{\"action\":\"allow\"}",
         "files/x {\"a\":{\"b\":\"x\"}}", ALLOW},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_hint__is_asked_for_where_it_matters_alone(void **state)
{
    gbx_mcp_config *config = config_of("{\"action\":\"allow\",\"tool\":\"a\"},"
                                       "{\"action\":\"deny\",\"readOnly\":false}");
    gbx_view args = {"{}", 2};
    gbx_gate_verdict verdict;
    (void)state;

    verdict = gbx_rules_decide(config->rules, "files", "a", NULL, args,
                               GBX_GATE_HINT_UNKNOWN);
    assert_false(verdict.needs_hint);
    assert_int_equal(verdict.rule, 0);
    verdict = gbx_rules_decide(config->rules, "files", "b", NULL, args,
                               GBX_GATE_HINT_UNKNOWN);
    assert_true(verdict.needs_hint);
    verdict =
        gbx_rules_decide(config->rules, "files", "b", NULL, args, GBX_GATE_HINT_OTHER);
    assert_int_equal(verdict.action, GBX_GATE_DENY);
    assert_int_equal(verdict.rule, 1);
    verdict =
        gbx_rules_decide(config->rules, "files", "b", NULL, args, GBX_GATE_HINT_READS);
    assert_int_equal(verdict.action, GBX_GATE_ALLOW);
    assert_int_equal(verdict.rule, GBX_GATE_NO_RULE);
    gbx_mcp_config_free(config);
}

static gbx_gate_action decide_called(const char *rules, const char *tool,
                                     const char *called)
{
    gbx_mcp_config *config = config_of(rules);
    gbx_view args = {"{}", 2};
    gbx_gate_verdict verdict = gbx_rules_decide(config->rules, "files", tool, called,
                                                args, GBX_GATE_HINT_OTHER);

    gbx_mcp_config_free(config);
    return verdict.action;
}

static void test_other_name__of_a_call_is_denied_but_not_allowed(void **state)
{
    static const struct {
        const char *rules;
        gbx_gate_action wanted;
    } rows[] = {
        {"{\"action\":\"deny\",\"tool\":\"delete_repo\"},{\"action\":\"allow\"}",
         GBX_GATE_DENY},
        {"{\"action\":\"deny\",\"tool\":\"deleteRepo\"},{\"action\":\"allow\"}",
         GBX_GATE_DENY},
        {"{\"action\":\"ask\",\"tool\":\"delete_*\"},{\"action\":\"allow\"}",
         GBX_GATE_ASK},
        {"{\"action\":\"allow\",\"tool\":\"delete_repo\"},{\"action\":\"deny\"}",
         GBX_GATE_DENY},
        {"{\"action\":\"allow\",\"tool\":\"deleteRepo\"},{\"action\":\"deny\"}",
         GBX_GATE_ALLOW},
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
        assert_int_equal(decide_called(rows[i].rules, "deleteRepo", "delete_repo"),
                         rows[i].wanted);
}

/* Many texts, each as long as one may be: a rule that looks at all of them would hold up
 * everybody for seconds. */
static void test_lists__are_looked_at_in_bounds(void **state)
{
    static const struct {
        const char *rule;
        size_t texts;
        answer wanted;
    } rows[] = {
        {"{\"action\":\"deny\",\"args\":{\"a[]\":\"*y\"}}", 60, ASK},
        {"{\"action\":\"deny\",\"args\":{\"a[]\":\"*y\"}}", 70, FAULT},
        {"{\"action\":\"deny\",\"args\":{\"a[]\":[\"*y\",\"*z\"]}}", 40, FAULT},
        {"{\"action\":\"allow\",\"args\":{\"a[]\":\"x*\"}}", 70, FAULT},
        {"{\"action\":\"allow\",\"args\":{\"a[]\":\"*\"}}", 240, ALLOW},
    };
    static char text[64000];
    (void)state;

    memset(text, 'x', sizeof text - 1);
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_config *config = config_of(rows[i].rule);
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf call;

        gbx_buf_init(&call, GBX_MIB(16));
        (void)gbx_buf_puts(&call, "files/r {\"a\":[");
        for (size_t k = 0; k < rows[i].texts; k++)
            (void)gbx_buf_printf(&call, "%s\"%s\"", k > 0 ? "," : "", text);
        assert_true(gbx_buf_append(&call, "]}", 3));
        assert_int_equal(ask_with(config->rules, (const char *)call.data,
                                  GBX_GATE_HINT_OTHER),
                         rows[i].wanted);
        gbx_mcp_config_free(config);
    }
}

/* The time is that of the pattern times the text, not more. */
static void test_globs__that_are_all_stars_end(void **state)
{
    char pattern[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
    char text[5000];
    const char *why;
    (void)state;

    memset(text, 'a', sizeof text);
    assert_false(gbx_glob_value(pattern, text, sizeof text, GBX_GLOB_EXACT, &why));
    assert_null(why);
}

/* What is made for a call that the rules ask about; "" if nothing is. */
static void make_rule(const char *rules, const char *tool, const char *call,
                      gbx_gate_hint hint, char to[256])
{
    gbx_mcp_config *config = config_of(rules);
    gbx_gate_verdict verdict;
    gbx_view args;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why;
    gbx_buf buf;

    gbx_buf_init(&buf, 256);
    gbx_buf_init(&why, GBX_KIB(1));
    assert_true(gbx_gate_args_open(call, strlen(call), &args, &why));
    verdict = gbx_rules_decide(config->rules, "files", tool, NULL, args, hint);
    assert_int_equal(verdict.action, GBX_GATE_ASK);
    if (!gbx_gate_rule_for(config->rules, &verdict, "files", tool, args, &buf))
        buf.len = 0;
    (void)snprintf(to, 256, "%.*s", (int)buf.len, (char *)buf.data);
    gbx_buf_cleanup(&buf);
    gbx_mcp_config_free(config);
}

static void test_rule_for__fits_the_very_tool(void **state)
{
    gbx_mcp_config *config;
    char rule[256];
    (void)state;

    make_rule("", "a*\\?\"", "{}", GBX_GATE_HINT_OTHER, rule);
    config = config_of(rule);
    assert_int_equal(ask_with(config->rules, "files/a*\\?\" {}", GBX_GATE_HINT_OTHER),
                     ALLOW);
    assert_int_equal(ask_with(config->rules, "files/ab\\?\" {}", GBX_GATE_HINT_OTHER),
                     ASK);
    assert_int_equal(ask_with(config->rules, "web/a*\\?\" {}", GBX_GATE_HINT_OTHER),
                     ASK);
    gbx_mcp_config_free(config);
}

#define ASK_ABOUT "{\"action\":\"ask\",\"tool\":\"w*\",\"reason\":\"x\","
#define ALLOW_W   "{\"action\":\"allow\",\"server\":\"files\",\"tool\":\"w\""

static void test_rule_for__looks_at_what_the_rule_that_asked_looks_at(void **state)
{
    static const struct {
        const char *rules;
        const char *call;
        const char *wanted;
    } rows[] = {
        {ASK_ABOUT "\"args\":{\"path\":\"/srv/**\",\"n\":1}}",
         "{\"path\":\"/srv/x\",\"n\":1}",
         ALLOW_W ",\"args\":{\"path\":\"/srv/**\",\"n\":1}}"},
        {ASK_ABOUT "\"readOnly\":false}", "{}", ALLOW_W ",\"readOnly\":false}"},
        {ASK_ABOUT "\"readOnly\":false,\"args\":{\"a\":[\"x\",\"y\"]}}",
         "{\"a\":\"y\"}",
         ALLOW_W ",\"args\":{\"a\":[\"x\",\"y\"]},\"readOnly\":false}"},
        {ASK_ABOUT "\"server\":\"*\"}", "{}", ALLOW_W "}"},
        {ASK_ABOUT "\"args\":{\"n\":19.99}}", "{\"n\":19.99}",
         ALLOW_W ",\"args\":{\"n\":19.99}}"},
        /* What only may be meant is not allowed by what allows. */
        {ASK_ABOUT "\"args\":{\"path\":\"/srv/**\"}}", "{\"path\":\"/SRV/x\"}", ""},
        {ASK_ABOUT "\"args\":{\"n\":1}}", "{\"n\":\"1\"}", ""},
    };
    char rule[256];
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        make_rule(rows[i].rules, "w", rows[i].call, GBX_GATE_HINT_OTHER, rule);
        assert_string_equal(rule, rows[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules__the_first_that_fits_decides),
        cmocka_unit_test(test_paths__are_fitted_by_their_plain_form_alone),
        cmocka_unit_test(test_urls__are_fitted_by_their_plain_form_alone),
        cmocka_unit_test(test_types__cannot_be_played_with),
        cmocka_unit_test(test_members__are_what_every_parser_finds),
        cmocka_unit_test(test_hint__is_asked_for_where_it_matters_alone),
        cmocka_unit_test(test_other_name__of_a_call_is_denied_but_not_allowed),
        cmocka_unit_test(test_lists__are_looked_at_in_bounds),
        cmocka_unit_test(test_globs__that_are_all_stars_end),
        cmocka_unit_test(test_rule_for__fits_the_very_tool),
        cmocka_unit_test(test_rule_for__looks_at_what_the_rule_that_asked_looks_at),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
