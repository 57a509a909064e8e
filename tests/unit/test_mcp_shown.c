/* SPDX-License-Identifier: MIT */
/* mcp_shown - what a person is shown of a call, and what can be answered to that. */
#include "mcp_stage.h"
#include "test.h"

#include "base/cleanup.h"

TEST(question__shows_tool_server_line_and_arguments)
{
    gbx_mcp_request p = person(ONCE);

    open_gate("\"rules\": [{\"action\": \"ask\", \"reason\": \"it costs\"}]");
    assert_string_equal(
        call(&p, "write_file", "{\"path\":\"/x\\u202ey\\u001b[2J\"}", "r-1").code, "");

    assert_non_null(strstr(p.message, "tool write_file of the server files"));
    assert_non_null(strstr(p.message, "Line 7 of the script"));
    assert_non_null(strstr(p.message, "Rule 1 asks: it costs"));
    assert_non_null(strstr(p.message, "\"path\": \"/x"));
    assert_null(strstr(p.message, "\xE2\x80\xAE"));
    assert_null(strchr(p.message, '\x1b'));
    assert_non_null(strstr(p.schema, "\"always allow\""));
    close_gate();
}

TEST(question__shows_what_cannot_be_seen)
{
    gbx_mcp_request p = person(ONCE);

    open_gate("");
    (void)call(&p, "plain", "{\"path\":\"/a\\u00adb\\u3164c\\u2800d\\ufe0fe\"}", "");
    assert_non_null(strstr(p.message, "/a\\u{ad}b\\u{3164}c\\u{2800}d\\u{fe0f}e"));
    close_gate();
}

TEST(question__shows_the_numbers_that_are_sent)
{
    gbx_mcp_request p = person(ONCE);

    open_gate("");
    (void)call(&p, "plain", "{\"amount\":19.99,\"tax\":0.1,\"n\":[0.7]}", "");
    assert_non_null(strstr(p.message, "\"amount\": 19.99,"));
    assert_non_null(strstr(p.message, "\"tax\": 0.1,"));
    assert_non_null(strstr(p.message, " 0.7\n"));
    close_gate();
}

/* Everything that a call is about stands behind what is long. */
TEST(question__names_every_argument_however_long_one_is)
{
    gbx_mcp_request p = person(SESSION);
    char args[9000];

    open_gate("");
    (void)snprintf(
        args, sizeof args,
        "{\"content\":\"begin%05000dend\",\"path\":\"/home/you/.ssh/config\"}", 0);
    (void)call(&p, "plain", args, "");
    assert_non_null(strstr(p.message, "\"path\": \"/home/you/.ssh/config\""));
    assert_non_null(strstr(p.message, "\"content\": \"begin000"));
    assert_non_null(strstr(p.message, " bytes ...] 000"));
    assert_non_null(strstr(p.message, "000end\""));
    close_gate();
}

TEST(question__shows_what_is_short_as_it_is)
{
    gbx_mcp_request p = person(SESSION);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf args;

    open_gate("");
    gbx_buf_init(&args, GBX_KIB(8));
    (void)gbx_buf_printf(&args, "{\"n\":0.1,\"no\":[],\"none\":{},\"t\":\"%02000de\"",
                         0);
    (void)gbx_buf_puts(&args, ",\"a\\u0062\":[{\"q\":\"\\u0022\"}");
    for (int i = 0; i < 100; i++)
        (void)gbx_buf_puts(&args, ",1");
    assert_true(gbx_buf_append(&args, "]}", 3));
    (void)call(&p, "plain", (const char *)args.data, "");
    assert_non_null(
        strstr(p.message,
               "{\n  \"n\": 0.1,\n  \"no\": [],\n  \"none\": {},\n  \"t\": "));
    assert_non_null(
        strstr(p.message, "\"ab\": [\n    {\n      \"q\": \"\\\"\"\n    },"));
    assert_null(strstr(p.message, "more ...]"));
    assert_null(strstr(p.message, "bytes ...]"));
    assert_non_null(strstr(p.message, "    1\n  ]\n}"));
    assert_non_null(strstr(p.schema, "allow for this session"));
    close_gate();
}

TEST(question__shows_the_begin_of_a_long_list_and_what_comes_after)
{
    gbx_mcp_request p = person(SESSION);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf args;

    open_gate("");
    gbx_buf_init(&args, GBX_KIB(256));
    (void)gbx_buf_puts(&args, "{\"rows\":[{\"n\":0}");
    for (int i = 1; i < 2000; i++)
        (void)gbx_buf_printf(&args, ",{\"n\":%d}", i);
    (void)gbx_buf_puts(&args, "],\"wide\":{\"m0\":0");
    for (int i = 1; i < 2000; i++)
        (void)gbx_buf_printf(&args, ",\"m%d\":0", i);
    assert_true(gbx_buf_append(&args, "},\"table\":\"orders\"}", 20));
    (void)call(&p, "plain", (const char *)args.data, "");
    assert_non_null(strstr(p.message, "\"n\": 0"));
    assert_non_null(strstr(p.message, "\"m0\": 0"));
    assert_non_null(strstr(p.message, " more ...]\""));
    assert_non_null(strstr(p.message, "\"table\": \"orders\""));
    close_gate();
}

/* What is left out may be what the call is about. */
TEST(question__that_leaves_a_part_out_is_about_one_call)
{
    static const char *const answers[] = {SAME, RUN, SESSION, ALWAYS};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf names;
    char text[9000];

    gbx_buf_init(&names, GBX_KIB(64));
    (void)gbx_buf_puts(&names, "{\"a0\":0");
    for (int i = 1; i < 1000; i++)
        (void)gbx_buf_printf(&names, ",\"a%d\":0", i);
    assert_true(gbx_buf_append(&names, "}", 2));
    (void)snprintf(text, sizeof text, "{\"path\":\"/tmp/%03500d\"}", 0);
    for (size_t i = 0; i < 2 * GBX_COUNTOF(answers); i++) {
        gbx_mcp_request p = person(answers[i / 2]);
        const char *args = i % 2 == 0 ? text : (const char *)names.data;

        open_gate("");
        assert_string_equal(call(&p, "plain", args, "r-1").code, "DENIED");
        assert_non_null(strstr(p.message, i % 2 == 0
                                              ? " bytes ...] "
                                              : "bytes more that are not shown here"));
        assert_non_null(strstr(p.schema, "\"enum\":[\"deny\",\"allow this call\"]"));
        assert_non_null(strstr(p.message, "not every part of the arguments is shown"));
        close_gate();
    }
}

TEST(question__that_cannot_name_all_arguments_can_be_answered)
{
    gbx_mcp_request p = person(ONCE);
    char args[9000];

    open_gate("");
    (void)snprintf(args, sizeof args, "{\"%05000d\":1}", 0);
    assert_string_equal(call(&p, "plain", args, "r-1").code, "");
    assert_non_null(strstr(p.message, "bytes more that are not shown here"));
    close_gate();
}

/* A client may fill in a default, or the first answer, without asking anybody. */
TEST(form__has_nothing_ready_that_allows)
{
    gbx_mcp_request p = person(ONCE);

    open_gate("");
    (void)call(&p, "plain", "{}", "r-1");
    assert_null(strstr(p.schema, "\"default\""));
    assert_non_null(strstr(p.schema, "\"enum\":[\"deny\","));
    assert_non_null(strstr(p.schema, "\"enumNames\":[\"deny\","));
    close_gate();
}

TEST(form__says_what_each_answer_covers)
{
    static const struct {
        const char *ours;
        const char *run;
        const char *covered[6];
    } rows[] = {
        {"",
         "",
         {"- deny: not this call\n", "- allow this call: this call, once\n",
          "- allow for this session, with any arguments: every call of this tool in this "
          "session that no rule is about\n",
          "- always allow, by the rule shown: every call that this rule allows, of those that "
          "no rule is about, from now on; ",
          ":\n  {\"action\":\"allow\",\"server\":\"files\",\"tool\":\"plain\"}"}},
        {ASK_THEN_DENY,
         "r-1",
         {"- deny: neither this call nor, in this run, another of this tool that rule 1 "
          "asks about\n",
          "- allow for this run, with the same arguments: every call of this tool in this "
          "run with these arguments\n",
          "- allow for this run, with any arguments: every call of this tool in this run "
          "that rule 1 asks about\n",
          "- always allow, by the rule shown: every call that this rule allows, of those that "
          "rule 1 asks about, from now on; arguments that it does not name may be any. It is "
          "kept in ",
          ":\n  {\"action\":\"allow\",\"server\":\"files\",\"tool\":\"plain\",\"args\":"
          "{\"path\":\"/srv/**\"}}"}}};

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_request p = person(ONCE);

        open_gate(rows[i].ours);
        (void)call(&p, "plain", "{\"path\":\"/srv/x\"}", rows[i].run);
        for (size_t k = 0; rows[i].covered[k] != NULL; k++)
            assert_non_null(strstr(p.message, rows[i].covered[k]));
        close_gate();
    }
}

TEST(form__offers_nothing_for_a_run_where_there_is_none)
{
    gbx_mcp_request p = person(RUN);

    open_gate("");
    assert_string_equal(call(&p, "plain", "{}", "").code, "DENIED");
    assert_null(strstr(p.schema, "this run"));
    close_gate();
}

TEST(form__offers_always_where_a_rule_can_say_it)
{
    gbx_mcp_request p = person(ONCE);

    open_gate(ASK_THEN_DENY);
    (void)call(&p, "plain", "{\"path\":\"/srv/x\"}", "");
    assert_non_null(strstr(p.schema, "\"always allow\""));
    p.content = ALWAYS;
    assert_string_equal(call(&p, "plain", "{\"path\":\"/SRV/x\"}", "").code, "DENIED");
    assert_int_equal(p.asked, 2);
    assert_null(strstr(p.schema, "\"always allow\""));
    close_gate();
}

TEST(answer__of_no_kind_that_was_offered_is_no)
{
    static const char *const contents[] = {NULL, "{}", "{\"answer\":true}",
                                           "{\"answer\":\"deny\"}",
                                           "{\"answer\":\"allow\"}"};

    for (size_t i = 0; i < GBX_COUNTOF(contents); i++) {
        gbx_mcp_request p = person(contents[i]);

        open_gate("");
        assert_string_equal(call(&p, "plain", "{}", "").code, "DENIED");
        assert_int_equal(played.started, 0);
        close_gate();
    }
}

/* A form that a client sends back unfilled says nothing of its person. */
TEST(answer__that_was_not_offered_is_nobodys_word_for_the_run)
{
    gbx_mcp_request p = person("{}");
    outcome first;

    open_gate("");
    first = call(&p, "plain", "{}", "r-1");
    assert_non_null(strstr(first.message, "none of the answers that it was offered"));
    p.content = ONCE;
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "");
    assert_int_equal(p.asked, 2);
    close_gate();
}

TEST_MAIN(stage_setup, stage_teardown)
