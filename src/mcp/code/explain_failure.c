/* SPDX-License-Identifier: MIT */
/*
 * explain_failure - parse the code to find what an error means: by the guard, and here
 * whether code used a call's promise instead of its value. The engine's message then says
 * that something of a promise is missing; the tree shows which call that promise came
 * from, and that no await precedes it.
 */
#include "mcp/code/script_run.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "guard/arena.h"
#include "guard/guard.h"
#include "guard/tree.h"

#include <string.h>

#define ARENA_BASE     GBX_MIB(16)
#define ARENA_PER_BYTE 160

struct search {
    const char *text; /* only the region of code */
    size_t len;
    const char *used; /* the expression that failed, as the engine quotes it */
    size_t used_len;
    bool is_root;      /* it begins with the wrong value; else that is inside it */
    bool is_parsed;    /* JSON.parse() got something that is not text */
    size_t line_start; /* of the line that failed */
    size_t line_end;
    gbx_unawaited found;
    bool is_found;
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

static bool binds(const struct search *s, const gbx_tree *t, uint32_t pattern)
{
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
    return node->end > s->line_start && node->start < s->line_end;
}

/* Did the value of node i cause the failure? i is a promise, or a list of them. */
static bool is_culprit(const struct search *s, const gbx_tree *t, uint32_t i)
{
    uint32_t by = taker_of(t, &i);
    bool is_itself = is_used(s, "servers", 7) || is_used(s, "discover", 8);
    uint32_t property;

    if (by == GBX_NO_NODE)
        return false;
    switch ((unsigned)t->nodes[by].kind) {
    case GBX_NODE_DECLARATOR: return binds(s, t, gbx_tree_child(t, by, GBX_FIELD_NAME));
    case GBX_NODE_ASSIGNMENT: return binds(s, t, gbx_tree_child(t, by, GBX_FIELD_LEFT));
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

static void look(void *user)
{
    struct search *s = user;
    gbx_tree t;

    if (s->len == 0 || !gbx_tree_parse(&t, s->text, s->len))
        return;
    gbx_tree_flatten(&t);
    for (uint32_t i = 0; i < t.count && !s->is_found; i++) {
        uint32_t callee = gbx_tree_child(&t, i, GBX_FIELD_FUNCTION);
        uint32_t value = i;
        uint32_t by;

        if (t.nodes[i].kind != GBX_NODE_CALL || !is_of_host(&t, i))
            continue;
        by = taker_of(&t, &value);
        s->found.is_list = by != GBX_NO_NODE && t.nodes[by].kind == GBX_NODE_ARROW;
        if (s->found.is_list)
            value = mapped(&t, by);
        s->found.start = t.nodes[callee].start;
        s->found.end = t.nodes[callee].end;
        s->is_found = value != GBX_NO_NODE && is_culprit(s, &t, value);
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
        if (s->is_root && at != NULL && at == s->used + gbx_code_name_length(s->used))
            s->used = at + 4;
        s->used_len = strlen(s->used);
        return true;
    }
    s->used = s->text + s->line_start;
    s->used_len = s->line_end - s->line_start;
    s->is_parsed = strstr(message, "Unexpected identifier \"object\"") != NULL;
    return s->is_parsed || strstr(message, "Spread syntax requires") != NULL;
}

static void find_line(const char *text, gbx_region region, uint32_t line,
                      struct search *s)
{
    size_t start = 0;
    const char *eol = NULL;

    for (uint32_t n = 1; n <= line && start < region.end; n++) {
        if (n > 1)
            start = eol == NULL ? region.end : (size_t)(eol - text) + 1;
        eol =
            start < region.end ? memchr(text + start, '\n', region.end - start) : NULL;
    }
    s->line_start = start > region.start ? start - region.start : 0;
    s->line_end = (eol != NULL ? (size_t)(eol - text) : region.end);
    s->line_end = s->line_end > region.start ? s->line_end - region.start : 0;
    if (s->line_start > s->line_end)
        s->line_start = s->line_end;
}

/* text: JavaScript; message and line: of the error, as the engine words it. False if the
 * error is not recognised. */
static bool find_unawaited(const char *text, size_t len, const char *message,
                           uint32_t line, gbx_unawaited *ret)
{
    gbx_region region = gbx_text_region(text, len);
    struct search s = {.text = text + region.start, .len = region.end - region.start};
    uint32_t column;

    find_line(text, region, line, &s);
    if (line == 0 || !gbx_utf8_valid((const uint8_t *)text, len, NULL) ||
        !read_message(message, &s) ||
        gbx_arena_run(ARENA_BASE + ARENA_PER_BYTE * len, look, &s) != GBX_ARENA_DONE ||
        !s.is_found)
        return false;
    *ret = s.found;
    ret->start += region.start;
    ret->end += region.start;
    gbx_utf8_position(text, len, ret->start, &ret->line, &column);
    return true;
}

/* The message after the name of an error that a promise used as a value can cause, or
 * NULL. */
static const char *doubtful(const char *error)
{
    static const char *const names[] = {"TypeError: ", "SyntaxError: "};

    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        if (strncmp(error, names[i], strlen(names[i])) == 0)
            return error + strlen(names[i]);
    return NULL;
}

void gbx_code_explain(const gbx_script *script, const gbx_result *result,
                      gbx_run_meaning *ret)
{
    const char *error = gbx_result_error(result);
    const char *message = doubtful(error);
    gbx_location at = gbx_result_location(result);

    *ret = (gbx_run_meaning){.advice = {.line = at.line, .column = at.column}};
    gbx_guard_explain(script->code, script->code_len, GBX_FORM_SCRIPT,
                      gbx_result_code(result), error, &ret->advice);
    at.line = ret->advice.line;
    at.column = ret->advice.column;
    gbx_script_map(script, &at.line, &at.column);
    ret->is_unawaited =
        message != NULL && find_unawaited(script->code, script->code_len, message,
                                          at.line, &ret->unawaited);
}
