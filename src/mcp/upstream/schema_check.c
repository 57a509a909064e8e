/* SPDX-License-Identifier: MIT */
/*
 * schema_check - checks the structured content of a tool against its outputSchema.
 *
 * Both are hostile. A value is refused only for what is certain: keywords that are not
 * known here (limits, patterns, conditions, references to elsewhere) accept everything, and so
 * does the rest of a value that costs too much: every look at a schema or a value counts.
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

/* Of these, "nullable" is of OpenAPI. */
enum {
    REF,
    TYPE,
    NULLABLE,
    ENUM,
    CONST,
    ALL,
    ANY,
    ONE,
    REQUIRED,
    PROPERTIES,
    PATTERNS,
    OTHERS,
    FIRST,
    ITEMS,
    KEYWORDS
};

static bool fits(checking *c, gbx_view schema, gbx_view value);

static bool refuse(checking *c, const char *why)
{
    c->why = why;
    return false;
}

/* Another look, at so many bytes. True: it is too much. */
static bool is_over(checking *c, size_t bytes)
{
    c->cost += bytes;
    return c->cost > COST_MAX;
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

/* "#/$defs/x": the schema at that place, or no value. */
static gbx_view resolve(checking *c, gbx_view ref)
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
        at = is_over(c, at.len) ? (gbx_view){0} : gbx_view_member(at, name);
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
static bool may_equal(gbx_view wanted, gbx_view value)
{
    GBX_CLEANUP(gbx_free) char *text = NULL;
    char kind = gbx_view_kind(wanted);
    double x;
    double y;

    if (kind != gbx_view_kind(value))
        return false;
    if (kind == '0')
        return !number_of(wanted, &x) || !number_of(value, &y) || x == y;
    if (kind != '"')
        return true;
    text = gbx_view_string(wanted, wanted.len);
    return text == NULL || gbx_view_is_text(value, text);
}

/* ---- objects and arrays ------------------------------------------------------------- */

static bool has_required(checking *c, gbx_view required, gbx_view value)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view one;

    while (gbx_view_next(required, &cursor, &none, &one) && !is_over(c, value.len)) {
        GBX_CLEANUP(gbx_free) char *wanted = gbx_view_string(one, PLACE_MAX);

        if (wanted == NULL || gbx_view_member(value, wanted).at != NULL)
            continue;
        (void)gbx_buf_printf(&c->place, "/%s", wanted);
        return refuse(c, "it is missing");
    }
    return true;
}

static bool fits_object(checking *c, const gbx_view m[], gbx_view value)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view one;

    if (!has_required(c, m[REQUIRED], value))
        return false;
    while (gbx_view_next(value, &cursor, &name, &one) &&
           !is_over(c, m[PROPERTIES].len)) {
        GBX_CLEANUP(gbx_free) char *text = gbx_view_string(name, GBX_KIB(1));
        gbx_view of = {0};

        if (text == NULL)
            continue;
        of = gbx_view_member(m[PROPERTIES], text);
        if (of.at == NULL && m[PATTERNS].at == NULL)
            of = m[OTHERS];
        if (of.at != NULL && !fits_below(c, of, name, 0, one))
            return false;
    }
    return true;
}

static bool fits_array(checking *c, const gbx_view m[], gbx_view value)
{
    size_t cursor = 0;
    size_t of_first = 0;
    gbx_view none;
    gbx_view one;
    gbx_view of;

    if (gbx_view_kind(m[ITEMS]) == '[') /* an older dialect */
        return true;
    for (size_t i = 0;
         gbx_view_next(value, &cursor, &none, &one) && !is_over(c, one.len); i++) {
        if (!gbx_view_next(m[FIRST], &of_first, &none, &of))
            of = m[ITEMS];
        if (of.at != NULL && !fits_below(c, of, (gbx_view){0}, i, one))
            return false;
    }
    return true;
}

/* ---- schemas ------------------------------------------------------------------------ */

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
    static const char *const keywords[] = {"$ref",
                                           "type",
                                           "nullable",
                                           "enum",
                                           "const",
                                           "allOf",
                                           "anyOf",
                                           "oneOf",
                                           "required",
                                           "properties",
                                           "patternProperties",
                                           "additionalProperties",
                                           "prefixItems",
                                           "items"};
    gbx_view m[KEYWORDS];
    char kind = gbx_view_kind(value);
    size_t cursor = 0;
    bool is_among;
    gbx_view none;
    gbx_view one;

    gbx_view_members(schema, keywords, KEYWORDS, m);
    if (kind == 'n' && gbx_view_is_true(m[NULLABLE]))
        return true;
    if (!fits_type(m[TYPE], value))
        return refuse(c, "it is of another type");
    is_among = gbx_view_kind(m[ENUM]) != '[';
    while (!is_among && gbx_view_next(m[ENUM], &cursor, &none, &one))
        is_among = may_equal(one, value);
    if (!is_among || (m[CONST].at != NULL && !may_equal(m[CONST], value)))
        return refuse(c, "it is not one of the values that may be");
    if (m[REF].at != NULL && !fits(c, resolve(c, m[REF]), value))
        return false;
    cursor = 0;
    while (gbx_view_next(m[ALL], &cursor, &none, &one))
        if (!fits(c, one, value))
            return false;
    return fits_some(c, m[ANY], value) && fits_some(c, m[ONE], value) &&
           (kind != '{' || fits_object(c, m, value)) &&
           (kind != '[' || fits_array(c, m, value));
}

static bool fits(checking *c, gbx_view schema, gbx_view value)
{
    bool is_fit;

    if (gbx_view_kind(schema) == 'f')
        return refuse(c, "it must not be there");
    if (gbx_view_kind(schema) != '{' || c->depth >= DEPTH_MAX ||
        is_over(c, schema.len + value.len))
        return true;
    c->depth++;
    is_fit = fits_keywords(c, schema, value);
    c->depth--;
    return is_fit;
}

bool gbx_schema_check(gbx_view schema, gbx_view value, bool is_strict, char *why,
                      size_t size)
{
    checking c = {.root = schema, .place.ceiling = GBX_KIB(64)};
    bool is_fit = fits(&c, schema, value) && !(is_strict && c.cost > COST_MAX);
    char place[PLACE_MAX];

    if (!is_fit) {
        gbx_utf8_copy_line(place, sizeof place, c.place.data, c.place.len);
        (void)snprintf(why, size, "at '%s', %s", place,
                       c.why != NULL ? c.why : "it is too much to be checked");
    }
    gbx_buf_cleanup(&c.place);
    return is_fit;
}
