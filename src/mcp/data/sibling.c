/* SPDX-License-Identifier: MIT */
/* sibling - see sibling.h. It is asked of every object: what is not there is found out by
 * its name alone, or by its first characters. */
#include "mcp/data/sibling.h"

#include "base/cleanup.h"
#include "mcp/data/describe_text.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    unsigned role;
} roles[] = {
    {"name", GBX_SIBLING_NAME},
    {"key", GBX_SIBLING_NAME},
    {"attribute", GBX_SIBLING_NAME},
    {"setting", GBX_SIBLING_NAME},
    {"variable", GBX_SIBLING_NAME},
    {"header", GBX_SIBLING_NAME | GBX_SIBLING_COLUMNS},
    {"field", GBX_SIBLING_NAME},
    {"property", GBX_SIBLING_NAME},
    {"parameter", GBX_SIBLING_NAME},
    {"label", GBX_SIBLING_NAME},
    {"k", GBX_SIBLING_NAME},
    {"value", GBX_SIBLING_VALUE},
    {"val", GBX_SIBLING_VALUE},
    {"v", GBX_SIBLING_VALUE},
    {"old", GBX_SIBLING_VALUE},
    {"new", GBX_SIBLING_VALUE},
    {"oldvalue", GBX_SIBLING_VALUE},
    {"newvalue", GBX_SIBLING_VALUE},
    {"old_value", GBX_SIBLING_VALUE},
    {"new_value", GBX_SIBLING_VALUE},
    {"columns", GBX_SIBLING_COLUMNS},
    {"fields", GBX_SIBLING_COLUMNS},
    {"headers", GBX_SIBLING_COLUMNS},
    {"data", GBX_SIBLING_ROWS},
    {"rows", GBX_SIBLING_ROWS},
    {"values", GBX_SIBLING_ROWS},
    {"records", GBX_SIBLING_ROWS},
};

/* '[' and then that, as far as white space is none. */
static bool begins_with(gbx_view v, char c)
{
    return gbx_view_kind(v) == '[' && v.at[1 + strspn(v.at + 1, " \t\r\n")] == c;
}

static bool are_texts(gbx_view array)
{
    size_t cursor = 0, count = 0;
    gbx_view none, v;

    while (gbx_view_next(array, &cursor, &none, &v)) {
        if (gbx_view_kind(v) != '"')
            return false;
        count++;
    }
    return count > 0;
}

/* ---- public to other modules -------------------------------------------- */

unsigned gbx_sibling_role(gbx_view name)
{
    for (size_t i = 0; i < GBX_COUNTOF(roles); i++)
        if (name.len == strlen(roles[i].name) + 2 &&
            strncasecmp(name.at + 1, roles[i].name, name.len - 2) == 0)
            return roles[i].role;
    return 0;
}

gbx_sensitive_place gbx_sibling_place(gbx_view object, gbx_view name,
                                      gbx_sensitive_place place, bool is_number)
{
    size_t cursor = 0;
    gbx_view other, text;

    if ((gbx_sibling_role(name) & GBX_SIBLING_VALUE) == 0)
        return place;
    while (place < GBX_SENSITIVE_ALL && gbx_view_next(object, &cursor, &other, &text))
        if ((gbx_sibling_role(other) & GBX_SIBLING_NAME) != 0 &&
            gbx_view_kind(text) == '"') {
            gbx_sensitive_place told =
                gbx_describe_below(GBX_SENSITIVE_NOTHING, text, is_number);

            place = told > place ? told : place;
        }
    return place;
}

gbx_view gbx_sibling_columns(gbx_view object, gbx_view name)
{
    size_t cursor = 0;
    gbx_view other, array;

    if ((gbx_sibling_role(name) & GBX_SIBLING_ROWS) == 0)
        return (gbx_view){0};
    while (gbx_view_next(object, &cursor, &other, &array))
        if ((gbx_sibling_role(other) & GBX_SIBLING_COLUMNS) != 0 &&
            gbx_view_kind(array) == '[')
            return array;
    return (gbx_view){0};
}

gbx_view gbx_sibling_header(gbx_view array)
{
    size_t cursor = 0;
    gbx_view none, first, second;

    if (!begins_with(array, '[') || !gbx_view_next(array, &cursor, &none, &first) ||
        !begins_with(first, '"') || !gbx_view_next(array, &cursor, &none, &second) ||
        !are_texts(first) || gbx_view_count(first) != gbx_view_count(second))
        return (gbx_view){0};
    return first;
}

gbx_view gbx_sibling_pair(gbx_view array)
{
    size_t cursor = 0;
    gbx_view none, first, second, third;

    if (!begins_with(array, '"') || !gbx_view_next(array, &cursor, &none, &first) ||
        !gbx_view_next(array, &cursor, &none, &second) ||
        gbx_view_next(array, &cursor, &none, &third))
        return (gbx_view){0};
    return first;
}

gbx_view gbx_sibling_flag(gbx_view element)
{
    bool is_flag = element.len > 4 && memcmp(element.at, "\"--", 3) == 0;

    return is_flag ? element : (gbx_view){0};
}

gbx_view gbx_sibling_next(gbx_view names, size_t *cursor)
{
    gbx_view none, name;

    if (!gbx_view_next(names, cursor, &none, &name))
        return (gbx_view){0};
    return gbx_view_kind(name) == '{' ? gbx_view_member(name, "name") : name;
}
