/* SPDX-License-Identifier: MIT */
/*
 * oauth - sign-in to servers at an address: OAuth 2.1, as in MCP's chapter on it.
 *
 * A person signs in by `glovebox mcp login`. The tokens are kept in a file of our own.
 * The server's links send the access token, and renew it. No token reaches another
 * server, code or a log: tokens are removed from what their own server says.
 *
 * All input from a server or its authorization server is hostile. Their URLs are used
 * only with https, or with http if both they and the server are on this machine.
 */
#ifndef GBX_MCP_UPSTREAM_OAUTH_H
#define GBX_MCP_UPSTREAM_OAUTH_H

#include "base/fail.h"
#include "mcp/config/config.h"
#include "mcp/rpc/rpc.h"

#include <jansson.h>
#include <string.h>

/* ---- oauth_store.c ------------------------------------------------------------- */

/*
 * The stored state of one server, keyed by its URL: a JSON object with "issuer",
 * "tokenEndpoint", "clientId", "clientSecret", "clientAuth", "accessToken",
 * "refreshToken", "expires" (seconds since 1970), "resource", "scope", "wantedScope".
 * Some may be missing.
 *
 * The file, only for its user: glovebox/oauth/tokens.json below $XDG_STATE_HOME or
 * ~/.local/state.
 */

/* Lock the renewal of that server's token until *ret_fd is closed. GBX_E_OS: another
 * process holds the lock. */
gbx_status gbx_oauth_lock(const char *url, int *ret_fd, gbx_error *reterr);

/* *ret is a reference, or NULL if nothing is stored. GBX_E_OS, GBX_E_DATA: the file
 * cannot be used. */
gbx_status gbx_oauth_read(const char *url, gbx_trust trust, json_t **ret,
                          gbx_error *reterr);
typedef enum gbx_oauth_change {
    GBX_OAUTH_PUT,
    GBX_OAUTH_MERGE, /* into the stored state; nothing if it was removed */
    GBX_OAUTH_REMOVE,
} gbx_oauth_change;

/* Waits a while for other writers. */
gbx_status gbx_oauth_write(const char *url, gbx_trust trust, json_t *kept,
                           gbx_oauth_change how, gbx_error *reterr);

/* Maximum length of a text; a longer one counts as missing, wherever it comes from. */
#define GBX_OAUTH_TEXT_MAX 8192

/* A text in an object, or "". */
const char *gbx_oauth_text(const json_t *object, const char *name);

/* True if an array has this text. */
static inline bool gbx_oauth_lists(const json_t *list, const char *wanted)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *each = json_string_value(json_array_get(list, i));

        if (each != NULL && strcmp(each, wanted) == 0)
            return true;
    }
    return false;
}

/* ---- oauth_keys.c ---------------------------------------------------------------- */

/* The public keys of an authorization server: fetched by the loop now, later again and
 * again, and when they are wanted. */
typedef struct gbx_oauth_keys gbx_oauth_keys;

typedef struct gbx_oauth_keys_options {
    gbx_mcp_loop *loop;
    const char *issuer; /* borrowed */
    void *user;
    /* An attempt has ended: with a JWK set, which is borrowed; or with NULL and the
     * reason. From the loop. */
    void (*fetched)(void *user, const json_t *set, const char *why);
} gbx_oauth_keys_options;

/* GBX_E_USAGE: the issuer is not a usable URL. */
gbx_status gbx_oauth_keys_new(const gbx_oauth_keys_options *options,
                              gbx_oauth_keys **ret, gbx_error *reterr);
/* Fetch them now. False: the last attempt was only a moment ago. */
bool gbx_oauth_keys_want(gbx_oauth_keys *keys);
/* NULL is ignored. */
void gbx_oauth_keys_free(gbx_oauth_keys *keys);

/* ---- oauth_sign_in.c ------------------------------------------------------------- */

typedef struct gbx_oauth_sign_in_options {
    const gbx_mcp_upstream_config *server;
    gbx_trust trust;
    uint32_t timeout_ms; /* for the person */
    int input; /* where the person may paste the address of the last page, or -1 */
    int stop;  /* once it is readable, the person is not waited for; or -1 */
    /* Let a person open this URL, which is printable ASCII. */
    void (*open)(void *user, const char *url);
    void *user;
} gbx_oauth_sign_in_options;

/* Sign in, and keep the tokens. Blocks, with an event loop of its own. */
gbx_status gbx_oauth_sign_in(const gbx_oauth_sign_in_options *options,
                             gbx_error *reterr);

#endif
