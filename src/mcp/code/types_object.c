/* SPDX-License-Identifier: MIT */
/* types_object - objects and arrays. What a schema allows besides the members that it names
 * must not refuse these: an index signature holds for all of them. */
#include "mcp/code/types_writer.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

#define MEMBERS_MAX 64
#define REST_MAX    200 /* bytes of the type of other members, to be compared or shown */

/* Names that were written already. */
struct written {
    uint64_t hashes[2 * MEMBERS_MAX];
    unsigned count;
};

/* What other members may be. */
struct rest {
    gbx_buf text;  /* their type; empty: none is told */
    bool is_any;   /* some may be anything */
    bool fits_all; /* no member has another type: a signature for all refuses none */
};

/* False: it is among them. */
static bool add_new(struct written *names, gbx_view name)
{
    uint64_t hash = gbx_types_hash(name);

    for (unsigned i = 0; i < names->count; i++)
        if (names->hashes[i] == hash)
            return false;
    names->hashes[names->count++] = hash;
    return true;
}

static bool is_listed(gbx_view list, gbx_view wanted)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value))
        if (value.len == wanted.len && memcmp(value.at, wanted.at, value.len) == 0)
            return true;
    return false;
}

static void begin_line(gbx_types_writer *w)
{
    gbx_types_put(w, "\n");
    for (unsigned i = 0; i < w->indent; i++)
        gbx_types_put(w, "  ");
}

/* ---- other members ------------------------------------------------------------- */

static void find_rest(gbx_types_writer *w, gbx_view schema, struct rest *rest)
{
    gbx_view others = gbx_view_member(schema, "additionalProperties");
    gbx_view fitting = gbx_view_member(schema, "patternProperties");
    bool has_fitting = gbx_view_kind(fitting) == '{' && fitting.len > 2;
    gbx_types_join join = {.between = " | "};
    gbx_buf *to = w->to;

    gbx_buf_init(&rest->text, to->ceiling);
    rest->fits_all = true;
    rest->is_any = gbx_view_is_true(others) || (has_fitting && others.at == NULL);
    w->to = &rest->text;
    if (has_fitting) {
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, gbx_types_write_choices(w, fitting));
    }
    if (gbx_view_kind(others) == '{') {
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, gbx_types_write(w, others));
    }
    if (join.count > 0)
        (void)gbx_types_join_end(w, &join);
    w->to = to;
    if (rest->text.failed)
        to->failed = true;
}

static bool is_rest(const struct rest *rest, const char *type, size_t len)
{
    return len == rest->text.len && memcmp(rest->text.data, type, len) == 0;
}

/* As a comment of one line has it. */
static bool is_brief(const gbx_buf *text)
{
    return text->len <= REST_MAX && memchr(text->data, '\n', text->len) == NULL &&
           memchr(text->data, '*', text->len) == NULL;
}

/* The signature that refuses no member, with the type of others told beside it. */
static void write_any(gbx_types_writer *w, const struct rest *rest)
{
    gbx_types_put(w, "[key: string]: unknown");
    if (rest->text.len == 0 || is_rest(rest, "unknown", 7))
        return;
    gbx_types_put(w, " /* others: ");
    if (is_brief(&rest->text))
        (void)gbx_buf_append(w->to, rest->text.data, rest->text.len);
    else
        gbx_types_put(w, "see tools()");
    gbx_types_put(w, " */");
}

/* ---- members --------------------------------------------------------------------- */

static void write_member(gbx_types_writer *w, gbx_view required, gbx_view name,
                         gbx_view schema, struct rest *rest)
{
    size_t start;

    begin_line(w);
    gbx_types_write_note(w, schema);
    (void)gbx_types_put_name(w->to, name);
    gbx_types_put(w, is_listed(required, name) ? ": " : "?: ");
    w->seen += required.len;
    start = w->to->len;
    (void)gbx_types_write(w, schema);
    if (!w->to->failed &&
        !is_rest(rest, (const char *)w->to->data + start, w->to->len - start))
        rest->fits_all = false;
    gbx_types_put(w, ";");
}

/* The names in braces, and what holds for others where that goes with them. */
static void write_members(gbx_types_writer *w, gbx_view schema, struct written *names,
                          struct rest *rest)
{
    gbx_view members = gbx_view_member(schema, "properties");
    gbx_view required = gbx_view_member(schema, "required");
    size_t cursor = 0;
    bool has_more = false;
    gbx_view name;
    gbx_view value;

    if (gbx_view_kind(members) != '{')
        return;
    w->indent++;
    while (gbx_view_next(members, &cursor, &name, &value)) {
        has_more = names->count == MEMBERS_MAX;
        if (has_more)
            break;
        if (!add_new(names, name))
            continue;
        gbx_types_put(w, names->count == 1 ? "{" : "");
        write_member(w, required, name, value, rest);
    }
    if (has_more) {
        begin_line(w);
        gbx_types_put(w, "/* and more */");
    }
    if (names->count > 0 && (rest->is_any || (rest->text.len > 0 && !rest->fits_all))) {
        begin_line(w);
        write_any(w, rest);
        gbx_types_put(w, ";");
        rest->text.len = 0;
        rest->is_any = false;
    }
    w->indent--;
    if (names->count > 0) {
        begin_line(w);
        gbx_types_put(w, "}");
    }
}

/* What must be given and was not written: that is all that is known of it. */
static void write_unlisted(gbx_types_writer *w, gbx_view list, struct written *names)
{
    unsigned before = names->count;
    unsigned count = 0;
    size_t cursor = 0;
    gbx_view none;
    gbx_view name;

    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &none, &name)) {
        if (gbx_view_kind(name) != '"' || !add_new(names, name))
            continue;
        gbx_types_put(w, count > 0 ? "; " : before > 0 ? " & { " : "{ ");
        if (count++ == MEMBERS_MAX - 1) {
            gbx_types_put(w, "/* and more */");
            break;
        }
        (void)gbx_types_put_name(w->to, name);
        gbx_types_put(w, ": unknown");
    }
    gbx_types_put(w, count > 0 ? " }" : "");
}

static void write_rest(gbx_types_writer *w, const struct rest *rest, bool is_first)
{
    gbx_types_put(w, is_first ? "{ " : " & { ");
    if (rest->is_any) {
        write_any(w, rest);
    } else {
        gbx_types_put(w, "[key: string]: ");
        (void)gbx_buf_append(w->to, rest->text.data, rest->text.len);
    }
    gbx_types_put(w, " }");
}

/* ---- arrays ---------------------------------------------------------------------- */

/* Is it this number? */
static bool is_count(gbx_view view, unsigned count)
{
    char text[12];
    int len = snprintf(text, sizeof text, "%u", count);

    return view.len == (size_t)len && memcmp(view.at, text, view.len) == 0;
}

static void write_tuple(gbx_types_writer *w, gbx_view schema, gbx_view first,
                        gbx_view others)
{
    size_t cursor = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    gbx_types_put(w, "[");
    while (count < GBX_TYPES_CHOICES_MAX &&
           gbx_view_next(first, &cursor, &name, &value)) {
        gbx_types_put(w, count++ > 0 ? ", " : "");
        (void)gbx_types_write(w, value);
    }
    if (gbx_view_next(first, &cursor, &name, &value))
        others = (gbx_view){NULL, 0};
    else if (is_count(gbx_view_member(schema, "maxItems"), count))
        others = (gbx_view){"false", 5};
    if (gbx_view_kind(others) != 'f') {
        gbx_types_put(w, count > 0 ? ", ...Array<" : "...Array<");
        (void)gbx_types_write(w, others);
        gbx_types_put(w, ">");
    }
    gbx_types_put(w, "]");
}

/* ---- public to other files of this folder --------------------------------- */

gbx_types_kind gbx_types_write_object(gbx_types_writer *w, gbx_view schema)
{
    gbx_view required = gbx_view_member(schema, "required");
    struct written names = {.count = 0};
    struct rest rest = {.is_any = false};

    if (w->nested >= w->form->nested_max) {
        gbx_types_put(w, GBX_TYPES_CUT);
        return GBX_TYPES_OPEN;
    }
    w->nested++;
    find_rest(w, schema, &rest);
    write_members(w, schema, &names, &rest);
    write_unlisted(w, required, &names);
    if (rest.is_any || rest.text.len > 0)
        write_rest(w, &rest, names.count == 0);
    else if (names.count == 0)
        gbx_types_put(w, gbx_view_kind(
                             gbx_view_member(schema, "additionalProperties")) == 'f'
                             ? "{}"
                             : "{ [key: string]: unknown }");
    w->nested--;
    gbx_buf_cleanup(&rest.text);
    return GBX_TYPES_ONE;
}

gbx_types_kind gbx_types_write_array(gbx_types_writer *w, gbx_view schema)
{
    gbx_view first = gbx_view_member(schema, "prefixItems");
    gbx_view items = gbx_view_member(schema, "items");

    if (w->nested >= w->form->nested_max) {
        gbx_types_put(w, GBX_TYPES_CUT);
        return GBX_TYPES_OPEN;
    }
    w->nested++;
    if (gbx_view_kind(first) == '[') {
        write_tuple(w, schema, first, items);
    } else if (gbx_view_kind(items) == '[') {
        write_tuple(w, schema, items, gbx_view_member(schema, "additionalItems"));
    } else {
        gbx_types_put(w, "Array<");
        (void)gbx_types_write(w, items);
        gbx_types_put(w, ">");
    }
    w->nested--;
    return GBX_TYPES_ONE;
}
