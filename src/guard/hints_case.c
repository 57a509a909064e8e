/* SPDX-License-Identifier: MIT */
/* hints_case - the failed code as the rules for hints see it. */
#include "guard/internal.h"

#include <string.h>

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
