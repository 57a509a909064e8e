/* SPDX-License-Identifier: MIT */
/* internal - types and functions that only the files of src/fetch share. */
#ifndef GBX_FETCH_INTERNAL_H
#define GBX_FETCH_INTERNAL_H

#include "base/buf.h"
#include "fetch/fetch.h"
#include "fetch/url.h"
#include "policy/policy.h"

#include <glovebox/fetch.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/* ---- http.c: faults ------------------------------------------------------ */

/*
 * Why a request was refused or failed: for the code, and for the host.
 *
 * The message goes to the sandboxed code and the model that wrote it. It says how to
 * repair the request, never where a name leads inside the host's network. The detail
 * goes only to the host's log.
 */

/* The code sees the names as error.code: append only. XX(name, code, name of the
 * Error). */
#define GBX_FAULT_MAP(XX)                                 \
    XX(REQUEST, "ERR_FETCH_REQUEST", "TypeError")         \
    XX(URL, "ERR_FETCH_URL", "TypeError")                 \
    XX(NOT_ALLOWED, "ERR_FETCH_NOT_ALLOWED", "TypeError") \
    XX(METHOD, "ERR_FETCH_METHOD", "TypeError")           \
    XX(HEADER, "ERR_FETCH_HEADER", "TypeError")           \
    XX(SECRET, "ERR_FETCH_SECRET", "TypeError")           \
    XX(DNS, "ERR_FETCH_DNS", "TypeError")                 \
    XX(ADDRESS, "ERR_FETCH_ADDRESS", "TypeError")         \
    XX(CONNECT, "ERR_FETCH_CONNECT", "TypeError")         \
    XX(TLS, "ERR_FETCH_TLS", "TypeError")                 \
    XX(REDIRECT, "ERR_FETCH_REDIRECT", "TypeError")       \
    XX(RESPONSE, "ERR_FETCH_RESPONSE", "TypeError")       \
    XX(TOO_LARGE, "ERR_FETCH_TOO_LARGE", "TypeError")     \
    XX(TIMEOUT, "ERR_FETCH_TIMEOUT", "TypeError")         \
    XX(TRANSPORT, "ERR_FETCH_TRANSPORT", "TypeError")     \
    XX(HOST, "ERR_FETCH_HOST", "Error")                   \
    XX(ABORTED, "ERR_FETCH_ABORTED", "AbortError")

typedef enum gbx_fault_code {
    GBX_FAULT_NONE = 0,
#define XX(name, code, error) GBX_FAULT_##name,
    GBX_FAULT_MAP(XX)
#undef XX
} gbx_fault_code;

#define GBX_FAULT_MESSAGE_MAX 512u
#define GBX_FAULT_DETAIL_MAX  256u

/* Zeroed: no fault. */
typedef struct gbx_fault {
    gbx_fault_code code;
    char message[GBX_FAULT_MESSAGE_MAX];
    char detail[GBX_FAULT_DETAIL_MAX];
} gbx_fault;

/* Fill *fault unless it is already set: the first is the cause. Always returns false,
 * so that a check can end with it. Quote text from the code with gbx_quote()
 * first. */
bool gbx_fault_set(gbx_fault *fault, gbx_fault_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool gbx_fault_no_memory(gbx_fault *fault);

/* Add details that only the host may see. */
void gbx_fault_detail(gbx_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "ERR_FETCH_..." and "TypeError"; "" without a fault. */
const char *gbx_fault_code_text(gbx_fault_code code);
const char *gbx_fault_error_name(gbx_fault_code code);

/* ---- http.c: header fields ----------------------------------------------- */

/*
 * Header fields: a short list of names and values that HTTP allows.
 *
 * A line break in a value would start a second header, or a second request: only
 * gbx_fields_add() adds to a list, and it refuses them. Values are wiped when freed:
 * they may be credentials.
 */

typedef struct gbx_field {
    char *name;
    char *value;    /* NUL-terminated, without another NUL */
    bool is_secret; /* holds a secret: goes only to the origin it was filled in for */
} gbx_field;

typedef struct gbx_fields {
    gbx_field *items;
    size_t count;
    size_t bytes; /* of names and values */
} gbx_fields;

typedef enum gbx_field_fault {
    GBX_FIELD_FINE = 0,
    GBX_FIELD_BAD_NAME,  /* not a token */
    GBX_FIELD_BAD_VALUE, /* a control character */
    GBX_FIELD_TOO_MANY,  /* over a ceiling */
    GBX_FIELD_NO_MEMORY,
} gbx_field_fault;

/* Both are copied, without white space around value, as the standards require. */
gbx_field_fault gbx_fields_add(gbx_fields *fields, const char *name, size_t name_len,
                               const char *value, size_t value_len, size_t max_count,
                               size_t max_bytes);

/* The first value of that name, which is compared without case, or NULL. */
const char *gbx_fields_get(const gbx_fields *fields, const char *name);

/* Remove every field of that name. */
void gbx_fields_remove(gbx_fields *fields, const char *name);

/* Remove every field that holds a secret. */
void gbx_fields_remove_secret(gbx_fields *fields);

void gbx_fields_cleanup(gbx_fields *fields);

/* ---- response.c ---------------------------------------------------------- */

/*
 * A server's response, line by line, read as strictly as possible.
 *
 * The server is as hostile as the code, which may have chosen it. libcurl passes header
 * lines as they were received; everything that frames the body is checked here again,
 * before libcurl acts on it. Sans I/O.
 */

#define GBX_RESPONSE_HEADERS_MAX      256u
#define GBX_RESPONSE_HEADER_BYTES_MAX 65536u /* with trailers and 1xx */
#define GBX_RESPONSE_INTERIM_MAX      16u    /* 1xx responses before the real one */
#define GBX_STATUS_TEXT_MAX           128u

typedef struct gbx_response {
    uint16_t status;
    char status_text[GBX_STATUS_TEXT_MAX + 1];
    gbx_fields headers;
    gbx_buf body; /* decompressed; its ceiling is the limit */
} gbx_response;

typedef enum gbx_head_state {
    GBX_HEAD_STATUS, /* expects a status line */
    GBX_HEAD_FIELDS,
    GBX_HEAD_DONE, /* expects trailers */
} gbx_head_state;

/* Reads the head of one response. */
typedef struct gbx_head {
    gbx_response *response;      /* borrowed */
    gbx_fault *fault;            /* borrowed */
    const char *encodings_taken; /* "gzip, br"; borrowed */
    gbx_head_state state;
    size_t bytes;
    unsigned interim_count;
    unsigned encodings; /* of the body, not counting identity */
    bool is_chunked;
    bool has_length;
    uint64_t length; /* with has_length */
} gbx_head;

void gbx_response_init(gbx_response *response, size_t max_bytes);
void gbx_response_cleanup(gbx_response *response);

void gbx_head_init(gbx_head *head, gbx_response *response, const char *encodings_taken,
                   gbx_fault *fault);

/* One line as received, including its end; an empty one ends a head. False with a
 * fault. */
bool gbx_head_line(gbx_head *head, const char *line, size_t len);

/* More of the body; false with a fault if it exceeds the limit. */
bool gbx_response_append(gbx_response *response, const void *data, size_t len,
                         gbx_fault *fault);

/* Sets the fault of a body that exceeds the limit. */
bool gbx_response_too_large(const gbx_response *response, gbx_fault *fault);

/* Add one header, from any transport. */
bool gbx_response_add_header(gbx_response *response, const char *name, size_t name_len,
                             const char *value, size_t value_len, gbx_fault *fault);

/* {"status", "statusText", "url", "headers", "redirected"}; false if to is full. */
bool gbx_response_write(const gbx_response *response, const char *url, bool redirected,
                        gbx_buf *to);

/* ---- ip_ranges.c ---------------------------------------------------------------- */

/*
 * Which addresses a request may connect to.
 *
 * A connection to an address needs its own permission: listing a name does not allow
 * every address that it resolves to. The tables classify every address; only PUBLIC
 * needs no permission from the policy, and some can never be allowed.
 *
 * Pure functions of bytes.
 */

#define GBX_IP_TEXT_MAX INET6_ADDRSTRLEN

struct sockaddr;

/* What a destination's policy entry allows beyond public addresses. */
typedef struct gbx_reach {
    bool loopback;  /* the entry names loopback itself */
    bool has_named; /* the entry is a literal address, named */
    gbx_ip named;
    const gbx_network *networks; /* private ones that names may resolve to */
    size_t network_count;
} gbx_reach;

/* Four plain decimal numbers, or IPv6 without brackets and zone; nothing else. */
bool gbx_ip_parse(const char *text, gbx_ip *ret);

/* False if it is neither IPv4 nor IPv6, or has a scope. */
bool gbx_ip_from_sockaddr(const struct sockaddr *from, size_t len, gbx_ip *ret);

/* Write an address in its canonical notation; text has GBX_IP_TEXT_MAX bytes. */
void gbx_ip_text(const gbx_ip *address, char *text);

bool gbx_ip_equal(const gbx_ip *a, const gbx_ip *b);

/* NULL if a connection is allowed; else the address's class, for the host's log:
 * "loopback", "link-local", ... */
const char *gbx_ip_refusal(const gbx_ip *address, const gbx_reach *reach);

/* ---- url.c --------------------------------------------------------------- */

/*
 * Check a destination and a method against the policy's lists.
 *
 * Anything that is not listed is refused. The message quotes the list, so that the code
 * can be repaired, and contains nothing but what the policy says.
 */

/* *ret_reach borrows from policy: the addresses that the matching entries allow. */
bool gbx_allow_url(const gbx_fetch_policy *policy, const gbx_url *url,
                   gbx_reach *ret_reach, gbx_fault *fault);

/* method is in the form that will be sent. */
bool gbx_allow_method(const gbx_fetch_policy *policy, const char *method,
                      gbx_fault *fault);

/* ---- request.c ----------------------------------------------------------- */

/*
 * The code's request, read once and checked against HTTP's rules.
 *
 * Its destinations are checked elsewhere, hop by hop; this part checks what holds for
 * all hops: method, headers, body.
 */

#define GBX_METHOD_MAX               32u
#define GBX_REQUEST_HEADERS_MAX      100u
#define GBX_REQUEST_HEADER_BYTES_MAX 32768u

typedef enum gbx_redirect_mode {
    GBX_REDIRECT_FOLLOW,
    GBX_REDIRECT_ERROR,
    GBX_REDIRECT_MANUAL,
} gbx_redirect_mode;

typedef struct gbx_fetch_request {
    char *url; /* as given; owned */
    size_t url_len;
    char method[GBX_METHOD_MAX + 1];
    gbx_fields headers; /* values may hold {{secret:NAME}} */
    gbx_redirect_mode redirect;
    void *body; /* NULL: none; owned */
    size_t body_len;
} gbx_fetch_request;

/* Clean up ret in either case. */
bool gbx_request_read(gbx_span args, gbx_span body, const gbx_fetch_policy *policy,
                      gbx_fetch_request *ret, gbx_fault *fault);

void gbx_request_cleanup(gbx_fetch_request *request);

/* The headers of one hop as sent, with the secrets that its site may receive. */

/* *to is emptied first. A field of from that names a secret is marked is_secret. */
bool gbx_fill_headers(const gbx_policy *policy, const gbx_url *url, gbx_fields *from,
                      gbx_fields *to, gbx_fault *fault);

/*
 * How a redirect changes a request.
 *
 * The rules are those of the fetch standard. Nothing here allows the new destination:
 * the caller applies every check that the first one passed.
 */

/*
 * response answers request at url; redirects is the number followed before. True:
 * *ret_next is the next URL, and request is changed to what the next hop sends: across
 * origins it loses its credentials. False: the response is the answer, or *fault says
 * why it is refused.
 */
bool gbx_redirect_next(gbx_fetch_request *request, const gbx_url *url,
                       const gbx_response *response, uint32_t redirects,
                       uint32_t max_redirects, gbx_url *ret_next, gbx_fault *fault);

/* True if gbx_redirect_next() acts on this head; its body is then not awaited. */
bool gbx_redirect_ends_body(const gbx_fetch_request *request,
                            const gbx_response *response);

/* ---- resolve.c ----------------------------------------------------------- */

/*
 * Resolve a name once, to all its addresses.
 *
 * In this order: "localhost" is loopback by definition and never queried; then the
 * host's table of names; then the name servers, for IPv4 and IPv6 at once.
 */

#define GBX_ADDRESSES_MAX 64u

typedef struct gbx_resolver gbx_resolver;
typedef struct gbx_query gbx_query;

/* Paths are borrowed. NULL: out of memory. */
gbx_resolver *gbx_resolver_new(struct event_base *base, const char *hosts_path,
                               const char *resolv_path);

/* All queries must have ended. */
void gbx_resolver_free(gbx_resolver *resolver);

/* Either problem is NULL and count at least 1, or problem is constant text for the
 * host's log. The addresses are borrowed until done returns; IPv4 comes first. */
typedef void (*gbx_resolved_fn)(void *user, const gbx_ip *addresses, size_t count,
                                const char *problem);

/* done is called once, never from within this function; servers is borrowed until this
 * returns. NULL: out of memory. */
gbx_query *gbx_resolve(gbx_resolver *resolver, const char *name, char *const *servers,
                       size_t server_count, gbx_resolved_fn done, void *user);

/* done will not be called. Not allowed after done was called. */
void gbx_query_drop(gbx_query *query);

/* ---- connect.c ----------------------------------------------------------- */

/*
 * One hop: one connection to a checked address, one request, one response.
 *
 * libcurl gets the addresses to connect to and cannot look elsewhere: it resolves
 * nothing, uses no proxy, follows no redirect, keeps no connection, cookie or session.
 * When libcurl asks for a socket its address is checked again, against the tables and
 * against the addresses given here. Either layer would suffice alone.
 */

/* Everything is borrowed until the transfer is freed, except addresses and reach, which
 * are copied. */
typedef struct gbx_hop {
    const gbx_url *url;
    const gbx_fetch_request *request; /* method, body and redirect mode */
    const gbx_fields *headers;        /* as sent: secrets filled in */
    const gbx_ip *addresses;
    size_t address_count; /* at least 1 */
    gbx_reach reach;      /* its networks are borrowed */
    const char *ca_file;  /* NULL: the system's */
    uint32_t stall_ms;
    gbx_response *response; /* filled, its body up to the ceiling */
    gbx_fault *fault;       /* filled on failure */
} gbx_hop;

/* libcurl, set up for one hop, with everything turned off that is not needed. */

typedef struct gbx_easy {
    const gbx_libcurl *lib; /* borrowed */
    CURL *curl;
    CURLSH *share; /* holds the only addresses that this handle can find */
    struct curl_slist *headers;
    struct curl_slist *resolve;
    char error[CURL_ERROR_SIZE]; /* libcurl's message, for the host's log */
} gbx_easy;

/* False: out of memory; clean it up in either case. It must not move afterwards. */
bool gbx_easy_init(gbx_easy *easy, const gbx_hop *hop);

void gbx_easy_cleanup(gbx_easy *easy);

/*
 * The last check before the kernel: whether a socket may be opened to this address.
 *
 * It checks the address that libcurl is about to connect to: it must be allowed, be
 * among the checked ones, and have the URL's port. Pure.
 */

/* NULL if it may, else the reason, for the host's log. text (GBX_IP_TEXT_MAX bytes)
 * receives the address in both cases; "" if it is not an IP address. */
const char *gbx_socket_refusal(const gbx_hop *hop, const struct sockaddr *to,
                               size_t len, char *text);

typedef struct gbx_transfer gbx_transfer;

/* succeeded: the response's head is complete, and its body unless it redirects. */
typedef void (*gbx_transfer_done)(void *user, bool succeeded);

/* done is called once, never from within this function, and may free the transfer. NULL
 * with a fault: out of memory. */
gbx_transfer *gbx_transfer_start(gbx_multi *multi, struct event_base *base,
                                 const gbx_hop *hop, gbx_transfer_done done,
                                 void *user);

/* Allowed before or after done, but not from inside libcurl. */
void gbx_transfer_free(gbx_transfer *transfer);

/* The address it is or was connected to, or that was refused; "" before that.
 * Borrowed. */
const char *gbx_transfer_address(const gbx_transfer *transfer);

/* ---- transport.c --------------------------------------------------------- */

/*
 * The embedder's own transport, which may answer from any thread.
 *
 * Tokens are valid only while their request waits: a duplicate, late or misdirected
 * answer is refused.
 */

typedef struct gbx_transport gbx_transport;

/* NULL: out of memory or descriptors. */
gbx_transport *gbx_transport_new(struct event_base *base, gbx_transport_fn ask,
                                 void *user, gbx_engine *engine);

/* done is not called for waiting requests. No other thread may be inside
 * gbx_transport_give(). */
void gbx_transport_free(gbx_transport *transport);

/* The callee owns response if *fault is not set. Called on the loop's thread, never
 * from inside gbx_transport_ask(). */
typedef void (*gbx_transport_done)(void *user, gbx_response *response,
                                   const gbx_fault *fault);

/* Returns the request's token, or 0: out of memory. */
gbx_transport_token gbx_transport_ask(gbx_transport *transport,
                                      const gbx_transport_request *request,
                                      gbx_transport_done done, void *user);

/* done will not be called. 0 and unknown tokens are ignored. */
void gbx_transport_forget(gbx_transport *transport, gbx_transport_token token);

/* May be called from any thread. */
gbx_status gbx_transport_give(gbx_transport *transport, gbx_transport_token token,
                              const gbx_transport_response *response,
                              gbx_error *reterr);

/* ---- fetch.c ----------------------------------------------------------------- */

struct gbx_fetcher {
    gbx_fetcher_options options;
    gbx_libcurl lib;
    gbx_resolver *resolver;
    gbx_multi *multi;
    gbx_transport *transport;       /* NULL: libcurl */
    LIST_HEAD(, gbx_fetch) flights; /* requests that have not been answered */
};

#endif
