/* SPDX-License-Identifier: MIT */
/* TypeScript of schemas: what it says, and that a hostile schema costs little. Whether all
 * of it is TypeScript, the compiler says (tests/mcp/declarations.test.mjs). */
#include "base/cleanup.h"
#include "mcp/code/code_mode.h"
#include "table.h"
#include "test.h"

/* 120 bytes. */
#define NAME20 "abcdefghijabcdefghij"
#define NAME   NAME20 NAME20 NAME20 NAME20 NAME20 NAME20

static const gbx_types_form form = {.nested_max = 10,
                                    .values_max = 24,
                                    .describe_max = 100};

static bool are_optional(char *lines)
{
    bool is_right = true;

    while (*lines != '\0') {
        char *line = table_word(&lines, "\n");
        bool wanted = strcmp(table_word(&line, " "), "yes") == 0;
        gbx_view schema;

        assert_true(gbx_view_open(line, strlen(line), &schema));
        if (gbx_types_all_optional(schema) == wanted)
            continue;
        print_error("%s\n", line);
        is_right = false;
    }
    return is_right;
}

static bool check_type(char *schema, char *type, size_t len)
{
    bool is_right;
    gbx_view view;
    gbx_buf to;

    if (strcmp(schema, "optional") == 0)
        return are_optional(type);
    gbx_buf_init(&to, 1 << 16);
    assert_true(gbx_view_open(schema, strlen(schema), &view));
    gbx_types_of(&to, view, &form);
    is_right = to.len == len && memcmp(to.data, type, len) == 0;
    if (!is_right)
        print_error("%s\n  expected %s\n  was      %.*s\n", schema, type, (int)to.len,
                    (char *)to.data);
    gbx_buf_cleanup(&to);
    return is_right;
}

TEST(types__say_what_the_schema_says)
{
    table_check("unit/code/types.txt", check_type, 72);
}

/* Each reference leads to two: without bounds there would be 2^60 of them. */
TEST(types__that_explode_are_cut)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf schema;
    gbx_view view;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to;

    gbx_buf_init(&schema, 1 << 20);
    gbx_buf_init(&to, 1 << 20);
    (void)gbx_buf_puts(&schema, "{\"$ref\":\"#/$defs/d0\",\"$defs\":{");
    for (int i = 0; i < 60; i++)
        (void)
            gbx_buf_printf(&schema,
                           "%s\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":"
                           "\"#/$defs/d%d\"}]}",
                           i > 0 ? "," : "", i, i + 1, i + 1);
    (void)gbx_buf_puts(&schema, "}}");
    assert_true(gbx_view_open((char *)schema.data, schema.len, &view));
    gbx_types_of(&to, view, &form);
    assert_false(to.failed);
    assert_true(to.len < 20000);
}

/* The declaration of a tool whose schema is what begins the text, count times what is in
 * the middle (with its number) and what ends it. */
static char *declare_long(const char *start, const char *middle, int count,
                          const char *end)
{
    gbx_buf tool;
    gbx_view view;
    gbx_buf to;

    gbx_buf_init(&tool, 1 << 24);
    gbx_buf_init(&to, 1 << 20);
    (void)gbx_buf_printf(&tool, "{\"name\":\"t\",\"inputSchema\":{%s", start);
    for (int i = 0; i < count; i++) {
        (void)gbx_buf_puts(&tool, i > 0 ? "," : "");
        for (const char *at = middle; *at != 0; at++)
            (void)gbx_buf_printf(&tool, *at == '%' ? "%d" : "%c", *at == '%' ? i : *at);
    }
    (void)gbx_buf_printf(&tool, "%s}}", end);
    assert_true(gbx_view_open((char *)tool.data, tool.len, &view));
    gbx_declare_tool(&to, view);
    gbx_buf_cleanup(&tool);
    return gbx_buf_take_string(&to, NULL);
}

TEST(declaration__of_a_tool_that_is_too_long_leaves_out_what_is_deep)
{
    char *text =
        declare_long("\"required\":[\"a\"],\"properties\":{\"a\":{\"properties\":{",
                     "\"p%\":{\"properties\":{\"" NAME "\":{},\"b" NAME "\":{}}}", 64,
                     "}}}");

    assert_non_null(strstr(text, "    t(args: {\n      a: {\n"));
    assert_non_null(strstr(text, "p63?: unknown /* see tools() */;"));
    assert_null(strstr(text, NAME));
    free(text);
}

TEST(declaration__that_fits_in_no_form_says_that_arguments_must_be_given)
{
    char *text = declare_long("\"required\":[\"a\"],\"properties\":{\"a\":{},",
                              "\"" NAME NAME "%\":{}", 62, "}");

    assert_string_equal(text, "    t(args: any /* see tools() */): Promise<any>;\n");
    free(text);
}

/* As in the template strings of many servers. */
TEST(summary__is_the_first_paragraph_that_says_something)
{
    static const char *const descriptions[] = {
        "\\n      Read a file, or a part of it.\\n\\n      More.",
        "\\r\\n\\tRead a file, or a part of it. More.",
        "  Read a file, or a part of it."};

    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++) {
        char tool[200];
        gbx_view view;
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to;

        (void)snprintf(tool, sizeof tool, "{\"name\":\"t\",\"description\":\"%s\"}",
                       descriptions[i]);
        assert_true(gbx_view_open(tool, strlen(tool), &view));
        gbx_buf_init(&to, 200);
        gbx_declare_summary(&to, view, 160);
        assert_int_equal(to.len, strlen("Read a file, or a part of it"));
        assert_memory_equal(to.data, "Read a file, or a part of it", to.len);
    }
}

TEST(summary__says_that_a_tool_which_is_only_a_task_cannot_be_called)
{
    static const char start[] = "{\"name\":\"t\",\"description\":\"Study it\","
                                "\"execution\":{\"taskSupport\":\"";
    static const char *const kinds[] = {"required", "optional"};
    static const char *const summaries[] = {
        "[cannot be called here: only as a task] Study it", "Study it"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char tool[200];
        gbx_view view;
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to;

        (void)snprintf(tool, sizeof tool, "%s%s\"}}", start, kinds[i]);
        assert_true(gbx_view_open(tool, strlen(tool), &view));
        gbx_buf_init(&to, 200);
        gbx_declare_summary(&to, view, 160);
        assert_int_equal(to.len, strlen(summaries[i]));
        assert_memory_equal(to.data, summaries[i], to.len);
    }
}

TEST(declaration__that_is_too_long_shows_fewer_values)
{
    char *text =
        declare_long("\"required\":[\"p0\"],\"properties\":{",
                     "\"p%\":{\"enum\":[\"" NAME20 "0\",\"" NAME20 "1\",\"" NAME20
                     "2\",\"" NAME20 "3\",\"" NAME20 "4\",\"" NAME20 "5\",\"" NAME20
                     "6\",\"" NAME20 "7\",\"" NAME20 "8\"]}",
                     64, "}");

    assert_non_null(strstr(text, "p0: \"" NAME20 "0\" | \"" NAME20 "1\" | string "
                                 "/* one of 9: see tools() */;"));
    free(text);
}

TEST(declaration__of_a_large_schema_has_what_it_asks_for)
{
    char *text = declare_long("\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":"
                              "\"string\"}},\"$defs\":{",
                              "\"" NAME "%\":{}", 1000, "}");

    assert_string_equal(text,
                        "    t(args: {\n      a: string;\n    }): Promise<any>;\n");
    free(text);
}

TEST(enum__of_many_values_has_the_first_and_the_kinds_of_the_others)
{
    char *text = declare_long("\"properties\":{\"a\":{\"enum\":[null,", "\"value-%\"",
                              300, "]}}");

    assert_non_null(strstr(text, "a?: null | \"value-0\" | \"value-1\" | "));
    assert_non_null(strstr(text, "\"value-23\" | "));
    assert_non_null(strstr(text, " | string /* one of 301: see tools() */;"));
    assert_true(strlen(text) < 600);
    free(text);
}

TEST(declaration__names_servers_and_tools_once)
{
    static const char a[] =
        "{\"name\":\"read\",\"description\":\"Reads it all from the "
        "beginning. And more.\",\"inputSchema\":{\"properties\":{\"x\":"
        "{\"type\":\"string\"}},\"required\":[\"x\"]},\"outputSchema\":"
        "{\"properties\":{\"y\":{\"type\":\"number\"}}}}";
    static const char b[] = "{\"name\":\"new\"}";
    gbx_search_doc docs[] = {{.server = "s"}, {.server = "o\"p"}, {.server = "s"}};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf to;

    assert_true(gbx_view_open(a, sizeof a - 1, &docs[0].tool));
    assert_true(gbx_view_open(b, sizeof b - 1, &docs[1].tool));
    docs[2].tool = docs[0].tool;
    gbx_buf_init(&to, 1 << 16);
    gbx_declare(&to, docs, 3);
    (void)gbx_buf_append(&to, "", 1);
    assert_string_equal(
        (char *)to.data,
        "declare const servers: {\n"
        "  \"s\": {\n"
        "    /** Reads it all from the beginning */\n"
        "    read(args: {\n"
        "      x: string;\n"
        "    }): Promise<{\n"
        "      y?: number;\n"
        "    }>;\n"
        "  };\n"
        "  \"o\\\"p\": {\n"
        "    \"new\"(args?: { [key: string]: unknown }): Promise<any>;\n"
        "  };\n"
        "};\n");
}

TEST_MAIN(NULL, NULL)
