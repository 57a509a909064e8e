/* SPDX-License-Identifier: MIT */
/*
 * mcp_spellings - one address, path or name, and all the ways to write it; a path that
 * looks like an address, and a text that may be a path.
 */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/rules/rules.h"
#include "rule_rows.h"
#include "test.h"

#define DENY_FILE                                               \
    "{\"action\":\"deny\",\"args\":{\"path\":\"/srv/s.txt\"}}," \
    "{\"action\":\"allow\"}"
#define DENY_INDEX                                                      \
    "{\"action\":\"deny\",\"args\":{\"url\":\"https://a.example/b\"}}," \
    "{\"action\":\"allow\"}"

TEST(spellings__are_decided_as_the_table_says)
{
    check_rules("unit/mcp/spellings.txt", 40);
}

TEST(disguises__are_decided_as_the_table_says)
{
    check_rules("unit/mcp/disguises.txt", 17);
}

TEST(white_space__of_every_script_is_no_end_of_a_path)
{
    static const char *const blanks[] = {"\\t",     "\\n",     "\\u001f", " ",
                                         "\\u007f", "\\u0085", "\\u00a0", "\\u1680",
                                         "\\u2000", "\\u200a", "\\u2028", "\\u2029",
                                         "\\u202f", "\\u205f", "\\u3000", "\\ufeff"};
    for (size_t i = 0; i < GBX_COUNTOF(blanks); i++)
        for (size_t k = 0; k < 4; k++) {
            const char *before = k % 2 == 0 ? blanks[i] : "";
            const char *after = k % 2 == 0 ? "" : blanks[i];
            char call[80];

            (void)snprintf(call, sizeof call,
                           k < 2 ? "files/r {\"path\":\"%s/srv/s.txt%s\"}"
                                 : "web/get {\"url\":\"%shttps://a.example/b%s\"}",
                           before, after);
            check_decided(k < 2 ? DENY_FILE : DENY_INDEX, call, "fault");
        }
}

/* Every letter, as a pattern is folded: none becomes longer, and the form of the form is
 * the form. */
TEST(letters__have_one_form_that_is_no_longer)
{
    size_t changed = 0;

    for (uint32_t point = 0; point < 0x110000; point++) {
        char one[4];
        char form[4];
        char again[4];
        size_t len = gbx_utf8_encode(point, (uint8_t *)one);
        size_t form_len;
        size_t again_len;

        if (point >= 0xD800 && point < 0xE000)
            continue;
        assert_int_equal(gbx_letter_fold(one, len, form, &form_len), len);
        assert_true(form_len <= len);
        assert_int_equal(gbx_letter_fold(form, form_len, again, &again_len), form_len);
        assert_memory_equal(form, again, form_len);
        changed += form_len != len || memcmp(one, form, len) != 0;
    }
    assert_true(changed > 1400);
}

/* By itself, and by what is below it. */
static void check_fits_itself(const char *stem)
{
    static const struct {
        const char *after;
        const char *text;
    } ends[] = {{"", ""},     {"", "/"},       {"/", ""},   {"/", "/"},
                {"/*", "/x"}, {"/**", "/x/y"}, {"/**", ""}, {"/**", "/"}};

    for (size_t i = 0; i < GBX_COUNTOF(ends); i++) {
        char pattern[80];
        char text[80];
        const char *why;

        (void)snprintf(pattern, sizeof pattern, "%s%s", stem, ends[i].after);
        (void)snprintf(text, sizeof text, "%s%s", stem, ends[i].text);
        if (!gbx_glob_value(pattern, text, strlen(text), GBX_GLOB_WIDE, &why))
            fail_msg("'%s' does not fit '%s': %s", pattern, text,
                     why != NULL ? why : "no reason");
    }
}

/* Each '$' is the letter. */
static void fill(char stem[60], const char *form, const char *letter)
{
    size_t len = 0;

    for (; *form != '\0'; form++)
        len += (size_t)snprintf(stem + len, 60 - len, "%.*s", *form == '$' ? 4 : 1,
                                *form == '$' ? letter : form);
}

TEST(patterns__that_end_in_a_slash_fit_the_root)
{
    const char *why;

    assert_true(gbx_glob_value("*/", "/", 1, GBX_GLOB_EXACT, &why));
    assert_true(gbx_glob_value("*/", "/", 1, GBX_GLOB_WIDE, &why));
    assert_true(gbx_glob_value("*/", "a", 1, GBX_GLOB_WIDE, &why));
    assert_false(gbx_glob_value("*/", "a/b", 3, GBX_GLOB_WIDE, &why));
}

TEST(paths__with_backslashes_are_told_to_have_slashes)
{
    const char *why = NULL;

    (void)gbx_glob_value("/srv/**", "/srv\\x", 6, GBX_GLOB_WIDE, &why);

    assert_non_null(why);
    assert_non_null(strstr(why, "with '/'"));
}

/* The folded pattern is shorter than what was written. */
TEST(patterns__with_letters_that_become_shorter_fit_themselves)
{
    static const char *const forms[] = {"/$ab/c",
                                        "/a$b/c",
                                        "/ab/$c",
                                        "/ab/c$",
                                        "/$/$$$",
                                        "https://h.example/a$b/c",
                                        "https://h.example/ab/c$"};
    size_t found = 0;

    for (uint32_t point = 0x80; point < 0x110000; point++) {
        char one[5] = {0};
        char form[4];
        size_t form_len;
        size_t len = gbx_utf8_encode(point, (uint8_t *)one);

        if ((point >= 0xD800 && point < 0xE000) ||
            gbx_letter_fold(one, len, form, &form_len) == 0 || form_len == len)
            continue;
        found++;
        for (size_t i = 0; i < GBX_COUNTOF(forms); i++) {
            char stem[60];

            fill(stem, forms[i], one);
            check_fits_itself(stem);
        }
    }
    assert_true(found >= 6);
}

TEST(resolved__is_no_longer_and_resolved_already)
{
    static const char letters[] = {'a', '.', '/', '\\', ' '};
    char text[7];
    char form[7];

    for (size_t number = 0; number < 5 * 5 * 5 * 5 * 5 * 5 * 5; number++) {
        size_t rest = number;

        for (size_t i = 0; i < sizeof text; i++, rest /= 5)
            text[i] = letters[rest % 5];
        for (int i = GBX_RESOLVED_ONE; i <= GBX_RESOLVED_BOTH; i++) {
            char again[7];
            size_t len = gbx_path_forms(text, sizeof text, (gbx_path_slashes)i, form);

            assert_in_range(len, 0, sizeof text);
            assert_int_equal(gbx_path_forms(form, len, (gbx_path_slashes)i, again),
                             len);
            assert_memory_equal(form, again, len);
        }
    }
}

TEST_MAIN(NULL, NULL)
