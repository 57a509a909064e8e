/* SPDX-License-Identifier: MIT */
/*
 * mcp_prompts - what a person can pick in a host: "compute" and "execute", which tell a
 * model to solve a task with the tool of that name, and complete names of what there is.
 */
#ifndef GBX_CLI_MCP_PROMPTS_H
#define GBX_CLI_MCP_PROMPTS_H

#include "mcp/config/config.h"
#include "mcp/server/server.h"

/* One prompt: about datasets, or about servers. */
typedef struct gbx_mcp_prompt_about {
    const char *tool;  /* its name, which is the prompt's */
    const char *thing; /* "dataset" or "server": the argument that is completed */
    char **names;      /* ours */
    size_t count;
} gbx_mcp_prompt_about;

/* Zeroed: there are none. */
typedef struct gbx_mcp_prompts {
    gbx_mcp_prompt_about compute;
    gbx_mcp_prompt_about execute;
    char *execute_tool; /* ours: with its prefix */
} gbx_mcp_prompts;

/* specs: "NAME=FILE" as --data has them. */
gbx_status gbx_mcp_prompts_compute(gbx_mcp_prompts *prompts, gbx_mcp_server *server,
                                   const char *const *specs, size_t count,
                                   gbx_error *reterr);

/* About the servers of config that are not disabled; borrowed until return. */
gbx_status gbx_mcp_prompts_execute(gbx_mcp_prompts *prompts, gbx_mcp_server *server,
                                   const gbx_mcp_config *config, gbx_error *reterr);

/* After the server is freed. */
void gbx_mcp_prompts_cleanup(gbx_mcp_prompts *prompts);

#endif
