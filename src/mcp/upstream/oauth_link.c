/* SPDX-License-Identifier: MIT */
/*
 * oauth_link - the token of a link. It is renewed before it expires, and once when the
 * server refuses it; requests wait meanwhile.
 *
 * A refresh token often works only once, and other processes use the same file. So a
 * renewal takes a lock first, and checks whether another process has renewed the token.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* A token is renewed this long before it expires, in seconds. */
#define EARLY_S 30
/* Minimum time between two attempts to renew. */
#define PAUSE_NS (10000 * GBX_NS_PER_MS)
/* Limit of earlier tokens that are still hidden. */
#define PAST_MAX 16

struct gbx_oauth {
    gbx_oauth_options options;
    json_t *kept;
    char *past[PAST_MAX]; /* earlier tokens, in a ring */
    size_t past_count;
    gbx_policy *hidden; /* all tokens, as secrets */
    gbx_http_exchange *asking;
    gbx_mcp_timer lock_later;
    gbx_mcp_timer turn; /* deals with the held requests, one at a time */
    int lock;
    bool is_renewing;
    bool has_failed; /* to renew: the held requests stay refused */
    int64_t lock_until_ns;
    int64_t tried_ns;
    gbx_http_exchange_list held;
};

/* ---- hiding ------------------------------------------------------------------------ */

static void hide(gbx_policy *policy, const char *name, const char *value)
{
    const gbx_entry entry = {.name = name,
                             .name_len = strlen(name),
                             .value = value,
                             .value_len = strlen(value)};
    gbx_error err = {0};
    gbx_secret *secret;

    if (entry.value_len >= GBX_SECRET_MIN && entry.value_len <= GBX_SECRET_MAX)
        (void)gbx_need(
            gbx_grant_secret(policy, &entry, &secret, &err) == GBX_OK ? policy : NULL);
}

gbx_policy *const *gbx_oauth_hidden(const gbx_oauth *oauth)
{
    return oauth != NULL ? &oauth->hidden : NULL;
}

void gbx_oauth_clean(const gbx_oauth *oauth, const char **text, size_t *len,
                     gbx_buf *buf)
{
    const gbx_span span = {(const uint8_t *)*text, *len};
    bool changed = false;

    if (oauth == NULL)
        return;
    *buf = (gbx_buf){.ceiling = 4 * *len + GBX_KIB(64)};
    (void)gbx_need(
        gbx_secrets_strip(oauth->hidden, GBX_SECRET_DATA, span, NULL, buf, &changed)
            ? buf
            : NULL);
    if (!changed)
        return;
    *text = (const char *)buf->data;
    *len = buf->len;
}

/* ---- renewing ---------------------------------------------------------------------- */

/* The renewal has ended; the held requests are handled in the next turns. */
static void end_renewal(gbx_oauth *o, bool is_new)
{
    gbx_fd_close(&o->lock);
    o->is_renewing = false;
    o->has_failed = !is_new;
    o->tried_ns = gbx_clock_now_ns();
    gbx_mcp_timer_fire(&o->turn);
}

/* All its tokens, and the earlier ones, are hidden from now on. */
static void adopt(gbx_oauth *o, json_t *kept)
{
    static const char *const names[] = {"accessToken", "refreshToken"};
    gbx_error err = {0};
    size_t count;
    char name[32];

    for (size_t i = 0; o->kept != NULL && i < GBX_COUNTOF(names); i++) {
        char **place = &o->past[o->past_count++ % PAST_MAX];

        gbx_wipe(*place);
        *place = gbx_need(strdup(gbx_oauth_text(o->kept, names[i])));
    }
    json_decref(o->kept);
    o->kept = kept;
    gbx_policy_free(o->hidden);
    o->hidden = gbx_need(gbx_policy_new());
    for (size_t i = 0; i < GBX_COUNTOF(names); i++)
        hide(o->hidden, names[i], gbx_oauth_text(o->kept, names[i]));
    count = o->past_count < PAST_MAX ? o->past_count : PAST_MAX;
    for (size_t i = 0; i < count; i++) {
        (void)snprintf(name, sizeof name, "pastToken%zu", i);
        hide(o->hidden, name, o->past[i]);
    }
    (void)gbx_need(gbx_secrets_prepare(o->hidden, &err) == GBX_OK ? o : NULL);
}

typedef enum file_state { SAME, NEWER, GONE } file_state;

/* Check what other processes did with the stored tokens, and adopt newer ones. */
static file_state look_again(gbx_oauth *o)
{
    gbx_error err = {0};
    json_t *now = NULL;

    if (gbx_oauth_read(o->options.server->url, o->options.trust, &now, &err) != GBX_OK)
        return SAME;
    if (*gbx_oauth_text(now, "accessToken") == '\0') {
        json_decref(now);
        return GONE;
    }
    if (strcmp(gbx_oauth_text(now, "accessToken"),
               gbx_oauth_text(o->kept, "accessToken")) == 0) {
        json_decref(now);
        return SAME;
    }
    adopt(o, now);
    return NEWER;
}

static void on_answer(void *user, gbx_http_exchange *e, CURLcode result)
{
    gbx_oauth *o = user;
    json_t *kept = gbx_need(json_copy(o->kept));
    gbx_error err = {0};
    bool is_new = gbx_oauth_take(e, result, kept, &err) == GBX_OK;

    o->asking = NULL;
    (void)json_object_del(kept, "wantedScope"); /* another request may have noted one */
    if (is_new) {
        adopt(o, kept);
        if (gbx_oauth_write(o->options.server->url, o->options.trust, kept,
                            GBX_OAUTH_MERGE, &err) != GBX_OK)
            gbx_mcp_warn("the new tokens of '%s' are not kept: %s",
                         o->options.server->name, err.message);
    } else {
        gbx_mcp_warn("the token of '%s' is not renewed: %s", o->options.server->name,
                     err.message);
        json_decref(kept);
    }
    end_renewal(o, is_new);
    gbx_http_exchange_free(e);
}

static void ask(gbx_oauth *o)
{
    static const gbx_http_exchange_hooks hooks = {.done = on_answer};
    const gbx_libcurl *lib = &o->options.web->lib;
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf form = {.ceiling = GBX_MIB(1), .is_secret = true};

    gbx_oauth_put(lib, &form, "grant_type", "refresh_token");
    gbx_oauth_put(lib, &form, "refresh_token", gbx_oauth_text(o->kept, "refreshToken"));
    gbx_oauth_put(lib, &form, "resource", gbx_oauth_text(o->kept, "resource"));
    o->asking = gbx_oauth_request(o->options.web, o->kept, &form, &hooks, o);
    if (o->asking == NULL)
        end_renewal(o, false);
}

static void on_lock_later(void *user)
{
    gbx_oauth *o = user;
    gbx_error err = {0};

    if (gbx_oauth_lock(o->options.server->url, &o->lock, &err) != GBX_OK &&
        gbx_clock_now_ns() < o->lock_until_ns) {
        gbx_mcp_timer_set(&o->lock_later, gbx_timeout_ms(GBX_TIMEOUT_OAUTH_LOCK));
        return;
    }
    switch (look_again(o)) {
    case NEWER: end_renewal(o, true); break;
    case GONE: end_renewal(o, false); break;
    case SAME: ask(o); break;
    }
}

static bool begin_renewal(gbx_oauth *o)
{
    if (*gbx_oauth_text(o->kept, "refreshToken") == '\0' ||
        (o->tried_ns != 0 && gbx_clock_now_ns() - o->tried_ns < PAUSE_NS))
        return false;
    o->is_renewing = true;
    o->lock_until_ns = gbx_clock_now_ns() + gbx_timeout_ns(GBX_TIMEOUT_OAUTH);
    gbx_mcp_timer_fire(&o->lock_later);
    return true;
}

bool gbx_oauth_is_ready(gbx_oauth *oauth)
{
    json_int_t expires;

    if (oauth == NULL || oauth->is_renewing)
        return oauth == NULL;
    expires = json_integer_value(json_object_get(oauth->kept, "expires"));
    return expires == 0 || time(NULL) < expires - EARLY_S || !begin_renewal(oauth);
}

/* ---- held requests ------------------------------------------------------------------ */

/* Send the same request with the current token. NULL: it cannot be sent. */
static gbx_http_exchange *send_again(const gbx_oauth *o, const gbx_http_exchange *e)
{
    static const char name[] = "Authorization:";
    gbx_http_exchange_options options = e->options;
    gbx_http_headers headers = {.lib = &o->options.web->lib};

    for (const struct curl_slist *at = e->options.headers; at != NULL; at = at->next)
        if (strncasecmp(at->data, name, sizeof name - 1) != 0)
            headers.list =
                gbx_need(headers.lib->curl_slist_append(headers.list, at->data));
    gbx_oauth_add_header(o, &headers);
    options.headers = headers.list;
    options.body = e->sent_body.data;
    options.delay_ms = 0;
    options.is_resent = true;
    return gbx_http_exchange_start(&options);
}

static void on_turn(void *user)
{
    gbx_oauth *o = user;
    const gbx_oauth_options options = o->options;
    gbx_http_exchange *refused = LIST_FIRST(&o->held);
    gbx_http_exchange *again;

    if (o->is_renewing)
        return;
    if (refused == NULL) {
        options.renewed(options.user);
        return;
    }
    gbx_mcp_timer_fire(&o->turn);
    LIST_REMOVE(refused, entry);
    again = o->has_failed ? NULL : send_again(o, refused);
    if (again != NULL)
        options.resent(options.user, again);
    else
        options.refused(options.user, refused); /* may free all of it */
    gbx_http_exchange_free(refused);
}

bool gbx_oauth_renew(gbx_oauth *oauth)
{
    if (oauth == NULL || oauth->is_renewing)
        return oauth != NULL;
    switch (look_again(oauth)) {
    case NEWER: end_renewal(oauth, true); return true;
    case GONE: return false;
    case SAME: break;
    }
    return begin_renewal(oauth);
}

bool gbx_oauth_hold(gbx_oauth *oauth, gbx_http_exchange *refused)
{
    if (refused->options.is_resent || refused->was_answered || !gbx_oauth_renew(oauth))
        return false;
    LIST_INSERT_HEAD(&oauth->held, refused, entry);
    return true;
}

void gbx_oauth_forget(gbx_oauth *oauth, int64_t id)
{
    gbx_http_exchange *e;

    if (oauth == NULL)
        return;
    LIST_FOREACH(e, &oauth->held, entry)
    if (e->options.id == id)
        break;
    if (e == NULL)
        return;
    LIST_REMOVE(e, entry);
    gbx_http_exchange_free(e);
}

/* ---- the rest ---------------------------------------------------------------------- */

static bool has_own_field(const gbx_mcp_upstream_config *server)
{
    for (size_t i = 0; i < server->header_count; i++)
        if (strcasecmp(server->headers[i].name, "Authorization") == 0)
            return true;
    return false;
}

char *gbx_oauth_refusal(const gbx_oauth *oauth, const gbx_mcp_upstream_config *server,
                        const gbx_http_exchange *e, const gbx_link_secrets *secrets,
                        bool *ret_sign_in)
{
    const char *challenge = gbx_http_exchange_challenge(e);
    bool wants_token = *challenge != '\0';
    GBX_CLEANUP(gbx_free) char *scope = gbx_oauth_challenge(challenge, "scope");
    char *why = gbx_http_status_text(e, secrets);
    gbx_error err = {0};
    json_t *wanted;
    char *with_advice;

    *ret_sign_in = false;
    if (!wants_token || has_own_field(server))
        return why;
    if (e->status == 403 && scope != NULL && oauth != NULL) {
        /* For the next sign-in. */
        wanted = gbx_need(json_pack("{s:s}", "wantedScope", scope));
        (void)gbx_oauth_write(server->url, oauth->options.trust, wanted,
                              GBX_OAUTH_MERGE, &err);
        json_decref(wanted);
    } else if (e->status != 401) {
        return why;
    }
    *ret_sign_in = true;
    with_advice = gbx_printed("%s; a person can sign in%s: glovebox mcp login %s", why,
                              oauth != NULL ? " again" : "", server->name);
    free(why);
    return with_advice;
}

void gbx_oauth_add_header(const gbx_oauth *oauth, gbx_http_headers *headers)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf field = {.ceiling = GBX_KIB(16), .is_secret = true};

    if (oauth == NULL)
        return;
    (void)gbx_buf_printf(&field, "Bearer %s",
                         gbx_oauth_text(oauth->kept, "accessToken"));
    if (gbx_buf_append(&field, "", 1))
        gbx_http_header_add(headers, "Authorization", (const char *)field.data);
}

gbx_oauth *gbx_oauth_new(const gbx_oauth_options *options)
{
    gbx_error err = {0};
    json_t *kept = NULL;
    gbx_oauth *o;

    if (has_own_field(options->server))
        return NULL;
    if (gbx_oauth_read(options->server->url, options->trust, &kept, &err) != GBX_OK)
        gbx_mcp_warn("'%s' is used without a token: %s", options->server->name,
                     err.message);
    if (*gbx_oauth_text(kept, "accessToken") == '\0') {
        json_decref(kept);
        return NULL;
    }
    o = gbx_need(calloc(1, sizeof *o));
    o->options = *options;
    o->lock = -1;
    LIST_INIT(&o->held);
    gbx_mcp_timer_init(&o->lock_later, options->web->loop, on_lock_later, o);
    gbx_mcp_timer_init(&o->turn, options->web->loop, on_turn, o);
    adopt(o, kept);
    return o;
}

void gbx_oauth_free(gbx_oauth *oauth)
{
    gbx_http_exchange *e;

    if (oauth == NULL)
        return;
    while ((e = LIST_FIRST(&oauth->held)) != NULL) {
        LIST_REMOVE(e, entry);
        gbx_http_exchange_free(e);
    }
    gbx_http_exchange_free(oauth->asking);
    gbx_mcp_timer_cleanup(&oauth->lock_later);
    gbx_mcp_timer_cleanup(&oauth->turn);
    gbx_fd_close(&oauth->lock);
    gbx_policy_free(oauth->hidden);
    for (size_t i = 0; i < PAST_MAX; i++)
        gbx_wipe(oauth->past[i]);
    json_decref(oauth->kept);
    free(oauth);
}
