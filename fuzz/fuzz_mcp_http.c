/* SPDX-License-Identifier: MIT */
/*
 * fuzz_mcp_http - an HTTP server that answers anything: heads, bodies and streams in any
 * pieces, ended in any way, resumed or not. Who waits is told at most one end, everything
 * goes to the address that was configured, and nothing stays behind.
 *
 * Steps are divided by RS. Of each, the first byte says what happens, the second to which
 * connection or request, and the rest is what the server says. The first byte of all
 * chooses the transport. libcurl's part that would connect is the target's own.
 */
#include "fuzz.h"

#include "base/cleanup.h"
#include "mcp/upstream/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STEP_END  '\x1e'
#define EASY_MAX  128
#define IDS_MAX   24
#define ASIDE_MAX 4
#define ADDRESS   "http://127.0.0.1:9/mcp"
#define ORIGIN    "http://127.0.0.1:9/"

/* A connection. */
typedef struct easy {
    const gbx_multi_entry *entry; /* NULL: it is not under way */
    curl_write_callback on_header;
    curl_write_callback on_body;
    void *header_data;
    void *body_data;
    long status;
    char head[4096]; /* lines of the last head, each ended by a NUL */
    size_t head_len;
    struct curl_header header; /* the last one that was asked for */
    bool has_head;
    bool is_aside; /* carries nothing that is waited for */
    bool is_post;
} easy;

/* Of a request. What has answered it may have come on another's stream: its own way may
 * still say that there is none. */
typedef enum state { FREE, WAITS, ANSWERED, ENDED } state;

typedef struct scene {
    gbx_mcp_loop *loop;
    gbx_link *link; /* NULL: it is lost, or left */
    state ids[IDS_MAX];
    int64_t next_id;
    bool is_agreed;
} scene;

static gbx_libcurl lib;
static easy *handles[EASY_MAX];

/* ---- libcurl -------------------------------------------------------------- */

static CURL *easy_init(void)
{
    for (size_t i = 0; i < EASY_MAX; i++) {
        if (handles[i] != NULL)
            continue;
        handles[i] = calloc(1, sizeof **handles);
        return handles[i];
    }
    return NULL;
}

static void easy_cleanup(CURL *handle)
{
    size_t i = 0;

    while (handles[i] != handle)
        i++;
    assert(handles[i]->entry == NULL);
    free(handles[i]);
    handles[i] = NULL;
}

static void check_header(const char *line)
{
    const char *value = strpbrk(line, ":;");

    assert(value != NULL && strlen(line) < GBX_KIB(16));
    assert(strpbrk(line, "\r\n") == NULL);
}

static void set(easy *e, CURLoption option, va_list values)
{
    const struct curl_slist *list;

    if (option == CURLOPT_URL) {
        const char *url = va_arg(values, const char *);

        assert(url != NULL && strncmp(url, ORIGIN, strlen(ORIGIN)) == 0);
    } else if (option == CURLOPT_HTTPHEADER) {
        for (list = va_arg(values, const struct curl_slist *); list != NULL;
             list = list->next)
            check_header(list->data);
    } else if (option == CURLOPT_HEADERFUNCTION) {
        e->on_header = va_arg(values, curl_write_callback);
    } else if (option == CURLOPT_HEADERDATA) {
        e->header_data = va_arg(values, void *);
    } else if (option == CURLOPT_WRITEFUNCTION) {
        e->on_body = va_arg(values, curl_write_callback);
    } else if (option == CURLOPT_WRITEDATA) {
        e->body_data = va_arg(values, void *);
    } else if (option == CURLOPT_TIMEOUT_MS) {
        e->is_aside = va_arg(values, long) != 0;
    }
    e->is_post = e->is_post || option == CURLOPT_POST;
}

static CURLcode easy_setopt(CURL *handle, CURLoption option, ...)
{
    va_list values;

    va_start(values, option);
    set(handle, option, values);
    va_end(values);
    return CURLE_OK;
}

static CURLcode easy_getinfo(CURL *handle, CURLINFO what, ...)
{
    const easy *e = handle;
    va_list values;
    long *to;

    va_start(values, what);
    to = va_arg(values, long *);
    *to = what == CURLINFO_RESPONSE_CODE ? e->status : e->status != 0;
    va_end(values);
    return CURLE_OK;
}

/* The value begins behind the colon and blanks, and ends before the line's end. */
static CURLHcode easy_header(CURL *handle, const char *name, size_t index,
                             unsigned origin, int request, struct curl_header **ret)
{
    static char value[4096];
    easy *e = handle;

    assert(index == 0 && origin == CURLH_HEADER && request == -1);
    for (const char *line = e->head; line < e->head + e->head_len;
         line += strlen(line) + 1) {
        size_t n = strlen(name);

        if (strncasecmp(line, name, n) != 0 || line[n] != ':')
            continue;
        n += 1 + strspn(line + n + 1, " \t");
        (void)snprintf(value, sizeof value, "%.*s", (int)strcspn(line + n, "\r\n"),
                       line + n);
        e->header.value = value;
        *ret = &e->header;
        return CURLHE_OK;
    }
    return CURLHE_MISSING;
}

/* An interim head does not count. */
static void keep_header(easy *e, const char *line, size_t len)
{
    if (len > 5 && memcmp(line, "HTTP/", 5) == 0)
        e->head_len = 0;
    if (e->has_head || len >= sizeof e->head - e->head_len)
        return;
    memcpy(e->head + e->head_len, line, len);
    e->head[e->head_len + len] = '\0';
    e->head_len += len + 1;
}

static CURLcode easy_pause(CURL *handle, int how)
{
    return CURLE_OK;
}

/* In the places of the true ones. */
gbx_multi *gbx_multi_new(const gbx_libcurl *with, struct event_base *base, long max)
{
    static long one;

    return (gbx_multi *)&one;
}

void gbx_multi_free(gbx_multi *multi)
{
}

bool gbx_multi_add(gbx_multi *multi, CURL *handle, const gbx_multi_entry *entry)
{
    easy *e = handle;

    assert(e->entry == NULL);
    e->entry = entry;
    return true;
}

void gbx_multi_drain(gbx_multi *multi, uint32_t ms)
{
}

void gbx_multi_remove(gbx_multi *multi, CURL *handle)
{
    easy *e = handle;

    assert(e->entry != NULL);
    e->entry = NULL;
}

/* ---- who waits ------------------------------------------------------------ */

static void end_request(scene *s, int64_t id)
{
    assert(id > 0 && id < IDS_MAX);
    assert(s->ids[id] == WAITS || s->ids[id] == ANSWERED);
    s->ids[id] = ENDED;
}

static void on_message(void *user, const char *text, size_t len, int64_t about)
{
    scene *s = user;

    assert(s->link != NULL && len > 0 && text != NULL);
    if (about != 0)
        end_request(s, about);
    else
        for (int64_t id = 1; id < IDS_MAX; id++)
            if (s->ids[id] == WAITS && gbx_http_is_answer(text, len, id))
                s->ids[id] = ANSWERED;
}

static bool awaits(void *user, int64_t id)
{
    const scene *s = user;

    assert(id > 0 && id < IDS_MAX);
    return s->ids[id] == WAITS;
}

static void on_unanswered(void *user, int64_t about, gbx_upstream_fault fault,
                          const char *why, gbx_unanswered how)
{
    scene *s = user;

    assert(s->link != NULL && fault != GBX_UPSTREAM_OK && *why != 0);
    if (about != 0)
        end_request(s, about);
}

static void on_missed(void *user)
{
    const scene *s = user;

    assert(s->link != NULL);
}

static void on_log(void *user, const char *line)
{
    assert(*line != 0);
}

static void on_lost(void *user, const char *why, bool is_lasting)
{
    scene *s = user;

    assert(s->link != NULL && *why != 0);
    s->link = NULL;
}

/* ---- what happens --------------------------------------------------------- */

/* The nth connection that is under way, or NULL. */
static easy *find(uint8_t nth)
{
    size_t count = 0;

    for (size_t i = 0; i < EASY_MAX; i++)
        count += handles[i] != NULL && handles[i]->entry != NULL;
    nth = (uint8_t)(count > 0 ? nth % count : 0);
    for (size_t i = 0; i < EASY_MAX; i++)
        if (handles[i] != NULL && handles[i]->entry != NULL && nth-- == 0)
            return handles[i];
    return NULL;
}

static void end(easy *e, CURLcode result)
{
    const gbx_multi_entry *entry = e->entry;

    e->entry = NULL;
    entry->done(entry->user, result);
}

/* As libcurl does: whole lines, the status before its end; false: it has ended it. */
static bool say_line(easy *e, char *line, size_t len)
{
    bool is_end = len <= 2 && line[0] < ' ';

    if (len > 8 && memcmp(line, "HTTP/1.1 ", 9) == 0)
        e->status = strtol(line + 9, NULL, 10) % 1000;
    keep_header(e, line, len);
    if (is_end && e->status >= 200)
        e->has_head = true;
    if (e->on_header(line, 1, len, e->header_data) == len)
        return true;
    end(e, CURLE_WRITE_ERROR);
    return false;
}

static void say_head(easy *e, char *text, size_t len)
{
    bool goes_on = e != NULL;

    while (goes_on && len > 0) {
        const char *newline = memchr(text, '\n', len);
        size_t n = newline != NULL ? (size_t)(newline - text) + 1 : len;

        goes_on = say_line(e, text, n);
        text += n;
        len -= n;
    }
}

static void say_body(easy *e, char *text, size_t len)
{
    if (e != NULL && e->has_head && len > 0 &&
        e->on_body(text, 1, len, e->body_data) != len)
        end(e, CURLE_WRITE_ERROR);
}

/* What most say, so that the rest is reached. */
static void say_stream(easy *e, char *text, size_t len)
{
    char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

    if (e == NULL || e->has_head)
        return;
    say_head(e, head, sizeof head - 1);
    say_body(e, text, len);
}

static void send_text(scene *s, const char *method, const char *name, int64_t id)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}\n";
    gbx_link_message message = {.text = text,
                                .len = sizeof text - 1,
                                .id = id,
                                .method = method,
                                .name = name,
                                .is_repeatable = id % 2 != 0};

    if (id != 0)
        s->ids[id] = WAITS;
    if (!s->link->ops->send(s->link, &message) && id != 0)
        s->ids[id] = ENDED;
}

static void send_one(scene *s, uint8_t how)
{
    const char *method = how % 4 >= 2 ? "tools/call" : "tools/list";

    if (how % 8 >= 5)
        send_text(s, how % 2 != 0 ? "notifications/cancelled" : NULL, NULL, 0);
    else if (s->next_id < IDS_MAX)
        send_text(s, !s->is_agreed && how % 4 == 0 ? "initialize" : method,
                  how % 4 >= 2 ? "tool \xc3\xa9" : NULL, s->next_id++);
}

/* Once, as a session does. */
static void agree(scene *s, bool is_modern)
{
    if (s->is_agreed)
        return;
    s->is_agreed = true;
    s->link->ops->agree(s->link, is_modern ? "2026-07-28" : "2025-11-25", is_modern);
    if (!is_modern)
        send_text(s, "notifications/initialized", NULL, 0);
}

static void forget(scene *s, uint8_t how)
{
    int64_t id = how % IDS_MAX;

    if (id == 0 || s->ids[id] == FREE)
        return;
    s->ids[id] = ENDED;
    s->link->ops->forget(s->link, id);
}

static int fire(const struct event_base *base, const struct event *event, void *user)
{
    size_t *nth = user;
    struct event *timer;

    if (event_get_fd(event) != -1 || (*nth)-- != 0)
        return 0;
    memcpy(&timer, &event, sizeof timer);
    event_active(timer, EV_TIMEOUT, 0);
    return 1;
}

static void act(scene *s, char what, uint8_t how, char *text, size_t len)
{
    static const CURLcode ends[] = {CURLE_OK,           CURLE_OK,
                                    CURLE_RECV_ERROR,   CURLE_COULDNT_CONNECT,
                                    CURLE_PARTIAL_FILE, CURLE_WEIRD_SERVER_REPLY};
    size_t nth = how;
    easy *e = find(how / 8);

    switch (what) {
    case 'h': say_head(find(how), text, len); break;
    case 'b': say_body(find(how), text, len); break;
    case 'v': say_stream(find(how), text, len); break;
    case 'e':
        if (e != NULL)
            end(e, ends[how % 8 % GBX_COUNTOF(ends)]);
        break;
    case 's': send_one(s, how); break;
    case 'f': forget(s, how); break;
    case 'a': agree(s, how % 2 != 0); break;
    case 't':
        (void)event_base_foreach_event(gbx_mcp_loop_base(s->loop), fire, &nth);
        break;
    default: break;
    }
}

static void look(void)
{
    size_t asides = 0;

    for (size_t i = 0; i < EASY_MAX; i++)
        asides += handles[i] != NULL && handles[i]->is_post && handles[i]->is_aside &&
                  handles[i]->entry != NULL;
    assert(asides <= ASIDE_MAX);
}

static void play(scene *s, const char *at, size_t size)
{
    while (size > 0 && s->link != NULL) {
        const char *mark = memchr(at, STEP_END, size);
        size_t len = mark != NULL ? (size_t)(mark - at) : size;
        GBX_CLEANUP(gbx_free) char *text = NULL;

        if (len >= 2) {
            text = malloc(len - 2 + 1);
            memcpy(text, at + 2, len - 2);
            act(s, at[0], (uint8_t)at[1], text, len - 2);
        }
        (void)event_base_loop(gbx_mcp_loop_base(s->loop), EVLOOP_NONBLOCK);
        look();
        size -= len + (mark != NULL);
        at += len + (mark != NULL);
    }
}

static void load_once(void)
{
    if (lib.curl_easy_init != NULL)
        return;
    assert(gbx_libcurl_load(&lib, NULL) == GBX_OK);
    lib.curl_easy_init = easy_init;
    lib.curl_easy_cleanup = easy_cleanup;
    lib.curl_easy_setopt = easy_setopt;
    lib.curl_easy_getinfo = easy_getinfo;
    lib.curl_easy_header = easy_header;
    lib.curl_easy_pause = easy_pause;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gbx_mcp_upstream_config config = {.name = "s", .url = ADDRESS};
    gbx_http_client web = {0};
    gbx_yard yard = {.web = &web};
    scene s = {.loop = gbx_mcp_loop_new(), .next_id = 1};
    gbx_link_options options = {
        .loop = s.loop,
        .yard = &yard,
        .config = &config,
        .hooks = {.user = &s,
                  .message = on_message,
                  .awaits = awaits,
                  .unanswered = on_unanswered,
                  .missed = on_missed,
                  .log = on_log,
                  .lost = on_lost},
    };

    load_once();
    assert(s.loop != NULL);
    web = (gbx_http_client){.lib = lib, .loop = s.loop};
    config.transport = size > 0 && (data[0] & 1) != 0 ? GBX_MCP_SSE : GBX_MCP_HTTP;
    assert(gbx_link_http(&options, &s.link, NULL) == GBX_OK);
    if (size > 1)
        play(&s, (const char *)data + 1, size - 1);
    if (s.link != NULL)
        s.link->ops->leave(s.link, false);
    while (find(0) != NULL)
        end(find(0), CURLE_OPERATION_TIMEDOUT);
    (void)event_base_loop(gbx_mcp_loop_base(s.loop), EVLOOP_NONBLOCK);
    for (size_t i = 0; i < EASY_MAX; i++)
        assert(handles[i] == NULL);
    gbx_mcp_loop_free(s.loop);
    return 0;
}
