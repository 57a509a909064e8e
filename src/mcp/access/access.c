/* SPDX-License-Identifier: MIT */
/*
 * access - admits requests by their tokens, and tells the others where to get one
 * (RFC 9728, RFC 6750).
 *
 * A token that no key verifies waits for new keys of the issuer if they were not asked
 * for a moment ago. Verdicts are kept until the keys change.
 */
#include "mcp/access/access.h"

#include "base/cleanup.h"
#include "base/sha256.h"
#include "mcp/upstream/oauth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* The latest valid tokens, by their hashes. */
#define KNOWN 1024

#define FIELDS_MAX GBX_KIB(8)

typedef struct known_token {
    uint8_t hash[GBX_SHA256_SIZE];
    gbx_token token; /* expires 0: the place is free */
} known_token;

typedef struct access {
    gbx_http_access base; /* must be first */
    const gbx_access_file *file;
    gbx_token_keys *keys;
    gbx_oauth_keys *fetcher;
    bool has_keys;
    char *metadata;      /* a JSON object */
    char *metadata_path; /* of the resource's own document */
    char *challenge;     /* Bearer resource_metadata="...", scope="..." */
    gbx_buf fields;      /* of the last refusal */
    known_token *known;
} access;

/* ---- refusals -------------------------------------------------------------------- */

/* code: of RFC 6750, or NULL. */
static gbx_http_admission refuse(access *a, int status, const char *code,
                                 const char *why)
{
    gbx_buf_cleanup(&a->fields);
    a->fields = (gbx_buf){.ceiling = FIELDS_MAX};
    (void)gbx_buf_printf(&a->fields, "WWW-Authenticate: %s", a->challenge);
    if (code != NULL)
        (void)gbx_buf_printf(&a->fields, ", error=\"%s\", error_description=\"%s\"",
                             code, why);
    (void)gbx_buf_append(&a->fields, "\r\n", 3);
    return (gbx_http_admission){status, (const char *)gbx_need(a->fields.data), why};
}

/* ---- tokens ---------------------------------------------------------------------- */

static gbx_http_admission admit(access *a, const gbx_token *token, int64_t now,
                                gbx_http_caller *ret)
{
    if (token->scopes == 0)
        return refuse(a, 403, "insufficient_scope", "the token has none of the scopes");
    (void)snprintf(ret->id, sizeof ret->id, "%s", token->id);
    (void)snprintf(ret->name, sizeof ret->name, "%s", token->name);
    ret->rights = token->scopes;
    ret->left_s = token->expires > now ? (uint32_t)(token->expires - now) : 1;
    return (gbx_http_admission){0};
}

static gbx_http_admission on_admit(gbx_http_access *base, const char *authorization,
                                   gbx_http_caller *ret)
{
    access *a = (access *)(void *)base;
    uint8_t hash[GBX_SHA256_SIZE];
    known_token *known;
    int64_t now = time(NULL);
    gbx_token token = {.expires = 0};
    gbx_token_verdict verdict;
    const char *why;

    if (authorization == NULL || strncasecmp(authorization, "bearer ", 7) != 0)
        return refuse(a, 401, NULL, "a token is required");
    authorization += 7 + strspn(authorization + 7, " ");
    gbx_sha256_of(authorization, strlen(authorization), hash);
    known = &a->known[(hash[0] << 8 | hash[1]) % KNOWN];
    if (known->token.expires > now && memcmp(known->hash, hash, sizeof hash) == 0)
        return admit(a, &known->token, now, ret);
    verdict = gbx_token_check(a->keys, a->file, authorization, now, &token, &why);
    if (verdict == GBX_TOKEN_VALID) {
        memcpy(known->hash, hash, sizeof hash);
        known->token = token;
        return admit(a, &token, now, ret);
    }
    if (verdict == GBX_TOKEN_UNVERIFIED && gbx_oauth_keys_want(a->fetcher))
        return (gbx_http_admission){.status = GBX_HTTP_PENDING};
    if (verdict == GBX_TOKEN_INVALID || a->has_keys)
        return refuse(a, 401, "invalid_token", why);
    return (gbx_http_admission){503, "Retry-After: 5\r\n",
                                "the keys of the issuer are not there yet"};
}

/* Refuse a tool that only another scope gives, and metrics that none does. */
static gbx_http_admission on_tool(gbx_http_access *base, const gbx_http_caller *caller,
                                  const char *tool)
{
    access *a = (access *)(void *)base;

    if (tool == NULL ? gbx_access_gives_metrics(a->file, caller->rights)
                     : gbx_access_gives_tool(a->file, caller->rights, tool) ||
                           !gbx_access_gives_tool(a->file, UINT32_MAX, tool))
        return (gbx_http_admission){0};
    return refuse(a, 403, "insufficient_scope",
                  tool == NULL ? "metrics need a scope that gives them"
                               : "the tool needs another scope");
}

/* ---- keys ------------------------------------------------------------------------ */

static void on_fetched(void *user, const json_t *set, const char *why)
{
    access *a = user;

    if (set != NULL) {
        gbx_token_keys_set(a->keys, set);
        memset(a->known, 0, KNOWN * sizeof *a->known);
        a->has_keys = true;
    } else {
        gbx_mcp_warn("cannot get the keys of '%s': %s", a->file->issuer, why);
    }
    a->base.changed(a->base.changed_user);
}

static gbx_status on_start(gbx_http_access *base, gbx_mcp_loop *loop, gbx_error *reterr)
{
    access *a = (access *)(void *)base;

    return gbx_oauth_keys_new(&(gbx_oauth_keys_options){.loop = loop,
                                                        .issuer = a->file->issuer,
                                                        .user = a,
                                                        .fetched = on_fetched},
                              &a->fetcher, reterr);
}

static void on_stop(gbx_http_access *base)
{
    access *a = (access *)(void *)base;

    gbx_oauth_keys_free(a->fetcher);
    a->fetcher = NULL;
}

/* ---- metadata ---------------------------------------------------------------------- */

static const char well_known[] = "/.well-known/oauth-protected-resource";

static void make_texts(access *a)
{
    const gbx_access_file *file = a->file;
    const char *host = strstr(file->resource, "://") + 3; /* the URL was checked */
    const char *path = host + strcspn(host, "/");
    int origin = (int)(path - file->resource);
    gbx_buf scopes = {.ceiling = FIELDS_MAX / 2};
    json_t *list = gbx_need(json_array());
    json_t *metadata;

    for (size_t i = 0; i < file->scope_count; i++) {
        (void)gbx_buf_printf(&scopes, "%s%s", i > 0 ? " " : "", file->scopes[i].name);
        (void)json_array_append_new(list, json_string(file->scopes[i].name));
    }
    (void)gbx_buf_append(&scopes, "", 1);
    metadata = gbx_need(json_pack("{s:s, s:[s], s:o, s:[s], s:s}", "resource",
                                  file->resource, "authorization_servers", file->issuer,
                                  "scopes_supported", list, "bearer_methods_supported",
                                  "header", "resource_name", "Glovebox"));
    a->metadata = gbx_need(json_dumps(metadata, JSON_COMPACT));
    json_decref(metadata);
    a->metadata_path =
        gbx_printed("%s%s", well_known, strcmp(path, "/") != 0 ? path : "");
    a->challenge = gbx_printed("Bearer resource_metadata=\"%.*s%s\", scope=\"%s\"",
                               origin, file->resource, a->metadata_path,
                               (const char *)gbx_need(scopes.data));
    gbx_buf_cleanup(&scopes);
}

static const char *on_document(gbx_http_access *base, const char *path)
{
    const access *a = (const access *)base;

    return strcmp(path, a->metadata_path) == 0 || strcmp(path, well_known) == 0
               ? a->metadata
               : NULL;
}

/* ---- the whole --------------------------------------------------------------------- */

gbx_status gbx_access_new(const gbx_access_file *file, gbx_http_access **ret,
                          gbx_error *reterr)
{
    static const gbx_http_access hooks = {.start = on_start,
                                          .stop = on_stop,
                                          .admit = on_admit,
                                          .call = on_tool,
                                          .document = on_document};
    access *a = gbx_need(calloc(1, sizeof *a));
    gbx_status status = gbx_token_keys_new(&a->keys, reterr);

    a->base = hooks;
    a->base.whole.rights = UINT32_MAX;
    a->file = file;
    a->known = gbx_need(calloc(KNOWN, sizeof *a->known));
    make_texts(a);
    *ret = &a->base;
    return status;
}

void gbx_access_free(gbx_http_access *base)
{
    access *a = (access *)(void *)base;

    if (a == NULL)
        return;
    gbx_token_keys_free(a->keys);
    free(a->metadata);
    free(a->metadata_path);
    free(a->challenge);
    gbx_buf_cleanup(&a->fields);
    free(a->known);
    free(a);
}
