/* SPDX-License-Identifier: MIT */
/* Servers that crash, hang, spin and will not go: what their callers see of it, and that
 * others see nothing. */
#include "servers.h"
#include "test.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "marked.h"
#include "until.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- crashes -------------------------------------------------------------- */

TEST(another_try__is_for_what_has_done_no_harm_yet)
{
    static const struct {
        const char *server;
        const char *tool;
        gbx_upstream_fault fault;
        bool is_retryable;
    } rows[] = {
        {"bad", "crash", GBX_UPSTREAM_EXIT, false},
        {"bad", "crash-safe", GBX_UPSTREAM_EXIT, true},
        {"slow", "hang", GBX_UPSTREAM_TIMEOUT, false},
        {"slow", "hang-safe", GBX_UPSTREAM_TIMEOUT, true},
        {"bad", "refuse", GBX_UPSTREAM_REFUSED, false},
        {"dead", "echo", GBX_UPSTREAM_START, true},
        {"gone", "echo", GBX_UPSTREAM_START, false},
        {"gone", "echo", GBX_UPSTREAM_START, false},
        {"forbidden", "echo", GBX_UPSTREAM_START, false},
        {"nowhere", "echo", GBX_UPSTREAM_START, false},
    };
    servers *s = *state;

    (void)servers_add_bad(s, "bad", "");
    servers_add_bad(s, "slow", "")->timeout_ms = 300;
    (void)servers_add_bad(s, "dead", "crashes-at-start");
    (void)servers_add_command(s, "gone", "/no/such/command", "");
    (void)servers_add_command(s, "forbidden", "/etc/passwd", "");
    servers_add_bad(s, "nowhere", "")->cwd = (char[]){"/no/such/folder"};
    servers_start(s);
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        GBX_CLEANUP(answer_cleanup) answer a;

        servers_call(s, rows[i].server, rows[i].tool, "{}", &a);
        assert_int_equal(a.fault, rows[i].fault);
        assert_int_equal(a.is_retryable, rows[i].is_retryable);
    }
}

TEST(crash__ends_all_calls_of_the_process)
{
    servers *s = *state;
    answer a;
    answer b;

    bad_start(s, "");
    bad_expect(s, "echo", "{}");
    (void)servers_begin(s, "bad", "hang", "{}", &a);
    (void)servers_begin(s, "bad", "crash", "{}", &b);
    servers_wait(s, &a);
    servers_wait(s, &b);
    assert_int_equal(a.fault, GBX_UPSTREAM_EXIT);
    assert_int_equal(b.fault, GBX_UPSTREAM_EXIT);
}

TEST(circuit__opens_after_five_failures_and_says_so)
{
    servers *s = *state;

    bad_start(s, "crashes-at-start");
    for (int i = 0; i < 5; i++)
        bad_expect_fault(s, "echo", GBX_UPSTREAM_START, "cannot open the database");
    bad_expect_fault(s, "echo", GBX_UPSTREAM_OPEN, "left alone");
    assert_int_equal(gbx_upstreams_info(s->all, &s->list[0]).state,
                     GBX_UPSTREAM_BROKEN);
    assert_in_range(gbx_upstreams_info(s->all, &s->list[0]).retry_ms, 20000, 30001);
    assert_non_null(strstr(gbx_upstreams_info(s->all, &s->list[0]).fault, "status 9"));
}

TEST(retry__takes_no_place_of_calls_however_often_it_is_asked_for)
{
    servers *s = *state;

    servers_add_bad(s, "bad", "mute")->start_ms = 500;
    servers_start(s);
    for (int i = 0; i < 2000; i++)
        gbx_upstream_retry(s->all, &s->list[0]);
    assert_int_equal(gbx_upstreams_info(s->all, &s->list[0]).state,
                     GBX_UPSTREAM_STARTING);
    assert_int_equal(gbx_upstreams_info(s->all, &s->list[0]).retry_ms, 0);
    bad_expect_fault(s, "echo", GBX_UPSTREAM_START, "not ready after 500 ms");
}

TEST(broken__server_does_not_stop_the_others)
{
    gbx_upstream_call *call;
    servers *s = *state;
    answer mute;

    (void)servers_add_bad(s, "mute", "mute");
    (void)servers_add_bad(s, "crashing", "crashes-at-start");
    (void)servers_add_bad(s, "bad", "");
    servers_start(s);
    call = servers_begin(s, "mute", "echo", "{}", &mute);
    servers_expect_fault(s, "crashing", "echo", "{}", GBX_UPSTREAM_START, "database");
    bad_expect(s, "echo", "{}");

    assert_false(mute.is_there);
    assert_int_equal(gbx_upstreams_info(s->all, &s->list[0]).state,
                     GBX_UPSTREAM_STARTING);
    gbx_upstream_cancel(call);
    servers_wait(s, &mute);
}

/* ---- hangs ---------------------------------------------------------------- */

TEST(hang__ends_with_its_time_and_the_server_is_told)
{
    servers *s = *state;

    servers_add_bad(s, "bad", "")->timeout_ms = 2000;
    servers_start(s);
    bad_expect_fault(s, "hang", GBX_UPSTREAM_TIMEOUT, "no answer after 2000 ms");
    bad_expect(s, "cancelled", "[\"the call has taken too long\"]");
}

TEST(hang__of_the_whole_server_is_its_end)
{
    servers *s = *state;
    char before[32];
    char after[32];
    answer a;

    servers_add_bad(s, "bad", "")->timeout_ms = 2000;
    servers_start(s);
    servers_call(s, "bad", "pid", "{}", &a);
    answer_text(&a, before, sizeof before);
    answer_cleanup(&a);
    bad_expect_fault(s, "spin", GBX_UPSTREAM_TIMEOUT, "2000 ms");
    while (gbx_upstreams_info(s->all, &s->list[0]).state == GBX_UPSTREAM_READY)
        servers_turn(s, 100);
    servers_call(s, "bad", "env", "{}", &a);
    answer_text(&a, after, sizeof after);

    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    answer_cleanup(&a);
}

/* Though nothing says that they may be done twice. */
TEST(hang__takes_no_calls_along_that_come_while_it_is_found_out)
{
    servers *s = *state;

    servers_add_bad(s, "bad", "")->timeout_ms = 3000;
    servers_start(s);
    bad_expect(s, "echo", "{}");
    bad_expect_fault(s, "spin", GBX_UPSTREAM_TIMEOUT, "3000 ms");
    bad_expect(s, "starts", "2");
}

TEST(cancel__is_told_to_the_server_and_once_to_the_caller)
{
    servers *s = *state;
    gbx_upstream_call *call;
    answer a;

    bad_start(s, "");
    bad_expect(s, "echo", "{}");
    call = servers_begin(s, "bad", "hang", "{}", &a);
    gbx_upstream_cancel(call);
    assert_false(a.is_there);
    servers_wait(s, &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_CANCELLED);
    bad_expect(s, "cancelled", "[\"the caller has cancelled it\"]");
}

TEST(cancel__before_the_server_runs)
{
    servers *s = *state;
    answer a;

    bad_start(s, "");
    gbx_upstream_cancel(servers_begin(s, "bad", "echo", "{}", &a));
    servers_wait(s, &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_CANCELLED);
}

/* ---- many at once --------------------------------------------------------- */

#define MANY 40

TEST(many__calls_wait_in_line)
{
    servers *s = *state;
    answer answers[MANY];
    char args[MANY][32];
    char text[32];

    servers_add_bad(s, "bad", "")->calls_at_once = 3;
    s->config.settings.calls_at_once = 2;
    servers_start(s);
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(args[i], sizeof args[i], "{\"n\":%d}", i);
        (void)servers_begin(s, "bad", "echo", args[i], &answers[i]);
    }
    for (int i = 0; i < MANY; i++) {
        servers_wait(s, &answers[i]);
        answer_text(&answers[i], text, sizeof text);
        assert_string_equal(text, args[i]);
        answer_cleanup(&answers[i]);
    }
}

TEST(many__are_no_more_at_once_than_allowed)
{
    servers *s = *state;
    answer answers[4];
    int64_t start_ns;

    servers_add_bad(s, "bad", "")->calls_at_once = 2;
    servers_start(s);
    servers_expect(s, "bad", "echo", "{}", "{}");
    start_ns = gbx_clock_now_ns();
    for (int i = 0; i < 4; i++)
        (void)servers_begin(s, "bad", "late", "{\"ms\":200}", &answers[i]);
    for (int i = 0; i < 4; i++) {
        servers_wait(s, &answers[i]);
        answer_cleanup(&answers[i]);
    }
    assert_true(gbx_clock_now_ns() - start_ns >= 390 * GBX_NS_PER_MS);
}

/* Together they take longer than one of them may. */
TEST(many__have_their_time_from_when_they_are_sent)
{
    servers *s = *state;
    gbx_mcp_upstream_config *config = servers_add_bad(s, "bad", "");
    answer answers[4];

    config->calls_at_once = 1;
    config->timeout_ms = 3500;
    servers_start(s);
    for (int i = 0; i < 4; i++)
        (void)servers_begin(s, "bad", "late", "{\"ms\":1000}", &answers[i]);
    for (int i = 0; i < 4; i++) {
        servers_wait(s, &answers[i]);
        assert_int_equal(answers[i].fault, GBX_UPSTREAM_OK);
        answer_cleanup(&answers[i]);
    }
}

TEST(many__without_end_are_refused)
{
    servers *s = *state;
    answer *answers = calloc(5100, sizeof *answers);
    unsigned busy = 0;

    assert_non_null(answers);
    servers_add_bad(s, "bad", "")->calls_at_once = 64;
    servers_start(s);
    for (int i = 0; i < 5100; i++)
        (void)servers_begin(s, "bad", "echo", "{}", &answers[i]);
    for (int i = 0; i < 5100; i++) {
        servers_wait(s, &answers[i]);
        busy += answers[i].fault == GBX_UPSTREAM_BUSY;
        answer_cleanup(&answers[i]);
    }
    assert_int_equal(busy, 100);
    free(answers);
}

TEST(pool__spreads_calls_over_its_processes)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer slow;
    answer a;

    servers_add_bad(s, "bad", "")->processes = 2;
    servers_start(s);
    servers_expect(s, "bad", "echo", "{}", "{}");
    (void)servers_begin(s, "bad", "late", "{\"ms\":3000}", &slow);
    servers_turn(s, 1500); /* the second has come up meanwhile */
    servers_call(s, "bad", "kill", "{}", &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_EXIT);
    servers_wait(s, &slow);

    assert_int_equal(slow.fault, GBX_UPSTREAM_OK);
}

/* ---- ends ----------------------------------------------------------------- */

TEST(idle__server_is_stopped_and_started_again)
{
    servers *s = *state;

    servers_add_bad(s, "bad", "")->idle_ms = 200;
    servers_start(s);
    bad_expect(s, "echo", "{}");
    while (gbx_upstreams_info(s->all, &s->list[0]).state != GBX_UPSTREAM_STOPPED)
        servers_turn(s, 50);
    for (int i = 0; i < 1000 && marked_count(s->mark) > 0; i++)
        servers_turn(s, 20);
    assert_int_equal(marked_count(s->mark), 0);
    assert_non_null(gbx_upstreams_info(s->all, &s->list[0]).tools.at);
    bad_expect(s, "echo", "{}");
}

TEST(end__of_all_takes_the_most_stubborn_along_soon)
{
    servers *s = *state;
    int64_t start_ns;
    answer a;
    answer b;

    (void)servers_add_bad(s, "bad", "stubborn");
    (void)servers_add_bad(s, "worse", "stubborn");
    servers_start(s);
    bad_expect(s, "echo", "{}");
    servers_expect(s, "worse", "echo", "{}", "{}");
    (void)servers_begin(s, "bad", "hang", "{}", &a);
    (void)servers_begin(s, "worse", "spin", "{}", &b);
    servers_turn(s, 50);
    start_ns = gbx_clock_now_ns();
    gbx_upstreams_free(s->all);
    s->all = NULL;

    assert_true(gbx_clock_now_ns() - start_ns < 10000 * GBX_NS_PER_MS);
    assert_int_equal(marked_count(s->mark), 0);
    assert_true(a.is_there && b.is_there);
    assert_int_equal(a.fault, GBX_UPSTREAM_CANCELLED);
}

/* We are killed in the middle of a call: soon nothing of the server is left. */
static void kill_in_a_call(servers *s, const char *words)
{
    pid_t owner = fork();
    answer a;

    assert_true(owner >= 0);
    if (owner == 0) {
        bad_start(s, words);
        (void)servers_begin(s, "bad", "hang", "{}", &a);
        servers_turn(s, 60000);
        _exit(1);
    }
    s->mark[strlen(s->mark)] = '=';
    assert_true(until(marked_some, s->mark, 60000));
    (void)usleep(800000); /* it is in the call, or will never be */
    (void)kill(owner, SIGKILL);
    assert_int_equal(waitpid(owner, NULL, 0), owner);

    assert_true(until(marked_none, s->mark, 10000));
}

TEST(orphans__there_are_none_after_sigkill)
{
    kill_in_a_call(*state, "");
}

TEST(orphans__there_are_none_of_the_most_stubborn)
{
    kill_in_a_call(*state, "stubborn");
}

/* ---- tools that become others --------------------------------------------- */

static const char another[] = "another thing of this tool";

TEST(trust__ends_with_the_word_that_tools_have_changed)
{
    servers *s = *state;

    bad_start(s, "");
    s->hint = GBX_GATE_HINT_READS;
    bad_expect(s, "turns", "turned"); /* and said before that: its tools are others */
    bad_expect_fault(s, "turns", GBX_UPSTREAM_CHANGED, another);
    s->hint = GBX_GATE_HINT_OTHER;
    bad_expect(s, "turns", "turned");
    s->hint = GBX_GATE_HINT_UNKNOWN;
    bad_expect(s, "turns", "turned");
}

TEST(trust__is_not_carried_over_to_another_process)
{
    servers *s = *state;

    bad_start(s, "");
    s->hint = GBX_GATE_HINT_READS;
    bad_expect(s, "reads-at-first", "read");
    s->hint = GBX_GATE_HINT_UNKNOWN;
    bad_expect_fault(s, "crash", GBX_UPSTREAM_EXIT, "status 7");
    s->hint = GBX_GATE_HINT_READS;
    bad_expect_fault(s, "reads-at-first", GBX_UPSTREAM_CHANGED, another);
    s->hint = GBX_GATE_HINT_OTHER;
    bad_expect(s, "reads-at-first", "read");
}

/* It says with each of its answers that its tools have changed. */
TEST(trust__waits_for_one_list_and_not_for_ever)
{
    servers *s = *state;

    bad_start(s, "");
    for (int i = 0; i < 5; i++) {
        s->hint = GBX_GATE_HINT_UNKNOWN;
        bad_expect(s, "changes", "changed");
        s->hint = GBX_GATE_HINT_OTHER;
        bad_expect(s, "changes", "changed");
    }
}

TEST_MAIN_EACH(servers_set_up, servers_tear_down)
