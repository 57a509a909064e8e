/* SPDX-License-Identifier: MIT */
/*
 * variable - ${VAR}, ${VAR:-default} and ${env:VAR} in texts of a configuration.
 *
 * What is not of these forms stays as it is, but for the forms that editors fill in and
 * nobody here can.
 */
#ifndef GBX_MCP_CONFIG_VARIABLE_H
#define GBX_MCP_CONFIG_VARIABLE_H

#include "base/buf.h"
#include "base/fail.h"

/* Of one text with its variables. */
#define GBX_MCP_TEXT_MAX 65536

/* Is told of each value that was put in. */
typedef gbx_status (*gbx_variable_fn)(void *user, const char *name, const char *value);

/* *ret is the text with its variables; free() it. GBX_E_DATA: one is not set.
 * GBX_E_POLICY without a place: the text is too long. used may be NULL. */
gbx_status gbx_variables_fill(const char *text, gbx_variable_fn used, void *user,
                              char **ret, gbx_error *reterr);

#endif
