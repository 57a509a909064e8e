/* SPDX-License-Identifier: MIT */
/* dataset_description - types and examples; describe_statistics.c has the
 * statistics. */
#include "mcp/data/dataset_description.h"

#include "base/cleanup.h"
#include "mcp/data/datasets.h"

#include <string.h>

#define EXAMPLES         3
#define EXAMPLE_DEPTH    4
#define EXAMPLE_CHARS    48 /* of a string */
#define EXAMPLE_ELEMENTS 3
#define EXAMPLE_KEYS     3
#define LITERALS         8
#define OFTEN            5   /* occurrences that make a literal common */
#define WIDE             100 /* fields; if there are more, their number is given */
#define LITERAL_BYTES    26

/* ---- types ---------------------------------------------------------------------- */

typedef struct typing {
    gbx_buf *to;
    size_t until; /* to->len from which nothing new is begun */
} typing;

static void put_type(typing *t, const gbx_schema *s, const gbx_place *place);

static void put_or(typing *t, bool *is_first)
{
    if (!*is_first)
        (void)gbx_buf_puts(t->to, " | ");
    *is_first = false;
}

/* A few values that occur often: a filter needs to know them. */
static bool is_choice(const gbx_schema *s, const gbx_place *place)
{
    if (!place->is_shown || s->tops == NULL || s->top_count > LITERALS ||
        s->top_count == 0 || (s->kinds & ~(unsigned)GBX_SHAPE_NULL) != GBX_SHAPE_STRING)
        return false;
    for (size_t i = 0; i < s->top_count; i++)
        if (s->tops[i].count < OFTEN || s->tops[i].value.len > LITERAL_BYTES)
            return false;
    return true;
}

static void put_choice(typing *t, const gbx_schema *s)
{
    for (size_t i = 0; i < s->top_count; i++) {
        (void)gbx_buf_puts(t->to, i == 0 ? "" : " | ");
        (void)gbx_describe_string(s->tops[i].value, LITERAL_BYTES, true, t->to);
    }
}

/* All members whose names are data, as one example name. */
static void put_keyed(typing *t, const gbx_schema *s, const gbx_place *place)
{
    (void)gbx_buf_puts(t->to, "[key: string /* like ");
    (void)gbx_describe_name(s->key, t->to);
    (void)gbx_buf_puts(t->to, " */]: ");
    put_type(t, s->keyed, place);
}

static void put_fields(typing *t, const gbx_schema *s, const gbx_place *place)
{
    size_t i;

    (void)gbx_buf_puts(t->to, "{ ");
    for (i = 0; i < s->field_count && t->to->len < t->until; i++) {
        const gbx_schema_field *f = &s->fields[i];
        gbx_place below;

        (void)gbx_buf_puts(t->to, i == 0 ? "" : "; ");
        (void)gbx_describe_name(f->name, t->to);
        (void)gbx_buf_puts(t->to, f->shape->count < s->objects ? "?: " : ": ");
        below = gbx_place_below(place, f->name);
        put_type(t, f->shape, &below);
    }
    if (i < s->field_count)
        (void)gbx_buf_printf(t->to, "; /* and %zu more fields */", s->field_count - i);
    else if (s->has_more)
        (void)gbx_buf_puts(t->to, "; /* and more fields */");
    if (s->keyed != NULL) {
        (void)gbx_buf_puts(t->to, s->field_count > 0 ? "; " : "");
        put_keyed(t, s, place);
    }
    (void)gbx_buf_puts(t->to, " }");
}

static void put_object(typing *t, const gbx_schema *s, const gbx_place *place)
{
    if (s->is_map) {
        (void)gbx_buf_puts(t->to, "Record<string, ");
        if (s->member != NULL)
            put_type(t, s->member, place);
        (void)gbx_buf_puts(t->to, s->member == NULL ? "unknown>" : ">");
    } else if (s->field_count == 0 && s->keyed == NULL) {
        (void)gbx_buf_puts(t->to, "object");
    } else {
        put_fields(t, s, place);
    }
}

static void put_array(typing *t, const gbx_schema *s, const gbx_place *place)
{
    unsigned all = s->element != NULL ? s->element->kinds : 0;
    unsigned kinds =
        (all & GBX_SHAPE_NUMBER) != 0 ? all & ~(unsigned)GBX_SHAPE_INTEGER : all;
    bool is_union = (kinds & (kinds - 1)) != 0;

    if (s->element == NULL) {
        (void)gbx_buf_puts(t->to, s->elements == 0 ? "[]" : "array");
        return;
    }
    is_union |= is_choice(s->element, place);
    (void)gbx_buf_puts(t->to, is_union ? "(" : "");
    put_type(t, s->element, place);
    (void)gbx_buf_puts(t->to, is_union ? ")[]" : "[]");
}

/* Note what would mislead a model: an id of 19 digits loses digits in code. */
static void put_text(typing *t, const gbx_schema *s)
{
    (void)gbx_buf_puts(t->to, "string");
    if (gbx_schema_are_dates(s))
        (void)gbx_buf_puts(t->to, s->foreign_dates == 0
                                      ? " /* ISO date */"
                                      : " /* date that new Date() does not read */");
}

static void put_number(typing *t, const gbx_schema *s)
{
    (void)gbx_buf_puts(t->to, s->kinds & GBX_SHAPE_NUMBER ? "number" : "integer");
    if (s->inexact > 0)
        (void)gbx_buf_puts(t->to, " /* over 2^53: last digits are lost */");
    if (s->infinite > 0)
        (void)gbx_buf_puts(t->to, " /* over 1.8e308: Infinity */");
}

static void put_type(typing *t, const gbx_schema *s, const gbx_place *place)
{
    bool is_first = true;

    if ((s->kinds & GBX_SHAPE_OBJECT) != 0) {
        put_or(t, &is_first);
        put_object(t, s, place);
    }
    if ((s->kinds & GBX_SHAPE_ARRAY) != 0) {
        put_or(t, &is_first);
        put_array(t, s, place);
    }
    if ((s->kinds & GBX_SHAPE_STRING) != 0) {
        put_or(t, &is_first);
        if (is_choice(s, place))
            put_choice(t, s);
        else
            put_text(t, s);
    }
    if ((s->kinds & (GBX_SHAPE_NUMBER | GBX_SHAPE_INTEGER)) != 0) {
        put_or(t, &is_first);
        put_number(t, s);
    }
    if ((s->kinds & GBX_SHAPE_BOOLEAN) != 0) {
        put_or(t, &is_first);
        (void)gbx_buf_puts(t->to, "boolean");
    }
    if ((s->kinds & GBX_SHAPE_NULL) != 0) {
        put_or(t, &is_first);
        (void)gbx_buf_puts(t->to, "null");
    }
    if (s->kinds == 0)
        (void)gbx_buf_puts(t->to, "unknown");
}

/* ---- examples -------------------------------------------------------------------- */

typedef struct example {
    gbx_buf *to;
    size_t until;
} example;

static void put_example(example *e, gbx_view v, const gbx_schema *s,
                        const gbx_place *place, int depth);

/* Mention what did not fit. */
static void put_left(const example *e, size_t left, bool is_first)
{
    if (left > 0)
        (void)gbx_buf_printf(e->to, "%s/* %zu more */", is_first ? "" : ", ", left);
}

/* The field of that name; NULL: the name is data. */
static const gbx_schema_field *field_of(const gbx_schema *s, gbx_view name)
{
    for (size_t i = 0; s != NULL && i < s->field_count; i++)
        if (gbx_schema_has_name(&s->fields[i], name))
            return &s->fields[i];
    return NULL;
}

/* With a pattern for its name; a few of these suffice. */
static void put_keyed_member(example *e, gbx_view name, gbx_view value,
                             const gbx_schema *s, const gbx_place *place, int depth)
{
    (void)gbx_describe_string(name, EXAMPLE_CHARS, place->is_shown, e->to);
    (void)gbx_buf_puts(e->to, ":");
    put_example(e, value,
                s == NULL   ? NULL
                : s->is_map ? s->member
                            : s->keyed,
                place, depth);
}

static void put_members(example *e, gbx_view object, const gbx_schema *s,
                        const gbx_place *place, int depth)
{
    size_t cursor = 0, count = 0, keys = 0, left = 0;
    gbx_view name, value;

    (void)gbx_buf_puts(e->to, "{");
    while (gbx_view_next(object, &cursor, &name, &value)) {
        const gbx_schema_field *field =
            e->to->len < e->until ? field_of(s, name) : NULL;

        if (e->to->len >= e->until || (field == NULL && keys++ >= EXAMPLE_KEYS)) {
            left++;
            continue;
        }
        (void)gbx_buf_puts(e->to, count++ == 0 ? "" : ",");
        if (field != NULL) {
            gbx_place below = gbx_place_below(place, name);

            (void)gbx_describe_name(name, e->to);
            (void)gbx_buf_puts(e->to, ":");
            put_example(e, value, field->shape, &below, depth + 1);
        } else {
            put_keyed_member(e, name, value, s, place, depth + 1);
        }
    }
    put_left(e, left, count == 0);
    (void)gbx_buf_puts(e->to, "}");
}

static void put_elements(example *e, gbx_view array, const gbx_schema *s,
                         const gbx_place *place, int depth)
{
    size_t cursor = 0, count = 0, left = 0;
    gbx_view none, value;

    (void)gbx_buf_puts(e->to, "[");
    while (gbx_view_next(array, &cursor, &none, &value)) {
        if (count == EXAMPLE_ELEMENTS || e->to->len >= e->until) {
            left++;
            continue;
        }
        (void)gbx_buf_puts(e->to, count++ == 0 ? "" : ",");
        put_example(e, value, s != NULL ? s->element : NULL, place, depth + 1);
    }
    put_left(e, left, count == 0);
    (void)gbx_buf_puts(e->to, "]");
}

static void put_example(example *e, gbx_view v, const gbx_schema *s,
                        const gbx_place *place, int depth)
{
    char kind = gbx_view_kind(v);

    if ((kind == '{' || kind == '[') && depth == EXAMPLE_DEPTH)
        (void)gbx_buf_puts(e->to, kind == '{' ? "{ /* ... */ }" : "[ /* ... */ ]");
    else if (kind == '{')
        put_members(e, v, s, place, depth);
    else if (kind == '[')
        put_elements(e, v, s, place, depth);
    else if (kind == '"')
        (void)gbx_describe_string(v, EXAMPLE_CHARS, place->is_shown, e->to);
    else if (kind == '0' && !place->is_shown)
        (void)gbx_describe_number_pattern((gbx_view){v.at, v.len < 24 ? v.len : 24},
                                          e->to);
    else if (kind == '0')
        (void)gbx_number_put_seen(e->to, gbx_number_read(v.at, v.len));
    else if (kind == 'n' || place->is_shown)
        (void)gbx_buf_append(e->to, v.at, v.len);
    else
        (void)gbx_buf_puts(e->to, "/* boolean */");
}

static void put_line(gbx_view v, const gbx_schema *s, const gbx_place *place,
                     const char *indent, size_t room, gbx_buf *to)
{
    example e = {.to = to};

    (void)gbx_buf_puts(to, indent);
    e.until = to->len + room;
    put_example(&e, v, s, place, 0);
    (void)gbx_buf_puts(to, "\n");
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_describe_type(const gbx_schema *shape, const gbx_place *place, size_t room,
                       gbx_buf *to)
{
    typing t = {.to = to, .until = to->len + room};

    put_type(&t, shape, place);
    return !to->failed;
}

bool gbx_describe_columns(gbx_view names, size_t room, gbx_buf *to)
{
    size_t until = to->len + room;
    size_t cursor = 0, count = 0, left = 0;
    gbx_view none, name;

    (void)gbx_buf_puts(to, "{ ");
    while (gbx_view_next(names, &cursor, &none, &name)) {
        if (to->len >= until) {
            left++;
            continue;
        }
        (void)gbx_buf_puts(to, count++ == 0 ? "" : "; ");
        (void)gbx_describe_name(name, to);
        (void)gbx_buf_puts(to, ": unknown");
    }
    if (left > 0)
        (void)gbx_buf_printf(to, "; /* and %zu more fields */", left);
    return gbx_buf_puts(to, " }[]");
}

bool gbx_describe_size(const gbx_schema *shape, gbx_view view, gbx_buf *to)
{
    const gbx_schema *keyed;

    switch (gbx_view_kind(view)) {
    case '[':
        (void)gbx_number_put_count(to, shape->elements);
        (void)gbx_buf_puts(to, shape->element != NULL &&
                                       shape->element->kinds == GBX_SHAPE_OBJECT
                                   ? " record"
                                   : " element");
        (void)gbx_buf_puts(to, shape->elements == 1 ? "" : "s");
        if (shape->element != NULL && shape->element->field_count > WIDE) {
            (void)gbx_buf_puts(to, " of ");
            (void)gbx_number_put_count(to, shape->element->field_count);
            (void)gbx_buf_puts(to, " fields");
        }
        return !to->failed;
    case '{':
        keyed = shape->is_map ? shape->member : shape->keyed;
        if (keyed == NULL || shape->field_count > 0)
            (void)gbx_buf_printf(to, "one object of %zu field%s", shape->field_count,
                                 shape->field_count == 1 ? "" : "s");
        if (keyed == NULL)
            return !to->failed;
        (void)gbx_buf_puts(to,
                           shape->field_count > 0 ? " and " : "one object, a map of ");
        (void)gbx_number_put_count(to, keyed->count);
        return gbx_buf_puts(to, keyed->count == 1 ? " key" : " keys");
    default: return gbx_buf_puts(to, "one value");
    }
}

bool gbx_describe_examples(gbx_view view, const gbx_schema *shape,
                           const gbx_place *place, const char *indent, size_t room,
                           gbx_buf *to)
{
    size_t cursor = 0;
    gbx_view name, value;

    if (gbx_view_kind(view) != '[') {
        put_line(view, shape, place, indent, room, to);
        return !to->failed;
    }
    for (int n = 0; n < EXAMPLES && gbx_view_next(view, &cursor, &name, &value); n++)
        put_line(value, shape->element, place, indent, room / EXAMPLES, to);
    return !to->failed;
}
