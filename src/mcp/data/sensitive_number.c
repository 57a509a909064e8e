/* SPDX-License-Identifier: MIT */
/*
 * sensitive_number - see sensitive_number.h. A phone that is shown is worse than a number
 * that is masked: each form here is one that phones do not have.
 */
#include "mcp/data/sensitive_number.h"

#include <ctype.h>
#include <string.h>

#define GROUPS_MAX  16
#define ISBN_LEN    13
#define ISBN_10_LEN 10

typedef struct group {
    const char *at;
    size_t len;
} group;

typedef struct number {
    group groups[GROUPS_MAX];
    size_t count;
    size_t digits;
    char between; /* any two groups, alone; 0: not always the same */
} number;

/* False if there are too many groups, or something is before the first. */
static bool take_groups(const char *s, size_t len, number *n)
{
    size_t at = 0;

    *n = (number){.count = 0};
    while (at < len && n->count < GROUPS_MAX) {
        group *g = &n->groups[n->count];
        size_t start = at;

        while (at < len && !isdigit((unsigned char)s[at]))
            at++;
        if ((at > start) != (n->count > 0))
            return false;
        if (n->count == 1)
            n->between = s[start];
        if (n->count > 0 && (at != start + 1 || s[start] != n->between))
            n->between = 0;
        g->at = s + at;
        while (at < len && isdigit((unsigned char)s[at]))
            at++;
        g->len = (size_t)(s + at - g->at);
        n->digits += g->len;
        n->count++;
    }
    return at == len;
}

/* Is it of so many digits, and a number from least to most? */
static bool is_within(const group *g, size_t len_max, unsigned least, unsigned most)
{
    unsigned value = 0;

    if (g->len > len_max)
        return false;
    for (size_t i = 0; i < g->len; i++)
        value = value * 10 + (unsigned)(g->at[i] - '0');
    return value >= least && value <= most;
}

/* 1990-2000, 2019/2020, 2024-01/2024-06: years, of each perhaps a month and a day. */
static bool is_years(const number *n)
{
    for (size_t i = 0; i < n->count;) {
        if (!is_within(&n->groups[i++], 4, 1000, 2099))
            return false;
        if (i < n->count && is_within(&n->groups[i], 2, 1, 12))
            i++;
        else
            continue;
        if (i < n->count && is_within(&n->groups[i], 2, 1, 31))
            i++;
    }
    return true;
}

/* 2024-000123: numbered within its year. Two groups of four may be a phone. */
static bool is_serial(const number *n)
{
    return n->count == 2 && (n->between == '-' || n->between == '/') &&
           n->groups[0].len == 4 && is_within(&n->groups[0], 4, 1900, 2099) &&
           (n->groups[1].len != 4 || n->groups[1].at[0] == '0');
}

/* 12.500.000, 3 645 000. With blanks, 71 234 567 is a phone in Tunis, and what is longer
 * has one in it. */
static bool is_thousands(const number *n)
{
    if ((n->between != '.' && n->between != ' ') || n->groups[0].at[0] == '0' ||
        n->groups[0].len > (n->between == '.' ? 2 : 1) || n->digits > 8)
        return false;
    for (size_t i = 1; i < n->count; i++)
        if (n->groups[i].len != 3)
            return false;
    return true;
}

/* The check digit of a book's number: of the 13 digits, or of the 10 there were before. */
static bool is_isbn(const number *n)
{
    const group *last = &n->groups[n->count - 1];
    bool is_long = n->digits == ISBN_LEN;
    unsigned sum = 0, i = 0;

    if (n->between != '-')
        return false;
    if (is_long ? !is_within(&n->groups[0], 3, 978, 979)
                : n->digits != ISBN_10_LEN || n->count != 4 || last->len != 1)
        return false;
    for (const char *c = n->groups[0].at; c < last->at + last->len; c++)
        if (isdigit((unsigned char)*c)) {
            sum += (unsigned)(*c - '0') * (is_long ? 1 + i % 2 * 2 : ISBN_10_LEN - i);
            i++;
        }
    return sum % (is_long ? 10 : 11) == 0;
}

/* 10.0.19041.1: no phone with dots has one digit behind one. */
static bool is_version(const number *n)
{
    if (n->between != '.' || n->count < 3)
        return false;
    for (size_t i = 1; i < n->count; i++)
        if (n->groups[i].len == 1)
            return true;
    return false;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_sensitive_is_no_phone(const char *s, size_t len)
{
    number n;

    return take_groups(s, len, &n) && n.count > 1 &&
           (is_years(&n) || is_serial(&n) || is_thousands(&n) || is_isbn(&n) ||
            is_version(&n));
}
