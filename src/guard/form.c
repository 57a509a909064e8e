/* SPDX-License-Identifier: MIT */
/* form - checks that code is what its form says; describe() words the objections. */
#include "guard/internal.h"

#include "base/cleanup.h"

#include <string.h>

#define HINT_FUNCTION \
    "write one function of the input: (data) => { return ...; } or (data) => ..."
#define HINT_EXECUTE \
    "define it at the top level: function execute(input) { return ...; }"
#define HINT_ONLY \
    "give only the function: (data) => ..., without a name, 'const' or '=' before it"
#define HINT_GENERATOR                                                              \
    "write a plain or async function, and return an array: a generator returns an " \
    "iterator, which is not a value"
#define HINT_PLAIN "give the code alone, without the text and Markdown around it"

/* The statements of a program, comments and empty statements left out. */
struct top {
    uint32_t first;
    size_t count;
    size_t comments;
    size_t functions;     /* declarations of functions among them */
    bool exports_default; /* one of several */
};

static struct top look(const gbx_tree *t)
{
    struct top top = {.first = GBX_NO_NODE};
    bool exports = false;

    for (uint32_t i = 1; i < t->count; i = t->nodes[i].next) {
        gbx_node_kind kind = gbx_tree_kind(t, i);

        top.comments += gbx_tree_is_comment(t, i);
        if (gbx_tree_is_comment(t, i) || kind == GBX_NODE_EMPTY ||
            kind == GBX_NODE_HASH_BANG || kind == GBX_NODE_TOKEN)
            continue;
        if (top.count++ == 0)
            top.first = i;
        top.functions += kind == GBX_NODE_FUNCTION_DECLARATION;
        exports = exports || (kind == GBX_NODE_EXPORT &&
                              gbx_tree_token(t, i, "default") != GBX_NO_NODE);
    }
    top.exports_default = exports && top.count > 1;
    return top;
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

static struct wording describe(gbx_node_kind kind, bool is_statement)
{
    for (size_t i = 0; i < GBX_COUNTOF(wordings); i++)
        if (wordings[i].kind == kind)
            return wordings[i];
    return (struct wording){kind, is_statement ? "a statement" : "an expression",
                            HINT_FUNCTION};
}

static void object_to_one(const gbx_tree *t, uint32_t statement, size_t base,
                          gbx_findings *f)
{
    uint32_t node = gbx_tree_unwrap(t, statement);
    struct wording w;

    if (node == GBX_NO_NODE) /* an empty () does not parse */
        node = statement;
    w = describe(gbx_tree_kind(t, node),
                 gbx_tree_kind(t, statement) != GBX_NODE_EXPRESSION_STATEMENT);
    if (gbx_tree_kind(t, node) == GBX_NODE_CALL &&
        gbx_tree_is_callable(t, gbx_tree_unwrap(t, gbx_tree_child(t, node,
                                                                  GBX_FIELD_FUNCTION))))
        w.hint =
            "leave the call at its end away: the function is called with the input";
    if (gbx_tree_kind(t, node) == GBX_NODE_SEQUENCE)
        w.what = "several expressions";
    gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM,
                     base + t->nodes[node].start, w.hint,
                     "%s where a function is needed", w.what);
}

static void object_to_many(const struct top *top, size_t offset, gbx_findings *f)
{
    bool all = top->functions == top->count;

    gbx_findings_add(
        f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM, offset,
        all ? "put the helpers inside one function, or use the form 'execute'"
            : "put them inside one function: (data) => { ... }",
        "%zu %s where one function is needed", top->count,
        all ? "functions" : "statements");
}

/* Returns what gbx_form_check() does. */
static bool check_function(const gbx_tree *t, const struct top *top, gbx_region region,
                           gbx_region *code, gbx_findings *f)
{
    uint32_t node = top->first;

    if (gbx_tree_kind(t, node) ==
        GBX_NODE_EXPORT) { /* what an `export default` exports */
        uint32_t value = gbx_tree_child(t, node, GBX_FIELD_VALUE);

        node = value != GBX_NO_NODE ? value
                                    : gbx_tree_child(t, node, GBX_FIELD_DECLARATION);
    }
    node = gbx_tree_unwrap(t, node);
    if (t->has_error) /* perhaps TypeScript */
        return false;
    if (top->count == 1 && gbx_tree_is_callable(t, node)) {
        code->start = region.start + t->nodes[node].start;
        code->end = region.start + t->nodes[node].end;
        return true;
    }
    if (gbx_tree_kind(t, top->first) == GBX_NODE_IMPORT)
        return false; /* already objected to by name */
    if (top->exports_default)
        return false; /* the worker finds the function */
    if (top->count > 1)
        object_to_many(top, region.start + t->nodes[top->first].start, f);
    else if (gbx_tree_is_generator(t, node))
        gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM,
                         region.start + t->nodes[node].start, HINT_GENERATOR,
                         "a generator where a function is needed");
    else
        object_to_one(t, top->first, region.start, f);
    return false;
}

/* ---- execute -------------------------------------------------------------- */

/* What a top-level statement defines, for a search for execute or run. */
enum defines { NOTHING, SOMETHING_ELSE, RUN_GENERATOR, EXECUTE_GENERATOR, IT };

/* What a definition of that name defines. is_one: it is a generator. */
static enum defines name_defines(const gbx_tree *t, uint32_t name, bool is_one)
{
    if (gbx_tree_is(t, name, "run"))
        return is_one ? RUN_GENERATOR : IT;
    if (gbx_tree_is(t, name, "execute"))
        return is_one ? EXECUTE_GENERATOR : IT;
    return SOMETHING_ELSE;
}

/* A pattern that mentions the name is assumed to define it. */
static enum defines declarator_defines(const gbx_tree *t, uint32_t declarator)
{
    uint32_t name = gbx_tree_child(t, declarator, GBX_FIELD_NAME);
    uint32_t value = gbx_tree_unwrap(t, gbx_tree_child(t, declarator, GBX_FIELD_VALUE));
    gbx_node_kind kind = gbx_tree_kind(t, name);

    if (kind == GBX_NODE_OBJECT_PATTERN || kind == GBX_NODE_ARRAY_PATTERN)
        return IT;
    switch ((unsigned)gbx_tree_kind(t, value)) {
    case GBX_NODE_NUMBER:
    case GBX_NODE_STRING:
    case GBX_NODE_TEMPLATE:
    case GBX_NODE_OBJECT:
    case GBX_NODE_ARRAY:
    case GBX_NODE_REGEX:
    case GBX_NODE_CLASS: return SOMETHING_ELSE;
    default: /* perhaps a function: the engine sees what it really is */
        return name_defines(t, name, gbx_tree_is_generator(t, value));
    }
}

static enum defines statement_defines(const gbx_tree *t, uint32_t i)
{
    enum defines found = SOMETHING_ELSE;
    bool is_exported = gbx_tree_kind(t, i) == GBX_NODE_EXPORT;

    if (is_exported)
        i = gbx_tree_child(t, i, GBX_FIELD_DECLARATION);
    switch ((unsigned)gbx_tree_kind(t, i)) {
    case GBX_NODE_FUNCTION_DECLARATION:
    case GBX_NODE_GENERATOR_DECLARATION:
        return name_defines(t, gbx_tree_child(t, i, GBX_FIELD_NAME),
                            !is_exported && gbx_tree_is_generator(t, i));
    case GBX_NODE_LEXICAL_DECLARATION:
    case GBX_NODE_VAR_DECLARATION:
        for (uint32_t c = i + 1; c < t->nodes[i].next; c = t->nodes[c].next) {
            enum defines one = gbx_tree_kind(t, c) == GBX_NODE_DECLARATOR
                                   ? declarator_defines(t, c)
                                   : NOTHING;

            if (one > found)
                found = one;
        }
        return found;
    case GBX_NODE_CLASS_DECLARATION:
        if (is_exported)
            return name_defines(t, gbx_tree_child(t, i, GBX_FIELD_NAME), false);
        return NOTHING;
    default: return is_exported ? SOMETHING_ELSE : NOTHING;
    }
}

static enum defines find_entry(const gbx_tree *t, uint32_t *ret_node)
{
    enum defines best = NOTHING;

    for (uint32_t i = 1; i < t->count && best != IT; i = t->nodes[i].next) {
        enum defines one = statement_defines(t, i);

        if (one > best) {
            best = one;
            *ret_node = i;
        }
    }
    return best;
}

static void check_execute(const gbx_tree *t, const struct top *top, size_t base,
                          gbx_findings *f)
{
    uint32_t at = top->first;
    enum defines found = find_entry(t, &at);
    const char *hint = HINT_EXECUTE;

    if (found == IT || t->has_error)
        return;
    if (found == RUN_GENERATOR || found == EXECUTE_GENERATOR)
        hint = HINT_GENERATOR;
    else if (gbx_tree_kind(t, at) == GBX_NODE_FUNCTION_DECLARATION)
        hint = "name the function that is to be called 'execute'";
    else if (top->count == 1 && gbx_tree_is_callable(t, gbx_tree_unwrap(t, top->first)))
        hint =
            "give the function its name: function execute(input) { ... }; or use the "
            "form 'function'";
    gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM, base + t->nodes[at].start,
                     hint,
                     found == EXECUTE_GENERATOR ? "'execute' is a generator"
                     : found == RUN_GENERATOR
                         ? "'run' is a generator"
                         : "no function 'execute' or 'run' is defined");
}

/* ---- all forms ------------------------------------------------------------ */

/*
 * Object to a fence in the middle: prose around the code, or two blocks of it. It may
 * parse, as a template after a template, and would then fail only at run time.
 */
static bool check_fences(const gbx_tree *t, size_t base, gbx_findings *f)
{
    uint32_t around = 0; /* the innermost node */
    size_t at = 0;

    if (!gbx_text_find_fence(t->text, 0, t->len, &at))
        return false;
    for (uint32_t i = 1; i < t->count; i++)
        if (t->nodes[i].start <= at && at < t->nodes[i].end)
            around = i;
    if (gbx_tree_is_comment(t, around) ||
        gbx_tree_kind(t, around) == GBX_NODE_STRING_FRAGMENT)
        return false;
    gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM, base + at, HINT_PLAIN,
                     "a Markdown code block with more than the code around it");
    return true;
}

bool gbx_form_check(const gbx_tree *t, const char *text, gbx_region region,
                    gbx_form form, gbx_region *code, gbx_findings *f)
{
    struct top top;

    *code = region;
    /* Without a tree, only semicolons after a function are left out. */
    while (form == GBX_FORM_FUNCTION && code->end > code->start &&
           strchr("; \t\r\n", text[code->end - 1]) != NULL)
        code->end--;
    if (t->tree == NULL)
        return false;
    top = look(t);
    if (top.count == 0 && !t->has_error)
        gbx_findings_add(f, GBX_CODE_INVALID_CODE, GBX_RULE_FORM, 0,
                         form == GBX_FORM_FUNCTION  ? HINT_FUNCTION
                         : form == GBX_FORM_EXECUTE ? HINT_EXECUTE
                                                    : "write at least one statement",
                         "%s",
                         top.comments > 0 ? "the code is only comments"
                                          : "the code is empty");
    else if (check_fences(t, region.start, f) || top.count == 0)
        return false;
    else if (form == GBX_FORM_FUNCTION)
        return check_function(t, &top, region, code, f);
    else if (form == GBX_FORM_EXECUTE)
        check_execute(t, &top, region.start, f);
    return !t->has_error && form == GBX_FORM_BODY;
}
