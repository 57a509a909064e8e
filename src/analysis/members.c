/* SPDX-License-Identifier: MIT */
/* members - finds the members that code reads from its data. A name that the code
 * itself defines anywhere is excluded. */
#include "analysis/internal.h"

#include "base/cleanup.h"
#include "syntax/arena.h"

#include <string.h>

struct search {
    const char *code;
    size_t len;
    gbx_member *found;
    size_t count;
};

/* The node of the name: for o['name'], the string without its quotes. */
static uint32_t name_below(const gbx_tree *t, uint32_t i)
{
    return t->nodes[i].kind == GBX_NODE_STRING && t->nodes[i].next == i + 4 &&
                   t->nodes[i + 2].kind == GBX_NODE_STRING_FRAGMENT
               ? i + 2
               : i;
}

static bool is_assigned(const gbx_tree *t, uint32_t member)
{
    uint32_t up = t->nodes[member].parent;

    return up != GBX_NO_NODE && t->nodes[member].field == GBX_FIELD_LEFT &&
           (t->nodes[up].kind == GBX_NODE_ASSIGNMENT ||
            t->nodes[up].kind == GBX_NODE_AUGMENTED);
}

/* o.name, o['name'], ({ name }) => and { name: n } =, but not o.name() and o.name = */
static bool is_read(const gbx_tree *t, uint32_t i)
{
    uint32_t up = t->nodes[i].parent;

    if (up == GBX_NO_NODE)
        return false;
    if (t->nodes[i].kind == GBX_NODE_SHORTHAND_PATTERN)
        return true;
    if (t->nodes[i].kind == GBX_NODE_STRING)
        return t->nodes[up].kind == GBX_NODE_SUBSCRIPT && !is_assigned(t, up);
    if (t->nodes[i].kind != GBX_NODE_PROPERTY_NAME)
        return false;
    if (t->nodes[up].kind == GBX_NODE_MEMBER)
        return t->nodes[up].field != GBX_FIELD_FUNCTION && !is_assigned(t, up);
    return t->nodes[up].kind == GBX_NODE_OTHER; /* of a pattern */
}

/* True if reading it is not an error when it is missing: o.name.x throws, o.name?.x
 * does not. A member of `servers` is a server. */
static bool is_silent(const gbx_tree *t, uint32_t i)
{
    uint32_t member = t->nodes[i].parent;
    uint32_t up = t->nodes[member].parent;
    size_t at = t->nodes[member].end;

    if (gbx_tree_is(t, gbx_tree_child(t, member, GBX_FIELD_OBJECT), "servers") ||
        (up != GBX_NO_NODE && t->nodes[member].kind == GBX_NODE_OBJECT_PATTERN &&
         gbx_tree_is(t, gbx_tree_child(t, up, GBX_FIELD_VALUE), "servers")))
        return false;
    if (up == GBX_NO_NODE || t->nodes[member].field != GBX_FIELD_OBJECT)
        return true;
    while (at < t->nodes[up].end && strchr(" \t\r\n", t->text[at]) != NULL)
        at++;
    return t->text[at] == '?';
}

/* True if the code defines it: { name: 1 }, { name }, name() {}, o.name = 1. */
static bool is_defined(const gbx_tree *t, const char *name, size_t len)
{
    for (uint32_t i = 1; i < t->count; i++) {
        uint32_t up = t->nodes[i].parent;

        if (!gbx_tree_is_text(t, name_below(t, i), name, len) || is_read(t, i))
            continue;
        if (t->nodes[i].kind == GBX_NODE_SHORTHAND ||
            (t->nodes[i].kind == GBX_NODE_PROPERTY_NAME &&
             t->nodes[up].field != GBX_FIELD_FUNCTION) ||
            (t->nodes[i].kind == GBX_NODE_STRING &&
             (t->nodes[up].kind == GBX_NODE_PAIR ||
              t->nodes[up].kind == GBX_NODE_SUBSCRIPT)))
            return true;
    }
    return false;
}

static bool is_known(const struct search *s, const char *name, size_t len)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->found[i].end - s->found[i].start == len &&
            memcmp(s->code + s->found[i].start, name, len) == 0)
            return true;
    return false;
}

static void look(void *user)
{
    struct search *s = user;
    gbx_tree t;

    if (!gbx_tree_parse(&t, s->code, s->len) || t.has_error)
        return;
    gbx_tree_flatten(&t);
    for (uint32_t i = 1; i < t.count && s->count < GBX_MEMBERS_MAX; i++) {
        const gbx_node *name = &t.nodes[name_below(&t, i)];
        const char *text = t.text + name->start;
        size_t len = name->end - name->start;

        if (is_read(&t, i) && is_silent(&t, i) && !is_known(s, text, len) &&
            !is_defined(&t, text, len))
            s->found[s->count++] = (gbx_member){name->start, name->end};
    }
}

size_t gbx_members_find(const char *code, size_t len, gbx_member ret[GBX_MEMBERS_MAX])
{
    gbx_time_budget budget = {.left_ns = GBX_ANALYSIS_NS, .is_wall = true};
    struct search s = {.code = code, .len = len, .found = ret};

    gbx_time_budget_begin(&budget);
    (void)gbx_arena_run(GBX_ANALYSIS_ARENA(len), look, &s);
    gbx_time_budget_end(&budget);
    return s.count;
}
