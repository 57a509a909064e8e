/* SPDX-License-Identifier: MIT */
/* ip - what every address is, and what a policy can and cannot do about it. */
#include "base/cleanup.h"
#include "fetch/internal.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static gbx_ip ip(const char *text)
{
    gbx_ip address;

    if (!gbx_ip_parse(text, &address))
        fail_msg("'%s' is no address", text);
    return address;
}

/* Who may allow it: N nobody, L an entry for loopback, W a network of the policy or an
 * entry with the address itself, P needs nobody. */
static const struct {
    const char *address;
    char who;
} cases[] = {
    /* the edges of every block, and what lies just outside */
    {"0.0.0.0", 'N'},
    {"0.0.0.1", 'N'},
    {"0.255.255.255", 'N'},
    {"1.0.0.0", 'P'},
    {"9.255.255.255", 'P'},
    {"10.0.0.0", 'W'},
    {"10.255.255.255", 'W'},
    {"11.0.0.0", 'P'},
    {"100.63.255.255", 'P'},
    {"100.64.0.0", 'W'},
    {"100.100.100.199", 'W'},
    {"100.100.100.200", 'N'}, /* metadata */
    {"100.127.255.255", 'W'},
    {"100.128.0.0", 'P'},
    {"126.255.255.255", 'P'},
    {"127.0.0.0", 'L'},
    {"127.0.0.1", 'L'},
    {"127.255.255.255", 'L'},
    {"128.0.0.0", 'P'},
    {"168.63.129.15", 'P'},
    {"168.63.129.16", 'N'}, /* metadata */
    {"169.253.255.255", 'P'},
    {"169.254.0.0", 'N'},
    {"169.254.169.254", 'N'},
    {"169.254.170.2", 'N'},
    {"169.254.255.255", 'N'},
    {"169.255.0.0", 'P'},
    {"172.15.255.255", 'P'},
    {"172.16.0.0", 'W'},
    {"172.31.255.255", 'W'},
    {"172.32.0.0", 'P'},
    {"191.255.255.255", 'P'},
    {"192.0.0.0", 'W'},
    {"192.0.0.192", 'N'}, /* metadata */
    {"192.0.0.255", 'W'},
    {"192.0.1.0", 'P'},
    {"192.0.2.0", 'W'},
    {"192.0.2.255", 'W'},
    {"192.0.3.0", 'P'},
    {"192.88.99.1", 'N'},
    {"192.167.255.255", 'P'},
    {"192.168.0.0", 'W'},
    {"192.168.255.255", 'W'},
    {"192.169.0.0", 'P'},
    {"198.17.255.255", 'P'},
    {"198.18.0.0", 'W'},
    {"198.19.255.255", 'W'},
    {"198.20.0.0", 'P'},
    {"198.51.100.7", 'W'},
    {"203.0.113.7", 'W'},
    {"223.255.255.255", 'P'},
    {"224.0.0.0", 'N'},
    {"239.255.255.255", 'N'},
    {"240.0.0.0", 'W'},
    {"255.255.255.254", 'W'},
    {"255.255.255.255", 'N'},
    {"8.8.8.8", 'P'},
    {"::", 'N'},
    {"::1", 'L'},
    {"::2", 'N'},
    {"::127.0.0.1", 'N'}, /* IPv4 in IPv6, in all its notations */
    {"::8.8.8.8", 'N'},
    {"::ffff:127.0.0.1", 'N'},
    {"::ffff:8.8.8.8", 'N'},
    {"::ffff:7f00:1", 'N'},
    {"::ffff:0:127.0.0.1", 'N'},
    {"64:ff9b::7f00:1", 'N'},
    {"64:ff9b::808:808", 'W'},
    {"64:ff9b::a9fe:a9fe", 'N'},
    {"64:ff9b:1::7f00:1", 'N'},
    {"64:ff9b:1::808:808", 'N'},
    {"100::1", 'N'},
    {"1fff:ffff::1", 'N'},
    {"2000::1", 'P'},
    {"2001::1", 'N'}, /* Teredo */
    {"2001:0:4136:e378:8000:63bf:3fff:fdd2", 'N'},
    {"2001:2::1", 'W'},
    {"2001:10::1", 'W'},
    {"2001:20::1", 'W'},
    {"2001:1ff:ffff::1", 'W'},
    {"2001:200::1", 'P'},
    {"2001:db8::1", 'W'},
    {"2001:db9::1", 'P'},
    {"2002:7f00:1::1", 'N'}, /* 6to4 */
    {"2002:808:808::1", 'N'},
    {"2003::1", 'P'},
    {"2606:2800:21f::1", 'P'},
    {"3ffe:ffff::1", 'P'},
    {"3fff:0fff::1", 'W'},
    {"3fff:1000::1", 'P'},
    {"4000::1", 'N'},
    {"5f00::1", 'N'},
    {"fbff::1", 'N'},
    {"fc00::1", 'W'},
    {"fd00::1", 'W'},
    {"fd00:ec2::254", 'N'}, /* metadata */
    {"fd00:ec2::253", 'N'},
    {"fd20:ce::254", 'N'},
    {"fd00:42::42", 'N'},
    {"fd00:42::43", 'W'},
    {"fdff:ffff::1", 'W'},
    {"fe00::1", 'N'},
    {"fe80::1", 'N'},
    {"febf::1", 'N'},
    {"fec0::1", 'N'},
    {"feff::1", 'N'},
    {"ff02::1", 'N'},
    {"ffff::1", 'N'},
};

static const gbx_network everything = {.prefix_bits = 0};

static void test_address__needs_the_permission_that_its_kind_needs(void **state)
{
    gbx_reach none = {0};
    gbx_reach loopback = {.loopback = true};
    gbx_reach networks = {.networks = &everything, .network_count = 1};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        gbx_ip address = ip(cases[i].address);
        gbx_reach named = {.has_named = true, .named = address};
        char who = cases[i].who;

        if ((gbx_ip_refusal(&address, &none) == NULL) != (who == 'P'))
            fail_msg("%s without a word: %s", cases[i].address,
                     gbx_ip_refusal(&address, &none));
        if ((gbx_ip_refusal(&address, &loopback) == NULL) != (who == 'P' || who == 'L'))
            fail_msg("%s with loopback allowed", cases[i].address);
        if ((gbx_ip_refusal(&address, &networks) == NULL) != (who == 'P' || who == 'W'))
            fail_msg("%s with all networks allowed", cases[i].address);
        if ((gbx_ip_refusal(&address, &named) == NULL) != (who == 'P' || who == 'W'))
            fail_msg("%s named itself", cases[i].address);
    }
}

static void test_network__allows_its_own_addresses_alone(void **state)
{
    static const gbx_network networks[] = {
        {{[10] = 0xFF, [11] = 0xFF, [12] = 10, [13] = 1}, 96 + 16},
        {{0xFD, 0x12}, 16},
    };
    gbx_reach reach = {.networks = networks, .network_count = 2};
    static const struct {
        const char *address;
        bool allowed;
    } inside[] = {{"10.1.0.0", true},      {"10.1.255.255", true},
                  {"10.0.255.255", false}, {"10.2.0.0", false},
                  {"fd12::1", true},       {"fd13::1", false},
                  {"192.168.1.1", false}};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(inside); i++) {
        gbx_ip address = ip(inside[i].address);

        assert_int_equal(gbx_ip_refusal(&address, &reach) == NULL, inside[i].allowed);
    }
}

static void test_named__allows_no_neighbour(void **state)
{
    gbx_reach reach = {.has_named = true, .named = ip("10.0.0.5")};
    gbx_ip neighbour = ip("10.0.0.6");
    (void)state;

    assert_non_null(gbx_ip_refusal(&neighbour, &reach));
}

static void test_sockaddr__is_read_in_both_families_and_no_other(void **state)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr other = {.sa_family = AF_UNIX};
    gbx_ip address;
    char text[GBX_IP_TEXT_MAX];
    (void)state;
    (void)inet_pton(AF_INET, "192.0.2.7", &v4.sin_addr);
    (void)inet_pton(AF_INET6, "2001:db8::7", &v6.sin6_addr);

    assert_true(gbx_ip_from_sockaddr((struct sockaddr *)&v4, sizeof v4, &address));
    gbx_ip_text(&address, text);
    assert_string_equal(text, "192.0.2.7");
    assert_true(gbx_ip_from_sockaddr((struct sockaddr *)&v6, sizeof v6, &address));
    gbx_ip_text(&address, text);
    assert_string_equal(text, "2001:db8::7");
    v6.sin6_scope_id = 2;
    assert_false(gbx_ip_from_sockaddr((struct sockaddr *)&v6, sizeof v6, &address));
    assert_false(gbx_ip_from_sockaddr((struct sockaddr *)&v4, 4, &address));
    assert_false(gbx_ip_from_sockaddr(&other, sizeof other, &address));
}

static void test_mapped__is_not_the_ipv4_address_it_holds(void **state)
{
    gbx_ip plain = ip("10.0.0.5");
    gbx_ip mapped = ip("::ffff:10.0.0.5");
    gbx_reach reach = {.has_named = true, .named = plain};
    (void)state;

    assert_false(gbx_ip_equal(&plain, &mapped));
    assert_null(gbx_ip_refusal(&plain, &reach));
    assert_non_null(gbx_ip_refusal(&mapped, &reach));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_address__needs_the_permission_that_its_kind_needs),
        cmocka_unit_test(test_network__allows_its_own_addresses_alone),
        cmocka_unit_test(test_named__allows_no_neighbour),
        cmocka_unit_test(test_sockaddr__is_read_in_both_families_and_no_other),
        cmocka_unit_test(test_mapped__is_not_the_ipv4_address_it_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
