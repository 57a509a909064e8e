/* SPDX-License-Identifier: MIT */
/*
 * schema - finds the kinds of values, field by field, in one pass over the JSON.
 * GBX_SHAPE_DEPTH_MAX bounds the recursion, the other limits bound allocation.
 */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values between two checks whether the result is still wanted. */
#define VALUES_AT_ONCE 65536

/* All integers with this many digits are exact as doubles. */
#define EXACT_DIGITS 15

/* Initial size of a set. */
#define HASHES_FIRST 64

/* Digits of a fraction of a second. */
#define FRACTION_MAX 9

/* One pass over the JSON. */
typedef struct looking {
    const atomic_bool *stop;
    size_t nodes;
    size_t nodes_max;
    size_t fields_max;
    uint32_t values;
    bool failed;
} looking;

static gbx_schema *node_new(looking *l)
{
    gbx_schema *s;

    if (l->nodes >= l->nodes_max)
        return NULL;
    s = calloc(1, sizeof *s);
    if (s != NULL)
        s->tops = calloc(GBX_SHAPE_TOP_MAX, sizeof *s->tops);
    if (s == NULL || s->tops == NULL) {
        free(s);
        l->failed = true;
        return NULL;
    }
    l->nodes++;
    return s;
}

/* ---- distinct values -------------------------------------------------------------- */

/* They are counted by 64-bit hashes: two values with the same hash count as one. */

static uint64_t hash_of(gbx_view v)
{
    uint64_t h = v.len * UINT64_C(0x9E3779B97F4A7C15);
    size_t i = 0;

    for (uint64_t word; i + 8 <= v.len; i += 8) {
        memcpy(&word, v.at + i, 8);
        h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
        h ^= h >> 29;
    }
    for (; i < v.len; i++)
        h = (h ^ (uint8_t)v.at[i]) * UINT64_C(0x100000001b3);
    h ^= h >> 32;
    h *= UINT64_C(0xc4ceb9fe1a85ec53);
    h ^= h >> 29;
    return h == 0 ? 1 : h;
}

/* False if it was already there. */
static bool put_hash(uint64_t *hashes, size_t room, uint64_t h)
{
    size_t i = (size_t)h & (room - 1);

    while (hashes[i] != 0 && hashes[i] != h)
        i = (i + 1) & (room - 1);
    if (hashes[i] == h)
        return false;
    hashes[i] = h;
    return true;
}

static bool grow_hashes(gbx_schema *s)
{
    size_t room = s->hash_room == 0 ? HASHES_FIRST : s->hash_room * 2;
    uint64_t *grown = calloc(room, sizeof *grown);

    if (grown == NULL)
        return false;
    for (size_t i = 0; i < s->hash_room; i++)
        if (s->hashes[i] != 0)
            (void)put_hash(grown, room, s->hashes[i]);
    free(s->hashes);
    s->hashes = grown;
    s->hash_room = room;
    return true;
}

static void count_top(gbx_schema *s, const gbx_schema_top *seen)
{
    for (size_t i = 0; i < s->top_count; i++)
        if (s->tops[i].hash == seen->hash) {
            s->tops[i].count += seen->count;
            return;
        }
    if (s->top_count == GBX_SHAPE_TOP_MAX) {
        free(s->tops);
        s->tops = NULL;
        return;
    }
    s->tops[s->top_count++] = *seen;
}

static void stop_counting(gbx_schema *s)
{
    s->distinct = GBX_SHAPE_DISTINCT_MAX;
    s->is_distinct_more = true;
    free(s->hashes);
    s->hashes = NULL;
    s->hash_room = 0;
}

/* False if memory is out. */
static bool add_hash(gbx_schema *s, uint64_t h)
{
    if (s->distinct * 2 >= s->hash_room && !grow_hashes(s))
        return false;
    s->distinct += put_hash(s->hashes, s->hash_room, h);
    if (s->distinct > GBX_SHAPE_DISTINCT_MAX)
        stop_counting(s);
    return true;
}

/* Count a scalar. seen: its bytes, or those of the value that code sees. False: no
 * memory. */
static bool tell_apart(gbx_schema *s, gbx_view value, gbx_view seen)
{
    uint64_t h;

    if (s->is_distinct_more)
        return true;
    h = hash_of(seen);
    if (s->tops != NULL)
        count_top(s, &(gbx_schema_top){h, value, 1});
    return add_hash(s, h);
}

/* Add the counts of another place. False: no memory. */
static bool join_values(gbx_schema *into, const gbx_schema *from)
{
    bool ok = true;

    if (from->tops == NULL) {
        free(into->tops);
        into->tops = NULL;
    }
    for (size_t i = 0; i < from->top_count && from->tops != NULL && into->tops != NULL;
         i++)
        count_top(into, &from->tops[i]);
    if (from->is_distinct_more && !into->is_distinct_more)
        stop_counting(into);
    for (size_t i = 0; ok && i < from->hash_room && !into->is_distinct_more; i++)
        if (from->hashes[i] != 0)
            ok = add_hash(into, from->hashes[i]);
    return ok;
}

/* ---- dates ---------------------------------------------------------------------- */

/* The closing quote matches no form, so nothing is read beyond the string. */

/* The end of text at v.at[at] that has that form, d standing for a digit; else at. */
static size_t skip_form(gbx_view v, size_t at, const char *form)
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
    size_t start = skip_form(v, at, " ");

    for (size_t i = 0; i < GBX_COUNTOF(zones); i++) {
        size_t end = skip_form(v, start, zones[i]);

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

/* Is it a date? Accepts "2024-05-01", optionally with a time, fractional seconds and a
 * zone ("2024-05-01 10:20:30.5 +0200", "...UTC"), and nothing else, because the first and
 * last date of a field are shown. v: a JSON string; one with escapes is not a date. */
static bool read_date(gbx_view v, gbx_schema_date *ret)
{
    gbx_schema_date date = {.text = v};
    size_t at = skip_form(v, 1, "dddd-dd-dd");
    size_t minutes;
    int offset = 0, second = 0;

    if (at == 1 || !is_day(v.at + 1))
        return false;
    date.second = days_of(v.at + 1) * 86400;
    minutes = skip_form(v, at, v.at[at] == 'T' ? "Tdd:dd" : " dd:dd");
    if (minutes > at) {
        at = skip_form(v, minutes, ":dd");
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

/* Compares points in time: "2024-05-01T01:00+02:00" is before "2024-05-01T00:00Z". */
static bool is_before(const gbx_schema_date *a, const gbx_schema_date *b)
{
    return a->second < b->second ||
           (a->second == b->second && a->nanosecond < b->nanosecond);
}

/* ---- fields and maps ---------------------------------------------------------------- */

static bool has_name(const gbx_schema_field *f, gbx_view name)
{
    return f->name.len == name.len && memcmp(f->name.at, name.at, name.len) == 0;
}

/* Make room for one more field. */
static bool has_room(looking *l, gbx_schema *s)
{
    size_t room = s->field_room == 0 ? 8 : s->field_room * 2;
    gbx_schema_field *grown;

    if (s->field_count < s->field_room)
        return true;
    grown = realloc(s->fields, room * sizeof *grown);
    l->failed |= grown == NULL;
    if (grown == NULL)
        return false;
    s->fields = grown;
    s->field_room = room;
    return true;
}

gbx_schema_field *gbx_schema_field_of(const gbx_schema *s, gbx_view name)
{
    for (size_t i = 0; s != NULL && i < s->field_count; i++)
        if (has_name(&s->fields[i], name))
            return &s->fields[i];
    return NULL;
}

/* Extend the range of dates. Of equal times, the text that came first stays. */
static void take_dates(gbx_schema *s, const gbx_schema_date *first,
                       const gbx_schema_date *last)
{
    if (s->dates == 0 || is_before(first, &s->first_date))
        s->first_date = *first;
    if (s->dates == 0 || is_before(&s->last_date, last))
        s->last_date = *last;
}

static void merge(looking *l, gbx_schema *into, gbx_schema *from);

/* Takes ownership of from. */
static void merge_child(looking *l, gbx_schema **into, gbx_schema **from)
{
    gbx_schema *taken = *from;

    *from = NULL;
    if (*into == NULL)
        *into = taken;
    else if (taken != NULL)
        merge(l, *into, taken);
}

/* Merge the fields of s into one member schema. */
static void make_map(looking *l, gbx_schema *s)
{
    if (s->is_map)
        return;
    s->is_map = true;
    merge_child(l, &s->member, &s->keyed);
    for (size_t i = 0; i < s->field_count; i++)
        merge_child(l, &s->member, &s->fields[i].shape);
    free(s->fields);
    s->fields = NULL;
    s->field_count = s->field_room = s->next = 0;
}

/* The records among the values, directly or in lists; NULL: there are other values.
 * Columns named by row numbers are not records. */
static const gbx_schema *records_of(const gbx_schema *s)
{
    if (s->element != NULL && (s->kinds & ~(unsigned)GBX_SHAPE_NULL) == GBX_SHAPE_ARRAY)
        s = s->element;
    if ((s->kinds & ~(unsigned)GBX_SHAPE_NULL) != GBX_SHAPE_OBJECT ||
        s->field_count == 0 || isdigit((unsigned char)s->fields[0].name.at[1]))
        return NULL;
    return s;
}

/* Are all members records with nearly the same fields? */
static bool are_alike(const gbx_schema *s)
{
    const gbx_schema *fullest = NULL;
    size_t known = 0, all = 0;

    for (size_t i = 0; i < s->field_count; i++) {
        const gbx_schema *records = records_of(s->fields[i].shape);

        if (records == NULL)
            return false;
        if (fullest == NULL || records->field_count > fullest->field_count)
            fullest = records;
    }
    for (size_t i = 0; i < s->field_count; i++) {
        const gbx_schema *records = records_of(s->fields[i].shape);

        all += records->field_count;
        for (size_t f = 0; f < records->field_count; f++)
            known += gbx_schema_field_of(fullest, records->fields[f].name) != NULL;
    }
    return known * 4 >= all * 3;
}

/* Would one more field be too many? Whether fields are alike is checked once: after
 * that many alike ones, the others count as alike and need not be kept apart. */
static bool is_full(const looking *l, const gbx_schema *s)
{
    return s->field_count == l->fields_max ||
           (s->field_count == GBX_SHAPE_ALIKE_MAX && are_alike(s));
}

static void merge_field(looking *l, gbx_schema *into, gbx_schema_field *f)
{
    gbx_schema_field *known = into->is_map ? NULL : gbx_schema_field_of(into, f->name);

    if (known != NULL) {
        merge_child(l, &known->shape, &f->shape);
        return;
    }
    if (!into->is_map && is_full(l, into))
        make_map(l, into);
    if (into->is_map)
        merge_child(l, &into->member, &f->shape);
    else if (has_room(l, into))
        into->fields[into->field_count++] = *f;
    else
        gbx_schema_free(f->shape);
    f->shape = NULL;
}

static void merge_figures(gbx_schema *into, const gbx_schema *from)
{
    if (from->numbers > 0) {
        into->min = into->numbers == 0 || from->min < into->min ? from->min : into->min;
        into->max = into->numbers == 0 || from->max > into->max ? from->max : into->max;
    }
    if (from->dates > 0)
        take_dates(into, &from->first_date, &from->last_date);
    into->kinds |= from->kinds;
    into->count += from->count;
    into->nulls += from->nulls;
    into->objects += from->objects;
    into->numbers += from->numbers;
    into->infinite += from->infinite;
    into->inexact += from->inexact;
    into->sum += from->sum;
    into->dates += from->dates;
    into->foreign_dates += from->foreign_dates;
    into->elements += from->elements;
    into->has_more |= from->has_more;
}

/* Merge the counts of two places. Takes ownership of from. */
static void merge(looking *l, gbx_schema *into, gbx_schema *from)
{
    merge_figures(into, from);
    l->failed |= !join_values(into, from);
    if (from->is_map)
        make_map(l, into);
    for (size_t i = 0; i < from->field_count; i++)
        merge_field(l, into, &from->fields[i]);
    from->field_count = 0;
    if (into->keyed == NULL)
        into->key = from->key;
    merge_child(l, into->is_map ? &into->member : &into->keyed, &from->keyed);
    merge_child(l, &into->member, &from->member);
    merge_child(l, &into->element, &from->element);
    gbx_schema_free(from);
    l->nodes--;
}

/* ---- scalars --------------------------------------------------------------------- */

static bool is_integer(gbx_view v)
{
    return memchr(v.at, '.', v.len) == NULL && memchr(v.at, 'e', v.len) == NULL &&
           memchr(v.at, 'E', v.len) == NULL;
}

/* Numbers are compared as code sees them: different texts may be the same number. */
static void look_at_number(looking *l, gbx_schema *s, gbx_view v)
{
    double n = gbx_number_read(v.at, v.len) + 0.0; /* turns -0 into 0 */
    bool is_whole = is_integer(v);

    l->failed |= !tell_apart(s, v, (gbx_view){(const char *)&n, sizeof n});
    s->kinds |= is_whole ? GBX_SHAPE_INTEGER : GBX_SHAPE_NUMBER;
    if (!isfinite(n)) {
        s->infinite++;
        return;
    }
    s->inexact += is_whole && v.len > EXACT_DIGITS && !gbx_number_is_kept(v.at, v.len);
    s->min = s->numbers == 0 || n < s->min ? n : s->min;
    s->max = s->numbers == 0 || n > s->max ? n : s->max;
    s->sum += n;
    s->numbers++;
}

static void look_at_string(gbx_schema *s, gbx_view v)
{
    gbx_schema_date date;

    s->kinds |= GBX_SHAPE_STRING;
    if (!read_date(v, &date))
        return;
    take_dates(s, &date, &date);
    s->dates++;
    s->foreign_dates += date.is_foreign;
}

/* ---- objects and arrays ---------------------------------------------------------- */

static void look(looking *l, gbx_schema *s, gbx_view value, int depth);

static gbx_schema *member_of(looking *l, gbx_schema *map)
{
    if (map->member == NULL)
        map->member = node_new(l);
    map->has_more |= map->member == NULL;
    return map->member;
}

static gbx_schema *add_field(looking *l, gbx_schema *s, gbx_view name)
{
    gbx_schema *made;

    if (is_full(l, s)) {
        make_map(l, s);
        return member_of(l, s);
    }
    if (!has_room(l, s))
        return NULL;
    made = node_new(l);
    s->has_more |= made == NULL;
    if (made == NULL)
        return NULL;
    if (s->field_count >= GBX_SHAPE_FIELDS_MAX) {
        /* The sets of that many columns would need half a gigabyte. */
        made->is_distinct_more = true;
        free(made->tops);
        made->tops = NULL;
    }
    s->fields[s->field_count++] = (gbx_schema_field){name, made};
    return made;
}

/* Most records have the same members in the same order. */
static gbx_schema *find_field(looking *l, gbx_schema *s, gbx_view name)
{
    if (s->is_map)
        return member_of(l, s);
    for (size_t i = 0; i < s->field_count; i++) {
        size_t at = s->next + i;

        at -= at >= s->field_count ? s->field_count : 0;
        if (has_name(&s->fields[at], name)) {
            s->next = at + 1 < s->field_count ? at + 1 : 0;
            return s->fields[at].shape;
        }
    }
    if (gbx_describe_is_key(name)) {
        /* A field would reveal its name, which is data: one node stands for all. */
        if (s->keyed == NULL) {
            s->keyed = node_new(l);
            s->key = name;
            s->has_more |= s->keyed == NULL;
        }
        return s->keyed;
    }
    if (s->has_more)
        return NULL;
    s->next = 0;
    return add_field(l, s, name);
}

static void look_at_members(looking *l, gbx_schema *s, gbx_view object, int depth)
{
    size_t cursor = 0;
    gbx_view name, value;

    s->kinds |= GBX_SHAPE_OBJECT;
    s->objects++;
    if (depth == GBX_SHAPE_DEPTH_MAX)
        return;
    while (!l->failed && gbx_view_next(object, &cursor, &name, &value)) {
        gbx_schema *field = find_field(l, s, name);

        if (field != NULL)
            look(l, field, value, depth + 1);
    }
}

static void look_at_elements(looking *l, gbx_schema *s, gbx_view array, int depth)
{
    size_t cursor = 0;
    gbx_view name, value;

    s->kinds |= GBX_SHAPE_ARRAY;
    while (!l->failed && gbx_view_next(array, &cursor, &name, &value)) {
        s->elements++;
        if (s->element == NULL && depth < GBX_SHAPE_DEPTH_MAX)
            s->element = node_new(l);
        if (s->element != NULL)
            look(l, s->element, value, depth + 1);
    }
}

static void look(looking *l, gbx_schema *s, gbx_view value, int depth)
{
    s->count++;
    if (++l->values % VALUES_AT_ONCE == 0 && l->stop != NULL)
        l->failed |= atomic_load(l->stop);
    switch (gbx_view_kind(value)) {
    case '{': look_at_members(l, s, value, depth); return;
    case '[': look_at_elements(l, s, value, depth); return;
    case 'n':
        s->kinds |= GBX_SHAPE_NULL;
        s->nulls++;
        return;
    case 't':
    case 'f': s->kinds |= GBX_SHAPE_BOOLEAN; break;
    case '"': look_at_string(s, value); break;
    default: look_at_number(l, s, value); return;
    }
    l->failed |= !tell_apart(s, value, value);
}

gbx_schema *gbx_schema_of(gbx_view view, bool is_table, const atomic_bool *stop)
{
    looking l = {.stop = stop,
                 .nodes_max = GBX_SHAPE_NODES_MAX,
                 .fields_max = GBX_SHAPE_FIELDS_MAX};
    gbx_schema *s;

    if (is_table) {
        l.nodes_max = GBX_SHAPE_COLUMNS_MAX + GBX_SHAPE_NODES_MAX;
        l.fields_max = GBX_SHAPE_COLUMNS_MAX;
    }
    s = node_new(&l);
    if (s != NULL)
        look(&l, s, view, 0);
    if (!l.failed)
        return s;
    gbx_schema_free(s);
    return NULL;
}

void gbx_schema_free(gbx_schema *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->field_count; i++)
        gbx_schema_free(s->fields[i].shape);
    gbx_schema_free(s->element);
    gbx_schema_free(s->member);
    gbx_schema_free(s->keyed);
    free(s->fields);
    free(s->hashes);
    free(s->tops);
    free(s);
}

bool gbx_schema_are_dates(const gbx_schema *s)
{
    return s->dates > 0 && s->dates == s->count - s->nulls;
}
