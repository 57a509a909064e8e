/* SPDX-License-Identifier: MIT */
/*
 * opt - command-line options as tables: parsing, help and errors come from the rows.
 *
 * `--name value` and `--name=value`, in any order with the other arguments; `--` ends
 * the options; a lone `-` is an argument. Names cannot be abbreviated: a script must
 * not change its meaning when an option is added.
 *
 * Values are borrowed from argv. If an option is given twice, the last value wins.
 */
#ifndef GBX_CLI_OPT_H
#define GBX_CLI_OPT_H

#include "base/fail.h"

#include <stdbool.h>
#include <stdio.h>

#define GBX_OPT_LIST_MAX 64

typedef struct gbx_opt_list {
    const char *item[GBX_OPT_LIST_MAX];
    size_t count;
} gbx_opt_list;

typedef enum gbx_opt_kind {
    GBX_OPT_FLAG,   /* bool: true if given */
    GBX_OPT_TEXT,   /* const char * */
    GBX_OPT_NUMBER, /* uint64_t, from min to max */
    GBX_OPT_CHOICE, /* int: min + the index in choices */
    GBX_OPT_LIST,   /* gbx_opt_list: every value, in order */
} gbx_opt_kind;

typedef struct gbx_opt {
    const char *name;  /* without its dashes */
    const char *value; /* the value's name in help; NULL for a flag */
    const char *help;  /* one paragraph, lower case */
    gbx_opt_kind kind;
    size_t offset; /* of the field in the struct that the table fills */
    uint64_t min;
    uint64_t max;
    const char *const *choices; /* ends in NULL */
} gbx_opt;

typedef struct gbx_opt_table {
    const char *title; /* "Limits" */
    const gbx_opt *rows;
    size_t count;
} gbx_opt_table;

/*
 * Parse argv[0] to argv[argc - 1]. into[i] is the struct that tables[i] fills; fields
 * of options that are not given stay unchanged. Other arguments are moved to the front
 * of argv, in order, and counted in *ret_count. GBX_E_USAGE names what is wrong.
 */
gbx_status gbx_opt_parse(const gbx_opt_table *const *tables, size_t table_count,
                         void *const *into, int argc, char **argv, int *ret_count,
                         gbx_error *reterr);

/* Print every table with its title, one row per option, wrapped for a terminal. */
void gbx_opt_print(FILE *to, const gbx_opt_table *const *tables, size_t table_count);

#endif
