/* SPDX-License-Identifier: MIT */
/* What is left of TypeScript, character by character where it stood. That it does what it
 * should, the engine says (tests/integration/test_code_typed.c). */
#include "analysis/internal.h"
#include "syntax/arena.h"
#include "table.h"
#include "test.h"

#include <ctype.h>

#define TEXT_MAX 500

struct work {
    const char *code;
    char to[TEXT_MAX];
    gbx_types_fault fault;
    bool is_typescript;
};

static void take(void *user)
{
    struct work *w = user;

    w->is_typescript = gbx_types_take(w->code, strlen(w->code), w->to, &w->fault);
}

/* In its place. */
static void collapse(char *text)
{
    size_t n = 0;

    for (size_t i = 0; text[i] != 0; i++)
        if (text[i] != ' ' ||
            (text[i + 1] != ' ' && text[i + 1] != '\n' && text[i + 1] != 0))
            text[n++] = text[i];
    text[n] = 0;
}

static bool is_as_expected(const char *name, const char *code, const char *left)
{
    struct work w = {.code = code};
    char was[TEXT_MAX];

    strcpy(w.to, code);
    assert_int_equal(gbx_arena_run((size_t)100 << 20, take, &w), GBX_ARENA_DONE);
    assert_int_equal(strlen(w.to), strlen(code));
    collapse(w.to);
    if (w.fault.hint != GBX_HINT_NONE)
        (void)snprintf(was, sizeof was, "~%s @%zu",
                       gbx_hint_row_of(w.fault.hint)->message, w.fault.offset);
    else
        (void)snprintf(was, sizeof was, "%s", w.is_typescript ? w.to : "no TypeScript");
    if (strcmp(was, left) == 0)
        return true;
    print_message("%s\n  expected %s\n  was      %s\n", name, left, was);
    return false;
}

TEST(types__leave_the_code_where_it_stood)
{
    const table_line *rows;
    size_t count = table_lines("unit/guard/types.txt", "rows", true, &rows);
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++)
        wrong += !is_as_expected(rows[i].cell[0], rows[i].cell[1], rows[i].cell[2]);
    assert_int_equal(wrong, 0);
}

TEST_MAIN(NULL, NULL)
