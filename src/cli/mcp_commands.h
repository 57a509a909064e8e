/* SPDX-License-Identifier: MIT */
/* mcp_commands - the commands below `glovebox mcp`, and what they share. */
#ifndef GBX_CLI_MCP_COMMANDS_H
#define GBX_CLI_MCP_COMMANDS_H

#include "cli/cli.h"

#include <limits.h>

extern const gbx_command gbx_command_mcp_allow;
extern const gbx_command gbx_command_mcp_deny;
extern const gbx_command gbx_command_mcp_import;
extern const gbx_command gbx_command_mcp_doctor;

/* Our configuration where none is named; GBX_E_USAGE: there is no home to have it in. */
gbx_status gbx_mcp_own_config(char path[PATH_MAX], gbx_error *reterr);

/* The path of a configuration as it is from any folder; the file need not be there.
 * GBX_E_OS: no file can be. */
gbx_status gbx_mcp_whole_path(const char *path, char out[PATH_MAX], gbx_error *reterr);

#endif
