/* SPDX-License-Identifier: MIT */
/*
 * tzif - reads a compiled file of the time zone database (RFC 9636), version 2 or
 * later: a list of changes, and a POSIX-style text for all years after them.
 *
 * A change gives the offset, not how much of it is daylight saving time. ICU needs
 * both, and never accepts a negative saving. Where the file has "winter time" an hour
 * behind standard time (Ireland, Morocco), winter time becomes standard time, and the
 * other daylight saving time.
 */
#include "zones/zones.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_SIZE 44
#define TYPES_MAX   256
#define DAY         86400
#define SAVE_MAX    (3 * 3600)
/* Older changes are the database's way to say "always". */
#define FIRST_TIME (-((int64_t)1 << 40))

typedef struct header {
    uint32_t utc_count, standard_count, leap_count, time_count, type_count, char_count;
} header;

typedef struct type {
    int32_t offset;
    bool is_dst;
} type;

/* "M3.2.0/2": month, week (5 is the last), day of the week (0 is Sunday), time. */
typedef struct moment {
    int month, week, day;
    int32_t time;
} moment;

/* The text: standard time and, optionally, the rule of daylight saving time. */
typedef struct posix {
    int32_t standard, dst;
    bool has_dst;
    moment begin, end;
} posix;

/* ---- days ------------------------------------------------------------------ */

/* Days from 1970 to the first of the month. */
static int64_t days_to(int64_t year, int month)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int32_t year_of(int64_t seconds)
{
    int64_t days = (seconds >= 0 ? seconds : seconds - (DAY - 1)) / DAY;
    int64_t year = 1970 + days / 366 - 2;

    while (days_to(year + 1, 1) <= days)
        year++;
    while (days_to(year, 1) > days)
        year--;
    return (int32_t)year;
}

static int month_len(int64_t year, int month)
{
    return (int)(days_to(month == 12 ? year + 1 : year, month == 12 ? 1 : month + 1) -
                 days_to(year, month));
}

/* When it occurs in that year, in seconds since 1970; the clock is offset from UTC. */
static int64_t second_of(const moment *m, int32_t year, int32_t offset)
{
    int64_t first = days_to(year, m->month);
    int weekday = (int)(((first + 4) % 7 + 7) % 7); /* 1970 began on a Thursday */
    int day = (m->day - weekday + 7) % 7 + 7 * (m->week - 1);

    while (day >= month_len(year, m->month))
        day -= 7;
    return (first + day) * DAY + m->time - offset;
}

/* ---- the text for the years to come -------------------------------------------- */

static bool skip_name(const char **at)
{
    const char *from = *at;

    if (**at == '<') {
        *at = strchr(*at, '>');
        if (*at == NULL)
            return false;
        (*at)++;
        return true;
    }
    while (isalpha((unsigned char)**at))
        (*at)++;
    return *at > from;
}

static bool read_int(const char **at, int most, int *ret)
{
    int value = 0;
    const char *from = *at;

    while (isdigit((unsigned char)**at) && value <= most)
        value = value * 10 + *(*at)++ - '0';
    *ret = value;
    return *at > from && value <= most;
}

/* [+-]hh[:mm[:ss]] */
static bool read_time(const char **at, int32_t *ret)
{
    int sign = **at == '-' ? -1 : 1;
    int part[3] = {0};

    if (**at == '-' || **at == '+')
        (*at)++;
    if (!read_int(at, 167, &part[0]))
        return false;
    for (int i = 1; i < 3 && **at == ':'; i++) {
        (*at)++;
        if (!read_int(at, 59, &part[i]))
            return false;
    }
    *ret = sign * (part[0] * 3600 + part[1] * 60 + part[2]);
    return true;
}

/* Only dates by day of the week are in use; days of the year are not supported. */
static bool read_moment(const char **at, moment *ret)
{
    ret->time = 2 * 3600;
    if (strncmp(*at, ",M", 2) != 0)
        return false;
    *at += 2;
    if (!read_int(at, 12, &ret->month) || ret->month == 0 || *(*at)++ != '.' ||
        !read_int(at, 5, &ret->week) || ret->week == 0 || *(*at)++ != '.' ||
        !read_int(at, 6, &ret->day))
        return false;
    if (**at != '/')
        return true;
    (*at)++;
    return read_time(at, &ret->time);
}

static bool read_posix(const char *text, posix *ret)
{
    const char *at = text;

    *ret = (posix){0};
    if (!skip_name(&at) || !read_time(&at, &ret->standard))
        return false;
    ret->standard = -ret->standard; /* POSIX counts positive to the west */
    if (*at == 0)
        return true;
    ret->has_dst = true;
    ret->dst = ret->standard + 3600;
    if (!skip_name(&at))
        return false;
    if (*at != ',') {
        if (!read_time(&at, &ret->dst))
            return false;
        ret->dst = -ret->dst;
    }
    if (!read_moment(&at, &ret->begin) || !read_moment(&at, &ret->end) || *at != 0)
        return false;
    if (ret->dst < ret->standard) { /* "winter time": see above */
        *ret = (posix){.standard = ret->dst,
                       .dst = ret->standard,
                       .has_dst = true,
                       .begin = ret->end,
                       .end = ret->begin};
    }
    return ret->dst > ret->standard;
}

/* Write four arguments of SimpleTimeZone and the kind of time. Its times lie within a
 * day, so a time beyond that moves to the next day of the week, or the one before. */
static bool write_moment(const moment *m, int32_t to[static 5])
{
    int shift = 0;
    int32_t time = m->time;
    int day, len = m->month == 2 ? 28 : month_len(2001, m->month);

    for (; time > DAY; time -= DAY)
        shift++;
    for (; time < 0; time += DAY)
        shift--;
    to[0] = m->month - 1;
    to[3] = time;
    to[4] = 0;
    if (m->week == 5 && shift == 0) { /* the last one */
        to[1] = -1;
        to[2] = m->day + 1;
        return true;
    }
    if (m->week == 5 && m->month == 2)
        return false;
    /* The first such day from this day of the month on. */
    day = (m->week == 5 ? len - 6 : 7 * (m->week - 1) + 1) + shift;
    to[1] = day;
    to[2] = -((m->day + shift % 7 + 7) % 7 + 1);
    return day >= 1 && day <= len;
}

/* ---- changes ------------------------------------------------------------------ */

static uint32_t u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int64_t i64(const uint8_t *at)
{
    return (int64_t)((uint64_t)u32(at) << 32 | u32(at + 4));
}

static bool read_header(const uint8_t *data, size_t len, header *ret)
{
    if (len < HEADER_SIZE || memcmp(data, "TZif", 4) != 0 || data[4] < '2')
        return false;
    *ret = (header){u32(data + 20), u32(data + 24), u32(data + 28),
                    u32(data + 32), u32(data + 36), u32(data + 40)};
    return ret->time_count < 4096 && ret->type_count > 0 &&
           ret->type_count <= TYPES_MAX && ret->utc_count <= TYPES_MAX &&
           ret->standard_count <= TYPES_MAX && ret->leap_count < 4096 &&
           ret->char_count < 4096;
}

static size_t block_size(const header *h, size_t time_size)
{
    return h->time_count * (time_size + 1) + h->type_count * 6 + h->char_count +
           h->leap_count * (time_size + 4) + h->standard_count + h->utc_count;
}

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

/* block: of version 2, with times of eight bytes. */
static bool read_changes(gbx_zone *zone, const header *h, const uint8_t *block)
{
    const uint8_t *types = block + h->time_count * 8;
    const uint8_t *infos = types + h->time_count;
    type *of = calloc(h->time_count + 1, sizeof *of);
    bool ok = of != NULL;

    /* the rule may add two more */
    zone->changes = calloc(h->time_count + 3, sizeof *zone->changes);
    ok = ok && zone->changes != NULL;
    for (size_t i = 0; ok && i <= h->time_count; i++) {
        size_t t = i == 0 ? 0 : types[i - 1];
        int64_t at = i == 0 ? FIRST_TIME : i64(block + (i - 1) * 8);
        size_t n = i == 0 || at <= FIRST_TIME ? 0 : zone->count;

        ok = t < h->type_count && at < -FIRST_TIME &&
             (n == 0 || at > zone->changes[n - 1].at);
        if (!ok)
            break;
        of[n] = (type){(int32_t)u32(infos + t * 6), infos[t * 6 + 4] != 0};
        zone->changes[n].at = at;
        zone->count = n + 1;
    }
    if (ok)
        split(zone, of);
    free(of);
    return ok;
}

/* ---- the rule, in place of the changes that it implies --------------------------- */

/* Both changes of a year by the rule, in order of time. */
static void changes_of(const posix *p, int32_t year, gbx_zone_change ret[static 2])
{
    gbx_zone_change begin = {second_of(&p->begin, year, p->standard), p->standard,
                             p->dst - p->standard};
    gbx_zone_change end = {second_of(&p->end, year, p->dst), p->standard, 0};
    bool in_order = begin.at < end.at;

    ret[0] = in_order ? begin : end;
    ret[1] = in_order ? end : begin;
}

static bool is_same(const gbx_zone_change *a, const gbx_zone_change *b, bool at_too)
{
    return a->raw == b->raw && a->save == b->save && (!at_too || a->at == b->at);
}

/* A file may end in the middle of the first year of the rule. */
static void complete_year(gbx_zone *zone, const posix *p, int32_t year)
{
    gbx_zone_change both[2];

    changes_of(p, year, both);
    for (int i = 0; i < 2; i++)
        if (both[i].at > zone->changes[zone->count - 1].at)
            zone->changes[zone->count++] = both[i];
}

/* Drop final years whose changes the rule implies. Returns the rule's first year. */
static int32_t shorten(gbx_zone *zone, const posix *p, int32_t year)
{
    for (; zone->count >= 3; zone->count -= 2, year--) {
        gbx_zone_change *last = &zone->changes[zone->count - 2];
        gbx_zone_change both[2];

        changes_of(p, year - 1, both);
        if (!is_same(&last[0], &both[0], true) || !is_same(&last[1], &both[1], true) ||
            !is_same(&last[-1], &both[1], false) ||
            last[-1].at >= days_to(year - 1, 1) * DAY)
            break;
    }
    return year;
}

static bool add_rule(gbx_zone *zone, const posix *p)
{
    int32_t year = zone->count > 1 ? year_of(zone->changes[zone->count - 1].at) : 1900;

    if (!write_moment(&p->begin, zone->rule) || !write_moment(&p->end, zone->rule + 5))
        return false;
    zone->rule[10] = p->dst - p->standard;
    zone->rule_raw = p->standard;
    if (zone->count > 1)
        complete_year(zone, p, year);
    zone->rule_year = shorten(zone, p, year + 1);
    zone->has_rule = true;
    return true;
}

bool gbx_zone_read(gbx_zone *zone, const uint8_t *data, size_t len)
{
    char text[64] = "";
    size_t at, size;
    header h;
    posix p;

    if (!read_header(data, len, &h))
        return false;
    at = HEADER_SIZE + block_size(&h, 4);
    if (at > len || !read_header(data + at, len - at, &h))
        return false;
    at += HEADER_SIZE;
    size = block_size(&h, 8);
    if (size > len - at || !read_changes(zone, &h, data + at))
        return false;
    at += size;
    if (len - at < 2 || len - at - 1 > sizeof text || data[at] != '\n' ||
        data[len - 1] != '\n')
        return false;
    memcpy(text, data + at + 1, len - at - 2);
    return *text == 0 || (read_posix(text, &p) && (!p.has_dst || add_rule(zone, &p)));
}
