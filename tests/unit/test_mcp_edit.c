/* SPDX-License-Identifier: MIT */
/* mcp_edit - what is put into a person's file, and all that must stay where it is. */
#include "base/cleanup.h"
#include "mcp/config/edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_edited(gbx_edit *edit, const char *text)
{
    assert_true(gbx_buf_append(&edit->text, "", 1));
    assert_string_equal((const char *)edit->text.data, text);
    gbx_edit_close(edit);
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
        cmocka_unit_test(test_add_item__leaves_comments_with_what_they_are_about),
        cmocka_unit_test(test_add_member__leaves_comments_with_what_they_are_about),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
