/* SPDX-License-Identifier: MIT */
/* excerpt - cuts between characters, never inside one. */
#include "mcp/code/code.h"

#include <stdio.h>
#include <string.h>

gbx_excerpt gbx_excerpt_text(const char *text, size_t len, size_t max,
                             gbx_artifacts *store, const char *name,
                             const char *mime_type, int64_t now_ns)
{
    gbx_excerpt cut = {.head = text, .head_len = len, .total = len};
    const gbx_artifact *kept;
    size_t tail_at;

    if (len <= max)
        return cut;
    cut.head_len = gbx_artifacts_border(text, len, max / 2);
    tail_at = gbx_artifacts_border(text, len, len - (max - max / 2) + 3);
    cut.tail = text + tail_at;
    cut.tail_len = len - tail_at;
    kept = gbx_artifacts_add(store, name, mime_type, text, len, now_ns);
    if (kept != NULL)
        memcpy(cut.uri, kept->uri, sizeof cut.uri);
    return cut;
}

void gbx_excerpt_say(const gbx_excerpt *cut, const char *what, size_t page, gbx_buf *to)
{
    if (cut->tail == NULL)
        return;
    (void)gbx_buf_printf(to,
                         "[%s cut: the first %zu and the last %zu of %zu bytes are "
                         "shown, %zu between them are not; ",
                         what, cut->head_len, cut->tail_len, cut->total,
                         cut->total - cut->head_len - cut->tail_len);
    if (cut->uri[0] != 0)
        (void)gbx_buf_printf(to,
                             "%s is the resource %s, in pages "
                             "%s?offset=0&length=%zu]\n",
                             cut->is_rest ? "all that was kept" : "the whole", cut->uri,
                             cut->uri, page);
    else
        (void)gbx_buf_puts(to, "the whole is too large to be kept: return less]\n");
}

void gbx_excerpt_append(const gbx_excerpt *cut, gbx_escape how, gbx_buf *to)
{
    (void)gbx_utf8_append_escaped(to, cut->head, cut->head_len, how);
    if (cut->tail == NULL)
        return;
    (void)gbx_buf_printf(to, "\n[... %zu bytes ...]\n",
                         cut->total - cut->head_len - cut->tail_len);
    (void)gbx_utf8_append_escaped(to, cut->tail, cut->tail_len, how);
}

bool gbx_excerpt_is_marked(const char *text)
{
    static const char begin[] = "[... ";

    while ((text = strstr(text, begin)) != NULL) {
        size_t digits;

        text += sizeof begin - 1;
        digits = strspn(text, "0123456789");
        if (digits > 0 && (strncmp(text + digits, " bytes ...]", 11) == 0 ||
                           strncmp(text + digits, " characters ...]", 16) == 0))
            return true;
    }
    return false;
}
