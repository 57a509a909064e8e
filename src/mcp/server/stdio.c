/* SPDX-License-Identifier: MIT */
/* stdio - a session on standard input and output. Reading stops while too much output
 * waits: a client that sends requests and never reads is blocked by its own pipe. */
#include "mcp/server/server.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "mcp/rpc/rpc.h"
#include "mcp/server/server_state.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK_BYTES ((size_t)64 * 1024)
/* The output queue. Large responses leave the spare bytes free: errors about a full
 * queue still fit. */
#define OUT_BYTES   ((size_t)65 * 1024 * 1024)
#define SPARE_BYTES ((size_t)1024 * 1024)

/* Handle lines for this long, then let signals and other work have their turn. */
#define TURN_NS (5 * GBX_NS_PER_MS)

/* For answers after the end of input: starting a server that was never used takes a
 * third of a second. */
#define GRACE_MS 500
#define WIND_MS  150 /* for cancelled handlers to finish */

#define STALL_MS 250
#define CHECK_MS 2

typedef enum phase {
    SERVING,
    DRAINING, /* no more input; answers are still sent */
    ENDING,   /* everything was cancelled */
} phase;

struct gbx_mcp_stdio {
    gbx_mcp_loop *loop;
    gbx_mcp_server *server;
    gbx_mcp_output *out;
    gbx_mcp_line_reader lines;
    int in_fd;
    int read_errno; /* why reading failed, or 0 */
    bool gave_up;
    bool is_file; /* always readable; epoll rejects it */
    struct event *readable;
    struct event *signals[3];
    gbx_mcp_timer timer;
    gbx_mcp_timer check; /* checks whether everything has ended */
    gbx_mcp_timer rest;  /* continues with the remaining lines */
    gbx_mcp_timer stall; /* runs while reading has stopped */
    size_t stalled_bytes;
    bool has_lines; /* in the chunk, not handled yet */
    phase phase;
    bool has_ended; /* of input */
    int signal_count;
    char chunk[CHUNK_BYTES];
};

static void begin_ending(gbx_mcp_stdio *s)
{
    if (s->phase == ENDING)
        return;
    s->phase = ENDING;
    (void)event_del(s->readable);
    gbx_mcp_server_end(s->server);
    gbx_mcp_timer_set(&s->timer, WIND_MS);
    gbx_mcp_timer_fire(&s->check);
}

static void begin_draining(gbx_mcp_stdio *s)
{
    if (s->phase != SERVING)
        return;
    s->phase = DRAINING;
    s->has_ended = true;
    (void)event_del(s->readable);
    if (!gbx_mcp_timer_is_set(&s->timer)) /* else on_rest() has set it before */
        gbx_mcp_timer_set(&s->timer, GRACE_MS);
    gbx_mcp_timer_fire(&s->check);
}

/* Called whenever the last awaited event may have happened. */
static void on_check(void *user)
{
    gbx_mcp_stdio *s = user;

    if (s->phase == DRAINING && s->server->request_count == 0)
        begin_ending(s);
    if (s->phase != ENDING)
        return;
    if (gbx_mcp_server_unfinished(s->server) == 0 &&
        (gbx_mcp_output_waiting(s->out) == 0 || gbx_mcp_output_errno(s->out) != 0))
        gbx_mcp_loop_stop(s->loop, 0);
    else
        gbx_mcp_timer_set(&s->check, CHECK_MS);
}

static void on_timer(void *user)
{
    gbx_mcp_stdio *s = user;
    size_t count = s->server->request_count;
    GBX_CLEANUP(gbx_buf_cleanup) gbx_buf text = {.ceiling = GBX_KIB(1)};

    if (s->phase == ENDING) {
        gbx_mcp_loop_stop(s->loop, 0);
        return;
    }
    /* Users who pipe requests in would not know why an answer is missing. */
    if (s->has_ended && count > 0) {
        gbx_mcp_server_name_oldest(s->server, &text);
        gbx_mcp_warn("the input ended; %zu request%s not answered (%s%s)", count,
                     count == 1 ? " was" : "s were", gbx_rpc_string(&text),
                     count == 1 ? "" : ", ...");
    }
    begin_ending(s);
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    gbx_mcp_stdio *s = arg;

    if (++s->signal_count > 1)
        _exit(128 + (int)number);
    begin_ending(s);
}

/* ---- input ---------------------------------------------------------------- */

/* Handle the chunk's lines for one turn, while their answers have room. The remaining
 * lines wait, and reading stops meanwhile. */
static void take_lines(gbx_mcp_stdio *s)
{
    int64_t until_ns = gbx_clock_now_ns() + TURN_NS;
    const char *line;
    size_t len;

    while (s->phase == SERVING && s->has_lines && !gbx_mcp_output_is_full(s->out) &&
           gbx_clock_now_ns() < until_ns) {
        gbx_mcp_line_kind kind = gbx_mcp_line_reader_next(&s->lines, &line, &len);

        if (kind == GBX_MCP_LINE)
            gbx_mcp_server_take(s->server, line, len);
        else if (kind == GBX_MCP_LINE_TOO_LONG)
            gbx_mcp_server_take_too_long(s->server);
        else
            s->has_lines = false;
    }
}

static void listen_on(void *user)
{
    static const struct timeval now = {0};
    gbx_mcp_stdio *s = user;

    take_lines(s);
    if (s->phase != SERVING)
        return;
    if (s->has_lines && !gbx_mcp_output_is_full(s->out)) {
        gbx_mcp_timer_clear(&s->stall);
        gbx_mcp_timer_set(&s->rest, 0);
        return;
    }
    if (gbx_mcp_output_is_full(s->out)) {
        if (!gbx_mcp_timer_is_set(&s->stall)) {
            s->stalled_bytes = gbx_mcp_output_waiting(s->out);
            gbx_mcp_timer_set(&s->stall, STALL_MS);
        }
        return;
    }
    if (event_add(s->readable, s->is_file ? &now : NULL) != 0) {
        s->read_errno = errno != 0 ? errno : ENOMEM; /* an error, not the end of
                                                      * input */
        begin_draining(s);
    }
}

/* Polls for the end of input, which is not noticed while reading has stopped. */
static bool has_hung_up(const gbx_mcp_stdio *s)
{
    struct pollfd input = {.fd = s->in_fd, .events = POLLRDHUP};

    return poll(&input, 1, 0) > 0 && (input.revents & (POLLHUP | POLLRDHUP)) != 0;
}

/* After the client hangs up, keep answering for GRACE_MS, also lines that are still
 * queued; anything begun later would only be cancelled. */
static void on_rest(void *user)
{
    gbx_mcp_stdio *s = user;

    if (s->phase == SERVING && !gbx_mcp_timer_is_set(&s->timer) && has_hung_up(s))
        gbx_mcp_timer_set(&s->timer, GRACE_MS);
    listen_on(s);
}

/* A client that has closed its end and reads nothing is gone: end the session. One that
 * still reads, however slowly, gets everything. */
static void on_stall(void *user)
{
    gbx_mcp_stdio *s = user;
    size_t waiting = gbx_mcp_output_waiting(s->out);

    if (s->phase != SERVING || (!s->has_lines && !gbx_mcp_output_is_full(s->out)))
        return;
    if (waiting >= s->stalled_bytes && has_hung_up(s)) {
        begin_ending(s);
        return;
    }
    s->stalled_bytes = waiting;
    gbx_mcp_timer_set(&s->stall, STALL_MS);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    gbx_mcp_stdio *s = arg;
    const char *line;
    size_t len;
    ssize_t n = read(fd, s->chunk, sizeof s->chunk);

    if (n > 0) {
        gbx_mcp_line_reader_feed(&s->lines, s->chunk, (size_t)n);
        s->has_lines = true;
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        s->read_errno = n < 0 ? errno : 0;
        /* People who type into pipes may leave the last line without its newline. */
        if (gbx_mcp_line_reader_end(&s->lines, &line, &len) == GBX_MCP_LINE)
            gbx_mcp_server_take(s->server, line, len);
        begin_draining(s);
    }
    listen_on(s);
}

/* ---- output --------------------------------------------------------------- */

static bool on_send(void *user, const void *data, size_t len)
{
    gbx_mcp_stdio *s = user;

    if (len > 4096 && gbx_mcp_output_waiting(s->out) + len > OUT_BYTES - SPARE_BYTES)
        return false;
    return gbx_mcp_output_send(s->out, data, len);
}

static void on_part(void *user)
{
    gbx_mcp_stdio *s = user;

    gbx_mcp_output_part(s->out);
}

static bool on_is_full(void *user)
{
    gbx_mcp_stdio *s = user;

    return gbx_mcp_output_is_full(s->out);
}

static void on_give_up(void *user)
{
    gbx_mcp_stdio *s = user;

    s->gave_up = true;
    gbx_mcp_timer_fire(&s->timer);
    if (s->phase == SERVING)
        s->phase = DRAINING; /* the timer ends it, since we may be inside a handler */
    (void)event_del(s->readable);
}

static void on_idle(void *user)
{
    gbx_mcp_stdio *s = user;

    if (s->phase != SERVING)
        gbx_mcp_timer_fire(&s->check);
}

static void on_broken(void *user, int os_errno)
{
    begin_ending(user);
}

/* True if there was no error, or the client is gone: the ordinary end of a server. */
static bool is_ordinary(int os_errno)
{
    return os_errno == 0 || os_errno == EPIPE || os_errno == ECONNRESET;
}

/* ---- start and end -------------------------------------------------------- */

static void make_events(gbx_mcp_stdio *s)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct event_base *base = gbx_mcp_loop_base(s->loop);
    struct stat st;
    sigset_t ours;

    s->is_file =
        fstat(s->in_fd, &st) == 0 && (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode) ||
                                      (S_ISCHR(st.st_mode) && !isatty(s->in_fd)));
    s->readable =
        gbx_need(event_new(base, s->in_fd, s->is_file ? 0 : EV_READ, on_readable, s));
    gbx_mcp_timer_init(&s->timer, s->loop, on_timer, s);
    gbx_mcp_timer_init(&s->check, s->loop, on_check, s);
    gbx_mcp_timer_init(&s->rest, s->loop, on_rest, s);
    gbx_mcp_timer_init(&s->stall, s->loop, on_stall, s);
    (void)sigemptyset(&ours);
    for (size_t i = 0; i < GBX_COUNTOF(numbers); i++) {
        (void)sigaddset(&ours, numbers[i]);
        s->signals[i] =
            gbx_need(event_new(base, numbers[i], EV_SIGNAL | EV_PERSIST, on_signal, s));
        (void)event_add(s->signals[i], NULL);
    }
    /* A host may have started us with them blocked. */
    (void)sigprocmask(SIG_UNBLOCK, &ours, NULL);
}

gbx_status gbx_mcp_stdio_new(gbx_mcp_loop *loop, gbx_mcp_server *server, int in_fd,
                             int out_fd, gbx_mcp_stdio **ret, gbx_error *reterr)
{
    gbx_mcp_stdio *s = gbx_need(calloc(1, sizeof *s));
    gbx_mcp_client_hooks hooks = {.user = s,
                                  .send = on_send,
                                  .part = on_part,
                                  .is_full = on_is_full,
                                  .give_up = on_give_up,
                                  .idle = on_idle};
    gbx_mcp_output_hooks out_hooks = {.user = s,
                                      .broken = on_broken,
                                      .drained = listen_on};

    s->loop = loop;
    s->server = server;
    s->in_fd = in_fd;
    gbx_mcp_line_reader_init(&s->lines, GBX_MCP_LINE_MAX);
    s->out = gbx_mcp_output_new(loop, out_fd, OUT_BYTES, &out_hooks);
    gbx_mcp_server_connect(server, &hooks);
    make_events(s);
    if (!gbx_mcp_output_watch(s->out, loop)) {
        (void)gbx_fail(reterr, GBX_E_OS, "cannot watch standard output: %s",
                       strerror(errno));
        gbx_mcp_stdio_free(s);
        return GBX_E_OS;
    }
    listen_on(s);
    *ret = s;
    return GBX_OK;
}

int gbx_mcp_stdio_read_errno(const gbx_mcp_stdio *s)
{
    return is_ordinary(s->read_errno) ? 0 : s->read_errno;
}

int gbx_mcp_stdio_write_errno(const gbx_mcp_stdio *s)
{
    int os_errno = gbx_mcp_output_errno(s->out);

    /* Short answers have spare room when others do not, so giving up means that
     * memory is out. */
    if (os_errno == 0 && s->gave_up)
        return ENOMEM;
    return is_ordinary(os_errno) ? 0 : os_errno;
}

void gbx_mcp_stdio_free(gbx_mcp_stdio *s)
{
    if (s == NULL)
        return;
    s->phase = ENDING;
    gbx_mcp_server_end(s->server);
    gbx_mcp_output_free(s->out);
    gbx_mcp_line_reader_cleanup(&s->lines);
    event_free(s->readable);
    gbx_mcp_timer_cleanup(&s->timer);
    gbx_mcp_timer_cleanup(&s->check);
    gbx_mcp_timer_cleanup(&s->rest);
    gbx_mcp_timer_cleanup(&s->stall);
    for (size_t i = 0; i < GBX_COUNTOF(s->signals); i++)
        event_free(s->signals[i]);
    free(s);
}
