/* SPDX-License-Identifier: MIT */
/*
 * oauth - signing in to servers at an address: OAuth 2.1, as the authorization chapter of
 * MCP has it.
 *
 * A person signs in by `glovebox mcp login`. The tokens are kept in a file of our own; the
 * server's links send the one for access, and renew it. No token leaves this process for
 * another server, for code or for a log: it is removed from what its own server says.
 *
 * Everything that a server or its authorization server says is hostile. A URL of theirs is
 * used only with https, or with http on this machine for a server that is there, too.
 */
#ifndef GBX_MCP_UPSTREAM_OAUTH_H
#define GBX_MCP_UPSTREAM_OAUTH_H

#include "base/fail.h"
#include "mcp/config/config.h"

#include <jansson.h>

/* ---- oauth_store.c ------------------------------------------------------------- */

/*
 * What is kept of a server, by its URL: a JSON object with "issuer", "tokenEndpoint",
 * "clientId", "clientSecret", "clientAuth", "accessToken", "refreshToken", "expires" (seconds
 * since 1970), "resource", "scope" and "wantedScope", of which some may be missing.
 *
 * The file is glovebox/oauth/tokens.json below $XDG_STATE_HOME or ~/.local/state, and its
 * user's alone.
 */

/* Be the one that renews the token of that server, until *ret_fd is closed. GBX_E_OS: another
 * process is. */
gbx_status gbx_oauth_lock(const char *url, int *ret_fd, gbx_error *reterr);

/* *ret is a reference, or NULL if nothing is kept. GBX_E_OS, GBX_E_DATA: the file is not to be
 * used. */
gbx_status gbx_oauth_read(const char *url, gbx_trust trust, json_t **ret,
                          gbx_error *reterr);
typedef enum gbx_oauth_change {
    GBX_OAUTH_PUT,
    GBX_OAUTH_MERGE, /* into what is kept; if that is gone, nothing */
    GBX_OAUTH_REMOVE,
} gbx_oauth_change;

/* Waits for others that write. */
gbx_status gbx_oauth_write(const char *url, gbx_trust trust, json_t *kept,
                           gbx_oauth_change how, gbx_error *reterr);

/* Longer texts count as missing, wherever they come from. */
#define GBX_OAUTH_TEXT_MAX 8192

/* A text of it, or "". */
const char *gbx_oauth_text(const json_t *object, const char *name);

/* ---- oauth_sign_in.c ------------------------------------------------------------- */

typedef struct gbx_oauth_sign_in_options {
    const gbx_mcp_upstream_config *server;
    gbx_trust trust;
    uint32_t timeout_ms; /* for the person */
    int input; /* where the person may paste the address at which it ends, or -1 */
    /* Let a person open this URL. */
    void (*open)(void *user, const char *url);
    void *user;
} gbx_oauth_sign_in_options;

/* Sign in, and keep the tokens. Blocks, with an event loop of its own. */
gbx_status gbx_oauth_sign_in(const gbx_oauth_sign_in_options *options,
                             gbx_error *reterr);

#endif
