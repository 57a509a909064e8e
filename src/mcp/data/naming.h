/* SPDX-License-Identifier: MIT */
/*
 * naming - what names in code stand for: a parameter of what is called with the data and
 * the input, a member of the object of all datasets, or neither.
 *
 * A function that is an argument of a call, list.filter((d) => ...), is called by the call,
 * with what is in the list: its parameters are none of those meant here.
 */
#ifndef GBX_MCP_DATA_NAMING_H
#define GBX_MCP_DATA_NAMING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbx_naming {
    bool is_parameter;
    unsigned index;  /* 0: the data; 1: the input */
    bool in_pattern; /* ({ name }) */
} gbx_naming;

/* code: JavaScript. */
gbx_naming gbx_naming_of(const char *code, size_t len, const char *name,
                         size_t name_len);

/* Is the parameter of that index taken apart, and has no default? */
bool gbx_naming_takes_apart(const char *code, size_t len, unsigned index);

/* May the code read the member of that name of the object of all datasets? True if that
 * cannot be told. */
bool gbx_naming_reads(const char *code, size_t len, const char *name);

#endif
