/* SPDX-License-Identifier: MIT */
/* json_whole - walks text and values side by side, since members keep their order. */
#include "policy/policy.h"

#include "base/json_view.h"

#include <stdio.h>
#include <string.h>

/* A shorter number fits into the library's initial buffer. */
#define SHORT_NUMBER 12

static bool is_same(gbx_view view, const json_t *value);

static bool is_same_number(gbx_view view, const json_t *value)
{
    char text[32];
    int len;

    if (!json_is_integer(value) || view.len < SHORT_NUMBER)
        return json_is_number(value);
    len =
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    return (size_t)len == view.len && memcmp(text, view.at, view.len) == 0;
}

static bool is_same_object(gbx_view view, const json_t *value)
{
    json_t *object = (json_t *)(uintptr_t)value; /* iterating changes nothing */
    void *at = json_object_iter(object);
    size_t cursor = 0;
    gbx_view name;
    gbx_view member;

    while (gbx_view_next(view, &cursor, &name, &member)) {
        if (at == NULL || !gbx_view_is_text(name, json_object_iter_key(at)) ||
            !is_same(member, json_object_iter_value(at)))
            return false;
        at = json_object_iter_next(object, at);
    }
    return at == NULL;
}

static bool is_same_array(gbx_view view, const json_t *value)
{
    size_t cursor = 0;
    size_t index = 0;
    gbx_view name;
    gbx_view element;

    while (gbx_view_next(view, &cursor, &name, &element))
        if (!is_same(element, json_array_get(value, index++)))
            return false;
    return index == json_array_size(value);
}

/* Recurses as deep as the text, which was checked. */
static bool is_same(gbx_view view, const json_t *value)
{
    if (value == NULL)
        return false;
    switch (json_typeof(value)) {
    case JSON_OBJECT: return is_same_object(view, value);
    case JSON_ARRAY: return is_same_array(view, value);
    case JSON_STRING: return gbx_view_is_text(view, json_string_value(value));
    case JSON_INTEGER:
    case JSON_REAL: return is_same_number(view, value);
    case JSON_TRUE:
    case JSON_FALSE:
    case JSON_NULL:
    default: return true; /* incomplete words do not parse */
    }
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_json_is_whole(const char *text, size_t len, const json_t *value)
{
    gbx_view view;

    return gbx_view_open(text, len, &view) && is_same(view, value);
}
