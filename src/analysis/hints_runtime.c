/* SPDX-License-Identifier: MIT */
/*
 * hints_runtime - the engine says what happened; the tree often shows why: a promise
 * that was not awaited, a const that is assigned to, a name that is declared later.
 */
#include "analysis/internal.h"

#include "base/cleanup.h"

#include <string.h>

/*
 * Is a value a promise because an await is missing? Decided by names
 * alone: a call by the name of one of the code's async functions gives a promise.
 */

/* Functions of capabilities: each returns a promise. */
static bool is_of_host(const char *name, size_t len)
{
    return (len == 5 && memcmp(name, "fetch", 5) == 0) ||
           (len == 8 && memcmp(name, "readFile", 8) == 0);
}

/* Count one walk over the tree; false after too many. */
static bool may_walk(gbx_case *c)
{
    if (c->work < c->tree.count || gbx_time_budget_is_over())
        return false;
    c->work -= c->tree.count;
    return true;
}

/* True if the code has an async function or method of that name, or the host has a
 * function of that name and the code does not. */
static bool is_async_name(gbx_case *c, const char *name, size_t len)
{
    const gbx_tree *t = &c->tree;
    bool is_own = false;

    if (!may_walk(c))
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

    if (!may_walk(c))
        return false;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->nodes[i].kind == GBX_NODE_DECLARATOR &&
            gbx_tree_is_text(t, gbx_tree_child(t, i, GBX_FIELD_NAME), name, len) &&
            gives_promise(c, gbx_tree_child(t, i, GBX_FIELD_VALUE)))
            return true;
    return false;
}

static bool gbx_begins_with_promise(gbx_case *c, const char *text, size_t len)
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

/* hints_promise.c: true if the expression, as the engine quotes it, begins with a
 * promise; or if a pattern, a loop or a spread on the line gets one. */
static bool gbx_line_spreads_promise(gbx_case *c)
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

/* True if a call on the line has a promise among its arguments. */
static bool gbx_line_passes_promise(gbx_case *c)
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

/* ---- names ------------------------------------------------------------------ */

/* The declaration of that name with one of the words, or GBX_NO_NODE. */
static uint32_t find_declared(gbx_case *c, const char *name, size_t len,
                              const char *words)
{
    const gbx_tree *t = &c->tree;

    if (!may_walk(c))
        return GBX_NO_NODE;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t parent = t->nodes[i].parent;
        const gbx_node *first;

        if (t->nodes[i].kind != GBX_NODE_DECLARATOR &&
            t->nodes[i].kind != GBX_NODE_CLASS_DECLARATION)
            continue;
        if (!gbx_tree_is_text(t, gbx_tree_child(t, i, GBX_FIELD_NAME), name, len))
            continue;
        first = &t->nodes[t->nodes[i].kind == GBX_NODE_DECLARATOR ? parent + 1 : i + 1];
        if (gbx_text_is_listed(words, t->text + first->start,
                               first->end - first->start))
            return i;
    }
    return GBX_NO_NODE;
}

static bool is_declared_anywhere(gbx_case *c, const char *name, size_t len)
{
    const gbx_tree *t = &c->tree;

    if (find_declared(c, name, len, "let const var class") != GBX_NO_NODE)
        return true;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t parent = t->nodes[i].parent;

        if (t->nodes[i].kind == GBX_NODE_IDENTIFIER && parent != GBX_NO_NODE &&
            (t->nodes[parent].kind == GBX_NODE_PARAMETERS ||
             t->nodes[i].field == GBX_FIELD_PARAMETER ||
             (t->nodes[parent].kind == GBX_NODE_FOR_IN &&
              gbx_tree_child(t, parent, GBX_FIELD_KIND) != GBX_NO_NODE)) &&
            gbx_tree_is_text(t, i, name, len))
            return true;
    }
    return false;
}

/* On the line, at or after the engine's place: a name that is declared further on. */
static uint32_t find_too_early(gbx_case *c)
{
    const gbx_tree *t = &c->tree;
    uint32_t k, end;

    for (gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &k, &end); k < end;
         k++) {
        const gbx_node *n = &t->nodes[c->leaves.nodes[k]];
        uint32_t declared;

        if (n->kind != GBX_NODE_IDENTIFIER && n->kind != GBX_NODE_SHORTHAND)
            continue;
        declared =
            find_declared(c, t->text + n->start, n->end - n->start, "let const class");
        if (declared != GBX_NO_NODE && t->nodes[declared].start > n->start)
            return c->leaves.nodes[k];
    }
    return GBX_NO_NODE;
}

/* The name that i assigns to, if i is an assignment of any sort to a name. */
static uint32_t assigned_name(const gbx_tree *t, uint32_t i)
{
    uint32_t to = GBX_NO_NODE;

    if (t->nodes[i].kind == GBX_NODE_ASSIGNMENT ||
        t->nodes[i].kind == GBX_NODE_AUGMENTED || t->nodes[i].kind == GBX_NODE_FOR_IN)
        to = gbx_tree_child(t, i, GBX_FIELD_LEFT);
    else if (t->nodes[i].kind == GBX_NODE_UPDATE)
        to = gbx_tree_child(t, i, GBX_FIELD_ARGUMENT);
    return to != GBX_NO_NODE && t->nodes[to].kind == GBX_NODE_IDENTIFIER ? to
                                                                         : GBX_NO_NODE;
}

/* The engine reports an assignment to a const where the function begins. */
static uint32_t find_const_assignment(gbx_case *c)
{
    const gbx_tree *t = &c->tree;
    size_t from = c->offset != GBX_NO_OFFSET ? c->offset : c->line_start;
    /* The object is what is read-only, unless the property is read to be assigned. */
    bool is_property =
        c->offset < t->len && strchr(".[(?", t->text[c->offset]) != NULL &&
        t->text[c->offset] != '\0' && c->offset > 0 && t->text[c->offset - 1] != ' ';

    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t to = assigned_name(t, i);

        if (to == GBX_NO_NODE || t->nodes[i].end <= from ||
            (is_property && t->nodes[i].start > from))
            continue;
        if (find_declared(c, t->text + t->nodes[to].start,
                          t->nodes[to].end - t->nodes[to].start,
                          "const") != GBX_NO_NODE)
            return to;
    }
    return GBX_NO_NODE;
}

static bool is_assigned(const gbx_tree *t, const char *name, size_t len)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (gbx_tree_is_text(t, assigned_name(t, i), name, len))
            return true;
    return false;
}

/* A script has no parameter. */
static bool is_input_of_script(const gbx_case *c, const char *name, size_t len)
{
    return c->form == GBX_FORM_SCRIPT &&
           gbx_text_is_listed("data items rows records params context", name, len);
}

static uint32_t unknown_hint(gbx_case *c, const char *name, size_t len)
{
    uint32_t known;

    if (is_declared_anywhere(c, name, len))
        return GBX_HINT_SCOPE;
    if (is_assigned(&c->tree, name, len))
        return GBX_HINT_DECLARE;
    if (is_input_of_script(c, name, len))
        return GBX_HINT_SCRIPT_INPUT;
    known = gbx_hint_of_name(name, len);
    return known != GBX_HINT_NONE ? known : GBX_HINT_UNKNOWN;
}

/* ---- messages ---------------------------------------------------------------- */

/* Methods that only a list has, called on a value that is something else. */
static bool is_list_method(const char *text, size_t len)
{
    size_t at = len;

    while (at > 0 && gbx_text_is_name((unsigned char)text[at - 1]))
        at--;
    return gbx_text_is_listed(
        "map filter forEach reduce find findIndex some every flatMap sort slice "
        "includes indexOf join push concat reverse entries keys values at",
        text + at, len - at);
}

/* The engine points past the name that it means. */
static void point_to_name(gbx_case *c)
{
    size_t at = c->offset;

    if (at == GBX_NO_OFFSET)
        return;
    while (at > 0 && gbx_text_is_name((unsigned char)c->tree.text[at - 1]))
        at--;
    if (at < c->offset)
        c->at = at;
}

/* The same for a name that is known: the last on the line up to the engine's place. */
static void point_to(gbx_case *c, const char *name, size_t len)
{
    uint32_t k, end;

    for (gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &k, &end); k < end;
         k++)
        if (c->tree.nodes[c->leaves.nodes[k]].kind != GBX_NODE_PROPERTY_NAME &&
            gbx_leaf_start(&c->leaves, k) <= c->offset &&
            gbx_tree_is_text(&c->tree, c->leaves.nodes[k], name, len))
            c->at = gbx_leaf_start(&c->leaves, k);
}

/* Does '[' on the line continue the line before, which was meant to end? */
static bool is_line_indexed(const gbx_case *c)
{
    const gbx_tree *t = &c->tree;

    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t object = t->nodes[i].kind == GBX_NODE_SUBSCRIPT
                              ? gbx_tree_child(t, i, GBX_FIELD_OBJECT)
                              : GBX_NO_NODE;

        if (object != GBX_NO_NODE && t->nodes[object].end < c->line_start &&
            t->nodes[i].end > c->line_start && t->nodes[i].end <= c->offset)
            return true;
    }
    return false;
}

/* The next line was meant as a separate statement. If it begins with '(', the engine's
 * place is the end of what it tried to call. */
static bool is_line_continued(const gbx_case *c)
{
    size_t at = c->offset;
    bool has_break = false;

    while (at < c->tree.len && strchr(" \t\r\n", c->tree.text[at]) != NULL)
        has_break |= c->tree.text[at++] == '\n';
    return (has_break && at < c->tree.len && c->tree.text[at] == '(') ||
           is_line_indexed(c);
}

static bool explain_value(gbx_case *c)
{
    const char *text;
    size_t len;

    if (gbx_text_quoted(c->message, "is not an object", "(evaluating '", "')", &text,
                        &len)) {
        char end = len > 0 ? text[len - 1] : '\0';

        c->hint = gbx_begins_with_promise(c, text, len)            ? GBX_HINT_PROMISE
                  : end == ']' && *text == '['                     ? GBX_HINT_PATTERN
                  : end == '}' && *text == '{'                     ? GBX_HINT_PATTERN
                  : end == ')' && strncmp(text, "Object.", 7) == 0 ? GBX_HINT_ARGUMENT
                                                                   : GBX_HINT_MISSING;
        return true;
    }
    if (gbx_text_quoted(c->message, "is not a function", "(In '", "', '", &text,
                        &len)) {
        const char *call = memchr(text, '(', len);
        size_t callee = call != NULL ? (size_t)(call - text) : len;

        if (is_line_continued(c)) {
            c->hint = GBX_HINT_SEMICOLON;
            return true;
        }
        point_to_name(c);
        c->hint = gbx_begins_with_promise(c, text, len) || gbx_line_spreads_promise(c)
                      ? GBX_HINT_PROMISE
                  : strncmp(text, "fs.", 3) == 0 && !is_declared_anywhere(c, "fs", 2)
                      ? GBX_HINT_FILES
                  : is_list_method(text, callee) ? GBX_HINT_ARRAY
                                                 : GBX_HINT_METHOD;
        return true;
    }
    if (strstr(c->message, "is not a function (near '") != NULL ||
        strstr(c->message, "Spread syntax requires") != NULL) {
        c->hint = gbx_line_spreads_promise(c) ? GBX_HINT_PROMISE : GBX_HINT_ITERATE;
        return true;
    }
    return false;
}

static bool explain_name(gbx_case *c)
{
    const char *unknown_name = strstr(c->message, "Can't find variable: ");
    size_t len;
    uint32_t node;

    if (unknown_name != NULL) {
        unknown_name += strlen("Can't find variable: ");
        len = gbx_text_name_length(unknown_name);
        point_to(c, unknown_name, len);
        c->hint = unknown_hint(c, unknown_name, len);
        return true;
    }
    if (strstr(c->message, "Cannot access uninitialized variable") != NULL) {
        node = find_too_early(c);
        c->hint = GBX_HINT_EARLY;
        c->at = node != GBX_NO_NODE ? c->tree.nodes[node].start : GBX_NO_OFFSET;
        return true;
    }
    if (strstr(c->message, "readonly property") == NULL)
        return false;
    node = find_const_assignment(c);
    if (node == GBX_NO_NODE)
        return false;
    c->at = c->tree.nodes[node].start;
    c->hint = GBX_HINT_CONST;
    return true;
}

void gbx_explain_runtime(gbx_case *c)
{
    if (explain_name(c) || explain_value(c))
        return;
    if (strstr(c->message, "Unexpected identifier \"object\"") != NULL &&
        gbx_line_passes_promise(c)) {
        c->hint = GBX_HINT_PROMISE;
        return;
    }
    c->hint = gbx_hint_find(GBX_HINT_OF_FAILURE, c->message);
}
