/* SPDX-License-Identifier: MIT */
/*
 * content_blocks - rewrites blocks, and what servers have besides tools, with the members
 * that every client knows. Other and invalid members are left out; a block that lacks a
 * required member is invalid.
 */
#include "mcp/code/code_mode.h"

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "mcp/code/code.h"
#include "mcp/server/server.h"

#include <string.h>

#define CONTENT_MAX GBX_MIB(512)

typedef enum member_kind {
    NOTHING,
    TEXT,
    SHOWN, /* to people and models */
    NUMBER,
    OBJECT,
    BASE64,
    RESOURCE,
    ANNOTATIONS,
    AUDIENCE,
    PRIORITY,
    FLAG,
    ROLE,
    URI,  /* of the server's; for a client with the server's name */
    NAME, /* likewise */
    BLOCK,
    STRINGS,
    COMPLETION,
    RESOURCES, /* from here on: arrays of objects; invalid ones are left out */
    TEMPLATES,
    PROMPTS,
    ARGUMENTS,
    CONTENTS,
    MESSAGES,
} member_kind;

typedef enum need {
    MAY,
    MUST,
} need;

typedef struct member {
    const char *name;
    member_kind kind;
    need need;
} member;

#define MEMBERS_MAX 7

/* The types of blocks; a list of members ends in NOTHING. */
static const struct {
    const char *name;
    const char *since; /* the first protocol version that has it */
    member members[MEMBERS_MAX + 1];
} types[] = {
    {"text", "", {{"text", SHOWN, MUST}}},
    {"image", "", {{"data", BASE64, MUST}, {"mimeType", TEXT, MUST}}},
    {"audio", "2025-03-26", {{"data", BASE64, MUST}, {"mimeType", TEXT, MUST}}},
    {"resource_link",
     GBX_MCP_LINKS_SINCE,
     {{"uri", URI, MUST},
      {"name", SHOWN, MUST},
      {"title", SHOWN, MAY},
      {"description", SHOWN, MAY},
      {"mimeType", TEXT, MAY},
      {"size", NUMBER, MAY}}},
    {"resource", "", {{"resource", RESOURCE, MUST}}},
};

/* The members that every block may have. */
static const member common[] = {{"annotations", ANNOTATIONS, MAY},
                                {"_meta", OBJECT, MAY},
                                {NULL, NOTHING, MAY}};

/* The members of a text resource. */
static const member of_text[] = {{"uri", URI, MUST},
                                 {"text", SHOWN, MUST},
                                 {"mimeType", TEXT, MAY},
                                 {"_meta", OBJECT, MAY},
                                 {NULL, NOTHING, MAY}};
static const member of_blob[] = {{"uri", URI, MUST},
                                 {"blob", BASE64, MUST},
                                 {"mimeType", TEXT, MAY},
                                 {"_meta", OBJECT, MAY},
                                 {NULL, NOTHING, MAY}};

static const member of_annotations[] = {{"audience", AUDIENCE, MAY},
                                        {"priority", PRIORITY, MAY},
                                        {NULL, NOTHING, MAY}};

/* A text that is read by itself: nothing is escaped for people. */
static const member of_whole_text[] = {{"uri", URI, MUST},
                                       {"text", TEXT, MUST},
                                       {"mimeType", TEXT, MAY},
                                       {"_meta", OBJECT, MAY},
                                       {NULL, NOTHING, MAY}};

static const member of_resource[] = {{"uri", URI, MUST},
                                     {"name", SHOWN, MUST},
                                     {"title", SHOWN, MAY},
                                     {"description", SHOWN, MAY},
                                     {"mimeType", TEXT, MAY},
                                     {"size", NUMBER, MAY},
                                     {"annotations", ANNOTATIONS, MAY},
                                     {NULL, NOTHING, MAY}};
static const member of_template[] = {{"uriTemplate", URI, MUST},
                                     {"name", SHOWN, MUST},
                                     {"title", SHOWN, MAY},
                                     {"description", SHOWN, MAY},
                                     {"mimeType", TEXT, MAY},
                                     {"annotations", ANNOTATIONS, MAY},
                                     {NULL, NOTHING, MAY}};
static const member of_prompt[] = {{"name", NAME, MUST},
                                   {"title", SHOWN, MAY},
                                   {"description", SHOWN, MAY},
                                   {"arguments", ARGUMENTS, MAY},
                                   {NULL, NOTHING, MAY}};
static const member of_argument[] = {{"name", TEXT, MUST},
                                     {"title", SHOWN, MAY},
                                     {"description", SHOWN, MAY},
                                     {"required", FLAG, MAY},
                                     {NULL, NOTHING, MAY}};
static const member of_message[] = {{"role", ROLE, MUST},
                                    {"content", BLOCK, MUST},
                                    {NULL, NOTHING, MAY}};
static const member of_completion[] = {{"values", STRINGS, MUST},
                                       {"total", NUMBER, MAY},
                                       {"hasMore", FLAG, MAY},
                                       {NULL, NOTHING, MAY}};

static const member *const tables[] = {
    [ANNOTATIONS] = of_annotations, [COMPLETION] = of_completion,
    [RESOURCES] = of_resource,      [TEMPLATES] = of_template,
    [PROMPTS] = of_prompt,          [ARGUMENTS] = of_argument,
    [MESSAGES] = of_message,
};

/* The results. */
static const member results[][3] = {
    [GBX_RESULT_RESOURCES] = {{"resources", RESOURCES, MUST}, {NULL, NOTHING, MAY}},
    [GBX_RESULT_TEMPLATES] = {{"resourceTemplates", TEMPLATES, MUST},
                              {NULL, NOTHING, MAY}},
    [GBX_RESULT_PROMPTS] = {{"prompts", PROMPTS, MUST}, {NULL, NOTHING, MAY}},
    [GBX_RESULT_CONTENTS] = {{"contents", CONTENTS, MUST}, {NULL, NOTHING, MAY}},
    [GBX_RESULT_PROMPT] = {{"description", SHOWN, MAY},
                           {"messages", MESSAGES, MUST},
                           {NULL, NOTHING, MAY}},
    [GBX_RESULT_COMPLETION] = {{"completion", COMPLETION, MUST}, {NULL, NOTHING, MAY}},
};

/* What is being written. */
typedef struct writer {
    gbx_buf *to;
    size_t data_len;    /* of the base64 in it */
    const char *server; /* whose URIs and names are written, or NULL: as they are */
    const char *version;
    const gbx_entry_filter *filter; /* of a list, or NULL */
} writer;

/* ---- members --------------------------------------------------------------------- */

/* Append base64 in the standard form, which every client reads. */
static bool put_base64(gbx_view view, writer *w)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf data = {.ceiling = CONTENT_MAX};
    size_t before = w->to->len;
    bool is_put;

    is_put = gbx_view_take_text(view, &data) &&
             (data.len == 0 || gbx_base64_undo(&data)) && gbx_buf_puts(w->to, "\"") &&
             gbx_base64_append(w->to, data.data, data.len) && gbx_buf_puts(w->to, "\"");
    w->data_len += w->to->len - before;
    return is_put;
}

static bool put_shown(gbx_view view, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = CONTENT_MAX};

    if (!gbx_view_append_text(view, &text))
        return false;
    if (gbx_utf8_unescaped(text.data, text.len, GBX_ESCAPE_TEXT) == text.len)
        return gbx_buf_append(to, view.at, view.len);
    return gbx_json_append_shown(to, text.data, text.len);
}

/* Plain digits only: JSON allows numbers that clients cannot represent. */
static bool is_plain_number(gbx_view view)
{
    return gbx_view_kind(view) == '0' && view.len <= 15 &&
           strspn(view.at, "0123456789.") >= view.len;
}

static bool is_audience(gbx_view view)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view role;

    if (gbx_view_kind(view) != '[' || view.len > 256)
        return false;
    while (gbx_view_next(view, &cursor, &none, &role))
        if (!gbx_view_is_text(role, "user") && !gbx_view_is_text(role, "assistant"))
            return false;
    return true;
}

/* From 0 to 1. */
static bool is_priority(gbx_view view)
{
    size_t len = *view.at == '1' && view.len > 1 && view.at[1] == '.' ? 2 : 1;

    return is_plain_number(view) &&
           (*view.at == '0' ||
            (*view.at == '1' && len + strspn(view.at + len, "0") >= view.len &&
             (len == 2 || view.len == 1)));
}

static bool put_object(gbx_view view, const member *members, writer *w);
static bool put_block(gbx_view block, writer *w);
static void put_as_text(gbx_view value, gbx_buf *to);

/* False: a client could not give it back as it is. */
static bool put_named(gbx_view view, const char *scheme, writer *w)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_NAMED_MAX};
    size_t start = 0;

    if (w->server == NULL)
        return gbx_buf_append(w->to, view.at, view.len);
    (void)gbx_buf_printf(&text, "%s%s/", scheme, w->server);
    start = text.len;
    return gbx_view_take_text(view, &text) && text.len > start &&
           gbx_utf8_unescaped(text.data, text.len, GBX_ESCAPE_LINE | GBX_ESCAPE_ALL) ==
               text.len &&
           gbx_json_append_string(w->to, text.data, text.len);
}

static bool put_list(gbx_view list, member_kind kind, writer *w)
{
    gbx_buf *to = w->to;
    size_t cursor = 0;
    gbx_view none;
    gbx_view item;

    (void)gbx_buf_puts(to, "[");
    while (!to->failed && gbx_view_next(list, &cursor, &none, &item)) {
        const member *table = kind != CONTENTS ? tables[kind]
                              : gbx_view_kind(gbx_view_member(item, "text")) == '"'
                                  ? of_whole_text
                                  : of_blob;
        size_t before = to->len;

        if (w->filter != NULL && kind != ARGUMENTS &&
            !w->filter->passes(w->filter->user, item))
            continue;
        gbx_json_put_key(to, NULL);
        if (!put_object(item, table, w) && !to->failed)
            to->len = before;
    }
    return gbx_buf_puts(to, "]");
}

static bool put_content(gbx_view block, writer *w)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = CONTENT_MAX};
    writer own = *w;

    own.to = &text;
    if (!put_block(block, &own))
        put_as_text(block, &text);
    return !text.failed && gbx_buf_append(w->to, text.data, text.len);
}

static bool put_value(gbx_view value, member_kind kind, writer *w)
{
    if (kind == RESOURCE)
        return put_object(value,
                          gbx_view_member(value, "text").at != NULL ? of_text : of_blob,
                          w);
    if (kind == ANNOTATIONS || kind == COMPLETION)
        return put_object(value, tables[kind], w);
    if (kind >= RESOURCES)
        return put_list(value, kind, w);
    if (kind == BLOCK)
        return put_content(value, w);
    if (kind == URI)
        return put_named(value, GBX_PROXY_SCHEME, w);
    if (kind == NAME)
        return put_named(value, "", w);
    if (kind == BASE64)
        return put_base64(value, w);
    if (kind == SHOWN)
        return put_shown(value, w->to);
    return gbx_buf_append(w->to, value.at, value.len);
}

static bool are_strings(gbx_view list)
{
    size_t cursor = 0;
    gbx_view none;
    gbx_view item;

    while (gbx_view_next(list, &cursor, &none, &item))
        if (gbx_view_kind(item) != '"')
            return false;
    return gbx_view_kind(list) == '[';
}

static bool is_fit(gbx_view value, member_kind kind)
{
    switch (kind) {
    case TEXT:
    case SHOWN:
    case URI:
    case NAME:
    case BASE64: return gbx_view_kind(value) == '"';
    case NUMBER: return is_plain_number(value);
    case FLAG: return gbx_view_kind(value) == 't' || gbx_view_kind(value) == 'f';
    case ROLE:
        return gbx_view_is_text(value, "user") || gbx_view_is_text(value, "assistant");
    case STRINGS: return are_strings(value);
    case RESOURCES:
    case TEMPLATES:
    case PROMPTS:
    case ARGUMENTS:
    case CONTENTS:
    case MESSAGES: return gbx_view_kind(value) == '[';
    case BLOCK:
    case COMPLETION:
    case OBJECT:
    case RESOURCE:
    case ANNOTATIONS: return gbx_view_kind(value) == '{';
    case AUDIENCE: return is_audience(value);
    case PRIORITY: return is_priority(value);
    case NOTHING:
    default: return false;
    }
}

/* Only the first of duplicate members is used. */
static bool put_members(gbx_view object, const member *members, writer *w)
{
    const char *names[MEMBERS_MAX] = {NULL};
    gbx_view values[MEMBERS_MAX];
    size_t count = 0;

    for (; members[count].kind != NOTHING; count++)
        names[count] = members[count].name;
    gbx_view_members(object, names, count, values);
    for (size_t i = 0; i < count; i++) {
        if (!is_fit(values[i], members[i].kind)) {
            if (members[i].need == MUST)
                return false;
            continue;
        }
        gbx_json_put_key(w->to, names[i]);
        if (!put_value(values[i], members[i].kind, w))
            return false;
    }
    return true;
}

static bool put_object(gbx_view view, const member *members, writer *w)
{
    return gbx_buf_puts(w->to, "{") && put_members(view, members, w) &&
           gbx_buf_puts(w->to, "}");
}

/* ---- blocks ---------------------------------------------------------------------- */

/* Append the block. False: not valid in that version, and nothing appended. */
static bool put_block(gbx_view block, writer *w)
{
    gbx_view type = gbx_view_member(block, "type");
    gbx_buf *to = w->to;
    size_t before = to->len;

    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (!gbx_view_is_text(type, types[i].name) ||
            strcmp(w->version, types[i].since) < 0)
            continue;
        gbx_json_put_open(to, NULL, '{');
        gbx_json_put_text(to, "type", types[i].name);
        w->data_len = 0;
        if (!to->failed && put_members(block, types[i].members, w) &&
            put_members(block, common, w) && gbx_buf_puts(to, "}"))
            return true;
    }
    w->data_len = 0;
    if (!to->failed)
        to->len = before;
    return false;
}

/* JSON as text. */
static void put_as_text(gbx_view value, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = CONTENT_MAX};

    (void)gbx_view_append_json(value, &text);
    gbx_block_text(to, text.data, text.len);
    to->failed = to->failed || text.failed;
}

/* False: they do not all fit. */
static bool put_all(gbx_view content, const gbx_blocks_room *room, gbx_buf *to)
{
    writer w = {.to = to, .server = room->server, .version = room->version};
    size_t start = to->len;
    size_t data_len = 0;
    size_t cursor = 0;
    gbx_view none;
    gbx_view block;

    while (gbx_view_next(content, &cursor, &none, &block)) {
        if (!put_block(block, &w))
            put_as_text(block, to);
        data_len += w.data_len;
        if (to->failed || to->len - start - data_len > room->max)
            return false;
    }
    return true;
}

/* ---- too much -------------------------------------------------------------------- */

/* Join texts, and blocks shown as text, with newlines. Append images and files to
 * `files` while their members besides the data fit. Returns how many did not fit;
 * *ret_used: the bytes of those that did, without data. */
static size_t part(gbx_view content, const gbx_blocks_room *room, gbx_buf *texts,
                   gbx_buf *files, size_t *ret_used)
{
    writer w = {.to = files, .server = room->server, .version = room->version};
    size_t max = room->max / 4;
    size_t data_len = 0;
    size_t left_out = 0;
    size_t cursor = 0;
    bool is_first = true;
    gbx_view none;
    gbx_view block;

    while (gbx_view_next(content, &cursor, &none, &block)) {
        gbx_view text = gbx_value_text_of(block);
        size_t before = files->len;

        if (text.at == NULL && put_block(block, &w)) {
            if (w.data_len > 0 && files->len - data_len - w.data_len <= max) {
                data_len += w.data_len;
                continue;
            }
            files->len = before;
            if (w.data_len > 0) {
                left_out++;
                continue;
            }
        }
        if (!is_first)
            (void)gbx_buf_puts(texts, "\n");
        is_first = false;
        (void)gbx_view_append_text(text.at != NULL ? text : block, texts);
    }
    *ret_used = files->len - data_len;
    return left_out;
}

/* Write one text, cut if necessary, and a link to the whole. */
static void put_text(const gbx_buf *text, gbx_escape how, size_t max,
                     const gbx_blocks_room *room, gbx_buf *to, gbx_buf *left_out)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf shown = {.ceiling = CONTENT_MAX};
    gbx_excerpt cut = gbx_excerpt_text((char *)text->data, text->len, max, room->store,
                                       room->name, "text/plain", room->now_ns);

    gbx_excerpt_say(&cut, "result", room->max, left_out);
    gbx_excerpt_append(&cut, how, &shown);
    gbx_block_text(to, shown.data, shown.len);
    if (strcmp(room->version, GBX_MCP_LINKS_SINCE) >= 0)
        gbx_excerpt_link(&cut, room->name, "text/plain", to);
    to->failed = to->failed || shown.failed;
}

static void put_cut(gbx_view content, const gbx_blocks_room *room, gbx_buf *to,
                    gbx_buf *left_out)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf texts = {.ceiling = CONTENT_MAX};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf files = {.ceiling = CONTENT_MAX};
    size_t used;
    size_t without;

    without = part(content, room, &texts, &files, &used);
    if (texts.len > 0)
        put_text(&texts, GBX_ESCAPE_TEXT, room->max - used, room, to, left_out);
    if (without > 0)
        (void)gbx_buf_printf(left_out, "[%zu more images or files are left out]\n",
                             without);
    if (files.len > 0) {
        gbx_json_put_key(to, NULL);
        (void)gbx_buf_append(to, files.data, files.len);
    }
    to->failed = to->failed || texts.failed || files.failed;
}

void gbx_blocks_write(gbx_view content, const gbx_blocks_room *room, gbx_buf *to,
                      gbx_buf *left_out)
{
    size_t before = to->len;

    if (gbx_view_kind(content) != '[' || put_all(content, room, to) || to->failed)
        return;
    to->len = before;
    put_cut(content, room, to, left_out);
}

void gbx_blocks_json(gbx_view value, const gbx_blocks_room *room, gbx_buf *to,
                     gbx_buf *left_out)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = CONTENT_MAX};

    (void)gbx_view_append_json(value, &text);
    put_text(&text, GBX_ESCAPE_JSON, room->max, room, to, left_out);
    to->failed = to->failed || text.failed;
}

void gbx_block_text(gbx_buf *to, const void *text, size_t len)
{
    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_text(to, "type", "text");
    gbx_json_put_shown(to, "text", text != NULL ? text : "", len);
    (void)gbx_buf_puts(to, "}");
}

void gbx_block_link(gbx_buf *to, const char *uri, const char *name,
                    const char *mime_type, size_t bytes)
{
    gbx_json_put_open(to, NULL, '{');
    gbx_json_put_text(to, "type", "resource_link");
    gbx_json_put_shown(to, "uri", uri, strlen(uri));
    gbx_json_put_shown(to, "name", name, strlen(name));
    gbx_json_put_shown(to, "mimeType", mime_type, strlen(mime_type));
    gbx_json_put_integer(to, "size", (int64_t)bytes);
    (void)gbx_buf_puts(to, "}");
}

void gbx_excerpt_link(const gbx_excerpt *cut, const char *name, const char *mime_type,
                      gbx_buf *to)
{
    if (cut->uri[0] != 0)
        gbx_block_link(to, cut->uri, name, mime_type, cut->total);
}

/* ---- what servers have besides tools ------------------------------------------------ */

bool gbx_result_write(gbx_view result, gbx_result_kind kind, const char *server,
                      const char *version, const gbx_entry_filter *filter, gbx_buf *to)
{
    writer w = {.to = to, .server = server, .version = version, .filter = filter};

    return put_members(result, results[kind], &w);
}
