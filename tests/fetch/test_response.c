/* SPDX-License-Identifier: MIT */
/* response - heads are read line by line, and whatever could be read otherwise is none. */
#include "base/cleanup.h"
#include "fetch/internal.h"
#include "table.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    gbx_response response;
    gbx_head head;
    gbx_fault fault;
} fixture;

static void begin(fixture *f)
{
    *f = (fixture){0};
    gbx_response_init(&f->response, 100);
    gbx_head_init(&f->head, &f->response, "gzip, deflate, br", &f->fault);
}

/* Line after line as they stand; false at the first that is refused. */
static bool feed(fixture *f, const char *text)
{
    while (*text != '\0') {
        const char *newline = strchr(text, '\n');
        size_t len = newline != NULL ? (size_t)(newline - text) + 1 : strlen(text);

        if (!gbx_head_line(&f->head, text, len))
            return false;
        text += len;
    }
    return true;
}

TEST(head__that_is_plain_is_accepted)
{
    const table_line *lines;
    size_t count = table_lines("fetch/heads.txt", "accepted", true, &lines);

    for (size_t i = 0; i < count; i++) {
        fixture f;

        begin(&f);
        if (!feed(&f, lines[i].cell[0]) || f.head.state != GBX_HEAD_DONE)
            fail_msg("'%s': %s", lines[i].cell[0], f.fault.message);
        gbx_response_cleanup(&f.response);
    }
}

TEST(head__that_frames_a_body_in_two_ways_is_refused)
{
    const table_line *lines;
    size_t count = table_lines("fetch/heads.txt", "refused", true, &lines);

    for (size_t i = 0; i < count; i++) {
        fixture f;

        begin(&f);
        if (feed(&f, lines[i].cell[0]))
            fail_msg("'%s' was accepted", lines[i].cell[0]);
        assert_int_equal(f.fault.code, GBX_FAULT_RESPONSE);
        gbx_response_cleanup(&f.response);
    }
}

TEST(interim__is_forgotten_and_their_number_bounded)
{
    fixture f;
    begin(&f);

    for (unsigned i = 0; i < GBX_RESPONSE_INTERIM_MAX; i++)
        assert_true(feed(&f, "HTTP/1.1 103 Hints\r\nX: y\r\n\r\n"));
    assert_int_equal(f.response.headers.count, 0);
    assert_false(feed(&f, "HTTP/1.1 103 Hints\r\n"));

    gbx_response_cleanup(&f.response);
}

TEST(headers__are_bounded_in_number)
{
    fixture f;
    begin(&f);
    assert_true(feed(&f, "HTTP/1.1 200 OK\r\n"));

    for (unsigned i = 0; i < GBX_RESPONSE_HEADERS_MAX; i++)
        assert_true(feed(&f, "X: y\r\n"));
    assert_false(feed(&f, "X: y\r\n"));

    gbx_response_cleanup(&f.response);
}

TEST(headers__are_bounded_in_size_with_trailers_and_interim_ones)
{
    static const char *const before[] = {"HTTP/1.1 200 OK\r\n",
                                         "HTTP/1.1 200 OK\r\n\r\n",
                                         "HTTP/1.1 103 Hints\r\n"};
    char line[1024];
    memset(line, 'x', sizeof line);
    memcpy(line, "X: ", 3);
    line[sizeof line - 1] = '\n';

    for (size_t i = 0; i < GBX_COUNTOF(before); i++) {
        unsigned lines = 0;
        fixture f;

        begin(&f);
        assert_true(feed(&f, before[i]));
        while (gbx_head_line(&f.head, line, sizeof line))
            assert_true(++lines < 100);
        assert_true(lines == 63);
        gbx_response_cleanup(&f.response);
    }
}

TEST(body__fills_exactly_to_the_limit)
{
    char data[101] = {0};
    fixture f;

    begin(&f);
    assert_true(gbx_response_append(&f.response, data, 60, &f.fault));
    assert_true(gbx_response_append(&f.response, data, 40, &f.fault));
    assert_false(gbx_response_append(&f.response, data, 1, &f.fault));

    assert_int_equal(f.fault.code, GBX_FAULT_TOO_LARGE);
    assert_non_null(strstr(f.fault.message, "100 bytes"));
    gbx_response_cleanup(&f.response);
}

TEST(json__has_lower_case_names_and_bytes_as_characters)
{
    fixture f;
    gbx_buf json;
    begin(&f);
    gbx_buf_init(&json, 1000);
    assert_true(feed(&f,
                     "HTTP/1.1 404 \"N\xf6\"\r\nX-A: b\xe9\"\\\r\nset-COOKIE: a=1\r\n"
                     "Set-Cookie: b=2\r\n\r\n"));

    assert_true(gbx_response_write(&f.response, "http://h/?\"", true, &json));

    assert_true(gbx_buf_append(&json, "", 1));
    assert_string_equal((char *)json.data,
                        "{\"status\":404,\"statusText\":\"\\\"N\xc3\xb6\\\"\","
                        "\"url\":\"http://h/?\\\"\",\"headers\":["
                        "[\"x-a\",\"b\xc3\xa9\\\"\\\\\"],[\"set-cookie\",\"a=1\"],"
                        "[\"set-cookie\",\"b=2\"]],\"redirected\":true}");
    gbx_buf_cleanup(&json);
    gbx_response_cleanup(&f.response);
}

TEST_MAIN(NULL, NULL)
