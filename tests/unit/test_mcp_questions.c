/* SPDX-License-Identifier: MIT */
/* mcp_questions - a person is asked, and what becomes of the answers. */
#include "mcp_stage.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/config/replace.h"
#include "mcp/rules/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- questions ------------------------------------------------------------------------ */

static void test_answer__that_is_no_or_none_denies(void **state)
{
    static const struct {
        gbx_mcp_answer how;
        const char *code;
    } rows[] = {{GBX_MCP_ANSWER_DECLINE, "DENIED"},
                {GBX_MCP_ANSWER_CANCEL, "DENIED"},
                {GBX_MCP_ANSWER_ENDED, "ABORTED"},
                {GBX_MCP_ANSWER_LATE, "NEEDS_APPROVAL"},
                {GBX_MCP_ANSWER_NOBODY, "NEEDS_APPROVAL"}};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_request p = person(ONCE);

        p.how = rows[i].how;
        open_gate("");
        assert_string_equal(call(&p, "plain", "{}", "").code, rows[i].code);
        assert_int_equal(played.started, 0);
        close_gate();
    }
}

static void test_grant__holds_as_long_as_it_was_given_for(void **state)
{
    static const struct {
        const char *answer;
        size_t same_args;
        size_t same_run;
        size_t other_run;
    } rows[] = {{ONCE, 2, 3, 4}, {SAME, 1, 2, 3}, {RUN, 1, 1, 2}, {SESSION, 1, 1, 1}};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_request p = person(rows[i].answer);

        open_gate("");
        (void)call(&p, "plain", "{}", "r-1");
        (void)call(&p, "plain", "{}", "r-1");
        assert_int_equal(p.asked, rows[i].same_args);
        (void)call(&p, "plain", "{\"a\":1}", "r-1");
        assert_int_equal(p.asked, rows[i].same_run);
        (void)call(&p, "plain", "{}", "r-2");
        assert_int_equal(p.asked, rows[i].other_run);
        (void)call(&p, "write_file", "{}", "r-1");
        assert_int_equal(p.asked, rows[i].other_run + 1);
        assert_int_equal(played.started, 5);
        close_gate();
    }
}

static void test_grant__of_always_allows_what_the_shown_rule_allows(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    (void)state;

    open_gate("\"rules\": [{\"action\": \"ask\", \"args\": {\"path\": \"/srv/**\"}}]");
    (void)call(&p, "plain", "{\"path\":\"/srv/x\"}", "");
    (void)call(&p, "plain", "{\"path\":\"/srv/y\"}", "");
    assert_int_equal(p.asked, 1);
    /* The rule that asks is about this too; what allows fits only what is certain. */
    (void)call(&p, "plain", "{\"path\":\"/SRV/x\"}", "");
    assert_int_equal(p.asked, 2);
    close_gate();
}

static void test_grant__is_for_the_rule_that_asked(void **state)
{
    gbx_mcp_request p = person(SESSION);
    (void)state;

    open_gate("\"rules\": [{\"action\": \"deny\", \"args\": {\"n\": 3}},"
              "{\"action\": \"ask\", \"args\": {\"n\": 1}}, {\"action\": \"ask\"}]");
    (void)call(&p, "plain", "{}", "");
    (void)call(&p, "plain", "{\"n\":2}", "");
    assert_int_equal(p.asked, 1);
    (void)call(&p, "plain", "{\"n\":1}", "");
    assert_int_equal(p.asked, 2);
    assert_string_equal(call(&p, "plain", "{\"n\":3}", "").code, "DENIED");
    close_gate();
}

static void test_decline__is_not_asked_again_in_the_run(void **state)
{
    gbx_mcp_request p = person(ONCE);
    (void)state;

    p.how = GBX_MCP_ANSWER_DECLINE;
    open_gate("");
    (void)call(&p, "plain", "{}", "r-1");
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "DENIED");
    assert_int_equal(p.asked, 1);
    (void)call(&p, "plain", "{}", "r-2");
    assert_int_equal(p.asked, 2);
    close_gate();
}

static void test_decline__counts_more_than_what_was_allowed_before(void **state)
{
    gbx_mcp_request p = person(SAME);
    (void)state;

    open_gate("");
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "");
    p.how = GBX_MCP_ANSWER_DECLINE;
    assert_string_equal(call(&p, "plain", "{\"a\":1}", "r-1").code, "DENIED");
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "DENIED");
    assert_int_equal(p.asked, 2);
    close_gate();
}

/* One question at a time; what was answered for the run settles those that wait. */
static void test_questions__of_a_request_wait_for_each_other(void **state)
{
    gbx_mcp_request p = person(ONCE);
    gbx_mcp_request q = person(RUN);
    outcome ones[5] = {{.count = 0}};
    outcome runs[5] = {{.count = 0}};
    (void)state;

    open_gate("");
    for (size_t i = 0; i < 5; i++) {
        (void)start(&ones[i], &p, "plain", "{}", "r-1");
        (void)start(&runs[i], &q, "plain", "{}", "r-2");
    }
    settle();
    assert_int_equal(p.asked, 5);
    assert_int_equal(p.most_open, 1);
    assert_int_equal(q.asked, 1);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(ones[i].count, 1);
        assert_string_equal(ones[i].code, "");
        assert_string_equal(runs[i].code, "");
    }
    assert_int_equal(played.started, 10);
    close_gate();
}

static void test_questions__end_where_nobody_could_read_them(void **state)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;
    (void)state;

    open_gate("");
    for (int i = 0; i < 30; i++)
        assert_string_equal(call(&p, "plain", "{}", "").code, "");
    o = call(&p, "plain", "{}", "");
    assert_string_equal(o.code, "NEEDS_APPROVAL");
    assert_non_null(strstr(o.message, "too many questions"));
    assert_int_equal(p.asked, 30);
    close_gate();
}

/* ---- always ---------------------------------------------------------------------------- */

static void read_config(char *to, size_t size)
{
    FILE *file = fopen(path, "r");
    size_t n;

    assert_non_null(file);
    n = fread(to, 1, size - 1, file);
    to[n] = '\0';
    (void)fclose(file);
}

static void test_always__is_a_rule_before_the_one_that_asked(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    char text[4096];
    struct stat st;
    (void)state;

    open_gate(
        "\"rules\": [\n    {\"action\": \"deny\", \"args\": {\"n\": 3}}, // not three\n"
        "    {\"action\": \"ask\"}, // all else\n  ]");
    assert_int_equal(chmod(path, 0640), 0);
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_int_equal(p.asked, 1);
    read_config(text, sizeof text);
    assert_string_equal(
        text, "{ // mine\n  \"mcpServers\": {\"files\": {\"command\": \"x\"}},\n"
              "  \"glovebox\": {\"rules\": [\n"
              "    {\"action\": \"deny\", \"args\": {\"n\": 3}}, // not three\n"
              "    {\"action\":\"allow\",\"server\":\"files\",\"tool\":\"plain\"},\n"
              "    {\"action\": \"ask\"}, // all else\n  ]}\n}\n");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_non_null(strstr(lines, "\"answer\":\"always\""));
    close_gate();
}

static void test_always__makes_rules_where_there_are_none(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    gbx_mcp_config *now = NULL;
    (void)state;

    open_gate("");
    (void)call(&p, "plain", "{}", "");
    assert_int_equal(gbx_mcp_config_load(path, GBX_TRUST_OWN, &now, NULL), GBX_OK);
    gbx_mcp_config_free(now);
    close_gate();
}

static void test_always__does_not_touch_a_file_that_has_changed(void **state)
{
    static const char *const others[] = {
        "{\"mcpServers\": {\"files\": {\"command\": \"x\"}}, \"glovebox\": {\"rules\": "
        "[{\"action\": \"deny\"}, {\"action\": \"ask\", \"tool\": \"x\"}]}}",
        "{\"mcpServers\": {\"files\": {\"command\": \"x\"}}, \"glovebox\": {\"rules\": "
        "[{\"action\": \"ask\", \"reason\": \"another\"}]}}",
        "{\"mcpServers\": {\"files\": {\"command\": \"x\"}}}",
        "{\"mcpServers\": {}}",
        "no JSON",
        ""};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(others); i++) {
        gbx_mcp_request p = person(ALWAYS);
        char text[4096];

        open_gate("\"rules\": [{\"action\": \"ask\"}]");
        write_config(others[i]);
        assert_string_equal(call(&p, "plain", "{}", "").code, "");
        read_config(text, sizeof text);
        assert_string_equal(text, others[i]);
        assert_non_null(strstr(lines, "\"answer\":\"unwritten\""));
        assert_non_null(strstr(p.told, "allowed for this session alone: "));
        assert_string_equal(p.logged, p.told);
        close_gate();
    }
}

static void test_always__writes_no_other_rule_than_it_has_shown(void **state)
{
    static const char other[] =
        "{\"mcpServers\": {\"files\": {\"command\": \"x\"}}, \"glovebox\": "
        "{\"defaults\": {\"readOnly\": \"deny\"}}}";
    gbx_mcp_request p = person(ALWAYS);
    char text[4096];
    (void)state;

    open_gate("");
    write_config(other);
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_null(strstr(p.message, "readOnly"));
    read_config(text, sizeof text);
    assert_string_equal(text, other);
    assert_non_null(strstr(lines, "\"answer\":\"unwritten\""));
    close_gate();
}

static void test_always__does_not_take_over_what_others_can_write(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    char before[4096];
    char after[4096];
    (void)state;

    open_gate("\"rules\": [{\"action\": \"ask\"}]");
    assert_int_equal(chmod(path, 0622), 0);
    read_config(before, sizeof before);
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    read_config(after, sizeof after);
    assert_string_equal(after, before);
    assert_non_null(strstr(lines, "\"answer\":\"unwritten\""));
    assert_non_null(strstr(p.told, "chmod go-w "));
    assert_int_equal(chmod(path, 0600), 0);
    close_gate();
}

static void test_always__does_not_overrule_another_default(void **state)
{
    static const char other[] =
        "{\"mcpServers\": {\"files\": {\"command\": \"x\"}}, \"glovebox\": {\"rules\": "
        "[{\"action\": \"allow\", \"tool\": \"other\"}], \"defaults\": {\"other\": "
        "\"deny\"}}}";
    gbx_mcp_request p = person(ALWAYS);
    char text[4096];
    (void)state;

    open_gate("\"rules\": [{\"action\": \"allow\", \"tool\": \"some\"}]");
    write_config(other);
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    read_config(text, sizeof text);
    assert_string_equal(text, other);
    assert_non_null(strstr(lines, "\"answer\":\"unwritten\""));
    close_gate();
}

static void check_file(const char *tool, const char *text, gbx_gate_action wanted)
{
    gbx_mcp_config *now = NULL;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf why;
    gbx_view args;

    gbx_buf_init(&why, GBX_KIB(1));
    assert_int_equal(gbx_mcp_config_load(path, GBX_TRUST_OWN, &now, NULL), GBX_OK);
    assert_true(gbx_gate_args_open(text, strlen(text), &args, &why));
    assert_int_equal(gbx_gate_decide(now->rules, "files", tool, NULL, args,
                                     GBX_GATE_HINT_OTHER)
                         .action,
                     wanted);
    gbx_mcp_config_free(now);
}

static void test_always__is_written_each_time_that_it_is_said(void **state)
{
    static const char *const tools[] = {"plain", "write_file", "lies"};
    static const char *const ours[] = {
        "",
        "\"rules\": [{\"action\": \"deny\", \"tool\": \"x\"}, {\"action\": \"ask\"}]"};
    (void)state;

    for (size_t k = 0; k < GBX_COUNTOF(ours); k++) {
        gbx_mcp_request p = person(ALWAYS);

        open_gate(ours[k]);
        for (size_t i = 0; i < GBX_COUNTOF(tools); i++)
            assert_string_equal(call(&p, tools[i], "{}", "").code, "");
        assert_null(strstr(lines, "unwritten"));
        for (size_t i = 0; i < GBX_COUNTOF(tools); i++)
            check_file(tools[i], "{}", GBX_GATE_ALLOW);
        check_file("another", "{}", GBX_GATE_ASK);
        close_gate();
    }
}

static void test_always__finds_the_rule_where_others_have_come_before_it(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    (void)state;

    open_gate("\"rules\": [{\"action\": \"ask\", \"tool\": \"p*\"}]");
    write_config("{\"mcpServers\": {\"files\": {\"command\": \"x\"}}, \"glovebox\": "
                 "{\"rules\": [{\"action\": \"deny\", \"args\": {\"n\": 1}}, "
                 "{\"action\": \"ask\", \"tool\": \"p*\"}]}}");
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_non_null(strstr(lines, "\"answer\":\"always\""));
    check_file("plain", "{}", GBX_GATE_ALLOW);
    check_file("plain", "{\"n\":1}", GBX_GATE_DENY);
    close_gate();
}

/* As another glovebox does that writes a rule: it is not through when we come. Returns its
 * id. */
static pid_t hold_and_replace(const char *text)
{
    int ready[2];
    char byte;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        struct inotify_event opened;
        int come = inotify_init1(IN_CLOEXEC);
        int fd;
        bool done = gbx_file_lock(path, GBX_TRUST_OWN, &fd, NULL) == GBX_OK &&
                    inotify_add_watch(come, path, IN_OPEN) >= 0 &&
                    write(ready[1], "x", 1) == 1 &&
                    read(come, &opened, sizeof opened) == sizeof opened &&
                    gbx_file_replace(path, text, strlen(text), 0, NULL, NULL) == GBX_OK;

        _exit(done ? 0 : 1);
    }
    (void)close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    (void)close(ready[0]);
    return pid;
}

static void test_always__keeps_what_another_process_writes_at_that_time(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    int status;
    pid_t pid;
    (void)state;

    open_gate("\"rules\": [{\"action\": \"ask\"}]");
    pid = hold_and_replace(
        "{\"mcpServers\": {\"files\": {\"command\": \"x\"}}, \"glovebox\": {\"rules\": "
        "[{\"action\":\"allow\",\"tool\":\"lies\"}, {\"action\": \"ask\"}]}}");
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_null(strstr(lines, "unwritten"));
    check_file("plain", "{}", GBX_GATE_ALLOW);
    check_file("lies", "{}", GBX_GATE_ALLOW);
    check_file("another", "{}", GBX_GATE_ASK);
    close_gate();
}

static void test_always__waits_for_nobody_for_long(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    int64_t begin_ns;
    int fd;
    (void)state;

    open_gate("\"rules\": [{\"action\": \"ask\"}]");
    assert_int_equal(gbx_file_lock(path, GBX_TRUST_OWN, &fd, NULL), GBX_OK);
    begin_ns = gbx_clock_now_ns();
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_in_range(gbx_clock_now_ns() - begin_ns, 0, 1000 * GBX_NS_PER_MS);
    (void)close(fd);
    assert_non_null(strstr(lines, "\"answer\":\"unwritten\""));
    check_file("plain", "{}", GBX_GATE_ASK);
    close_gate();
}

static void test_always__does_not_overrule_a_later_denial(void **state)
{
    gbx_mcp_request p = person(ALWAYS);
    (void)state;

    open_gate(ASK_THEN_DENY);
    assert_string_equal(call(&p, "plain", "{\"path\":\"/srv/x\"}", "").code, "");
    assert_non_null(strstr(lines, "\"answer\":\"always\""));
    check_file("plain", "{\"path\":\"/srv/y\"}", GBX_GATE_ALLOW);
    check_file("plain", "{\"path\":\"/etc/passwd\"}", GBX_GATE_DENY);
    close_gate();
}

static void test_nobody__is_told_a_rule_that_overrules_no_denial(void **state)
{
    gbx_mcp_request nobody = {.can_ask = false};
    outcome o;
    (void)state;

    open_gate(ASK_THEN_DENY);
    o = call(&nobody, "plain", "{\"path\":\"/srv/x\"}", "");
    assert_non_null(strstr(o.message, "add this rule before rule 1 in \"rules\""));
    assert_non_null(strstr(o.message, "\"tool\":\"plain\",\"args\":{\"path\":"
                                      "\"/srv/**\"}}"));
    o = call(&nobody, "plain", "{\"path\":\"/SRV/x\"}", "");
    assert_string_equal(o.code, "NEEDS_APPROVAL");
    assert_null(strstr(o.message, "\"allow\""));
    assert_non_null(strstr(o.message, "before rule 1 in \"rules\""));
    close_gate();

    open_gate("\"defaults\": {\"readOnly\": \"ask\", \"other\": \"deny\"}");
    o = call(&nobody, "read_file", "{}", "");
    assert_non_null(strstr(o.message, "\"tool\":\"read_file\",\"readOnly\":true}"));
    close_gate();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answer__that_is_no_or_none_denies),
        cmocka_unit_test(test_grant__holds_as_long_as_it_was_given_for),
        cmocka_unit_test(test_grant__of_always_allows_what_the_shown_rule_allows),
        cmocka_unit_test(test_grant__is_for_the_rule_that_asked),
        cmocka_unit_test(test_decline__is_not_asked_again_in_the_run),
        cmocka_unit_test(test_decline__counts_more_than_what_was_allowed_before),
        cmocka_unit_test(test_questions__of_a_request_wait_for_each_other),
        cmocka_unit_test(test_questions__end_where_nobody_could_read_them),
        cmocka_unit_test(test_always__is_a_rule_before_the_one_that_asked),
        cmocka_unit_test(test_always__makes_rules_where_there_are_none),
        cmocka_unit_test(test_always__does_not_touch_a_file_that_has_changed),
        cmocka_unit_test(test_always__writes_no_other_rule_than_it_has_shown),
        cmocka_unit_test(test_always__does_not_take_over_what_others_can_write),
        cmocka_unit_test(test_always__does_not_overrule_another_default),
        cmocka_unit_test(test_always__is_written_each_time_that_it_is_said),
        cmocka_unit_test(test_always__finds_the_rule_where_others_have_come_before_it),
        cmocka_unit_test(test_always__keeps_what_another_process_writes_at_that_time),
        cmocka_unit_test(test_always__waits_for_nobody_for_long),
        cmocka_unit_test(test_always__does_not_overrule_a_later_denial),
        cmocka_unit_test(test_nobody__is_told_a_rule_that_overrules_no_denial),
    };

    return cmocka_run_group_tests(tests, stage_setup, stage_teardown);
}
