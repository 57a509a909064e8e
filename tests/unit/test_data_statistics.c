/* SPDX-License-Identifier: MIT */
/* What the resource tells of the fields of a dataset, where values are shown. */
#include "base/cleanup.h"
#include "base/json.h"
#include "described.h"
#include "test.h"

TEST(statistics__say_what_can_be_said)
{
    shows(
        "[{\"n\":1,\"s\":\"x\",\"d\":\"2024-01-02\"},{\"n\":4,\"s\":\"x\",\"d\":"
        "\"2023-01-02T10:00:00Z\"},{\"n\":null,\"s\":\"x\",\"d\":\"2023-06-07\"},"
        "{\"n\":2.5,\"s\":\"x\",\"d\":null},{\"n\":2,\"s\":\"x\",\"d\":\"2023-06-07\"},"
        "{\"n\":3,\"s\":\"y\",\"d\":\"2023-06-07\"},{\"e\":{\"password\":123}}]",
        STATISTICS,
        "[{\"field\":\"[]\",\"kinds\":[\"object\"],\"count\":7,\"nulls\":0},"
        "{\"field\":\"[].n\",\"kinds\":[\"null\",\"integer\",\"number\"],\"count\":6,"
        "\"nulls\":1,\"missing\":1,\"distinct\":5,\"min\":1,\"max\":4,\"mean\":2.5,"
        "\"top\":[{\"value\":1,\"count\":1},{\"value\":4,\"count\":1},"
        "{\"value\":2.5,\"count\":1},{\"value\":2,\"count\":1},"
        "{\"value\":3,\"count\":1}]},"
        "{\"field\":\"[].s\",\"kinds\":[\"string\"],\"count\":6,\"nulls\":0,"
        "\"missing\":1,\"distinct\":2,\"top\":[{\"value\":\"x\",\"count\":5},"
        "{\"value\":\"y\",\"count\":1}]},"
        "{\"field\":\"[].d\",\"kinds\":[\"null\",\"string\"],\"count\":6,\"nulls\":1,"
        "\"missing\":1,\"distinct\":3,\"first\":\"2023-01-02T10:00:00Z\","
        "\"last\":\"2024-01-02\",\"top\":[{\"value\":\"2023-06-07\",\"count\":3},"
        "{\"value\":\"2024-01-02\",\"count\":1},"
        "{\"value\":\"2023-01-02T10:00:00Z\",\"count\":1}]},"
        "{\"field\":\"[].e\",\"kinds\":[\"object\"],\"count\":1,\"nulls\":0,"
        "\"missing\":6},"
        "{\"field\":\"[].e.password\",\"kinds\":[\"integer\"],\"count\":1,\"nulls\":0,"
        "\"distinct\":1,\"min\":123,\"max\":123,\"mean\":123,"
        "\"top\":[{\"value\":123,\"count\":1}]}]");
}

TEST(dates__are_in_the_order_of_their_times)
{
    static const char *const cases[][3] = {
        {"2024-01-01T00:00:00+14:00", "2023-12-31T12:00:00Z",
         "2023-12-31T23:00:00-05:00"},
        {"2024-02-29 23:59", "2024-03-01", "2024-03-01T00:00:00.5Z"},
        {"2024-05-01 10:00:00.25 +0530", "2024-05-01T04:30:00.251Z",
         "2024-05-01 10:00 UTC"},
        {"1969-12-31T23:59:59Z", "1970-01-01", "1969-12-31T20:00-09"},
        {"0000-02-29", "0000-03-01", "9999-12-31"},
        {"0000-01-01", "0000-01-02", "0000-02-29"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        char json[300], wanted[120];
        char *text;

        (void)snprintf(json, sizeof json, "[\"%s\",\"%s\",\"%s\",\"%s\",\"%s\"]",
                       cases[i][1], cases[i][2], cases[i][0], cases[i][1], cases[i][2]);
        (void)snprintf(wanted, sizeof wanted, "\"first\":\"%s\",\"last\":\"%s\"",
                       cases[i][0], cases[i][2]);
        text = shown(json, STATISTICS, 0);
        if (strstr(text, wanted) == NULL)
            fail_msg("%s", text);
        free(text);
    }
}

TEST(dates__are_told_with_nothing_behind_them)
{
    static const char *const none[] = {
        "\"2024-05-01 alice@example.com\"",
        "\"2024-05-01 10:00 alice\"",
        "\"2024-05-01T10:00:00Zx\"",
        "\"2024-05-01 4111 1111\"",
        "\"2024-05-01 \"",
        "\"2024-05-01T\"",
        "\"2024-05-01T10:00:00.1234567890\"",
        "\"2024-05-01T10:00:00.Z\"",
        "\"2024-13-01\"",
        "\"2024-05-32\"",
        "\"2024-5-1\"",
    };

    for (size_t i = 0; i < GBX_COUNTOF(none); i++) {
        char *json = list_of(6, none[i], "\"2024-05-01\"");
        char *text = shown(json, STATISTICS, 0);

        if (strstr(text, "\"first\"") != NULL || strstr(text, "\"last\"") != NULL)
            fail_msg("%s", text);
        free(text);
        shows(json, TYPE, "string[]");
        free(json);
    }
}

#define ISO     "string /* ISO date */[]"
#define FOREIGN "string /* date that new Date() does not read */[]"

TEST(dates__that_the_engine_does_not_read_are_told_so)
{
    static const struct {
        const char *date;
        const char *type;
    } dates[] = {
        {"\"2024-05-01\"", ISO},
        {"\"2024-05-01T10:20\"", ISO},
        {"\"2024-05-01T10:20:30.5-0200\"", ISO},
        {"\"2024-05-01 10:20:30+02\"", ISO},
        {"\"2024-05-01T10:20:30+02\"", FOREIGN},
        {"\"2024-05-01 10:20 Z\"", ISO},
        {"\"2024-05-01 10:20:30 +0200\"", ISO},
        {"\"2024-05-01 10:20:30 UTC\"", ISO},
        {"\"2024-05-01 10:20:30,5\"", FOREIGN},
    };

    for (size_t i = 0; i < GBX_COUNTOF(dates); i++) {
        char json[80];

        (void)snprintf(json, sizeof json, "[%s,\"2024-05-02\"]", dates[i].date);
        shows(json, TYPE, dates[i].type);
    }
}

TEST(dates__that_no_calendar_and_no_clock_has_are_text)
{
    static const char *const texts[] = {
        "2024-02-30",       "2023-02-29",          "2100-02-29",
        "2024-04-31",       "2024-05-01T25:00",    "2024-05-01T24:00:01",
        "2024-05-01 10:60", "2024-05-01 10:20:61", "2024-05-01T10:20+24:00",
    };
    static const char *const dates[] = {
        "2024-02-29",          "2000-02-29",           "2024-12-31",
        "2024-05-01T24:00:00", "2016-12-31T23:59:60Z",
    };
    char json[80];

    for (size_t i = 0; i < GBX_COUNTOF(texts); i++) {
        (void)snprintf(json, sizeof json, "[\"%s\",\"2024-05-02\"]", texts[i]);
        shows(json, TYPE, "string[]");
    }
    for (size_t i = 0; i < GBX_COUNTOF(dates); i++) {
        (void)snprintf(json, sizeof json, "[\"%s\",\"2024-05-02\"]", dates[i]);
        shows(json, TYPE, ISO);
    }
}

TEST(dates__have_times_and_zones_in_many_ways)
{
    static const char *const dates[] = {
        "\"2024-05-01\"",
        "\"2024-05-01T10:20\"",
        "\"2024-05-01T10:20:30Z\"",
        "\"2024-05-01T10:20:30.123456789+02:00\"",
        "\"2024-05-01 10:20:30,5\"",
        "\"2024-05-01 10:20:30.123456+00\"",
        "\"2024-05-01 10:20:30 -0700\"",
        "\"2024-05-01 10:20:30.123456 UTC\"",
    };

    for (size_t i = 0; i < GBX_COUNTOF(dates); i++) {
        char *json = list_of(6, dates[i], "null");
        char *text = shown(json, STATISTICS, 0);
        char told_as[80];

        (void)snprintf(told_as, sizeof told_as, "\"first\":%s,\"last\":%s", dates[i],
                       dates[i]);
        if (strstr(text, told_as) == NULL)
            fail_msg("%s", text);
        free(text);
        free(json);
    }
}

TEST(numbers__are_told_as_code_sees_them)
{
    static const char ids[] =
        "[{\"id\":1234567890123456789},{\"id\":1234567890123456788},"
        "{\"id\":1234567890123456787},{\"id\":1234567890123456786},"
        "{\"id\":1234567890123456785}]";

    shows(ids, TYPE, "{ id: integer /* over 2^53: last digits may be lost */ }[]");
    shows(ids, EXAMPLES,
          "{id:1234567890123456800}\n{id:1234567890123456800}\n"
          "{id:1234567890123456800}\n");
    shows(ids, STATISTICS,
          "[{\"field\":\"[]\",\"kinds\":[\"object\"],\"count\":5,\"nulls\":0},"
          "{\"field\":\"[].id\",\"kinds\":[\"integer\"],\"count\":5,\"nulls\":0,"
          "\"distinct\":1,\"unsafeIntegers\":5,\"min\":1234567890123456800,"
          "\"max\":1234567890123456800,\"mean\":1234567890123456800,"
          "\"top\":[{\"value\":1234567890123456800,\"count\":5}]}]");
    shows("[9007199254740991]", TYPE, "integer[]");
    shows("[9007199254740993]", TYPE,
          "integer /* over 2^53: last digits may be lost */[]");
    shows("[1e400,1]", TYPE, "number /* over 1.8e308: Infinity */[]");
    shows("[1e400,-1e400,1.50]", EXAMPLES, "Infinity\n-Infinity\n1.5\n");
    shows("[1e400,1,1e0,1.0,1,1]", STATISTICS,
          "[{\"field\":\"[]\",\"kinds\":[\"integer\",\"number\"],\"count\":6,"
          "\"nulls\":0,\"distinct\":2,\"infinite\":1,\"min\":1,\"max\":1,\"mean\":1,"
          "\"top\":[{\"value\":1,\"count\":5},{\"value\":null,\"count\":1}]}]");
    shows("[[0.000001,1.5e-7,123456789012345680000],[1e21,-0,12e3]]", EXAMPLES,
          "[0.000001,1.5e-7,123456789012345680000]\n[1e+21,0,12000]\n");
}

TEST(means__are_within_the_range)
{
    shows("[1700000000123,1700000009999,1700000000123,1700000009999,1700000005061,"
          "1700000005061]",
          STATISTICS,
          "[{\"field\":\"[]\",\"kinds\":[\"integer\"],\"count\":6,\"nulls\":0,"
          "\"distinct\":3,\"min\":1700000000123,\"max\":1700000009999,"
          "\"mean\":1700000005060,\"top\":[{\"value\":1700000000123,\"count\":2},"
          "{\"value\":1700000009999,\"count\":2},"
          "{\"value\":1700000005061,\"count\":2}]}]");
    shows("[1e308,1e308,1e308,1e308,1e308]", STATISTICS,
          "[{\"field\":\"[]\",\"kinds\":[\"number\"],\"count\":5,\"nulls\":0,"
          "\"distinct\":1,\"min\":1e+308,\"max\":1e+308,\"mean\":1e+308,"
          "\"top\":[{\"value\":1e+308,\"count\":5}]}]");
}

TEST(many_values__are_counted_up_to_a_bound)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json;
    char *text;

    gbx_buf_init(&json, GBX_MIB(64));
    (void)gbx_buf_puts(&json, "[");
    for (int i = 0; i < 50000; i++)
        (void)gbx_buf_printf(&json, "%d,", i % 10000);
    (void)gbx_buf_append(&json, "0]", 3);
    text = shown((const char *)json.data, STATISTICS, 0);
    assert_non_null(strstr(text, "\"distinct\":10000,"));
    free(text);
    json.len -= 3;
    (void)gbx_buf_append(&json, "-1]", 4);
    text = shown((const char *)json.data, STATISTICS, 0);
    assert_non_null(strstr(text, "\"distinctAtLeast\":10000,"));
    free(text);
}

TEST(records__beyond_a_bound_are_described_by_a_part_that_is_spread_evenly)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json;
    char *text;

    gbx_buf_init(&json, GBX_MIB(8));
    (void)gbx_buf_puts(&json, "[");
    for (int i = 0; i < 150000; i++)
        (void)gbx_buf_printf(&json, "%d,", i);
    (void)gbx_buf_append(&json, "0]", 3);
    text = told((const char *)json.data, SIZE, 0);
    assert_string_equal(text, "150,001 elements, described by 75,001 of them");
    free(text);
    text = shown((const char *)json.data, STATISTICS, 0);
    assert_non_null(strstr(text, "\"min\":0,\"max\":149998,"));
    free(text);
}

TEST_MAIN(start_describing, stop_describing)
