/* SPDX-License-Identifier: MIT */
/* opt - what is accepted, what is refused, and how the refusal names it. */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

typedef struct args {
    bool json;
    const char *file;
    uint64_t timeout;
    int jit;
    gbx_opt_list sets;
} args;

static const char *const jits[] = {"full", "off", NULL};

static const gbx_opt rows[] = {
    GBX_ROW_FLAG(args, json, "json", ""),
    GBX_ROW_TEXT(args, file, "file", "FILE", ""),
    GBX_ROW_NUMBER(args, timeout, "timeout", "MS", 1, 600, ""),
    GBX_ROW_CHOICE(args, jit, "jit", "LEVEL", 5, jits, ""),
    GBX_ROW_LIST(args, sets, "set", "N=V", ""),
    {0},
};

static const gbx_opt_group groups[] = {{"Options", rows, 0}, {0}};

/* Parse up to seven words; the error's message, or "". */
static const char *parse(args *a, int *count, char *const *words)
{
    static gbx_error err;
    static char *argv[8];
    int argc = 0;

    while (words[argc] != NULL) {
        argv[argc] = words[argc];
        argc++;
    }
    err = (gbx_error){0};
    (void)gbx_opt_parse(groups, a, argc, argv, count, &err);
    if (words[0] != NULL && *count == 1)
        assert_non_null(argv[0]);
    return err.message;
}

/* What came of it: each option that was given, and how many arguments are left. */
static void describe(const args *a, int count, char *text, size_t size)
{
    size_t len = (size_t)snprintf(text, size, "%s", a->json ? " json" : "");

    if (a->file != NULL)
        len += (size_t)snprintf(text + len, size - len, " file=%s", a->file);
    if (a->timeout != 0)
        len += (size_t)snprintf(text + len, size - len, " timeout=%u",
                                (unsigned)a->timeout);
    if (a->jit != 0)
        len += (size_t)snprintf(text + len, size - len, " jit=%d", a->jit);
    for (size_t i = 0; i < a->sets.count; i++)
        len += (size_t)snprintf(text + len, size - len, " set=%s", a->sets.item[i]);
    if (count > 0)
        (void)snprintf(text + len, size - len, " %d more", count);
}

static void test_words__are_taken_or_refused_by_name(void **state)
{
    static const struct {
        char *const words[6];
        const char *outcome; /* or the error */
    } cases[] = {
        /* Values come after a space or an equals sign; may be empty or look like options. */
        {{"--file", "a.js", "--timeout=30"}, " file=a.js timeout=30"},
        {{"--file=", "--set", "--json", "--set=a=b"}, " file= set=--json set=a=b"},
        /* Arguments keep their order among options, which two dashes end. */
        {{"one", "--json", "-", "two"}, " json 3 more"},
        {{"--", "--json", "--"}, " 2 more"},
        /* The last of an option counts. */
        {{"--timeout", "5", "--timeout", "6"}, " timeout=6"},
        /* Choices count from their minimum. */
        {{"--jit", "off"}, " jit=6"},
        {{"--jit", "on"}, "'--jit' is one of full, off, not 'on'"},
        {{"--file"}, "'--file' needs a value: --file FILE"},
        {{"--json=yes"}, "'--json' takes no value"},
        {{"--tiemout"}, "unknown option '--tiemout': did you mean '--timeout'?"},
        {{"--fil=x"}, "unknown option '--fil': did you mean '--file'?"},
        {{"--time"}, "unknown option '--time': did you mean '--timeout'?"},
        {{"--verbose"}, "unknown option '--verbose'"},
        {{"--=x"}, "unknown option '--=x'"},
        {{"-x"},
         "unknown option '-x': write '--' before an argument that begins with "
         "'-'"},
    };

    for (size_t i = 0; i < GBX_COUNTOF(cases); i++) {
        args a = {0};
        int count = -1;
        const char *error = parse(&a, &count, cases[i].words);
        char text[200] = "";

        if (*error == '\0')
            describe(&a, count, text, sizeof text);
        assert_string_equal(*error != '\0' ? error : text, cases[i].outcome);
    }
}

static void test_numbers__are_within_their_range(void **state)
{
    static const char *const good[] = {"1", "600", "007"};
    static const char *const bad[] = {"0",   "601", "-1",   "+1",
                                      "1.5", "",    " 1",   "1 ",
                                      "x",   "1e2", "0x10", "18446744073709551616"};

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

static void test_a_list__has_an_end(void **state)
{
    char *words[] = {"--set", "x", NULL};
    args a = {0};
    int count = -1;

    for (size_t i = 0; i < GBX_OPT_LIST_MAX; i++)
        assert_string_equal(parse(&a, &count, words), "");
    assert_string_equal(parse(&a, &count, words),
                        "'--set' is given more than 64 times");
}

static void test_help__wraps_within_eighty_columns(void **state)
{
    static const gbx_opt long_rows[] = {
        {.name = "option-with-a-long-name",
         .value = "AND-A-VALUE",
         .help =
             "words words words words words words words words words words words words words "
             "words words words words words words words words",
         .kind = GBX_OPT_TEXT},
        {0},
    };
    static const gbx_opt_group long_groups[] = {{"Title", long_rows, 0}, {0}};
    char line[200];
    FILE *file = tmpfile();
    size_t lines = 0;

    assert_non_null(file);
    gbx_opt_print(file, long_groups);
    rewind(file);
    for (; fgets(line, sizeof line, file) != NULL; lines++)
        assert_true(strlen(line) <= 100); /* the name itself is not broken */
    assert_true(lines > 3);
    (void)fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words__are_taken_or_refused_by_name),
        cmocka_unit_test(test_numbers__are_within_their_range),
        cmocka_unit_test(test_a_list__has_an_end),
        cmocka_unit_test(test_help__wraps_within_eighty_columns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
