/* SPDX-License-Identifier: MIT */
/*
 * args_open - arguments as values, if every parser makes the same ones of them.
 *
 * What is refused is named, with what to write instead: who made the call cannot guess
 * which of its texts was cut inside a character.
 */
#include "mcp/rules/rules.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_view.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define ARGS_MAX  GBX_MIB(16)
#define DEPTH_MAX 200
#define WHERE_MAX 512 /* a longer path is not told */
#define STEPS_MAX 16  /* nor the rest of a deeper one: each level is read again */

/* No deeper than DEPTH_MAX. */
static bool has_proto(const json_t *value)
{
    if (json_is_array(value)) {
        for (size_t i = 0; i < json_array_size(value); i++)
            if (has_proto(json_array_get(value, i)))
                return true;
        return false;
    }
    for (void *at = json_object_iter((json_t *)(uintptr_t)value); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)value, at))
        if (strcmp(json_object_iter_key(at), "__proto__") == 0 ||
            has_proto(json_object_iter_value(at)))
            return true;
    return false;
}

static bool holds_place(gbx_view view, const char *place)
{
    return view.at != NULL && place >= view.at && place < view.at + view.len;
}

static void put_step(gbx_view name, size_t index, gbx_buf *path)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;

    gbx_buf_init(&text, WHERE_MAX);
    if (name.at == NULL) {
        (void)gbx_buf_printf(path, "[%zu]", index);
        return;
    }
    if (!gbx_view_append_text(name, &text))
        path->failed = true;
    (void)gbx_buf_puts(path, path->len > 0 ? "." : "");
    (void)gbx_utf8_append_escaped(path, text.data, text.len, GBX_ESCAPE_LINE);
}

/* What holds the place in the text, as "items[3].name". */
static void find_path(const char *text, size_t len, size_t place, gbx_buf *path)
{
    gbx_view at;
    gbx_view name = {0};
    gbx_view value;

    if (!gbx_view_open(text, len, &at))
        return;
    for (size_t step = 0; step < STEPS_MAX && !holds_place(name, text + place);
         step++) {
        size_t cursor = 0;
        size_t index = 0;

        do {
            if (!gbx_view_next(at, &cursor, &name, &value))
                return;
            index++;
        } while (!holds_place(name, text + place) && !holds_place(value, text + place));
        put_step(name, index - 1, path);
        at = value;
    }
}

/* The parser stands after the token that it does not take. */
static void say_why(const char *text, size_t len, const json_error_t *e, gbx_buf *why)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf path;
    const char *what =
        "holds half of a character: where a text is cut, cut whole ones, "
        "[...text].slice(0, n).join(\"\"), or send text.toWellFormed()";
    size_t end = e->position > 0 ? (size_t)e->position : 1;

    gbx_buf_init(&path, WHERE_MAX);
    if (json_error_code(e) == json_error_numeric_overflow)
        what = "is a number that not every program reads alike: send it as text";
    else if (json_error_code(e) == json_error_duplicate_key)
        what = "is there twice";
    else if (json_error_code(e) == json_error_null_byte_in_key)
        what = "has NUL in its name";
    else if (json_error_code(e) == json_error_out_of_memory)
        what = "does not fit in memory";
    find_path(text, len, end - 1, &path);
    if (path.failed || path.len == 0)
        (void)gbx_buf_printf(why, "an argument %s", what);
    else
        (void)gbx_buf_printf(why, "the argument '%.*s' %s", (int)path.len,
                             (char *)path.data, what);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_gate_args_open(const char *text, size_t len, json_t **ret, gbx_buf *why)
{
    json_error_t e;
    json_t *args;

    if (len > ARGS_MAX) {
        (void)gbx_buf_puts(why, "the arguments are larger than 16 MiB");
        return false;
    }
    if (!gbx_json_check(text, len, DEPTH_MAX, NULL)) {
        (void)gbx_buf_puts(why,
                           "the arguments are not JSON, or are nested deeper than 200");
        return false;
    }
    args = json_loadb(text, len,
                      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &e);
    if (args == NULL) {
        say_why(text, len, &e, why);
        return false;
    }
    if (json_is_object(args) && !has_proto(args)) {
        *ret = args;
        return true;
    }
    (void)gbx_buf_puts(why, json_is_object(args) ? "no argument is called '__proto__'"
                                                 : "the arguments are no object");
    json_decref(args);
    return false;
}
