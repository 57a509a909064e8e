/* SPDX-License-Identifier: MIT */
/* mcp_edit - what is put into a person's file and taken out of it, and all that must
 * stay where it is. */
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

static void assert_edited(gbx_edit *edit, const char *text)
{
    assert_true(gbx_buf_append(&edit->text, "", 1));
    assert_string_equal((const char *)edit->text.data, text);
    gbx_edit_close(edit);
}

static void test_remove__leaves_the_others_as_they_were(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(removals); i++) {
        const char *before = removals[i].before;
        gbx_edit edit;

        assert_true(gbx_edit_open(&edit, before, strlen(before)));
        if (!gbx_edit_remove_member(&edit, edit.root, removals[i].index))
            fail_msg("not removed: %s", before);
        assert_edited(&edit, removals[i].after);
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

/* "N" goes before that item, or after the last one. */
static const struct {
    const char *before;
    size_t index;
    const char *after;
} items[] = {
    {"[]", 0, "[\n  \"N\"\n]"},
    {"[1]", 9, "[1, \"N\"]"},
    {"[1 ]", 9, "[1, \"N\" ]"},
    {"[1,2]", 1, "[1,\"N\", 2]"},
    {"[\n  1\n]", 9, "[\n  1,\n  \"N\"\n]"},
    {"[\r\n\t1\r\n]", 9, "[\r\n\t1,\r\n\t\"N\"\r\n]"},
    {"[\r\n\t1\r\n]", 0, "[\r\n\t\"N\",\r\n\t1\r\n]"},
    {"\r\n[]\r\n", 0, "\r\n[\r\n  \"N\"\r\n]\r\n"},
    /* What is said on the line of the last one stays there, and its comma. */
    {"[\n  1 // a\n]", 9, "[\n  1, // a\n  \"N\"\n]"},
    {"[\n  1, // a\n]", 9, "[\n  1, // a\n  \"N\",\n]"},
    {"[\r\n  1 // a\r\n]", 9, "[\r\n  1, // a\r\n  \"N\"\r\n]"},
    {"[\n  1 /* , */, /* b */ // c\n  // d\n]", 9,
     "[\n  1 /* , */, /* b */ // c\n  \"N\",\n  // d\n]"},
    {"[\n  1 // a\n  ,\n]", 9, "[\n  1 // a\n  ,\n  \"N\",\n]"},
    {"[1 // a\n]", 9, "[1, // a\n  \"N\"\n]"},
    {"[1 /* a */ ]", 9, "[1, /* a */ \"N\" ]"},
    {"[1 /* a\n */ ]", 9, "[1, \"N\" /* a\n */ ]"},
    {"[\n  /* a */ 1\n]", 9, "[\n  /* a */ 1,\n  \"N\"\n]"},
    /* What is said of one above it stays so. */
    {"[\n  // a\n  1\n]", 0, "[\n  \"N\",\n  // a\n  1\n]"},
    {"[ // a\n\n  // b\n  /* c\n     c */\n  1\n]", 0,
     "[ // a\n\n  \"N\",\n  // b\n  /* c\n     c */\n  1\n]"},
    {"[\n  // a\n\n  1\n]", 0, "[\n  // a\n\n  \"N\",\n  1\n]"},
    {"[\n  1, // a\n  // b\n  2\n]", 1, "[\n  1, // a\n  \"N\",\n  // b\n  2\n]"},
    {"[1, /* b */ 2]", 1, "[1, \"N\", /* b */ 2]"},
    {"[\n  1, /* b */ 2\n]", 1, "[\n  1, \"N\", /* b */ 2\n]"},
};

static void test_add_item__leaves_comments_with_what_they_are_about(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(items); i++) {
        const char *before = items[i].before;
        gbx_edit edit;

        assert_true(gbx_edit_open(&edit, before, strlen(before)));
        if (!gbx_edit_add_item(&edit, edit.root, items[i].index, "\"N\""))
            fail_msg("not added: %s", before);
        assert_edited(&edit, items[i].after);
    }
}

static const struct {
    const char *before;
    const char *after;
} members[] = {
    {"{}", "{\n  \"N\": 1\n}"},
    {"{\r\n}\r\n", "{\r\n  \"N\": 1\r\n}\r\n"},
    {"{\n  \"a\": 1 // a\n}", "{\n  \"a\": 1, // a\n  \"N\": 1\n}"},
    {"{\n  \"a\": {\n  }, // a\n  // b\n}",
     "{\n  \"a\": {\n  }, // a\n  \"N\": 1,\n  // b\n}"},
};

static void test_add_member__leaves_comments_with_what_they_are_about(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(members); i++) {
        const char *before = members[i].before;
        gbx_edit edit;

        assert_true(gbx_edit_open(&edit, before, strlen(before)));
        if (!gbx_edit_add_member(&edit, edit.root, "N", "1"))
            fail_msg("not added: %s", before);
        assert_edited(&edit, members[i].after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_remove__leaves_the_others_as_they_were),
        cmocka_unit_test(test_add_item__leaves_comments_with_what_they_are_about),
        cmocka_unit_test(test_add_member__leaves_comments_with_what_they_are_about),
        cmocka_unit_test(test_remove__of_what_is_not_there_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
