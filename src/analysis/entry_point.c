/* SPDX-License-Identifier: MIT */
/*
 * entry_point - finds what gives a script its value, from the top level of the flat
 * tree and all uses of names. A function that the code calls must not be called again.
 */
#include "analysis/internal.h"

#include "base/cleanup.h"

#include <string.h>

/* ---- the exports of a CommonJS module --------------------------------------- */

/* All or nothing: code that declares `module`, passes it on or exports to it twice
 * stays unchanged, and the structural check reports that `module` does not exist. */

#define EXPORT "export default"

struct exporting {
    const gbx_tree *t;
    char *to;      /* NULL: only analyse */
    size_t words;  /* uses of `module` and `exports` in recognised statements */
    size_t values; /* recognised statements that export a value */
};

static bool is_same(const gbx_tree *t, uint32_t a, uint32_t b)
{
    return a != GBX_NO_NODE && gbx_tree_is_text(t, a, t->text + t->nodes[b].start,
                                                t->nodes[b].end - t->nodes[b].start);
}

/* True if it is the name of a function declared at top level. */
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
                gbx_tree_is_callable(t, gbx_tree_child(t, c, GBX_FIELD_VALUE)))
                return true;
    }
    return false;
}

/* { run, work: main }: all members are functions; some: at least one is. */
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
        *ret_some = *ret_some || gbx_tree_is_callable(t, value) ||
                    t->nodes[c].kind == GBX_NODE_METHOD;
    }
    return others == 0 && *ret_some;
}

/* The length of `module.exports` or `exports` at the start of node i; 0: neither is
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

/* `left = value` becomes `export default value`. If that does not fit, only the value
 * stays, which is enough for a function at the end. */
static bool put_default(struct exporting *l, uint32_t statement, uint32_t left,
                        uint32_t value)
{
    const gbx_node *nodes = l->t->nodes;
    bool has_room = nodes[value].start - nodes[left].start > sizeof EXPORT - 1;

    if (l->values++ > 0)
        return false;
    if (!has_room &&
        (!gbx_tree_is_callable(l->t, value) || nodes[statement].next < l->t->count))
        return false;
    if (l->to == NULL)
        return true;
    gbx_text_blank(l->to, nodes[left].start, nodes[value].start);
    if (has_room)
        memcpy(l->to + nodes[left].start, EXPORT, sizeof EXPORT - 1);
    else /* keep the line before from continuing here */
        l->to[nodes[left].start] = ';';
    return true;
}

static bool drop_statement(const struct exporting *l, uint32_t statement)
{
    if (l->to != NULL) {
        gbx_text_blank(l->to, l->t->nodes[statement].start, l->t->nodes[statement].end);
        l->to[l->t->nodes[statement].start] = ';';
    }
    return true;
}

/* False: the statement exports in an ambiguous way. */
static bool take_statement(struct exporting *l, uint32_t statement)
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
        return drop_statement(l, statement);
    if (t->nodes[value].kind != GBX_NODE_OBJECT)
        return put_default(l, statement, left, value);
    is_all = is_all_functions(t, value, &some);
    if (is_all)
        return drop_statement(l, statement);
    return !some && put_default(l, statement, left, value);
}

static bool take_all(struct exporting *l)
{
    const gbx_tree *t = l->t;

    for (uint32_t i = 1; i < t->count; i = t->nodes[i].next)
        if (!take_statement(l, i))
            return false;
    return true;
}

bool gbx_exports_take(const gbx_tree *t, char *to)
{
    struct exporting l = {.t = t};
    size_t words = 0;

    if (t->has_error || !take_all(&l) || l.words == 0)
        return false;
    for (uint32_t i = 0; i < t->count; i++)
        words += (t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
                  t->nodes[i].kind == GBX_NODE_SHORTHAND ||
                  t->nodes[i].kind == GBX_NODE_SHORTHAND_PATTERN) &&
                 (gbx_tree_is(t, i, "module") || gbx_tree_is(t, i, "exports"));
    if (words != l.words)
        return false;
    l = (struct exporting){.t = t, .to = to};
    return take_all(&l);
}

/* Top-level functions to examine: no real script of 50 kB has so many uncalled. */
#define FUNCTIONS_MAX 64

struct look {
    const gbx_tree *t;
    uint32_t last;       /* statement, or GBX_NO_NODE */
    uint32_t last_value; /* the last expression followed only by declarations */
    uint32_t exported;   /* the last exported expression */
    uint32_t declared;   /* the declaration of the default export */
    bool has_return;     /* at top level, or in a block there */
    bool only_functions;
    bool only_declares; /* only functions, classes, and constants without await */
    uint32_t names[FUNCTIONS_MAX]; /* of functions declared at top level */
    size_t name_count;
};

/* ---- the top level ---------------------------------------------------------- */

static void add_function(struct look *l, uint32_t name)
{
    if (name != GBX_NO_NODE && l->name_count < FUNCTIONS_MAX)
        l->names[l->name_count++] = name;
}

/* `const run = async () => {}`; false if it declares anything except functions. */
static bool look_at_variables(struct look *l, uint32_t i)
{
    const gbx_tree *t = l->t;
    bool only = true;

    for (uint32_t c = i + 1; c < t->nodes[i].next; c = t->nodes[c].next) {
        if (t->nodes[c].kind != GBX_NODE_DECLARATOR)
            continue;
        if (gbx_tree_is_callable(
                t, gbx_tree_unwrap(t, gbx_tree_child(t, c, GBX_FIELD_VALUE))))
            add_function(l, gbx_tree_child(t, c, GBX_FIELD_NAME));
        else
            only = false;
    }
    return only;
}

/* A function after `export default` may lack a name; it is then an expression. */
static bool is_nameless(const gbx_tree *t, uint32_t i)
{
    return (t->nodes[i].kind == GBX_NODE_FUNCTION_DECLARATION ||
            t->nodes[i].kind == GBX_NODE_FUNCTION) &&
           gbx_tree_child(t, i, GBX_FIELD_NAME) == GBX_NO_NODE;
}

static void look_at_statement(struct look *l, uint32_t i)
{
    const gbx_tree *t = l->t;

    if (t->nodes[i].kind == GBX_NODE_EXPORT) {
        uint32_t inner = gbx_tree_child(t, i, GBX_FIELD_DECLARATION);

        if (inner != GBX_NO_NODE && gbx_tree_token(t, i, "default") != GBX_NO_NODE)
            l->declared = inner;
        if (inner != GBX_NO_NODE && is_nameless(t, inner))
            l->exported = inner;
        if (inner == GBX_NO_NODE)
            l->exported = inner = gbx_tree_child(t, i, GBX_FIELD_VALUE);
        if (inner == GBX_NO_NODE)
            return;
        i = inner;
    }
    l->last = i;
    switch ((unsigned)t->nodes[i].kind) {
    case GBX_NODE_EXPRESSION_STATEMENT:
        l->last_value = i;
        l->only_functions = l->only_declares = false;
        break;
    case GBX_NODE_FUNCTION_DECLARATION:
        add_function(l, gbx_tree_child(t, i, GBX_FIELD_NAME));
        break;
    case GBX_NODE_GENERATOR_DECLARATION:
    case GBX_NODE_CLASS_DECLARATION: break;
    case GBX_NODE_LEXICAL_DECLARATION:
    case GBX_NODE_VAR_DECLARATION:
        l->only_functions = look_at_variables(l, i) && l->only_functions;
        l->last_value = GBX_NO_NODE;
        break;
    default:
        l->only_functions = l->only_declares = false;
        l->last_value = GBX_NO_NODE;
        break;
    }
}

/* The grammar reads `await (f)()` as a call of a function named await, which cannot be
 * meant. As a token, await is part of `for await`. */
static bool is_await(const gbx_tree *t, uint32_t i)
{
    return t->nodes[i].kind == GBX_NODE_AWAIT ||
           ((t->nodes[i].kind == GBX_NODE_TOKEN ||
             t->nodes[i].kind == GBX_NODE_IDENTIFIER) &&
            gbx_tree_is(t, i, "await"));
}

static bool is_return(const gbx_tree *t, uint32_t i)
{
    return t->nodes[i].kind == GBX_NODE_RETURN;
}

/* True if the script has such a node outside of its functions. */
static bool has_outside(const gbx_tree *t, bool (*is_it)(const gbx_tree *t, uint32_t i))
{
    for (uint32_t i = 0; i < t->count;) {
        if (is_it(t, i))
            return true;
        i = gbx_tree_is_function(t, i) ||
                    t->nodes[i].kind == GBX_NODE_CLASS_STATIC_BLOCK
                ? t->nodes[i].next
                : i + 1;
    }
    return false;
}

/* ---- what to call ------------------------------------------------------------ */

static bool is_same_name(const gbx_tree *t, uint32_t i, uint32_t name)
{
    return (t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
            t->nodes[i].kind == GBX_NODE_SHORTHAND) &&
           is_same(t, i, name);
}

static bool declares_function(const struct look *l, uint32_t i)
{
    for (size_t k = 0; k < l->name_count; k++)
        if (l->t->nodes[l->names[k]].parent == i)
            return true;
    return false;
}

/* True if the name is used outside its declaration. but: another node to skip; at_top:
 * uses in top-level functions do not count. */
static bool is_used(const struct look *l, uint32_t name, uint32_t but, bool at_top)
{
    const gbx_tree *t = l->t;

    for (uint32_t i = 0; i < t->count;) {
        if (i == t->nodes[name].parent || i == but ||
            (at_top && declares_function(l, i))) {
            i = t->nodes[i].next;
            continue;
        }
        if (is_same_name(t, i, name))
            return true;
        i++;
    }
    return false;
}

/* The last unused function, and the number of unused ones. */
static uint32_t find_unused(const struct look *l, size_t *ret_count)
{
    uint32_t found = GBX_NO_NODE;

    *ret_count = 0;
    for (size_t i = 0; i < l->name_count; i++)
        if (!is_used(l, l->names[i], GBX_NO_NODE, false)) {
            found = l->names[i];
            ++*ret_count;
        }
    return found;
}

/*
 * Find the function to call: run, main, execute or handler, or the only unused
 * function, if the script has only functions or ends in that one. Do not guess for a
 * script that acts by itself.
 */
static uint32_t find_entry(const struct look *l)
{
    static const char *const known[] = {"run", "main", "execute", "handler"};
    uint32_t only, declaration;
    size_t count;
    bool is_last;

    for (size_t k = 0; k < GBX_COUNTOF(known); k++)
        for (size_t i = 0; i < l->name_count; i++) {
            if (!gbx_tree_is(l->t, l->names[i], known[k]))
                continue;
            if (!is_used(l, l->names[i], GBX_NO_NODE, false))
                return l->names[i];
            if (is_used(l, l->names[i], GBX_NO_NODE, true))
                return GBX_NO_NODE;
        }
    only = find_unused(l, &count);
    if (count != 1 || l->name_count == FUNCTIONS_MAX)
        return GBX_NO_NODE;
    declaration = l->t->nodes[only].parent;
    is_last = declaration == l->last || l->t->nodes[declaration].parent == l->last;
    return l->only_functions || (l->only_declares && is_last) ? only : GBX_NO_NODE;
}

/* `export default function work() {}`, anywhere at top level. */
static uint32_t find_default(const struct look *l)
{
    for (size_t i = 0; i < l->name_count; i++)
        if (l->t->nodes[l->names[i]].parent == l->declared)
            return is_used(l, l->names[i], GBX_NO_NODE, false) ? GBX_NO_NODE
                                                               : l->names[i];
    return GBX_NO_NODE;
}

/* The name of the function that an expression names, or GBX_NO_NODE. */
static uint32_t function_of(const struct look *l, uint32_t value)
{
    for (size_t i = 0; i < l->name_count; i++)
        if (is_same_name(l->t, value, l->names[i]))
            return l->names[i];
    return GBX_NO_NODE;
}

/* `main;` or `export default main`: the function of that name, unless it is used
 * elsewhere. */
static uint32_t find_named(const struct look *l, uint32_t value)
{
    uint32_t but = value == l->exported ? value : l->last;
    uint32_t name;

    if (value == GBX_NO_NODE || l->t->nodes[value].kind != GBX_NODE_IDENTIFIER)
        return GBX_NO_NODE;
    name = function_of(l, value);
    return name != GBX_NO_NODE && is_used(l, name, but, false) ? GBX_NO_NODE : name;
}

/* `total`, or `total, late`. */
static bool is_names(const gbx_tree *t, uint32_t i)
{
    if (i == GBX_NO_NODE)
        return false;
    for (uint32_t c = i; c < t->nodes[i].next; c++)
        if (t->nodes[c].kind != GBX_NODE_IDENTIFIER &&
            t->nodes[c].kind != GBX_NODE_SEQUENCE &&
            t->nodes[c].kind != GBX_NODE_TOKEN && !gbx_tree_is_comment(t, c))
            return false;
    return true;
}

/* `{ total }`, `{ total, late }` and `{ count: n }` at the end: to the engine a block
 * with one statement, but its author means an object. */
static bool is_object(const gbx_tree *t, uint32_t block)
{
    uint32_t only = GBX_NO_NODE;
    uint32_t value;

    if (t->nodes[block].kind ==
        GBX_NODE_EXPRESSION_STATEMENT) { /* as the parser guesses */
        value = gbx_tree_inner(t, block);
        return value != GBX_NO_NODE && t->nodes[value].kind == GBX_NODE_OBJECT;
    }
    if (t->nodes[block].kind != GBX_NODE_BLOCK)
        return false;
    for (uint32_t c = block + 1; c < t->nodes[block].next; c = t->nodes[c].next) {
        if (gbx_tree_is_comment(t, c) || t->nodes[c].kind == GBX_NODE_TOKEN)
            continue;
        if (only != GBX_NO_NODE)
            return false;
        only = c;
    }
    if (only == GBX_NO_NODE || t->text[t->nodes[only].end - 1] == ';')
        return false;
    if (t->nodes[only].kind == GBX_NODE_EXPRESSION_STATEMENT)
        return is_names(t, gbx_tree_inner(t, only));
    if (t->nodes[only].kind != GBX_NODE_LABELED)
        return false;
    value = gbx_tree_child(t, only, GBX_FIELD_BODY);
    return value != GBX_NO_NODE &&
           t->nodes[value].kind == GBX_NODE_EXPRESSION_STATEMENT;
}

/* Blank the words before an exported declaration or expression. */
static void drop_export(const gbx_tree *t, uint32_t i, char *to)
{
    uint32_t inner = gbx_tree_child(t, i, GBX_FIELD_DECLARATION);

    if (inner == GBX_NO_NODE)
        inner = gbx_tree_child(t, i, GBX_FIELD_VALUE);
    if (inner == GBX_NO_NODE)
        return;
    gbx_text_blank(to, t->nodes[i].start, t->nodes[inner].start);
    if (t->has_error && is_nameless(t, inner))
        memcpy(to + t->nodes[i].start, "0,", 2); /* still an expression */
}

static void add_return(gbx_entry_point *ret, size_t start)
{
    ret->returns[ret->return_count++] = start;
}

/* The last statement of a block, or the node after the block. */
static uint32_t last_of_block(const gbx_tree *t, uint32_t block)
{
    uint32_t last = t->nodes[block].next;

    for (uint32_t c = block + 1; c < t->nodes[block].next; c = t->nodes[c].next)
        if (!gbx_tree_is_comment(t, c) && t->nodes[c].kind != GBX_NODE_TOKEN &&
            t->nodes[c].kind != GBX_NODE_EMPTY)
            last = c;
    return last;
}

/*
 * Find the last expressions in all branches of a final if, try or block. A loop has a
 * value for the engine, but not inside a function: it is left out, since a script's
 * value must not depend on whether it awaits something.
 */
static void find_tails(const struct look *l, gbx_entry_point *ret)
{
    const gbx_tree *t = l->t;

    for (uint32_t i = l->last; i < t->nodes[l->last].next;) {
        switch ((unsigned)t->nodes[i].kind) {
        case GBX_NODE_IF:
        case GBX_NODE_ELSE:
        case GBX_NODE_TRY:
        case GBX_NODE_CATCH: i++; continue;
        case GBX_NODE_BLOCK: i = last_of_block(t, i); continue;
        case GBX_NODE_EXPRESSION_STATEMENT:
            if (ret->return_count == GBX_SHAPE_RETURNS_MAX) {
                ret->return_count = 0;
                return;
            }
            add_return(ret, t->nodes[i].start);
            break;
        default: break;
        }
        i = t->nodes[i].next;
    }
    ret->is_void = ret->return_count == 0;
}

static void decide(const struct look *l, gbx_entry_point *ret)
{
    const gbx_tree *t = l->t;
    uint32_t value = gbx_tree_unwrap(t, l->last);
    uint32_t entry;

    if (gbx_tree_is_callable(t, value) &&
        (t->nodes[value].kind != GBX_NODE_FUNCTION_DECLARATION ||
         is_nameless(t, value))) {
        uint32_t whole = t->nodes[l->last].kind == GBX_NODE_EXPRESSION_STATEMENT
                             ? gbx_tree_inner(t, l->last)
                             : l->last;

        ret->calls_expression = true;
        ret->start = t->nodes[whole].start;
        ret->end = t->nodes[whole].end;
        return;
    }
    entry = find_named(l, l->exported != GBX_NO_NODE ? l->exported : value);
    if (entry == GBX_NO_NODE && l->declared != GBX_NO_NODE)
        entry = find_default(l);
    /* An exported expression is the value although declarations follow it. */
    if (entry == GBX_NO_NODE && l->exported != GBX_NO_NODE && !l->has_return &&
        l->last != l->exported && l->last_value == GBX_NO_NODE &&
        function_of(l, l->exported) == GBX_NO_NODE) {
        ret->keeps = true;
        ret->calls_kept = gbx_tree_is_callable(t, gbx_tree_unwrap(t, l->exported));
        ret->start = t->nodes[l->exported].start;
        ret->end = t->nodes[l->exported].end;
        return;
    }
    if (entry == GBX_NO_NODE && (l->last == l->exported || is_object(t, l->last))) {
        add_return(ret, t->nodes[l->last].start);
        return;
    }
    if (entry == GBX_NO_NODE &&
        (l->has_return || t->nodes[l->last].kind == GBX_NODE_EXPRESSION_STATEMENT))
        return;
    if (entry == GBX_NO_NODE && l->declared == GBX_NO_NODE)
        entry = find_entry(l);
    if (entry != GBX_NO_NODE) {
        ret->name_start = t->nodes[entry].start;
        ret->name_end = t->nodes[entry].end;
    } else if (l->last_value != GBX_NO_NODE) {
        add_return(ret, t->nodes[l->last_value].start);
    } else {
        find_tails(l, ret);
    }
}

void gbx_entry_point_find(const gbx_tree *t, char *to, gbx_entry_point *ret)
{
    struct look l = {.t = t,
                     .last = GBX_NO_NODE,
                     .last_value = GBX_NO_NODE,
                     .exported = GBX_NO_NODE,
                     .declared = GBX_NO_NODE,
                     .only_functions = true,
                     .only_declares = !has_outside(t, is_await)};
    size_t count = 0;
    uint32_t unused;

    *ret = (gbx_entry_point){.calls_expression = false};
    for (uint32_t i = 1; i < t->count; i = t->nodes[i].next) {
        if (gbx_tree_is_comment(t, i) || t->nodes[i].kind == GBX_NODE_EMPTY ||
            t->nodes[i].kind == GBX_NODE_TOKEN)
            continue;
        if (t->nodes[i].kind == GBX_NODE_EXPORT)
            drop_export(t, i, to);
        look_at_statement(&l, i);
        count++;
    }
    if (t->has_error || l.last == GBX_NO_NODE)
        return;
    ret->is_module =
        count > 1 && (l.exported != GBX_NO_NODE || l.declared != GBX_NO_NODE);
    l.has_return = has_outside(t, is_return);
    if (t->nodes[l.last].kind == GBX_NODE_EXPRESSION_STATEMENT)
        ret->last_expression = 1 + (size_t)t->nodes[l.last].start;
    ret->is_async = l.has_return || has_outside(t, is_await);
    decide(&l, ret);
    /* When a script has no value, its author may have meant this function to be
     * called. */
    unused = find_unused(&l, &count);
    if (unused != GBX_NO_NODE && !ret->calls_expression && ret->name_end == 0) {
        ret->uncalled_start = t->nodes[unused].start;
        ret->uncalled_end = t->nodes[unused].end;
    }
}
