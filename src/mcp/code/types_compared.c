/* SPDX-License-Identifier: MIT */
/*
 * types_compared - only the meaning of the names distinguishes a call's type arguments
 * from two comparisons. A name declared both as a variable and as a type counts as the
 * type. Where no call follows, TypeScript decides by the next token: f(a < b, c > -1)
 * has no types.
 */
#include "mcp/code/code_mode.h"

#include "base/cleanup.h"
#include "guard/arena.h"

#include <stdlib.h>
#include <string.h>

/* The field in which such a node declares names; NONE: in any. */
static const struct place {
    const char *parent;
    uint8_t field;
} places[] = {
    {"variable_declarator", GBX_FIELD_NAME}, {"function_declaration", GBX_FIELD_NAME},
    {"arrow_function", GBX_FIELD_PARAMETER}, {"required_parameter", GBX_FIELD_NONE},
    {"optional_parameter", GBX_FIELD_NONE},  {"for_in_statement", GBX_FIELD_LEFT},
    {"array_pattern", GBX_FIELD_NONE},       {"rest_pattern", GBX_FIELD_NONE},
    {"pair_pattern", GBX_FIELD_VALUE},       {"assignment_pattern", GBX_FIELD_LEFT},
};

/* Names that exist without a declaration. */
static const gbx_types_name given[] = {{"data", 4, false}, {"input", 5, false}};

/* Nodes that can be operands as well as types, and their parts. */
static const char *const operands[] = {
    "type_identifier",
    "nested_type_identifier",
    "identifier",
    "union_type",
    "intersection_type",
    "lookup_type",
    "literal_type",
    "parenthesized_type",
    "number",
    "nested_identifier",
    "member_expression",
    "property_identifier",
    "string",
    "string_fragment",
    "escape_sequence",
    "unary_expression",
    "comment",
    "true",
    "false",
    "null",
    "undefined",
};

static bool is_type(const gbx_tree *t, uint32_t i)
{
    return strcmp(gbx_tree_symbol_name(t, i), "type_identifier") == 0;
}

static bool is_variable(const gbx_tree *t, uint32_t i)
{
    uint32_t parent = t->nodes[i].parent;
    const char *name;

    if (t->nodes[i].kind == GBX_NODE_SHORTHAND_PATTERN)
        return true;
    if (t->nodes[i].kind != GBX_NODE_IDENTIFIER || parent == GBX_NO_NODE)
        return false;
    name = gbx_tree_symbol_name(t, parent);
    for (size_t p = 0; p < GBX_COUNTOF(places); p++)
        if (strcmp(name, places[p].parent) == 0)
            return places[p].field == GBX_FIELD_NONE ||
                   places[p].field == t->nodes[i].field;
    return false;
}

/* class A, type A, <A>: a type name that is declared, not used. */
static bool is_declared_type(const gbx_tree *t, uint32_t i)
{
    return t->nodes[i].field == GBX_FIELD_NAME && is_type(t, i) &&
           strcmp(gbx_tree_symbol_name(t, t->nodes[i].parent), "generic_type") != 0 &&
           strcmp(gbx_tree_symbol_name(t, t->nodes[i].parent),
                  "nested_type_identifier") != 0;
}

/* Types sort before variables of the same name. */
static int compare(const void *a, const void *b)
{
    const gbx_types_name *x = a;
    const gbx_types_name *y = b;
    int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

    if (order != 0)
        return order;
    return x->len != y->len ? (x->len < y->len ? -1 : 1) : y->is_type - x->is_type;
}

static gbx_types_name name_of(const gbx_tree *t, uint32_t i)
{
    const gbx_node *n = &t->nodes[i];

    return (gbx_types_name){t->text + n->start, n->end - n->start, is_type(t, i)};
}

static void learn(const gbx_tree *t, gbx_types_names *names)
{
    names->items =
        gbx_arena_calloc(t->count + GBX_COUNTOF(given), sizeof *names->items);
    for (size_t g = 0; g < GBX_COUNTOF(given); g++)
        names->items[names->count++] = given[g];
    for (uint32_t i = 0; i < t->count; i++)
        if (is_variable(t, i) || is_declared_type(t, i))
            names->items[names->count++] = name_of(t, i);
    qsort(names->items, names->count, sizeof *names->items, compare);
}

static bool has(const gbx_types_names *names, gbx_types_name name, bool is_a_type)
{
    name.is_type = is_a_type;
    return bsearch(&name, names->items, names->count, sizeof name, compare) != NULL;
}

static bool is_operand(const gbx_tree *t, uint32_t i)
{
    if (t->nodes[i].kind == GBX_NODE_TOKEN)
        return true;
    for (size_t o = 0; o < GBX_COUNTOF(operands); o++)
        if (strcmp(gbx_tree_symbol_name(t, i), operands[o]) == 0)
            return true;
    return false;
}

/* Is it the name itself, not a member of that name? */
static bool is_name(const gbx_tree *t, uint32_t i)
{
    return t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
           (is_type(t, i) && strcmp(gbx_tree_symbol_name(t, t->nodes[i].parent),
                                    "nested_type_identifier") != 0);
}

/* A variable, or, before a dot, a class: anything except a namespace. */
static bool is_no_type(const gbx_tree *t, uint32_t i, const gbx_types_names *names)
{
    bool is_a_type = has(names, name_of(t, i), true);

    return is_type(t, i) ? has(names, name_of(t, i), false) && !is_a_type
                         : has(names, name_of(t, i), false) || is_a_type;
}

/* f<T>() is a call: a comparison needs an operand. */
static bool has_arguments(const gbx_tree *t, uint32_t call)
{
    uint32_t arguments = gbx_tree_child(t, call, GBX_FIELD_ARGUMENTS);

    return arguments == GBX_NO_NODE || gbx_tree_inner(t, arguments) != GBX_NO_NODE;
}

/*
 * Does what follows f<T>, not a call, make it a comparison? True for a token on the
 * same line that can only begin an operand, and for a sign on any line.
 */
static bool is_operand_behind(const gbx_tree *t, uint32_t i)
{
    uint32_t next = t->nodes[i].next;
    char first;

    while (next < t->count && t->nodes[next].kind == GBX_NODE_COMMENT)
        next = t->nodes[next].next;
    if (next >= t->count)
        return false;
    first = t->text[t->nodes[next].start];
    if (first == '+' || first == '-')
        return true;
    return first == '[' && memchr(t->text + t->nodes[i].end, '\n',
                                  t->nodes[next].start - t->nodes[i].end) == NULL;
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_types_is_compared(const gbx_tree *t, uint32_t i, gbx_types_names *names)
{
    uint32_t parent = t->nodes[i].parent;
    bool found = false;

    if (strcmp(gbx_tree_symbol_name(t, parent), "instantiation_expression") == 0)
        return is_operand_behind(t, i);
    if (t->nodes[parent].kind != GBX_NODE_CALL || !has_arguments(t, parent))
        return false;
    for (uint32_t k = i + 1; k < t->nodes[i].next; k++)
        if (!is_operand(t, k))
            return false;
    if (names->items == NULL)
        learn(t, names);
    for (uint32_t k = i + 1; k < t->nodes[i].next; k++) {
        if (!is_name(t, k))
            continue;
        found = found || is_no_type(t, k, names);
    }
    return found;
}
