/* SPDX-License-Identifier: MIT */
/* shape - recursion is bounded by GBX_SHAPE_DEPTH_MAX, allocation by the other limits. */
#include "mcp/data/shape.h"

#include "mcp/data/describe_text.h"
#include "mcp/data/number.h"
#include "mcp/data/shape_distinct.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often it is asked whether anybody still wants this. */
#define VALUES_AT_ONCE 65536

/* All integers of so many digits are doubles. */
#define EXACT_DIGITS 15

typedef struct looking {
    const atomic_bool *stop;
    size_t nodes;
    size_t nodes_max;
    size_t fields_max;
    uint32_t values;
    bool failed;
} looking;

static void look(looking *l, gbx_shape *s, gbx_view value, int depth);

static gbx_shape *node_new(looking *l)
{
    gbx_shape *s;

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

/* ---- scalars ------------------------------------------------------------------------ */

static bool is_integer(gbx_view v)
{
    return memchr(v.at, '.', v.len) == NULL && memchr(v.at, 'e', v.len) == NULL &&
           memchr(v.at, 'E', v.len) == NULL;
}

/* Numbers are told apart as code sees them: many a text is the same one. */
static void look_at_number(looking *l, gbx_shape *s, gbx_view v)
{
    double n = gbx_number_read(v.at, v.len) + 0.0; /* there is one zero */
    bool is_whole = is_integer(v);

    l->failed |= !gbx_shape_tell_apart(s, v, (gbx_view){(const char *)&n, sizeof n});
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

/* Of the same time the text that was first stays. */
static void take_dates(gbx_shape *s, const gbx_shape_date *first,
                       const gbx_shape_date *last)
{
    if (s->dates == 0 || gbx_shape_date_is_before(first, &s->first_date))
        s->first_date = *first;
    if (s->dates == 0 || gbx_shape_date_is_before(&s->last_date, last))
        s->last_date = *last;
}

static void look_at_string(gbx_shape *s, gbx_view v)
{
    gbx_shape_date date;

    s->kinds |= GBX_SHAPE_STRING;
    if (v.len > s->longest)
        s->longest = v.len;
    if (!gbx_shape_date_read(v, &date))
        return;
    take_dates(s, &date, &date);
    s->dates++;
}

/* ---- objects and arrays --------------------------------------------------------------- */

static bool has_name(const gbx_shape_field *f, gbx_view name)
{
    return f->name.len == name.len && memcmp(f->name.at, name.at, name.len) == 0;
}

static void merge(looking *l, gbx_shape *into, gbx_shape *from);

/* from is used up. */
static void merge_child(looking *l, gbx_shape **into, gbx_shape **from)
{
    gbx_shape *taken = *from;

    *from = NULL;
    if (*into == NULL)
        *into = taken;
    else if (taken != NULL)
        merge(l, *into, taken);
}

/* A member of a map is any other's like, but for one whose name says that its value is
 * nobody's business. */
static gbx_shape **place_in_map(gbx_shape *s, gbx_view name)
{
    gbx_sensitive_place place = gbx_describe_below(GBX_SENSITIVE_NOTHING, name, false);

    if (place < GBX_SENSITIVE_ALL && place > s->members)
        s->members = place;
    return gbx_describe_below(GBX_SENSITIVE_PERSON, name, false) == GBX_SENSITIVE_ALL
               ? &s->hidden
               : &s->member;
}

/* From too many fields to any of them. */
static void make_map(looking *l, gbx_shape *s)
{
    if (s->is_map)
        return;
    s->is_map = true;
    merge_child(l, &s->member, &s->keyed);
    for (size_t i = 0; i < s->field_count; i++)
        merge_child(l, place_in_map(s, s->fields[i].name), &s->fields[i].shape);
    free(s->fields);
    s->fields = NULL;
    s->field_count = s->field_room = s->next = 0;
}

static gbx_shape_field *field_named(const gbx_shape *s, gbx_view name)
{
    for (size_t i = 0; i < s->field_count; i++)
        if (has_name(&s->fields[i], name))
            return &s->fields[i];
    return NULL;
}

/* The records that the values are, or that are in them if they are lists; NULL: there is
 * something else. Columns by the numbers of their rows are no records. */
static const gbx_shape *records_of(const gbx_shape *s)
{
    if (s->element != NULL && (s->kinds & ~(unsigned)GBX_SHAPE_NULL) == GBX_SHAPE_ARRAY)
        s = s->element;
    if ((s->kinds & ~(unsigned)GBX_SHAPE_NULL) != GBX_SHAPE_OBJECT ||
        s->field_count == 0 || isdigit((unsigned char)s->fields[0].name.at[1]))
        return NULL;
    return s;
}

/* Have all members records, which have nearly the same fields? */
static bool are_alike(const gbx_shape *s)
{
    const gbx_shape *fullest = NULL;
    size_t known = 0, all = 0;

    for (size_t i = 0; i < s->field_count; i++) {
        const gbx_shape *records = records_of(s->fields[i].shape);

        if (records == NULL)
            return false;
        if (fullest == NULL || records->field_count > fullest->field_count)
            fullest = records;
    }
    for (size_t i = 0; i < s->field_count; i++) {
        const gbx_shape *records = records_of(s->fields[i].shape);

        all += records->field_count;
        for (size_t f = 0; f < records->field_count; f++)
            known += field_named(fullest, records->fields[f].name) != NULL;
    }
    return known * 4 >= all * 3;
}

/* Is one field more too many? Whether they are alike is asked once: what comes behind so
 * many that are is taken for the same, and need not be kept apart until then. */
static bool is_full(const looking *l, const gbx_shape *s)
{
    return s->field_count == l->fields_max ||
           (s->field_count == GBX_SHAPE_ALIKE_MAX && are_alike(s));
}

static bool has_room(looking *l, gbx_shape *s)
{
    size_t room = s->field_room == 0 ? 8 : s->field_room * 2;
    gbx_shape_field *grown;

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

static void merge_field(looking *l, gbx_shape *into, gbx_shape_field *f)
{
    gbx_shape_field *known = into->is_map ? NULL : field_named(into, f->name);

    if (known != NULL) {
        merge_child(l, &known->shape, &f->shape);
        return;
    }
    if (!into->is_map && is_full(l, into))
        make_map(l, into);
    if (into->is_map)
        merge_child(l, place_in_map(into, f->name), &f->shape);
    else if (has_room(l, into))
        into->fields[into->field_count++] = *f;
    else
        gbx_shape_free(f->shape);
    f->shape = NULL;
}

static void merge_figures(gbx_shape *into, const gbx_shape *from)
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
    into->elements += from->elements;
    into->has_more |= from->has_more;
    into->members = into->members > from->members ? into->members : from->members;
    if (from->longest > into->longest)
        into->longest = from->longest;
}

/* What was seen at two places, as if it had been one. from is used up. */
static void merge(looking *l, gbx_shape *into, gbx_shape *from)
{
    merge_figures(into, from);
    l->failed |= !gbx_shape_join_values(into, from);
    if (from->is_map)
        make_map(l, into);
    for (size_t i = 0; i < from->field_count; i++)
        merge_field(l, into, &from->fields[i]);
    from->field_count = 0;
    if (into->keyed == NULL)
        into->key = from->key;
    merge_child(l, into->is_map ? &into->member : &into->keyed, &from->keyed);
    merge_child(l, &into->member, &from->member);
    merge_child(l, &into->hidden, &from->hidden);
    merge_child(l, &into->element, &from->element);
    gbx_shape_free(from);
    l->nodes--;
}

static gbx_shape *find_in_map(looking *l, gbx_shape *s, gbx_view name)
{
    gbx_shape **place = place_in_map(s, name);

    if (*place == NULL)
        *place = node_new(l);
    s->has_more |= *place == NULL;
    return *place;
}

static gbx_shape *add_field(looking *l, gbx_shape *s, gbx_view name)
{
    gbx_shape *made;

    if (is_full(l, s)) {
        make_map(l, s);
        return find_in_map(l, s, name);
    }
    if (!has_room(l, s))
        return NULL;
    made = node_new(l);
    s->has_more |= made == NULL;
    if (made == NULL)
        return NULL;
    if (s->field_count >= GBX_SHAPE_FIELDS_MAX) {
        /* The sets of so many columns would be half a gigabyte. */
        made->is_distinct_more = true;
        free(made->tops);
        made->tops = NULL;
    }
    s->fields[s->field_count++] = (gbx_shape_field){name, made};
    return made;
}

/* A field would be told by name, which is nobody's business: one stands for all. */
static gbx_shape *find_keyed(looking *l, gbx_shape *s, gbx_view name)
{
    if (s->keyed == NULL) {
        s->keyed = node_new(l);
        s->key = name;
        s->has_more |= s->keyed == NULL;
    }
    return s->keyed;
}

/* Records have the same members in the same order, more often than not. */
static gbx_shape *find_field(looking *l, gbx_shape *s, gbx_view name)
{
    if (s->is_map)
        return find_in_map(l, s, name);
    for (size_t i = 0; i < s->field_count; i++) {
        size_t at = s->next + i;

        at -= at >= s->field_count ? s->field_count : 0;
        if (has_name(&s->fields[at], name)) {
            s->next = at + 1 < s->field_count ? at + 1 : 0;
            return s->fields[at].shape;
        }
    }
    if (gbx_describe_is_sensitive_value(name))
        return find_keyed(l, s, name);
    if (s->has_more)
        return NULL;
    s->next = 0;
    return add_field(l, s, name);
}

static void look_at_members(looking *l, gbx_shape *s, gbx_view object, int depth)
{
    size_t cursor = 0;
    gbx_view name, value;

    s->kinds |= GBX_SHAPE_OBJECT;
    s->objects++;
    if (depth == GBX_SHAPE_DEPTH_MAX)
        return;
    while (!l->failed && gbx_view_next(object, &cursor, &name, &value)) {
        gbx_shape *field = find_field(l, s, name);

        if (field != NULL)
            look(l, field, value, depth + 1);
    }
}

static void look_at_elements(looking *l, gbx_shape *s, gbx_view array, int depth)
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

static void look(looking *l, gbx_shape *s, gbx_view value, int depth)
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
    l->failed |= !gbx_shape_tell_apart(s, value, value);
}

static gbx_shape *look_at_all(looking *l, gbx_view view)
{
    gbx_shape *s = node_new(l);

    if (s != NULL)
        look(l, s, view, 0);
    if (!l->failed)
        return s;
    gbx_shape_free(s);
    return NULL;
}

/* ---- public to other modules -------------------------------------------- */

gbx_shape *gbx_shape_of(gbx_view view, const atomic_bool *stop)
{
    looking l = {.stop = stop,
                 .nodes_max = GBX_SHAPE_NODES_MAX,
                 .fields_max = GBX_SHAPE_FIELDS_MAX};

    return look_at_all(&l, view);
}

gbx_shape *gbx_shape_of_table(gbx_view view, const atomic_bool *stop)
{
    looking l = {.stop = stop,
                 .nodes_max = GBX_SHAPE_COLUMNS_MAX + GBX_SHAPE_NODES_MAX,
                 .fields_max = GBX_SHAPE_COLUMNS_MAX};

    return look_at_all(&l, view);
}

void gbx_shape_free(gbx_shape *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->field_count; i++)
        gbx_shape_free(s->fields[i].shape);
    gbx_shape_free(s->element);
    gbx_shape_free(s->member);
    gbx_shape_free(s->hidden);
    gbx_shape_free(s->keyed);
    free(s->fields);
    free(s->hashes);
    free(s->tops);
    free(s);
}

gbx_sensitive_place gbx_shape_below(const gbx_shape *map, gbx_sensitive_place place)
{
    return place > map->members ? place : map->members;
}

bool gbx_shape_are_dates(const gbx_shape *s)
{
    return s->dates > 0 && s->dates == s->count - s->nulls;
}
