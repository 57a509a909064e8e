/* SPDX-License-Identifier: MIT */
/*
 * spec - what --data says: NAME=FILE, NAME=csv:FILE (json:, ndjson:, tsv: likewise), or
 * NAME=sqlite:FILE?query=SELECT..., the query percent-encoded where it must be.
 */
#ifndef GBX_MCP_DATA_SPEC_H
#define GBX_MCP_DATA_SPEC_H

#include "base/fail.h"

#include <stdbool.h>
#include <stddef.h>

/* As the engine has it. */
#define GBX_SPEC_NAME_MAX 64

typedef enum gbx_spec_format {
    GBX_SPEC_GUESS, /* by what the file begins with */
    GBX_SPEC_JSON,
    GBX_SPEC_NDJSON,
    GBX_SPEC_CSV,
    GBX_SPEC_TSV,
    GBX_SPEC_SQLITE,
} gbx_spec_format;

typedef struct gbx_spec {
    char name[GBX_SPEC_NAME_MAX + 1];
    gbx_spec_format format;
    char *path;
    char *query; /* SQLITE only */
} gbx_spec;

/* GBX_E_USAGE says what is wrong. *ret is to be cleaned up on success alone. */
gbx_status gbx_spec_parse(const char *text, gbx_spec *ret, gbx_error *reterr);
void gbx_spec_cleanup(gbx_spec *spec);

/* "JSON", "CSV", ...; for GUESS "JSON or CSV". */
const char *gbx_spec_format_name(gbx_spec_format format);

#endif
