/* SPDX-License-Identifier: MIT */
/* config_reader - what the files that read a configuration share. */
#ifndef GBX_MCP_CONFIG_CONFIG_READER_H
#define GBX_MCP_CONFIG_CONFIG_READER_H

#include "mcp/config/config.h"
#include "mcp/rules/rules.h"

#define GBX_MCP_SERVERS_MAX 256

/* A configuration while it is read. */
typedef struct gbx_mcp_reader {
    gbx_rules_reader rules; /* first: it begins with the gbx_json_reader */
    gbx_mcp_config *config;
    char **unset; /* variables that are not set, of the server that is read */
    size_t unset_count;
    struct gbx_mcp_unread {
        char *name;
        gbx_error err;
    } * unread; /* servers that have what no value can hold */
    size_t unread_count;
} gbx_mcp_reader;

static inline gbx_mcp_reader *gbx_mcp_reader_of(gbx_json_reader *r)
{
    return (gbx_mcp_reader *)(void *)r;
}

/* "mcpServers" and "servers": a gbx_json_member_fn over the file's servers. */
gbx_status gbx_mcp_read_server(gbx_json_reader *r, const char *name,
                               const json_t *value, void *target);

/* Nothing stays but its name: what was half read is of no use to anybody. */
void gbx_mcp_empty_server(gbx_mcp_upstream_config *server);
void gbx_mcp_free_server(gbx_mcp_upstream_config *server);

/* Leaves out the headers that the transport sets itself, and keeps their names. */
gbx_status gbx_mcp_drop_own_headers(gbx_json_reader *r,
                                    gbx_mcp_upstream_config *server);

/* The variables of a file, but for those that the server has already. */
gbx_status gbx_mcp_read_env_file(gbx_json_reader *r, gbx_mcp_upstream_config *server,
                                 const char *path);

/* Our own key at the top. */
gbx_status gbx_mcp_read_settings(gbx_json_reader *r, const json_t *value);
void gbx_mcp_settings_default(gbx_mcp_settings *settings);

/* Which of the words name was meant to be: it differs from it in the case of letters, or
 * in '_', '-' and blanks; from one of the first `loose` words, which no host has anything
 * like, in a letter or two as well. NULL: it is one of them, or none. */
const char *gbx_mcp_typo_of(const char *name, const char *const *words, size_t count,
                            size_t loose);

/* Does what is called so hold a secret, by its name? */
typedef enum gbx_mcp_sound {
    GBX_MCP_PLAIN,
    GBX_MCP_PERHAPS, /* if it looks like one */
    GBX_MCP_SECRET,  /* unless it is a place, or as ordinary as other data */
    GBX_MCP_CERTAIN, /* whatever it looks like */
} gbx_mcp_sound;

gbx_mcp_sound gbx_mcp_sounds_secret(const char *name);

/* A value that must not come back from a server: kept under a name like that, for
 * nobody to use, without white space at its ends; of several lines, each that looks like
 * a secret. Values that are too short to be secret are let be, and those that are too
 * long. */
gbx_status gbx_mcp_keep_secret(gbx_json_reader *r, gbx_mcp_sound sound,
                               const char *name, const char *value);

/* What a server gets as it is, and what it is called by its name. */
typedef enum gbx_mcp_written {
    GBX_MCP_VARIABLE, /* or an option */
    GBX_MCP_HEADER,
} gbx_mcp_written;

/* As gbx_mcp_keep_secret() by the sound of the name; of "Bearer abc" also "abc", and of
 * "scheme://user:password@host" the password, whatever the name; of JSON its members. */
gbx_status gbx_mcp_keep_written(gbx_json_reader *r, gbx_mcp_written kind,
                                const char *name, const char *value);
gbx_status gbx_mcp_keep_url(gbx_json_reader *r, const char *url);
gbx_status gbx_mcp_keep_args(gbx_json_reader *r, const gbx_mcp_upstream_config *server);

#endif
