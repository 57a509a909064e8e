/* SPDX-License-Identifier: MIT */
/*
 * types_path - the grammar reads `x as A.B.C` as member C of `x as A.B`: after a type
 * it takes the dot for one of an expression. In TypeScript no member can follow there,
 * so such a dot always belongs to the type. A copy with a letter for the dot, A.B_C, is
 * parsed again; the syntax around it, as in `A.B.C<D>[]`, is then read correctly, at
 * its position.
 */
#include "mcp/code/code_mode.h"

#include "guard/arena.h"
#include "guard/tree.h"

#include <string.h>

/* Each round joins one dot after every `as`: for `A.B.C | D.E.F`, first one, then the
 * other. */
#define ROUNDS_MAX 8

const TSLanguage *tree_sitter_typescript(void);

static bool is_typed(const gbx_tree *t, uint32_t i)
{
    const char *name = gbx_tree_symbol_name(t, i);

    return strcmp(name, "as_expression") == 0 ||
           strcmp(name, "satisfies_expression") == 0;
}

static bool ends_in_name(const char *text, size_t end)
{
    unsigned char last = (unsigned char)text[end - 1];

    return last >= 0x80 || gbx_text_is_name(last);
}

static bool has_dot(const gbx_tree *t, uint32_t i)
{
    for (uint32_t c = i + 1; c < t->nodes[i].next; c = t->nodes[c].next)
        if (t->nodes[c].kind == GBX_NODE_TOKEN && gbx_tree_is(t, c, "."))
            return true;
    return false;
}

static void join(const gbx_tree *t, uint32_t i, char *text)
{
    size_t end = t->nodes[i + 1].end;
    uint32_t property = gbx_tree_child(t, i, GBX_FIELD_PROPERTY);

    memset(text + end, '_', t->nodes[property].start - end);
}

static bool join_all(const gbx_tree *t, char *text)
{
    bool joined = false;

    for (uint32_t i = 0; i < t->count; i++) {
        if (!gbx_types_is_cut(t, i))
            continue;
        join(t, i, text);
        joined = true;
    }
    return joined;
}

/* False if nothing was left to repair. */
static bool repair(const gbx_tree *t, char *text, char *to)
{
    bool joined = join_all(t, text);
    bool given = gbx_types_repair_given(t, text, to);

    return (t->has_error && gbx_types_repair_words(t, text, to)) || joined || given;
}

static void forget(gbx_tree *t)
{
    gbx_arena_free(t->nodes);
    ts_tree_delete(t->tree);
    ts_parser_delete(t->parser);
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_types_is_cut(const gbx_tree *t, uint32_t i)
{
    uint32_t property;

    if (t->nodes[i].kind != GBX_NODE_MEMBER || t->nodes[i].next == i + 1 ||
        !is_typed(t, i + 1) || !ends_in_name(t->text, t->nodes[i + 1].end))
        return false;
    property = gbx_tree_child(t, i, GBX_FIELD_PROPERTY);
    return property != GBX_NO_NODE &&
           t->nodes[property].kind == GBX_NODE_PROPERTY_NAME && has_dot(t, i);
}

bool gbx_types_parse(gbx_tree *t, const char *text, size_t len, char *to)
{
    char *copy = gbx_arena_calloc(len + 1, 1);

    memcpy(copy, text, len);
    for (size_t round = 1; gbx_tree_parse_as(t, tree_sitter_typescript(), copy, len);
         round++) {
        gbx_tree_flatten(t);
        if (round == ROUNDS_MAX || !repair(t, copy, to)) {
            t->text = text; /* the original, which also has line breaks around dots */
            return true;
        }
        forget(t);
    }
    return false;
}
