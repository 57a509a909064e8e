/* SPDX-License-Identifier: MIT */
/*
 * ts_strip - removes types in one pass over the flat tree, by a table of node kinds.
 *
 * A removed statement leaves a semicolon, to keep the lines before and after it from
 * becoming one expression.
 */
#include "analysis/internal.h"

#include "base/cleanup.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <string.h>

enum action {
    KEEP,
    BLANK,     /* the node */
    ARGUMENTS, /* the node, unless it is a comparison */
    MODIFIER,  /* the node, at the start of a class member */
    STATEMENT, /* the node, or the export that it is part of */
    TAIL,      /* everything after the first child: `x as T` */
    REFUSE,
    PARAMETER, /* `this: T` is removed; `private x` is refused */
    FIELD,     /* a field that is only declared makes no property */
    MODULE,    /* an import or export is removed if it has only types */
};

static const struct rule {
    const char *name;
    uint8_t action;
    uint32_t hint; /* of REFUSE */
} rules[] = {
    {"abstract_method_signature", STATEMENT, GBX_HINT_NONE},
    {"accessibility_modifier", MODIFIER, GBX_HINT_NONE},
    {"adding_type_annotation", BLANK, GBX_HINT_NONE},
    {"ambient_declaration", STATEMENT, GBX_HINT_NONE},
    {"as_expression", TAIL, GBX_HINT_NONE},
    {"asserts_annotation", BLANK, GBX_HINT_NONE},
    {"decorator", REFUSE, GBX_HINT_DECORATOR},
    {"enum_declaration", REFUSE, GBX_HINT_ENUM},
    {"export_statement", MODULE, GBX_HINT_NONE},
    {"function_signature", STATEMENT, GBX_HINT_NONE},
    {"implements_clause", BLANK, GBX_HINT_NONE},
    {"import_alias", REFUSE, GBX_HINT_IMPORT_ALIAS},
    {"import_statement", MODULE, GBX_HINT_NONE},
    {"index_signature", STATEMENT, GBX_HINT_NONE},
    {"interface_declaration", STATEMENT, GBX_HINT_NONE},
    {"internal_module", REFUSE, GBX_HINT_NAMESPACE},
    {"method_signature", STATEMENT, GBX_HINT_NONE},
    {"module", REFUSE, GBX_HINT_MODULE},
    {"omitting_type_annotation", BLANK, GBX_HINT_NONE},
    {"opting_type_annotation", BLANK, GBX_HINT_NONE},
    {"optional_parameter", PARAMETER, GBX_HINT_NONE},
    {"override_modifier", MODIFIER, GBX_HINT_NONE},
    {"public_field_definition", FIELD, GBX_HINT_NONE},
    {"required_parameter", PARAMETER, GBX_HINT_NONE},
    {"satisfies_expression", TAIL, GBX_HINT_NONE},
    {"type_alias_declaration", STATEMENT, GBX_HINT_NONE},
    {"type_annotation", BLANK, GBX_HINT_NONE},
    {"type_arguments", ARGUMENTS, GBX_HINT_NONE},
    {"type_parameters", BLANK, GBX_HINT_NONE},
    {"type_predicate_annotation", BLANK, GBX_HINT_NONE},
};

/* Words and marks that are removed as direct children of such a node. */
static const struct mark {
    const char *text;
    const char *parent;
} marks[] = {
    {"!", "non_null_expression"},
    {"!", "variable_declarator"},
    {"!", "public_field_definition"},
    {"?", "optional_parameter"},
    {"?", "public_field_definition"},
    {"?", "method_definition"},
    {"abstract", "abstract_class_declaration"},
    {"readonly", "public_field_definition"},
};

struct pass {
    const gbx_tree *t;
    char *to;
    uint8_t *known; /* 0: not looked up; else 1 + index of the symbol's rule */
    gbx_types_fault *fault;
    gbx_types_names names;
};

static const struct rule keep = {"", KEEP, GBX_HINT_NONE};

static const struct rule *rule_of(struct pass *p, uint32_t i)
{
    uint16_t symbol = p->t->nodes[i].symbol;

    if (p->t->nodes[i].kind == GBX_NODE_TOKEN ||
        symbol >= ts_language_symbol_count(p->t->language))
        return &keep;
    if (p->known[symbol] == 0) {
        const char *name = gbx_tree_symbol_name(p->t, i);
        size_t at = 0;

        while (at < GBX_COUNTOF(rules) && strcmp(name, rules[at].name) != 0)
            at++;
        p->known[symbol] = (uint8_t)(at + 1);
    }
    return p->known[symbol] > GBX_COUNTOF(rules) ? &keep : &rules[p->known[symbol] - 1];
}

static void blank_node(struct pass *p, uint32_t i)
{
    gbx_text_blank(p->to, p->t->nodes[i].start, p->t->nodes[i].end);
}

static void refuse(struct pass *p, uint32_t i, uint32_t hint)
{
    if (p->fault->hint == GBX_HINT_NONE)
        *p->fault = (gbx_types_fault){hint, p->t->nodes[i].start};
}

static bool has_name(const gbx_tree *t, uint32_t i, const char *name)
{
    return i != GBX_NO_NODE && strcmp(gbx_tree_symbol_name(t, i), name) == 0;
}

static bool has_break(const gbx_tree *t, size_t start, size_t end)
{
    return start < end && memchr(t->text + start, '\n', end - start) != NULL;
}

/*
 * The end of type i. The grammar adds brackets on the next line to it; in TypeScript
 * the statement ends before them.
 */
static size_t type_end(const gbx_tree *t, uint32_t i)
{
    size_t end = t->nodes[i].end;

    for (; has_name(t, i, "lookup_type") || has_name(t, i, "array_type"); i++) {
        uint32_t bracket = gbx_tree_token(t, i, "[");

        if (bracket != GBX_NO_NODE &&
            has_break(t, t->nodes[i + 1].end, t->nodes[bracket].start))
            end = t->nodes[i + 1].end;
    }
    return end;
}

static bool breaks_after(const gbx_tree *t, uint32_t i)
{
    uint32_t next = t->nodes[i].next;

    while (next < t->count && t->nodes[next].kind == GBX_NODE_COMMENT)
        next = t->nodes[next].next;
    return next < t->count && has_break(t, t->nodes[i].end, t->nodes[next].start);
}

/* i: a child after the first of `x as T`. */
static void blank_tail(struct pass *p, uint32_t i)
{
    const gbx_tree *t = p->t;
    uint32_t whole = t->nodes[i].parent;
    uint32_t second = t->nodes[whole + 1].next;
    uint32_t parent = t->nodes[whole].parent;
    size_t end = type_end(t, i);
    /* The grammar reads a bracket after `x as T`, on the next line too, as a call or a
     * subscript. TypeScript allows neither. */
    bool is_taken = i == second && parent != GBX_NO_NODE && whole == parent + 1 &&
                    (t->nodes[parent].kind == GBX_NODE_CALL ||
                     t->nodes[parent].kind == GBX_NODE_SUBSCRIPT);

    if (is_taken && !breaks_after(t, whole))
        refuse(p, i, GBX_HINT_CAST_CALLED);
    if (i == second && gbx_types_is_cut(t, parent))
        refuse(p, i, GBX_HINT_TYPE_END);
    gbx_text_blank(p->to, t->nodes[i].start, end);
    if (end < t->nodes[i].end || is_taken)
        p->to[t->nodes[second].start] = ';';
}

/* Blank a modifier. The line before must not continue with the text after it. */
static void blank_modifier(struct pass *p, uint32_t i)
{
    const gbx_tree *t = p->t;
    uint32_t element = t->nodes[i].parent;

    blank_node(p, i);
    if (element != GBX_NO_NODE && t->nodes[element].start == t->nodes[i].start &&
        t->nodes[element].parent != GBX_NO_NODE &&
        t->nodes[t->nodes[element].parent].kind == GBX_NODE_CLASS_BODY)
        p->to[t->nodes[i].start] = ';';
}

static void blank_statement(struct pass *p, uint32_t i)
{
    uint32_t parent = p->t->nodes[i].parent;

    if (parent != GBX_NO_NODE && p->t->nodes[parent].kind == GBX_NODE_EXPORT)
        i = parent;
    blank_node(p, i);
    if (p->t->nodes[i].start < p->t->nodes[i].end)
        p->to[p->t->nodes[i].start] = ';';
}

/*
 * No line break may separate the parameters of an arrow function from its arrow, but a
 * return type may contain one: move the closing parenthesis to the end of the type.
 */
static void join_arrow(struct pass *p, uint32_t i)
{
    const gbx_node *type = &p->t->nodes[i];
    uint32_t parent = type->parent;
    uint32_t list;

    if (parent == GBX_NO_NODE || p->t->nodes[parent].kind != GBX_NODE_ARROW)
        return;
    list = gbx_tree_child(p->t, parent, GBX_FIELD_PARAMETERS);
    if (list == GBX_NO_NODE || p->t->nodes[list].end > type->start ||
        !has_break(p->t, p->t->nodes[list].end, type->end) ||
        p->t->text[p->t->nodes[list].end - 1] != ')' ||
        (uint8_t)p->t->text[type->end - 1] >= 0x80)
        return;
    p->to[p->t->nodes[list].end - 1] = ' ';
    p->to[type->end - 1] = ')';
}

/* The same between async and the parameters: move the opening parenthesis to the start
 * of the type parameters. */
static void join_async(struct pass *p, uint32_t i)
{
    const gbx_tree *t = p->t;
    uint32_t parent = t->nodes[i].parent;
    uint32_t list;

    if (parent == GBX_NO_NODE || t->nodes[parent].kind != GBX_NODE_ARROW ||
        !has_name(t, i, "type_parameters"))
        return;
    list = gbx_tree_child(t, parent, GBX_FIELD_PARAMETERS);
    if (list == GBX_NO_NODE || t->text[t->nodes[list].start] != '(' ||
        !has_break(t, t->nodes[i].start, t->nodes[list].start))
        return;
    p->to[t->nodes[list].start] = ' ';
    p->to[t->nodes[i].start] = '(';
}

/* True if the parameter was removed. */
static bool take_parameter(struct pass *p, uint32_t i)
{
    const gbx_tree *t = p->t;
    uint32_t after = t->nodes[i].next;
    bool is_property =
        i + 1 < after && (has_name(t, i + 1, "accessibility_modifier") ||
                          has_name(t, i + 1, "override_modifier") ||
                          gbx_tree_token(t, i, "readonly") != GBX_NO_NODE);

    if (is_property) {
        refuse(p, i, GBX_HINT_PROPERTY_PARAMETER);
        return true;
    }
    if (i + 1 >= after || !gbx_tree_is(t, i + 1, "this"))
        return false;
    blank_node(p, i);
    if (after < t->count && t->nodes[after].kind == GBX_NODE_TOKEN &&
        gbx_tree_is(t, after, ","))
        blank_node(p, after);
    return true;
}

static bool goes(const gbx_tree *t, uint32_t i)
{
    uint32_t parent = t->nodes[i].parent;

    if (t->nodes[i].kind != GBX_NODE_TOKEN || parent == GBX_NO_NODE)
        return false;
    for (size_t m = 0; m < GBX_COUNTOF(marks); m++)
        if (gbx_tree_is(t, i, marks[m].text) && has_name(t, parent, marks[m].parent))
            return true;
    return false;
}

/* export {} */
static bool is_empty_clause(const gbx_tree *t, uint32_t i)
{
    for (uint32_t c = i + 1; c < t->nodes[i].next; c = t->nodes[c].next)
        if (has_name(t, c, "export_clause"))
            return gbx_tree_token(t, i, "from") == GBX_NO_NODE;
    return false;
}

/* An import or export of types alone: `type` precedes all names, or each; or `export
 * {}`, which only marks the file as a module. */
static bool is_of_types(const gbx_tree *t, uint32_t i)
{
    size_t types = 0;

    if (gbx_tree_token(t, i, "type") != GBX_NO_NODE)
        return true;
    for (uint32_t c = i + 1; c < t->nodes[i].next; c++) {
        uint32_t parent = t->nodes[c].parent;
        bool is_listed =
            has_name(t, c, "import_specifier") || has_name(t, c, "export_specifier");

        if (is_listed && gbx_tree_token(t, c, "type") == GBX_NO_NODE)
            return false;
        if (!is_listed && has_name(t, parent, "import_clause") &&
            !has_name(t, c, "named_imports"))
            return false;
        types += is_listed;
    }
    return types > 0 || is_empty_clause(t, i);
}

/* The node to continue with: the first one below i, or the one after it. */
static uint32_t step(struct pass *p, uint32_t i)
{
    const gbx_node *node = &p->t->nodes[i];
    const struct rule *rule = rule_of(p, i);

    if (node->parent != GBX_NO_NODE && i != node->parent + 1 &&
        rule_of(p, node->parent)->action == TAIL) {
        blank_tail(p, i);
        return node->next;
    }
    switch ((enum action)rule->action) {
    case ARGUMENTS:
    case BLANK:
        if (rule->action == ARGUMENTS && gbx_types_is_compared(p->t, i, &p->names))
            return node->next;
        /* After return, a line break left by a removed cast would end the statement. */
        if (has_name(p->t, node->parent, "type_assertion") &&
            has_break(p->t, node->start, node->end))
            refuse(p, i, GBX_HINT_LONG_CAST);
        blank_node(p, i);
        join_arrow(p, i);
        join_async(p, i);
        /* A field without a value, `get: T` or `static: T`: its name must not act as a
         * keyword for the next line. */
        if (has_name(p->t, i, "type_annotation") &&
            has_name(p->t, node->parent, "public_field_definition") &&
            gbx_tree_child(p->t, node->parent, GBX_FIELD_VALUE) == GBX_NO_NODE)
            p->to[node->start] = ';';
        return node->next;
    case MODIFIER: blank_modifier(p, i); return node->next;
    case STATEMENT: blank_statement(p, i); return node->next;
    case REFUSE: refuse(p, i, rule->hint); return node->next;
    case PARAMETER: return take_parameter(p, i) ? node->next : i + 1;
    case FIELD:
        if (gbx_tree_token(p->t, i, "accessor") != GBX_NO_NODE)
            refuse(p, i, GBX_HINT_ACCESSOR);
        if (gbx_tree_token(p->t, i, "abstract") == GBX_NO_NODE &&
            gbx_tree_token(p->t, i, "declare") == GBX_NO_NODE)
            return i + 1;
        blank_statement(p, i);
        return node->next;
    case MODULE:
        if (!is_of_types(p->t, i))
            return i + 1;
        blank_statement(p, i);
        return node->next;
    case KEEP:
    case TAIL: break;
    }
    if (goes(p->t, i))
        blank_modifier(p, i);
    return i + 1;
}

bool gbx_types_take(const char *text, size_t len, char *to, gbx_types_fault *ret_fault)
{
    struct pass p = {.to = to, .fault = ret_fault};
    size_t error;
    gbx_tree t;

    *ret_fault = (gbx_types_fault){GBX_HINT_NONE, 0};
    if (!gbx_types_parse(&t, text, len, to))
        return true; /* cannot be decided: treat it as valid */
    p.t = &t;
    p.known = gbx_arena_calloc(ts_language_symbol_count(t.language), 1);
    for (uint32_t i = 0; i < t.count;)
        i = step(&p, i);
    if (!t.has_error)
        return true;
    error = gbx_tree_first_error(&t);
    if (ret_fault->hint == GBX_HINT_NONE || error < ret_fault->offset)
        *ret_fault = (gbx_types_fault){GBX_HINT_NONE, error};
    return false;
}
