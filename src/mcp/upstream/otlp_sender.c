/* SPDX-License-Identifier: MIT */
/*
 * otlp_sender - sends waiting spans in batches, one at a time. Nothing waits for the
 * collector: while it is slow or away, spans stay in their ring, which drops the oldest.
 * Of its answers only the status is used. Redirects are not followed, as the headers may
 * hold a key.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_MAX   256
#define BATCH_BYTES GBX_MIB(4) /* escapes of names may need six bytes a byte */
#define ANSWER_MAX  GBX_KIB(64)
#define PAUSE_MS    1000 /* from a span to its batch, unless that is full earlier */
#define TRACES_PATH "/v1/traces"

struct gbx_otlp_sender {
    gbx_telemetry *telemetry;
    gbx_http_client *web;
    char *url;
    const char *headers; /* NAME=VALUE,NAME=VALUE; or NULL */
    gbx_mcp_timer next;
    gbx_http_exchange *sending; /* or NULL */
    uint64_t spans;             /* that it sends, as gbx_telemetry_put() named them */
    gbx_backoff failures;
};

/* ---- a batch ----------------------------------------------------------------------- */

static const gbx_http_exchange_hooks hooks;

/* Add one NAME=VALUE, where VALUE may have escapes as in a URL. */
static bool add_header(gbx_http_headers *to, const char *pair, size_t len)
{
    GBX_CLEANUP(gbx_free) char *name = gbx_need(strndup(pair, len));
    char *equals = strchr(name, '=');
    char *value;
    bool is_valid;
    int size = 0;

    if (equals == NULL || equals == name)
        return false;
    value = gbx_need(to->lib->curl_easy_unescape(NULL, equals + 1, 0, &size));
    do
        *equals-- = '\0';
    while (equals > name && strchr(" \t", *equals) != NULL);
    is_valid = gbx_is_token(name, strlen(name)) && strlen(value) == (size_t)size &&
               strpbrk(value, "\r\n") == NULL;
    if (is_valid)
        gbx_http_header_add(to, name, value + strspn(value, " \t"));
    to->lib->curl_free(value);
    return is_valid;
}

static bool add_headers(gbx_http_headers *to, const char *list)
{
    while (list != NULL && *list != '\0') {
        size_t len;

        list += strspn(list, " \t,");
        len = strcspn(list, ",");
        if (len > 0 && !add_header(to, list, len))
            return false;
        list += len;
    }
    return true;
}

/* Send at most max spans. NULL: there are none, or they cannot be sent. */
static gbx_http_exchange *send_spans(gbx_otlp_sender *s, size_t max)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf body = {.ceiling = BATCH_BYTES / BATCH_MAX * max};
    gbx_http_headers headers = {.lib = &s->web->lib};
    gbx_http_exchange_options options = {
        .web = s->web,
        .method = GBX_HTTP_POST,
        .url = s->url,
        .answer_max = ANSWER_MAX,
        .timeout_ms = gbx_timeout_ms(GBX_TIMEOUT_SPANS),
        .hooks = &hooks,
        .user = s,
    };

    if (gbx_telemetry_waiting(s->telemetry) == 0)
        return NULL;
    s->spans = gbx_telemetry_put(s->telemetry, max, &body);
    (void)add_headers(&headers, s->headers);
    gbx_http_header_add(&headers, "Content-Type", "application/json");
    gbx_http_header_add(&headers, "Expect", NULL);
    options.headers = headers.list;
    options.body = gbx_need(body.failed ? NULL : body.data);
    options.body_len = body.len;
    return gbx_http_exchange_start(&options);
}

static void on_next(void *user)
{
    gbx_otlp_sender *s = user;

    if (s->sending == NULL)
        s->sending = send_spans(s, BATCH_MAX);
}

/* The next batch: now if it is full, else in a while. After a failure the timer is set
 * for longer, until it has fired. */
static void plan_batch(void *user)
{
    gbx_otlp_sender *s = user;
    size_t waiting = gbx_telemetry_waiting(s->telemetry);

    if (s->sending != NULL || waiting == 0)
        return;
    if (waiting >= BATCH_MAX && s->failures.failures == 0)
        gbx_mcp_timer_fire(&s->next);
    else if (!gbx_mcp_timer_is_set(&s->next))
        gbx_mcp_timer_set(&s->next, PAUSE_MS);
}

/* ---- the answer --------------------------------------------------------------------- */

static void on_done(void *user, gbx_http_exchange *e, CURLcode result)
{
    gbx_otlp_sender *s = user;
    bool is_ok = e->status >= 200 && e->status < 300;
    bool is_passing =
        e->status < 200 || e->status == 429 || (e->status >= 502 && e->status <= 504);

    if (!is_passing)
        gbx_telemetry_forget(s->telemetry, s->spans);
    if (!is_ok && s->failures.failures == 0) {
        if (e->status < 200)
            gbx_mcp_warn("the collector of traces does not answer: %s",
                         gbx_http_exchange_error(e, result));
        else
            gbx_mcp_warn("the collector of traces answers with HTTP status %ld",
                         e->status);
    }
    if (is_ok) {
        s->failures.failures = 0;
    } else {
        gbx_backoff_fail(&s->failures, gbx_clock_now_ns());
        gbx_mcp_timer_set(&s->next, gbx_backoff_ms(&s->failures));
    }
    s->sending = NULL;
    gbx_http_exchange_free(e);
    plan_batch(s);
}

static const gbx_http_exchange_hooks hooks = {.done = on_done};

/* ---- beginning and end -------------------------------------------------------------- */

gbx_status gbx_otlp_sender_new(gbx_mcp_loop *loop, gbx_telemetry *telemetry,
                               const char *collector, gbx_otlp_sender **ret,
                               gbx_error *reterr)
{
    gbx_otlp_sender *s = gbx_need(calloc(1, sizeof *s));
    gbx_status status = gbx_http_client_new(loop, &s->web, reterr);
    size_t len = strlen(collector);
    size_t path_len = strlen(TRACES_PATH);

    while (len > 0 && collector[len - 1] == '/')
        len--;
    if (len >= path_len &&
        memcmp(collector + len - path_len, TRACES_PATH, path_len) == 0)
        len -= path_len;
    s->telemetry = telemetry;
    s->url = gbx_printed("%.*s" TRACES_PATH, (int)len, collector);
    s->headers = getenv("OTEL_EXPORTER_OTLP_HEADERS");
    gbx_mcp_timer_init(&s->next, loop, on_next, s);
    if (status == GBX_OK) {
        gbx_http_headers headers = {.lib = &s->web->lib};

        if (!add_headers(&headers, s->headers))
            status = gbx_fail(reterr, GBX_E_USAGE,
                              "OTEL_EXPORTER_OTLP_HEADERS is a list of NAME=VALUE");
        gbx_libcurl_wipe(headers.lib, headers.list);
    }
    if (status != GBX_OK) {
        gbx_otlp_sender_free(s);
        return status;
    }
    gbx_telemetry_on_span(telemetry, plan_batch, s);
    *ret = s;
    return GBX_OK;
}

void gbx_otlp_sender_free(gbx_otlp_sender *s)
{
    gbx_http_exchange *last = NULL;

    if (s == NULL)
        return;
    gbx_telemetry_on_span(s->telemetry, NULL, NULL);
    if (s->sending != NULL) /* these are not sent again */
        gbx_telemetry_forget(s->telemetry, s->spans);
    if (s->web != NULL)
        last = send_spans(s, GBX_SPANS_MAX);
    if (s->sending != NULL || last != NULL)
        gbx_multi_drain(s->web->multi, gbx_timeout_ms(GBX_TIMEOUT_LAST_SPANS));
    gbx_http_exchange_free(last);
    if (s->sending != NULL)
        gbx_http_exchange_free(s->sending);
    gbx_mcp_timer_cleanup(&s->next);
    gbx_http_client_free(s->web);
    free(s->url);
    free(s);
}
