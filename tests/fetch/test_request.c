/* SPDX-License-Identifier: MIT */
/* request - the code's description of a request, and everything that must not be in it. */
#include "base/cleanup.h"
#include "fetch/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const gbx_fetch_policy policy = {.max_request_bytes = 100};

static gbx_fault_code read_request(const char *args, const char *body,
                                   gbx_fetch_request *ret)
{
    gbx_span args_span = {(const uint8_t *)args, strlen(args)};
    gbx_span body_span = {(const uint8_t *)body, strlen(body)};
    gbx_fault fault = {0};
    bool fine = gbx_request_read(args_span, body_span, &policy, ret, &fault);

    assert_int_equal(fine, fault.code == GBX_FAULT_NONE);
    return fault.code;
}

static void test_request__has_every_part_that_was_given(void **state)
{
    gbx_fetch_request r;
    (void)state;

    assert_int_equal(
        read_request("[{\"url\":\"http://h/\",\"method\":\"post\",\"headers\":"
                     "[[\"A\",\" b \"],[\"c\",\"\\u00e9\"]],\"redirect\":"
                     "\"manual\",\"signal\":null}]",
                     "data", &r),
        GBX_FAULT_NONE);

    assert_string_equal(r.url, "http://h/");
    assert_string_equal(r.method, "POST");
    assert_int_equal(r.redirect, GBX_REDIRECT_MANUAL);
    assert_int_equal(r.headers.count, 2);
    assert_string_equal(r.headers.items[0].name, "A");
    assert_string_equal(r.headers.items[0].value, "b");
    assert_string_equal(r.headers.items[1].value, "\xe9");
    assert_int_equal(r.body_len, 4);
    assert_memory_equal(r.body, "data", 4);
    gbx_request_cleanup(&r);
}

static void test_request__is_a_get_that_follows_unless_it_says_otherwise(void **state)
{
    gbx_fetch_request r;
    (void)state;

    assert_int_equal(read_request("[{\"url\":\"http://h/\"}]", "", &r), GBX_FAULT_NONE);

    assert_string_equal(r.method, "GET");
    assert_int_equal(r.redirect, GBX_REDIRECT_FOLLOW);
    assert_null(r.body);
    gbx_request_cleanup(&r);
}

/* In all of these %s is put into {"url":"http://h/", %s}. */
static const struct {
    const char *members;
    const char *body;
    gbx_fault_code code;
} refused[] = {
    {"\"method\":1", "", GBX_FAULT_REQUEST},
    {"\"method\":\"\"", "", GBX_FAULT_METHOD},
    {"\"method\":\"GET /\"", "", GBX_FAULT_METHOD},
    {"\"method\":\"GET\\r\\nX: y\"", "", GBX_FAULT_METHOD},
    {"\"method\":\"G\\u0000T\"", "", GBX_FAULT_REQUEST},
    {"\"method\":\"CONNECT\"", "", GBX_FAULT_METHOD},
    {"\"method\":\"trace\"", "", GBX_FAULT_METHOD},
    {"\"method\":\"TRACK\"", "", GBX_FAULT_METHOD},
    {"\"method\":\"patch\"", "", GBX_FAULT_METHOD},
    {"\"method\":\"PURGE\"", "", GBX_FAULT_METHOD},
    {"\"method\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"", "", GBX_FAULT_REQUEST},
    {"\"redirect\":\"never\"", "", GBX_FAULT_REQUEST},
    {"\"redirect\":1", "", GBX_FAULT_REQUEST},
    {"\"headers\":{}", "", GBX_FAULT_REQUEST},
    {"\"headers\":[1]", "", GBX_FAULT_REQUEST},
    {"\"headers\":[[]]", "", GBX_FAULT_REQUEST},
    {"\"headers\":[[\"a\"]]", "", GBX_FAULT_REQUEST},
    {"\"headers\":[[\"a\",\"b\",\"c\"]]", "", GBX_FAULT_REQUEST},
    {"\"headers\":[[\"a\",1]]", "", GBX_FAULT_REQUEST},
    {"\"headers\":[[\"\",\"b\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a b\",\"c\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a:b\",\"c\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\\r\\nb\",\"c\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"\\u00e9\",\"c\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a;\",\"c\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"b\\r\\nEvil: yes\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"b\\nEvil: yes\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"b\\rEvil: yes\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"b\\r\\n\\r\\nGET / HTTP/1.1\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"b\\u0000c\"]]", "", GBX_FAULT_REQUEST},
    {"\"headers\":[[\"a\",\"b\\u0001c\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"b\\u007fc\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"b\\u0100c\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"b\\u010ac\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"\\ud83d\\ude00\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"a\",\"\\ud83d\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Host\",\"evil\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"hOsT\",\"evil\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Content-Length\",\"5\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Transfer-Encoding\",\"chunked\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Connection\",\"keep-alive\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Keep-Alive\",\"1\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Upgrade\",\"h2c\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"HTTP2-Settings\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"TE\",\"trailers\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Trailer\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Expect\",\"100-continue\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Via\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Date\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Accept-Encoding\",\"zstd\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Accept-Charset\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Set-Cookie\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Cookie2\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Proxy-Authorization\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Proxy-Connection\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"Sec-Fetch-Site\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"sec-anything\",\"x\"]]", "", GBX_FAULT_HEADER},
    {"\"headers\":[[\"X-HTTP-Method-Override\",\"TRACE\"]]", "", GBX_FAULT_METHOD},
    {"\"headers\":[[\"X-HTTP-Method\",\"PURGE\"]]", "", GBX_FAULT_METHOD},
    {"\"headers\":[[\"X-Method-Override\",\"delete, TRACE\"]]", "", GBX_FAULT_METHOD},
    {"\"method\":\"GET\"", "body", GBX_FAULT_REQUEST},
    {"\"method\":\"HEAD\"", "body", GBX_FAULT_REQUEST},
    {"\"method\":\"POST\"", "a {{secret:TOKEN}}", GBX_FAULT_SECRET},
};

static void test_request__with_what_http_forbids_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < GBX_COUNTOF(refused); i++) {
        gbx_fetch_request r;
        gbx_fault_code code;
        char args[512];

        (void)snprintf(args, sizeof args, "[{\"url\":\"http://h/\",%s}]",
                       refused[i].members);
        code = read_request(args, refused[i].body, &r);
        if (code != refused[i].code)
            fail_msg("'%s' gave '%s'", refused[i].members, gbx_fault_code_text(code));
        gbx_request_cleanup(&r);
    }
}

static void test_args__that_are_no_request_are_refused(void **state)
{
    static const char *const cases[] = {"",
                                        "null",
                                        "[]",
                                        "{}",
                                        "[1]",
                                        "[[]]",
                                        "[{}]",
                                        "[{\"url\":1}]",
                                        "[{\"url\":null}]",
                                        "[{\"url\":\"http://h/\"}",
                                        "[{\"url\":\"http://h\\u0000/\"}]"};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        gbx_fetch_request r;

        assert_int_equal(read_request(cases[i], "", &r), GBX_FAULT_REQUEST);
        gbx_request_cleanup(&r);
    }
}

static void test_secret__is_not_for_urls(void **state)
{
    static const char *const cases[] = {
        "[{\"url\":\"http://h/{{secret:TOKEN}}\"}]",
        "[{\"url\":\"http://h/?k=%7B%7Bsecret:TOKEN%7D%7D\"}]",
        "[{\"url\":\"http://h/?k=%7b%7bsecret:TOKEN%7d%7d\"}]",
        "[{\"url\":\"http://{{secret:TOKEN}}/\"}]"};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        gbx_fetch_request r;

        assert_int_equal(read_request(cases[i], "", &r), GBX_FAULT_SECRET);
        gbx_request_cleanup(&r);
    }
}

static void test_body__is_bounded(void **state)
{
    char body[102];
    gbx_fetch_request r;
    (void)state;
    memset(body, 'b', sizeof body);
    body[100] = '\0';

    assert_int_equal(read_request("[{\"url\":\"u\",\"method\":\"PUT\"}]", body, &r),
                     GBX_FAULT_NONE);
    gbx_request_cleanup(&r);
    body[100] = 'b';
    body[101] = '\0';
    assert_int_equal(read_request("[{\"url\":\"u\",\"method\":\"PUT\"}]", body, &r),
                     GBX_FAULT_TOO_LARGE);
    gbx_request_cleanup(&r);
}

/* count headers with values of len characters each. */
static gbx_fault_code read_headers(size_t count, size_t len)
{
    size_t size = 64 + count * (len + 64);
    char *args = malloc(size);
    size_t at;
    gbx_fault_code code;
    gbx_fetch_request r;

    assert_non_null(args);
    at = (size_t)snprintf(args, size, "[{\"url\":\"u\",\"headers\":[");
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(args + at, size - at, "%s[\"n\",\"%0*d\"]",
                               i > 0 ? "," : "", (int)len, 1);
    (void)snprintf(args + at, size - at, "]}]");
    code = read_request(args, "", &r);
    gbx_request_cleanup(&r);
    free(args);
    return code;
}

static void test_headers__are_bounded_in_number_and_size(void **state)
{
    (void)state;
    assert_int_equal(read_headers(100, 10), GBX_FAULT_NONE);
    assert_int_equal(read_headers(101, 10), GBX_FAULT_HEADER);
    assert_int_equal(read_headers(1, 32767), GBX_FAULT_NONE);
    assert_int_equal(read_headers(1, 32768), GBX_FAULT_HEADER);
    assert_int_equal(read_headers(2, 16383), GBX_FAULT_NONE);
    assert_int_equal(read_headers(2, 16384), GBX_FAULT_HEADER);
}

static void test_override__of_a_method_that_is_allowed_passes(void **state)
{
    gbx_fetch_request r;
    (void)state;

    assert_int_equal(read_request("[{\"url\":\"u\",\"method\":\"POST\",\"headers\":"
                                  "[[\"X-HTTP-Method-Override\",\"PATCH\"]]}]",
                                  "", &r),
                     GBX_FAULT_NONE);
    gbx_request_cleanup(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request__has_every_part_that_was_given),
        cmocka_unit_test(test_request__is_a_get_that_follows_unless_it_says_otherwise),
        cmocka_unit_test(test_request__with_what_http_forbids_is_refused),
        cmocka_unit_test(test_args__that_are_no_request_are_refused),
        cmocka_unit_test(test_secret__is_not_for_urls),
        cmocka_unit_test(test_body__is_bounded),
        cmocka_unit_test(test_headers__are_bounded_in_number_and_size),
        cmocka_unit_test(test_override__of_a_method_that_is_allowed_passes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
