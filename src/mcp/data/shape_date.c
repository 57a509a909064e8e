/* SPDX-License-Identifier: MIT */
/* shape_date - the string's closing quote fits no form: nothing is read behind it. */
#include "mcp/data/shape_date.h"

#include "base/cleanup.h"

#include <ctype.h>

#define FRACTION_MAX 9

/* The end of what begins at v.at[at] and has that form, d being a digit; or at. */
static size_t skip(gbx_view v, size_t at, const char *form)
{
    size_t i;

    for (i = 0; form[i] != 0; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)v.at[at + i])
                           : v.at[at + i] != form[i])
            return at;
    return at + i;
}

static size_t skip_fraction(gbx_view v, size_t at)
{
    size_t end = at + 1;

    if (v.at[at] != '.' && v.at[at] != ',')
        return at;
    while (end <= at + FRACTION_MAX && isdigit((unsigned char)v.at[end]))
        end++;
    return end > at + 1 ? end : at;
}

static size_t skip_zone(gbx_view v, size_t at)
{
    static const char *const zones[] = {"Z",     "UTC",   "+dd:dd", "-dd:dd",
                                        "+dddd", "-dddd", "+dd",    "-dd"};
    size_t start = skip(v, at, " ");

    for (size_t i = 0; i < GBX_COUNTOF(zones); i++) {
        size_t end = skip(v, start, zones[i]);

        if (end > start)
            return end;
    }
    return at;
}

static bool is_within(const char *two, int min, int max)
{
    int number = (two[0] - '0') * 10 + two[1] - '0';

    return number >= min && number <= max;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_shape_is_date(gbx_view v)
{
    size_t at = skip(v, 1, "dddd-dd-dd");
    size_t minutes;

    if (at == 1 || !is_within(v.at + 6, 1, 12) || !is_within(v.at + 9, 1, 31))
        return false;
    minutes = skip(v, at, v.at[at] == 'T' ? "Tdd:dd" : " dd:dd");
    if (minutes > at) {
        at = skip(v, minutes, ":dd");
        at = skip_zone(v, at > minutes ? skip_fraction(v, at) : at);
    }
    return at + 1 == v.len;
}
