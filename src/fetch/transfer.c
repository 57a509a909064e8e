/* SPDX-License-Identifier: MIT */
/*
 * transfer - callbacks only record why they stop a transfer; if none did, libcurl's own
 * result code is translated.
 */
#include "fetch/internal.h"

#include "base/cleanup.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A response must bring at least so many bytes in every window of stall_ms. */
#define PROGRESS_MIN 512

/* Compressed bytes may be slightly more than their contents, never much more. */
#define RAW_SLACK GBX_KIB(64)

struct gbx_transfer {
    gbx_hop hop;
    gbx_transfer_done done;
    void *user;
    gbx_multi *multi;
    gbx_easy easy;
    gbx_multi_entry entry;
    bool is_added;
    bool is_redirect; /* stopped at the head on purpose */
    gbx_head head;
    struct event *stall;
    size_t seen_before; /* bytes at the end of the last window */
    curl_off_t raw;     /* bytes of the body as received */
    gbx_ip addresses[GBX_TRANSFER_ADDRESSES_MAX];
    char address[GBX_IP_TEXT_MAX];
};

static curl_socket_t open_socket(void *user, curlsocktype purpose,
                                 struct curl_sockaddr *to)
{
    gbx_transfer *t = user;
    const char *refusal;

    if (purpose != CURLSOCKTYPE_IPCXN)
        return CURL_SOCKET_BAD;
    refusal = gbx_socket_refusal(&t->hop, &to->addr, to->addrlen, t->address);
    if (refusal == NULL)
        return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    (void)
        gbx_fault_set(t->hop.fault, GBX_FAULT_ADDRESS,
                      "fetch: the host '%s' resolves to an address that is not public",
                      t->hop.url->host);
    gbx_fault_detail(t->hop.fault, "the socket's address %s is refused: %s", t->address,
                     refusal);
    return CURL_SOCKET_BAD;
}

/* Headers and body so far. */
static size_t seen(const gbx_transfer *t)
{
    return t->head.bytes + (size_t)t->raw;
}

static void stop(gbx_transfer *t, CURLcode result);

static void on_stall(evutil_socket_t fd, short what, void *user)
{
    gbx_transfer *t = user;

    (void)fd;
    (void)what;
    if (seen(t) - t->seen_before >= PROGRESS_MIN) {
        t->seen_before = seen(t);
        return;
    }
    (void)gbx_fault_set(t->hop.fault, GBX_FAULT_TIMEOUT,
                        "fetch: the response of '%s' came to a stop", t->hop.url->host);
    stop(t, CURLE_OPERATION_TIMEDOUT);
}

/* A slow start is fine, since an answer may take work; after that it must progress. */
static void watch_progress(gbx_transfer *t)
{
    struct timeval window = {.tv_sec = t->hop.stall_ms / 1000,
                             .tv_usec = (suseconds_t)(t->hop.stall_ms % 1000) * 1000};

    if (!event_pending(t->stall, EV_TIMEOUT, NULL))
        (void)event_add(t->stall, &window);
}

/* The head is complete: is its body wanted, and can it fit? */
static bool judge_head(gbx_transfer *t)
{
    const gbx_response *response = t->hop.response;

    if (gbx_redirect_ends_body(t->hop.request, response)) {
        t->is_redirect = true;
        return false;
    }
    if (t->head.has_length && t->head.encodings == 0 &&
        t->head.length > response->body.ceiling &&
        strcmp(t->hop.request->method, "HEAD") != 0)
        return gbx_fault_set(
            t->hop.fault, GBX_FAULT_TOO_LARGE,
            "fetch: the response is larger than the limit of %zu bytes",
            response->body.ceiling);
    return true;
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    gbx_transfer *t = user;
    bool was_done = t->head.state == GBX_HEAD_DONE;

    watch_progress(t);
    if (!gbx_head_line(&t->head, line, size * count))
        return 0;
    if (!was_done && t->head.state == GBX_HEAD_DONE && !judge_head(t))
        return 0;
    return size * count;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
    gbx_transfer *t = user;

    if (!gbx_response_append(t->hop.response, data, size * count, t->hop.fault))
        return 0;
    return size * count;
}

/* Bytes that decompress to nothing do not reach on_body(). */
static int on_progress(void *user, curl_off_t total, curl_off_t now,
                       curl_off_t up_total, curl_off_t up_now)
{
    gbx_transfer *t = user;
    size_t most =
        t->hop.response->body.ceiling + t->hop.response->body.ceiling / 64 + RAW_SLACK;

    (void)total;
    (void)up_total;
    (void)up_now;
    t->raw = now;
    if ((size_t)now <= most)
        return 0;
    (void)gbx_fault_set(t->hop.fault, GBX_FAULT_TOO_LARGE,
                        "fetch: the response is larger than the limit of %zu bytes",
                        t->hop.response->body.ceiling);
    return 1;
}

static void on_done(void *user, CURLcode result)
{
    gbx_transfer *t = user;

    t->is_added = false;
    stop(t, result);
}

/* Report the end, once; t may be freed afterwards. */
static void stop(gbx_transfer *t, CURLcode result)
{
    gbx_transfer_done done = t->done;
    bool succeeded =
        t->is_redirect || (result == CURLE_OK && t->hop.fault->code == GBX_FAULT_NONE &&
                           t->head.state == GBX_HEAD_DONE);

    (void)event_del(t->stall);
    if (t->is_added)
        gbx_multi_remove(t->multi, t->easy.curl);
    t->is_added = false;
    t->done = NULL;
    if (!succeeded)
        gbx_easy_fault(&t->easy, result, t->hop.url->host, t->hop.fault);
    if (done != NULL)
        done(t->user, succeeded);
}

static bool set_callbacks(gbx_transfer *t)
{
    const gbx_libcurl *lib = t->easy.lib;
    CURL *curl = t->easy.curl;

    return lib->curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) ==
               CURLE_OK &&
           lib->curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, t) == CURLE_OK &&
           lib->curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           lib->curl_easy_setopt(curl, CURLOPT_HEADERDATA, t) == CURLE_OK &&
           lib->curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           lib->curl_easy_setopt(curl, CURLOPT_WRITEDATA, t) == CURLE_OK &&
           lib->curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress) ==
               CURLE_OK &&
           lib->curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t) == CURLE_OK &&
           lib->curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
}

/* ---- public to other modules -------------------------------------------- */

gbx_transfer *gbx_transfer_start(gbx_multi *multi, struct event_base *base,
                                 const gbx_hop *hop, gbx_transfer_done done, void *user)
{
    gbx_transfer *t = calloc(1, sizeof *t);

    if (t != NULL) {
        *t = (gbx_transfer){.hop = *hop, .done = done, .user = user, .multi = multi};
        if (t->hop.address_count > GBX_COUNTOF(t->addresses))
            t->hop.address_count = GBX_COUNTOF(t->addresses);
        memcpy(t->addresses, hop->addresses,
               t->hop.address_count * sizeof t->addresses[0]);
        t->hop.addresses = t->addresses;
        t->entry = (gbx_multi_entry){.done = on_done, .user = t};
        gbx_head_init(&t->head, hop->response, hop->url->lib->encodings, hop->fault);
        t->stall = event_new(base, -1, EV_PERSIST, on_stall, t);
        if (t->stall != NULL && gbx_easy_init(&t->easy, &t->hop) && set_callbacks(t) &&
            gbx_multi_add(multi, t->easy.curl, &t->entry)) {
            t->is_added = true;
            return t;
        }
    }
    (void)gbx_fault_set(hop->fault, GBX_FAULT_HOST, "fetch: the host is out of memory");
    gbx_transfer_free(t);
    return NULL;
}

void gbx_transfer_free(gbx_transfer *transfer)
{
    if (transfer == NULL)
        return;
    if (transfer->is_added)
        gbx_multi_remove(transfer->multi, transfer->easy.curl);
    if (transfer->stall != NULL)
        event_free(transfer->stall);
    gbx_easy_cleanup(&transfer->easy);
    free(transfer);
}

const char *gbx_transfer_address(const gbx_transfer *transfer)
{
    return transfer->address;
}
