/* SPDX-License-Identifier: MIT */
/* What code gets for what a tool answers. */
#include "mcp/code/code_mode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TEXT(t) "{\"type\":\"text\",\"text\":" t "}"
#define MEDIA   "{\"type\":\"image\",\"data\":\"aGk=\",\"mimeType\":\"image/png\"}"
#define ONE(t)  "{\"content\":[" TEXT(t) "]}"

static const struct row {
    const char *result;
    const char *value; /* "!": the error's message follows */
} rows[] = {
    {"{\"structuredContent\":{\"a\":1.50},\"content\":[]}", "{\"a\":1.50}"},
    {"{\"structuredContent\":[1]}", "[1]"},
    {"{\"structuredContent\":null,\"content\":[" TEXT("\"t\"") "]}", "\"t\""},
    {"{\"structuredContent\":null,\"content\":[" TEXT("\"null\"") "]}", "null"},
    {"{\"structuredContent\":null,\"content\":[]}", "null"},
    {"{\"structuredContent\":null}", "null"},
    {"{\"structuredContent\":{\"a\" : [1,{\"b\":" MEDIA "}]},\"content\":[" MEDIA "]}",
     "{\"a\":[1,{\"b\":{\"kept\":\"image/png\",\"bytes\":2}}]}"},
    {"{\"structuredContent\":" MEDIA ",\"content\":[" TEXT("\"t\"") "]}", MEDIA},
    {"{\"structuredContent\":[{\"type\":\"image\",\"data\":5}],\"content\":[" MEDIA
     "]}",
     "[{\"type\":\"image\",\"data\":5}]"},
    {ONE("\"{\\\"a\\\": [1, 2]}\""), "{\"a\": [1, 2]}"},
    {ONE("\" [1] \""), "[1]"},
    {ONE("\"{not json\""), "\"{not json\""},
    {ONE("\"42\""), "\"42\""},
    {ONE("\"plain \\u00e9\""), "\"plain \xC3\xA9\""},
    {ONE("\"\""), "\"\""},
    {"{\"content\":[" TEXT("\"a\"") "," TEXT("\"b\"") "]}", "\"a\\nb\""},
    {"{\"content\":[" TEXT("\"{\\\"id\\\":1}\"") "," TEXT("\" [2] \"") "]}",
     "[{\"id\":1},[2]]"},
    {"{\"content\":[" TEXT("\"1\"") "," TEXT("\"null\"") "]}", "[1,null]"},
    {"{\"content\":[" TEXT("\"1.10\"") "," TEXT("\"1\"") "]}", "\"1.10\\n1\""},
    {"{\"content\":[" TEXT("\"{}\"") "," TEXT("\"b\"") "]}", "\"{}\\nb\""},
    {"{\"content\":[]}", "null"},
    {"{}", "null"},
    {"7", "null"},
    {"{\"content\":{}}", "null"},
    {"{\"content\":[{\"type\":\"image\",\"data\":\"aGk=\",\"mimeType\":\"image/png\"}]}",
     "{\"kept\":\"image/png\",\"bytes\":2}"},
    {"{\"content\":[" TEXT("\"a\"") ",{\"type\":\"audio\",\"data\":\"\\u0061Gk=\"}]}",
     "[\"a\",{\"kept\":\"application/octet-stream\",\"bytes\":2}]"},
    {"{\"content\":[{\"type\":\"image\",\"data\":\"aGk=\",\"mimeType\":\"image/\\u202epng\"}]}",
     "{\"kept\":\"application/octet-stream\",\"bytes\":2}"},
    {"{\"content\":[{\"type\":\"image\",\"data\":\"a\\nGk\\r\\n\"}]}",
     "{\"kept\":\"application/octet-stream\",\"bytes\":2}"},
    {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"blob\":\"\"}}]}",
     "{\"kept\":\"application/octet-stream\",\"bytes\":0}"},
    {"{\"content\":[{\"type\":\"image\",\"data\":\"!\"}]}",
     "{\"error\":\"its data is not base64\"}"},
    {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"text\":\"t\"}}]}",
     "\"t\""},
    {"{\"content\":[{\"type\":\"resource\",\"resource\":{\"blob\":\"aGk=\"}}]}",
     "{\"kept\":\"application/octet-stream\",\"bytes\":2}"},
    {"{\"content\":[{\"type\":\"resource_link\",\"uri\":\"a:b\"}]}",
     "{\"type\":\"resource_link\",\"uri\":\"a:b\"}"},
    {"{\"isError\":true,\"content\":[" TEXT("\"no\"") "]}", "!no"},
    {"{\"isError\":true}", "!the tool failed and did not say why"},
    {"{\"isError\":false,\"content\":[" TEXT("\"ok\"") "]}", "\"ok\""},
    {"{\"isError\":true,\"structuredContent\":{\"a\":1}}", "!{\"a\":1}"},
    {"{\"isError\":true,\"content\":[],\"structuredContent\":{}}",
     "!the tool failed and did not say why"},
    {"{\"isError\":true,\"structuredContent\":null}",
     "!the tool failed and did not say why"},
    {"{\"isError\":true,\"content\":[" TEXT(
         "\"no\"") "],\"structuredContent\":{\"a\":1}}",
     "!no"},
};

static void keep(void *user, const char *mime_type, const void *data, size_t len,
                 gbx_buf *handle)
{
    (void)user;
    assert_memory_equal(data, "hi", len);
    (void)gbx_buf_printf(handle, "{\"kept\":\"%s\",\"bytes\":%zu}", mime_type, len);
}

static void test_results__are_data_text_or_an_error(void **state)
{
    const gbx_value_keeper keeper = {keep, NULL};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbx_buf to;
        gbx_buf message;
        gbx_view view;
        bool ok;

        gbx_buf_init(&to, 1 << 16);
        gbx_buf_init(&message, 1 << 16);
        assert_true(gbx_view_open(rows[i].result, strlen(rows[i].result), &view));
        ok = gbx_value_of_result(view, &keeper, &to, &message);
        (void)gbx_buf_append(ok ? &to : &message, "", 1);
        if (ok != (rows[i].value[0] != '!') ||
            strcmp((char *)(ok ? to.data : message.data),
                   rows[i].value + (ok ? 0 : 1)) != 0)
            fail_msg("%s\n  expected %s\n  was      %s", rows[i].result, rows[i].value,
                     (char *)(ok ? to.data : message.data));
        gbx_buf_cleanup(&to);
        gbx_buf_cleanup(&message);
    }
}

/* What a program printed before it failed is long; why it failed stands at its end. */
static void test_errors__that_are_long_keep_head_and_tail(void **state)
{
    const gbx_value_keeper keeper = {keep, NULL};
    static const char begin[] =
        "{\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"";
    static const char end[] = "the cause\"}]}";
    static char result[10000];
    gbx_buf to, message;
    gbx_view view;

    (void)state;
    memset(result, 'E', sizeof result);
    memcpy(result, begin, sizeof begin - 1);
    memcpy(result + sizeof result - (sizeof end - 1), end, sizeof end - 1);
    gbx_buf_init(&to, 1 << 16);
    gbx_buf_init(&message, 1 << 16);
    assert_true(gbx_view_open(result, sizeof result, &view));
    assert_false(gbx_value_of_result(view, &keeper, &to, &message));
    (void)gbx_buf_append(&message, "", 1);

    assert_memory_equal(message.data, "EEEE", 4);
    assert_non_null(strstr((char *)message.data, "E [... 5850 bytes ...] E"));
    assert_string_equal(message.data + message.len - 10, "the cause");
    gbx_buf_cleanup(&to);
    gbx_buf_cleanup(&message);
}

static void test_results__with_more_than_their_structure_are_known(void **state)
{
#define BESIDE(structured, blocks) \
    "{\"structuredContent\":" structured ",\"content\":[" blocks "]}"
    static const struct {
        const char *result;
        bool has_more;
    } cases[] = {
        {BESIDE("{\"a\":1}", TEXT("\"{\\\"a\\\":1}\"")), false},
        {BESIDE("{\"a\":1,\"b\":[2]}", TEXT("\"{ \\\"b\\\": [2.0], \\\"a\\\": 1 }\"")),
         false},
        {BESIDE("{\"a\":1}", TEXT("\"{\\\"a\\\":2}\"")), true},
        {BESIDE("{\"a\":1}", TEXT("\"{\\\"a\\\":1,\\\"b\\\":2}\"")), true},
        {BESIDE("{\"result\":[1,{}]}", TEXT("\"1\"") "," TEXT("\"{}\"")), false},
        {BESIDE("{\"result\":5}", TEXT("\"5\"")), false},
        {BESIDE("{\"n\":1,\"rows\":[{\"a\":1}]}", TEXT("\"[{\\\"a\\\":1}]\"")), false},
        {BESIDE("{\"page\":{\"text\":\"long\"}}", TEXT("\"long\"")), false},
        {BESIDE("{\"a\":1}", TEXT("\"the article\"")), true},
        {BESIDE("{\"a\":1}", TEXT("\"\"")), false},
        {BESIDE("{\"a\":1}", MEDIA), true},
        {BESIDE("{\"a\":" MEDIA "}", MEDIA), false},
        {BESIDE("null", TEXT("\"t\"")), false},
        {"{\"structuredContent\":{\"a\":1}}", false},
        {ONE("\"t\""), false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbx_view view;

        assert_true(gbx_view_open(cases[i].result, strlen(cases[i].result), &view));
        if (gbx_value_has_more(view) != cases[i].has_more)
            fail_msg("%s", cases[i].result);
    }
}

static void test_sketches__are_a_few_words_of_any_value(void **state)
{
    static const struct {
        const char *value;
        const char *sketch;
    } sketches[] = {
        {"\"a\"", "string"},
        {"-1.5", "number"},
        {"null", "null"},
        {"false", "boolean"},
        {"{}", "{}"},
        {"[]", "[]"},
        {"[1,\"a\"]", "[number, ...]"},
        {"[[1]]", "[[...]]"},
        {"{\"content\":\"a\"}", "{ content: string }"},
        {"[{\"id\":1,\"at\":{},\"of\":[]},2]",
         "[{ id: number, at: {...}, of: [...] }, ...]"},
        {"{\"a b\":1,\"c\":2}", "{ c: number, ... }"},
        {"{\"\\u202e\":1,\"\xE2\x80\xAE\":2}", "{ ... }"},
        {"{\"a\":1,\"b\":1,\"c\":1,\"d\":1}",
         "{ a: number, b: number, c: number, d: number }"},
        {"[{\"abcdefghijklmnop\":true,\"abcdefghijklmnoq\":true,"
         "\"abcdefghijklmnor\":true,\"abcdefghijklmnos\":true,\"e\":1},2]",
         "[{ abcdefghijklmnop: boolean, abcdefghijklmnoq: boolean, abcdefghijklmnor: "
         "boolean, abcdefghijklmnos: boolean, ... }, ...]"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof sketches / sizeof sketches[0]; i++) {
        char sketch[GBX_VALUE_SKETCH_SIZE];
        gbx_view view;

        assert_true(gbx_view_open(sketches[i].value, strlen(sketches[i].value), &view));
        gbx_value_sketch(view, sketch);
        assert_string_equal(sketch, sketches[i].sketch);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results__with_more_than_their_structure_are_known),
        cmocka_unit_test(test_sketches__are_a_few_words_of_any_value),
        cmocka_unit_test(test_results__are_data_text_or_an_error),
        cmocka_unit_test(test_errors__that_are_long_keep_head_and_tail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
