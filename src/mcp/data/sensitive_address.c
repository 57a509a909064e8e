/* SPDX-License-Identifier: MIT */
/* sensitive_address - see sensitive_address.h. */
#include "mcp/data/sensitive_address.h"

#include <ctype.h>

#define IPV6_GROUPS 8
#define GROUP_MAX   4 /* digits */
#define SHORT_MIN \
    4 /* digits of an address in which some are left out: a::b1 is a name */

/* Four numbers up to 255 at s, and no digit or further number behind them. */
static bool begins_ipv4(const char *s, size_t len)
{
    size_t at = 0;

    for (int part = 0; part < 4; part++) {
        unsigned value = 0;
        size_t start;

        if (part > 0 && (at == len || s[at++] != '.'))
            return false;
        for (start = at; at < len && at - start < 3 && isdigit((unsigned char)s[at]);
             at++)
            value = value * 10 + (unsigned)(s[at] - '0');
        if (at == start || value > 255)
            return false;
    }
    return at == len ||
           (!isalnum((unsigned char)s[at]) &&
            (s[at] != '.' || at + 1 == len || !isdigit((unsigned char)s[at + 1])));
}

/* What is between the colons of an IPv6 address. */
typedef struct groups {
    size_t count;
    size_t digits;
    size_t pairs; /* groups of two digits, as all of a MAC address are */
    bool has_gap; /* :: */
    bool has_figure;
} groups;

static size_t take_group(const char *s, size_t len, size_t at, groups *g)
{
    size_t start = at;

    for (; at < len && isxdigit((unsigned char)s[at]); at++)
        g->has_figure |= isdigit((unsigned char)s[at]) != 0;
    if (at > start) {
        g->count++;
        g->digits += at - start;
        g->pairs += at - start == 2;
    }
    return at - start <= GROUP_MAX ? at : len + 1;
}

/* 2001:db8:0:0:0:0:0:1, or 2001:db8::1, at s; and nothing more of its kind behind it. */
static bool begins_ipv6(const char *s, size_t len)
{
    groups g = {0};
    size_t at = take_group(s, len, 0, &g);

    while (at < len && s[at] == ':') {
        bool is_gap = at + 1 < len && s[at + 1] == ':';
        size_t start = at + 1 + is_gap;

        if (is_gap && g.has_gap)
            return false;
        g.has_gap |= is_gap;
        at = take_group(s, len, start, &g);
        if (g.count > IPV6_GROUPS || (at == start && !is_gap && at < len))
            return false;
    }
    if (at > len || (at < len && (isalnum((unsigned char)s[at]) || s[at] == '_')))
        return false;
    return g.has_gap ? g.count < IPV6_GROUPS && g.digits >= SHORT_MIN && g.has_figure
                     : g.count == IPV6_GROUPS && g.pairs < IPV6_GROUPS;
}

/* Behind one colon: client:2001:db8::1. */
static bool may_begin_ipv6(const char *s, size_t at)
{
    if (at == 0)
        return true;
    return s[at - 1] == ':' ? at > 1 && s[at] != ':' && s[at - 2] != ':'
                            : !isalnum((unsigned char)s[at - 1]) && s[at - 1] != '_' &&
                                  s[at - 1] != '.';
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_sensitive_has_address(const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (isdigit((unsigned char)s[i]) &&
            (i == 0 || (!isalnum((unsigned char)s[i - 1]) && s[i - 1] != '.')) &&
            begins_ipv4(s + i, len - i))
            return true;
        if ((isxdigit((unsigned char)s[i]) || s[i] == ':') && may_begin_ipv6(s, i) &&
            begins_ipv6(s + i, len - i))
            return true;
    }
    return false;
}
