/* SPDX-License-Identifier: MIT */
/* json_reader - objects by tables of keys, and refusals with their position. */
#include "policy/json_reader.h"

#include "base/edit_distance.h"
#include "base/json.h"
#include "base/json_view.h"
#include "base/utf8.h"
#include "policy/internal.h"

#include <assert.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- positions ----------------------------------------------------------- */

/*
 * The library that parses the text into values keeps no positions; only a refused value
 * needs one. So the text is walked again, to the member with the same number: a path of
 * ordinals, since members keep their order.
 */

/* The byte offset of the value that is being read, or of its key. */
static size_t offset_of(const gbx_json_reader *r, bool is_key)
{
    gbx_view name = {0};
    gbx_view value;

    if (!gbx_view_open(r->text, r->len, &value))
        return 0;
    for (size_t i = 0; i < r->depth; i++) {
        gbx_view container = value;
        size_t cursor = 0;

        for (size_t n = 0; n <= r->path[i]; n++)
            (void)gbx_view_next(container, &cursor, &name, &value);
    }
    return (size_t)((is_key && name.at != NULL ? name.at : value.at) - r->text);
}

/* The offset of the last token of JSON text that begins before end. */
static size_t token_before(const char *text, size_t len, size_t end)
{
    size_t last = 0;

    for (size_t at = 0; at < end && at < len;) {
        if (memchr(" \t\r\n", text[at], 4) != NULL) {
            at++;
            continue;
        }
        last = at;
        if (text[at] == '"')
            at += gbx_view_string_at(text + at).len;
        else if (memchr("[]{},:", text[at], 6) != NULL)
            at++;
        else
            while (at < len && memchr(" \t\r\n[]{},:", text[at], 10) == NULL)
                at++;
    }
    return last;
}

/* ---- do values match their text? --------------------------------------------- */

/* Walks text and values side by side, since members keep their order. */

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

bool gbx_json_is_whole(const char *text, size_t len, const json_t *value)
{
    gbx_view view;

    return gbx_view_open(text, len, &view) && is_same(view, value);
}

/* ---- the reader -------------------------------------------------------------- */

#define KEYS_MAX 24 /* in one table */

static void push(gbx_json_reader *r, size_t index, const char *key)
{
    assert(r->depth < GBX_POLICY_DEPTH); /* the text was checked to be no deeper */
    r->path[r->depth] = index;
    r->keys[r->depth] = key;
    r->depth++;
}

/* "fetch.allow[2]"; empty for the whole. */
static void print_path(const gbx_json_reader *r, char *out, size_t size)
{
    char quote[GBX_QUOTE_SIZE];
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < r->depth && used < size; i++) {
        int n = r->keys[i] != NULL
                    ? snprintf(out + used, size - used, "%s%.60s", i > 0 ? "." : "",
                               gbx_quote(quote, r->keys[i], strlen(r->keys[i])))
                    : snprintf(out + used, size - used, "[%zu]", r->path[i]);

        used += n > 0 ? (size_t)n : 0;
    }
}

static gbx_status fail(gbx_json_reader *r, bool is_key, const char *message)
{
    size_t at = offset_of(r, is_key);
    char path[200];
    uint32_t line;
    uint32_t column;

    gbx_utf8_position(r->text, r->len, at, &line, &column);
    print_path(r, path, sizeof path);
    return gbx_fail_at(r->err, GBX_E_POLICY, line, column, "%s%s%s", path,
                       path[0] != '\0' ? ": " : "", message);
}

static gbx_status place(gbx_json_reader *r, gbx_status status, bool is_key)
{
    char message[GBX_ERROR_MESSAGE_SIZE];

    if (status != GBX_E_POLICY)
        return status;
    memcpy(message, r->err->message, sizeof message);
    return fail(r, is_key, message);
}

static gbx_status unknown_key(gbx_json_reader *r, const char *name,
                              const gbx_json_key *keys, size_t count)
{
    const char *names[KEYS_MAX];
    char quote[GBX_QUOTE_SIZE];
    const char *nearest;

    assert(count <= KEYS_MAX);
    for (size_t i = 0; i < count; i++)
        names[i] = keys[i].name;
    nearest = gbx_nearest(name, names, count);
    if (nearest != NULL)
        return gbx_json_refuse_key(r, "unknown key: did you mean '%s'?", nearest);
    (void)gbx_quote(quote, name, strlen(name));
    return gbx_json_refuse_key(r, "unknown key '%s'", quote);
}

/* Report what the library that parses values refuses in text that is JSON. */
static gbx_status refuse_text(gbx_json_reader *r, const json_error_t *e)
{
    const char *message;
    size_t at;
    uint32_t line;
    uint32_t column;

    switch ((int)json_error_code(e)) { /* the rest cannot happen: the text is JSON */
    case json_error_duplicate_key:
        message = "the key is there twice: leave one out";
        break;
    case json_error_null_byte_in_key:
    case json_error_null_character: message = "a string here cannot hold NUL"; break;
    case json_error_numeric_overflow: message = "the number is too large"; break;
    default:
        /* The library reports lack of memory as any error, or as none. */
        if (strstr(e->text, "Unicode") == NULL)
            return gbx_list_nomem(r->err);
        message = "an escape in the string stands for no character";
        break;
    }
    at = token_before(r->text, r->len, e->position > 0 ? (size_t)e->position : 1);
    gbx_utf8_position(r->text, r->len, at, &line, &column);
    return gbx_fail_at(r->err, GBX_E_POLICY, line, column, "%s", message);
}

static void wipe_and_free(void *data)
{
    if (data != NULL)
        explicit_bzero(data, malloc_usable_size(data));
    free(data);
}

void gbx_json_wipe_freed(void)
{
    json_set_alloc_funcs(malloc, wipe_and_free);
}

gbx_status gbx_json_decode(gbx_json_reader *r, const char *what, size_t bytes_max,
                           size_t depth_max, json_t **ret)
{
    gbx_json_fault fault;
    json_error_t e = {0}; /* without memory the library may leave it unset */

    if (r->len > bytes_max)
        return gbx_fail(r->err, GBX_E_POLICY, "the %s is larger than %zu bytes", what,
                        bytes_max);
    if (!gbx_json_check(r->text, r->len, depth_max, &fault))
        return gbx_fail_at(r->err, GBX_E_POLICY, fault.line, fault.column, "%s",
                           fault.message);
    *ret = json_loadb(r->text, r->len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
    if (*ret == NULL)
        return refuse_text(r, &e);
    if (gbx_json_is_whole(r->text, r->len, *ret))
        return GBX_OK;
    json_decref(*ret);
    *ret = NULL;
    return gbx_list_nomem(r->err);
}

const char *gbx_json_written(const gbx_json_reader *r, size_t *ret_len)
{
    size_t from = offset_of(r, false);
    size_t to = from;

    while (to < r->len && strchr("+-.0123456789eE", r->text[to]) != NULL &&
           r->text[to] != '\0')
        to++;
    *ret_len = to - from;
    return r->text + from;
}

gbx_status gbx_json_refuse(gbx_json_reader *r, const char *format, ...)
{
    char message[GBX_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fail(r, false, message);
}

gbx_status gbx_json_refuse_key(gbx_json_reader *r, const char *format, ...)
{
    char message[GBX_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fail(r, true, message);
}

gbx_status gbx_json_refuse_type(gbx_json_reader *r, const json_t *value,
                                const char *wanted)
{
    static const char *const types[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
        [JSON_STRING] = "a string",  [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number",    [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };

    return gbx_json_refuse(r, "this is %s, where %s belongs", types[json_typeof(value)],
                           wanted);
}

gbx_status gbx_json_require(gbx_json_reader *r, const json_t *value, const char *key,
                            const char *why)
{
    if (json_object_get(value, key) != NULL)
        return GBX_OK;
    return gbx_json_refuse(r, "'%s' is missing: %s", key, why);
}

gbx_status gbx_json_placed(gbx_json_reader *r, gbx_status status)
{
    return place(r, status, false);
}

gbx_status gbx_json_placed_key(gbx_json_reader *r, gbx_status status)
{
    return place(r, status, true);
}

gbx_status gbx_json_read_members(gbx_json_reader *r, const json_t *value,
                                 gbx_json_member_fn read, void *target)
{
    gbx_status status = GBX_OK;
    size_t index = 0;

    if (!json_is_object(value))
        return gbx_json_refuse_type(r, value, "an object");
    for (void *at = json_object_iter((json_t *)(uintptr_t)value);
         at != NULL && status == GBX_OK;
         at = json_object_iter_next((json_t *)(uintptr_t)value, at), index++) {
        const char *name = json_object_iter_key(at);

        push(r, index, name);
        status = read(r, name, json_object_iter_value(at), target);
        r->depth--;
    }
    return status;
}

/* The rows of an object's keys, and what they fill. */
typedef struct rows {
    const gbx_json_key *keys;
    size_t count;
    void *target;
} rows;

static gbx_status read_by_row(gbx_json_reader *r, const char *name, const json_t *value,
                              void *target)
{
    const rows *of = target;

    for (size_t i = 0; i < of->count; i++)
        if (strcmp(of->keys[i].name, name) == 0)
            return of->keys[i].read(r, value, &of->keys[i], of->target);
    return unknown_key(r, name, of->keys, of->count);
}

gbx_status gbx_json_read_object(gbx_json_reader *r, const json_t *value,
                                const gbx_json_key *keys, size_t count, void *target)
{
    return gbx_json_read_members(r, value, read_by_row, &(rows){keys, count, target});
}

gbx_status gbx_json_read_items(gbx_json_reader *r, const json_t *value,
                               gbx_json_item_fn read, void *target)
{
    gbx_status status = GBX_OK;

    if (!json_is_array(value))
        return gbx_json_refuse_type(r, value, "an array");
    for (size_t i = 0; i < json_array_size(value) && status == GBX_OK; i++) {
        push(r, i, NULL);
        status = read(r, json_array_get(value, i), target);
        r->depth--;
    }
    return status;
}

gbx_status gbx_json_read_texts(gbx_json_reader *r, const json_t *value,
                               gbx_json_text_fn add, void *target)
{
    gbx_status status = GBX_OK;

    if (!json_is_array(value))
        return gbx_json_refuse_type(r, value, "an array of strings");
    for (size_t i = 0; i < json_array_size(value) && status == GBX_OK; i++) {
        const json_t *item = json_array_get(value, i);

        push(r, i, NULL);
        if (!json_is_string(item))
            status = gbx_json_refuse_type(r, item, "a string");
        else
            status = gbx_json_placed(r, add(r, json_string_value(item),
                                            json_string_length(item), target));
        r->depth--;
    }
    return status;
}

gbx_status gbx_json_read_list(gbx_json_reader *r, const json_t *value,
                              const gbx_json_key *key, void *target)
{
    if (json_is_array(value) && json_array_size(value) == 0)
        return gbx_json_refuse(r, "the list is empty: leave the key out");
    return gbx_json_read_texts(r, value, key->add, target);
}

gbx_status gbx_json_read_number(gbx_json_reader *r, const json_t *value,
                                const gbx_json_key *key, void *target)
{
    char *field = (char *)target + key->offset;
    json_int_t number;

    if (!json_is_integer(value))
        return gbx_json_refuse_type(r, value, "a whole number");
    number = json_integer_value(value);
    if (number < 0 || (uint64_t)number < key->min || (uint64_t)number > key->max)
        return gbx_json_refuse(r, "this is from %llu to %llu, not %lld",
                               (unsigned long long)key->min,
                               (unsigned long long)key->max, (long long)number);
    if (key->size == sizeof(uint32_t))
        *(uint32_t *)(void *)field = (uint32_t)number;
    else
        *(uint64_t *)(void *)field = (uint64_t)number;
    return GBX_OK;
}
