/* SPDX-License-Identifier: MIT */
/*
 * args_open - accepts the arguments of a call if every parser reads the same
 * values from them.
 *
 * An error names the argument and says what to write instead: the author of the call
 * cannot guess which text was cut inside a character.
 */
#include "mcp/rules/rules.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/json_view.h"
#include "base/utf8.h"
#include "mcp/rules/internal.h"

#define ARGS_MAX  GBX_MIB(16)
#define WHERE_MAX 512 /* a longer path is left out */
#define STEPS_MAX 16  /* deeper steps are left out: each level is parsed again */

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

/* The path of a place in the text: "items[3].name". */
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

static void say_why(const char *text, size_t len, size_t place, const char *fault,
                    gbx_buf *why)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf path;

    gbx_buf_init(&path, WHERE_MAX);
    find_path(text, len, place, &path);
    if (path.failed || path.len == 0)
        (void)gbx_buf_printf(why, "an argument %s", fault);
    else
        (void)gbx_buf_printf(why, "the argument '%.*s' %s", (int)path.len,
                             (char *)path.data, fault);
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_gate_args_open(const char *text, size_t len, gbx_view *ret, gbx_buf *why)
{
    const char *fault;
    gbx_view args;
    size_t place;

    if (len > ARGS_MAX) {
        (void)gbx_buf_puts(why, "the arguments are larger than 16 MiB");
        return false;
    }
    if (!gbx_json_check(text, len, GBX_ALIKE_DEPTH, NULL) ||
        !gbx_view_open(text, len, &args)) {
        (void)gbx_buf_puts(why,
                           "the arguments are not JSON, or are nested deeper than 200");
        return false;
    }
    if (gbx_view_kind(args) != '{') {
        (void)gbx_buf_puts(why, "the arguments are not an object");
        return false;
    }
    fault = gbx_ambiguity(args.at, args.len, &place);
    if (fault != NULL) {
        say_why(args.at, args.len, place, fault, why);
        return false;
    }
    *ret = args;
    return true;
}
