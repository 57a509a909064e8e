/* SPDX-License-Identifier: MIT */
/* describe - types and examples; describe_statistics.c has the figures. */
#include "mcp/data/describe.h"

#include "base/cleanup.h"
#include "mcp/data/describe_text.h"
#include "mcp/data/number.h"
#include "mcp/data/sibling.h"

#include <string.h>

#define EXAMPLES         3
#define EXAMPLE_DEPTH    4
#define EXAMPLE_CHARS    48 /* of a string */
#define EXAMPLE_ELEMENTS 3
#define LITERALS         8
#define WIDE             100 /* fields: more are counted, since not all are told */
#define LITERAL_BYTES    26

/* ---- types ---------------------------------------------------------------------- */

typedef struct typing {
    gbx_buf *to;
    size_t until; /* to->len at which nothing more is begun */
} typing;

static void put_type(typing *t, const gbx_shape *s, gbx_sensitive_place place);

static void put_or(typing *t, bool *is_first)
{
    if (!*is_first)
        (void)gbx_buf_puts(t->to, " | ");
    *is_first = false;
}

/* Few values that occur often: they are what a filter needs to know. */
static bool is_choice(const gbx_shape *s, gbx_sensitive_place place)
{
    if (gbx_describe_hides_text(place) || s->tops == NULL || s->top_count > LITERALS ||
        s->top_count == 0 || (s->kinds & ~(unsigned)GBX_SHAPE_NULL) != GBX_SHAPE_STRING)
        return false;
    for (size_t i = 0; i < s->top_count; i++)
        if (s->tops[i].records.count < GBX_DESCRIBE_OFTEN ||
            s->tops[i].value.len > LITERAL_BYTES ||
            gbx_describe_is_sensitive_value(s->tops[i].value))
            return false;
    return true;
}

static void put_choice(typing *t, const gbx_shape *s)
{
    for (size_t i = 0; i < s->top_count; i++) {
        (void)gbx_buf_puts(t->to, i == 0 ? "" : " | ");
        (void)gbx_describe_string(s->tops[i].value, LITERAL_BYTES, false, t->to);
    }
}

/* All members whose names look sensitive, by one of these names. */
static void put_keyed(typing *t, const gbx_shape *s, gbx_sensitive_place place)
{
    (void)gbx_buf_puts(t->to, "[key: string /* like ");
    (void)gbx_describe_name(s->key, t->to);
    (void)gbx_buf_puts(t->to, " */]: ");
    put_type(t, s->keyed, place);
}

static void put_fields(typing *t, const gbx_shape *s, gbx_sensitive_place place)
{
    size_t i;

    place = gbx_describe_inside_all(place, s);
    (void)gbx_buf_puts(t->to, "{ ");
    for (i = 0; i < s->field_count && t->to->len < t->until; i++) {
        const gbx_shape_field *f = &s->fields[i];

        (void)gbx_buf_puts(t->to, i == 0 ? "" : "; ");
        (void)gbx_describe_name(f->name, t->to);
        (void)gbx_buf_puts(t->to, f->shape->count < s->objects ? "?: " : ": ");
        put_type(t, f->shape, gbx_describe_below_field(place, s, f));
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

/* What members with sensitive names may be beside what the others are. */
static void put_hidden(typing *t, const gbx_shape *s, gbx_sensitive_place place)
{
    gbx_shape rest = *s->hidden;

    if (s->member != NULL) {
        unsigned known =
            s->member->kinds & ~(unsigned)(GBX_SHAPE_OBJECT | GBX_SHAPE_ARRAY);

        known |= (known & GBX_SHAPE_NUMBER) != 0 ? GBX_SHAPE_INTEGER : 0;
        if (is_choice(s->member, place))
            known &= ~(unsigned)GBX_SHAPE_STRING;
        rest.kinds &= ~known;
        if (rest.kinds == 0)
            return;
        (void)gbx_buf_puts(t->to, " | ");
    }
    put_type(t, &rest, GBX_SENSITIVE_ALL);
}

static void put_object(typing *t, const gbx_shape *s, gbx_sensitive_place place)
{
    if (s->is_map) {
        place = gbx_shape_below(s, place);
        (void)gbx_buf_puts(t->to, "Record<string, ");
        if (s->member != NULL)
            put_type(t, s->member, place);
        if (s->hidden != NULL)
            put_hidden(t, s, place);
        (void)gbx_buf_puts(t->to,
                           s->member == NULL && s->hidden == NULL ? "unknown>" : ">");
    } else if (s->field_count == 0 && s->keyed == NULL) {
        (void)gbx_buf_puts(t->to, "object");
    } else {
        put_fields(t, s, place);
    }
}

static void put_array(typing *t, const gbx_shape *s, gbx_sensitive_place place)
{
    unsigned all = s->element != NULL ? s->element->kinds : 0;
    unsigned kinds =
        (all & GBX_SHAPE_NUMBER) != 0 ? all & ~(unsigned)GBX_SHAPE_INTEGER : all;
    bool is_union = (kinds & (kinds - 1)) != 0;

    if (s->element == NULL) {
        (void)gbx_buf_puts(t->to, s->elements == 0 ? "[]" : "array");
        return;
    }
    place = gbx_shape_beside(s, s->element, place);
    is_union |= is_choice(s->element, place);
    (void)gbx_buf_puts(t->to, is_union ? "(" : "");
    put_type(t, s->element, place);
    (void)gbx_buf_puts(t->to, is_union ? ")[]" : "[]");
}

/* With what a model would be wrong about: an id of 19 digits is not what it seems. */
static void put_text(typing *t, const gbx_shape *s)
{
    (void)gbx_buf_puts(t->to, "string");
    if (gbx_shape_are_dates(s))
        (void)gbx_buf_puts(t->to, s->foreign_dates == 0
                                      ? " /* ISO date */"
                                      : " /* date that new Date() does not read */");
}

static void put_number(typing *t, const gbx_shape *s)
{
    (void)gbx_buf_puts(t->to, s->kinds & GBX_SHAPE_NUMBER ? "number" : "integer");
    if (s->inexact > 0)
        (void)gbx_buf_puts(t->to, " /* over 2^53: last digits are lost */");
    if (s->infinite > 0)
        (void)gbx_buf_puts(t->to, " /* over 1.8e308: Infinity */");
}

static void put_type(typing *t, const gbx_shape *s, gbx_sensitive_place place)
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

/* ---- examples --------------------------------------------------------------------- */

typedef struct example {
    gbx_buf *to;
    size_t until;
} example;

/* Of the elements of an array, and of those of the arrays in it; or none. */
typedef struct naming {
    gbx_view own;
    gbx_view below;
} naming;

static void put_example(example *e, gbx_view v, gbx_sensitive_place place, int depth);
static void put_elements(example *e, gbx_view array, gbx_sensitive_place place,
                         int depth, naming names);

/* A row of values that have these names; the row of the names themselves has none. */
static void put_row(example *e, gbx_view row, gbx_sensitive_place place, int depth,
                    gbx_view names)
{
    if (names.at != NULL && gbx_view_kind(row) == '[' && row.at != names.at &&
        depth < EXAMPLE_DEPTH)
        put_elements(e, row, place, depth, (naming){.own = names});
    else
        put_example(e, row, place, depth);
}

/* object: which has it, and is `place`; depth: of the value. */
static void put_member(example *e, gbx_view object, gbx_view name, gbx_view value,
                       gbx_sensitive_place place, int depth)
{
    bool is_number = gbx_view_kind(value) == '0';
    gbx_sensitive_place below =
        gbx_sibling_place(object, name, gbx_describe_below(place, name, is_number),
                          is_number);
    gbx_view columns = gbx_sibling_columns(object, name);

    if (columns.at != NULL && gbx_view_kind(value) == '[' && depth < EXAMPLE_DEPTH)
        put_elements(e, value, below, depth, (naming){.below = columns});
    else
        put_example(e, value, below, depth);
}

static void put_members(example *e, gbx_view object, gbx_sensitive_place place,
                        int depth)
{
    size_t cursor = 0, count = 0, left = 0;
    bool has_key = false; /* masked ones are alike: one is enough */
    gbx_view name, value;

    place = gbx_describe_inside(place, object);
    (void)gbx_buf_puts(e->to, "{");
    while (gbx_view_next(object, &cursor, &name, &value)) {
        bool is_key = e->to->len < e->until && gbx_describe_is_sensitive_value(name);

        if (e->to->len >= e->until || (is_key && has_key)) {
            left++;
            continue;
        }
        has_key |= is_key;
        (void)gbx_buf_puts(e->to, count++ == 0 ? "" : ",");
        (void)gbx_describe_name(name, e->to);
        (void)gbx_buf_puts(e->to, ":");
        put_member(e, object, name, value, place, depth + 1);
    }
    if (left > 0)
        (void)gbx_buf_printf(e->to, "%s/* %zu more */", count > 0 ? ", " : "", left);
    (void)gbx_buf_puts(e->to, "}");
}

/* What an element is by the name of its column, or by the first of two. */
static gbx_sensitive_place place_of_element(gbx_view value, gbx_sensitive_place place,
                                            gbx_view name, gbx_sensitive_place inside)
{
    gbx_sensitive_place own;

    if (name.at == NULL || name.at == value.at)
        return place;
    own = gbx_describe_below(inside, name, gbx_view_kind(value) == '0');
    return own > place ? own : place;
}

static void put_elements(example *e, gbx_view array, gbx_sensitive_place place,
                         int depth, naming names)
{
    size_t cursor = 0, named = 0, count = 0, left = 0;
    gbx_view pair = gbx_sibling_pair(array);
    gbx_sensitive_place inside = gbx_describe_inside_row(names.own);
    gbx_view flag = {0};
    gbx_view none, value;

    if (names.below.at == NULL)
        names.below = gbx_sibling_header(array);
    (void)gbx_buf_puts(e->to, "[");
    while (gbx_view_next(array, &cursor, &none, &value)) {
        gbx_view name = gbx_sibling_next(names.own, &named);
        gbx_sensitive_place own = place_of_element(value, place, name, inside);

        own = place_of_element(value, own, pair, GBX_SENSITIVE_NOTHING);
        own = place_of_element(value, own, flag, GBX_SENSITIVE_NOTHING);
        flag = gbx_sibling_flag(value);
        if (count == EXAMPLE_ELEMENTS || e->to->len >= e->until) {
            left++;
            continue;
        }
        (void)gbx_buf_puts(e->to, count++ == 0 ? "" : ",");
        put_row(e, value, own, depth + 1, names.below);
    }
    if (left > 0)
        (void)gbx_buf_printf(e->to, "%s/* %zu more */", count > 0 ? ", " : "", left);
    (void)gbx_buf_puts(e->to, "]");
}

static void put_example(example *e, gbx_view v, gbx_sensitive_place place, int depth)
{
    char kind = gbx_view_kind(v);

    if ((kind == '{' || kind == '[') && depth == EXAMPLE_DEPTH)
        (void)gbx_buf_puts(e->to, kind == '{' ? "{ /* ... */ }" : "[ /* ... */ ]");
    else if (kind == '{')
        put_members(e, v, place, depth);
    else if (kind == '[')
        put_elements(e, v, place, depth, (naming){0});
    else if (kind == '"')
        (void)gbx_describe_string(v, EXAMPLE_CHARS, gbx_describe_hides_text(place),
                                  e->to);
    else if (kind == '0' &&
             (place == GBX_SENSITIVE_ALL || gbx_describe_is_sensitive_value(v)))
        (void)gbx_describe_masked_number((gbx_view){v.at, v.len < 24 ? v.len : 24},
                                         e->to);
    else if (kind == '0')
        (void)gbx_number_put_seen(e->to, gbx_number_read(v.at, v.len));
    else
        (void)gbx_buf_append(e->to, v.at, v.len);
}

static void put_line(gbx_view v, gbx_view names, const char *indent, size_t room,
                     gbx_buf *to)
{
    example e = {.to = to};

    (void)gbx_buf_puts(to, indent);
    e.until = to->len + room;
    put_row(&e, v, GBX_SENSITIVE_NOTHING, 0, names);
    (void)gbx_buf_puts(to, "\n");
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_describe_type(const gbx_shape *shape, size_t room, gbx_buf *to)
{
    typing t = {.to = to, .until = to->len + room};

    put_type(&t, shape, GBX_SENSITIVE_NOTHING);
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

bool gbx_describe_size(const gbx_shape *shape, gbx_view view, gbx_buf *to)
{
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
        if (shape->is_map)
            return gbx_buf_puts(to, "one object, used as a map");
        if (shape->keyed == NULL || shape->field_count > 0)
            (void)gbx_buf_printf(to, "one object of %zu field%s", shape->field_count,
                                 shape->field_count == 1 ? "" : "s");
        if (shape->keyed == NULL)
            return !to->failed;
        (void)gbx_buf_puts(to,
                           shape->field_count > 0 ? " and " : "one object, a map of ");
        (void)gbx_number_put_count(to, shape->keyed->count);
        return gbx_buf_puts(to, shape->keyed->count == 1 ? " key" : " keys");
    default: return gbx_buf_puts(to, "one value");
    }
}

bool gbx_describe_examples(gbx_view view, const char *indent, size_t room, gbx_buf *to)
{
    size_t cursor = 0;
    gbx_view names = gbx_sibling_header(view);
    gbx_view name, value;

    if (gbx_view_kind(view) != '[') {
        put_line(view, (gbx_view){0}, indent, room, to);
        return !to->failed;
    }
    for (int n = 0; n < EXAMPLES && gbx_view_next(view, &cursor, &name, &value); n++)
        put_line(value, names, indent, room / EXAMPLES, to);
    return !to->failed;
}
