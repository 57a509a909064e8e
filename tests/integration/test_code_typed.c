/* SPDX-License-Identifier: MIT */
/* TypeScript as models write it: it is run without its types, and errors have the positions
 * of what was written. */
#include "script_rows.h"
#include "test.h"

static void test_types__are_taken_out_and_nothing_moves(void **state)
{
    CHECK("types", NULL);
    CHECK("type_places", "@");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types__are_taken_out_and_nothing_moves),
    };

    return cmocka_run_group_tests(tests, script_rows_start, script_rows_finish);
}
