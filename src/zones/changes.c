/* SPDX-License-Identifier: MIT */
/*
 * changes - when the clock of a zone changes, and how. The times come from the zone's
 * file, everything else from the C library, which reads the same file.
 *
 * A change gives the offset, not how much of it is daylight saving time. ICU needs
 * both, and never accepts a negative saving. Where the file has "winter time" an hour
 * behind standard time (Ireland, Morocco), winter time becomes standard time, and the
 * other daylight saving time.
 */
#include "zones/zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DAY      86400
#define SAVE_MAX (3 * 3600)
/* Older changes are the database's way to say "always". */
#define FIRST_TIME (-((int64_t)1 << 40))

/* After so many years, the days of the week fall on the same dates again. */
#define CYCLE_YEARS 28

typedef struct type {
    int32_t offset;
    bool is_dst;
} type;

/* The day and time of a change, in each year of a cycle. */
typedef struct moment {
    int month, weekday; /* 0 is January, and Sunday */
    int first, last;    /* of the days of the month that it falls on */
    int32_t second;     /* of the day, by the clock before the change */
    bool is_none;       /* no rule of ICU has it */
} moment;

static type type_at(int64_t second)
{
    time_t time = (time_t)second;
    struct tm tm;

    (void)localtime_r(&time, &tm);
    return (type){(int32_t)tm.tm_gmtoff, tm.tm_isdst > 0};
}

static int64_t start_of(int year)
{
    struct tm tm = {.tm_year = year - 1900, .tm_mday = 1};

    return timegm(&tm);
}

/* The first change after `from`, or `to`. No two of them are less than 20 days apart. */
static int64_t next_change(int64_t from, int64_t to)
{
    int32_t before = type_at(from).offset;
    int64_t at = from;

    while (at < to && type_at(at).offset == before) {
        from = at;
        at = to - at < 20 * DAY ? to : at + 20 * DAY;
    }
    while (type_at(at).offset != before && at - from > 1) {
        int64_t half = from + (at - from) / 2;

        if (type_at(half).offset == before)
            from = half;
        else
            at = half;
    }
    return at;
}

/* ---- the changes of the past, as the file lists them ------------------------------- */

/* The standard time around a change: the last one before it, else the next one. */
static int32_t standard_near(const type *of, size_t count, size_t at)
{
    for (size_t i = at; i-- > 0;)
        if (!of[i].is_dst)
            return of[i].offset;
    for (size_t i = at; i < count; i++)
        if (!of[i].is_dst)
            return of[i].offset;
    return of[at].offset - 3600;
}

static bool is_winter(const type *of, size_t count, size_t at)
{
    return at < count && of[at].is_dst && of[at].offset < standard_near(of, count, at);
}

/* Split offsets into standard time and saving. of: the type of each change. */
static void split(gbx_zone *zone, const type *of)
{
    for (size_t i = 0; i < zone->count; i++) {
        gbx_zone_change *change = &zone->changes[i];
        int32_t save = 0;

        if (of[i].is_dst && !is_winter(of, zone->count, i)) {
            save = of[i].offset - standard_near(of, zone->count, i);
            if (save <= 0 || save > SAVE_MAX)
                save = 3600;
        } else if (i > 0 && !of[i].is_dst && is_winter(of, zone->count, i - 1) &&
                   is_winter(of, zone->count, i + 1)) {
            save = of[i].offset - of[i + 1].offset;
        }
        change->raw = of[i].offset - save;
        change->save = save;
    }
}

static int64_t number(const uint8_t *at, size_t size)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++)
        value = value << 8 | at[i];
    return (int64_t)value;
}

/* The times of all changes in a file of RFC 9636, which follow its second header: eight
 * bytes each. NULL if it is not such a file. */
static const uint8_t *find_times(const gbx_buf *file, size_t *ret_count)
{
    size_t at = 0;

    for (int block = 0; block < 2; block++) {
        const uint8_t *h = file->data + at;

        if (file->len < at + 44 || memcmp(h, "TZif", 4) != 0 || h[4] < '2')
            return NULL;
        at += 44;
        *ret_count = (size_t)number(h + 32, 4);
        if (block == 0) /* its own times are of four bytes */
            at += (size_t)(number(h + 20, 4) + number(h + 24, 4) +
                           number(h + 28, 4) * 8 + number(h + 32, 4) * 5 +
                           number(h + 36, 4) * 6 + number(h + 40, 4));
    }
    return file->len - at >= *ret_count * 8 ? file->data + at : NULL;
}

/* Also those that the rule makes in the year of the last one. Returns that year. */
static int read_changes(gbx_zone *zone, const uint8_t *times, size_t count)
{
    type *of = calloc(count + 4, sizeof *of);
    int64_t end = FIRST_TIME;
    int year = 1900;

    zone->changes = calloc(count + 4, sizeof *zone->changes);
    if (of == NULL || zone->changes == NULL)
        abort();
    of[0] = type_at(FIRST_TIME);
    zone->changes[0].at = FIRST_TIME;
    zone->count = 1;
    for (size_t i = 0; i < count + 3; i++) {
        int64_t last = zone->changes[zone->count - 1].at;
        int64_t at = i < count ? number(times + i * 8, 8) : next_change(last, end);

        if (i >= count && at == end)
            break;
        if (at <= FIRST_TIME)
            continue;
        of[zone->count] = type_at(at);
        zone->changes[zone->count++].at = at;
        if (i + 1 == count) {
            time_t time = (time_t)at;

            year = gmtime(&time)->tm_year + 1900;
            end = start_of(year + 1);
        }
    }
    split(zone, of);
    free(of);
    return year;
}

/* ---- the rule for all years after them ---------------------------------------------- */

/* early: how many seconds before the change its day is taken: midnight is also the end of
 * the day before, which may be the last one of a month. */
static void note(moment *m, int64_t at, int32_t offset, int early)
{
    time_t wall = (time_t)(at + offset - early);
    struct tm tm;
    int32_t second;

    (void)gmtime_r(&wall, &tm);
    second = (tm.tm_hour * 60 + tm.tm_min) * 60 + tm.tm_sec + early;
    if (m->first == 0)
        *m = (moment){tm.tm_mon, tm.tm_wday, tm.tm_mday, tm.tm_mday, second, false};
    m->first = tm.tm_mday < m->first ? tm.tm_mday : m->first;
    m->last = tm.tm_mday > m->last ? tm.tm_mday : m->last;
    if (m->month != tm.tm_mon || m->weekday != tm.tm_wday || m->second != second ||
        m->last - m->first >= 7)
        m->is_none = true;
}

/* False if no rule of ICU has it: a day of the week, the first from some date on. */
static bool put_moment(const moment *m, int32_t to[static 4])
{
    to[0] = m->month;
    to[1] = m->first;
    to[2] = -(m->weekday + 1);
    to[3] = m->second;
    return !m->is_none;
}

/* Find the rule in what it makes from that year on: two changes a year, or none. */
static bool find_rule(gbx_zone *zone, int year)
{
    moment moments[2][2] = {{{0}}}; /* of the begin of saving, and of its end */

    for (int y = year; y < year + CYCLE_YEARS; y++) {
        int64_t at = start_of(y), end = start_of(y + 1);

        for (int i = 0; i < 2; i++) {
            int32_t before = type_at(at).offset;
            int32_t change;

            at = next_change(at, end);
            if (at == end)
                return y == year && i == 0;
            change = type_at(at).offset - before;
            note(&moments[change < 0][0], at, before, 0);
            note(&moments[change < 0][1], at, before, 1);
            if (change < 0)
                zone->rule_raw = before + change;
            else
                zone->rule[10] = change;
        }
        if (next_change(at, end) != end)
            return false;
    }
    for (int i = 0; i < 2; i++)
        if (!put_moment(&moments[i][0], zone->rule + 5 * i) &&
            !put_moment(&moments[i][1], zone->rule + 5 * i))
            return false;
    zone->rule_year = year;
    zone->has_rule = true;
    return true;
}

bool gbx_zone_read(gbx_zone *zone)
{
    gbx_buf file = {.ceiling = 1 << 16};
    const uint8_t *times = NULL;
    char path[128];
    size_t count;
    FILE *f;

    (void)snprintf(path, sizeof path, ":" GBX_ZONES_DIR "/%s", zone->name);
    if (setenv("TZ", path, 1) < 0)
        return false;
    tzset();
    f = fopen(path + 1, "re");
    if (f != NULL && gbx_buf_read(&file, fileno(f)))
        times = find_times(&file, &count);
    if (f != NULL)
        (void)fclose(f);
    if (times == NULL) {
        gbx_buf_cleanup(&file);
        return false;
    }
    return find_rule(zone, read_changes(zone, times, count) + 1);
}
