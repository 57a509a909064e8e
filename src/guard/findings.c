/* SPDX-License-Identifier: MIT */
/*
 * findings - objections to code, those of the grammar included, and the report of them.
 * Text from the code enters a message only through the frame.
 */
#include "guard/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "guard/guard.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Three lines of code with a caret, safe to print on any terminal.
 *
 *     1 | const total = (data) => {
 *   > 2 |     return data.map(d => d.price)
 *       |                 ^
 *     3 | }
 *
 * The caret's column counts printed characters, not those of the code: escapes and tabs
 * are wider than one. Characters of double width are counted as one.
 */

#define WIDTH     96 /* characters of code shown per line */
#define LEAD      64 /* of these, at most this many before the column */
#define TAB       "    "
#define FRAME_MAX GBX_KIB(16)

/* Bytes of the character at data: an invalid byte counts as one. */
static size_t step(const char *data, size_t len)
{
    size_t n = gbx_utf8_sequence((const uint8_t *)data, len);

    return n == 0 ? 1 : n;
}

/* Characters in [from, buf->len), which is valid UTF-8. */
static size_t printed(const gbx_buf *buf, size_t from)
{
    size_t n = 0;

    for (size_t i = from; i < buf->len; i++)
        n += (buf->data[i] & 0xC0) != 0x80;
    return n;
}

/* Append a window of the line; *ret_caret is the width of its part before column. */
static void put_window(gbx_buf *buf, const char *data, size_t len, uint32_t column,
                       uint32_t first, size_t *ret_caret)
{
    size_t from = buf->len;
    uint32_t at = 1;
    size_t i = 0;

    for (; at < first && i < len; at++)
        i += step(data + i, len - i);
    if (first > 1)
        (void)gbx_buf_puts(buf, "...");
    for (; i < len && at < first + WIDTH; at++) {
        size_t n = step(data + i, len - i);

        if (at == column)
            *ret_caret = printed(buf, from);
        if (n == 1 && data[i] == '\t')
            (void)gbx_buf_puts(buf, TAB);
        else
            (void)gbx_utf8_append_escaped(buf, data + i, n, GBX_ESCAPE_LINE);
        i += n;
    }
    if (at <= column)
        *ret_caret = printed(buf, from);
    if (i < len)
        (void)gbx_buf_puts(buf, "...");
}

static void put_line(gbx_buf *buf, const char *text, size_t len, uint32_t number,
                     uint32_t line, uint32_t column)
{
    uint32_t first = column > LEAD ? column - LEAD : 1;
    size_t start = 0;
    size_t end = 0;
    size_t caret = 0;

    if (number == 0 || !gbx_lines_find(text, len, number, &start, &end))
        return;
    if (number != line && start == len)
        return; /* the rest after the last newline is not a line */
    if (buf->len > 0)
        (void)gbx_buf_puts(buf, "\n");
    (void)gbx_buf_printf(buf, "%s%4u | ", number == line ? ">" : " ", (unsigned)number);
    put_window(buf, text + start, end - start, column, first, &caret);
    if (number != line || column == 0)
        return;
    (void)gbx_buf_puts(buf, "\n      | ");
    for (size_t i = 0; i < caret; i++)
        (void)gbx_buf_puts(buf, " ");
    (void)gbx_buf_puts(buf, "^");
}

char *gbx_guard_frame(const char *code, size_t len, uint32_t line, uint32_t column)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = FRAME_MAX};
    size_t start, end;

    if (line == 0 || code == NULL || !gbx_lines_find(code, len, line, &start, &end))
        return strdup("");
    put_line(&buf, code, len, line - 1, line, column);
    put_line(&buf, code, len, line, line, column);
    if (line < UINT32_MAX)
        put_line(&buf, code, len, line + 1, line, column);
    return gbx_buf_take_string(&buf, NULL);
}

/* Bytes of all messages and frames; no legitimate report comes near this. */
#define TEXT_MAX GBX_KIB(256)

/* Append text with its NUL. True, and its offset, if it fitted. */
static bool put(gbx_buf *buf, const char *text, size_t *ret_at)
{
    *ret_at = buf->len;
    return gbx_buf_append(buf, text, strlen(text) + 1);
}

static bool put_violation(const gbx_finding *finding, const char *text, size_t len,
                          gbx_buf *buf, gbx_violation *v, size_t at[2])
{
    char *frame;
    bool ok;

    *v = (gbx_violation){.code = finding->code,
                         .rule = finding->rule,
                         .hint = finding->hint};
    gbx_lines_position(text, len, finding->offset, &v->line, &v->column);
    frame = gbx_guard_frame(text, len, v->line, v->column);
    ok = frame != NULL && put(buf, finding->message, &at[0]) && put(buf, frame, &at[1]);
    free(frame);
    return ok;
}

void gbx_findings_add(gbx_findings *f, gbx_code code, const char *rule, size_t offset,
                      const char *hint, const char *format, ...)
{
    size_t at = f->count;
    va_list args;

    f->total++;
    while (at > 0 && f->list[at - 1].offset > offset)
        at--;
    if (at == GBX_GUARD_VIOLATIONS_MAX)
        return;
    if (f->count == GBX_GUARD_VIOLATIONS_MAX)
        f->count--;
    memmove(&f->list[at + 1], &f->list[at], (f->count - at) * sizeof f->list[0]);
    f->count++;
    f->list[at].code = code;
    f->list[at].rule = rule;
    f->list[at].offset = offset;
    f->list[at].hint = hint;
    va_start(args, format);
    (void)vsnprintf(f->list[at].message, sizeof f->list[at].message, format, args);
    va_end(args);
}

gbx_status gbx_findings_report(const gbx_findings *f, const char *text, size_t len,
                               gbx_report **ret, gbx_error *reterr)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf = {.ceiling = TEXT_MAX};
    size_t at[GBX_GUARD_VIOLATIONS_MAX][2];
    char *strings = NULL;
    gbx_report *report;
    bool ok;

    if (f->count == 0) {
        *ret = NULL;
        return GBX_OK;
    }
    report = calloc(1, sizeof *report);
    ok = report != NULL;
    for (size_t i = 0; ok && i < f->count; i++)
        ok = put_violation(&f->list[i], text, len, &buf, &report->list[i], at[i]);
    if (ok)
        strings = gbx_buf_take_string(&buf, NULL);
    if (strings == NULL) {
        free(report);
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot keep the report on the code");
    }
    for (size_t i = 0; i < f->count; i++) {
        report->list[i].message = strings + at[i][0];
        report->list[i].frame = strings + at[i][1];
    }
    report->text = strings;
    report->count = f->count;
    report->total = f->total;
    *ret = report;
    return GBX_OK;
}

/* ---- syntax errors ------------------------------------------------------------ */

/* An unmatched bracket makes the parser report errors in correct places. So if there is
 * one, only that is reported. */

#define HINT_JSX   "this is JSX, but code has no page; return data, not elements"
#define LEAVES_MAX 200 /* examined in one error */
#define HINT_AWAIT \
    "'await' works only directly inside an async function: write 'async' before it"

/* The token that the parser reports as missing. */
static void put_missing(const gbx_tree *t, uint32_t i, size_t base, gbx_findings *f)
{
    const char *name = gbx_tree_symbol_name(t, i);
    bool is_name = t->nodes[i].kind == GBX_NODE_IDENTIFIER ||
                   t->nodes[i].kind == GBX_NODE_PROPERTY_NAME;

    if (is_name || t->nodes[i].kind == GBX_NODE_OTHER)
        gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, base + t->nodes[i].start,
                         "", "%s is missing here",
                         is_name ? "a name or value" : "something");
    else
        gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, base + t->nodes[i].start,
                         "", "'%s' is missing here", name);
}

/* The first leaf of the error, or just before it, that ends after the error begins. */
static uint32_t first_leaf(const gbx_leaves *l, uint32_t error)
{
    const gbx_node *nodes = l->t->nodes;
    uint32_t low = 0;
    uint32_t high = l->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (nodes[l->nodes[middle]].end <= nodes[error].start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* True if it may be TypeScript. Types are removed in the worker: only there can the
 * rest be checked. */
bool gbx_leaves_may_be_typescript(const gbx_leaves *l)
{
    const gbx_node *nodes = l->t->nodes;

    for (uint32_t i = 0; i < l->t->count; i++) {
        uint32_t first = nodes[i].kind == GBX_NODE_ERROR ? first_leaf(l, i) : l->count;

        for (uint32_t k = first > 0 ? first - 1 : 0;
             first < l->count && k < l->count && k < first + LEAVES_MAX; k++) {
            const gbx_node *leaf = &nodes[l->nodes[k]];

            if (k > first &&
                (leaf->start >= nodes[i].end || leaf->end <= nodes[i].start))
                break; /* not in the error */
            if (gbx_leaf_is_typescript(l, k))
                return true;
        }
    }
    return false;
}

/* True if the innermost function around i is not async. */
static bool is_await_astray(const gbx_tree *t, uint32_t i)
{
    for (i = t->nodes[i].parent; i != GBX_NO_NODE; i = t->nodes[i].parent)
        if (gbx_tree_is_function(t, i))
            return !gbx_tree_is_async(t, i);
    return false;
}

/* Faults in code that parses: the grammar allows more than JavaScript does. */
static void put_allowed(const gbx_tree *t, uint32_t i, size_t base, gbx_findings *f)
{
    size_t at = base + t->nodes[i].start;
    uint32_t parent = t->nodes[i].parent;

    switch (t->nodes[i].kind) {
    case GBX_NODE_JSX_ELEMENT:
    case GBX_NODE_JSX_SELF_CLOSING:
        gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, at, HINT_JSX,
                         "this is not JavaScript");
        break;
    case GBX_NODE_AWAIT:
        if (is_await_astray(t, i))
            gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, at, HINT_AWAIT,
                             "'await' in a function that is not async");
        break;
    case GBX_NODE_STRING:
        if (gbx_tree_is_open_string(t, i))
            gbx_findings_add(
                f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, at,
                "close it, or write a text of several lines in `backquotes`",
                "this string does not end on its line");
        break;
    case GBX_NODE_DECLARATOR:
        if (t->nodes[parent].kind == GBX_NODE_LEXICAL_DECLARATION &&
            gbx_tree_is(t, parent + 1, "const") &&
            gbx_tree_child(t, i, GBX_FIELD_VALUE) == GBX_NO_NODE)
            gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, at,
                             "give it a value, or declare it with 'let'",
                             "a 'const' without a value");
        break;
    default: break;
    }
}

/* String.raw`C:\users` is valid, but the grammar does not know tagged templates. */
static bool is_raw_escape(const gbx_tree *t, uint32_t i)
{
    uint32_t parent = t->nodes[i].parent;

    return parent != GBX_NO_NODE && t->nodes[parent].kind == GBX_NODE_TEMPLATE &&
           t->nodes[parent].field == GBX_FIELD_ARGUMENTS &&
           t->text[t->nodes[i].start] == '\\';
}

void gbx_faults_find(gbx_tree *t, size_t base, gbx_findings *f)
{
    bool is_open = false;
    uint32_t bracket = t->has_error ? gbx_tree_unpaired(t, &is_open) : GBX_NO_NODE;
    gbx_leaves leaves;

    if (bracket != GBX_NO_NODE) {
        const gbx_node *n = &t->nodes[bracket];

        gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX, base + n->start,
                         is_open ? "close it, or remove it"
                                 : "remove it, or open it before",
                         is_open ? "nothing closes this '%.*s'"
                                 : "this '%.*s' closes nothing",
                         (int)(n->end - n->start), t->text + n->start);
        return;
    }
    gbx_leaves_init(&leaves, t);
    if (gbx_leaves_may_be_typescript(&leaves))
        return;
    for (uint32_t i = 0; i < t->count && f->count < GBX_GUARD_VIOLATIONS_MAX; i++) {
        if (t->nodes[i].missing) {
            put_missing(t, i, base, f);
        } else if (t->nodes[i].kind == GBX_NODE_ERROR) {
            uint32_t at = is_raw_escape(t, i) ? leaves.count : first_leaf(&leaves, i);

            if (at < leaves.count)
                gbx_findings_add(f, GBX_CODE_SYNTAX, GBX_RULE_SYNTAX,
                                 base + t->nodes[leaves.nodes[at]].start, "",
                                 "the parser cannot make sense of this");
            i = t->nodes[i].next - 1;
        } else {
            put_allowed(t, i, base, f);
        }
    }
}
