/* SPDX-License-Identifier: MIT */
/* explain - the only file that converts between positions in the caller's text and in
 * the tree. */
#include "analysis/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <string.h>

#define WORK_MAX ((size_t)20 * 1000 * 1000) /* some 100 ms */

struct question {
    const char *text;
    size_t len;
    gbx_region region;
    gbx_form form;
    gbx_ending ending;
    const char *message;
    const gbx_given *given;
    gbx_explanation *explanation;
};

static size_t column_offset(const char *text, size_t start, size_t end, uint32_t column)
{
    size_t at = start;

    for (uint32_t unit = 1; unit < column && at < end; unit++) {
        size_t step = gbx_utf8_sequence((const uint8_t *)text + at, end - at);

        unit += step == 4;
        at += step == 0 ? 1 : step;
    }
    return at;
}

/* An offset in the text, within the region that was parsed. */
static size_t into_region(gbx_region region, size_t offset)
{
    if (offset < region.start)
        return 0;
    return (offset > region.end ? region.end : offset) - region.start;
}

static void locate(gbx_case *c, const struct question *q)
{
    const gbx_explanation *e = q->explanation;
    size_t start = 0;
    size_t end = q->len;

    c->offset = GBX_NO_OFFSET;
    if (e->line != 0)
        (void)gbx_lines_find(q->text, q->len, e->line, &start, &end);
    if (e->line != 0 && e->column != 0)
        c->offset =
            into_region(q->region, column_offset(q->text, start, end, e->column));
    c->past_end = e->line != 0 && end >= q->region.end;
    c->line_start = into_region(q->region, start);
    c->line_end = into_region(q->region, end);
}

/* ---- a promise of a tool's call -------------------------------------------------- */

/* Did code use the promise of a call instead of its value? The engine's message then says
 * that something of a promise is missing; the tree shows which call that promise came
 * from, and that no await precedes it. */

struct search {
    const gbx_case *c;
    const char *used; /* the expression that failed, as the engine quotes it */
    size_t used_len;
    bool is_root;   /* it begins with the wrong value; else that is inside it */
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

/* ---- the tree -------------------------------------------------------------------- */

/* servers.NAME.tool(...), servers["NAME"].call(...), discover(...), artifact(...) */
static bool is_of_host(const gbx_tree *t, uint32_t call)
{
    uint32_t at = gbx_tree_child(t, call, GBX_FIELD_FUNCTION);
    unsigned depth = 0;

    while (at != GBX_NO_NODE && (t->nodes[at].kind == GBX_NODE_MEMBER ||
                                 t->nodes[at].kind == GBX_NODE_SUBSCRIPT)) {
        at = gbx_tree_child(t, at, GBX_FIELD_OBJECT);
        depth++;
    }
    if (depth == 0)
        return gbx_tree_is(t, at, "discover") || gbx_tree_is(t, at, "artifact");
    return depth >= 2 && gbx_tree_is(t, at, "servers");
}

/* The node that uses the value of node i; parentheses are skipped. */
static uint32_t taker_of(const gbx_tree *t, uint32_t *i)
{
    uint32_t up = t->nodes[*i].parent;

    while (up != GBX_NO_NODE && t->nodes[up].kind == GBX_NODE_PARENTHESIZED) {
        *i = up;
        up = t->nodes[up].parent;
    }
    return up;
}

/* list.map((item) => CALL): the call of map, which gives a list of promises. */
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

/* Did the value of node i cause the failure? i is a promise, or a list of them. */
static bool is_culprit(const struct search *s, uint32_t i)
{
    const gbx_tree *t = &s->c->tree;
    uint32_t by = taker_of(t, &i);
    bool is_itself = is_used(s, "servers", 7) || is_used(s, "discover", 8);
    uint32_t property;

    if (by == GBX_NO_NODE)
        return false;
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

/* ---- the message ----------------------------------------------------------------- */

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

/* message: without the error's name. */
static void explain_unawaited(const gbx_case *c, const char *message,
                              const struct question *q)
{
    const gbx_tree *t = &c->tree;
    struct search s = {.c = c};

    if (message == NULL || q->explanation->line == 0 || !read_message(message, &s))
        return;
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t callee = gbx_tree_child(t, i, GBX_FIELD_FUNCTION);
        uint32_t value = i;
        uint32_t by;
        bool is_list;

        if (t->nodes[i].kind != GBX_NODE_CALL || !is_of_host(t, i))
            continue;
        by = taker_of(t, &value);
        is_list = by != GBX_NO_NODE && t->nodes[by].kind == GBX_NODE_ARROW;
        if (is_list)
            value = mapped(t, by);
        if (value == GBX_NO_NODE || !is_culprit(&s, value))
            continue;
        q->explanation->hint = is_list ? GBX_HINT_UNAWAITED_LIST : GBX_HINT_UNAWAITED;
        q->explanation->start = (uint32_t)(q->region.start + t->nodes[callee].start);
        q->explanation->end = (uint32_t)(q->region.start + t->nodes[callee].end);
        return;
    }
}

/* A promise that was used as a value fails as one of these. */
static const char *without_name(const char *message)
{
    static const char *const names[] = {"TypeError: ", "SyntaxError: "};

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (strncmp(message, names[i], strlen(names[i])) == 0)
            return message + strlen(names[i]);
    return NULL;
}

static void answer(void *user)
{
    struct question *q = user;
    gbx_case c = {.form = q->form,
                  .message = q->message,
                  .given = q->given,
                  .work = WORK_MAX,
                  .at = GBX_NO_OFFSET};

    if (!gbx_tree_parse(&c.tree, q->text + q->region.start,
                        q->region.end - q->region.start))
        return;
    gbx_tree_flatten(&c.tree);
    gbx_leaves_init(&c.leaves, &c.tree);
    locate(&c, q);
    if (q->ending == GBX_ENDING_SYNTAX) {
        gbx_explain_syntax(&c);
    } else if (q->ending == GBX_ENDING_NOTHING) {
        gbx_explain_nothing(&c);
    } else {
        gbx_explain_runtime(&c);
        gbx_explain_given(&c);
    }
    q->explanation->hint = c.hint;
    q->explanation->start = (uint32_t)(q->region.start + c.named_start);
    q->explanation->end = (uint32_t)(q->region.start + c.named_end);
    if (q->ending == GBX_ENDING_THROWN)
        explain_unawaited(&c, without_name(q->message), q);
    if (c.at != GBX_NO_OFFSET)
        gbx_lines_place(q->text, q->len, q->region.start + c.at, &q->explanation->line,
                        &q->explanation->column);
}

/* ---- public to the worker ------------------------------------------------------- */

/* A place past the code that the engine reports means the code's end. */
static void clamp(const struct question *q)
{
    uint32_t last_line, last_column;

    gbx_lines_place(q->text, q->len, q->region.end, &last_line, &last_column);
    if (q->explanation->line > last_line) {
        q->explanation->line = last_line;
        q->explanation->column = last_column;
    }
}

void gbx_explain(const char *code, size_t len, gbx_form form, gbx_ending ending,
                 const char *message, const gbx_given *given,
                 gbx_explanation *explanation)
{
    struct question q = {.text = code,
                         .len = len,
                         .form = form,
                         .ending = ending,
                         .message = message != NULL ? message : "",
                         .given = given,
                         .explanation = explanation};
    gbx_time_budget budget = {.left_ns = GBX_ANALYSIS_NS, .is_wall = true};

    explanation->hint = GBX_HINT_NONE;
    explanation->start = explanation->end = 0;
    if (code == NULL || len == 0)
        return;
    q.region = gbx_text_region(code, len);
    gbx_time_budget_begin(&budget);
    if (gbx_utf8_valid((const uint8_t *)code, len, NULL))
        (void)gbx_arena_run(GBX_ANALYSIS_ARENA(len), answer, &q);
    clamp(&q);
    gbx_time_budget_end(&budget);
}
