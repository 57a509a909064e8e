/* SPDX-License-Identifier: MIT */
/* reading - refusals that help, two readers that must agree, and where redirects lead. */
#include "fetch/internal.h"

#include "base/cleanup.h"
#include "loaded_curl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The first thing that is wrong, in words that help to repair it. */
static const struct {
    const char *text;
    const char *message;
} told[] = {
    {"http://user@h/", "send credentials in a header"},
    {"http://h%41/", "'%'"},
    {"http://[fe80::1%25lo]/", "'%'"},
    {"http://h/\xc3\xbc", "not ASCII"},
    {"http://h/?\xc3\xbc", "not ASCII"},
    {"http://h\xc3\xbc/", "punycode"},
    {"http://h/a b", "a space or a control character"},
    {"http://h/\x7f", "a space or a control character"},
    {"http://h\\@x/", "backslash"},
    {"ftp://h/", "begin with https:// or http://"},
    {"http://127.1/", "four decimal numbers"},
    {"http://h:0/", "from 1 to 65535"},
    {"http://h./", "an empty part"},
    {"http://[1.2.3.4]/", "not an IPv6 address"},
};

static void test_refusal__says_what_to_repair(void **state)
{
    (void)state;
    for (size_t i = 0; i < GBX_COUNTOF(told); i++) {
        gbx_fault fault = {0};
        gbx_url url = {0};

        assert_false(gbx_url_parse(&loaded_curl, told[i].text, strlen(told[i].text),
                                   &url, &fault));
        if (strstr(fault.message, told[i].message) == NULL)
            fail_msg("'%s': %s", told[i].text, fault.message);
    }
}

/* A libcurl that reads another part than was checked, one at a time. */
static CURLUPart lying_about;
static const char *lie;

static CURLUcode lying_get(CURLU *handle, CURLUPart part, char **ret, unsigned flags)
{
    CURLUcode code = loaded_curl.curl_url_get(handle, part, ret, flags);

    if (part != lying_about)
        return code;
    if (code == CURLUE_OK)
        loaded_curl.curl_free(*ret);
    *ret = strdup(lie);
    return *ret != NULL ? CURLUE_OK : CURLUE_OUT_OF_MEMORY;
}

static const struct {
    CURLUPart part;
    const char *lie;
} lies[] = {{CURLUPART_HOST, "evil.example"},
            {CURLUPART_HOST, "[::2]"},
            {CURLUPART_HOST, ""},
            {CURLUPART_PORT, "8080"},
            {CURLUPART_SCHEME, "https"},
            {CURLUPART_USER, "someone"}};

static void test_reading__of_libcurl_must_be_the_same(void **state)
{
    static const char *const texts[] = {"http://example.com/", "http://[::1]/"};
    gbx_libcurl lying = loaded_curl;
    (void)state;
    lying.curl_url_get = lying_get;

    for (size_t i = 0; i < GBX_COUNTOF(lies) * 2; i++) {
        const char *text = texts[i % 2];
        gbx_fault fault = {0};
        gbx_url url = {0};

        lying_about = lies[i / 2].part;
        lie = lies[i / 2].lie;
        assert_false(gbx_url_parse(&lying, text, strlen(text), &url, &fault));
        assert_non_null(strstr(fault.message, "more than one way"));
    }
}

static void test_path__of_a_redirect_cannot_become_a_host(void **state)
{
    gbx_libcurl lying = loaded_curl;
    gbx_fault fault = {0};
    gbx_url base = {0};
    gbx_url url = {0};
    (void)state;
    assert_true(
        gbx_url_parse(&loaded_curl, "https://a.example/dir/page", 26, &base, &fault));
    lying.curl_url_get = lying_get;
    base.lib = &lying;
    lying_about = CURLUPART_URL;
    lie = "https://evil.example/";

    assert_false(gbx_url_join(&base, "/x", &url, &fault));

    assert_non_null(strstr(fault.message, "more than one way"));
    gbx_url_cleanup(&base);
}

/* A Location, seen from https://a.example/dir/page?q, and where it leads. */
static const struct {
    const char *location;
    const char *target; /* NULL: refused */
} joined[] = {
    {"other", "https://a.example/dir/other"},
    {"/root", "https://a.example/root"},
    {"../up", "https://a.example/up"},
    {"../../../../up", "https://a.example/up"},
    {"?z", "https://a.example/dir/page?z"},
    {"#part", "https://a.example/dir/page?q"},
    {"", "https://a.example/dir/page?q"},
    {"//b.example/x", "https://b.example/x"},
    {"https://b.example/", "https://b.example/"},
    {"http://b.example/", "http://b.example/"},
    {"/with space", "https://a.example/with%20space"},
    {"/\xc3\xbc", "https://a.example/%C3%BC"},
    {"/a@b:c", "https://a.example/a@b:c"},
    {"./a:b", "https://a.example/dir/a:b"},
    {"file:///etc/passwd", NULL},
    {"gopher://b.example/", NULL},
    {"javascript:1", NULL},
    {"http:b.example", NULL},
    {"http:/b.example", NULL},
    {"http:///b.example", NULL},
    {"///b.example", NULL},
    {"//", NULL},
    {"//user@b.example/", NULL},
    {"https://user:pw@b.example/", NULL},
    {"\\\\b.example\\", NULL},
    {"/\\b.example", NULL},
    {"http://b\xc3\xbc.example/", NULL},
    {"http://b.example:0/", NULL},
    {"http://[::1", NULL},
    {"http://2130706433/", NULL},
    {"/tab\there", NULL},
    {"//b.example\t/", NULL},
};

static void test_location__leads_where_it_says_or_nowhere(void **state)
{
    gbx_fault none = {0};
    gbx_url base = {0};
    (void)state;
    assert_true(
        gbx_url_parse(&loaded_curl, "https://a.example/dir/page?q", 28, &base, &none));

    for (size_t i = 0; i < GBX_COUNTOF(joined); i++) {
        gbx_fault fault = {0};
        gbx_url url = {0};
        bool fine = gbx_url_join(&base, joined[i].location, &url, &fault);

        if (fine != (joined[i].target != NULL))
            fail_msg("'%s': %s", joined[i].location, fine ? url.text : fault.message);
        if (fine && strcmp(url.text, joined[i].target) != 0)
            fail_msg("'%s' leads to '%s'", joined[i].location, url.text);
        gbx_url_cleanup(&url);
    }
    gbx_url_cleanup(&base);
}

static void test_origin__is_scheme_host_and_port(void **state)
{
    static const struct {
        const char *other;
        bool same;
    } cases[] = {{"https://a.example/", true},    {"https://A.example:443/x?y", true},
                 {"http://a.example/", false},    {"https://a.example:8443/", false},
                 {"https://b.a.example/", false}, {"https://example/", false},
                 {"http://a.example:443/", false}};
    gbx_fault fault = {0};
    gbx_url base = {0};
    (void)state;
    assert_true(gbx_url_parse(&loaded_curl, "https://a.example/", 18, &base, &fault));

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        gbx_url url = {0};

        assert_true(gbx_url_parse(&loaded_curl, cases[i].other, strlen(cases[i].other),
                                  &url, &fault));
        assert_int_equal(gbx_url_same_origin(&base, &url), cases[i].same);
        gbx_url_cleanup(&url);
    }
    gbx_url_cleanup(&base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusal__says_what_to_repair),
        cmocka_unit_test(test_reading__of_libcurl_must_be_the_same),
        cmocka_unit_test(test_path__of_a_redirect_cannot_become_a_host),
        cmocka_unit_test(test_location__leads_where_it_says_or_nowhere),
        cmocka_unit_test(test_origin__is_scheme_host_and_port),
    };

    return cmocka_run_group_tests(tests, curl_set_up, curl_tear_down);
}
