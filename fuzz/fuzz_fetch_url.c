/* SPDX-License-Identifier: MIT */
/*
 * fuzz_fetch_url - whatever a URL or a Location is, what is accepted has one notation, and
 * leads to what the list says or nowhere.
 *
 * Input: a URL, a line feed, a Location seen from it.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "fetch/internal.h"

#include <stdlib.h>
#include <string.h>

static const gbx_libcurl *library(void)
{
    static gbx_libcurl lib;

    if (lib.curl_url == NULL)
        assert(gbx_libcurl_load(&lib, NULL) == GBX_OK);
    return &lib;
}

/* What was accepted is canonical, and read again it is the same. */
static void check_canonical(const gbx_url *url)
{
    gbx_fault fault = {0};
    gbx_url again = {0};
    gbx_ip address;

    for (const char *at = url->text; *at != '\0'; at++)
        assert((uint8_t)*at > 0x20 && (uint8_t)*at < 0x7F && *at != '#');
    assert(strlen(url->host) > 0 && strpbrk(url->host, "@%/?#[]\\ ") == NULL);
    assert(url->port != 0);
    assert(gbx_ip_parse(url->host, &address) == url->is_literal);
    if (strlen(url->text) > GBX_URL_MAX)
        return; /* a "/" more than was written */
    assert(gbx_url_parse(url->lib, url->text, strlen(url->text), &again, &fault));
    assert(strcmp(again.text, url->text) == 0);
    assert(gbx_url_same_origin(&again, url));
    gbx_url_cleanup(&again);
}

/* Only the two hosts of the list are allowed, and no private address ever. */
static void check_allowed(const gbx_url *url)
{
    gbx_site sites[] = {{.host = "example.com", .schemes = 3, .any_port = true},
                        {.host = "example.org", .schemes = 1, .below = true}};
    gbx_fetch_policy policy = {.sites = sites, .site_count = GBX_COUNTOF(sites)};
    gbx_fault fault = {0};
    gbx_reach reach;
    const char *suffix = strrchr(url->host, 'e');

    if (gbx_allow_url(&policy, url, &reach, &fault)) {
        assert(!url->is_literal);
        assert(strcmp(url->host, "example.com") == 0 ||
               (suffix != NULL && strstr(url->host, ".example.org") != NULL));
    } else {
        assert(fault.code == GBX_FAULT_NOT_ALLOWED && fault.message[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
    size_t len = newline != NULL ? (size_t)(newline - data) : size;
    gbx_fault fault = {0};
    gbx_url url = {0};
    gbx_url next = {0};
    char *location;

    if (!gbx_url_parse(library(), (const char *)data, len, &url, &fault)) {
        assert(fault.code == GBX_FAULT_URL && url.text == NULL);
        return 0;
    }
    check_canonical(&url);
    check_allowed(&url);
    location = strndup(newline != NULL ? (const char *)newline + 1 : "",
                       newline != NULL ? size - len - 1 : 0);
    assert(location != NULL);
    if (gbx_url_join(&url, location, &next, &fault)) {
        check_canonical(&next);
        assert(strchr(location, ':') != NULL || strncmp(location, "//", 2) == 0 ||
               gbx_url_same_origin(&url, &next));
    }
    free(location);
    gbx_url_cleanup(&next);
    gbx_url_cleanup(&url);
    return 0;
}
