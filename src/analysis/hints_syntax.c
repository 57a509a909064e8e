/* SPDX-License-Identifier: MIT */
/*
 * hints_syntax - hints for code that does not compile. The engine knows the line and
 * the token that it could not use; the tree knows the column and the context.
 */
#include "analysis/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define OPERATORS                                                                        \
    "+ - * / % ** = == === != !== < > <= >= && || ?? ! ? : , . & | ^ ~ << >> >>> += -= " \
    "return of in"

/* The engine's messages that do not quote a token, and the tokens that they mean. */
static const struct {
    const char *part;
    const char *words;
} places[] = {
    {"for-await-of", "await"},
    {"Function statements must", "function"},
    {"is not a reference", "= += -= *= /= %= ||= &&= ++ --"},
    {"super is not valid", "super"},
    {"new.target", "new"},
    {"in parameter list", "=>"},
};

static bool leaf_matches(const gbx_case *c, uint32_t k, const char *text, size_t len)
{
    const gbx_node *n = &c->tree.nodes[c->leaves.nodes[k]];
    size_t inside = n->kind == GBX_NODE_STRING ? 1 : 0;

    return n->end - n->start == len + 2 * inside &&
           memcmp(c->tree.text + n->start + inside, text, len) == 0;
}

/* The token that the message names, on its line, or GBX_NO_LEAF. */
static uint32_t find_culprit(const gbx_case *c)
{
    uint32_t found = GBX_NO_LEAF;
    const char *text;
    size_t len;
    uint32_t k, end;

    /* Double quotes first: the expected text follows in single quotes. */
    if (!gbx_text_quoted(c->message, "string literal \"", "", "\"", &text, &len) &&
        !gbx_text_quoted(c->message, "", "'", "'", &text, &len))
        return GBX_NO_LEAF;
    for (gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &k, &end); k < end;
         k++) {
        if (!leaf_matches(c, k, text, len))
            continue;
        if (gbx_leaf_start(&c->leaves, k) == c->offset) /* the exact position */
            return k;
        if (gbx_leaf_is_suspect(&c->leaves, k) ||
            gbx_leaf_is(&c->leaves, gbx_leaf_before(&c->leaves, k), "await"))
            return k;
        if (found == GBX_NO_LEAF)
            found = k;
    }
    return found;
}

/* The place that a message without a token means, or GBX_NO_OFFSET. */
static size_t find_place(const gbx_case *c)
{
    bool is_number = strstr(c->message, "leading zero") != NULL ||
                     strstr(c->message, "numeric literal") != NULL;
    const char *text;
    size_t len;
    uint32_t k, end;

    if (gbx_text_quoted(c->message, "Unterminated regular", "'", "'", &text, &len)) {
        text = memmem(c->tree.text + c->line_start, c->line_end - c->line_start, text,
                      len);
        return text == NULL ? GBX_NO_OFFSET : (size_t)(text - c->tree.text);
    }
    for (gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &k, &end); k < end;
         k++) {
        const gbx_node *n = &c->tree.nodes[c->leaves.nodes[k]];

        if (is_number && n->kind == GBX_NODE_NUMBER &&
            (gbx_text_is_name((unsigned char)c->tree.text[n->end]) ||
             (n->end - n->start > 1 && c->tree.text[n->start] == '0')))
            return n->start;
        for (size_t i = 0; i < GBX_COUNTOF(places); i++)
            if (strstr(c->message, places[i].part) != NULL &&
                gbx_leaf_is_one_of(&c->leaves, k, places[i].words))
                return n->start;
    }
    return GBX_NO_OFFSET;
}

/*
 * The engine reads on and may report a later line: find the last token of that kind
 * before it. Undeclared private names are reported at the end of all code.
 */
static size_t find_passed(const gbx_case *c)
{
    bool is_private, is_regex;
    const char *text = "";
    size_t len = 0;
    uint32_t k, end;

    is_private = gbx_text_quoted(c->message, "undeclared private names", "\"", "\"",
                                 &text, &len);
    is_regex = strstr(c->message, "Invalid regular expression") != NULL;
    if (strstr(c->message, "at least a catch") != NULL)
        text = "try";
    else if (strstr(c->message, "Cannot delete") != NULL)
        text = "delete";
    if (!is_private)
        len = strlen(text);
    if ((len == 0 && !is_regex) || (!is_private && c->offset != GBX_NO_OFFSET))
        return GBX_NO_OFFSET;
    gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &k, &end);
    for (k = is_private ? c->leaves.count : end; k > 0; k--)
        if (is_regex ? c->tree.nodes[c->leaves.nodes[k - 1]].kind == GBX_NODE_REGEX
                     : leaf_matches(c, k - 1, text, len))
            return gbx_leaf_start(&c->leaves, k - 1);
    return GBX_NO_OFFSET;
}

/* The character that the message spells as \uXXXX, on its line, or GBX_NO_OFFSET. */
static size_t find_character(const gbx_case *c)
{
    const char *digits = strstr(c->message, "character '\\u");
    size_t length;
    unsigned long point;

    if (digits == NULL)
        return GBX_NO_OFFSET;
    point = strtoul(digits + strlen("character '\\u"), NULL, 16);
    for (size_t i = c->line_start; i < c->line_end; i += length) {
        const uint8_t *d = (const uint8_t *)c->tree.text + i;

        length = gbx_utf8_sequence(d, c->line_end - i);
        if (length > 1 && gbx_utf8_decode(d, length) == point)
            return i;
        length += length == 0;
    }
    return GBX_NO_OFFSET;
}

/* The last leaf, up to the line's end, with the name that is declared twice. */
static uint32_t find_second(const gbx_case *c)
{
    uint32_t found = GBX_NO_LEAF;
    const char *text;
    size_t len;
    uint32_t k, end;

    if (!gbx_text_quoted(c->message, "variable", "'", "'", &text, &len))
        return GBX_NO_LEAF;
    gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &k, &end);
    for (k = 0; k < end; k++) {
        const gbx_node *n = &c->tree.nodes[c->leaves.nodes[k]];

        if (n->end - n->start == len &&
            memcmp(c->tree.text + n->start, text, len) == 0 &&
            gbx_leaf_is_one_of(&c->leaves, gbx_leaf_before(&c->leaves, k),
                               "let const var class function * , [ { : ..."))
            found = k;
    }
    return found;
}

/* The unclosed string on the line; else the last template's quote. */
static uint32_t find_open_string(const gbx_case *c)
{
    uint32_t k, end;

    for (gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &k, &end); k < end;
         k++)
        if (gbx_leaf_is_one_of(&c->leaves, k, "' \"") ||
            gbx_tree_is_open_string(&c->tree, c->leaves.nodes[k]))
            return k;
    for (k = c->leaves.count; k > 0; k--)
        if (gbx_leaf_is(&c->leaves, k - 1, "`"))
            return k - 1;
    return GBX_NO_LEAF;
}

/* A break or continue outside of loops, if possible on or after the line. */
static uint32_t find_jump(const gbx_case *c)
{
    const gbx_node *nodes = c->tree.nodes;
    uint32_t found = GBX_NO_NODE;
    int budget = 1000; /* each check walks up the tree */

    for (uint32_t i = 0; i < c->tree.count && budget > 0; i++) {
        uint32_t up = nodes[i].parent;
        bool is_jump =
            nodes[i].kind == GBX_NODE_BREAK || nodes[i].kind == GBX_NODE_CONTINUE;

        if (!is_jump)
            continue;
        budget--;
        while (up != GBX_NO_NODE && nodes[up].kind != GBX_NODE_FOR &&
               nodes[up].kind != GBX_NODE_FOR_IN && nodes[up].kind != GBX_NODE_WHILE &&
               nodes[up].kind != GBX_NODE_DO && nodes[up].kind != GBX_NODE_LABELED &&
               !gbx_tree_is_function(&c->tree, up) &&
               !(nodes[up].kind == GBX_NODE_SWITCH && nodes[i].kind == GBX_NODE_BREAK))
            up = nodes[up].parent;
        if (up != GBX_NO_NODE && !gbx_tree_is_function(&c->tree, up))
            continue;
        if (found == GBX_NO_NODE || nodes[found].start < c->line_start)
            found = i;
    }
    return found;
}

/* The hint depends on the call that the function around leaf k is passed to. */
static uint32_t await_hint(const gbx_case *c, uint32_t k)
{
    const gbx_node *nodes = c->tree.nodes;
    uint32_t i = c->leaves.nodes[k];
    uint32_t callee;

    while (i != GBX_NO_NODE && !gbx_tree_is_function(&c->tree, i))
        i = nodes[i].parent;
    if (i == GBX_NO_NODE || nodes[i].parent == GBX_NO_NODE ||
        nodes[nodes[i].parent].kind != GBX_NODE_ARGUMENTS)
        return GBX_HINT_AWAIT;
    callee =
        gbx_tree_child(&c->tree, nodes[nodes[i].parent].parent, GBX_FIELD_FUNCTION);
    if (callee == GBX_NO_NODE || nodes[callee].kind != GBX_NODE_MEMBER)
        return GBX_HINT_AWAIT;
    callee = gbx_tree_child(&c->tree, callee, GBX_FIELD_PROPERTY);
    if (callee != GBX_NO_NODE && gbx_tree_is(&c->tree, callee, "map"))
        return GBX_HINT_AWAIT_MAP;
    return callee != GBX_NO_NODE && gbx_tree_is(&c->tree, callee, "forEach")
               ? GBX_HINT_AWAIT_EACH
               : GBX_HINT_AWAIT;
}

static bool has_jsx(const gbx_case *c)
{
    for (uint32_t i = 0; i < c->tree.count; i++)
        if (c->tree.nodes[i].kind == GBX_NODE_JSX_ELEMENT ||
            c->tree.nodes[i].kind == GBX_NODE_JSX_SELF_CLOSING)
            return true;
    return false;
}

/* Three names in a row, with nothing between them: no statement looks like that. */
static bool is_prose(const gbx_leaves *l, uint32_t k)
{
    uint32_t from = k > 2 ? k - 2 : 0;

    for (; from <= k; from++)
        if (gbx_leaf_is_name(l, from) && gbx_leaf_is_name(l, from + 1) &&
            gbx_leaf_is_name(l, from + 2))
            return true;
    return false;
}

/* Words of another language at or before the culprit; *ret_k moves to them. */
static uint32_t foreign(const gbx_case *c, uint32_t *ret_k)
{
    const gbx_leaves *l = &c->leaves;
    uint32_t k = *ret_k;
    uint32_t before = gbx_leaf_before(l, k);

    if (gbx_leaf_is(l, k, "<") && has_jsx(c))
        return GBX_HINT_JSX;
    if (gbx_leaf_is_typescript(l, k))
        return GBX_HINT_TYPES;
    if (gbx_leaf_is(l, before, "await")) {
        *ret_k = before;
        return await_hint(c, before);
    }
    if (gbx_leaf_is_one_of(l, before, "def print elif lambda") ||
        gbx_leaf_is(l, gbx_leaf_before(l, before), "def"))
        return GBX_HINT_PYTHON;
    if (gbx_leaf_is_one_of(l, before, "SELECT FROM"))
        return GBX_HINT_SQL;
    if (gbx_leaf_is(l, before, "using"))
        return GBX_HINT_USING;
    return is_prose(l, k) ? GBX_HINT_PROSE : GBX_HINT_NONE;
}

/* An HTML entity on the line, as in a &lt; b, or GBX_NO_OFFSET. */
static size_t find_entity(const gbx_case *c)
{
    static const char *const entities[] = {"&lt;",   "&gt;",  "&amp;",
                                           "&quot;", "&#39;", "&apos;"};
    const char *line = c->tree.text + c->line_start;

    for (size_t i = 0; i < GBX_COUNTOF(entities); i++) {
        const char *at =
            memmem(line, c->line_end - c->line_start, entities[i], strlen(entities[i]));

        if (at != NULL)
            return (size_t)(at - c->tree.text);
    }
    return GBX_NO_OFFSET;
}

/* The engine failed on the token after a type on the line, not on the type. */
static bool explain_types(gbx_case *c)
{
    uint32_t k, end;

    if (strstr(c->message, "initializer") == NULL &&
        strstr(c->message, "parameter") == NULL)
        return false;
    gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &k, &end);
    for (uint32_t last = end - k > 1000 ? k + 1000 : end; k < last; k++) {
        if (!gbx_leaf_is_one_of(&c->leaves, k, ": ? <") ||
            !gbx_leaf_is_typescript(&c->leaves, k))
            continue;
        c->at = gbx_leaf_start(&c->leaves, k);
        c->hint = GBX_HINT_TYPES;
        return true;
    }
    return false;
}

/* Brackets first: for an open one the engine only reports an early end. */
static bool explain_bracket(gbx_case *c, uint32_t culprit)
{
    bool is_open = false;
    uint32_t i =
        c->tree.has_error ? gbx_tree_unpaired(&c->tree, &is_open) : GBX_NO_NODE;
    bool at_end = c->past_end || strstr(c->message, "EOF") != NULL ||
                  strstr(c->message, "end of script") != NULL;
    bool closes_ours;
    size_t start;

    if (i == GBX_NO_NODE || strstr(c->message, "Unterminated") != NULL ||
        strstr(c->message, "not closed properly") != NULL)
        return false;
    start = c->tree.nodes[i].start;
    if (is_open && at_end &&
        (culprit == GBX_NO_LEAF || !gbx_leaf_is_suspect(&c->leaves, culprit) ||
         gbx_leaf_is_one_of(&c->leaves, culprit, ") ] }"))) {
        c->at = start;
        c->hint = GBX_HINT_OPEN;
        return true;
    }
    /* It closes the function that wraps the code: the engine accepts it and fails on the
     * next token. */
    closes_ours = start <= c->line_end &&
                  (start >= c->line_start ||
                   strstr(c->message, "to end a compound expression") != NULL);
    if (!is_open && ((culprit == GBX_NO_LEAF && c->past_end) || closes_ours)) {
        c->at = start;
        c->hint = gbx_tree_is(&c->tree, i, ")")   ? GBX_HINT_CLOSE_ROUND
                  : gbx_tree_is(&c->tree, i, "]") ? GBX_HINT_CLOSE_SQUARE
                                                  : GBX_HINT_CLOSE_CURLY;
        return true;
    }
    return false;
}

/* The hint for a separator missing before a value, if the message names no context. */
static uint32_t separator_hint(const gbx_case *c, uint32_t k)
{
    uint32_t opener;

    if (strstr(c->message, "Expected ") != NULL ||
        (strstr(c->message, "Unexpected identifier") == NULL &&
         strstr(c->message, "Unexpected number") == NULL &&
         strstr(c->message, "Unexpected string literal") == NULL))
        return GBX_HINT_NONE;
    opener = gbx_leaf_opener(&c->leaves, k);
    if (opener == GBX_NO_LEAF)
        return GBX_HINT_NONE;
    switch (c->tree.nodes[c->tree.nodes[c->leaves.nodes[opener]].parent].kind) {
    case GBX_NODE_ARGUMENTS:
        return gbx_hint_find(GBX_HINT_OF_SYNTAX, "to end an argument list");
    case GBX_NODE_OBJECT:
        return gbx_hint_find(GBX_HINT_OF_SYNTAX, "to end an object literal");
    case GBX_NODE_ARRAY:
        return gbx_hint_find(GBX_HINT_OF_SYNTAX, "following an array element");
    default: return GBX_HINT_NONE;
    }
}

static void explain_culprit(gbx_case *c, uint32_t k)
{
    uint32_t hint = foreign(c, &k);
    uint32_t opener =
        gbx_leaf_is(&c->leaves, k, ":") ? gbx_leaf_opener(&c->leaves, k) : GBX_NO_LEAF;
    /* A ':' in an object that the engine read as a function body. */
    bool is_bare_object =
        gbx_leaf_is(&c->leaves, opener, "{") &&
        gbx_leaf_is(&c->leaves, gbx_leaf_before(&c->leaves, opener), "=>");
    bool is_statement = k == 0 && c->form == GBX_FORM_FUNCTION &&
                        (strstr(c->message, "Unexpected keyword") != NULL ||
                         gbx_leaf_is_one_of(&c->leaves, k, ";"));

    if (hint == GBX_HINT_NONE && is_bare_object) {
        hint = GBX_HINT_OBJECT;
        k = opener;
    }
    if (hint == GBX_HINT_NONE &&
        gbx_leaf_is_one_of(&c->leaves, gbx_leaf_before(&c->leaves, k), OPERATORS) &&
        gbx_leaf_is_one_of(&c->leaves, k, "; , ) ] } : =>"))
        hint = GBX_HINT_VALUE;
    if (hint == GBX_HINT_NONE && is_statement)
        hint = GBX_HINT_STATEMENT;
    if (hint == GBX_HINT_NONE)
        hint = separator_hint(c, k);
    if (hint != GBX_HINT_NONE)
        c->hint = hint;
    c->at = gbx_leaf_start(&c->leaves, k);
}

void gbx_explain_syntax(gbx_case *c)
{
    uint32_t culprit = find_culprit(c);
    uint32_t first, end;

    c->hint = gbx_hint_find(GBX_HINT_OF_SYNTAX, c->message);
    if (strstr(c->message, "Cannot declare") != NULL && find_second(c) != GBX_NO_LEAF) {
        c->at = gbx_leaf_start(&c->leaves, find_second(c));
        return;
    }
    if (strstr(c->message, "is only valid") != NULL && find_jump(c) != GBX_NO_NODE) {
        c->at = c->tree.nodes[find_jump(c)].start;
        return;
    }
    if (strstr(c->message, "EOF") != NULL && find_open_string(c) != GBX_NO_LEAF) {
        c->at = gbx_leaf_start(&c->leaves, find_open_string(c));
        c->hint = GBX_HINT_STRING;
        return;
    }
    if (explain_types(c))
        return;
    c->at = find_place(c);
    if (c->at == GBX_NO_OFFSET)
        c->at = find_character(c);
    if (c->at == GBX_NO_OFFSET)
        c->at = find_passed(c);
    if (c->at != GBX_NO_OFFSET)
        return;
    c->at = find_entity(c);
    if (c->at != GBX_NO_OFFSET) {
        c->hint = GBX_HINT_ENTITY;
        return;
    }
    if (explain_bracket(c, culprit))
        return;
    /* The code is cut off: point to the end of its last token. */
    if (c->leaves.count > 0 && (strstr(c->message, "EOF") != NULL ||
                                strstr(c->message, "end of script") != NULL)) {
        c->at = c->tree.nodes[c->leaves.nodes[c->leaves.count - 1]].end;
        c->hint = GBX_HINT_CUT;
        return;
    }
    if (culprit != GBX_NO_LEAF) {
        explain_culprit(c, culprit);
        return;
    }
    gbx_leaves_between(&c->leaves, c->line_start, c->line_end, &first, &end);
    if (c->offset == GBX_NO_OFFSET && first < end)
        c->at = gbx_leaf_start(&c->leaves, first);
}
