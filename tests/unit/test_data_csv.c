/* SPDX-License-Identifier: MIT */
/* CSV as datasets: what becomes of cells, and where a file is refused. */
#include "base/cleanup.h"
#include "base/json.h"
#include "mcp/data/datasets.h"
#include "test.h"

static gbx_status read_table(const char *text, size_t len, gbx_buf *to,
                             gbx_error *error)
{
    gbx_buf_init(to, GBX_MIB(512));
    return gbx_table_read(text, len, 0, NULL, to, NULL, error);
}

static void becomes(const char *csv, const char *json)
{
    gbx_error error = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

    if (read_table(csv, strlen(csv), &buf, &error) != GBX_OK)
        fail_msg("%s: %s", csv, error.message);
    (void)gbx_buf_append(&buf, "", 1);
    for (char *at = (char *)buf.data; *at != 0; at++)
        if (*at == '\n')
            *at = ' ';
    assert_string_equal((const char *)buf.data, json);
    assert_true(
        gbx_json_check((const char *)buf.data, buf.len - 1, GBX_JSON_DEPTH_MAX, NULL));
}

static void refused(const char *csv, size_t len, uint32_t line, uint32_t column,
                    const char *message)
{
    gbx_error error = {0};
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

    assert_int_equal(read_table(csv, len, &buf, &error), GBX_E_DATA);
    if (error.line != line || error.column != column ||
        strstr(error.message, message) == NULL)
        fail_msg("%.60s: %u:%u %s", csv, error.line, error.column, error.message);
}

TEST(types__are_of_the_whole_column)
{
    becomes("n,x,b,t\n1,1.5,true,a\n-20,2,FALSE,b\n",
            "[{\"n\":1,\"x\":1.5,\"b\":true,\"t\":\"a\"}, "
            "{\"n\":-20,\"x\":2,\"b\":false,\"t\":\"b\"}]");
    becomes("n\n1\ntwo\n", "[{\"n\":\"1\"}, {\"n\":\"two\"}]");
    becomes("n\n1\ntrue\n", "[{\"n\":\"1\"}, {\"n\":\"true\"}]");
    becomes("n\n\"1\"\n2\n", "[{\"n\":1}, {\"n\":2}]");
}

TEST(text__that_looks_like_a_number_stays_text)
{
    static const char *const cells[] = {
        "007",
        "+491701234567",
        "4111111111111111",
        "1234567890123456",
        "12345678901234567.5",
        "1.",
        ".",
        "-.",
        ".e5",
        "..5",
        ".12345678901234567890",
        "1e5",
        "12e45",
        "1e22",
        "1E5",
        "12e400",
        "1.5e400",
        "1.5e-400",
        "-1e",
        "1e+",
        "1e-5x",
        "-",
        "--1",
        "1,5",
        "0x10",
        "2024-02-30",
        "NaN",
        "Infinity",
        "1 000",
        "1_000",
        "00",
        "-01",
        "0.10000000000000001",
        "0.12345678901234567",
        "0.34525830151341586001",
        "4.9e-324",
        "1.5e",
        "yes",
    };

    for (size_t i = 0; i < GBX_COUNTOF(cells); i++) {
        char csv[80], json[80];

        (void)snprintf(csv, sizeof csv, "v\n\"%s\"\n", cells[i]);
        (void)snprintf(json, sizeof json, "[{\"v\":\"%s\"}]", cells[i]);
        becomes(csv, json);
    }
}

TEST(numbers__are_written_as_they_stand)
{
    becomes("v\n0\n-0\n0.10\n1e-05\n-1.5e+3\n999999999999999\n0.123456789012345\n",
            "[{\"v\":0}, {\"v\":-0}, {\"v\":0.10}, {\"v\":1e-05}, {\"v\":-1.5e+3}, "
            "{\"v\":999999999999999}, {\"v\":0.123456789012345}]");
    becomes("v\n0.5\n.25\n-.5\n.5e-3\n.12345678901234\n",
            "[{\"v\":0.5}, {\"v\":0.25}, {\"v\":-0.5}, {\"v\":0.5e-3}, "
            "{\"v\":0.12345678901234}]");
}

TEST(numbers__are_what_other_programs_print_of_doubles)
{
    static const char *const cells[] = {
        "0.034525830151341586",
        "0.1234567890123456",
        "0.30000000000000004",
        "-1.7976931348623157e+308",
        "2.2250738585072014e-308",
        "5e-324",
        "-3e2",
        "1e-5",
        "2E-3",
        "1.0e5",
        "1e+10",
        "1.5e300",
        "5.684341886080802e-14", /* a power of two */
        "1234567890123456.0",
        "4503599627370495.5",
        "0.000000000000000000000012345",
        "0e-5",
    };

    for (size_t i = 0; i < GBX_COUNTOF(cells); i++) {
        char csv[80], json[80];

        (void)snprintf(csv, sizeof csv, "v\n\"%s\"\n", cells[i]);
        (void)snprintf(json, sizeof json, "[{\"v\":%s}]", cells[i]);
        becomes(csv, json);
    }
}

TEST(digits_e_digits__are_numbers_beside_decimals_alone)
{
    becomes("v\n12e4\n3e07\n", "[{\"v\":\"12e4\"}, {\"v\":\"3e07\"}]");
    becomes("v\n12e4\n3307\n", "[{\"v\":\"12e4\"}, {\"v\":\"3307\"}]");
    becomes("v\n1e22\n\"\"\n0.5\n3\n",
            "[{\"v\":1e22}, {\"v\":null}, {\"v\":0.5}, {\"v\":3}]");
    becomes("v\n1e5\n1e-5\n", "[{\"v\":1e5}, {\"v\":1e-5}]");
    becomes("v\n1e5\n-2e5\n", "[{\"v\":1e5}, {\"v\":-2e5}]");
}

TEST(points_that_may_part_thousands__are_of_text_where_commas_may_be_points)
{
    becomes("a;b\nA;1.234\nB;12.500\nC;950\n",
            "[{\"a\":\"A\",\"b\":\"1.234\"}, {\"a\":\"B\",\"b\":\"12.500\"}, "
            "{\"a\":\"C\",\"b\":\"950\"}]");
    becomes("a;b\n1.234;-1.234\n1.5;-12.500\n",
            "[{\"a\":1.234,\"b\":-1.234}, {\"a\":1.5,\"b\":-12.500}]");
    becomes("a;b\n1.234;x\n0.500;y\n",
            "[{\"a\":1.234,\"b\":\"x\"}, {\"a\":0.500,\"b\":\"y\"}]");
    becomes("a;b\n1.234;1.5\n1.500;v2\n",
            "[{\"a\":\"1.234\",\"b\":\"1.5\"}, {\"a\":\"1.500\",\"b\":\"v2\"}]");
    becomes("a,b\nA,1.234\nB,12.500\n",
            "[{\"a\":\"A\",\"b\":1.234}, {\"a\":\"B\",\"b\":12.500}]");
    becomes("a,b\nA,1.234\nB,12e4\n",
            "[{\"a\":\"A\",\"b\":1.234}, {\"a\":\"B\",\"b\":12e4}]");
}

TEST(an_empty_cell__is_null)
{
    becomes("a,b,c\n1,,\n,x,\"\"\n", "[{\"a\":1,\"b\":null,\"c\":null}, "
                                     "{\"a\":null,\"b\":\"x\",\"c\":null}]");
}

TEST(quotes__line_breaks_and_blanks)
{
    becomes("a,b\r\n\"x, \"\"y\"\"\r\nz\", plain text \r\n\r\n\n 1 , \"2\" ",
            "[{\"a\":\"x, \\\"y\\\"\\u000d\\nz\",\"b\":\"plain text\"}, "
            "{\"a\":\"1\",\"b\":\"2\"}]");
    becomes("a,b\r1,2\r", "[{\"a\":1,\"b\":2}]");
    becomes("\"a\"\"b\"\n1", "[{\"a\\\"b\":1}]");
    becomes("a,b\n1,", "[{\"a\":1,\"b\":null}]");
    becomes("a\n", "[]");
}

TEST(delimiters__are_found_out)
{
    becomes("a;b\n1,5;2\n2,5;3\n",
            "[{\"a\":\"1,5\",\"b\":2}, {\"a\":\"2,5\",\"b\":3}]");
    becomes("a\tb\n1, 2\t3\n", "[{\"a\":\"1, 2\",\"b\":3}]");
    becomes("a|b\n1|2\n", "[{\"a\":1,\"b\":2}]");
    becomes("sep=;\r\na;b,c\n1;2\n", "[{\"a\":1,\"b,c\":2}]");
    becomes("name\nx\n", "[{\"name\":\"x\"}]");
    becomes("\"a;b\",c\n1,2\n", "[{\"a;b\":1,\"c\":2}]");
}

TEST(delimiters__are_no_commas_where_another_splits_as_well)
{
    becomes("Zeit;Temperatur, C\n10:00;21,5\n10:05;21,7\n",
            "[{\"Zeit\":\"10:00\",\"Temperatur, C\":\"21,5\"}, "
            "{\"Zeit\":\"10:05\",\"Temperatur, C\":\"21,7\"}]");
    becomes("a, b\tc\n1,5\t2\n", "[{\"a, b\":\"1,5\",\"c\":2}]");
    becomes("a, b|c\n1,5|2\n", "[{\"a, b\":\"1,5\",\"c\":2}]");
}

static void names_are(const char *csv, const char *json)
{
    gbx_error error = {0};
    gbx_buf buf, columns;

    gbx_buf_init(&buf, 1000);
    gbx_buf_init(&columns, 1000);
    assert_int_equal(gbx_table_read(csv, strlen(csv), 0, NULL, &buf, &columns, &error),
                     GBX_OK);
    (void)gbx_buf_append(&columns, "", 1);
    assert_string_equal((const char *)columns.data, json);
    gbx_buf_cleanup(&buf);
    gbx_buf_cleanup(&columns);
}

TEST(names__are_told_where_no_record_tells_them)
{
    names_are("id;\"a \"\"b\"\"\";\n", "[\"id\",\"a \\\"b\\\"\",\"column_3\"]");
    names_are("id,n\n\n\n", "[\"id\",\"n\"]");
    names_are("id,n\n1,2\n", "");
}

TEST(names__are_each_their_own)
{
    becomes("a,,a,\n1,2,3,4\n", "[{\"a\":1,\"column_2\":2,\"a_3\":3,\"column_4\":4}]");
    becomes("a,a_2,a\n1,2,3\n", "[{\"a\":1,\"a_2\":2,\"a_3\":3}]");
    becomes("__proto__,b\n1,2\n", "[{\"__proto__\":1,\"b\":2}]");
}

TEST(what_is_wrong__is_told_with_its_place)
{
    static const struct {
        const char *csv;
        uint32_t line, column;
        const char *message;
    } cases[] = {
        {"", 1, 1, "the first line"},
        {"\n\n", 1, 1, "the first line"},
        {"a,b\n1,2\n3\n", 3, 1, "1 cells where the first line names 2"},
        {"a,b\n1,2,3\n", 2, 5, "more cells than the 2"},
        {"a,b\n\"\xc3\xa9\",2,3\n", 2, 7, "more cells than the 2"},
        {"a,b\n1,\"x\n", 2, 3, "never closed"},
        {"a,b\n1,\"x\"y\n", 2, 6, "after a closing quote"},
        {"a,b\n1,5\" pipe\n", 2, 4, "a quote inside a cell"},
        {"a,b\n1,\xff\n", 2, 3, "not UTF-8"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++)
        refused(cases[i].csv, strlen(cases[i].csv), cases[i].line, cases[i].column,
                cases[i].message);
    refused("a,b\n1,\0\n", 8, 2, 3, "a NUL character");
}

static char *repeated(const char *what, size_t times, const char *end, size_t *ret_len)
{
    size_t len = strlen(what);
    char *text = malloc(len * times + strlen(end) + 1);

    for (size_t i = 0; i < times; i++)
        memcpy(text + i * len, what, len);
    strcpy(text + len * times, end);
    *ret_len = len * times + strlen(end);
    return text;
}

TEST(hostile_files__are_read_or_refused)
{
    gbx_buf buf;
    size_t len;
    char *text;

    text = repeated("a,", 200000, "b\n", &len);
    refused(text, len, 1, 8193, "more than 4096 columns");
    free(text);
    text = repeated("a,", 4095, "a\n", &len); /* each gets a name of its own */
    assert_int_equal(read_table(text, len, &buf, NULL), GBX_OK);
    gbx_buf_cleanup(&buf);
    free(text);
    text = repeated("\"\"", 4000000, "\"\n", &len); /* opened, and never closed */
    refused(text, len, 1, 1, "");
    free(text);
    text = repeated("x", 5000, "\n1", &len);
    refused(text, len, 1, 1, "the name of a column is longer");
    free(text);
    text = repeated("\n", 5000000, "", &len);
    refused(text, len, 1, 1, "the first line");
    free(text);
    text = repeated("y", 30000000, "", &len); /* one cell of 30 MB */
    memcpy(text, "a\n", 2);
    assert_int_equal(read_table(text, len, &buf, NULL), GBX_OK);
    assert_int_equal(buf.len, len - 2 + strlen("[{\"a\":\"\"}]"));
    gbx_buf_cleanup(&buf);
    free(text);
}

TEST(what_is_written__is_bounded_and_can_be_stopped)
{
    atomic_bool stop = true;
    gbx_error error = {0};
    gbx_buf buf;

    gbx_buf_init(&buf, 8);
    assert_int_equal(gbx_table_read("a\n1\n2\n", 6, 0, NULL, &buf, NULL, &error),
                     GBX_E_DATA);
    gbx_buf_cleanup(&buf);
    gbx_buf_init(&buf, 800);
    assert_int_equal(gbx_table_read("a\n1\n2\n", 6, 0, &stop, &buf, NULL, &error),
                     GBX_E_CLOSED);
    gbx_buf_cleanup(&buf);
}

TEST(every_truncation__is_read_or_refused)
{
    static const char text[] = "a;\"b\"\"\"\r\n\"1\";2\n\xc3\xa9; \"x\ny\" \n";

    for (size_t len = 0; len <= sizeof text - 1; len++) {
        char *copy = malloc(len + 1);
        GBX_CLEANUP(gbx_buf_cleanup) gbx_buf buf;

        memcpy(copy, text, len); /* so that a sanitizer sees a step too far */
        (void)read_table(copy, len, &buf, NULL);
        free(copy);
    }
}

TEST_MAIN(NULL, NULL)
