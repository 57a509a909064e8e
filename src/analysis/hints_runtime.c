/* SPDX-License-Identifier: MIT */
/*
 * hints_runtime - hints for code that threw, as the tree shows the cause: a promise
 * without await, an assignment to a const, a name that is declared later.
 */
#include "analysis/internal.h"

#include "base/cleanup.h"

#include <string.h>

/* Count one walk over the tree; false after too many. */
static bool may_walk(gbx_case *c)
{
    if (c->work < c->tree.count || gbx_time_budget_is_over())
        return false;
    c->work -= c->tree.count;
    return true;
}

/* ---- names ------------------------------------------------------------------ */

/* The declaration of that name by one of the keywords, or GBX_NO_NODE. */
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

/* The first name on the line that is declared further on, or GBX_NO_NODE. */
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

/* Search from there on: the engine may report the start of the function. */
static uint32_t find_const_assignment(gbx_case *c)
{
    const gbx_tree *t = &c->tree;
    size_t from = c->offset != GBX_NO_OFFSET ? c->offset : c->line_start;
    /* A property's object is read-only, unless the assignment reads the property. */
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

static uint32_t unknown_hint(gbx_case *c, const char *name, size_t len)
{
    uint32_t known;

    if (is_declared_anywhere(c, name, len))
        return GBX_HINT_SCOPE;
    if (is_assigned(&c->tree, name, len))
        return GBX_HINT_DECLARE;
    /* The name is usual for a parameter: a script has none. */
    if (c->form == GBX_FORM_SCRIPT &&
        gbx_text_is_listed("data items rows records params context", name, len))
        return GBX_HINT_SCRIPT_INPUT;
    known = gbx_hint_of_name(name, len);
    return known != GBX_HINT_NONE ? known : GBX_HINT_UNKNOWN;
}

/* ---- messages ---------------------------------------------------------------- */

/* True if the text ends in the name of an array's method. */
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

/* True if a '[' on the line continues the previous line, which was meant to end. */
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

/* True if the next line was meant as a separate statement. If it begins with '(', the
 * engine's position is the end of the callee. */
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

        c->hint = end == ']' && *text == '['                       ? GBX_HINT_PATTERN
                  : end == '}' && *text == '{'                     ? GBX_HINT_PATTERN
                  : end == ')' && strncmp(text, "Object.", 7) == 0 ? GBX_HINT_ARGUMENT
                                                                   : GBX_HINT_MISSING;
        return true;
    }
    if (gbx_text_quoted(c->message, "is not a function", "(In '", "', '", &text,
                        &len)) {
        const char *call = memchr(text, '(', len);
        size_t callee = call != NULL ? (size_t)(call - text) : len;
        size_t at = c->offset;

        if (is_line_continued(c)) {
            c->hint = GBX_HINT_SEMICOLON;
            return true;
        }
        /* The engine's position is the end of the name: move to its start. */
        while (at != GBX_NO_OFFSET && at > 0 &&
               gbx_text_is_name((unsigned char)c->tree.text[at - 1]))
            at--;
        if (at < c->offset)
            c->at = at;
        c->hint = strncmp(text, "fs.", 3) == 0 && !is_declared_anywhere(c, "fs", 2)
                      ? GBX_HINT_FILES
                  : is_list_method(text, callee) ? GBX_HINT_ARRAY
                                                 : GBX_HINT_METHOD;
        return true;
    }
    if (strstr(c->message, "is not a function (near '") != NULL ||
        strstr(c->message, "Spread syntax requires") != NULL) {
        c->hint = GBX_HINT_ITERATE;
        return true;
    }
    return false;
}

static bool explain_name(gbx_case *c)
{
    const char *unknown_name = strstr(c->message, "Can't find variable: ");
    const gbx_leaves *l = &c->leaves;
    size_t len;
    uint32_t node, k, end;

    if (unknown_name != NULL) {
        unknown_name += strlen("Can't find variable: ");
        len = gbx_text_name_length(unknown_name);
        /* Move to the last such name on the line up to the engine's position. */
        gbx_leaves_between(l, c->line_start, c->line_end, &k, &end);
        for (; k < end; k++)
            if (c->tree.nodes[l->nodes[k]].kind != GBX_NODE_PROPERTY_NAME &&
                gbx_leaf_start(l, k) <= c->offset &&
                gbx_tree_is_text(&c->tree, l->nodes[k], unknown_name, len))
                c->at = gbx_leaf_start(l, k);
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
    if (!explain_name(c) && !explain_value(c))
        c->hint = gbx_hint_find(GBX_HINT_OF_FAILURE, c->message);
}

/* ---- a promise without await ------------------------------------------------ */

/* The engine's message says that a promise lacks something. The tree shows the call
 * that returned the promise, and that no await precedes it. Names decide: a call by the
 * name of one of the code's async functions returns a promise. */

struct search {
    gbx_case *c;
    const char *used; /* the expression that failed, as the engine quotes it */
    size_t used_len;
    bool is_root;   /* it begins with the wrong value; else it contains it */
    bool is_parsed; /* JSON.parse() got something that is not text */
};

static bool has_word(const char *text, size_t len, const char *word, size_t word_len)
{
    for (size_t i = 0; i < len;) {
        size_t start = i;

        while (i < len && gbx_text_is_name((unsigned char)text[i]))
            i++;
        if (i - start == word_len && memcmp(text + start, word, word_len) == 0)
            return true;
        i += i == start;
    }
    return false;
}

static bool is_used(const struct search *s, const char *name, size_t len)
{
    if (!s->is_root)
        return has_word(s->used, s->used_len, name, len);
    return s->used_len > len && memcmp(s->used, name, len) == 0 &&
           !gbx_text_is_name((unsigned char)s->used[len]);
}

/* The expression without its member accesses: servers of servers["NAME"].tool. */
static uint32_t root_of(const gbx_tree *t, uint32_t i, unsigned *ret_depth)
{
    for (*ret_depth = 0; i != GBX_NO_NODE; (*ret_depth)++) {
        if (t->nodes[i].kind != GBX_NODE_MEMBER &&
            t->nodes[i].kind != GBX_NODE_SUBSCRIPT)
            break;
        i = gbx_tree_child(t, i, GBX_FIELD_OBJECT);
    }
    return i;
}

/* servers.NAME.tool(...), servers["NAME"].call(...), discover(...), artifact(...) */
static bool is_of_host(const gbx_tree *t, uint32_t callee)
{
    unsigned depth;
    uint32_t root = root_of(t, callee, &depth);

    if (depth == 0)
        return gbx_tree_is(t, root, "discover") || gbx_tree_is(t, root, "artifact");
    return depth >= 2 && gbx_tree_is(t, root, "servers");
}

/* True if the code has an async function or method of that name, or has no function of
 * that name and it is an async capability. */
static bool is_async_name(gbx_case *c, uint32_t name)
{
    const gbx_tree *t = &c->tree;
    const char *text;
    size_t len;
    bool is_own = false;

    if (name == GBX_NO_NODE || !may_walk(c))
        return false;
    text = t->text + t->nodes[name].start;
    len = t->nodes[name].end - t->nodes[name].start;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t named = t->nodes[i].parent;
        bool is_it;

        if (!gbx_tree_is_function(t, i))
            continue;
        is_it =
            gbx_tree_is_text(t, gbx_tree_child(t, i, GBX_FIELD_NAME), text, len) ||
            (t->nodes[i].field == GBX_FIELD_VALUE && named != GBX_NO_NODE &&
             gbx_tree_is_text(t, gbx_tree_child(t, named, GBX_FIELD_NAME), text, len));
        if (is_it && gbx_tree_is_async(t, i))
            return true;
        is_own = is_own || is_it;
    }
    return !is_own && gbx_text_is_listed("fetch readFile", text, len);
}

/* True if call i, of that callee, returns a promise. */
static bool gives_promise(gbx_case *c, uint32_t i, uint32_t callee)
{
    const gbx_tree *t = &c->tree;
    unsigned depth;

    if (gbx_tree_is(t, root_of(t, callee, &depth), "Promise"))
        return true;
    if (t->nodes[i].kind != GBX_NODE_CALL || callee == GBX_NO_NODE)
        return false;
    return is_of_host(t, callee) ||
           is_async_name(c, t->nodes[callee].kind == GBX_NODE_MEMBER
                                ? gbx_tree_child(t, callee, GBX_FIELD_PROPERTY)
                                : callee);
}

/* list.map((item) => CALL): the call of map, which returns a list of promises. */
static uint32_t mapped(const gbx_tree *t, uint32_t arrow)
{
    uint32_t arguments = t->nodes[arrow].parent;
    uint32_t callee;

    if (arguments == GBX_NO_NODE || t->nodes[arguments].kind != GBX_NODE_ARGUMENTS)
        return GBX_NO_NODE;
    callee = gbx_tree_child(t, t->nodes[arguments].parent, GBX_FIELD_FUNCTION);
    if (callee == GBX_NO_NODE || t->nodes[callee].kind != GBX_NODE_MEMBER ||
        !gbx_tree_is(t, gbx_tree_child(t, callee, GBX_FIELD_PROPERTY), "map"))
        return GBX_NO_NODE;
    return t->nodes[arguments].parent;
}

static bool binds(const struct search *s, uint32_t pattern)
{
    const gbx_tree *t = &s->c->tree;

    if (pattern == GBX_NO_NODE)
        return false;
    for (uint32_t i = pattern; i < t->nodes[pattern].next && !gbx_time_budget_is_over();
         i++)
        if ((t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
             t->nodes[i].kind == GBX_NODE_SHORTHAND_PATTERN) &&
            is_used(s, t->text + t->nodes[i].start,
                    t->nodes[i].end - t->nodes[i].start))
            return true;
    return false;
}

static bool is_on_line(const struct search *s, const gbx_node *node)
{
    return node->end > s->c->line_start && node->start < s->c->line_end;
}

/* True if the value of node i, the callee's result or a list, caused the failure. */
static bool is_culprit(const struct search *s, uint32_t i, uint32_t callee)
{
    const gbx_tree *t = &s->c->tree;
    unsigned depth;
    uint32_t root = root_of(t, callee, &depth);
    bool is_itself;
    uint32_t by, property;

    i = gbx_tree_outer(t, i);
    by = t->nodes[i].parent;
    if (by == GBX_NO_NODE || root == GBX_NO_NODE)
        return false;
    is_itself = is_used(s, t->text + t->nodes[root].start,
                        t->nodes[root].end - t->nodes[root].start);
    switch ((unsigned)t->nodes[by].kind) {
    case GBX_NODE_DECLARATOR: return binds(s, gbx_tree_child(t, by, GBX_FIELD_NAME));
    case GBX_NODE_ASSIGNMENT: return binds(s, gbx_tree_child(t, by, GBX_FIELD_LEFT));
    case GBX_NODE_FOR_IN:
    case GBX_NODE_SPREAD:
        return (!s->is_root || is_itself) && is_on_line(s, &t->nodes[i]);
    case GBX_NODE_ARGUMENTS: return s->is_parsed && is_on_line(s, &t->nodes[i]);
    case GBX_NODE_MEMBER:
        property = gbx_tree_child(t, by, GBX_FIELD_PROPERTY);
        return s->is_root && is_itself && is_on_line(s, &t->nodes[by]) &&
               !gbx_tree_is(t, property, "then") &&
               !gbx_tree_is(t, property, "catch") &&
               !gbx_tree_is(t, property, "finally");
    default: return false;
    }
}

/* Find in the message the expression that failed, or take its whole line. */
static bool read_message(const char *message, struct search *s)
{
    static const struct {
        const char *part;
        bool is_root;
    } quotes[] = {{"(evaluating '", true}, {"(In '", true}, {"(near '", false}};

    for (size_t i = 0; i < GBX_COUNTOF(quotes); i++) {
        const char *at = strstr(message, quotes[i].part);

        if (at == NULL)
            continue;
        s->used = at + strlen(quotes[i].part);
        s->is_root = quotes[i].is_root;
        at = strstr(s->used, " of "); /* 'i of items' */
        if (s->is_root && at != NULL && at == s->used + gbx_text_name_length(s->used))
            s->used = at + 4;
        s->used_len = strlen(s->used);
        return true;
    }
    s->used = s->c->tree.text + s->c->line_start;
    s->used_len = s->c->line_end - s->c->line_start;
    s->is_parsed = strstr(message, "Unexpected identifier \"object\"") != NULL;
    return s->is_parsed || strstr(message, "Spread syntax requires") != NULL;
}

/* The text after the error's name; NULL: no error of a promise used as a value. */
static const char *without_name(const char *message)
{
    static const char *const names[] = {"TypeError: ", "SyntaxError: "};

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (strncmp(message, names[i], strlen(names[i])) == 0)
            return message + strlen(names[i]);
    return NULL;
}

void gbx_explain_unawaited(gbx_case *c)
{
    const gbx_tree *t = &c->tree;
    const char *message = without_name(c->message);
    struct search s = {.c = c};

    if (message == NULL || !c->is_placed || !read_message(message, &s))
        return;
    for (uint32_t i = 0; i < t->count; i++) {
        bool is_new = t->nodes[i].kind == GBX_NODE_NEW;
        uint32_t callee =
            gbx_tree_child(t, i, is_new ? GBX_FIELD_CONSTRUCTOR : GBX_FIELD_FUNCTION);
        uint32_t value, by;
        bool is_list;

        if (t->nodes[i].kind != GBX_NODE_CALL && !is_new)
            continue;
        value = gbx_tree_outer(t, i);
        by = t->nodes[value].parent;
        is_list = by != GBX_NO_NODE && t->nodes[by].kind == GBX_NODE_ARROW;
        if (is_list)
            value = mapped(t, by);
        if (value == GBX_NO_NODE || !is_culprit(&s, value, callee) ||
            !gives_promise(c, i, callee))
            continue;
        c->hint = is_list                 ? GBX_HINT_UNAWAITED_LIST
                  : is_of_host(t, callee) ? GBX_HINT_UNAWAITED
                                          : GBX_HINT_PROMISE;
        c->named_start = t->nodes[callee].start;
        c->named_end = t->nodes[callee].end;
        return;
    }
}
