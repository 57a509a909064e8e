/* SPDX-License-Identifier: MIT */
/* allow - what is on the list is allowed, and nothing that looks like it. */
#include "base/cleanup.h"
#include "fetch/internal.h"
#include "table.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static gbx_libcurl lib;

static int load(void **state)
{
    return gbx_libcurl_load(&lib, NULL) == GBX_OK ? 0 : -1;
}

static int unload(void **state)
{
    gbx_libcurl_unload(&lib);
    return 0;
}

static gbx_site sites[] = {
    {.host = "api.example.com", .schemes = GBX_SCHEME_HTTPS},
    {.host = "example.org", .below = true, .schemes = GBX_SCHEME_HTTPS},
    {.host = "both.example", .schemes = GBX_SCHEME_HTTPS | GBX_SCHEME_HTTP},
    {.host = "port.example", .schemes = GBX_SCHEME_HTTPS, .port = 8443},
    {.host = "ssh.example", .schemes = GBX_SCHEME_HTTP, .port = 22},
    {.host = "any.example", .schemes = GBX_SCHEME_HTTP, .any_port = true},
    {.host = "10.0.0.5", .schemes = GBX_SCHEME_HTTP},
    {.host = "fd00::5", .schemes = GBX_SCHEME_HTTP},
    {.host = "localhost", .schemes = GBX_SCHEME_HTTP, .port = 8080, .loopback = true},
};

static const gbx_fetch_policy policy = {.sites = sites,
                                        .site_count = GBX_COUNTOF(sites)};

static bool check(const char *text, gbx_reach *reach, gbx_fault *fault)
{
    gbx_url url = {0};
    bool allowed;

    assert_true(gbx_url_parse(&lib, text, strlen(text), &url, fault));
    allowed = gbx_allow_url(&policy, &url, reach, fault);
    gbx_url_cleanup(&url);
    return allowed;
}

TEST(site__is_allowed_exactly_as_listed)
{
    const table_line *lines;
    size_t count = table_lines("fetch/urls.txt", "listed", true, &lines);

    for (size_t i = 0; i < count; i++) {
        gbx_fault fault = {0};
        gbx_reach reach;
        bool allowed = check(lines[i].cell[0], &reach, &fault);

        if (strcmp(allowed ? "allowed" : "refused", lines[i].cell[1]) != 0)
            fail_msg("'%s': %s", lines[i].cell[0], fault.message);
        if (!allowed)
            assert_int_equal(fault.code, GBX_FAULT_NOT_ALLOWED);
    }
}

TEST(reach__is_that_of_the_entry_that_allows)
{
    gbx_fault fault = {0};
    gbx_reach reach;

    assert_true(check("https://api.example.com/", &reach, &fault));
    assert_false(reach.loopback || reach.has_named);
    assert_true(check("http://localhost:8080/", &reach, &fault));
    assert_true(reach.loopback && !reach.has_named);
    assert_true(check("http://10.0.0.5/", &reach, &fault));
    assert_true(!reach.loopback && reach.has_named);
}

TEST(refusal__names_what_is_allowed_and_stays_short)
{
    static gbx_site many[200];
    gbx_fetch_policy large = {.sites = many, .site_count = GBX_COUNTOF(many)};
    gbx_fault fault = {0};
    gbx_url url = {0};
    gbx_reach reach;
    for (size_t i = 0; i < GBX_COUNTOF(many); i++)
        many[i] = (gbx_site){.host = "some.long.name.example.com",
                             .schemes = GBX_SCHEME_HTTPS};

    assert_false(check("http://api.example.com/", &reach, &fault));
    assert_non_null(strstr(fault.message,
                           "'api.example.com' with http and port 80 is not "
                           "on the list; allowed: api.example.com, "
                           "*.example.org, both.example"));
    fault = (gbx_fault){0};
    assert_true(gbx_url_parse(&lib, "http://x.example/", 17, &url, &fault));
    assert_false(gbx_allow_url(&large, &url, &reach, &fault));
    assert_non_null(strstr(fault.message, " and 19"));
    assert_true(strlen(fault.message) < 450);
    gbx_url_cleanup(&url);
}

TEST(list__of_nothing_allows_nothing)
{
    gbx_fetch_policy empty = {0};
    gbx_fault fault = {0};
    gbx_url url = {0};
    gbx_reach reach;
    assert_true(gbx_url_parse(&lib, "http://example.com/", 19, &url, &fault));

    assert_false(gbx_allow_url(&empty, &url, &reach, &fault));

    assert_non_null(strstr(fault.message, "allowed: nothing"));
    gbx_url_cleanup(&url);
}

TEST(method__is_allowed_as_listed)
{
    static char *only[] = {"GET", "PURGE"};
    static const char *const usual[] = {"GET",   "HEAD",   "POST",   "PUT",
                                        "PATCH", "DELETE", "OPTIONS"};
    static const char *const never[] = {"CONNECT", "TRACE", "TRACK", "connect",
                                        "Trace"};
    gbx_fetch_policy some = {.methods = only, .method_count = 2};
    gbx_fetch_policy all = {0};
    gbx_fault fault = {0};

    for (size_t i = 0; i < GBX_COUNTOF(usual); i++)
        assert_true(gbx_allow_method(&all, usual[i], &fault));
    assert_false(gbx_allow_method(&all, "PURGE", &fault));
    assert_non_null(strstr(fault.message, "allowed: GET, HEAD, POST"));
    assert_true(gbx_allow_method(&some, "PURGE", &(gbx_fault){0}));
    assert_false(gbx_allow_method(&some, "POST", &(gbx_fault){0}));
    assert_false(gbx_allow_method(&some, "get", &(gbx_fault){0}));
    only[1] = "TRACE";
    for (size_t i = 0; i < GBX_COUNTOF(never); i++)
        assert_false(gbx_allow_method(&some, never[i], &(gbx_fault){0}));
}

TEST_MAIN(load, unload)
