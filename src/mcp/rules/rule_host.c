/* SPDX-License-Identifier: MIT */
/* rule_host - see internal.h. A host here has only letters, digits and "-._": any
 * other character (an escape, a full-width dot) is another spelling of one of these to
 * some program. */
#include "mcp/rules/internal.h"

#include "base/cleanup.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PORT_DIGITS_MAX 5

static const char why_host[] =
    "write the address with its host alone, in lower case: no "
    "user, no escapes, no dot at its end, no port that goes "
    "without saying";
static const char why_none[] = "write the address with its host after two slashes";
static const char why_local[] = "write the file's address with three slashes, no host";
static const char why_port[] =
    "write the port as a number up to 65535, with no zero before it";
static const char why_number[] =
    "write a host that is a number as four of them, in decimal, such as 192.0.2.1";
static const char why_v6[] =
    "write an IPv6 address in its short form and in lower case, and an IPv4 address "
    "without one around it";

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Checks the digits after the colon. */
static const char *check_port(const char *scheme, const char *port, size_t len)
{
    static const struct {
        const char *scheme;
        unsigned port;
    } usual[] = {
        {"http:", 80}, {"https:", 443}, {"ws:", 80}, {"wss:", 443}, {"ftp:", 21}};
    unsigned value = 0;

    if (len == 0)
        return why_host;
    if (len > PORT_DIGITS_MAX || port[0] == '0')
        return why_port;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(port[i]))
            return why_port;
        value = value * 10 + (unsigned)(port[i] - '0');
    }
    for (size_t i = 0; i < GBX_COUNTOF(usual); i++)
        if (value == usual[i].port && begins(scheme, usual[i].scheme))
            return why_host;
    return value <= 65535 ? NULL : why_port;
}

/* If the last part is a number, programs read all of it as an IPv4 address: "a.0x7f" is
 * an error, not a name. */
static bool ends_in_number(const char *name, size_t len)
{
    size_t from = len;
    bool is_hex;

    while (from > 0 && name[from - 1] != '.')
        from--;
    is_hex = len - from >= 2 && name[from] == '0' && name[from + 1] == 'x';
    for (size_t i = is_hex ? from + 2 : from; i < len; i++)
        if (!is_digit(name[i]) && !(is_hex && name[i] >= 'a' && name[i] <= 'f'))
            return false;
    return from < len;
}

static const char *check_name(const char *name, size_t len)
{
    char quad[INET_ADDRSTRLEN];
    struct in_addr address;

    for (size_t i = 0; i < len; i++) {
        char c = name[i];

        if (!(c >= 'a' && c <= 'z') && !is_digit(c) && c != '-' && c != '_' && c != '.')
            return why_host;
        if (c == '.' && (i == 0 || i + 1 == len || name[i + 1] == '.'))
            return why_host;
    }
    if (!ends_in_number(name, len))
        return NULL;
    if (len >= sizeof quad)
        return why_number;
    memcpy(quad, name, len);
    quad[len] = '\0';
    return inet_pton(AF_INET, quad, &address) == 1 ? NULL : why_number;
}

/* Any address of these networks may be routed to the IPv4 address inside it. */
static bool holds_v4(const struct in6_addr *address)
{
    static const struct {
        uint8_t prefix[12];
        size_t len;
    } around[] = {
        {{0}, 12},                                        /* compatible */
        {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}, 12}, /* mapped */
        {{0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0, 0}, 12}, /* translated */
        {{0, 0x64, 0xFF, 0x9B}, 12},                      /* NAT64 */
        {{0, 0x64, 0xFF, 0x9B, 0, 1}, 6},                 /* NAT64, local use */
        {{0x20, 0x02}, 2},                                /* 6to4 */
    };

    if (IN6_IS_ADDR_UNSPECIFIED(address) || IN6_IS_ADDR_LOOPBACK(address))
        return false;
    for (size_t i = 0; i < GBX_COUNTOF(around); i++)
        if (memcmp(address->s6_addr, around[i].prefix, around[i].len) == 0)
            return true;
    return false;
}

/* Checks the text between the brackets. */
static const char *check_v6(const char *text, size_t len)
{
    char given[INET6_ADDRSTRLEN];
    char wanted[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (len >= sizeof given)
        return why_v6;
    memcpy(given, text, len);
    given[len] = '\0';
    if (inet_pton(AF_INET6, given, &address) != 1 || holds_v4(&address) ||
        inet_ntop(AF_INET6, &address, wanted, sizeof wanted) == NULL)
        return why_v6;
    return strcmp(given, wanted) == 0 ? NULL : why_v6;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_host_is_needed(const char *text, size_t len)
{
    static const char *const schemes[] = {"http:", "https:", "ws:", "wss:", "ftp:"};

    for (size_t i = 0; i < GBX_COUNTOF(schemes); i++)
        if (len >= strlen(schemes[i]) &&
            strncasecmp(text, schemes[i], strlen(schemes[i])) == 0)
            return true;
    return false;
}

const char *gbx_host_objection(const char *scheme, const char *host, size_t len)
{
    const char *close = len > 0 && host[0] == '[' ? memchr(host, ']', len) : NULL;
    const char *colon = close != NULL ? close + 1 : memchr(host, ':', len);
    size_t name_len = colon != NULL ? (size_t)(colon - host) : len;
    const char *why;

    if (begins(scheme, "file:") && strncmp(host, "localhost", len) == 0 && len == 9)
        return why_local;
    /* Browsers skip any number of slashes before it. */
    if (len == 0 && gbx_host_is_needed(scheme, (size_t)(host - scheme)))
        return why_none;
    why = close != NULL ? check_v6(host + 1, name_len - 2) : check_name(host, name_len);
    if (why != NULL || name_len == len)
        return why;
    return host[name_len] == ':'
               ? check_port(scheme, host + name_len + 1, len - name_len - 1)
               : why_host;
}
