/* SPDX-License-Identifier: MIT */
/* schema - recursion is bounded by GBX_SHAPE_DEPTH_MAX, allocation by the other limits. */
#include "mcp/data/schema.h"

#include "mcp/data/datasets.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How often it is asked whether anybody still wants this. */
#define VALUES_AT_ONCE 65536

/* All integers of so many digits are doubles. */
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

/* ---- scalars ------------------------------------------------------------------------ */

static bool is_integer(gbx_view v)
{
    return memchr(v.at, '.', v.len) == NULL && memchr(v.at, 'e', v.len) == NULL &&
           memchr(v.at, 'E', v.len) == NULL;
}

/* Numbers are told apart as code sees them: many a text is the same one. */
static void look_at_number(gbx_looking *l, gbx_schema *s, gbx_view v)
{
    double n = gbx_number_read(v.at, v.len) + 0.0; /* there is one zero */
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

/* ---- objects and arrays --------------------------------------------------------------- */

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
        /* The sets of so many columns would be half a gigabyte. */
        made->is_distinct_more = true;
        free(made->tops);
        made->tops = NULL;
    }
    s->fields[s->field_count++] = (gbx_schema_field){name, made};
    return made;
}

/* A field would be told by its name, which is data: one stands for all. */
static gbx_schema *find_keyed(gbx_looking *l, gbx_schema *s, gbx_view name)
{
    if (s->keyed == NULL) {
        s->keyed = node_new(l);
        s->key = name;
        s->has_more |= s->keyed == NULL;
    }
    return s->keyed;
}

/* Records have the same members in the same order, more often than not. */
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

/* ---- public to other modules -------------------------------------------- */

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
