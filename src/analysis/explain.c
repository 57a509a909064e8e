/* SPDX-License-Identifier: MIT */
/* explain - finds why code failed. Only this file converts between positions in the
 * caller's text and in the tree. */
#include "analysis/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "syntax/arena.h"
#include "syntax/tree.h"

#include <string.h>

#define WORK_MAX ((size_t)20 * 1000 * 1000) /* about 100 ms */

struct question {
    const char *text;
    size_t len;
    gbx_region region;
    gbx_form form;
    gbx_explained_end ending;
    const char *message;
    const gbx_given *given;
    gbx_explanation *explanation;
};

/* Make an offset in the text one in the region that was parsed. */
static size_t into_region(gbx_region region, size_t offset)
{
    if (offset < region.start)
        return 0;
    return (offset > region.end ? region.end : offset) - region.start;
}

static void locate(gbx_case *c, const struct question *q)
{
    const gbx_explanation *e = q->explanation;
    size_t start = 0, at;
    size_t end = q->len;

    if (e->line != 0)
        (void)gbx_lines_find(q->text, q->len, e->line, &start, &end);
    at = start;
    for (uint32_t unit = 1; unit < e->column && at < end; unit++) {
        size_t step = gbx_utf8_sequence((const uint8_t *)q->text + at, end - at);

        unit += step == 4; /* a column is a UTF-16 unit */
        at += step == 0 ? 1 : step;
    }
    c->offset =
        e->line != 0 && e->column != 0 ? into_region(q->region, at) : GBX_NO_OFFSET;
    c->is_placed = e->line != 0;
    c->past_end = e->line != 0 && end >= q->region.end;
    c->line_start = into_region(q->region, start);
    c->line_end = into_region(q->region, end);
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
        gbx_explain_unawaited(&c);
    }
    q->explanation->hint = c.hint;
    q->explanation->start = (uint32_t)(q->region.start + c.named_start);
    q->explanation->end = (uint32_t)(q->region.start + c.named_end);
    if (c.at != GBX_NO_OFFSET)
        gbx_lines_place(q->text, q->len, q->region.start + c.at, &q->explanation->line,
                        &q->explanation->column);
}

/* ---- the interface --------------------------------------------------------------- */

void gbx_explain(const char *code, size_t len, gbx_form form, gbx_explained_end ending,
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
    uint32_t last_line, last_column;

    explanation->hint = GBX_HINT_NONE;
    explanation->start = explanation->end = 0;
    if (code == NULL || len == 0)
        return;
    q.region = gbx_text_region(code, len);
    gbx_time_budget_begin(&budget);
    if (gbx_utf8_valid((const uint8_t *)code, len, NULL))
        (void)gbx_arena_run(GBX_ANALYSIS_ARENA(len), answer, &q);
    /* If the engine reports a position after the code, use the code's end. */
    gbx_lines_place(code, len, q.region.end, &last_line, &last_column);
    if (explanation->line > last_line) {
        explanation->line = last_line;
        explanation->column = last_column;
    }
    gbx_time_budget_end(&budget);
}
