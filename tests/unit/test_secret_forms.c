/* SPDX-License-Identifier: MIT */
/*
 * secret_forms - values are stripped from what comes back, in whatever way a program may
 * have written them.
 */
#include "secret_values.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static gbx_policy *policy;

static int set_up(void **state)
{
    (void)state;
    policy = secret_values_policy();
    return policy != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    gbx_policy_free(policy);
    return 0;
}

/* ---- stripping ---------------------------------------------------------------- */

typedef struct form {
    const char *what;
    const char *in;
    const char *out; /* NULL: as it is */
} form;

static bool strips(gbx_secret_text kind, const char *in, const char *out)
{
    gbx_buf buf;
    bool changed;
    bool as_expected;

    gbx_buf_init(&buf, GBX_KIB(64));
    assert_true(gbx_secrets_strip(policy, kind, span_of(in), &buf, &changed));
    if (out == NULL)
        as_expected = !changed && buf.len == 0;
    else
        as_expected =
            changed && buf.len == strlen(out) && memcmp(buf.data, out, buf.len) == 0;
    if (!as_expected)
        print_message("%s\n  became %.*s\n", in, changed ? (int)buf.len : 9,
                      changed ? (const char *)buf.data : "no other");
    gbx_buf_cleanup(&buf);
    return as_expected;
}

static const form plain[] = {
    {"nothing secret", "nothing to see", NULL},
    {"nothing secret, with escapes", "a%20b \\u0041 &amp; \n c+d %zz \\q &bogus; %",
     NULL},
    {"a part of a value", "tok-4f9a0c77e1b", NULL},
    {"the other part", "ok-4f9a0c77e1b2", NULL},
    {"another case", "TOK-4F9A0C77E1B2", NULL},
    {"itself", "tok-4f9a0c77e1b2", "{{secret:TOKEN}}"},
    {"itself in a text", "Bearer tok-4f9a0c77e1b2.", "Bearer {{secret:TOKEN}}."},
    {"twice", "tok-4f9a0c77e1b2tok-4f9a0c77e1b2", "{{secret:TOKEN}}{{secret:TOKEN}}"},
    {"after a begin of itself", "tok-4f9tok-4f9a0c77e1b2", "tok-4f9{{secret:TOKEN}}"},
    {"two of them", "8675309124 tok-4f9a0c77e1b2", "{{secret:PIN}} {{secret:TOKEN}}"},
    {"within digits", "18675309124.5", "1{{secret:PIN}}.5"},
    {"what escapes would be, as they are", "[" ODD "]", "[{{secret:ODD}}]"},

    {"lower hexadecimal", "0x746f6b2d346639613063373765316232", "0x{{secret:TOKEN}}"},
    {"upper hexadecimal", "0X746F6B2D346639613063373765316232", "0X{{secret:TOKEN}}"},

    {"base64", "dG9rLTRmOWEwYzc3ZTFiMg==", "{{secret:TOKEN}}=="},
    {"base64 of user:TOKEN", "Basic dXNlcjp0b2stNGY5YTBjNzdlMWIy",
     "Basic dXNlcj{{secret:TOKEN}}"},
    {"base64 of u:TOKEN:", "dTp0b2stNGY5YTBjNzdlMWIyOg==", "dT{{secret:TOKEN}}Og=="},
    {"base64 of uu:TOKEN:x", "dXU6dG9rLTRmOWEwYzc3ZTFiMjp4", "dXU6{{secret:TOKEN}}p4"},
    {"base64 in the other alphabet", "Pz5-Pz5-Pz5-Pz4", "{{secret:BLOB}}"},
    {"base64 in the usual alphabet", "Pz5+Pz5+Pz5+Pz4=", "{{secret:BLOB}}="},
    {"base64 in lines", "dG9rLTRmO\r\nWEwYzc3\nZTFiMg==", "{{secret:TOKEN}}=="},

    {"percent-encoded where it must be",
     "k%22%5C%2F%3C%26%3E'%2B%3D%25%20%C3%A9%F0%9F%94%91~z", "{{secret:ODD}}"},
    {"percent-encoded in lower case",
     "k%22%5c%2f%3c%26%3e%27%2b%3d%25%20%c3%a9%f0%9f%94%91~z", "{{secret:ODD}}"},
    {"percent-encoded altogether", "%74%6f%6b%2D%34%66%39%61%30%63%37%37%65%31%62%32",
     "{{secret:TOKEN}}"},
    {"as in a form", "q=k%22%5C%2F%3C%26%3E'%2B%3D%25+%C3%A9%F0%9F%94%91~z&r=1",
     "q={{secret:ODD}}&r=1"},
    {"percent-encoded with a backslash that is no escape",
     "k%22\\/%3C%26%3E'+%3D%25%20%C3%A9%F0%9F%94%91~z", "{{secret:ODD}}"},
    {"as in a form with a backslash that is no escape",
     "k%22\\/%3C%26%3E'%2B%3D%25+%C3%A9%F0%9F%94%91~z", "{{secret:ODD}}"},
    {"percent-encoded base64 in JSON with a plus as it is", "Pz5+Pz5\\u00252BPz5+Pz4",
     "{{secret:BLOB}}"},
    {"a value's last byte that could begin an escape", "all%20of%20it:%207%",
     "{{secret:TAIL}}"},
    {"percent-encoded base64", "Pz5%2BPz5%2BPz5%2BPz4%3D", "{{secret:BLOB}}%3D"},
    {"percent-encoded twice", "%2574ok%252D4f9a0c77e1b2", "{{secret:TOKEN}}"},

    {"JSON", "\"k\\\"\\\\/<&>'+=% \xC3\xA9\xF0\x9F\x94\x91~z\"", "\"{{secret:ODD}}\""},
    {"JSON in ASCII alone",
     "k\\\"\\\\\\/\\u003c\\u0026>\\u0027+=% \\u00e9\\ud83d\\udd11~z", "{{secret:ODD}}"},
    {"JSON, all escaped",
     "\\u0074\\u006F\\u006b\\u002d\\u0034\\u0066\\u0039\\u0061\\u0030\\u0063\\u0037"
     "\\u0037\\u0065\\u0031\\u0062\\u0032",
     "{{secret:TOKEN}}"},
    {"JavaScript",
     "t\\x6fk-4f9a0c77e1b2 k\\\"\\\\/<&>\\'+=% \\xc3\\xa9\xF0\x9F\x94\x91~z",
     "{{secret:TOKEN}} {{secret:ODD}}"},
    {"JavaScript, by code points",
     "t\\u{6F}k-4f9a0c77e1b\\u{000032} k\"\\\\/<&>'+=% \\u{e9}\\u{1F511}~z \\u{2",
     "{{secret:TOKEN}} {{secret:ODD}} \\u{2"},
    {"JavaScript, by what is no code point", "\\u{110000}\\u{}tok-4f9a0c77e1b2",
     "\\u{110000}\\u{}{{secret:TOKEN}}"},
    {"JSON in JSON",
     "{\\\"a\\\":\\\"k\\\\\\\"\\\\\\\\/<&>'+=% \xC3\xA9\\\\ud83d\\\\udd11~z\\\"}",
     "{\\\"a\\\":\\\"{{secret:ODD}}\\\"}"},
    {"base64 in JSON", "Pz5+Pz5\\u002bPz5\\u002BPz4\\u003d", "{{secret:BLOB}}\\u003d"},
    {"base64 in lines in JSON",
     "dG9rLTRmO\\r\\nWEwYzc3\\nZTFiMg==", "{{secret:TOKEN}}=="},
    {"percent-encoded in JSON", "\\u002574ok\\u00252D4f9a0c77e1b2", "{{secret:TOKEN}}"},
    {"JSON in a URL", "%5Cu0074ok-4f9a0c77e1b2", "{{secret:TOKEN}}"},

    {"HTML", "k&quot;\\/&lt;&amp;&gt;&#39;+=% \xC3\xA9\xF0\x9F\x94\x91~z",
     "{{secret:ODD}}"},
    {"HTML, by numbers",
     "&#107;&#x22;&#92;&#X2f;<&#38;>&apos;+&#61;% &#xE9;&#128273;~z", "{{secret:ODD}}"},
    {"HTML, by names",
     "k&quot;&bsol;&sol;<&amp;>'&plus;&equals;&percnt; \xC3\xA9\xF0\x9F\x94\x91~z",
     "{{secret:ODD}}"},
    {"HTML in JSON",
     "\\u0026#107;\\\"\\\\\\/<\\u0026amp;>'+=% \xC3\xA9\xF0\x9F\x94\x91~z",
     "{{secret:ODD}}"},

    {"as JSON in the text of a message, base64 in lines",
     "{\\\"a\\\":\\\"dG9rLTRmO\\\\r\\\\nWEwYzc3\\\\nZTFiMg==\\\"}",
     "{\\\"a\\\":\\\"{{secret:TOKEN}}==\\\"}"},
    {"as JSON in the text of a message, base64 in lines behind a line end",
     "dXNl\\\\ncjp0b2st\\\\nNGY5YTBjNzdlMWIy dXNlcjp\\\\n0b2stNGY5YTBjNzdlMWIy",
     "dXNl\\\\ncj{{secret:TOKEN}} dXNlcjp\\\\n{{secret:TOKEN}}"},
    {"as JSON in the text of a message, JSON in JSON",
     "k\\\\\\\\\\\\\\\"\\\\\\\\\\\\\\\\/<&>'+=% \xC3\xA9\\\\\\\\ud83d\\\\\\\\udd11~z",
     "{{secret:ODD}}"},
    {"as JSON in the text of a message, HTML",
     "k\\\\\\\"\\\\\\\\/&lt;&amp;\\\\u0026gt;'+=% \xC3\xA9\xF0\x9F\x94\x91~z",
     "{{secret:ODD}}"},
    {"as JSON in the text of a message, percent-encoded", "tok\\\\u00252D4f9a0c77e1b2",
     "{{secret:TOKEN}}"},
    {"as JSON in the text of a message, as in a form",
     "k\\\\u002522%5C%2F%3C%26%3E'%2B%3D%25+%C3%A9%F0%9F%94%91~z", "{{secret:ODD}}"},

    {"an escape that is none before it", "\\utok-4f9a0c77e1b2", "\\u{{secret:TOKEN}}"},
    {"half an escape before it", "%7tok-4f9a0c77e1b2", "%7{{secret:TOKEN}}"},
    {"half an entity before it", "&#12tok-4f9a0c77e1b2", "&#12{{secret:TOKEN}}"},
    {"half an escape at the end", "tok-4f9a0c77e1b%32%3", "{{secret:TOKEN}}%3"},
    {"an escape as the last byte", "tok-4f9a0c77e1b\\u0032", "{{secret:TOKEN}}"},
    {"half a character", "\\ud83d tok-4f9a0c77e1b2", "\\ud83d {{secret:TOKEN}}"},
    {"an escape that would begin another", "%%74ok-4f9a0c77e1b2", "%{{secret:TOKEN}}"},
    {"only a character's half of it", "\\ud83d\\u0041tok-4f9a0c77e1b2",
     "\\ud83d\\u0041{{secret:TOKEN}}"},
};

static void test_text__loses_every_form_of_a_value(void **state)
{
    size_t failed = 0;
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(plain); i++)
        if (!strips(GBX_SECRET_LINE, plain[i].in, plain[i].out)) {
            print_message("  which was: %s\n", plain[i].what);
            failed++;
        }

    assert_int_equal(failed, 0);
}

static const form json[] = {
    {"no JSON at all", "{tok-4f9a0c77e1b2", "{{{secret:TOKEN}}"},
    {"a string", "\"tok-4f9a0c77e1b2\"", "\"{{secret:TOKEN}}\""},
    {"in a string", "[1, \"a tok-4f9a0c77e1b2 b\"]", "[1, \"a {{secret:TOKEN}} b\"]"},
    {"a member's name", "{\"tok-4f9a0c77e1b2\": {}}", "{\"{{secret:TOKEN}}\": {}}"},
    {"behind an escape that its first letter is part of", "\"x\\tok-4f9a0c77e1b2\"",
     "\"x{{secret:TOKEN}}\""},
    {"beginning within an escape", "\"a\\u8675309124\"", "\"a{{secret:PIN}}\""},
    {"ending within an escape", "[\"8675309124\\n\"]", "[\"{{secret:PIN}}\\n\"]"},
    {"escaped in part", "\"\\u0074ok-4f9a0c77e1b\\u0032\"", "\"{{secret:TOKEN}}\""},
    {"between quotes", "\"\\\"tok-4f9a0c77e1b2\\\"\"", "\"\\\"{{secret:TOKEN}}\\\"\""},
    {"a number", "{\"pin\": 8675309124}", "{\"pin\": \"{{secret:PIN}}\"}"},
    {"in a number", "[-18675309124e2,5]", "[\"{{secret:PIN}}\",5]"},
    {"a number alone", "8675309124", "\"{{secret:PIN}}\""},
    {"an object", "{\"a\":{\"k\":\"private-key\",\"n\":12345678}}",
     "{\"a\":{\"{{secret:JSON}}\":\"{{secret:JSON}}\",\"{{secret:JSON}}\":"
     "\"{{secret:JSON}}\"}}"},
    {"two in one string", "\"tok-4f9a0c77e1b2, 8675309124\"",
     "\"{{secret:TOKEN}}, {{secret:PIN}}\""},
    {"base64 that ends in an escaped slash", "\"x\\/Pz5\\u002bPz5+Pz5+Pz4=\"",
     "\"x\\/{{secret:BLOB}}=\""},
    {"base64 behind an escaped slash", "\"\\/dp0b2stNGY5YTBjNzdlMWIy\"",
     "\"\\/d{{secret:TOKEN}}\""},
};

static void test_json__stays_json_without_a_value(void **state)
{
    size_t failed = 0;
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(json); i++) {
        bool was = gbx_json_check(json[i].in, strlen(json[i].in), 100, NULL);

        if (!strips(GBX_SECRET_DATA, json[i].in, json[i].out)) {
            print_message("  which was: %s\n", json[i].what);
            failed++;
        }
        assert_true(gbx_json_check(json[i].out, strlen(json[i].out), 100, NULL) == was);
    }

    assert_int_equal(failed, 0);
}

static void test_empty_and_unprepared__pass_nothing_unlooked(void **state)
{
    gbx_policy *bare = gbx_policy_new();
    struct gbx_secret_forms *forms = policy->secret_forms;
    gbx_buf buf;
    bool changed = true;
    (void)state;
    gbx_buf_init(&buf, 100);

    assert_true(
        gbx_secrets_strip(bare, GBX_SECRET_DATA, span_of("tok"), &buf, &changed));
    assert_false(changed);
    assert_true(
        gbx_secrets_strip(NULL, GBX_SECRET_DATA, span_of("tok"), &buf, &changed));
    assert_true(
        gbx_secrets_strip(policy, GBX_SECRET_DATA, span_of(""), &buf, &changed));
    policy->secret_forms = NULL;
    assert_false(
        gbx_secrets_strip(policy, GBX_SECRET_DATA, span_of("x"), &buf, &changed));
    policy->secret_forms = forms;

    gbx_policy_free(bare);
}

static void test_strip__that_does_not_fit_says_so(void **state)
{
    gbx_buf buf;
    bool changed;
    (void)state;
    gbx_buf_init(&buf, 20);

    assert_false(gbx_secrets_strip(policy, GBX_SECRET_DATA,
                                   span_of("tok-4f9a0c77e1b2, tok-4f9a0c77e1b2"), &buf,
                                   &changed));

    gbx_buf_cleanup(&buf);
}

/* A value that repeats itself is found in every way it can lie. */
static void test_strip__of_what_overlaps_itself_takes_all_of_it(void **state)
{
    gbx_policy *own = gbx_policy_new();
    gbx_buf buf;
    bool changed;
    (void)state;
    assert_int_equal(gbx_policy_secret(own, "A", "abababab", "a.b", NULL, NULL),
                     GBX_OK);
    assert_int_equal(gbx_policy_secret(own, "B", "bababababa", "a.b", NULL, NULL),
                     GBX_OK);
    gbx_buf_init(&buf, 1000);

    assert_true(gbx_secrets_strip(own, GBX_SECRET_LINE, span_of("x-ababababababab-x"),
                                  &buf, &changed));

    assert_true(changed);
    assert_int_equal(buf.len, strlen("x-{{secret:A}}-x"));
    assert_memory_equal(buf.data, "x-{{secret:A}}-x", buf.len);
    gbx_buf_cleanup(&buf);
    gbx_policy_free(own);
}

/* Many a program takes them off. */
static void test_strip__of_a_value_with_blanks_at_its_ends_does_without_them(
    void **state)
{
    gbx_policy *own = gbx_policy_new();
    gbx_buf buf;
    bool changed;
    (void)state;
    assert_int_equal(gbx_policy_secret(own, "A", " of-blanks-1 ", "a.b", NULL, NULL),
                     GBX_OK);
    assert_int_equal(gbx_policy_secret(own, "B", "  short  ", "a.b", NULL, NULL),
                     GBX_OK);
    gbx_buf_init(&buf, 1000);

    assert_true(gbx_secrets_strip(own, GBX_SECRET_LINE,
                                  span_of("[of-blanks-1][short][  short  ]"), &buf,
                                  &changed));

    assert_true(changed);
    assert_true(gbx_buf_append(&buf, "", 1));
    assert_string_equal((const char *)buf.data, "[{{secret:A}}][short][{{secret:B}}]");
    gbx_buf_cleanup(&buf);
    gbx_policy_free(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text__loses_every_form_of_a_value),
        cmocka_unit_test(test_json__stays_json_without_a_value),
        cmocka_unit_test(test_empty_and_unprepared__pass_nothing_unlooked),
        cmocka_unit_test(test_strip__that_does_not_fit_says_so),
        cmocka_unit_test(test_strip__of_what_overlaps_itself_takes_all_of_it),
        cmocka_unit_test(
            test_strip__of_a_value_with_blanks_at_its_ends_does_without_them),
    };

    return cmocka_run_group_tests_name("secret_forms", tests, set_up, tear_down);
}
