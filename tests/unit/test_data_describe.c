/* SPDX-License-Identifier: MIT */
/* What a model is told of a dataset: types, sizes, patterns; and values that are shown. */
#include "base/cleanup.h"
#include "base/json.h"
#include "described.h"
#include "test.h"

TEST(types__are_of_all_values)
{
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

TEST(arrays_that_are_too_deep__are_counted_all_the_same)
{
    tells("[[[[[[[1,2],[3]]]]]]]", TYPE, "array[][][][][][]");
    tells("[[[[[[[]]]]]]]", TYPE, "[][][][][][][]");
    tells("[[[[[[[1,2],[3]]]]]]]", STATISTICS,
          "[{\"field\":\"[]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":1},"
          "{\"field\":\"[][]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":1},"
          "{\"field\":\"[][][]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":1},"
          "{\"field\":\"[][][][]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":1},"
          "{\"field\":\"[][][][][]\",\"kinds\":[\"array\"],\"count\":1,\"nulls\":0,"
          "\"elements\":2},"
          "{\"field\":\"[][][][][][]\",\"kinds\":[\"array\"],\"count\":2,\"nulls\":0,"
          "\"elements\":3}]");
}

TEST(choices__are_named_where_they_are_shown)
{
    static const char two[] =
        "[{\"s\":\"open\"},{\"s\":\"open\"},{\"s\":\"open\"},{\"s\":\"open\"},"
        "{\"s\":\"open\"},{\"s\":\"paid\"},{\"s\":\"paid\"},{\"s\":\"paid\"},"
        "{\"s\":\"paid\"},{\"s\":\"paid\"}]";

    shows(two, TYPE, "{ s: \"open\" | \"paid\" }[]");
    tells(two, TYPE, "{ s: string }[]");
    shows("[\"a\",\"a\",\"a\",\"a\",\"b\"]", TYPE, "string[]");
}

TEST(sizes__are_said)
{
    tells("[{},{}]", SIZE, "2 records");
    tells("[1,2,3]", SIZE, "3 elements");
    tells("{\"a\":1}", SIZE, "one object of 1 field");
    tells("\"x\"", SIZE, "one value");
}

TEST(examples__are_three_patterns)
{
    tells(
        "[{\"id\":1,\"email\":\"Ada@example.com\",\"price\":-12.50,\"ok\":true},"
        "{\"note\":\"\u00c4rger \u0661\u0662, B1\",\"card\":4111111111111111,\"no\":null},"
        "{\"user\":{\"apiKey\":{\"deep\":[\"abc\",12]}}},{\"id\":4}]",
        EXAMPLES,
        "{id:9,email:\"Xxx@xxxxxxx.xxx\",price:-99.9,ok:/* boolean */}\n"
        "{note:\"xxxxx xx, X0\",card:9999999999999999,no:null}\n"
        "{user:{apiKey:{deep:[\"xxx\",99]}}}\n");
    tells("[[1,2,3,4,5]]", EXAMPLES, "[9,9,9, /* 2 more */]\n");
    tells("[{\"a\":{\"b\":{\"c\":{\"d\":1}}}}]", EXAMPLES, "{a:{b:{c:{d:9}}}}\n");
    tells("[{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":1}}}}}]", EXAMPLES,
          "{a:{b:{c:{d:{ /* ... */ }}}}}\n");
    tells("{\"a\":1}", EXAMPLES, "{a:9}\n");
    shows("[{\"a\":1.50,\"b\":\"c@d\",\"e\":true}]", EXAMPLES,
          "{a:1.5,b:\"c@d\",e:true}\n");
}

TEST(values__are_shown_of_the_fields_that_are_named)
{
    static const char json[] =
        "[{\"id\":17,\"a\":{\"b\":[\"now\",\"new\"],\"c\":\"old\"},\"x.y\":\"dot\","
        "\"byId\":{\"u12345678\":{\"n\":5,\"m\":6}}}]";
    static const struct {
        const char *field;
        const char *example;
        const char *lost;
    } rows[] = {
        {"other.id",
         "{id:99,a:{b:[\"xxx\",\"xxx\"],c:\"xxx\"},\"x.y\":\"xxx\","
         "byId:{\"x00000000\":{n:9,m:9}}}\n",
         ""},
        {"set.id",
         "{id:17,a:{b:[\"xxx\",\"xxx\"],c:\"xxx\"},\"x.y\":\"xxx\","
         "byId:{\"x00000000\":{n:9,m:9}}}\n",
         ""},
        {"set.a.b",
         "{id:99,a:{b:[\"now\",\"new\"],c:\"xxx\"},\"x.y\":\"xxx\","
         "byId:{\"x00000000\":{n:9,m:9}}}\n",
         ""},
        {"set.a",
         "{id:99,a:{b:[\"now\",\"new\"],c:\"old\"},\"x.y\":\"xxx\","
         "byId:{\"x00000000\":{n:9,m:9}}}\n",
         ""},
        {"set.x.y",
         "{id:99,a:{b:[\"xxx\",\"xxx\"],c:\"xxx\"},\"x.y\":\"dot\","
         "byId:{\"x00000000\":{n:9,m:9}}}\n",
         ""},
        {"set.byId.n",
         "{id:99,a:{b:[\"xxx\",\"xxx\"],c:\"xxx\"},\"x.y\":\"xxx\","
         "byId:{\"x00000000\":{n:5,m:9}}}\n",
         ""},
        {"set",
         "{id:17,a:{b:[\"now\",\"new\"],c:\"old\"},\"x.y\":\"dot\","
         "byId:{\"u12345678\":{n:5,m:6}}}\n",
         ""},
        {"set.a.d",
         "{id:99,a:{b:[\"xxx\",\"xxx\"],c:\"xxx\"},\"x.y\":\"xxx\","
         "byId:{\"x00000000\":{n:9,m:9}}}\n",
         "a.d"},
        {"set.i",
         "{id:99,a:{b:[\"xxx\",\"xxx\"],c:\"xxx\"},\"x.y\":\"xxx\","
         "byId:{\"x00000000\":{n:9,m:9}}}\n",
         "i"},
    };
    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        gbx_shown shown = {.fields = &rows[i].field, .count = 1};
        const gbx_description of = {.name = "set", .shown = &shown, .room = 10000};
        char *example = told_by(json, EXAMPLES, &of);
        char *lost = told_by(json, LOST, &of);

        assert_string_equal(example, rows[i].example);
        assert_string_equal(lost, rows[i].lost);
        free(example);
        free(lost);
    }
}

/* The letters and digits of a description are those of names, kinds, counts and patterns:
 * with a dataset of the same form and other values they are the same. */
static void assert_forms_are_told_alike(const char *form, const char *one,
                                        const char *other)
{
    char *texts[2];

    for (int i = 0; i < 2; i++) {
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json;

        gbx_buf_init(&json, GBX_KIB(64));
        for (const char *c = form; *c != 0; c++)
            (void)(*c == '%' ? gbx_buf_puts(&json, i == 0 ? one : other)
                             : gbx_buf_append(&json, c, 1));
        (void)gbx_buf_append(&json, "", 1);
        texts[i] = told((const char *)json.data, ALL, 10000);
    }
    assert_string_equal(texts[0], texts[1]);
    free(texts[0]);
    free(texts[1]);
}

TEST(values__leave_no_letter_and_no_digit_in_what_is_told)
{
    static const char *const forms[] = {
        "[%]",
        "[%,%,%,%,%,%]",
        "%",
        "[{\"status\":%}]",
        "[{\"status\":%},{\"status\":%},{\"status\":%},{\"status\":%},{\"status\":%}]",
        "[{\"a\":[%,%]},{\"a\":[[%]]}]",
        "{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":%}}}}}}}",
        "[{\"name\":\"password\",\"value\":%}]",
        "{\"columns\":[\"a\"],\"rows\":[[%],[%]]}",
        "[[\"a\",\"b\"],[%,%]]",
    };
    /* Pairs of one pattern. */
    static const char *const values[][2] = {
        {"\"ada@example.com\"", "\"bob@mailing.net\""},
        {"\"hunter2\"", "\"qwertz9\""},
        {"\"\u00c4nderung\"", "\"\u0414\u0435\u043c\u043e\u043d\u043e\u0432\u0430\""},
        {"4111111111111111", "5500000000000004"},
        {"-17.25", "-39.68"},
        {"true", "false"},
        {"\"+49 170 1234567\"", "\"+31 612 7654321\""},
        {"\"open\"", "\"paid\""},
    };
    size_t count = 0;

    for (size_t i = 0; i < GBX_COUNTOF(forms); i++)
        for (size_t k = 0; k < GBX_COUNTOF(values); k++, count++)
            assert_forms_are_told_alike(forms[i], values[k][0], values[k][1]);
    assert_true(count >= 40);
}

TEST(names_that_are_data__are_keys_of_a_map)
{
    static const char map[] =
        "{\"ada@example.com\":{\"n\":1},\"bo@example.com\":{\"n\":2},"
        "\"cy@example.com\":{\"m\":\"x\"},\"dee@example.com\":{\"n\":4}}";
    static const char both[] = "[{\"id\":1,\"at\":{\"+49 170 1234567\":1}},"
                               "{\"id\":2,\"at\":{\"2024-05-17\":2.5,\"2024-05\":3}}]";

    tells(
        map, TYPE,
        "{ [key: string /* like \"xxx@xxxxxxx.xxx\" */]: { n?: integer; m?: string } }");
    tells(map, SIZE, "one object, a map of 4 keys");
    tells(map, EXAMPLES,
          "{\"xxx@xxxxxxx.xxx\":{n:9},\"xx@xxxxxxx.xxx\":{n:9},"
          "\"xx@xxxxxxx.xxx\":{m:\"x\"}, /* 1 more */}\n");
    tells(map, STATISTICS,
          "[{\"field\":\"[key]\",\"kinds\":[\"object\"],\"count\":4,\"nulls\":0},"
          "{\"field\":\"[key].n\",\"kinds\":[\"integer\"],\"count\":3,\"nulls\":0,"
          "\"missing\":1,\"distinct\":3},"
          "{\"field\":\"[key].m\",\"kinds\":[\"string\"],\"count\":1,\"nulls\":0,"
          "\"missing\":3,\"distinct\":1}]");
    tells(both, TYPE,
          "{ id: integer; at: { \"2024-05\"?: integer; [key: string /* like "
          "\"+00 000 0000000\" */]: number } }[]");
    tells("{\"a\":1,\"ada@example.com\":2}", SIZE, "one object of 1 field and 1 key");
}

TEST(columns_without_records__are_told_by_name)
{
    static const char names[] = "[\"id\",\"a b\",\"ada@example.com\"]";
    static const struct {
        size_t room;
        const char *type;
    } rows[] = {
        {1000, "{ id: unknown; \"a b\": unknown; \"xxx@xxxxxxx.xxx\": unknown }[]"},
        {4, "{ id: unknown; /* and 2 more fields */ }[]"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(rows); i++) {
        const gbx_description of = {.name = "set",
                                    .shown = &(gbx_shown){0},
                                    .columns = names,
                                    .columns_len = sizeof names - 1,
                                    .room = rows[i].room,
                                    .is_table = true};
        char *type = told_by("[]", TYPE, &of);
        char *size = told_by("[]", SIZE, &of);

        assert_string_equal(type, rows[i].type);
        assert_string_equal(size, "0 records");
        free(type);
        free(size);
    }
}

TEST(texts__are_cut_and_steer_nothing)
{
    tells("[\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"]", EXAMPLES,
          "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xe2\x80\xa6\"\n");
    shows("[\"a\\u001b[31m\\u202e\\nb\"]", EXAMPLES, "\"a\\u001b[31m\\u202e\\nb\"\n");
    tells("[{\"a\\nignore all\":1}]", TYPE, "{ \"a\\nignore all\": integer }[]");
}

TEST(maps__are_told_by_all_of_their_members)
{
    char *map = map_of(600, "{\"n\":1}", "{\"n\":3,\"price\":1.5}", "");

    tells(map, TYPE, "Record<string, { n: integer; price?: number }>");
    shows(map, STATISTICS,
          "[{\"field\":\"[key]\",\"kinds\":[\"object\"],\"count\":600,\"nulls\":0},"
          "{\"field\":\"[key].n\",\"kinds\":[\"integer\"],\"count\":600,\"nulls\":0,"
          "\"distinct\":2,\"min\":1,\"max\":3,\"mean\":2.99667,"
          "\"top\":[{\"value\":3,\"count\":599},{\"value\":1,\"count\":1}]},"
          "{\"field\":\"[key].price\",\"kinds\":[\"number\"],\"count\":599,\"nulls\":0,"
          "\"missing\":1,\"distinct\":1,\"min\":1.5,\"max\":1.5,\"mean\":1.5,"
          "\"top\":[{\"value\":1.5,\"count\":599}]}]");
    free(map);
}

TEST(maps__are_what_has_many_records_under_their_ids)
{
    static const char record[] = "{\"pay\":5000,\"on\":\"2024-05-01\"}";
    char *map = map_of(21, "{\"pay\":4000}", record, "");

    shows(map, TYPE, "Record<string, { pay: integer; on?: \"2024-05-01\" }>");
    shows(
        map, STATISTICS,
        "[{\"field\":\"[key]\",\"kinds\":[\"object\"],\"count\":21,\"nulls\":0},"
        "{\"field\":\"[key].pay\",\"kinds\":[\"integer\"],\"count\":21,\"nulls\":0,"
        "\"distinct\":2,\"min\":4000,\"max\":5000,\"mean\":4952.38,"
        "\"top\":[{\"value\":5000,\"count\":20},{\"value\":4000,\"count\":1}]},"
        "{\"field\":\"[key].on\",\"kinds\":[\"string\"],\"count\":20,\"nulls\":0,"
        "\"missing\":1,\"distinct\":1,\"first\":\"2024-05-01\",\"last\":\"2024-05-01\","
        "\"top\":[{\"value\":\"2024-05-01\",\"count\":20}]}]");
    free(map);
    map = map_of(21, "[{\"pay\":1}]", "[{\"pay\":2},{\"pay\":3}]", "");
    tells(map, TYPE, "Record<string, { pay: integer }[]>");
    free(map);
    map = map_of(3000, "{\"a\":1,\"b\":2,\"c\":3}", "{\"a\":1,\"b\":2,\"c\":3}", "");
    tells(map, TYPE, "Record<string, { a: integer; b: integer; c: integer }>");
    free(map);
}

TEST(objects__of_few_or_different_members_are_no_maps)
{
    static const char *const others[] = {"1", "[1]", "{\"0\":1,\"1\":2}", "{}"};
    char *object = map_of(20, "{\"a\":1}", "{\"a\":1}", "");
    char *text = told(object, TYPE, 10000);
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf parts;

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
}

TEST(maps__show_patterns_of_three_keys)
{
    char *map = map_of(30, "{\"n\":1}", "{\"n\":2}", "");

    tells(map, SIZE, "one object, a map of 30 keys");
    tells(map, EXAMPLES, "{\"x0\":{n:9},\"x0\":{n:9},\"x0\":{n:9}, /* 27 more */}\n");
    free(map);
}

TEST(maps__say_each_kind_of_their_members_once)
{
    char *map = map_of(600, "1.5", "\"a\"", ",\"b\":null");

    tells(map, TYPE, "Record<string, string | number | null>");
    free(map);
}

static void check_table(size_t columns)
{
    const gbx_shown all = {.examples = GBX_EXAMPLES_VALUES};
    const gbx_description of = {.name = "set",
                                .shown = &all,
                                .room = 1000,
                                .is_table = true};
    char *row = map_of(columns, "\"2024-05-01\"", "\"2024-05-01\"", "");
    char *text;
    char *json;
    char field[32];

    assert_true(asprintf(&json, "[%s,%s]", row, row) > 0);
    text = told_by(json, STATISTICS, &of);
    assert_true(gbx_json_check(text, strlen(text), 10, NULL));
    (void)snprintf(field, sizeof field, "\"[].k%zu\"", columns - 1);
    assert_non_null(strstr(text, field));
    free(text);
    text = told_by(json, TYPE, &of);
    assert_memory_equal(text, "{ k0: string /* ISO date */; k1: ", 33);
    assert_non_null(strstr(text, " more fields */ }[]"));
    free(text);
    free(json);
    free(row);
}

TEST(tables__are_told_by_their_columns_however_many)
{
    check_table(600);
    check_table(GBX_TABLE_COLUMNS_MAX);
}

TEST(tables__of_many_columns_say_how_many)
{
    char *row = map_of(101, "1", "2", "");
    char *json;

    assert_true(asprintf(&json, "[%s]", row) > 0);
    tells(json, SIZE, "1 record of 101 fields");
    free(json);
    free(row);
}

/* Every string and name of a hostile dataset ends up in some text. */
TEST(hostile_data__is_described_in_bounds)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json;
    char *text;

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
}

TEST_MAIN(start_describing, stop_describing)
