/* SPDX-License-Identifier: MIT */
/*
 * test_explain - where an error really is, and how to repair it: guard/explain.txt.
 *
 * The messages are the engine's own, with the positions that it gave.
 */
#include "analysis/analysis.h"
#include "table.h"
#include "test.h"

static const gbx_given nothing = {.dataset = ""};

static bool is_explained(const char *code, gbx_form form, bool is_syntax,
                         const char *said, const char *wanted)
{
    gbx_explanation a = {0};
    const char *hint;
    unsigned line, column;
    int at = 0;
    bool is_right;

    assert_int_equal(sscanf(said, "%u:%u%n", &a.line, &a.column, &at), 2);
    said += said[at] == ' ' ? at + 1 : at;
    assert_int_equal(sscanf(wanted, "%u:%u%n", &line, &column, &at), 2);
    wanted += wanted[at] == ' ' ? at + 1 : at;
    gbx_explain(code, strlen(code), form,
                is_syntax ? GBX_ENDING_SYNTAX : GBX_ENDING_THROWN, said, &nothing, &a);
    hint = gbx_hint_row_of(a.hint)->hint;
    is_right = a.line == line && a.column == column &&
               (*wanted == '\0' ? *hint == '\0' : strstr(hint, wanted) != NULL);
    if (!is_right)
        print_error("%s\n%s\ngot %u:%u %s\n", code, said, a.line, a.column, hint);
    return is_right;
}

static bool check_case(char *head, char *code, size_t len)
{
    bool in_function = strcmp(table_word(&head, " "), "function") == 0;
    bool is_syntax = strcmp(table_word(&head, " "), "syntax") == 0;
    const char *wanted = table_word(&head, " | ");

    return len > 0 &&
           is_explained(code, in_function ? GBX_FORM_FUNCTION : GBX_FORM_SCRIPT,
                        is_syntax, head, wanted);
}

TEST(explain__knows_what_is_in_the_table)
{
    table_check("unit/guard/explain.txt", check_case, 136);
}

TEST(explain__counts_lines_that_a_table_cannot_show)
{
    assert_true(is_explained("// \xC3\xA9\r\n/* \xE2\x82\xAC */ (d: X) => 1",
                             GBX_FORM_FUNCTION, true,
                             "2:0 Unexpected token ':'. Expected ')' to end a "
                             "compound expression.",
                             "2:11 types"));
    assert_true(is_explained("```js\n(d) => {\n```\n", GBX_FORM_FUNCTION,
                             GBX_CODE_SYNTAX, "4:0 Unexpected token ')'",
                             "2:8 nothing closes"));
}

TEST(explain__says_nothing_about_nothing)
{
    gbx_explanation a = {.line = 7, .column = 7};

    gbx_explain(NULL, 0, GBX_FORM_FUNCTION, GBX_ENDING_SYNTAX, NULL, &nothing, &a);
    assert_int_equal(a.line, 7);
    assert_int_equal(a.hint, GBX_HINT_NONE);
}

TEST_MAIN(NULL, NULL)
