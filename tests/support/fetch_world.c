/* SPDX-License-Identifier: MIT */
/* fetch_world - see fetch_world.h. */
#include "fetch_world.h"
#include "test.h"

#include <event2/event.h>

static char *copy_span(gbx_span span)
{
    char *copy = malloc(span.len + 1);

    assert_non_null(copy);
    if (span.len > 0)
        memcpy(copy, span.data, span.len);
    copy[span.len] = '\0';
    return copy;
}

static void copy_text(char *to, size_t size, gbx_span from)
{
    (void)snprintf(to, size, "%.*s", (int)from.len,
                   from.len > 0 ? (const char *)from.data : "");
}

static void on_done(void *user, const gbx_msg_answer *answer)
{
    fetch_result *result = user;

    result->told++;
    result->is_error = answer->is_error != 0;
    copy_text(result->name, sizeof result->name, answer->name);
    copy_text(result->code, sizeof result->code, answer->code);
    copy_text(result->message, sizeof result->message, answer->message);
    result->json = copy_span(answer->json);
    result->body = (uint8_t *)copy_span(answer->bytes);
    result->body_len = answer->bytes.len;
}

static void on_report(void *user, void *fetch_user, const gbx_fetch_report *report)
{
    fetch_result *result = fetch_user;

    result->reports++;
    (void)snprintf(result->report_code, sizeof result->report_code, "%s", report->code);
    (void)snprintf(result->report_url, sizeof result->report_url, "%s", report->url);
    (void)snprintf(result->report_address, sizeof result->report_address, "%s",
                   report->address);
    (void)snprintf(result->report_detail, sizeof result->report_detail, "%s",
                   report->detail);
    result->report_status = report->status;
    result->report_hops = report->hops;
    result->report_bytes_in = report->bytes_in;
    result->report_bytes_out = report->bytes_out;
}

/* ---- public to the tests ------------------------------------------------- */

void world_open(fetch_world *w, const gbx_fetcher_options *options)
{
    gbx_fetcher_options mine = {0};

    *w = (fetch_world){0};
    if (options != NULL)
        mine = *options;
    w->base = event_base_new();
    assert_non_null(w->base);
    mine.base = w->base;
    mine.on_report = on_report;
    if (mine.hosts_path == NULL)
        mine.hosts_path = "/dev/null";
    if (mine.resolv_path == NULL)
        mine.resolv_path = "/dev/null";
    w->policy.fetch = (gbx_fetch_policy){.sites = w->sites,
                                         .max_bytes = 100000,
                                         .max_request_bytes = 1000,
                                         .timeout_ms = 20000,
                                         .max_redirects = 5};
    assert_int_equal(gbx_fetcher_new(&mine, &w->fetcher, NULL), GBX_OK);
}

void world_close(fetch_world *w)
{
    gbx_fetcher_free(w->fetcher);
    (void)event_base_loop(w->base, EVLOOP_NONBLOCK);
    event_base_free(w->base);
    result_free(&w->result);
}

void world_allow(fetch_world *w, const char *host, uint16_t port, world_reach reach)
{
    assert_true(w->policy.fetch.site_count < WORLD_SITES_MAX);
    w->sites[w->policy.fetch.site_count++] =
        (gbx_site){.host = (char *)(uintptr_t)host,
                   .schemes = GBX_SCHEME_HTTP | GBX_SCHEME_HTTPS,
                   .port = port,
                   .loopback = reach == LOOPBACK_TOO};
}

void world_nameserver(fetch_world *w, const char *address)
{
    w->nameserver = (char *)(uintptr_t)address;
    w->policy.fetch.nameservers = &w->nameserver;
    w->policy.fetch.nameserver_count = 1;
}

gbx_fetch *world_start(fetch_world *w, const char *args_json, fetch_result *result)
{
    gbx_span args = {.data = (const uint8_t *)args_json, .len = strlen(args_json)};
    gbx_fetch *fetch;

    *result = (fetch_result){0};
    fetch =
        gbx_fetch_start(w->fetcher, &w->policy, args, (gbx_span){0}, on_done, result);
    assert_non_null(fetch);
    assert_int_equal(result->told, 0);
    return fetch;
}

void world_run(fetch_world *w, fetch_result *result)
{
    while (result->told == 0)
        assert_int_equal(event_base_loop(w->base, EVLOOP_ONCE), 0);
}

const fetch_result *world_fetch(fetch_world *w, const char *args_json, const void *body,
                                size_t body_len)
{
    gbx_span args = {.data = (const uint8_t *)args_json, .len = strlen(args_json)};
    gbx_span bytes = {.data = body, .len = body_len};

    result_free(&w->result);
    assert_non_null(
        gbx_fetch_start(w->fetcher, &w->policy, args, bytes, on_done, &w->result));
    world_run(w, &w->result);
    assert_int_equal(w->result.told, 1);
    assert_int_equal(w->result.reports, 1);
    assert_string_equal(w->result.report_code, w->result.code);
    return &w->result;
}

const fetch_result *world_get(fetch_world *w, const char *format, ...)
{
    char url[4096];
    char args[4200];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(url, sizeof url, format, list);
    va_end(list);
    (void)snprintf(args, sizeof args, "[{\"url\":\"%s\"}]", url);
    return world_fetch(w, args, NULL, 0);
}

void result_free(fetch_result *result)
{
    free(result->json);
    free(result->body);
    *result = (fetch_result){0};
}

void expect_code(const fetch_result *result, const char *code)
{
    if (strcmp(result->code, code) != 0)
        fail_msg("code '%s', not '%s': %s (%s)", result->code, code, result->message,
                 result->report_detail);
    assert_int_equal(result->is_error, code[0] != '\0');
}
