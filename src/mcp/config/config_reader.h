/* SPDX-License-Identifier: MIT */
/* config_reader - what the files that read a configuration share. */
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
    struct gbx_mcp_unread {
        char *name;
        gbx_error err;
    } * unread; /* servers whose JSON the parser rejects */
    size_t unread_count;
} gbx_mcp_reader;

static inline gbx_mcp_reader *gbx_mcp_reader_of(gbx_json_reader *r)
{
    return (gbx_mcp_reader *)(void *)r;
}

/* "mcpServers" and "servers": a gbx_json_member_fn over the file's servers. */
gbx_status gbx_mcp_read_server(gbx_json_reader *r, const char *name,
                               const json_t *value, void *target);

/* Keep only the name: a half-read server is of no use. */
void gbx_mcp_free_server(gbx_mcp_upstream_config *server);

/* Leave out the headers that the transport sets itself, but keep their names. */
gbx_status gbx_mcp_drop_own_headers(gbx_json_reader *r,
                                    gbx_mcp_upstream_config *server);

/* Read the variables of a file, except those that the server already has. */
gbx_status gbx_mcp_read_env_file(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                                 const char *path);

/* Read our own top-level key. */
gbx_status gbx_mcp_read_settings(gbx_json_reader *r, const json_t *value);
void gbx_mcp_settings_default(gbx_mcp_settings *settings);

/* The word that name is probably a misspelling of: it differs in case, or in '_', '-'
 * and blanks; from the first `loose` words, which resemble no key of a host, also in a
 * letter or two. NULL: name is one of the words, or resembles none. */
const char *gbx_mcp_typo_of(const char *name, const char *const *words, size_t count,
                            size_t loose);

/* Does the name suggest a secret? */
typedef enum gbx_mcp_sound {
    GBX_MCP_PLAIN,
    GBX_MCP_PERHAPS, /* if the value looks like one */
    GBX_MCP_SECRET,  /* unless it is a location, or an ordinary value */
    GBX_MCP_CERTAIN, /* whatever the value is */
} gbx_mcp_sound;

gbx_mcp_sound gbx_mcp_sounds_secret(const char *name);

/* Remember a value to be removed from answers, without white space at its ends, under a
 * name derived from `name`. The name cannot be used elsewhere. Of several lines, keep
 * each that looks like a secret. Values that are too short to be secret are skipped,
 * and so are too long ones. */
gbx_status gbx_mcp_keep_secret(gbx_json_reader *r, gbx_mcp_sound sound,
                               const char *name, const char *value);

/* The kind of a text that a server gets, and of its name. */
typedef enum gbx_mcp_written {
    GBX_MCP_VARIABLE, /* or an option */
    GBX_MCP_HEADER,
} gbx_mcp_written;

/* As gbx_mcp_keep_secret() by the sound of the name. Keeps also "abc" of "Bearer
 * abc", the password of "scheme://user:password@host" whatever the name is, and the
 * members of JSON. */
gbx_status gbx_mcp_keep_written(gbx_json_reader *r, gbx_mcp_written kind,
                                const char *name, const char *value);
gbx_status gbx_mcp_keep_url(gbx_json_reader *r, const char *url);
gbx_status gbx_mcp_keep_args(gbx_json_reader *r, const gbx_mcp_upstream_config *server);

#endif
