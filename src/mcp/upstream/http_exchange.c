/* SPDX-License-Identifier: MIT */
/*
 * http_exchange - one HTTP request and its response. libcurl's callbacks only fill
 * buffers; the loop examines them. And what all links over HTTP share.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADER_BYTES_MAX GBX_KIB(64)

/* Unexamined bytes of a stream: reading pauses at this limit. */
#define AHEAD_MAX GBX_MIB(1)

typedef struct exchange {
    gbx_http_exchange shared;
    gbx_http_exchange_options o;
    const gbx_libcurl *lib;
    CURL *easy;
    gbx_buf body;
    size_t sent; /* bytes of body, if is_sent_once */
    char error[CURL_ERROR_SIZE];
    gbx_multi_entry entry;
    struct event *turn;
    size_t header_bytes;
    bool has_head;
    bool is_head_told;
    bool is_added;
    bool is_waiting; /* for its delay to pass */
    bool is_paused;  /* events come faster than they are examined */
    bool is_over;
    bool is_telling; /* a hook is running, and may read the response */
    bool is_dropped; /* freed by that hook: release it once the hook has returned */
    CURLcode result;
} exchange;

/* ---- the response ------------------------------------------------------------- */

/* The trimmed value of a header line if it has that name, else NULL. */
static const char *find_value(const char *line, size_t len, const char *name,
                              size_t *ret_len)
{
    size_t n = strlen(name);

    if (len <= n || strncasecmp(line, name, n) != 0 || line[n] != ':')
        return NULL;
    for (n++; n < len && (line[n] == ' ' || line[n] == '\t');)
        n++;
    while (len > n && isspace((unsigned char)line[len - 1]))
        len--;
    *ret_len = len - n;
    return line + n;
}

static bool take_header(const char *line, size_t len, const char *name, char *to,
                        size_t size)
{
    size_t n;
    const char *value = find_value(line, len, name, &n);

    if (value == NULL || n >= size)
        return false;
    memcpy(to, value, n);
    to[n] = 0;
    return true;
}

static void take_type(gbx_http_exchange_response *r, const char *line, size_t len)
{
    char type[256];

    if (!take_header(line, len, "content-type", type, sizeof type))
        return;
    type[strcspn(type, "; \t")] = 0;
    for (char *c = type; *c != 0; c++)
        *c = (char)tolower((unsigned char)*c);
    (void)snprintf(r->content_type, sizeof r->content_type, "%.63s", type);
    r->is_stream = strcmp(r->content_type, "text/event-stream") == 0;
}

static void take_encoding(gbx_http_exchange_response *r, const char *line, size_t len)
{
    if (take_header(line, len, "content-encoding", r->encoding, sizeof r->encoding) &&
        strcasecmp(r->encoding, "identity") == 0)
        r->encoding[0] = 0;
}

static void drop_session(gbx_http_exchange_response *r)
{
    free(r->session);
    r->session = NULL;
    r->is_session_too_long = false;
}

static void take_session(gbx_http_exchange_response *r, const char *line, size_t len)
{
    size_t n;
    const char *value = find_value(line, len, "mcp-session-id", &n);

    if (value == NULL)
        return;
    drop_session(r);
    r->is_session_too_long = n > GBX_EXCHANGE_SESSION_MAX;
    if (!r->is_session_too_long)
        r->session = gbx_need(strndup(value, n));
}

/* The empty line that ends a head; an interim head (1xx) does not count. */
static bool ends_head(exchange *e, const char *line, size_t len)
{
    long status = 0;

    if (len > 2 || (*line != '\r' && *line != '\n'))
        return false;
    (void)e->lib->curl_easy_getinfo(e->easy, CURLINFO_RESPONSE_CODE, &status);
    e->shared.response.status = status;
    return status >= 200;
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    exchange *e = user;
    gbx_http_exchange_response *r = &e->shared.response;
    size_t len = size * count;

    e->header_bytes += len;
    if (e->header_bytes > HEADER_BYTES_MAX)
        return 0;
    if (e->has_head)
        return len; /* a trailer: too late to say anything of the body */
    /* Another head, such as after 100 Continue: start anew. */
    if (len > 5 && memcmp(line, "HTTP/", 5) == 0) {
        r->content_type[0] = r->encoding[0] = r->location[0] = 0;
        drop_session(r);
        r->is_stream = false;
    }
    take_type(r, line, len);
    take_encoding(r, line, len);
    (void)take_header(line, len, "location", r->location, sizeof r->location);
    take_session(r, line, len);
    if (ends_head(e, line, len)) {
        e->has_head = true;
        event_active(e->turn, 0, 0);
    }
    return len;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
    exchange *e = user;
    gbx_http_exchange_response *r = &e->shared.response;
    size_t len = size * count;
    bool taken;

    if (r->is_stream && gbx_sse_ahead(&r->sse) > AHEAD_MAX) {
        e->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    taken = r->is_stream ? gbx_sse_feed(&r->sse, data, len)
                         : gbx_buf_append(&r->body, data, len);
    if (!taken) {
        r->is_too_long = true;
        return 0;
    }
    event_active(e->turn, 0, 0);
    return len;
}

/* Some programs write a byte order mark before everything. */
static void drop_mark(gbx_buf *body)
{
    if (body->len >= 3 && memcmp(body->data, "\xef\xbb\xbf", 3) == 0)
        gbx_buf_consume(body, 3);
}

static void on_over(void *user, CURLcode result)
{
    exchange *e = user;

    drop_mark(&e->shared.response.body);
    e->is_added = false;
    e->is_over = true;
    e->result = result;
    (void)e->lib->curl_easy_getinfo(e->easy, CURLINFO_RESPONSE_CODE,
                                    &e->shared.response.status);
    event_active(e->turn, 0, 0);
}

/* Receives also what libcurl has buffered during the pause. */
static void read_on(exchange *e)
{
    CURLcode result;

    e->is_paused = false;
    result = e->lib->curl_easy_pause(e->easy, CURLPAUSE_CONT);
    if (result == CURLE_OK)
        return;
    gbx_multi_remove(e->o.web->multi, e->easy);
    on_over(e, result);
}

static bool begin_now(exchange *e)
{
    e->is_waiting = false;
    e->is_added = gbx_multi_add(e->o.web->multi, e->easy, &e->entry);
    return e->is_added;
}

static bool begin_later(exchange *e)
{
    struct timeval after = gbx_clock_timeval(e->o.delay_ms);

    e->is_waiting = true;
    return event_add(e->turn, &after) == 0;
}

/* One event a turn: the hook may free the exchange. */
static void tell(exchange *e)
{
    gbx_http_exchange_response *r = &e->shared.response;
    gbx_sse_event event;

    if (e->has_head && !e->is_head_told && e->o.hooks.head != NULL) {
        e->is_head_told = true;
        event_active(e->turn, 0, 0);
        e->o.hooks.head(e->o.user, &e->shared);
        return;
    }
    if (r->is_stream && gbx_sse_next(&r->sse, &event)) {
        event_active(e->turn, 0, 0);
        if (e->o.hooks.event != NULL)
            e->o.hooks.event(e->o.user, &e->shared, &event);
        return;
    }
    if (r->is_stream && r->sse.has_more)
        event_active(e->turn, 0, 0);
    else if (e->is_paused)
        read_on(e);
    else if (e->is_over)
        e->o.hooks.done(e->o.user, &e->shared, e->result);
}

static void free_memory(exchange *e)
{
    drop_session(&e->shared.response);
    gbx_buf_cleanup(&e->shared.response.body);
    gbx_sse_cleanup(&e->shared.response.sse);
    gbx_buf_cleanup(&e->body);
    free(e);
}

static void on_turn(evutil_socket_t fd, short what, void *user)
{
    exchange *e = user;

    (void)fd;
    (void)what;
    e->is_telling = true;
    if (!e->is_waiting)
        tell(e);
    else if (!begin_now(e))
        on_over(e, CURLE_OUT_OF_MEMORY);
    e->is_telling = false;
    if (e->is_dropped)
        free_memory(e);
}

/* ---- the request -------------------------------------------------------------- */

static size_t on_read(char *to, size_t size, size_t count, void *user)
{
    exchange *e = user;
    size_t left = e->o.body_len - e->sent;
    size_t len = size * count < left ? size * count : left;

    memcpy(to, e->body.data + e->sent, len);
    e->sent += len;
    return len;
}

static int on_seek(void *user, curl_off_t offset, int origin)
{
    (void)user;
    (void)offset;
    (void)origin;
    return CURL_SEEKFUNC_FAIL;
}

/* If a reused connection ends without a byte of an answer, libcurl resends the request,
 * assuming that the server had closed the connection before. But the server may have
 * acted on it. A body that cannot be rewound cannot be sent again. */
static bool set_body(exchange *e)
{
    const gbx_libcurl *lib = e->lib;
    CURL *c = e->easy;

    if (!e->o.is_sent_once)
        return lib->curl_easy_setopt(c, CURLOPT_POSTFIELDS, e->body.data) == CURLE_OK;
    return lib->curl_easy_setopt(c, CURLOPT_READFUNCTION, on_read) == CURLE_OK &&
           lib->curl_easy_setopt(c, CURLOPT_READDATA, e) == CURLE_OK &&
           lib->curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, on_seek) == CURLE_OK &&
           lib->curl_easy_setopt(c, CURLOPT_SEEKDATA, e) == CURLE_OK;
}

static bool set_request(exchange *e)
{
    const gbx_libcurl *lib = e->lib;
    CURL *c = e->easy;

    if (e->o.method == GBX_HTTP_GET)
        return lib->curl_easy_setopt(c, CURLOPT_HTTPGET, 1L) == CURLE_OK;
    if (e->o.method == GBX_HTTP_DELETE)
        return lib->curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, "DELETE") == CURLE_OK;
    return lib->curl_easy_setopt(c, CURLOPT_POST, 1L) == CURLE_OK &&
           lib->curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE,
                                 (curl_off_t)e->o.body_len) == CURLE_OK &&
           set_body(e);
}

/* libcurl resolves names in a thread. Quick exit keeps the loop from waiting for that
 * thread, whatever the name server does. A libcurl before 7.87 always waits. */
static bool set_quick_exit(exchange *e)
{
    CURLcode result = e->lib->curl_easy_setopt(e->easy, CURLOPT_QUICK_EXIT, 1L);

    return result == CURLE_OK || result == CURLE_UNKNOWN_OPTION;
}

static bool set_up(exchange *e)
{
    const gbx_libcurl *lib = e->lib;
    CURL *c = e->easy;

#define SET(option, value) \
    (lib->curl_easy_setopt(c, CURLOPT_##option, (value)) == CURLE_OK)
    return SET(URL, e->o.url) && SET(PROTOCOLS_STR, "http,https") &&
           SET(NOSIGNAL, 1L) && set_quick_exit(e) &&
           SET(NETRC, (long)CURL_NETRC_IGNORED) &&
           /* A proxy that was set for other programs must not see our headers. */
           SET(PROXY, "") && SET(NOPROXY, "*") && SET(TCP_NODELAY, 1L) &&
           SET(CONNECTTIMEOUT_MS, (long)gbx_timeout_ms(GBX_TIMEOUT_CONNECT)) &&
           SET(TIMEOUT_MS, (long)e->o.timeout_ms) && SET(ERRORBUFFER, e->error) &&
           SET(HTTPHEADER, e->o.headers) && SET(HEADERFUNCTION, on_header) &&
           SET(HEADERDATA, e) && SET(WRITEFUNCTION, on_body) && SET(WRITEDATA, e) &&
           set_request(e);
#undef SET
}

/* ---- the exchange -------------------------------------------------------------- */

gbx_http_exchange *gbx_http_exchange_start(const gbx_http_exchange_options *options)
{
    exchange *e = gbx_need(calloc(1, sizeof *e));

    e->o = *options;
    e->lib = &options->web->lib;
    e->shared.options = &e->o;
    e->entry = (gbx_multi_entry){on_over, e};
    gbx_buf_init_secret(&e->shared.response.body, GBX_LINK_MESSAGE_MAX);
    gbx_sse_init(&e->shared.response.sse, GBX_LINK_MESSAGE_MAX);
    gbx_buf_init_secret(&e->body, options->body_len + 1);
    e->turn = gbx_need(event_new(options->web->base, -1, 0, on_turn, e));
    e->easy = gbx_need(e->lib->curl_easy_init());
    (void)gbx_buf_append(&e->body, options->body, options->body_len);
    (void)gbx_buf_append(&e->body, "", 1); /* gives an empty body a pointer */
    if (e->body.failed || !set_up(e) ||
        !(options->delay_ms > 0 ? begin_later(e) : begin_now(e))) {
        gbx_http_exchange_free(&e->shared);
        return NULL;
    }
    return &e->shared;
}

void gbx_http_exchange_free(gbx_http_exchange *shared)
{
    exchange *e = (exchange *)shared;

    if (e->is_added)
        gbx_multi_remove(e->o.web->multi, e->easy);
    e->lib->curl_easy_cleanup(e->easy);
    event_free(e->turn);
    gbx_libcurl_wipe(e->lib, e->o.headers);
    if (e->is_telling)
        e->is_dropped = true;
    else
        free_memory(e);
}

bool gbx_http_exchange_was_sent(const gbx_http_exchange *shared)
{
    const exchange *e = (const exchange *)shared;
    long request_size = 0;

    (void)e->lib->curl_easy_getinfo(e->easy, CURLINFO_REQUEST_SIZE, &request_size);
    return request_size > 0;
}

const char *gbx_http_exchange_error(const gbx_http_exchange *shared, CURLcode result)
{
    const exchange *e = (const exchange *)shared;

    if (e->header_bytes > HEADER_BYTES_MAX)
        return "its headers have more than 64 KiB";
    if (result == CURLE_SEND_FAIL_REWIND)
        return "it ended without an answer";
    return e->error[0] != 0 ? e->error : e->lib->curl_easy_strerror(result);
}

/* ---- what links share -------------------------------------------------------- */

static void on_farewell_done(void *user, gbx_http_exchange *farewell, CURLcode result)
{
    (void)user;
    (void)result;
    LIST_REMOVE(farewell, entry);
    gbx_http_exchange_free(farewell);
}

void gbx_http_client_say_farewell(const gbx_http_exchange_options *options)
{
    gbx_http_exchange_options own = *options;
    gbx_http_exchange *farewell;

    own.hooks = (gbx_http_exchange_hooks){.done = on_farewell_done};
    farewell = gbx_http_exchange_start(&own);
    if (farewell != NULL)
        LIST_INSERT_HEAD(&options->web->farewells, farewell, entry);
}

gbx_status gbx_http_client_new(struct event_base *base, gbx_http_client **ret,
                               gbx_error *reterr)
{
    gbx_libcurl lib;
    gbx_status status = gbx_libcurl_load(&lib, reterr);
    gbx_http_client *web;

    if (status != GBX_OK)
        return status;
    web = gbx_need(calloc(1, sizeof *web));
    web->lib = lib;
    web->base = base;
    /* Each link limits its own transfers: with a common limit, one server that never
     * answers would use up the share of the others. */
    web->multi = gbx_need(gbx_multi_new(&web->lib, base, 0));
    *ret = web;
    return GBX_OK;
}

void gbx_http_client_free(gbx_http_client *web)
{
    gbx_http_exchange *farewell;

    if (web == NULL)
        return;
    while ((farewell = LIST_FIRST(&web->farewells)) != NULL) {
        LIST_REMOVE(farewell, entry);
        gbx_http_exchange_free(farewell);
    }
    gbx_multi_free(web->multi);
    gbx_libcurl_unload(&web->lib);
    free(web);
}

void gbx_http_client_finish(gbx_http_client *web, uint32_t ms)
{
    if (web != NULL && !LIST_EMPTY(&web->farewells))
        gbx_multi_drain(web->multi, ms);
}
