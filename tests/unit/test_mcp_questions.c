/* SPDX-License-Identifier: MIT */
/* mcp_questions - a person is asked, and what becomes of the answers. */
#include "mcp_stage.h"
#include "test.h"

#include "base/cleanup.h"
#include "mcp/approval/gate.h"
#include "mcp/config/config.h"

#include <unistd.h>

/* ---- questions ------------------------------------------------------------------------ */

TEST(answer__that_is_no_or_none_denies)
{
    static const struct {
        gbx_mcp_answer how;
        const char *code;
    } rows[] = {{GBX_MCP_ANSWER_DECLINE, "DENIED"},
                {GBX_MCP_ANSWER_CANCEL, "DENIED"},
                {GBX_MCP_ANSWER_ENDED, "ABORTED"},
                {GBX_MCP_ANSWER_LATE, "NEEDS_APPROVAL"},
                {GBX_MCP_ANSWER_NOBODY, "NEEDS_APPROVAL"}};

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_mcp_request p = person(ONCE);

        p.how = rows[i].how;
        open_gate("");
        assert_string_equal(call(&p, "plain", "{}", "").code, rows[i].code);
        assert_int_equal(played.started, 0);
        close_gate();
    }
}

TEST(grant__holds_as_long_as_it_was_given_for)
{
    static const struct {
        const char *answer;
        size_t same_args;
        size_t same_run;
        size_t other_run;
    } rows[] = {{ONCE, 2, 3, 4}, {SAME, 1, 2, 3}, {RUN, 1, 1, 2}, {SESSION, 1, 1, 1}};

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

TEST(grant__of_always_allows_what_the_shown_rule_allows)
{
    gbx_mcp_request p = person(ALWAYS);

    open_gate("\"rules\": [{\"action\": \"ask\", \"args\": {\"path\": \"/srv/**\"}}]");
    (void)call(&p, "plain", "{\"path\":\"/srv/x\"}", "");
    (void)call(&p, "plain", "{\"path\":\"/srv/y\"}", "");
    assert_int_equal(p.asked, 1);
    /* The rule that asks is about this too; what allows fits only what is certain. */
    (void)call(&p, "plain", "{\"path\":\"/SRV/x\"}", "");
    assert_int_equal(p.asked, 2);
    close_gate();
    forget_grants();
}

TEST(grant__is_for_the_rule_that_asked)
{
    gbx_mcp_request p = person(SESSION);

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

TEST(decline__is_not_asked_again_in_the_run)
{
    gbx_mcp_request p = person(ONCE);

    p.how = GBX_MCP_ANSWER_DECLINE;
    open_gate("");
    (void)call(&p, "plain", "{}", "r-1");
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "DENIED");
    assert_int_equal(p.asked, 1);
    (void)call(&p, "plain", "{}", "r-2");
    assert_int_equal(p.asked, 2);
    close_gate();
}

TEST(decline__counts_more_than_what_was_allowed_before)
{
    gbx_mcp_request p = person(SAME);

    open_gate("");
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "");
    p.how = GBX_MCP_ANSWER_DECLINE;
    assert_string_equal(call(&p, "plain", "{\"a\":1}", "r-1").code, "DENIED");
    assert_string_equal(call(&p, "plain", "{}", "r-1").code, "DENIED");
    assert_int_equal(p.asked, 2);
    close_gate();
}

/* One question at a time; what was answered for the run settles those that wait. */
TEST(questions__of_a_request_wait_for_each_other)
{
    gbx_mcp_request p = person(ONCE);
    gbx_mcp_request q = person(RUN);
    outcome ones[5] = {{.count = 0}};
    outcome runs[5] = {{.count = 0}};

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

TEST(questions__end_where_nobody_could_read_them)
{
    gbx_mcp_request p = person(ONCE);
    outcome o;

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

/* What becomes of a call of plain in the next session, where nobody can be asked. */
static void check_next(const char *ours, const char *args, const char *code)
{
    gbx_mcp_request nobody = {.can_ask = false};

    open_gate(ours);
    assert_string_equal(call(&nobody, "plain", args, "").code, code);
    close_gate();
}

TEST(always__is_kept_beside_the_configuration)
{
    static const char rules[] = "\"rules\": [{\"action\": \"deny\", \"args\": {\"n\": "
                                "3}}, {\"action\": \"ask\"}]";
    gbx_mcp_request p = person(ALWAYS);
    char before[4096];
    char after[4096];
    gbx_view tool;

    open_gate(rules);
    read_config(before, sizeof before);
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_string_equal(call(&p, "plain", "{\"a\":1}", "").code, "");
    assert_int_equal(p.asked, 1);
    assert_string_equal(call(&p, "write_file", "{}", "").code, "");
    assert_int_equal(p.asked, 2);
    read_config(after, sizeof after);
    assert_string_equal(after, before);
    assert_non_null(strstr(lines, "\"answer\":\"always\""));
    assert_null(strstr(lines, "unwritten"));
    assert_true(gbx_view_open("{\"name\":\"lies\"}", 15, &tool));
    assert_string_equal(gbx_gate_mark(gate, "files", tool), "depends on arguments");
    close_gate();
    open_gate("\"rules\": [{\"action\": \"ask\"}]");
    assert_string_equal(gbx_gate_mark(gate, "files", tool), "asks a person");
    assert_string_equal(call(&p, "lies", "{}", "").code, "");
    assert_string_equal(gbx_gate_mark(gate, "files", tool), "");
    close_gate();

    check_next(rules, "{}", "");
    check_next(rules, "{\"n\":3}", "DENIED");
    forget_grants();
    check_next(rules, "{}", "NEEDS_APPROVAL");
}

TEST(always__covers_what_the_same_rule_asks_about)
{
    static const char *const others[] = {
        "\"rules\": [{\"action\": \"ask\", \"reason\": \"another\"}]",
        "\"rules\": [{\"action\": \"ask\", \"tool\": \"plain\"}]",
        "\"rules\": [{\"action\": \"ask\", \"args\": {\"n\": 1}}]",
        "",
    };
    gbx_mcp_request p = person(ALWAYS);

    open_gate("\"rules\": [{\"action\": \"ask\"}]");
    assert_string_equal(call(&p, "plain", "{\"n\":1}", "").code, "");
    close_gate();
    for (size_t i = 0; i < GBX_COUNTOF(others); i++)
        check_next(others[i], "{\"n\":1}", "NEEDS_APPROVAL");
    check_next("\"rules\": [{\"action\": \"ask\", \"tool\": \"x\"}, {\"action\": "
               "\"ask\"}]",
               "{\"n\":1}", "");
    forget_grants();
}

TEST(always__does_not_overrule_a_later_denial)
{
    gbx_mcp_request p = person(ALWAYS);

    open_gate(ASK_THEN_DENY);
    assert_string_equal(call(&p, "plain", "{\"path\":\"/srv/x\"}", "").code, "");
    assert_non_null(strstr(lines, "\"answer\":\"always\""));
    close_gate();
    check_next(ASK_THEN_DENY, "{\"path\":\"/srv/y\"}", "");
    check_next(ASK_THEN_DENY, "{\"path\":\"/etc/passwd\"}", "DENIED");
    forget_grants();
}

TEST(always__that_cannot_be_written_holds_for_the_session)
{
    gbx_mcp_request p = person(ALWAYS);
    gbx_grants_file *grants = gbx_grants_file_new(path, GBX_TRUST_OWN);
    int fd = -1;

    open_gate("\"rules\": [{\"action\": \"ask\"}]");
    gbx_file_make_folders(gbx_grants_file_path(grants));
    assert_int_equal(gbx_file_lock(gbx_grants_file_path(grants), GBX_FILE_LOCK_MS, &fd,
                                   NULL),
                     GBX_OK);
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    (void)close(fd);
    assert_non_null(strstr(lines, "\"answer\":\"unwritten\""));
    assert_non_null(strstr(p.told, "allowed for this session alone: "));
    assert_string_equal(p.logged, p.told);
    assert_string_equal(call(&p, "plain", "{}", "").code, "");
    assert_int_equal(p.asked, 1);
    close_gate();
    gbx_grants_file_free(grants);
    check_next("\"rules\": [{\"action\": \"ask\"}]", "{}", "NEEDS_APPROVAL");
}

TEST(nobody__is_told_a_rule_that_overrules_no_denial)
{
    gbx_mcp_request nobody = {.can_ask = false};
    outcome o;

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

TEST_MAIN(stage_setup, stage_teardown)
