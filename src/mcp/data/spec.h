/* SPDX-License-Identifier: MIT */
/*
 * spec - parse the argument of --data: NAME=FILE, NAME=csv:FILE (also json:, ndjson:,
 * tsv:), or NAME=sqlite:FILE?query=SELECT..., with the query percent-encoded where
 * necessary.
 */
#ifndef GBX_MCP_DATA_SPEC_H
#define GBX_MCP_DATA_SPEC_H

#include "base/fail.h"

#include <stdbool.h>
#include <stddef.h>

/* The engine's limit. */
#define GBX_SPEC_NAME_MAX 64

typedef enum gbx_spec_format {
    GBX_SPEC_GUESS, /* from the beginning of the file */
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

/* GBX_E_USAGE says what is wrong. Clean up *ret on success alone. */
gbx_status gbx_spec_parse(const char *text, gbx_spec *ret, gbx_error *reterr);
void gbx_spec_cleanup(gbx_spec *spec);

/* "JSON", "CSV", ...; for GUESS "JSON or CSV". */
const char *gbx_spec_format_name(gbx_spec_format format);

#endif
