/* SPDX-License-Identifier: MIT */
/*
 * schema_check - checks the structured content of a tool against its outputSchema.
 *
 * Both are hostile. A value is refused only for what is certain: keywords that are not
 * known here (patterns, conditions, references to elsewhere) accept everything, and so
 * does the rest of a value that costs too much to look at.
 */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "mcp/upstream/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 128         /* of schemas, with their references */
#define COST_MAX  GBX_MIB(32) /* bytes that are looked at */
#define PLACE_MAX 200

typedef struct checking {
    gbx_view root; /* the whole schema */
    size_t depth;
    size_t cost;
    gbx_buf place;   /* a JSON pointer to the value */
    const char *why; /* constant; NULL: nothing is wrong yet */
} checking;

static bool fits(checking *c, gbx_view schema, gbx_view value);

static bool refuse(checking *c, const char *why)
{
    c->why = why;
    return false;
}

/* False if the text is not a number that is short enough. */
static bool number_of(gbx_view view, double *ret)
{
    char digits[64];

    if (gbx_view_kind(view) != '0' || view.len >= sizeof digits)
        return false;
    memcpy(digits, view.at, view.len);
    digits[view.len] = '\0';
    *ret = strtod(digits, NULL);
    return true;
}

/* A value below this one; index: of an array, or name. */
static bool fits_below(checking *c, gbx_view schema, gbx_view name, size_t index,
                       gbx_view value)
{
    size_t len = c->place.len;

    (void)gbx_buf_puts(&c->place, "/");
    if (name.at != NULL)
        (void)gbx_view_append_text(name, &c->place);
    else
        (void)gbx_buf_printf(&c->place, "%zu", index);
    if (!fits(c, schema, value))
        return false; /* the place stays */
    c->place.failed = false;
    c->place.len = len;
    return true;
}

/* ---- references -------------------------------------------------------------------- */

/* "#/$defs/x": the schema at that place, or no value. */
static gbx_view resolve(const checking *c, gbx_view ref)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_view_string(ref, GBX_KIB(1));
    gbx_view at = c->root;
    char *rest = text;
    char *name;

    if (text == NULL || *rest != '#' || strpbrk(text, "~%") != NULL)
        return (gbx_view){0};
    rest++;
    if (*rest == '/')
        rest++;
    else if (*rest != '\0')
        return (gbx_view){0}; /* an anchor */
    while ((name = strsep(&rest, "/")) != NULL && (*name != '\0' || rest != NULL))
        at = gbx_view_member(at, name);
    return at;
}

/* ---- single values ----------------------------------------------------------------- */

static bool is_type(gbx_view type, gbx_view value)
{
    static const struct {
        const char *name;
        const char *kinds;
    } rows[] = {{"object", "{"}, {"array", "["},    {"string", "\""}, {"number", "0"},
                {"null", "n"},   {"boolean", "tf"}, {"integer", "0"}};
    char kind = gbx_view_kind(value);
    double number;

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++)
        if (gbx_view_is_text(type, rows[i].name))
            return strchr(rows[i].kinds, kind) != NULL &&
                   (strcmp(rows[i].name, "integer") != 0 ||
                    !number_of(value, &number) || number < -9e15 || number > 9e15 ||
                    number == (double)(int64_t)number);
    return true; /* no type of the standard */
}

static bool fits_type(gbx_view type, gbx_view value)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view one;

    if (gbx_view_kind(type) != '[')
        return gbx_view_kind(type) != '"' || is_type(type, value);
    while (gbx_view_next(type, &cursor, &none, &one))
        if (is_type(one, value))
            return true;
    return gbx_view_count(type) == 0;
}

/* Objects and arrays that are written in another way may be the same. */
static bool may_equal(gbx_view a, gbx_view b)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf left = {.ceiling = a.len + 1};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf right = {.ceiling = b.len + 1};
    char kind = gbx_view_kind(a);
    double x;
    double y;

    if (kind != gbx_view_kind(b))
        return false;
    if (kind == '0')
        return !number_of(a, &x) || !number_of(b, &y) || x == y;
    if (kind != '"')
        return true;
    return !gbx_view_append_text(a, &left) || !gbx_view_append_text(b, &right) ||
           (left.len == right.len &&
            (left.len == 0 || memcmp(left.data, right.data, left.len) == 0));
}

static bool is_among(gbx_view list, gbx_view value)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view one;

    while (gbx_view_next(list, &cursor, &none, &one))
        if (may_equal(one, value))
            return true;
    return gbx_view_kind(list) != '[';
}

static size_t characters_of(gbx_view text)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to = {.ceiling = text.len + 1};
    size_t count = 0;

    (void)gbx_view_append_text(text, &to);
    for (size_t i = 0; i < to.len; i++)
        count += (to.data[i] & 0xC0) != 0x80;
    return count;
}

/* ---- limits ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    char kind; /* of the values that it is about */
    int sign;  /* 1: at least; -1: at most */
    bool is_exclusive;
    const char *why;
} limits[] = {
    {"minimum", '0', 1, false, "it is too small"},
    {"maximum", '0', -1, false, "it is too large"},
    {"exclusiveMinimum", '0', 1, true, "it is too small"},
    {"exclusiveMaximum", '0', -1, true, "it is too large"},
    {"minLength", '"', 1, false, "it is too short"},
    {"maxLength", '"', -1, false, "it is too long"},
    {"minItems", '[', 1, false, "it has too few items"},
    {"maxItems", '[', -1, false, "it has too many items"},
    {"minProperties", '{', 1, false, "it has too few members"},
    {"maxProperties", '{', -1, false, "it has too many members"},
};

static bool fits_limits(checking *c, gbx_view schema, gbx_view value)
{
    char kind = gbx_view_kind(value);

    for (size_t i = 0; i < GBX_COUNTOF(limits); i++) {
        double limit;
        double size;

        if (limits[i].kind != kind ||
            !number_of(gbx_view_member(schema, limits[i].name), &limit))
            continue;
        if (kind != '0')
            size = (double)(kind == '"' ? characters_of(value) : gbx_view_count(value));
        else if (!number_of(value, &size))
            continue;
        if ((size - limit) * limits[i].sign < 0 ||
            (limits[i].is_exclusive && size == limit))
            return refuse(c, limits[i].why);
    }
    return true;
}

/* ---- objects and arrays ------------------------------------------------------------- */

static bool fits_object(checking *c, gbx_view schema, gbx_view value)
{
    enum { REQUIRED, PROPERTIES, PATTERNS, OTHERS, MEMBERS };
    static const char *const names[] = {"required", "properties", "patternProperties",
                                        "additionalProperties"};
    gbx_view m[MEMBERS];
    size_t cursor = 0;
    gbx_view name;
    gbx_view one;

    gbx_view_members(schema, names, MEMBERS, m);
    while (gbx_view_next(m[REQUIRED], &cursor, &name, &one)) {
        GBX_CLEANUP(gbx_free) char *wanted = gbx_view_string(one, PLACE_MAX);

        c->cost += value.len;
        if (wanted == NULL || gbx_view_member(value, wanted).at != NULL)
            continue;
        (void)gbx_buf_printf(&c->place, "/%s", wanted);
        return refuse(c, "it is missing");
    }
    cursor = 0;
    while (gbx_view_next(value, &cursor, &name, &one)) {
        GBX_CLEANUP(gbx_free) char *text = gbx_view_string(name, GBX_KIB(1));
        gbx_view of = {0};

        if (text != NULL)
            of = gbx_view_member(m[PROPERTIES], text);
        if (of.at == NULL && m[PATTERNS].at == NULL)
            of = m[OTHERS];
        c->cost += m[PROPERTIES].len;
        if (of.at != NULL && !fits_below(c, of, name, 0, one))
            return false;
    }
    return true;
}

static bool fits_array(checking *c, gbx_view schema, gbx_view value)
{
    gbx_view first = gbx_view_member(schema, "prefixItems");
    gbx_view items = gbx_view_member(schema, "items");
    size_t cursor = 0;
    size_t of_first = 0;
    gbx_view none;
    gbx_view one;
    gbx_view of;

    if (gbx_view_kind(items) == '[') /* an older dialect */
        return true;
    for (size_t i = 0; gbx_view_next(value, &cursor, &none, &one); i++) {
        if (!gbx_view_next(first, &of_first, &none, &of))
            of = items;
        if (of.at != NULL && !fits_below(c, of, (gbx_view){0}, i, one))
            return false;
    }
    return true;
}

/* ---- schemas ------------------------------------------------------------------------ */

static bool fits_all(checking *c, gbx_view list, gbx_view value)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view one;

    while (gbx_view_next(list, &cursor, &none, &one))
        if (!fits(c, one, value))
            return false;
    return true;
}

/* Which of them fits may depend on what is not known here, so one is enough. */
static bool fits_some(checking *c, gbx_view list, gbx_view value)
{
    size_t len = c->place.len;
    size_t cursor = 0;
    gbx_view none;
    gbx_view one;

    if (gbx_view_count(list) == 0)
        return true;
    while (gbx_view_next(list, &cursor, &none, &one)) {
        if (fits(c, one, value))
            return true;
        c->place.len = len;
    }
    return refuse(c, "it fits none of the alternatives");
}

static bool fits_keywords(checking *c, gbx_view schema, gbx_view value)
{
    enum { REF, TYPE, ENUM, CONST, ALL, ANY, ONE, MEMBERS };
    static const char *const names[] = {"$ref",  "type",  "enum", "const",
                                        "allOf", "anyOf", "oneOf"};
    gbx_view m[MEMBERS];
    char kind = gbx_view_kind(value);

    gbx_view_members(schema, names, MEMBERS, m);
    if (!fits_type(m[TYPE], value))
        return refuse(c, "it is of another type");
    if (!is_among(m[ENUM], value) ||
        (m[CONST].at != NULL && !may_equal(m[CONST], value)))
        return refuse(c, "it is not one of the values that may be");
    return (m[REF].at == NULL || fits(c, resolve(c, m[REF]), value)) &&
           fits_limits(c, schema, value) && fits_all(c, m[ALL], value) &&
           fits_some(c, m[ANY], value) && fits_some(c, m[ONE], value) &&
           (kind != '{' || fits_object(c, schema, value)) &&
           (kind != '[' || fits_array(c, schema, value));
}

static bool fits(checking *c, gbx_view schema, gbx_view value)
{
    bool is_fit;

    c->cost += schema.len + value.len;
    if (gbx_view_kind(schema) == 'f')
        return refuse(c, "it must not be there");
    if (gbx_view_kind(schema) != '{' || c->cost > COST_MAX || c->depth >= DEPTH_MAX)
        return true;
    c->depth++;
    is_fit = fits_keywords(c, schema, value);
    c->depth--;
    return is_fit;
}

bool gbx_schema_check(gbx_view schema, gbx_view value, char *why, size_t size)
{
    checking c = {.root = schema, .place.ceiling = GBX_KIB(64)};
    bool is_fit = fits(&c, schema, value);
    char place[PLACE_MAX];

    if (!is_fit) {
        gbx_utf8_copy_line(place, sizeof place, c.place.data, c.place.len);
        (void)snprintf(why, size, "at '%s', %s", place, c.why);
    }
    gbx_buf_cleanup(&c.place);
    return is_fit;
}
