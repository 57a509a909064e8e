/* SPDX-License-Identifier: MIT */
/*
 * toml - TOML text as values, for the one host that configures servers with it.
 *
 * A reader of our own: Debian has none in C. All of TOML 1.0 is read, but for the meaning
 * of dates, which stay text.
 */
#ifndef GBX_MCP_IMPORT_TOML_H
#define GBX_MCP_IMPORT_TOML_H

#include "base/fail.h"

#include <jansson.h>

/* json_decref() *ret. GBX_E_DATA with line and column. */
gbx_status gbx_toml_read(const char *text, size_t len, json_t **ret, gbx_error *reterr);

#endif
