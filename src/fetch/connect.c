/* SPDX-License-Identifier: MIT */
/*
 * connect - one hop: libcurl's options, the last check of its socket, and the transfer.
 */
#include "fetch/internal.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"

#include <event2/event.h>
#include <glovebox/version.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* ---- libcurl's options ------------------------------------------------------- */

/* Options that disable something have the reason next to them. Options whose default is
 * right today are set anyway. */

/* Set one option of a handle; false if out of memory. */
#define SET(lib, curl, option, value) \
    ((lib)->curl_easy_setopt(curl, option, value) == CURLE_OK)

/* Called before libcurl resolves a name by itself: always refuses. */
static int refuse_to_resolve(void *state, void *reserved, void *user)
{
    return 1;
}

static bool set_numbers(const gbx_libcurl *lib, CURL *curl)
{
    static const struct {
        CURLoption option;
        long value;
    } numbers[] = {
        {CURLOPT_NOSIGNAL, 1},       /* signals belong to the program */
        {CURLOPT_FOLLOWLOCATION, 0}, /* every hop is checked here */
        {CURLOPT_FRESH_CONNECT, 1},  /* a connection belongs to one hop: it was */
        {CURLOPT_FORBID_REUSE, 1}, /* checked for one policy, and holds no leftovers */
        {CURLOPT_SSL_SESSIONID_CACHE, 0},
        {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1}, /* the smaller parser */
        {CURLOPT_HTTP09_ALLOWED, 0},
        {CURLOPT_NETRC, CURL_NETRC_IGNORED},
        {CURLOPT_UNRESTRICTED_AUTH, 0},
        {CURLOPT_PATH_AS_IS, 1}, /* sends what was checked */
        {CURLOPT_SSL_VERIFYPEER, 1},
        {CURLOPT_SSL_VERIFYHOST, 2},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
        {CURLOPT_TCP_KEEPALIVE, 0},
        {CURLOPT_DISALLOW_USERNAME_IN_URL, 1},
    };

    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++)
        if (!SET(lib, curl, numbers[i].option, numbers[i].value))
            return false;
    return true;
}

static bool set_strings(const gbx_libcurl *lib, CURL *curl, const gbx_hop *hop)
{
    const struct {
        CURLoption option;
        const char *value;
    } strings[] = {
        {CURLOPT_URL, hop->url->text},
        {CURLOPT_PROTOCOLS_STR, gbx_scheme_name(hop->url->scheme)},
        {CURLOPT_PROXY, ""}, /* ignores the environment's, too */
        {CURLOPT_NOPROXY, "*"},
        {CURLOPT_ACCEPT_ENCODING, lib->encodings},
        {CURLOPT_USERAGENT, "glovebox/" GBX_VERSION},
    };

    for (size_t i = 0; i < GBX_COUNTOF(strings); i++)
        if (!SET(lib, curl, strings[i].option, strings[i].value))
            return false;
    /* The policy's file replaces the system's store instead of adding to it. */
    if (hop->ca_file != NULL)
        return SET(lib, curl, CURLOPT_CAINFO, hop->ca_file) &&
               SET(lib, curl, CURLOPT_CAPATH, NULL);
    return lib->certificates[0] == 0 ||
           SET(lib, curl, CURLOPT_CAINFO, lib->certificates);
}

static bool append(const gbx_libcurl *lib, struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = lib->curl_slist_append(*list, text);

    if (longer != NULL)
        *list = longer;
    return longer != NULL;
}

/*
 * Pin the checked addresses: libcurl finds them for any name it looks up ("*" stands
 * for all names). The cache belongs to this handle, so no other request's addresses are
 * in it.
 */
static bool pin(gbx_easy *easy, const gbx_hop *hop)
{
    const gbx_libcurl *lib = easy->lib;
    char text[GBX_IP_TEXT_MAX];
    gbx_buf entry = {.ceiling = GBX_KIB(8)};
    bool fine;

    (void)gbx_buf_printf(&entry, "*:%u:", (unsigned)hop->url->port);
    for (size_t i = 0; i < hop->address_count; i++) {
        gbx_ip_text(&hop->addresses[i], text);
        (void)gbx_buf_printf(&entry, hop->addresses[i].is_v6 ? "%s[%s]" : "%s%s",
                             i > 0 ? "," : "", text);
    }
    (void)gbx_buf_append(&entry, "", 1);
    fine = !entry.failed && append(lib, &easy->resolve, (const char *)entry.data);
    gbx_buf_cleanup(&entry);
    easy->share = lib->curl_share_init();
    return fine && easy->share != NULL &&
           lib->curl_share_setopt(easy->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) ==
               CURLSHE_OK &&
           SET(lib, easy->curl, CURLOPT_SHARE, easy->share) &&
           SET(lib, easy->curl, CURLOPT_RESOLVE, easy->resolve) &&
           SET(lib, easy->curl, CURLOPT_RESOLVER_START_FUNCTION, refuse_to_resolve);
}

static bool add_header(gbx_easy *easy, const gbx_field *field)
{
    const gbx_libcurl *lib = easy->lib;
    bool is_empty = field->value[0] == '\0';
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf line = {0};

    /* "Name;" makes libcurl send a header without a value. */
    gbx_buf_init_secret(&line,
                        strlen(field->name) + strlen(field->value) + sizeof ": ");
    (void)gbx_buf_printf(&line, "%s%s%s", field->name, is_empty ? ";" : ": ",
                         field->value);
    (void)gbx_buf_append(&line, "", 1);
    return !line.failed && append(lib, &easy->headers, (const char *)line.data);
}

static bool set_headers(gbx_easy *easy, const gbx_fields *headers)
{
    const gbx_libcurl *lib = easy->lib;

    for (size_t i = 0; i < headers->count; i++)
        if (!add_header(easy, &headers->items[i]))
            return false;
    /* Suppress the two headers that libcurl would add by itself. */
    if (gbx_fields_get(headers, "content-type") == NULL &&
        !append(lib, &easy->headers, "Content-Type:"))
        return false;
    return append(lib, &easy->headers, "Expect:") &&
           SET(lib, easy->curl, CURLOPT_HTTPHEADER, easy->headers);
}

static bool set_method(const gbx_libcurl *lib, CURL *curl,
                       const gbx_fetch_request *request)
{
    bool has_body = request->body != NULL || strcmp(request->method, "POST") == 0 ||
                    strcmp(request->method, "PUT") == 0 ||
                    strcmp(request->method, "PATCH") == 0;

    if (strcmp(request->method, "HEAD") == 0)
        return SET(lib, curl, CURLOPT_NOBODY, 1L);
    if (has_body &&
        (!SET(lib, curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_len) ||
         !SET(lib, curl, CURLOPT_POSTFIELDS,
              request->body != NULL ? request->body : "")))
        return false;
    return SET(lib, curl, CURLOPT_CUSTOMREQUEST, request->method);
}

bool gbx_easy_init(gbx_easy *easy, const gbx_hop *hop)
{
    const gbx_libcurl *lib = hop->url->lib;

    *easy = (gbx_easy){.lib = lib, .curl = lib->curl_easy_init()};
    return easy->curl != NULL &&
           SET(lib, easy->curl, CURLOPT_ERRORBUFFER, easy->error) &&
           set_numbers(lib, easy->curl) && set_strings(lib, easy->curl, hop) &&
           pin(easy, hop) && set_headers(easy, hop->headers) &&
           set_method(lib, easy->curl, hop->request);
}

void gbx_easy_cleanup(gbx_easy *easy)
{
    const gbx_libcurl *lib = easy->lib;

    if (lib == NULL)
        return;
    if (easy->curl != NULL)
        lib->curl_easy_cleanup(easy->curl);
    if (easy->share != NULL)
        (void)lib->curl_share_cleanup(easy->share);
    gbx_libcurl_wipe(lib, easy->headers);
    lib->curl_slist_free_all(easy->resolve);
    *easy = (gbx_easy){0};
}

/* Fill *fault from a result code, unless it is already set. */
static void translate_result(const gbx_easy *easy, CURLcode result, const char *host,
                             gbx_fault *fault)
{
    if (fault->code != GBX_FAULT_NONE)
        return;
    gbx_fault_detail(fault, "%s",
                     easy->error[0] != '\0' ? easy->error
                                            : easy->lib->curl_easy_strerror(result));
    switch ((int)result) {
    case CURLE_COULDNT_CONNECT:
        (void)gbx_fault_set(fault, GBX_FAULT_CONNECT, "fetch: cannot connect to '%s'",
                            host);
        break;
    case CURLE_OPERATION_TIMEDOUT:
        (void)gbx_fault_set(fault, GBX_FAULT_TIMEOUT, "fetch: '%s' took too long",
                            host);
        break;
    case CURLE_PEER_FAILED_VERIFICATION:
        (void)gbx_fault_set(fault, GBX_FAULT_TLS,
                            "fetch: the certificate of '%s' is not to be trusted",
                            host);
        break;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ENGINE_INITFAILED:
        (void)gbx_fault_set(fault, GBX_FAULT_TLS,
                            "fetch: no encrypted connection to '%s' could be made",
                            host);
        break;
    case CURLE_OUT_OF_MEMORY:
        /* libcurl also returns this for a header line that is too long for it. */
        (void)gbx_fault_set(fault, GBX_FAULT_RESPONSE,
                            "fetch: the server's answer has a header that is too long");
        break;
    case CURLE_BAD_CONTENT_ENCODING:
        (void)gbx_fault_set(fault, GBX_FAULT_RESPONSE,
                            "fetch: the server's answer cannot be decompressed");
        break;
    default:
        (void)gbx_fault_set(fault, GBX_FAULT_RESPONSE,
                            "fetch: the server's answer is not HTTP, or ended early");
        break;
    }
}

/* ---- the socket -------------------------------------------------------------- */

static bool is_pinned(const gbx_hop *hop, const gbx_ip *address)
{
    for (size_t i = 0; i < hop->address_count; i++)
        if (gbx_ip_equal(address, &hop->addresses[i]))
            return true;
    return false;
}

const char *gbx_socket_refusal(const gbx_hop *hop, const struct sockaddr *to,
                               size_t len, char *text)
{
    const char *refusal;
    gbx_ip address;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    in_port_t port;

    text[0] = '\0';
    if (!gbx_ip_from_sockaddr(to, len, &address))
        return "no plain address of the Internet";
    gbx_ip_text(&address, text);
    refusal = gbx_ip_refusal(&address, &hop->reach);
    if (refusal != NULL)
        return refusal;
    if (!is_pinned(hop, &address))
        return "not what was checked";
    if (to->sa_family == AF_INET) {
        memcpy(&v4, to, sizeof v4);
        port = v4.sin_port;
    } else {
        memcpy(&v6, to, sizeof v6);
        port = v6.sin6_port;
    }
    return ntohs(port) != hop->url->port ? "not the port of the URL" : NULL;
}

/* ---- the transfer ------------------------------------------------------------ */

/* Callbacks only record why they stop a transfer; if none did, libcurl's own result
 * code is translated. */

/* A response must deliver at least this many bytes in each window of stall_ms. */
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
    gbx_ip addresses[GBX_ADDRESSES_MAX];
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

/* Bytes of headers and body received so far. */
static size_t seen(const gbx_transfer *t)
{
    return t->head.bytes + (size_t)t->raw;
}

static void stop(gbx_transfer *t, CURLcode result);

static void on_stall(evutil_socket_t fd, short what, void *user)
{
    gbx_transfer *t = user;

    if (seen(t) - t->seen_before >= PROGRESS_MIN) {
        t->seen_before = seen(t);
        return;
    }
    (void)gbx_fault_set(t->hop.fault, GBX_FAULT_TIMEOUT,
                        "fetch: the response of '%s' came to a stop", t->hop.url->host);
    stop(t, CURLE_OPERATION_TIMEDOUT);
}

/* The head is complete: false if its body is not wanted or cannot fit. */
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
        return gbx_response_too_large(response, t->hop.fault);
    return true;
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    gbx_transfer *t = user;
    struct timeval window = gbx_clock_timeval(t->hop.stall_ms);
    bool was_done = t->head.state == GBX_HEAD_DONE;

    /* A server may be slow to begin its response; after that it must make progress. */
    if (!event_pending(t->stall, EV_TIMEOUT, NULL))
        (void)event_add(t->stall, &window);
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

/* Limits raw bytes too: those that decompress to nothing do not reach on_body(). */
static int on_progress(void *user, curl_off_t total, curl_off_t now,
                       curl_off_t up_total, curl_off_t up_now)
{
    gbx_transfer *t = user;
    size_t most =
        t->hop.response->body.ceiling + t->hop.response->body.ceiling / 64 + RAW_SLACK;

    t->raw = now;
    if ((size_t)now <= most)
        return 0;
    (void)gbx_response_too_large(t->hop.response, t->hop.fault);
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
        translate_result(&t->easy, result, t->hop.url->host, t->hop.fault);
    if (done != NULL)
        done(t->user, succeeded);
}

static bool set_callbacks(gbx_transfer *t)
{
    const gbx_libcurl *lib = t->easy.lib;
    CURL *curl = t->easy.curl;

    return SET(lib, curl, CURLOPT_OPENSOCKETFUNCTION, open_socket) &&
           SET(lib, curl, CURLOPT_OPENSOCKETDATA, t) &&
           SET(lib, curl, CURLOPT_HEADERFUNCTION, on_header) &&
           SET(lib, curl, CURLOPT_HEADERDATA, t) &&
           SET(lib, curl, CURLOPT_WRITEFUNCTION, on_body) &&
           SET(lib, curl, CURLOPT_WRITEDATA, t) &&
           SET(lib, curl, CURLOPT_XFERINFOFUNCTION, on_progress) &&
           SET(lib, curl, CURLOPT_XFERINFODATA, t) &&
           SET(lib, curl, CURLOPT_NOPROGRESS, 0L);
}

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
    (void)gbx_fault_no_memory(hop->fault);
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
