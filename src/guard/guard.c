/* SPDX-License-Identifier: MIT */
/*
 * guard - the order of the checks: size, bytes, form, uses; each needs the one before.
 *
 * Everything that needs the tree happens inside one gbx_arena_run(). If that is
 * abandoned, because the code is too deep or too strange to be parsed within the
 * bounds, the guard does not object: the engine judges such code, and the seal contains
 * it.
 */
#include "guard/guard.h"

#include "base/cleanup.h"
#include "base/lines.h"
#include "base/utf8.h"
#include "guard/arena.h"
#include "guard/faults.h"
#include "guard/findings.h"
#include "guard/internal.h"
#include "guard/source_region.h"
#include "guard/tree.h"

#include <string.h>

/* Ordinary code needs some 40 bytes of tree for each byte; nothing may need much
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
    size_t last_expr;  /* as in gbx_guard_span */
    bool is_parsed;
    gbx_findings found;
};

static bool may_hold_nul(gbx_node_kind kind)
{
    return kind == GBX_NODE_STRING || kind == GBX_NODE_STRING_FRAGMENT ||
           kind == GBX_NODE_REGEX || kind == GBX_NODE_COMMENT ||
           kind == GBX_NODE_HTML_COMMENT;
}

/* A NUL is an ordinary character in a literal or a comment, and a mistake anywhere
 * else. The nodes are in the order of the text. */
static void find_stray_nul(struct check *c, const gbx_tree *t)
{
    const char *nul = NULL;
    size_t from = 0;

    for (uint32_t i = 0; i < t->count && nul == NULL; i++) {
        size_t start = c->region.start + t->nodes[i].start;

        if (!may_hold_nul((gbx_node_kind)t->nodes[i].kind) || start < from)
            continue;
        nul = memchr(c->text + from, 0, start - from);
        from = c->region.start + t->nodes[i].end;
    }
    if (nul == NULL)
        nul = memchr(c->text + from, 0, c->len - from);
    if (nul != NULL)
        gbx_findings_add(&c->found, GBX_CODE_INVALID_CODE, GBX_RULE_ENCODING,
                         (size_t)(nul - c->text), "leave the character out",
                         "the code has a NUL byte outside of a string");
}

static void look_at_tree(void *user)
{
    struct check *c = user;
    const char *code = c->text + c->region.start;
    size_t len = c->region.end - c->region.start;
    bool has_nul = memchr(c->text, 0, c->len) != NULL;
    gbx_tree tree;

    (void)gbx_tree_parse(&tree, code, len);
    gbx_form_check(&tree, c->text, c->region, c->form, &c->code, &c->found);
    if (tree.tree == NULL)
        return;
    c->is_parsed = !tree.has_error && (c->form == GBX_FORM_FUNCTION ||
                                       gbx_form_is_async_body(&tree, c->form));
    if (has_nul) { /* the engine decides */
        c->is_parsed = false;
        gbx_tree_flatten(&tree);
        find_stray_nul(c, &tree);
    }
    if (c->form == GBX_FORM_SCRIPT)
        c->last_expr = gbx_form_last_expression(&tree);
    if (gbx_words_occur(code, len)) {
        if (tree.nodes == NULL)
            gbx_tree_flatten(&tree);
        gbx_uses_find(&tree, c->region.start, c->form, c->world, &c->found);
    }
    if (c->wants_syntax && c->found.count == 0) {
        if (tree.nodes == NULL)
            gbx_tree_flatten(&tree);
        gbx_faults_find(&tree, c->region.start, &c->found);
    }
}

/* Refuse text that no parser should see. */
static bool is_text(struct check *c, size_t max_len)
{
    size_t bad = 0;

    if (c->len > max_len) {
        gbx_findings_add(&c->found, GBX_CODE_INVALID_CODE, GBX_RULE_SIZE, 0,
                         "shorten the code; give data as the input instead of in it",
                         "the code is %zu bytes, and %zu are the limit", c->len,
                         max_len);
        return false;
    }
    if (gbx_utf8_valid((const uint8_t *)c->text, c->len, &bad))
        return true;
    gbx_findings_add(&c->found, GBX_CODE_INVALID_CODE, GBX_RULE_ENCODING, bad,
                     "give the code as UTF-8 text", "the code is not UTF-8");
    return false;
}

static gbx_status run(struct check *c, size_t max_len, gbx_report **ret_report,
                      gbx_error *reterr)
{
    if (is_text(c, max_len)) {
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
    c->wants_syntax = false;
    c->last_expr = 0;
    c->is_parsed = false;
    c->region = (gbx_region){0, c->len};
    c->code = c->region;
    c->found.count = 0; /* the list is filled as it grows */
    c->found.total = 0;
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_guard_check(const char *code, size_t len, gbx_form form, size_t max_len,
                           const gbx_guard_world *world, gbx_guard_span *ret_span,
                           gbx_report **ret_report, gbx_error *reterr)
{
    struct check c;
    gbx_guard_span span;
    gbx_report *report = NULL;
    gbx_status status;

    init(&c, code, len, form, world);
    status = run(&c, max_len, &report, reterr);
    if (status != GBX_OK)
        return status;
    span.start = c.code.start;
    span.len = c.code.end - c.code.start;
    span.last_expr = c.last_expr;
    span.is_parsed = c.is_parsed;
    gbx_lines_position(c.text, c.len, span.start, &span.line, &span.column);
    *ret_span = span;
    *ret_report = report;
    return GBX_OK;
}

gbx_status gbx_guard_full(const char *code, size_t len, gbx_form form, size_t max_len,
                          const gbx_guard_world *world, gbx_report **ret_report,
                          gbx_error *reterr)
{
    struct check c;
    gbx_report *report = NULL;
    gbx_status status;

    init(&c, code, len, form, world);
    c.wants_syntax = true;
    status = run(&c, max_len, &report, reterr);
    if (status == GBX_OK)
        *ret_report = report;
    return status;
}
