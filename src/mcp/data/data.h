/* SPDX-License-Identifier: MIT */
/* data - the tool `compute`: a model computes over datasets that it never sees. */
#ifndef GBX_MCP_DATA_DATA_H
#define GBX_MCP_DATA_DATA_H

#include "mcp/server/server.h"

#include <glovebox/glovebox.h>

typedef struct gbx_mcp_data gbx_mcp_data;
struct gbx_mcp_code;

typedef enum gbx_examples {
    GBX_EXAMPLES_PATTERNS, /* letters are x or X, digits 0, or 9 in a number */
    GBX_EXAMPLES_VALUES,   /* unchanged: everything is shown */
    GBX_EXAMPLES_NONE,
} gbx_examples;

#define GBX_SHOWN_MAX 64

/* Which values may be shown. fields: "NAME" or "NAME.FIELD.FIELD", each with everything
 * below it; borrowed. */
typedef struct gbx_shown {
    gbx_examples examples;
    const char *const *fields;
    size_t count; /* at most GBX_SHOWN_MAX */
} gbx_shown;

/*
 * Register `compute` and one resource per dataset. A few threads read the files at
 * once. Lists wait until descriptions are ready (gbx_mcp_server_hold()); calls and
 * reads wait for the data that they use.
 *
 * specs: "NAME=FILE" as in --data. options: of the engine. shown: which values clients
 * may see. scripts: get the datasets, too, and have an engine with gbx_mcp_data_limits(); or
 * NULL. All are borrowed until freed. GBX_E_USAGE names the fault of a spec, or a
 * path in shown that belongs to no dataset.
 */
gbx_status gbx_mcp_data_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const char *const *specs, size_t count,
                            const gbx_options *options, const gbx_shown *shown,
                            struct gbx_mcp_code *scripts, gbx_mcp_data **ret,
                            gbx_error *reterr);
/* What an engine must allow with those options: for `compute`, and for describing datasets,
 * which may need more. */
gbx_limits gbx_mcp_data_limits(const gbx_options *options);
/* Append what a model is told at first. */
void gbx_mcp_data_put_instructions(const gbx_mcp_data *data, gbx_buf *to);
void gbx_mcp_data_free(gbx_mcp_data *data);

/* Check for the user who typed spec: GBX_E_OS if the file cannot be read. The error has
 * the path, which no model ever sees. */
gbx_status gbx_mcp_data_probe(const char *spec, gbx_error *reterr);

/* ---- source.c: what names a dataset ---------------------------------------- */

/*
 * Parse the argument of --data: NAME=FILE, NAME=csv:FILE (also json:, ndjson:, tsv:),
 * NAME=csv:FILE?header=no&skip=N&bad=skip, or NAME=sqlite:FILE?query=SELECT..., with the
 * query percent-encoded where necessary.
 */

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
    char *query;  /* SQLITE only; NULL: all tables */
    unsigned how; /* CSV and TSV only: gbx_data_format bits */
} gbx_spec;

/* GBX_E_USAGE says what is wrong. Clean up *ret on success alone. */
gbx_status gbx_spec_parse(const char *text, gbx_spec *ret, gbx_error *reterr);

/* What follows NAME=; the name of len bytes is for messages alone, and is cut. */
gbx_status gbx_spec_of(const char *name, size_t len, const char *source, gbx_spec *ret,
                       gbx_error *reterr);

/* The file alone, for gbx_engine_load(); a guess is JSON. Not of a database. */
gbx_data_format gbx_spec_data_format(gbx_spec_format format, unsigned how);
void gbx_spec_cleanup(gbx_spec *spec);

#endif
