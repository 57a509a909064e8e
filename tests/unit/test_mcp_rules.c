/* SPDX-License-Identifier: MIT */
/* mcp_rules - what calls a rule fits, and every way that was thought of to pass one by. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "mcp/rules/rules.h"
#include "rule_rows.h"
#include "test.h"

#define DENY_ETC \
    "{\"action\":\"deny\",\"args\":{\"path\":\"/etc/**\"}},{\"action\":\"allow\"}"

TEST(calls__are_decided_as_the_table_says)
{
    check_rules("unit/mcp/rules.txt", 37);
    check_decided(DENY_ETC, "files/r {\"path\":\"/etc/\xC0\xAF\"}", "malformed");
    check_decided(DENY_ETC, "files/r  ", "malformed");
}

TEST(hint__is_asked_for_where_it_matters_alone)
{
    gbx_mcp_config *config = config_of("{\"action\":\"allow\",\"tool\":\"a\"},"
                                       "{\"action\":\"deny\",\"readOnly\":false}");
    gbx_view args = {"{}", 2};
    gbx_gate_verdict verdict;

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

TEST(other_name__of_a_call_is_denied_but_not_allowed)
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

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
        assert_int_equal(decide_called(rows[i].rules, "deleteRepo", "delete_repo"),
                         rows[i].wanted);
}

/* Many texts, each as long as one may be: a rule that looks at all of them would hold up
 * everybody for seconds. */
TEST(lists__are_looked_at_in_bounds)
{
    static const struct {
        const char *rule;
        size_t texts;
        const char *wanted;
    } rows[] = {
        {"{\"action\":\"deny\",\"args\":{\"a[]\":\"*y\"}}", 60, "ask"},
        {"{\"action\":\"deny\",\"args\":{\"a[]\":\"*y\"}}", 70, "fault"},
        {"{\"action\":\"deny\",\"args\":{\"a[]\":[\"*y\",\"*z\"]}}", 40, "fault"},
        {"{\"action\":\"allow\",\"args\":{\"a[]\":\"x*\"}}", 70, "fault"},
        {"{\"action\":\"allow\",\"args\":{\"a[]\":\"*\"}}", 240, "allow"},
    };
    static char text[64000];

    memset(text, 'x', sizeof text - 1);
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_config *config = config_of(rows[i].rule);
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf call;

        gbx_buf_init(&call, GBX_MIB(16));
        (void)gbx_buf_puts(&call, "files/r {\"a\":[");
        for (size_t k = 0; k < rows[i].texts; k++)
            (void)gbx_buf_printf(&call, "%s\"%s\"", k > 0 ? "," : "", text);
        assert_true(gbx_buf_append(&call, "]}", 3));
        assert_string_equal(decided(config->rules, (const char *)call.data),
                            rows[i].wanted);
        gbx_mcp_config_free(config);
    }
}

/* The time is that of the pattern times the text, not more. */
TEST(globs__that_are_all_stars_end)
{
    char pattern[] = "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b";
    char text[5000];
    const char *why;

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
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

    gbx_buf_init(&buf, 256);
    gbx_buf_init(&why, GBX_KIB(1));
    assert_true(gbx_gate_args_open(call, strlen(call), &args, &why));
    verdict = gbx_rules_decide(config->rules, "files", tool, NULL, args, hint);
    assert_int_equal(verdict.action, GBX_GATE_ASK);
    if (!gbx_gate_rule_for(config->rules, &verdict, "files", tool, args, &buf))
        buf.len = 0;
    (void)snprintf(to, 256, "%.*s", (int)buf.len, (char *)buf.data);
    gbx_mcp_config_free(config);
}

TEST(rule_for__fits_the_very_tool)
{
    gbx_mcp_config *config;
    char rule[256];

    make_rule("", "a*\\?\"", "{}", GBX_GATE_HINT_OTHER, rule);
    config = config_of(rule);
    assert_string_equal(decided(config->rules, "files/a*\\?\" {}"), "allow");
    assert_string_equal(decided(config->rules, "files/ab\\?\" {}"), "ask");
    assert_string_equal(decided(config->rules, "web/a*\\?\" {}"), "ask");
    gbx_mcp_config_free(config);
}

#define ASK_ABOUT "{\"action\":\"ask\",\"tool\":\"w*\",\"reason\":\"x\","
#define ALLOW_W   "{\"action\":\"allow\",\"server\":\"files\",\"tool\":\"w\""

TEST(rule_for__looks_at_what_the_rule_that_asked_looks_at)
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

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        make_rule(rows[i].rules, "w", rows[i].call, GBX_GATE_HINT_OTHER, rule);
        assert_string_equal(rule, rows[i].wanted);
    }
}

TEST_MAIN(NULL, NULL)
