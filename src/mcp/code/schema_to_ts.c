/* SPDX-License-Identifier: MIT */
/*
 * schema_to_ts - the TypeScript type of a JSON Schema: that of each of its keywords, joined
 * by &. The buffer of each declaration bounds the text; types_writer.h bounds everything
 * else.
 */
#include "mcp/code/types_writer.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

#define NODES_MAX     400
#define LEVELS_MAX    40
#define SEEN_MAX      GBX_MIB(8)
#define REFERENCE_MAX 60
#define MEMBERS_MAX   64
#define REST_MAX      200 /* bytes of the type of other members, to compare or show */
#define COMPOSED_MAX  4   /* of nested schemas */

/* ---- does a schema require any member? -------------------------------------- */

/* The work is bounded like that of writing its type. */

/* Does its list of required members have any entry? */
static bool requires_any(gbx_view schema)
{
    gbx_view list = gbx_view_member(schema, "required");
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    return gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value);
}

struct asking {
    gbx_view root;
    unsigned nodes;
    size_t seen;
};

static bool is_all_optional(struct asking *a, gbx_view schema, unsigned depth);

/* Of the schemas listed under the keyword: is one optional, or are all? */
static bool lists_optional(struct asking *a, gbx_view schema, const char *keyword,
                           bool all, unsigned depth)
{
    gbx_view list = gbx_view_member(schema, keyword);
    size_t cursor = 0;
    size_t count = 0;
    size_t optional = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value)) {
        count++;
        optional += is_all_optional(a, value, depth + 1);
    }
    return count == 0 || (all ? optional == count : optional > 0);
}

static bool is_all_optional(struct asking *a, gbx_view schema, unsigned depth)
{
    gbx_view ref;

    a->seen += schema.len;
    if (depth > COMPOSED_MAX || a->nodes++ >= NODES_MAX)
        return true;
    if (requires_any(schema))
        return false;
    if (a->seen > SEEN_MAX)
        return true;
    ref = gbx_view_member(schema, "$ref");
    if (gbx_view_kind(ref) == '"') {
        a->seen += a->root.len;
        if (!is_all_optional(a, gbx_types_follow(a->root, ref), depth + 1))
            return false;
    }
    return lists_optional(a, schema, "allOf", true, depth) &&
           lists_optional(a, schema, "anyOf", false, depth) &&
           lists_optional(a, schema, "oneOf", false, depth);
}

bool gbx_types_all_optional(gbx_view schema)
{
    struct asking a = {.root = schema};

    return is_all_optional(&a, schema, 0);
}

/* ---- objects and arrays ----------------------------------------------------- */

/* Write the type of any schema. */
static gbx_types_kind write_part(gbx_types_writer *w, gbx_view schema);

/* Write the schemas of a list or the members of an object, joined by |. */
static gbx_types_kind write_choices(gbx_types_writer *w, gbx_view list)
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
        gbx_types_join_add(w, &join, write_part(w, value));
    }
    return gbx_types_join_end(w, &join);
}

/* The type for additional members must not exclude the named ones,
 * since an index signature applies to all members. */

/* Names that were already written. */
struct written {
    uint64_t hashes[2 * MEMBERS_MAX];
    unsigned count;
};

/* The type of additional members. */
struct rest {
    gbx_buf text;  /* their type; empty: unspecified */
    bool is_any;   /* some may have any type */
    bool fits_all; /* no member has another type: one signature fits all */
};

/* False: the name was already in the set. */
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
        gbx_types_join_add(w, &join, write_choices(w, fitting));
    }
    if (gbx_view_kind(others) == '{') {
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, write_part(w, others));
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

/* Does it fit in a one-line comment? */
static bool is_brief(const gbx_buf *text)
{
    return text->len <= REST_MAX && memchr(text->data, '\n', text->len) == NULL &&
           memchr(text->data, '*', text->len) == NULL;
}

/* Write the signature that admits every member, with the type of the others in a
 * comment. */
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
    (void)write_part(w, schema);
    if (!w->to->failed &&
        !is_rest(rest, (const char *)w->to->data + start, w->to->len - start))
        rest->fits_all = false;
    gbx_types_put(w, ";");
}

/* The named members in braces, with the signature for others if it fits them. */
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

/* Required members that were not written: nothing else is known of them. */
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
        (void)write_part(w, value);
    }
    if (gbx_view_next(first, &cursor, &name, &value))
        others = (gbx_view){NULL, 0};
    else if (is_count(gbx_view_member(schema, "maxItems"), count))
        others = (gbx_view){"false", 5};
    if (gbx_view_kind(others) != 'f') {
        gbx_types_put(w, count > 0 ? ", ...Array<" : "...Array<");
        (void)write_part(w, others);
        gbx_types_put(w, ">");
    }
    gbx_types_put(w, "]");
}

static gbx_types_kind write_object(gbx_types_writer *w, gbx_view schema)
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

static gbx_types_kind write_array(gbx_types_writer *w, gbx_view schema)
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
        (void)write_part(w, items);
        gbx_types_put(w, ">");
    }
    w->nested--;
    return GBX_TYPES_ONE;
}

/* ---- the type --------------------------------------------------------------- */

static bool has(gbx_view schema, const char *keyword)
{
    return gbx_view_member(schema, keyword).at != NULL;
}

/* ---- what it says itself --------------------------------------------------------- */

static gbx_types_kind write_named(gbx_types_writer *w, gbx_view type, gbx_view schema)
{
    if (gbx_view_is_text(type, "array"))
        return write_array(w, schema);
    if (gbx_view_is_text(type, "object"))
        return write_object(w, schema);
    if (gbx_view_is_text(type, "string"))
        gbx_types_put(w, "string");
    else if (gbx_view_is_text(type, "number") || gbx_view_is_text(type, "integer"))
        gbx_types_put(w, "number");
    else if (gbx_view_is_text(type, "boolean"))
        gbx_types_put(w, "boolean");
    else if (gbx_view_is_text(type, "null"))
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
        has(schema, "patternProperties") || requires_any(schema))
        return write_object(w, schema);
    if (has(schema, "items") || has(schema, "prefixItems"))
        return write_array(w, schema);
    gbx_types_put(w, "unknown");
    return GBX_TYPES_NOTHING;
}

/* Does it say more than its kind? Otherwise the schemas that it is composed of say
 * it. */
static bool is_more(gbx_view schema)
{
    gbx_view others = gbx_view_member(schema, "additionalProperties");

    return gbx_view_member(schema, "properties").len > 2 || has(schema, "items") ||
           has(schema, "prefixItems") || has(schema, "patternProperties") ||
           gbx_view_kind(others) == '{' || gbx_view_is_true(others) ||
           requires_any(schema);
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
    kind = write_part(w, target);
    w->open_count--;
    return kind;
}

/* ---- what holds if something else does ------------------------------------------- */

/* `if` with `then`, or `else`: neither branch may exclude what the other allows. */
static void add_condition(gbx_types_writer *w, gbx_types_join *join, gbx_view schema)
{
    gbx_types_join both = {.between = " & "};
    size_t before = w->to->len;
    gbx_types_kind kind;

    if (!has(schema, "if") || join->count + 2 > GBX_TYPES_CHOICES_MAX)
        return;
    gbx_types_join_begin(w, join);
    gbx_types_join_begin(w, &both);
    gbx_types_join_add(w, &both, write_part(w, gbx_view_member(schema, "if")));
    gbx_types_join_begin(w, &both);
    kind = write_part(w, gbx_view_member(schema, "then"));
    gbx_types_join_add(w, &both, kind);
    if (kind == GBX_TYPES_NOTHING)
        w->to->len = before;
    else
        gbx_types_join_add(w, join, gbx_types_join_end(w, &both));
    before = w->to->len;
    gbx_types_join_begin(w, join);
    kind = write_part(w, gbx_view_member(schema, "else"));
    if (kind == GBX_TYPES_NOTHING)
        w->to->len = before;
    else
        gbx_types_join_add(w, join, kind);
}

/* The members that a given member requires. */
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
        kind = write_part(w, value);
        if (kind == GBX_TYPES_ONE)
            gbx_types_join_add(w, join, kind);
        else
            w->to->len = before;
    }
}

/* The conditions of the schema and of its allOf, as one choice that admits all
 * objects. */
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

/* ---- all of it ------------------------------------------------------------------- */

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

/* For a scalar, write the kind only if its composed schemas leave it open. */
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
    /* Conditions in its parts are written once for all of them. */
    has_if = has_if && (gbx_view_is_text(gbx_view_member(schema, "type"), "object") ||
                        has(schema, "properties"));
    add_all(w, &join, gbx_view_member(schema, "allOf"), !has_if);
    for (size_t i = 0; i < GBX_COUNTOF(choices); i++) {
        gbx_view list = gbx_view_member(schema, choices[i]);

        if (gbx_view_kind(list) != '[')
            continue;
        gbx_types_join_begin(w, &join);
        gbx_types_join_add(w, &join, write_choices(w, list));
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

/* has_if: write its conditions here, not in the type that contains it. */
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

static gbx_types_kind write_part(gbx_types_writer *w, gbx_view schema)
{
    return write_type(w, schema, true);
}

void gbx_types_of(gbx_buf *to, gbx_view schema, const gbx_types_form *form)
{
    gbx_types_writer w = {.to = to,
                          .root = schema,
                          .form = form,
                          .indent = form->indent};

    w.open[w.open_count++] = schema.at;
    (void)write_part(&w, schema);
}
