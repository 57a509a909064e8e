/* SPDX-License-Identifier: MIT */
/*
 * strip_types - for each path on standard input: what gbx_types_take() leaves of the file,
 * behind a line with its length, or a line "REFUSED offset reason".
 */
#include "analysis/internal.h"
#include "syntax/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
    char *text;
    size_t len;
    char *to;
    gbx_types_fault fault;
    bool is_typescript;
};

static void take(void *user)
{
    struct work *w = user;

    w->is_typescript = gbx_types_take(w->text, w->len, w->to, &w->fault);
}

static char *read_file(const char *path, size_t *ret_len)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;

    if (file == NULL)
        return NULL;
    *ret_len = (size_t)getdelim(&text, &room, EOF, file);
    (void)fclose(file);
    return text;
}

static void strip(const char *path)
{
    struct work w = {.text = NULL};
    gbx_time_budget budget = {.left_ns = 10000 * GBX_NS_PER_MS, .is_wall = true};

    w.text = read_file(path, &w.len);
    if (w.text == NULL || (ssize_t)w.len < 0) {
        printf("REFUSED 0 cannot be read\n");
        free(w.text);
        return;
    }
    w.to = strdup(w.text);
    gbx_time_budget_begin(&budget);
    if (gbx_arena_run((size_t)2 << 30, take, &w) != GBX_ARENA_DONE)
        printf("REFUSED 0 needs too much memory\n");
    else if (budget.is_lost)
        printf("REFUSED 0 takes too long\n");
    else if (w.fault.hint != GBX_HINT_NONE)
        printf("REFUSED %zu %s\n", w.fault.offset,
               gbx_hint_row_of(w.fault.hint)->message);
    else if (!w.is_typescript)
        printf("REFUSED %zu cannot be parsed\n", w.fault.offset);
    else
        printf("%zu\n%.*s", w.len, (int)w.len, w.to);
    gbx_time_budget_end(&budget);
    free(w.text);
    free(w.to);
}

int main(void)
{
    char *path = NULL;
    size_t room = 0;
    ssize_t len;

    while ((len = getline(&path, &room, stdin)) > 0) {
        path[len - 1] = 0;
        strip(path);
    }
    free(path);
    return 0;
}
