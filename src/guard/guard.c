/* SPDX-License-Identifier: MIT */
/*
 * guard - runs the checks in order: size, encoding, form, uses; each needs the last.
 *
 * Everything that needs the tree happens inside one gbx_arena_run(). If that is
 * abandoned, because the code is too deep or too strange to be parsed within the
 * bounds, the guard does not object: the engine reports the errors of such code, and
 * the seal contains it.
 */
#include "guard/guard.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "guard/internal.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The documented defaults and bound of gbx_limits.code_bytes. */
#define CODE_BYTES        65536
#define CODE_BYTES_SCRIPT 51200
#define CODE_BYTES_MAX    (1024 * 1024)

/* Read the field of a structure that may be older or newer than this library. most: 0,
 * or its upper bound. */
static gbx_status code_bytes(const gbx_limits *limits, gbx_form form, uint32_t most,
                             size_t *ret, gbx_error *reterr)
{
    size_t known = offsetof(gbx_limits, code_bytes) + sizeof limits->code_bytes;
    const char *bytes = (const char *)limits;

    *ret = most != 0 ? most : form == GBX_FORM_SCRIPT ? CODE_BYTES_SCRIPT : CODE_BYTES;
    if (limits == NULL)
        return GBX_OK;
    if (limits->struct_size < sizeof limits->struct_size)
        return gbx_fail(reterr, GBX_E_USAGE, "limits.struct_size is not set");
    for (size_t i = sizeof *limits; i < limits->struct_size; i++)
        if (bytes[i] != 0)
            return gbx_fail(reterr, GBX_E_USAGE, "limits has fields unknown here");
    if (limits->struct_size < known || limits->code_bytes == 0)
        return GBX_OK;
    if (limits->code_bytes > CODE_BYTES_MAX)
        return gbx_fail(reterr, GBX_E_USAGE, "limits.code_bytes is more than %d",
                        CODE_BYTES_MAX);
    *ret = most != 0 && most < limits->code_bytes ? most : limits->code_bytes;
    return GBX_OK;
}

gbx_status gbx_guard_report(const char *code, size_t code_len, gbx_form form,
                            const gbx_limits *limits, const gbx_guard_world *world,
                            gbx_report **ret_report, gbx_error *reterr)
{
    gbx_report *report = NULL;
    size_t max_len;
    gbx_status status;

    if (ret_report == NULL || (code == NULL && code_len > 0))
        return gbx_fail(reterr, GBX_E_USAGE, "code or ret_report is NULL");
    if ((unsigned)form > GBX_FORM_SCRIPT)
        return gbx_fail(reterr, GBX_E_USAGE, "form is out of range");
    status = code_bytes(limits, form, world != NULL ? world->code_bytes : 0, &max_len,
                        reterr);
    if (status == GBX_OK)
        status = gbx_guard_check(code, code_len, form, max_len, world, NULL, &report,
                                 reterr);
    if (status != GBX_OK)
        return status;
    if (report == NULL)
        report = calloc(1, sizeof *report);
    if (report == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "cannot keep the report on the code");
    *ret_report = report;
    return GBX_OK;
}

/* ---- public ------------------------------------------------------------------ */

gbx_status gbx_check(const char *code, size_t code_len, gbx_form form,
                     const gbx_limits *limits, gbx_report **ret_report,
                     gbx_error *reterr)
{
    static const gbx_guard_world unknown = {.may_bind = true,
                                            .capabilities = GBX_CAP_HELPERS};

    return gbx_guard_report(code, code_len, form, limits, &unknown, ret_report, reterr);
}

size_t gbx_report_count(const gbx_report *report)
{
    return report == NULL ? 0 : report->count;
}

gbx_violation gbx_report_get(const gbx_report *report, size_t index)
{
    static const gbx_violation none = {.rule = "",
                                       .message = "",
                                       .hint = "",
                                       .frame = ""};

    return index < gbx_report_count(report) ? report->list[index] : none;
}

void gbx_report_free(gbx_report *report)
{
    if (report == NULL)
        return;
    free(report->text);
    free(report);
}

/* Ordinary code needs about 40 bytes of tree for each byte; no code may need much
 * more. */
#define ARENA_BASE     GBX_MIB(16)
#define ARENA_PER_BYTE 160

struct check {
    const char *text;
    size_t len;
    gbx_form form;
    const gbx_guard_world *world; /* never NULL */
    bool wants_syntax;
    gbx_region region; /* what is parsed */
    gbx_region code;   /* what the engine gets */
    bool is_parsed;
    gbx_findings found;
};

static void look_at_tree(void *user)
{
    struct check *c = user;
    const char *code = c->text + c->region.start;
    size_t len = c->region.end - c->region.start;
    bool has_nul = memchr(c->text, 0, c->len) != NULL;
    gbx_tree tree;

    if (gbx_tree_parse(&tree, code, len))
        gbx_tree_flatten(&tree);
    c->is_parsed =
        gbx_form_check(&tree, c->text, c->region, c->form, &c->code, &c->found);
    if (tree.tree == NULL)
        return;
    if (has_nul) { /* the engine decides */
        /* An ordinary character in a literal or a comment, else a mistake. */
        size_t nul = gbx_tree_find_bare(&tree, 0, 0);

        c->is_parsed = false;
        if (nul < tree.len)
            gbx_findings_add(&c->found, GBX_CODE_INVALID_CODE, GBX_RULE_ENCODING,
                             c->region.start + nul, "leave the character out",
                             "the code has a NUL byte outside of a string");
    }
    gbx_uses_find(&tree, c->region.start, c->form, c->world, &c->found);
    if (c->wants_syntax && c->found.count == 0)
        gbx_faults_find(&tree, c->region.start, &c->found);
}

static gbx_status run(struct check *c, size_t max_len, gbx_report **ret_report,
                      gbx_error *reterr)
{
    size_t bad = 0;

    /* Refuse text that is too long or not UTF-8, before anything parses it. */
    if (c->len > max_len) {
        gbx_findings_add(&c->found, GBX_CODE_INVALID_CODE, GBX_RULE_SIZE, 0,
                         "shorten the code; give data as the input instead of in it",
                         "the code is %zu bytes, and %zu are the limit", c->len,
                         max_len);
    } else if (!gbx_utf8_valid((const uint8_t *)c->text, c->len, &bad)) {
        gbx_findings_add(&c->found, GBX_CODE_INVALID_CODE, GBX_RULE_ENCODING, bad,
                         "give the code as UTF-8 text", "the code is not UTF-8");
    } else {
        size_t ceiling = ARENA_BASE + ARENA_PER_BYTE * c->len;

        c->region = gbx_text_region(c->text, c->len);
        c->code = c->region;
        if (gbx_arena_run(ceiling, look_at_tree, c) == GBX_ARENA_NOMEM)
            return gbx_fail(reterr, GBX_E_NOMEM, "cannot parse the code");
    }
    return gbx_findings_report(&c->found, c->text, c->len, ret_report, reterr);
}

static void init(struct check *c, const char *code, size_t len, gbx_form form,
                 const gbx_guard_world *world)
{
    static const gbx_guard_world nothing = {.capabilities = 0};

    c->world = world != NULL ? world : &nothing;
    c->text = code != NULL ? code : "";
    c->len = code != NULL ? len : 0;
    c->form = form;
    c->is_parsed = false;
    c->region = (gbx_region){0, c->len};
    c->code = c->region;
    c->found.count = 0; /* the list is filled as it grows */
    c->found.total = 0;
}

gbx_status gbx_guard_check(const char *code, size_t len, gbx_form form, size_t max_len,
                           const gbx_guard_world *world, gbx_guard_span *ret_span,
                           gbx_report **ret_report, gbx_error *reterr)
{
    struct check c;
    gbx_report *report = NULL;
    gbx_status status;

    init(&c, code, len, form, world);
    c.wants_syntax = ret_span == NULL;
    status = run(&c, max_len, &report, reterr);
    if (status != GBX_OK)
        return status;
    *ret_report = report;
    if (ret_span == NULL)
        return GBX_OK;
    ret_span->start = c.code.start;
    ret_span->len = c.code.end - c.code.start;
    ret_span->is_parsed = c.is_parsed;
    gbx_lines_position(c.text, c.len, ret_span->start, &ret_span->line,
                       &ret_span->column);
    return GBX_OK;
}

/* ---- questions about code ---------------------------------------------------- */

struct question {
    const char *text;
    gbx_region region;
    bool is_typescript;
    size_t start; /* of a formatter, in the text; */
    size_t end;   /* 0: none */
};

static void look_for_types(void *user)
{
    struct question *d = user;
    gbx_leaves leaves;
    gbx_tree tree;

    if (!gbx_tree_parse(&tree, d->text + d->region.start,
                        d->region.end - d->region.start) ||
        !tree.has_error)
        return;
    gbx_tree_flatten(&tree);
    gbx_leaves_init(&leaves, &tree);
    d->is_typescript = gbx_leaves_may_be_typescript(&leaves);
}

bool gbx_guard_may_be_typescript(const char *code, size_t len)
{
    struct question d = {.text = code, .region = gbx_text_region(code, len)};

    (void)gbx_arena_run(ARENA_BASE + ARENA_PER_BYTE * len, look_for_types, &d);
    return d.is_typescript;
}

/* True if node i may run more than once in a call. */
static bool is_repeated(const gbx_tree *t, uint32_t i)
{
    unsigned functions = 0;

    while ((i = t->nodes[i].parent) != GBX_NO_NODE)
        switch ((unsigned)t->nodes[i].kind) {
        case GBX_NODE_FOR:
        case GBX_NODE_FOR_IN:
        case GBX_NODE_WHILE:
        case GBX_NODE_DO: return true;
        default: functions += gbx_tree_is_function(t, i); break;
        }
    return functions > 1;
}

static void look_for_formatter(void *user)
{
    struct question *q = user;
    gbx_tree t;

    if (!gbx_tree_parse(&t, q->text + q->region.start, q->region.end - q->region.start))
        return;
    gbx_tree_flatten(&t);
    for (uint32_t i = 1; i < t.count && q->end == 0; i++)
        if (t.nodes[i].kind == GBX_NODE_MEMBER &&
            (t.nodes[i].field == GBX_FIELD_CONSTRUCTOR ||
             t.nodes[i].field == GBX_FIELD_FUNCTION) &&
            gbx_tree_is(&t, gbx_tree_child(&t, i, GBX_FIELD_OBJECT), "Intl") &&
            is_repeated(&t, i)) {
            q->start = q->region.start + t.nodes[i].start;
            q->end = q->region.start + t.nodes[i].end;
        }
}

bool gbx_guard_find_formatter(const char *code, size_t len, size_t *ret_start,
                              size_t *ret_end)
{
    struct question q = {.text = code, .region = gbx_text_region(code, len)};

    if (memmem(code, len, "Intl", 4) == NULL)
        return false;
    (void)gbx_arena_run(ARENA_BASE + ARENA_PER_BYTE * len, look_for_formatter, &q);
    *ret_start = q.start;
    *ret_end = q.end;
    return q.end > 0;
}
