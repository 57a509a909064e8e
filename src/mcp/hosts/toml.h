/* SPDX-License-Identifier: MIT */
/*
 * toml - TOML text as values, for the one host that configures servers with it.
 *
 * A reader of our own: Debian has none in C. All of TOML 1.0 is read, but for the meaning
 * of dates, which stay text. What stands where is kept for tables, so that a file can be
 * changed without being written anew.
 */
#ifndef GBX_MCP_HOSTS_TOML_H
#define GBX_MCP_HOSTS_TOML_H

#include "base/fail.h"

#include <jansson.h>

/* A table's lines: from its header to the next, each with the comments just above it. */
typedef struct gbx_toml_table {
    char *first;  /* the first name of its header */
    char *second; /* the second, or NULL */
    size_t from;
    size_t to;
} gbx_toml_table;

typedef struct gbx_toml {
    json_t *root;
    gbx_toml_table *tables;
    size_t table_count;
    size_t head_len; /* before the first header */
} gbx_toml;

/* GBX_E_DATA with line and column. */
gbx_status gbx_toml_read(const char *text, size_t len, gbx_toml *ret,
                         gbx_error *reterr);
void gbx_toml_cleanup(gbx_toml *toml);

#endif
