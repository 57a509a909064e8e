/* SPDX-License-Identifier: MIT */
/* ip - what every address is, and what a policy can and cannot do about it. */
#include "base/cleanup.h"
#include "fetch/internal.h"
#include "table.h"
#include "test.h"

#include <arpa/inet.h>
#include <string.h>

static gbx_ip ip(const char *text)
{
    gbx_ip address;

    if (!gbx_ip_parse(text, &address))
        fail_msg("'%s' is no address", text);
    return address;
}

static const gbx_network everything = {.prefix_bits = 0};

TEST(address__needs_the_permission_that_its_kind_needs)
{
    gbx_reach none = {0};
    gbx_reach loopback = {.loopback = true};
    gbx_reach networks = {.networks = &everything, .network_count = 1};
    const table_line *lines;
    size_t count = table_lines("fetch/addresses.txt", "who", false, &lines);

    for (size_t i = 0; i < count; i++) {
        const char *text = lines[i].cell[0];
        gbx_ip address = ip(text);
        gbx_reach named = {.has_named = true, .named = address};
        char who = lines[i].cell[1][0];

        if ((gbx_ip_refusal(&address, &none) == NULL) != (who == 'P'))
            fail_msg("%s without a word: %s", text, gbx_ip_refusal(&address, &none));
        if ((gbx_ip_refusal(&address, &loopback) == NULL) != (who == 'P' || who == 'L'))
            fail_msg("%s with loopback allowed", text);
        if ((gbx_ip_refusal(&address, &networks) == NULL) != (who == 'P' || who == 'W'))
            fail_msg("%s with all networks allowed", text);
        if ((gbx_ip_refusal(&address, &named) == NULL) != (who == 'P' || who == 'W'))
            fail_msg("%s named itself", text);
    }
}

TEST(network__allows_its_own_addresses_alone)
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

    for (size_t i = 0; i < GBX_COUNTOF(inside); i++) {
        gbx_ip address = ip(inside[i].address);

        assert_int_equal(gbx_ip_refusal(&address, &reach) == NULL, inside[i].allowed);
    }
}

TEST(named__allows_no_neighbour)
{
    gbx_reach reach = {.has_named = true, .named = ip("10.0.0.5")};
    gbx_ip neighbour = ip("10.0.0.6");

    assert_non_null(gbx_ip_refusal(&neighbour, &reach));
}

TEST(sockaddr__is_read_in_both_families_and_no_other)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    struct sockaddr other = {.sa_family = AF_UNIX};
    gbx_ip address;
    char text[GBX_IP_TEXT_MAX];
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

TEST(mapped__is_not_the_ipv4_address_it_holds)
{
    gbx_ip plain = ip("10.0.0.5");
    gbx_ip mapped = ip("::ffff:10.0.0.5");
    gbx_reach reach = {.has_named = true, .named = plain};

    assert_false(gbx_ip_equal(&plain, &mapped));
    assert_null(gbx_ip_refusal(&plain, &reach));
    assert_non_null(gbx_ip_refusal(&mapped, &reach));
}

TEST_MAIN(NULL, NULL)
