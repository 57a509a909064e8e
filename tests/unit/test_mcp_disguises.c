/* SPDX-License-Identifier: MIT */
/* mcp_disguises - a path that looks like an address, and a text that may be a path. */
#include "base/cleanup.h"
#include "mcp/rules/internal.h"
#include "mcp/rules/rules.h"
#include "rule_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define DENIED(path) \
    "{\"action\":\"deny\",\"args\":{\"path\":" path "}},{\"action\":\"allow\"}"
#define ALLOWED(path) "{\"action\":\"allow\",\"args\":{\"path\":" path "}}"
#define READ(path)    "files/r {\"path\":\"" path "\"}"

#define NAMED   DENIED("\"**/.env\"")
#define FOLDER  DENIED("\"/srv/private/**\"")
#define BOTH    DENIED("[\"/srv/private/**\",\"**/.env\"]")
#define ONE     DENIED("\"/srv/k.txt\"")
#define ALLOW_S ALLOWED("[\"/srv/**\",\"**/x\"]")

/* A program that knows no schemes takes "xx:" for a folder. */
static void test_schemes__lead_past_no_denial_of_a_path(void **state)
{
    static const row rows[] = {
        {BOTH, READ("xx://../private/k.txt"), FAULT},
        {BOTH, READ("https://../private/k.txt"), FAULT},
        {BOTH, READ("http://../../../../srv/private/k.txt"), FAULT},
        {BOTH, READ("HTTPS://../.env"), FAULT},
        {BOTH, READ("wss://a/../../private/k.txt"), FAULT},
        {BOTH, READ("ftp://a/b/../../../.env"), FAULT},
        {BOTH, READ("https://%2e%2e/private/k.txt"), FAULT},
        {BOTH, READ("https://%252E./private/k.txt"), FAULT},
        {BOTH, READ("https://a%2f..%2f..%2fprivate/k.txt"), FAULT},
        {BOTH, READ("https://..\\\\private\\\\k.txt"), FAULT},
        {BOTH, READ("https://a\\\\..\\\\..\\\\private"), FAULT},
        {BOTH, READ("https:///../private/k.txt"), FAULT},
        {BOTH, READ("https://a?/../../private/k.txt"), FAULT},
        {BOTH, READ("https://a#/../../private/k.txt"), FAULT},
        {BOTH, READ("https://a/.."), FAULT},
        {BOTH, READ("https://a/x://../../../private/k.txt"), FAULT},
        {NAMED, READ("xx://../.env"), FAULT},
        {NAMED, READ("xx://./.env"), FAULT},
        {NAMED, READ("xx://a/../../.env"), FAULT},
        {NAMED, READ("xx://a//.env"), FAULT},
        {NAMED, READ("xx:///a//.env"), FAULT},
        {NAMED, READ("xx:////.env"), FAULT},
        {NAMED, READ("xx://%2eenv"), FAULT},
        {NAMED, READ("xx://a%2f.env"), FAULT},
        {NAMED, READ("xx://a\\\\.env"), FAULT},
        {NAMED, READ("x-y.z+1://../.env"), FAULT},
        {NAMED, READ("C://../.env"), FAULT},
        {NAMED, READ("C://.env"), FAULT},
        {NAMED, READ("C:/../.env"), FAULT},
        {NAMED, READ("a/xx://../.env"), FAULT},
        {NAMED, READ("/srv/xx://../.env"), FAULT},
        {NAMED, READ("xx:xx://../.env"), FAULT},
        {NAMED, READ("jar:file:///srv/.env"), FAULT},
        {NAMED, READ("xx://file:///srv/.env"), FAULT},
        {NAMED, READ("1x://../.env"), FAULT},
        {NAMED, READ("://../.env"), FAULT},
        {NAMED, READ("xx:/../.env"), FAULT},
        {NAMED, READ("xx:..//.env"), FAULT},
        {NAMED, READ("xx:\\\\\\\\..\\\\.env"), FAULT},
        {NAMED, READ("xx:/\\\\..\\\\.env"), FAULT},
        {NAMED, READ(" xx://../.env"), FAULT},
        {NAMED, READ("f\\nile:///srv/.env"), FAULT},
        {NAMED, READ("file:///srv/.env"), FAULT},
        {NAMED, READ("file://localhost/srv/.env"), FAULT},
        {NAMED, READ("file:/srv/.env"), FAULT},
        {NAMED, READ("file:.env"), FAULT},
        {NAMED, READ("FILE://srv/.env"), FAULT},
        {NAMED, READ("File:///srv/.env"), FAULT},
        {NAMED, READ("xx://.env"), DENY},
        {NAMED, READ("xx://.ENV/"), DENY},
        {NAMED, READ("xx:///srv/.env"), DENY},
        {NAMED, READ("C:/srv/.env"), DENY},
        {NAMED, READ("xx:/.env"), DENY},
        {FOLDER, READ("sqlite:///srv/private/db"), DENY},
        {FOLDER, READ("sqlite:////srv/private/db"), FAULT},
        {FOLDER, READ("unix://srv/private/s"), DENY},
        {FOLDER, READ("php://filter/resource=/srv/private/k"), DENY},
        {FOLDER, READ("phar:///SRV/private/"), DENY},
        {FOLDER, READ("file+x:///srv/private"), DENY},
        {FOLDER, READ("xx:///srv/priv%61te/k"), FAULT},
        {FOLDER, READ("xx:///srv%2fprivate/k"), FAULT},
        {FOLDER, READ("view-source:file:///srv/private/k"), FAULT},
        {FOLDER, READ("C:/srv/private/k"), FAULT},
        {FOLDER, READ("C://srv/private/k"), FAULT},
        {FOLDER, READ("xx:/srv/private/k"), FAULT},
        {FOLDER, READ("a/https://../../srv/private/k"), FAULT},
        {ONE, READ("xx:///srv/k.txt"), DENY},
        {ONE, READ("xx:///srv/k.txt/"), DENY},
        {ONE, READ("xx:///srv/k.txt?mode=ro"), DENY},
        {ONE, READ("xx:///srv/k.txt/#a"), DENY},
        {ONE, READ("xx:///srv/k.txt.old?k.txt"), ALLOW},
        {NAMED, READ("xx://a/.env?b#c"), DENY},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_addresses__that_lead_nowhere_else_pass_denials_of_paths(void **state)
{
    static const row rows[] = {
        {BOTH, READ("https://a.example"), ALLOW},
        {BOTH, READ("https://a.example/"), ALLOW},
        {BOTH, READ("https://u:p@a.example:8080/x//y/./z;v=1?q=a%2Fb&r=../x#f"), ALLOW},
        {BOTH, READ("https://a.example/login?next=https://b.example/c"), ALLOW},
        {BOTH, READ("https://a.example/a%20b/c%2ed/x...y/..."), ALLOW},
        {BOTH, READ("https://a.example/srv/private/k"), ALLOW},
        {BOTH, READ("HTTP://a.example/x"), ALLOW},
        {BOTH, READ("s3://bucket/a/b.txt"), ALLOW},
        {BOTH, READ("memo://notes/1"), ALLOW},
        {BOTH, READ("ssh://git@a.example/x.git"), ALLOW},
        {BOTH, READ("postgres://u:p@a.example:5432/db?x=1"), ALLOW},
        {BOTH, READ("xx://"), ALLOW},
        {BOTH, READ("sqlite:///srv/public/db"), ALLOW},
        {BOTH, READ("sqlite:///srv/private2/db"), ALLOW},
        {NAMED, READ("xx://.env.example"), ALLOW},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_schemes__fit_nothing_that_allows_paths(void **state)
{
    static const row rows[] = {
        {ALLOW_S, READ("xx:///srv/k"), ASK},
        {ALLOW_S, READ("xx://srv/k"), ASK},
        {ALLOW_S, READ("xx://a/x"), ASK},
        {ALLOW_S, READ("xx://../x"), ASK},
        {ALLOW_S, READ("https://a.example/srv/x"), ASK},
        {ALLOW_S, READ("https://../x"), ASK},
        {ALLOW_S, READ("C://srv/x"), ASK},
        {ALLOW_S, READ("file:///srv/x"), FAULT},
        {ALLOW_S, READ("/srv/x"), ALLOW},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

#define ENDING DENIED("\"*.env\"")
#define EXACT  DENIED("[\"k.txt\",\"data*key.pem\",\".\",\"..\"]")
#define WITHIN DENIED("\"*private*\"")
#define DRIVE  DENIED("\"C:\\\\\\\\data\\\\\\\\k.txt\"")

/* A pattern without a slash is of any text; a path is one. */
static void test_texts__that_may_be_a_path_are_denied_in_every_form(void **state)
{
    static const row rows[] = {
        {ENDING, READ(".env"), DENY},
        {ENDING, READ(".env/"), DENY},
        {ENDING, READ(".env//"), DENY},
        {ENDING, READ(".ENV/"), DENY},
        {ENDING, READ("/srv/.env/"), DENY},
        {ENDING, READ("/srv/.env/."), DENY},
        {ENDING, READ("/srv/.env/./"), DENY},
        {ENDING, READ("/srv/.env//././/"), DENY},
        {ENDING, READ(".env/x/.."), DENY},
        {ENDING, READ(".env/x/../"), DENY},
        {ENDING, READ(".env/x/y/../.."), DENY},
        {ENDING, READ(".env/x/./..//."), DENY},
        {ENDING, READ("a/.env/../.env/x/.."), DENY},
        {ENDING, READ(".env/../../.env/."), DENY},
        {ENDING, READ(".env\\\\"), DENY},
        {ENDING, READ(".env\\\\x\\\\.."), DENY},
        {ENDING, READ(".env/x\\\\.."), DENY},
        {ENDING, READ(".env/x\\\\../.."), DENY},
        {ENDING, READ("C:\\\\srv\\\\.env\\\\."), DENY},
        {ENDING, READ(".env/ /.."), DENY},
        {ENDING, READ("xx://../.env/"), DENY},
        {ENDING, READ("https://a.example/.env/"), DENY},
        {ENDING, READ(".env/x"), ALLOW},
        {ENDING, READ(".env/.."), ALLOW},
        {ENDING, READ(".env.example/"), ALLOW},
        {EXACT, READ("k.txt"), DENY},
        {EXACT, READ("./k.txt"), DENY},
        {EXACT, READ(".//k.txt"), DENY},
        {EXACT, READ("x/../k.txt"), DENY},
        {EXACT, READ("x/../k.txt/"), DENY},
        {EXACT, READ(" /../k.txt"), DENY},
        {EXACT, READ(".\\\\k.txt"), DENY},
        {EXACT, READ("x\\\\..\\\\k.txt"), DENY},
        {EXACT, READ("./data/a/../key.pem"), DENY},
        {EXACT, READ("./"), DENY},
        {EXACT, READ("a/.."), DENY},
        {EXACT, READ("../a/.."), DENY},
        {EXACT, READ("k.txt2"), ALLOW},
        {EXACT, READ("a/k.txt"), ALLOW},
        {EXACT, READ("/k.txt"), ALLOW},
        {EXACT, READ("../../k.txt"), ALLOW},
        {EXACT, READ("/"), ALLOW},
        {EXACT, READ(""), ALLOW},
        {WITHIN, READ("/srv/private/"), DENY},
        {DRIVE, READ("C:\\\\data\\\\.\\\\k.txt"), DENY},
        {DENIED("[\"a\",\"\\\\\\\\etc\"]"), READ("\\\\x\\\\..\\\\etc\\\\"), DENY},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_texts__that_are_no_paths_are_not_refused(void **state)
{
    static const row rows[] = {
        {WITHIN, READ("either/or, and ../more"), ALLOW},
        {WITHIN, READ("cd ../../x && make ./y//z/"), ALLOW},
        {WITHIN, READ("https://a.example/x/../y?z=%2e%2e/"), ALLOW},
        {WITHIN, READ("// a comment\\n/* and more */\\n"), ALLOW},
        {WITHIN, READ(" "), ALLOW},
        {WITHIN, READ("a \\\\ b / c .. d"), ALLOW},
        {DENIED("\"rm *\""), READ("ls ../.. "), ALLOW},
        {DENIED("\"rm *\""), READ("rm "), DENY},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_texts__fit_what_allows_as_they_are_alone(void **state)
{
    static const row rows[] = {
        {ALLOWED("\"*.txt\""), READ("a/b.txt"), ALLOW},
        {ALLOWED("\"*.txt\""), READ("a/b.txt/"), ASK},
        {ALLOWED("\"*.txt\""), READ("b.txt/x/.."), ASK},
        {ALLOWED("\"*.txt\""), READ("b.txt "), ASK},
        {ALLOWED("\"k.txt\""), READ("./k.txt"), ASK},
        {ALLOWED("\"k.txt\""), READ("x/../k.txt"), ASK},
    };
    (void)state;

    check_rows(rows, GBX_COUNTOF(rows));
}

static void test_resolved__is_no_longer_and_resolved_already(void **state)
{
    static const char letters[] = {'a', '.', '/', '\\', ' '};
    char text[7];
    char form[7];
    (void)state;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemes__lead_past_no_denial_of_a_path),
        cmocka_unit_test(test_addresses__that_lead_nowhere_else_pass_denials_of_paths),
        cmocka_unit_test(test_schemes__fit_nothing_that_allows_paths),
        cmocka_unit_test(test_texts__that_may_be_a_path_are_denied_in_every_form),
        cmocka_unit_test(test_texts__that_are_no_paths_are_not_refused),
        cmocka_unit_test(test_texts__fit_what_allows_as_they_are_alone),
        cmocka_unit_test(test_resolved__is_no_longer_and_resolved_already),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
