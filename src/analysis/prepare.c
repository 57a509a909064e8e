/* SPDX-License-Identifier: MIT */
/*
 * prepare - parse as TypeScript, a superset of JavaScript; remove the types; find the
 * statement with the value; insert what makes it the value of the script.
 *
 * By the JavaScript grammar alone, f<T>(x) would be two comparisons: code valid in both
 * languages means what TypeScript says. Code valid in neither goes to the engine
 * without what looks like types, so that the engine reports the error and not the first
 * type. A syntax error at its end keeps such code from running.
 */
#include "analysis/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <stdlib.h>
#include <string.h>

/* ---- the script ------------------------------------------------------------- */

#define RETURN "return "
#define KEPT   "$default"
#define KEEP   "var " KEPT " = "
#define BROKEN "\nvoid" /* a syntax error for the engine: unexpected end */

struct work {
    const char *arguments; /* for the functions that are called */
    char *text;            /* the source; only `#!` is replaced */
    char *copy;            /* the source without types, of the same length */
    char *spare;           /* room for the text and RETURN */
    size_t len;
    gbx_region region;
    gbx_entry_point shape;
    gbx_types_fault fault;
    gbx_form form;
    size_t indent;  /* blanks before the code on its first line */
    bool is_broken; /* valid in neither language; what looked like types is blank */
};

/* t: flat. Find a backslash that results from escaping once too often. Code that parses
 * has none. */
static void find_escape(struct work *w, const gbx_tree *t)
{
    size_t at = gbx_tree_find_bare(t, '\\', 0);

    while (at + 1 < t->len && strchr("nrt\"'`", t->text[at + 1]) == NULL)
        at = gbx_tree_find_bare(t, '\\', at + 1);
    if (at + 1 < t->len && w->fault.hint == GBX_HINT_NONE)
        w->fault = (gbx_types_fault){strchr("nrt", t->text[at + 1]) != NULL
                                         ? GBX_HINT_ESCAPED_BREAK
                                         : GBX_HINT_ESCAPED_QUOTE,
                                     at};
}

bool gbx_may_be_generic(const char *text, size_t len)
{
    const char *end = text + len;
    const char *open = memchr(text, '<', len);

    for (const char *at = open; at != NULL && at < end;
         at = memchr(at + 1, '>', (size_t)(end - at - 1))) {
        const char *next = at + 1;

        if (*at != '>' || at[-1] == '=')
            continue;
        while (next < end && *next == ' ')
            next++;
        if (next < end && (*next == '(' || *next == '`'))
            return true;
    }
    return false;
}

static bool is_javascript(gbx_tree *t, const char *text, size_t len)
{
    return gbx_tree_parse(t, text, len) && !t->has_error;
}

/* Blank the types, and parse what is left. False: the time is up. */
static bool take_types(struct work *w, size_t len, gbx_tree *t)
{
    const char *text = w->text + w->region.start;
    char *copy = w->copy + w->region.start;

    if (!gbx_may_be_generic(text, len) && is_javascript(t, text, len))
        return true;
    if (!gbx_types_take(text, len, copy, &w->fault)) {
        if (is_javascript(t, text, len)) {
            memcpy(copy, text, len);
            w->fault = (gbx_types_fault){GBX_HINT_NONE, 0};
            return true;
        }
        w->is_broken = memcmp(copy, text, len) != 0;
    }
    return gbx_tree_parse(t, copy, len);
}

/* True if no statement that runs begins after `at`. */
static bool is_last(gbx_tree *t, size_t at)
{
    gbx_tree_flatten(t);
    for (uint32_t i = 1; i < t->count; i = t->nodes[i].next)
        if (t->nodes[i].start > at && t->nodes[i].kind != GBX_NODE_COMMENT &&
            t->nodes[i].kind != GBX_NODE_EMPTY &&
            t->nodes[i].kind != GBX_NODE_FUNCTION_DECLARATION)
            return false;
    return true;
}

/* True if there is a '{' at `at` that opens a line, indented like the first line. */
static bool opens_line(const struct work *w, size_t at)
{
    const char *first = w->text + w->region.start;
    const char *brace = first + at;
    size_t blanks = 0;

    while (at > blanks && strchr(" \t", brace[-1 - (ptrdiff_t)blanks]) != NULL)
        blanks++;
    return *brace == '{' && (at == 0 || (blanks == w->indent && at > blanks &&
                                         brace[-1 - (ptrdiff_t)blanks] == '\n'));
}

/* A final `{ total, n: 2 }` is not a block; returned, it is an object. */
static void find_object(struct work *w, size_t len)
{
    const char *code = w->text + w->region.start;
    char *copy = w->copy + w->region.start;
    size_t word = sizeof RETURN - 1;
    char *taken = gbx_arena_calloc(len + word, 1);
    gbx_types_fault fault;
    size_t at = len;
    gbx_tree t;

    while (at > 0 && !opens_line(w, at - 1))
        at--;
    if (at-- == 0)
        return;
    memcpy(w->spare, code, at);
    memcpy(w->spare + at, RETURN, word);
    memcpy(w->spare + at + word, code + at, len - at);
    memcpy(taken, w->spare, len + word);
    if (!gbx_types_take(w->spare, len + word, taken, &fault))
        memcpy(taken, w->spare, len + word);
    if (fault.hint != GBX_HINT_NONE || !gbx_tree_parse(&t, taken, len + word) ||
        t.has_error || !is_last(&t, at))
        return;
    memcpy(copy, taken, at);
    memcpy(copy + at, taken + at + word, len - at);
    w->is_broken = false;
    w->shape.returns[0] = at;
    w->shape.return_count = 1;
}

static void look(void *user)
{
    struct work *w = user;
    size_t len = w->region.end - w->region.start;
    uint32_t bracket = GBX_NO_NODE;
    bool is_open = false;
    gbx_tree t;

    if (!take_types(w, len, &t))
        return;
    gbx_tree_flatten(&t);
    if (t.has_error)
        find_escape(w, &t);
    if (gbx_exports_take(&t, w->copy + w->region.start)) {
        if (!gbx_tree_parse(&t, w->copy + w->region.start, len))
            return;
        gbx_tree_flatten(&t);
    }
    gbx_entry_point_find(&t, w->copy + w->region.start, &w->shape);
    if (t.has_error && w->form == GBX_FORM_SCRIPT)
        find_object(w, len);
    if (!w->is_broken || w->fault.hint != GBX_HINT_NONE)
        return;
    /* Find what the engine would not report: empty code, or a bracket that closes the
     * function which the engine puts around the code. */
    if (t.has_error)
        bracket = gbx_tree_unpaired(&t, &is_open);
    if (t.has_error && (bracket == GBX_NO_NODE || is_open ||
                        t.nodes[bracket].start > gbx_tree_first_error(&t)))
        return;
    w->fault.hint = GBX_HINT_UNREADABLE;
    if (t.has_error && t.nodes[bracket].start <= w->fault.offset)
        w->fault = (gbx_types_fault){GBX_HINT_CLOSES_NOTHING, t.nodes[bracket].start};
}

/* ---- what is compiled --------------------------------------------------------- */

struct composition {
    gbx_buf to;
    size_t inserts[GBX_INSERTS_MAX]; /* their offsets */
    gbx_prepared_code *made;
};

static void insert(struct composition *c, const char *text)
{
    c->inserts[c->made->insert_count] = c->to.len;
    c->made->inserts[c->made->insert_count++].units = (uint32_t)strlen(text);
    gbx_buf_puts(&c->to, text);
}

/* In form function the host calls what the module exports. */
static void put_call(const struct work *w, gbx_buf *to)
{
    if (w->form == GBX_FORM_FUNCTION)
        gbx_buf_puts(to, ";");
    else
        gbx_buf_printf(to, "(%s);", w->arguments);
}

/* The text with its insertions; region.start is added to offsets of the shape. */
static void compose(const struct work *w, struct composition *c)
{
    const gbx_entry_point *shape = &w->shape;
    gbx_buf *to = &c->to;
    size_t base = w->region.start;
    size_t at = 0;

    for (size_t i = 0; i < shape->return_count; i++) {
        gbx_buf_append(to, w->copy + at, base + shape->returns[i] - at);
        insert(c, RETURN);
        at = base + shape->returns[i];
    }
    if (shape->calls_expression) {
        gbx_buf_append(to, w->copy, base + shape->start);
        /* keep the line before from continuing here */
        insert(c, shape->is_async || w->form == GBX_FORM_FUNCTION ? ";return (" : ";(");
        at = base + shape->start;
        gbx_buf_append(to, w->copy + at, base + shape->end - at);
        gbx_buf_puts(to, "\n)"); /* the code may end in a comment */
        put_call(w, to);
        at = base + shape->end;
    }
    if (shape->keeps) {
        gbx_buf_append(to, w->copy, base + shape->start);
        insert(c, KEEP);
        at = base + shape->start;
        gbx_buf_append(to, w->copy + at, base + shape->end - at);
        insert(c, ";");
        at = base + shape->end;
    }
    gbx_buf_append(to, w->copy + at, w->region.end - at);
    if (shape->keeps)
        gbx_buf_puts(to, shape->calls_kept ? "\nreturn " KEPT : "\nreturn " KEPT ";");
    if (shape->keeps && shape->calls_kept)
        put_call(w, to);
    if (shape->name_end > 0) {
        gbx_buf_puts(to, "\nreturn ");
        gbx_buf_append(to, w->copy + base + shape->name_start,
                       shape->name_end - shape->name_start);
        put_call(w, to);
    }
    if (shape->is_void)
        gbx_buf_puts(to, "\nreturn;");
    if (w->is_broken)
        gbx_buf_puts(to, BROKEN);
    gbx_buf_append(to, w->copy + w->region.end, w->len - w->region.end);
}

/* True if compose() inserts a return. */
static bool returns(const gbx_entry_point *shape)
{
    return shape->return_count > 0 || shape->keeps || shape->name_end > 0 ||
           shape->is_void;
}

/* In form function only blanks and comments may surround the function: blank the
 * semicolons that removed types left. */
static void make_function(struct work *w, struct composition *c)
{
    const gbx_entry_point *shape = &w->shape;
    size_t start = w->region.start + shape->start;
    size_t end = w->region.start + shape->end;

    if (shape->is_module) {
        /* One expression: a function around the module's statements, called at once,
         * returns what the module exports. */
        insert(c, "(()=>{");
        compose(w, c);
        gbx_buf_puts(&c->to, "\n})()");
        return;
    }
    for (size_t i = w->region.start; shape->calls_expression && i < w->region.end; i++)
        if (w->copy[i] == ';' && (i < start || i >= end))
            w->copy[i] = ' ';
    gbx_buf_append(&c->to, w->copy, w->len);
}

static void make(struct work *w, struct composition *c)
{
    gbx_entry_point *shape = &w->shape;
    bool exports = shape->calls_expression || shape->keeps;

    if (w->form == GBX_FORM_SCRIPT ||
        (w->form == GBX_FORM_BODY && exports && c->made->is_changed)) {
        /* A script is the body of an async function if it returns or awaits. Its last
         * expression must then be returned. */
        if (shape->is_async && !returns(shape) && !shape->calls_expression &&
            shape->last_expression > 0)
            shape->returns[shape->return_count++] = shape->last_expression - 1;
        c->made->is_async = shape->is_async || returns(shape);
        compose(w, c);
    } else if (w->form == GBX_FORM_FUNCTION) {
        make_function(w, c);
    } else {
        gbx_buf_append(&c->to, w->copy, w->len);
    }
}

_Static_assert(GBX_SHAPE_RETURNS_MAX + 4 <= GBX_INSERTS_MAX, "all of them fit");

static void read_text(struct work *w)
{
    gbx_time_budget budget = {.left_ns = GBX_ANALYSIS_NS, .is_wall = true};
    gbx_arena_end end;
    size_t indent = 0;

    memcpy(w->copy, w->text, w->len + 1);
    if (!gbx_utf8_valid((const uint8_t *)w->text, w->len, NULL) ||
        memchr(w->text, 0, w->len) != NULL)
        return;
    w->region = gbx_text_region(w->text, w->len);
    while (w->indent == 0 && w->region.start > indent &&
           strchr(" \t", w->text[w->region.start - 1 - indent]) != NULL)
        indent++;
    w->indent += indent;
    if (w->region.end - w->region.start >= 2 &&
        memcmp(w->text + w->region.start, "#!", 2) == 0)
        memcpy(w->text + w->region.start, "//", 2); /* as JavaScript treats it */
    memcpy(w->copy, w->text, w->len);
    gbx_time_budget_begin(&budget);
    /* Six trees, one after the other. */
    end = gbx_arena_run(6 * GBX_ANALYSIS_ARENA(w->len), look, w);
    gbx_time_budget_end(&budget);
    /* An aborted analysis leaves nothing: the code then stays unchanged. */
    if (end == GBX_ARENA_DONE)
        return;
    memcpy(w->copy, w->text, w->len);
    w->shape = (gbx_entry_point){.calls_expression = false};
    w->is_broken = false;
    w->fault = (gbx_types_fault){GBX_HINT_NONE, 0};
}

/* text: the caller's. */
static bool prepare(struct work *w, const char *text, gbx_prepared_code *ret)
{
    struct composition c = {.made = ret};

    read_text(w);
    ret->is_changed = w->len > 0 && memcmp(w->copy, text, w->len) != 0;
    ret->fault = w->fault.hint;
    ret->fault_at = (uint32_t)(w->region.start + w->fault.offset);
    if (w->form == GBX_FORM_SCRIPT) {
        ret->uncalled_start = (uint32_t)(w->region.start + w->shape.uncalled_start);
        ret->uncalled_end = (uint32_t)(w->region.start + w->shape.uncalled_end);
    }
    gbx_buf_init(&c.to, w->len + 512 + w->shape.name_end);
    make(w, &c);
    ret->code = gbx_buf_take_string(&c.to, &ret->code_len);
    if (ret->code == NULL)
        return false;
    for (size_t i = 0; i < ret->insert_count; i++)
        gbx_lines_place(ret->code, ret->code_len, c.inserts[i], &ret->inserts[i].line,
                        &ret->inserts[i].column);
    return true;
}

bool gbx_prepare(const char *text, size_t len, size_t indent, gbx_form form,
                 const char *arguments, gbx_prepared_code *ret)
{
    GBX_CLEANUP(gbx_free) char *given = malloc(len + 1);
    GBX_CLEANUP(gbx_free) char *copy = malloc(len + 1);
    GBX_CLEANUP(gbx_free) char *spare = malloc(len + sizeof RETURN);
    struct work w = {.arguments = arguments,
                     .text = given,
                     .copy = copy,
                     .spare = spare,
                     .len = len,
                     .indent = indent,
                     .form = form};

    *ret = (gbx_prepared_code){.is_changed = false};
    if (given == NULL || copy == NULL || spare == NULL)
        return false;
    if (len > 0)
        memcpy(given, text, len);
    given[len] = 0;
    if (!prepare(&w, text, ret))
        return false;
    ret->plain = copy;
    ret->plain_len = len;
    copy = NULL;
    return true;
}

void gbx_prepared_code_cleanup(gbx_prepared_code *prepared)
{
    free(prepared->code);
    free(prepared->plain);
    *prepared = (gbx_prepared_code){.is_changed = false};
}
