/* SPDX-License-Identifier: MIT */
/* Servers that answer in a way that nobody foresaw, or not at all: no call waits longer for
 * them than it must. */
#include "servers.h"
#include "test.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/rules/rules.h"
#include "mcp/upstream/servers.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- eras ----------------------------------------------------------------- */

TEST(era__refused_about_nobody_knows_what_is_refused)
{
    bad_start(*state, "modern refuses-nobody");
    bad_expect(*state, "starts", "1");
}

TEST(start__that_takes_too_long_is_told_with_the_last_words)
{
    servers *s = *state;

    servers_add_bad(s, "bad", "mute")->start_ms = 4000;
    servers_start(s);
    bad_expect_fault(
        s, "echo", GBX_UPSTREAM_START,
        "it was not ready after 4000 ms (startMs); its last words: waiting for a login");
}

TEST(era__is_asked_again_if_the_answer_was_lost_behind_a_banner)
{
    static const char *const words[] = {"banner", "banner modern",
                                        "banner={\"v\": modern",
                                        "banner dies-on-probe"};
    servers *s = *state;

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        servers_add_bad(s, words[i], words[i])->start_ms = 9000;
    servers_start(s);
    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        servers_expect(s, words[i], "echo", "{}", "{}");
    servers_expect(s, "banner", "starts", "{}", "1");
}

/* ---- answers -------------------------------------------------------------- */

TEST(answer__behind_other_text_is_read)
{
    servers *s = *state;

    bad_start(s, "");
    bad_expect(s, "behind", "done");
    assert_non_null(strstr(s->last_log, "before an answer was dropped: working... "));
}

/* What is as long and no answer is not worth the work. */
TEST(answer__of_another_encoding_is_read_when_it_is_long)
{
    servers *s = *state;

    bad_start(s, "");
    bad_expect(s, "latin-long", "caf\xEF\xBF\xBD");
    assert_int_equal(s->log_lines, 1);
    assert_non_null(strstr(s->last_log, "a line was dropped: it is not JSON"));
}

TEST(answer__that_cannot_be_read_ends_its_call_and_no_other)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer late;

    servers_add_bad(s, "bad", "")->timeout_ms = 20000;
    servers_start(s);
    (void)servers_begin(s, "bad", "late", "{\"ms\":3000}", &late);
    bad_expect_fault(s, "nan", GBX_UPSTREAM_PROTOCOL, "it is not JSON");
    bad_expect_fault(s, "nul", GBX_UPSTREAM_PROTOCOL, "at byte 0");
    bad_expect_fault(s, "deep", GBX_UPSTREAM_PROTOCOL, "nested too deep");
    bad_expect_fault(s, "broken-line", GBX_UPSTREAM_PROTOCOL, "it is not JSON");
    bad_expect_fault(s, "neither", GBX_UPSTREAM_PROTOCOL, "a result or an error");
    bad_expect_fault(s, "long-head", GBX_UPSTREAM_PROTOCOL, "longer than 32 MiB");
    bad_expect_fault(s, "long-end", GBX_UPSTREAM_PROTOCOL, "longer than 32 MiB");
    servers_wait(s, &late);
    assert_int_equal(late.fault, GBX_UPSTREAM_OK);
}

TEST(refusal__is_told_with_what_the_server_adds_to_it)
{
    static const char *const rows[][2] = {
        {"{\"message\":\"bad\",\"data\":{\"field\":\"x\"}}",
         "bad (error -32602): {\"field\":\"x\"}"},
        {"{\"message\":\"bad\",\"data\":\"\\\"x\\\" is none\"}",
         "bad (error -32602): \"x\" is none"},
        {"{\"message\":\"\",\"data\":\"x\"}", "x (error -32602)"},
        {"{\"message\":\"bad\",\"data\":null}", "bad (error -32602)"},
        {"{\"message\":\"\\u0000bad\\u0000args\"}", " bad args (error -32602)"},
        {"{\"message\":\"bad\",\"data\":\"\"}", "bad (error -32602)"},
        {"{}", "no reason was given (error -32602)"},
    };
    servers *s = *state;
    answer a;

    bad_start(s, "");
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        servers_call(s, "bad", "refuse-with", rows[i][0], &a);
        assert_int_equal(a.fault, GBX_UPSTREAM_REFUSED);
        assert_int_equal(a.code, -32602);
        assert_string_equal(a.message, rows[i][1]);
    }
}

/* Cut after it was looked through, at both ends of what is shown. */
TEST(refusal__shows_no_half_of_a_secret)
{
    static const char value[] = "t0ken-of-the-test";
    gbx_gate_rules rules = {.secrets = gbx_policy_new()};
    servers *s = *state;
    char args[4096];
    answer a;

    assert_int_equal(gbx_policy_secret(rules.secrets, "KEY", value, NULL, "bad", NULL),
                     GBX_OK);
    s->config.rules = &rules;
    bad_start(s, "");
    for (int before = 490; before < 520; before++) {
        (void)snprintf(args, sizeof args,
                       "{\"message\":\"bad\",\"data\":\"%0*d%s%01000d%s%0*d\"}", before,
                       0, value, 0, value, before, 0);
        servers_call(s, "bad", "refuse-with", args, &a);
        assert_null(strstr(a.message, "t0"));
        assert_null(strstr(a.message, "est"));
        assert_in_range(strlen(a.message), 1024, 1100);
    }
    gbx_policy_free(rules.secrets);
}

/* ---- lists ---------------------------------------------------------------- */

/* Calls go by what it says of its tools; it has said that this is not true any more. */
static void lose_lists(servers *s, const char *words)
{
    servers_add_bad(s, "bad", words)->timeout_ms = 2000;
    servers_start(s);
    bad_expect(s, "change", "changed");
    servers_turn(s, 400);
    s->hint = GBX_GATE_HINT_OTHER;
}

TEST(list__that_does_not_come_is_asked_for_once_more)
{
    servers *s = *state;

    lose_lists(s, "loses=1");
    bad_expect(s, "lists", "3");
    bad_expect(s, "new-tool", "{}");
    s->hint = GBX_GATE_HINT_UNKNOWN;
    bad_expect(s, "cancelled", "[\"the list has taken too long\"]");
}

TEST(list__that_does_not_come_twice_is_the_end_of_the_process)
{
    servers *s = *state;
    answer a;

    lose_lists(s, "loses=1000");
    servers_call(s, "bad", "lists", "{}", &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_TIMEOUT);
    assert_true(a.is_retryable); /* it was never sent */
    answer_cleanup(&a);
    servers_turn(s, 500);
    bad_expect(s, "lists", "1");
}

TEST(list__that_is_none_ends_no_call_in_flight)
{
    servers *s = *state;
    answer late;

    bad_start(s, "no-second-list");
    (void)servers_begin(s, "bad", "late", "{\"ms\":1500}", &late);
    bad_expect(s, "change", "changed");
    servers_wait(s, &late);
    assert_int_equal(late.fault, GBX_UPSTREAM_OK);
    answer_cleanup(&late);
    assert_non_null(strstr(s->last_log, "list of tools is not valid"));
    s->hint = GBX_GATE_HINT_OTHER; /* goes by the list: it is read once more */
    bad_expect(s, "new-tool", "{}");
}

TEST(list__is_there_but_for_a_tool_that_makes_it_too_long)
{
    servers *s = *state;

    bad_start(s, "huge");
    bad_expect(s, "echo", "{}");
    assert_string_equal(gbx_upstreams_info(s->all, &s->list[0]).left_out_why,
                        "1 left out: 1 with which the list is longer than 16 MiB");
}

/* ---- input ---------------------------------------------------------------- */

/* What was asked before that is answered; what comes later has not begun, and is begun on
 * another, though nothing says that it may be done twice. */
TEST(input__that_is_closed_is_the_end_of_the_process_but_for_its_calls)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer late;

    servers_add_bad(s, "bad", "")->timeout_ms = 5000;
    servers_start(s);
    bad_expect(s, "echo", "{}");
    (void)servers_begin(s, "bad", "late", "{\"ms\":3000}", &late);
    bad_expect(s, "close-input", "closed");
    bad_expect(s, "echo", "{}");
    assert_false(late.is_there);
    servers_wait(s, &late);

    assert_int_equal(late.fault, GBX_UPSTREAM_OK);
}

/* ---- starts --------------------------------------------------------------- */

static void on_learnt(void *user, const gbx_upstream_reply *reply)
{
    (void)user;
    (void)reply;
}

static void expect_starting(const servers *s, const char *wanted)
{
    char starting[SERVERS_MAX + 1] = "";

    for (size_t i = 0; i < s->config.server_count; i++)
        (void)strcat(starting, gbx_upstreams_info(s->all, &s->list[i]).state ==
                                       GBX_UPSTREAM_STARTING
                                   ? "x"
                                   : "-");
    assert_string_equal(starting, wanted);
}

static void learn_all(servers *s)
{
    for (size_t i = 0; i < s->config.server_count; i++)
        assert_true(gbx_upstream_learn(s->all, &s->list[i], on_learnt, NULL));
}

TEST(starts__are_in_turn_but_for_what_is_called)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    servers *s = *state;
    gbx_upstream_call *call;
    GBX_CLEANUP(answer_cleanup) answer called;

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        servers_add_command(s, names[i], "sleep", "60")->start_ms = 60000;
    servers_start(s);
    s->all->starts_at_once = 2;
    learn_all(s);
    servers_turn(s, 700);
    expect_starting(s, "xx---");
    call = servers_begin(s, "d", "echo", "{}", &called);
    expect_starting(s, "xx-x-");
    servers_turn(s, 5000);
    expect_starting(s, "xxxxx");
    gbx_upstream_cancel(call);
    servers_wait(s, &called);
}

/* Nobody waits for what has ended. */
TEST(starts__go_on_when_others_have_ended)
{
    servers *s = *state;

    (void)servers_add_command(s, "a", "false", "");
    servers_add_command(s, "b", "sleep", "60")->start_ms = 60000;
    servers_start(s);
    s->all->starts_at_once = 1;
    learn_all(s);
    expect_starting(s, "x-");
    servers_turn(s, 2000);
    expect_starting(s, "-x");
}

TEST_MAIN_EACH(servers_set_up, servers_tear_down)
