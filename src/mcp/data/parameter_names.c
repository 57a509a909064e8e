/* SPDX-License-Identifier: MIT */
/*
 * parameter_names - see datasets.h. Reading a member that was wrongly left out would
 * silently give undefined, so whatever may be the object of all datasets counts as it.
 */
#include "mcp/data/datasets.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "guard/arena.h"
#include "guard/guard.h"
#include "guard/tree.h"

#include <string.h>

#define ARENA_BASE     GBX_MIB(16)
#define ARENA_PER_BYTE 160

/* A search for one name. */
typedef struct search {
    const char *code;
    size_t len;
    const char *name;
    unsigned index;
    gbx_parameter_names found;
    bool takes_apart;
    bool is_parsed;
    bool reads;
} search;

/* ---- functions and their parameters ---------------------------------------------- */

static bool is_callback(const gbx_tree *t, uint32_t function)
{
    uint32_t up = t->nodes[function].parent;

    while (up != GBX_NO_NODE && t->nodes[up].kind == GBX_NODE_PARENTHESIZED)
        up = t->nodes[up].parent;
    return up != GBX_NO_NODE && t->nodes[up].kind == GBX_NODE_ARGUMENTS;
}

/* The parameter of that index, or GBX_NO_NODE. */
static uint32_t parameter(const gbx_tree *t, uint32_t function, unsigned index)
{
    uint32_t all = gbx_tree_child(t, function, GBX_FIELD_PARAMETERS);
    uint32_t i;

    if (all == GBX_NO_NODE) /* d => ... */
        return index == 0 ? gbx_tree_child(t, function, GBX_FIELD_PARAMETER)
                          : GBX_NO_NODE;
    for (i = all + 1; i < t->nodes[all].next; i = t->nodes[i].next)
        if (t->nodes[i].kind != GBX_NODE_TOKEN &&
            t->nodes[i].kind != GBX_NODE_COMMENT && index-- == 0)
            return i;
    return GBX_NO_NODE;
}

static bool has_name(const gbx_tree *t, uint32_t i, const char *name, size_t len)
{
    if (i == GBX_NO_NODE)
        return false;
    for (uint32_t j = i; j < t->nodes[i].next; j++)
        if ((t->nodes[j].kind == GBX_NODE_IDENTIFIER ||
             t->nodes[j].kind == GBX_NODE_SHORTHAND_PATTERN) &&
            gbx_tree_is_text(t, j, name, len))
            return true;
    return false;
}

/* False: it has no parameter of that name. */
static bool find_parameter(const gbx_tree *t, uint32_t function, const char *name,
                           size_t len, gbx_parameter_names *ret)
{
    uint32_t i;

    for (unsigned index = 0; (i = parameter(t, function, index)) != GBX_NO_NODE;
         index++) {
        uint32_t bare = t->nodes[i].kind == GBX_NODE_ASSIGNMENT_PATTERN
                            ? gbx_tree_child(t, i, GBX_FIELD_LEFT)
                            : i; /* without its default */

        if (gbx_time_budget_is_over()) /* scanned for each use of a name */
            return false;
        if (!has_name(t, bare, name, len))
            continue;
        *ret = (gbx_parameter_names){.is_parameter = true,
                                     .index = index,
                                     .in_pattern =
                                         t->nodes[bare].kind != GBX_NODE_IDENTIFIER};
        return true;
    }
    return false;
}

static void look_at_parameters(search *s, const gbx_tree *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t p;

        if (!gbx_tree_is_function(t, i) || is_callback(t, i))
            continue;
        if (!s->found.is_parameter)
            (void)find_parameter(t, i, s->name, strlen(s->name), &s->found);
        p = parameter(t, i, s->index);
        s->takes_apart |=
            p != GBX_NO_NODE && (t->nodes[p].kind == GBX_NODE_OBJECT_PATTERN ||
                                 t->nodes[p].kind == GBX_NODE_ARRAY_PATTERN);
    }
}

/* ---- members --------------------------------------------------------------------- */

/* Is identifier i a parameter of a function passed to a call? */
static bool is_given_by_call(const gbx_tree *t, uint32_t i)
{
    const char *name = t->text + t->nodes[i].start;
    size_t len = t->nodes[i].end - t->nodes[i].start;
    gbx_parameter_names naming;

    for (uint32_t up = t->nodes[i].parent; up != GBX_NO_NODE; up = t->nodes[up].parent)
        if (gbx_tree_is_function(t, up) && find_parameter(t, up, name, len, &naming))
            return is_callback(t, up);
    return false;
}

/* True for d, but not for d.orders, d.orders[0] or d.orders.find(...). */
static bool may_be_all(const gbx_tree *t, uint32_t i)
{
    uint32_t callee;

    if (i == GBX_NO_NODE)
        return true;
    switch (t->nodes[i].kind) {
    case GBX_NODE_IDENTIFIER: return !is_given_by_call(t, i);
    case GBX_NODE_MEMBER: /* globalThis.datasets */
        return gbx_tree_is(t, gbx_tree_child(t, i, GBX_FIELD_PROPERTY), "datasets");
    case GBX_NODE_SUBSCRIPT: return false;
    case GBX_NODE_CALL:
        callee = gbx_tree_child(t, i, GBX_FIELD_FUNCTION);
        return callee == GBX_NO_NODE || t->nodes[callee].kind != GBX_NODE_MEMBER ||
               gbx_tree_is(t, gbx_tree_child(t, callee, GBX_FIELD_OBJECT), "Object");
    default: return true;
    }
}

/* Is pattern i that of a parameter of a function passed to a call? */
static bool is_in_callback(const gbx_tree *t, uint32_t i)
{
    for (uint32_t up = t->nodes[i].parent; up != GBX_NO_NODE; up = t->nodes[up].parent)
        if (t->nodes[up].kind == GBX_NODE_PARAMETERS)
            return is_callback(t, t->nodes[up].parent);
    return false;
}

/* ["good", "bad"] may be a list of names to iterate over. */
static bool is_string_read(const gbx_tree *t, uint32_t string)
{
    uint32_t up = t->nodes[string].parent;

    if (up == GBX_NO_NODE)
        return false;
    return t->nodes[up].kind == GBX_NODE_ARRAY ||
           (t->nodes[up].kind == GBX_NODE_SUBSCRIPT &&
            may_be_all(t, gbx_tree_child(t, up, GBX_FIELD_OBJECT)));
}

static bool is_property_read(const gbx_tree *t, uint32_t i)
{
    uint32_t up = t->nodes[i].parent;

    switch (t->nodes[up].kind) {
    case GBX_NODE_MEMBER: return may_be_all(t, gbx_tree_child(t, up, GBX_FIELD_OBJECT));
    case GBX_NODE_OTHER: return !is_in_callback(t, i); /* ({ name: other }) */
    default: return false; /* in an object or class that the code creates */
    }
}

static bool is_read(const gbx_tree *t, uint32_t i)
{
    switch (t->nodes[i].kind) {
    case GBX_NODE_PROPERTY_NAME: return is_property_read(t, i);
    case GBX_NODE_SHORTHAND_PATTERN: return !is_in_callback(t, i);
    case GBX_NODE_STRING_FRAGMENT:
        return t->nodes[t->nodes[i].parent].kind == GBX_NODE_STRING
                   ? is_string_read(t, t->nodes[i].parent)
                   : true; /* in a template */
    default: return false;
    }
}

static void look(void *user)
{
    search *s = user;
    gbx_tree t;

    if (!gbx_tree_parse(&t, s->code, s->len) || t.has_error)
        return;
    gbx_tree_flatten(&t);
    look_at_parameters(s, &t);
    for (uint32_t i = 1; i < t.count && !s->reads; i++)
        s->reads = gbx_tree_is_text(&t, i, s->name, strlen(s->name)) && is_read(&t, i);
    s->is_parsed = !gbx_time_budget_is_over();
}

static void run_search(search *s)
{
    if (!gbx_utf8_valid((const uint8_t *)s->code, s->len, NULL) ||
        gbx_arena_run(ARENA_BASE + ARENA_PER_BYTE * s->len, look, s) != GBX_ARENA_DONE)
        s->is_parsed = false;
}

gbx_parameter_names gbx_parameter_names_of(const char *code, size_t len,
                                           const char *name)
{
    search s = {.code = code, .len = len, .name = name};

    run_search(&s);
    return s.is_parsed ? s.found : (gbx_parameter_names){.is_parameter = false};
}

bool gbx_parameter_names_takes_apart(const char *code, size_t len, unsigned index)
{
    search s = {.code = code, .len = len, .name = "", .index = index};

    run_search(&s);
    return s.is_parsed && s.takes_apart;
}

bool gbx_parameter_names_reads(const char *code, size_t len, const char *name)
{
    search s = {.code = code, .len = len, .name = name};

    run_search(&s);
    return !s.is_parsed || s.reads;
}
