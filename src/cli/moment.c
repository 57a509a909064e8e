/* SPDX-License-Identifier: MIT */
/* moment - see cli.h. It uses no library parser: those accept more than ISO 8601, or
 * read the time zone from the environment. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>

/* JavaScript's dates end here. */
#define MS_MAX INT64_C(8640000000000000)

/* Read exactly count digits, a value from low to high; *at moves past them. */
static bool digits(const char **at, int count, int low, int high, int *ret)
{
    int value = 0;

    for (int i = 0; i < count; i++) {
        if ((*at)[i] < '0' || (*at)[i] > '9')
            return false;
        value = value * 10 + ((*at)[i] - '0');
    }
    *at += count;
    *ret = value;
    return value >= low && value <= high;
}

static bool symbol(const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return days[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
}

/* Days from 1970-01-01 to a day of a year from 0 to 9999. */
static int64_t days_since_1970(int year, int month, int day)
{
    int64_t before = year - 1; /* whole years since year 1 */
    int64_t days = before * 365 + before / 4 - before / 100 + before / 400 - 719162;

    if (year == 0)
        days = -719528; /* a leap year; the divisions above round towards zero */
    for (int m = 1; m < month; m++)
        days += days_in(year, m);
    return days + day - 1;
}

/* [:SS[.mmm]] */
static bool seconds(const char **at, int64_t *ms)
{
    int value;
    int unit = 100;

    if (!symbol(at, ':'))
        return true;
    if (!digits(at, 2, 0, 59, &value))
        return false;
    *ms += (int64_t)value * 1000;
    if (!symbol(at, '.'))
        return true;
    if (**at < '0' || **at > '9')
        return false;
    for (; **at >= '0' && **at <= '9'; (*at)++, unit /= 10)
        *ms += (int64_t)(**at - '0') * unit;
    return true;
}

/* Z, +HH:MM, -HH:MM or nothing. */
static bool offset(const char **at, int64_t *ms)
{
    int sign = **at == '-' ? 1 : -1; /* east of Greenwich it is earlier in UTC */
    int hours;
    int minutes;

    if (**at == '\0' || symbol(at, 'Z'))
        return true;
    if (!symbol(at, '+') && !symbol(at, '-'))
        return false;
    if (!digits(at, 2, 0, 23, &hours) || !symbol(at, ':') ||
        !digits(at, 2, 0, 59, &minutes))
        return false;
    *ms += sign * (int64_t)(hours * 60 + minutes) * 60000;
    return true;
}

static bool iso(const char *at, int64_t *ret_ms)
{
    int year;
    int month;
    int day;
    int hours;
    int minutes;
    int64_t ms;

    if (!digits(&at, 4, 0, 9999, &year) || !symbol(&at, '-') ||
        !digits(&at, 2, 1, 12, &month) || !symbol(&at, '-') ||
        !digits(&at, 2, 1, days_in(year, month), &day))
        return false;
    ms = days_since_1970(year, month, day) * 86400000;
    if (symbol(&at, 'T') || symbol(&at, ' ')) {
        if (!digits(&at, 2, 0, 23, &hours) || !symbol(&at, ':') ||
            !digits(&at, 2, 0, 59, &minutes))
            return false;
        ms += (int64_t)(hours * 60 + minutes) * 60000;
        if (!seconds(&at, &ms) || !offset(&at, &ms))
            return false;
    }
    *ret_ms = ms;
    return *at == '\0';
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_moment_parse(const char *text, int64_t *ret_ms)
{
    const char *first = *text == '-' ? text + 1 : text;
    char *end = NULL;
    long long ms = 0;

    errno = 0;
    if (*first >= '0' && *first <= '9')
        ms = strtoll(text, &end, 10);
    if (end != NULL && *end == '\0') {
        *ret_ms = ms;
        return errno == 0 && ms >= -MS_MAX && ms <= MS_MAX;
    }
    return iso(text, ret_ms);
}
