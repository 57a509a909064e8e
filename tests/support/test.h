/* SPDX-License-Identifier: MIT */
/*
 * test - what every test program includes: cmocka, the headers that it and nearly every
 * test need, and a list of tests that nobody has to write.
 *
 *     TEST(subject__claim)
 *     {
 *         assert_true(...);
 *     }
 *
 *     TEST_MAIN(set_up, tear_down)
 *
 * The tests of a program run in the order in which they stand in it.
 */
#ifndef GBX_TESTS_TEST_H
#define GBX_TESTS_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A test has a state whether it looks at it or not. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Of all files of the program: weak, so that each may bring it along. */
typedef struct test_list {
    size_t count;
    struct CMUnitTest tests[64];
} test_list;
extern test_list tests_of_program;
__attribute__((weak)) test_list tests_of_program;

static inline void test_add(struct CMUnitTest test)
{
    test_list *list = &tests_of_program;

    if (list->count == sizeof list->tests / sizeof list->tests[0])
        abort();
    list->tests[list->count++] = test;
}

/* Give each of them that has none this set_up and tear_down. */
static inline void tests_each(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    for (size_t i = 0; i < tests_of_program.count; i++) {
        struct CMUnitTest *test = &tests_of_program.tests[i];

        if (test->setup_func == NULL) {
            test->setup_func = set_up;
            test->teardown_func = tear_down;
        }
    }
}

/* Run them; set_up and tear_down are before the first and after the last of them. */
static inline int tests_run(CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    return _cmocka_run_group_tests(program_invocation_short_name,
                                   tests_of_program.tests, tests_of_program.count,
                                   set_up, tear_down);
}

/* A test with its own set_up and tear_down, or without. */
#define TEST_WITH(set_up, tear_down, name)                                 \
    static void test_##name(void **state);                                 \
    __attribute__((constructor)) static void add_test_##name(void)         \
    {                                                                      \
        test_add((struct CMUnitTest){"test_" #name, test_##name, (set_up), \
                                     (tear_down), NULL});                  \
    }                                                                      \
    static void test_##name(void **state)
#define TEST(name) TEST_WITH(NULL, NULL, name)

#define TEST_MAIN(set_up, tear_down)         \
    int main(void)                           \
    {                                        \
        return tests_run(set_up, tear_down); \
    }
#define TEST_MAIN_EACH(set_up, tear_down) \
    int main(void)                        \
    {                                     \
        tests_each(set_up, tear_down);    \
        return tests_run(NULL, NULL);     \
    }

#endif
