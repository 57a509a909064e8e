/* SPDX-License-Identifier: MIT */
/* tree - finds the code in the caller's text and parses it. Only this file walks the
 * parser's own tree, always with a cursor. */
#include "syntax/tree.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "syntax/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const TSLanguage *tree_sitter_javascript(void);

/*
 * Processor time of this thread, not wall clock: a busy machine must not change a
 * verdict. Ordinary code needs a quarter of a microsecond a byte, odd code one.
 */
#define TIME_BASE_NS     (50 * GBX_NS_PER_MS)
#define TIME_PER_BYTE_NS INT64_C(1000)

struct source {
    const char *text;
    size_t len;
    int64_t deadline_ns;
};

struct name {
    const char *text;
    uint8_t value;
};

static const struct name kinds[] = {
#define XX(name, text) {text, GBX_NODE_##name},
    GBX_NODE_MAP(XX)
#undef XX
};

static const struct name fields[] = {
#define XX(name, text) {text, GBX_FIELD_##name},
    GBX_FIELD_MAP(XX)
#undef XX
};

static int order_of(const void *text, const void *name)
{
    return strcmp(text, ((const struct name *)name)->text);
}

static uint8_t find_name(const struct name *names, size_t count, const char *text)
{
    const struct name *found = bsearch(text, names, count, sizeof *names, order_of);

    return found != NULL ? found->value : 0;
}

static const char *read_source(void *payload, uint32_t at, TSPoint point,
                               uint32_t *ret_len)
{
    const struct source *s = payload;
    const char *nul;

    *ret_len = at < s->len ? (uint32_t)(s->len - at) : 0;
    if (*ret_len == 0)
        return "";
    /* The parser ends a string or comment at a NUL: give it a space instead. */
    nul = memchr(s->text + at, 0, *ret_len);
    if (nul == s->text + at) {
        *ret_len = 1;
        return " ";
    }
    if (nul != NULL)
        *ret_len = (uint32_t)(nul - s->text) - at;
    return s->text + at;
}

/* The first call sets the deadline: short code, which causes no call, never reads the
 * clock. */
static bool is_too_late(TSParseState *state)
{
    struct source *s = state->payload;
    int64_t now;

    if (gbx_time_budget_is_wall())
        return gbx_time_budget_is_over();
    now = gbx_time_budget_now_ns();
    if (s->deadline_ns == 0)
        s->deadline_ns = now + TIME_BASE_NS + TIME_PER_BYTE_NS * (int64_t)s->len;
    return now > s->deadline_ns || gbx_time_budget_is_over();
}

/* Symbols and fields are small numbers: each name is looked up once per tree. */
struct memo {
    uint8_t *kinds; /* 0: not looked up yet; else value + 1 */
    uint8_t *fields;
    uint32_t kind_count;
    uint32_t field_count;
};

static uint8_t kind_of(const struct memo *memo, TSNode node)
{
    TSSymbol symbol = ts_node_symbol(node);
    bool is_kept = symbol < memo->kind_count; /* ERROR is past the grammar's own */
    uint8_t kind = GBX_NODE_TOKEN;

    if (is_kept && memo->kinds[symbol] != 0)
        return memo->kinds[symbol] - 1;
    if (ts_node_is_named(node))
        kind = find_name(kinds, GBX_COUNTOF(kinds), ts_node_type(node));
    if (is_kept)
        memo->kinds[symbol] = (uint8_t)(kind + 1);
    return kind;
}

static uint8_t field_of(const struct memo *memo, const TSLanguage *language,
                        const TSTreeCursor *cursor)
{
    TSFieldId id = ts_tree_cursor_current_field_id(cursor);

    if (id == 0 || id >= memo->field_count)
        return GBX_FIELD_NONE;
    if (memo->fields[id] == 0) {
        const char *name = ts_language_field_name_for_id(language, id);

        memo->fields[id] = (uint8_t)(find_name(fields, GBX_COUNTOF(fields), name) + 1);
    }
    return memo->fields[id] - 1;
}

bool gbx_tree_parse(gbx_tree *t, const char *text, size_t len)
{
    return gbx_tree_parse_as(t, tree_sitter_javascript(), text, len);
}

bool gbx_tree_parse_as(gbx_tree *t, const TSLanguage *language, const char *text,
                       size_t len)
{
    struct source source = {.text = text, .len = len};
    TSInput input = {.payload = &source,
                     .read = read_source,
                     .encoding = TSInputEncodingUTF8};
    TSParseOptions options = {.payload = &source, .progress_callback = is_too_late};
    bool is_set;

    assert(len < UINT32_MAX);
    *t = (gbx_tree){.text = text, .len = len, .language = language};
    if (gbx_time_budget_is_over())
        return false;
    t->parser = ts_parser_new();
    is_set = ts_parser_set_language(t->parser, language);
    assert(is_set);
    (void)is_set;
    t->tree = ts_parser_parse_with_options(t->parser, NULL, input, options);
    if (t->tree == NULL)
        return false;
    t->root = ts_tree_root_node(t->tree);
    t->has_error = ts_node_has_error(t->root);
    return true;
}

void gbx_tree_flatten(gbx_tree *t)
{
    const TSLanguage *language = t->language;
    uint32_t capacity = ts_node_descendant_count(t->root);
    TSTreeCursor cursor = ts_tree_cursor_new(t->root);
    struct memo memo = {.kind_count = ts_language_symbol_count(language),
                        .field_count = ts_language_field_count(language) + 1};
    uint32_t parent = GBX_NO_NODE;
    uint32_t i = 0;

    memo.kinds = gbx_arena_calloc(memo.kind_count, 1);
    memo.fields = gbx_arena_calloc(memo.field_count, 1);
    t->nodes = gbx_arena_calloc(capacity, sizeof *t->nodes);
    for (bool done = false; !done;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);

        if (i == capacity) /* the parser's count cannot be wrong; if it is, give up */
            gbx_arena_abandon();
        t->nodes[i] = (gbx_node){.start = ts_node_start_byte(node),
                                 .end = ts_node_end_byte(node),
                                 .parent = parent,
                                 .symbol = ts_node_symbol(node),
                                 .kind = kind_of(&memo, node),
                                 .field = field_of(&memo, language, &cursor),
                                 .missing = ts_node_is_missing(node)};
        i++;
        if (ts_tree_cursor_goto_first_child(&cursor)) {
            parent = i - 1;
            continue;
        }
        t->nodes[i - 1].next = i;
        while (!done && !ts_tree_cursor_goto_next_sibling(&cursor)) {
            done = !ts_tree_cursor_goto_parent(&cursor);
            if (!done) {
                t->nodes[parent].next = i;
                parent = t->nodes[parent].parent;
            }
        }
    }
    t->count = i;
}

const char *gbx_tree_symbol_name(const gbx_tree *t, uint32_t i)
{
    const char *name = ts_language_symbol_name(t->language, t->nodes[i].symbol);

    return name != NULL ? name : "";
}

uint32_t gbx_tree_child(const gbx_tree *t, uint32_t i, gbx_node_field field)
{
    for (uint32_t c = i + 1; c < t->nodes[i].next; c = t->nodes[c].next)
        if (t->nodes[c].field == field)
            return c;
    return GBX_NO_NODE;
}

uint32_t gbx_tree_inner(const gbx_tree *t, uint32_t i)
{
    for (uint32_t c = i + 1; c < t->nodes[i].next; c = t->nodes[c].next)
        if (t->nodes[c].kind != GBX_NODE_TOKEN && !gbx_tree_is_comment(t, c) &&
            !t->nodes[c].missing)
            return c;
    return GBX_NO_NODE;
}

uint32_t gbx_tree_token(const gbx_tree *t, uint32_t i, const char *text)
{
    for (uint32_t c = i + 1; c < t->nodes[i].next; c = t->nodes[c].next)
        if (t->nodes[c].kind == GBX_NODE_TOKEN && !t->nodes[c].missing &&
            strcmp(gbx_tree_symbol_name(t, c), text) == 0)
            return c;
    return GBX_NO_NODE;
}

bool gbx_tree_is(const gbx_tree *t, uint32_t i, const char *text)
{
    return gbx_tree_is_text(t, i, text, strlen(text));
}

bool gbx_tree_is_text(const gbx_tree *t, uint32_t i, const char *text, size_t len)
{
    return i != GBX_NO_NODE && t->nodes[i].end - t->nodes[i].start == len &&
           memcmp(t->text + t->nodes[i].start, text, len) == 0;
}

gbx_node_kind gbx_tree_kind(const gbx_tree *t, uint32_t i)
{
    return i != GBX_NO_NODE ? (gbx_node_kind)t->nodes[i].kind : GBX_NODE_OTHER;
}

bool gbx_tree_is_comment(const gbx_tree *t, uint32_t i)
{
    gbx_node_kind kind = gbx_tree_kind(t, i);

    return kind == GBX_NODE_COMMENT || kind == GBX_NODE_HTML_COMMENT;
}

bool gbx_tree_is_callable(const gbx_tree *t, uint32_t i)
{
    gbx_node_kind kind = gbx_tree_kind(t, i);

    return kind == GBX_NODE_ARROW || kind == GBX_NODE_FUNCTION ||
           kind == GBX_NODE_FUNCTION_DECLARATION;
}

bool gbx_tree_is_generator(const gbx_tree *t, uint32_t i)
{
    gbx_node_kind kind = gbx_tree_kind(t, i);

    return kind == GBX_NODE_GENERATOR || kind == GBX_NODE_GENERATOR_DECLARATION;
}

uint32_t gbx_tree_unwrap(const gbx_tree *t, uint32_t i)
{
    while (gbx_tree_kind(t, i) == GBX_NODE_EXPRESSION_STATEMENT ||
           gbx_tree_kind(t, i) == GBX_NODE_PARENTHESIZED)
        i = gbx_tree_inner(t, i);
    return i;
}

uint32_t gbx_tree_outer(const gbx_tree *t, uint32_t i)
{
    while (gbx_tree_kind(t, t->nodes[i].parent) == GBX_NODE_PARENTHESIZED)
        i = t->nodes[i].parent;
    return i;
}

bool gbx_tree_is_function(const gbx_tree *t, uint32_t i)
{
    return gbx_tree_is_callable(t, i) || gbx_tree_is_generator(t, i) ||
           gbx_tree_kind(t, i) == GBX_NODE_METHOD;
}

bool gbx_tree_is_async(const gbx_tree *t, uint32_t i)
{
    return gbx_tree_token(t, i, "async") != GBX_NO_NODE;
}

/* Each question about leaves needs a few neighbours or one walk backwards. */

#define OPENER_MAX 1000 /* leaves to walk back for an opener */
#define TYPE_MAX   200  /* bytes of a type that are examined */
#define TYPE_WORDS                                                                      \
    "string number boolean any unknown void never object null undefined bigint symbol " \
    "typeof keyof readonly this"
#define DECLARING_WORDS "type interface enum namespace declare abstract module"
#define MODIFIERS       "private public protected readonly override abstract declare"
#define RESERVED        "interface enum implements private public protected package"

static uint32_t gbx_leaf_after(const gbx_leaves *l, uint32_t k)
{
    return k < l->count && k + 1 < l->count ? k + 1 : GBX_NO_LEAF;
}

/* True if the ':' at k annotates: a parameter, a variable, a result, a class field. */
static bool is_annotation(const gbx_leaves *l, uint32_t k)
{
    uint32_t before = gbx_leaf_before(l, k);
    uint32_t after = gbx_leaf_after(l, k);
    uint32_t opener;
    char first;

    if (gbx_leaf_is(l, before, "?"))
        return gbx_leaf_is_name(l, gbx_leaf_before(l, before));
    if (after == GBX_NO_LEAF)
        return false;
    /* A type begins with a type's word, a capital, or a bracket. */
    first = l->t->text[l->t->nodes[l->nodes[after]].start];
    if (!gbx_leaf_is_one_of(l, after, TYPE_WORDS) &&
        !gbx_leaf_is_one_of(l, after, "{ [ (") && (first < 'A' || first > 'Z'))
        return false;
    if (gbx_leaf_is(l, before, ")") ||
        gbx_leaf_is_one_of(l, gbx_leaf_before(l, before), "const let var"))
        return true;
    opener = gbx_leaf_opener(l, k);
    if (gbx_leaf_is(l, opener, "("))
        return gbx_leaf_is_name(l, before) || gbx_leaf_is_one_of(l, before, "] }");
    return gbx_leaf_is(l, opener, "{") && opener > 1 &&
           (gbx_leaf_is(l, opener - 2, "class") ||
            gbx_leaf_is(l, opener - 2, "extends"));
}

/*
 * True if the '<' at k begins type arguments or a type assertion: up to its '>' come
 * only names and tokens that join types, and after it something that has a type.
 */
static bool is_generic(const gbx_leaves *l, uint32_t k)
{
    const char *text = l->t->text;
    size_t i = l->t->nodes[l->nodes[k]].start + 1;
    size_t end = l->t->len < i + TYPE_MAX ? l->t->len : i + TYPE_MAX;
    size_t start = i;

    while (i < end && (gbx_text_is_name((unsigned char)text[i]) ||
                       (text[i] != '\0' && strchr(" ,.[]|&<", text[i]) != NULL) ||
                       (text[i] == '>' && i + 1 < end && strchr(">,[", text[i + 1]))))
        i++;
    if (i == start || i >= end || text[i] != '>')
        return false;
    for (i++; i < end && text[i] == ' '; i++)
        continue;
    return i < end && text[i] != '<' &&
           (gbx_text_is_name((unsigned char)text[i]) || strchr("({[", text[i]) != NULL);
}

void gbx_leaves_init(gbx_leaves *l, const gbx_tree *t)
{
    *l =
        (gbx_leaves){.t = t, .nodes = gbx_arena_calloc(t->count + 1, sizeof *l->nodes)};
    for (uint32_t i = 0; i < t->count;) {
        const gbx_node *n = &t->nodes[i];
        bool is_leaf =
            n->kind == GBX_NODE_STRING || n->kind == GBX_NODE_REGEX || n->next == i + 1;

        if (is_leaf && !n->missing && n->end > n->start && !gbx_tree_is_comment(t, i))
            l->nodes[l->count++] = i;
        i = is_leaf ? n->next : i + 1;
    }
}

size_t gbx_leaf_start(const gbx_leaves *l, uint32_t k)
{
    return l->t->nodes[l->nodes[k]].start;
}

void gbx_leaves_between(const gbx_leaves *l, size_t start, size_t end,
                        uint32_t *ret_first, uint32_t *ret_end)
{
    uint32_t k = 0;

    while (k < l->count && gbx_leaf_start(l, k) < start)
        k++;
    *ret_first = k;
    while (k < l->count && gbx_leaf_start(l, k) < end)
        k++;
    *ret_end = k;
}

bool gbx_leaf_is(const gbx_leaves *l, uint32_t k, const char *text)
{
    return k < l->count && gbx_tree_is(l->t, l->nodes[k], text);
}

bool gbx_leaf_is_one_of(const gbx_leaves *l, uint32_t k, const char *words)
{
    const gbx_node *n;

    if (k >= l->count)
        return false;
    n = &l->t->nodes[l->nodes[k]];
    return gbx_text_is_listed(words, l->t->text + n->start, n->end - n->start);
}

bool gbx_leaf_is_name(const gbx_leaves *l, uint32_t k)
{
    if (k >= l->count)
        return false;
    switch (l->t->nodes[l->nodes[k]].kind) {
    case GBX_NODE_IDENTIFIER:
    case GBX_NODE_PROPERTY_NAME:
    case GBX_NODE_SHORTHAND:
    case GBX_NODE_SHORTHAND_PATTERN: return true;
    default:
        return gbx_leaf_is_one_of(l, k, "this undefined null async get set let of");
    }
}

uint32_t gbx_leaf_before(const gbx_leaves *l, uint32_t k)
{
    return k < l->count && k > 0 ? k - 1 : GBX_NO_LEAF;
}

uint32_t gbx_leaf_opener(const gbx_leaves *l, uint32_t k)
{
    uint32_t depth = 0;
    uint32_t first = k > OPENER_MAX ? k - OPENER_MAX : 0;

    while (k < l->count && k > first) {
        k--;
        if (gbx_leaf_is_one_of(l, k, ") ] }"))
            depth++;
        else if (gbx_leaf_is_one_of(l, k, "( [ { ${") && depth-- == 0)
            return k;
    }
    return GBX_NO_LEAF;
}

bool gbx_leaf_is_suspect(const gbx_leaves *l, uint32_t k)
{
    const gbx_node *nodes = l->t->nodes;
    uint32_t i;

    if (k >= l->count)
        return false;
    i = l->nodes[k];
    if (nodes[i].parent != GBX_NO_NODE && nodes[nodes[i].parent].kind == GBX_NODE_ERROR)
        return true;
    /* Missing nodes have no bytes: they are between this leaf and the one before. */
    for (uint32_t m = k > 0 ? l->nodes[k - 1] : 0; m < i; m++)
        if (nodes[m].missing || nodes[m].kind == GBX_NODE_ERROR)
            return true;
    return k > 0 && nodes[l->nodes[k - 1]].parent != GBX_NO_NODE &&
           nodes[nodes[l->nodes[k - 1]].parent].kind == GBX_NODE_ERROR;
}

bool gbx_leaf_is_typescript(const gbx_leaves *l, uint32_t k)
{
    uint32_t before = gbx_leaf_before(l, k);

    if (gbx_leaf_is(l, k, ":"))
        return is_annotation(l, k);
    if (gbx_leaf_is_one_of(l, k, "as satisfies") && before != GBX_NO_LEAF)
        return true;
    if (gbx_leaf_is_one_of(l, k, RESERVED))
        return true;
    if (gbx_leaf_is(l, k, "!"))
        return gbx_leaf_is_name(l, before) || gbx_leaf_is_one_of(l, before, ") ]");
    if (gbx_leaf_is(l, k, "?"))
        return gbx_leaf_is_name(l, before) &&
               gbx_leaf_is_one_of(l, gbx_leaf_after(l, k), ": ) ,");
    if (gbx_leaf_is(l, k, "<"))
        return is_generic(l, k);
    return (gbx_leaf_is_name(l, k) ||
            gbx_leaf_is_one_of(l, k, "const class function { async")) &&
           (gbx_leaf_is_one_of(l, before, DECLARING_WORDS) ||
            gbx_leaf_is_one_of(l, before, MODIFIERS));
}

/* ---- the region of the code ---------------------------------------------------- */

/* Computes offsets; nothing is copied or moved. */

#define FENCE_MIN 3

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static gbx_region trim(const char *text, size_t start, size_t end)
{
    while (start < end && is_blank(text[start]))
        start++;
    while (end > start && is_blank(text[end - 1]))
        end--;
    return (gbx_region){start, end};
}

/* Length of the run of fence characters at `at`, or 0 if it is too short for a
 * fence. */
static size_t fence_run(const char *text, size_t at, size_t end)
{
    size_t n = 0;

    if (at < end && (text[at] == '`' || text[at] == '~'))
        while (at + n < end && text[at + n] == text[at])
            n++;
    return n >= FENCE_MIN ? n : 0;
}

/*
 * The rest of the opening line must be empty, or a language with what Markdown
 * renderers also accept (ts title="run.ts"). Otherwise it is not a fence but, for
 * example, a template literal.
 */
static bool skip_info(const char *text, size_t *at, size_t end)
{
    const char *eol = memchr(text + *at, '\n', end - *at);
    size_t i = *at;

    if (eol == NULL || memchr(text + i, '`', (size_t)(eol - text) - i) != NULL)
        return false;
    *at = (size_t)(eol - text);
    while (i < *at && strchr(" \t\r", text[i]) != NULL)
        i++;
    return i == *at || (gbx_text_is_name((unsigned char)text[i]) &&
                        (text[i] < '0' || text[i] > '9'));
}

bool gbx_text_is_name(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '$' || c >= 0x80;
}

size_t gbx_text_name_length(const char *text)
{
    size_t n = 0;

    while (gbx_text_is_name((unsigned char)text[n]))
        n++;
    return n;
}

/* Where the code in a fence ends; `at` if text follows the fence. The fence may lack
 * its end, or have it at the end of the last line of code. */
static size_t fenced_end(const char *text, size_t at, size_t end, char mark, size_t run)
{
    size_t last = end;
    size_t other;
    gbx_region r;

    while (last > at && text[last - 1] != '\n')
        last--;
    r = trim(text, last, end);
    if (last > at && r.end - r.start >= run && r.start < r.end &&
        text[r.start] == mark && fence_run(text, r.start, r.end) == r.end - r.start)
        return last;
    if (gbx_text_find_fence(text, at, end, &other))
        return at;
    for (last = end; last > at && text[last - 1] == mark; last--)
        continue;
    return end - last >= run ? last : end;
}

gbx_region gbx_text_region(const char *text, size_t len)
{
    gbx_region r;
    size_t run, at, end;

    at = len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    r = trim(text, at, len);
    run = fence_run(text, r.start, r.end);
    at = r.start + run;
    if (run == 0 || !skip_info(text, &at, r.end))
        return r;
    end = fenced_end(text, at, r.end, text[r.start], run);
    return end > at ? trim(text, at, end) : r;
}

bool gbx_text_find_fence(const char *text, size_t from, size_t end, size_t *ret_at)
{
    size_t line = from;

    while (line < end) {
        size_t at = line;
        const char *eol = memchr(text + line, '\n', end - line);

        while (at < end && (text[at] == ' ' || text[at] == '\t'))
            at++;
        if (fence_run(text, at, end) != 0) {
            *ret_at = at;
            return true;
        }
        if (eol == NULL)
            break;
        line = (size_t)(eol - text) + 1;
    }
    return false;
}

/* ---- faults that the tree shows ------------------------------------------------- */

#define NO_BRACKET SIZE_MAX

/* The index in pairs of the token i, by its last byte ("${" is a '{'). */
static size_t bracket_at(const gbx_tree *t, uint32_t i, const char *pairs)
{
    const gbx_node *n = &t->nodes[i];
    const char *at;

    if (n->kind != GBX_NODE_TOKEN || n->missing || n->end == n->start)
        return NO_BRACKET;
    if (n->end - n->start > 1 && !gbx_tree_is(t, i, "${"))
        return NO_BRACKET;
    at = strchr(pairs, t->text[n->end - 1]);
    return at == NULL ? NO_BRACKET : (size_t)(at - pairs);
}

uint32_t gbx_tree_unpaired(const gbx_tree *t, bool *ret_is_open)
{
    static const char pairs[] = "()[]{}";
    uint32_t *open = gbx_arena_calloc(t->count + 1, sizeof *open);
    uint32_t open_of[3] = {0}; /* how many of each kind */
    uint32_t depth = 0;

    for (uint32_t i = 0; i < t->count; i++) {
        size_t which = bracket_at(t, i, pairs);

        if (which == NO_BRACKET)
            continue;
        if (which % 2 == 0) {
            open[depth++] = i;
            open_of[which / 2]++;
            continue;
        }
        *ret_is_open = open_of[which / 2] > 0;
        if (!*ret_is_open)
            return i;
        depth--;
        if (t->text[t->nodes[open[depth]].end - 1] != pairs[which - 1])
            return open[depth];
        open_of[which / 2]--;
    }
    *ret_is_open = true;
    return depth > 0 ? open[depth - 1] : GBX_NO_NODE;
}

size_t gbx_tree_first_error(const gbx_tree *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->nodes[i].kind == GBX_NODE_ERROR || t->nodes[i].missing)
            return t->nodes[i].start;
    return t->len;
}

bool gbx_tree_is_open_string(const gbx_tree *t, uint32_t i)
{
    const gbx_node *n = &t->nodes[i];
    const char *text = t->text + n->start;
    size_t len = n->end - n->start;

    if (n->kind != GBX_NODE_STRING)
        return false;
    if (len < 2 || text[0] != text[len - 1])
        return true;
    for (size_t at = 1; at < len; at++) { /* the grammar misses a new line in a
                                             string */
        if (text[at] == '\\' && at + 1 < len)
            at += gbx_lines_end(text + at + 1, len - at - 1) == 2 ? 2 : 1;
        else if (text[at] == '\n' || text[at] == '\r')
            return true;
    }
    return false;
}

static bool is_quoted(const gbx_tree *t, uint32_t i)
{
    switch ((unsigned)t->nodes[i].kind) {
    case GBX_NODE_STRING:
    case GBX_NODE_STRING_FRAGMENT: /* of a template */
    case GBX_NODE_REGEX:
    case GBX_NODE_COMMENT:
    case GBX_NODE_HTML_COMMENT: return true;
    default: /* an escape of a template */
        return t->nodes[i].parent != GBX_NO_NODE &&
               t->nodes[t->nodes[i].parent].kind == GBX_NODE_TEMPLATE &&
               t->text[t->nodes[i].start] == '\\';
    }
}

size_t gbx_tree_find_bare(const gbx_tree *t, char c, size_t from)
{
    const char *found = NULL;

    for (uint32_t i = 0; i < t->count && found == NULL; i++) {
        const gbx_node *n = &t->nodes[i];

        if (n->end <= from || !is_quoted(t, i))
            continue;
        if (n->start > from)
            found = memchr(t->text + from, c, n->start - from);
        from = n->end;
    }
    if (found == NULL && from < t->len)
        found = memchr(t->text + from, c, t->len - from);
    return found != NULL ? (size_t)(found - t->text) : t->len;
}

void gbx_text_blank(char *to, size_t start, size_t end)
{
    static const char *const blanks[] = {" ", "\xC2\xA0", "\xE2\x80\x83",
                                         "\xC2\xA0\xC2\xA0"};

    while (start < end) {
        size_t n = gbx_utf8_sequence((const uint8_t *)to + start, end - start);
        bool is_break = to[start] == '\n' || to[start] == '\r' ||
                        (n == 3 && (memcmp(to + start, "\xE2\x80\xA8", 3) == 0 ||
                                    memcmp(to + start, "\xE2\x80\xA9", 3) == 0));

        if (n == 0)
            n = 1;
        if (!is_break)
            memcpy(to + start, blanks[n - 1], n);
        start += n;
    }
}

bool gbx_text_quoted(const char *text, const char *part, const char *open,
                     const char *close, const char **ret_text, size_t *ret_len)
{
    const char *at = strstr(text, part);
    const char *end;

    at = at == NULL ? NULL : strstr(at + strlen(part), open);
    if (at == NULL)
        return false;
    at += strlen(open);
    end = strstr(at, close);
    if (end == at && end[0] != '\0') /* a quoted quote */
        end = strstr(at + 1, close);
    if (end == NULL || end == at)
        return false;
    *ret_text = at;
    *ret_len = (size_t)(end - at);
    return true;
}
