/* SPDX-License-Identifier: MIT */
/* url - every way in which a URL has been written to be read in two ways: urls.txt. */
#include "base/cleanup.h"
#include "fetch/internal.h"
#include "loaded_curl.h"
#include "table.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

TEST(url__is_accepted_in_one_notation_and_sent_in_it)
{
    const table_line *lines;
    size_t count = table_lines("fetch/urls.txt", "accepted", true, &lines);

    for (size_t i = 0; i < count; i++) {
        const char *text = lines[i].cell[0];
        gbx_fault fault = {0};
        gbx_url url = {0};

        if (!gbx_url_parse(&loaded_curl, text, strlen(text), &url, &fault))
            fail_msg("'%s' was refused: %s", text, fault.message);
        if (strcmp(url.text, lines[i].cell[1]) != 0)
            fail_msg("'%s' became '%s'", text, url.text);
        gbx_url_cleanup(&url);
    }
}

TEST(url__that_can_be_read_in_two_ways_is_refused)
{
    const table_line *lines;
    size_t count = table_lines("fetch/urls.txt", "refused", true, &lines);

    assert_true(count >= 130);
    for (size_t i = 0; i < count; i++) {
        const char *text = lines[i].cell[0];
        gbx_fault fault = {0};
        gbx_url url = {0};

        if (gbx_url_parse(&loaded_curl, text, strlen(text), &url, &fault))
            fail_msg("'%s' was accepted as '%s'", text, url.text);
        assert_int_equal(fault.code, GBX_FAULT_URL);
        assert_true(strlen(fault.message) > 10);
    }
}

TEST(url__with_a_nul_is_refused)
{
    gbx_fault fault = {0};
    gbx_url url;

    assert_false(gbx_url_parse(&loaded_curl, "http://a\0b/", 11, &url, &fault));
    assert_false(gbx_url_parse(&loaded_curl, "http://a/\0", 10, &url, &fault));
}

TEST(url__has_a_length_that_is_enough_and_no_more)
{
    char *text = malloc(GBX_URL_MAX + 2);
    gbx_fault fault = {0};
    gbx_url url = {0};
    assert_non_null(text);
    memset(text, 'a', GBX_URL_MAX + 1);
    memcpy(text, "http://h.example/", 17);

    assert_true(gbx_url_parse(&loaded_curl, text, GBX_URL_MAX, &url, &fault));
    assert_int_equal(strlen(url.text), GBX_URL_MAX);
    gbx_url_cleanup(&url);
    assert_false(gbx_url_parse(&loaded_curl, text, GBX_URL_MAX + 1, &url, &fault));

    assert_int_equal(fault.code, GBX_FAULT_URL);
    free(text);
}

TEST(host__has_at_most_253_characters)
{
    char text[300] = "http://";
    gbx_fault fault = {0};
    gbx_url url = {0};
    for (size_t i = 0; i < 253; i++)
        text[7 + i] = i % 60 == 59 ? '.' : 'a';

    assert_true(gbx_url_parse(&loaded_curl, text, 7 + 253, &url, &fault));
    gbx_url_cleanup(&url);
    text[7 + 253] = 'a';
    assert_false(gbx_url_parse(&loaded_curl, text, 7 + 254, &url, &fault));
}

/* ---- refusals that help, two readers that must agree, where redirects lead ---- */

TEST(refusal__says_what_to_repair)
{
    const table_line *lines;
    size_t count = table_lines("fetch/urls.txt", "told", true, &lines);

    for (size_t i = 0; i < count; i++) {
        const char *text = lines[i].cell[0];
        gbx_fault fault = {0};
        gbx_url url = {0};

        assert_false(gbx_url_parse(&loaded_curl, text, strlen(text), &url, &fault));
        if (strstr(fault.message, lines[i].cell[1]) == NULL)
            fail_msg("'%s': %s", text, fault.message);
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

TEST(reading__of_libcurl_must_be_the_same)
{
    static const char *const texts[] = {"http://example.com/", "http://[::1]/"};
    gbx_libcurl lying = loaded_curl;
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

TEST(path__of_a_redirect_cannot_become_a_host)
{
    gbx_libcurl lying = loaded_curl;
    gbx_fault fault = {0};
    gbx_url base = {0};
    gbx_url url = {0};
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

TEST(location__leads_where_it_says_or_nowhere)
{
    const table_line *lines;
    size_t count = table_lines("fetch/urls.txt", "joined", true, &lines);
    gbx_fault none = {0};
    gbx_url base = {0};
    assert_true(
        gbx_url_parse(&loaded_curl, "https://a.example/dir/page?q", 28, &base, &none));

    for (size_t i = 0; i < count; i++) {
        const char *target = lines[i].cell[1];
        gbx_fault fault = {0};
        gbx_url url = {0};
        bool fine = gbx_url_join(&base, lines[i].cell[0], &url, &fault);

        if (strcmp(fine ? url.text : "-", target) != 0)
            fail_msg("'%s' leads to '%s', not '%s': %s", lines[i].cell[0],
                     fine ? url.text : "-", target, fault.message);
        gbx_url_cleanup(&url);
    }
    gbx_url_cleanup(&base);
}

TEST(origin__is_scheme_host_and_port)
{
    const table_line *lines;
    size_t count = table_lines("fetch/urls.txt", "origins", true, &lines);
    gbx_fault fault = {0};
    gbx_url base = {0};
    assert_true(gbx_url_parse(&loaded_curl, "https://a.example/", 18, &base, &fault));

    for (size_t i = 0; i < count; i++) {
        const char *text = lines[i].cell[0];
        gbx_url url = {0};

        assert_true(gbx_url_parse(&loaded_curl, text, strlen(text), &url, &fault));
        assert_string_equal(gbx_url_same_origin(&base, &url) ? "same" : "other",
                            lines[i].cell[1]);
        gbx_url_cleanup(&url);
    }
    gbx_url_cleanup(&base);
}

TEST_MAIN(curl_set_up, curl_tear_down)
