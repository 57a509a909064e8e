/* SPDX-License-Identifier: MIT */
/* literals - the numbers of code, if some may be beyond 2^53 - 1. */
#include "analysis/internal.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "syntax/arena.h"

#include <ctype.h>
#include <stdlib.h>

#define SAFE       9007199254740991.0
#define CODE_MAX   GBX_KIB(64) /* of code that is parsed */
#define NUMBER_MAX 140         /* characters of a number that are read */
#define DIGITS_MAX 16

/* Does a word begin with a digit and possibly exceed 2^53 - 1? */
static bool is_far_word(const char *word, size_t len)
{
    char text[NUMBER_MAX];
    size_t n = 0;

    for (size_t i = 0; i < len && n + 1 < sizeof text; i++)
        if (word[i] != '_')
            text[n++] = word[i];
    text[n] = 0;
    return strtod(text, NULL) > SAFE || (n > DIGITS_MAX && *text == '0');
}

/* The length of what may be a number or a name, with the sign of an exponent. */
static size_t word_length(const char *code, size_t len)
{
    size_t n = 0;

    while (n < len &&
           (isalnum((unsigned char)code[n]) != 0 || code[n] == '_' || code[n] == '$' ||
            code[n] == '.' || (code[n] == '+' && n > 0 && (code[n - 1] | 0x20) == 'e')))
        n++;
    return n;
}

/* A cheap test that saves most code from being parsed. */
static bool has_far_words(const char *code, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = word_length(code + i, len - i);

        if (n > 3 && isdigit((unsigned char)code[i]) != 0 && is_far_word(code + i, n))
            return true;
        i += n > 0 ? n : 1;
    }
    return false;
}

struct literals {
    const char *code;
    gbx_region region; /* that is parsed */
    gbx_buf *to;
};

static size_t count_units(const char *text, size_t len)
{
    size_t units = 0;

    for (size_t i = 0; i < len; i++)
        units += ((unsigned char)text[i] & 0xC0) != 0x80 ? 1u : 0u;
    for (size_t i = 0; i < len; i++)
        units += (unsigned char)text[i] >= 0xF0 ? 1u : 0u;
    return units;
}

static void find(void *user)
{
    struct literals *l = user;
    const char *text = l->code + l->region.start;
    size_t units = count_units(l->code, l->region.start);
    size_t from = 0;
    gbx_tree t;

    if (!gbx_tree_parse(&t, text, l->region.end - l->region.start))
        return;
    gbx_tree_flatten(&t);
    for (uint32_t i = 0; i < t.count; i++) {
        const gbx_node *node = &t.nodes[i];
        size_t len = node->end - node->start;

        if (node->kind != GBX_NODE_NUMBER || len <= 2 || len > NUMBER_MAX)
            continue;
        units += count_units(text + from, node->start - from);
        from = node->start;
        (void)gbx_buf_printf(l->to, "%s[%zu,\"%.*s\"]", l->to->len > 1 ? "," : "",
                             units, (int)len, text + node->start);
    }
}

bool gbx_literals_find(const char *code, size_t len, gbx_buf *to)
{
    gbx_time_budget budget = {.left_ns = GBX_ANALYSIS_NS, .is_wall = true};
    struct literals l = {.code = code, .to = to};

    if (!has_far_words(code, len))
        return false;
    if (len > CODE_MAX || !gbx_utf8_valid((const uint8_t *)code, len, NULL))
        return true;
    l.region = gbx_text_region(code, len);
    (void)gbx_buf_puts(to, "[");
    gbx_time_budget_begin(&budget);
    if (l.region.end > l.region.start)
        (void)gbx_arena_run(GBX_ANALYSIS_ARENA(len), find, &l);
    gbx_time_budget_end(&budget);
    (void)gbx_buf_puts(to, "]");
    return true;
}
