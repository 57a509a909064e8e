/* SPDX-License-Identifier: MIT */
/*
 * types_of - recursion is bounded by DEPTH_MAX, work by NODES_MAX, text by the schema's
 * own ceiling in the buffer of each declaration.
 */
#include "mcp/code/types_of.h"

#include "base/cleanup.h"

#include <string.h>

#define SCHEMA_MAX   GBX_KIB(64)
#define DEPTH_MAX    10
#define NODES_MAX    400
#define MEMBERS_MAX  64
#define CHOICES_MAX  24
#define LITERAL_MAX  60
#define DESCRIBE_MAX 100
#define NUMBER_MAX   15
#define COMPOSED_MAX 4 /* of schemas in each other, for what must be given */

struct writer {
    gbx_buf *to;
    gbx_view root;
    unsigned nodes;
    unsigned indent;
    const char *open[DEPTH_MAX]; /* what references led to, from outside in */
    unsigned open_count;
};

static void write_type(struct writer *w, gbx_view schema, unsigned depth);

static void put(struct writer *w, const char *text)
{
    (void)gbx_buf_puts(w->to, text);
}

static bool is_text(gbx_view view, const char *text)
{
    size_t len = strlen(text);

    return gbx_view_kind(view) == '"' && view.len == len + 2 &&
           memcmp(view.at + 1, text, len) == 0;
}

/* ---- literals ---------------------------------------------------------------- */

/* JSON strings and short numbers are TypeScript as they are. */
static bool write_literal(struct writer *w, gbx_view value)
{
    char kind = gbx_view_kind(value);

    if ((kind == '"' && value.len > LITERAL_MAX) ||
        (kind == '0' && value.len > NUMBER_MAX) || kind == '{' || kind == '[' ||
        kind == 0)
        return false;
    /* 1e999 is no number of TypeScript's. */
    if (kind == '0' && (memchr(value.at, 'e', value.len) != NULL ||
                        memchr(value.at, 'E', value.len) != NULL))
        return false;
    if (kind == '"')
        (void)gbx_types_string(w->to, value);
    else
        (void)gbx_buf_append(w->to, value.at, value.len);
    return true;
}

static void write_literals(struct writer *w, gbx_view list)
{
    size_t cursor = 0;
    size_t start = w->to->len;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(list, &cursor, &name, &value)) {
        if (count > 0)
            put(w, " | ");
        if (count++ == CHOICES_MAX || !write_literal(w, value)) {
            /* All that such a value could be. */
            w->to->len = start;
            put(w, gbx_view_kind(value) == '"' ? "string" : "unknown");
            return;
        }
    }
    if (count == 0)
        put(w, "never");
}

/* ---- references ---------------------------------------------------------------- */

static void write_reference(struct writer *w, gbx_view ref, unsigned depth)
{
    gbx_view target = gbx_types_follow(w->root, ref);

    for (unsigned i = 0; i < w->open_count; i++)
        if (w->open[i] == target.at)
            target.at = NULL;
    if (target.at == NULL || w->open_count == DEPTH_MAX) {
        put(w, "unknown");
        return;
    }
    w->open[w->open_count++] = target.at;
    write_type(w, target, depth + 1);
    w->open_count--;
}

/* ---- choices ---------------------------------------------------------------------- */

static void write_list(struct writer *w, gbx_view list, const char *between,
                       unsigned depth)
{
    size_t cursor = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_next(list, &cursor, &name, &value)) {
        if (count > 0)
            put(w, between);
        if (count++ == CHOICES_MAX) {
            put(w, "unknown");
            return;
        }
        put(w, "(");
        write_type(w, value, depth + 1);
        put(w, ")");
    }
    if (count == 0)
        put(w, "unknown");
}

/* ---- objects ------------------------------------------------------------------------ */

/* Names that were written already. */
struct written {
    uint64_t hashes[2 * MEMBERS_MAX];
    unsigned count;
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

static bool requires_any(gbx_view schema)
{
    gbx_view list = gbx_view_member(schema, "required");
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    return gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value);
}

static bool is_required(gbx_view schema, gbx_view wanted)
{
    gbx_view list = gbx_view_member(schema, "required");
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &name, &value))
        if (value.len == wanted.len && memcmp(value.at, wanted.at, value.len) == 0)
            return true;
    return false;
}

static void begin_line(struct writer *w)
{
    put(w, "\n");
    for (unsigned i = 0; i < w->indent; i++)
        put(w, "  ");
}

static void write_member(struct writer *w, gbx_view schema, gbx_view name,
                         gbx_view value, unsigned depth)
{
    gbx_view text = gbx_view_member(value, "description");

    begin_line(w);
    if (gbx_view_kind(text) == '"' && text.len > 2) {
        put(w, "/** ");
        gbx_types_comment(w->to, text, DESCRIBE_MAX);
        put(w, " */ ");
    }
    (void)gbx_types_name(w->to, name);
    put(w, is_required(schema, name) ? ": " : "?: ");
    write_type(w, value, depth + 1);
    put(w, ";");
}

static void write_members(struct writer *w, gbx_view schema, gbx_view members,
                          struct written *names, unsigned depth)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    while (names->count < MEMBERS_MAX &&
           gbx_view_next(members, &cursor, &name, &value)) {
        if (!add_new(names, name))
            continue;
        if (names->count == 1)
            put(w, "{");
        w->indent++;
        write_member(w, schema, name, value, depth);
        w->indent--;
    }
    if (names->count == MEMBERS_MAX && gbx_view_next(members, &cursor, &name, &value)) {
        w->indent++;
        begin_line(w);
        put(w, "/* and more */");
        w->indent--;
    }
    if (names->count > 0) {
        begin_line(w);
        put(w, "}");
    }
}

/* What must be given and was not written: that is all that is known of it. */
static void write_unlisted(struct writer *w, gbx_view schema, struct written *names)
{
    gbx_view list = gbx_view_member(schema, "required");
    unsigned before = names->count;
    unsigned count = 0;
    size_t cursor = 0;
    gbx_view none;
    gbx_view name;

    while (gbx_view_kind(list) == '[' && gbx_view_next(list, &cursor, &none, &name)) {
        if (gbx_view_kind(name) != '"' || !add_new(names, name))
            continue;
        put(w, count > 0 ? "; " : before > 0 ? " & { " : "{ ");
        if (count++ == MEMBERS_MAX - 1) {
            put(w, "/* and more */");
            break;
        }
        (void)gbx_types_name(w->to, name);
        put(w, ": unknown");
    }
    put(w, count > 0 ? " }" : "");
}

static void write_object(struct writer *w, gbx_view schema, unsigned depth)
{
    gbx_view members = gbx_view_member(schema, "properties");
    gbx_view rest = gbx_view_member(schema, "additionalProperties");
    gbx_view fitting = gbx_view_member(schema, "patternProperties");
    bool has_fitting = gbx_view_kind(fitting) == '{' && fitting.len > 2;
    bool has_rest = gbx_view_kind(rest) == '{';
    struct written names = {.count = 0};

    if (gbx_view_kind(members) == '{')
        write_members(w, schema, members, &names, depth);
    write_unlisted(w, schema, &names);
    if (has_rest || has_fitting) {
        put(w, names.count > 0 ? " & { [key: string]: " : "{ [key: string]: ");
        if (has_fitting)
            write_list(w, fitting, " | ", depth);
        if (has_rest && has_fitting)
            put(w, " | ");
        if (has_rest)
            write_type(w, rest, depth + 1);
        put(w, " }");
    } else if (names.count == 0) {
        put(w, gbx_view_kind(rest) == 'f' ? "{}" : "{ [key: string]: unknown }");
    }
}

static void write_array(struct writer *w, gbx_view schema, unsigned depth)
{
    gbx_view first = gbx_view_member(schema, "prefixItems");
    gbx_view items = gbx_view_member(schema, "items");
    size_t cursor = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    if (gbx_view_kind(first) != '[' && gbx_view_kind(items) != '[') {
        put(w, "Array<");
        write_type(w, items, depth + 1);
        put(w, ">");
        return;
    }
    if (gbx_view_kind(first) != '[')
        first = items;
    put(w, "[");
    while (count < CHOICES_MAX && gbx_view_next(first, &cursor, &name, &value)) {
        put(w, count++ > 0 ? ", " : "");
        write_type(w, value, depth + 1);
    }
    put(w, count > 0 ? ", ...unknown[]]" : "...unknown[]]");
}

/* ---- all of it ------------------------------------------------------------------------ */

static void write_named(struct writer *w, gbx_view type, gbx_view schema,
                        unsigned depth)
{
    if (is_text(type, "string"))
        put(w, "string");
    else if (is_text(type, "number") || is_text(type, "integer"))
        put(w, "number");
    else if (is_text(type, "boolean"))
        put(w, "boolean");
    else if (is_text(type, "null"))
        put(w, "null");
    else if (is_text(type, "array"))
        write_array(w, schema, depth);
    else if (is_text(type, "object"))
        write_object(w, schema, depth);
    else
        put(w, "unknown");
}

static void write_plain(struct writer *w, gbx_view schema, unsigned depth)
{
    gbx_view type = gbx_view_member(schema, "type");
    size_t cursor = 0;
    unsigned count = 0;
    gbx_view name;
    gbx_view value;

    if (gbx_view_kind(type) == '[') {
        while (count < 7 && gbx_view_next(type, &cursor, &name, &value)) {
            put(w, count++ > 0 ? " | " : "");
            write_named(w, value, schema, depth);
        }
        if (count == 0)
            put(w, "unknown");
    } else if (type.at != NULL) {
        write_named(w, type, schema, depth);
    } else if (gbx_view_member(schema, "properties").at != NULL ||
               gbx_view_member(schema, "additionalProperties").at != NULL ||
               gbx_view_member(schema, "patternProperties").at != NULL ||
               requires_any(schema)) {
        write_object(w, schema, depth);
    } else if (gbx_view_member(schema, "items").at != NULL ||
               gbx_view_member(schema, "prefixItems").at != NULL) {
        write_array(w, schema, depth);
    } else {
        put(w, "unknown");
    }
}

/* Does it say what it is beside its choices? */
static bool is_more(gbx_view schema)
{
    return gbx_view_member(schema, "properties").at != NULL ||
           gbx_view_member(schema, "items").at != NULL || requires_any(schema);
}

/* The first of the keywords by which a schema is made of others. */
static bool write_composed(struct writer *w, gbx_view schema, unsigned depth)
{
    static const struct {
        const char *name;
        const char *between;
    } keywords[] = {{"allOf", " & "}, {"oneOf", " | "}, {"anyOf", " | "}};

    for (size_t i = 0; i < GBX_COUNTOF(keywords); i++) {
        gbx_view list = gbx_view_member(schema, keywords[i].name);

        if (gbx_view_kind(list) != '[')
            continue;
        if (is_more(schema)) {
            bool is_choice = gbx_view_kind(gbx_view_member(schema, "type")) == '[';

            put(w, is_choice ? "(" : "");
            write_plain(w, schema, depth);
            put(w, is_choice ? ") & " : " & ");
        }
        put(w, "(");
        write_list(w, list, keywords[i].between, depth);
        put(w, ")");
        return true;
    }
    return false;
}

static void write_schema(struct writer *w, gbx_view schema, unsigned depth)
{
    gbx_view ref = gbx_view_member(schema, "$ref");
    gbx_view choices = gbx_view_member(schema, "enum");
    gbx_view constant = gbx_view_member(schema, "const");

    if (gbx_view_kind(ref) == '"')
        write_reference(w, ref, depth);
    else if (gbx_view_kind(choices) == '[')
        write_literals(w, choices);
    else if (constant.at != NULL && !write_literal(w, constant))
        put(w, "unknown");
    else if (constant.at == NULL && !write_composed(w, schema, depth))
        write_plain(w, schema, depth);
}

static void write_type(struct writer *w, gbx_view schema, unsigned depth)
{
    if (gbx_view_kind(schema) == 'f')
        put(w, "never");
    else if (gbx_view_kind(schema) != '{' || depth >= DEPTH_MAX ||
             w->nodes++ >= NODES_MAX)
        put(w, "unknown");
    else
        write_schema(w, schema, depth);
    if (depth < DEPTH_MAX && gbx_view_is_true(gbx_view_member(schema, "nullable")))
        put(w, " | null");
}

/* ---- what must be given ---------------------------------------------------------------- */

struct asking {
    gbx_view root;
    unsigned nodes;
};

static bool is_all_optional(struct asking *a, gbx_view schema, unsigned depth);

/* Of the schemas that the keyword lists: is there one, or are all of them so? */
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
    gbx_view ref = gbx_view_member(schema, "$ref");

    if (depth > COMPOSED_MAX || a->nodes++ >= NODES_MAX)
        return true;
    if (requires_any(schema))
        return false;
    if (gbx_view_kind(ref) == '"' &&
        !is_all_optional(a, gbx_types_follow(a->root, ref), depth + 1))
        return false;
    return lists_optional(a, schema, "allOf", true, depth) &&
           lists_optional(a, schema, "anyOf", false, depth) &&
           lists_optional(a, schema, "oneOf", false, depth);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_types_of(gbx_buf *to, gbx_view schema, unsigned indent)
{
    struct writer w = {.to = to, .root = schema, .indent = indent};

    if (schema.len > SCHEMA_MAX)
        schema = (gbx_view){NULL, 0};
    write_type(&w, schema, 0);
}

bool gbx_types_all_optional(gbx_view schema)
{
    struct asking a = {.root = schema};

    return schema.len > SCHEMA_MAX || is_all_optional(&a, schema, 0);
}
