/* SPDX-License-Identifier: MIT */
/* request - the code's description of a request, and everything that must not be in it. */
#include "base/cleanup.h"
#include "fetch/internal.h"
#include "table.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

TEST(request__has_every_part_that_was_given)
{
    gbx_fetch_request r;

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

TEST(request__is_a_get_that_follows_unless_it_says_otherwise)
{
    gbx_fetch_request r;

    assert_int_equal(read_request("[{\"url\":\"http://h/\"}]", "", &r), GBX_FAULT_NONE);

    assert_string_equal(r.method, "GET");
    assert_int_equal(r.redirect, GBX_REDIRECT_FOLLOW);
    assert_null(r.body);
    gbx_request_cleanup(&r);
}

static gbx_fault_code code_of(const char *word)
{
    static const struct {
        const char *word;
        gbx_fault_code code;
    } codes[] = {{"request", GBX_FAULT_REQUEST},
                 {"method", GBX_FAULT_METHOD},
                 {"header", GBX_FAULT_HEADER},
                 {"secret", GBX_FAULT_SECRET}};

    for (size_t i = 0; i < GBX_COUNTOF(codes); i++)
        if (strcmp(word, codes[i].word) == 0)
            return codes[i].code;
    fail_msg("no such fault: %s", word);
    return GBX_FAULT_NONE;
}

TEST(request__with_what_http_forbids_is_refused)
{
    const table_line *lines;
    size_t count = table_lines("fetch/requests.txt", "members", false, &lines);

    for (size_t i = 0; i < count; i++) {
        gbx_fetch_request r;
        gbx_fault_code code;
        char args[512];

        (void)snprintf(args, sizeof args, "[{\"url\":\"http://h/\",%s}]",
                       lines[i].cell[0]);
        code = read_request(args, lines[i].cell[1], &r);
        if (code != code_of(lines[i].cell[2]))
            fail_msg("'%s' gave '%s'", lines[i].cell[0], gbx_fault_code_text(code));
        gbx_request_cleanup(&r);
    }
}

TEST(args__that_are_no_request_are_refused)
{
    const table_line *lines;
    size_t count = table_lines("fetch/requests.txt", "args", false, &lines);

    for (size_t i = 0; i < count; i++) {
        gbx_fetch_request r;

        if (read_request(lines[i].cell[0], "", &r) != code_of(lines[i].cell[1]))
            fail_msg("'%s' is not refused so", lines[i].cell[0]);
        gbx_request_cleanup(&r);
    }
}

TEST(body__is_bounded)
{
    char body[102];
    gbx_fetch_request r;
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

TEST(headers__are_bounded_in_number_and_size)
{
    assert_int_equal(read_headers(100, 10), GBX_FAULT_NONE);
    assert_int_equal(read_headers(101, 10), GBX_FAULT_HEADER);
    assert_int_equal(read_headers(1, 32767), GBX_FAULT_NONE);
    assert_int_equal(read_headers(1, 32768), GBX_FAULT_HEADER);
    assert_int_equal(read_headers(2, 16383), GBX_FAULT_NONE);
    assert_int_equal(read_headers(2, 16384), GBX_FAULT_HEADER);
}

TEST(override__of_a_method_that_is_allowed_passes)
{
    gbx_fetch_request r;

    assert_int_equal(read_request("[{\"url\":\"u\",\"method\":\"POST\",\"headers\":"
                                  "[[\"X-HTTP-Method-Override\",\"PATCH\"]]}]",
                                  "", &r),
                     GBX_FAULT_NONE);
    gbx_request_cleanup(&r);
}

TEST_MAIN(NULL, NULL)
