/* SPDX-License-Identifier: MIT */
/* TypeScript as models write it: it is run without its types, and errors have the positions
 * of what was written. */
#include "script_rows.h"
#include "test.h"

TEST(types__are_taken_out_and_nothing_moves)
{
    CHECK("types", NULL);
    CHECK("type_places", "@");
}

TEST_MAIN(script_rows_start, script_rows_finish)
