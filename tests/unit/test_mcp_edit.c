/* SPDX-License-Identifier: MIT */
/* mcp_edit - what is put into a person's file, and all that must stay where it is. */
#include "base/cleanup.h"
#include "mcp/config/config.h"
#include "test.h"

static void assert_edited(gbx_edit *edit, const char *text)
{
    assert_true(gbx_buf_append(&edit->text, "", 1));
    assert_string_equal((const char *)edit->text.data, text);
    gbx_edit_close(edit);
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

TEST(add_member__leaves_comments_with_what_they_are_about)
{
    for (size_t i = 0; i < GBX_COUNTOF(members); i++) {
        const char *before = members[i].before;
        gbx_edit edit;

        assert_true(gbx_edit_open(&edit, before, strlen(before)));
        if (!gbx_edit_add_member(&edit, edit.root, "N", "1"))
            fail_msg("not added: %s", before);
        assert_edited(&edit, members[i].after);
    }
}

TEST_MAIN(NULL, NULL)
