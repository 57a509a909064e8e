/* SPDX-License-Identifier: MIT */
/* json_text - numbers as they were written, as far as a double keeps them. */
#include "policy/policy.h"
#include "test.h"

#include "base/cleanup.h"

#include <float.h>

static void check(const char *text, const char *wanted)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    GBX_CLEANUP(gbx_free) char *got = NULL;

    assert_non_null(value);
    got = gbx_json_text(value, JSON_COMPACT | JSON_ENCODE_ANY);
    json_decref(value);
    assert_non_null(got);
    assert_string_equal(got, wanted);
}

TEST(text__has_numbers_in_no_more_digits_than_they_need)
{
    check("{\"amount\":19.99,\"tax\":0.1,\"n\":[1.0,-0.2,48.137154]}",
          "{\"amount\":19.99,\"tax\":0.1,\"n\":[1.0,-0.2,48.137154]}");
    check("[0.1,1,0.1]", "[0.1,1,0.1]");
    check("0.3", "0.3");
    check("5.1e-7", "5.1e-7");
    check("1e22", "1e22");
    check("9007199254740991", "9007199254740991");
}

TEST(text__keeps_every_digit_that_makes_another_number)
{
    check("0.30000000000000004", "0.30000000000000004");
    check("1234.567890123456", "1234.567890123456");
    check("[9007199254740993.0]", "[9007199254740992.0]");
}

TEST(text__of_strings_and_words_is_left)
{
    check("{\"0.10000000000000001\":\"a\\\"0.10000000000000001\\\\\",\"e\":[true,false,"
          "null]}",
          "{\"0.10000000000000001\":\"a\\\"0.10000000000000001\\\\\",\"e\":[true,false,"
          "null]}");
    check("\"19.989999999999998\"", "\"19.989999999999998\"");
    check("{}", "{}");
}

TEST(text__reads_back_as_the_same_number)
{
    static const double values[] = {DBL_MIN,  DBL_MAX, -DBL_MAX,
                                    4.9e-324, 1.0 / 3, 2.0 / 3,
                                    1e15,     1e16,    123456789012345680.0,
                                    -0.0};

    for (size_t i = 0; i < GBX_COUNTOF(values); i++) {
        json_t *value = json_real(values[i]);
        GBX_CLEANUP(gbx_free) char *text = gbx_json_text(value, JSON_ENCODE_ANY);
        json_t *back = json_loads(text, JSON_DECODE_ANY, NULL);

        assert_true(json_real_value(back) == values[i]);
        json_decref(back);
        json_decref(value);
    }
}

TEST_MAIN(NULL, NULL)
