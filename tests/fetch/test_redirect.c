/* SPDX-License-Identifier: MIT */
/* redirect - the standard's rules for methods and bodies, and what is lost on the way. */
#include "base/cleanup.h"
#include "fetch/internal.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static gbx_libcurl lib;

typedef struct fixture {
    gbx_fetch_request request;
    gbx_url from;
    gbx_url to;
    gbx_response response;
    gbx_fault fault;
} fixture;

static int load(void **state)
{
    return gbx_libcurl_load(&lib, NULL) == GBX_OK ? 0 : -1;
}

static int unload(void **state)
{
    gbx_libcurl_unload(&lib);
    return 0;
}

static void add(gbx_fields *to, const char *name, const char *value, bool is_secret)
{
    assert_int_equal(gbx_fields_add(to, name, strlen(name), value, strlen(value), 100,
                                    10000),
                     GBX_FIELD_FINE);
    to->items[to->count - 1].is_secret = is_secret;
}

static void begin(fixture *f, const char *method, uint16_t status, const char *location)
{
    *f = (fixture){.response.status = status};
    assert_true(gbx_url_parse(&lib, "https://a.example/x", 19, &f->from, &f->fault));
    memcpy(f->request.method, method, strlen(method) + 1);
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        f->request.body = strdup("body");
        f->request.body_len = 4;
    }
    add(&f->request.headers, "Authorization", "Bearer x", false);
    add(&f->request.headers, "COOKIE", "a=b", false);
    add(&f->request.headers, "X-Key", "{{secret:KEY}}", true);
    add(&f->request.headers, "Content-Type", "text/plain", false);
    add(&f->request.headers, "X-Plain", "y", false);
    if (location != NULL)
        add(&f->response.headers, "Location", location, false);
}

static void end(fixture *f)
{
    gbx_request_cleanup(&f->request);
    gbx_url_cleanup(&f->from);
    gbx_url_cleanup(&f->to);
    gbx_response_cleanup(&f->response);
}

static bool next(fixture *f)
{
    return gbx_redirect_next(&f->request, &f->from, &f->response, 0, 5, &f->to,
                             &f->fault);
}

static const struct {
    uint16_t status;
    const char *method;
    const char *next_method;
    bool has_body;
} methods[] = {
    {301, "GET", "GET", false},      {301, "POST", "GET", false},
    {301, "PUT", "PUT", true},       {301, "HEAD", "HEAD", false},
    {302, "GET", "GET", false},      {302, "POST", "GET", false},
    {302, "DELETE", "DELETE", true}, {303, "GET", "GET", false},
    {303, "HEAD", "HEAD", false},    {303, "POST", "GET", false},
    {303, "PUT", "GET", false},      {303, "DELETE", "GET", false},
    {307, "POST", "POST", true},     {307, "GET", "GET", false},
    {308, "POST", "POST", true},     {308, "PATCH", "PATCH", true},
};

TEST(method__and_body_change_as_the_standard_says)
{
    for (size_t i = 0; i < GBX_COUNTOF(methods); i++) {
        fixture f;
        bool has_type;

        begin(&f, methods[i].method, methods[i].status, "/y");
        assert_true(next(&f));
        assert_string_equal(f.request.method, methods[i].next_method);
        assert_int_equal(f.request.body != NULL, methods[i].has_body);
        has_type = gbx_fields_get(&f.request.headers, "content-type") != NULL;
        assert_int_equal(has_type,
                         strcmp(methods[i].method, methods[i].next_method) == 0);
        end(&f);
    }
}

TEST(origin__that_is_the_same_keeps_credentials)
{
    fixture f;
    begin(&f, "GET", 302, "https://a.example:443/y");

    assert_true(next(&f));

    assert_int_equal(f.request.headers.count, 5);
    assert_string_equal(f.to.text, "https://a.example/y");
    end(&f);
}

TEST(origin__that_is_another_loses_every_credential)
{
    static const char *const others[] = {"https://b.example/", "http://a.example/",
                                         "https://a.example:8443/",
                                         "https://sub.a.example/", "//example/"};

    for (size_t i = 0; i < GBX_COUNTOF(others); i++) {
        fixture f;

        begin(&f, "GET", 302, others[i]);
        assert_true(next(&f));
        assert_null(gbx_fields_get(&f.request.headers, "authorization"));
        assert_null(gbx_fields_get(&f.request.headers, "cookie"));
        assert_null(gbx_fields_get(&f.request.headers, "x-key"));
        assert_string_equal(gbx_fields_get(&f.request.headers, "x-plain"), "y");
        end(&f);
    }
}

TEST(response__without_a_place_to_go_is_the_answer)
{
    static const uint16_t statuses[] = {200, 204, 300, 304, 305, 306, 400, 500};
    fixture f;

    for (size_t i = 0; i < GBX_COUNTOF(statuses); i++) {
        begin(&f, "GET", statuses[i], "/y");
        assert_false(next(&f));
        assert_int_equal(f.fault.code, GBX_FAULT_NONE);
        assert_false(gbx_redirect_ends_body(&f.request, &f.response));
        end(&f);
    }
    begin(&f, "GET", 302, NULL);
    assert_false(next(&f));
    assert_int_equal(f.fault.code, GBX_FAULT_NONE);
    end(&f);
}

TEST(mode__manual_gives_the_redirect_itself)
{
    fixture f;
    begin(&f, "GET", 302, "http://10.0.0.1/");
    f.request.redirect = GBX_REDIRECT_MANUAL;

    assert_false(next(&f));
    assert_int_equal(f.fault.code, GBX_FAULT_NONE);
    assert_false(gbx_redirect_ends_body(&f.request, &f.response));

    end(&f);
}

TEST(mode__error_refuses_any_redirect)
{
    fixture f;
    begin(&f, "GET", 302, "/y");
    f.request.redirect = GBX_REDIRECT_ERROR;

    assert_false(next(&f));

    assert_int_equal(f.fault.code, GBX_FAULT_REDIRECT);
    end(&f);
}

TEST(redirects__are_bounded_in_number)
{
    fixture f;
    begin(&f, "GET", 302, "/y");

    assert_true(
        gbx_redirect_next(&f.request, &f.from, &f.response, 4, 5, &f.to, &f.fault));
    gbx_url_cleanup(&f.to);
    assert_false(
        gbx_redirect_next(&f.request, &f.from, &f.response, 5, 5, &f.to, &f.fault));
    assert_non_null(strstr(f.fault.message, "more than 5 times"));
    end(&f);
}

TEST(location__that_is_said_twice_is_one_or_none)
{
    fixture f;

    begin(&f, "GET", 302, "/y");
    add(&f.response.headers, "LOCATION", "/y", false);
    assert_true(next(&f));
    end(&f);
    begin(&f, "GET", 302, "/y");
    add(&f.response.headers, "location", "http://b.example/", false);
    assert_false(next(&f));
    assert_int_equal(f.fault.code, GBX_FAULT_REDIRECT);
    end(&f);
}

TEST(location__that_is_no_url_says_why)
{
    fixture f;
    begin(&f, "GET", 302, "gopher://b.example/\xe2\x80\xae");

    assert_false(next(&f));

    assert_int_equal(f.fault.code, GBX_FAULT_REDIRECT);
    assert_non_null(strstr(f.fault.message, "only URLs that begin with https://"));
    assert_non_null(strstr(f.fault.message, "\\u{202e}"));
    end(&f);
}

TEST_MAIN(load, unload)
