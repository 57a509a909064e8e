/* SPDX-License-Identifier: MIT */
/*
 * access - OAuth for clients of the MCP server at an address: which tokens are accepted,
 * and what the scopes in them give.
 *
 * Tokens are JWTs of one issuer. Their signatures are checked by libcjose, which is
 * loaded for this. All of a token is hostile until its signature is verified.
 */
#ifndef GBX_MCP_ACCESS_ACCESS_H
#define GBX_MCP_ACCESS_ACCESS_H

#include "base/fail.h"
#include "mcp/http/http.h"
#include "policy/policy.h"

#include <jansson.h>

/* ---- access_file.c ------------------------------------------------------------- */

/* Limit of scopes, each of which has a bit. */
#define GBX_SCOPES_MAX 32

/* Names; "*" among them stands for all. */
typedef struct gbx_access_names {
    char **items;
    size_t count;
} gbx_access_names;

typedef struct gbx_scope {
    char *name;
    gbx_access_names tools; /* without the prefix "mcp_" */
    gbx_access_names datasets;
    bool metrics;
} gbx_scope;

/* The file of --oauth. */
typedef struct gbx_access_file {
    char *issuer;
    char *resource; /* the URL at which clients find this server */
    char *audience; /* what a token's "aud" must have */
    gbx_access_names algorithms;
    gbx_scope scopes[GBX_SCOPES_MAX];
    size_t scope_count;
} gbx_access_file;

/* GBX_E_POLICY with line and column if the text is wrong, GBX_E_OS if the file cannot be
 * read or is refused. *ret is initially zero, and to be cleaned up in any case. */
gbx_status gbx_access_read(const char *path, gbx_trust trust, gbx_access_file *ret,
                           gbx_error *reterr);
gbx_status gbx_access_parse(const char *text, size_t len, gbx_access_file *ret,
                            gbx_error *reterr);
void gbx_access_file_cleanup(gbx_access_file *file);

bool gbx_access_takes_algorithm(const gbx_access_file *file, const char *name);
/* True if one of these scopes gives it. */
bool gbx_access_gives_tool(const gbx_access_file *file, uint32_t scopes,
                           const char *tool);
bool gbx_access_gives_dataset(const gbx_access_file *file, uint32_t scopes,
                              const char *dataset);
bool gbx_access_gives_metrics(const gbx_access_file *file, uint32_t scopes);

/* ---- token.c ------------------------------------------------------------------- */

/* Keys of the issuer, and the library that uses them. */
typedef struct gbx_token_keys gbx_token_keys;

/* GBX_E_UNSUPPORTED: the library is missing; *ret is to be freed all the same. No keys at
 * first. */
gbx_status gbx_token_keys_new(gbx_token_keys **ret, gbx_error *reterr);
void gbx_token_keys_free(gbx_token_keys *keys);
/* Take the keys of a JWK set instead; those that cannot be used are left out. */
void gbx_token_keys_set(gbx_token_keys *keys, const json_t *set);

/* What a verified token says. */
typedef struct gbx_token {
    char id[33];                   /* of its subject, its client and its scopes */
    char name[GBX_HTTP_NAME_SIZE]; /* of its subject or its client, in visible ASCII */
    uint32_t scopes;
    int64_t expires; /* seconds since 1970 */
} gbx_token;

typedef enum gbx_token_verdict {
    GBX_TOKEN_VALID,
    GBX_TOKEN_INVALID,
    GBX_TOKEN_UNVERIFIED, /* by none of the keys: there may be a new one */
} gbx_token_verdict;

/* *ret_why says why it is not valid: a constant without quotes and backslashes. */
gbx_token_verdict gbx_token_check(const gbx_token_keys *keys,
                                  const gbx_access_file *file, const char *text,
                                  int64_t now, gbx_token *ret, const char **ret_why);

/* ---- access.c ------------------------------------------------------------------ */

/* Admits requests by their tokens; *ret is for gbx_http_options.access. The file is
 * borrowed until gbx_access_free(). */
gbx_status gbx_access_new(const gbx_access_file *file, gbx_http_access **ret,
                          gbx_error *reterr);
void gbx_access_free(gbx_http_access *base);

#endif
