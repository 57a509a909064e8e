/* SPDX-License-Identifier: MIT */
/* schema_date - the closing quote matches no form, so nothing is read beyond the
 * string. */
#include "mcp/data/schema_date.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

#define FRACTION_MAX 9

/* The end of text at v.at[at] that has that form, d standing for a digit; else at. */
static size_t skip(gbx_view v, size_t at, const char *form)
{
    size_t i;

    for (i = 0; form[i] != 0; i++)
        if (form[i] == 'd' ? !isdigit((unsigned char)v.at[at + i])
                           : v.at[at + i] != form[i])
            return at;
    return at + i;
}

static int two_digits(const char *s)
{
    return (s[0] - '0') * 10 + s[1] - '0';
}

static size_t skip_fraction(gbx_view v, size_t at, uint32_t *ret_ns)
{
    uint32_t unit = 1000000000;
    size_t end = at + 1;

    if (v.at[at] != '.' && v.at[at] != ',')
        return at;
    while (end <= at + FRACTION_MAX && isdigit((unsigned char)v.at[end])) {
        unit /= 10;
        *ret_ns += unit * (uint32_t)(v.at[end++] - '0');
    }
    return end > at + 1 ? end : at;
}

/* +02:00, +0200, +02: the offset in seconds, positive when ahead of UTC. */
static bool read_offset(const char *s, size_t len, int *ret_seconds)
{
    int hours = two_digits(s + 1);
    int minutes = len > 3 ? two_digits(s + len - 2) : 0;

    *ret_seconds = (hours * 60 + minutes) * (s[0] == '-' ? -60 : 60);
    return hours <= 23 && minutes <= 59;
}

static size_t skip_zone(gbx_view v, size_t at, int *ret_offset)
{
    static const char *const zones[] = {"Z",     "UTC",   "+dd:dd", "-dd:dd",
                                        "+dddd", "-dddd", "+dd",    "-dd"};
    size_t start = skip(v, at, " ");

    for (size_t i = 0; i < GBX_COUNTOF(zones); i++) {
        size_t end = skip(v, start, zones[i]);

        if (end > start)
            return zones[i][1] != 'd' ||
                           read_offset(v.at + start, end - start, ret_offset)
                       ? end
                       : at;
    }
    return at;
}

/* Would JavaScriptCore's Date be invalid? It rejects a comma, a blank before the zone
 * or the name UTC, and after a T a zone of hours alone. at: after the minutes. */
static bool is_foreign(gbx_view v, size_t at, size_t end)
{
    gbx_view rest = {v.at + at, end - at};
    bool has_hours_alone =
        rest.len >= 3 && (v.at[end - 3] == '+' || v.at[end - 3] == '-');

    return memchr(rest.at, ',', rest.len) != NULL ||
           memchr(rest.at, ' ', rest.len) != NULL || v.at[end - 1] == 'C' ||
           (v.at[11] == 'T' && has_hours_alone);
}

/* yyyy-mm-dd: is it a day of the calendar? */
static bool is_day(const char *date)
{
    static const char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int century = two_digits(date), year = two_digits(date + 2);
    int month = two_digits(date + 5), day = two_digits(date + 8);
    bool is_leap = (year != 0 ? year : century) % 4 == 0;

    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] &&
           (month != 2 || day < 29 || is_leap);
}

/* hh:mm: also accepts 24:00 for midnight, and leap seconds. */
static bool read_time(const char *time, int second, int64_t *to)
{
    int minute = two_digits(time + 3);
    int seconds = two_digits(time) * 3600 + minute * 60 + second;

    *to += seconds;
    return minute <= 59 && second <= 60 && seconds <= 86400;
}

/* Days since 1970 in the Gregorian calendar. Years begin in March, so that a leap day
 * comes last, and are shifted by 400 to avoid negative numbers. */
static int64_t days_of(const char *date)
{
    int month = two_digits(date + 5);
    int64_t year = two_digits(date) * 100 + two_digits(date + 2) - (month < 3) + 400;
    int64_t day = (153 * ((month + 9) % 12) + 2) / 5 + two_digits(date + 8) - 1;

    return year * 365 + year / 4 - year / 100 + year / 400 + day - 865565;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_schema_date_read(gbx_view v, gbx_schema_date *ret)
{
    gbx_schema_date date = {.text = v};
    size_t at = skip(v, 1, "dddd-dd-dd");
    size_t minutes;
    int offset = 0, second = 0;

    if (at == 1 || !is_day(v.at + 1))
        return false;
    date.second = days_of(v.at + 1) * 86400;
    minutes = skip(v, at, v.at[at] == 'T' ? "Tdd:dd" : " dd:dd");
    if (minutes > at) {
        at = skip(v, minutes, ":dd");
        if (at > minutes) {
            second = two_digits(v.at + at - 2);
            at = skip_fraction(v, at, &date.nanosecond);
        }
        if (!read_time(v.at + minutes - 5, second, &date.second))
            return false;
        at = skip_zone(v, at, &offset);
        date.second -= offset;
        date.is_foreign = is_foreign(v, minutes, at);
    }
    if (at + 1 != v.len)
        return false;
    *ret = date;
    return true;
}

bool gbx_schema_date_is_before(const gbx_schema_date *a, const gbx_schema_date *b)
{
    return a->second < b->second ||
           (a->second == b->second && a->nanosecond < b->nanosecond);
}
