/* SPDX-License-Identifier: MIT */
/* mcp_spellings - one address, path or name, and all the ways to write it. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/rules/rules.h"
#include "rule_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DENY_META                                                            \
    "{\"action\":\"deny\",\"args\":{\"url\":[\"http://169.254.169.254/**\"," \
    "\"http://[2001:db8::1]/**\",\"file:///etc/**\"]}},{\"action\":\"allow\"}"
#define DENY_PAGE(path)                                               \
    "{\"action\":\"deny\",\"args\":{\"url\":\"https://a.example" path \
    "\"}},{\"action\":\"allow\"}"
#define DENIED(args)  "{\"action\":\"deny\",\"args\":{" args "}},{\"action\":\"allow\"}"
#define ALLOWED(args) "{\"action\":\"allow\",\"args\":{" args "}}"

static void test_hosts__are_told_in_one_way_alone(void **state)
{
    static const row rows[] = {
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254/x\"}", DENY},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254:8080/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.253/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://2852039166/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://0251.0376.0251.0376/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.0376/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://0xa9fea9fe/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://0x/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254.43518/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://a.b.0x7f/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://a.b.0x7g/\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://1.example/\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254:0080/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254:65616/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254.169.254:8x/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http:///169.254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http:////169.254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169.254..169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://169\\u3002254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[::ffff:a9fe:a9fe]/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[::ffff:169.254.169.254]/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[::a9fe:a9fe]/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[64:ff9b::a9fe:a9fe]/\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::1]/x\"}", DENY},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::2]/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://[::1]/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::0001]/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8:0:0:0:0:0:1]/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::1]:80/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::1]8/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"http://[2001:db8::1/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"file:///etc/x\"}", DENY},
        {DENY_META, "web/get {\"url\":\"file://localhost/etc/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"file:////etc/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"file:///e|/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"169.254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"\\\\\\\\169.254.169.254\\\\x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"/\\\\169.254.169.254/x\"}", FAULT},
        {DENY_META, "web/get {\"url\":\"/x\"}", ALLOW},
        {DENY_META, "web/get {\"url\":\"./x\"}", ALLOW},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_pages__are_denied_in_every_spelling(void **state)
{
    static const row rows[] = {
        {DENY_PAGE("/"), "web/get {\"url\":\"https://a.example\"}", DENY},
        {DENY_PAGE("/"), "web/get {\"url\":\"https://a.example/b\"}", ALLOW},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/b#c\"}", DENY},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/b?\"}", DENY},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/b/?c=d#e\"}", DENY},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/bc?d\"}", ALLOW},
        {DENY_PAGE("/b/**"), "web/get {\"url\":\"https://a.example/b?c\"}", DENY},
        {DENY_PAGE("/b c"), "web/get {\"url\":\"https://a.example/b c\"}", DENY},
        {DENY_PAGE("/b c"), "web/get {\"url\":\"https://a.example/b%20c\"}", FAULT},
        {DENY_PAGE("/b%20c"), "web/get {\"url\":\"https://a.example/b%20c\"}", DENY},
        {DENY_PAGE("/b%20c"), "web/get {\"url\":\"https://a.example/b c\"}", FAULT},
        {DENY_PAGE("/b@c"), "web/get {\"url\":\"https://a.example/b%40c\"}", FAULT},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/b%40c\"}", ALLOW},
        {DENY_PAGE("/\u00fc"), "web/get {\"url\":\"https://a.example/%C3%BC\"}", FAULT},
        {DENY_PAGE("/b\\\\?c=d"), "web/get {\"url\":\"https://a.example/b?c=d\"}",
         DENY},
        {DENY_PAGE("/b\\\\?c=d"), "web/get {\"url\":\"https://a.example/b?%63=d\"}",
         FAULT},
        {DENY_PAGE("/b"), "web/get {\"url\":\"https://a.example/x?u=a%3A%2F%2Fb\"}",
         ALLOW},
        {"{\"action\":\"deny\",\"args\":{\"path\":\"/b c/**\"}},{\"action\":\"allow\"}",
         "files/r {\"path\":\"/b%20c/x\"}", FAULT},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

/* Many servers take ";x=1" at the end of a part for no part of its name. */
static void test_parameters__of_parts_of_a_path_hide_no_page(void **state)
{
#define DENY_B     DENY_PAGE("/b/**")
#define ALLOW_B    ALLOWED("\"url\":\"https://a.example/b/**\"")
#define GET(after) "web/get {\"url\":\"https://a.example" after "\"}"
    static const row rows[] = {
        {DENY_B, GET("/b;x=1/c"), DENY},
        {DENY_B, GET("/b;x=1;y/c;z"), DENY},
        {DENY_B, GET("/b;"), DENY},
        {DENY_B, GET("/b;x/"), DENY},
        {DENY_B, GET("/b;x?q#f"), DENY},
        {DENY_B, GET("/b%3Bx=1/c"), DENY},
        {DENY_B, GET("/b%253bx=1/c"), DENY},
        {DENY_B, GET("/x/..;/b/c"), FAULT},
        {DENY_B, GET("/x/..%3b/b/c"), FAULT},
        {DENY_B, GET("/.;/b/c"), FAULT},
        {DENY_B, GET("/;/b/c"), FAULT},
        {DENY_B, GET("/x;y/c"), ALLOW},
        {DENY_B, GET("/bc;x"), ALLOW},
        {DENY_B, GET("/x?b;/b/c"), ALLOW},
        {DENY_B, "web/get {\"url\":\"https://b.example/b;x/c\"}", ALLOW},
        {DENY_PAGE("/b;v=1/c"), GET("/b;v=1/c;w"), DENY},
        {DENY_PAGE("/b;v=1/c"), GET("/b/c"), ALLOW},
        {DENY_PAGE("/"), GET("/;x"), FAULT},
        {ALLOW_B, GET("/b/c;x=1"), ALLOW},
        {ALLOW_B, GET("/b;x=1/c"), ASK},
        {ALLOW_B, GET("/b/..;/c"), FAULT},
        {ALLOW_B, GET("/b/..;x=1"), FAULT},
        {ALLOW_B, GET("/b/;/c"), FAULT},
        {ALLOWED("\"path\":\"/b/**\""), "files/r {\"path\":\"/b/..;/c\"}", ALLOW},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

#define DENY_FILE  DENIED("\"path\":\"/srv/s.txt\"")
#define DENY_INDEX DENY_PAGE("/b")

static void test_white_space__of_every_script_is_no_end_of_a_path(void **state)
{
    static const char *const blanks[] = {"\\t",     "\\n",     "\\u001f", " ",
                                         "\\u007f", "\\u0085", "\\u00a0", "\\u1680",
                                         "\\u2000", "\\u200a", "\\u2028", "\\u2029",
                                         "\\u202f", "\\u205f", "\\u3000", "\\ufeff"};
    static const row kept[] = {
        {DENY_FILE, "files/r {\"path\":\"/srv/s.txt\\u00e9\"}", ALLOW},
        {DENY_FILE, "files/r {\"path\":\"/srv/s\\u3000.txt\"}", ALLOW},
        {DENY_FILE, "files/r {\"path\":\"/srv/\\u6771\\u4eac\"}", ALLOW},
        {DENIED("\"name\":\"s\""), "files/r {\"name\":\"s\\u3000\"}", ALLOW},
    };
    (void)state;

    check_rows(kept, GBX_COUNTOF(kept));
    for (size_t i = 0; i < GBX_COUNTOF(blanks); i++) {
        char calls[4][80];
        row rows[4];

        for (size_t k = 0; k < 4; k++) {
            const char *before = k % 2 == 0 ? blanks[i] : "";
            const char *after = k % 2 == 0 ? "" : blanks[i];

            if (k < 2)
                (void)snprintf(calls[k], sizeof calls[k],
                               "files/r {\"path\":\"%s/srv/s.txt%s\"}", before, after);
            else
                (void)snprintf(calls[k], sizeof calls[k],
                               "web/get {\"url\":\"%shttps://a.example/b%s\"}", before,
                               after);
            rows[k] = (row){k < 2 ? DENY_FILE : DENY_INDEX, calls[k], FAULT};
        }
        check_rows(rows, 4);
    }
}

/* A rule that is read and then never fits would seem to hold. */
static void test_patterns__with_stars_are_not_taken_for_broken_ones(void **state)
{
    static const row rows[] = {
        {"{\"action\":\"deny\",\"args\":{\"url\":\"http://10.*/**\"}},{\"action\":\"allow\"}",
         "web/get {\"url\":\"http://10.1.2.3/x\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"url\":\"http://h:*/**\"}},{\"action\":\"allow\"}",
         "web/get {\"url\":\"http://h:8080/x\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"url\":\"http://[2001:db8::*]/**\"}},{\"action\":\"allow\"}",
         "web/get {\"url\":\"http://[2001:db8::7]/x\"}", DENY},
        {"{\"action\":\"deny\",\"args\":{\"url\":\"**://EVIL.example/**\"}},{\"action\":\"allow\"}",
         "web/get {\"url\":\"wss://evil.example/x\"}", DENY},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_letters__of_every_script_are_denied_in_every_case(void **state)
{
    static const row rows[] = {
        {DENIED("\"name\":\"MÜLLER\""), "web/x {\"name\":\"müller\"}", DENY},
        {DENIED("\"name\":\"müller\""), "web/x {\"name\":\"MÜLLER\"}", DENY},
        {DENIED("\"name\":\"müller\""), "web/x {\"name\":\"möller\"}", ALLOW},
        {DENIED("\"name\":\"*ΣΟΦΟΣ*\""), "web/x {\"name\":\"ο σοφος.\"}", DENY},
        {DENIED("\"name\":\"*σοφος*\""), "web/x {\"name\":\"ο σοφοσ.\"}", DENY},
        {DENIED("\"name\":\"приказ?\""), "web/x {\"name\":\"ПРИКАЗЫ\"}", DENY},
        {DENIED("\"name\":\"приказ?\""), "web/x {\"name\":\"ПРИКАЗ\"}", ALLOW},
        {DENIED("\"name\":\"東京\""), "web/x {\"name\":\"大阪\"}", ALLOW},
        {DENIED("\"name\":\"select *\""), "web/x {\"name\":\"ſELECT 1\"}", DENY},
        {DENIED("\"name\":\"KELVIN\""), "web/x {\"name\":\"\\u212aelvin\"}", DENY},
        {DENIED("\"name\":\"drop table titles\""),
         "web/x {\"name\":\"DROP TABLE T\\u0130TLES\"}", DENY},
        {DENIED("\"name\":\"titles\""), "web/x {\"name\":\"t\\u0131tles\"}", DENY},
        {DENIED("\"path\":\"/srv/Été/**\""), "web/x {\"path\":\"/SRV/été/x\"}", DENY},
        {DENIED("\"path\":\"/srv/Été/**\""), "web/x {\"path\":\"/srv/etes/x\"}", ALLOW},
        {DENIED("\"path\":\"/srv/\\\\é/**\""), "web/x {\"path\":\"/srv/É/x\"}", DENY},
        {DENIED("\"clé\":\"x\""), "web/x {\"CLÉ\":\"x\"}", FAULT},
        {DENIED("\"a.clé\":\"x\""), "web/x {\"a\":{\"clÉ\":\"x\"}}", FAULT},
        {DENIED("\"clé\":\"x\""), "web/x {\"clè\":\"x\"}", ALLOW},
        {ALLOWED("\"name\":\"MÜLLER\""), "web/x {\"name\":\"MÜLLER\"}", ALLOW},
        {ALLOWED("\"name\":\"MÜLLER\""), "web/x {\"name\":\"müller\"}", ASK},
        {ALLOWED("\"name\":\"m?ller\""), "web/x {\"name\":\"müller\"}", ALLOW},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

/* Every letter, as a pattern is folded: none becomes longer, and the form of the form is
 * the form. */
static void test_letters__have_one_form_that_is_no_longer(void **state)
{
    size_t changed = 0;
    (void)state;

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

static void test_patterns__that_end_in_a_slash_fit_the_root(void **state)
{
    const char *why;
    (void)state;

    assert_true(gbx_glob_value("*/", "/", 1, GBX_GLOB_EXACT, &why));
    assert_true(gbx_glob_value("*/", "/", 1, GBX_GLOB_WIDE, &why));
    assert_true(gbx_glob_value("*/", "a", 1, GBX_GLOB_WIDE, &why));
    assert_false(gbx_glob_value("*/", "a/b", 3, GBX_GLOB_WIDE, &why));
}

static void test_paths__with_backslashes_are_told_to_have_slashes(void **state)
{
    const char *why = NULL;
    (void)state;

    (void)gbx_glob_value("/srv/**", "/srv\\x", 6, GBX_GLOB_WIDE, &why);

    assert_non_null(why);
    assert_non_null(strstr(why, "with '/'"));
}

/* The folded pattern is shorter than what was written. */
static void test_patterns__with_letters_that_become_shorter_fit_themselves(void **state)
{
    static const char *const forms[] = {"/$ab/c",
                                        "/a$b/c",
                                        "/ab/$c",
                                        "/ab/c$",
                                        "/$/$$$",
                                        "https://h.example/a$b/c",
                                        "https://h.example/ab/c$"};
    size_t found = 0;
    (void)state;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hosts__are_told_in_one_way_alone),
        cmocka_unit_test(test_pages__are_denied_in_every_spelling),
        cmocka_unit_test(test_parameters__of_parts_of_a_path_hide_no_page),
        cmocka_unit_test(test_white_space__of_every_script_is_no_end_of_a_path),
        cmocka_unit_test(test_patterns__with_stars_are_not_taken_for_broken_ones),
        cmocka_unit_test(test_letters__of_every_script_are_denied_in_every_case),
        cmocka_unit_test(test_letters__have_one_form_that_is_no_longer),
        cmocka_unit_test(
            test_patterns__with_letters_that_become_shorter_fit_themselves),
        cmocka_unit_test(test_patterns__that_end_in_a_slash_fit_the_root),
        cmocka_unit_test(test_paths__with_backslashes_are_told_to_have_slashes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
