/* SPDX-License-Identifier: MIT */
/*
 * script - parse as TypeScript, a superset of JavaScript; remove the types; find the
 * statement with the value; insert what makes it the value of the script.
 *
 * By the JavaScript grammar alone, f<T>(x) would be two comparisons: code valid in both
 * languages means what TypeScript says. Code valid in neither goes to the engine
 * without what looks like types, so that the engine reports the error and not the first
 * type. Such code gets an end that keeps it from running.
 */
#include "mcp/code/code_mode.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "guard/arena.h"
#include "guard/tree.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define FENCE_MIN 3

#define HINT_BREAK \
    "the code has \\n as two characters: send line breaks, which JSON writes as one \\n"
#define HINT_QUOTE \
    "the code has \\ before a quote that opens a string: it was escaped once too often"

/* ---- fences --------------------------------------------------------------------- */

static size_t line_end(const char *text, size_t from, size_t end)
{
    const char *eol = memchr(text + from, '\n', end - from);

    return eol != NULL ? (size_t)(eol - text) : end;
}

/* The number of marks at `at` if they make a fence, else 0. */
static size_t marks(const char *text, size_t at, size_t end)
{
    size_t n = 0;

    while (at + n < end && text[at + n] == text[at] &&
           (text[at] == '`' || text[at] == '~'))
        n++;
    return n >= FENCE_MIN ? n : 0;
}

/* A language with what Markdown renderers also accept: ts title="run.ts". */
static bool is_info(const char *text, size_t at, size_t end)
{
    while (at < end && (text[at] == ' ' || text[at] == '\t' || text[at] == '\r'))
        at++;
    return at == end || (isalpha((unsigned char)text[at]) &&
                         memchr(text + at, '`', end - at) == NULL);
}

/*
 * Blank a Markdown fence that guard/tree.c does not recognise: one whose first
 * line says more than a language, or one that is never closed. Only if the code is
 * complete and without text around it. No byte moves.
 */
static void strip_fence(char *text, size_t len)
{
    gbx_region region = gbx_text_region(text, len);
    size_t run = marks(text, region.start, region.end);
    size_t first_end, last;

    if (run == 0)
        return;
    first_end = line_end(text, region.start, region.end);
    if (first_end == region.end || !is_info(text, region.start + run, first_end))
        return;
    if (!gbx_text_find_fence(text, first_end, region.end, &last)) {
        for (last = region.end; last > first_end && text[last - 1] == '`'; last--)
            continue; /* at the end of the last line: a closing fence, or nothing */
        if (region.end - last < FENCE_MIN)
            last = region.end;
    } else if (last + marks(text, last, region.end) != region.end) {
        return; /* text follows */
    }
    memset(text + region.start, ' ', first_end - region.start);
    memset(text + last, ' ', region.end - last);
}

/* ---- escapes --------------------------------------------------------------------- */

/* The end of the string, template or comment that begins at `at`; else `at`. */
static size_t skip_quoted(const char *text, size_t at, size_t len)
{
    char quote = text[at];
    size_t i = at + 1;

    if (quote == '/' && i < len && text[i] == '/')
        return line_end(text, at, len);
    if (quote == '/' && i < len && text[i] == '*') {
        const char *close = memmem(text + i + 1, len - i - 1, "*/", 2);

        return close != NULL ? (size_t)(close - text) + 2 : len;
    }
    if (quote != '"' && quote != '\'' && quote != '`')
        return at;
    for (; i < len && text[i] != quote; i++)
        if (text[i] == '\\')
            i++;
    return i < len ? i + 1 : len;
}

/* The end of the regular expression at `at`; `at` if it is a division. before: the last
 * character of code. */
static size_t skip_regex(const char *text, size_t at, size_t len, char before)
{
    bool in_class = false;
    size_t i = at + 1;

    if (text[at] != '/' ||
        (before != 0 && strchr("(,=:[!&|?{};<>+-*%~^", before) == NULL))
        return at;
    for (; i < len && text[i] != '\n' && (in_class || text[i] != '/'); i++) {
        if (text[i] == '\\')
            i++;
        else if (text[i] == '[' || text[i] == ']')
            in_class = text[i] == '[';
    }
    return i < len ? i + 1 : len;
}

/* The first backslash outside strings, templates, regular expressions and comments that
 * stems from one escaping too many; len if none. *ret_hint is a constant. */
static size_t find_extra_escape(const char *text, size_t len, const char **ret_hint)
{
    char before = 0;

    for (size_t i = 0; i < len;) {
        size_t after = skip_quoted(text, i, len);

        if (after == i)
            after = skip_regex(text, i, len, before);
        if (after > i) {
            before = (char)(text[i] == '/' ? before : 'a');
            i = after;
            continue;
        }
        if (text[i] == '\\' && i + 1 < len && strchr("nrt\"'`", text[i + 1]) != NULL) {
            *ret_hint = strchr("nrt", text[i + 1]) != NULL ? HINT_BREAK : HINT_QUOTE;
            return i;
        }
        if (!isspace((unsigned char)text[i]))
            before = text[i];
        i++;
    }
    return len;
}

/* ---- the script ------------------------------------------------------------- */

/* Six trees, one after the other, each with as much as the guard grants. */
#define ARENA_BASE     GBX_MIB(96)
#define ARENA_PER_BYTE 960

#define RETURN "return "
#define KEPT   "$default"
#define KEEP   "var " KEPT " = "
#define BROKEN "\nvoid" /* a syntax error for the engine: unexpected end */

struct work {
    const char *arguments; /* for the functions that are called */
    char *text;            /* types removed, once found; its length stays */
    char *copy;
    char *spare; /* room for the text and one more word */
    size_t len;
    gbx_region region;
    gbx_entry_point shape;
    gbx_types_fault fault;
    bool had_types;
    bool is_broken; /* valid in neither language; what looked like types is blank */
};

/* Code that parses has no such backslash. */
static void find_escape(struct work *w, size_t len)
{
    const char *hint;
    size_t at = find_extra_escape(w->text + w->region.start, len, &hint);

    if (at < len && w->fault.message == NULL)
        w->fault =
            (gbx_types_fault){"a backslash stands outside of a string", hint, at};
}

static bool is_javascript(const char *text, size_t len)
{
    gbx_tree t;

    return gbx_tree_parse(&t, text, len) && !t.has_error;
}

static void take_types(struct work *w, size_t len)
{
    const char *text = w->text + w->region.start;
    char *copy = w->copy + w->region.start;

    if (gbx_types_take(text, len, copy, &w->fault))
        return;
    if (is_javascript(text, len)) {
        memcpy(copy, text, len);
        w->fault = (gbx_types_fault){NULL, NULL, 0};
        return;
    }
    w->is_broken = memcmp(copy, text, len) != 0;
}

/* Does nothing that runs follow what begins at `at`? */
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

/* Does the brace of code at `at` open its line, indented like the first line? */
static bool opens_line(const struct work *w, size_t at)
{
    const char *first = w->text + w->region.start;
    const char *brace = first + at;
    size_t blanks = 0;

    while (first - blanks > w->text && (first[-1 - (ptrdiff_t)blanks] == ' ' ||
                                        first[-1 - (ptrdiff_t)blanks] == '\t'))
        blanks++;
    return *brace == '{' &&
           (at == 0 || (at > blanks && brace[-1 - (ptrdiff_t)blanks] == '\n' &&
                        memcmp(brace - blanks, first - blanks, blanks) == 0));
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
    if (fault.message != NULL || !gbx_tree_parse(&t, taken, len + word) ||
        t.has_error || !is_last(&t, at))
        return;
    memcpy(copy, taken, at);
    memcpy(copy + at, taken + at + word, len - at);
    w->is_broken = false;
    w->shape.returns[0] = at;
    w->shape.return_count = 1;
}

/*
 * t: of broken code without types. Find what the engine would not report: empty code,
 * or a bracket that closes the function which the engine puts around the code.
 */
static void find_fault(struct work *w, const gbx_tree *t)
{
    bool is_open = false;
    uint32_t bracket = t->has_error ? gbx_faults_bracket(t, &is_open) : GBX_NO_NODE;

    if (t->has_error && (bracket == GBX_NO_NODE || is_open ||
                         t->nodes[bracket].start > gbx_faults_first(t)))
        return;
    if (t->has_error && t->nodes[bracket].start <= w->fault.offset)
        w->fault =
            (gbx_types_fault){"this bracket closes nothing",
                              "remove it, or open it before", t->nodes[bracket].start};
    else
        w->fault =
            (gbx_types_fault){"neither JavaScript nor TypeScript can be read here",
                              "look for a slip here, or a little before; a type "
                              "that is right can be left away",
                              w->fault.offset};
}

static void look(void *user)
{
    struct work *w = user;
    size_t len = w->region.end - w->region.start;
    gbx_tree t;

    take_types(w, len);
    w->had_types = memcmp(w->copy, w->text, w->len) != 0;
    if (!gbx_tree_parse(&t, w->copy + w->region.start, len))
        return;
    if (t.has_error)
        find_escape(w, len);
    gbx_tree_flatten(&t);
    if (gbx_exports_take(&t, w->copy + w->region.start)) {
        if (!gbx_tree_parse(&t, w->copy + w->region.start, len))
            return;
        gbx_tree_flatten(&t);
    }
    gbx_entry_point_find(&t, w->copy + w->region.start, &w->shape);
    if (t.has_error)
        find_object(w, len);
    if (w->is_broken && w->fault.message == NULL)
        find_fault(w, &t);
}

static void insert(gbx_script *s, gbx_buf *to, const char *text)
{
    s->inserts[s->insert_count++] = (gbx_script_insert){to->len, strlen(text)};
    gbx_buf_puts(to, text);
}

/* The text with its insertions; region.start is added to offsets of the shape. */
static void compose(struct work *w, gbx_script *s, gbx_buf *to)
{
    const gbx_entry_point *shape = &w->shape;
    size_t base = w->region.start;
    size_t at = 0;

    for (size_t i = 0; i < shape->return_count; i++) {
        gbx_buf_append(to, w->copy + at, base + shape->returns[i] - at);
        insert(s, to, RETURN);
        at = base + shape->returns[i];
    }
    if (shape->calls_expression) {
        gbx_buf_append(to, w->copy, base + shape->start);
        insert(s, to, ";("); /* keep the line before from continuing here */
        at = base + shape->start;
        gbx_buf_append(to, w->copy + at, base + shape->end - at);
        gbx_buf_printf(to, "\n)(%s)", w->arguments); /* the code may end in a comment */
        at = base + shape->end;
    }
    if (shape->keeps) {
        gbx_buf_append(to, w->copy, base + shape->start);
        insert(s, to, KEEP);
        at = base + shape->start;
        gbx_buf_append(to, w->copy + at, base + shape->end - at);
        insert(s, to, ";");
        at = base + shape->end;
    }
    gbx_buf_append(to, w->copy + at, w->region.end - at);
    if (shape->keeps && shape->calls_kept)
        gbx_buf_printf(to, "\nreturn " KEPT "(%s);", w->arguments);
    else if (shape->keeps)
        gbx_buf_puts(to, "\nreturn " KEPT ";");
    if (shape->name_end > 0) {
        gbx_buf_puts(to, "\nreturn ");
        gbx_buf_append(to, w->copy + base + shape->name_start,
                       shape->name_end - shape->name_start);
        gbx_buf_printf(to, "(%s);", w->arguments);
    }
    if (shape->is_void)
        gbx_buf_puts(to, "\nreturn;");
    if (w->is_broken)
        gbx_buf_puts(to, BROKEN);
    gbx_buf_append(to, w->copy + w->region.end, w->len - w->region.end);
}

static void report_fault(const struct work *w, gbx_script *s)
{
    if (w->fault.message == NULL)
        return;
    s->message = w->fault.message;
    s->hint = w->fault.hint;
    gbx_utf8_position(w->text, w->len, w->region.start + w->fault.offset, &s->line,
                      &s->column);
}

_Static_assert(GBX_SHAPE_RETURNS_MAX <= GBX_SCRIPT_INSERTS_MAX, "all of them fit");

static bool is_text(const char *text, size_t len)
{
    return gbx_utf8_valid((const uint8_t *)text, len, NULL) &&
           memchr(text, 0, len) == NULL;
}

gbx_status gbx_script_make(const char *text, size_t len, const char *arguments,
                           gbx_script *ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_free) char *given = malloc(len + 1);
    GBX_CLEANUP(gbx_free) char *copy = malloc(len + 1);
    GBX_CLEANUP(gbx_free) char *spare = malloc(len + sizeof RETURN);
    struct work w = {.arguments = arguments,
                     .text = given,
                     .copy = copy,
                     .spare = spare,
                     .len = len};
    gbx_script made = {.insert_count = 0};
    uint32_t column;
    gbx_buf code;

    if (given == NULL || copy == NULL || spare == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot look at the code");
    if (len > 0)
        memcpy(given, text, len);
    given[len] = 0;
    strip_fence(given, len);
    memcpy(copy, given, len + 1);
    if (is_text(given, len)) {
        w.region = gbx_text_region(given, len);
        if (w.region.end - w.region.start >= 2 &&
            memcmp(given + w.region.start, "#!", 2) == 0)
            memcpy(given + w.region.start, "//", 2); /* as JavaScript treats it */
        memcpy(copy, given, len);
        /* An aborted analysis leaves nothing: the code then stays unchanged. */
        if (gbx_arena_run(ARENA_BASE + ARENA_PER_BYTE * len, look, &w) !=
            GBX_ARENA_DONE) {
            memcpy(copy, given, len);
            w.shape = (gbx_entry_point){.calls_expression = false};
            w.had_types = w.is_broken = false;
            w.fault = (gbx_types_fault){NULL, NULL, 0};
        }
        gbx_utf8_position(given, len, w.region.end, &made.last_line, &column);
    }
    report_fault(&w, &made);
    made.had_types = w.had_types;
    made.uncalled = w.region.start + w.shape.uncalled_start;
    made.uncalled_len = w.shape.uncalled_end - w.shape.uncalled_start;
    gbx_buf_init(&code, len + 512 + w.shape.name_end);
    compose(&w, &made, &code);
    made.code = gbx_buf_take_string(&code, &made.code_len);
    if (made.code == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot look at the code");
    *ret = made;
    return GBX_OK;
}

void gbx_script_map(const gbx_script *script, uint32_t *line, uint32_t *column)
{
    if (script->last_line > 0 && *line > script->last_line) {
        *line = script->last_line;
        *column = 0;
    }
    /* From last to first: each offset counts the insertions before it. */
    for (size_t i = script->insert_count; i > 0 && *column > 0; i--) {
        const gbx_script_insert *in = &script->inserts[i - 1];
        uint32_t at_line, at_column;

        gbx_utf8_position(script->code, script->code_len, in->offset, &at_line,
                          &at_column);
        if (*line == at_line && *column > at_column) {
            uint32_t over = *column - at_column;

            *column -= over < in->len ? over : (uint32_t)in->len;
        }
    }
}

void gbx_script_cleanup(gbx_script *script)
{
    free(script->code);
    *script = (gbx_script){.insert_count = 0};
}

/* ---- scripts that were made before ------------------------------------------ */

/* A lookup compares sixteen lengths, and text only where the length matches. */

static bool copy_script(const gbx_script *from, gbx_script *ret)
{
    char *code = malloc(from->code_len + 1);

    if (code == NULL)
        return false;
    memcpy(code, from->code, from->code_len + 1);
    *ret = *from;
    ret->code = code;
    return true;
}

static const gbx_script *find(const gbx_recent *recent, const char *text, size_t len)
{
    for (size_t i = 0; i < GBX_RECENT_MAX; i++) {
        const struct gbx_recent_script *k = &recent->kept[i];

        if (k->text != NULL && k->len == len && memcmp(k->text, text, len) == 0)
            return &k->script;
    }
    return NULL;
}

static void forget(struct gbx_recent_script *kept)
{
    free(kept->text);
    gbx_script_cleanup(&kept->script);
    *kept = (struct gbx_recent_script){.text = NULL};
}

bool gbx_recent_find(const gbx_recent *recent, const char *text, size_t len,
                     gbx_script *ret)
{
    const gbx_script *known = find(recent, text, len);

    return known != NULL && copy_script(known, ret);
}

void gbx_recent_keep(gbx_recent *recent, const char *text, size_t len,
                     const gbx_script *script)
{
    struct gbx_recent_script *place = &recent->kept[recent->next];
    char *own;

    if (len == 0 || len > GBX_RECENT_TEXT_MAX || find(recent, text, len) != NULL)
        return;
    own = malloc(len);
    if (own == NULL)
        return;
    forget(place);
    if (!copy_script(script, &place->script)) {
        free(own);
        return;
    }
    memcpy(own, text, len);
    place->text = own;
    place->len = len;
    recent->next = (recent->next + 1) % GBX_RECENT_MAX;
}

void gbx_recent_cleanup(gbx_recent *recent)
{
    for (size_t i = 0; i < GBX_RECENT_MAX; i++)
        forget(&recent->kept[i]);
}
