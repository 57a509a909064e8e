/* SPDX-License-Identifier: MIT */
/* config_reader - declarations that the files that read a configuration share. */
#ifndef GBX_MCP_CONFIG_CONFIG_READER_H
#define GBX_MCP_CONFIG_CONFIG_READER_H

#include "mcp/config/config.h"
#include "mcp/rules/rules.h"

#define GBX_MCP_SERVERS_MAX 256

/* A configuration being read. */
typedef struct gbx_mcp_reader {
    gbx_rules_reader rules; /* must be first: it begins with the gbx_json_reader */
    gbx_mcp_config *config;
    char **unset; /* unset variables of the server being read */
    size_t unset_count;
} gbx_mcp_reader;

static inline gbx_mcp_reader *gbx_mcp_reader_of(gbx_json_reader *r)
{
    return (gbx_mcp_reader *)(void *)r;
}

/* "mcpServers" and "servers": a gbx_json_member_fn over the file's servers. */
gbx_status gbx_mcp_read_server(gbx_json_reader *r, const char *name, gbx_view value,
                               void *target);

/* Free everything in *server, and wipe what may be secret. */
void gbx_mcp_free_server(gbx_mcp_upstream_config *server);

/* Read the variables of a file, except those that the server already has. */
gbx_status gbx_mcp_read_env_file(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                                 const char *path);

/* The word that name probably misspells: name differs from it in case, or in '_', '-'
 * and blanks; from the first `loose` words, which resemble no key of a host, also in a
 * letter or two. NULL: name is one of the words, or resembles none. */
const char *gbx_mcp_typo_of(const char *name, const char *const *words, size_t count,
                            size_t loose);

/* Find the values of a complete entry that are redacted from answers, and add their
 * names to server->hidden. url: as written, or NULL. Shorter ones than 8 bytes stay. */
gbx_status gbx_mcp_hide_values(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                               const char *url);

#endif
