/* SPDX-License-Identifier: MIT */
/*
 * shown_arguments - the arguments of a call as a person sees them.
 *
 * The author of a call could hide its point behind long texts. So long values are
 * shortened, the longest most, until every argument is visible. A call that is not
 * shown completely can be allowed, but nothing else with it.
 */
#include "mcp/approval/tool_call.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#define SHOWN_ARGS 3000 /* bytes of arguments */
#define WHOLE_MAX \
    GBX_MIB(128) /* limit before it is cut to SHOWN_ARGS: a byte may take six */

/* Texts are shortened to LONGEST, halved with each try down to SHORTEST; lists to a
 * fraction of that. */
#define LONGEST  2048u
#define SHORTEST 32u
#define ITEMS_OF 32u

/* One try: if the output does not fit into `to`, the try has failed. */
typedef struct sheet {
    gbx_buf *to;
    size_t limit; /* of each text */
} sheet;

static void put_value(sheet *s, gbx_view value, size_t depth);

static void put_line(sheet *s, size_t depth)
{
    (void)gbx_buf_printf(s->to, "\n%*s", (int)depth * 2, "");
}

static void put_text(gbx_buf *to, gbx_view text, size_t limit)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf whole;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf ends;

    gbx_buf_init(&whole, text.len);
    gbx_buf_init(&ends, text.len + GBX_KIB(1));
    if (!gbx_view_append_text(text, &whole) ||
        !gbx_utf8_append_ends(&ends, whole.data, whole.len, limit))
        to->failed = true;
    else if (gbx_view_kind(text) == '"')
        (void)gbx_json_append_string(to, ends.data, ends.len);
    else
        (void)gbx_buf_append(to, ends.data, ends.len);
}

/* Put the first items of an array or object that is not empty. */
static void put_first(sheet *s, gbx_view value, size_t most, size_t depth)
{
    bool named = gbx_view_kind(value) == '{';
    size_t cursor = 0;
    size_t count = 0;
    gbx_view name, item;

    (void)gbx_buf_puts(s->to, named ? "{" : "[");
    while (!s->to->failed && gbx_view_next(value, &cursor, &name, &item)) {
        if (count++ >= most)
            continue;
        (void)gbx_buf_puts(s->to, count > 1 ? "," : "");
        put_line(s, depth + 1);
        if (named) {
            put_text(s->to, name, SIZE_MAX);
            (void)gbx_buf_puts(s->to, ": ");
        }
        put_value(s, item, depth + 1);
    }
    if (count > most) {
        (void)gbx_buf_puts(s->to, most > 0 ? "," : "");
        put_line(s, depth + 1);
        (void)gbx_buf_printf(s->to, "%s\"[... %zu more ...]\"",
                             named ? "\"...\": " : "", count - most);
    }
    put_line(s, depth);
    (void)gbx_buf_puts(s->to, named ? "}" : "]");
}

/* The recursion is as deep as the arguments, whose depth is limited. */
static void put_value(sheet *s, gbx_view value, size_t depth)
{
    char kind = gbx_view_kind(value);
    size_t cursor = 0;
    gbx_view name, item;

    if (kind != '{' && kind != '[')
        put_text(s->to, value, s->limit);
    else if (!gbx_view_next(value, &cursor, &name, &item))
        (void)gbx_buf_puts(s->to, kind == '{' ? "{}" : "[]");
    else
        put_first(s, value, depth == 0 ? SIZE_MAX : s->limit / ITEMS_OF, depth);
}

static bool print(gbx_view args, size_t limit, size_t ceiling, gbx_buf *to)
{
    sheet s = {.to = to, .limit = limit};

    gbx_buf_cleanup(to);
    gbx_buf_init(to, ceiling);
    put_value(&s, args, 0);
    return !to->failed;
}

/* ---- for the other parts ---------------------------------------------------- */

bool gbx_gate_show_args(gbx_view args, gbx_buf *to)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text;
    size_t shown;
    bool is_whole;
    bool fits;

    gbx_buf_init(&text, SHOWN_ARGS);
    /* A longer text cannot fit, however it is escaped. */
    is_whole =
        args.len <= (size_t)SHOWN_ARGS * 6 && print(args, SIZE_MAX, SHOWN_ARGS, &text);
    fits = is_whole;
    for (size_t limit = LONGEST; !fits && limit >= SHORTEST; limit /= 2)
        fits = print(args, limit, limit > SHORTEST ? SHOWN_ARGS : WHOLE_MAX, &text);
    if (!fits) {
        (void)gbx_buf_puts(to, "(they cannot be shown)");
        return false;
    }
    shown = text.len;
    if (shown > SHOWN_ARGS)
        for (shown = SHOWN_ARGS; shown > 0 && (text.data[shown] & 0xC0) == 0x80;)
            shown--;
    (void)gbx_utf8_append_escaped(to, text.data, shown,
                                  GBX_ESCAPE_TEXT | GBX_ESCAPE_ALL);
    if (shown < text.len)
        (void)gbx_buf_printf(to, "\n... and %zu bytes more that are not shown here",
                             text.len - shown);
    return is_whole;
}
