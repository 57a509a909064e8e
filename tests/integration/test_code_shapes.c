/* SPDX-License-Identifier: MIT */
/* Code as models write it: each shape has the value that is meant, and errors have the
 * positions of what was written. */
#include "calls.h"
#include "script_rows.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(shapes__have_the_value_that_is_meant)
{
    CHECK("shapes", NULL);
}

TEST(errors__have_the_place_in_what_was_written)
{
    CHECK("places", "@");
}

/* Of a script without a value, the function that may have been meant to be called. */
TEST(a_function_that_nothing_calls__is_named)
{
    static const char *const rows[][2] = {
        {"const a = await 1;\nfunction undo() { return 2 }",
         "undo is declared but not called"},
        {"```js\nconst x: number = 1; console.log(1)\nconst late = () => 2\n```",
         "late is declared but not called"},
        {"function a() { return 1 }\nfunction b() { return 2 }",
         "b is declared but not called"},
        {"function a() { return 1 }\na();\nvar x", ""},
        {"return undefined", ""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbx_call call = GBX_CALL_INIT;
        gbx_result *result;

        call.form = GBX_FORM_SCRIPT;
        call.code = rows[i][0];
        call.code_len = strlen(rows[i][0]);
        result = call_run(script_rows_engine(), &call);
        assert_int_equal(gbx_result_code(result), GBX_CODE_VALUE);
        assert_string_equal(gbx_result_hint(result), rows[i][1]);
        gbx_result_free(result);
    }
}

TEST_MAIN(script_rows_start, script_rows_finish)
