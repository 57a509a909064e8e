/* SPDX-License-Identifier: MIT */
/*
 * faults - an unmatched bracket makes the parser report errors in correct places, so if
 * there is one, only that is reported.
 */

#include "guard/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "guard/arena.h"

#include <string.h>

#define HINT_JSX   "this is JSX, but code has no page; return data, not elements"
#define NO_BRACKET SIZE_MAX
#define LEAVES_MAX 200 /* examined in one error */
#define HINT_AWAIT \
    "'await' works only directly inside an async function: write 'async' before it"

/* The token that the parser reports as missing. */
static void put_missing(const gbx_tree *t, uint32_t i, size_t base, gbx_findings *f)
{
    const char *name = gbx_tree_symbol_name(t, i);
    bool is_name = t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
                   t->nodes[i].kind == GBX_NODE_PROPERTY_NAME;

    if (is_name || t->nodes[i].kind == GBX_NODE_OTHER)
        gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, base + t->nodes[i].start,
                         "", "%s is missing here",
                         is_name ? "a name or value" : "something");
    else
        gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, base + t->nodes[i].start,
                         "", "'%s' is missing here", name);
}

static bool overlaps(const gbx_node *error, const gbx_node *leaf)
{
    return leaf->start < error->end && leaf->end > error->start;
}

/* The most telling leaf of the error: words of TypeScript, else its last. */
static void put_error(const gbx_leaves *l, uint32_t i, size_t base, gbx_findings *f)
{
    const gbx_node *nodes = l->t->nodes;
    const char *hint = NULL;
    uint32_t low = 0;
    uint32_t high = l->count;
    uint32_t at;

    while (low < high) { /* the first leaf that ends after the error begins */
        uint32_t middle = low + (high - low) / 2;

        if (nodes[l->nodes[middle]].end <= nodes[i].start)
            low = middle + 1;
        else
            high = middle;
    }
    at = low;
    for (uint32_t k = low > 0 ? low - 1 : 0;
         k < l->count && k < low + LEAVES_MAX && hint == NULL; k++) {
        if (k > low && !overlaps(&nodes[i], &nodes[l->nodes[k]]))
            break;
        hint = gbx_leaf_typescript(l, k);
        if (hint != NULL)
            at = k;
    }
    if (at >= l->count)
        return;
    gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX,
                     base + nodes[l->nodes[at]].start, hint != NULL ? hint : "",
                     hint != NULL ? "this is not JavaScript"
                                  : "the parser cannot make sense of this");
}

static void put_bracket(const gbx_tree *t, uint32_t i, bool is_open, size_t base,
                        gbx_findings *f)
{
    const gbx_node *n = &t->nodes[i];

    gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, base + n->start,
                     is_open ? "close it, or remove it"
                             : "remove it, or open it before",
                     is_open ? "nothing closes this '%.*s'"
                             : "this '%.*s' closes nothing",
                     (int)(n->end - n->start), t->text + n->start);
}

/* The function around i, or GBX_NO_NODE at the top level. */
static bool is_await_astray(const gbx_tree *t, uint32_t i)
{
    for (i = t->nodes[i].parent; i != GBX_NO_NODE; i = t->nodes[i].parent)
        if (gbx_tree_is_function(t, i))
            return !gbx_tree_is_async(t, i);
    return false;
}

/* Faults in code that parses: the grammar allows more than JavaScript does. */
static void put_allowed(const gbx_tree *t, uint32_t i, size_t base, gbx_findings *f)
{
    size_t at = base + t->nodes[i].start;
    uint32_t parent = t->nodes[i].parent;

    switch (t->nodes[i].kind) {
    case GBX_NODE_JSX_ELEMENT:
    case GBX_NODE_JSX_SELF_CLOSING:
        gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, at, HINT_JSX,
                         "this is not JavaScript");
        break;
    case GBX_NODE_AWAIT:
        if (is_await_astray(t, i))
            gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, at, HINT_AWAIT,
                             "'await' in a function that is not async");
        break;
    case GBX_NODE_STRING:
        if (gbx_faults_open_string(t, i))
            gbx_findings_add(
                f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, at,
                "close it, or write a text of several lines in `backquotes`",
                "this string does not end on its line");
        break;
    case GBX_NODE_DECLARATOR:
        if (t->nodes[parent].kind == GBX_NODE_LEXICAL_DECLARATION &&
            gbx_tree_is(t, parent + 1, "const") &&
            gbx_tree_child(t, i, GBX_FIELD_VALUE) == GBX_NO_NODE)
            gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, at,
                             "give it a value, or declare it with 'let'",
                             "a 'const' without a value");
        break;
    default: break;
    }
}

/* Which of pairs the token i is, by its last byte ("${" is a '{'). */
static size_t bracket_at(const gbx_tree *t, uint32_t i, const char *pairs)
{
    const gbx_node *n = &t->nodes[i];
    const char *at;

    if (n->kind != GBX_NODE_TOKEN || n->missing || n->end == n->start)
        return NO_BRACKET;
    if (n->end - n->start > 1 && !gbx_tree_is(t, i, "${"))
        return NO_BRACKET;
    at = strchr(pairs, t->text[n->end - 1]);
    return at == NULL ? NO_BRACKET : (size_t)(at - pairs);
}

/* String.raw`C:\users` is valid, but the grammar does not know tagged templates. */
static bool is_raw_escape(const gbx_tree *t, uint32_t i)
{
    uint32_t parent = t->nodes[i].parent;

    return parent != GBX_NO_NODE && t->nodes[parent].kind == GBX_NODE_TEMPLATE &&
           t->nodes[parent].field == GBX_FIELD_ARGUMENTS &&
           t->text[t->nodes[i].start] == '\\';
}

uint32_t gbx_faults_bracket(const gbx_tree *t, bool *ret_is_open)
{
    static const char pairs[] = "()[]{}";
    uint32_t *open = gbx_arena_calloc(t->count + 1, sizeof *open);
    uint32_t open_of[3] = {0}; /* how many of each kind */
    uint32_t depth = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        size_t which = bracket_at(t, i, pairs);

        if (which == NO_BRACKET)
            continue;
        if (which % 2 == 0) {
            open[depth++] = i;
            open_of[which / 2]++;
            continue;
        }
        *ret_is_open = open_of[which / 2] > 0;
        if (!*ret_is_open)
            return i;
        depth--;
        if (t->text[t->nodes[open[depth]].end - 1] != pairs[which - 1])
            return open[depth];
        open_of[which / 2]--;
    }
    *ret_is_open = true;
    return depth > 0 ? open[depth - 1] : GBX_NO_NODE;
}

size_t gbx_faults_first(const gbx_tree *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->nodes[i].kind == GBX_NODE_ERROR || t->nodes[i].missing)
            return t->nodes[i].start;
    return t->len;
}

bool gbx_faults_open_string(const gbx_tree *t, uint32_t i)
{
    const gbx_node *n = &t->nodes[i];
    const char *text = t->text + n->start;
    size_t len = n->end - n->start;

    if (n->kind != GBX_NODE_STRING)
        return false;
    if (len < 2 || text[0] != text[len - 1])
        return true;
    for (size_t at = 1; at < len; at++) { /* the grammar misses a new line in a
                                             string */
        if (text[at] == '\\' && at + 1 < len)
            at += gbx_lines_end(text + at + 1, len - at - 1) == 2 ? 2 : 1;
        else if (text[at] == '\n' || text[at] == '\r')
            return true;
    }
    return false;
}

void gbx_faults_find(gbx_tree *t, size_t base, gbx_findings *f)
{
    bool is_open = false;
    uint32_t bracket = t->has_error ? gbx_faults_bracket(t, &is_open) : GBX_NO_NODE;
    gbx_leaves leaves;

    if (bracket != GBX_NO_NODE) {
        put_bracket(t, bracket, is_open, base, f);
        return;
    }
    gbx_leaves_init(&leaves, t);
    for (uint32_t i = 0; i < t->count && f->count < GBX_GUARD_VIOLATIONS_MAX; i++) {
        if (t->nodes[i].missing) {
            put_missing(t, i, base, f);
        } else if (t->nodes[i].kind == GBX_NODE_ERROR) {
            if (!is_raw_escape(t, i))
                put_error(&leaves, i, base, f);
            i = t->nodes[i].next - 1;
        } else {
            put_allowed(t, i, base, f);
        }
    }
}
