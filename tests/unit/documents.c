/* SPDX-License-Identifier: MIT */
/* documents - see documents.h. */
#include "documents.h"
#include "table.h"
#include "test.h"

static documents_parse_fn parse_one;

static bool agrees(char *head, char *text, size_t len)
{
    gbx_error error = {0};
    gbx_status status = parse_one(text, len, &error);
    char said[600];

    (void)snprintf(said, sizeof said, "%u:%u %s", error.line, error.column,
                   error.message);
    if (strncmp(head, "good", 4) == 0) {
        if (status != GBX_OK)
            print_error("%s\n", said);
        return status == GBX_OK;
    }
    assert_true(strncmp(head, "shape ", 6) == 0 || strncmp(head, "value ", 6) == 0);
    if (status == GBX_E_POLICY && error.status == GBX_E_POLICY &&
        strncmp(said, head + 6, strlen(head + 6)) == 0)
        return true;
    print_error("wanted %s\n   got %s\n", head + 6, said);
    return false;
}

void documents_check(const char *path, documents_parse_fn parse, size_t at_least)
{
    parse_one = parse;
    table_check(path, agrees, at_least);
}
