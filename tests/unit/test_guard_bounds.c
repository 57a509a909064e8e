/* SPDX-License-Identifier: MIT */
/*
 * test_guard_bounds - sizes, depths and bytes that no one means well with; and what a
 * caller gets: the report, its frames, the public functions.
 */
#include "analysis/analysis.h"
#include "base/clock.h"
#include "guard/guard.h"
#include "syntax/arena.h"
#include "syntax/tree.h"
#include "table.h"
#include "test.h"

#include <stdbool.h>

#define LIMIT 65536
#define MIB   (1024 * 1024)

/* before, times of piece, middle, times of tail; free() it. */
static char *repeat(const char *before, size_t times, const char *piece,
                    const char *middle, const char *tail)
{
    size_t size =
        strlen(before) + times * (strlen(piece) + strlen(tail)) + strlen(middle) + 1;
    char *text = malloc(size);
    char *at = text;

    assert_non_null(text);
    at = stpcpy(at, before);
    for (size_t i = 0; i < times; i++)
        at = stpcpy(at, piece);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < times; i++)
        at = stpcpy(at, tail);
    return text;
}

static gbx_report *check(gbx_form form, const char *code, size_t len, size_t max_len)
{
    gbx_report *report = NULL;
    gbx_guard_span span;

    assert_int_equal(gbx_guard_check(code, len, form, max_len, NULL, &span, &report,
                                     NULL),
                     GBX_OK);
    assert_true(span.start <= len && span.len <= len - span.start);
    return report;
}

static void expect_rule(gbx_report *report, const char *rule, uint32_t line,
                        uint32_t column)
{
    gbx_violation v = gbx_report_get(report, 0);

    assert_int_equal(gbx_report_count(report), 1);
    assert_int_equal(v.code, GBX_CODE_INVALID_CODE);
    assert_string_equal(v.rule, rule);
    assert_int_equal(v.line, line);
    assert_int_equal(v.column, column);
    assert_true(*v.message != '\0' && *v.hint != '\0');
    gbx_report_free(report);
}

/* Code of LIMIT bytes may have 115 ms of processor time; without a bound some takes a
 * minute. */
static void expect_bounded_time(const char *code, size_t len)
{
    int64_t from_ns = gbx_time_budget_now_ns();

    gbx_report_free(check(GBX_FORM_SCRIPT, code, len, LIMIT));
    if (gbx_time_budget_now_ns() - from_ns > 5000 * GBX_NS_PER_MS)
        fail_msg("%.20s... takes %d ms", code,
                 (int)((gbx_time_budget_now_ns() - from_ns) / GBX_NS_PER_MS));
}

static size_t rows_of(const char *section, const table_line **ret_rows)
{
    return table_lines("unit/guard/bounds.txt", section, true, ret_rows);
}

/* ---- sizes and bytes --------------------------------------------------------- */

TEST(guard_bounds__accepts_code_of_exactly_the_limit)
{
    char *code = repeat("(d) => '", 91, "x", "'", "");

    assert_null(check(GBX_FORM_FUNCTION, code, 100, 100));

    free(code);
}

TEST(guard_bounds__refuses_one_byte_more_than_the_limit)
{
    char *code = repeat("(d) => '", 92, "x", "'", "");

    expect_rule(check(GBX_FORM_FUNCTION, code, 101, 100), "size", 1, 1);

    free(code);
}

#define CODE(text) text, sizeof(text) - 1

TEST(guard_bounds__takes_a_nul_byte_in_what_is_text)
{
    static const struct {
        const char *code;
        size_t len;
    } rows[] = {
        {CODE("() => 'a\0b'")},          {CODE("() => `\0${ '\0' }\0`")},
        {CODE("() => /\0/.test('')")},   {CODE("() => 1 /* \0 */")},
        {CODE("// \0\n() => \"\\\0\"")}, {CODE("() => 1 // \0")},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_null(check(GBX_FORM_FUNCTION, rows[i].code, rows[i].len, LIMIT));
}

TEST(guard_bounds__refuses_a_nul_byte_elsewhere)
{
    expect_rule(check(GBX_FORM_FUNCTION, CODE("() => {\n  a\0 }"), LIMIT), "encoding",
                2, 4);
    expect_rule(check(GBX_FORM_FUNCTION, CODE("() => ev\0al('\0')"), LIMIT), "encoding",
                1, 9);
    expect_rule(check(GBX_FORM_FUNCTION, CODE("() => `${ \0 1 }`"), LIMIT), "encoding",
                1, 11);
    expect_rule(check(GBX_FORM_FUNCTION, CODE("() => 1 \0"), LIMIT), "encoding", 1, 9);
}

TEST(guard_bounds__refuses_what_is_not_utf8_where_it_stands)
{
    static const char *const samples[] = {
        "ab\xFF", "ab\xC0\xAF", "ab\xED\xA0\x80", "ab\xE2\x82", "ab\xF5\x80\x80\x80",
    };

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        expect_rule(check(GBX_FORM_SCRIPT, samples[i], strlen(samples[i]), LIMIT),
                    "encoding", 1, 3);
}

TEST(guard_bounds__refuses_a_program_file)
{
    static const char elf[] = "\x7F"
                              "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3E\0";

    expect_rule(check(GBX_FORM_SCRIPT, elf, sizeof elf - 1, LIMIT), "encoding", 1, 8);
}

TEST(guard_bounds__takes_no_code_as_empty)
{
    expect_rule(check(GBX_FORM_FUNCTION, NULL, 0, LIMIT), "form", 1, 1);
}

/* ---- depth ------------------------------------------------------------------- */

TEST(guard_bounds__survives_any_nesting)
{
    const table_line *rows;
    size_t count = rows_of("nesting", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        size_t times = LIMIT / (strlen(cell[0]) + strlen(cell[2]));
        char *code = repeat("", times - 1, cell[0], cell[1], cell[2]);
        gbx_explanation advice = {.line = 1};
        gbx_report *report = NULL;

        expect_bounded_time(code, strlen(code));
        assert_int_equal(gbx_guard_check(code, strlen(code), GBX_FORM_FUNCTION, LIMIT,
                                         NULL, NULL, &report, NULL),
                         GBX_OK);
        gbx_explain(code, strlen(code), GBX_FORM_SCRIPT, GBX_ENDING_SYNTAX,
                    "SyntaxError: Unexpected EOF", &(gbx_given){.dataset = ""},
                    &advice);
        gbx_report_free(report);
        free(code);
    }
}

TEST(guard_bounds__survives_300000_parentheses)
{
    char *code = repeat("(d) => ", 300000, "(", "d", ")");
    char *open = repeat("", 300000, "(", "", "");

    gbx_report_free(check(GBX_FORM_FUNCTION, code, strlen(code), MIB));
    gbx_report_free(check(GBX_FORM_FUNCTION, open, strlen(open), MIB));

    free(code);
    free(open);
}

static void take_too_much(void *user)
{
    size_t *taken = user;

    for (size_t size = 16; size < MIB / 2; size *= 2) {
        (void)gbx_arena_malloc(size);
        *taken += size;
    }
}

TEST(guard_bounds__gives_up_what_needs_more_memory_than_its_share)
{
    size_t taken = 0;

    assert_int_equal(gbx_arena_run(MIB, take_too_much, &taken), GBX_ARENA_DONE);
    taken = 0;
    assert_int_equal(gbx_arena_run(MIB / 4, take_too_much, &taken),
                     GBX_ARENA_ABANDONED);
    assert_true(taken <= MIB / 4);
}

TEST(guard_bounds__keeps_the_first_violations_of_many)
{
    char *code = repeat("", 200, "eval(1);\n", "", "");
    gbx_report *report = check(GBX_FORM_SCRIPT, code, strlen(code), LIMIT);

    assert_int_equal(gbx_report_count(report), GBX_GUARD_VIOLATIONS_MAX);
    assert_int_equal(report->total, 200);
    assert_int_equal(gbx_report_get(report, 0).line, 1);
    assert_int_equal(gbx_report_get(report, GBX_GUARD_VIOLATIONS_MAX - 1).line,
                     GBX_GUARD_VIOLATIONS_MAX);

    gbx_report_free(report);
    free(code);
}

/* ---- frames ------------------------------------------------------------------- */

static void expect_frame(const char *code, uint32_t line, uint32_t column,
                         const char *expected)
{
    char *frame = gbx_guard_frame(code, strlen(code), line, column);

    assert_non_null(frame);
    assert_string_equal(frame, expected);
    free(frame);
}

TEST(guard_frame__shows_the_line_and_its_neighbours)
{
    expect_frame("a\nbcd\ne\nf\n", 2, 3,
                 "    1 | a\n"
                 ">   2 | bcd\n"
                 "      |   ^\n"
                 "    3 | e");
    expect_frame("only", 1, 1,
                 ">   1 | only\n"
                 "      | ^");
    expect_frame("a\nb\n", 2, 2,
                 "    1 | a\n"
                 ">   2 | b\n"
                 "      |  ^");
    expect_frame("a\r\nb\r\n", 1, 1,
                 ">   1 | a\n"
                 "      | ^\n"
                 "    2 | b");
}

TEST(guard_frame__puts_the_caret_under_what_is_printed)
{
    expect_frame("\tx", 1, 2,
                 ">   1 |     x\n"
                 "      |     ^");
    expect_frame("\xC3\xA9\xE2\x82\xACx", 1, 3,
                 ">   1 | \xC3\xA9\xE2\x82\xACx\n"
                 "      |   ^");
    expect_frame("\x1B[31mx", 1, 6,
                 ">   1 | \\u{1b}[31mx\n"
                 "      |           ^");
    expect_frame("ab", 1, 9,
                 ">   1 | ab\n"
                 "      |   ^");
    expect_frame("ab", 1, 0, ">   1 | ab");
}

TEST(guard_frame__is_empty_for_a_place_that_is_not)
{
    expect_frame("a\nb", 0, 0, "");
    expect_frame("a\nb", 3, 1, "");
    expect_frame("a\nb", UINT32_MAX, UINT32_MAX, "");
}

TEST(guard_frame__cuts_long_lines_around_the_column)
{
    char *code = repeat("", 5000, "ab", "", "");
    char *frame = gbx_guard_frame(code, strlen(code), 1, 5000);

    assert_non_null(frame);
    assert_true(strlen(frame) < 250);
    assert_memory_equal(frame, ">   1 | ...", 11);
    assert_non_null(strstr(frame, "...\n"));
    assert_int_equal(frame[strlen(frame) - 1], '^');

    free(frame);
    free(code);
}

/* ---- the public part ------------------------------------------------------------- */

TEST(guard_check__gives_an_empty_report_for_good_code)
{
    gbx_report *report = NULL;

    assert_int_equal(gbx_check("(d) => 1", 8, GBX_FORM_FUNCTION, NULL, &report, NULL),
                     GBX_OK);

    assert_non_null(report);
    assert_int_equal(gbx_report_count(report), 0);
    assert_string_equal(gbx_report_get(report, 0).rule, "");
    gbx_report_free(report);
    gbx_report_free(NULL);
    assert_int_equal(gbx_report_count(NULL), 0);
}

TEST(guard_check__reports_syntax_as_the_parser_sees_it)
{
    const table_line *rows;
    size_t count = rows_of("syntax", &rows);

    for (size_t i = 0; i < count; i++) {
        const char *const *cell = rows[i].cell;
        gbx_report *report = NULL;
        gbx_violation v;

        assert_int_equal(gbx_check(cell[0], strlen(cell[0]), GBX_FORM_FUNCTION, NULL,
                                   &report, NULL),
                         GBX_OK);
        v = gbx_report_get(report, 0);
        assert_int_equal(v.code, GBX_CODE_SYNTAX);
        assert_string_equal(v.rule, "syntax");
        assert_int_equal(v.column, strtoul(cell[1], NULL, 10));
        assert_non_null(strstr(v.message, cell[2]));
        assert_non_null(strstr(v.hint, cell[3]));
        assert_non_null(strchr(v.frame, '^'));
        gbx_report_free(report);
    }
}

TEST(guard_check__has_no_objection_to_modern_javascript)
{
    static const char code[] =
        "async (data) => {\n"
        "  class P extends Map { #a = 1; static { P.x = 1 } get a() { return this.#a ?? 2 }\n"
        "    static async *g() { yield* [1n, 0x1F, 1_000, .5e3]; } has(o) { return #a in o } }\n"
        "  const { a = 1, ...rest } = data ?? {}, [b, , c = a ** 2] = data?.list ?? [];\n"
        "  label: for await (const [k, v] of Object.entries(rest)) { if (!k) continue label }\n"
        "  const re = /(?<y>\\d{4})[/\\]]+/gu, t = String.raw`\\u${`${a}`}`;\n"
        "  try { a ||= b; b &&= c; c ?\?= a } catch { } finally { }\n"
        "  switch (typeof a) { case 'x': break; default: { } }\n"
        "  const f = async x => ({ x, [t]: 1, async *m() {}, get z() { return 1 } });\n"
        "  return await Promise.all(data.map(async ({ id }) => await f(id)));\n"
        "}";
    gbx_report *report = NULL;

    assert_int_equal(gbx_check(code, sizeof code - 1, GBX_FORM_FUNCTION, NULL, &report,
                               NULL),
                     GBX_OK);

    assert_int_equal(gbx_report_count(report), 0);
    gbx_report_free(report);
}

TEST(guard_check__goes_by_the_limits)
{
    gbx_limits limits = GBX_LIMITS_INIT;
    char *code = repeat("'", 51198, "x", "'", "");
    gbx_report *report = NULL;

    assert_int_equal(gbx_check(code, 51200, GBX_FORM_SCRIPT, NULL, &report, NULL),
                     GBX_OK);
    assert_int_equal(gbx_report_count(report), 0);
    gbx_report_free(report);
    limits.code_bytes = 51199;
    assert_int_equal(gbx_check(code, 51200, GBX_FORM_SCRIPT, &limits, &report, NULL),
                     GBX_OK);
    assert_string_equal(gbx_report_get(report, 0).rule, "size");
    gbx_report_free(report);
    free(code);
}

TEST(guard_check__refuses_wrong_use)
{
    struct {
        gbx_limits limits;
        char tail[8];
    } newer = {.limits = GBX_LIMITS_INIT};
    gbx_report *report = NULL;
    gbx_error err = {0};

    assert_int_equal(gbx_check(NULL, 1, GBX_FORM_BODY, NULL, &report, &err),
                     GBX_E_USAGE);
    assert_int_equal(gbx_check("1", 1, GBX_FORM_BODY, NULL, NULL, &err), GBX_E_USAGE);
    assert_int_equal(gbx_check("1", 1, (gbx_form)9, NULL, &report, &err), GBX_E_USAGE);
    newer.limits.code_bytes = MIB + 1;
    assert_int_equal(gbx_check("1", 1, GBX_FORM_BODY, &newer.limits, &report, &err),
                     GBX_E_USAGE);
    newer.limits.code_bytes = 0;
    newer.limits.struct_size = sizeof newer;
    newer.tail[7] = 1;
    assert_int_equal(gbx_check("1", 1, GBX_FORM_BODY, &newer.limits, &report, &err),
                     GBX_E_USAGE);
    newer.limits.struct_size = 0;
    assert_int_equal(gbx_check("1", 1, GBX_FORM_BODY, &newer.limits, &report, &err),
                     GBX_E_USAGE);
    assert_null(report);
}

TEST_MAIN(NULL, NULL)
