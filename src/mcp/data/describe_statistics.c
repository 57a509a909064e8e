/* SPDX-License-Identifier: MIT */
/* describe_statistics - counts of each field, and statistics of shown values. */
#include "base/cleanup.h"
#include "base/json.h"
#include "mcp/data/dataset_description.h"
#include "mcp/data/datasets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_MAX     (GBX_SHAPE_COLUMNS_MAX + 1) /* columns, and the table itself */
#define ROOM           (GBX_MIB(3) / 2) /* bytes; beyond it no new field is begun */
#define PATH_MAX_BYTES 512
#define VALUE_CHARS    64

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

/* ---- public to other modules -------------------------------------------- */

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
