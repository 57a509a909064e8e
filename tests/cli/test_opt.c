/* SPDX-License-Identifier: MIT */
/* opt - what is accepted, what is refused, and how the refusal names it. */
#include "base/cleanup.h"
#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct args {
    bool json;
    const char *file;
    uint64_t timeout;
    int jit;
    gbx_opt_list sets;
} args;

static const char *const jits[] = {"full", "off", NULL};

static const gbx_opt rows[] = {
    {"json", NULL, "", GBX_OPT_FLAG, offsetof(args, json), 0, 0, NULL},
    {"file", "FILE", "", GBX_OPT_TEXT, offsetof(args, file), 0, 0, NULL},
    {"timeout", "MS", "", GBX_OPT_NUMBER, offsetof(args, timeout), 1, 600, NULL},
    {"jit", "LEVEL", "", GBX_OPT_CHOICE, offsetof(args, jit), 5, 0, jits},
    {"set", "N=V", "", GBX_OPT_LIST, offsetof(args, sets), 0, 0, NULL},
};

static const gbx_opt_table table = {"Options", rows, GBX_COUNTOF(rows)};

/* Parse up to seven words; the error's message, or "". */
static const char *parse(args *a, int *count, char *const *words)
{
    static gbx_error err;
    static char *argv[8];
    const gbx_opt_table *const tables[] = {&table};
    void *const into[] = {a};
    int argc = 0;

    while (words[argc] != NULL) {
        argv[argc] = words[argc];
        argc++;
    }
    err = (gbx_error){0};
    (void)gbx_opt_parse(tables, 1, into, argc, argv, count, &err);
    if (words[0] != NULL && *count == 1)
        assert_non_null(argv[0]);
    return err.message;
}

#define PARSE(...)                                \
    args a = {0};                                 \
    int count = -1;                               \
    char *const words[] = {__VA_ARGS__, NULL};    \
    const char *error = parse(&a, &count, words); \
    (void)state;                                  \
    (void)error

static void test_values__come_after_a_space_or_an_equals_sign(void **state)
{
    PARSE("--file", "a.js", "--timeout=30");

    assert_string_equal(error, "");
    assert_string_equal(a.file, "a.js");
    assert_int_equal(a.timeout, 30);
    assert_int_equal(count, 0);
}

static void test_values__may_be_empty_or_look_like_options(void **state)
{
    PARSE("--file=", "--set", "--json", "--set=a=b");

    assert_string_equal(error, "");
    assert_string_equal(a.file, "");
    assert_false(a.json);
    assert_int_equal(a.sets.count, 2);
    assert_string_equal(a.sets.item[0], "--json");
    assert_string_equal(a.sets.item[1], "a=b");
}

static void test_arguments__keep_their_order_among_options(void **state)
{
    PARSE("one", "--json", "-", "two");

    assert_string_equal(error, "");
    assert_true(a.json);
    assert_int_equal(count, 3);
}

static void test_two_dashes__end_the_options(void **state)
{
    PARSE("--", "--json", "--");

    assert_string_equal(error, "");
    assert_false(a.json);
    assert_int_equal(count, 2);
}

static void test_the_last__of_an_option_given_twice_counts(void **state)
{
    PARSE("--timeout", "5", "--timeout", "6");

    assert_string_equal(error, "");
    assert_int_equal(a.timeout, 6);
}

static void test_choices__count_from_their_minimum(void **state)
{
    PARSE("--jit", "off");

    assert_string_equal(error, "");
    assert_int_equal(a.jit, 6);
}

static void test_choices__name_what_may_be_chosen(void **state)
{
    PARSE("--jit", "on");

    assert_string_equal(error, "'--jit' is one of full, off, not 'on'");
}

static void test_numbers__are_within_their_range(void **state)
{
    static const char *const good[] = {"1", "600", "007"};
    static const char *const bad[] = {"0",   "601", "-1",   "+1",
                                      "1.5", "",    " 1",   "1 ",
                                      "x",   "1e2", "0x10", "18446744073709551616"};
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(good) + GBX_COUNTOF(bad); i++) {
        bool is_good = i < GBX_COUNTOF(good);
        char value[64];
        char *const words[] = {"--timeout", value, NULL};
        args a = {0};
        int count = -1;

        (void)strcpy(value, is_good ? good[i] : bad[i - GBX_COUNTOF(good)]);
        assert_int_equal(*parse(&a, &count, words) == '\0', is_good);
        assert_int_equal(a.timeout != 0, is_good);
    }
}

static void test_unknown__suggests_the_nearest(void **state)
{
    static const char *const cases[][2] = {
        {"--tiemout", "unknown option '--tiemout': did you mean '--timeout'?"},
        {"--fil=x", "unknown option '--fil': did you mean '--file'?"},
        {"--time", "unknown option '--time': did you mean '--timeout'?"},
        {"--verbose", "unknown option '--verbose'"},
        {"--=x", "unknown option '--=x'"},
        {"-x", "unknown option '-x': write '--' before an argument that begins with "
               "'-'"},
    };
    (void)state;

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        char word[64];
        char *const words[] = {word, NULL};
        args a = {0};
        int count = -1;

        (void)strcpy(word, cases[i][0]);
        assert_string_equal(parse(&a, &count, words), cases[i][1]);
    }
}

static void test_a_missing_value__is_named(void **state)
{
    PARSE("--file");

    assert_string_equal(error, "'--file' needs a value: --file FILE");
}

static void test_a_flag__takes_no_value(void **state)
{
    PARSE("--json=yes");

    assert_string_equal(error, "'--json' takes no value");
}

static void test_a_list__has_an_end(void **state)
{
    char *words[] = {"--set", "x", NULL};
    args a = {0};
    int count = -1;
    (void)state;

    for (size_t i = 0; i < GBX_OPT_LIST_MAX; i++)
        assert_string_equal(parse(&a, &count, words), "");
    assert_string_equal(parse(&a, &count, words),
                        "'--set' is given more than 64 times");
}

static void test_help__wraps_within_eighty_columns(void **state)
{
    static const gbx_opt long_rows[] = {
        {"option-with-a-long-name", "AND-A-VALUE",
         "words words words words words words words words words words words words words "
         "words words words words words words words words",
         GBX_OPT_TEXT, 0, 0, 0, NULL},
    };
    static const gbx_opt_table long_table = {"Title", long_rows, 1};
    const gbx_opt_table *const tables[] = {&long_table};
    char line[200];
    FILE *file = tmpfile();
    size_t lines = 0;
    (void)state;

    assert_non_null(file);
    gbx_opt_print(file, tables, 1);
    rewind(file);
    for (; fgets(line, sizeof line, file) != NULL; lines++)
        assert_true(strlen(line) <= 100); /* the name itself is not broken */
    assert_true(lines > 3);
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values__come_after_a_space_or_an_equals_sign),
        cmocka_unit_test(test_values__may_be_empty_or_look_like_options),
        cmocka_unit_test(test_arguments__keep_their_order_among_options),
        cmocka_unit_test(test_two_dashes__end_the_options),
        cmocka_unit_test(test_the_last__of_an_option_given_twice_counts),
        cmocka_unit_test(test_choices__count_from_their_minimum),
        cmocka_unit_test(test_choices__name_what_may_be_chosen),
        cmocka_unit_test(test_numbers__are_within_their_range),
        cmocka_unit_test(test_unknown__suggests_the_nearest),
        cmocka_unit_test(test_a_missing_value__is_named),
        cmocka_unit_test(test_a_flag__takes_no_value),
        cmocka_unit_test(test_a_list__has_an_end),
        cmocka_unit_test(test_help__wraps_within_eighty_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
