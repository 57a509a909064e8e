/* SPDX-License-Identifier: MIT */
/* declare - the declarations of the tools that standard input lists, as discover gives
 * them: {"server": [tools]}. For the compiler of TypeScript to look at. */
#include "base/cleanup.h"
#include "mcp/code/code_mode.h"

#include <stdio.h>
#include <stdlib.h>

#define DOCS_MAX 1000

static size_t read_docs(gbx_view servers, gbx_search_doc docs[DOCS_MAX])
{
    size_t at = 0;
    size_t count = 0;
    gbx_view name;
    gbx_view tools;

    while (gbx_view_next(servers, &at, &name, &tools)) {
        size_t cursor = 0;
        gbx_view key;
        gbx_buf text;
        char *server;

        gbx_buf_init(&text, 1000);
        (void)gbx_view_append_text(name, &text);
        server = gbx_buf_take_string(&text, NULL);
        while (count < DOCS_MAX &&
               gbx_view_next(tools, &cursor, &key, &docs[count].tool))
            docs[count++].server = server;
    }
    return count;
}

int main(void)
{
    static gbx_search_doc docs[DOCS_MAX];
    static char input[1 << 22];
    size_t len = fread(input, 1, sizeof input, stdin);
    gbx_view servers;
    gbx_buf to;
    bool failed;

    if (!gbx_view_open(input, len, &servers))
        return 1;
    gbx_buf_init(&to, GBX_MIB(16));
    gbx_declare(&to, docs, read_docs(servers, docs));
    (void)fwrite(to.data, 1, to.len, stdout);
    failed = to.failed;
    gbx_buf_cleanup(&to);
    return failed;
}
