/* SPDX-License-Identifier: MIT */
/*
 * types_given - the grammar reads f<T>`x` as two comparisons, TypeScript never does.
 * The text between the brackets is parsed by itself, and removed only if it is type
 * arguments of a call. In import("y").Z, the grammar knows neither type arguments nor
 * that it can be one.
 */
#include "mcp/code/code_mode.h"

#include "guard/arena.h"
#include "guard/tree.h"

#include <ctype.h>
#include <string.h>

#define GIVEN_MAX 300 /* bytes of arguments that are examined */
#define TRY_MORE  8   /* extra cost of a try, in bytes */

const TSLanguage *tree_sitter_typescript(void);

static bool is_name_byte(char c)
{
    return (unsigned char)c >= 0x80 || gbx_text_is_name((unsigned char)c);
}

/* The '<' for the '>' at close, directly after an expression that can have arguments;
 * close: none. */
static size_t find_open(const char *text, size_t close)
{
    size_t first = close > GIVEN_MAX ? close - GIVEN_MAX : 0;
    size_t depth = 1;

    for (size_t at = close; at > first + 1; at--) {
        char c = text[at - 1];

        if (c == '`')
            return close;
        depth += c == '>' && text[at - 2] != '=';
        depth -= c == '<';
        if (depth == 0)
            return is_name_byte(text[at - 2]) || text[at - 2] == ')' ? at - 1 : close;
    }
    return close;
}

static bool is_ascii(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    return true;
}

/* Are [open, close] valid type arguments of a call? ASCII only, so that one blank per
 * byte keeps the columns. */
static bool is_given(const char *text, size_t open, size_t close)
{
    char call[GIVEN_MAX + 8] = "f";
    size_t len = close + 1 - open;
    bool is_one = false;
    gbx_tree t;

    if (len < 3 || len > GIVEN_MAX || !is_ascii(text + open, len))
        return false;
    memcpy(call + 1, text + open, len);
    memcpy(call + 1 + len, "()", 3);
    if (!gbx_tree_parse_as(&t, tree_sitter_typescript(), call, len + 3))
        return false;
    if (!t.has_error) {
        gbx_tree_flatten(&t);
        for (uint32_t i = 0; i < t.count && !is_one; i++)
            is_one = t.nodes[i].start == 1 && t.nodes[i].end == 1 + len &&
                     strcmp(gbx_tree_symbol_name(&t, i), "type_arguments") == 0;
        gbx_arena_free(t.nodes);
    }
    ts_tree_delete(t.tree);
    ts_parser_delete(t.parser);
    return is_one;
}

/* The arguments before node i. */
static bool find_given(const gbx_tree *t, uint32_t i, size_t *ret_open,
                       size_t *ret_close)
{
    const gbx_node *n = &t->nodes[i];
    size_t at = n->start;

    if (n->kind != GBX_NODE_TEMPLATE && !(t->has_error && gbx_tree_is(t, i, "?.") &&
                                          n->end < t->len && t->text[n->end] == '('))
        return false;
    while (at > 0 && isspace((unsigned char)t->text[at - 1]))
        at--;
    if (at < 2 || t->text[at - 1] != '>' || t->text[at - 2] == '=')
        return false;
    *ret_close = at - 1;
    *ret_open = find_open(t->text, *ret_close);
    return *ret_open < *ret_close;
}

static void blank(char *to, size_t open, size_t close)
{
    for (size_t at = open; at <= close; at++)
        if (to[at] != '\n' && to[at] != '\r')
            to[at] = ' ';
}

/* The end of `import("y")`, whose first word is node i; 0: it is something else. */
static size_t import_end(const gbx_tree *t, uint32_t i)
{
    const char *open = t->text + t->nodes[i].end;
    const char *end = t->text + t->len;
    const char *close;

    if (end - open < 3 || *open != '(' || (open[1] != '"' && open[1] != '\''))
        return 0;
    close = memchr(open + 2, open[1], (size_t)(end - open) - 2);
    return close != NULL && end - close > 1 && close[1] == ')'
               ? (size_t)(close - t->text) + 2
               : 0;
}

/* Replace each import("y") by a name of the same length, which can have or be type
 * arguments. */
static bool name_imports(const gbx_tree *t, char *text)
{
    bool named = false;

    for (uint32_t i = 0; i < t->count; i++) {
        size_t end = gbx_tree_is(t, i, "import") ? import_end(t, i) : 0;

        if (end == 0)
            continue;
        memset(text + t->nodes[i].start, '_', end - t->nodes[i].start);
        named = true;
    }
    return named;
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_types_repair_given(const gbx_tree *t, char *text, char *to)
{
    size_t tried = 0; /* at most the text once: bounded like its parse */
    bool changed = false;
    size_t open, close;

    for (uint32_t i = 0; i < t->count && tried < t->len; i++) {
        if (!find_given(t, i, &open, &close))
            continue;
        tried += close - open + TRY_MORE;
        if (!is_given(t->text, open, close))
            continue;
        blank(text, open, close);
        blank(to, open, close);
        changed = true;
    }
    return name_imports(t, text) || changed;
}
