/* SPDX-License-Identifier: MIT */
/*
 * exports - all or nothing: if the code declares `module`, passes it on or exports to
 * it twice, the code stays unchanged, and the structural check reports that `module`
 * does not exist.
 */
#include "mcp/code/code_mode.h"

#include <string.h>

#define EXPORT "export default"

struct look {
    const gbx_tree *t;
    char *to;      /* NULL: only analyse */
    size_t words;  /* uses of `module` and `exports` in recognised statements */
    size_t values; /* recognised statements that export a value */
};

static bool is_callable(const gbx_tree *t, uint32_t i)
{
    return i != GBX_NO_NODE && (t->nodes[i].kind == GBX_NODE_ARROW ||
                                t->nodes[i].kind == GBX_NODE_FUNCTION ||
                                t->nodes[i].kind == GBX_NODE_FUNCTION_DECLARATION);
}

static bool is_same(const gbx_tree *t, uint32_t a, uint32_t b)
{
    return a != GBX_NO_NODE && gbx_tree_is_text(t, a, t->text + t->nodes[b].start,
                                                t->nodes[b].end - t->nodes[b].start);
}

/* Is it the name of a function declared at top level? */
static bool names_function(const gbx_tree *t, uint32_t name)
{
    for (uint32_t i = 1; i < t->count; i = t->nodes[i].next) {
        if (t->nodes[i].kind == GBX_NODE_FUNCTION_DECLARATION &&
            is_same(t, gbx_tree_child(t, i, GBX_FIELD_NAME), name))
            return true;
        if (t->nodes[i].kind != GBX_NODE_LEXICAL_DECLARATION &&
            t->nodes[i].kind != GBX_NODE_VAR_DECLARATION)
            continue;
        for (uint32_t c = i + 1; c < t->nodes[i].next; c = t->nodes[c].next)
            if (t->nodes[c].kind == GBX_NODE_DECLARATOR &&
                is_same(t, gbx_tree_child(t, c, GBX_FIELD_NAME), name) &&
                is_callable(t, gbx_tree_child(t, c, GBX_FIELD_VALUE)))
                return true;
    }
    return false;
}

/* { run, work: main }; some: at least one member is a function. */
static bool is_all_functions(const gbx_tree *t, uint32_t object, bool *ret_some)
{
    size_t others = 0;

    *ret_some = false;
    for (uint32_t c = object + 1; c < t->nodes[object].next; c = t->nodes[c].next) {
        uint32_t value = t->nodes[c].kind == GBX_NODE_PAIR
                             ? gbx_tree_child(t, c, GBX_FIELD_VALUE)
                             : c;

        if (t->nodes[c].kind == GBX_NODE_TOKEN || t->nodes[c].kind == GBX_NODE_COMMENT)
            continue;
        if ((t->nodes[value].kind == GBX_NODE_SHORTHAND ||
             t->nodes[value].kind == GBX_NODE_IDENTIFIER) &&
            names_function(t, value))
            *ret_some = true;
        else
            others++;
        *ret_some =
            *ret_some || is_callable(t, value) || t->nodes[c].kind == GBX_NODE_METHOD;
    }
    return others == 0 && *ret_some;
}

/* The offset after `module.exports` or `exports` at the start of node i; 0: not
 * there. */
static size_t past_exports(const gbx_tree *t, uint32_t i)
{
    static const char module[] = "module.exports";
    const char *text = t->text + t->nodes[i].start;
    size_t len = t->nodes[i].end - t->nodes[i].start;

    if (len >= sizeof module - 1 && memcmp(text, module, sizeof module - 1) == 0)
        return sizeof module - 1;
    return len > 8 && memcmp(text, "exports.", 8) == 0 ? 7 : 0;
}

static void blank(const struct look *l, size_t start, size_t end)
{
    for (size_t at = start; at < end; at++)
        if (l->to[at] != '\n' && l->to[at] != '\r')
            l->to[at] = ' ';
}

/* `left = value` becomes `export default value`. If that does not fit, only the value
 * is left, which works as well for a function at the end. */
static bool put_default(struct look *l, uint32_t statement, uint32_t left,
                        uint32_t value)
{
    const gbx_node *nodes = l->t->nodes;
    bool has_room = nodes[value].start - nodes[left].start > sizeof EXPORT - 1;

    if (l->values++ > 0)
        return false;
    if (!has_room && (!is_callable(l->t, value) || nodes[statement].next < l->t->count))
        return false;
    if (l->to == NULL)
        return true;
    blank(l, nodes[left].start, nodes[value].start);
    if (has_room)
        memcpy(l->to + nodes[left].start, EXPORT, sizeof EXPORT - 1);
    else /* keep the line before from continuing here */
        l->to[nodes[left].start] = ';';
    return true;
}

static bool drop(const struct look *l, uint32_t statement)
{
    if (l->to != NULL) {
        blank(l, l->t->nodes[statement].start, l->t->nodes[statement].end);
        l->to[l->t->nodes[statement].start] = ';';
    }
    return true;
}

/* False: the statement exports in an ambiguous way. */
static bool take(struct look *l, uint32_t statement)
{
    const gbx_tree *t = l->t;
    uint32_t whole = t->nodes[statement].kind == GBX_NODE_EXPRESSION_STATEMENT
                         ? gbx_tree_inner(t, statement)
                         : GBX_NO_NODE;
    uint32_t left, value;
    bool is_all, some;
    size_t len;

    if (whole == GBX_NO_NODE || t->nodes[whole].kind != GBX_NODE_ASSIGNMENT)
        return true;
    left = gbx_tree_child(t, whole, GBX_FIELD_LEFT);
    value = gbx_tree_child(t, whole, GBX_FIELD_RIGHT);
    if (left == GBX_NO_NODE || value == GBX_NO_NODE ||
        t->nodes[left].kind != GBX_NODE_MEMBER)
        return true;
    len = past_exports(t, left);
    if (len == 0)
        return true;
    l->words++;
    if (t->nodes[left].end > t->nodes[left].start + len && /* exports.run = run */
        t->nodes[value].kind == GBX_NODE_IDENTIFIER && names_function(t, value))
        return drop(l, statement);
    if (t->nodes[value].kind != GBX_NODE_OBJECT)
        return put_default(l, statement, left, value);
    is_all = is_all_functions(t, value, &some);
    if (is_all)
        return drop(l, statement);
    return !some && put_default(l, statement, left, value);
}

static bool look_at_all(struct look *l)
{
    const gbx_tree *t = l->t;

    for (uint32_t i = 1; i < t->count; i = t->nodes[i].next)
        if (!take(l, i))
            return false;
    return true;
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_exports_take(const gbx_tree *t, char *to)
{
    struct look l = {.t = t};
    size_t words = 0;

    if (t->has_error || !look_at_all(&l) || l.words == 0)
        return false;
    for (uint32_t i = 0; i < t->count; i++)
        words += (t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
                  t->nodes[i].kind == GBX_NODE_SHORTHAND ||
                  t->nodes[i].kind == GBX_NODE_SHORTHAND_PATTERN) &&
                 (gbx_tree_is(t, i, "module") || gbx_tree_is(t, i, "exports"));
    if (words != l.words)
        return false;
    l = (struct look){.t = t, .to = to};
    return look_at_all(&l);
}
