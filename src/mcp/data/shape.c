/* SPDX-License-Identifier: MIT */
/* shape - recursion is bounded by GBX_SHAPE_DEPTH_MAX, allocation by the other limits. */
#include "mcp/data/shape.h"

#include "mcp/data/describe_text.h"
#include "mcp/data/number.h"
#include "mcp/data/shape_distinct.h"
#include "mcp/data/shape_map.h"
#include "mcp/data/sibling.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often it is asked whether anybody still wants this. */
#define VALUES_AT_ONCE 65536

/* All integers of so many digits are doubles. */
#define EXACT_DIGITS 15

/* Different names of values that never came. */
#define NAMES_ASKED 64

static void look(gbx_looking *l, gbx_shape *s, gbx_view value, int depth);

static gbx_shape *node_new(gbx_looking *l)
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
static void look_at_number(gbx_looking *l, gbx_shape *s, gbx_view v)
{
    double n = gbx_number_read(v.at, v.len) + 0.0; /* there is one zero */
    bool is_whole = is_integer(v);

    l->failed |=
        !gbx_shape_tell_apart(s, v, (gbx_view){(const char *)&n, sizeof n}, l->record);
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
    gbx_shape_take_record(&s->number_records, l->record);
}

static void look_at_string(const gbx_looking *l, gbx_shape *s, gbx_view v)
{
    gbx_shape_date date;

    s->kinds |= GBX_SHAPE_STRING;
    if (v.len > s->longest)
        s->longest = v.len;
    if (!gbx_shape_date_read(v, &date))
        return;
    gbx_shape_take_dates(s, &date, &date);
    s->dates++;
    s->foreign_dates += date.is_foreign;
    gbx_shape_take_record(&s->date_records, l->record);
}

/* ---- objects and arrays --------------------------------------------------------------- */

static gbx_shape *find_in_map(gbx_looking *l, gbx_shape *s, gbx_view name)
{
    gbx_shape **place = gbx_shape_place_in_map(s, name);

    if (*place == NULL)
        *place = node_new(l);
    s->has_more |= *place == NULL;
    return *place;
}

static gbx_shape *add_field(gbx_looking *l, gbx_shape *s, gbx_view name)
{
    gbx_shape *made;

    if (gbx_shape_is_full(l, s)) {
        gbx_shape_make_map(l, s);
        return find_in_map(l, s, name);
    }
    if (!gbx_shape_has_room(l, s))
        return NULL;
    made = node_new(l);
    s->has_more |= made == NULL;
    if (made == NULL)
        return NULL;
    made->role = gbx_sibling_role(name);
    s->has_values |= (made->role & GBX_SIBLING_VALUE) != 0;
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
static gbx_shape *find_keyed(gbx_looking *l, gbx_shape *s, gbx_view name)
{
    if (s->keyed == NULL) {
        s->keyed = node_new(l);
        s->key = name;
        s->has_more |= s->keyed == NULL;
    }
    return s->keyed;
}

/* Records have the same members in the same order, more often than not. */
static gbx_shape *find_field(gbx_looking *l, gbx_shape *s, gbx_view name)
{
    if (s->is_map)
        return find_in_map(l, s, name);
    for (size_t i = 0; i < s->field_count; i++) {
        size_t at = s->next + i;

        at -= at >= s->field_count ? s->field_count : 0;
        if (gbx_shape_has_name(&s->fields[at], name)) {
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

/* What is beside that name in objects, or below it in arrays. */
static void take_name(gbx_shape *s, gbx_view text, gbx_sensitive_place inside)
{
    for (int is_number = 0; is_number < 2; is_number++) {
        gbx_sensitive_place place = gbx_describe_below(inside, text, is_number != 0);

        if (place > s->beside[is_number])
            s->beside[is_number] = place;
    }
}

static void take_names(gbx_shape *s, gbx_view names)
{
    gbx_sensitive_place inside = GBX_SENSITIVE_NOTHING;
    size_t cursor = 0;
    gbx_view name;

    if (names.at != NULL)
        inside = gbx_describe_inside_row(names);
    while (s != NULL && (name = gbx_sibling_next(names, &cursor)).at != NULL)
        take_name(s, name, inside);
}

/* Does it say something that was not said before? Of objects that have no value beside it
 * only the first names are asked, and of arrays no more than are told apart. */
static bool is_new(const gbx_shape *s, const gbx_shape *name, size_t distinct_before)
{
    if (name->is_distinct_more)
        return s->has_values;
    return name->distinct > distinct_before &&
           (s->has_values || s->objects == 0 || name->distinct <= NAMES_ASKED);
}

/* Are there many members, all of them records, or lists of them? */
static bool has_records(gbx_view object)
{
    size_t cursor = 0, count = 0;
    gbx_view name, value;

    while (gbx_view_next(object, &cursor, &name, &value)) {
        if (gbx_view_kind(value) != '{' && gbx_view_kind(value) != '[')
            return false;
        count++;
    }
    return count > GBX_SHAPE_ALIKE_MAX;
}

static void look_at_members(gbx_looking *l, gbx_shape *s, gbx_view object, int depth)
{
    size_t cursor = 0;
    gbx_view name, value;
    gbx_view columns = {0};
    gbx_shape *rows = NULL;
    bool was_in_record = l->is_in_record;

    s->kinds |= GBX_SHAPE_OBJECT;
    s->objects++;
    if (depth == GBX_SHAPE_DEPTH_MAX)
        return;
    l->is_in_record = was_in_record || has_records(object);
    while (!l->failed && gbx_view_next(object, &cursor, &name, &value)) {
        gbx_shape *field = find_field(l, s, name);
        size_t distinct = field != NULL ? field->distinct : 0;

        l->record += !was_in_record;
        if (field == NULL)
            continue;
        look(l, field, value, depth + 1);
        if ((field->role & GBX_SIBLING_NAME) != 0 && gbx_view_kind(value) == '"' &&
            is_new(s, field, distinct))
            take_name(s, value, GBX_SENSITIVE_NOTHING);
        if ((field->role & GBX_SIBLING_COLUMNS) != 0 && gbx_view_kind(value) == '[')
            columns = value;
        if ((field->role & GBX_SIBLING_ROWS) != 0)
            rows = field;
    }
    l->is_in_record = was_in_record;
    if (columns.at != NULL && rows != NULL && !s->is_map)
        take_names(rows->element, columns);
}

static void look_at_element(gbx_looking *l, gbx_shape *s, gbx_view value, int depth)
{
    size_t distinct = s->element->distinct;

    look(l, s->element, value, depth);
    if (gbx_sibling_flag(value).at != NULL && is_new(s, s->element, distinct))
        take_name(s, value, GBX_SENSITIVE_NOTHING);
}

static void look_at_elements(gbx_looking *l, gbx_shape *s, gbx_view array, int depth)
{
    size_t cursor = 0;
    size_t distinct = s->element != NULL ? s->element->distinct : 0;
    bool was_in_record = l->is_in_record;
    gbx_view name, value;

    s->kinds |= GBX_SHAPE_ARRAY;
    l->is_in_record = true;
    while (!l->failed && gbx_view_next(array, &cursor, &name, &value)) {
        s->elements++;
        l->record += !was_in_record;
        if (s->element == NULL && depth < GBX_SHAPE_DEPTH_MAX)
            s->element = node_new(l);
        if (s->element != NULL)
            look_at_element(l, s, value, depth + 1);
    }
    l->is_in_record = was_in_record;
    if (s->element == NULL)
        return;
    take_names(s->element, gbx_sibling_header(array));
    if (is_new(s, s->element, distinct) && (name = gbx_sibling_pair(array)).at != NULL)
        take_name(s, name, GBX_SENSITIVE_NOTHING);
}

static void look(gbx_looking *l, gbx_shape *s, gbx_view value, int depth)
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
    case '"': look_at_string(l, s, value); break;
    default: look_at_number(l, s, value); return;
    }
    l->failed |= !gbx_shape_tell_apart(s, value, value, l->record);
}

static gbx_shape *look_at_all(gbx_looking *l, gbx_view view)
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
    gbx_looking l = {.stop = stop,
                     .nodes_max = GBX_SHAPE_NODES_MAX,
                     .fields_max = GBX_SHAPE_FIELDS_MAX};

    return look_at_all(&l, view);
}

gbx_shape *gbx_shape_of_table(gbx_view view, const atomic_bool *stop)
{
    gbx_looking l = {.stop = stop,
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

gbx_sensitive_place gbx_shape_beside(const gbx_shape *s, const gbx_shape *value,
                                     gbx_sensitive_place place)
{
    gbx_sensitive_place beside = s->beside[gbx_shape_are_numbers(value)];

    return beside > place ? beside : place;
}

bool gbx_shape_are_numbers(const gbx_shape *s)
{
    return (s->kinds &
            ~(unsigned)(GBX_SHAPE_NULL | GBX_SHAPE_NUMBER | GBX_SHAPE_INTEGER)) == 0;
}

gbx_sensitive_place gbx_shape_below(const gbx_shape *map, gbx_sensitive_place place)
{
    return place > map->members ? place : map->members;
}

bool gbx_shape_are_dates(const gbx_shape *s)
{
    return s->dates > 0 && s->dates == s->count - s->nulls;
}
