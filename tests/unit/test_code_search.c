/* SPDX-License-Identifier: MIT */
/* What a search for tools finds first, and that nothing it is given harms it. */
#include "mcp/code/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const tools[] = {
    "{\"name\":\"read_text_file\",\"description\":\"Read the complete contents of a "
    "file\",\"inputSchema\":{\"properties\":{\"path\":{},\"head\":{}}}}",
    "{\"name\":\"write_file\",\"description\":\"Create or overwrite a file\","
    "\"inputSchema\":{\"properties\":{\"path\":{},\"content\":{}}}}",
    "{\"name\":\"listDirectory\",\"description\":\"Get a listing of a directory\","
    "\"inputSchema\":{\"properties\":{\"path\":{}}}}",
    "{\"name\":\"createIssue\",\"title\":\"Open a ticket\",\"description\":\"A new issue\","
    "\"inputSchema\":{\"properties\":{\"repositoryName\":{\"description\":\"of the "
    "project\"}}}}",
    "{\"name\":\"HTTPServerStatus\"}",
    "{\"name\":\"noise\",\"description\":\"file file file file file file file file "
    "words words words words words words words words words words words words\"}",
};

#define COUNT (sizeof tools / sizeof tools[0])

static void fill(gbx_search_doc docs[COUNT])
{
    for (size_t i = 0; i < COUNT; i++) {
        docs[i] = (gbx_search_doc){.server = i < 3 ? "disk" : "web"};
        assert_true(gbx_view_open(tools[i], strlen(tools[i]), &docs[i].tool));
    }
}

static const struct row {
    const char *query;
    const char *first; /* name of the best, or NULL: none fits */
} rows[] = {
    {"read file", "\"read_text_file\""},
    {"readFile", "\"read_text_file\""},
    {"READ FILES", "\"read_text_file\""},
    {"write", "\"write_file\""},
    {"overwrite", "\"write_file\""},
    {"directories", "\"listDirectory\""},
    {"list_directory", "\"listDirectory\""},
    {"ticket", "\"createIssue\""},
    {"repository", "\"createIssue\""},
    {"project", "\"createIssue\""},
    {"server status", "\"HTTPServerStatus\""},
    {"http", "\"HTTPServerStatus\""},
    {"head", "\"read_text_file\""},
    {"complete contents", "\"read_text_file\""},
    {"zebra", NULL},
};

static void test_search__finds_what_is_meant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbx_search_doc docs[COUNT];
        gbx_view name;

        fill(docs);
        assert_true(gbx_search_rank(docs, COUNT, rows[i].query, strlen(rows[i].query)));
        name = gbx_view_member(docs[0].tool, "name");
        if (rows[i].first == NULL)
            assert_true(docs[0].score <= 0);
        else if (name.len != strlen(rows[i].first) ||
                 memcmp(name.at, rows[i].first, name.len) != 0)
            fail_msg("%s: %.*s", rows[i].query, (int)name.len, name.at);
    }
}

static void test_search__without_words_moves_nothing(void **state)
{
    static const char *const queries[] = {"", "  ", "?!-", "\""};
    gbx_search_doc docs[COUNT];

    (void)state;
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        fill(docs);
        assert_true(gbx_search_rank(docs, COUNT, queries[i], strlen(queries[i])));
        assert_ptr_equal(docs[0].tool.at, tools[0]);
        assert_ptr_equal(docs[COUNT - 1].tool.at, tools[COUNT - 1]);
    }
}

static void test_search__takes_tools_of_any_kind(void **state)
{
    static const char *const odd[] = {"{}",
                                      "null",
                                      "[]",
                                      "{\"name\":5,\"description\":{}}",
                                      "{\"inputSchema\":[],\"name\":\"\\ud800\"}",
                                      "{\"inputSchema\":{\"properties\":{\"a\":7}}}"};
    gbx_search_doc docs[6];
    char query[2000];

    (void)state;
    memset(query, 'a', sizeof query);
    for (size_t i = 0; i < 6; i++) {
        docs[i] = (gbx_search_doc){.server = ""};
        assert_true(gbx_view_open(odd[i], strlen(odd[i]), &docs[i].tool));
    }
    assert_true(gbx_search_rank(docs, 6, query, sizeof query));
    assert_true(gbx_search_rank(docs, 6, "a \xff\xfe b", 6));
    assert_true(gbx_search_rank(docs, 0, "a", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search__finds_what_is_meant),
        cmocka_unit_test(test_search__without_words_moves_nothing),
        cmocka_unit_test(test_search__takes_tools_of_any_kind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
