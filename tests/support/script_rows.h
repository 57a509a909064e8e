/* SPDX-License-Identifier: MIT */
/* script_rows - tables of scripts with what comes of them, checked one by one: the files of
 * tests/integration/scripts. */
#ifndef GBX_TESTS_SCRIPT_ROWS_H
#define GBX_TESTS_SCRIPT_ROWS_H

#include <stddef.h>

/* Set up and tear down the engine that runs them. */
int script_rows_start(void **state);
int script_rows_finish(void **state);

/* How many are wrong by what outcome_of() has of them, said. It gives a text to be freed. */
size_t script_rows_compare(const char *table, const char *prefix,
                           char *(*outcome_of)(const char *code));

/* The same by that engine. prefix: only what follows its last character is looked at. */
size_t script_rows_check(const char *table, const char *prefix);

/* The engine that runs them. */
struct gbx_engine *script_rows_engine(void);

#define CHECK(table, prefix) assert_int_equal(script_rows_check(table, prefix), 0)

#endif
