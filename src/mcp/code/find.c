/* SPDX-License-Identifier: MIT */
/* find - the known tools that a query may mean. */
#include "base/json.h"
#include "mcp/code/code_mode.h"

#include <stdlib.h>
#include <string.h>

#define FOUND_MAX 20

/* Returns their number; docs NULL: only count. */
static size_t gather(const gbx_mcp_code *code, const gbx_code_query *q,
                     gbx_search_doc *docs)
{
    size_t count = 0;

    for (size_t i = 0; i < gbx_upstreams_count(code->upstreams); i++) {
        gbx_upstream_info info = gbx_upstreams_info(code->upstreams, i);
        size_t cursor = 0;
        gbx_view key;
        gbx_view tool;

        if (q->server[0] != 0 && strcmp(info.name, q->server) != 0)
            continue;
        while (gbx_view_next(info.tools, &cursor, &key, &tool)) {
            if (q->tool[0] != 0 &&
                !gbx_view_is_text(gbx_view_member(tool, "name"), q->tool))
                continue;
            if (docs != NULL)
                docs[count] = (gbx_search_doc){.server = info.name, .tool = tool};
            count++;
        }
    }
    return count;
}

/* Equivalent to a missing argument. */
static bool is_nothing(gbx_view value)
{
    return value.at == NULL || gbx_view_kind(value) == 'n' ||
           (gbx_view_kind(value) == '"' && value.len == 2);
}

static bool take_text(gbx_view settings, const char *name, char *ret, size_t size,
                      gbx_buf *message)
{
    gbx_view value = gbx_view_member(settings, name);

    ret[0] = 0;
    if (is_nothing(value))
        return true;
    if (gbx_code_take_name(value, ret, size))
        return true;
    (void)gbx_buf_printf(message, "'%s' is a string of at most %zu bytes", name,
                         size - 1);
    return false;
}

/* ---- public to other files of this folder --------------------------------- */

bool gbx_code_read_query(gbx_view words, gbx_view settings, gbx_code_query *ret,
                         gbx_buf *message)
{
    static const char *const details[] = {"", "names", "summary", "types"};
    bool known = false;

    if (!is_nothing(words) &&
        !gbx_code_take_name(words, ret->words, sizeof ret->words)) {
        (void)gbx_buf_printf(message, "'query' is a string of at most %zu bytes",
                             sizeof ret->words - 1);
        return false;
    }
    if (ret->server[0] == 0 &&
        !take_text(settings, "server", ret->server, sizeof ret->server, message))
        return false;
    if (!take_text(settings, "tool", ret->tool, sizeof ret->tool, message) ||
        !take_text(settings, "detail", ret->detail, sizeof ret->detail, message))
        return false;
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++)
        known = known || strcmp(ret->detail, details[i]) == 0;
    if (!known)
        (void)gbx_buf_puts(message, "'detail' is \"names\", \"summary\" or \"types\"");
    return known;
}

bool gbx_code_find(const gbx_mcp_code *code, const gbx_code_query *query, size_t limit,
                   gbx_search_doc **ret, size_t *ret_count, size_t *ret_total)
{
    size_t count = gather(code, query, NULL);
    gbx_search_doc *docs = calloc(count + 1, sizeof *docs);

    if (docs == NULL)
        return false;
    (void)gather(code, query, docs);
    if (!gbx_search_rank(docs, count, query->words, strlen(query->words))) {
        free(docs);
        return false;
    }
    if (query->words[0] != 0)
        while (count > 0 && docs[count - 1].score <= 0)
            count--;
    *ret_total = count;
    *ret_count = count < limit ? count : limit;
    *ret = docs;
    return true;
}

void gbx_code_find_json(const gbx_mcp_code *code, const gbx_code_query *query,
                        gbx_buf *to)
{
    bool wants_types = strcmp(query->detail, "types") == 0;
    gbx_search_doc *docs = NULL;
    size_t count = 0;
    size_t total;

    if (!gbx_code_find(code, query, query->words[0] != 0 ? FOUND_MAX : SIZE_MAX, &docs,
                       &count, &total))
        to->failed = true; /* an empty list would claim that none exists */
    (void)gbx_buf_puts(to, "[");
    for (size_t i = 0; i < count; i++) {
        gbx_view name = gbx_view_member(docs[i].tool, "name");
        const char *mark;
        gbx_buf text;

        if (gbx_view_kind(name) != '"')
            continue;
        gbx_buf_init(&text, GBX_KIB(64));
        (void)gbx_buf_puts(to, i > 0 ? ",{\"server\":" : "{\"server\":");
        (void)gbx_json_append_string(to, docs[i].server, strlen(docs[i].server));
        (void)gbx_buf_puts(to, ",\"tool\":");
        (void)gbx_buf_append(to, name.at, name.len);
        gbx_declare_summary(&text, docs[i].tool, 160);
        (void)gbx_buf_puts(to, ",\"summary\":");
        (void)gbx_json_append_string(to, text.data, text.len);
        mark = gbx_gate_mark(code->gate, docs[i].server, docs[i].tool);
        if (mark[0] != '\0')
            (void)gbx_buf_printf(to, ",\"approval\":\"%s\"", mark);
        if (wants_types) {
            text.len = 0;
            gbx_declare_tool(&text, docs[i].tool);
            (void)gbx_buf_puts(to, ",\"types\":");
            (void)gbx_json_append_string(to, text.data, text.len);
        }
        (void)gbx_buf_puts(to, "}");
        gbx_buf_cleanup(&text);
    }
    (void)gbx_buf_puts(to, "]");
    free(docs);
}

void gbx_code_tools_json(const gbx_mcp_code *code, const gbx_code_query *query,
                         gbx_buf *to)
{
    gbx_search_doc *docs = NULL;
    size_t count = 0;
    size_t total;

    (void)gbx_code_find(code, query, SIZE_MAX, &docs, &count, &total);
    (void)gbx_buf_puts(to, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            (void)gbx_buf_puts(to, ",");
        (void)gbx_buf_append(to, docs[i].tool.at, docs[i].tool.len);
    }
    (void)gbx_buf_puts(to, "]");
    free(docs);
}
