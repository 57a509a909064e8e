/* SPDX-License-Identifier: MIT */
/* types_literal - values of an enum, and notes on a parameter. Values left out of a
 * list remain in the type as their kind; otherwise valid arguments would be refused. */
#include "mcp/code/types_writer.h"

#include "base/cleanup.h"

#include <string.h>

#define LITERAL_MAX 60
#define NUMBER_MAX  15
#define VALUE_MEAN  16 /* mean bytes of a value in a list of any number */
#define DEFAULT_MAX 40
#define FORMAT_MAX  24

/* The kinds of the values that were left out. */
static const struct {
    char kind;
    const char *type;
} kinds[] = {{'"', "string"},        {'0', "number"},
             {'t', "boolean"},       {'f', "boolean"},
             {'n', "null"},          {'{', "{ [key: string]: unknown }"},
             {'[', "Array<unknown>"}};

/* JSON strings and short numbers are valid TypeScript. */
static bool write_literal(gbx_buf *to, gbx_view value)
{
    char kind = gbx_view_kind(value);

    if ((kind == '"' && value.len > LITERAL_MAX) ||
        (kind == '0' && value.len > NUMBER_MAX) || kind == '{' || kind == '[' ||
        kind == 0)
        return false;
    /* 1e999 is not a number in TypeScript. */
    if (kind == '0' && (memchr(value.at, 'e', value.len) != NULL ||
                        memchr(value.at, 'E', value.len) != NULL))
        return false;
    return kind == '"' ? gbx_types_string(to, value)
                       : gbx_buf_append(to, value.at, value.len);
}

static unsigned kind_bit(gbx_view value)
{
    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++)
        if (gbx_view_kind(value) == kinds[i].kind)
            return 1U << i;
    return 0;
}

static unsigned write_kinds(gbx_types_writer *w, unsigned left_out, unsigned count)
{
    for (size_t i = 0; i < GBX_COUNTOF(kinds); i++) {
        /* true and false share the kind boolean. */
        bool is_again =
            kinds[i].kind == 'f' && i > 0 && (left_out & 1U << (i - 1)) != 0;

        if ((left_out & 1U << i) == 0 || is_again)
            continue;
        gbx_types_put(w, count++ > 0 ? " | " : "");
        gbx_types_put(w, kinds[i].type);
    }
    return count;
}

/* ---- notes ------------------------------------------------------------------- */

static bool is_short_number(gbx_view view)
{
    return gbx_view_kind(view) == '0' && view.len <= NUMBER_MAX;
}

static void put_fact(gbx_types_writer *w, bool *has_fact, const char *text)
{
    gbx_types_put(w, *has_fact ? ", " : "");
    gbx_types_put(w, text);
    *has_fact = true;
}

static void write_bound(gbx_types_writer *w, gbx_view schema, const char *keyword,
                        const char *sign, bool *has_fact)
{
    gbx_view value = gbx_view_member(schema, keyword);

    if (!is_short_number(value))
        return;
    put_fact(w, has_fact, sign);
    (void)gbx_buf_append(w->to, value.at, value.len);
}

static void write_range(gbx_types_writer *w, gbx_view schema, bool *has_fact)
{
    gbx_view least = gbx_view_member(schema, "minimum");
    gbx_view most = gbx_view_member(schema, "maximum");

    if (is_short_number(least) && is_short_number(most)) {
        put_fact(w, has_fact, "");
        (void)gbx_buf_append(w->to, least.at, least.len);
        gbx_types_put(w, "..");
        (void)gbx_buf_append(w->to, most.at, most.len);
    } else {
        write_bound(w, schema, "minimum", ">= ", has_fact);
        write_bound(w, schema, "maximum", "<= ", has_fact);
    }
    write_bound(w, schema, "exclusiveMinimum", "> ", has_fact);
    write_bound(w, schema, "exclusiveMaximum", "< ", has_fact);
}

/* A default of null usually means a missing value. */
static void write_default(gbx_types_writer *w, gbx_view schema, bool *has_fact)
{
    gbx_view value = gbx_view_member(schema, "default");
    char kind = gbx_view_kind(value);

    if (value.len > DEFAULT_MAX || kind == 0 || strchr("\"0tf", kind) == NULL)
        return;
    put_fact(w, has_fact, kind == '"' ? "@default \"" : "@default ");
    gbx_types_comment(w->to, value, DEFAULT_MAX);
    gbx_types_put(w, kind == '"' ? "\"" : "");
}

static void write_facts(gbx_types_writer *w, gbx_view schema)
{
    gbx_view format = gbx_view_member(schema, "format");
    bool has_fact = false;

    write_default(w, schema, &has_fact);
    write_range(w, schema, &has_fact);
    if (gbx_view_kind(format) == '"' && format.len > 2 && format.len <= FORMAT_MAX) {
        put_fact(w, &has_fact, "");
        gbx_types_comment(w->to, format, FORMAT_MAX);
    }
}

/* ---- public to other files of this folder --------------------------------- */

gbx_types_kind gbx_types_write_constant(gbx_types_writer *w, gbx_view value)
{
    if (!write_literal(w->to, value))
        (void)write_kinds(w, kind_bit(value), 0);
    return GBX_TYPES_ONE;
}

gbx_types_kind gbx_types_write_values(gbx_types_writer *w, gbx_view list)
{
    size_t start = w->to->len;
    size_t cursor = 0;
    unsigned max = w->form->values_max;
    unsigned left_out = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(list, &cursor, &name, &value)) {
        size_t before = w->to->len;

        if (count >= max && before - start >= (size_t)max * VALUE_MEAN) {
            left_out |= kind_bit(value);
            continue;
        }
        gbx_types_put(w, count > 0 ? " | " : "");
        if (write_literal(w->to, value)) {
            count++;
            continue;
        }
        w->to->len = before;
        left_out |= kind_bit(value);
    }
    count = write_kinds(w, left_out, count);
    if (left_out != 0)
        (void)gbx_buf_printf(w->to, " /* one of %zu: see tools() */",
                             gbx_view_count(list));
    if (count == 0)
        gbx_types_put(w, "never");
    return count > 1 ? GBX_TYPES_CHOICE : GBX_TYPES_ONE;
}

void gbx_types_write_note(gbx_types_writer *w, gbx_view schema)
{
    gbx_view text = gbx_view_member(schema, "description");
    size_t before = w->to->len;
    size_t start;

    gbx_types_put(w, "/** ");
    start = w->to->len;
    if (gbx_view_kind(text) == '"' && text.len > 2)
        gbx_types_comment(w->to, text, w->form->describe_max);
    if (w->to->len > start) {
        size_t described;

        gbx_types_put(w, " ");
        described = w->to->len;
        write_facts(w, schema);
        if (w->to->len == described)
            w->to->len--;
    } else {
        write_facts(w, schema);
    }
    if (w->to->len == start)
        w->to->len = before;
    else
        gbx_types_put(w, " */ ");
}
