/* SPDX-License-Identifier: MIT */
/*
 * hints_given - hints for code that failed, or has no value, because it expects other
 * input, datasets or servers than it is given. The engine's message shows the name; the
 * tree shows which parameter it is.
 */
#include "analysis/internal.h"

#include "base/cleanup.h"

#include <regex.h>
#include <string.h>

/* ---- parameters of the code's functions ------------------------------------------ */

/* The parameter that a name is, or is part of. */
typedef struct naming {
    bool is_parameter;
    unsigned index;
    bool in_pattern; /* ({ name }) */
} naming;

static bool is_callback(const gbx_tree *t, uint32_t function)
{
    uint32_t up = t->nodes[gbx_tree_outer(t, function)].parent;

    return up != GBX_NO_NODE && t->nodes[up].kind == GBX_NODE_ARGUMENTS;
}

/* The parameter of that index, or GBX_NO_NODE. */
static uint32_t parameter_at(const gbx_tree *t, uint32_t function, unsigned index)
{
    uint32_t all = gbx_tree_child(t, function, GBX_FIELD_PARAMETERS);

    if (all == GBX_NO_NODE) /* d => ... */
        return index == 0 ? gbx_tree_child(t, function, GBX_FIELD_PARAMETER)
                          : GBX_NO_NODE;
    for (uint32_t i = all + 1; i < t->nodes[all].next; i = t->nodes[i].next)
        if (t->nodes[i].kind != GBX_NODE_TOKEN &&
            t->nodes[i].kind != GBX_NODE_COMMENT && index-- == 0)
            return i;
    return GBX_NO_NODE;
}

static bool declares(const gbx_tree *t, uint32_t pattern, const char *name, size_t len)
{
    if (pattern == GBX_NO_NODE)
        return false;
    for (uint32_t i = pattern; i < t->nodes[pattern].next; i++)
        if ((t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
             t->nodes[i].kind == GBX_NODE_SHORTHAND_PATTERN) &&
            gbx_tree_is_text(t, i, name, len))
            return true;
    return false;
}

static naming find_in_parameters(const gbx_tree *t, uint32_t function, const char *name,
                                 size_t len)
{
    uint32_t i;

    for (unsigned index = 0; (i = parameter_at(t, function, index)) != GBX_NO_NODE;
         index++) {
        uint32_t bare = t->nodes[i].kind == GBX_NODE_ASSIGNMENT_PATTERN
                            ? gbx_tree_child(t, i, GBX_FIELD_LEFT)
                            : i; /* without its default */

        if (gbx_time_budget_is_over())
            break;
        if (declares(t, bare, name, len))
            return (naming){true, index, t->nodes[bare].kind != GBX_NODE_IDENTIFIER};
    }
    return (naming){.is_parameter = false};
}

static naming naming_of(const gbx_tree *t, const char *name, size_t len)
{
    naming found = {.is_parameter = false};

    for (uint32_t i = 0; i < t->count && !found.is_parameter; i++)
        if (gbx_tree_is_function(t, i) && !is_callback(t, i))
            found = find_in_parameters(t, i, name, len);
    return found;
}

/* True if the parameter of that index is destructured without a default. */
static bool takes_apart(const gbx_tree *t, unsigned index)
{
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t p = gbx_tree_is_function(t, i) && !is_callback(t, i)
                         ? parameter_at(t, i, index)
                         : GBX_NO_NODE;

        if (p != GBX_NO_NODE && (t->nodes[p].kind == GBX_NODE_OBJECT_PATTERN ||
                                 t->nodes[p].kind == GBX_NODE_ARRAY_PATTERN))
            return true;
    }
    return false;
}

/* ---- the expression that failed -------------------------------------------------- */

typedef struct name {
    const char *text;
    size_t len; /* 0: none */
} name;

typedef struct failed {
    gbx_case *c;
    name root;   /* d in d.orders.x */
    name member; /* orders; none if x is read directly from d */
    naming is;   /* what root is */
} failed;

static name name_at(const char *text)
{
    return (name){text, gbx_text_name_length(text)};
}

/* True for .x or [0] with the quote after it. */
static bool is_last_access(const char *text)
{
    size_t n;

    if (text[0] == '[')
        return (n = strcspn(text, "]")) > 1 && text[n] == ']' && text[n + 1] == '\'';
    return text[0] == '.' && (n = gbx_text_name_length(text + 1)) > 0 &&
           text[1 + n] == '\'';
}

/* Accepts d.x and d.orders.x: in deeper expressions something else is missing. */
static bool take_expression(const char *text, failed *f)
{
    f->root = name_at(text);
    text += f->root.len;
    if (f->root.len == 0 || is_last_access(text))
        return f->root.len > 0;
    f->member = name_at(text + (text[0] == '.'));
    return text[0] == '.' && f->member.len > 0 &&
           is_last_access(text + 1 + f->member.len);
}

/* Set the hint, whose text is completed by that name from the code. */
static void say(const failed *f, gbx_hint hint, name word)
{
    const gbx_tree *t = &f->c->tree;

    for (uint32_t i = 0; i < t->count; i++) {
        if (t->nodes[i].next != i + 1 || !gbx_tree_is_text(t, i, word.text, word.len))
            continue;
        f->c->hint = hint;
        f->c->named_start = t->nodes[i].start;
        f->c->named_end = t->nodes[i].end;
        return;
    }
}

static bool is(const failed *f, unsigned given)
{
    return (f->c->given->flags & given) != 0;
}

static bool is_dataset(const failed *f, name word)
{
    return f->c->given->datasets != NULL &&
           gbx_text_is_listed(f->c->given->datasets, word.text, word.len);
}

static bool is_named(const failed *f, const char *text)
{
    return f->root.len == strlen(text) && memcmp(f->root.text, text, f->root.len) == 0;
}

static bool is_argument(const failed *f, unsigned index, const char *usual)
{
    return f->is.is_parameter ? f->is.index == index && !f->is.in_pattern
                              : is_named(f, usual);
}

static bool is_data(const failed *f)
{
    return is(f, GBX_GIVEN_DATA) && is_argument(f, 0, "data");
}

static bool is_input(const failed *f)
{
    return is(f, GBX_GIVEN_TOOL) &&
           is_argument(f, is(f, GBX_GIVEN_DATA) ? 1 : 0, "input");
}

static void say_dataset(const failed *f, name word)
{
    say(f, is(f, GBX_GIVEN_ALL) ? GBX_HINT_DATASET_OF_ALL : GBX_HINT_DATASET_OTHER,
        word);
}

/* undefined is not an object (evaluating 'd.orders.length') */
static void explain_missing(const failed *f)
{
    bool is_one = is(f, GBX_GIVEN_DATA) && !is(f, GBX_GIVEN_ALL);
    /* The root is the object of all datasets. */
    bool is_all = (is(f, GBX_GIVEN_ALL) && is_data(f)) ||
                  (f->c->given->datasets != NULL && !f->is.is_parameter &&
                   is_named(f, "datasets"));
    bool is_taken_apart = f->is.in_pattern && f->is.index == 0;

    if (is(f, GBX_GIVEN_TEXT) && is_input(f))
        f->c->hint = GBX_HINT_INPUT_TEXT;
    else if (is_all && f->member.len > 0 && !is_dataset(f, f->member))
        say(f, GBX_HINT_NO_DATASET, f->member);
    else if (is_one && is_data(f) && f->member.len > 0 && is_dataset(f, f->member))
        say_dataset(f, f->member);
    else if (f->member.len > 0)
        return;
    else if (is(f, GBX_GIVEN_DATA) && f->is.is_parameter && is_dataset(f, f->root))
        say_dataset(f, f->root);
    else if (is(f, GBX_GIVEN_ALL) && is_taken_apart)
        say(f, GBX_HINT_NO_DATASET, f->root);
    else if (is_one && is_taken_apart && is_named(f, "data"))
        say(f, GBX_HINT_DATASET_ITSELF, f->root);
    else if (is(f, GBX_GIVEN_NO_INPUT) && is_input(f))
        f->c->hint = GBX_HINT_NO_INPUT;
}

static void explain_data(failed *f)
{
    static const char missing[] = "undefined is not an object (evaluating '",
                      null[] = "null is not an object (evaluating '",
                      method[] = "is not a function. (In '";
    const char *message = f->c->message;
    const char *at;

    if (strstr(message, "cannot be destructured") != NULL) {
        if (is(f, GBX_GIVEN_NO_INPUT) && is(f, GBX_GIVEN_DATA) &&
            is(f, GBX_GIVEN_TOOL) && takes_apart(&f->c->tree, 1))
            f->c->hint = GBX_HINT_NO_INPUT;
    } else if ((at = strstr(message, missing)) != NULL ||
               (at = strstr(message, null)) != NULL) {
        if (!take_expression(strchr(at, '\'') + 1, f))
            return;
        f->is = naming_of(&f->c->tree, f->root.text, f->root.len);
        explain_missing(f);
    } else if ((at = strstr(message, method)) != NULL) {
        f->root = name_at(at + sizeof method - 1);
        at = f->root.text + f->root.len;
        if (f->root.len == 0 || at[0] != '.' ||
            at[1 + gbx_text_name_length(at + 1)] != '(')
            return;
        f->is = naming_of(&f->c->tree, f->root.text, f->root.len);
        if (is(f, GBX_GIVEN_TEXT) && is_input(f))
            f->c->hint = GBX_HINT_INPUT_TEXT;
        else if (is(f, GBX_GIVEN_ALL) && is_data(f) && is_dataset(f, f->root))
            say_dataset(f, f->root);
        else if (is(f, GBX_GIVEN_ALL) && is_data(f))
            f->c->hint = GBX_HINT_DATASETS;
    }
}

/* ---- habits from other hosts, in code mode --------------------------------------- */

/* The engine's messages fit many other mistakes too: a hint is given only where the
 * text leaves no doubt. */

/* Parts of the patterns, which are extended regular expressions. */
#define NO_OBJECT "is not an object \\(evaluating '"
#define MISSING   "undefined " NO_OBJECT
#define NAME      "[^] '.([]*"
#define WRAPPER   "(content|structuredContent)"
#define PARAMETER "\\( *\\{[^}]*\\<"

/* The first match is used. */
static const struct {
    unsigned given;
    const char *message;
    const char *code; /* NULL: anything */
    gbx_hint hint;
} habits[] = {
    /* servers("NAME") or servers.NAME("tool", ...) */
    {GBX_GIVEN_SERVERS, "^TypeError: servers(\\." NAME ")? is not a function", NULL,
     GBX_HINT_TOOLS},
    /* servers, a member of it or a member of that name: the global servers exists. */
    {GBX_GIVEN_SERVERS,
     NO_OBJECT "(" NAME "\\.servers'|servers(\\." NAME ")?('|\\[|\\." NAME "'))", NULL,
     GBX_HINT_GLOBALS},
    /* ({ servers }) => ... */
    {GBX_GIVEN_SERVERS, "cannot be destructured",
     PARAMETER "(servers|glovebox|discover|artifact|show|progress|ToolError)\\>",
     GBX_HINT_GLOBALS},
    /* ({ input }) => ... as if input were a member. The argument is the input itself,
     * or null. */
    {GBX_GIVEN_SERVERS, MISSING "input['.[]", PARAMETER "input\\>", GBX_HINT_GLOBALS},
    {GBX_GIVEN_SERVERS | GBX_GIVEN_TEXT, "'input\\.", NULL, GBX_HINT_INPUT_TEXT},
    {GBX_GIVEN_SERVERS | GBX_GIVEN_NO_INPUT, NO_OBJECT "input\\>", NULL,
     GBX_HINT_NO_INPUT},
    {GBX_GIVEN_SERVERS | GBX_GIVEN_NO_INPUT, "cannot be destructured", "= input",
     GBX_HINT_NO_INPUT},
    /* r.content[0], content[0], content.map or (await f()).content, but not deeper: the
     * item of an answer may really lack that member. */
    {GBX_GIVEN_SERVERS | GBX_GIVEN_RESULTS,
     MISSING "(\\(await .*\\)\\." WRAPPER "\\>|" WRAPPER "(\\." NAME
             "'|[^.A-Za-z0-9_$])|" NAME "\\." WRAPPER "\\>)",
     NULL, GBX_HINT_CONTENT},
    /* { content: [x] } = ..., ({ content: [x] }) => ... or (... of content). The
     * message contains only the pattern, the call before it, or neither. */
    {GBX_GIVEN_SERVERS | GBX_GIVEN_RESULTS,
     "cannot be destructured|" MISSING "(\\[|.*\\)'\\)$)",
     "\\{[^;]*\\<" WRAPPER "\\>[^;]*\\} *\\)? *=| of content\\)", GBX_HINT_CONTENT},
};

/* Bytes that are searched: of long code, only the beginning. */
#define LOOKED_MAX 2048

static bool is_like(const char *text, size_t len, const char *pattern)
{
    char looked[LOOKED_MAX + 1];
    regex_t regex;
    bool is_it;

    if (pattern == NULL)
        return true;
    len = len < LOOKED_MAX ? len : LOOKED_MAX;
    memcpy(looked, text, len);
    looked[len] = 0;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    is_it = regexec(&regex, looked, 0, NULL, 0) == 0;
    regfree(&regex);
    return is_it;
}

/* Functions and objects that call tools in other hosts. */
#define CALLERS                                                                       \
    "call callTool call_tool callMcpTool callMCPTool call_mcp_tool useTool use_tool " \
    "useMcpTool use_mcp_tool invokeTool invoke_tool runTool run_tool executeTool "    \
    "execute_tool"
#define CLIENTS "mcp mcpClient mcp_client client session tools"

/* A name that does not exist: callTool(...), mcp.callTool(...), await tools.name(...),
 * or a function that may be meant as a tool. */
static void explain_tool(gbx_case *c, name unknown)
{
    const gbx_tree *t = &c->tree;

    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t member = t->nodes[i].parent;
        size_t start = t->nodes[i].start;
        uint32_t property;

        if (t->nodes[i].kind != GBX_NODE_IDENTIFIER ||
            !gbx_tree_is_text(t, i, unknown.text, unknown.len))
            continue;
        if (t->nodes[i].field == GBX_FIELD_FUNCTION && c->hint == GBX_HINT_UNKNOWN)
            c->hint = GBX_HINT_UNKNOWN_CALL;
        if (gbx_text_is_listed(CALLERS, unknown.text, unknown.len))
            c->hint = GBX_HINT_TOOLS;
        if (member == GBX_NO_NODE || t->nodes[i].field != GBX_FIELD_OBJECT ||
            !gbx_text_is_listed(CLIENTS, unknown.text, unknown.len))
            continue;
        property = gbx_tree_child(t, member, GBX_FIELD_PROPERTY);
        if ((start >= 6 && memcmp(t->text + start - 6, "await ", 6) == 0) ||
            (property != GBX_NO_NODE &&
             gbx_text_is_listed(CALLERS, t->text + t->nodes[property].start,
                                t->nodes[property].end - t->nodes[property].start)))
            c->hint = GBX_HINT_TOOLS;
    }
}

/* ---- the interface --------------------------------------------------------------- */

void gbx_explain_given(gbx_case *c)
{
    static const char unknown[] = "Can't find variable: ";
    failed f = {.c = c};
    const char *at = strstr(c->message, unknown);

    if (at != NULL) {
        if (is(&f, GBX_GIVEN_SERVERS))
            explain_tool(c, name_at(at + sizeof unknown - 1));
        return;
    }
    explain_data(&f);
    for (size_t i = 0; is(&f, GBX_GIVEN_SERVERS) && i < GBX_COUNTOF(habits); i++)
        if ((habits[i].given & ~c->given->flags) == 0 &&
            is_like(c->message, strlen(c->message), habits[i].message) &&
            is_like(c->tree.text, c->tree.len, habits[i].code)) {
            c->hint = habits[i].hint;
            return;
        }
}

/* ({ orders }) => orders, called with one dataset, which lacks that member; and (d) =>
 * d.length, called with all datasets, which are members of d. */
void gbx_explain_nothing(gbx_case *c)
{
    failed f = {.c = c};
    bool is_one = is(&f, GBX_GIVEN_DATA) && !is(&f, GBX_GIVEN_ALL);
    bool reads_none = is(&f, GBX_GIVEN_ALL);

    for (uint32_t i = 0; i < c->tree.count; i++) {
        const gbx_node *n = &c->tree.nodes[i];
        name word = {c->tree.text + n->start, n->end - n->start};

        if (n->next != i + 1)
            continue;
        /* Code that prints, such as a list of names, may need no value. */
        if (is_dataset(&f, word) || gbx_tree_is(&c->tree, i, "console"))
            reads_none = false;
        if (!is_one || !is_dataset(&f, word))
            continue;
        f.is = naming_of(&c->tree, word.text, word.len);
        if (!f.is.in_pattern || f.is.index != 0)
            continue;
        say(&f,
            gbx_text_is_listed(c->given->dataset, word.text, word.len)
                ? GBX_HINT_DATASET_ITSELF
                : GBX_HINT_DATASET_OTHER,
            word);
        return;
    }
    if (reads_none)
        c->hint = GBX_HINT_DATASETS;
}
