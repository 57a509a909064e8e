/* SPDX-License-Identifier: MIT */
/* form - is the code what its form says? describe() has the wording of objections. */
#include "guard/internal.h"

#include "base/cleanup.h"

#include <string.h>

#define HINT_FUNCTION \
    "write one function of the input: (data) => { return ...; } or (data) => ..."
#define HINT_EXECUTE \
    "define it at the top level: function execute(input) { return ...; }"
#define HINT_ONLY \
    "give only the function: (data) => ..., without a name, 'const' or '=' before it"
#define HINT_PLAIN "give the code alone, without the text and Markdown around it"

/* The statements of a program, comments and empty statements left out. */
struct top {
    TSNode first;
    size_t count;
    size_t comments;
    size_t functions; /* declarations of functions among them */
};

static bool is_comment(gbx_node_kind kind)
{
    return kind == GBX_NODE_COMMENT || kind == GBX_NODE_HTML_COMMENT;
}

static void look(TSNode root, struct top *ret)
{
    TSTreeCursor cursor = ts_tree_cursor_new(root);

    *ret = (struct top){0};
    if (!ts_tree_cursor_goto_first_child(&cursor))
        return;
    do {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        gbx_node_kind kind = gbx_tree_kind(node);

        if (is_comment(kind))
            ret->comments++;
        if (is_comment(kind) || kind == GBX_NODE_EMPTY || kind == GBX_NODE_TOKEN)
            continue;
        if (ret->count++ == 0)
            ret->first = node;
        ret->functions += kind == GBX_NODE_FUNCTION_DECLARATION;
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
}

/* The first child that is not a comment or token, or the null node. */
static TSNode inner(TSNode node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool has_child = ts_tree_cursor_goto_first_child(&cursor);
    TSNode child = {0};

    for (bool found = false; has_child && !found;) {
        gbx_node_kind kind;

        child = ts_tree_cursor_current_node(&cursor);
        kind = gbx_tree_kind(child);
        found = !is_comment(kind) && kind != GBX_NODE_TOKEN;
        if (!found && !ts_tree_cursor_goto_next_sibling(&cursor)) {
            child = (TSNode){0};
            break;
        }
    }
    ts_tree_cursor_delete(&cursor); /* unwrap() may come here very often */
    return child;
}

static TSNode field(TSNode node, const char *name)
{
    return ts_node_child_by_field_name(node, name, (uint32_t)strlen(name));
}

static bool is_function(TSNode node)
{
    gbx_node_kind kind = ts_node_is_null(node) ? GBX_NODE_OTHER : gbx_tree_kind(node);

    return kind == GBX_NODE_ARROW || kind == GBX_NODE_FUNCTION ||
           kind == GBX_NODE_FUNCTION_DECLARATION;
}

static bool is_generator(TSNode node)
{
    gbx_node_kind kind = ts_node_is_null(node) ? GBX_NODE_OTHER : gbx_tree_kind(node);

    return kind == GBX_NODE_GENERATOR || kind == GBX_NODE_GENERATOR_DECLARATION;
}

/* The expression of an expression statement, the parentheses around it left out. */
static TSNode unwrap(TSNode node)
{
    while (!ts_node_is_null(node) &&
           (gbx_tree_kind(node) == GBX_NODE_EXPRESSION_STATEMENT ||
            gbx_tree_kind(node) == GBX_NODE_PARENTHESIZED))
        node = inner(node);
    return node;
}

/* The same of an expression or a declaration after `export default`. */
static TSNode exported(TSNode node)
{
    TSNode value;

    if (gbx_tree_kind(node) != GBX_NODE_EXPORT)
        return unwrap(node);
    value = field(node, "value");
    return unwrap(ts_node_is_null(value) ? field(node, "declaration") : value);
}

static bool is_named(const gbx_tree *t, TSNode name, const char *text)
{
    size_t len = strlen(text);

    return !ts_node_is_null(name) &&
           ts_node_end_byte(name) - ts_node_start_byte(name) == len &&
           memcmp(t->text + ts_node_start_byte(name), text, len) == 0;
}

/* ---- function ------------------------------------------------------------- */

struct wording {
    gbx_node_kind kind;
    const char *what;
    const char *hint;
};

static const struct wording wordings[] = {
    {GBX_NODE_ARRAY, "an array", HINT_FUNCTION},
    {GBX_NODE_ASSIGNMENT, "an assignment", HINT_ONLY},
    {GBX_NODE_CALL, "a call",
     "write what is to be done as a function of the input: (data) => data.filter(...)"},
    {GBX_NODE_CLASS, "a class", HINT_FUNCTION},
    {GBX_NODE_CLASS_DECLARATION, "a class", HINT_FUNCTION},
    {GBX_NODE_BLOCK, "a block of statements",
     "put the parameters before it: (data) => { ... }"},
    {GBX_NODE_IDENTIFIER, "a name", HINT_FUNCTION},
    {GBX_NODE_LEXICAL_DECLARATION, "a declaration", HINT_ONLY},
    {GBX_NODE_VAR_DECLARATION, "a declaration", HINT_ONLY},
    {GBX_NODE_NUMBER, "a number", HINT_FUNCTION},
    {GBX_NODE_OBJECT, "an object", HINT_FUNCTION},
    {GBX_NODE_REGEX, "a regular expression", HINT_FUNCTION},
    {GBX_NODE_RETURN, "a 'return' statement",
     "put a function around it, (data) => { return ...; }, or use the form 'body'"},
    {GBX_NODE_STRING, "a string", HINT_FUNCTION},
    {GBX_NODE_TEMPLATE, "a string", HINT_FUNCTION},
    {GBX_NODE_AWAIT, "an 'await' expression",
     "put a function around it: async (data) => { return await ...; }"},
};

static struct wording describe(TSNode node, bool is_statement)
{
    gbx_node_kind kind = gbx_tree_kind(node);

    for (size_t i = 0; i < GBX_COUNTOF(wordings); i++)
        if (wordings[i].kind == kind)
            return wordings[i];
    return (struct wording){kind, is_statement ? "a statement" : "an expression",
                            HINT_FUNCTION};
}

static void object_to_one(TSNode statement, size_t base, gbx_findings *f)
{
    TSNode node = unwrap(statement);
    struct wording w;

    if (ts_node_is_null(node)) /* an empty () does not parse */
        node = statement;
    w = describe(node, gbx_tree_kind(statement) != GBX_NODE_EXPRESSION_STATEMENT);
    if (gbx_tree_kind(node) == GBX_NODE_CALL &&
        is_function(unwrap(field(node, "function"))))
        w.hint =
            "leave the call at its end away: the function is called with the input";
    if (gbx_tree_kind(node) == GBX_NODE_SEQUENCE)
        w.what = ts_node_named_child_count(node) == 2 ? "two expressions"
                                                      : "several expressions";
    gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM,
                     base + ts_node_start_byte(node), w.hint,
                     "%s where a function is needed", w.what);
}

static void object_to_many(const struct top *top, size_t base, gbx_findings *f)
{
    bool all = top->functions == top->count;

    gbx_findings_add(
        f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM, base + ts_node_start_byte(top->first),
        all ? "put the helpers inside one function, or use the form 'execute'"
            : "put them inside one function: (data) => { ... }",
        "%zu %s where one function is needed", top->count,
        all ? "functions" : "statements");
}

static void check_function(const gbx_tree *t, const struct top *top, gbx_region region,
                           gbx_region *code, gbx_findings *f)
{
    TSNode node = exported(top->first);

    if (t->has_error) /* perhaps TypeScript */
        return;
    if (top->count == 1 && is_function(node)) {
        code->start = region.start + ts_node_start_byte(node);
        code->end = region.start + ts_node_end_byte(node);
        return;
    }
    if (gbx_tree_kind(top->first) == GBX_NODE_IMPORT)
        return; /* already objected to by name */
    if (top->count > 1)
        object_to_many(top, region.start, f);
    else if (is_generator(node))
        gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM,
                         region.start + ts_node_start_byte(node),
                         "write a plain or async function, and return an array: a "
                         "generator returns an iterator, which is not a value",
                         "a generator where a function is needed");
    else
        object_to_one(top->first, region.start, f);
}

/* ---- execute -------------------------------------------------------------- */

/* What a top-level statement defines, of the names that are looked for. */
enum defines { NOTHING, SOMETHING_ELSE, RUN_GENERATOR, EXECUTE_GENERATOR, IT };

static bool is_entry(const gbx_tree *t, TSNode name)
{
    return is_named(t, name, "execute") || is_named(t, name, "run");
}

static enum defines generator_of(const gbx_tree *t, TSNode name)
{
    return is_named(t, name, "run") ? RUN_GENERATOR : EXECUTE_GENERATOR;
}

/* True unless the value is clearly not a function: the engine sees what it really
 * is. */
static bool may_be_function(TSNode value)
{
    if (ts_node_is_null(value))
        return true;
    switch ((unsigned)gbx_tree_kind(unwrap(value))) {
    case GBX_NODE_NUMBER:
    case GBX_NODE_STRING:
    case GBX_NODE_TEMPLATE:
    case GBX_NODE_OBJECT:
    case GBX_NODE_ARRAY:
    case GBX_NODE_REGEX:
    case GBX_NODE_CLASS: return false;
    default: return true;
    }
}

/* A pattern that mentions the name is assumed to define it. */
static enum defines declarator_defines(const gbx_tree *t, TSNode declarator)
{
    TSNode name = field(declarator, "name");
    TSNode value = field(declarator, "value");
    gbx_node_kind kind = ts_node_is_null(name) ? GBX_NODE_OTHER : gbx_tree_kind(name);

    if (kind == GBX_NODE_OBJECT_PATTERN || kind == GBX_NODE_ARRAY_PATTERN)
        return IT;
    if (!is_entry(t, name))
        return SOMETHING_ELSE;
    if (!ts_node_is_null(value) && is_generator(unwrap(value)))
        return generator_of(t, name);
    return may_be_function(value) ? IT : SOMETHING_ELSE;
}

static enum defines variables_define(const gbx_tree *t, TSNode declaration)
{
    TSTreeCursor cursor = ts_tree_cursor_new(declaration);
    enum defines found = SOMETHING_ELSE;

    if (!ts_tree_cursor_goto_first_child(&cursor))
        return found;
    do {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum defines one;

        if (gbx_tree_kind(node) != GBX_NODE_DECLARATOR)
            continue;
        one = declarator_defines(t, node);
        if (one > found)
            found = one;
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
    return found;
}

static enum defines statement_defines(const gbx_tree *t, TSNode node)
{
    switch ((unsigned)gbx_tree_kind(node)) {
    case GBX_NODE_EXPORT:
        node = field(node, "declaration");
        if (ts_node_is_null(node))
            return SOMETHING_ELSE;
        if (gbx_tree_kind(node) == GBX_NODE_LEXICAL_DECLARATION ||
            gbx_tree_kind(node) == GBX_NODE_VAR_DECLARATION)
            return variables_define(t, node);
        return is_entry(t, field(node, "name")) ? IT : SOMETHING_ELSE;
    case GBX_NODE_FUNCTION_DECLARATION:
        return is_entry(t, field(node, "name")) ? IT : SOMETHING_ELSE;
    case GBX_NODE_GENERATOR_DECLARATION:
        return is_entry(t, field(node, "name")) ? generator_of(t, field(node, "name"))
                                                : SOMETHING_ELSE;
    case GBX_NODE_LEXICAL_DECLARATION:
    case GBX_NODE_VAR_DECLARATION: return variables_define(t, node);
    default: return NOTHING;
    }
}

static enum defines find_entry(const gbx_tree *t, TSNode *ret_node)
{
    TSTreeCursor cursor = ts_tree_cursor_new(t->root);
    enum defines best = NOTHING;

    if (!ts_tree_cursor_goto_first_child(&cursor))
        return best;
    do {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        enum defines one = statement_defines(t, node);

        if (one > best) {
            best = one;
            *ret_node = node;
        }
    } while (best != IT && ts_tree_cursor_goto_next_sibling(&cursor));
    return best;
}

static void check_execute(const gbx_tree *t, const struct top *top, size_t base,
                          gbx_findings *f)
{
    TSNode at = top->first;
    enum defines found = find_entry(t, &at);
    const char *hint = HINT_EXECUTE;

    if (found == IT || t->has_error)
        return;
    if (found == RUN_GENERATOR || found == EXECUTE_GENERATOR)
        hint =
            "write a plain or async function, and return an array: a generator returns "
            "an iterator, which is not a value";
    else if (gbx_tree_kind(at) == GBX_NODE_FUNCTION_DECLARATION)
        hint = "name the function that is to be called 'execute'";
    else if (top->count == 1 && is_function(unwrap(top->first)))
        hint =
            "give the function its name: function execute(input) { ... }; or use the "
            "form 'function'";
    gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM,
                     base + ts_node_start_byte(at), hint,
                     found == EXECUTE_GENERATOR ? "'execute' is a generator"
                     : found == RUN_GENERATOR
                         ? "'run' is a generator"
                         : "no function 'execute' or 'run' is defined");
}

/* ---- all forms ------------------------------------------------------------ */

/*
 * Prose around the code, or two blocks of it: a fence in the middle. Code that parses
 * as one expression, a template after a template, would only fail at run time.
 */
static bool check_fences(const gbx_tree *t, size_t base, gbx_findings *f)
{
    size_t at = 0;
    gbx_node_kind kind;

    if (!gbx_text_find_fence(t->text, 0, t->len, &at))
        return false;
    kind = gbx_tree_kind(
        ts_node_descendant_for_byte_range(t->root, (uint32_t)at, (uint32_t)at + 1));
    if (is_comment(kind) || kind == GBX_NODE_STRING_FRAGMENT)
        return false;
    gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM, base + at, HINT_PLAIN,
                     "a Markdown code block with more than the code around it");
    return true;
}

static void check_empty(const struct top *top, gbx_form form, gbx_findings *f)
{
    const char *hint = form == GBX_FORM_FUNCTION  ? HINT_FUNCTION
                       : form == GBX_FORM_EXECUTE ? HINT_EXECUTE
                                                  : "write at least one statement";

    gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM, 0, hint, "%s",
                     top->comments > 0 ? "the code is only comments"
                                       : "the code is empty");
}

/* Without a tree, only semicolons after a function are left out. */
static void trim_semicolons(const char *text, gbx_region *code)
{
    while (code->end > code->start && strchr("; \t\r\n", text[code->end - 1]) != NULL)
        code->end--;
}

void gbx_form_check(const gbx_tree *t, const char *text, gbx_region region,
                    gbx_form form, gbx_region *code, gbx_findings *f)
{
    struct top top;

    *code = region;
    if (form == GBX_FORM_FUNCTION)
        trim_semicolons(text, code);
    if (t->tree == NULL)
        return;
    look(t->root, &top);
    if (top.count == 0 && !t->has_error)
        check_empty(&top, form, f);
    else if (check_fences(t, region.start, f) || top.count == 0)
        return;
    else if (form == GBX_FORM_FUNCTION)
        check_function(t, &top, region, code, f);
    else if (form == GBX_FORM_EXECUTE)
        check_execute(t, &top, region.start, f);
}
