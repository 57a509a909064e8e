/* SPDX-License-Identifier: MIT */
/* explain - the only file that converts between positions in the caller's text and in
 * the tree. */
#include "guard/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "guard/arena.h"
#include "guard/guard.h"

#include <string.h>

/* The failed code as the rules for hints see it. */

const char *gbx_wording_find(const gbx_wording *table, size_t count,
                             const char *message)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(message, table[i].part) != NULL)
            return table[i].hint;
    return NULL;
}

bool gbx_message_quoted(const char *message, const char *part, const char *open,
                        const char *close, const char **ret_text, size_t *ret_len)
{
    const char *at = strstr(message, part);
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

bool gbx_case_may_walk(gbx_case *c)
{
    if (c->work < c->tree.count || gbx_time_budget_is_over())
        return false;
    c->work -= c->tree.count;
    return true;
}

size_t gbx_case_leaf_start(const gbx_case *c, uint32_t k)
{
    return c->tree.nodes[c->leaves.nodes[k]].start;
}

void gbx_case_line(const gbx_case *c, uint32_t *ret_first, uint32_t *ret_end)
{
    uint32_t k = 0;

    while (k < c->leaves.count && gbx_case_leaf_start(c, k) < c->line_start)
        k++;
    *ret_first = k;
    while (k < c->leaves.count && gbx_case_leaf_start(c, k) < c->line_end)
        k++;
    *ret_end = k;
}

#define ARENA_BASE     GBX_MIB(16)
#define ARENA_PER_BYTE 160
#define WORK_MAX       ((size_t)20 * 1000 * 1000) /* some 100 ms */

struct question {
    const char *text;
    size_t len;
    gbx_region region;
    gbx_form form;
    gbx_code failed_as;
    const char *message;
    gbx_guard_advice *advice;
};

static size_t column_offset(const char *text, size_t start, size_t end, uint32_t column)
{
    size_t at = start;

    for (uint32_t n = 1; n < column && at < end; n++) {
        size_t step = gbx_utf8_sequence((const uint8_t *)text + at, end - at);

        at += step == 0 ? 1 : step;
    }
    return at;
}

/* An offset in the caller's text, within the region that was parsed. */
static size_t into_region(gbx_region region, size_t offset)
{
    if (offset < region.start)
        return 0;
    return (offset > region.end ? region.end : offset) - region.start;
}

static void locate(gbx_case *c, const struct question *q)
{
    size_t start = 0;
    size_t end = q->len;

    c->offset = GBX_NO_OFFSET;
    if (q->advice->line != 0)
        (void)gbx_lines_find(q->text, q->len, q->advice->line, &start, &end);
    if (q->advice->line != 0 && q->advice->column != 0)
        c->offset = into_region(q->region,
                                column_offset(q->text, start, end, q->advice->column));
    c->past_end = q->advice->line != 0 && end >= q->region.end;
    c->line_start = into_region(q->region, start);
    c->line_end = into_region(q->region, end);
}

static void answer(void *user)
{
    struct question *q = user;
    gbx_case c = {.form = q->form,
                  .message = q->message,
                  .work = WORK_MAX,
                  .at = GBX_NO_OFFSET,
                  .hint = ""};

    if (!gbx_tree_parse(&c.tree, q->text + q->region.start,
                        q->region.end - q->region.start))
        return;
    gbx_tree_flatten(&c.tree);
    gbx_leaves_init(&c.leaves, &c.tree);
    locate(&c, q);
    if (q->failed_as == GBX_CODE_SYNTAX)
        gbx_explain_syntax(&c);
    else
        gbx_explain_runtime(&c);
    q->advice->hint = c.hint;
    q->advice->message = c.said;
    if (c.at != GBX_NO_OFFSET)
        gbx_lines_position(q->text, q->len, q->region.start + c.at, &q->advice->line,
                           &q->advice->column);
}

/* A place past the code that the engine reports means the code's end. */
static void clamp(const struct question *q)
{
    uint32_t last_line, last_column;

    gbx_lines_position(q->text, q->len, q->region.end, &last_line, &last_column);
    if (q->advice->line > last_line) {
        q->advice->line = last_line;
        q->advice->column = last_column;
    }
}

void gbx_guard_explain(const char *code, size_t len, gbx_form form, gbx_code failed_as,
                       const char *message, gbx_guard_advice *advice)
{
    struct question q = {.text = code,
                         .len = len,
                         .form = form,
                         .failed_as = failed_as,
                         .message = message != NULL ? message : "",
                         .advice = advice};

    advice->hint = "";
    advice->message = NULL;
    if (code == NULL || len == 0 ||
        (failed_as != GBX_CODE_SYNTAX && failed_as != GBX_CODE_RUNTIME))
        return;
    q.region = gbx_text_region(code, len);
    if (gbx_utf8_valid((const uint8_t *)code, len, NULL))
        (void)gbx_arena_run(ARENA_BASE + ARENA_PER_BYTE * len, answer, &q);
    clamp(&q);
}
