/* SPDX-License-Identifier: MIT */
/*
 * parameter_names - what names in code stand for: a parameter of what is called with the data and
 * the input, a member of the object of all datasets, or neither.
 *
 * A function that is an argument of a call, list.filter((d) => ...), is called by the call,
 * with what is in the list: its parameters are none of those meant here.
 */
#ifndef GBX_MCP_DATA_PARAMETER_NAMES_H
#define GBX_MCP_DATA_PARAMETER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gbx_parameter_names {
    bool is_parameter;
    unsigned index;  /* 0: the data; 1: the input */
    bool in_pattern; /* ({ name }) */
} gbx_parameter_names;

/* code: JavaScript. */
gbx_parameter_names gbx_parameter_names_of(const char *code, size_t len,
                                           const char *name, size_t name_len);

/* Is the parameter of that index taken apart, and has no default? */
bool gbx_parameter_names_takes_apart(const char *code, size_t len, unsigned index);

/* May the code read the member of that name of the object of all datasets? True if that
 * cannot be told. */
bool gbx_parameter_names_reads(const char *code, size_t len, const char *name);

#endif
