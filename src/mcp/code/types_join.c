/* SPDX-License-Identifier: MIT */
/* types_join - join types with & or |. A part gets parentheses only where needed; that
 * is known after it was written. */
#include "mcp/code/types_writer.h"

#include <assert.h>
#include <string.h>

#define BETWEEN_LEN 3

static bool is_all(const gbx_types_join *j)
{
    return j->between[1] == '&';
}

static void insert(gbx_types_writer *w, size_t at, char c)
{
    if (!gbx_buf_append(w->to, &c, 1))
        return;
    memmove(w->to->data + at + 1, w->to->data + at, w->to->len - 1 - at);
    w->to->data[at] = (uint8_t)c;
}

static void wrap(gbx_types_writer *w, size_t start, size_t end)
{
    insert(w, end, ')');
    insert(w, start, '(');
}

/* Does the last part repeat an earlier one? */
static bool is_again(const gbx_types_writer *w, const gbx_types_join *j)
{
    size_t start = j->starts[j->count];
    size_t len = w->to->len - start;

    for (unsigned i = 0; i < j->count; i++) {
        size_t from = j->starts[i];
        size_t end = i + 1 < j->count ? j->starts[i + 1] - BETWEEN_LEN : j->end;
        bool is_wrapped = end - from == len + 2 && w->to->data[from] == '(';

        if (end - from == len + (is_wrapped ? 2 : 0) &&
            memcmp(w->to->data + from + is_wrapped, w->to->data + start, len) == 0)
            return true;
    }
    return false;
}

static bool is_many(gbx_types_kind kind)
{
    return kind == GBX_TYPES_CHOICE || kind == GBX_TYPES_OPEN;
}

/* ---- public to other files of this folder --------------------------------- */

void gbx_types_join_begin(gbx_types_writer *w, gbx_types_join *j)
{
    assert(j->count < GBX_TYPES_PARTS_MAX);
    j->end = w->to->len;
    gbx_types_put(w, j->count > 0 ? j->between : "");
    j->starts[j->count] = w->to->len;
}

void gbx_types_join_add(gbx_types_writer *w, gbx_types_join *j, gbx_types_kind kind)
{
    if (w->to->failed)
        return;
    j->is_open = j->is_open || kind == GBX_TYPES_OPEN ||
                 (kind == GBX_TYPES_NOTHING && !is_all(j));
    if ((kind == GBX_TYPES_NOTHING && is_all(j)) || is_again(w, j)) {
        w->to->len = j->end;
        return;
    }
    if (j->count == 0)
        j->first = kind;
    else if (is_all(j) && is_many(kind))
        wrap(w, j->starts[j->count], w->to->len);
    if (j->count == 1 && is_all(j) && is_many(j->first)) {
        wrap(w, j->starts[0], j->end);
        j->starts[1] += 2;
    }
    j->nothing += kind == GBX_TYPES_NOTHING;
    j->count++;
}

gbx_types_kind gbx_types_join_end(gbx_types_writer *w, gbx_types_join *j)
{
    if (j->count == j->nothing) {
        if (j->count > 0)
            w->to->len = j->starts[0];
        gbx_types_put(w, "unknown");
        return GBX_TYPES_NOTHING;
    }
    if (j->count == 1)
        return j->first;
    if (is_all(j))
        return GBX_TYPES_ONE;
    return j->is_open ? GBX_TYPES_OPEN : GBX_TYPES_CHOICE;
}
