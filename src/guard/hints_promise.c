/* SPDX-License-Identifier: MIT */
/*
 * hints_promise - is a value a promise because an await is missing? Decided by names
 * alone: a call by the name of one of the code's async functions gives a promise.
 */
#include "guard/internal.h"

#include "guard/source_region.h"

#include <string.h>

/* Functions of capabilities: each returns a promise. */
static bool is_of_host(const char *name, size_t len)
{
    return (len == 5 && memcmp(name, "fetch", 5) == 0) ||
           (len == 8 && memcmp(name, "readFile", 8) == 0);
}

/* True if the code has an async function or method of that name, or the host has a
 * function of that name and the code does not. */
static bool is_async_name(gbx_case *c, const char *name, size_t len)
{
    const gbx_tree *t = &c->tree;
    bool is_own = false;

    if (!gbx_case_may_walk(c))
        return false;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t named = t->nodes[i].parent;
        bool is_it;

        if (!gbx_tree_is_function(t, i))
            continue;
        is_it =
            gbx_tree_is_text(t, gbx_tree_child(t, i, GBX_FIELD_NAME), name, len) ||
            (t->nodes[i].field == GBX_FIELD_VALUE && named != GBX_NO_NODE &&
             gbx_tree_is_text(t, gbx_tree_child(t, named, GBX_FIELD_NAME), name, len));
        if (is_it && gbx_tree_is_async(t, i))
            return true;
        is_own = is_own || is_it;
    }
    return !is_own && is_of_host(name, len);
}

/* True if expression i, as it stands, gives a promise. */
static bool gives_promise(gbx_case *c, uint32_t i)
{
    const gbx_tree *t = &c->tree;
    uint32_t callee, part;

    if (i == GBX_NO_NODE)
        return false;
    if (t->nodes[i].kind == GBX_NODE_NEW) {
        callee = gbx_tree_child(t, i, GBX_FIELD_CONSTRUCTOR);
        return gbx_tree_is_text(t, callee, "Promise", 7);
    }
    if (t->nodes[i].kind != GBX_NODE_CALL)
        return false;
    callee = gbx_tree_child(t, i, GBX_FIELD_FUNCTION);
    if (callee == GBX_NO_NODE)
        return false;
    if (t->nodes[callee].kind == GBX_NODE_MEMBER) {
        part = gbx_tree_child(t, callee, GBX_FIELD_OBJECT);
        if (gbx_tree_is_text(t, part, "Promise", 7))
            return true;
        callee = gbx_tree_child(t, callee, GBX_FIELD_PROPERTY);
    }
    if (callee == GBX_NO_NODE)
        return false;
    return is_async_name(c, t->text + t->nodes[callee].start,
                         t->nodes[callee].end - t->nodes[callee].start);
}

/* True if a variable of that name is initialised with a promise. */
static bool holds_promise(gbx_case *c, const char *name, size_t len)
{
    const gbx_tree *t = &c->tree;

    if (!gbx_case_may_walk(c))
        return false;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->nodes[i].kind == GBX_NODE_DECLARATOR &&
            gbx_tree_is_text(t, gbx_tree_child(t, i, GBX_FIELD_NAME), name, len) &&
            gives_promise(c, gbx_tree_child(t, i, GBX_FIELD_VALUE)))
            return true;
    return false;
}

/* ---- public to other modules -------------------------------------------- */

bool gbx_begins_with_promise(gbx_case *c, const char *text, size_t len)
{
    size_t name = 0; /* the last of a.b.c( */
    size_t end = 0;

    while (end < len &&
           (gbx_text_is_name((unsigned char)text[end]) || text[end] == '.'))
        if (text[end++] == '.')
            name = end;
    if (end > name && end < len && text[end] == '(')
        return is_async_name(c, text + name, end - name);
    for (end = 0; end < len && gbx_text_is_name((unsigned char)text[end]);)
        end++;
    return end > 0 && holds_promise(c, text, end);
}

bool gbx_line_spreads_promise(gbx_case *c)
{
    const gbx_tree *t = &c->tree;

    for (uint32_t i = 0; i < t->count; i++) {
        const gbx_node *n = &t->nodes[i];
        uint32_t value = GBX_NO_NODE;

        if (n->end <= c->line_start || n->start > c->line_end)
            continue;
        if (n->kind == GBX_NODE_DECLARATOR)
            value = gbx_tree_child(t, i, GBX_FIELD_VALUE);
        else if (n->kind == GBX_NODE_FOR_IN)
            value = gbx_tree_child(t, i, GBX_FIELD_RIGHT);
        else if (n->kind == GBX_NODE_SPREAD)
            value = gbx_tree_inner(t, i);
        if (value == GBX_NO_NODE)
            continue;
        if (gives_promise(c, value) ||
            (t->nodes[value].kind == GBX_NODE_IDENTIFIER &&
             holds_promise(c, t->text + t->nodes[value].start,
                           t->nodes[value].end - t->nodes[value].start)))
            return true;
    }
    return false;
}

bool gbx_line_passes_promise(gbx_case *c)
{
    const gbx_tree *t = &c->tree;

    for (uint32_t i = 0; i < t->count; i++) {
        const gbx_node *n = &t->nodes[i];

        if (n->end > c->line_start && n->start <= c->line_end &&
            n->kind == GBX_NODE_CALL && n->parent != GBX_NO_NODE &&
            t->nodes[n->parent].kind == GBX_NODE_ARGUMENTS && gives_promise(c, i))
            return true;
    }
    return false;
}
