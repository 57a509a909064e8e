/* SPDX-License-Identifier: MIT */
/* data - datasets that a model computes over and never sees: the tool `compute`. */
#ifndef GBX_MCP_DATA_DATA_H
#define GBX_MCP_DATA_DATA_H

#include "mcp/data/dataset_description.h"
#include "mcp/server/server.h"

#include <glovebox/glovebox.h>

typedef struct gbx_mcp_data gbx_mcp_data;

/*
 * Register `compute` and a resource a dataset; files are read on threads of their own, a
 * few at once; lists wait until they are known (gbx_mcp_server_hold()), calls and reads for
 * what they use.
 *
 * specs: "NAME=FILE" as --data has them. options: of the engine. shown: what clients are told
 * of values. Borrowed until freed. GBX_E_USAGE names what is wrong with a spec, or says that
 * what is to be shown is of no dataset.
 */
gbx_status gbx_mcp_data_new(gbx_mcp_loop *loop, gbx_mcp_server *server,
                            const char *const *specs, size_t count,
                            const gbx_options *options, const gbx_shown *shown,
                            gbx_mcp_data **ret, gbx_error *reterr);
void gbx_mcp_data_free(gbx_mcp_data *data);

/* For who has typed it: GBX_E_OS if there is no file that can be read, with its path, which
 * no model is told. */
gbx_status gbx_mcp_data_probe(const char *spec, gbx_error *reterr);

#endif
