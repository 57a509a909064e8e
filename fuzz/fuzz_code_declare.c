/* SPDX-License-Identifier: MIT */
/*
 * fuzz_code_declare - whatever a tool's schema is, its declaration is one: brackets pair up,
 * strings and comments end, and its length is bounded.
 *
 * Input: a tool as JSON; or a CallToolResult, or a query, which are looked at as well.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mcp/code/code_mode.h"

#include <string.h>

#define LENGTH_MAX 20000
#define DEPTH_MAX  400

static size_t past_string(const char *text, size_t len, size_t at)
{
    for (at++; text[at] != '"'; at++) {
        assert(at < len && text[at] != '\n');
        if (text[at] == '\\')
            at++;
    }
    return at + 1;
}

static size_t past_comment(const char *text, size_t len, size_t at)
{
    const char *end = memmem(text + at + 2, len - at - 2, "*/", 2);

    assert(end != NULL);
    assert(memchr(text + at, '\n', (size_t)(end - text) - at) == NULL);
    return (size_t)(end - text) + 2;
}

/* Outside of strings and comments there is nothing of the schema's. */
static void check_text(const char *text, size_t len)
{
    static const char words[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$ \n:;,.?|&=-+";
    char open[DEPTH_MAX];
    size_t depth = 0;

    for (size_t at = 0; at < len;) {
        if (text[at] == '"') {
            at = past_string(text, len, at);
            continue;
        }
        if (text[at] == '/') {
            at = past_comment(text, len, at);
            continue;
        }
        if (strchr("{[(<", text[at]) != NULL) {
            assert(depth < DEPTH_MAX);
            open[depth++] = text[at];
        } else if (strchr("}])", text[at]) != NULL ||
                   (text[at] == '>' && (at == 0 || text[at - 1] != '='))) {
            assert(depth > 0);
            depth--;
            assert(strchr("{}[]()<>", open[depth])[1] == text[at]);
        } else {
            assert(strchr(words, text[at]) != NULL);
        }
        at++;
    }
    assert(depth == 0);
}

static void keep(void *user, const char *mime_type, const void *data, size_t len,
                 gbx_buf *handle)
{
    (void)user;
    (void)data;
    (void)len;
    assert(mime_type != NULL);
    (void)gbx_buf_puts(handle, "{}");
}

/* The value is JSON, or there is a message. */
static void check_value(gbx_view result)
{
    const gbx_value_keeper keeper = {keep, NULL};
    gbx_value_parts parts = gbx_value_parts_of(result);
    gbx_buf message;
    gbx_view value;
    gbx_buf to;

    gbx_buf_init(&message, GBX_MIB(1));
    gbx_buf_init(&to, GBX_MIB(64));
    if (gbx_value_of_result(&parts, &keeper, &to, &message))
        assert(gbx_view_open((char *)to.data, to.len, &value));
    else
        assert(message.len > 0);
    gbx_buf_cleanup(&message);
    gbx_buf_cleanup(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_search_doc docs[2] = {{.server = "a"}, {.server = "b\"c"}};
    gbx_view tool;
    gbx_buf to;

    if (!gbx_view_open((const char *)data, size, &tool))
        return 0;
    docs[0].tool = docs[1].tool = tool;
    gbx_buf_init(&to, GBX_MIB(1));
    gbx_declare(&to, docs, 2);
    assert(!to.failed && to.len < 2 * LENGTH_MAX);
    check_text((char *)to.data, to.len);
    assert(gbx_search_rank(docs, 2, (const char *)data, size < 200 ? size : 200));
    check_value(tool);
    gbx_buf_cleanup(&to);
    return 0;
}
