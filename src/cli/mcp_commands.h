/* SPDX-License-Identifier: MIT */
/* mcp_commands - the commands below `glovebox mcp`, and what they share. */
#ifndef GBX_CLI_MCP_COMMANDS_H
#define GBX_CLI_MCP_COMMANDS_H

#include "cli/cli.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>

extern const gbx_command gbx_command_mcp_import;
extern const gbx_command gbx_command_mcp_doctor;
extern const gbx_command gbx_command_mcp_print_config;

/* This program, as a host has to start it. */
bool gbx_mcp_own_program(char path[PATH_MAX]);

/* Our configuration where none is named; GBX_E_USAGE: there is no home to have it in. */
gbx_status gbx_mcp_own_config(char path[PATH_MAX], gbx_error *reterr);

/* The path of a configuration as it is from any folder; the file need not be there.
 * GBX_E_OS: no file can be. */
gbx_status gbx_mcp_whole_path(const char *path, char out[PATH_MAX], gbx_error *reterr);

/* Says which variables of that list, which a configuration refers to, Claude Desktop does
 * not pass on by itself; behind before. */
void gbx_mcp_say_needs(FILE *to, const char *before, const json_t *needs);

#endif
