/* SPDX-License-Identifier: MIT */
/*
 * process - a server as a child process. Its end is reported once, from the loop, when
 * its keeper has ended: then no process of the server is left.
 */
#include "mcp/upstream/internal.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "base/utf8.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* One chunk may hold thousands of short lines. */
#define CHUNK_BYTES GBX_KIB(8)

/* Limits for one descriptor in one turn of the loop, in chunks and in time: other work
 * must get its turn. */
#define CHUNKS_AT_ONCE 64
#define TURN_NS        GBX_NS_PER_MS

/* Limits for reading what is left in the pipes when everything has ended. */
#define CHUNKS_AT_END 16384
#define END_NS        (10000 * GBX_NS_PER_MS)

#define ERROR_LINE_MAX 2000
#define ERROR_LINES    100 /* logged at once, and then in a second */

/* The steps by which a server is ended. */
typedef enum gbx_stop_step {
    GBX_STOP_NOT,
    GBX_STOP_INPUT,     /* the end of its input */
    GBX_STOP_TERMINATE, /* SIGTERM */
    GBX_STOP_KILL,      /* SIGKILL, by the keeper */
    GBX_STOP_KEEPER,    /* SIGKILL for the keeper itself */
} gbx_stop_step;

struct gbx_process {
    gbx_link link;
    LIST_ENTRY(gbx_process) entry; /* in the yard */
    gbx_link_hooks hooks;
    gbx_spawned_server at;
    struct event *on_output;
    struct event *on_errors;
    struct event *on_control;
    struct event *on_gone;
    gbx_mcp_timer step;
    gbx_mcp_output *out;
    gbx_mcp_line_reader lines;
    gbx_mcp_line_reader error_lines;
    gbx_exit_status ending;
    gbx_bucket logged; /* lines of its standard error */
    gbx_stop_step stopping;
    bool is_told; /* lost was called, or the owner has left */
};

/* ---- the end -------------------------------------------------------------- */

static void free_process(gbx_process *p)
{
    struct event *events[] = {p->on_output, p->on_errors, p->on_control, p->on_gone};

    LIST_REMOVE(p, entry);
    for (size_t i = 0; i < GBX_COUNTOF(events); i++)
        event_free(events[i]);
    gbx_mcp_timer_cleanup(&p->step);
    gbx_mcp_output_free(p->out);
    gbx_mcp_line_reader_cleanup(&p->lines);
    gbx_mcp_line_reader_cleanup(&p->error_lines);
    gbx_spawned_server_close(&p->at);
    explicit_bzero(p, sizeof *p); /* it holds fragments of the server's output */
    free(p);
}

static void close_input(gbx_process *p)
{
    gbx_mcp_output_free(p->out);
    p->out = NULL;
    gbx_fd_close(&p->at.fds[STDIN_FILENO]);
}

/* Take the next harder step to end it, and give it time to work. */
static void stop_harder(void *user)
{
    gbx_process *p = user;
    char word;

    if (p->stopping < GBX_STOP_KEEPER)
        p->stopping = (gbx_stop_step)(p->stopping + 1);
    p->ending.was_stopped = p->stopping > GBX_STOP_INPUT;
    word = p->stopping == GBX_STOP_TERMINATE ? GBX_KEEPER_TERMINATE : GBX_KEEPER_KILL;
    if (p->stopping == GBX_STOP_INPUT)
        close_input(p);
    else if (p->stopping == GBX_STOP_KEEPER) /* The keeper itself does not respond. */
        (void)syscall(SYS_pidfd_send_signal, p->at.pidfd, SIGKILL, NULL, 0);
    else if (p->at.fds[GBX_KEEPER_FD] >= 0)
        (void)send(p->at.fds[GBX_KEEPER_FD], &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    gbx_mcp_timer_set(&p->step, gbx_timeout_ms(GBX_TIMEOUT_STDIO_END));
}

/* ---- output --------------------------------------------------------------- */

static void take_output(gbx_process *p, const char *chunk, size_t len)
{
    gbx_mcp_line_kind kind;
    const char *line;
    size_t line_len;

    gbx_mcp_line_reader_feed(&p->lines, chunk, len);
    while ((kind = gbx_mcp_line_reader_next(&p->lines, &line, &line_len)) !=
           GBX_MCP_LINE_NONE) {
        if (p->is_told)
            continue;
        if (kind == GBX_MCP_LINE)
            p->hooks.message(p->hooks.user, line, line_len, 0);
        else
            p->hooks.too_long(p->hooks.user);
    }
}

/* The log gets a limited number of lines; error messages can still quote
 * the last ones. */
static void take_errors(gbx_process *p, const char *chunk, size_t len)
{
    gbx_mcp_line_kind kind;
    const char *line;
    size_t line_len;

    gbx_stderr_tail_add(&p->ending.errors, chunk, len);
    gbx_mcp_line_reader_feed(&p->error_lines, chunk, len);
    while ((kind = gbx_mcp_line_reader_next(&p->error_lines, &line, &line_len)) !=
           GBX_MCP_LINE_NONE) {
        GBX_CLEANUP(gbx_buf_cleanup)
        gbx_buf text = {.ceiling = (size_t)ERROR_LINE_MAX * 8, .is_secret = true};

        if (kind != GBX_MCP_LINE || p->is_told ||
            !gbx_bucket_take(&p->logged, gbx_clock_now_ns()))
            continue;
        (void)gbx_utf8_append_escaped(&text, line, line_len, GBX_ESCAPE_LINE);
        (void)gbx_buf_append(&text, "", 1);
        if (!text.failed)
            p->hooks.log(p->hooks.user, (const char *)text.data);
    }
}

/* False at the end of the stream. for_ns: begin no further chunk after this time. */
static bool read_some(gbx_process *p, int fd, unsigned chunks, int64_t for_ns,
                      void (*take)(gbx_process *p, const char *chunk, size_t len))
{
    int64_t until_ns = gbx_clock_now_ns() + for_ns;
    char chunk[CHUNK_BYTES];
    ssize_t n = CHUNK_BYTES;

    for (unsigned i = 0;
         n == CHUNK_BYTES && i < chunks && (i == 0 || gbx_clock_now_ns() < until_ns);
         i++) {
        while ((n = read(fd, chunk, sizeof chunk)) < 0 && errno == EINTR)
            continue;
        if (n > 0)
            take(p, chunk, (size_t)n);
    }
    explicit_bzero(chunk, sizeof chunk); /* the output may hold a secret */
    return n > 0 || (n < 0 && errno == EAGAIN);
}

static void on_output(evutil_socket_t fd, short what, void *arg)
{
    gbx_process *p = arg;

    if (read_some(p, fd, CHUNKS_AT_ONCE, TURN_NS, take_output))
        return;
    (void)event_del(p->on_output);
    p->ending.output_closed = true;
    /* It has probably ended, and its report is on the way. If not, it must end now. */
    if (p->stopping == GBX_STOP_NOT)
        p->stopping = GBX_STOP_INPUT;
    gbx_mcp_timer_set(&p->step, gbx_timeout_ms(GBX_TIMEOUT_REPORT));
}

static void on_errors(evutil_socket_t fd, short what, void *arg)
{
    gbx_process *p = arg;

    if (!read_some(p, fd, CHUNKS_AT_ONCE, TURN_NS, take_errors))
        (void)event_del(p->on_errors);
}

static void take_reports(gbx_process *p)
{
    gbx_exit_status *ending = &p->ending;
    gbx_keeper_report report;

    while (recv(p->at.fds[GBX_KEEPER_FD], &report, sizeof report, MSG_DONTWAIT) ==
           (ssize_t)sizeof report) {
        if (report.said == GBX_KEEPER_CONTAINED)
            ending->containment = (gbx_containment)report.value;
        else if (report.said == GBX_KEEPER_NO_DIRECTORY)
            ending->no_directory = report.value;
        else if (report.said == GBX_KEEPER_NO_COMMAND)
            ending->no_command = report.value;
        else if (report.said == GBX_KEEPER_ENDED) {
            ending->has_status = true;
            ending->status = report.value;
        }
    }
}

static void on_control(evutil_socket_t fd, short what, void *arg)
{
    gbx_process *p = arg;
    char byte;

    take_reports(p);
    if (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0)
        (void)event_del(p->on_control);
}

static void reap(gbx_process *p)
{
    while (waitid((idtype_t)3 /* P_PIDFD */, (id_t)p->at.pidfd, NULL, WEXITED) < 0 &&
           errno == EINTR)
        continue;
    gbx_fd_close(&p->at.pidfd);
}

/* Output from before its end may still hold answers. */
static void on_gone(evutil_socket_t fd, short what, void *arg)
{
    gbx_process *p = arg;
    char why[GBX_ENDING_TEXT_MAX];
    bool is_lasting;
    int error;

    take_reports(p);
    (void)read_some(p, p->at.fds[STDOUT_FILENO], CHUNKS_AT_END, END_NS, take_output);
    (void)read_some(p, p->at.fds[STDERR_FILENO], CHUNKS_AT_END, END_NS, take_errors);
    reap(p);
    if (!p->is_told) {
        p->is_told = true;
        gbx_exit_status_print(&p->ending, why, sizeof why);
        /* It would fail each time if its command or directory is not accessible. */
        error =
            p->ending.no_directory != 0 ? p->ending.no_directory : p->ending.no_command;
        is_lasting =
            error == ENOENT || error == EACCES || error == ENOTDIR || error == ENOEXEC;
        p->hooks.lost(p->hooks.user, why, is_lasting);
    }
    /* The owner was notified, and the object has no owner from now on. */
    free_process(p);
}

static void on_broken(void *user, int os_errno)
{
    gbx_process *p = user;
    uint64_t written = gbx_mcp_output_written(p->out);

    close_input(p);
    if (!p->is_told)
        p->hooks.deaf(p->hooks.user, written, "it has closed its input");
}

/* ---- functions of the link --------------------------------------------------- */

static bool send_message(gbx_link *link, const gbx_link_message *message)
{
    gbx_process *p = (gbx_process *)link;

    return p->out != NULL && gbx_mcp_output_send(p->out, message->text, message->len);
}

static void leave(gbx_link *link, bool is_hopeless)
{
    gbx_process *p = (gbx_process *)link;

    p->is_told = true;
    if (is_hopeless)
        p->stopping = GBX_STOP_TERMINATE;
    stop_harder(p);
}

static void add_words(const gbx_link *link, char *text, size_t size)
{
    const gbx_process *process = (const gbx_process *)link;

    gbx_exit_status_add_words(&process->ending, text, size);
}

static const char *containment(gbx_link *link)
{
    gbx_process *p = (gbx_process *)link;
    static const char *const words[] = {
        [GBX_CONTAIN_UNKNOWN] = "",
        [GBX_CONTAIN_PID_NS] = "pid namespace",
        [GBX_CONTAIN_PID_NS_ONLY] = "pid namespace, but it sees the host's processes",
        [GBX_CONTAIN_SUBREAPER] =
            "no namespace to be had: its processes are killed one by one",
    };

    take_reports(p); /* it may have arrived without being read */
    return words[p->ending.containment];
}

static const gbx_link_ops ops = {
    .send = send_message,
    .leave = leave,
    .add_words = add_words,
    .containment = containment,
    .is_process = true,
};

/* ---- the start --------------------------------------------------------------- */

static struct event *watch(gbx_process *p, gbx_mcp_loop *loop, int fd, short what,
                           event_callback_fn fn)
{
    struct event *event =
        gbx_need(event_new(gbx_mcp_loop_base(loop), fd, EV_READ | what, fn, p));

    if (event_add(event, NULL) != 0) /* the kernel is out of memory */
        (void)gbx_need(NULL);
    return event;
}

static void set_up(gbx_process *p, gbx_mcp_loop *loop)
{
    gbx_mcp_output_hooks out_hooks = {.user = p, .broken = on_broken};
    const int *fds = p->at.fds;

    p->on_output = watch(p, loop, fds[STDOUT_FILENO], EV_PERSIST, on_output);
    p->on_errors = watch(p, loop, fds[STDERR_FILENO], EV_PERSIST, on_errors);
    p->on_control = watch(p, loop, fds[GBX_KEEPER_FD], EV_PERSIST, on_control);
    p->on_gone = watch(p, loop, p->at.pidfd, 0, on_gone);
    gbx_mcp_timer_init(&p->step, loop, stop_harder, p);
    p->out =
        gbx_mcp_output_new(loop, fds[STDIN_FILENO], GBX_LINK_WAITING_MAX, &out_hooks);
    gbx_mcp_line_reader_init(&p->lines, GBX_LINK_MESSAGE_MAX);
    gbx_mcp_line_reader_init(&p->error_lines, ERROR_LINE_MAX);
}

gbx_status gbx_link_stdio(const gbx_link_options *options, gbx_link **ret,
                          gbx_error *reterr)
{
    gbx_spawned_server at;
    gbx_status status = gbx_server_spawn(options->config, options->yard, &at, reterr);
    gbx_process *p;

    if (status != GBX_OK)
        return status;
    p = gbx_need(calloc(1, sizeof *p));
    p->at = at;
    p->link.ops = &ops;
    p->hooks = options->hooks;
    gbx_bucket_init(&p->logged, ERROR_LINES, ERROR_LINES, gbx_clock_now_ns());
    p->ending.config = options->config;
    p->ending.secrets = options->yard->secrets;
    set_up(p, options->loop);
    LIST_INSERT_HEAD(&options->yard->processes, p, entry);
    *ret = &p->link;
    return GBX_OK;
}

/* ---- the end of all servers -------------------------------------------------- */

/* Wait for the first process in the yard, and free it if it has ended. */
static bool wait_for_first(gbx_yard *yard, int64_t until_ns)
{
    gbx_process *p = LIST_FIRST(&yard->processes);
    struct pollfd fd = {.fd = p->at.pidfd, .events = POLLIN};
    int64_t left_ms = (until_ns - gbx_clock_now_ns()) / GBX_NS_PER_MS;
    int ready = poll(&fd, 1, left_ms > 0 ? (int)left_ms : 0);

    if (ready < 0 && errno == EINTR)
        return true;
    if (ready <= 0)
        return false;
    reap(p);
    free_process(p);
    return true;
}

void gbx_yard_clear(gbx_yard *yard, uint32_t patience_ms)
{
    gbx_process *p;

    for (int step = GBX_STOP_INPUT; step <= GBX_STOP_KEEPER; step++) {
        int64_t until_ns = gbx_clock_now_ns() + patience_ms * GBX_NS_PER_MS;

        LIST_FOREACH(p, &yard->processes, entry)
        {
            p->is_told = true;
            if (p->stopping < (gbx_stop_step)step)
                stop_harder(p);
        }
        while (!LIST_EMPTY(&yard->processes) && wait_for_first(yard, until_ns))
            continue;
    }
    /* These were killed, but are in an uninterruptible system call. */
    while ((p = LIST_FIRST(&yard->processes)) != NULL)
        free_process(p);
}
