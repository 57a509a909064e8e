/* SPDX-License-Identifier: MIT */
/* schema_map - see datasets.h. */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void merge(gbx_looking *l, gbx_schema *into, gbx_schema *from);

/* from is used up. */
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

/* The records that the values are, or that are in them if they are lists; NULL: there is
 * something else. Columns by the numbers of their rows are no records. */
static const gbx_schema *records_of(const gbx_schema *s)
{
    if (s->element != NULL && (s->kinds & ~(unsigned)GBX_SHAPE_NULL) == GBX_SHAPE_ARRAY)
        s = s->element;
    if ((s->kinds & ~(unsigned)GBX_SHAPE_NULL) != GBX_SHAPE_OBJECT ||
        s->field_count == 0 || isdigit((unsigned char)s->fields[0].name.at[1]))
        return NULL;
    return s;
}

/* Have all members records, which have nearly the same fields? */
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

/* What was seen at two places, as if it had been one. from is used up. */
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

/* ---- public to other modules -------------------------------------------- */

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

/* Is one field more too many? Whether they are alike is asked once: what comes behind so
 * many that are is taken for the same, and need not be kept apart until then. */
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
