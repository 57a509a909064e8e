/* SPDX-License-Identifier: MIT */
/* leaves - each question needs only a few neighbours or one walk backwards. */
#include "guard/internal.h"

#include "guard/arena.h"
#include "guard/source_region.h"

#include <string.h>

#define OPENER_MAX 1000 /* leaves to walk back for an opener */
#define TYPE_MAX   200  /* bytes of one that are examined */
#define TYPE_WORDS                                                                      \
    "string number boolean any unknown void never object null undefined bigint symbol " \
    "typeof keyof readonly this"
#define DECLARING_WORDS "type interface enum namespace declare abstract module"
#define MODIFIERS       "private public protected readonly override abstract declare"
#define RESERVED        "interface enum implements private public protected package"

#define HINT_TYPES \
    "this is TypeScript: leave the types away, only plain JavaScript runs here"
#define HINT_DECLARATION \
    "this is TypeScript: leave out interfaces, type aliases, enums and namespaces"
#define HINT_AS "this is TypeScript: leave 'as ...' and 'satisfies ...' away"
#define HINT_BANG                                                           \
    "this is TypeScript: leave the '!' away, or use '?.' for a value that " \
    "may be missing"
#define HINT_MODIFIER                                                                      \
    "this is TypeScript: leave private, public, protected, readonly and implements away; " \
    "a private field is written #name"

static bool is_whole(uint8_t kind)
{
    return kind == GBX_NODE_STRING || kind == GBX_NODE_REGEX;
}

static bool is_comment(uint8_t kind)
{
    return kind == GBX_NODE_COMMENT || kind == GBX_NODE_HTML_COMMENT;
}

/* True if a type can begin at k: a type's word, a capital, or a bracket. */
static bool is_type(const gbx_leaves *l, uint32_t k)
{
    char first;

    if (k == GBX_NO_LEAF)
        return false;
    first = l->t->text[l->t->nodes[l->nodes[k]].start];
    return gbx_leaf_is_one_of(l, k, TYPE_WORDS) || gbx_leaf_is_one_of(l, k, "{ [ (") ||
           (first >= 'A' && first <= 'Z');
}

/* True if the ':' at k annotates: a parameter, a variable, a result, a class field. */
static bool is_annotation(const gbx_leaves *l, uint32_t k)
{
    uint32_t before = gbx_leaf_before(l, k);
    uint32_t opener;

    if (gbx_leaf_is(l, before, "?"))
        return gbx_leaf_is_name(l, gbx_leaf_before(l, before));
    if (!is_type(l, gbx_leaf_after(l, k)))
        return false;
    if (gbx_leaf_is(l, before, ")") ||
        gbx_leaf_is_one_of(l, gbx_leaf_before(l, before), "const let var"))
        return true;
    opener = gbx_leaf_opener(l, k);
    if (gbx_leaf_is(l, opener, "("))
        return gbx_leaf_is_name(l, before) || gbx_leaf_is_one_of(l, before, "] }");
    return gbx_leaf_is(l, opener, "{") && opener > 1 &&
           (gbx_leaf_is(l, opener - 2, "class") ||
            gbx_leaf_is(l, opener - 2, "extends"));
}

/*
 * True if the '<' at k begins type arguments or a type assertion: up to its '>' come
 * only names and tokens that join types, and after it something that has a type.
 */
static bool is_generic(const gbx_leaves *l, uint32_t k)
{
    const char *text = l->t->text;
    size_t i = l->t->nodes[l->nodes[k]].start + 1;
    size_t end = l->t->len < i + TYPE_MAX ? l->t->len : i + TYPE_MAX;
    size_t start = i;

    while (i < end && (gbx_text_is_name((unsigned char)text[i]) ||
                       (text[i] != '\0' && strchr(" ,.[]|&<", text[i]) != NULL) ||
                       (text[i] == '>' && i + 1 < end && strchr(">,[", text[i + 1]))))
        i++;
    if (i == start || i >= end || text[i] != '>')
        return false;
    for (i++; i < end && text[i] == ' '; i++)
        continue;
    return i < end && text[i] != '<' &&
           (gbx_text_is_name((unsigned char)text[i]) || strchr("({[", text[i]) != NULL);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_leaves_init(gbx_leaves *l, const gbx_tree *t)
{
    *l =
        (gbx_leaves){.t = t, .nodes = gbx_arena_calloc(t->count + 1, sizeof *l->nodes)};
    for (uint32_t i = 0; i < t->count;) {
        const gbx_node *n = &t->nodes[i];
        bool is_leaf = is_whole(n->kind) || n->next == i + 1;

        if (is_leaf && !n->missing && n->end > n->start && !is_comment(n->kind))
            l->nodes[l->count++] = i;
        i = is_leaf ? n->next : i + 1;
    }
}

bool gbx_leaf_is(const gbx_leaves *l, uint32_t k, const char *text)
{
    return k < l->count && gbx_tree_is(l->t, l->nodes[k], text);
}

bool gbx_leaf_is_one_of(const gbx_leaves *l, uint32_t k, const char *words)
{
    const gbx_node *n;
    size_t len;

    if (k >= l->count)
        return false;
    n = &l->t->nodes[l->nodes[k]];
    len = n->end - n->start;
    for (;;) {
        size_t word = strcspn(words, " ");

        if (word == len && memcmp(words, l->t->text + n->start, len) == 0)
            return true;
        if (words[word] == '\0')
            return false;
        words += word + 1;
    }
}

bool gbx_leaf_is_name(const gbx_leaves *l, uint32_t k)
{
    if (k >= l->count)
        return false;
    switch (l->t->nodes[l->nodes[k]].kind) {
    case GBX_NODE_IDENTIFIER:
    case GBX_NODE_PROPERTY_NAME:
    case GBX_NODE_SHORTHAND:
    case GBX_NODE_SHORTHAND_PATTERN: return true;
    default:
        return gbx_leaf_is_one_of(l, k, "this undefined null async get set let of");
    }
}

uint32_t gbx_leaf_before(const gbx_leaves *l, uint32_t k)
{
    return k < l->count && k > 0 ? k - 1 : GBX_NO_LEAF;
}

uint32_t gbx_leaf_after(const gbx_leaves *l, uint32_t k)
{
    return k < l->count && k + 1 < l->count ? k + 1 : GBX_NO_LEAF;
}

uint32_t gbx_leaf_opener(const gbx_leaves *l, uint32_t k)
{
    uint32_t depth = 0;
    uint32_t first = k > OPENER_MAX ? k - OPENER_MAX : 0;

    while (k < l->count && k > first) {
        k--;
        if (gbx_leaf_is_one_of(l, k, ") ] }"))
            depth++;
        else if (gbx_leaf_is_one_of(l, k, "( [ { ${") && depth-- == 0)
            return k;
    }
    return GBX_NO_LEAF;
}

bool gbx_leaf_is_suspect(const gbx_leaves *l, uint32_t k)
{
    const gbx_node *nodes = l->t->nodes;
    uint32_t i;

    if (k >= l->count)
        return false;
    i = l->nodes[k];
    if (nodes[i].parent != GBX_NO_NODE && nodes[nodes[i].parent].kind == GBX_NODE_ERROR)
        return true;
    /* Missing nodes have no bytes: they are between this leaf and the one before. */
    for (uint32_t m = k > 0 ? l->nodes[k - 1] : 0; m < i; m++)
        if (nodes[m].missing || nodes[m].kind == GBX_NODE_ERROR)
            return true;
    return k > 0 && nodes[l->nodes[k - 1]].parent != GBX_NO_NODE &&
           nodes[nodes[l->nodes[k - 1]].parent].kind == GBX_NODE_ERROR;
}

const char *gbx_leaf_typescript(const gbx_leaves *l, uint32_t k)
{
    uint32_t before = gbx_leaf_before(l, k);
    bool after_value =
        gbx_leaf_is_name(l, before) || gbx_leaf_is_one_of(l, before, ") ]");

    if (gbx_leaf_is(l, k, ":"))
        return is_annotation(l, k) ? HINT_TYPES : NULL;
    if (gbx_leaf_is_one_of(l, k, "as satisfies") && before != GBX_NO_LEAF)
        return HINT_AS;
    if (gbx_leaf_is_one_of(l, k, RESERVED))
        return gbx_leaf_is_one_of(l, k, "interface enum") ? HINT_DECLARATION
                                                          : HINT_MODIFIER;
    if (gbx_leaf_is(l, k, "!"))
        return after_value ? HINT_BANG : NULL;
    if (gbx_leaf_is(l, k, "?"))
        return gbx_leaf_is_name(l, before) &&
                       gbx_leaf_is_one_of(l, gbx_leaf_after(l, k), ": ) ,")
                   ? HINT_TYPES
                   : NULL;
    if (gbx_leaf_is(l, k, "<"))
        return is_generic(l, k) ? HINT_TYPES : NULL;
    if (!gbx_leaf_is_name(l, k) &&
        !gbx_leaf_is_one_of(l, k, "const class function { async"))
        return NULL;
    if (gbx_leaf_is_one_of(l, before, DECLARING_WORDS))
        return HINT_DECLARATION;
    return gbx_leaf_is_one_of(l, before, MODIFIERS) ? HINT_MODIFIER : NULL;
}
