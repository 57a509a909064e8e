/* SPDX-License-Identifier: MIT */
/*
 * ip_ranges - classifies addresses by tables: the first matching line decides. IPv4 is
 * public unless a line says otherwise; IPv6 is public only inside 2000::/3.
 *
 * Sources: the IANA registries of special-purpose addresses for IPv4 and IPv6, and the
 * metadata services of the large clouds.
 */
#include "fetch/internal.h"

#include <arpa/inet.h>
#include <string.h>

typedef enum kind {
    NEVER,    /* never allowed */
    LOOPBACK, /* allowed by an entry that names loopback */
    LISTED,   /* allowed by a network of the policy, or an entry with that very
                 address */
    PUBLIC,
} kind;

typedef struct rule {
    uint8_t prefix[16];
    uint8_t bits;
    kind kind;
    const char *what;
} rule;

/* clang-format off */
static const rule v4_rules[] = {
    {{169, 254}, 16, NEVER, "link-local"},
    {{100, 100, 100, 200}, 32, NEVER, "metadata service"},
    {{168, 63, 129, 16}, 32, NEVER, "metadata service"},
    {{192, 0, 0, 192}, 32, NEVER, "metadata service"},
    {{127}, 8, LOOPBACK, "loopback"},
    {{0}, 8, NEVER, "unspecified"},
    {{10}, 8, LISTED, "private"},
    {{172, 16}, 12, LISTED, "private"},
    {{192, 168}, 16, LISTED, "private"},
    {{100, 64}, 10, LISTED, "carrier-grade NAT"},
    {{192, 88, 99}, 24, NEVER, "6to4 relay"},
    {{192, 0, 0}, 24, LISTED, "protocol assignments"},
    {{192, 0, 2}, 24, LISTED, "documentation"},
    {{198, 51, 100}, 24, LISTED, "documentation"},
    {{203, 0, 113}, 24, LISTED, "documentation"},
    {{198, 18}, 15, LISTED, "benchmarking"},
    {{224}, 4, NEVER, "multicast"},
    {{255, 255, 255, 255}, 32, NEVER, "broadcast"},
    {{240}, 4, NEVER, "reserved"},
    {{0}, 0, PUBLIC, "public"},
};

static const rule v6_rules[] = {
    {{0xFD, 0, 0x0E, 0xC2}, 32, NEVER, "metadata service"},
    {{0xFD, 0x20, 0, 0xCE, [14] = 2, [15] = 0x54}, 128, NEVER, "metadata service"},
    {{0xFD, 0, 0, 0x42, [15] = 0x42}, 128, NEVER, "metadata service"},
    {{0xFE, 0x80}, 10, NEVER, "link-local"},
    {{0xFE, 0xC0}, 10, NEVER, "site-local"},
    {{0xFF}, 8, NEVER, "multicast"},
    {{[15] = 1}, 128, LOOPBACK, "loopback"},
    {{0}, 128, NEVER, "unspecified"},
    {{[10] = 0xFF, [11] = 0xFF}, 96, NEVER, "IPv4 in IPv6 (mapped)"},
    {{[8] = 0xFF, [9] = 0xFF}, 96, NEVER, "IPv4 in IPv6 (translated)"},
    {{0}, 96, NEVER, "IPv4 in IPv6 (compatible)"},
    {{0, 0x64, 0xFF, 0x9B}, 96, NEVER, "IPv4 in IPv6 (NAT64)"},
    {{0x20, 0x02}, 16, NEVER, "IPv4 in IPv6 (6to4)"},
    {{0x20, 0x01}, 32, NEVER, "IPv4 in IPv6 (Teredo)"},
    {{0x20, 0x01}, 23, LISTED, "protocol assignments"},
    {{0x20, 0x01, 0x0D, 0xB8}, 32, LISTED, "documentation"},
    {{0x3F, 0xFF}, 20, LISTED, "documentation"},
    {{0xFC}, 7, LISTED, "private"},
    {{0x20}, 3, PUBLIC, "public"},
    {{0}, 0, NEVER, "not global unicast"},
};
/* clang-format on */

static bool begins_with(const uint8_t *bytes, const uint8_t *prefix, unsigned bits)
{
    unsigned whole = bits / 8;
    unsigned rest = bits % 8;

    if (memcmp(bytes, prefix, whole) != 0)
        return false;
    return rest == 0 || ((bytes[whole] ^ prefix[whole]) >> (8 - rest)) == 0;
}

static bool is_listed(const gbx_ip *address, const gbx_reach *reach)
{
    if (reach->has_named && gbx_ip_equal(address, &reach->named))
        return true;
    for (size_t i = 0; i < reach->network_count; i++) {
        const gbx_network *network = &reach->networks[i];

        if (begins_with(address->bytes, network->address, network->prefix_bits))
            return true;
    }
    return false;
}

bool gbx_ip_parse(const char *text, gbx_ip *ret)
{
    gbx_ip address = {.bytes = {[10] = 0xFF, [11] = 0xFF}};

    if (strchr(text, ':') != NULL) {
        address.is_v6 = true;
        if (inet_pton(AF_INET6, text, address.bytes) != 1)
            return false;
    } else if (inet_pton(AF_INET, text, address.bytes + 12) != 1) {
        return false; /* or leading zeros, which some parsers read as octal */
    }
    *ret = address;
    return true;
}

bool gbx_ip_from_sockaddr(const struct sockaddr *from, size_t len, gbx_ip *ret)
{
    gbx_ip address = {.bytes = {[10] = 0xFF, [11] = 0xFF}};

    if (from->sa_family == AF_INET && len >= sizeof(struct sockaddr_in)) {
        struct sockaddr_in v4;

        memcpy(&v4, from, sizeof v4);
        memcpy(address.bytes + 12, &v4.sin_addr, 4);
    } else if (from->sa_family == AF_INET6 && len >= sizeof(struct sockaddr_in6)) {
        struct sockaddr_in6 v6;

        memcpy(&v6, from, sizeof v6);
        if (v6.sin6_scope_id != 0)
            return false;
        address.is_v6 = true;
        memcpy(address.bytes, &v6.sin6_addr, 16);
    } else {
        return false;
    }
    *ret = address;
    return true;
}

void gbx_ip_text(const gbx_ip *address, char *text)
{
    const char *made =
        address->is_v6 ? inet_ntop(AF_INET6, address->bytes, text, GBX_IP_TEXT_MAX)
                       : inet_ntop(AF_INET, address->bytes + 12, text, GBX_IP_TEXT_MAX);

    if (made == NULL)
        text[0] = '\0';
}

bool gbx_ip_equal(const gbx_ip *a, const gbx_ip *b)
{
    return a->is_v6 == b->is_v6 && memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

const char *gbx_ip_refusal(const gbx_ip *address, const gbx_reach *reach)
{
    const rule *found = address->is_v6 ? v6_rules : v4_rules;
    const uint8_t *bytes = address->bytes + (address->is_v6 ? 0 : 12);

    /* The last line of both tables matches everything. */
    while (!begins_with(bytes, found->prefix, found->bits))
        found++;
    switch (found->kind) {
    case PUBLIC: return NULL;
    case LOOPBACK: return reach->loopback ? NULL : found->what;
    case LISTED: return is_listed(address, reach) ? NULL : found->what;
    case NEVER: break;
    }
    return found->what;
}
