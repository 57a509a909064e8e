/* SPDX-License-Identifier: MIT */
/* json - what RFC 8259 says is JSON, and nothing else; and where it stops being it. */
#include "base/cleanup.h"
#include "base/json.h"
#include "test.h"

#define TEXT(s) (s), sizeof(s) - 1

static const struct {
    const char *text;
    size_t len;
} accepted[] = {
    /* scalars */
    {TEXT("null")},
    {TEXT("true")},
    {TEXT("false")},
    {TEXT("0")},
    {TEXT("-0")},
    {TEXT("123")},
    {TEXT("-1")},
    {TEXT("0.5")},
    {TEXT("-0.5")},
    {TEXT("1e5")},
    {TEXT("1E+5")},
    {TEXT("1e-5")},
    {TEXT("0e0")},
    {TEXT("0.0e-0")},
    {TEXT("1e999")},
    {TEXT("-123123e100000")},
    {TEXT("123456789012345678901234567890")},
    {TEXT("0.000000000000000000000000000000000000000000000000000000000000000001")},
    {TEXT("\"\"")},
    {TEXT("\"a\"")},
    /* white space */
    {TEXT(" null ")},
    {TEXT("\t\r\n 1 \n")},
    {TEXT("[ ]")},
    {TEXT("{ }")},
    {TEXT(" { \"a\" : 1 , \"b\" : 2 } ")},
    {TEXT("[1,\n2\r,\t3 ]")},
    /* containers */
    {TEXT("[]")},
    {TEXT("{}")},
    {TEXT("[null,1,\"1\",{}]")},
    {TEXT("[[],[[]],{}]")},
    {TEXT("{\"a\":{\"b\":[{\"c\":null}]}}")},
    {TEXT("{\"a\":1,\"a\":2}")},
    {TEXT("{\"\":0}")},
    {TEXT("{\"__proto__\":{}}")},
    {TEXT("[1,[2,[3,[4]]],5]")},
    /* strings */
    {TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"")},
    {TEXT("\"\\u0041\\u00e9\\uABCD\\uabcd\"")},
    {TEXT("\"\\u0000\"")},
    {TEXT("\"\\uD83D\\uDE00\"")},
    {TEXT("\"\\uD83D\"")}, /* escapes may name half a pair */
    {TEXT("\"\\uDE00\\uD83D\"")},
    {TEXT("\"\x7F\"")}, /* DEL is not a control character here */
    {TEXT("\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"")},
    {TEXT("\"\xE2\x80\xA8\xE2\x80\xA9\"")},
    {TEXT("\"\xEF\xBF\xBF\"")},
    {TEXT("\"/\"")},
    {TEXT("\"[1,2]\"")},
    {TEXT("{\"a\\u0062\":1}")},
};

static const struct {
    const char *text;
    size_t len;
    size_t offset; /* where the checker stops */
    const char *message;
} refused[] = {
    /* nothing */
    {TEXT(""), 0, "expected a JSON value, found the end"},
    {TEXT(" \n"), 2, "expected a JSON value, found the end"},
    {TEXT("\xEF\xBB\xBFnull"), 0, "expected a JSON value"}, /* byte order mark */
    {TEXT("\xC2\xA0null"), 0, "expected a JSON value"},     /* not white space */
    {TEXT("\f1"), 0, "expected a JSON value"},
    {TEXT("\v1"), 0, "expected a JSON value"},
    /* words */
    {TEXT("nul"), 0, "expected a JSON value"},
    {TEXT("NULL"), 0, "expected a JSON value"},
    {TEXT("True"), 0, "expected a JSON value"},
    {TEXT("truee"), 4, "unexpected text after the JSON value"},
    {TEXT("undefined"), 0, "expected a JSON value"},
    {TEXT("NaN"), 0, "expected a JSON value"},
    {TEXT("Infinity"), 0, "expected a JSON value"},
    {TEXT("-Infinity"), 1, "expected a digit"},
    {TEXT("a"), 0, "expected a JSON value"},
    {TEXT("[nulL]"), 1, "expected a JSON value"},
    /* numbers */
    {TEXT("-"), 1, "expected a digit"},
    {TEXT("+1"), 0, "expected a JSON value"},
    {TEXT("--1"), 1, "expected a digit"},
    {TEXT("01"), 1, "unexpected text after the JSON value"},
    {TEXT("-01"), 2, "unexpected text after the JSON value"},
    {TEXT("00"), 1, "unexpected text after the JSON value"},
    {TEXT(".5"), 0, "expected a JSON value"},
    {TEXT("-.5"), 1, "expected a digit"},
    {TEXT("1."), 2, "expected a digit"},
    {TEXT("1.e5"), 2, "expected a digit"},
    {TEXT("1e"), 2, "expected a digit"},
    {TEXT("1e+"), 3, "expected a digit"},
    {TEXT("1eE2"), 2, "expected a digit"},
    {TEXT("1e2.5"), 3, "unexpected text after the JSON value"},
    {TEXT("0x10"), 1, "unexpected text after the JSON value"},
    {TEXT("0b1"), 1, "unexpected text after the JSON value"},
    {TEXT("1_000"), 1, "unexpected text after the JSON value"},
    {TEXT("1n"), 1, "unexpected text after the JSON value"},
    {TEXT("1 2"), 2, "unexpected text after the JSON value"},
    {TEXT("[1,-]"), 4, "expected a digit"},
    {TEXT("\xEF\xBC\x91"), 0, "expected a JSON value"}, /* a full-width digit */
    /* strings */
    {TEXT("\""), 1, "unterminated string"},
    {TEXT("\"a"), 2, "unterminated string"},
    {TEXT("\"\\"), 2, "unterminated string"},
    {TEXT("\"\\\""), 3, "unterminated string"},
    {TEXT("'a'"), 0, "expected a JSON value"},
    {TEXT("`a`"), 0, "expected a JSON value"},
    {TEXT("\"\\x41\""), 2, "unknown escape in a string"},
    {TEXT("\"\\a\""), 2, "unknown escape in a string"},
    {TEXT("\"\\'\""), 2, "unknown escape in a string"},
    {TEXT("\"\\\n\""), 2, "unknown escape in a string"},
    {TEXT("\"\\\0\""), 2, "unknown escape in a string"},
    {TEXT("\"\\\xC3\xA9\""), 2, "unknown escape in a string"},
    {TEXT("\"\\U0041\""), 2, "unknown escape in a string"},
    {TEXT("\"\\u004\""), 6, "expected four hexadecimal digits after '\\u'"},
    {TEXT("\"\\u00g1\""), 5, "expected four hexadecimal digits after '\\u'"},
    {TEXT("\"\\u"), 3, "expected four hexadecimal digits after '\\u'"},
    {TEXT("\"\\u-123\""), 3, "expected four hexadecimal digits after '\\u'"},
    {TEXT("\"a\nb\""), 2, "control character in a string: escape it"},
    {TEXT("\"a\tb\""), 2, "control character in a string: escape it"},
    {TEXT("\"\0\""), 1, "control character in a string: escape it"},
    {TEXT("\"\x1F\""), 1, "control character in a string: escape it"},
    {TEXT("\"\x80\""), 1, "invalid UTF-8"},
    {TEXT("\"\xC3\""), 1, "invalid UTF-8"},
    {TEXT("\"\xC0\x80\""), 1, "invalid UTF-8"},
    {TEXT("\"\xED\xA0\x80\""), 1, "invalid UTF-8"},
    {TEXT("\"\xF4\x90\x80\x80\""), 1, "invalid UTF-8"},
    {TEXT("\"a\"\"b\""), 3, "unexpected text after the JSON value"},
    /* arrays */
    {TEXT("["), 1, "expected a JSON value, found the end"},
    {TEXT("]"), 0, "expected a JSON value"},
    {TEXT("[1"), 2, "expected ',' or ']'"},
    {TEXT("[1,"), 3, "expected a JSON value, found the end"},
    {TEXT("[1,]"), 3, "expected a JSON value"},
    {TEXT("[,1]"), 1, "expected a JSON value"},
    {TEXT("[1,,2]"), 3, "expected a JSON value"},
    {TEXT("[1 2]"), 3, "expected ',' or ']'"},
    {TEXT("[1:2]"), 2, "expected ',' or ']'"},
    {TEXT("[1}"), 2, "expected ',' or ']'"},
    {TEXT("[1]]"), 3, "unexpected text after the JSON value"},
    {TEXT("[][]"), 2, "unexpected text after the JSON value"},
    {TEXT("[\"a\",\n4\n,1,"), 11, "expected a JSON value, found the end"},
    {TEXT("[1,/**/2]"), 3, "expected a JSON value"},
    {TEXT("[1]//"), 3, "unexpected text after the JSON value"},
    {TEXT("[1]#"), 3, "unexpected text after the JSON value"},
    /* objects */
    {TEXT("{"), 1, "expected a property name in double quotes"},
    {TEXT("}"), 0, "expected a JSON value"},
    {TEXT("{\"a\""), 4, "expected ':'"},
    {TEXT("{\"a\":"), 5, "expected a JSON value, found the end"},
    {TEXT("{\"a\":1"), 6, "expected ',' or '}'"},
    {TEXT("{\"a\":1,"), 7, "expected a property name in double quotes"},
    {TEXT("{\"a\":1,}"), 7, "expected a property name in double quotes"},
    {TEXT("{,\"a\":1}"), 1, "expected a property name in double quotes"},
    {TEXT("{a:1}"), 1, "expected a property name in double quotes"},
    {TEXT("{'a':1}"), 1, "expected a property name in double quotes"},
    {TEXT("{1:1}"), 1, "expected a property name in double quotes"},
    {TEXT("{\"a\" 1}"), 5, "expected ':'"},
    {TEXT("{\"a\":1]"), 6, "expected ',' or '}'"},
    {TEXT("{\"a\":1 \"b\":2}"), 7, "expected ',' or '}'"},
    {TEXT("{\"a\":1}}"), 7, "unexpected text after the JSON value"},
    {TEXT("{\"a\":}"), 5, "expected a JSON value"},
    {TEXT("{\"a\":1,,\"b\":2}"), 7, "expected a property name in double quotes"},
    {TEXT("{\"\xFF\":1}"), 2, "invalid UTF-8"},
    {TEXT("{\"a\"\0:1}"), 4, "expected ':'"},
    {TEXT("null\0"), 4, "unexpected text after the JSON value"},
    {TEXT("{} garbage"), 3, "unexpected text after the JSON value"},
};

/* JSON that JSON.stringify() does not write. */
static const struct {
    const char *text;
    size_t len;
    size_t offset;
} loose[] = {
    {TEXT(" 1"), 0},
    {TEXT("1\n"), 1},
    {TEXT("{\r}"), 1},
    {TEXT("[\t]"), 1},
    {TEXT("{ \"a\":1}"), 1},
    {TEXT("{\"a\" :1}"), 4},
    {TEXT("{\"a\":\r1}"), 5},
    {TEXT("{\"a\":1\n}"), 6},
    {TEXT("[1,\r2]"), 3},
    {TEXT("[1 ,2]"), 2},
    {TEXT("1e309"), 5},
    {TEXT("[-1E+999]"), 8},
    {TEXT("1e99999999999999999999"), 22},
    {TEXT("1e18446744073709551616"), 22}, /* 0 in 64 bits */
    {TEXT("0.001797693134862315807938e311"), 30},
    {TEXT("1797693134862315807938e287"), 26},
    /* half way to 2 to the power of 1024 */
    {TEXT(
         "179769313486231580793728971405303415079934132710037826936173778980444968292764"
         "750946649017977587207096330286416692887910946555547851940402630657488671505820"
         "681908902000708383676273854845817711531764475730270069855571366959622842914819"
         "860834936475292719074168444365510704342711559699508093042880177904174497792"),
     309},
};

static const struct {
    const char *text;
    size_t len;
} strict[] = {
    {TEXT("null")},
    {TEXT("[1,{\"a b\":\" \\n \"},[]]")},
    {TEXT("1.7976931348623157e+308")},
    {TEXT("-1797693134862315807e290")},
    {TEXT("0.0000000000000000000000001e333")},
    {TEXT("0e999")},
    {TEXT("-0.000E+99999999999999999999")},
    {TEXT("5e-999")},
    {TEXT("1e-99999999999999999999")},
    /* the same, less one; and many more digits that do not count */
    {TEXT(
        "179769313486231580793728971405303415079934132710037826936173778980444968292764"
        "750946649017977587207096330286416692887910946555547851940402630657488671505820"
        "681908902000708383676273854845817711531764475730270069855571366959622842914819"
        "860834936475292719074168444365510704342711559699508093042880177904174497791."
        "99999999999999999999999999999999999999999999999999999999")},
};

/* In an allocation of its own size: reading past it is seen. */
static bool check(const char *text, size_t len, gbx_json_fault *ret_fault)
{
    char *copy = malloc(len > 0 ? len : 1);
    bool valid;

    assert_non_null(copy);
    memcpy(copy, text, len);
    valid = gbx_json_check(copy, len, GBX_JSON_DEPTH_MAX, ret_fault);
    free(copy);
    return valid;
}

TEST(check__accepts_all_that_is_json)
{
    gbx_json_fault fault;

    for (size_t i = 0; i < GBX_COUNTOF(accepted); i++)
        if (!check(accepted[i].text, accepted[i].len, &fault))
            fail_msg("%s: %s at %zu", accepted[i].text, fault.message, fault.offset);
}

TEST(check__refuses_all_that_is_not_and_says_where)
{
    gbx_json_fault fault;

    for (size_t i = 0; i < GBX_COUNTOF(refused); i++) {
        if (check(refused[i].text, refused[i].len, &fault))
            fail_msg("%s was accepted", refused[i].text);
        if (fault.offset != refused[i].offset ||
            strcmp(fault.message, refused[i].message) != 0)
            fail_msg("%s: %s at %zu", refused[i].text, fault.message, fault.offset);
    }
}

TEST(strict__refuses_what_stringify_does_not_write)
{
    gbx_json_fault fault;

    for (size_t i = 0; i < GBX_COUNTOF(loose); i++) {
        assert_true(check(loose[i].text, loose[i].len, NULL));
        if (gbx_json_check_strict(loose[i].text, loose[i].len, 10, &fault))
            fail_msg("%s was accepted", loose[i].text);
        if (fault.offset != loose[i].offset)
            fail_msg("%s: %s at %zu", loose[i].text, fault.message, fault.offset);
    }
}

TEST(strict__takes_all_that_it_does)
{
    gbx_json_fault fault;

    for (size_t i = 0; i < GBX_COUNTOF(strict); i++)
        if (!gbx_json_check_strict(strict[i].text, strict[i].len, 10, &fault))
            fail_msg("%s: %s at %zu", strict[i].text, fault.message, fault.offset);
}

TEST(check__no_truncation_of_a_container_is_json)
{
    static const char text[] =
        "{\"a\":[1.5e3,\"\\u00e9\xC3\xA9\",true,null,{\"b\":{}}]}";

    assert_true(check(TEXT(text), NULL));
    for (size_t len = 0; len < sizeof text - 1; len++)
        assert_false(check(text, len, NULL));
}

/* Text is looked at eight bytes at a time: none may hide among the others. */
TEST(check__sees_every_byte_wherever_it_stands)
{
    gbx_json_fault fault;
    char text[42];

    for (size_t at = 1; at <= sizeof text - 2; at++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            bool is_plain = byte >= 0x20 && byte < 0x80 && byte != '\\' && byte != '"';

            memset(text, 'a', sizeof text);
            text[0] = text[sizeof text - 1] = '"';
            text[at] = (char)byte;
            assert_int_equal(gbx_json_check(text, sizeof text, 1, &fault), is_plain);
            if (is_plain)
                continue;
            /* A quote and an escape are found wrong in what follows. */
            assert_in_range(fault.offset, at, at + 2);
        }
    }
}

TEST(check__takes_no_text_at_all)
{
    gbx_json_fault fault;

    assert_false(gbx_json_check(NULL, 0, GBX_JSON_DEPTH_MAX, &fault));

    assert_int_equal(fault.line, 1);
    assert_int_equal(fault.column, 1);
}

TEST(fault__has_line_and_column_in_characters)
{
    gbx_json_fault fault;

    assert_false(
        check(TEXT("{\n  \"k\xC3\xA9\": 1,\n  \"\xE2\x82\xAC\": oops\n}"), &fault));

    assert_int_equal(fault.line, 3);
    assert_int_equal(fault.column, 8);
}

/* ---- depth ------------------------------------------------------------------- */

/* n levels, each an array or each an object, around nothing. */
static char *nested(size_t n, bool objects, size_t *ret_len)
{
    gbx_buf buf;

    gbx_buf_init(&buf, n * 16 + 16);
    for (size_t i = 0; i < n; i++)
        (void)gbx_buf_puts(&buf, !objects ? "[" : i + 1 < n ? "{\"a\":" : "{");
    for (size_t i = 0; i < n; i++)
        (void)gbx_buf_puts(&buf, objects ? "}" : "]");
    return gbx_buf_take_string(&buf, ret_len);
}

TEST(depth__holds_at_the_limit_and_not_one_past_it)
{
    static const size_t limits[] = {0, 1, 2, 64, GBX_JSON_DEPTH_MAX};

    for (size_t i = 0; i < GBX_COUNTOF(limits) * 4; i++) {
        size_t limit = limits[i / 4];
        bool is_past = i % 2 == 1;
        gbx_json_fault fault;
        size_t len;
        char *text = nested(limit + is_past, i % 4 >= 2, &len);

        if (limit + is_past > 0) {
            assert_int_equal(gbx_json_check(text, len, limit, &fault), !is_past);
            if (is_past)
                assert_string_equal(fault.message, "nested too deep");
        }
        free(text);
    }
}

TEST(depth__asked_for_past_the_maximum_is_the_maximum)
{
    size_t len;
    char *text = nested(GBX_JSON_DEPTH_MAX + 1, false, &len);

    assert_false(gbx_json_check(text, len, SIZE_MAX, NULL));

    free(text);
}

TEST(depth__of_a_million_costs_no_stack)
{
    char *text = malloc(1000000);
    gbx_json_fault fault;
    assert_non_null(text);
    memset(text, '[', 1000000);

    assert_false(gbx_json_check(text, 1000000, GBX_JSON_DEPTH_MAX, &fault));

    assert_int_equal(fault.offset, GBX_JSON_DEPTH_MAX);
    free(text);
}

TEST(depth__is_given_back_by_siblings)
{
    assert_true(gbx_json_check(TEXT("[[],[],{\"a\":[]},[[1]]]"), 3, NULL));
    assert_false(gbx_json_check(TEXT("[[],[],{\"a\":[]},[[1]]]"), 2, NULL));
}

TEST_MAIN(NULL, NULL)
