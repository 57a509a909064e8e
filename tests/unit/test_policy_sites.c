/* SPDX-License-Identifier: MIT */
/* site - what may be listed, in which one form it is kept, and what it then matches. */
#include "base/cleanup.h"
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LABEL63 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk"

/* What an entry becomes; loopback is marked by "!" in front. */
static const struct {
    const char *entry;
    const char *kept;
} good[] = {
    {"api.example.com", "https://api.example.com"},
    {"https://api.example.com", "https://api.example.com"},
    {"HTTPS://API.Example.COM", "https://api.example.com"},
    {"http://api.example.com", "http://api.example.com"},
    {"api.example.com.", "https://api.example.com"},
    {"api.example.com:443", "https://api.example.com:443"},
    {"api.example.com:1", "https://api.example.com:1"},
    {"api.example.com:65535", "https://api.example.com:65535"},
    {"api.example.com:*", "https://api.example.com:*"},
    {"http://api.example.com:8080", "http://api.example.com:8080"},
    {"*.example.org", "https://*.example.org"},
    {"*.Example.org.", "https://*.example.org"},
    {"http://*.example.org:8080", "http://*.example.org:8080"},
    {"*.b\xc3\xbc"
     "cher.example",
     "https://*.xn--bcher-kva.example"},
    {"intranet", "https://intranet"},
    {"a_b.example", "https://a_b.example"},
    {"xn--bcher-kva.example", "https://xn--bcher-kva.example"},
    {"XN--BCHER-KVA.example", "https://xn--bcher-kva.example"},
    {"b\xc3\xbc"
     "cher.example",
     "https://xn--bcher-kva.example"},
    {"B\xc3\x9c"
     "CHER.example",
     "https://xn--bcher-kva.example"},
    {"bu\xcc\x88"
     "cher.example",
     "https://xn--bcher-kva.example"}, /* a combining mark */
    {"fa\xc3\x9f.example", "https://xn--fa-hia.example"},
    {"\xef\xbd\x85x.example", "https://ex.example"}, /* a full-width letter */
    {"ex\xe3\x80\x82"
     "example",
     "https://ex.example"}, /* an ideographic full stop */
    {"localhost", "!https://localhost"},
    {"http://LOCALHOST:8080", "!http://localhost:8080"},
    {"http://app.localhost", "!http://app.localhost"},
    {"http://*.localhost", "!http://*.localhost"},
    {"localhost.example.com", "https://localhost.example.com"},
    {"127.0.0.1", "!https://127.0.0.1"},
    {"http://127.8.9.10:3000", "!http://127.8.9.10:3000"},
    {"http://[::1]:3000", "!http://[::1]:3000"},
    {"[0:0:0:0:0:0:0:1]", "!https://[::1]"},
    {"10.1.2.3", "https://10.1.2.3"},
    {"93.184.216.34:8443", "https://93.184.216.34:8443"},
    {"[2001:DB8:0:0::1]", "https://[2001:db8::1]"},
    {"[fd12::1]:*", "https://[fd12::1]:*"},
    {LABEL63 ".example", "https://" LABEL63 ".example"},
};

static void test_good__are_kept_in_one_form(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(good); i++) {
        gbx_site site = {0};
        gbx_error error = {0};
        char text[GBX_SITE_TEXT_SIZE];
        bool loopback = good[i].kept[0] == '!';

        if (gbx_site_parse(good[i].entry, strlen(good[i].entry), &site, &error) !=
            GBX_OK)
            fail_msg("'%s': %s", good[i].entry, error.message);
        assert_string_equal(gbx_site_print(&site, text), good[i].kept + loopback);
        assert_int_equal(site.loopback, loopback);
        free(site.host);
    }
}

static const struct {
    const char *entry;
    unsigned column;
    const char *message; /* its beginning */
} bad[] = {
    {"", 1, "the site is missing"},
    {"https://", 9, "the host is missing"},
    {":443", 1, "the host is missing"},
    {"*", 1, "'*' would allow every host"},
    {"https://*", 9, "'*' would allow every host"},
    {"*:443", 1, "'*' would allow every host"},
    {"*.", 3, "the host is missing"},
    {"*.com", 3, "'*.com' would allow every name below"},
    {"*.COM.", 3, "'*.com' would allow every name below"},
    {"*.*.example", 3, "'*' stands for whole labels"},
    {"*example.com", 1, "'*' stands for whole labels"},
    {"api.*.com", 5, "'*' stands for whole labels"},
    {"api.example.*", 13, "'*' stands for whole labels"},
    {"*.10.0.0.1", 3, "an address has no names below it"},
    {"[*.example.com]", 2, "'*.example.com' is not an IPv6 address"},
    {"ftp://example.com", 1, "the scheme 'ftp' cannot be allowed"},
    {"ws://example.com", 1, "the scheme 'ws' cannot be allowed"},
    {"file:///etc/passwd", 1, "the scheme 'file' cannot be allowed"},
    {"://example.com", 1, "the scheme '' cannot be allowed"},
    {"//example.com", 1, "a path cannot be allowed"},
    {"https:example.com", 7, "'example.com' is not a port"},
    {"https:///example.com", 9, "a path cannot be allowed"},
    {"example.com/", 12, "a path cannot be allowed"},
    {"example.com/v1", 12, "a path cannot be allowed"},
    {"example.com:443/v1", 16, "a path cannot be allowed"},
    {"example.com\\v1", 12, "a path cannot be allowed"},
    {"example.com?a=b", 12, "a query cannot be allowed"},
    {"example.com:443?a=b", 16, "a query cannot be allowed"},
    {"example.com#top", 12, "a fragment cannot be allowed"},
    {"example.com:443#top", 16, "a fragment cannot be allowed"},
    {"user@example.com", 1, "a user name or password cannot be allowed"},
    {"https://user:pass@example.com", 9, "a user name or password cannot be allowed"},
    {"https://example.com@evil.example", 9, "a user name or password cannot"},
    {"example.com:443@evil.example", 1, "a user name or password cannot be allowed"},
    {" example.com", 1, "a host has no white space"},
    {"example.com ", 12, "a host has no white space"},
    {"example .com", 8, "a host has no white space"},
    {"example.com\n", 12, "a host has no white space"},
    {"example\x01.com", 8, "a host has no control characters"},
    {"example\x7f.com", 8, "a host has no control characters"},
    {"ex%61mple.com", 3, "a host has no escapes"},
    {"\xc3\xbc.ex%61mple.com", 5, "a host has no escapes"}, /* columns are characters */
    {"example.com:", 13, "'' is not a port"},
    {"example.com:0", 13, "'0' is not a port"},
    {"example.com:080", 13, "'080' is not a port"},
    {"example.com:65536", 13, "'65536' is not a port"},
    {"example.com:+80", 13, "'+80' is not a port"},
    {"example.com:80a", 13, "'80a' is not a port"},
    {"example.com:http", 13, "'http' is not a port"},
    {"example.com:8*", 13, "'8*' is not a port"},
    {"example.com:80:80", 12, "there is more than one ':'"},
    {".example.com", 1, "a part of the name between two dots is empty"},
    {"example..com", 1, "a part of the name between two dots is empty"},
    {"example.com..", 1, "a part of the name between two dots is empty"},
    {".", 1, "a part of the name between two dots is empty"},
    {"-a.example", 1, "no part of a host name begins or ends with '-'"},
    {"a-.example", 1, "no part of a host name begins or ends with '-'"},
    {"exa!mple.com", 1, "a host name has letters, digits"},
    {"\"example.com\"", 1, "a host name has letters, digits"},
    {"example.com,other.com", 1, "a host name has letters, digits"},
    {LABEL63 "l.example", 1, "a part of a host name has at most 63"},
    {LABEL63 "." LABEL63 "." LABEL63 "." LABEL63, 1, "a host name has at most 253"},
    {LABEL63 "." LABEL63 "." LABEL63 "." LABEL63 "." LABEL63, 1, "a host name has at"},
    {"xn--a.example", 1, "'xn--a.example' is not an international host name"},
    {"xn--.example", 1, "'xn--.example' is not an international host name"},
    {"\xff.example", 1, "'"},
    {"a\xe2\x80\x8d.example", 1, "'"}, /* a joiner that joins nothing */
    {"0x7f.0.0.1", 1, "'0x7f.0.0.1' is the address 127.0.0.1: write it like that"},
    {"0177.0.0.1", 1, "'0177.0.0.1' is the address 127.0.0.1"},
    {"2130706433", 1, "'2130706433' is the address 127.0.0.1"},
    {"0x7f000001", 1, "'0x7f000001' is the address 127.0.0.1"},
    {"017700000001", 1, "'017700000001' is the address 127.0.0.1"},
    {"127.1", 1, "'127.1' is the address 127.0.0.1"},
    {"127.0.1", 1, "'127.0.1' is the address 127.0.0.1"},
    {"127.0.0.1.", 1, "'127.0.0.1.' is the address 127.0.0.1"},
    {"0300.0250.0.1", 1, "'0300.0250.0.1' is the address 192.168.0.1"},
    {"10.0.0.01", 1, "'10.0.0.01' is the address 10.0.0.1"},
    {"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1", 1, "'"}, /* full-width 127 */
    {"256.0.0.1", 1, "'256.0.0.1' ends in a number"},
    {"1.2.3.4.5", 1, "'1.2.3.4.5' ends in a number"},
    {"4294967296", 1, "'4294967296' ends in a number"},
    {"99999999999999999999999", 1, "'99999999999999999999999' ends in a number"},
    {"example.1", 1, "'example.1' ends in a number"},
    {"example.0x1", 1, "'example.0x1' ends in a number"},
    {"08.0.0.1", 1, "'08.0.0.1' ends in a number"},
    {"0.0.0.0", 1, "'0.0.0.0' belongs to addresses of no host"},
    {"169.254.169.254", 1, "'169.254.169.254' belongs to link-local"},
    {"http://100.100.100.200", 8, "'100.100.100.200' belongs to a cloud's metadata"},
    {"224.0.0.1", 1, "'224.0.0.1' belongs to multicast"},
    {"255.255.255.255", 1, "'255.255.255.255' belongs to reserved"},
    {"::1", 1, "there is more than one ':'"},
    {"fd00::1", 5, "there is more than one ':'"},
    {"[::1", 1, "'[' is not closed"},
    {"::1]", 1, "there is more than one ':'"},
    {"[::1]8080", 6, "after ']' comes ':' and a port"},
    {"[::1]:", 7, "'' is not a port"},
    {"[]", 2, "the host is missing"},
    {"[127.0.0.1]", 2, "'127.0.0.1' is not an IPv6 address"},
    {"[::g]", 2, "'::g' is not an IPv6 address"},
    {"[::1%25lo]", 2, "a zone cannot be allowed"},
    {"[fe80::1]", 2, "'fe80::1' belongs to link-local"},
    {"[fec0::1]", 2, "'fec0::1' belongs to site-local"},
    {"[ff02::1]", 2, "'ff02::1' belongs to multicast"},
    {"[::]", 2, "'::' belongs to IPv4 addresses within IPv6"},
    {"[::127.0.0.1]", 2, "'::127.0.0.1' belongs to IPv4 addresses within IPv6"},
    {"[::ffff:127.0.0.1]", 2,
     "'::ffff:127.0.0.1' is an IPv4 address: write '127.0.0.1'"},
    {"[::ffff:7f00:1]", 2, "'::ffff:7f00:1' is an IPv4 address: write '127.0.0.1'"},
    {"[64:ff9b::7f00:1]", 2, "'64:ff9b::7f00:1' belongs to IPv4 addresses"},
    {"[2002:7f00:1::]", 2, "'2002:7f00:1::' belongs to IPv4 addresses"},
    {"[2001::1]", 2, "'2001::1' belongs to IPv4 addresses"},
    {"[fd00:ec2::254]", 2, "'fd00:ec2::254' belongs to a cloud's metadata"},
};

static void test_bad__are_refused_where_they_are_wrong(void **state)
{
    size_t wrong = 0;
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(bad); i++) {
        size_t len = strlen(bad[i].entry);
        char *copy = malloc(len + 1); /* of its own size: a step past it is seen */
        gbx_site site = {0};
        gbx_error e = {0};

        assert_non_null(copy);
        memcpy(copy, bad[i].entry, len);
        if (gbx_site_parse(copy, len, &site, &e) != GBX_E_POLICY || e.line != 1 ||
            e.column != bad[i].column ||
            strncmp(e.message, bad[i].message, strlen(bad[i].message)) != 0) {
            print_error("'%s': column %u: %s\n", bad[i].entry, e.column, e.message);
            wrong++;
        }
        assert_null(site.host);
        free(copy);
    }
    assert_int_equal(wrong, 0);
}

static const struct {
    const char *entry;
    const char *host;
    uint16_t port;
    uint8_t scheme;
    bool matches;
} matches[] = {
    {"a.example", "a.example", 443, GBX_SCHEME_HTTPS, true},
    {"a.example", "a.example", 80, GBX_SCHEME_HTTP, false},
    {"a.example", "a.example", 443, GBX_SCHEME_HTTP, false},
    {"a.example", "a.example", 8443, GBX_SCHEME_HTTPS, false},
    {"a.example", "b.a.example", 443, GBX_SCHEME_HTTPS, false},
    {"a.example", "ba.example", 443, GBX_SCHEME_HTTPS, false},
    {"a.example", "a.example.evil", 443, GBX_SCHEME_HTTPS, false},
    {"a.example", "", 443, GBX_SCHEME_HTTPS, false},
    {"http://a.example", "a.example", 80, GBX_SCHEME_HTTP, true},
    {"http://a.example", "a.example", 443, GBX_SCHEME_HTTPS, false},
    {"http://a.example:8080", "a.example", 8080, GBX_SCHEME_HTTP, true},
    {"http://a.example:8080", "a.example", 80, GBX_SCHEME_HTTP, false},
    {"a.example:*", "a.example", 1, GBX_SCHEME_HTTPS, true},
    {"a.example:*", "a.example", 65535, GBX_SCHEME_HTTPS, true},
    {"a.example:*", "a.example", 80, GBX_SCHEME_HTTP, false},
    {"*.a.example", "a.example", 443, GBX_SCHEME_HTTPS, false},
    {"*.a.example", "b.a.example", 443, GBX_SCHEME_HTTPS, true},
    {"*.a.example", "c.b.a.example", 443, GBX_SCHEME_HTTPS, true},
    {"*.a.example", ".a.example", 443, GBX_SCHEME_HTTPS, false},
    {"*.a.example", "ba.example", 443, GBX_SCHEME_HTTPS, false},
    {"*.a.example", "evila.example", 443, GBX_SCHEME_HTTPS, false},
    {"*.a.example", "b.a.example.evil", 443, GBX_SCHEME_HTTPS, false},
    {"10.0.0.1", "10.0.0.1", 443, GBX_SCHEME_HTTPS, true},
    {"10.0.0.1", "10.0.0.10", 443, GBX_SCHEME_HTTPS, false},
    {"[fd12::1]", "fd12::1", 443, GBX_SCHEME_HTTPS, true},
};

static void test_site__matches_what_it_names_and_no_more(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(matches); i++) {
        gbx_site site = {0};

        assert_int_equal(gbx_site_parse(matches[i].entry, strlen(matches[i].entry),
                                        &site, NULL),
                         GBX_OK);
        if (gbx_site_matches(&site, matches[i].host, matches[i].port,
                             matches[i].scheme) != matches[i].matches)
            fail_msg("'%s' and '%s'", matches[i].entry, matches[i].host);
        free(site.host);
    }
}

static const struct {
    const char *wide;
    const char *narrow;
    bool covers;
} coverings[] = {
    {"a.example", "a.example", true},
    {"a.example", "a.example:443", true},
    {"a.example:443", "a.example", true},
    {"http://a.example", "http://a.example:80", true},
    {"a.example", "a.example:8443", false},
    {"a.example", "http://a.example", false},
    {"http://a.example:443", "a.example:443", false},
    {"a.example:*", "a.example:8443", true},
    {"a.example:8443", "a.example:*", false},
    {"a.example:*", "a.example:*", true},
    {"*.example.org", "a.example.org", true},
    {"*.example.org", "b.a.example.org", true},
    {"*.example.org", "*.a.example.org", true},
    {"*.example.org", "*.example.org", true},
    {"*.example.org", "example.org", false},
    {"*.a.example.org", "*.example.org", false},
    {"example.org", "*.example.org", false},
    {"*.ample.org", "example.org", false},
    {"http://localhost:*", "http://localhost:8080", true},
};

static void test_covering__is_matching_all_that_the_other_matches(void **state)
{
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(coverings); i++) {
        gbx_site wide = {0};
        gbx_site narrow = {0};

        assert_int_equal(gbx_site_parse(coverings[i].wide, strlen(coverings[i].wide),
                                        &wide, NULL),
                         GBX_OK);
        assert_int_equal(gbx_site_parse(coverings[i].narrow,
                                        strlen(coverings[i].narrow), &narrow, NULL),
                         GBX_OK);
        if (gbx_site_covers(&wide, &narrow) != coverings[i].covers)
            fail_msg("'%s' and '%s'", coverings[i].wide, coverings[i].narrow);
        free(wide.host);
        free(narrow.host);
    }
}

/* Loopback is said by the entry itself: a wide one that does not say it covers none. */
static void test_covering__does_not_open_loopback(void **state)
{
    gbx_site wide = {0};
    gbx_site narrow = {0};
    (void)state;

    assert_int_equal(gbx_site_parse("a.example", 9, &wide, NULL), GBX_OK);
    assert_int_equal(gbx_site_parse("a.example", 9, &narrow, NULL), GBX_OK);
    narrow.loopback = true;
    assert_false(gbx_site_covers(&wide, &narrow));
    free(wide.host);
    free(narrow.host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good__are_kept_in_one_form),
        cmocka_unit_test(test_bad__are_refused_where_they_are_wrong),
        cmocka_unit_test(test_site__matches_what_it_names_and_no_more),
        cmocka_unit_test(test_covering__is_matching_all_that_the_other_matches),
        cmocka_unit_test(test_covering__does_not_open_loopback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
