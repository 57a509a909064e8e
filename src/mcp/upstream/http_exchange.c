/* SPDX-License-Identifier: MIT */
/*
 * http_exchange - one HTTP request and its response, and what all links over HTTP
 * share. libcurl's callbacks only fill buffers; the loop examines them.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define HEADER_BYTES_MAX GBX_KIB(64)

/* Unexamined bytes of a stream: reading pauses at this limit. */
#define AHEAD_MAX GBX_MIB(1)

static const gbx_libcurl *lib_of(const gbx_http_exchange *e)
{
    return &e->options.web->lib;
}

/* ---- the response ------------------------------------------------------------- */

const char *gbx_http_exchange_header(const gbx_http_exchange *e, const char *name)
{
    struct curl_header *header;

    return lib_of(e)->curl_easy_header(e->easy, name, 0, CURLH_HEADER, -1, &header) ==
                   CURLHE_OK
               ? header->value
               : "";
}

const char *gbx_http_exchange_challenge(const gbx_http_exchange *e)
{
    struct curl_header *header;

    for (size_t i = 0;
         lib_of(e)->curl_easy_header(e->easy, "www-authenticate", i, CURLH_HEADER, -1,
                                     &header) == CURLHE_OK;
         i++)
        if (strcasestr(header->value, "bearer") != NULL)
            return header->value;
    return "";
}

/* After the end of the head. An interim head (1xx) is ignored, and so is a trailer, which
 * comes too late to describe the body. */
static size_t on_header(char *line, size_t size, size_t count, void *user)
{
    static const char stream[] = "text/event-stream";
    gbx_http_exchange *e = user;
    size_t len = size * count;
    const char *type;

    e->header_bytes += len;
    if (e->header_bytes > HEADER_BYTES_MAX)
        return 0;
    if (len > 2 || (*line != '\r' && *line != '\n'))
        return len;
    (void)lib_of(e)->curl_easy_getinfo(e->easy, CURLINFO_RESPONSE_CODE, &e->status);
    if (e->status < 200 || e->has_head)
        return len;
    type = gbx_http_exchange_header(e, "content-type");
    e->is_stream = e->options.answer_max == 0 &&
                   strncasecmp(type, stream, sizeof stream - 1) == 0 &&
                   strchr("; \t", type[sizeof stream - 1]) != NULL;
    e->has_head = true;
    gbx_mcp_timer_fire(&e->turn);
    return len;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
    gbx_http_exchange *e = user;
    const gbx_sse *sse = &e->sse;
    size_t ahead = sse->in.len - (sse->seen > sse->start ? sse->seen : sse->start);
    size_t len = size * count;

    if (e->is_stream && ahead > AHEAD_MAX) {
        e->is_paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    e->is_too_long = e->is_stream ? !gbx_sse_feed(&e->sse, data, len)
                                  : !gbx_buf_append(&e->body, data, len);
    if (e->is_too_long)
        return 0;
    gbx_mcp_timer_fire(&e->turn);
    return len;
}

static void on_over(void *user, CURLcode result)
{
    gbx_http_exchange *e = user;

    /* Some programs write a byte order mark before everything. */
    if (e->body.len >= 3 && memcmp(e->body.data, "\xef\xbb\xbf", 3) == 0)
        gbx_buf_consume(&e->body, 3);
    e->is_added = false;
    e->is_over = true;
    e->result = result;
    (void)lib_of(e)->curl_easy_getinfo(e->easy, CURLINFO_RESPONSE_CODE, &e->status);
    gbx_mcp_timer_fire(&e->turn);
}

static bool begin(gbx_http_exchange *e)
{
    e->is_added = gbx_multi_add(e->options.web->multi, e->easy, &e->multi_entry);
    return e->is_added;
}

/* Call one hook a turn, since it may free the exchange. */
static void tell(gbx_http_exchange *e)
{
    const gbx_http_exchange_hooks *hooks = e->options.hooks;
    gbx_sse_event event;
    CURLcode result;

    if (e->has_head && !e->is_head_told && hooks->head != NULL) {
        e->is_head_told = true;
        gbx_mcp_timer_fire(&e->turn);
        hooks->head(e->options.user, e);
    } else if (e->is_stream && gbx_sse_next(&e->sse, &event)) {
        gbx_mcp_timer_fire(&e->turn);
        if (hooks->event != NULL)
            hooks->event(e->options.user, e, &event);
    } else if (e->is_paused) {
        /* libcurl first passes on what it buffered during the pause. */
        e->is_paused = false;
        result = lib_of(e)->curl_easy_pause(e->easy, CURLPAUSE_CONT);
        if (result == CURLE_OK)
            return;
        gbx_multi_remove(e->options.web->multi, e->easy);
        on_over(e, result);
    } else if (e->is_over) {
        hooks->done(e->options.user, e, e->result);
    }
}

static void free_memory(gbx_http_exchange *e)
{
    gbx_buf_cleanup(&e->body);
    gbx_sse_cleanup(&e->sse);
    gbx_buf_cleanup(&e->sent_body);
    lib_of(e)->curl_easy_cleanup(e->easy);
    gbx_libcurl_wipe(lib_of(e), e->options.headers);
    free(e);
}

static void on_turn(void *user)
{
    gbx_http_exchange *e = user;

    e->is_telling = true;
    if (e->is_added || e->is_over)
        tell(e);
    else if (!begin(e)) /* its delay has passed */
        on_over(e, CURLE_OUT_OF_MEMORY);
    e->is_telling = false;
    if (e->is_dropped)
        free_memory(e);
}

/* ---- the request -------------------------------------------------------------- */

static size_t on_read(char *to, size_t size, size_t count, void *user)
{
    gbx_http_exchange *e = user;
    size_t left = e->options.body_len - e->sent;
    size_t len = size * count < left ? size * count : left;

    memcpy(to, e->sent_body.data + e->sent, len);
    e->sent += len;
    return len;
}

static int on_seek(void *user, curl_off_t offset, int origin)
{
    return CURL_SEEKFUNC_FAIL;
}

#define SET(option, value) \
    (lib_of(e)->curl_easy_setopt(e->easy, CURLOPT_##option, (value)) == CURLE_OK)

/* If a reused connection ends without a byte of an answer, libcurl resends the request,
 * assuming that the server had closed the connection before. But the server may have
 * acted on it. So the body of a call cannot be rewound, and is never sent again. */
static bool set_request(gbx_http_exchange *e)
{
    if (e->options.method == GBX_HTTP_GET)
        return SET(HTTPGET, 1L);
    if (e->options.method == GBX_HTTP_DELETE)
        return SET(CUSTOMREQUEST, "DELETE");
    if (!SET(POST, 1L) || !SET(POSTFIELDSIZE_LARGE, (curl_off_t)e->options.body_len))
        return false;
    if (!e->options.is_call)
        return SET(POSTFIELDS, e->sent_body.data);
    return SET(READFUNCTION, on_read) && SET(READDATA, e) &&
           SET(SEEKFUNCTION, on_seek) && SET(SEEKDATA, e);
}

static bool set_up(gbx_http_exchange *e)
{
    /* libcurl resolves names in a thread. Quick exit keeps the loop from waiting for that
     * thread, whatever the name server does. A libcurl before 7.87 always waits. */
    CURLcode quick = lib_of(e)->curl_easy_setopt(e->easy, CURLOPT_QUICK_EXIT, 1L);

    return (quick == CURLE_OK || quick == CURLE_UNKNOWN_OPTION) &&
           SET(URL, e->options.url) && SET(PROTOCOLS_STR, "http,https") &&
           SET(NOSIGNAL, 1L) && SET(NETRC, (long)CURL_NETRC_IGNORED) &&
           /* A proxy that was set for other programs must not see our headers. */
           SET(PROXY, "") && SET(NOPROXY, "*") && SET(TCP_NODELAY, 1L) &&
           SET(CONNECTTIMEOUT_MS, (long)gbx_timeout_ms(GBX_TIMEOUT_CONNECT)) &&
           SET(TIMEOUT_MS, (long)e->options.timeout_ms) && SET(ERRORBUFFER, e->error) &&
           SET(HTTPHEADER, e->options.headers) && SET(HEADERFUNCTION, on_header) &&
           SET(HEADERDATA, e) && SET(WRITEFUNCTION, on_body) && SET(WRITEDATA, e) &&
           set_request(e);
}
#undef SET

/* ---- the exchange -------------------------------------------------------------- */

gbx_http_exchange *gbx_http_exchange_start(const gbx_http_exchange_options *options)
{
    gbx_http_exchange *e = gbx_need(calloc(1, sizeof *e));
    size_t max = options->answer_max != 0 ? options->answer_max : GBX_LINK_MESSAGE_MAX;

    e->options = *options;
    e->multi_entry = (gbx_multi_entry){on_over, e};
    gbx_buf_init_secret(&e->body, max);
    gbx_sse_init(&e->sse, max);
    gbx_buf_init_secret(&e->sent_body, options->body_len + 1);
    gbx_mcp_timer_init(&e->turn, options->web->loop, on_turn, e);
    e->easy = gbx_need(lib_of(e)->curl_easy_init());
    (void)gbx_buf_append(&e->sent_body, options->body, options->body_len);
    (void)gbx_buf_append(&e->sent_body, "", 1); /* gives an empty body a pointer */
    if (e->sent_body.failed || !set_up(e) || (options->delay_ms == 0 && !begin(e))) {
        gbx_http_exchange_free(e);
        return NULL;
    }
    if (options->delay_ms > 0)
        gbx_mcp_timer_set(&e->turn, options->delay_ms);
    return e;
}

void gbx_http_exchange_free(gbx_http_exchange *e)
{
    if (e == NULL)
        return;
    if (e->is_added)
        gbx_multi_remove(e->options.web->multi, e->easy);
    gbx_mcp_timer_cleanup(&e->turn);
    if (e->is_telling)
        e->is_dropped = true;
    else
        free_memory(e);
}

const char *gbx_http_exchange_error(const gbx_http_exchange *e, CURLcode result)
{
    if (e->header_bytes > HEADER_BYTES_MAX)
        return "its headers have more than 64 KiB";
    if (result == CURLE_SEND_FAIL_REWIND)
        return "it ended without an answer";
    return e->error[0] != 0 ? e->error : lib_of(e)->curl_easy_strerror(result);
}

/* ---- what links share -------------------------------------------------------- */

static void on_farewell_done(void *user, gbx_http_exchange *farewell, CURLcode result)
{
    LIST_REMOVE(farewell, entry);
    gbx_http_exchange_free(farewell);
}

void gbx_http_client_say_farewell(gbx_http_exchange_options *options)
{
    static const gbx_http_exchange_hooks hooks = {.done = on_farewell_done};
    gbx_http_exchange *farewell;

    options->hooks = &hooks;
    farewell = gbx_http_exchange_start(options);
    if (farewell != NULL)
        LIST_INSERT_HEAD(&options->web->farewells, farewell, entry);
}

gbx_status gbx_http_client_new(gbx_mcp_loop *loop, gbx_http_client **ret,
                               gbx_error *reterr)
{
    gbx_libcurl lib;
    gbx_status status = gbx_libcurl_load(&lib, reterr);
    gbx_http_client *web;

    if (status != GBX_OK)
        return status;
    web = gbx_need(calloc(1, sizeof *web));
    web->lib = lib;
    web->loop = loop;
    /* Each link limits its own transfers: with a common limit, one server that never
     * answers would use up the share of the others. */
    web->multi = gbx_need(gbx_multi_new(&web->lib, gbx_mcp_loop_base(loop), 0));
    *ret = web;
    return GBX_OK;
}

void gbx_http_client_free(gbx_http_client *web)
{
    gbx_http_exchange *farewell;

    if (web == NULL)
        return;
    while ((farewell = LIST_FIRST(&web->farewells)) != NULL)
        on_farewell_done(NULL, farewell, CURLE_OK);
    gbx_multi_free(web->multi);
    gbx_libcurl_unload(&web->lib);
    free(web);
}

void gbx_http_client_finish(gbx_http_client *web, uint32_t ms)
{
    if (web != NULL && !LIST_EMPTY(&web->farewells))
        gbx_multi_drain(web->multi, ms);
}

static bool same_part(const gbx_libcurl *lib, CURLU *a, CURLU *b, CURLUPart part)
{
    char *one = NULL;
    char *other = NULL;
    bool same = lib->curl_url_get(a, part, &one, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                lib->curl_url_get(b, part, &other, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                strcmp(one, other) == 0;

    lib->curl_free(one);
    lib->curl_free(other);
    return same;
}

char *gbx_http_resolve(const gbx_http_client *web, const char *base, const char *text,
                       size_t len)
{
    const gbx_libcurl *lib = &web->lib;
    CURLU *own = gbx_need(lib->curl_url());
    CURLU *target = gbx_need(lib->curl_url());
    char *relative = gbx_need(strndup(text, len));
    char *url = NULL;
    char *copy = NULL;

    if (lib->curl_url_set(own, CURLUPART_URL, base, 0) == CURLUE_OK &&
        lib->curl_url_set(target, CURLUPART_URL, base, 0) == CURLUE_OK &&
        lib->curl_url_set(target, CURLUPART_URL, relative, 0) == CURLUE_OK &&
        same_part(lib, own, target, CURLUPART_SCHEME) &&
        same_part(lib, own, target, CURLUPART_HOST) &&
        same_part(lib, own, target, CURLUPART_PORT) &&
        lib->curl_url_get(target, CURLUPART_URL, &url, 0) == CURLUE_OK)
        copy = gbx_need(strdup(url));
    lib->curl_free(url);
    lib->curl_url_cleanup(own);
    lib->curl_url_cleanup(target);
    free(relative);
    return copy;
}

static gbx_view copy_view(gbx_view view)
{
    if (view.at != NULL)
        view.at = memcpy(gbx_need(malloc(view.len)), view.at, view.len);
    return view;
}

static void wipe_view(gbx_view view)
{
    char *text = (char *)(uintptr_t)view.at; /* of copy_view() */

    if (text != NULL)
        explicit_bzero(text, view.len);
    free(text);
}

gbx_http_waiting *gbx_http_waiting_new(const gbx_link_message *message)
{
    gbx_http_waiting *waiting = gbx_need(calloc(1, sizeof *waiting));

    waiting->text = memcpy(gbx_need(malloc(message->len)), message->text, message->len);
    waiting->name = message->name != NULL ? gbx_need(strdup(message->name)) : NULL;
    waiting->message = *message;
    waiting->message.text = waiting->text;
    waiting->message.name = waiting->name;
    waiting->message.schema = copy_view(message->schema);
    waiting->message.args = copy_view(message->args);
    return waiting;
}

void gbx_http_waiting_free(gbx_http_waiting *waiting)
{
    wipe_view(waiting->message.schema);
    wipe_view(waiting->message.args);
    explicit_bzero(waiting->text, waiting->message.len);
    free(waiting->text);
    free(waiting->name);
    free(waiting);
}
