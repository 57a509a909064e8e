/* SPDX-License-Identifier: MIT */
/* json_reader - see json_reader.h. */
#include "policy/json_reader.h"

#include "base/cleanup.h"
#include "base/edit_distance.h"
#include "base/json.h"
#include "base/utf8.h"
#include "policy/internal.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX    24   /* in one table */
#define MEMBERS_MAX 4096 /* of one object: each name is compared with the others */

/* A decoded string. */
struct gbx_json_string {
    SLIST_ENTRY(gbx_json_string) next;
    size_t size;
    char text[];
};

static void push(gbx_json_reader *r, gbx_view name, gbx_view value, size_t index)
{
    assert(r->depth < GBX_POLICY_DEPTH); /* the tables of keys are no deeper */
    r->path[r->depth++] =
        (gbx_json_place){.name = name, .value = value, .key = "", .index = index};
}

/* The byte offset of the value that is being read, or of its key. */
static size_t offset_of(const gbx_json_reader *r, bool is_key)
{
    const gbx_json_place *at = r->depth > 0 ? &r->path[r->depth - 1] : NULL;
    size_t start = 0;

    if (at != NULL)
        return (size_t)((is_key && at->name.at != NULL ? at->name.at : at->value.at) -
                        r->text);
    while (start < r->len && gbx_json_is_space(r->text[start]))
        start++;
    return start;
}

static gbx_status fail(gbx_json_reader *r, bool is_key, const char *message)
{
    char path[200] = ""; /* of the current value: "fetch.allow[2]" */
    char quote[GBX_QUOTE_SIZE];
    size_t used = 0;
    uint32_t line;
    uint32_t column;

    gbx_utf8_position(r->text, r->len, offset_of(r, is_key), &line, &column);
    for (size_t i = 0; i < r->depth && used < sizeof path; i++) {
        const gbx_json_place *at = &r->path[i];
        int n =
            at->name.at != NULL
                ? snprintf(path + used, sizeof path - used, "%s%.60s", i > 0 ? "." : "",
                           gbx_quote(quote, at->key, strlen(at->key)))
                : snprintf(path + used, sizeof path - used, "[%zu]", at->index);

        used += n > 0 ? (size_t)n : 0;
    }
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

/* Decode a string, which is the current value or its key. */
static gbx_status decode(gbx_json_reader *r, gbx_view view, bool is_key,
                         const char **ret)
{
    struct gbx_json_string *string = malloc(sizeof *string + view.len);
    gbx_buf to;

    if (string == NULL)
        return gbx_list_nomem(r->err);
    string->size = view.len;
    SLIST_INSERT_HEAD(&r->strings, string, next);
    /* With its NUL it is never longer than its text with the quotes. */
    to = (gbx_buf){.data = (uint8_t *)string->text,
                   .capacity = view.len,
                   .ceiling = view.len};
    if (!gbx_view_take_text(view, &to))
        return fail(r, is_key, "an escape in the string stands for no character");
    if (memchr(string->text, '\0', to.len) != NULL)
        return fail(r, is_key, "a string here cannot hold NUL");
    string->text[to.len] = '\0';
    *ret = string->text;
    return GBX_OK;
}

gbx_status gbx_json_open(gbx_json_reader *r, const char *what, size_t bytes_max,
                         size_t depth_max, gbx_view *ret)
{
    gbx_json_fault fault;

    if (r->len > bytes_max)
        return gbx_fail(r->err, GBX_E_POLICY, "the %s is larger than %zu bytes", what,
                        bytes_max);
    if (!gbx_json_check(r->text, r->len, depth_max, &fault))
        return gbx_fail_at(r->err, GBX_E_POLICY, fault.line, fault.column, "%s",
                           fault.message);
    (void)gbx_view_open(r->text, r->len, ret);
    return GBX_OK;
}

void gbx_json_end(gbx_json_reader *r)
{
    struct gbx_json_string *string;

    while ((string = SLIST_FIRST(&r->strings)) != NULL) {
        SLIST_REMOVE_HEAD(&r->strings, next);
        explicit_bzero(string->text, string->size); /* it may be a secret */
        free(string);
    }
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

gbx_status gbx_json_refuse_type(gbx_json_reader *r, gbx_view value, const char *wanted)
{
    static const char kinds[] = "{[\"0tfn";
    static const char *const names[] = {"an object", "an array", "a string", "a number",
                                        "true",      "false",    "null"};

    return gbx_json_refuse(r, "this is %s, where %s belongs",
                           names[strchr(kinds, gbx_view_kind(value)) - kinds], wanted);
}

gbx_status gbx_json_read_text(gbx_json_reader *r, gbx_view value, const char *wanted,
                              const char **ret)
{
    return gbx_view_kind(value) == '"' ? decode(r, value, false, ret)
                                       : gbx_json_refuse_type(r, value, wanted);
}

gbx_status gbx_json_read_bool(gbx_json_reader *r, gbx_view value, bool *ret)
{
    *ret = gbx_view_is_true(value);
    return *ret || gbx_view_kind(value) == 'f'
               ? GBX_OK
               : gbx_json_refuse_type(r, value, "true or false");
}

gbx_status gbx_json_require(gbx_json_reader *r, gbx_view value, const char *key,
                            const char *why)
{
    if (gbx_view_member(value, key).at != NULL)
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

/* Refuse a name that is in the list already, else add it. */
static gbx_status check_once(gbx_json_reader *r, const char ***names, size_t count,
                             const char *name)
{
    const char **room;

    for (size_t i = 0; i < count; i++)
        if (strcmp((*names)[i], name) == 0)
            return gbx_json_refuse_key(r, "the key is there twice: leave one out");
    if (count == MEMBERS_MAX)
        return gbx_json_refuse_key(r, "there are more than %d members", MEMBERS_MAX);
    room = gbx_list_room(names, count, sizeof *room);
    if (room == NULL)
        return gbx_list_nomem(r->err);
    *room = name;
    return GBX_OK;
}

static gbx_status walk(gbx_json_reader *r, gbx_view object, bool is_once,
                       gbx_json_member_fn read, void *target)
{
    GBX_CLEANUP(gbx_free) const char **names = NULL;
    gbx_status status = GBX_OK;
    size_t cursor = 0;
    gbx_view name;
    gbx_view value;

    if (gbx_view_kind(object) != '{')
        return gbx_json_refuse_type(r, object, "an object");
    for (size_t i = 0;
         status == GBX_OK && gbx_view_next(object, &cursor, &name, &value); i++) {
        gbx_json_place *at = &r->path[r->depth];

        push(r, name, value, i);
        status = decode(r, name, true, &at->key);
        if (status == GBX_OK && is_once)
            status = check_once(r, &names, i, at->key);
        if (status == GBX_OK)
            status = read(r, at->key, value, target);
        r->depth--;
    }
    return status;
}

gbx_status gbx_json_read_members(gbx_json_reader *r, gbx_view value,
                                 gbx_json_member_fn read, void *target)
{
    return walk(r, value, true, read, target);
}

gbx_status gbx_json_each_member(gbx_json_reader *r, gbx_view value,
                                gbx_json_member_fn read, void *target)
{
    return walk(r, value, false, read, target);
}

gbx_status gbx_json_read_member(gbx_json_reader *r, gbx_view object, const char *name,
                                gbx_json_member_fn read, void *target)
{
    gbx_status status = GBX_OK;
    bool is_there = false;
    size_t cursor = 0;
    gbx_view key;
    gbx_view value;

    if (gbx_view_kind(object) != '{')
        return gbx_json_refuse_type(r, object, "an object");
    while (status == GBX_OK && gbx_view_next(object, &cursor, &key, &value)) {
        if (!gbx_view_is_text(key, name))
            continue;
        push(r, key, value, 0);
        r->path[r->depth - 1].key = name;
        status = is_there
                     ? gbx_json_refuse_key(r, "the key is there twice: leave one out")
                     : read(r, name, value, target);
        is_there = true;
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

static gbx_status read_by_row(gbx_json_reader *r, const char *name, gbx_view value,
                              void *target)
{
    const rows *of = target;
    const char *names[KEYS_MAX];
    char quote[GBX_QUOTE_SIZE];
    const char *nearest;

    for (size_t i = 0; i < of->count; i++)
        if (strcmp(of->keys[i].name, name) == 0) {
            r->row = &of->keys[i];
            return r->row->read(r, value, of->target);
        }
    assert(of->count <= KEYS_MAX);
    for (size_t i = 0; i < of->count; i++)
        names[i] = of->keys[i].name;
    nearest = gbx_nearest(name, names, of->count);
    if (nearest != NULL)
        return gbx_json_refuse_key(r, "unknown key: did you mean '%s'?", nearest);
    (void)gbx_quote(quote, name, strlen(name));
    return gbx_json_refuse_key(r, "unknown key '%s'", quote);
}

gbx_status gbx_json_read_object(gbx_json_reader *r, gbx_view value,
                                const gbx_json_key *keys, size_t count, void *target)
{
    return gbx_json_read_members(r, value, read_by_row, &(rows){keys, count, target});
}

gbx_status gbx_json_read_items(gbx_json_reader *r, gbx_view value,
                               gbx_json_value_fn read, void *target)
{
    gbx_status status = GBX_OK;
    size_t cursor = 0;
    gbx_view name;
    gbx_view item;

    if (gbx_view_kind(value) != '[')
        return gbx_json_refuse_type(r, value, "an array");
    for (size_t i = 0; status == GBX_OK && gbx_view_next(value, &cursor, &name, &item);
         i++) {
        push(r, name, item, i);
        status = read(r, item, target);
        r->depth--;
    }
    return status;
}

/* The function that adds each element of an array of strings. */
typedef struct adder {
    gbx_json_text_fn add;
    void *target;
} adder;

static gbx_status add_item(gbx_json_reader *r, gbx_view value, void *target)
{
    const adder *to = target;
    const char *text = "";
    gbx_status status = gbx_json_read_text(r, value, "a string", &text);

    if (status != GBX_OK)
        return status;
    return gbx_json_placed(r, to->add(r, text, strlen(text), to->target));
}

gbx_status gbx_json_read_texts(gbx_json_reader *r, gbx_view value, gbx_json_text_fn add,
                               void *target)
{
    if (gbx_view_kind(value) != '[')
        return gbx_json_refuse_type(r, value, "an array of strings");
    return gbx_json_read_items(r, value, add_item, &(adder){add, target});
}

gbx_status gbx_json_read_list(gbx_json_reader *r, gbx_view value, void *target)
{
    if (gbx_view_kind(value) == '[' && gbx_view_count(value) == 0)
        return gbx_json_refuse(r, "the list is empty: leave the key out");
    return gbx_json_read_texts(r, value, r->row->add, target);
}

gbx_status gbx_json_read_number(gbx_json_reader *r, gbx_view value, void *target)
{
    const gbx_json_key *key = r->row;
    char *field = (char *)target + key->offset;
    char *end;
    uint64_t number;

    if (gbx_view_kind(value) != '0' || memchr(value.at, '.', value.len) != NULL ||
        memchr(value.at, 'e', value.len) != NULL ||
        memchr(value.at, 'E', value.len) != NULL)
        return gbx_json_refuse_type(r, value, "a whole number");
    number = strtoull(value.at, &end, 10); /* UINT64_MAX if it is larger */
    assert(end == value.at + value.len);
    if (*value.at == '-' || number < key->min || number > key->max)
        return gbx_json_refuse(r, "this is from %llu to %llu, not %.*s",
                               (unsigned long long)key->min,
                               (unsigned long long)key->max,
                               (int)(value.len < 40 ? value.len : 40), value.at);
    if (key->size == sizeof(uint32_t))
        *(uint32_t *)(void *)field = (uint32_t)number;
    else
        *(uint64_t *)(void *)field = number;
    return GBX_OK;
}
