/* SPDX-License-Identifier: MIT */
/*
 * address - Internet addresses, networks and host names, as a policy may write them.
 *
 * Every address has 16 bytes here, so that one comparison serves IPv4 and IPv6.
 */
#include "policy/internal.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "policy/policy.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define V4(a, b, c, d)                                       \
    {                                                        \
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, a, b, c, d \
    }

/* Networks that a policy may never open: the embedder has no service there, and many
 * hand out credentials. */
static const struct never {
    gbx_network network;
    const char *what;
} never[] = {
    {{V4(0, 0, 0, 0), 104}, "addresses of no host (0.0.0.0/8)"},
    {{V4(169, 254, 0, 0), 112}, "link-local addresses (169.254.0.0/16)"},
    {{V4(100, 100, 100, 200), 128}, "a cloud's metadata service (100.100.100.200)"},
    {{V4(168, 63, 129, 16), 128}, "a cloud's metadata service (168.63.129.16)"},
    {{V4(192, 0, 0, 192), 128}, "a cloud's metadata service (192.0.0.192)"},
    {{V4(224, 0, 0, 0), 100}, "multicast addresses (224.0.0.0/4)"},
    {{V4(240, 0, 0, 0), 100}, "reserved addresses (240.0.0.0/4)"},
    {{{0}, 96}, "IPv4 addresses within IPv6 (::/96)"},
    {{{0xFE, 0x80}, 10}, "link-local addresses (fe80::/10)"},
    {{{0xFE, 0xC0}, 10}, "site-local addresses (fec0::/10)"},
    {{{0xFF}, 8}, "multicast addresses (ff00::/8)"},
    {{{0xFD, 0, 0x0E, 0xC2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54}, 128},
     "a cloud's metadata service (fd00:ec2::254)"},
    {{{0xFD, 0x20, 0, 0xCE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x54}, 128},
     "a cloud's metadata service (fd20:ce::254)"},
    {{{0, 0x64, 0xFF, 0x9B}, 32}, "IPv4 addresses within IPv6 (64:ff9b::/32)"},
    {{{0x20, 0x01, 0, 0}, 32}, "IPv4 addresses within IPv6 (2001::/32)"},
    {{{0x20, 0x02}, 16}, "IPv4 addresses within IPv6 (2002::/16)"},
};

static const gbx_network loopback_v4 = {V4(127, 0, 0, 0), 104};
static const gbx_network loopback_v6 = {{[15] = 1}, 128};
static const gbx_network all_v4 = {V4(0, 0, 0, 0), 96};

static bool same_prefix(const uint8_t a[16], const uint8_t b[16], unsigned bits)
{
    unsigned whole = bits / 8;
    unsigned mask = 0xFF00u >> bits % 8 & 0xFFu;

    return memcmp(a, b, whole) == 0 &&
           (bits % 8 == 0 || ((a[whole] ^ b[whole]) & mask) == 0);
}

static bool overlap(const gbx_network *a, const gbx_network *b)
{
    unsigned bits = a->prefix_bits < b->prefix_bits ? a->prefix_bits : b->prefix_bits;

    return same_prefix(a->address, b->address, bits);
}

/* Clear the bits after the prefix. False if some were set: the author meant another
 * network. */
static bool clear_after_prefix(gbx_network *network)
{
    gbx_network cleared = *network;
    bool was_clear;

    for (unsigned bit = network->prefix_bits; bit < 128; bit++)
        cleared.address[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    was_clear = memcmp(cleared.address, network->address, 16) == 0;
    *network = cleared;
    return was_clear;
}

/* Four decimal numbers, or IPv6 without brackets and zone; IPv4 becomes ::ffff:a.b.c.d.
 * False if text is neither. */
static bool parse_address(const char *text, size_t len, uint8_t ret[16])
{
    char copy[GBX_ADDRESS_TEXT_SIZE];
    uint8_t address[16] = V4(0, 0, 0, 0);

    if (len >= sizeof copy || memchr(text, '\0', len) != NULL)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    if (inet_pton(AF_INET, copy, address + 12) != 1 &&
        inet_pton(AF_INET6, copy, address) != 1)
        return false;
    memcpy(ret, address, sizeof address);
    return true;
}

void gbx_address_print(const uint8_t address[16], char out[GBX_ADDRESS_TEXT_SIZE])
{
    if (gbx_address_is_v4(address))
        (void)inet_ntop(AF_INET, address + 12, out, GBX_ADDRESS_TEXT_SIZE);
    else
        (void)inet_ntop(AF_INET6, address, out, GBX_ADDRESS_TEXT_SIZE);
}

bool gbx_address_is_v4(const uint8_t address[16])
{
    return same_prefix(address, all_v4.address, all_v4.prefix_bits);
}

bool gbx_address_is_loopback(const uint8_t address[16])
{
    return same_prefix(address, loopback_v4.address, loopback_v4.prefix_bits) ||
           same_prefix(address, loopback_v6.address, loopback_v6.prefix_bits);
}

bool gbx_network_covers(const gbx_network *outer, const gbx_network *inner)
{
    return outer->prefix_bits <= inner->prefix_bits &&
           same_prefix(outer->address, inner->address, outer->prefix_bits);
}

const char *gbx_network_never(const gbx_network *network)
{
    if (network->prefix_bits == 128 && gbx_address_is_loopback(network->address))
        return NULL;
    /* A network may contain one of the single addresses of the table: connecting to
     * those is refused. */
    for (size_t i = 0; i < GBX_COUNTOF(never); i++)
        if (never[i].network.prefix_bits < 128
                ? overlap(network, &never[i].network)
                : gbx_network_covers(&never[i].network, network))
            return never[i].what;
    return NULL;
}

/*
 * Addresses in notations that URL parsers accept, but that people do not write:
 * 2130706433, 0x7f.1, 0177.0.0.1. True if the last part of host is a number; *ret_ok
 * tells whether the whole is then an address.
 */
static bool parse_any_notation(const char *host, uint8_t ret[16], bool *ret_ok)
{
    static const uint8_t v4[16] = V4(0, 0, 0, 0);
    const char *dot = strrchr(host, '.');
    const char *last = dot != NULL ? dot + 1 : host;
    bool is_hex = last[0] == '0' && (last[1] == 'x' || last[1] == 'X');
    bool is_number = is_hex
                         ? last[2 + strspn(last + 2, "0123456789abcdefABCDEF")] == '\0'
                         : last[0] != '\0' && last[strspn(last, "0123456789")] == '\0';
    struct in_addr address;

    if (!is_number)
        return false;
    *ret_ok = inet_aton(host, &address) != 0;
    memcpy(ret, v4, sizeof v4);
    if (*ret_ok)
        memcpy(ret + 12, &address, sizeof address);
    return true;
}

bool gbx_port_parse(const char *text, size_t len, uint16_t *ret)
{
    uint64_t port;

    if (!gbx_decimal_read(text, len, UINT16_MAX, &port) || port == 0)
        return false;
    *ret = (uint16_t)port;
    return true;
}

gbx_status gbx_network_parse(const char *text, size_t len, gbx_network *ret,
                             gbx_error *reterr)
{
    const char *slash = memchr(text, '/', len);
    size_t address_len = slash != NULL ? (size_t)(slash - text) : len;
    gbx_network network = {.prefix_bits = 128};
    char quote[GBX_QUOTE_SIZE];
    char written[GBX_ADDRESS_TEXT_SIZE];
    uint64_t prefix = 128;
    const char *what;
    bool is_v4;

    if (!parse_address(text, address_len, network.address))
        return gbx_refuse(reterr, text, 0,
                          "'%s' is not a network: write one like '10.0.0.0/8' or "
                          "'fd00:1234::/32'",
                          gbx_quote(quote, text, len));
    is_v4 = memchr(text, ':', address_len) == NULL;
    if (slash != NULL &&
        !gbx_decimal_read(slash + 1, len - address_len - 1, is_v4 ? 32 : 128, &prefix))
        return gbx_refuse(reterr, text, address_len + (len > address_len + 1),
                          "after '/' is the length of the prefix, from 0 to %d",
                          is_v4 ? 32 : 128);
    if (slash != NULL)
        network.prefix_bits = (uint8_t)(is_v4 ? prefix + 96 : prefix);
    if (!is_v4 && overlap(&network, &all_v4))
        return gbx_refuse(reterr, text, 0,
                          "'%s' has IPv4 addresses in it: write those as IPv4, like "
                          "'10.0.0.0/8'",
                          gbx_quote(quote, text, len));
    if (!clear_after_prefix(&network)) {
        gbx_address_print(network.address, written);
        return gbx_refuse(reterr, text, 0,
                          "'%s' has bits set after its prefix: write '%s/%d', or a "
                          "longer prefix",
                          gbx_quote(quote, text, len), written,
                          network.prefix_bits - (is_v4 ? 96 : 0));
    }
    if (overlap(&network, &loopback_v4) || overlap(&network, &loopback_v6))
        return gbx_refuse(reterr, text, 0,
                          "'%s' has loopback addresses in it: allow those as a site, "
                          "like 'http://localhost:8080'",
                          gbx_quote(quote, text, len));
    what = gbx_network_never(&network);
    if (what != NULL)
        return gbx_refuse(reterr, text, 0, "'%s' has %s in it, which no policy opens",
                          gbx_quote(quote, text, len), what);
    *ret = network;
    return GBX_OK;
}

gbx_status gbx_hostport_split(const char *text, size_t len, gbx_hostport *ret,
                              gbx_error *reterr)
{
    gbx_hostport parts = {.host = text, .host_len = len};
    const char *end = text + len;
    const char *colon;

    if (len > 0 && text[0] == '[') {
        const char *close = memchr(text, ']', len);

        if (close == NULL)
            return gbx_refuse(reterr, text, 0, "'[' is not closed by ']'");
        if (close + 1 < end && close[1] != ':')
            return gbx_refuse(reterr, text, (size_t)(close + 1 - text),
                              "after ']' comes ':' and a port, or nothing");
        parts = (gbx_hostport){.host = text + 1,
                               .host_len = (size_t)(close - text) - 1,
                               .is_bracketed = true};
        colon = close + 1 < end ? close + 1 : NULL;
    } else {
        colon = memchr(text, ':', len);
        if (colon != NULL && memchr(colon + 1, ':', (size_t)(end - colon) - 1) != NULL)
            return gbx_refuse(reterr, text, (size_t)(colon - text),
                              "there is more than one ':': an IPv6 address stands in "
                              "brackets, like '[fd00::1]'");
        if (colon != NULL)
            parts.host_len = (size_t)(colon - text);
    }
    if (colon != NULL) {
        parts.port = colon + 1;
        parts.port_len = (size_t)(end - colon) - 1;
    }
    *ret = parts;
    return GBX_OK;
}

gbx_status gbx_nameserver_parse(const char *text, size_t len, char **ret,
                                gbx_error *reterr)
{
    gbx_hostport parts = {0};
    char written[GBX_ADDRESS_TEXT_SIZE];
    char quote[GBX_QUOTE_SIZE];
    uint8_t address[16];
    uint16_t port = 53;
    gbx_status status = gbx_hostport_split(text, len, &parts, reterr);

    if (status != GBX_OK)
        return status;
    assert(parts.host != NULL); /* else splitting has failed */
    if (!parse_address(parts.host, parts.host_len, address) ||
        gbx_address_is_v4(address) == parts.is_bracketed ||
        (parts.port != NULL && !gbx_port_parse(parts.port, parts.port_len, &port)))
        return gbx_refuse(reterr, text, 0,
                          "'%s' is not a name server: write its address and port, like "
                          "'127.0.0.1:5353' or '[fd00::1]:53'",
                          gbx_quote(quote, text, len));
    gbx_address_print(address, written);
    if (asprintf(ret, parts.is_bracketed ? "[%s]:%u" : "%s:%u", written, port) < 0)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot keep the policy");
    return GBX_OK;
}

/* ---- host names -------------------------------------------------------------- */

#define NAME_MAX_LEN  253
#define LABEL_MAX_LEN 63

/* Characters that belong to another part of a URL, or to none. */
static const struct foreign {
    const char *characters;
    const char *why;
} foreigners[] = {
    {"@", "a user name cannot be allowed: list the host alone"},
    {"/\\", "a path cannot be allowed: list the host alone"},
    {"?", "a query cannot be allowed: list the host alone"},
    {"#", "a fragment cannot be allowed: list the host alone"},
    {"%", "a host has no escapes, and an address no zone"},
    {" \t\r\n", "a host has no white space"},
    {"*", "'*' stands for whole labels at the beginning: '*.example.org'"},
    {"[]", "brackets are for IPv6 addresses: '[fd00::1]'"},
};

static gbx_status refuse_foreign(const char *text, size_t len, gbx_error *reterr)
{
    for (size_t i = 0; i < len; i++) {
        uint8_t byte = (uint8_t)text[i];

        for (size_t f = 0; f < GBX_COUNTOF(foreigners); f++)
            if (byte != 0 && strchr(foreigners[f].characters, text[i]) != NULL)
                return gbx_refuse(reterr, text, i, "%s", foreigners[f].why);
        if (byte < 0x20 || byte == 0x7F)
            return gbx_refuse(reterr, text, i, "a host has no control characters");
        if (byte >= 0x80)
            return gbx_refuse(reterr, text, i,
                              "a host is ASCII: write an international name in "
                              "punycode, like 'xn--bcher-kva.example'");
    }
    return GBX_OK;
}

/* Count the name's labels. Returns what is wrong with them, or NULL. */
static const char *check_labels(const char *name, size_t *ret_count)
{
    size_t count = 0;

    if (strlen(name) > NAME_MAX_LEN)
        return "a host name has at most 253 characters";
    for (const char *at = name;; at++) {
        size_t len = strcspn(at, ".");

        if (len == 0)
            return "a part of the name between two dots is empty";
        if (len > LABEL_MAX_LEN)
            return "a part of a host name has at most 63 characters";
        if (at[0] == '-' || at[len - 1] == '-')
            return "no part of a host name begins or ends with '-'";
        if (strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789-_") < len)
            return "a host name has letters, digits, '-' and dots";
        count++;
        at += len;
        if (*at == '\0')
            break;
    }
    *ret_count = count;
    return NULL;
}

static gbx_status parse_v6(const char *text, size_t len, gbx_host *ret,
                           gbx_error *reterr)
{
    char quote[GBX_QUOTE_SIZE];
    gbx_host host = {.labels = 0};

    if (memchr(text, '%', len) != NULL)
        return gbx_refuse(reterr, text, 0, "a zone cannot be allowed: leave '%%' out");
    if (memchr(text, ':', len) == NULL || !parse_address(text, len, host.address))
        return gbx_refuse(reterr, text, 0, "'%s' is not an IPv6 address",
                          gbx_quote(quote, text, len));
    gbx_address_print(host.address, host.text);
    if (gbx_address_is_v4(host.address))
        return gbx_refuse(reterr, text, 0, "'%s' is an IPv4 address: write '%s'",
                          gbx_quote(quote, text, len), host.text);
    *ret = host;
    return GBX_OK;
}

/* host->text may be an address in a notation that URL parsers accept, but that people do
 * not write: only the usual one is accepted. */
static gbx_status parse_v4(const char *text, size_t len, gbx_host *host,
                           gbx_error *reterr)
{
    char written[GBX_ADDRESS_TEXT_SIZE];
    char quote[GBX_QUOTE_SIZE];
    bool is_address = false;

    if (!parse_any_notation(host->text, host->address, &is_address))
        return GBX_OK;
    (void)gbx_quote(quote, text, len);
    if (!is_address)
        return gbx_refuse(reterr, text, 0,
                          "'%s' ends in a number, and is not an IPv4 address", quote);
    gbx_address_print(host->address, written);
    if (strlen(written) != len || memcmp(written, text, len) != 0)
        return gbx_refuse(reterr, text, 0, "'%s' is the address %s: write it like that",
                          quote, written);
    host->labels = 0;
    return GBX_OK;
}

gbx_status gbx_host_parse(const char *text, size_t len, bool is_bracketed,
                          gbx_host *ret, gbx_error *reterr)
{
    gbx_host host = {.labels = 0};
    const char *wrong;
    gbx_status status;

    if (len == 0)
        return gbx_refuse(reterr, text, 0, "the host is missing");
    if (is_bracketed)
        return parse_v6(text, len, ret, reterr);
    status = refuse_foreign(text, len, reterr);
    if (status != GBX_OK)
        return status;
    if (len >= GBX_HOST_SIZE)
        return gbx_refuse(reterr, text, 0, "a host name has at most 253 characters");
    for (size_t i = 0; i < len; i++)
        host.text[i] =
            (char)(text[i] >= 'A' && text[i] <= 'Z' ? text[i] + 32 : text[i]);
    if (len > 1 && host.text[len - 1] == '.')
        host.text[len - 1] = '\0';
    wrong = check_labels(host.text, &host.labels);
    if (wrong != NULL)
        return gbx_refuse(reterr, text, 0, "%s", wrong);
    status = parse_v4(text, len, &host, reterr);
    if (status == GBX_OK)
        *ret = host;
    return status;
}
