/* SPDX-License-Identifier: MIT */
/*
 * http_headers - the headers of a request, among them those made from arguments of a
 * call.
 */
#include "mcp/upstream/internal.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "mcp/rpc/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BEGIN "=?base64?"
#define END   "?="

void gbx_http_header_add(gbx_http_headers *headers, const char *name, const char *value)
{
    char *line = gbx_printed(value == NULL ? "%s:"
                             : *value == 0 ? "%s;"
                                           : "%s: %s",
                             name, value);

    headers->list = gbx_need(headers->lib->curl_slist_append(headers->list, line));
    gbx_wipe(line);
}

void gbx_http_header_add_value(gbx_http_headers *headers, const char *name,
                               const char *value, size_t len)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = GBX_KIB(64), .is_secret = true};
    bool is_plain = len > 0 && value[0] != ' ' && value[len - 1] != ' ' &&
                    value[0] != '\t' && value[len - 1] != '\t';

    /* Every server and intermediary must read the value in the same way. */
    for (size_t i = 0; i < len && is_plain; i++)
        is_plain = value[i] == '\t' || (value[i] >= ' ' && value[i] <= '~');
    if (is_plain && len >= strlen(BEGIN END) &&
        memcmp(value, BEGIN, strlen(BEGIN)) == 0 &&
        memcmp(value + len - strlen(END), END, strlen(END)) == 0)
        is_plain = false;
    if (is_plain) {
        (void)gbx_buf_append(&text, value, len);
    } else {
        (void)gbx_buf_puts(&text, BEGIN);
        (void)gbx_base64_append(&text, value, len);
        (void)gbx_buf_puts(&text, END);
    }
    if (gbx_buf_append(&text, "", 1))
        gbx_http_header_add(headers, name, (const char *)text.data);
}

/* ---- arguments as headers ---------------------------------------------------
 *
 * Each value is found by the same path of properties as
 * its annotation. */

#define ANNOTATION     "x-mcp-header"
#define DEPTH_MAX      16
#define PARAM_NAME_MAX 64

/* The names found so far; with headers, their values are added to those. */
typedef struct walk {
    char names[GBX_PARAMS_MAX][PARAM_NAME_MAX + 1];
    size_t count;
    bool is_unsound;
    gbx_http_headers *headers; /* NULL: only check */
} walk;

static void note(walk *w, gbx_view property, gbx_view annotation)
{
    char *name = w->names[w->count];
    gbx_view type = gbx_view_member(property, "type");
    bool is_primitive = gbx_view_is_text(type, "string") ||
                        gbx_view_is_text(type, "integer") ||
                        gbx_view_is_text(type, "boolean");

    if (w->count == GBX_PARAMS_MAX || !is_primitive ||
        !gbx_rpc_copy_text(annotation, name, PARAM_NAME_MAX + 1) ||
        !gbx_is_token(name, strlen(name))) {
        w->is_unsound = true;
        return;
    }
    for (size_t i = 0; i < w->count; i++)
        if (strcasecmp(w->names[i], name) == 0)
            w->is_unsound = true;
    w->count++;
}

static void add_header(const walk *w, const char *name, gbx_view value)
{
    char header[sizeof GBX_PARAM_PREFIX + PARAM_NAME_MAX];
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf text = {.ceiling = GBX_KIB(16), .is_secret = true};
    char kind = gbx_view_kind(value);

    /* null counts as missing; objects and arrays are not allowed. */
    if (kind != '"' && kind != '0' && kind != 't' && kind != 'f')
        return;
    (void)snprintf(header, sizeof header, "%s%s", GBX_PARAM_PREFIX, name);
    if (gbx_view_append_text(value, &text))
        gbx_http_header_add_value(w->headers, header, (const char *)text.data,
                                  text.len);
}

static void walk_schema(walk *w, gbx_view schema, gbx_view args, unsigned depth)
{
    gbx_view properties = gbx_view_member(schema, "properties");
    size_t cursor = 0;
    gbx_view name;
    gbx_view property;

    if (gbx_view_kind(properties) != '{' || depth > DEPTH_MAX)
        return;
    while (gbx_view_next(properties, &cursor, &name, &property)) {
        gbx_view annotation = gbx_view_member(property, ANNOTATION);
        gbx_view value = {0};
        size_t before = w->count;
        char wanted[256];

        /* The names may be written with different escapes. */
        if (gbx_rpc_copy_text(name, wanted, sizeof wanted))
            value = gbx_view_member(args, wanted);

        if (annotation.at != NULL)
            note(w, property, annotation);
        if (w->count > before && w->headers != NULL)
            add_header(w, w->names[before], value);
        walk_schema(w, property, value, depth + 1);
    }
}

/* Count all annotations in the schema. A property of that name is a schema, not an
 * annotation. */
static size_t count_annotations(gbx_view view, unsigned depth)
{
    size_t count = 0;
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    if (depth > 4 * DEPTH_MAX)
        return GBX_PARAMS_MAX;
    while (gbx_view_next(view, &cursor, &name, &value)) {
        char kind = gbx_view_kind(value);

        if (kind == '{' || kind == '[')
            count += count_annotations(value, depth + 1);
        else if (name.at != NULL && gbx_view_is_text(name, ANNOTATION))
            count++;
    }
    return count;
}

bool gbx_params_are_sound(gbx_view schema)
{
    walk w = {0};

    if (memmem(schema.at, schema.len, ANNOTATION, strlen(ANNOTATION)) == NULL)
        return true;
    walk_schema(&w, schema, (gbx_view){0}, 0);
    return !w.is_unsound && w.count == count_annotations(schema, 0);
}

void gbx_params_add(gbx_view schema, gbx_view args, gbx_http_headers *headers)
{
    walk w = {.headers = headers};

    if (memmem(schema.at, schema.len, ANNOTATION, strlen(ANNOTATION)) != NULL)
        walk_schema(&w, schema, args, 0);
}
