/* SPDX-License-Identifier: MIT */
/* toml_value - what the two files that read TOML share. */
#ifndef GBX_MCP_IMPORT_TOML_VALUE_H
#define GBX_MCP_IMPORT_TOML_VALUE_H

#include "base/buf.h"

#include <jansson.h>

#define GBX_TOML_DEPTH_MAX 64

/* Text that is read; sticky: after the first fault nothing is taken any more. */
typedef struct gbx_toml_reader {
    const char *text;
    size_t at;
    size_t len;
    unsigned depth;
    const char *fault; /* constant, or NULL */
} gbx_toml_reader;

static inline char gbx_toml_here(const gbx_toml_reader *r)
{
    return (char)(r->at < r->len ? r->text[r->at] : '\0');
}

void gbx_toml_fail(gbx_toml_reader *r, const char *fault);
void gbx_toml_skip_blanks(gbx_toml_reader *r);
/* Blanks, line ends and comments. */
void gbx_toml_skip_lines(gbx_toml_reader *r);

/* A new reference, or NULL. */
json_t *gbx_toml_value(gbx_toml_reader *r);

/* One part of a key, bare or quoted: free() it. */
char *gbx_toml_key_part(gbx_toml_reader *r);
/* `a.b = value` into table. */
void gbx_toml_pair(gbx_toml_reader *r, json_t *table);

#endif
