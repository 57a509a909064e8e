/* SPDX-License-Identifier: MIT */
/*
 * types_of - what a schema says by each of its keywords, joined by &. Text is bounded by the
 * ceiling in the buffer of each declaration, everything else by types_writer.h.
 */
#include "mcp/code/types_writer.h"

#include "base/cleanup.h"

#include <string.h>

#define NODES_MAX     400
#define LEVELS_MAX    40
#define SEEN_MAX      GBX_MIB(8)
#define REFERENCE_MAX 60

static bool is_text(gbx_view view, const char *text)
{
    size_t len = strlen(text);

    return gbx_view_kind(view) == '"' && view.len == len + 2 &&
           memcmp(view.at + 1, text, len) == 0;
}

static bool has(gbx_view schema, const char *keyword)
{
    return gbx_view_member(schema, keyword).at != NULL;
}

/* ---- what it says itself --------------------------------------------------------- */

static gbx_types_kind write_named(gbx_types_writer *w, gbx_view type, gbx_view schema)
{
    if (is_text(type, "array"))
        return gbx_types_write_array(w, schema);
    if (is_text(type, "object"))
        return gbx_types_write_object(w, schema);
    if (is_text(type, "string"))
        gbx_types_put(w, "string");
    else if (is_text(type, "number") || is_text(type, "integer"))
        gbx_types_put(w, "number");
    else if (is_text(type, "boolean"))
        gbx_types_put(w, "boolean");
    else if (is_text(type, "null"))
        gbx_types_put(w, "null");
    else {
        gbx_types_put(w, "unknown");
        return GBX_TYPES_NOTHING;
    }
    return GBX_TYPES_ONE;
}

static gbx_types_kind write_kinds(gbx_types_writer *w, gbx_view type, gbx_view schema)
{
    gbx_types_join join = {.between = " | "};
    size_t cursor = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    while (count++ < 7 && gbx_view_next(type, &cursor, &name, &value)) {
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, write_named(w, value, schema));
    }
    return gbx_types_join_end(w, &join);
}

static gbx_types_kind write_plain(gbx_types_writer *w, gbx_view schema)
{
    gbx_view type = gbx_view_member(schema, "type");

    if (gbx_view_kind(type) == '[')
        return write_kinds(w, type, schema);
    if (type.at != NULL)
        return write_named(w, type, schema);
    if (has(schema, "properties") || has(schema, "additionalProperties") ||
        has(schema, "patternProperties") || gbx_types_requires_any(schema))
        return gbx_types_write_object(w, schema);
    if (has(schema, "items") || has(schema, "prefixItems"))
        return gbx_types_write_array(w, schema);
    gbx_types_put(w, "unknown");
    return GBX_TYPES_NOTHING;
}

/* Does it say more than of what kind it is? The schemas that it is made of say that. */
static bool is_more(gbx_view schema)
{
    gbx_view others = gbx_view_member(schema, "additionalProperties");

    return gbx_view_member(schema, "properties").len > 2 || has(schema, "items") ||
           has(schema, "prefixItems") || has(schema, "patternProperties") ||
           gbx_view_kind(others) == '{' || gbx_view_is_true(others) ||
           gbx_types_requires_any(schema);
}

/* ---- references ------------------------------------------------------------------ */

static gbx_types_kind write_reference(gbx_types_writer *w, gbx_view ref)
{
    gbx_view target = gbx_types_follow(w->root, ref);
    gbx_types_kind kind;

    w->seen += w->root.len;
    for (unsigned i = 0; i < w->open_count; i++)
        if (w->open[i] == target.at) {
            gbx_types_put(w, "unknown /* as ");
            gbx_types_comment(w->to, ref, REFERENCE_MAX);
            gbx_types_put(w, " */");
            return GBX_TYPES_OPEN;
        }
    if (w->open_count == GBX_TYPES_OPEN_MAX) {
        gbx_types_put(w, GBX_TYPES_CUT);
        return GBX_TYPES_OPEN;
    }
    w->open[w->open_count++] = target.at;
    kind = gbx_types_write(w, target);
    w->open_count--;
    return kind;
}

/* ---- what holds if something else does ---------------------------------------------- */

/* `if` and `then`, or `else`: none refuses what another allows. */
static void add_condition(gbx_types_writer *w, gbx_types_join *join, gbx_view schema)
{
    gbx_types_join both = {.between = " & "};
    size_t before = w->to->len;
    gbx_types_kind kind;

    if (!has(schema, "if") || join->count + 2 > GBX_TYPES_CHOICES_MAX)
        return;
    gbx_types_join_begin(w, join);
    gbx_types_join_begin(w, &both);
    gbx_types_join_add(w, &both, gbx_types_write(w, gbx_view_member(schema, "if")));
    gbx_types_join_begin(w, &both);
    kind = gbx_types_write(w, gbx_view_member(schema, "then"));
    gbx_types_join_add(w, &both, kind);
    if (kind == GBX_TYPES_NOTHING)
        w->to->len = before;
    else
        gbx_types_join_add(w, join, gbx_types_join_end(w, &both));
    before = w->to->len;
    gbx_types_join_begin(w, join);
    kind = gbx_types_write(w, gbx_view_member(schema, "else"));
    if (kind == GBX_TYPES_NOTHING)
        w->to->len = before;
    else
        gbx_types_join_add(w, join, kind);
}

/* What a member asks for if it is given. */
static void add_dependents(gbx_types_writer *w, gbx_types_join *join, gbx_view members)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_kind(members) == '{' && join->count < GBX_TYPES_CHOICES_MAX &&
           gbx_view_next(members, &cursor, &name, &value)) {
        size_t before = w->to->len;
        gbx_types_kind kind;

        gbx_types_join_begin(w, join);
        gbx_types_put(w, "{ ");
        (void)gbx_types_put_name(w->to, name);
        gbx_types_put(w, ": unknown } & ");
        kind = gbx_types_write(w, value);
        if (kind == GBX_TYPES_ONE)
            gbx_types_join_add(w, join, kind);
        else
            w->to->len = before;
    }
}

/* Those of the schema and of its allOf, as one choice that all objects are in. */
static gbx_types_kind write_conditions(gbx_types_writer *w, gbx_view schema)
{
    gbx_types_join join = {.between = " | "};
    gbx_view list = gbx_view_member(schema, "allOf");
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    add_condition(w, &join, schema);
    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value))
        add_condition(w, &join, value);
    add_dependents(w, &join, gbx_view_member(schema, "dependentSchemas"));
    add_dependents(w, &join, gbx_view_member(schema, "dependencies"));
    if (join.count > 0) {
        gbx_types_join_begin(w, &join);
        gbx_types_put(w, "{}");
        gbx_types_join_add(w, &join, GBX_TYPES_ONE);
    }
    return gbx_types_join_end(w, &join);
}

/* ---- all of it --------------------------------------------------------------------- */

static gbx_types_kind write_type(gbx_types_writer *w, gbx_view schema, bool has_if);

static void add_all(gbx_types_writer *w, gbx_types_join *join, gbx_view list,
                    bool has_if)
{
    size_t cursor = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value)) {
        gbx_types_join_begin(w, join);
        if (count++ == GBX_TYPES_CHOICES_MAX) {
            gbx_types_put(w, GBX_TYPES_CUT);
            gbx_types_join_add(w, join, GBX_TYPES_OPEN);
            return;
        }
        gbx_types_join_add(w, join, write_type(w, value, has_if));
    }
}

/* Of a scalar it says the kind only if the schemas that it is made of leave that open. */
static gbx_types_kind write_parts(gbx_types_writer *w, gbx_view schema, bool has_if)
{
    static const char *const choices[] = {"oneOf", "anyOf"};
    gbx_types_join join = {.between = " & "};
    gbx_view ref = gbx_view_member(schema, "$ref");
    bool is_first = is_more(schema);

    if (is_first) {
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, write_plain(w, schema));
    }
    if (gbx_view_kind(ref) == '"') {
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, write_reference(w, ref));
    }
    /* The conditions in its parts are told once for all of them. */
    has_if = has_if && (is_text(gbx_view_member(schema, "type"), "object") ||
                        has(schema, "properties"));
    add_all(w, &join, gbx_view_member(schema, "allOf"), !has_if);
    for (size_t i = 0; i < GBX_COUNTOF(choices); i++) {
        gbx_view list = gbx_view_member(schema, choices[i]);

        if (gbx_view_kind(list) != '[')
            continue;
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, gbx_types_write_choices(w, list));
    }
    if (has_if) {
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, write_conditions(w, schema));
    }
    if (!is_first && (join.count == 0 || join.is_open)) {
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, write_plain(w, schema));
    }
    return gbx_types_join_end(w, &join);
}

static gbx_types_kind write_schema(gbx_types_writer *w, gbx_view schema, bool has_if)
{
    gbx_view values = gbx_view_member(schema, "enum");
    gbx_view constant = gbx_view_member(schema, "const");

    if (gbx_view_kind(values) == '[')
        return gbx_types_write_values(w, values);
    if (constant.at != NULL)
        return gbx_types_write_constant(w, constant);
    return write_parts(w, schema, has_if);
}

/* has_if: its conditions are told here, and not by what it is a part of. */
static gbx_types_kind write_type(gbx_types_writer *w, gbx_view schema, bool has_if)
{
    gbx_types_kind kind;

    if (gbx_view_kind(schema) == 'f') {
        gbx_types_put(w, "never");
        return GBX_TYPES_ONE;
    }
    if (gbx_view_kind(schema) != '{') {
        gbx_types_put(w, "unknown");
        return GBX_TYPES_NOTHING;
    }
    w->seen += schema.len;
    if (w->levels >= LEVELS_MAX || w->nodes++ >= NODES_MAX || w->seen > SEEN_MAX) {
        gbx_types_put(w, GBX_TYPES_CUT);
        return GBX_TYPES_OPEN;
    }
    w->levels++;
    kind = write_schema(w, schema, has_if);
    w->levels--;
    if (kind == GBX_TYPES_NOTHING ||
        !gbx_view_is_true(gbx_view_member(schema, "nullable")))
        return kind;
    gbx_types_put(w, " | null");
    return kind == GBX_TYPES_OPEN ? GBX_TYPES_OPEN : GBX_TYPES_CHOICE;
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_types_put(gbx_types_writer *w, const char *text)
{
    (void)gbx_buf_puts(w->to, text);
}

gbx_types_kind gbx_types_write(gbx_types_writer *w, gbx_view schema)
{
    return write_type(w, schema, true);
}

gbx_types_kind gbx_types_write_choices(gbx_types_writer *w, gbx_view list)
{
    gbx_types_join join = {.between = " | "};
    size_t cursor = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(list, &cursor, &name, &value)) {
        gbx_types_join_begin(w, &join);
        if (count++ == GBX_TYPES_CHOICES_MAX) {
            gbx_types_put(w, GBX_TYPES_CUT);
            gbx_types_join_add(w, &join, GBX_TYPES_OPEN);
            break;
        }
        gbx_types_join_add(w, &join, gbx_types_write(w, value));
    }
    return gbx_types_join_end(w, &join);
}

void gbx_types_of(gbx_buf *to, gbx_view schema, const gbx_types_form *form)
{
    gbx_types_writer w = {.to = to,
                          .root = schema,
                          .form = form,
                          .indent = form->indent};

    w.open[w.open_count++] = schema.at;
    (void)gbx_types_write(&w, schema);
}
