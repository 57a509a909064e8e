/* SPDX-License-Identifier: MIT */
/* mcp_edit - members that are taken out of a person's file, and all that must stay. */
#include "base/cleanup.h"
#include "mcp/config/edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *before;
    size_t index;
    const char *after;
} removals[] = {
    {"{\"a\": 1}", 0, "{}"},
    {"{\"a\": 1, \"b\": 2}", 0, "{\"b\": 2}"},
    {"{\"a\": 1, \"b\": 2}", 1, "{\"a\": 1}"},
    {"{\"a\":1,\"b\":2,\"c\":3}", 1, "{\"a\":1,\"c\":3}"},
    {"{\n  \"a\": 1,\n  \"b\": 2\n}\n", 0, "{\n  \"b\": 2\n}\n"},
    {"{\n  \"a\": 1,\n  \"b\": 2\n}\n", 1, "{\n  \"a\": 1\n}\n"},
    {"{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}", 0, "{\r\n\t\"b\": 2\r\n}"},
    {"{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}", 1, "{\r\n\t\"a\": 1\r\n}"},
    /* A comma that closes a list stays one, and is never alone. */
    {"{\n  \"a\": 1,\n  \"b\": 2,\n}", 1, "{\n  \"a\": 1,\n}"},
    {"{\n  \"a\": 1,\n}", 0, "{\n}"},
    {"{\"a\": 1 /* , */ ,}", 0, "{ /* , */ }"},
    {"{\"a\": 1, \"b\": 2 // x,\n , }", 1, "{\"a\": 1,\n  }"},
    {"{\"a\": {\"x\": [1, 2]}, \"b\": \",}\",}", 0, "{\"b\": \",}\",}"},
    /* Comments beside go, those above stay. */
    {"{\n  // x\n  \"a\": 1, // y, z\n  // u\n  \"b\": 2\n}", 0,
     "{\n  // x\n  // u\n  \"b\": 2\n}"},
    {"{\n  \"a\": 1, // x, y\n  // z\n  \"b\": 2 // u\n}", 1,
     "{\n  \"a\": 1 // x, y\n  // z\n}"},
    {"{\n  \"a\": 1, /* x\n  */ \"b\": 2\n}", 0, "{\n  /* x\n  */ \"b\": 2\n}"},
    {"{ // x\n\"a\": 1}", 0, "{ // x\n}"},
    {"{ // x\n  \"a\": 1}", 0, "{ // x\n}"},
    {"{\"a\": 1 /* , */, \"b\": 2}", 0, "{\"b\": 2}"},
    {"{\"a\": 1, /* , */ \"b\": 2}", 1, "{\"a\": 1 /* , */}"},
};

static void test_remove__leaves_the_others_as_they_were(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(removals); i++) {
        const char *before = removals[i].before;
        gbx_edit edit;

        assert_true(gbx_edit_open(&edit, before, strlen(before)));
        if (!gbx_edit_remove_member(&edit, edit.root, removals[i].index))
            fail_msg("not removed: %s", before);
        assert_true(gbx_buf_append(&edit.text, "", 1));
        assert_string_equal((const char *)edit.text.data, removals[i].after);
        gbx_edit_close(&edit);
    }
}

static void test_remove__of_what_is_not_there_changes_nothing(void **state)
{
    gbx_edit edit;
    (void)state;

    assert_true(gbx_edit_open(&edit, "{\"a\": 1}", 8));

    assert_false(gbx_edit_remove_member(&edit, edit.root, 1));

    assert_int_equal(edit.text.len, 8);
    gbx_edit_close(&edit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remove__leaves_the_others_as_they_were),
        cmocka_unit_test(test_remove__of_what_is_not_there_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
