/* SPDX-License-Identifier: MIT */
/*
 * table - rows that stand in a text file below tests/, for people to read and to add to: what
 * goes in, and what is to come of it.
 *
 * A table of lines has rows of cells between tabs, in sections that begin with "== NAME". ""
 * is an empty cell; "# " begins a comment. If it has escapes, \\ \n \r \t and \xHH stand for a
 * byte.
 *
 * A table of blocks has rows of several lines:
 *
 *     == NAME
 *     -- KEY=VALUE          any number of these, or none
 *     what goes in
 *     => what is to come of it, to the next empty line
 *
 * What is before the first block is a comment. What is given back stays until the program ends.
 *
 * A table of cases has texts below what is to come of them: "=== HEAD" begins one; it ends
 * before the next. The line ends at its end are none of it, nor are lines that begin with '#'.
 *
 * All of it asserts.
 */
#ifndef GBX_TESTS_TABLE_H
#define GBX_TESTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define TABLE_CELLS 6

typedef struct table_line {
    unsigned number;               /* in its file */
    const char *cell[TABLE_CELLS]; /* NULL: not there */
} table_line;

typedef struct table_block {
    const char *name;
    const char *text;
    const char *value;
    const char *options; /* the lines of them, without "-- " */
} table_block;

/* The lines of one section; how many. path: below tests/. */
size_t table_lines(const char *path, const char *section, bool has_escapes,
                   const table_line **ret_lines);

size_t table_blocks(const char *path, const table_block **ret_blocks);

/* A number among the options, or another where it is not. */
unsigned long table_number(const table_block *block, const char *key,
                           unsigned long otherwise);

/* True if what comes of text is what head says; says it if not. Both may be written to. */
typedef bool (*table_check_fn)(char *head, char *text, size_t len);

/* Every case of the file, of which there are at least so many; prints those that are wrong
 * with their lines. */
void table_check(const char *path, table_check_fn check, size_t at_least);

/* Cuts the word before the next `end` off *at; "" at its end. */
char *table_word(char **at, const char *end);

#endif
