/* SPDX-License-Identifier: MIT */
/* oauth_keys - fetches the public keys of an authorization server: its metadata
 * (RFC 8414, or OpenID Connect), and the JWK set that they name. */
#include "mcp/upstream/internal.h"

#include "base/clock.h"
#include "base/timeouts.h"

#include <stdlib.h>
#include <string.h>

/* A key that was withdrawn is accepted until the next time. */
#define RENEW_MS 300000

/* Anybody can send tokens that name unknown keys: not each one causes a request. */
#define PAUSE_NS (1000 * GBX_NS_PER_MS)

struct gbx_oauth_keys {
    gbx_oauth_keys_options options;
    gbx_http_client *web;
    gbx_http_exchange *exchange; /* NULL: none is under way */
    size_t place;                /* that is being asked for metadata */
    bool has_metadata;           /* the set is being fetched */
    int64_t tried_ns;            /* end of the last attempt; 0: none */
    gbx_mcp_timer renewal;
};

static void end(gbx_oauth_keys *k, const json_t *set, const char *why)
{
    k->tried_ns = gbx_clock_now_ns();
    gbx_mcp_timer_set(&k->renewal, RENEW_MS);
    k->options.fetched(k->options.user, set, why);
}

static void on_done(void *user, gbx_http_exchange *e, CURLcode result);

static void get(gbx_oauth_keys *k, const char *url)
{
    static const gbx_http_exchange_hooks hooks = {.done = on_done};
    gbx_http_headers headers = {.lib = &k->web->lib};

    gbx_http_header_add(&headers, "Accept", "application/json");
    k->exchange = gbx_http_exchange_start(&(gbx_http_exchange_options){
        .web = k->web,
        .method = GBX_HTTP_GET,
        .url = url,
        .headers = headers.list,
        .timeout_ms = gbx_timeout_ms(GBX_TIMEOUT_OAUTH),
        .hooks = &hooks,
        .user = k,
    });
    if (k->exchange == NULL)
        end(k, NULL, "its URL is wrong");
}

/* Ask the next place for metadata. */
static void ask_place(gbx_oauth_keys *k, const char *why)
{
    char *url = gbx_oauth_issuer_place(&k->web->lib, k->options.issuer, k->place++);

    if (url == NULL)
        end(k, NULL, why);
    else
        get(k, url);
    free(url);
}

static void take_metadata(gbx_oauth_keys *k, const json_t *metadata)
{
    const char *issuer = k->options.issuer;
    const char *url = gbx_oauth_text(metadata, "jwks_uri");

    if (strcmp(gbx_oauth_text(metadata, "issuer"), issuer) != 0) {
        end(k, NULL, "its metadata names another issuer");
    } else if (!gbx_oauth_is_safe(&k->web->lib, issuer, url)) {
        end(k, NULL, "its metadata has no https URL of its keys");
    } else {
        k->has_metadata = true;
        get(k, url);
    }
}

static void on_done(void *user, gbx_http_exchange *e, CURLcode result)
{
    gbx_oauth_keys *k = user;
    bool is_answer = result == CURLE_OK && e->status == 200;
    json_t *object = is_answer ? gbx_oauth_object(e) : NULL;
    char why[CURL_ERROR_SIZE];

    (void)snprintf(why, sizeof why, "%s",
                   result != CURLE_OK ? gbx_http_exchange_error(e, result)
                   : k->has_metadata  ? "it does not give its keys"
                                      : "it has no metadata");
    gbx_http_exchange_free(e);
    k->exchange = NULL;
    if (object != NULL && k->has_metadata)
        end(k, object, NULL);
    else if (object != NULL)
        take_metadata(k, object);
    else if (k->has_metadata || result != CURLE_OK)
        end(k, NULL, why);
    else
        ask_place(k, why);
    json_decref(object);
}

static void begin(void *user)
{
    gbx_oauth_keys *k = user;

    if (k->exchange != NULL)
        return;
    k->place = 0;
    k->has_metadata = false;
    ask_place(k, "it is not a URL");
}

bool gbx_oauth_keys_want(gbx_oauth_keys *keys)
{
    if (keys->exchange != NULL)
        return true;
    if (gbx_clock_now_ns() - keys->tried_ns < PAUSE_NS)
        return false;
    gbx_mcp_timer_fire(&keys->renewal);
    return true;
}

gbx_status gbx_oauth_keys_new(const gbx_oauth_keys_options *options,
                              gbx_oauth_keys **ret, gbx_error *reterr)
{
    gbx_http_client *web;
    gbx_status status = gbx_http_client_new(options->loop, &web, reterr);
    gbx_oauth_keys *k;

    if (status != GBX_OK)
        return status;
    if (!gbx_oauth_is_safe(&web->lib, options->issuer, options->issuer)) {
        gbx_http_client_free(web);
        return gbx_fail(reterr, GBX_E_USAGE, "the issuer '%.200s' is not an https URL",
                        options->issuer);
    }
    k = *ret = gbx_need(calloc(1, sizeof *k));
    k->options = *options;
    k->web = web;
    gbx_mcp_timer_init(&k->renewal, options->loop, begin, k);
    gbx_mcp_timer_fire(&k->renewal);
    return GBX_OK;
}

void gbx_oauth_keys_free(gbx_oauth_keys *keys)
{
    if (keys == NULL)
        return;
    gbx_http_exchange_free(keys->exchange);
    gbx_http_client_free(keys->web);
    gbx_mcp_timer_cleanup(&keys->renewal);
    free(keys);
}
