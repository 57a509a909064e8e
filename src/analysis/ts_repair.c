/* SPDX-License-Identifier: MIT */
/*
 * ts_repair - works around errors of the TypeScript grammar. Text that it misreads is
 * replaced, in a copy that is parsed again, by syntax of the same length that it knows:
 * positions stay the same.
 */
#include "analysis/internal.h"

#include "base/cleanup.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define GIVEN_MAX 300 /* bytes of arguments that are examined */
#define TRY_MORE  8   /* extra cost of a try, in bytes */

/* Each round joins one dot after every `as`: for `A.B.C | D.E.F`, first one, then the
 * other. */
#define ROUNDS_MAX 8

const TSLanguage *tree_sitter_typescript(void);

static bool is_name_byte(char c)
{
    return (unsigned char)c >= 0x80 || gbx_text_is_name((unsigned char)c);
}

/* ---- words ------------------------------------------------------------------ */

/* Modifiers where the grammar does not allow them, and names that it reads as
 * modifiers. As in TypeScript, the next token decides which of the two a word is. */

static size_t skip_blanks(const gbx_tree *t, size_t at)
{
    while (at < t->len && isspace((unsigned char)t->text[at]))
        at++;
    return at;
}

static size_t word_end(const gbx_tree *t, size_t at)
{
    while (at < t->len && is_name_byte(t->text[at]))
        at++;
    return at;
}

static bool is_word(const gbx_tree *t, size_t at, const char *word)
{
    size_t len = strlen(word);

    return word_end(t, at) - at == len && memcmp(t->text + at, word, len) == 0;
}

/* at: the end of a modifier. If no name follows on its line, the word is itself a
 * name. */
static bool is_modifier_at(const gbx_tree *t, size_t at)
{
    while (at < t->len && (t->text[at] == ' ' || t->text[at] == '\t'))
        at++;
    return at < t->len &&
           (is_name_byte(t->text[at]) || strchr("[#'\"", t->text[at]) != NULL);
}

/* `[key: string]`: an expression in brackets never begins so. */
static bool is_index_at(const gbx_tree *t, size_t at)
{
    size_t name, end;

    if (at >= t->len || t->text[at] != '[')
        return false;
    name = skip_blanks(t, at + 1);
    end = word_end(t, name);
    at = skip_blanks(t, end);
    return end > name && at < t->len && t->text[at] == ':';
}

/* `out as T`, `out in all`: here the word is a name. */
static bool is_operator_at(const gbx_tree *t, size_t at)
{
    static const char *const words[] = {"as",         "extends", "in",
                                        "instanceof", "of",      "satisfies"};

    for (size_t i = 0; i < GBX_COUNTOF(words); i++)
        if (is_word(t, at, words[i]))
            return true;
    return false;
}

/* The character that replaces node i, padded with blanks, or '_' for all of it; 0: keep
 * it. before: the last character of the token before it. */
static char mark_of(const gbx_tree *t, uint32_t i, char before)
{
    size_t end = t->nodes[i].end;

    if (gbx_tree_is(t, i, "static")) {
        size_t next = skip_blanks(t, end);
        /* The grammar expects `static` after the word that follows it. */
        bool is_early = (is_word(t, next, "declare") || is_word(t, next, "accessor")) &&
                        is_modifier_at(t, word_end(t, next));

        /* Keep the line before from continuing at the bracket. */
        return is_index_at(t, next) ? ';' : is_early ? ' ' : 0;
    }
    if (gbx_tree_is(t, i, "in") || gbx_tree_is(t, i, "out")) {
        size_t next = skip_blanks(t, end);
        /* As in `<in out T extends U>`. */
        bool is_varied =
            next < t->len && is_name_byte(t->text[next]) && !is_operator_at(t, next);

        return (before == '<' || before == ',') && is_varied ? ' ' : 0;
    }
    if (gbx_tree_is(t, i, "abstract") || gbx_tree_is(t, i, "accessor")) {
        size_t next = skip_blanks(t, end);

        /* The grammar always reads it as a modifier. */
        return next < t->len && strchr(":?!=;(<}", t->text[next]) != NULL ? '_' : 0;
    }
    return 0;
}

/*
 * t: of `text`, with an error. Replaces such words in text with syntax of the same
 * length that the grammar knows, and blanks in `to` what would remain and is not
 * JavaScript. False if no such word was found.
 */
static bool repair_words(const gbx_tree *t, char *text, char *to)
{
    bool changed = false;
    char before = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        const gbx_node *node = &t->nodes[i];
        size_t len = node->end - node->start;
        char mark = mark_of(t, i, before);

        if (mark != 0) {
            memset(text + node->start, mark == '_' ? '_' : ' ', len);
            text[node->start] = mark;
            changed = true;
        }
        if (mark != 0 && mark != '_')
            memcpy(to + node->start, text + node->start, len);
        if (node->next == i + 1 && node->kind != GBX_NODE_COMMENT && len > 0)
            before = text[node->end - 1];
    }
    return changed;
}

/* ---- type arguments --------------------------------------------------------- */

/* The grammar reads f<T>`x` as two comparisons, TypeScript never does. The text between
 * the brackets is parsed by itself, and removed only if it is type arguments of a call.
 * The grammar accepts import("y").Z neither with type arguments nor as one. */

/* The '<' for the '>' at close, directly after an expression that can have arguments;
 * close: none. */
static size_t find_open(const char *text, size_t close)
{
    size_t first = close > GIVEN_MAX ? close - GIVEN_MAX : 0;
    size_t depth = 1;

    for (size_t at = close; at > first + 1; at--) {
        char c = text[at - 1];

        if (c == '`')
            return close;
        depth += c == '>' && text[at - 2] != '=';
        depth -= c == '<';
        if (depth == 0)
            return is_name_byte(text[at - 2]) || text[at - 2] == ')' ? at - 1 : close;
    }
    return close;
}

/* True if [open, close] is valid type arguments of a call. ASCII only, so that one
 * blank per byte keeps the columns. */
static bool is_given(const char *text, size_t open, size_t close)
{
    char call[GIVEN_MAX + 8] = "f";
    size_t len = close + 1 - open;
    bool is_one = false;
    gbx_tree t;

    if (len < 3 || len > GIVEN_MAX)
        return false;
    for (size_t i = open; i <= close; i++)
        if ((unsigned char)text[i] >= 0x80)
            return false;
    memcpy(call + 1, text + open, len);
    memcpy(call + 1 + len, "()", 3);
    if (!gbx_tree_parse_as(&t, tree_sitter_typescript(), call, len + 3))
        return false;
    if (!t.has_error) {
        gbx_tree_flatten(&t);
        for (uint32_t i = 0; i < t.count && !is_one; i++)
            is_one = t.nodes[i].start == 1 && t.nodes[i].end == 1 + len &&
                     strcmp(gbx_tree_symbol_name(&t, i), "type_arguments") == 0;
        gbx_arena_free(t.nodes);
    }
    ts_tree_delete(t.tree);
    ts_parser_delete(t.parser);
    return is_one;
}

/* Find the brackets of type arguments that end before node i. */
static bool find_given(const gbx_tree *t, uint32_t i, size_t *ret_open,
                       size_t *ret_close)
{
    const gbx_node *n = &t->nodes[i];
    size_t at = n->start;

    if (n->kind != GBX_NODE_TEMPLATE && !(t->has_error && gbx_tree_is(t, i, "?.") &&
                                          n->end < t->len && t->text[n->end] == '('))
        return false;
    while (at > 0 && isspace((unsigned char)t->text[at - 1]))
        at--;
    if (at < 2 || t->text[at - 1] != '>' || t->text[at - 2] == '=')
        return false;
    *ret_close = at - 1;
    *ret_open = find_open(t->text, *ret_close);
    return *ret_open < *ret_close;
}

/* The end of `import("y")`, whose first word is node i; 0: it is something else. */
static size_t import_end(const gbx_tree *t, uint32_t i)
{
    const char *open = t->text + t->nodes[i].end;
    const char *end = t->text + t->len;
    const char *close;

    if (end - open < 3 || *open != '(' || (open[1] != '"' && open[1] != '\''))
        return 0;
    close = memchr(open + 2, open[1], (size_t)(end - open) - 2);
    return close != NULL && end - close > 1 && close[1] == ')'
               ? (size_t)(close - t->text) + 2
               : 0;
}

/* Replace each import("y") by a name of the same length, which can have or be type
 * arguments. */
static bool name_imports(const gbx_tree *t, char *text)
{
    bool named = false;

    for (uint32_t i = 0; i < t->count; i++) {
        size_t end = gbx_tree_is(t, i, "import") ? import_end(t, i) : 0;

        if (end == 0)
            continue;
        memset(text + t->nodes[i].start, '_', end - t->nodes[i].start);
        named = true;
    }
    return named;
}

/*
 * t: flat, of `text`. Blanks type arguments before a template, f<T>`x`, and, if the
 * tree has an error, before an optional call, f<T>?.(x): in text and in `to`, which has
 * the same length. import("y") in a type becomes a name in text. False if nothing was
 * found.
 */
static bool repair_given(const gbx_tree *t, char *text, char *to)
{
    size_t tried = 0; /* bytes; at most the text's, so bounded like its parse */
    bool changed = false;
    size_t open, close;

    for (uint32_t i = 0; i < t->count && tried < t->len; i++) {
        if (!find_given(t, i, &open, &close))
            continue;
        tried += close - open + TRY_MORE;
        if (!is_given(t->text, open, close))
            continue;
        gbx_text_blank(text, open, close + 1);
        gbx_text_blank(to, open, close + 1);
        changed = true;
    }
    return name_imports(t, text) || changed;
}

/* ---- type names with dots --------------------------------------------------- */

/* The grammar reads `x as A.B.C` as member C of `x as A.B`: a dot after a type begins a
 * member access. In TypeScript no member can follow there, so such a dot always belongs
 * to the type. A copy with '_' for the dot, A.B_C, is parsed again; the syntax around
 * it, as in `A.B.C<D>[]`, is then read correctly, at its position. */

bool gbx_types_is_cut(const gbx_tree *t, uint32_t i)
{
    const char *inner;
    uint32_t property;

    if (t->nodes[i].kind != GBX_NODE_MEMBER || t->nodes[i].next == i + 1)
        return false;
    inner = gbx_tree_symbol_name(t, i + 1);
    if ((strcmp(inner, "as_expression") != 0 &&
         strcmp(inner, "satisfies_expression") != 0) ||
        !is_name_byte(t->text[t->nodes[i + 1].end - 1]))
        return false;
    property = gbx_tree_child(t, i, GBX_FIELD_PROPERTY);
    return property != GBX_NO_NODE &&
           t->nodes[property].kind == GBX_NODE_PROPERTY_NAME &&
           gbx_tree_token(t, i, ".") != GBX_NO_NODE;
}

static bool join_all(const gbx_tree *t, char *text)
{
    bool joined = false;

    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t property;
        size_t end;

        if (!gbx_types_is_cut(t, i))
            continue;
        end = t->nodes[i + 1].end;
        property = gbx_tree_child(t, i, GBX_FIELD_PROPERTY);
        memset(text + end, '_', t->nodes[property].start - end);
        joined = true;
    }
    return joined;
}

/* False if nothing was left to repair. */
static bool repair(const gbx_tree *t, char *text, char *to)
{
    bool joined = join_all(t, text);
    bool given = repair_given(t, text, to);

    return (t->has_error && repair_words(t, text, to)) || joined || given;
}

bool gbx_types_parse(gbx_tree *t, const char *text, size_t len, char *to)
{
    char *copy = gbx_arena_calloc(len + 1, 1);

    memcpy(copy, text, len);
    for (size_t round = 1; gbx_tree_parse_as(t, tree_sitter_typescript(), copy, len);
         round++) {
        gbx_tree_flatten(t);
        if (round == ROUNDS_MAX || !repair(t, copy, to)) {
            t->text = text; /* the original, which also has line breaks around dots */
            return true;
        }
        gbx_arena_free(t->nodes);
        ts_tree_delete(t->tree);
        ts_parser_delete(t->parser);
    }
    return false;
}

/* ---- comparisons ------------------------------------------------------------ */

/* Only the meaning of the names distinguishes a call's type arguments from comparisons.
 * A name declared both as a variable and as a type counts as the type. Where no call
 * follows, TypeScript decides by the next token: f(a < b, c > -1) has no types. */

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

/* True if it is the name itself, not a member of that name. */
static bool is_name(const gbx_tree *t, uint32_t i)
{
    return t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
           (is_type(t, i) && strcmp(gbx_tree_symbol_name(t, t->nodes[i].parent),
                                    "nested_type_identifier") != 0);
}

/* True for a variable or, before a dot, a class: anything except a namespace. */
static bool is_no_type(const gbx_tree *t, uint32_t i, const gbx_types_names *names)
{
    bool is_a_type = has(names, name_of(t, i), true);

    return is_type(t, i) ? has(names, name_of(t, i), false) && !is_a_type
                         : has(names, name_of(t, i), false) || is_a_type;
}

/* True for <T>: a < T > (b) is never meant as a comparison. */
static bool is_one_name(const gbx_tree *t, uint32_t i)
{
    uint32_t name = gbx_tree_inner(t, i);

    return name != GBX_NO_NODE && t->nodes[name].next == name + 1 &&
           t->nodes[i].next == name + 2;
}

/*
 * True if the token after f<T>, not a call, makes it a comparison: a token on the same
 * line that can only begin an operand, or a sign on any line.
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

bool gbx_types_is_compared(const gbx_tree *t, uint32_t i, gbx_types_names *names)
{
    uint32_t parent = t->nodes[i].parent;
    uint32_t arguments = gbx_tree_child(t, parent, GBX_FIELD_ARGUMENTS);
    bool found = false;

    if (strcmp(gbx_tree_symbol_name(t, parent), "instantiation_expression") == 0)
        return is_operand_behind(t, i);
    if (t->nodes[parent].kind != GBX_NODE_CALL || is_one_name(t, i))
        return false;
    /* f<T>() is a call: a comparison needs an operand. */
    if (arguments != GBX_NO_NODE && gbx_tree_inner(t, arguments) == GBX_NO_NODE)
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
