/* SPDX-License-Identifier: MIT */
/* Code as models write it: each shape has the value that is meant, and errors have the
 * positions of what was written. */
#include "mcp/code/code.h"
#include "script_rows.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_shapes__have_the_value_that_is_meant(void **state)
{
    CHECK("shapes", NULL);
}

static void test_errors__have_the_place_in_what_was_written(void **state)
{
    CHECK("places", "@");
}

/* Of code that calls nothing, the function that may have been meant to be called. */
static void test_a_function_that_nothing_calls__is_known(void **state)
{
    static const char *const rows[][2] = {
        {"const a = await 1;\nfunction undo() { return 2 }", "undo"},
        {"```js\nconst x: number = 1; console.log(1)\nconst late = () => 2\n```",
         "late"},
        {"function a() { return 1 }\nfunction b() { return 2 }", "b"},
        {"function a() { return 1 }", ""},
        {"function a() { return 1 }\na()", ""},
        {"return 1", ""},
    };
    gbx_script script;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(gbx_script_make(rows[i][0], strlen(rows[i][0]), "input",
                                         &script, NULL),
                         GBX_OK);
        assert_int_equal(script.uncalled_len, strlen(rows[i][1]));
        assert_memory_equal(rows[i][0] + script.uncalled, rows[i][1],
                            script.uncalled_len);
        gbx_script_cleanup(&script);
    }
}

static void test_text_that_is_no_code__stays_as_it_is(void **state)
{
    static const char *const texts[] = {"",           "\xFF\xFE",  "a b c (",
                                        "```\n",      "((((((((",  "class {",
                                        "type X = {", "return `${"};
    gbx_script script;

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(gbx_script_make(texts[i], strlen(texts[i]), "input", &script,
                                         NULL),
                         GBX_OK);
        assert_string_equal(script.code, texts[i]);
        gbx_script_cleanup(&script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes__have_the_value_that_is_meant),
        cmocka_unit_test(test_errors__have_the_place_in_what_was_written),
        cmocka_unit_test(test_a_function_that_nothing_calls__is_known),
        cmocka_unit_test(test_text_that_is_no_code__stays_as_it_is),
    };

    return cmocka_run_group_tests(tests, script_rows_start, script_rows_finish);
}
