/* SPDX-License-Identifier: MIT */
/* json_view - found, walked and unescaped as the text says. */
#include "base/cleanup.h"
#include "base/json_view.h"
#include "test.h"

static const char sample[] =
    " {\"name\" : \"a\\\"b]}\", \"list\":[1, [2,3] ,{\"x\":\"}\"}, true,null ],\n"
    " \"deep\":{\"on\":true,\"off\":false,\"none\":null,\"n\":-1.5e3}, \"e\":[], \"o\":{} } ";

static gbx_view open_text(const char *text)
{
    gbx_view view = {0};

    assert_true(gbx_view_open(text, strlen(text), &view));
    return view;
}

static void assert_text(gbx_view view, const char *expected)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {0};

    gbx_buf_init(&buf, 1000);
    assert_true(gbx_view_append_text(view, &buf));
    assert_int_equal(buf.len, strlen(expected));
    if (buf.len > 0)
        assert_memory_equal(buf.data, expected, buf.len);
}

TEST(members__are_found_by_name)
{
    gbx_view view = open_text(sample);
    gbx_view deep = gbx_view_member(view, "deep");

    assert_text(gbx_view_member(view, "name"), "a\"b]}");
    assert_true(gbx_view_is_true(gbx_view_member(deep, "on")));
    assert_false(gbx_view_is_true(gbx_view_member(deep, "off")));
    assert_int_equal(gbx_view_kind(gbx_view_member(deep, "none")), 'n');
    assert_int_equal(gbx_view_kind(gbx_view_member(deep, "n")), '0');
    assert_text(gbx_view_member(deep, "n"), "-1.5e3");
}

TEST(members__of_several_names_are_the_first_of_each)
{
    static const char *const names[] = {"b", "missing", "a"};
    gbx_view ret[3] = {{"old", 3}, {"old", 3}, {"old", 3}};

    gbx_view_members(open_text("{\"a\":1,\"c\":[{\"b\":0}],\"\\u0062\":\"2\",\"a\":3,"
                               "\"b\":4}"),
                     names, 3, ret);
    assert_text(ret[0], "2");
    assert_null(ret[1].at);
    assert_text(ret[2], "1");
    gbx_view_members(open_text("[1,2]"), names, 3, ret);
    for (size_t i = 0; i < 3; i++)
        assert_null(ret[i].at);
}

/* RFC 8259, 8.3: strings are compared by their characters. Some writers, PHP's by
 * default, escape every slash. */
TEST(texts__are_compared_by_their_characters)
{
    static const struct {
        const char *json;
        const char *text;
        bool is_same;
    } rows[] = {
        {"\"tools/list\"", "tools/list", true},
        {"\"tools\\/list\"", "tools/list", true},
        {"\"\\u0074ools/\\u006cist\"", "tools/list", true},
        {"\"caf\\u00e9\"", "caf\u00e9", true},
        {"\"\\ud83d\\ude00\"", "\U0001F600", true},
        {"\"\\n\"", "\n", true},
        {"\"\\n\"", "\\n", false},
        {"\"\\\\\"", "\\", true},
        {"\"\\\\\"", "\\\\", false},
        {"\"\"", "", true},
        {"\"tools\\\\list\"", "tools/list", false},
        {"\"tools\\/lis\"", "tools/list", false},
        {"\"tools\\/list2\"", "tools/list", false},
        {"\"tools\\/lisT\"", "tools/list", false},
        {"\"a\\u0000\"", "a", false},
        {"\"\\u0061\\u0061\"", "a", false},
        {"\"\\ud83d\"", "", false},
        {"7", "7", false},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf object = {.ceiling = 200};
        gbx_view view = open_text(rows[i].json);

        assert_int_equal(gbx_view_is_text(view, rows[i].text), rows[i].is_same);
        if (gbx_view_kind(view) != '"')
            continue;
        (void)gbx_buf_printf(&object, "{%s:1}", rows[i].json);
        (void)gbx_buf_append(&object, "", 1);
        view = gbx_view_member(open_text((char *)object.data), rows[i].text);
        assert_int_equal(gbx_view_kind(view) == '0', rows[i].is_same);
    }
    assert_false(gbx_view_is_text((gbx_view){0}, ""));
}

TEST(what_is_not_there__is_no_value)
{
    gbx_view view = open_text(sample);

    assert_int_equal(gbx_view_kind(gbx_view_member(view, "nam")), 0);
    assert_int_equal(gbx_view_kind(gbx_view_member(view, "on")), 0);
    assert_int_equal(gbx_view_kind(gbx_view_member((gbx_view){0}, "on")), 0);
    assert_false(gbx_view_is_true((gbx_view){0}));
}

TEST(a_walk__meets_every_element_once)
{
    static const char *const elements[] = {"1", "[2,3]", "{\"x\":\"}\"}", "true",
                                           "null"};
    gbx_view list = gbx_view_member(open_text(sample), "list");
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(list, &cursor, &name, &value)) {
        assert_true(count < GBX_COUNTOF(elements));
        assert_int_equal(value.len, strlen(elements[count]));
        assert_memory_equal(value.at, elements[count], value.len);
        assert_null(name.at);
        count++;
    }
    assert_int_equal(count, GBX_COUNTOF(elements));
    assert_int_equal(gbx_view_count(list), GBX_COUNTOF(elements));
}

TEST(a_walk__of_nothing_ends_at_once)
{
    static const char *const texts[] = {"[]", "{}",      "[ \n]", "{ }",
                                        "1",  "\"[1]\"", "null"};

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        size_t cursor = 0;
        gbx_view name;
        gbx_view value;

        assert_false(gbx_view_next(open_text(texts[i]), &cursor, &name, &value));
        assert_int_equal(gbx_view_count(open_text(texts[i])), 0);
    }
}

TEST(escapes__become_what_they_stand_for)
{
    static const char *const cases[][2] = {
        {"\"\"", ""},
        {"\"\\b\\f\\n\\r\\t\\/\\\\\\\"\"", "\b\f\n\r\t/\\\""},
        {"\"\\u00e9\\u4e2d\"", "\xc3\xa9\xe4\xb8\xad"},
        {"\"\\ud83d\\ude00!\"", "\xf0\x9f\x98\x80!"},
        {"\"\\ud83d\"", "\xef\xbf\xbd"},
        {"\"\\ude00x\"", "\xef\xbf\xbdx"},
        {"\"\\ud83d\\u0041\"", "\xef\xbf\xbd"
                               "A"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++)
        assert_text(open_text(cases[i][0]), cases[i][1]);
}

TEST(other_values__are_written_without_half_a_pair)
{
    static const char *const cases[][2] = {
        {"{\"a\":[1,\"\\ud83d\",\"\\ud83d\\ude00\"]}",
         "{\"a\":[1,\"\\ufffd\",\"\\ud83d\\ude00\"]}"},
        {"[\"\\\\ud83d\"]", "[\"\\\\ud83d\"]"},
        {"-1.50", "-1.50"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++)
        assert_text(open_text(cases[i][0]), cases[i][1]);
}

TEST(half_a_pair__is_mended_in_place)
{
    static const char *const cases[][2] = {
        {"\"\\ud83d\"", "\"\\ufffd\""},
        {"{\"k\\uDe00\":[\"\\ud83d\\ud83d\\ude00\"]}",
         "{\"k\\ufffd\":[\"\\ufffd\\ud83d\\ude00\"]}"},
        {"\"\\ude00\\ud83dx\\ud83d\\u0041\"", "\"\\ufffd\\ufffdx\\ufffd\\u0041\""},
        {"\"\\ud83d\\\\ude00\\n\"", "\"\\ufffd\\\\ude00\\n\""},
        {"\"\\ud83d\\ude00 \\\\ud83d \\u00e9\"",
         "\"\\ud83d\\ude00 \\\\ud83d \\u00e9\""},
        {"[1,\"\"]", "[1,\"\"]"},
        {"", ""},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        GBX_CLEANUP(gbx_free) char *text = strdup(cases[i][0]);

        gbx_json_mend_halves(text, strlen(text));
        assert_string_equal(text, cases[i][1]);
    }
}

TEST(a_string__is_copied_without_nul_and_up_to_its_limit)
{
    GBX_CLEANUP(gbx_free)
    char *text = gbx_view_string(open_text("\"\\u00e9b\""), 3);

    assert_string_equal(text, "\xC3\xA9"
                              "b");
    assert_null(gbx_view_string(open_text("\"\\u00e9b\""), 2));
    assert_null(gbx_view_string(open_text("\"a\\u0000\""), 9));
    assert_null(gbx_view_string(open_text("12"), 9));
    assert_null(gbx_view_string((gbx_view){0}, 9));
}

TEST(what_is_not_json__is_not_opened)
{
    static const char *const texts[] = {"", "{", "[1,]", "nul", "\"", "1 2"};
    gbx_view view;

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++)
        assert_false(gbx_view_open(texts[i], strlen(texts[i]), &view));
}

TEST_MAIN(NULL, NULL)
