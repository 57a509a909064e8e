/* SPDX-License-Identifier: MIT */
/* schema - GBX_SHAPE_DEPTH_MAX bounds the recursion, the other limits bound
 * allocation. */
#include "mcp/data/schema.h"

#include "base/cleanup.h"
#include "mcp/data/datasets.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values between two checks whether the result is still wanted. */
#define VALUES_AT_ONCE 65536

/* All integers with this many digits are exact as doubles. */
#define EXACT_DIGITS 15

static void look(gbx_looking *l, gbx_schema *s, gbx_view value, int depth);

static gbx_schema *node_new(gbx_looking *l)
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

/* ---- scalars --------------------------------------------------------------------- */

static bool is_integer(gbx_view v)
{
    return memchr(v.at, '.', v.len) == NULL && memchr(v.at, 'e', v.len) == NULL &&
           memchr(v.at, 'E', v.len) == NULL;
}

/* Numbers are compared as code sees them: different texts may be the same number. */
static void look_at_number(gbx_looking *l, gbx_schema *s, gbx_view v)
{
    double n = gbx_number_read(v.at, v.len) + 0.0; /* turns -0 into 0 */
    bool is_whole = is_integer(v);

    l->failed |= !gbx_schema_tell_apart(s, v, (gbx_view){(const char *)&n, sizeof n});
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
    if (!gbx_schema_date_read(v, &date))
        return;
    gbx_schema_take_dates(s, &date, &date);
    s->dates++;
    s->foreign_dates += date.is_foreign;
}

/* ---- objects and arrays ---------------------------------------------------------- */

static gbx_schema *member_of(gbx_looking *l, gbx_schema *map)
{
    if (map->member == NULL)
        map->member = node_new(l);
    map->has_more |= map->member == NULL;
    return map->member;
}

static gbx_schema *add_field(gbx_looking *l, gbx_schema *s, gbx_view name)
{
    gbx_schema *made;

    if (gbx_schema_is_full(l, s)) {
        gbx_schema_make_map(l, s);
        return member_of(l, s);
    }
    if (!gbx_schema_has_room(l, s))
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

/* A field would reveal its name, which is data: one node stands for all of them. */
static gbx_schema *find_keyed(gbx_looking *l, gbx_schema *s, gbx_view name)
{
    if (s->keyed == NULL) {
        s->keyed = node_new(l);
        s->key = name;
        s->has_more |= s->keyed == NULL;
    }
    return s->keyed;
}

/* Most records have the same members in the same order. */
static gbx_schema *find_field(gbx_looking *l, gbx_schema *s, gbx_view name)
{
    if (s->is_map)
        return member_of(l, s);
    for (size_t i = 0; i < s->field_count; i++) {
        size_t at = s->next + i;

        at -= at >= s->field_count ? s->field_count : 0;
        if (gbx_schema_has_name(&s->fields[at], name)) {
            s->next = at + 1 < s->field_count ? at + 1 : 0;
            return s->fields[at].shape;
        }
    }
    if (gbx_describe_is_key(name))
        return find_keyed(l, s, name);
    if (s->has_more)
        return NULL;
    s->next = 0;
    return add_field(l, s, name);
}

static void look_at_members(gbx_looking *l, gbx_schema *s, gbx_view object, int depth)
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

static void look_at_elements(gbx_looking *l, gbx_schema *s, gbx_view array, int depth)
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

static void look(gbx_looking *l, gbx_schema *s, gbx_view value, int depth)
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
    l->failed |= !gbx_schema_tell_apart(s, value, value);
}

static gbx_schema *look_at_all(gbx_looking *l, gbx_view view)
{
    gbx_schema *s = node_new(l);

    if (s != NULL)
        look(l, s, view, 0);
    if (!l->failed)
        return s;
    gbx_schema_free(s);
    return NULL;
}

gbx_schema *gbx_schema_of(gbx_view view, const atomic_bool *stop)
{
    gbx_looking l = {.stop = stop,
                     .nodes_max = GBX_SHAPE_NODES_MAX,
                     .fields_max = GBX_SHAPE_FIELDS_MAX};

    return look_at_all(&l, view);
}

gbx_schema *gbx_schema_of_table(gbx_view view, const atomic_bool *stop)
{
    gbx_looking l = {.stop = stop,
                     .nodes_max = GBX_SHAPE_COLUMNS_MAX + GBX_SHAPE_NODES_MAX,
                     .fields_max = GBX_SHAPE_COLUMNS_MAX};

    return look_at_all(&l, view);
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

static void merge(gbx_looking *l, gbx_schema *into, gbx_schema *from);

/* Takes ownership of from. */
static void merge_child(gbx_looking *l, gbx_schema **into, gbx_schema **from)
{
    gbx_schema *taken = *from;

    *from = NULL;
    if (*into == NULL)
        *into = taken;
    else if (taken != NULL)
        merge(l, *into, taken);
}

static gbx_schema_field *field_named(const gbx_schema *s, gbx_view name)
{
    for (size_t i = 0; i < s->field_count; i++)
        if (gbx_schema_has_name(&s->fields[i], name))
            return &s->fields[i];
    return NULL;
}

/* ---- maps: objects whose names are data ------------------------------ */

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
            known += field_named(fullest, records->fields[f].name) != NULL;
    }
    return known * 4 >= all * 3;
}

static void merge_field(gbx_looking *l, gbx_schema *into, gbx_schema_field *f)
{
    gbx_schema_field *known = into->is_map ? NULL : field_named(into, f->name);

    if (known != NULL) {
        merge_child(l, &known->shape, &f->shape);
        return;
    }
    if (!into->is_map && gbx_schema_is_full(l, into))
        gbx_schema_make_map(l, into);
    if (into->is_map)
        merge_child(l, &into->member, &f->shape);
    else if (gbx_schema_has_room(l, into))
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
        gbx_schema_take_dates(into, &from->first_date, &from->last_date);
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
static void merge(gbx_looking *l, gbx_schema *into, gbx_schema *from)
{
    merge_figures(into, from);
    l->failed |= !gbx_schema_join_values(into, from);
    if (from->is_map)
        gbx_schema_make_map(l, into);
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

void gbx_schema_take_dates(gbx_schema *s, const gbx_schema_date *first,
                           const gbx_schema_date *last)
{
    if (s->dates == 0 || gbx_schema_date_is_before(first, &s->first_date))
        s->first_date = *first;
    if (s->dates == 0 || gbx_schema_date_is_before(&s->last_date, last))
        s->last_date = *last;
}

bool gbx_schema_has_name(const gbx_schema_field *f, gbx_view name)
{
    return f->name.len == name.len && memcmp(f->name.at, name.at, name.len) == 0;
}

void gbx_schema_make_map(gbx_looking *l, gbx_schema *s)
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

/* Would one more field be too many? Whether fields are alike is checked once: after
 * that many alike ones, the others count as alike and need not be kept apart. */
bool gbx_schema_is_full(const gbx_looking *l, const gbx_schema *s)
{
    return s->field_count == l->fields_max ||
           (s->field_count == GBX_SHAPE_ALIKE_MAX && are_alike(s));
}

bool gbx_schema_has_room(gbx_looking *l, gbx_schema *s)
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
