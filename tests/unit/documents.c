/* SPDX-License-Identifier: MIT */
/* documents - see documents.h. */
#include "documents.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

/* True if what the parser says of text is what head says. */
static bool agrees(const char *head, const gbx_buf *text, unsigned line,
                   documents_parse_fn parse)
{
    gbx_error error = {0};
    gbx_status status =
        parse(text->data != NULL ? (const char *)text->data : "", text->len, &error);
    char said[600];

    (void)snprintf(said, sizeof said, "%u:%u %s", error.line, error.column,
                   error.message);
    if (strncmp(head, "good", 4) == 0) {
        if (status != GBX_OK)
            (void)fprintf(stderr, "line %u: %s\n", line, said);
        return status == GBX_OK;
    }
    assert(strncmp(head, "shape ", 6) == 0 || strncmp(head, "value ", 6) == 0);
    if (status == GBX_E_POLICY && error.status == GBX_E_POLICY &&
        strncmp(said, head + 6, strlen(head + 6)) == 0)
        return true;
    (void)fprintf(stderr, "line %u: wanted %s\n        got %s\n", line, head + 6, said);
    return false;
}

/* ---- public to other modules -------------------------------------------- */

size_t documents_wrong(const char *path, documents_parse_fn parse, size_t *ret_count)
{
    FILE *file = fopen(path, "r");
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;
    char text[1024];
    char head[1024] = "";
    unsigned line = 0;
    unsigned head_line = 0;
    size_t wrong = 0;
    bool more;

    assert(file != NULL);
    *ret_count = 0;
    gbx_buf_init(&buf, GBX_KIB(64));
    do {
        more = fgets(text, sizeof text, file) != NULL;
        line++;
        if (more && text[0] == '#')
            continue;
        if (more && strncmp(text, "===", 3) != 0) {
            (void)gbx_buf_puts(&buf, text);
            continue;
        }
        assert(!buf.failed);
        /* A line end of the table is none of the document. */
        while (buf.len > 0 && buf.data[buf.len - 1] == '\n')
            buf.len--;
        if (head[0] != '\0') {
            ++*ret_count;
            wrong += !agrees(head, &buf, head_line, parse);
        }
        buf.len = 0;
        head_line = line;
        text[strcspn(text, "\n")] = '\0';
        (void)snprintf(head, sizeof head, "%s", text + 4);
    } while (more);
    (void)fclose(file);
    return wrong;
}
