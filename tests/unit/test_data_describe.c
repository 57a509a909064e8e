/* SPDX-License-Identifier: MIT */
/* What a model is told of a dataset: types, sizes, masked examples. */
#include "base/cleanup.h"
#include "base/json.h"
#include "described.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_types__are_of_all_values(void **state)
{
    (void)state;

    tells("[{\"id\":1,\"x\":1.5,\"s\":\"a\",\"b\":true,\"n\":null},"
          "{\"id\":2,\"x\":2,\"s\":null,\"t\":[]}]",
          TYPE,
          "{ id: integer; x: number; s: string | null; b?: boolean; n?: null; "
          "t?: [] }[]");
    tells("[{\"a\":{\"b\":[{\"c\":1},{\"d\":\"2024-05-01\"}]}}]", TYPE,
          "{ a: { b: { c?: integer; d?: string /* ISO date */ }[] } }[]");
    tells("[1,\"a\",null]", TYPE, "(string | integer | null)[]");
    tells("{\"odd name\":1,\"a\\\"b\":2}", TYPE,
          "{ \"odd name\": integer; \"a\\\"b\": integer }");
    tells("[]", TYPE, "[]");
    tells("{}", TYPE, "object");
    tells("7", TYPE, "integer");
    tells("[[1,2],[3.5]]", TYPE, "number[][]");
}

static void test_arrays_that_are_too_deep__are_counted_all_the_same(void **state)
{
    (void)state;

    tells("[[[[[[[1,2],[3]]]]]]]", TYPE, "array[][][][][][]");
    tells("[[[[[[[]]]]]]]", TYPE, "[][][][][][][]");
    tells("[[[[[[[1,2],[3]]]]]]]", STATISTICS,
          "[\n{\"field\":\"[]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":1},\n"
          "{\"field\":\"[][]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":1},\n"
          "{\"field\":\"[][][]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":1},\n"
          "{\"field\":\"[][][][]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":1},\n"
          "{\"field\":\"[][][][][]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":2},\n"
          "{\"field\":\"[][][][][][]\",\"kinds\":[\"array\"],\"count\":2,\"nulls\":0,"
          "\"elements\":3}\n]");
}

static void test_choices__are_named_where_they_are_many_records(void **state)
{
    (void)state;

    tells("[{\"s\":\"open\"},{\"s\":\"open\"},{\"s\":\"open\"},{\"s\":\"open\"},"
          "{\"s\":\"open\"},{\"s\":\"paid\"},{\"s\":\"paid\"},{\"s\":\"paid\"},"
          "{\"s\":\"paid\"},{\"s\":\"paid\"}]",
          TYPE, "{ s: \"open\" | \"paid\" }[]");
    tells("[\"a\",\"a\",\"a\",\"a\",\"b\"]", TYPE, "string[]");
    tells("[{\"password\":\"x\"},{\"password\":\"x\"},{\"password\":\"x\"},"
          "{\"password\":\"x\"},{\"password\":\"x\"}]",
          TYPE, "{ password: string }[]");
    tells("[\"a@b.example\",\"a@b.example\",\"a@b.example\",\"a@b.example\","
          "\"a@b.example\"]",
          TYPE, "string[]");
}

static void test_sizes__are_said(void **state)
{
    (void)state;

    tells("[{},{}]", SIZE, "2 records");
    tells("[1,2,3]", SIZE, "3 elements");
    tells("{\"a\":1}", SIZE, "one object of 1 field");
    tells("\"x\"", SIZE, "one value");
}

static void test_examples__are_three_and_masked(void **state)
{
    (void)state;

    tells("[{\"id\":1,\"email\":\"Ada@example.com\",\"ssn\":78051120,\"ok\":true},"
          "{\"note\":\"call +49 170 1234567\",\"card\":4111111111111111},"
          "{\"user\":{\"apiKey\":{\"deep\":[\"abc\",12]}}},{\"id\":4}]",
          EXAMPLES,
          "{id:1,email:\"Xxx@xxxxxxx.xxx\",ssn:99999999,ok:true}\n"
          "{note:\"call +00 000 0000000\",card:9999999999999999}\n"
          "{user:{apiKey:{deep:[\"xxx\",99]}}}\n");
    tells("[[1,2,3,4,5]]", EXAMPLES, "[1,2,3, /* 2 more */]\n");
    tells("[{\"a\":{\"b\":{\"c\":{\"d\":1}}}}]", EXAMPLES, "{a:{b:{c:{d:1}}}}\n");
    tells("[{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":1}}}}}]", EXAMPLES,
          "{a:{b:{c:{d:{ /* ... */ }}}}}\n");
    tells("{\"a\":1}", EXAMPLES, "{a:1}\n");
}

static void test_secrets_inside_text__are_in_no_part_of_it(void **state)
{
    static const char record[] = "{\"conn\":\"Server=x;Password=hunter2;\","
                                 "\"bearer\":\"Bearer abc123\",\"mfa\":\"hunter2\"}";
    gbx_buf json;
    (void)state;

    gbx_buf_init(&json, GBX_KIB(16));
    for (int i = 0; i < 6; i++)
        (void)gbx_buf_printf(&json, "%s%s", i == 0 ? "[" : ",", record);
    (void)gbx_buf_append(&json, "]", 2);
    for (int i = TYPE; i <= STATISTICS; i++) {
        char *text = told((const char *)json.data, (part)i, 10000);

        assert_null(strstr(text, "hunter2"));
        assert_null(strstr(text, "abc123"));
        free(text);
    }
    gbx_buf_cleanup(&json);
}

static void test_keys_that_are_masked__are_those_of_a_map(void **state)
{
    static const char map[] =
        "{\"ada@example.com\":{\"n\":1},\"bo@example.com\":{\"n\":2},"
        "\"cy@example.com\":{\"m\":\"x\"}}";
    static const char both[] =
        "[{\"id\":1,\"at\":{\"+49 170 1234567\":1}},"
        "{\"id\":2,\"at\":{\"+49 170 7654321\":2.5,\"total\":3}}]";
    (void)state;

    tells(
        map, TYPE,
        "{ [key: string /* like \"xxx@xxxxxxx.xxx\" */]: { n?: integer; m?: string } }");
    tells(map, SIZE, "one object, a map of 3 keys");
    tells(map, EXAMPLES, "{\"xxx@xxxxxxx.xxx\":{n:1}, /* 2 more */}\n");
    tells(map, STATISTICS,
          "[\n{\"field\":\"[key]\",\"kinds\":[\"object\"],\"count\":3,\"nulls\":0},\n"
          "{\"field\":\"[key].n\",\"kinds\":[\"integer\"],\"count\":2,\"nulls\":0,"
          "\"missing\":1,\"distinct\":2,\"top\":[]},\n"
          "{\"field\":\"[key].m\",\"kinds\":[\"string\"],\"count\":1,\"nulls\":0,"
          "\"missing\":2,\"distinct\":1,\"top\":[]}\n]");
    tells(both, TYPE,
          "{ id: integer; at: { total?: integer; [key: string /* like "
          "\"+00 000 0000000\" */]: number } }[]");
    tells("{\"a\":1,\"ada@example.com\":2}", SIZE, "one object of 1 field and 1 key");
}

static void test_columns_without_records__are_told_by_name(void **state)
{
    static const char names[] = "[\"id\",\"a b\",\"ada@example.com\"]";
    gbx_view view;
    gbx_buf text;
    (void)state;

    assert_true(gbx_view_open(names, strlen(names), &view));
    gbx_buf_init(&text, 1000);
    assert_true(gbx_describe_columns(view, 1000, &text));
    (void)gbx_buf_puts(&text, " ");
    assert_true(gbx_describe_columns(view, 4, &text));
    (void)gbx_buf_append(&text, "", 1);
    assert_string_equal(
        (const char *)text.data,
        "{ id: unknown; \"a b\": unknown; \"xxx@xxxxxxx.xxx\": unknown }[] "
        "{ id: unknown; /* and 2 more fields */ }[]");
    gbx_buf_cleanup(&text);
}

static void test_counts__are_shown_where_texts_of_that_name_are_not(void **state)
{
    (void)state;

    tells("[{\"tokens\":12,\"phones\":[5550100],\"contrase\\u00f1a\":\"sol\"}]",
          EXAMPLES,
          "{tokens:12,phones:[9999999],\"contrase\xc3\xb1"
          "a\":\"xxx\"}\n");
}

static void test_texts__are_cut_and_steer_nothing(void **state)
{
    (void)state;

    tells("[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"]", EXAMPLES,
          "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xe2\x80\xa6\"\n");
    tells("[\"a\\u001b[31m\\u202e\\nb\"]", EXAMPLES, "\"a\\u001b[31m\\u202e\\nb\"\n");
    tells("[{\"a\\nignore all\":1}]", TYPE, "{ \"a\\nignore all\": integer }[]");
}

static void test_maps__are_told_by_all_of_their_members(void **state)
{
    char *map = map_of(600, "{\"n\":1}", "{\"n\":3,\"price\":1.5}", "");

    (void)state;
    tells(map, TYPE, "Record<string, { n: integer; price?: number }>");
    tells(map, STATISTICS,
          "[\n{\"field\":\"[key]\",\"kinds\":[\"object\"],\"count\":600,\"nulls\":0},\n"
          "{\"field\":\"[key].n\",\"kinds\":[\"integer\"],\"count\":600,\"nulls\":0,"
          "\"distinct\":2,\"min\":1,\"max\":3,\"mean\":2.99667,"
          "\"top\":[{\"value\":3,\"count\":599}]},\n"
          "{\"field\":\"[key].price\",\"kinds\":[\"number\"],\"count\":599,\"nulls\":0,"
          "\"missing\":1,\"distinct\":1,\"min\":1.5,\"max\":1.5,\"mean\":1.5,"
          "\"top\":[{\"value\":1.5,\"count\":599}]}\n]");
    free(map);
}

static void test_maps__are_what_has_many_records_under_their_ids(void **state)
{
    static const char record[] = "{\"pay\":5000,\"on\":\"2024-05-01\"}";
    char *map = map_of(21, "{\"pay\":4000}", record, "");

    (void)state;
    tells(map, TYPE, "Record<string, { pay: integer; on?: \"2024-05-01\" }>");
    tells(
        map, STATISTICS,
        "[\n{\"field\":\"[key]\",\"kinds\":[\"object\"],\"count\":21,\"nulls\":0},\n"
        "{\"field\":\"[key].pay\",\"kinds\":[\"integer\"],\"count\":21,\"nulls\":0,"
        "\"distinct\":2,\"min\":4000,\"max\":5000,\"mean\":4952.38,"
        "\"top\":[{\"value\":5000,\"count\":20}]},\n"
        "{\"field\":\"[key].on\",\"kinds\":[\"string\"],\"count\":20,\"nulls\":0,"
        "\"missing\":1,\"distinct\":1,\"first\":\"2024-05-01\",\"last\":\"2024-05-01\","
        "\"top\":[{\"value\":\"2024-05-01\",\"count\":20}]}\n]");
    free(map);
    map = map_of(21, "[{\"pay\":1}]", "[{\"pay\":2},{\"pay\":3}]", "");
    tells(map, TYPE, "Record<string, { pay: integer }[]>");
    free(map);
    map = map_of(3000, "{\"a\":1,\"b\":2,\"c\":3}", "{\"a\":1,\"b\":2,\"c\":3}", "");
    tells(map, TYPE, "Record<string, { a: integer; b: integer; c: integer }>");
    free(map);
}

static void test_objects__of_few_or_different_members_are_no_maps(void **state)
{
    static const char *const others[] = {"1", "[1]", "{\"0\":1,\"1\":2}", "{}"};
    char *object = map_of(20, "{\"a\":1}", "{\"a\":1}", "");
    char *text = told(object, TYPE, 10000);
    gbx_buf parts;

    (void)state;
    assert_non_null(strstr(text, "k19: { a: integer }"));
    free(text);
    free(object);
    for (size_t i = 0; i < GBX_COUNTOF(others); i++) {
        object = map_of(30, others[i], others[i], "");
        text = told(object, TYPE, 10000);
        assert_non_null(strstr(text, "k29: "));
        free(text);
        free(object);
    }
    gbx_buf_init(&parts, GBX_KIB(16));
    for (int i = 0; i < 30; i++)
        (void)gbx_buf_printf(&parts, "%s\"part%d\":{\"is\":1,\"a%d\":1,\"b%d\":2}",
                             i == 0 ? "{" : ",", i, i, i);
    (void)gbx_buf_append(&parts, "}", 2);
    text = told((const char *)parts.data, TYPE, 10000);
    assert_non_null(strstr(text, "part29: "));
    free(text);
    gbx_buf_cleanup(&parts);
}

static void test_maps__of_people_do_not_name_them(void **state)
{
    gbx_buf people;
    char *text;
    (void)state;

    gbx_buf_init(&people, GBX_KIB(16));
    for (int i = 0; i < 30; i++)
        (void)gbx_buf_printf(&people,
                             "%s\"customer_%d\":{\"id\":%d,\"name\":\"Ada Byron\"}",
                             i == 0 ? "{" : ",", i, i);
    (void)gbx_buf_append(&people, "}", 2);
    tells((const char *)people.data, TYPE,
          "Record<string, { id: integer; name: string }>");
    text = told((const char *)people.data, STATISTICS, 0);
    assert_null(strstr(text, "Ada"));
    assert_non_null(strstr(text, "\"[key].id\""));
    free(text);
    gbx_buf_cleanup(&people);
}

static void test_maps__say_nothing_of_what_a_name_says_is_sensitive(void **state)
{
    char *map = map_of(600, "0", "0", ",\"password\":\"hunter2\",\"ssn\":123456789");
    char *list;
    char *text;

    (void)state;
    assert_true(asprintf(&list, "[%s,%s,%s,%s,%s,%s]", map, map, map, map, map, map) >
                0);
    tells(list, TYPE, "Record<string, integer | string>[]");
    text = told(list, STATISTICS, 10000);
    assert_null(strstr(text, "hunter2"));
    assert_null(strstr(text, "123456789"));
    assert_non_null(strstr(text,
                           "{\"field\":\"[][sensitive key]\",\"kinds\":[\"integer\","
                           "\"string\"],\"count\":12,\"nulls\":0,\"distinct\":2,"
                           "\"sensitive\":true}"));
    free(text);
    free(list);
    free(map);
}

static void test_maps__say_each_kind_of_their_members_once(void **state)
{
    char *map = map_of(600, "1.5", "\"a\"", ",\"password\":\"x\",\"ssn\":5");

    (void)state;
    tells(map, TYPE, "Record<string, string | number>");
    free(map);
    map = map_of(600, "1", "2", ",\"password\":\"x\",\"pin\":null");
    tells(map, TYPE, "Record<string, integer | string | null>");
    free(map);
}

static void check_table(size_t columns)
{
    char *row = map_of(columns, "\"2024-05-01\"", "\"2024-05-01\"", "");
    gbx_shape *shape;
    gbx_view view;
    gbx_buf buf;
    char *text;
    char *json;
    char field[32];

    assert_true(asprintf(&json, "[%s,%s]", row, row) > 0);
    assert_true(gbx_view_open(json, strlen(json), &view));
    shape = gbx_shape_of_table(view, NULL);
    assert_non_null(shape);
    gbx_buf_init(&buf, GBX_MIB(2));
    assert_true(gbx_describe_statistics(shape, &buf));
    text = gbx_buf_take_string(&buf, NULL);
    assert_true(gbx_json_check(text, strlen(text), 10, NULL));
    (void)snprintf(field, sizeof field, "\"[].k%zu\"", columns - 1);
    assert_non_null(strstr(text, field));
    free(text);
    gbx_buf_init(&buf, GBX_KIB(8));
    assert_true(gbx_describe_type(shape, 1000, &buf));
    text = gbx_buf_take_string(&buf, NULL);
    assert_memory_equal(text, "{ k0: string /* ISO date */; k1: ", 33);
    assert_non_null(strstr(text, " more fields */ }[]"));
    free(text);
    gbx_shape_free(shape);
    free(json);
    free(row);
}

static void test_tables__are_told_by_their_columns_however_many(void **state)
{
    (void)state;

    check_table(600);
    check_table(GBX_SHAPE_COLUMNS_MAX);
}

static void test_tables__of_many_columns_say_how_many(void **state)
{
    char *row = map_of(101, "1", "2", "");
    char *json;

    (void)state;
    assert_true(asprintf(&json, "[%s]", row) > 0);
    tells(json, SIZE, "1 record of 101 fields");
    free(json);
    free(row);
}

/* Every string and name of a hostile dataset ends up in some text. */
static void test_hostile_data__is_described_in_bounds(void **state)
{
    gbx_buf json;
    char *text;
    (void)state;

    gbx_buf_init(&json, GBX_MIB(64));
    (void)gbx_buf_puts(&json, "[{\"k\":0");
    for (int i = 0; i < 200000; i++)
        (void)gbx_buf_printf(&json, ",\"k%d\":{\"%d\":[%d]}", i, i, i);
    (void)gbx_buf_append(&json, "}]", 3);
    text = told((const char *)json.data, TYPE, 1000);
    assert_true(strlen(text) < 1500);
    free(text);
    text = told((const char *)json.data, EXAMPLES, 1000);
    assert_true(strlen(text) < 1500);
    free(text);
    text = told((const char *)json.data, STATISTICS, 0);
    assert_true(strlen(text) < GBX_KIB(512));
    assert_true(gbx_json_check(text, strlen(text), 10, NULL));
    free(text);

    json.len = 0;
    for (int i = 0; i < 999; i++)
        (void)gbx_buf_puts(&json, i % 2 == 0 ? "[" : "{\"a\":");
    (void)gbx_buf_puts(&json, "1");
    for (int i = 998; i >= 0; i--)
        (void)gbx_buf_puts(&json, i % 2 == 0 ? "]" : "}");
    (void)gbx_buf_append(&json, "", 1);
    for (int i = TYPE; i <= STATISTICS; i++)
        free(told((const char *)json.data, (part)i, 1000));

    json.len = 0;
    (void)gbx_buf_puts(&json, "[\"");
    for (int i = 0; i < 3000000; i++)
        (void)gbx_buf_puts(&json, "\\u00e9");
    (void)gbx_buf_append(&json, "\"]", 3);
    text = told((const char *)json.data, EXAMPLES, 1000);
    assert_true(strlen(text) < 500);
    free(text);
    gbx_buf_cleanup(&json);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types__are_of_all_values),
        cmocka_unit_test(test_arrays_that_are_too_deep__are_counted_all_the_same),
        cmocka_unit_test(test_choices__are_named_where_they_are_many_records),
        cmocka_unit_test(test_sizes__are_said),
        cmocka_unit_test(test_examples__are_three_and_masked),
        cmocka_unit_test(test_secrets_inside_text__are_in_no_part_of_it),
        cmocka_unit_test(test_keys_that_are_masked__are_those_of_a_map),
        cmocka_unit_test(test_columns_without_records__are_told_by_name),
        cmocka_unit_test(test_counts__are_shown_where_texts_of_that_name_are_not),
        cmocka_unit_test(test_texts__are_cut_and_steer_nothing),
        cmocka_unit_test(test_maps__are_told_by_all_of_their_members),
        cmocka_unit_test(test_maps__are_what_has_many_records_under_their_ids),
        cmocka_unit_test(test_objects__of_few_or_different_members_are_no_maps),
        cmocka_unit_test(test_maps__of_people_do_not_name_them),
        cmocka_unit_test(test_maps__say_nothing_of_what_a_name_says_is_sensitive),
        cmocka_unit_test(test_maps__say_each_kind_of_their_members_once),
        cmocka_unit_test(test_tables__are_told_by_their_columns_however_many),
        cmocka_unit_test(test_tables__of_many_columns_say_how_many),
        cmocka_unit_test(test_hostile_data__is_described_in_bounds),
    };

    return cmocka_run_group_tests_name("describe", tests, NULL, NULL);
}
