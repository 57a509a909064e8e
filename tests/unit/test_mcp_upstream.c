/* SPDX-License-Identifier: MIT */
/* What a server may do wrong in an answer, and what comes of it; tests/mcp/bad-upstream.mjs
 * does it. */
#include "servers.h"
#include "table.h"
#include "test.h"

#include "base/cleanup.h"

/* ---- answers -------------------------------------------------------------- */

/* A call of the server that a row of mcp/answers.txt is about. */
static void check_row(servers *s, const char *server, const table_line *row)
{
    const char *const *cell = row->cell;
    char text[4096];
    answer a;

    servers_call(s, server, cell[0], cell[1], &a);
    answer_text(&a, text, sizeof text);
    answer_cleanup(&a);
    print_message("line %u\n", row->number);
    if (strcmp(gbx_upstream_fault_name(a.fault), cell[2]) != 0)
        fail_msg("%s: %s", gbx_upstream_fault_name(a.fault), a.message);
    if (a.fault == GBX_UPSTREAM_OK)
        assert_string_equal(text, cell[3]);
    else if (strstr(a.message, cell[3]) == NULL)
        assert_string_equal(a.message, cell[3]);
}

static void check_rows(servers *s, const char *const (*sections)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)servers_add_bad(s, sections[i][0], sections[i][1]);
    servers_start(s);
    for (size_t i = 0; i < count; i++) {
        const table_line *rows;
        size_t row_count =
            table_lines("unit/mcp/answers.txt", sections[i][0], true, &rows);

        for (size_t k = 0; k < row_count; k++)
            check_row(s, sections[i][0], &rows[k]);
    }
}

TEST(answers__are_what_the_table_says)
{
    static const char *const sections[][2] = {{"plain", ""},
                                              {"noisy", "noisy"},
                                              {"modern", "modern"},
                                              {"pings-first", "pings-first"},
                                              {"fractions", "fractions"},
                                              {"banner=hello", "banner=hello"}};
    servers *s = *state;

    check_rows(s, sections, GBX_COUNTOF(sections));
    assert_true(s->log_lines > 0);
}

TEST(ends__are_what_the_table_says)
{
    static const char *const sections[][2] = {{"crashes", ""},
                                              {"no-list", "no-list"},
                                              {"list-fails", "list-fails"}};

    check_rows(*state, sections, GBX_COUNTOF(sections));
}

TEST(crashes__of_tools_that_only_read_are_tried_again_once)
{
    static const char *const sections[][2] = {{"crashes of tools that only read", ""}};

    check_rows(*state, sections, 1);
}

TEST(answers__come_in_any_order)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer late;
    GBX_CLEANUP(answer_cleanup) answer a;

    bad_start(s, "");
    (void)servers_begin(s, "bad", "late", "{\"ms\":3000}", &late);
    servers_call(s, "bad", "echo", "{}", &a);
    assert_false(late.is_there);
    servers_wait(s, &late);

    assert_int_equal(late.fault, GBX_UPSTREAM_OK);
}

TEST(flood__of_errors_leaves_the_last_line)
{
    servers *s = *state;

    bad_start(s, "");
    bad_expect(s, "flood", "flooded");
    assert_true(s->log_lines < 2000);
    bad_expect_fault(s, "crash", GBX_UPSTREAM_EXIT, "the last line");
}

TEST(long__answers_are_taken_up_to_32_mib)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer a;

    bad_start(s, "");
    servers_call(s, "bad", "big", "{\"bytes\":20000000}", &a);
    assert_int_equal(a.fault, GBX_UPSTREAM_OK);
    assert_true(a.result_len > 20000000);
}

TEST(long__answer_of_64_mib_ends_its_call_and_no_other)
{
    servers *s = *state;
    answer late;

    bad_start(s, "");
    (void)servers_begin(s, "bad", "late", "{\"ms\":2000}", &late);
    bad_expect_fault(s, "long", GBX_UPSTREAM_PROTOCOL, "longer than 32 MiB");
    servers_wait(s, &late);
    assert_int_equal(late.fault, GBX_UPSTREAM_OK);
    answer_cleanup(&late);
    bad_expect(s, "echo", "{}");
}

TEST(progress__reaches_its_call)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer a;

    bad_start(s, "");
    servers_call(s, "bad", "progress", "{}", &a);
    assert_string_equal(a.progress, "step 1,step 2,3/3,");
}

TEST(environment__is_what_is_listed_and_configured)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer a;
    char name[] = "GBX_TEST_INHERITED";
    char *inherit[] = {name};

    assert_int_equal(setenv("GBX_TEST_SECRET", "token", 1), 0);
    assert_int_equal(setenv("GBX_TEST_INHERITED", "wanted", 1), 0);
    servers_add_bad(s, "bad", "")->inherit = inherit;
    s->list[0].inherit_count = 1;
    servers_start(s);
    servers_call(s, "bad", "env", "{}", &a);

    assert_null(strstr(a.result, "GBX_TEST_SECRET"));
    assert_null(strstr(a.result, "XDG_CACHE_HOME"));
    assert_non_null(strstr(a.result, "GBX_TEST_INHERITED"));
    assert_non_null(strstr(a.result, "GBX_MARK"));
}

typedef struct asked {
    char *order; /* the names of those that were told */
    char name;
} asked;

static void on_told(void *user, const gbx_upstream_reply *reply)
{
    const asked *a = user;

    assert_int_equal(reply->fault, GBX_UPSTREAM_OK);
    (void)strncat(a->order, &a->name, 1);
}

TEST(tools__are_told_in_the_order_in_which_they_were_asked_for)
{
    servers *s = *state;
    char order[4] = "";
    asked all[] = {{order, 'a'}, {order, 'b'}, {order, 'c'}};

    bad_start(s, "");
    for (size_t i = 0; i < GBX_COUNTOF(all); i++)
        gbx_upstream_learn(s->all, &s->list[0], on_told, &all[i]);
    for (int i = 0; i < 1000 && order[2] == '\0'; i++)
        servers_turn(s, 10);
    assert_string_equal(order, "abc");
}

/* ---- eras ----------------------------------------------------------------- */

static void expect_era(servers *s, const char *era)
{
    gbx_upstream_info info = gbx_upstreams_info(s->all, &s->list[0]);

    assert_string_equal(info.era, era);
    assert_string_equal(info.server_name, "bad-upstream");
    assert_string_equal(info.version, "6.6.6");
}

static unsigned starts_of(servers *s)
{
    char path[128];
    unsigned count = 0;
    FILE *file;
    int c;

    (void)snprintf(path, sizeof path, "%s/count", s->directory);
    file = fopen(path, "r");
    while (file != NULL && (c = fgetc(file)) != EOF)
        count += c == '\n';
    if (file != NULL)
        (void)fclose(file);
    return count;
}

/* Some end, or are silent, when they are asked anything else. */
TEST(era__of_a_process_is_asked_by_initialize)
{
    static const char *const words[] = {"",
                                        "both",
                                        "dies-on-probe",
                                        "refuses-probe",
                                        "silent-on-probe",
                                        "greets dies-on-probe",
                                        "slow=3500 dies-on-probe"};
    servers *s = *state;

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        servers_add_bad(s, i == 0 ? "bad" : words[i], words[i])->start_ms = 12000;
    servers_start(s);
    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        servers_expect(s, i == 0 ? "bad" : words[i], "echo", "{}", "{}");
    expect_era(s, "2025-11-25");
    assert_int_equal(starts_of(s), GBX_COUNTOF(words));
}

TEST(era__modern_has_meta_on_every_request)
{
    bad_start(*state, "modern");
    bad_expect(*state, "echo", "{}");
    expect_era(*state, "2026-07-28");
}

TEST(era__may_be_told_late)
{
    servers *s = *state;

    servers_add_bad(s, "bad", "modern slow=2500")->start_ms = 6000;
    servers_start(s);
    bad_expect(s, "echo", "{}");
    expect_era(s, "2026-07-28");
}

TEST(era__unknown_to_us_is_said_so)
{
    servers *s = *state;

    (void)servers_add_bad(s, "later", "modern other-version");
    (void)servers_add_bad(s, "earlier", "other-version");
    servers_start(s);
    servers_expect_fault(s, "later", "echo", "{}", GBX_UPSTREAM_START, "2031-01-01");
    servers_expect_fault(s, "earlier", "echo", "{}", GBX_UPSTREAM_START, "1999-01-01");
}

/* ---- tools ---------------------------------------------------------------- */

TEST(tools__of_all_pages_are_known)
{
    servers *s = *state;
    GBX_CLEANUP(answer_cleanup) answer a;

    bad_start(s, "pages=7");
    servers_learn(s, "bad", &a);
    assert_non_null(strstr(a.result, "\"echo\""));
    assert_non_null(strstr(a.result, "\"cancelled\""));
}

TEST(tools__without_end_are_read_to_a_bound)
{
    servers *s = *state;

    bad_start(s, "endless-pages");
    bad_expect(s, "echo", "{}");
    assert_string_equal(gbx_upstreams_info(s->all, &s->list[0]).left_out_why,
                        "further pages were not read");
}

TEST(tools__are_known_one_by_one)
{
    servers *s = *state;

    bad_start(s, "");
    assert_int_equal(gbx_upstreams_tool(s->all, &s->list[0], "echo"),
                     GBX_GATE_HINT_UNKNOWN);
    bad_expect(s, "echo", "{}");

    assert_int_equal(gbx_upstreams_tool(s->all, &s->list[0], "echo"),
                     GBX_GATE_HINT_OTHER);
    assert_int_equal(gbx_upstreams_tool(s->all, &s->list[0], "hang-safe"),
                     GBX_GATE_HINT_READS);
    assert_int_equal(gbx_upstreams_tool(s->all, &s->list[0], "ecko"),
                     GBX_GATE_HINT_MISSING);
    assert_string_equal(gbx_upstreams_nearest_tool(s->all, &s->list[0], "ecko"),
                        "echo");
}

static bool has_new_tool(servers *s)
{
    gbx_view tools = gbx_upstreams_info(s->all, &s->list[0]).tools;

    return memmem(tools.at, tools.len, "new-tool", 8) != NULL;
}

static void follow_change(servers *s, const char *words)
{
    bad_start(s, words);
    bad_expect_fault(s, "new-tool", GBX_UPSTREAM_UNKNOWN_TOOL, "has no tool");
    assert_int_equal(s->changes, 1);
    bad_expect(s, "change", "changed");
    for (int i = 0; i < 100 && !has_new_tool(s); i++)
        servers_turn(s, 50);

    assert_int_equal(s->changes, 2);
    bad_expect(s, "new-tool", "{}");
}

TEST(tools__that_change_are_followed)
{
    follow_change(*state, "");
}

TEST(tools__that_change_are_followed_in_the_modern_era)
{
    follow_change(*state, "modern");
}

TEST(tools__changes_in_a_flood_are_one_question)
{
    servers *s = *state;
    char text[16];
    answer a;

    bad_start(s, "");
    bad_expect(s, "changes", "changed");
    servers_turn(s, 600);
    servers_call(s, "bad", "lists", "{}", &a);
    answer_text(&a, text, sizeof text);
    answer_cleanup(&a);

    assert_in_range(strtol(text, NULL, 10), 2, 6);
    assert_int_equal(s->changes, 1); /* they are the same as before */
}

TEST_MAIN_EACH(servers_set_up, servers_tear_down)
