/* SPDX-License-Identifier: MIT */
/* What a search for tools finds first, and that nothing it is given harms it. */
#include "mcp/code/code_mode.h"
#include "test.h"

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

TEST(search__finds_what_is_meant)
{
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

/* The names of those that fit, best first. */
static void expect(const char *const *list, size_t count, const char *query,
                   const char *names)
{
    gbx_search_doc docs[8];
    char found[512] = "";
    size_t len = 0;

    for (size_t i = 0; i < count; i++) {
        docs[i] = (gbx_search_doc){.server = "up"};
        assert_true(gbx_view_open(list[i], strlen(list[i]), &docs[i].tool));
    }
    assert_true(gbx_search_rank(docs, count, query, strlen(query)));
    for (size_t i = 0; i < count && docs[i].score > 0; i++) {
        gbx_view name = gbx_view_member(docs[i].tool, "name");

        len += (size_t)snprintf(found + len, sizeof found - len, "%s%.*s",
                                i > 0 ? " " : "", (int)name.len - 2, name.at + 1);
    }
    if (strcmp(found, names) != 0)
        fail_msg("%s: %s", query, found);
}

#define EXPECT(list, query, names) \
    expect(list, sizeof list / sizeof *list, query, names)

TEST(search__reads_escapes)
{
    static const char *const list[] = {
        "{\"name\":\"a\",\"description\":\"one\\nwidget\\tgadget\\\"quoted\\\\slashed\"}",
        "{\"name\":\"b\",\"description\":\"\\u0437\\u0430\\u043c\\u0435\\u0442\\u043a\\u0430"
        "\",\"inputSchema\":{\"properties\":{\"\\u00fcber\":{}}}}",
        "{\"name\":\"c\",\"description\":\"\\ud83d\\ude00smiley \\ud800lonely\"}",
    };

    EXPECT(list, "widget", "a");
    EXPECT(list, "gadget", "a");
    EXPECT(list, "quoted", "a");
    EXPECT(list, "slashed", "a");
    EXPECT(list, "заметка", "b");
    EXPECT(list, "über", "b");
    EXPECT(list, "smiley", "c");
    EXPECT(list, "lonely", "c");
    EXPECT(list, "nwidget", "");
}

TEST(search__knows_the_cases_of_all_letters)
{
    static const char *const list[] = {
        "{\"name\":\"a\",\"description\":\"Ёлка, ÄRGER and ΣΟΦΟΣ\"}",
        "{\"name\":\"b\",\"description\":\"ёлка, ärger and σοφος\"}",
    };

    EXPECT(list, "ёлка", "a b");
    EXPECT(list, "ЁЛКА", "a b");
    EXPECT(list, "Ärger", "a b");
    EXPECT(list, "σοφοσ", "a b");
}

TEST(search__parts_words_at_signs_of_all_scripts)
{
    static const char *const list[] = {
        "{\"name\":\"a\",\"description\":\"“alpha”—beta…gamma«delta»\"}",
        "{\"name\":\"b\",\"description\":\"検索、保存。ФАЙЛ（ｘ）\"}",
    };

    EXPECT(list, "alpha", "a");
    EXPECT(list, "beta", "a");
    EXPECT(list, "gamma", "a");
    EXPECT(list, "delta", "a");
    EXPECT(list, "保存", "b");
    EXPECT(list, "файл", "b");
}

TEST(search__finds_words_where_no_gaps_are_written)
{
    static const char *const list[] = {
        "{\"name\":\"a\",\"description\":\"删除文件和目录\"}",
        "{\"name\":\"b\",\"description\":\"ファイルを検索する\"}",
        "{\"name\":\"c\",\"description\":\"PDF파일을 업로드합니다\"}",
        "{\"name\":\"d\",\"description\":\"ค้นหาไฟล์\"}",
    };

    EXPECT(list, "文件", "a");
    EXPECT(list, "目录", "a");
    EXPECT(list, "件", "a");
    EXPECT(list, "录", "a");
    EXPECT(list, "検索", "b");
    EXPECT(list, "ファイル", "b");
    EXPECT(list, "pdf", "c");
    EXPECT(list, "파일", "c");
    EXPECT(list, "ไฟล์", "d");
    EXPECT(list, "图像", "");
}

TEST(search__goes_by_words_that_say_something)
{
    static const char *const list[] = {
        "{\"name\":\"a\",\"description\":\"how to do it: the way of the list to the end\"}",
        "{\"name\":\"b\",\"description\":\"a diagram\"}",
        "{\"name\":\"withdraw\",\"description\":\"money\"}",
    };

    EXPECT(list, "how to draw a diagram of the money", "withdraw b");
    EXPECT(list, "how to do it", "a");
    EXPECT(list, "withdraw", "withdraw");
}

TEST(search__finds_beginnings_after_the_words_themselves)
{
    static const char *const list[] = {
        "{\"name\":\"repository_repository\",\"description\":\"repository repository\"}",
        "{\"name\":\"a\",\"description\":\"a very long text about many another thing, in "
        "which repo is one word among all the others that it has\"}",
        "{\"name\":\"listing\"}",
        "{\"name\":\"boxes\"}",
        "{\"name\":\"index\"}",
    };

    EXPECT(list, "repo", "a repository_repository");
    EXPECT(list, "repos", "a repository_repository");
    EXPECT(list, "repositories", "repository_repository a");
    EXPECT(list, "list", "listing");
    EXPECT(list, "box", "boxes");
    EXPECT(list, "indexes", "index");
    EXPECT(list, "re", "");
}

TEST(search__knows_a_name_in_one_word_and_in_parts)
{
    static const char *const list[] = {
        "{\"name\":\"GitHubSearch\"}", "{\"name\":\"read_text_file\"}",
        "{\"name\":\"read_file\"}",    "{\"name\":\"kebab-case-name\"}",
        "{\"name\":\"createissue\"}",
    };

    EXPECT(list, "github search", "GitHubSearch");
    EXPECT(list, "gitHubSearch", "GitHubSearch");
    EXPECT(list, "kebabCaseName", "kebab-case-name");
    EXPECT(list, "readFile", "read_file read_text_file");
    EXPECT(list, "read-text-file", "read_text_file read_file");
    EXPECT(list, "create_issue", "createissue");
}

#define MANY 5000

/* All of them fit, each better than the one before: an order that is slow for some. */
TEST(search__ranks_thousands_of_tools_the_same_each_time)
{
    static gbx_search_doc docs[MANY];
    static char texts[MANY][64];

    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "{\"name\":\"x\",\"title\":\"%.*s\"}",
                       (int)(MANY - i) / 200, "a-a-a-a-a-a-a-a-a-a-a-a-a-a-a");
        docs[i] = (gbx_search_doc){.server = "up"};
        assert_true(gbx_view_open(texts[i], strlen(texts[i]), &docs[i].tool));
    }
    assert_true(gbx_search_rank(docs, MANY, "x", 1));
    for (size_t i = 1; i < MANY; i++) {
        assert_true(docs[i - 1].score >= docs[i].score);
        if (docs[i - 1].score == docs[i].score)
            assert_true(docs[i - 1].tool.at < docs[i].tool.at);
    }
}

/* A string of escapes that is cut in the middle of one. */
TEST(search__reads_a_text_as_far_as_it_goes)
{
    static char text[40000];
    gbx_search_doc doc = {.server = "up"};

    for (size_t shift = 0; shift < 12; shift++) {
        size_t len = (size_t)snprintf(text, sizeof text, "{\"name\":\"first%.*s",
                                      (int)shift, "............");

        while (len < sizeof text - 20)
            len += (size_t)snprintf(text + len, 13, "\\ud83d\\ude00");
        (void)snprintf(text + len, 4, "\"}");
        assert_true(gbx_view_open(text, strlen(text), &doc.tool));
        assert_true(gbx_search_rank(&doc, 1, "first", 5));
        assert_true(doc.score > 0);
    }
}

TEST(search__without_words_moves_nothing)
{
    static const char *const queries[] = {"", "  ", "?!-", "\""};
    gbx_search_doc docs[COUNT];

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        fill(docs);
        assert_true(gbx_search_rank(docs, COUNT, queries[i], strlen(queries[i])));
        assert_ptr_equal(docs[0].tool.at, tools[0]);
        assert_ptr_equal(docs[COUNT - 1].tool.at, tools[COUNT - 1]);
    }
}

TEST(search__takes_tools_of_any_kind)
{
    static const char *const odd[] = {"{}",
                                      "null",
                                      "[]",
                                      "{\"name\":5,\"description\":{}}",
                                      "{\"inputSchema\":[],\"name\":\"\\ud800\"}",
                                      "{\"inputSchema\":{\"properties\":{\"a\":7}}}"};
    gbx_search_doc docs[6];
    char query[2000];

    memset(query, 'a', sizeof query);
    for (size_t i = 0; i < 6; i++) {
        docs[i] = (gbx_search_doc){.server = ""};
        assert_true(gbx_view_open(odd[i], strlen(odd[i]), &docs[i].tool));
    }
    assert_true(gbx_search_rank(docs, 6, query, sizeof query));
    assert_true(gbx_search_rank(docs, 6, "a \xff\xfe b", 6));
    assert_true(gbx_search_rank(docs, 0, "a", 1));
}

TEST_MAIN(NULL, NULL)
