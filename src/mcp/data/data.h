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
 * Register `compute` and one resource per dataset. A few threads read the files in
 * parallel. Lists wait until descriptions are ready (gbx_mcp_server_hold()); calls and
 * reads wait for the data that they use.
 *
 * specs: "NAME=FILE" as in --data. options: of the engine. shown: which values clients
 * may see. scripts: NULL, or get the datasets, too; their engine must allow
 * gbx_mcp_data_limits(). All are borrowed until freed. GBX_E_USAGE names the fault of a
 * spec, or a path in shown that belongs to no dataset.
 */
gbx_status gbx_mcp_data_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const char *const *specs, size_t count,
                            const gbx_options *options, const gbx_shown *shown,
                            struct gbx_mcp_code *scripts, gbx_mcp_data **ret,
                            gbx_error *reterr);
/* The limits that an engine with those options must allow: for `compute`, and for
 * describing datasets, which may need more. */
gbx_limits gbx_mcp_data_limits(const gbx_options *options);
/* Append the instructions for a model. */
void gbx_mcp_data_put_instructions(const gbx_mcp_data *data, gbx_buf *to);
void gbx_mcp_data_free(gbx_mcp_data *data);

/* Check a spec for the user who typed it. GBX_E_OS: the file cannot be read. The error
 * contains the path, which must not be shown to a model. */
gbx_status gbx_mcp_data_probe(const char *spec, gbx_error *reterr);

/* ---- source.c: the argument of --data -------------------------------------- */

/*
 * Parse the argument of --data: NAME=FILE, NAME=csv:FILE (also json:, ndjson:, tsv:),
 * NAME=csv:FILE?header=no&skip=N&bad=skip, or NAME=sqlite:FILE?query=SELECT... The
 * query is percent-encoded where necessary.
 */

/* The engine's limit of a name, in bytes. */
#define GBX_SPEC_NAME_MAX 64

typedef enum gbx_spec_format {
    GBX_SPEC_GUESS, /* guess it from the beginning of the file */
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

/* GBX_E_USAGE says what is wrong. Clean up *ret only on success. */
gbx_status gbx_spec_parse(const char *text, gbx_spec *ret, gbx_error *reterr);

/* Parse what follows NAME=. name, of len bytes, is only for messages, and is cut. */
gbx_status gbx_spec_of(const char *name, size_t len, const char *source, gbx_spec *ret,
                       gbx_error *reterr);

/* The format for gbx_engine_load(), for a file at rest. GUESS is taken as JSON. */
gbx_data_format gbx_spec_data_format(gbx_spec_format format, unsigned how);
void gbx_spec_cleanup(gbx_spec *spec);

#endif
