/* SPDX-License-Identifier: MIT */
/* TypeScript of schemas: what it says, and that a hostile schema costs little. Whether all
 * of it is TypeScript, the compiler says (tests/mcp/declarations.test.mjs). */
#include "mcp/code/code_mode.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* 120 bytes. */
#define NAME20 "abcdefghijabcdefghij"
#define NAME   NAME20 NAME20 NAME20 NAME20 NAME20 NAME20

static const gbx_types_form form = {.nested_max = 10,
                                    .values_max = 24,
                                    .describe_max = 100};

static const struct row {
    const char *schema;
    const char *type;
} rows[] = {
    {"{\"type\":\"string\"}", "string"},
    {"{\"type\":\"integer\"}", "number"},
    {"{\"type\":[\"string\",\"null\"]}", "string | null"},
    {"{\"type\":\"string\",\"nullable\":true}", "string | null"},
    {"{\"enum\":[\"a\",1,null,true]}", "\"a\" | 1 | null | true"},
    {"{\"enum\":[]}", "never"},
    {"{\"enum\":[{}]}", "{ [key: string]: unknown } /* one of 1: see tools() */"},
    {"{\"enum\":[\"a\",{},[],1e999,false]}",
     "\"a\" | false | number | { [key: string]: unknown } | Array<unknown> "
     "/* one of 5: see tools() */"},
    {"{\"const\":{}}", "{ [key: string]: unknown }"},
    {"{\"const\":\"x\"}", "\"x\""},
    {"{\"const\":1e999}", "number"},
    {"{\"type\":\"array\",\"items\":{\"type\":\"number\"}}", "Array<number>"},
    {"{\"type\":\"array\"}", "Array<unknown>"},
    {"{\"prefixItems\":[{\"type\":\"string\"},{}]}",
     "[string, unknown, ...Array<unknown>]"},
    {"{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[string]"},
    {"{\"prefixItems\":[{}],\"items\":{\"type\":\"null\"}}",
     "[unknown, ...Array<null>]"},
    {"{\"prefixItems\":[{},{}],\"maxItems\":2}", "[unknown, unknown]"},
    {"{\"items\":[{\"type\":\"string\"}],\"additionalItems\":false}", "[string]"},
    {"{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"number\"}]}", "string | number"},
    {"{\"anyOf\":[{\"type\":\"string\"},{}]}", "string | unknown"},
    {"{\"allOf\":[{\"type\":\"string\"},{}]}", "string"},
    {"{\"allOf\":[{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]},"
     "{\"enum\":[\"a\",null]},{\"enum\":[\"a\",null]}]}",
     "(string | null) & (\"a\" | null)"},
    {"{\"type\":\"string\",\"anyOf\":[{\"format\":\"uuid\"},{\"format\":\"email\"}]}",
     "string"},
    {"{\"type\":\"string\",\"anyOf\":[{\"const\":\"a\"},{\"format\":\"email\"}]}",
     "(\"a\" | unknown) & string"},
    {"{\"type\":\"string\",\"oneOf\":[{\"const\":\"a\"},{\"const\":\"b\"}]}",
     "\"a\" | \"b\""},
    {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
     "\"anyOf\":[{\"required\":[\"x\"]},{\"required\":[\"y\"]}]}",
     "{ [key: string]: string } & ({ x: unknown } | { y: unknown })"},
    {"{\"required\":[\"p\"],\"$ref\":\"#/$defs/b\",\"allOf\":[{\"required\":[\"c\"]}],"
     "\"oneOf\":[{\"required\":[\"d\"]}],\"anyOf\":[{\"required\":[\"e\"]},"
     "{\"required\":[\"f\"]}],\"$defs\":{\"b\":{\"required\":[\"b\"]}}}",
     "{ p: unknown } & { b: unknown } & { c: unknown } & { d: unknown } & "
     "({ e: unknown } | { f: unknown })"},
    {"{\"type\":\"object\",\"allOf\":[{\"if\":{\"required\":[\"a\"]},\"then\":{\"required\":"
     "[\"b\"]},\"else\":{\"required\":[\"c\"]}}],\"dependentSchemas\":{\"d\":{\"required\":"
     "[\"e\"]}}}",
     "{ a: unknown } & { b: unknown } | { c: unknown } | "
     "{ d: unknown } & { e: unknown } | {}"},
    {"{\"type\":\"object\",\"if\":{},\"then\":{\"minProperties\":1}}",
     "{ [key: string]: unknown }"},
    {"{\"type\":\"object\"}", "{ [key: string]: unknown }"},
    {"{\"type\":\"object\",\"additionalProperties\":false}", "{}"},
    {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}}",
     "{ [key: string]: number }"},
    {"{\"type\":\"object\",\"patternProperties\":{\"^x\":{\"type\":\"number\"}},"
     "\"additionalProperties\":false}",
     "{ [key: string]: number }"},
    {"{\"patternProperties\":{\"^x\":{\"type\":\"number\"},\"^y\":{}},"
     "\"additionalProperties\":{\"type\":\"string\"}}",
     "{ [key: string]: number | unknown | string }"},
    {"{\"patternProperties\":{\"^x\":{\"type\":\"number\"}}}",
     "{ [key: string]: unknown /* others: number */ }"},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}},\"additionalProperties\":true}",
     "{\n  a?: string;\n  [key: string]: unknown;\n}"},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}},"
     "\"additionalProperties\":{\"type\":\"number\"}}",
     "{\n  a?: string;\n  [key: string]: unknown /* others: number */;\n}"},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}},"
     "\"additionalProperties\":{\"enum\":[\"*/\"]}}",
     "{\n  a?: string;\n  [key: string]: unknown /* others: see tools() */;\n}"},
    {"{\"properties\":{\"a\":{\"type\":\"number\"}},"
     "\"additionalProperties\":{\"type\":\"number\"}}",
     "{\n  a?: number;\n} & { [key: string]: number }"},
    {"{\"type\":[\"object\",\"null\"],\"properties\":{\"a\":{}},\"anyOf\":[true]}",
     "{\n  a?: unknown;\n} | null"},
    {"{\"properties\":{\"a\":{\"type\":\"string\"},\"b-c\":{}},\"required\":[\"a\"]}",
     "{\n  a: string;\n  \"b-c\"?: unknown;\n}"},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}},"
     "\"required\":[\"other\",\"a\",7,\"b-c\",\"\\u0061\",\"other\"]}",
     "{\n  a: string;\n} & { other: unknown; \"b-c\": unknown }"},
    {"{\"type\":\"object\",\"required\":[\"must\"],\"additionalProperties\":{\"type\":\"null\"}}",
     "{ must: unknown } & { [key: string]: null }"},
    {"{\"type\":\"object\",\"required\":[\"must\"]}", "{ must: unknown }"},
    {"{\"properties\":{\"a\":{},\"b\":{}},"
     "\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}",
     "{\n  a?: unknown;\n  b?: unknown;\n} & ({ a: unknown } | { b: unknown })"},
    {"{\"required\":[\"a\"],\"allOf\":[{\"properties\":{\"a\":{}}}]}",
     "{ a: unknown } & {\n  a?: unknown;\n}"},
    {"{\"required\":[]}", "unknown"},
    {"{\"properties\":{\"a\":{},\"a\":{\"type\":\"string\"},\"\\u0061\":{}}}",
     "{\n  a?: unknown;\n}"},
    {"{\"properties\":{\"a\":{\"description\":\"ends */ here\\nand\\u2028there\"}}}",
     "{\n  /** ends *| here and there */ a?: unknown;\n}"},
    {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"type\":\"string\"}}}", "string"},
    {"{\"$ref\":\"#/definitions/a~1b\",\"definitions\":{\"a/b\":{\"type\":\"null\"}}}",
     "null"},
    {"{\"$ref\":\"#/$defs/A%20b%7e1%2\",\"$defs\":{\"A b/%2\":{\"type\":\"null\"}}}",
     "null"},
    {"{\"$ref\":\"#\\/$defs\\/a\",\"$defs\":{\"a\":{\"type\":\"null\"}}}", "null"},
    {"{\"$ref\":\"#/$defs/a%00\",\"$defs\":{\"a\":{}}}", "unknown"},
    {"{\"$ref\":\"#\"}", "unknown /* as # */"},
    {"{\"$ref\":\"https://elsewhere/a\"}", "unknown"},
    {"{\"$ref\":\"#/none\"}", "unknown"},
    {"{\"properties\":{\"next\":{\"$ref\":\"#/$defs/n\"}},\"$defs\":{\"n\":{\"properties\":"
     "{\"next\":{\"$ref\":\"#/$defs/n\"}}}}}",
     "{\n  next?: {\n    next?: unknown /* as #/$defs/n */;\n  };\n}"},
    {"{\"properties\":{\"next\":{\"$ref\":\"#\"}}}",
     "{\n  next?: unknown /* as # */;\n}"},
    {"{\"$ref\":\"#/$defs/T/oneOf/1\",\"$defs\":{\"T\":{\"oneOf\":[{},{\"type\":\"null\"}]}}}",
     "null"},
    {"{\"$ref\":\"#/$defs/T/2\",\"$defs\":{\"T\":[{}]}}", "unknown"},
    {"{\"$ref\":\"#/$defs/T/x\",\"$defs\":{\"T\":[{\"type\":\"null\"}]}}", "unknown"},
    {"{\"$ref\":\"#here\",\"$defs\":{\"T\":{\"$anchor\":\"here\",\"type\":\"null\"}}}",
     "null"},
    {"{\"$ref\":\"t.json\",\"$defs\":{\"T\":{\"$id\":\"t.json\",\"type\":\"null\"}}}",
     "null"},
    {"{\"$id\":\"a:b\",\"$ref\":\"a:b#/$defs/T\",\"$defs\":{\"T\":{\"type\":\"null\"}}}",
     "null"},
    {"{\"$ref\":\"a:c#/$defs/T\",\"$defs\":{\"T\":{\"type\":\"null\"}}}", "unknown"},
    {"{\"properties\":{\"n\":{\"description\":\"Size\",\"default\":20,\"minimum\":1,"
     "\"maximum\":100},\"t\":{\"default\":\"*/\",\"format\":\"date-time\","
     "\"exclusiveMinimum\":0},\"u\":{\"default\":null,\"minimum\":0}}}",
     "{\n  /** Size @default 20, 1..100 */ n?: unknown;\n"
     "  /** @default \"*|\", > 0, date-time */ t?: unknown;\n"
     "  /** >= 0 */ u?: unknown;\n}"},
    {"true", "unknown"},
    {"false", "never"},
    {"7", "unknown"},
    {"{\"type\":7}", "unknown"},
};

static void test_arguments__may_be_left_out_if_nothing_must_be_given(void **state)
{
    static const struct {
        const char *schema;
        bool is_optional;
    } cases[] = {
        {"{}", true},
        {"true", true},
        {"{\"required\":[]}", true},
        {"{\"required\":[\"x\"]}", false},
        {"{\"allOf\":[{},{\"required\":[\"x\"]}]}", false},
        {"{\"allOf\":[{\"allOf\":[{\"required\":[\"x\"]}]}]}", false},
        {"{\"allOf\":[{},{\"required\":[]}]}", true},
        {"{\"anyOf\":[{},{\"required\":[\"x\"]}]}", true},
        {"{\"anyOf\":[{\"required\":[\"y\"]},{\"required\":[\"x\"]}]}", false},
        {"{\"oneOf\":[{\"required\":[\"y\"]}]}", false},
        {"{\"oneOf\":[]}", true},
        {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"required\":[\"x\"]}}}", false},
        {"{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"required\":[]}}}", true},
        {"{\"allOf\":[{\"$ref\":\"#/$defs/a\"}],\"$defs\":{\"a\":{\"required\":[\"x\"]}}}",
         false},
        {"{\"$ref\":\"#\"}", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        gbx_view schema;

        assert_true(gbx_view_open(cases[i].schema, strlen(cases[i].schema), &schema));
        if (gbx_types_all_optional(schema) != cases[i].is_optional)
            fail_msg("%s", cases[i].schema);
    }
}

static void test_types__say_what_the_schema_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbx_view view;
        gbx_buf to;

        gbx_buf_init(&to, 1 << 16);
        assert_true(gbx_view_open(rows[i].schema, strlen(rows[i].schema), &view));
        gbx_types_of(&to, view, &form);
        if (to.len != strlen(rows[i].type) ||
            memcmp(to.data, rows[i].type, to.len) != 0)
            fail_msg("%s\n  expected %s\n  was      %.*s", rows[i].schema, rows[i].type,
                     (int)to.len, (char *)to.data);
        gbx_buf_cleanup(&to);
    }
}

/* Each reference leads to two: without bounds there would be 2^60 of them. */
static void test_types__that_explode_are_cut(void **state)
{
    gbx_buf schema;
    gbx_view view;
    gbx_buf to;

    (void)state;
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
    gbx_buf_cleanup(&schema);
    gbx_buf_cleanup(&to);
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

static void test_declaration__of_a_tool_that_is_too_long_leaves_out_what_is_deep(
    void **state)
{
    char *text =
        declare_long("\"required\":[\"a\"],\"properties\":{\"a\":{\"properties\":{",
                     "\"p%\":{\"properties\":{\"" NAME "\":{},\"b" NAME "\":{}}}", 64,
                     "}}}");

    (void)state;
    assert_non_null(strstr(text, "    t(args: {\n      a: {\n"));
    assert_non_null(strstr(text, "p63?: unknown /* see tools() */;"));
    assert_null(strstr(text, NAME));
    free(text);
}

static void test_declaration__that_fits_in_no_form_says_that_arguments_must_be_given(
    void **state)
{
    char *text = declare_long("\"required\":[\"a\"],\"properties\":{\"a\":{},",
                              "\"" NAME NAME "%\":{}", 62, "}");

    (void)state;
    assert_string_equal(text, "    t(args: any /* see tools() */): Promise<any>;\n");
    free(text);
}

/* As in the template strings of many servers. */
static void test_summary__is_the_first_paragraph_that_says_something(void **state)
{
    static const char *const descriptions[] = {
        "\\n      Read a file, or a part of it.\\n\\n      More.",
        "\\r\\n\\tRead a file, or a part of it. More.",
        "  Read a file, or a part of it."};
    (void)state;

    for (size_t i = 0; i < sizeof descriptions / sizeof *descriptions; i++) {
        char tool[200];
        gbx_view view;
        gbx_buf to;

        (void)snprintf(tool, sizeof tool, "{\"name\":\"t\",\"description\":\"%s\"}",
                       descriptions[i]);
        assert_true(gbx_view_open(tool, strlen(tool), &view));
        gbx_buf_init(&to, 200);
        gbx_declare_summary(&to, view, 160);
        assert_int_equal(to.len, strlen("Read a file, or a part of it"));
        assert_memory_equal(to.data, "Read a file, or a part of it", to.len);
        gbx_buf_cleanup(&to);
    }
}

static void test_summary__says_that_a_tool_which_is_only_a_task_cannot_be_called(
    void **state)
{
    static const char start[] = "{\"name\":\"t\",\"description\":\"Study it\","
                                "\"execution\":{\"taskSupport\":\"";
    static const char *const kinds[] = {"required", "optional"};
    static const char *const summaries[] = {
        "[cannot be called here: only as a task] Study it", "Study it"};

    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char tool[200];
        gbx_view view;
        gbx_buf to;

        (void)snprintf(tool, sizeof tool, "%s%s\"}}", start, kinds[i]);
        assert_true(gbx_view_open(tool, strlen(tool), &view));
        gbx_buf_init(&to, 200);
        gbx_declare_summary(&to, view, 160);
        assert_int_equal(to.len, strlen(summaries[i]));
        assert_memory_equal(to.data, summaries[i], to.len);
        gbx_buf_cleanup(&to);
    }
}

static void test_declaration__that_is_too_long_shows_fewer_values(void **state)
{
    char *text =
        declare_long("\"required\":[\"p0\"],\"properties\":{",
                     "\"p%\":{\"enum\":[\"" NAME20 "0\",\"" NAME20 "1\",\"" NAME20
                     "2\",\"" NAME20 "3\",\"" NAME20 "4\",\"" NAME20 "5\",\"" NAME20
                     "6\",\"" NAME20 "7\",\"" NAME20 "8\"]}",
                     64, "}");

    (void)state;
    assert_non_null(strstr(text, "p0: \"" NAME20 "0\" | \"" NAME20 "1\" | string "
                                 "/* one of 9: see tools() */;"));
    free(text);
}

static void test_declaration__of_a_large_schema_has_what_it_asks_for(void **state)
{
    char *text = declare_long("\"required\":[\"a\"],\"properties\":{\"a\":{\"type\":"
                              "\"string\"}},\"$defs\":{",
                              "\"" NAME "%\":{}", 1000, "}");

    (void)state;
    assert_string_equal(text,
                        "    t(args: {\n      a: string;\n    }): Promise<any>;\n");
    free(text);
}

static void test_enum__of_many_values_has_the_first_and_the_kinds_of_the_others(
    void **state)
{
    char *text = declare_long("\"properties\":{\"a\":{\"enum\":[null,", "\"value-%\"",
                              300, "]}}");

    (void)state;
    assert_non_null(strstr(text, "a?: null | \"value-0\" | \"value-1\" | "));
    assert_non_null(strstr(text, "\"value-23\" | "));
    assert_non_null(strstr(text, " | string /* one of 301: see tools() */;"));
    assert_true(strlen(text) < 600);
    free(text);
}

static void test_declaration__names_servers_and_tools_once(void **state)
{
    static const char a[] =
        "{\"name\":\"read\",\"description\":\"Reads it all from the "
        "beginning. And more.\",\"inputSchema\":{\"properties\":{\"x\":"
        "{\"type\":\"string\"}},\"required\":[\"x\"]},\"outputSchema\":"
        "{\"properties\":{\"y\":{\"type\":\"number\"}}}}";
    static const char b[] = "{\"name\":\"new\"}";
    gbx_search_doc docs[] = {{.server = "s"}, {.server = "o\"p"}, {.server = "s"}};
    gbx_buf to;

    (void)state;
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
    gbx_buf_cleanup(&to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments__may_be_left_out_if_nothing_must_be_given),
        cmocka_unit_test(test_types__say_what_the_schema_says),
        cmocka_unit_test(test_types__that_explode_are_cut),
        cmocka_unit_test(
            test_declaration__of_a_tool_that_is_too_long_leaves_out_what_is_deep),
        cmocka_unit_test(
            test_declaration__that_fits_in_no_form_says_that_arguments_must_be_given),
        cmocka_unit_test(test_declaration__that_is_too_long_shows_fewer_values),
        cmocka_unit_test(test_summary__is_the_first_paragraph_that_says_something),
        cmocka_unit_test(
            test_summary__says_that_a_tool_which_is_only_a_task_cannot_be_called),
        cmocka_unit_test(test_declaration__of_a_large_schema_has_what_it_asks_for),
        cmocka_unit_test(
            test_enum__of_many_values_has_the_first_and_the_kinds_of_the_others),
        cmocka_unit_test(test_declaration__names_servers_and_tools_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
