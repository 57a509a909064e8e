/* SPDX-License-Identifier: MIT */
/*
 * fetch - one request from its first check to its answer, a hop at a time.
 *
 * Every hop begins in begin_hop(), the first one and each redirect alike: there is no
 * other way to a transfer, and no way around a check in it.
 */
#include "fetch/flight.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "fetch/internal.h"

#include <event2/event.h>
#include <string.h>

static bool host_memory(gbx_fetch *fetch)
{
    return gbx_fault_set(&fetch->fault, GBX_FAULT_HOST,
                         "fetch: the host is out of memory");
}

static gbx_span span_of(const char *text)
{
    return (gbx_span){.data = (const uint8_t *)text, .len = strlen(text)};
}

/* fetch is gone afterwards. */
static void finish(gbx_fetch *fetch)
{
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf json = {0};
    gbx_msg_answer answer = {0};

    gbx_flight_abandon(fetch);
    gbx_buf_init_secret(&json, GBX_MIB(1));
    if (fetch->fault.code == GBX_FAULT_NONE &&
        !gbx_response_write(&fetch->response, fetch->url.text, fetch->redirects > 0,
                            &json))
        (void)host_memory(fetch);
    if (fetch->fault.code == GBX_FAULT_NONE) {
        answer.json = (gbx_span){.data = json.data, .len = json.len};
        answer.bytes = (gbx_span){.data = fetch->response.body.data,
                                  .len = fetch->response.body.len};
    } else {
        answer.is_error = 1;
        answer.name = span_of(gbx_fault_error_name(fetch->fault.code));
        answer.message = span_of(fetch->fault.message);
        answer.code = span_of(gbx_fault_code_text(fetch->fault.code));
    }
    gbx_flight_end(fetch, &answer);
}

static bool begin_hop(gbx_fetch *fetch);

/* The response's head is there: is it the answer, or the way to the next hop? */
static void judge_response(gbx_fetch *fetch)
{
    gbx_url next = {0};

    switch (gbx_redirect_next(&fetch->request, &fetch->url, &fetch->response,
                              fetch->redirects, fetch->rules.max_redirects, &next,
                              &fetch->fault)) {
    case GBX_REDIRECT_NONE: finish(fetch); return;
    case GBX_REDIRECT_FAILED: finish(fetch); return;
    case GBX_REDIRECT_TO: break;
    }
    fetch->redirects++;
    gbx_flight_abandon(fetch);
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

/* Each address is checked, and one that is refused refuses them all: a name that leads
 * outside and inside at once is no accident. */
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
                   .ca_file = fetch->rules.ca_file,
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

static uint32_t ms_left(const gbx_fetch *fetch)
{
    int64_t gone = (gbx_clock_now_ns() - fetch->started_ns) / GBX_NS_PER_MS;

    return gone < fetch->rules.timeout_ms ? fetch->rules.timeout_ms - (uint32_t)gone
                                          : 0;
}

static bool ask_transport(gbx_fetch *fetch)
{
    const gbx_fields *filled = &fetch->filled;
    gbx_http_header headers[GBX_REQUEST_HEADERS_MAX];
    gbx_transport_request request = {.struct_size = sizeof request,
                                     .method = fetch->request.method,
                                     .url = fetch->url.text,
                                     .headers = headers,
                                     .header_count = filled->count,
                                     .body = fetch->request.body,
                                     .body_len = fetch->request.body_len,
                                     .max_bytes = fetch->rules.max_bytes,
                                     .timeout_ms = ms_left(fetch)};

    for (size_t i = 0; i < filled->count; i++)
        headers[i] = (gbx_http_header){filled->items[i].name, filled->items[i].value};
    fetch->token =
        gbx_transport_ask(fetch->fetcher->transport, &request, on_transport, fetch);
    return fetch->token != 0 || host_memory(fetch);
}

static bool resolve(gbx_fetch *fetch)
{
    fetch->query =
        gbx_resolve(fetch->fetcher->resolver, fetch->url.host, fetch->rules.nameservers,
                    fetch->rules.nameserver_count, on_resolved, fetch);
    return fetch->query != NULL || host_memory(fetch);
}

/* The checks of a hop, in the order of docs/internals/fetch.md. False with a fault. */
static bool begin_hop(gbx_fetch *fetch)
{
    fetch->hops++;
    gbx_response_cleanup(&fetch->response);
    gbx_response_init(&fetch->response, (size_t)fetch->rules.max_bytes);
    fetch->address[0] = '\0';
    if (!gbx_allow_url(&fetch->rules, &fetch->url, &fetch->reach, &fetch->fault) ||
        !gbx_allow_method(&fetch->rules, fetch->request.method, &fetch->fault) ||
        !gbx_fill_headers(fetch->policy, &fetch->url, &fetch->request.headers,
                          &fetch->filled, &fetch->fault))
        return false;
    if (fetch->fetcher->transport != NULL)
        return (!fetch->url.is_literal ||
                check_addresses(fetch, &fetch->url.address, 1)) &&
               ask_transport(fetch);
    if (fetch->url.is_literal)
        return connect_to(fetch, &fetch->url.address, 1);
    return resolve(fetch);
}

/* ---- public to other modules -------------------------------------------- */

void gbx_flight_abandon(gbx_fetch *fetch)
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

void gbx_flight_step(int fd, short what, void *user)
{
    gbx_fetch *fetch = user;

    (void)fd;
    (void)what;
    if (fetch->fault.code != GBX_FAULT_NONE || !begin_hop(fetch))
        finish(fetch);
}

void gbx_flight_late(int fd, short what, void *user)
{
    gbx_fetch *fetch = user;

    (void)fd;
    (void)what;
    (void)gbx_fault_set(&fetch->fault, GBX_FAULT_TIMEOUT,
                        "fetch: took longer than %u ms",
                        (unsigned)fetch->rules.timeout_ms);
    finish(fetch);
}
