/* SPDX-License-Identifier: MIT */
/*
 * value - turns a tool's result into the value for code. In content, a single block is
 * the value; several texts become one; blocks other than texts make it a list.
 */
#include "mcp/code/code_mode.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"
#include "mcp/code/code.h"
#include "syntax/tree.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX GBX_KIB(4)
#define BYTES_MAX   GBX_MIB(256)
#define DEPTH_MAX   16 /* of structured content searched for media */

/* Members of an object that a sketch shows. */
#define SKETCH_NAMES    4
#define SKETCH_NAME_MAX 18 /* with its quotes */
_Static_assert(SKETCH_NAMES *(SKETCH_NAME_MAX + 9) + 16 <= GBX_VALUE_SKETCH_SIZE,
               "of a list, too");

gbx_view gbx_value_text_of(gbx_view block)
{
    enum { TYPE, TEXT, RESOURCE, MEMBERS };
    static const char *const names[] = {"type", "text", "resource"};
    gbx_view text = {NULL, 0};
    gbx_view m[MEMBERS];

    gbx_view_members(block, names, MEMBERS, m);
    if (gbx_view_is_text(m[TYPE], "text"))
        text = m[TEXT];
    else if (gbx_view_is_text(m[TYPE], "resource"))
        text = gbx_view_member(m[RESOURCE], "text");
    return gbx_view_kind(text) == '"' ? text : (gbx_view){NULL, 0};
}

/* ---- text ------------------------------------------------------------------------ */

/* Append all texts, joined by newlines; returns how many blocks there were, and how
 * many had text. */
static void append_texts(gbx_view content, gbx_buf *to, size_t *ret_blocks,
                         size_t *ret_texts)
{
    size_t cursor = 0;
    size_t blocks = 0;
    size_t texts = 0;
    gbx_view name;
    gbx_view block;

    while (gbx_view_next(content, &cursor, &name, &block)) {
        gbx_view text = gbx_value_text_of(block);

        blocks++;
        if (text.at == NULL)
            continue;
        if (texts++ > 0)
            (void)gbx_buf_puts(to, "\n");
        (void)gbx_view_append_text(text, to);
    }
    *ret_blocks = blocks;
    *ret_texts = texts;
}

/* True if JavaScript keeps all its digits: not a number with a fraction or exponent. */
static bool is_whole_json(gbx_view view)
{
    return gbx_view_kind(view) != '0' || (memchr(view.at, '.', view.len) == NULL &&
                                          memchr(view.at, 'e', view.len) == NULL &&
                                          memchr(view.at, 'E', view.len) == NULL);
}

/* Some servers return a list as one JSON block per item. False, and nothing useful
 * appended, unless all blocks are texts, more than one, and JSON. */
static bool append_list(gbx_view content, gbx_buf *to)
{
    size_t cursor = 0;
    size_t count = 0;
    bool is_list = gbx_view_count(content) > 1;
    gbx_view name;
    gbx_view block;

    while (is_list && gbx_view_next(content, &cursor, &name, &block)) {
        gbx_view text = gbx_value_text_of(block);
        gbx_view item;
        gbx_buf json;

        gbx_buf_init(&json, BYTES_MAX);
        is_list = text.at != NULL && gbx_view_append_text(text, &json) &&
                  gbx_view_open((const char *)json.data, json.len, &item) &&
                  is_whole_json(item) && gbx_buf_puts(to, count++ > 0 ? "," : "[") &&
                  gbx_buf_append(to, item.at, item.len);
        gbx_buf_cleanup(&json);
    }
    return is_list && gbx_buf_puts(to, "]");
}

/* For content whose blocks are all texts. A JSON object or array in a text is parsed. A
 * number stays text, since not all its digits might survive. */
static void append_text_value(gbx_view content, const gbx_buf *text, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf list = {.ceiling = BYTES_MAX};
    const char *whole = text->data != NULL ? (const char *)text->data : "";
    gbx_view view;

    if (append_list(content, &list))
        (void)gbx_buf_append(to, list.data, list.len);
    else if (text->len > 0 && gbx_view_open(whole, text->len, &view) &&
             (gbx_view_kind(view) == '{' || gbx_view_kind(view) == '['))
        (void)gbx_buf_append(to, view.at, view.len);
    else
        (void)gbx_json_append_string(to, whole, text->len);
}

/* ---- content other than text ----------------------------------------------------- */

/* A type that is not valid becomes application/octet-stream. */
static void append_bytes(gbx_view data, gbx_view mime, const gbx_value_keeper *keeper,
                         gbx_buf *to)
{
    char mime_type[GBX_ARTIFACT_MIME_SIZE] = "application/octet-stream";
    GBX_CLEANUP(gbx_free) char *given = gbx_view_string(mime, GBX_KIB(1));
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = BYTES_MAX};

    if (given != NULL)
        (void)gbx_artifacts_mime(given, mime_type);
    if (gbx_view_kind(data) == '"' && gbx_view_append_text(data, &text) &&
        (text.len == 0 || gbx_base64_undo(&text)))
        keeper->keep(keeper->user, mime_type, text.len > 0 ? (char *)text.data : "",
                     text.len, to);
    else
        (void)gbx_buf_puts(to, "{\"error\":\"its data is not base64\"}");
}

static bool is_media(gbx_view block)
{
    gbx_view type = gbx_view_member(block, "type");

    return gbx_view_is_text(type, "image") || gbx_view_is_text(type, "audio");
}

static void append_block(gbx_view block, const gbx_value_keeper *keeper, gbx_buf *to)
{
    gbx_view text = gbx_value_text_of(block);
    gbx_view resource = gbx_view_member(block, "resource");

    if (text.at != NULL)
        (void)gbx_buf_append(to, text.at, text.len);
    else if (is_media(block))
        append_bytes(gbx_view_member(block, "data"), gbx_view_member(block, "mimeType"),
                     keeper, to);
    else if (gbx_view_is_text(gbx_view_member(block, "type"), "resource") &&
             gbx_view_member(resource, "blob").at != NULL)
        append_bytes(gbx_view_member(resource, "blob"),
                     gbx_view_member(resource, "mimeType"), keeper, to);
    else
        (void)gbx_buf_append(to, block.at, block.len); /* a link, or an unknown block */
}

static void append_blocks(gbx_view content, size_t count,
                          const gbx_value_keeper *keeper, gbx_buf *to)
{
    size_t cursor = 0;
    bool is_first = true;
    gbx_view name;
    gbx_view block;

    if (count != 1)
        (void)gbx_buf_puts(to, "[");
    while (gbx_view_next(content, &cursor, &name, &block)) {
        if (!is_first)
            (void)gbx_buf_puts(to, ",");
        is_first = false;
        append_block(block, keeper, to);
    }
    if (count != 1)
        (void)gbx_buf_puts(to, "]");
}

static void append_content(gbx_view content, const gbx_value_keeper *keeper,
                           gbx_buf *to)
{
    size_t blocks;
    size_t texts;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = BYTES_MAX};

    append_texts(content, &text, &blocks, &texts);
    if (blocks == 0)
        (void)gbx_buf_puts(to, "null");
    else if (texts == blocks)
        append_text_value(content, &text, to);
    else
        append_blocks(content, blocks, keeper, to);
}

/* ---- structured content ---------------------------------------------------------- */

/*
 * Legacy servers write null for a missing value. A server that means null also says so
 * in its text.
 */
static bool is_absent(gbx_view structured, gbx_view content)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view block = {NULL, 0};

    if (structured.at == NULL)
        return true;
    return gbx_view_kind(structured) == 'n' && gbx_view_kind(content) == '[' &&
           gbx_view_next(content, &cursor, &name, &block) &&
           !gbx_view_is_text(gbx_value_text_of(block), "null");
}

/* Append the value unchanged, except that media become handles, as in content. */
static void append_structured(gbx_view value, unsigned depth,
                              const gbx_value_keeper *keeper, gbx_buf *to)
{
    char kind = gbx_view_kind(value);
    size_t cursor = 0;
    bool is_first = true;
    gbx_view name;
    gbx_view member;

    if ((kind != '{' && kind != '[') || depth == DEPTH_MAX) {
        (void)gbx_buf_append(to, value.at, value.len);
        return;
    }
    if (kind == '{' && is_media(value) &&
        gbx_view_kind(gbx_view_member(value, "data")) == '"') {
        append_block(value, keeper, to);
        return;
    }
    (void)gbx_buf_puts(to, kind == '{' ? "{" : "[");
    while (gbx_view_next(value, &cursor, &name, &member)) {
        (void)gbx_buf_puts(to, is_first ? "" : ",");
        is_first = false;
        if (kind == '{') {
            (void)gbx_buf_append(to, name.at, name.len);
            (void)gbx_buf_puts(to, ":");
        }
        append_structured(member, depth + 1, keeper, to);
    }
    (void)gbx_buf_puts(to, kind == '{' ? "}" : "]");
}

/* ---- content besides structured content ----------------------------------------- */

/* A text of JSON counts as the structured content once more. */
static bool is_prose(gbx_view text)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf own = {.ceiling = BYTES_MAX};
    gbx_view json;

    return gbx_view_append_text(text, &own) && own.len > 0 &&
           !gbx_view_open((const char *)own.data, own.len, &json);
}

/* Append why a tool failed: its texts, else its structured content. */
static void append_reason(const gbx_value_parts *parts, gbx_buf *to)
{
    gbx_view structured = parts->structured;
    size_t blocks;
    size_t texts;

    append_texts(parts->content, to, &blocks, &texts);
    if (to->len == 0 && gbx_view_kind(structured) != 'n' &&
        structured.len > sizeof "{}" - 1)
        (void)gbx_view_append_json(structured, to);
    if (to->len == 0)
        (void)gbx_buf_puts(to, "the tool failed and did not say why");
}

/* ---- sketches -------------------------------------------------------------------- */

static const char *kind_name(gbx_view value)
{
    switch (gbx_view_kind(value)) {
    case '{': return "{...}";
    case '[': return "[...]";
    case '"': return "string";
    case '0': return "number";
    case 'n': return "null";
    default: return "boolean";
    }
}

/* Printable letters without escapes. */
static bool is_plain_name(gbx_view name)
{
    if (name.len < 3 || name.len > SKETCH_NAME_MAX)
        return false;
    for (size_t i = 1; i + 1 < name.len; i++)
        if ((unsigned char)name.at[i] >= 0x80 ||
            !gbx_text_is_name((unsigned char)name.at[i]))
            return false;
    return true;
}

/* "{ a: number, b: string, ... }" */
static void sketch_object(gbx_view object, gbx_buf *to)
{
    size_t cursor = 0;
    size_t told = 0;
    bool has_more = false;
    gbx_view name;
    gbx_view member;

    (void)gbx_buf_puts(to, "{");
    while (told <= SKETCH_NAMES && gbx_view_next(object, &cursor, &name, &member)) {
        if (told == SKETCH_NAMES || !is_plain_name(name)) {
            has_more = true;
            told += told == SKETCH_NAMES;
            continue;
        }
        (void)gbx_buf_printf(to, "%s%.*s: %s", told++ > 0 ? ", " : " ",
                             (int)name.len - 2, name.at + 1, kind_name(member));
    }
    if (has_more)
        (void)gbx_buf_puts(to, told > 0 ? ", ..." : " ...");
    (void)gbx_buf_puts(to, told > 0 || has_more ? " }" : "}");
}

gbx_value_parts gbx_value_parts_of(gbx_view result)
{
    static const char *const names[] = {"structuredContent", "content", "isError"};
    gbx_view m[GBX_COUNTOF(names)];

    gbx_view_members(result, names, GBX_COUNTOF(names), m);
    return (gbx_value_parts){m[0], m[1], gbx_view_is_true(m[2])};
}

bool gbx_value_of_result(const gbx_value_parts *parts, const gbx_value_keeper *keeper,
                         gbx_buf *to, gbx_buf *message)
{
    bool has_media = false;
    size_t cursor = 0;
    gbx_view name;
    gbx_view block;
    gbx_buf text;

    if (parts->is_error) {
        gbx_buf_init(&text, BYTES_MAX);
        append_reason(parts, &text);
        (void)gbx_utf8_append_ends(message, text.data, text.len, MESSAGE_MAX);
        gbx_buf_cleanup(&text);
        return false;
    }
    while (gbx_view_kind(parts->content) == '[' && !has_media &&
           gbx_view_next(parts->content, &cursor, &name, &block))
        has_media = is_media(block);
    if (!is_absent(parts->structured, parts->content))
        append_structured(parts->structured, has_media ? 0 : DEPTH_MAX, keeper, to);
    else if (gbx_view_kind(parts->content) == '[')
        append_content(parts->content, keeper, to);
    else
        (void)gbx_buf_puts(to, "null");
    return true;
}

bool gbx_value_has_more(const gbx_value_parts *parts)
{
    size_t cursor = 0;
    gbx_view name;
    gbx_view block;

    if (gbx_view_kind(parts->content) != '[' ||
        is_absent(parts->structured, parts->content))
        return false;
    while (gbx_view_next(parts->content, &cursor, &name, &block)) {
        gbx_view text = gbx_value_text_of(block);
        gbx_view part = text.at != NULL ? text : block;

        if (memmem(parts->structured.at, parts->structured.len, part.at, part.len) ==
                NULL &&
            (text.at == NULL || is_prose(text)))
            return true;
    }
    return false;
}

void gbx_value_sketch(gbx_view value, char ret[GBX_VALUE_SKETCH_SIZE])
{
    bool is_list = gbx_view_kind(value) == '[';
    size_t cursor = 0;
    gbx_view name;
    gbx_view item = value;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_VALUE_SKETCH_SIZE};

    (void)gbx_buf_puts(&text, is_list ? "[" : "");
    if (!is_list || gbx_view_next(value, &cursor, &name, &item)) {
        if (gbx_view_kind(item) == '{')
            sketch_object(item, &text);
        else
            (void)gbx_buf_puts(&text, kind_name(item));
    }
    if (is_list)
        (void)gbx_buf_puts(&text, gbx_view_next(value, &cursor, &name, &item) ? ", ...]"
                                                                              : "]");
    (void)gbx_buf_append(&text, "", 1);
    (void)snprintf(ret, GBX_VALUE_SKETCH_SIZE, "%s",
                   text.failed ? "" : (const char *)text.data);
}
