/* SPDX-License-Identifier: MIT */
/* fetcher - the life of a fetcher, and the beginning and end of its requests. */
#include "fetch/flight.h"

#include "base/clock.h"
#include "base/fail.h"

#include <event2/event.h>
#include <stdlib.h>

#define STALL_MS_DEFAULT 10000u

/* Of all calls. */
#define CONNECTIONS_MAX 256L

static void take_defaults(gbx_fetcher_options *options)
{
    if (options->stall_ms == 0)
        options->stall_ms = STALL_MS_DEFAULT;
    if (options->hosts_path == NULL)
        options->hosts_path = "/etc/hosts";
    if (options->resolv_path == NULL)
        options->resolv_path = "/etc/resolv.conf";
}

/* A policy that was not parsed from a file may leave limits out. */
static gbx_fetch_policy rules_of(const gbx_policy *policy)
{
    gbx_fetch_policy rules = policy->fetch;

    if (rules.max_bytes == 0)
        rules.max_bytes = GBX_MIB(10);
    if (rules.max_request_bytes == 0)
        rules.max_request_bytes = GBX_MIB(1);
    if (rules.timeout_ms == 0)
        rules.timeout_ms = 30000;
    return rules;
}

static bool make_events(gbx_fetch *fetch)
{
    struct event_base *base = fetch->fetcher->options.base;
    struct timeval limit = {.tv_sec = fetch->rules.timeout_ms / 1000,
                            .tv_usec =
                                (suseconds_t)(fetch->rules.timeout_ms % 1000) * 1000};

    fetch->step = event_new(base, -1, 0, gbx_flight_step, fetch);
    fetch->deadline = evtimer_new(base, gbx_flight_late, fetch);
    return fetch->step != NULL && fetch->deadline != NULL &&
           evtimer_add(fetch->deadline, &limit) == 0;
}

static void link_in(gbx_fetch *fetch)
{
    gbx_fetcher *fetcher = fetch->fetcher;

    fetch->next = fetcher->flights;
    fetch->link = &fetcher->flights;
    if (fetch->next != NULL)
        fetch->next->link = &fetch->next;
    fetcher->flights = fetch;
}

static void report(gbx_fetch *fetch)
{
    const gbx_fetcher_options *options = &fetch->fetcher->options;
    gbx_fetch_report report = {.method = fetch->request.method,
                               .url = fetch->url.text != NULL ? fetch->url.text : "",
                               .address = fetch->address,
                               .status = fetch->response.status,
                               .hops = fetch->hops,
                               .bytes_out = fetch->bytes_out,
                               .bytes_in = fetch->response.body.len,
                               .wall_ms =
                                   (double)(gbx_clock_now_ns() - fetch->started_ns) /
                                   1e6,
                               .code = gbx_fault_code_text(fetch->fault.code),
                               .detail = fetch->fault.detail};

    if (options->on_report != NULL)
        options->on_report(options->report_user, fetch->user, &report);
}

static void free_flight(gbx_fetch *fetch)
{
    if (fetch->step != NULL)
        event_free(fetch->step);
    if (fetch->deadline != NULL)
        event_free(fetch->deadline);
    gbx_request_cleanup(&fetch->request);
    gbx_url_cleanup(&fetch->url);
    gbx_fields_cleanup(&fetch->filled);
    gbx_response_cleanup(&fetch->response);
    free(fetch);
}

/* ---- public to other modules -------------------------------------------- */

gbx_status gbx_fetcher_new(const gbx_fetcher_options *options, gbx_fetcher **ret,
                           gbx_error *reterr)
{
    gbx_fetcher *fetcher = calloc(1, sizeof *fetcher);
    gbx_status status;

    if (fetcher == NULL)
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a fetcher");
    status = gbx_libcurl_load(&fetcher->lib, reterr);
    if (status != GBX_OK) {
        free(fetcher);
        return status;
    }
    fetcher->options = *options;
    take_defaults(&fetcher->options);
    fetcher->resolver = gbx_resolver_new(options->base, fetcher->options.hosts_path,
                                         fetcher->options.resolv_path);
    fetcher->multi = gbx_multi_new(&fetcher->lib, options->base, CONNECTIONS_MAX);
    if (options->transport != NULL)
        fetcher->transport =
            gbx_transport_new(options->base, options->transport,
                              options->transport_user, options->engine);
    if (fetcher->resolver == NULL || fetcher->multi == NULL ||
        (options->transport != NULL && fetcher->transport == NULL)) {
        gbx_fetcher_free(fetcher);
        return gbx_fail(reterr, GBX_E_NOMEM, "no memory for a fetcher");
    }
    *ret = fetcher;
    return GBX_OK;
}

void gbx_fetcher_free(gbx_fetcher *fetcher)
{
    if (fetcher == NULL)
        return;
    while (fetcher->flights != NULL)
        gbx_fetch_drop(fetcher->flights);
    gbx_transport_free(fetcher->transport);
    gbx_multi_free(fetcher->multi);
    gbx_resolver_free(fetcher->resolver);
    gbx_libcurl_unload(&fetcher->lib);
    free(fetcher);
}

gbx_fetch *gbx_fetch_start(gbx_fetcher *fetcher, const gbx_policy *policy,
                           gbx_span args, gbx_span body, gbx_fetch_done done,
                           void *user)
{
    gbx_fetch *fetch = calloc(1, sizeof *fetch);

    if (fetch == NULL)
        return NULL;
    *fetch = (gbx_fetch){.fetcher = fetcher,
                         .policy = policy,
                         .rules = rules_of(policy),
                         .done = done,
                         .user = user,
                         .started_ns = gbx_clock_now_ns()};
    if (!make_events(fetch)) {
        free_flight(fetch);
        return NULL;
    }
    if (gbx_request_read(args, body, &fetch->rules, &fetch->request, &fetch->fault))
        (void)gbx_url_parse(&fetcher->lib, fetch->request.url, fetch->request.url_len,
                            &fetch->url, &fetch->fault);
    link_in(fetch);
    event_active(fetch->step, EV_TIMEOUT, 0);
    return fetch;
}

void gbx_fetch_cancel(gbx_fetch *fetch)
{
    gbx_flight_abandon(fetch);
    fetch->fault = (gbx_fault){0};
    (void)gbx_fault_set(&fetch->fault, GBX_FAULT_ABORTED,
                        "fetch: the request was aborted");
    event_active(fetch->step, EV_TIMEOUT, 0);
}

void gbx_fetch_drop(gbx_fetch *fetch)
{
    gbx_flight_abandon(fetch);
    (void)gbx_fault_set(&fetch->fault, GBX_FAULT_ABORTED,
                        "fetch: the call ended before the request did");
    gbx_flight_end(fetch, NULL);
}

gbx_status gbx_fetcher_answer(gbx_fetcher *fetcher, gbx_transport_token token,
                              const gbx_transport_response *response, gbx_error *reterr)
{
    if (fetcher->transport == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "the engine has no transport");
    return gbx_transport_give(fetcher->transport, token, response, reterr);
}

void gbx_flight_end(gbx_fetch *fetch, const gbx_msg_answer *answer)
{
    *fetch->link = fetch->next;
    if (fetch->next != NULL)
        fetch->next->link = fetch->link;
    report(fetch);
    if (answer != NULL)
        fetch->done(fetch->user, answer);
    free_flight(fetch);
}
