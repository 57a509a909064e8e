/* SPDX-License-Identifier: MIT */
/* moment - against values that `date -d` gives. */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "test.h"

static void test_a_moment__is_read_in_every_form(void **state)
{
    static const struct {
        const char *text;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"-1", -1},
        {"1767225600000", 1767225600000},
        {"1970-01-01", 0},
        {"2026-01-01", 1767225600000},
        {"2024-02-29", 1709164800000},
        {"2000-02-29T00:00", 951782400000},
        {"1900-03-01", -2203891200000},
        {"1969-12-31T23:59:59.999Z", -1},
        {"0001-01-01", -62135596800000},
        {"0000-01-01", -62167219200000},
        {"0000-12-31", -62135683200000},
        {"9999-12-31T23:59:59.999Z", 253402300799999},
        {"2026-01-31T12:30Z", 1769862600000},
        {"2026-01-31 12:30:15", 1769862615000},
        {"2026-01-31T12:30:15.25Z", 1769862615250},
        {"2026-01-31T12:30:15.2509", 1769862615250},
        {"2026-01-31T12:30:15+01:00", 1769859015000},
        {"2026-01-31T12:30:15-05:30", 1769882415000},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        int64_t ms = -12345;

        assert_true(gbx_moment_parse(cases[i].text, &ms));
        assert_int_equal(ms, cases[i].ms);
    }
}

static void test_what_is_no_moment__is_refused(void **state)
{
    static const char *const cases[] = {
        "",
        "x",
        "-",
        "1.5",
        "1 ",
        " 1",
        "--1",
        "2026-1-1",
        "2026-1-1x",
        "2026-01-32",
        "2026-02-29",
        "1900-02-29",
        "2026-13-01",
        "2026-00-01",
        "2026-01-00",
        "2026-01-01T",
        "2026-01-01T24:00",
        "2026-01-01T12",
        "2026-01-01T12:60",
        "2026-01-01T12:00:60",
        "2026-01-01T12:00:00.",
        "2026-01-01T12:00Zx",
        "2026-01-01T12:00+1",
        "2026-01-01T12:00+01",
        "8640000000000001",
        "99999999999999999999",
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        int64_t ms;

        assert_false(gbx_moment_parse(cases[i], &ms));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_moment__is_read_in_every_form),
        cmocka_unit_test(test_what_is_no_moment__is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
