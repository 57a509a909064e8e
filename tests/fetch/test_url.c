/* SPDX-License-Identifier: MIT */
/* url - every way in which a URL has been written to be read in two ways, a line each. */
#include "fetch/internal.h"

#include "base/cleanup.h"
#include "loaded_curl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What is accepted, and what it is then sent as. */
static const struct {
    const char *text;
    const char *canonical;
} accepted[] = {
    {"http://example.com", "http://example.com/"},
    {"http://example.com/", "http://example.com/"},
    {"https://example.com/a/b?c=d", "https://example.com/a/b?c=d"},
    {"HTTP://example.com/", "http://example.com/"},
    {"hTtPs://example.com/", "https://example.com/"},
    {"http://EXAMPLE.com/Path", "http://example.com/Path"},
    {"http://example.com:80/", "http://example.com/"},
    {"https://example.com:443/", "https://example.com/"},
    {"http://example.com:443/", "http://example.com:443/"},
    {"https://example.com:8443/", "https://example.com:8443/"},
    {"http://example.com?q", "http://example.com/?q"},
    {"http://example.com#fragment", "http://example.com/"},
    {"http://example.com/a#b?c", "http://example.com/a"},
    {"http://example.com/a#http://evil/", "http://example.com/a"},
    {"http://example.com/?a={b}|c^`\\", "http://example.com/?a={b}|c^`\\"},
    {"http://example.com/%20%2e", "http://example.com/%20%2e"},
    {"http://example.com//a//b", "http://example.com//a//b"},
    {"http://example.com/@b:c", "http://example.com/@b:c"},
    {"http://example.com/?x=@evil.com", "http://example.com/?x=@evil.com"},
    {"http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/"},
    {"http://a_b.example/", "http://a_b.example/"},
    {"http://a-b.c-d.example/", "http://a-b.c-d.example/"},
    {"http://0x7f.example/", "http://0x7f.example/"},
    {"http://1.2.3.4.example/", "http://1.2.3.4.example/"},
    {"http://93.184.215.14/", "http://93.184.215.14/"},
    {"http://127.0.0.1:8080/", "http://127.0.0.1:8080/"},
    {"http://[2606:2800:21F::1]/", "http://[2606:2800:21f::1]/"},
    {"http://[2606:2800:021f:0:0:0:0:1]:81/", "http://[2606:2800:21f::1]:81/"},
    {"http://[::1]/", "http://[::1]/"},
    {"http://localhost/", "http://localhost/"},
};

/* What is refused, whatever the list says. Where a browser would read another host than
 * the first that meets the eye, that is the case's point. */
static const char *const refused[] = {
    /* no http, or not plainly */
    "",
    "example.com",
    "//example.com/",
    "/path",
    "http:example.com",
    "http:/example.com",
    "http:///example.com",
    "http:////example.com",
    "https:example.com",
    "file:///etc/passwd",
    "ftp://example.com/",
    "gopher://example.com/_GET",
    "dict://example.com:11211/stat",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "ws://example.com/",
    "unix:/var/run/docker.sock",
    "jar:http://example.com!/",
    "view-source:http://example.com",
    "url:http://example.com",
    "blob:http://example.com/x",
    "http+unix://example.com/",
    "httpx://example.com/",
    " http://example.com/",
    "\thttp://example.com/",
    "\x01http://example.com/",
    "ht\ntp://example.com/",
    "http\t://example.com/",
    /* no host */
    "http://",
    "http:///",
    "http://?",
    "http://#",
    "http://:80/",
    "http://@/",
    /* characters that some parsers drop or turn round */
    "http://example.com/ ",
    "http://exam ple.com/",
    "http://example.com/a b",
    "http://example.com/\r\nHost: evil",
    "http://example.com/\n",
    "http://exa\tmple.com/",
    "http://exa\nmple.com/",
    "http://example.com\\@evil.com/",
    "http:\\\\example.com\\",
    "http://example.com\\.evil.com/",
    "http:/\\example.com/",
    "http://example.com/\\..\\",
    "http://example.com/\x7f",
    "http://example.com/\x1f",
    "http://example.com/<a>",
    "http://example.com/\"",
    /* users, and what looks like hosts before them */
    "http://user@example.com/",
    "http://user:password@example.com/",
    "http://:password@example.com/",
    "http://@example.com/",
    "http://example.com@evil.com/",
    "http://example.com:80@evil.com/",
    "http://example.com%40evil.com/",
    "http://a@b@c/",
    "http://127.0.0.1@example.com/",
    "http://example.com&@evil.com#@b/",
    "http://foo@evil.com:80@example.com/",
    /* names that are none */
    "http://example.com./",
    "http://example.com../",
    "http://.example.com/",
    "http://example..com/",
    "http://./",
    "http://../",
    "http://-example.com/",
    "http://example-.com/",
    "http://exam*ple.com/",
    "http://*.example.com/",
    "http://exa$mple.com/",
    "http://example.com;evil.com/",
    "http://example.com,evil.com/",
    "http://example.com!evil/",
    "http://example.com'/",
    "http://(example.com)/",
    "http://example.com%2eevil.com/",
    "http://%65xample.com/",
    "http://example.com%00.evil.com/",
    "http://127.0.0.%31/",
    "http://localhost%2f/",
    "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com/",
    /* international names, before punycode */
    "http://b\xc3\xbc"
    "cher.example/",
    "http://\xe2\x93\x94xample.com/", /* circled e */
    "http://\xef\xbd\x85xample.com/", /* fullwidth e */
    "http://127\xe3\x80\x82"
    "0\xe3\x80\x82"
    "0\xe3\x80\x82"
    "1/", /* ideographic full stops */
    "http://127\xef\xbc\x8e"
    "0.0.1/",                                             /* fullwidth full stop */
    "http://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.0.0.1/", /* circled digits */
    "http://\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.0.0.1/", /* fullwidth digits */
    "http://ex\xd0\xb0mple.com/",                         /* a Cyrillic a */
    "http://exam\xc2\xadple.com/",                        /* a soft hyphen */
    "http://example.com\xe2\x80\x8b/",                    /* a space of no width */
    "http://ex\xff"
    "ample.com/", /* no UTF-8 at all */
    /* addresses that are written otherwise */
    "http://2130706433/",
    "http://017700000001/",
    "http://0x7f000001/",
    "http://0x7F.0.0.1/",
    "http://0x7f.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0177.0.0.1/",
    "http://0177.0.0.01/",
    "http://127.0.0.01/",
    "http://127.0.0.0x1/",
    "http://127.0.0.1./",
    "http://127.0.0.1.1/",
    "http://127.0.0.256/",
    "http://127.0.0.4294967297/",
    "http://1.1.1/",
    "http://0/",
    "http://00/",
    "http://0x/",
    "http://4294967296/",
    "http://192.168.257/",
    "http://example.123/",
    "http://example.0x7f/",
    "http://127.0.0.-1/",
    "http://+127.0.0.1/",
    "http://169.254.43518/",
    "http://0251.0376.0251.0376/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
    /* brackets */
    "http://[example.com]/",
    "http://[127.0.0.1]/",
    "http://[::1/",
    "http://::1/",
    "http://[::1]evil.com/",
    "http://[::1]:/",
    "http://[::1]80/",
    "http://[]/",
    "http://[:]/",
    "http://[::1%25eth0]/",
    "http://[fe80::1%eth0]/",
    "http://[::g]/",
    "http://[1:2:3:4:5:6:7:8:9]/",
    "http://[::127.0.0.01]/",
    "http://[::1].example.com/",
    "http://[[::1]]/",
    "http://a[::1]/",
    "http://[::1]@evil.com/",
    "http://2001:db8::1/",
    /* ports */
    "http://example.com:/",
    "http://example.com:0/",
    "http://example.com:080/",
    "http://example.com:+80/",
    "http://example.com:-80/",
    "http://example.com: 80/",
    "http://example.com:80:80/",
    "http://example.com:65536/",
    "http://example.com:99999999999/",
    "http://example.com:0x50/",
    "http://example.com:http/",
    "http://example.com:80a/",
    "http://example.com:8%30/",
};

static void test_url__is_accepted_in_one_notation_and_sent_in_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < GBX_COUNTOF(accepted); i++) {
        gbx_fault fault = {0};
        gbx_url url = {0};

        if (!gbx_url_parse(&loaded_curl, accepted[i].text, strlen(accepted[i].text),
                           &url, &fault))
            fail_msg("'%s' was refused: %s", accepted[i].text, fault.message);
        if (strcmp(url.text, accepted[i].canonical) != 0)
            fail_msg("'%s' became '%s'", accepted[i].text, url.text);
        gbx_url_cleanup(&url);
    }
}

static void test_url__that_can_be_read_in_two_ways_is_refused(void **state)
{
    (void)state;
    assert_true(GBX_COUNTOF(refused) >= 130);
    for (size_t i = 0; i < GBX_COUNTOF(refused); i++) {
        gbx_fault fault = {0};
        gbx_url url = {0};

        if (gbx_url_parse(&loaded_curl, refused[i], strlen(refused[i]), &url, &fault))
            fail_msg("'%s' was accepted as '%s'", refused[i], url.text);
        assert_int_equal(fault.code, GBX_FAULT_URL);
        assert_true(strlen(fault.message) > 10);
    }
}

static void test_url__with_a_nul_is_refused(void **state)
{
    gbx_fault fault = {0};
    gbx_url url;
    (void)state;

    assert_false(gbx_url_parse(&loaded_curl, "http://a\0b/", 11, &url, &fault));
    assert_false(gbx_url_parse(&loaded_curl, "http://a/\0", 10, &url, &fault));
}

static void test_url__has_a_length_that_is_enough_and_no_more(void **state)
{
    char *text = malloc(GBX_URL_MAX + 2);
    gbx_fault fault = {0};
    gbx_url url = {0};
    (void)state;
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

static void test_host__has_at_most_253_characters(void **state)
{
    char text[300] = "http://";
    gbx_fault fault = {0};
    gbx_url url = {0};
    (void)state;
    for (size_t i = 0; i < 253; i++)
        text[7 + i] = i % 60 == 59 ? '.' : 'a';

    assert_true(gbx_url_parse(&loaded_curl, text, 7 + 253, &url, &fault));
    gbx_url_cleanup(&url);
    text[7 + 253] = 'a';
    assert_false(gbx_url_parse(&loaded_curl, text, 7 + 254, &url, &fault));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_url__is_accepted_in_one_notation_and_sent_in_it),
        cmocka_unit_test(test_url__that_can_be_read_in_two_ways_is_refused),
        cmocka_unit_test(test_url__with_a_nul_is_refused),
        cmocka_unit_test(test_url__has_a_length_that_is_enough_and_no_more),
        cmocka_unit_test(test_host__has_at_most_253_characters),
    };

    return cmocka_run_group_tests(tests, curl_set_up, curl_tear_down);
}
