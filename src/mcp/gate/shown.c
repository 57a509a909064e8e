/* SPDX-License-Identifier: MIT */
/*
 * shown - the arguments of a call as a person is shown them.
 *
 * Whoever writes a call could put what it is about behind what is long: so all that is
 * long is shortened, the longest most, until every argument is there.
 */
#include "mcp/gate/parts.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "policy/json_text.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN_ARGS 3000 /* bytes of arguments */

/* What texts are shortened to, and lists to a part of that: by half each time. */
#define LONGEST  2048u
#define SHORTEST 32u
#define ITEMS_OF 32u

/* What these return is the caller's; NULL: memory is out. */
static json_t *shorten(json_t *value, size_t limit);

static json_t *shorten_text(json_t *text, size_t limit)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf ends;
    size_t len = json_string_length(text);

    gbx_buf_init(&ends, GBX_KIB(4));
    if (len <= limit)
        return json_incref(text);
    if (!gbx_utf8_append_ends(&ends, json_string_value(text), len, limit))
        return NULL;
    return json_stringn((const char *)ends.data, ends.len);
}

static json_t *note_rest(size_t count)
{
    return json_sprintf("[... %zu more ...]", count);
}

static json_t *shorten_array(json_t *array, size_t limit)
{
    json_t *copy = json_array();
    size_t count = json_array_size(array);
    size_t most = limit / ITEMS_OF;
    int failed = 0;

    for (size_t i = 0; i < count && i < most; i++)
        failed |= json_array_append_new(copy, shorten(json_array_get(array, i), limit));
    if (count > most)
        failed |= json_array_append_new(copy, note_rest(count - most));
    if (failed == 0)
        return copy;
    json_decref(copy);
    return NULL;
}

static json_t *shorten_object(json_t *object, size_t limit, size_t most)
{
    json_t *copy = json_object();
    size_t count = json_object_size(object);
    size_t done = 0;
    int failed = 0;
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        if (done++ == most)
            break;
        failed |= json_object_set_new(copy, name, shorten(value, limit));
    }
    if (count > most)
        failed |= json_object_set_new(copy, "...", note_rest(count - most));
    if (failed == 0)
        return copy;
    json_decref(copy);
    return NULL;
}

static json_t *shorten(json_t *value, size_t limit)
{
    if (json_is_string(value))
        return shorten_text(value, limit);
    if (json_is_array(value))
        return shorten_array(value, limit);
    if (json_is_object(value))
        return shorten_object(value, limit, limit / ITEMS_OF);
    return json_incref(value);
}

static char *print(json_t *args, size_t limit)
{
    json_t *shorter = shorten_object(args, limit, SIZE_MAX);
    char *text = shorter != NULL ? gbx_json_text(shorter, JSON_INDENT(2)) : NULL;

    json_decref(shorter);
    return text;
}

/* ---- for the other parts ---------------------------------------------------- */

bool gbx_gate_show_args(json_t *args, gbx_buf *to)
{
    GBX_CLEANUP(gbx_free) char *text = gbx_json_text(args, JSON_INDENT(2));
    size_t limit = LONGEST;
    size_t shown;
    size_t len;

    for (; text != NULL && strlen(text) > SHOWN_ARGS && limit >= SHORTEST; limit /= 2) {
        free(text);
        text = print(args, limit);
    }
    if (text == NULL) {
        (void)gbx_buf_puts(to, "(they cannot be shown)");
        return false;
    }
    len = shown = strlen(text);
    if (shown > SHOWN_ARGS)
        for (shown = SHOWN_ARGS; shown > 0 && ((uint8_t)text[shown] & 0xC0) == 0x80;)
            shown--;
    (void)gbx_utf8_append_escaped(to, text, shown, GBX_ESCAPE_TEXT | GBX_ESCAPE_SHAPES);
    if (shown < len)
        (void)gbx_buf_printf(to, "\n... and %zu bytes more that are not shown here",
                             len - shown);
    return shown == len;
}
