/* SPDX-License-Identifier: MIT */
/* describe - types, examples and statistics of a dataset. */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

#define FIELDS_MAX     (GBX_SHAPE_COLUMNS_MAX + 1) /* columns, and the table itself */
#define ROOM           (GBX_MIB(3) / 2) /* bytes; beyond it no new field is begun */
#define PATH_MAX_BYTES 512
#define VALUE_CHARS    64

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
    if (s->keyed != NULL) { /* members whose names are data: one name as an example */
        (void)gbx_buf_puts(t->to, s->field_count > 0 ? "; " : "");
        (void)gbx_buf_puts(t->to, "[key: string /* like ");
        (void)gbx_describe_name(s->key, t->to);
        (void)gbx_buf_puts(t->to, " */]: ");
        put_type(t, s->keyed, place);
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
            e->to->len < e->until ? gbx_schema_field_of(s, name) : NULL;

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

/* ---- statistics ------------------------------------------------------------------- */

typedef struct listing {
    gbx_buf *to;
    size_t fields;
} listing;

static void put_kinds(const gbx_schema *s, gbx_buf *to)
{
    static const char *const names[] = {"null",   "boolean", "integer", "number",
                                        "string", "object",  "array"};
    const char *separator = "";

    (void)gbx_buf_puts(to, ",\"kinds\":[");
    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if ((s->kinds & 1u << i) != 0) {
            (void)gbx_buf_printf(to, "%s\"%s\"", separator, names[i]);
            separator = ",";
        }
    (void)gbx_buf_puts(to, "]");
}

/* The fewest digits that are exact to a thousandth of the range; never outside the
 * range. */
static void put_mean(const gbx_schema *s, gbx_buf *to)
{
    static const int digits[] = {6, 9, 12, 17};
    double mean = (double)(s->sum / (long double)s->numbers);
    double near = (s->max / 1000 - s->min / 1000);
    size_t i = 0;

    mean = mean < s->min ? s->min : mean > s->max ? s->max : mean;
    for (; i + 1 < GBX_COUNTOF(digits); i++) {
        char text[40];
        double told;

        (void)snprintf(text, sizeof text, "%.*g", digits[i], mean);
        told = gbx_number_read(text, strlen(text));
        if (told >= s->min && told <= s->max && fabs(told - mean) <= near)
            break;
    }
    (void)gbx_number_put(to, mean, digits[i]);
}

static void put_numbers(const gbx_schema *s, gbx_buf *to)
{
    if (s->numbers == 0)
        return;
    (void)gbx_buf_puts(to, ",\"min\":");
    (void)gbx_number_put(to, s->min, 17);
    (void)gbx_buf_puts(to, ",\"max\":");
    (void)gbx_number_put(to, s->max, 17);
    (void)gbx_buf_puts(to, ",\"mean\":");
    put_mean(s, to);
}

static void put_dates(const gbx_schema *s, gbx_buf *to)
{
    if (!gbx_schema_are_dates(s))
        return;
    (void)gbx_buf_puts(to, ",\"first\":");
    (void)gbx_describe_string(s->first_date.text, VALUE_CHARS, true, to);
    (void)gbx_buf_puts(to, ",\"last\":");
    (void)gbx_describe_string(s->last_date.text, VALUE_CHARS, true, to);
}

static int by_count(const void *a, const void *b)
{
    const gbx_schema_top *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* As code sees it; as in a result, what JSON cannot express is null. */
static void put_scalar(gbx_view v, gbx_buf *to)
{
    double number;

    if (gbx_view_kind(v) != '0') {
        (void)gbx_buf_append(to, v.at, v.len);
        return;
    }
    number = gbx_number_read(v.at, v.len);
    if (isfinite(number))
        (void)gbx_number_put_seen(to, number);
    else
        (void)gbx_buf_puts(to, "null");
}

static void put_tops(const gbx_schema *s, gbx_buf *to)
{
    gbx_schema_top tops[GBX_SHAPE_TOP_MAX];
    const char *separator = "";

    if (s->tops == NULL || s->top_count == 0)
        return;
    memcpy(tops, s->tops, s->top_count * sizeof *tops);
    qsort(tops, s->top_count, sizeof *tops, by_count);
    (void)gbx_buf_puts(to, ",\"top\":[");
    for (size_t i = 0; i < s->top_count; i++) {
        gbx_view v = tops[i].value;

        (void)gbx_buf_printf(to, "%s{\"value\":", separator);
        if (gbx_view_kind(v) == '"')
            (void)gbx_describe_string(v, VALUE_CHARS, true, to);
        else
            put_scalar(v, to);
        (void)gbx_buf_printf(to, ",\"count\":%llu}", (unsigned long long)tops[i].count);
        separator = ",";
    }
    (void)gbx_buf_puts(to, "]");
}

static void put_one(const gbx_schema *s, const gbx_buf *path, uint64_t of,
                    bool is_shown, gbx_buf *to)
{
    (void)gbx_buf_puts(to, "{\"field\":");
    (void)gbx_json_append_safe(to, path->data, path->len);
    put_kinds(s, to);
    (void)gbx_buf_printf(to, ",\"count\":%llu,\"nulls\":%llu",
                         (unsigned long long)s->count, (unsigned long long)s->nulls);
    if (of > s->count)
        (void)gbx_buf_printf(to, ",\"missing\":%llu",
                             (unsigned long long)(of - s->count));
    if (s->distinct > 0)
        (void)gbx_buf_printf(to, ",\"distinct%s\":%zu",
                             s->is_distinct_more ? "AtLeast" : "", s->distinct);
    if (s->inexact > 0)
        (void)gbx_buf_printf(to, ",\"digitsLost\":%llu",
                             (unsigned long long)s->inexact);
    if (s->infinite > 0)
        (void)gbx_buf_printf(to, ",\"infinite\":%llu", (unsigned long long)s->infinite);
    if (s->kinds & GBX_SHAPE_ARRAY)
        (void)gbx_buf_printf(to, ",\"elements\":%llu", (unsigned long long)s->elements);
    if (is_shown) {
        put_numbers(s, to);
        put_dates(s, to);
        put_tops(s, to);
    }
    (void)gbx_buf_puts(to, "}");
}

static void put_all(listing *l, const gbx_schema *s, gbx_buf *path, uint64_t of,
                    const gbx_place *place);

/* The schema that describes many members or elements. */
static void put_below(listing *l, const gbx_schema *s, const char *step, gbx_buf *path,
                      const gbx_place *place)
{
    size_t len = path->len;

    if (s == NULL)
        return;
    (void)gbx_buf_puts(path, step);
    put_all(l, s, path, 0, place);
    path->len = len;
    path->failed = false;
}

static void put_all(listing *l, const gbx_schema *s, gbx_buf *path, uint64_t of,
                    const gbx_place *place)
{
    size_t len = path->len;

    if (l->fields == FIELDS_MAX || l->to->len > ROOM || path->failed)
        return;
    if (len > 0) {
        (void)gbx_buf_puts(l->to, l->fields++ == 0 ? "\n" : ",\n");
        put_one(s, path, of, place->is_shown, l->to);
    }
    for (size_t i = 0; i < s->field_count; i++) {
        const gbx_schema_field *f = &s->fields[i];
        gbx_place below = gbx_place_below(place, f->name);

        (void)gbx_buf_puts(path, len > 0 ? "." : "");
        (void)gbx_describe_name(f->name, path);
        put_all(l, f->shape, path, s->objects, &below);
        path->len = len;
        path->failed = false;
    }
    put_below(l, s->keyed, "[key]", path, place);
    put_below(l, s->member, "[key]", path, place);
    put_below(l, s->element, "[]", path, place);
}

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

bool gbx_describe_statistics(const gbx_schema *shape, const gbx_place *place,
                             gbx_buf *to)
{
    listing l = {.to = to};
    gbx_buf path;

    gbx_buf_init(&path, PATH_MAX_BYTES);
    (void)gbx_buf_puts(to, "[");
    put_all(&l, shape, &path, 0, place);
    gbx_buf_cleanup(&path);
    return gbx_buf_puts(to, "\n]");
}
