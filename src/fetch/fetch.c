/* SPDX-License-Identifier: MIT */
/*
 * fetch - one request from its first check to its answer, hop by hop.
 *
 * Every hop, the first and each redirect, begins in begin_hop(): a transfer can start
 * nowhere else, so its checks cannot be avoided.
 */
#include "fetch/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fail.h"

#include <event2/event.h>
#include <stdlib.h>

struct gbx_fetch {
    gbx_fetcher *fetcher;
    LIST_ENTRY(gbx_fetch) link; /* of the fetcher's flights */
    const gbx_policy *policy;
    const gbx_fetch_policy *rules; /* the policy's */
    gbx_fetch_done done;
    void *user;

    gbx_fetch_request request;
    gbx_url url;       /* of this hop */
    gbx_reach reach;   /* addresses that the policy allows for this hop */
    gbx_fields filled; /* the headers of this hop, with secrets */
    gbx_response response;
    gbx_fault fault;

    /* The pending operation: at most one of these. */
    gbx_query *query;
    gbx_transfer *transfer;
    gbx_transport_token token;

    struct event *step;     /* continues, or reports the end, in a separate loop turn */
    struct event *deadline; /* for the whole request */
    int64_t started_ns;
    uint32_t redirects;
    uint32_t hops;
    uint64_t bytes_out;
    char address[GBX_IP_TEXT_MAX];
};

/* ---- the end of a request ---------------------------------------------------- */

/* Stop the pending operation without a report. */
static void abandon(gbx_fetch *fetch)
{
    gbx_query_drop(fetch->query);
    fetch->query = NULL;
    if (fetch->transfer != NULL && gbx_transfer_address(fetch->transfer)[0] != '\0')
        (void)snprintf(fetch->address, sizeof fetch->address, "%s",
                       gbx_transfer_address(fetch->transfer));
    gbx_transfer_free(fetch->transfer);
    fetch->transfer = NULL;
    gbx_transport_forget(fetch->fetcher->transport, fetch->token);
    fetch->token = 0;
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

/* Report to the observer, give the answer (NULL: cancelled), and free. */
static void end(gbx_fetch *fetch, const gbx_msg_answer *answer)
{
    LIST_REMOVE(fetch, link);
    report(fetch);
    if (answer != NULL)
        fetch->done(fetch->user, answer);
    free_flight(fetch);
}

/* Frees fetch. */
static void finish(gbx_fetch *fetch)
{
    GBX_CLEANUP(gbx_buf_cleanup)
    gbx_buf json = {.ceiling = GBX_MIB(1), .is_secret = true};
    gbx_msg_answer answer = {0};

    abandon(fetch);
    if (fetch->fault.code == GBX_FAULT_NONE &&
        !gbx_response_write(&fetch->response, fetch->url.text, fetch->redirects > 0,
                            &json))
        (void)gbx_fault_no_memory(&fetch->fault);
    if (fetch->fault.code == GBX_FAULT_NONE) {
        answer.json = (gbx_span){.data = json.data, .len = json.len};
        answer.bytes = (gbx_span){.data = fetch->response.body.data,
                                  .len = fetch->response.body.len};
    } else {
        answer.is_error = 1;
        answer.name = gbx_span_of(gbx_fault_error_name(fetch->fault.code));
        answer.message = gbx_span_of(fetch->fault.message);
        answer.code = gbx_span_of(gbx_fault_code_text(fetch->fault.code));
    }
    end(fetch, &answer);
}

/* ---- hops -------------------------------------------------------------------- */

static bool begin_hop(gbx_fetch *fetch);

/* The response's head is complete: is this the answer, or a redirect to the next
 * hop? */
static void judge_response(gbx_fetch *fetch)
{
    gbx_url next = {0};

    if (!gbx_redirect_next(&fetch->request, &fetch->url, &fetch->response,
                           fetch->redirects, fetch->rules->max_redirects, &next,
                           &fetch->fault)) {
        finish(fetch);
        return;
    }
    fetch->redirects++;
    abandon(fetch);
    gbx_url_cleanup(&fetch->url);
    fetch->url = next;
    if (!begin_hop(fetch))
        finish(fetch);
}

static void on_transfer(void *user, bool succeeded)
{
    gbx_fetch *fetch = user;

    fetch->bytes_out += fetch->request.body_len;
    if (succeeded)
        judge_response(fetch);
    else
        finish(fetch);
}

/* Check every address. One refused address refuses all: a name with addresses outside
 * and inside at once is suspicious. */
static bool check_addresses(gbx_fetch *fetch, const gbx_ip *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *refusal = gbx_ip_refusal(&addresses[i], &fetch->reach);

        if (refusal == NULL)
            continue;
        gbx_ip_text(&addresses[i], fetch->address);
        gbx_fault_detail(&fetch->fault, "address %zu of %zu, %s, is refused: %s", i + 1,
                         count, fetch->address, refusal);
        return gbx_fault_set(&fetch->fault, GBX_FAULT_ADDRESS,
                             "fetch: the host '%s' resolves to an address that is not "
                             "public",
                             fetch->url.host);
    }
    return true;
}

static bool connect_to(gbx_fetch *fetch, const gbx_ip *addresses, size_t count)
{
    gbx_hop hop = {.url = &fetch->url,
                   .request = &fetch->request,
                   .headers = &fetch->filled,
                   .addresses = addresses,
                   .address_count = count,
                   .reach = fetch->reach,
                   .ca_file = fetch->rules->ca_file,
                   .stall_ms = fetch->fetcher->options.stall_ms,
                   .response = &fetch->response,
                   .fault = &fetch->fault};

    if (!check_addresses(fetch, addresses, count))
        return false;
    gbx_ip_text(&addresses[0], fetch->address);
    fetch->transfer =
        gbx_transfer_start(fetch->fetcher->multi, fetch->fetcher->options.base, &hop,
                           on_transfer, fetch);
    return fetch->transfer != NULL;
}

static void on_resolved(void *user, const gbx_ip *addresses, size_t count,
                        const char *problem)
{
    gbx_fetch *fetch = user;

    fetch->query = NULL;
    if (problem != NULL) {
        gbx_fault_detail(&fetch->fault, "%s", problem);
        (void)gbx_fault_set(&fetch->fault, GBX_FAULT_DNS,
                            "fetch: the host '%s' could not be resolved",
                            fetch->url.host);
        finish(fetch);
    } else if (!connect_to(fetch, addresses, count)) {
        finish(fetch);
    }
}

static void on_transport(void *user, gbx_response *response, const gbx_fault *fault)
{
    gbx_fetch *fetch = user;

    fetch->token = 0;
    fetch->bytes_out += fetch->request.body_len;
    if (fault->code != GBX_FAULT_NONE) {
        fetch->fault = *fault;
        finish(fetch);
        return;
    }
    gbx_response_cleanup(&fetch->response);
    fetch->response = *response;
    *response = (gbx_response){0};
    judge_response(fetch);
}

static bool ask_transport(gbx_fetch *fetch)
{
    const gbx_fields *filled = &fetch->filled;
    uint32_t limit_ms = fetch->rules->timeout_ms;
    int64_t gone_ms = (gbx_clock_now_ns() - fetch->started_ns) / GBX_NS_PER_MS;
    gbx_http_header headers[GBX_REQUEST_HEADERS_MAX];
    gbx_transport_request request = {.struct_size = sizeof request,
                                     .method = fetch->request.method,
                                     .url = fetch->url.text,
                                     .headers = headers,
                                     .header_count = filled->count,
                                     .body = fetch->request.body,
                                     .body_len = fetch->request.body_len,
                                     .max_bytes = fetch->rules->max_bytes,
                                     .timeout_ms = gone_ms < limit_ms
                                                       ? limit_ms - (uint32_t)gone_ms
                                                       : 0};

    for (size_t i = 0; i < filled->count; i++)
        headers[i] = (gbx_http_header){filled->items[i].name, filled->items[i].value};
    fetch->token =
        gbx_transport_ask(fetch->fetcher->transport, &request, on_transport, fetch);
    return fetch->token != 0 || gbx_fault_no_memory(&fetch->fault);
}

/* The checks of a hop, in the order of docs/internals/fetch.md. False with a fault. */
static bool begin_hop(gbx_fetch *fetch)
{
    fetch->hops++;
    gbx_response_cleanup(&fetch->response);
    gbx_response_init(&fetch->response, (size_t)fetch->rules->max_bytes);
    fetch->address[0] = '\0';
    if (!gbx_allow_url(fetch->rules, &fetch->url, &fetch->reach, &fetch->fault) ||
        !gbx_allow_method(fetch->rules, fetch->request.method, &fetch->fault) ||
        !gbx_fill_headers(fetch->policy, &fetch->url, &fetch->request.headers,
                          &fetch->filled, &fetch->fault))
        return false;
    if (fetch->fetcher->transport != NULL)
        return (!fetch->url.is_literal ||
                check_addresses(fetch, &fetch->url.address, 1)) &&
               ask_transport(fetch);
    if (fetch->url.is_literal)
        return connect_to(fetch, &fetch->url.address, 1);
    fetch->query = gbx_resolve(fetch->fetcher->resolver, fetch->url.host,
                               fetch->rules->nameservers,
                               fetch->rules->nameserver_count, on_resolved, fetch);
    return fetch->query != NULL || gbx_fault_no_memory(&fetch->fault);
}

/* Callbacks of the event loop: the next hop or the end, and the deadline. */
static void flight_step(int fd, short what, void *user)
{
    gbx_fetch *fetch = user;

    if (fetch->fault.code != GBX_FAULT_NONE || !begin_hop(fetch))
        finish(fetch);
}

static void flight_late(int fd, short what, void *user)
{
    gbx_fetch *fetch = user;

    (void)gbx_fault_set(&fetch->fault, GBX_FAULT_TIMEOUT,
                        "fetch: took longer than %u ms",
                        (unsigned)fetch->rules->timeout_ms);
    finish(fetch);
}

/* ---- a fetcher, and the beginning of its requests ---------------------------- */

#define STALL_MS_DEFAULT 10000u

/* Maximum number of open connections, for all calls together. */
#define CONNECTIONS_MAX 256L

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
    if (options->stall_ms == 0)
        fetcher->options.stall_ms = STALL_MS_DEFAULT;
    if (options->hosts_path == NULL)
        fetcher->options.hosts_path = "/etc/hosts";
    if (options->resolv_path == NULL)
        fetcher->options.resolv_path = "/etc/resolv.conf";
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
    while (!LIST_EMPTY(&fetcher->flights))
        gbx_fetch_drop(LIST_FIRST(&fetcher->flights));
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
    struct event_base *base = fetcher->options.base;
    struct timeval limit = gbx_clock_timeval(policy->fetch.timeout_ms);
    gbx_fetch *fetch = calloc(1, sizeof *fetch);

    if (fetch == NULL)
        return NULL;
    *fetch = (gbx_fetch){.fetcher = fetcher,
                         .policy = policy,
                         .rules = &policy->fetch,
                         .done = done,
                         .user = user,
                         .started_ns = gbx_clock_now_ns()};
    fetch->step = event_new(base, -1, 0, flight_step, fetch);
    fetch->deadline = evtimer_new(base, flight_late, fetch);
    if (fetch->step == NULL || fetch->deadline == NULL ||
        evtimer_add(fetch->deadline, &limit) != 0) {
        free_flight(fetch);
        return NULL;
    }
    if (gbx_request_read(args, body, fetch->rules, &fetch->request, &fetch->fault))
        (void)gbx_url_parse(&fetcher->lib, fetch->request.url, fetch->request.url_len,
                            &fetch->url, &fetch->fault);
    LIST_INSERT_HEAD(&fetcher->flights, fetch, link);
    event_active(fetch->step, EV_TIMEOUT, 0);
    return fetch;
}

void gbx_fetch_drop(gbx_fetch *fetch)
{
    abandon(fetch);
    (void)gbx_fault_set(&fetch->fault, GBX_FAULT_ABORTED,
                        "fetch: the call ended before the request did");
    end(fetch, NULL);
}

gbx_status gbx_fetcher_answer(gbx_fetcher *fetcher, gbx_transport_token token,
                              const gbx_transport_response *response, gbx_error *reterr)
{
    if (fetcher->transport == NULL)
        return gbx_fail(reterr, GBX_E_USAGE, "the engine has no transport");
    return gbx_transport_give(fetcher->transport, token, response, reterr);
}
