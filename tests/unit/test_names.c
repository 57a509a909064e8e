/* SPDX-License-Identifier: MIT */
/* names - the two tables of status.h, as text; numbers are ABI and stand here. */
#include "test.h"

#include <glovebox/glovebox.h>

#define COUNTOF(a) (sizeof(a) / sizeof((a)[0]))

static const struct {
    int number;
    const char *name;
} statuses[] = {
    {0, "GBX_OK"},         {-1, "GBX_E_USAGE"},       {-2, "GBX_E_NOMEM"},
    {-3, "GBX_E_OS"},      {-4, "GBX_E_UNSUPPORTED"}, {-5, "GBX_E_PROTOCOL"},
    {-6, "GBX_E_DATA"},    {-7, "GBX_E_CLOSED"},      {-8, "GBX_E_POLICY"},
    {-9, "GBX_E_UNKNOWN"}, {1, "GBX_E_UNKNOWN"},
};

TEST(status__names_and_numbers_are_fixed)
{
    for (size_t i = 0; i < COUNTOF(statuses); i++)
        assert_string_equal(gbx_status_name((gbx_status)statuses[i].number),
                            statuses[i].name);
}

static const struct {
    int number;
    const char *name;
    int exit;
} codes[] = {
    {0, "OK", 0},
    {1, "TIMEOUT", 10},
    {2, "MEMORY", 11},
    {3, "SYNTAX", 12},
    {4, "RUNTIME", 13},
    {5, "OUTPUT_TOO_LARGE", 14},
    {6, "INVALID_CODE", 15},
    {7, "UNAVAILABLE", 16},
    {8, "ABORTED", 17},
    {9, "INVALID_DATA", 18},
    {10, "CRASHED", 19},
    {11, "VIOLATION", 20},
    {12, "DIVERGED", 21},
    {13, "LOST", 22},
    {14, "UNKNOWN", 70},
    {-1, "UNKNOWN", 70},
};

TEST(code__names_numbers_and_exits_are_fixed)
{
    for (size_t i = 0; i < COUNTOF(codes); i++) {
        gbx_code code = (gbx_code)codes[i].number;

        assert_string_equal(gbx_code_name(code), codes[i].name);
        assert_int_equal(gbx_code_exit(code), codes[i].exit);
        assert_true(strlen(gbx_code_text(code)) > 0);
    }
}

TEST(code__exits_are_all_different)
{
    for (size_t i = 0; i <= 12; i++)
        for (size_t j = i + 1; j <= 12; j++)
            assert_int_not_equal(gbx_code_exit((gbx_code)i),
                                 gbx_code_exit((gbx_code)j));
}

TEST(form__has_a_name_and_a_wrong_one_has_none)
{
    assert_string_equal(gbx_form_name(GBX_FORM_FUNCTION), "function");
    assert_string_equal(gbx_form_name(GBX_FORM_EXECUTE), "execute");
    assert_string_equal(gbx_form_name(GBX_FORM_BODY), "body");
    assert_string_equal(gbx_form_name(GBX_FORM_SCRIPT), "script");
    assert_string_equal(gbx_form_name((gbx_form)4), "unknown");
    assert_string_equal(gbx_form_name((gbx_form)-1), "unknown");
}

TEST(version__is_the_headers)
{
    char text[64];

    (void)snprintf(text, sizeof text, "%d.%d.%d", GBX_VERSION_MAJOR, GBX_VERSION_MINOR,
                   GBX_VERSION_PATCH);

    assert_string_equal(gbx_version(), GBX_VERSION);
    assert_string_equal(gbx_version(), text);
}

TEST(string_free__takes_strings_and_nothing)
{
    gbx_string_free(NULL);
    gbx_string_free(strdup("given away"));
}

TEST_MAIN(NULL, NULL)
